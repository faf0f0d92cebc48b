//! ‖β‖₂ of terms that come one at a time, exact to a few units in the last place for any number of them.

use crate::scaling::{power_of_two, restore};
use num_complex::Complex32;

/// The length of a bispectrum, known once every term has been seen.
///
/// The streaming form hands out the terms of a signal that was scaled by a power of two.
/// [`normalise`](Self::normalise) makes a term β̄_ij, [`restore`](Self::restore) makes it β_ij of the signal as given.
///
/// ```
/// # use bispectral_core::{pair_count, scratch_len, Model};
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
/// let model = Model::from_bytes(bytes)?;
/// let mut scratch = [0.0; scratch_len(4, 3)];
/// let x = [1.0, -0.5, 0.25, 0.0];
///
/// let mut terms = Vec::new();
/// let magnitude = model.stream(&x, &mut scratch, |_, _, term| terms.push(term))?;
///
/// let mut invariants = [Default::default(); pair_count(3)];
/// model.invariants(&x, &mut scratch, &mut invariants)?;
/// assert!(terms.iter().zip(invariants).all(|(&term, expected)| magnitude.normalise(term) == expected));
/// # Ok::<(), bispectral_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Magnitude {
    norm: f32,
    exponent: i32,
}

impl Magnitude {
    /// Of terms that have no direction.
    pub(crate) const ZERO: Self = Magnitude {
        norm: 0.0,
        exponent: 0,
    };
    /// Of terms that are normalised already.
    pub(crate) const ONE: Self = Magnitude {
        norm: 1.0,
        exponent: 0,
    };

    /// Of terms of this length, which are β of the signal as given divided by 2 to this.
    pub(crate) fn new(norm: f32, exponent: i32) -> Self {
        Magnitude { norm, exponent }
    }

    /// ‖β‖₂ of the terms that were handed out; at least 2^-100.
    #[must_use]
    pub fn norm(&self) -> f32 {
        self.norm
    }

    /// β of the signal as given is a term times 2 to this.
    #[must_use]
    pub fn exponent(&self) -> i32 {
        self.exponent
    }

    /// Whether the terms are large enough for f32 to hold their direction.
    pub(crate) fn is_normal(&self) -> bool {
        self.norm >= LEAST_NORM
    }

    /// β̄_ij: the term times 1/‖β‖₂, both rounded to f32.
    #[must_use]
    #[inline]
    pub fn normalise(&self, term: Complex32) -> Complex32 {
        let factor = 1.0 / self.norm;
        Complex32::new(term.re * factor, term.im * factor)
    }

    /// β_ij of the signal as given; infinite where it is larger than f32 holds.
    #[must_use]
    #[inline]
    pub fn restore(&self, term: Complex32) -> Complex32 {
        let Magnitude { exponent, .. } = *self;
        Complex32::new(restore(term.re, exponent), restore(term.im, exponent))
    }
}

/// Below this norm a term of 2^-24 of it would lose digits to underflow, and 2^28 lower the norm has no reciprocal.
const LEAST_NORM: f32 = 1.0 / (1_u128 << 100) as f32;
/// Squares of smaller terms would lose digits below 2^-126.
const SMALL: f32 = 1.0 / (1_u64 << 40) as f32;
/// By which terms below [`SMALL`] are enlarged before they are squared.
const ENLARGE: f32 = (1_u128 << 64) as f32;

/// Σ|β_ij|² with compensation, small terms apart so that none vanish.
#[derive(Default)]
pub(crate) struct Accumulator {
    large: Compensated,
    small: Compensated,
}

impl Accumulator {
    #[inline(always)]
    pub(crate) fn add(&mut self, term: Complex32) {
        if term.re.abs() >= SMALL || term.im.abs() >= SMALL {
            self.large.add(term.re * term.re + term.im * term.im);
        } else {
            let (re, im) = (term.re * ENLARGE, term.im * ENLARGE);
            self.small.add(re * re + im * im);
        }
    }

    /// [`add`](Self::add), of a real number.
    #[inline(always)]
    pub(crate) fn add_real(&mut self, value: f32) {
        if value.abs() >= SMALL {
            self.large.add(value * value);
        } else {
            let value = value * ENLARGE;
            self.small.add(value * value);
        }
    }

    #[inline(never)]
    pub(crate) fn finish(self, exponent: i32) -> Magnitude {
        let small = self.small.sum;
        let norm = if self.large.sum > 0.0 {
            square_root(self.large.sum + small / ENLARGE / ENLARGE)
        } else {
            square_root(small) / ENLARGE
        };
        Magnitude { norm, exponent }
    }
}

/// So many squares are added without compensation: their roundings are at most four units in the last place of the norm.
pub(crate) const BLOCK: usize = 16;

/// Σ|β_ij|² for terms that cost little else: block after block, only their sums compensated. Squares below 2^-126 lose
/// digits, of 2^25 terms no more than 2^-44 of a sum above 2^-80; no smaller one has a direction: see
/// [`significance`](crate::significance).
#[derive(Default)]
pub(crate) struct Blocks(Compensated);

/// Σ|β_ij|² of at most [`BLOCK`] terms.
#[derive(Default)]
pub(crate) struct Block {
    re: f32,
    im: f32,
}

impl Block {
    #[inline(always)]
    pub(crate) fn add(&mut self, term: Complex32) {
        self.re += term.re * term.re;
        self.im += term.im * term.im;
    }
}

impl Blocks {
    #[inline(always)]
    pub(crate) fn add(&mut self, block: Block) {
        self.0.add(block.re + block.im);
    }

    pub(crate) fn finish(self, exponent: i32) -> Magnitude {
        let norm = square_root(self.0.sum);
        Magnitude { norm, exponent }
    }
}

/// Kahan's sum: what rounding took from the last addition is given to the next.
#[derive(Default)]
struct Compensated {
    sum: f32,
    excess: f32,
}

impl Compensated {
    #[inline(always)]
    fn add(&mut self, value: f32) {
        let wanted = value - self.excess;
        let sum = self.sum + wanted;
        self.excess = (sum - self.sum) - wanted;
        self.sum = sum;
    }
}

/// √x rounded to nearest, of a finite x ≥ 0, digit by digit: 25 bits of the root of the mantissa, the last of them for
/// rounding. A hundredth of the instructions of the shortest inference, and 80 bytes where a table takes 500.
#[inline(never)]
pub(crate) fn square_root(x: f32) -> f32 {
    if x <= 0.0 {
        return 0.0;
    }
    let (mut bits, mut bias) = (x.to_bits(), 127);
    if bits >> 23 == 0 {
        (bits, bias) = ((x * power_of_two(48)).to_bits(), 127 + 48);
    }
    // x = rest·2^(exponent − 24) with an even exponent and 1 ≤ rest/2^24 < 4.
    let exponent = (bits >> 23) as i32 - bias;
    let mut rest = (bits & 0x007f_ffff | 1 << 23) << (1 + (exponent & 1));
    // With each bit of the root, from the largest on, the rest is x − root², doubled.
    let (mut root, mut twice, mut bit) = (0, 0, 1 << 24);
    while bit != 0 {
        let trial = twice + bit;
        if rest >= trial {
            rest -= trial;
            twice = trial + bit;
            root += bit;
        }
        rest <<= 1;
        bit >>= 1;
    }
    // A root with 25 binary digits is never halfway between two of 24: the next digit rounds.
    // Its leading one is the last bit of the exponent.
    let biased = ((exponent >> 1) + 126) as u32;
    f32::from_bits((biased << 23) + ((root + 1) >> 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn square_roots_are_rounded_to_nearest() {
        // All mantissas of an even and an odd exponent, and the ends of f32.
        let binades = (0x3f80_0000..=0x407f_ffff).map(f32::from_bits);
        let ends = [0.0, f32::MIN_POSITIVE, f32::MAX, 1e-45, 3e-45, 1e-40, 7e-39];
        let subnormals = (1..0x0080_0000).step_by(997).map(f32::from_bits);
        for x in binades.chain(ends).chain(subnormals) {
            let expected = f64::from(x).sqrt() as f32;
            assert_eq!(square_root(x).to_bits(), expected.to_bits(), "{x:e}");
        }
    }

    fn norm(terms: impl Iterator<Item = f32>) -> f32 {
        let mut squares = Accumulator::default();
        terms.for_each(|re| squares.add(Complex32::new(re, 0.0)));
        squares.finish(0).norm()
    }

    #[test]
    fn a_million_terms_lose_nothing() {
        let exact = (1_000_000.0_f64).sqrt() * f64::from(0.1_f32);
        let found = norm(core::iter::repeat_n(0.1, 1_000_000));
        // Square, sum, root: three roundings of 2^-24 each and the second-order error of the compensation.
        assert!((f64::from(found) / exact - 1.0).abs() < 2e-7);
    }

    #[test]
    fn terms_whose_squares_vanish_still_have_a_norm() {
        for k in [-30, -39, -40, -41, -60, -100, -120] {
            let tiny = 2_f32.powi(k);
            let found = norm([tiny; 4].into_iter());
            assert_eq!(found, 2.0 * tiny, "2^{k}");
        }
        assert_eq!(norm([0.0; 4].into_iter()), 0.0);
    }

    #[test]
    fn small_terms_count_beside_large_ones() {
        let small = SMALL / 2.0;
        let found = norm([SMALL; 1].into_iter().chain([small; 12]));
        assert_eq!(found, 2.0 * SMALL);
    }
}
