//! Encoding f16: each weight rounded to the nearest binary16, half the bytes of f32.

use crate::{Error, Result};
use bispectral_core::Complex32;
use half::f16;
use ndarray::ArrayView2;

/// The bits of the weights of a model of encoding f16: to nearest, ties to even.
///
/// A weight is off by 2^-12 of itself at most, and by 2^-25 where it is below 2^-14.
///
/// ```
/// use bispectral_learn::model::halves::halves;
/// use bispectral_core::Complex32;
///
/// let w = ndarray::arr2(&[[Complex32::new(1.0, -0.1)]]);
/// assert_eq!(halves(&w.view())?, [0x3c00, 0xae66]);
/// # Ok::<(), bispectral_learn::Error>(())
/// ```
///
/// # Errors
/// A weight is not finite, or beyond the 65,504 of the largest binary16.
pub fn halves(w: &ArrayView2<'_, Complex32>) -> Result<Vec<u16>> {
    let mut bits = Vec::with_capacity(2 * w.len());
    for row in w.rows() {
        let parts = row.iter().map(|w| w.re).chain(row.iter().map(|w| w.im));
        for part in parts {
            let half = f16::from_f32(part);
            if !half.is_finite() {
                let what = format!("a weight of {part:e} is none that f16 has");
                return Err(Error::new("W", what, "scale W by a constant, or take f32"));
            }
            bits.push(half.to_bits());
        }
    }
    Ok(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_rounded_to_nearest_even_and_real_parts_come_first() {
        let tie = 1.0 + 2_f32.powi(-11);
        let above = 1.0 + 3.0 * 2_f32.powi(-11);
        let w = ndarray::arr2(&[
            [Complex32::new(tie, 0.0), Complex32::new(above, -tie)],
            [Complex32::new(2_f32.powi(-24), 65_519.0), Complex32::ZERO],
        ]);
        let expected: [u16; 8] = [
            0x3c00, 0x3c02, 0x0000, 0xbc00, 0x0001, 0x0000, 0x7bff, 0x0000,
        ];
        assert_eq!(halves(&w.view()).unwrap(), expected);
    }

    #[test]
    fn a_weight_that_f16_has_not_is_refused() {
        for part in [65_520.0, f32::NAN, f32::NEG_INFINITY] {
            let w = ndarray::arr2(&[[Complex32::new(0.0, part)]]);
            let error = halves(&w.view()).unwrap_err().to_string();
            assert!(error.contains("f16"), "{error}");
        }
    }
}
