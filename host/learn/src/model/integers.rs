//! Encoding i8: every row as whole numbers of −127 … 127 and one scale, a quarter of the bytes of f32.
//!
//! The scale of a row is the one with the least Σ|W_in − scale·q_in|² among many. A larger step than the smallest
//! possible can be better, because the parts of a row are few different numbers where it is a character: cos(2πk/16)
//! has five magnitudes, and with the right step all of them are nearly whole.

use crate::{Error, Result};
use bispectral_core::Complex32;
use bispectral_core::format::Weights;
use ndarray::ArrayView2;
use rayon::prelude::*;

/// The largest q.
const LARGEST: f64 = 127.0;
/// Steps that are tried: those with which the largest part of a row is this many of them …
const LEAST_LEVELS: f64 = 96.0;
/// … to this many, where what is beyond [`LARGEST`] is cut off.
const MOST_LEVELS: f64 = 136.0;
/// How many.
const CANDIDATES: u32 = 400;

/// W of encoding i8.
#[derive(Debug, Clone, PartialEq)]
pub struct Integers {
    /// One a row.
    pub scales: Vec<f32>,
    /// q, row after row: the real parts and then the imaginary parts.
    pub weights: Vec<i8>,
}

impl Integers {
    /// The weights of a model.
    #[must_use]
    pub fn weights(&self) -> Weights<'_> {
        Weights::I8 {
            weights: (&self.weights).into(),
            scales: (&self.scales).into(),
        }
    }
}

/// W in whole numbers.
///
/// ```
/// use bispectral_learn::model::integers::integers;
/// use bispectral_core::Complex32;
///
/// // One step for all: the ratio of the parts is 4 to 3.
/// let w = ndarray::arr2(&[[Complex32::new(0.4, -0.3), Complex32::ZERO]]);
/// let found = integers(&w.view())?;
/// let q: Vec<i32> = found.weights.iter().map(|q| i32::from(*q)).collect();
/// assert_eq!((q[0] * 3, q[1]), (-q[2] * 4, 0));
/// # Ok::<(), bispectral_learn::Error>(())
/// ```
///
/// # Errors
/// A weight is not finite, or so large or small that its step is none the format has.
pub fn integers(w: &ArrayView2<'_, Complex32>) -> Result<Integers> {
    let rows: Vec<Vec<f64>> = w
        .rows()
        .into_iter()
        .map(|row| {
            let parts = row.iter().map(|w| w.re).chain(row.iter().map(|w| w.im));
            parts.map(f64::from).collect()
        })
        .collect();
    let found: Vec<(f32, Vec<i8>)> = rows.par_iter().map(|row| quantised(row)).collect();
    // The exponent of the core's weights: 2^-60 … 2^60.
    let range = 2_f32.powi(-60)..2_f32.powi(61);
    if found.iter().any(|(scale, _)| !range.contains(scale)) {
        let what = "a row is too large, too small or not finite for i8";
        return Err(Error::new("W", what, "scale W by a constant, or take f32"));
    }
    let (scales, weights): (Vec<f32>, Vec<Vec<i8>>) = found.into_iter().unzip();
    Ok(Integers {
        scales,
        weights: weights.concat(),
    })
}

/// The scale of a row with the least squared error, and its q.
pub(super) fn quantised(row: &[f64]) -> (f32, Vec<i8>) {
    let largest = row.iter().fold(0.0_f64, |largest, w| largest.max(w.abs()));
    if row.iter().any(|w| w.is_nan()) {
        return (f32::NAN, Vec::new());
    }
    if largest == 0.0 {
        return (1.0, vec![0; row.len()]);
    }
    let (_, scale) = (0..=CANDIDATES)
        .map(|at| {
            let share = f64::from(at) / f64::from(CANDIDATES);
            let levels = LEAST_LEVELS + share * (MOST_LEVELS - LEAST_LEVELS);
            let scale = fitted(row, largest / levels);
            (error(row, scale), scale)
        })
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .unwrap_or((0.0, largest / LARGEST));
    // Computed with the scale that the file has.
    let scale = scale as f32;
    let q = row.iter().map(|w| nearest(*w, scale.into()) as i8);
    (scale, q.collect())
}

fn nearest(w: f64, scale: f64) -> f64 {
    (w / scale).round().clamp(-LARGEST, LARGEST)
}

/// The best factor of the q that belong to `scale`: Σ w q / Σ q².
fn fitted(row: &[f64], scale: f64) -> f64 {
    let (mut products, mut squares) = (0.0, 0.0);
    for w in row {
        let q = nearest(*w, scale);
        products += w * q;
        squares += q * q;
    }
    products / squares
}

fn error(row: &[f64], scale: f64) -> f64 {
    let errors = row.iter().map(|w| w - scale * nearest(*w, scale));
    errors.map(|error| error * error).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::group::Group;
    use ndarray::Array2;

    fn characters(name: &str) -> Array2<Complex32> {
        let group: Group = name.parse().unwrap();
        let single = |w: &num_complex::Complex64| Complex32::new(w.re as f32, w.im as f32);
        group.characters().map(single)
    }

    /// Root of the mean of |W − Ŵ|² / |W|².
    fn relative(w: &Array2<Complex32>, found: &Integers) -> f64 {
        let inputs = w.ncols();
        let (mut errors, mut squares) = (0.0, 0.0);
        for ((row, n), w) in w.indexed_iter() {
            let q = |at: usize| f32::from(found.weights[2 * row * inputs + at]);
            let read = Complex32::new(q(n), q(inputs + n)) * found.scales[row];
            errors += f64::from((w - read).norm_sqr());
            squares += f64::from(w.norm_sqr());
        }
        (errors / squares).sqrt()
    }

    #[test]
    fn a_searched_step_is_better_than_the_smallest_one() {
        // Uniform errors of half of 1/127 at most, of parts whose mean square is a half.
        let smallest = 1.0 / 127.0 / 12_f64.sqrt() * 2_f64.sqrt();
        for (name, factor) in [("Z16", 0.5), ("Z16xZ16", 0.5), ("Z64", 1.0), ("Z7xZ3", 0.9)] {
            let w = characters(name);
            let found = relative(&w, &integers(&w.view()).unwrap());
            assert!(
                found < factor * smallest,
                "{name}: {found:e} of {smallest:e}"
            );
        }
    }

    #[test]
    fn every_q_has_an_opposite_and_zero_rows_stay_zero() {
        let w = Array2::from_shape_fn((5, 40), |(row, n)| {
            let angle = (n * n + 7 * row) as f32;
            Complex32::from_polar((row as f32 * 20.0 - 40.0).exp2() * row as f32, angle)
        });
        let found = integers(&w.view()).unwrap();
        assert!(!found.weights.contains(&i8::MIN));
        assert_eq!(found.weights[..80], [0; 80]);
        assert_eq!(found.scales[0], 1.0);
        assert!(relative(&w, &found) < 4e-3);
    }

    #[test]
    fn weights_past_the_range_are_refused() {
        for part in [f32::NAN, f32::INFINITY, 1e38, 1e-30] {
            let w = ndarray::arr2(&[[Complex32::new(part, 0.0)]]);
            assert!(integers(&w.view()).is_err(), "{part:e}");
        }
    }
}
