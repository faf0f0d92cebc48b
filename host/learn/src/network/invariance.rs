//! β̄ and how far it moves along orbits.
//!
//! With u = β̄, M members in an orbit and ū their mean, Σ_{a<b} ‖u_a − u_b‖² = M Σ_a ‖u_a − ū‖²: the squared distance
//! needs no pass over pairs of samples. The Euclidean one does. Both are had from differences, never as 2 − 2⟨u_a, u_b⟩,
//! which has no digits left once the network has learned.

use super::forward::{Moments, Signals, coefficient_pairs};
use super::lanes::{ComplexLanes, Lanes};
use super::objective::Distance;
use super::pairs::Tile;
use super::planar::{Buffer, Planar, PlanarBuffer, PlanarMut, lanes, lanes_mut};
use crate::numeric::{LANES, Real};
use num_complex::Complex;
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// The samples of each orbit, given how many each has.
pub(super) fn orbits(sizes: &[usize]) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    sizes.iter().map(move |size| {
        let orbit = from..from + size;
        from = orbit.end;
        orbit
    })
}

/// Pairs a < b of one orbit's members.
pub(super) fn member_pairs(size: usize) -> usize {
    size * size.saturating_sub(1) / 2
}

/// What makes β̄ of β: (β − mean) · scale. Where β has no direction, scale and hence β̄ is zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Normaliser<T> {
    pub(super) mean: Complex<T>,
    pub(super) scale: T,
}

impl<T: Real> Normaliser<T> {
    /// From the moments of all `pairs`.
    ///
    /// ‖β − mean‖² below ε‖β‖² is rounding: such a β has no direction once centred, like a β of zero.
    pub(super) fn new(moments: Moments, pairs: usize, centre: bool) -> Self {
        let Moments { square, re, im } = moments;
        let (mean, norm) = if centre {
            let mean = Complex::new(re, im) / pairs as f64;
            let rest = square - pairs as f64 * mean.norm_sqr();
            let rounding = T::epsilon().wide() * square;
            (mean, if rest > rounding { rest.sqrt() } else { 0.0 })
        } else {
            (Complex::ZERO, square.sqrt())
        };
        let scale = if norm >= T::min_positive_value().wide() {
            T::rounded(1.0 / norm)
        } else {
            T::zero()
        };
        Normaliser {
            mean: Complex::new(T::rounded(mean.re), T::rounded(mean.im)),
            scale,
        }
    }

    /// ‖β̄‖²: one or zero.
    pub(super) fn square(self) -> f64 {
        if self.scale > T::zero() { 1.0 } else { 0.0 }
    }
}

/// Where a tile's values live for the members of one orbit. A member's row is [real | imaginary].
#[derive(Debug, Default)]
pub(super) struct Scratch<T> {
    /// ζ = z_i z_j, each member's with [`LANES`] spare.
    pub(super) zeta: PlanarBuffer<T>,
    /// β̄.
    pub(super) u: Buffer<T>,
    /// ∂L/∂β̄.
    pub(super) g: Buffer<T>,
    /// The mean of β̄.
    pub(super) mean: Buffer<T>,
    /// ∂L/∂β · z_ij, with [`LANES`] spare that stay zero.
    pub(super) t: PlanarBuffer<T>,
    /// A row of W.
    pub(super) row: PlanarBuffer<T>,
}

impl<T: Real> Scratch<T> {
    /// For tiles of up to `width`, orbits of up to `members`, and rows of W of `stride`.
    pub(super) fn resize(&mut self, width: usize, members: usize, stride: usize) {
        self.zeta.resize(members * (width + LANES));
        self.u.resize(members * 2 * width);
        self.g.resize(members * 2 * width);
        self.mean.resize(2 * width);
        self.t.zeros(width + LANES);
        self.row.resize(stride);
    }

    /// ζ and β̄ of a tile for the members of one orbit.
    #[inline(always)]
    pub(super) fn invariants<S: Simd>(
        &mut self,
        simd: S,
        tile: Tile,
        signals: Signals<'_, T>,
        products: &[T],
        normalisers: &[Normaliser<T>],
        orbit: Range<usize>,
    ) {
        let width = tile.padded();
        let rows = self.u.chunks_exact_mut(2 * width).enumerate();
        for ((member, u), b) in rows.zip(orbit) {
            let s = Planar::of_row(&products[b * 2 * width..][..2 * width]);
            let mut zeta = self.zeta.view_mut();
            let mut zeta = zeta.range(member * (width + LANES), width + LANES);
            coefficient_pairs(simd, tile, signals.coefficients(b), &mut zeta);
            let zeta = Planar {
                re: &zeta.re[..width],
                im: &zeta.im[..width],
            };
            normalise(simd, tile, zeta, s, normalisers[b], u);
        }
    }
}

/// u = (ζ conj(s) − mean) · scale, and zeros past the tile's pairs.
#[inline(always)]
pub(super) fn normalise<T: Real, S: Simd>(
    simd: S,
    tile: Tile,
    zeta: Planar<'_, T>,
    s: Planar<'_, T>,
    normaliser: Normaliser<T>,
    u: &mut [T],
) {
    let mean = ComplexLanes::splat(simd, normaliser.mean);
    let scale = Lanes::splat(simd, normaliser.scale);
    let mut u = PlanarMut::of_row(u);
    let places = u.range(0, tile.padded()).lanes(simd);
    for ((zeta, s), u) in zeta.lanes(simd).zip(s.lanes(simd)).zip(places) {
        u.set((zeta.times_conj(s) - mean).scale(scale));
    }
    u.re[tile.pairs..].fill(T::zero());
    u.im[tile.pairs..].fill(T::zero());
}

/// The mean of rows as long as itself.
#[inline(always)]
pub(super) fn mean_row<T: Real, S: Simd>(simd: S, rows: &[T], mean: &mut [T]) {
    let width = mean.len();
    let share = Lanes::splat(simd, T::rounded(width as f64 / rows.len() as f64));
    let (first, rest) = rows.split_at(width);
    mean.copy_from_slice(first);
    for row in rest.chunks_exact(width) {
        for (mean, row) in lanes_mut(simd, mean).zip(lanes(simd, row)) {
            let sum = mean.get() + row;
            mean.set(sum);
        }
    }
    for mean in lanes_mut(simd, mean) {
        let sum = mean.get();
        mean.set(sum * share);
    }
}

/// ‖a − b‖²
#[inline(always)]
pub(super) fn square_distance<T: Real, S: Simd>(simd: S, a: &[T], b: &[T]) -> f64 {
    let mut sum = Lanes::<T, S>::zero(simd);
    for (a, b) in lanes(simd, a).zip(lanes(simd, b)) {
        let d = a - b;
        sum = d.mul_add(d, sum);
    }
    sum.sum().wide()
}

/// Which distances are taken: d, and how many of the samples each orbit has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Distances<'a> {
    pub(super) distance: Distance,
    pub(super) sizes: &'a [usize],
}

impl Distances<'_> {
    /// Pairs a < b of one orbit's members, in all orbits.
    pub(super) fn pairs(self) -> usize {
        self.sizes.iter().map(|&size| member_pairs(size)).sum()
    }

    /// How many squares [`AddSquares`] gives: ‖u_a − ū‖² of every sample, or ‖u_a − u_b‖² of every pair.
    pub(super) fn count(self) -> usize {
        match self.distance {
            Distance::Squared => self.sizes.iter().sum(),
            Distance::Euclidean => self.pairs(),
        }
    }

    /// How many weights of [`Pull`](super::gradient::Pull) an orbit with so many members has.
    pub(super) fn weights(self, members: usize) -> usize {
        match self.distance {
            Distance::Squared => 1,
            Distance::Euclidean => member_pairs(members),
        }
    }

    /// The mean of d over pairs, from all squares; zero where there is no pair.
    pub(super) fn mean(self, squares: &[f64]) -> f64 {
        let sum: f64 = match self.distance {
            Distance::Squared => orbits(self.sizes)
                .map(|orbit| orbit.len() as f64 * squares[orbit].iter().sum::<f64>())
                .sum(),
            Distance::Euclidean => squares.iter().map(|square| square.sqrt()).sum(),
        };
        sum / self.pairs().max(1) as f64
    }
}

/// Adds a tile's share to the squares: see [`Distances::count`].
pub(super) struct AddSquares<'a, T> {
    pub(super) tile: Tile,
    pub(super) signals: Signals<'a, T>,
    /// z_ij.
    pub(super) products: &'a [T],
    pub(super) normalisers: &'a [Normaliser<T>],
    pub(super) distances: Distances<'a>,
    pub(super) scratch: &'a mut Scratch<T>,
    pub(super) squares: &'a mut [f64],
}

impl<T: Real> WithSimd for AddSquares<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let AddSquares { tile, scratch, .. } = self;
        let row = 2 * tile.padded();
        let mut squares = self.squares.iter_mut();
        for orbit in orbits(self.distances.sizes).filter(|orbit| !orbit.is_empty()) {
            let members = orbit.len();
            scratch.invariants(
                simd,
                tile,
                self.signals,
                self.products,
                self.normalisers,
                orbit,
            );
            let u = &scratch.u[..members * row];
            match self.distances.distance {
                Distance::Squared => {
                    let mean = &mut scratch.mean[..row];
                    mean_row(simd, u, mean);
                    for (u, square) in u.chunks_exact(row).zip(&mut squares) {
                        *square += square_distance(simd, u, mean);
                    }
                }
                Distance::Euclidean => {
                    for (a, u_a) in u.chunks_exact(row).enumerate() {
                        let others = u[(a + 1) * row..].chunks_exact(row);
                        for (u_b, square) in others.zip(&mut squares) {
                            *square += square_distance(simd, u_a, u_b);
                        }
                    }
                }
            }
        }
    }
}
