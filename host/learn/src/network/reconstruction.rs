//! mean over a of ‖x_a − W†z_a‖², z = W x, and its gradient.
//!
//! With ρ = ∂L/∂r = (2γ/B) r for the residual r = x − W†z, or its real part where only that counts:
//! ∂L/∂z −= W ρ, and ∂L/∂W_in −= Σ_b z_i conj(ρ_n). Samples come as 2^-e x, so r is to be multiplied by 2^e.

use super::batch::{BLOCK, Batch};
use super::forward::Rows;
use super::objective::Reconstruction;
use super::planar::{Planar, PlanarBuffer, PlanarMut};
use crate::numeric::Real;
use crate::numeric::matrix::{matrix, matrix_mut, multiply_add};
use faer::MatRef;
use rayon::prelude::*;

/// ρ of every sample, and ‖r‖².
#[derive(Debug, Default)]
pub(super) struct Residual<T> {
    part: Reconstruction,
    rho: PlanarBuffer<T>,
    squares: Vec<f64>,
}

impl<T: Real> Residual<T> {
    /// The mean of ‖r‖²; sets ρ, and `gradient` (laid out as z) to −W ρ.
    pub(super) fn set(
        &mut self,
        batch: &Batch<T>,
        w: Rows<'_, T>,
        (part, gamma): (Reconstruction, f64),
        gradient: &mut PlanarBuffer<T>,
    ) -> f64 {
        let (inputs, stride) = (batch.inputs, batch.stride);
        self.part = part;
        self.rho.resize(batch.samples * inputs);
        self.squares.clear();
        self.squares.resize(batch.samples, 0.0);
        gradient.resize(batch.samples * stride);
        let blocks = self.squares.par_chunks_mut(BLOCK).enumerate();
        let blocks = blocks
            .zip(self.rho.re.par_chunks_mut(BLOCK * inputs))
            .zip(self.rho.im.par_chunks_mut(BLOCK * inputs))
            .zip(gradient.re.par_chunks_mut(BLOCK * stride))
            .zip(gradient.im.par_chunks_mut(BLOCK * stride));
        blocks.for_each(|(((((block, squares), re), im), z_re), z_im)| {
            let first = block * BLOCK;
            let mut rho = PlanarMut { re, im };
            let z = batch.z.view().range(first * stride, squares.len() * stride);
            residual(&batch.x[first * inputs..], z, w, part, stride, &mut rho);
            let factor = 2.0 * gamma / batch.samples as f64;
            let exponents = &batch.exponents[first..];
            weigh(&mut rho, exponents, factor, squares);
            let to = PlanarMut { re: z_re, im: z_im };
            to_coefficients(&rho, w, part, stride, to);
        });
        self.squares.iter().sum::<f64>() / batch.samples as f64
    }

    /// ∂L/∂W −= Σ_b z conj(ρ), for the rows of W that begin with `first`; `re` and `im` have N numbers a row.
    pub(super) fn add_to_rows(&self, batch: &Batch<T>, first: usize, re: &mut [T], im: &mut [T]) {
        let inputs = batch.inputs;
        let rows = re.len() / inputs;
        let of = |z| matrix(z, batch.samples, rows, batch.stride).transpose();
        let (z_re, z_im) = (of(&batch.z.re[first..]), of(&batch.z.im[first..]));
        let rho = |rho| matrix(rho, batch.samples, inputs, inputs);
        let (rho_re, rho_im) = (rho(&self.rho.re), rho(&self.rho.im));
        let add = |to: &mut [T], z, rho, alpha| {
            multiply_add(matrix_mut(to, rows, inputs, inputs), z, rho, alpha);
        };
        add(re, z_re, rho_re, -T::one());
        add(im, z_im, rho_re, -T::one());
        if self.part == Reconstruction::Complex {
            add(re, z_im, rho_im, -T::one());
            add(im, z_re, rho_im, T::one());
        }
    }
}

/// r = x − W†z of a block of samples; its imaginary part only where that counts.
fn residual<T: Real>(
    x: &[T],
    z: Planar<'_, T>,
    w: Rows<'_, T>,
    part: Reconstruction,
    stride: usize,
    r: &mut PlanarMut<'_, T>,
) {
    let samples = z.re.len() / stride;
    let of = |z| matrix(z, samples, w.count, stride);
    let (z_re, z_im) = (of(z.re), of(z.im));
    let add = |to: &mut [T], z, w: MatRef<'_, T>, alpha| {
        multiply_add(matrix_mut(to, samples, w.ncols(), w.ncols()), z, w, alpha);
    };
    r.re.copy_from_slice(&x[..r.re.len()]);
    add(r.re, z_re, w.re(), -T::one());
    add(r.re, z_im, w.im(), -T::one());
    r.im.fill(T::zero());
    if part == Reconstruction::Complex {
        add(r.im, z_re, w.im(), T::one());
        add(r.im, z_im, w.re(), -T::one());
    }
}

/// ‖2^e r‖² of every sample of a block, and ρ in the place of r.
fn weigh<T: Real>(r: &mut PlanarMut<'_, T>, exponents: &[i32], factor: f64, squares: &mut [f64]) {
    let inputs = r.re.len() / squares.len();
    let rows =
        r.re.chunks_exact_mut(inputs)
            .zip(r.im.chunks_exact_mut(inputs));
    for ((r, square), e) in rows.zip(squares).zip(exponents) {
        let magnitude = 2f64.powi(2 * e);
        let numbers = || r.0.iter().chain(&*r.1).map(|r| r.wide());
        *square = magnitude * numbers().map(|r| r * r).sum::<f64>();
        let weight = T::rounded(factor * magnitude);
        r.0.iter_mut().chain(r.1).for_each(|r| *r *= weight);
    }
}

/// ∂L/∂z = −W ρ of a block of samples.
fn to_coefficients<T: Real>(
    rho: &PlanarMut<'_, T>,
    w: Rows<'_, T>,
    part: Reconstruction,
    stride: usize,
    to: PlanarMut<'_, T>,
) {
    let samples = to.re.len() / stride;
    let of = |rho| matrix(rho, samples, w.inputs, w.inputs);
    let (rho_re, rho_im) = (of(&*rho.re), of(&*rho.im));
    let add = |to: &mut [T], rho, w: MatRef<'_, T>, alpha| {
        let to = matrix_mut(to, samples, w.nrows(), stride);
        multiply_add(to, rho, w.transpose(), alpha);
    };
    to.re.fill(T::zero());
    to.im.fill(T::zero());
    add(to.re, rho_re, w.re(), -T::one());
    add(to.im, rho_re, w.im(), -T::one());
    if part == Reconstruction::Complex {
        add(to.re, rho_im, w.im(), T::one());
        add(to.im, rho_im, w.re(), -T::one());
    }
}
