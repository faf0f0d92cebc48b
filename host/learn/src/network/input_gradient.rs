//! ‖β̄(x) − t‖² of every sample, and its gradient by x: what moves a signal towards given invariants t.
//!
//! With u = β̄, s = z_ij and P = W_i ⊙ W_j, as in [`gradient`](super::gradient):
//!
//! 1. ∂L/∂u = g = 2(u − t), and Re⟨u, g⟩ = ‖u − t‖² + ‖u‖² − ‖t‖², which takes the radial part away.
//! 2. From there to ∂L/∂s and ∂L/∂z it is the same way as to W.
//! 3. s = P x, so ∂L/∂x += Re(P† ∂L/∂s): with P as real and imaginary rows, one real matrix product a tile.
//! 4. z = W x, when all tiles are done: ∂L/∂x += Re(W† ∂L/∂z).

use super::batch::{BLOCK, Magnitude, power_of_two};
use super::forward::{RowProducts, Rows, Signals};
use super::gradient::{through_bispectrum, to_coefficients};
use super::invariance::{Normaliser, Scratch, square_distance};
use super::lanes::Lanes;
use super::pairs::{Tile, pair_count};
use super::planar::{PlanarMut, lanes, lanes_mut};
use super::weights::Network;
use super::workspace::{Workspace, add, rows};
use crate::numeric::matrix::{matrix, matrix_mut, multiply_add};
use crate::numeric::{Real, padded};
use crate::{Error, Result};
use ndarray::ArrayView2;
use num_complex::Complex;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Invariants that signals are to have, one row a target.
#[derive(Debug, Clone)]
pub struct Targets<T> {
    pairs: usize,
    /// [real | imaginary] of every target, each padded with zeros.
    terms: Vec<T>,
    /// ‖t‖².
    squares: Vec<f64>,
}

impl<T: Real> Targets<T> {
    /// Of the rows of `invariants`, in the order of [`Workspace::invariants`].
    #[must_use]
    pub fn new(invariants: &ArrayView2<'_, Complex<T>>) -> Self {
        let pairs = invariants.ncols();
        let stride = padded(pairs);
        let mut terms = vec![T::zero(); 2 * stride * invariants.nrows()];
        for (to, from) in terms.chunks_exact_mut(2 * stride).zip(invariants.rows()) {
            let (re, im) = to.split_at_mut(stride);
            for ((re, im), from) in re.iter_mut().zip(im).zip(from) {
                (*re, *im) = (from.re, from.im);
            }
        }
        let square = |t: Complex<T>| t.re.wide().powi(2) + t.im.wide().powi(2);
        let squares = invariants.rows().into_iter();
        Targets {
            pairs,
            terms,
            squares: squares
                .map(|row| row.iter().map(|&t| square(t)).sum())
                .collect(),
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.squares.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.squares.is_empty()
    }

    /// A tile's terms of one target: real parts, imaginary parts.
    #[inline(always)]
    fn tile(&self, target: usize, tile: Tile) -> (&[T], &[T]) {
        let stride = padded(self.pairs);
        let (re, im) = self.terms[2 * stride * target..][..2 * stride].split_at(stride);
        let range = tile.place..tile.place + tile.padded();
        (&re[range.clone()], &im[range])
    }
}

/// Which target each sample of a batch is moved to.
#[derive(Clone, Copy)]
pub(super) struct Aims<'a, T> {
    pub(super) targets: &'a Targets<T>,
    pub(super) which: &'a [usize],
}

impl<T: Real> Aims<'_, T> {
    /// Re⟨u, g⟩ of every sample.
    fn radial(self, squares: &[f64], normalisers: &[Normaliser<T>]) -> Vec<T> {
        let samples = self.which.iter().zip(squares).zip(normalisers);
        samples
            .map(|((&target, square), normaliser)| {
                T::rounded(square + normaliser.square() - self.targets.squares[target])
            })
            .collect()
    }
}

impl<T: Real> Workspace<T> {
    /// ‖β̄(x_b) − t‖² of every sample, where t is the row `which[b]` of `targets`; and its gradient by x_b, into
    /// `gradient`, which is laid out as `samples`.
    ///
    /// A sample whose β is zero has β̄ = 0 and no gradient.
    ///
    /// ```
    /// use bispectral_learn::{data::group::Group, network::{Network, Targets, Workspace}};
    ///
    /// let network = Network::from_array(&"Z4".parse::<Group>()?.characters().view());
    /// let mut workspace = Workspace::new();
    /// let target = workspace.invariants(&network, &[3.0, 1.0, 0.0, -1.0], false)?;
    /// let targets = Targets::new(&target.view());
    ///
    /// // The same signal moved, and another one.
    /// let mut gradient = [0.0; 8];
    /// let samples = [1.0, 0.0, -1.0, 3.0, 2.0, 1.0, 1.0, 0.0];
    /// let squares = workspace.input_gradient(&network, &samples, &targets, &[0, 0], &mut gradient)?;
    /// assert!(squares[0] < 1e-28 && squares[1] > 1e-3);
    /// # Ok::<(), bispectral_learn::Error>(())
    /// ```
    ///
    /// # Errors
    /// `samples`, `targets`, `which` and `gradient` do not fit each other or the network, or a sample is not finite.
    pub fn input_gradient(
        &mut self,
        network: &Network<T>,
        samples: &[T],
        targets: &Targets<T>,
        which: &[usize],
        gradient: &mut [T],
    ) -> Result<Vec<f64>> {
        check(network, samples, targets, which, gradient)?;
        self.load(network, samples, Magnitude::Each)?;
        self.forward(false, 1);
        let aims = Aims { targets, which };
        let (signals, normalisers) = (self.batch.signals(), &self.normalisers);
        self.parts
            .par_iter_mut()
            .for_each(|part| part.distances_to(signals, normalisers, aims));
        let mut squares = vec![0.0; which.len()];
        for part in &self.parts {
            for (sum, square) in squares.iter_mut().zip(&part.squares) {
                *sum += square;
            }
        }
        let radial = aims.radial(&squares, normalisers);
        let rows = rows(&self.w, network.rows(), network.inputs());
        self.parts
            .par_iter_mut()
            .for_each(|part| part.input_gradient(rows, signals, normalisers, aims, &radial));
        self.z_gradient.zeros(self.batch.z.re.len());
        self.collect_coefficients();
        self.collect_samples(gradient, network);
        Ok(squares)
    }

    /// ∂L/∂x: of the parts and Re(W† ∂L/∂z), for x as it was before it was brought to a common magnitude.
    fn collect_samples(&self, gradient: &mut [T], network: &Network<T>) {
        let (inputs, stride) = (network.inputs(), self.batch.stride);
        let w = rows(&self.w, network.rows(), inputs);
        let blocks = gradient.par_chunks_mut(BLOCK * inputs).enumerate();
        blocks.for_each(|(block, to)| {
            let (first, samples) = (block * BLOCK, to.len() / inputs);
            to.fill(T::zero());
            for part in &self.parts {
                add(to, &part.x[first * inputs..]);
            }
            for (z, w) in [(&self.z_gradient.re, w.re()), (&self.z_gradient.im, w.im())] {
                let z = matrix(&z[first * stride..], samples, w.nrows(), stride);
                multiply_add(matrix_mut(to, samples, inputs, inputs), z, w, T::one());
            }
            for (to, e) in to
                .chunks_exact_mut(inputs)
                .zip(&self.batch.exponents[first..])
            {
                let scale = power_of_two::<T>(-e);
                to.iter_mut().for_each(|x| *x *= scale);
            }
        });
    }
}

/// Adds a tile's share of ‖u − t‖² of every sample.
pub(super) struct AddDistances<'a, T> {
    pub(super) tile: Tile,
    pub(super) signals: Signals<'a, T>,
    /// z_ij.
    pub(super) products: &'a [T],
    pub(super) normalisers: &'a [Normaliser<T>],
    pub(super) aims: Aims<'a, T>,
    pub(super) scratch: &'a mut Scratch<T>,
    pub(super) squares: &'a mut [f64],
}

impl<T: Real> WithSimd for AddDistances<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let AddDistances {
            tile,
            scratch,
            aims,
            ..
        } = self;
        for (b, (&target, square)) in aims.which.iter().zip(self.squares).enumerate() {
            let (products, normalisers) = (self.products, self.normalisers);
            scratch.invariants(simd, tile, self.signals, products, normalisers, b..b + 1);
            let (u_re, u_im) = scratch.u[..2 * tile.padded()].split_at(tile.padded());
            let (t_re, t_im) = aims.targets.tile(target, tile);
            *square += square_distance(simd, u_re, t_re) + square_distance(simd, u_im, t_im);
        }
    }
}

/// What a tile's share of ∂L/∂x is computed from, and where it is added.
pub(super) struct AddInputGradient<'a, T> {
    pub(super) tile: Tile,
    pub(super) rows: Rows<'a, T>,
    pub(super) signals: Signals<'a, T>,
    /// z_ij at first, ∂L/∂z_ij in the end.
    pub(super) products: &'a mut [T],
    pub(super) normalisers: &'a [Normaliser<T>],
    pub(super) aims: Aims<'a, T>,
    /// Re⟨u, g⟩ of every sample.
    pub(super) radial: &'a [T],
    pub(super) scratch: &'a mut Scratch<T>,
    /// Room for P.
    pub(super) p: &'a mut [T],
    /// ∂L/∂z, laid out as z.
    pub(super) z: PlanarMut<'a, T>,
    /// ∂L/∂x by way of z_ij, B×N.
    pub(super) x: &'a mut [T],
}

impl<T: Real> AddInputGradient<'_, T> {
    /// Steps 1 to 3.
    pub(super) fn run(mut self) {
        let AddInputGradient {
            tile,
            rows,
            signals,
            ..
        } = self;
        Arch::new().dispatch(ToProducts(&mut self));
        Arch::new().dispatch(RowProducts {
            tile,
            rows,
            p: &mut *self.p,
        });
        let (samples, height) = (signals.x.nrows(), 2 * tile.padded());
        multiply_add(
            matrix_mut(self.x, samples, rows.inputs, rows.inputs),
            matrix(self.products, samples, height, height),
            matrix(self.p, height, rows.inputs, rows.stride),
            T::one(),
        );
    }
}

/// Steps 1 and 2: ∂L/∂z_ij in place of z_ij, and ∂L/∂z.
struct ToProducts<'s, 'a, T>(&'s mut AddInputGradient<'a, T>);

impl<T: Real> WithSimd for ToProducts<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let ToProducts(AddInputGradient {
            tile,
            signals,
            products,
            normalisers,
            aims,
            radial,
            scratch,
            z,
            ..
        }) = self;
        let width = tile.padded();
        for (b, &target) in aims.which.iter().enumerate() {
            scratch.invariants(simd, *tile, *signals, products, normalisers, b..b + 1);
            let (t_re, t_im) = aims.targets.tile(target, *tile);
            let (u_re, u_im) = scratch.u[..2 * width].split_at(width);
            let (g_re, g_im) = scratch.g[..2 * width].split_at_mut(width);
            twice_difference(simd, u_re, t_re, g_re);
            twice_difference(simd, u_im, t_im, g_im);
            let s = &mut products[2 * width * b..][..2 * width];
            through_bispectrum(simd, 0, (normalisers[b].scale, radial[b]), scratch, s);
            let to = z.range(b * signals.stride, signals.stride);
            to_coefficients(simd, *tile, signals.coefficients(b), scratch.t.view(), to);
        }
    }
}

/// g = 2(u − t)
#[inline(always)]
fn twice_difference<T: Real, S: Simd>(simd: S, u: &[T], t: &[T], g: &mut [T]) {
    let two = Lanes::splat(simd, T::one() + T::one());
    let from = lanes(simd, u).zip(lanes(simd, t));
    for (g, (u, t)) in lanes_mut(simd, g).zip(from) {
        g.set(two * (u - t));
    }
}

fn check<T: Real>(
    network: &Network<T>,
    samples: &[T],
    targets: &Targets<T>,
    which: &[usize],
    gradient: &[T],
) -> Result<()> {
    let wrong = |what: String, remedy: &str| Err(Error::new("the targets", what, remedy));
    let pairs = pair_count(network.rows());
    if targets.pairs != pairs {
        let what = format!("{} terms where W has {pairs} pairs", targets.pairs);
        return wrong(what, "take invariants of the same W");
    }
    if which.len() * network.inputs() != samples.len() || gradient.len() != samples.len() {
        let what = format!("{} of them for {} numbers", which.len(), samples.len());
        return wrong(what, "name one for each sample");
    }
    if let Some(target) = which.iter().find(|&&target| target >= targets.len()) {
        let what = format!("there is no target {target} among {}", targets.len());
        return wrong(what, "count them from zero");
    }
    Ok(())
}
