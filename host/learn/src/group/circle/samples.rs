//! Samples of orbits, as they are and in coordinates of equal variance.

use crate::data::orbits::Orbits;
use crate::numeric::matrix::{matrix, matrix_mut, multiply};
use faer::{Mat, Side};
use std::ops::Range;

/// Added to every variance, as a share of the mean one: directions with less are not made as large as others.
const RIDGE: f64 = 1e-4;
/// Directions with less than this share of the largest variance carry nothing.
const LEAST_VARIANCE: f64 = 1e-9;

/// All members of all orbits.
pub(super) struct Samples {
    inputs: usize,
    /// Which rows belong to each orbit.
    orbits: Vec<Range<usize>>,
    /// Principal components, from the largest: one column each, N × rank.
    components: Mat<f64>,
    /// (Λ + ridge)^(−1/2), one a component.
    scales: Vec<f64>,
    /// Rows of principal components divided by their deviations.
    white: Vec<f64>,
}

impl Samples {
    /// `None` where they do not vary.
    pub(super) fn of(orbits: &Orbits) -> Option<Self> {
        let inputs = orbits.inputs();
        let mut ranges = Vec::with_capacity(orbits.len());
        let mut raw = Vec::new();
        let mut sample = vec![0.0_f32; inputs];
        for orbit in 0..orbits.len() {
            let begin = raw.len() / inputs;
            for member in 0..orbits.members(orbit) {
                orbits.write_member(orbit, member, &mut sample);
                raw.extend(sample.iter().map(|&x| f64::from(x)));
            }
            ranges.push(begin..raw.len() / inputs);
        }
        let eigen = orbits.covariance().self_adjoint_eigen(Side::Lower).ok()?;
        let (values, vectors) = (eigen.S().column_vector(), eigen.U());
        let values: Vec<f64> = (0..inputs).rev().map(|k| values[k]).collect();
        let (largest, mean) = (values[0], values.iter().sum::<f64>() / inputs as f64);
        let rank = (values.iter())
            .take_while(|&&value| value > LEAST_VARIANCE * largest && value > 0.0)
            .count();
        if rank < 2 {
            return None;
        }
        let components = Mat::from_fn(inputs, rank, |n, k| vectors[(n, inputs - 1 - k)]);
        let scales: Vec<f64> = (values[..rank].iter())
            .map(|value| (value + RIDGE * mean).sqrt().recip())
            .collect();
        let count = raw.len() / inputs;
        let mut white = vec![0.0; count * rank];
        let to = matrix_mut(&mut white, count, rank, rank);
        multiply(
            to,
            matrix(&raw, count, inputs, inputs),
            components.as_ref(),
            1.0,
        );
        for row in white.chunks_exact_mut(rank) {
            row.iter_mut()
                .zip(&scales)
                .for_each(|(y, scale)| *y *= scale);
        }
        Some(Samples {
            inputs,
            orbits: ranges,
            components,
            scales,
            white,
        })
    }

    pub(super) fn inputs(&self) -> usize {
        self.inputs
    }

    pub(super) fn rank(&self) -> usize {
        self.scales.len()
    }

    pub(super) fn orbits(&self) -> &[Range<usize>] {
        &self.orbits
    }

    /// The samples of an orbit, whitened, one behind the other.
    pub(super) fn white(&self, orbit: usize) -> &[f64] {
        let Range { start, end } = self.orbits[orbit];
        &self.white[start * self.rank()..end * self.rank()]
    }

    /// The principal component `k` of a whitened sample, at its own size.
    pub(super) fn component(&self, white: &[f64], k: usize) -> f64 {
        white[k] / self.scales[k]
    }

    /// A form of whitened samples as one of samples.
    pub(super) fn unwhitened(&self, form: impl Fn(usize) -> f64) -> Vec<f64> {
        let scaled: Vec<f64> = (0..self.rank()).map(|k| form(k) * self.scales[k]).collect();
        let row = |n: usize| {
            (0..self.rank())
                .map(|k| self.components[(n, k)] * scaled[k])
                .sum()
        };
        (0..self.inputs).map(row).collect()
    }
}
