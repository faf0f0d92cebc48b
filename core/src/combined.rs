//! Structure `combined`: z_ij = scale · Σ_k (re + i·im) z_k or conj z_k, K terms of the coefficients of the signal itself
//! instead of N products with W.
//!
//! Where W_i ⊙ W_j ≈ scale · Σ_k c_k W_k, that is (W_i ⊙ W_j) x: for the characters of a group with one k exactly, for
//! disk harmonics with a few, by least squares on the host. It turns R²N/2 multiply-adds into RN + R²K/2.
//!
//! **The order.** The real sum takes +re·z_re, then −im·z_im, the imaginary sum +re·z_im, then +im·z_re, term after
//! term, each product and each sum rounded to f32; at last both are multiplied by the scale.

use num_complex::Complex32;

/// Bytes of one term: k, re and im.
pub(crate) const TERM_LEN: usize = 6;
/// The bit of k that says conj z_k.
pub(crate) const CONJUGATED: u16 = 1 << 15;

/// u16 k with the bit of its conjugate, i16 re, i16 im, all little-endian.
pub(crate) type Term = [u8; TERM_LEN];

/// The row of a term, and whether it is conjugated.
#[inline(always)]
pub(crate) fn row_of([low, high, ..]: Term) -> (usize, bool) {
    let k = u16::from_le_bytes([low, high]);
    (usize::from(k & !CONJUGATED), k & CONJUGATED != 0)
}

/// Σ_k (re + i·im) z_k or conj z_k.
///
/// Below √2·2^15·K·max|z|: z of a scaled signal is far from where f32 ends.
#[inline(always)]
pub(crate) fn combination(terms: &[Term], z: &[Complex32]) -> Complex32 {
    let mut sum = Complex32::ZERO;
    for term in terms {
        let (k, conjugated) = row_of(*term);
        // Every k was checked when the model was read.
        let z = z.get(k).copied().unwrap_or_default();
        let z_im = if conjugated { -z.im } else { z.im };
        let [_, _, a, b, c, d] = *term;
        let re = f32::from(i16::from_le_bytes([a, b]));
        let im = f32::from(i16::from_le_bytes([c, d]));
        sum.re += re * z.re;
        sum.re -= im * z_im;
        sum.im += re * z_im;
        sum.im += im * z.re;
    }
    sum
}

/// By what the sum of K terms is multiplied, and E_c: z_ij is the product times 2 to this.
///
/// With E_c = ⌊log2 scale⌋ + 15 + ⌈log2 K⌉ it is at most 2√2·max|z|: as large as that of a dense model, see
/// [`Scale`](crate::bispectrum::Scale).
pub(crate) fn factor(scale: f32, exponent: i32, terms: u8) -> (f32, i32) {
    let down = 15 + u32::from(terms).next_power_of_two().ilog2() as i32;
    let mantissa = crate::scaling::restore(scale, -exponent);
    (
        mantissa * crate::scaling::power_of_two(-down),
        exponent + down,
    )
}
