//! Products of many complex rows, and eigenvectors of Hermitian matrices.
//!
//! A complex row is its real parts and then its imaginary parts; with s = (Im, −Re) of f, Re f g† = f·g and
//! Im f g† = s·g.

use super::features::BLOCK;
use crate::numeric::matrix::{matrix, matrix_mut, multiply, multiply_add};
use faer::{Mat, Side, c64};
use ndarray::Array2;
use rayon::prelude::*;

/// Eigenvalues below this share of the largest are rounding: features are f32, their products f64.
const LEAST_EIGENVALUE: f64 = 1e-12;
/// Rows of a product that one thread computes.
const ROWS: usize = 64;

/// (Im, −Re) of every complex row.
pub(in crate::classify) fn swap(rows: &[f32], width: usize) -> Vec<f32> {
    let mut swapped = vec![0.0; rows.len()];
    let pairs = rows
        .par_chunks(width.max(1))
        .zip(swapped.par_chunks_mut(width.max(1)));
    pairs.for_each(|(row, swapped)| {
        let (re, im) = row.split_at(width / 2);
        let (first, second) = swapped.split_at_mut(width / 2);
        first.copy_from_slice(im);
        second
            .iter_mut()
            .zip(re)
            .for_each(|(second, re)| *second = -re);
    });
    swapped
}

/// F F† in double precision: real parts and imaginary parts.
pub(in crate::classify) fn gram(rows: &[f32], swapped: &[f32], width: usize) -> [Vec<f64>; 2] {
    /// Columns that are widened to f64 at a time.
    const COLUMNS: usize = 1024;
    let count = rows.len() / width;
    let product = |left: &[f32]| {
        let mut product = vec![0.0; count * count];
        for first in (0..width).step_by(COLUMNS) {
            let columns = COLUMNS.min(width - first);
            let widen = |rows: &[f32]| -> Vec<f64> {
                let part = |row: &'_ [f32]| row[first..][..columns].to_vec();
                let parts = rows.chunks_exact(width).flat_map(part);
                parts.map(f64::from).collect()
            };
            let right = widen(rows);
            let right = matrix(&right, count, columns, columns).transpose();
            product
                .par_chunks_mut(ROWS * count)
                .zip(left.par_chunks(ROWS * width))
                .for_each(|(to, left)| {
                    let left = widen(left);
                    let rows = to.len() / count;
                    let left = matrix(&left, rows, columns, columns);
                    multiply_add(matrix_mut(to, rows, count, count), left, right, 1.0);
                });
        }
        product
    };
    [product(rows), product(swapped)]
}

/// E[(c − c̄)†(c − c̄)] in double precision: real parts and imaginary parts.
pub(in crate::classify) fn covariance(coordinates: &Array2<f32>, mean: &[f64]) -> [Vec<f64>; 2] {
    /// Sums of their own, so that their order does not depend on the number of threads.
    const PARTS: usize = 8;
    let (samples, wide) = coordinates.dim();
    let all = coordinates.as_slice().expect("it lies in one piece");
    let share = samples.div_ceil(PARTS).max(1);
    let products: Vec<Vec<f64>> = (0..samples)
        .step_by(share)
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|first| {
            let mut sum = vec![0.0; wide * wide];
            let part = &all[first * wide..samples.min(first + share) * wide];
            for block in part.chunks(4 * BLOCK * wide) {
                let centred = block.chunks_exact(wide).flat_map(|row| {
                    let centre = |(&c, mean): (&f32, &f64)| f64::from(c) - mean;
                    row.iter().zip(mean).map(centre)
                });
                let centred: Vec<f64> = centred.collect();
                let block = matrix(&centred, block.len() / wide, wide, wide);
                multiply_add(
                    matrix_mut(&mut sum, wide, wide, wide),
                    block.transpose(),
                    block,
                    1.0,
                );
            }
            sum
        })
        .collect();
    let count = wide / 2;
    let at = |k: usize, l: usize| {
        products.iter().map(|sum| sum[k * wide + l]).sum::<f64>() / samples as f64
    };
    let every = |part: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        let row = |k| (0..count).map(move |l| part(k, l));
        (0..count).flat_map(row).collect()
    };
    [
        every(&|k, l| at(k, l) + at(count + k, count + l)),
        every(&|k, l| at(k, count + l) - at(count + k, l)),
    ]
}

/// (A + iB) F of complex rows F, given A, B and F with its swapped rows.
pub(in crate::classify) fn combine(
    [re, im]: [&[f32]; 2],
    [rows, swapped]: [&[f32]; 2],
    width: usize,
) -> Vec<f32> {
    let count = rows.len() / width;
    let mut combined = vec![0.0; re.len() / count * width];
    combined
        .par_chunks_mut(ROWS * width)
        .zip(re.par_chunks(ROWS * count).zip(im.par_chunks(ROWS * count)))
        .for_each(|(to, (re, im))| {
            let kept = to.len() / width;
            let factor = |part| matrix(part, kept, count, count);
            let (rows, swapped) = (
                matrix(rows, count, width, width),
                matrix(swapped, count, width, width),
            );
            multiply(matrix_mut(to, kept, width, width), factor(re), rows, 1.0);
            multiply_add(
                matrix_mut(to, kept, width, width),
                factor(im),
                swapped,
                -1.0,
            );
        });
    combined
}

/// Eigenvalues, and eigenvectors as columns.
pub(in crate::classify) struct Eigen {
    pub(in crate::classify) values: Vec<f64>,
    pub(in crate::classify) vectors: Mat<c64>,
}

impl Eigen {
    /// Up to so many places of eigenvalues that are more than rounding, the largest first.
    pub(in crate::classify) fn largest(&self, most: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.values.len()).collect();
        order.sort_by(|&a, &b| self.values[b].total_cmp(&self.values[a]));
        let least = order
            .first()
            .map_or(0.0, |&k| LEAST_EIGENVALUE * self.values[k]);
        let above = order.iter().take(most).filter(|&&k| self.values[k] > least);
        above.copied().collect()
    }
}

/// Of a matrix given by its real and imaginary parts, row after row.
pub(in crate::classify) fn hermitian([re, im]: &[Vec<f64>; 2], count: usize) -> Eigen {
    let matrix = Mat::from_fn(count, count, |k, l| {
        c64::new(re[k * count + l], im[k * count + l])
    });
    let eigen = matrix
        .self_adjoint_eigen(Side::Lower)
        .expect("a Hermitian matrix of finite numbers has eigenvectors");
    let values = eigen.S().column_vector();
    Eigen {
        values: (0..count).map(|k| values[k].re).collect(),
        vectors: eigen.U().to_owned(),
    }
}
