//! 64-bit samples as the f32 a device computes with: x itself, or 2^k x where only its direction counts.
//!
//! β̄ does not change when x is multiplied by 2^k > 0, so no finite sample but zero need overflow or vanish for it.

use std::fmt;

/// Below 2^-100 f32 begins to lose digits of what is 2^-26 of the largest value, so the signal is scaled up.
const SMALL: f64 = 1.0 / (1_u128 << 100) as f64;

/// Numbers of which each has a largest of its own at first, so that they are compared side by side.
const LANES: usize = 8;

/// Why a sample has no f32 counterpart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unfit {
    /// A value is infinite or not a number.
    NotFinite {
        /// Its place in the sample.
        column: usize,
        /// The value.
        value: f64,
    },
    /// Every value is zero.
    Zero,
    /// A value is larger than f32 holds.
    TooLarge {
        /// Its place in the sample.
        column: usize,
        /// The value.
        value: f64,
    },
    /// Every value is smaller than f32 holds.
    TooSmall,
}

impl Unfit {
    /// What to do about it.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        match self {
            Unfit::NotFinite { .. } => "replace the value or leave the sample out",
            Unfit::Zero => "it has no bispectrum, leave the sample out",
            Unfit::TooLarge { .. } => {
                "scale the signals down, or compute normalised features, which do not depend on scale"
            }
            Unfit::TooSmall => {
                "scale the signals up, or compute normalised features, which do not depend on scale"
            }
        }
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::NotFinite { column, value } => write!(f, "column {column} is {value}"),
            Unfit::Zero => f.write_str("every value is zero"),
            Unfit::TooLarge { column, value } => {
                write!(f, "column {column} is {value:e}, more than f32 holds")
            }
            Unfit::TooSmall => f.write_str("every value is less than f32 holds"),
        }
    }
}

/// The f32 nearest to each value.
///
/// # Errors
/// A value is not finite or larger than f32 holds, or all are zero or become it.
///
/// ```
/// use bispectral_learn::data::rounding::{Unfit, to_f32};
///
/// let mut x = Vec::new();
/// to_f32(&[0.1, -2.0], &mut x)?;
/// assert_eq!(x, [0.1_f32, -2.0]);
/// assert_eq!(to_f32(&[0.0, 1e300], &mut x), Err(Unfit::TooLarge { column: 1, value: 1e300 }));
/// # Ok::<(), Unfit>(())
/// ```
pub fn to_f32(sample: &[f64], rounded: &mut Vec<f32>) -> Result<(), Unfit> {
    largest(sample)?;
    round(sample, 1.0, rounded);
    if let Some(column) = rounded.iter().position(|value| value.is_infinite()) {
        let value = sample.get(column).copied().unwrap_or_default();
        return Err(Unfit::TooLarge { column, value });
    }
    if rounded.iter().all(|&value| value == 0.0) {
        return Err(Unfit::TooSmall);
    }
    Ok(())
}

/// The f32 nearest to each value times 2^k; k is 0 wherever f32 holds the sample as it is.
///
/// # Errors
/// A value is not finite, or all are zero.
///
/// ```
/// use bispectral_learn::data::rounding::{Unfit, to_f32_direction};
///
/// let mut x = Vec::new();
/// to_f32_direction(&[1e300, -2e300], &mut x)?;
/// assert_eq!(x[1] / x[0], -2.0);
/// assert_eq!(to_f32_direction(&[0.0], &mut x), Err(Unfit::Zero));
/// # Ok::<(), Unfit>(())
/// ```
pub fn to_f32_direction(sample: &[f64], rounded: &mut Vec<f32>) -> Result<(), Unfit> {
    let largest = largest(sample)?;
    let fits = largest >= SMALL && (largest as f32).is_finite();
    round(
        sample,
        if fits { 1.0 } else { to_about_1(largest) },
        rounded,
    );
    Ok(())
}

fn round(sample: &[f64], factor: f64, rounded: &mut Vec<f32>) {
    rounded.clear();
    rounded.extend(sample.iter().map(|value| (value * factor) as f32));
}

fn largest(sample: &[f64]) -> Result<f64, Unfit> {
    // Without a way out of the loop, so that it is of whole vectors.
    if !sample.iter().fold(true, |all, x| all & x.is_finite()) {
        let column = sample.iter().position(|value| !value.is_finite());
        let column = column.unwrap_or_default();
        let value = sample.get(column).copied().unwrap_or_default();
        return Err(Unfit::NotFinite { column, value });
    }
    let larger = |largest: f64, x: f64| if x > largest { x } else { largest };
    let (parts, rest) = sample.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for part in parts {
        for (lane, x) in lanes.iter_mut().zip(part) {
            *lane = larger(*lane, x.abs());
        }
    }
    let rest = rest.iter().map(|x| x.abs());
    let largest = lanes.into_iter().chain(rest).fold(0.0, larger);
    if largest == 0.0 {
        return Err(Unfit::Zero);
    }
    Ok(largest)
}

/// A power of two that brings `value` to 2^-52 … 4, from its exponent bits; it is a normal number itself.
fn to_about_1(value: f64) -> f64 {
    const BIAS: u64 = 1023;
    let exponent = (value.to_bits() >> 52).clamp(1, 2 * BIAS - 1);
    f64::from_bits((2 * BIAS - exponent) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_finite_sample_but_zero_keeps_its_direction(
            sample in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL, 1..9)
        ) {
            let mut x = Vec::new();
            to_f32_direction(&sample, &mut x).unwrap();
            let peak = sample.iter().fold(0.0, |peak: f64, x| peak.max(x.abs()));
            let found = x.iter().fold(0.0, |peak: f32, x| peak.max(x.abs()));
            prop_assert!(found.is_normal());
            for (wanted, found_value) in sample.iter().zip(&x) {
                // Half a unit in the last place of an f32, of the value and of the largest.
                let error = (wanted / peak - f64::from(*found_value) / f64::from(found)).abs();
                prop_assert!(error <= 2.0_f64.powi(-23), "{wanted:e} {found_value:e}");
            }
        }

        #[test]
        fn what_is_f32_already_is_not_touched_but_by_an_exact_power_of_two(
            sample in prop::collection::vec(prop::num::f32::NORMAL | prop::num::f32::SUBNORMAL, 1..9)
        ) {
            let wide: Vec<f64> = sample.iter().map(|&x| x.into()).collect();
            let mut x = Vec::new();
            to_f32_direction(&wide, &mut x).unwrap();
            let ratio = f64::from(x[0]) / wide[0];
            prop_assert!(ratio == 1.0 || wide.iter().all(|x| x.abs() < SMALL));
            for (found, wanted) in x.iter().zip(&wide) {
                prop_assert_eq!(f64::from(*found), wanted * ratio);
            }
            to_f32(&wide, &mut x).unwrap();
            prop_assert_eq!(x, sample);
        }
    }

    #[test]
    fn a_sample_that_leaves_f32_is_named() {
        let mut x = Vec::new();
        for (sample, unfit) in [
            (
                &[1.0, f64::MAX][..],
                "column 1 is 1.7976931348623157e308, more than f32 holds",
            ),
            (&[1e-300, 0.0], "every value is less than f32 holds"),
            (&[0.0, -0.0], "every value is zero"),
            (&[0.0, f64::NEG_INFINITY], "column 1 is -inf"),
        ] {
            assert_eq!(to_f32(sample, &mut x).unwrap_err().to_string(), unfit);
        }
    }
}
