//! The nearest of known samples, by squared distances of their features.

use crate::numeric::matrix::{matrix, matrix_mut, multiply};
use ndarray::{Array2, ArrayView1};

/// Squared distances of every sample from every known one, but for what is common to a row.
fn distances(known: &Array2<f32>, samples: &Array2<f32>) -> Array2<f32> {
    let (rows, columns, width) = (samples.nrows(), known.nrows(), known.ncols());
    let mut out = Array2::zeros((rows, columns));
    let [samples, known_slice] = [samples, known].map(|a| a.as_slice().expect("in one piece"));
    let to = matrix_mut(
        out.as_slice_mut().expect("in one piece"),
        rows,
        columns,
        columns,
    );
    let of_known = matrix(known_slice, columns, width, width).transpose();
    multiply(to, matrix(samples, rows, width, width), of_known, -2.0);
    let squares: Vec<f32> = known.rows().into_iter().map(|row| row.dot(&row)).collect();
    for mut row in out.rows_mut() {
        row.iter_mut()
            .zip(&squares)
            .for_each(|(d, square)| *d += square);
    }
    out
}

/// The place of the nearest known sample of each.
pub(super) fn nearest(known: &Array2<f32>, samples: &Array2<f32>) -> Vec<usize> {
    let least = |row: ArrayView1<'_, f32>| {
        let numbered = row.iter().enumerate();
        numbered
            .min_by(|a, b| a.1.total_cmp(b.1))
            .map_or(0, |(at, _)| at)
    };
    let distances = distances(known, samples);
    distances.rows().into_iter().map(least).collect()
}

/// The share of samples whose nearest other one is of their class.
pub(super) fn left_out(features: &Array2<f32>, classes: &[usize]) -> f64 {
    let distances = distances(features, features);
    let right = distances
        .rows()
        .into_iter()
        .enumerate()
        .filter(|(at, row)| {
            let others = row.iter().enumerate().filter(|(other, _)| other != at);
            let nearest = others.min_by(|a, b| a.1.total_cmp(b.1));
            nearest.is_some_and(|(other, _)| classes[other] == classes[*at])
        });
    right.count() as f64 / classes.len() as f64
}
