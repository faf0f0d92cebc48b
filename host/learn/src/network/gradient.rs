//! From the distances within orbits back to W. A gradient is ∂L/∂Re + i ∂L/∂Im, so dL = Re(conj(G) dv) for any v.
//!
//! With u = β̄, P pairs of members in the batch and n = ‖β‖:
//!
//! 1. ∂L/∂u_a = g_a = Σ_b w_ab (u_a − u_b) over the orbit of a, where w_ab = 2/P for the squared distance, which makes
//!    it (2M/P)(u_a − ū), and 1/(P ‖u_a − u_b‖) for the Euclidean one, zero where the members coincide.
//! 2. u = β/n takes the radial part away: ∂L/∂β = G = (g − u Re⟨u, g⟩)/n. Re⟨u_a, u_a − u_b⟩ is
//!    (‖u_a − u_b‖² + ‖u_a‖² − ‖u_b‖²)/2 and hence known before this pass. Centring changes nothing: every u has mean
//!    zero over its pairs, so g and G have, and the mean that its derivative would subtract is zero.
//! 3. β = z_i z_j conj(s) with s = z_ij, so
//!    ∂L/∂z_i += G s conj(z_j), ∂L/∂z_j += G s conj(z_i), ∂L/∂s = conj(G) z_i z_j. For i = j both of the first two.
//! 4. s = (W_i ⊙ W_j) x summed over the batch: ∂L/∂P_ij = Σ_b (∂L/∂s)_b x_b, one real matrix product a tile, and
//!    ∂L/∂W_i += ∂L/∂P_ij ⊙ conj(W_j), ∂L/∂W_j += ∂L/∂P_ij ⊙ conj(W_i). For i = j again both.
//! 5. z = W x, when all tiles are done: ∂L/∂W_i += Σ_b (∂L/∂z_i)_b x_b.

use super::forward::{Rows, Signals};
use super::invariance::{Distances, Normaliser, Scratch, mean_row, orbits};
use super::lanes::{ComplexLanes, Lanes};
use super::objective::Distance;
use super::pairs::Tile;
use super::planar::{Planar, PlanarMut, lanes, lanes_mut};
use crate::numeric::matrix::{matrix, matrix_mut, multiply};
use crate::numeric::{LANES, Real};
use pulp::{Arch, Simd, WithSimd};

/// How the members of an orbit pull at each other: w and Re⟨u, g⟩ of step 1 and 2.
#[derive(Debug, Default)]
pub(super) struct Pull<T> {
    /// 2M/P of every orbit, or w_ab of every pair of members.
    weights: Vec<T>,
    /// Re⟨u_a, g_a⟩ of every sample.
    radial: Vec<f64>,
}

impl<T: Real> Pull<T> {
    /// From the squares of [`AddSquares`](super::invariance::AddSquares).
    pub(super) fn set(
        &mut self,
        distances: Distances<'_>,
        squares: &[f64],
        normalisers: &[Normaliser<T>],
    ) {
        let Distances { distance, sizes } = distances;
        let pairs = distances.pairs();
        self.weights.clear();
        self.radial.clear();
        self.radial.resize(normalisers.len(), 0.0);
        if pairs == 0 {
            self.weights.resize(sizes.len(), T::zero());
            return;
        }
        let length = |a: usize| normalisers[a].square();
        match distance {
            Distance::Squared => {
                for orbit in orbits(sizes) {
                    let members = orbit.len() as f64;
                    let weight = 2.0 * members / pairs as f64;
                    self.weights.push(T::rounded(weight));
                    let mean = orbit.clone().map(|b| squares[b] - length(b)).sum::<f64>() / members;
                    for a in orbit {
                        self.radial[a] = weight * 0.5 * (squares[a] + length(a) + mean);
                    }
                }
            }
            Distance::Euclidean => {
                let mut squares = squares.iter();
                for orbit in orbits(sizes) {
                    for a in orbit.clone() {
                        for (b, square) in (a + 1..orbit.end).zip(&mut squares) {
                            let weight = inverse_distance::<T>(*square) / pairs as f64;
                            self.weights.push(T::rounded(weight));
                            let tilt = length(a) - length(b);
                            self.radial[a] += weight * 0.5 * (square + tilt);
                            self.radial[b] += weight * 0.5 * (square - tilt);
                        }
                    }
                }
            }
        }
    }
}

/// 1/d, or zero where d is no more than the rounding of two unit vectors.
fn inverse_distance<T: Real>(square: f64) -> f64 {
    let d = square.sqrt();
    if d > 2.0 * T::epsilon().wide() {
        1.0 / d
    } else {
        0.0
    }
}

/// What a tile's share of the gradient is computed from, and where it is added.
pub(super) struct AddGradient<'a, T> {
    pub(super) tile: Tile,
    pub(super) rows: Rows<'a, T>,
    pub(super) signals: Signals<'a, T>,
    /// z_ij at first, ∂L/∂z_ij in the end.
    pub(super) products: &'a mut [T],
    pub(super) normalisers: &'a [Normaliser<T>],
    pub(super) pull: &'a Pull<T>,
    pub(super) distances: Distances<'a>,
    pub(super) scratch: &'a mut Scratch<T>,
    /// Room for ∂L/∂P.
    pub(super) p: &'a mut [T],
    /// ∂L/∂z, laid out as z.
    pub(super) z: PlanarMut<'a, T>,
    /// ∂L/∂W by way of z_ij, laid out as W from `first_row` on.
    pub(super) w: PlanarMut<'a, T>,
    pub(super) first_row: usize,
}

impl<T: Real> AddGradient<'_, T> {
    /// Steps 1 to 4.
    pub(super) fn run(mut self) {
        let AddGradient { tile, rows, .. } = self;
        Arch::new().dispatch(ToProducts(&mut self));
        let height = 2 * tile.padded();
        let x = self.signals.x;
        multiply(
            matrix_mut(self.p, height, rows.inputs, rows.stride),
            matrix(self.products, x.nrows(), height, height).transpose(),
            x,
            T::one(),
        );
        Arch::new().dispatch(ToRows(&mut self));
    }
}

/// Steps 1 to 3: ∂L/∂z_ij in place of z_ij, and ∂L/∂z.
struct ToProducts<'s, 'a, T>(&'s mut AddGradient<'a, T>);

impl<T: Real> WithSimd for ToProducts<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let ToProducts(AddGradient {
            tile,
            signals,
            products,
            normalisers,
            pull,
            distances,
            scratch,
            z,
            ..
        }) = self;
        let row = 2 * tile.padded();
        let mut weights = &pull.weights[..];
        for orbit in orbits(distances.sizes) {
            let members = orbit.len();
            let own = weights
                .split_off(..distances.weights(members))
                .unwrap_or_default();
            if members < 2 {
                products[orbit.start * row..orbit.end * row].fill(T::zero());
                continue;
            }
            scratch.invariants(simd, *tile, *signals, products, normalisers, orbit.clone());
            match distances.distance {
                Distance::Squared => pull_to_mean(simd, own[0], members, row, scratch),
                Distance::Euclidean => pull_together(simd, own, members, row, scratch),
            }
            for (member, b) in orbit.enumerate() {
                let s = &mut products[b * row..(b + 1) * row];
                let (scale, radial) = (normalisers[b].scale, T::rounded(pull.radial[b]));
                through_bispectrum(simd, member, (scale, radial), scratch, s);
                let to = z.range(b * signals.stride, signals.stride);
                to_coefficients(simd, *tile, signals.coefficients(b), scratch.t.view(), to);
            }
        }
    }
}

/// g_a = w (u_a − ū)
#[inline(always)]
fn pull_to_mean<T: Real, S: Simd>(
    simd: S,
    weight: T,
    members: usize,
    row: usize,
    scratch: &mut Scratch<T>,
) {
    let u = &scratch.u[..members * row];
    let mean = &mut scratch.mean[..row];
    mean_row(simd, u, mean);
    let weight = Lanes::splat(simd, weight);
    for (g, u) in scratch.g.chunks_exact_mut(row).zip(u.chunks_exact(row)) {
        let from = lanes(simd, u).zip(lanes(simd, mean));
        for (g, (u, mean)) in lanes_mut(simd, g).zip(from) {
            g.set(weight * (u - mean));
        }
    }
}

/// g_a = Σ_b w_ab (u_a − u_b)
#[inline(always)]
fn pull_together<T: Real, S: Simd>(
    simd: S,
    weights: &[T],
    members: usize,
    row: usize,
    scratch: &mut Scratch<T>,
) {
    let u = &scratch.u[..members * row];
    let g = &mut scratch.g[..members * row];
    g.fill(T::zero());
    let mut weights = weights.iter();
    for a in 0..members {
        let (before, after) = g.split_at_mut((a + 1) * row);
        let g_a = &mut before[a * row..];
        let (u_a, u_after) = u[a * row..].split_at(row);
        let others = after.chunks_exact_mut(row).zip(u_after.chunks_exact(row));
        for ((g_b, u_b), weight) in others.zip(&mut weights) {
            let weight = Lanes::splat(simd, *weight);
            let places = lanes_mut(simd, g_a).zip(lanes_mut(simd, g_b));
            let from = lanes(simd, u_a).zip(lanes(simd, u_b));
            for ((g_a, g_b), (u_a, u_b)) in places.zip(from) {
                let pull = weight * (u_a - u_b);
                let sums = (g_a.get() + pull, g_b.get() - pull);
                g_a.set(sums.0);
                g_b.set(sums.1);
            }
        }
    }
}

/// One member's G = (g − u Re⟨u, g⟩)/n, then t = G s, and ∂L/∂s = conj(G) ζ in place of s.
#[inline(always)]
pub(super) fn through_bispectrum<T: Real, S: Simd>(
    simd: S,
    member: usize,
    (scale, radial): (T, T),
    scratch: &mut Scratch<T>,
    s: &mut [T],
) {
    let row = s.len();
    let width = row / 2;
    let zeta = scratch.zeta.view().range(member * (width + LANES), width);
    let u = Planar::of_row(&scratch.u[member * row..(member + 1) * row]);
    let g = Planar::of_row(&scratch.g[member * row..(member + 1) * row]);
    let mut t = scratch.t.view_mut();
    let (scale, radial) = (Lanes::splat(simd, scale), Lanes::splat(simd, radial));
    let from = zeta.lanes(simd).zip(u.lanes(simd)).zip(g.lanes(simd));
    let to = PlanarMut::of_row(s)
        .lanes(simd)
        .zip(t.range(0, width).lanes(simd));
    for (((zeta, u), g), (s, t)) in from.zip(to) {
        let gradient = (g - u.scale(radial)).scale(scale);
        t.set(gradient * s.get());
        s.set(zeta.times_conj(gradient));
    }
}

/// ∂L/∂z_i += t conj(z_j) and ∂L/∂z_j += t conj(z_i) of one sample.
#[inline(always)]
pub(super) fn to_coefficients<T: Real, S: Simd>(
    simd: S,
    tile: Tile,
    z: Planar<'_, T>,
    t: Planar<'_, T>,
    mut to: PlanarMut<'_, T>,
) {
    for run in tile.runs() {
        let z_i = ComplexLanes::splat(simd, z.at(run.i));
        let mut sum = ComplexLanes::zero(simd);
        let t = t.range(run.at, run.padded()).lanes(simd);
        let z_j = z.range(run.j, run.padded()).lanes(simd);
        let places = to.range(run.j, run.padded()).lanes(simd);
        for ((t, z_j), to) in t.zip(z_j).zip(places) {
            sum = sum.plus_times_conj(t, z_j);
            let own = to.get().plus_times_conj(t, z_i);
            to.set(own);
        }
        to.re[run.i] += sum.re.sum();
        to.im[run.i] += sum.im.sum();
    }
}

/// Step 4 once ∂L/∂P is there: ∂L/∂W_i += ∂L/∂P_ij conj(W_j) and ∂L/∂W_j += ∂L/∂P_ij conj(W_i).
struct ToRows<'s, 'a, T>(&'s mut AddGradient<'a, T>);

impl<T: Real> WithSimd for ToRows<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let ToRows(AddGradient {
            tile,
            rows,
            p,
            w,
            first_row,
            scratch,
            ..
        }) = self;
        let stride = rows.stride;
        let p = Planar::of_row(p);
        for run in tile.runs() {
            let w_i = rows.row(run.i);
            let mut sum = scratch.row.view_mut();
            sum.re.fill(T::zero());
            sum.im.fill(T::zero());
            for k in 0..run.len {
                let w_j = rows.row(run.j + k);
                let p = p.range((run.at + k) * stride, stride).lanes(simd);
                let from = p.zip(w_i.lanes(simd)).zip(w_j.lanes(simd));
                let places = w
                    .range((run.j + k - *first_row) * stride, stride)
                    .lanes(simd);
                let places = places.zip(sum.range(0, stride).lanes(simd));
                for (((p, w_i), w_j), (to, sum)) in from.zip(places) {
                    let own = to.get().plus_times_conj(p, w_i);
                    let other = sum.get().plus_times_conj(p, w_j);
                    to.set(own);
                    sum.set(other);
                }
            }
            let sum = scratch.row.view().lanes(simd);
            for (to, sum) in w
                .range((run.i - *first_row) * stride, stride)
                .lanes(simd)
                .zip(sum)
            {
                let own = to.get() + sum;
                to.set(own);
            }
        }
    }
}
