//! z_ij = (W_i ⊙ W_j) x and β_ij = z_i z_j conj(z_ij), a tile of pairs at a time.
//!
//! P, the tile's products W_i ⊙ W_j as T real rows and T imaginary ones, times Xᵀ is one real matrix product. What it
//! gives lies sample by sample, [T real | T imaginary], so that vectors run along pairs: sums over an orbit's members
//! and between them are then additions of whole vectors, whatever the sizes of orbits.

use super::lanes::{ComplexLanes, Lanes};
use super::pairs::Tile;
use super::planar::{Planar, PlanarMut};
use crate::numeric::Real;
use crate::numeric::matrix::{matrix, matrix_mut, multiply};
use faer::MatRef;
use pulp::{Arch, Simd, WithSimd};

/// W, with rows `stride` apart that end in zeros.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows<'a, T> {
    pub(super) w: Planar<'a, T>,
    /// R.
    pub(super) count: usize,
    /// N.
    pub(super) inputs: usize,
    pub(super) stride: usize,
}

impl<'a, T: Real> Rows<'a, T> {
    /// Re W as a matrix.
    pub(super) fn re(self) -> MatRef<'a, T> {
        matrix(self.w.re, self.count, self.inputs, self.stride)
    }

    /// Im W as a matrix.
    pub(super) fn im(self) -> MatRef<'a, T> {
        matrix(self.w.im, self.count, self.inputs, self.stride)
    }

    #[inline(always)]
    pub(super) fn row(self, i: usize) -> Planar<'a, T> {
        self.w.range(i * self.stride, self.stride)
    }
}

/// X, B×N, at a common magnitude, and z of each sample, `stride` apart with [`LANES`](super::real::LANES) or more
/// zeros behind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Signals<'a, T> {
    pub(super) x: MatRef<'a, T>,
    pub(super) z: Planar<'a, T>,
    pub(super) stride: usize,
}

impl<'a, T: Real> Signals<'a, T> {
    #[inline(always)]
    pub(super) fn coefficients(self, sample: usize) -> Planar<'a, T> {
        self.z.range(sample * self.stride, self.stride)
    }
}

/// z_ij of a tile for every sample, into `products` (B·2·padded), by way of `p` (2·padded rows).
pub(super) fn products<T: Real>(
    tile: Tile,
    rows: Rows<'_, T>,
    x: MatRef<'_, T>,
    p: &mut [T],
    products: &mut [T],
) {
    Arch::new().dispatch(RowProducts {
        tile,
        rows,
        p: &mut *p,
    });
    let height = 2 * tile.padded();
    multiply(
        matrix_mut(products, x.nrows(), height, height),
        x,
        matrix(p, height, rows.inputs, rows.stride).transpose(),
        T::one(),
    );
}

/// P of a tile: padded rows of real parts, then padded rows of imaginary ones.
pub(super) struct RowProducts<'a, T> {
    pub(super) tile: Tile,
    pub(super) rows: Rows<'a, T>,
    pub(super) p: &'a mut [T],
}

impl<T: Real> WithSimd for RowProducts<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let RowProducts { tile, rows, p } = self;
        let mut p = PlanarMut::of_row(p);
        for run in tile.runs() {
            let w_i = rows.row(run.i);
            for k in 0..run.len {
                let w_j = rows.row(run.j + k);
                let p = p.range((run.at + k) * rows.stride, rows.stride);
                for ((w_i, w_j), p) in w_i.lanes(simd).zip(w_j.lanes(simd)).zip(p.lanes(simd)) {
                    p.set(w_i * w_j);
                }
            }
        }
        p.re[tile.pairs * rows.stride..].fill(T::zero());
        p.im[tile.pairs * rows.stride..].fill(T::zero());
    }
}

/// ζ_ij = z_i z_j of a tile's pairs, and up to [`LANES`](super::real::LANES) meaningless values behind them.
#[inline(always)]
pub(super) fn coefficient_pairs<T: Real, S: Simd>(
    simd: S,
    tile: Tile,
    z: Planar<'_, T>,
    zeta: &mut PlanarMut<'_, T>,
) {
    for run in tile.runs() {
        let z_i = ComplexLanes::splat(simd, z.at(run.i));
        let z_j = z.range(run.j, run.padded()).lanes(simd);
        for (zeta, z_j) in zeta.range(run.at, run.padded()).lanes(simd).zip(z_j) {
            zeta.set(z_i * z_j);
        }
    }
}

/// Σ|β|² and Σβ of one sample, over some of its pairs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Moments {
    pub(super) square: f64,
    pub(super) re: f64,
    pub(super) im: f64,
}

impl Moments {
    pub(super) fn add(&mut self, other: Moments) {
        self.square += other.square;
        self.re += other.re;
        self.im += other.im;
    }

    /// Of β = ζ conj(s).
    #[inline(always)]
    fn of<T: Real, S: Simd>(simd: S, zeta: Planar<'_, T>, s: Planar<'_, T>) -> Self {
        let mut square = Lanes::<T, S>::zero(simd);
        let mut sum = ComplexLanes::<T, S>::zero(simd);
        for (zeta, s) in zeta.lanes(simd).zip(s.lanes(simd)) {
            let beta = zeta.times_conj(s);
            square = beta.re.mul_add(beta.re, beta.im.mul_add(beta.im, square));
            sum = sum + beta;
        }
        Moments {
            square: square.sum().wide(),
            re: sum.re.sum().wide(),
            im: sum.im.sum().wide(),
        }
    }
}

/// Adds Σ|β|² and Σβ of a tile to those of every sample.
pub(super) struct AddMoments<'a, T> {
    pub(super) tile: Tile,
    pub(super) signals: Signals<'a, T>,
    /// z_ij.
    pub(super) products: &'a [T],
    /// Room for ζ of one sample.
    pub(super) zeta: PlanarMut<'a, T>,
    pub(super) moments: &'a mut [Moments],
}

impl<T: Real> WithSimd for AddMoments<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let width = self.tile.padded();
        let samples = self.products.chunks_exact(2 * width).enumerate();
        for ((b, s), moments) in samples.zip(self.moments) {
            let z = self.signals.coefficients(b);
            coefficient_pairs(simd, self.tile, z, &mut self.zeta);
            let zeta = Planar {
                re: &self.zeta.re[..width],
                im: &self.zeta.im[..width],
            };
            moments.add(Moments::of(simd, zeta, Planar::of_row(s)));
        }
    }
}
