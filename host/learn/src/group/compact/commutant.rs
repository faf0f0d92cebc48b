//! What commutes with the action: symmetric matrices, found as what the moments of all orbits have in common with each other.
//!
//! With x whitened, W Σ Wᵀ = 1, each S_o lies in the commutant's symmetric part, but for errors of members that are missing and
//! of noise. The identity always does, and is taken out: S_o less its mean diagonal. Errors of different parts p ≠ q of a bucket are independent, so that
//!
//! > A = Σ_o Σ_{p≠q} vec(S_op) vec(S_oq)ᵀ
//!
//! has the commutant as the span of its eigenvectors with large eigenvalues, and errors make the others small of either sign.
//! Whitening also makes an action orthogonal that a mixing which is not has hidden.

use super::moments::Moments;
use crate::limits::interruption;
use faer::{Mat, Side};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use rayon::prelude::*;

/// Directions with less than this share of the largest variance are not there, but for rounding.
const LEAST_VARIANCE: f64 = 1e-9;
/// Up to so many numbers of a symmetric matrix, all eigenvectors of A are computed; beyond, the first [`VECTORS`].
const DENSE: usize = 700;
const VECTORS: usize = 128;
const ROUNDS: usize = 12;
/// Where the largest eigenvalue is below this, there may be the identity alone; those of commutants are 0.02 and more.
const ALONE: f64 = 0.02;

/// The directions in which moments of orbits agree.
#[derive(Debug)]
pub(super) struct Commutant {
    /// W, n × N: from samples to coordinates in which the action is orthogonal.
    pub(super) whitening: Mat<f64>,
    /// Eigenvalues of A beside the identity's own, as shares of that one, from the largest.
    pub(super) values: Vec<f64>,
    /// Orthonormal symmetric matrices, those of positive eigenvalues.
    pub(super) elements: Vec<Mat<f64>>,
    /// As many of Σ_o vec(S_o) vec(S_o)ᵀ, errors and all: exact where orbits are whole.
    pub(super) plain: Vec<Mat<f64>>,
}

impl Commutant {
    pub(super) fn of(moments: &Moments, random: &mut ChaCha8Rng) -> Option<Self> {
        let whitening = whitening(moments)?;
        let n = whitening.nrows();
        let size = n * (n + 1) / 2;
        let counts =
            |parts: &[(f64, Vec<f64>)]| parts.iter().map(|part| part.0).collect::<Vec<_>>();
        let buckets: Vec<Vec<(f64, Vec<f64>)>> = (moments.filled())
            .map(|bucket| {
                let traceless = bucket.parts.into_iter().map(|(count, sum)| {
                    let mut sum = &whitening * sum * whitening.transpose();
                    let mean = (0..n).map(|k| sum[(k, k)]).sum::<f64>() / n as f64;
                    (0..n).for_each(|k| sum[(k, k)] -= mean);
                    (count as f64, packed(&sum))
                });
                traceless.collect()
            })
            .collect();
        // Parts with a minus, whole buckets with a plus.
        let columns = |whole: bool| {
            let vectors: Vec<Vec<f64>> = if whole {
                let sum = |parts: &Vec<(f64, Vec<f64>)>| {
                    let mut sum = vec![0.0; size];
                    for (_, part) in parts {
                        sum.iter_mut().zip(part).for_each(|(to, x)| *to += x);
                    }
                    sum
                };
                buckets.iter().map(sum).collect()
            } else {
                let parts = buckets.iter().flatten();
                parts.map(|(_, part)| part.clone()).collect()
            };
            Mat::from_fn(size, vectors.len(), |row, column| vectors[column][row])
        };
        let (whole, parts) = (columns(true), columns(false));
        let identity: f64 = (buckets.iter())
            .map(|bucket| {
                let counts = counts(bucket);
                let square = counts.iter().sum::<f64>().powi(2);
                n as f64 * (square - counts.iter().map(|count| count * count).sum::<f64>())
            })
            .sum();
        if identity <= 0.0 {
            return None;
        }
        let ((values, vectors), plain) = if size <= DENSE {
            let plain = &whole * whole.transpose();
            let a = &plain - &parts * parts.transpose();
            (symmetric_eigen(&a)?, symmetric_eigen(&plain)?.1)
        } else {
            let count = VECTORS.min(size);
            let mut q = Mat::from_fn(size, count, |_, _| random.sample::<f64, _>(StandardNormal));
            let apply = |q: &Mat<f64>| {
                let by_columns: Vec<Mat<f64>> = (0..count)
                    .into_par_iter()
                    .map(|column| {
                        interruption::check();
                        let q = q.col(column).as_mat();
                        &whole * (whole.transpose() * q) - &parts * (parts.transpose() * q)
                    })
                    .collect();
                Mat::from_fn(size, count, |row, column| by_columns[column][(row, 0)])
            };
            q = q.qr().compute_thin_Q();
            for _ in 0..ROUNDS {
                q = apply(&q).qr().compute_thin_Q();
            }
            let (values, vectors) = symmetric_eigen(&(q.transpose() * apply(&q)))?;
            // Fewer buckets than numbers: the eigenvectors of the small Gram matrix.
            let (squares, small) = symmetric_eigen(&(whole.transpose() * &whole))?;
            let mut plain = &whole * small;
            for (column, square) in plain.col_iter_mut().zip(squares) {
                let scale = 1.0 / square.max(f64::MIN_POSITIVE).sqrt();
                column.iter_mut().for_each(|x| *x *= scale);
            }
            ((values, q * vectors), plain)
        };
        let positive = values.iter().take_while(|&&value| value > 0.0).count();
        let count = positive.min(VECTORS).min(plain.ncols());
        let elements = |vectors: &Mat<f64>| {
            let element = |k: usize| unpacked(n, |at| vectors[(at, k)]);
            (0..count).map(element).collect()
        };
        Some(Commutant {
            whitening,
            values: values.iter().map(|value| value / identity).collect(),
            elements: elements(&vectors),
            plain: elements(&plain),
        })
    }

    /// How many elements beside the identity there may be, the likeliest first: where the eigenvalues fall most.
    pub(super) fn candidates(&self) -> Vec<usize> {
        // No error is smaller than rounding, and none of either sign is known to be smaller than a hundredth of the largest.
        let worst = self.values.last().map_or(0.0, |value| value.abs());
        let floor = (worst * 0.01).max(1e-13);
        let ratio =
            |k: usize| self.values[k - 1] / self.values.get(k).map_or(floor, |v| v.max(floor));
        let most = self.elements.len();
        let mut found: Vec<usize> = (1..=most).filter(|&k| ratio(k) > 1.25).collect();
        found.sort_by(|&a, &b| ratio(b).total_cmp(&ratio(a)));
        found.truncate(10);
        // The identity alone: one irrep, once.
        if self.values.first().is_none_or(|&first| first < ALONE) {
            found.push(0);
        }
        found
    }
}

/// Λ^(−1/2) Vᵀ of Σ = V Λ Vᵀ, without directions that have no variance.
pub(super) fn whitening(moments: &Moments) -> Option<Mat<f64>> {
    let total = moments.total() * faer::Scale(1.0 / moments.count().max(1) as f64);
    let (values, vectors) = symmetric_eigen(&total)?;
    let largest = *values.first()?;
    let rank = (values.iter())
        .take_while(|&&value| value > LEAST_VARIANCE * largest && value > 0.0)
        .count();
    Some(Mat::from_fn(rank, total.ncols(), |row, column| {
        vectors[(column, row)] / values[row].sqrt()
    }))
}

/// Eigenvalues from the largest, and eigenvectors as columns.
pub(super) fn symmetric_eigen(matrix: &Mat<f64>) -> Option<(Vec<f64>, Mat<f64>)> {
    let eigen = matrix.self_adjoint_eigen(Side::Lower).ok()?;
    let (values, vectors) = (eigen.S().column_vector(), eigen.U());
    let n = values.nrows();
    let values: Vec<f64> = (0..n).rev().map(|k| values[k]).collect();
    let vectors = Mat::from_fn(n, n, |row, column| vectors[(row, n - 1 - column)]);
    Some((values, vectors))
}

/// The lower triangle, column by column, what is off the diagonal times √2: an isometry.
pub(super) fn packed(matrix: &Mat<f64>) -> Vec<f64> {
    let n = matrix.nrows();
    let at = |(row, column): (usize, usize)| {
        let scale = if row == column { 1.0 } else { 2_f64.sqrt() };
        scale * 0.5 * (matrix[(row, column)] + matrix[(column, row)])
    };
    let places = (0..n).flat_map(|column| (column..n).map(move |row| (row, column)));
    places.map(at).collect()
}

pub(super) fn unpacked(n: usize, vector: impl Fn(usize) -> f64) -> Mat<f64> {
    let mut matrix = Mat::zeros(n, n);
    let places = (0..n).flat_map(|column| (column..n).map(move |row| (row, column)));
    for (at, (row, column)) in places.enumerate() {
        let scale = if row == column { 1.0 } else { 0.5_f64.sqrt() };
        matrix[(row, column)] = scale * vector(at);
        matrix[(column, row)] = scale * vector(at);
    }
    matrix
}
