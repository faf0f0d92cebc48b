//! T_m v = λ S v: the forms of every order that turn best.

use super::samples::Samples;
use faer::{Mat, Side};
use ndarray::Array2;
use num_complex::Complex64;
use rayon::prelude::*;

/// The highest order: a grid of 16 × 16 keeps none above 17.
const HIGHEST: usize = 24;
/// Forms of whose variance at least so much turns.
const LEAST: f64 = 0.5;
/// Rows are independent where their Gram matrix has eigenvalues above this share of the largest.
const INDEPENDENT: f64 = 1e-8;

/// A complex form that turns m times as fast as the samples; of order zero a real one.
#[derive(Debug, Clone, PartialEq)]
pub struct Plane {
    /// m
    pub order: usize,
    /// The share of the variance of u·x that turns.
    pub lambda: f64,
    /// u, one number an input, such that |u·x|² has a mean of one.
    pub row: Vec<Complex64>,
}

impl Plane {
    /// ‖u‖⁻¹: how large a coefficient of a row of unit length is.
    #[must_use]
    pub fn amplitude(&self) -> f64 {
        let squares = self.row.iter().map(|u| u.norm_sqr());
        squares.sum::<f64>().sqrt().recip()
    }
}

/// A form of whitened samples.
pub(super) struct Form {
    pub(super) order: usize,
    pub(super) lambda: f64,
    pub(super) vector: Vec<Complex64>,
}

/// mean of y e^{−imθ} over each orbit, for the orders from 0 to [`HIGHEST`]: one row an orbit.
pub(super) fn turned_back(
    samples: &Samples,
    angles: &[Vec<f64>],
    order: usize,
) -> Vec<Vec<Complex64>> {
    (0..samples.orbits().len())
        .into_par_iter()
        .map(|orbit| {
            let mut mean = vec![Complex64::default(); samples.rank()];
            let count = angles[orbit].len() as f64;
            let members = samples.white(orbit).chunks_exact(samples.rank());
            for (y, angle) in members.zip(&angles[orbit]) {
                let turn = Complex64::from_polar(1.0 / count, -(order as f64) * angle);
                mean.iter_mut().zip(y).for_each(|(to, y)| *to += turn * y);
            }
            mean
        })
        .collect()
}

/// The forms of all orders of whose variance at least [`LEAST`] turns, by ascending order and falling λ.
pub(super) fn forms(samples: &Samples, angles: &[Vec<f64>]) -> Vec<Form> {
    let all: Vec<Vec<Form>> = (0..=HIGHEST)
        .into_par_iter()
        .map(|order| forms_of(samples, angles, order))
        .collect();
    all.into_iter().flatten().collect()
}

fn forms_of(samples: &Samples, angles: &[Vec<f64>], order: usize) -> Vec<Form> {
    let (rank, means) = (samples.rank(), turned_back(samples, angles, order));
    let orbits = means.len() as f64;
    let members = angles.iter().map(Vec::len).sum::<usize>() as f64 / orbits;
    let scatter = Mat::<Complex64>::from_fn(means.len(), rank, |o, k| means[o][k]);
    // Of k members, 1/k of the variance of anything looks as if it turned.
    let debiased = |t: Complex64, diagonal: bool| {
        let chance = if diagonal { 1.0 } else { 0.0 };
        (t * (members / orbits) - chance) / (members - 1.0)
    };
    // v and not its conjugate: the form is vᴴ y.
    let product = scatter.transpose() * scatter.conjugate();
    let eigen = if order == 0 {
        let real = Mat::from_fn(rank, rank, |a, b| debiased(product[(a, b)], a == b).re);
        let Ok(eigen) = real.self_adjoint_eigen(Side::Lower) else {
            return Vec::new();
        };
        let (values, vectors) = (eigen.S().column_vector(), eigen.U());
        let vector = |k: usize| (0..rank).map(move |n| Complex64::from(vectors[(n, k)]));
        (0..rank)
            .map(|k| (values[k], vector(k).collect()))
            .collect::<Vec<(f64, Vec<Complex64>)>>()
    } else {
        let matrix = Mat::from_fn(rank, rank, |a, b| debiased(product[(a, b)], a == b));
        let Ok(eigen) = matrix.self_adjoint_eigen(Side::Lower) else {
            return Vec::new();
        };
        let (values, vectors) = (eigen.S().column_vector(), eigen.U());
        let vector = |k: usize| (0..rank).map(move |n| vectors[(n, k)]);
        (0..rank)
            .map(|k| (values[k].re, vector(k).collect()))
            .collect()
    };
    let turning = eigen
        .into_iter()
        .rev()
        .take_while(|(lambda, _)| *lambda > LEAST);
    let form = |(lambda, vector)| Form {
        order,
        lambda,
        vector,
    };
    turning.map(form).collect()
}

/// The same of samples that were not whitened.
pub(super) fn planes(samples: &Samples, forms: &[Form]) -> Vec<Plane> {
    let plane = |form: &Form| {
        let real = samples.unwhitened(|k| form.vector[k].re);
        let imaginary = samples.unwhitened(|k| -form.vector[k].im);
        let parts = real.into_iter().zip(imaginary);
        Plane {
            order: form.order,
            lambda: form.lambda,
            row: parts.map(|(re, im)| Complex64::new(re, im)).collect(),
        }
    };
    forms.par_iter().map(plane).collect()
}

/// Orthonormal rows for what is orthogonal to all real and imaginary parts.
pub(super) fn rest(planes: &[Plane], inputs: usize) -> Array2<f64> {
    let parts = planes.iter().flat_map(|plane| {
        let size = plane.amplitude();
        let part = move |of: fn(&Complex64) -> f64| -> Vec<f64> {
            plane.row.iter().map(|u| of(u) * size).collect()
        };
        [part(|u| u.re), part(|u| u.im)]
    });
    let parts: Vec<Vec<f64>> = parts.collect();
    let rows = Mat::from_fn(parts.len(), inputs, |row, n| parts[row][n]);
    let Ok(eigen) = (rows.transpose() * &rows).self_adjoint_eigen(Side::Lower) else {
        return Array2::zeros((0, inputs));
    };
    let (values, vectors) = (eigen.S().column_vector(), eigen.U());
    let largest = (0..inputs).map(|k| values[k]).fold(0.0, f64::max);
    let unseen: Vec<usize> = (0..inputs)
        .filter(|&k| values[k] <= INDEPENDENT * largest)
        .collect();
    Array2::from_shape_fn((unseen.len(), inputs), |(row, n)| vectors[(n, unseen[row])])
}
