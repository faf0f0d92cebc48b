//! The cheap objective: |z_i|² must not change along an orbit, and rows must stay orthonormal.
//!
//! With p_ib = |z_i(x_b)|², p̄_ib its mean over the orbit of b, and means over the B samples of a batch,
//!
//! > V_i = mean_b (p_ib − p̄_ib)²,  S_i = mean_b p_ib²,  L = (1/R) Σ_i V_i/S_i + λ ‖WW† − I‖²_F / R.
//!
//! An orbit with one member does not move, and counts in S alone; a row with S_i = 0 counts as V_i/S_i = 0. Deviations
//! from an orbit's mean add up to zero, so ∂V_i/∂p_ib = (2/B)(p_ib − p̄_ib), and with ∂p/∂z = 2z
//!
//! > ∂L/∂z_ib = 4/(R B S_i) · ((p_ib − p̄_ib) − (V_i/S_i) p_ib) · z_ib,  ∂L/∂W = Σ_b (∂L/∂z)_b x_b + (4λ/R) (WW† − I) W.
//!
//! V/S does not change when all samples are multiplied by one number, so they come at a common magnitude.

use super::batch::{Batch, Magnitude};
use super::forward::Rows;
use super::invariance::orbits;
use super::objective::Loss;
use super::planar::{Buffer, PlanarBuffer, PlanarMut};
use super::weights::Network;
use super::workspace::{ROWS, Workspace, check_orbits, rows};
use crate::Result;
use crate::numeric::Real;
use crate::numeric::matrix::{matrix, matrix_mut, multiply_add};
use faer::MatRef;
use pulp::Arch;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The second-order objective.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SecondOrder {
    /// λ, the weight of ‖WW† − I‖²_F / R.
    pub orthonormality: f64,
}

impl Default for SecondOrder {
    /// λ = 10.
    fn default() -> Self {
        SecondOrder {
            orthonormality: 10.0,
        }
    }
}

/// What only this objective needs.
#[derive(Debug, Default)]
pub(super) struct Powers<T> {
    /// p of every sample, laid out as z.
    p: Buffer<T>,
    /// p̄ of one orbit.
    mean: Buffer<T>,
    /// B·V_i.
    variance: Vec<f64>,
    /// B·S_i.
    square: Vec<f64>,
    /// V_i/S_i, and 4/(R B S_i).
    factors: Vec<(T, T)>,
    /// WW† − I.
    excess: PlanarBuffer<T>,
    /// Its rows' squared lengths.
    lengths: Vec<f64>,
}

impl<T: Real> Workspace<T> {
    /// The second-order objective of `samples`, of which the first `orbits[0]` are members of one orbit and so on;
    /// and its gradient, for [`Workspace::gradient`].
    ///
    /// The loss's `reconstruction` is ‖WW† − I‖²_F / R.
    ///
    /// # Errors
    /// As [`Workspace::loss_and_gradient`].
    pub fn second_order(
        &mut self,
        network: &Network<T>,
        samples: &[T],
        orbits: &[usize],
        objective: &SecondOrder,
    ) -> Result<Loss> {
        check_orbits(network, samples, orbits)?;
        self.load(network, samples, Magnitude::Common)?;
        let w = rows(&self.w, network.rows(), network.inputs());
        self.batch.transform(w);
        self.z_gradient.resize(self.batch.z.re.len());
        let powers = &mut self.powers;
        let invariance = powers.variances(&self.batch, network.rows(), orbits);
        powers.differentiate(&self.batch, orbits, self.z_gradient.view_mut());
        self.gradient.resize(network.re().len());
        let reconstruction = powers.collect_rows(
            &self.batch,
            w,
            &self.z_gradient,
            objective,
            &mut self.gradient,
        );
        Ok(Loss {
            invariance,
            reconstruction,
            total: invariance + objective.orthonormality * reconstruction,
        })
    }
}

impl<T: Real> Powers<T> {
    /// p, V and S; the mean of V_i/S_i.
    fn variances(&mut self, batch: &Batch<T>, rows: usize, sizes: &[usize]) -> f64 {
        let stride = batch.stride;
        self.p.resize(batch.samples * stride);
        self.mean.resize(rows);
        for sums in [&mut self.variance, &mut self.square] {
            sums.clear();
            sums.resize(rows, 0.0);
        }
        Arch::new().dispatch(
            #[inline(always)]
            || {
                let z = batch.z.re.iter().zip(&*batch.z.im);
                for (p, (re, im)) in self.p.iter_mut().zip(z) {
                    *p = *re * *re + *im * *im;
                }
                for orbit in orbits(sizes).filter(|orbit| !orbit.is_empty()) {
                    let members = &self.p[orbit.start * stride..orbit.end * stride];
                    mean_power(members, stride, &mut self.mean);
                    for p in members.chunks_exact(stride) {
                        let sums = self.variance.iter_mut().zip(&mut self.square);
                        for ((v, s), (&p, &mean)) in sums.zip(p.iter().zip(&*self.mean)) {
                            let d = (p - mean).wide();
                            *v += d * d;
                            *s += p.wide() * p.wide();
                        }
                    }
                }
            },
        );
        self.factors.clear();
        let mut ratios = 0.0;
        for (&v, &s) in self.variance.iter().zip(&self.square) {
            // A row that no sample excites has no ratio.
            let inverse = if s > 0.0 { 1.0 / s } else { 0.0 };
            let pull = T::rounded(4.0 * inverse / rows as f64);
            self.factors.push((T::rounded(v * inverse), pull));
            ratios += v * inverse;
        }
        ratios / rows as f64
    }

    /// ∂L/∂z of every sample.
    fn differentiate(&mut self, batch: &Batch<T>, sizes: &[usize], to: PlanarMut<'_, T>) {
        let stride = batch.stride;
        for orbit in orbits(sizes).filter(|orbit| !orbit.is_empty()) {
            let members = &self.p[orbit.start * stride..orbit.end * stride];
            mean_power(members, stride, &mut self.mean);
            for (b, p) in orbit.zip(members.chunks_exact(stride)) {
                let rows = p.iter().zip(&*self.mean).zip(&self.factors);
                for (at, ((&p, &mean), &(ratio, pull))) in (b * stride..).zip(rows) {
                    let slope = pull * ((p - mean) - ratio * p);
                    to.re[at] = slope * batch.z.re[at];
                    to.im[at] = slope * batch.z.im[at];
                }
            }
        }
    }

    /// ∂L/∂W, and ‖WW† − I‖²_F / R.
    fn collect_rows(
        &mut self,
        batch: &Batch<T>,
        w: Rows<'_, T>,
        z: &PlanarBuffer<T>,
        objective: &SecondOrder,
        gradient: &mut PlanarBuffer<T>,
    ) -> f64 {
        let (count, inputs, stride) = (w.count, w.inputs, batch.stride);
        let factor = T::rounded(4.0 * objective.orthonormality / count as f64);
        self.excess.resize(count * count);
        self.lengths.clear();
        self.lengths.resize(count, 0.0);
        let of = |z| matrix(z, batch.samples, count, stride).transpose();
        let (z_re, z_im) = (of(&*z.re), of(&*z.im));
        let blocks = gradient.re.par_chunks_mut(ROWS * inputs);
        let blocks = blocks
            .zip(gradient.im.par_chunks_mut(ROWS * inputs))
            .zip(self.excess.re.par_chunks_mut(ROWS * count))
            .zip(self.excess.im.par_chunks_mut(ROWS * count))
            .zip(self.lengths.par_chunks_mut(ROWS));
        blocks
            .enumerate()
            .for_each(|(block, ((((re, im), e_re), e_im), lengths))| {
                let first = block * ROWS;
                let rows = lengths.len();
                excess(w, first, PlanarMut { re: e_re, im: e_im }, lengths);
                let of = |e| matrix(e, rows, count, count);
                let (e_re, e_im) = (of(&*e_re), of(&*e_im));
                let add = |to: &mut [T], lhs, rhs, alpha| {
                    multiply_add(matrix_mut(to, rows, inputs, inputs), lhs, rhs, alpha);
                };
                let x = batch.signals().x;
                re.fill(T::zero());
                im.fill(T::zero());
                add(re, z_re.subrows(first, rows), x, T::one());
                add(im, z_im.subrows(first, rows), x, T::one());
                add(re, e_re, w.re(), factor);
                add(re, e_im, w.im(), -factor);
                add(im, e_re, w.im(), factor);
                add(im, e_im, w.re(), factor);
            });
        self.lengths.iter().sum::<f64>() / count as f64
    }
}

/// Rows `first..` of WW† − I and their squared lengths.
fn excess<T: Real>(w: Rows<'_, T>, first: usize, to: PlanarMut<'_, T>, lengths: &mut [f64]) {
    let (rows, count) = (lengths.len(), w.count);
    let (re, im) = (w.re().subrows(first, rows), w.im().subrows(first, rows));
    let add = |to: &mut [T], lhs, rhs: MatRef<'_, T>, alpha| {
        multiply_add(
            matrix_mut(to, rows, count, count),
            lhs,
            rhs.transpose(),
            alpha,
        );
    };
    to.re.fill(T::zero());
    to.im.fill(T::zero());
    add(to.re, re, w.re(), T::one());
    add(to.re, im, w.im(), T::one());
    add(to.im, im, w.re(), T::one());
    add(to.im, re, w.im(), -T::one());
    let lines = to.re.chunks_exact_mut(count).zip(to.im.chunks_exact(count));
    for ((row, (re, im)), length) in lines.enumerate().zip(lengths) {
        re[first + row] -= T::one();
        let square = |e: &T| e.wide() * e.wide();
        *length = re.iter().chain(im).map(square).sum();
    }
}

/// p̄, where `members` are `stride` apart.
#[inline(always)]
fn mean_power<T: Real>(members: &[T], stride: usize, mean: &mut [T]) {
    mean.fill(T::zero());
    for p in members.chunks_exact(stride) {
        for (mean, p) in mean.iter_mut().zip(p) {
            *mean += *p;
        }
    }
    let share = T::rounded(stride as f64 / members.len() as f64);
    mean.iter_mut().for_each(|mean| *mean *= share);
}
