//! A model of all cyclic shifts of N samples without learning: the first K harmonics, with features of degree one.
//!
//! Rows are the characters 1 … K of Z_N, so that the mean of a signal does not count, and pairs those whose product is a row,
//! i + j ≤ K; or, selective, those of them with i ≤ 2, which are enough to tell all phases but for a common shift.

use crate::limits::interruption;
use crate::model::file::{self, dimension};
use crate::{Error, Result};
use bispectral_core::Model;
use bispectral_core::format::{Head, Output, PairList, Parts, Structure, Transform, Weights};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use std::f64::consts::TAU;

/// Rows with which all others are paired in a selective model.
const FIRST_ROWS: usize = 2;

/// What is chosen about such a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Harmonics {
    /// N.
    pub inputs: usize,
    /// K, at most N/2.
    pub rows: usize,
    /// What the phases of the pairs weigh beside the magnitudes, in the features.
    pub weight: f32,
    /// Only pairs of the first two rows.
    pub selective: bool,
}

impl Harmonics {
    /// So many rows, or as many as signals of this length have.
    #[must_use]
    pub fn new(inputs: usize, rows: usize) -> Self {
        Harmonics {
            inputs,
            rows: rows.min(inputs / 2),
            weight: 1.0,
            selective: false,
        }
    }

    /// The same with phases that weigh `relative` times as much as magnitudes do on these samples: the root mean square of
    /// all their features is that many times the others'.
    ///
    /// # Errors
    /// A sample has no features.
    pub fn weighing(self, relative: f32, samples: ArrayView2<'_, f32>) -> Result<Self> {
        let equal = Harmonics {
            weight: 1.0,
            ..self
        };
        let found = features(&equal.model(Head::None)?, samples)?;
        let (mut magnitudes, mut phases) = (0.0, 0.0);
        for row in found.rows() {
            for (at, value) in row.iter().enumerate() {
                let square = f64::from(value * value);
                *(if at < self.rows {
                    &mut magnitudes
                } else {
                    &mut phases
                }) += square;
            }
        }
        let ratio = if phases > 0.0 {
            magnitudes / phases
        } else {
            1.0
        };
        let weight = (relative * ratio.sqrt() as f32).clamp(1e-6, 1e6);
        Ok(Harmonics { weight, ..self })
    }

    /// The bytes of the model with this head.
    ///
    /// # Errors
    /// Signals too short for two rows, or more than a model may have.
    pub fn model(&self, head: Head<'_>) -> Result<Vec<u8>> {
        let Harmonics { inputs, rows, .. } = *self;
        if rows < 2 || inputs > usize::from(bispectral_core::format::MAX_DIMENSION) {
            let what = format!("{inputs} samples a signal");
            return Err(Error::new(
                "the signals",
                what,
                "give 4 to 8192 samples a signal",
            ));
        }
        let transform = match u16::try_from(inputs) {
            Ok(factor) if Transform::Fft.is_fast(factor) => Transform::Fft,
            _ => Transform::Sums,
        };
        let length = (inputs as f64).sqrt();
        let root = |part: fn(f64) -> f64, sign: f64| {
            let angle = |t: usize| TAU * t as f64 / inputs as f64;
            (0..inputs).map(move |t| (sign * part(angle(t)) / length) as f32)
        };
        let roots: Vec<f32> = root(f64::cos, 1.0).chain(root(f64::sin, -1.0)).collect();
        let characters: Vec<u16> = (1..=dimension(rows)).collect();
        let elements: Vec<u16> = (0..dimension(inputs)).collect();
        let first = if self.selective {
            FIRST_ROWS.min(rows)
        } else {
            rows
        };
        let pairs: Vec<(u16, u16)> = (0..first)
            .flat_map(|i| (i..rows).map(move |j| (i, j)))
            .filter(|(i, j)| i + j + 2 <= rows)
            .map(|(i, j)| (i as u16, j as u16))
            .collect();
        file::encode(&Parts {
            inputs: dimension(inputs),
            rows: dimension(rows),
            name: "harmonics",
            group: Some(&format!("Z{inputs}")),
            pairs: PairList::Listed((&pairs).into()),
            output: Output::DegreeOne {
                weight: self.weight,
                products: length as f32,
            },
            structure: Structure::Cyclic {
                transform,
                factors: (&[inputs as u16]).into(),
                characters: (&characters).into(),
                elements: (&elements).into(),
            },
            head,
            weights: Weights::F32((&roots).into()),
        })
        .map_err(|error| Error::new("the model", error.to_string(), "give other signals"))
    }
}

/// The features of every sample, one a row, by the code that runs on a device.
///
/// # Errors
/// The bytes are no model, or a sample has no features.
pub fn features(bytes: &[u8], samples: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
    let model =
        Model::from_bytes(bytes).map_err(|error| Error::model("the model".as_ref(), error))?;
    let width = model.feature_count();
    let mut all = Array2::zeros((samples.nrows(), width));
    let out = all.as_slice_mut().expect("it lies in one piece");
    let rows: Vec<_> = samples.rows().into_iter().collect();
    let refused = out
        .par_chunks_mut(width)
        .zip(rows)
        .enumerate()
        .map_init(
            || vec![0.0; model.scratch_len()],
            |scratch, (at, (out, row))| {
                interruption::check();
                let computed = model.features(&row.to_vec(), scratch, out);
                computed.err().map(|error| (at, error))
            },
        )
        .flatten()
        .min_by_key(|(at, _)| *at);
    match refused {
        None => Ok(all),
        Some((at, error)) => Err(Error::new(
            format!("sample {at}"),
            error.to_string(),
            "leave the sample out",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signals() -> Array2<f32> {
        Array2::from_shape_fn((5, 32), |(k, n)| (((k + 3) * n * n) % 29) as f32)
    }

    #[test]
    fn features_do_not_change_when_a_signal_is_shifted() {
        for selective in [false, true] {
            let model = Harmonics {
                selective,
                ..Harmonics::new(32, 10)
            };
            let bytes = model.model(Head::None).unwrap();
            let before = features(&bytes, signals().view()).unwrap();
            let shifted = Array2::from_shape_fn((5, 32), |(k, n)| signals()[(k, (n + 7) % 32)]);
            let after = features(&bytes, shifted.view()).unwrap();
            assert_eq!(
                before.ncols(),
                if selective { 10 + 2 * 16 } else { 10 + 2 * 25 }
            );
            // f32 sums of 32 samples, features of at most one.
            assert!(before.iter().zip(&after).all(|(a, b)| (a - b).abs() < 1e-5));
        }
    }

    #[test]
    fn phases_weigh_as_much_as_they_are_told_to() {
        let model = Harmonics::new(32, 10)
            .weighing(0.5, signals().view())
            .unwrap();
        let found = features(&model.model(Head::None).unwrap(), signals().view()).unwrap();
        let square = |from: usize, to: usize| {
            let rows = found.rows().into_iter();
            rows.flat_map(|row| row.to_vec()[from..to].to_vec())
                .map(|f| f * f)
                .sum::<f32>()
        };
        let ratio = (square(10, found.ncols()) / square(0, 10)).sqrt();
        assert!((ratio - 0.5).abs() < 1e-3, "{ratio}");
    }

    #[test]
    fn signals_that_are_too_short_are_refused() {
        assert!(Harmonics::new(3, 8).model(Head::None).is_err());
        assert!(Harmonics::new(4, 8).model(Head::None).is_ok());
    }
}
