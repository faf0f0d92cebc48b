//! A part: some of the tiles, everything that is computed of them, and what one thread needs to do so.

use super::forward::{AddMoments, Moments, Rows, Signals, products};
use super::gradient::{AddGradient, Pull};
use super::input_gradient::{AddDistances, AddInputGradient, Aims};
use super::invariance::{AddSquares, Distances, Normaliser, Scratch};
use super::pairs::Tile;
use super::planar::{Buffer, PlanarBuffer};
use crate::numeric::Real;
use pulp::Arch;
use std::ops::Range;

/// Some consecutive tiles and their buffers.
#[derive(Debug, Default)]
pub(super) struct Part<T> {
    tiles: Vec<Tile>,
    /// z_ij of its pairs, tile after tile, sample after sample, [real | imaginary]; ∂L/∂z_ij in the end.
    products: Buffer<T>,
    /// P of one tile, or ∂L/∂P.
    p: Buffer<T>,
    scratch: Scratch<T>,
    /// Σ|β|² and Σβ of every sample, over its pairs.
    pub(super) moments: Vec<Moments>,
    /// The squares of [`AddSquares`], over its pairs.
    pub(super) squares: Vec<f64>,
    /// ∂L/∂z by way of its pairs, laid out as z.
    pub(super) z: PlanarBuffer<T>,
    /// ∂L/∂W by way of its pairs' z_ij, laid out as W from [`Part::first_row`] on.
    pub(super) w: PlanarBuffer<T>,
    /// ∂L/∂x by way of its pairs' z_ij, B×N.
    pub(super) x: Buffer<T>,
}

impl<T: Real> Part<T> {
    /// Takes other tiles over.
    pub(super) fn set_tiles(&mut self, tiles: &[Tile]) {
        self.tiles.clear();
        self.tiles.extend_from_slice(tiles);
    }

    /// The smallest row that its pairs have.
    pub(super) fn first_row(&self) -> usize {
        self.tiles.first().map_or(0, |tile| tile.first_row())
    }

    /// z_ij and the moments of its pairs. Orbits have up to `members`.
    pub(super) fn forward(&mut self, rows: Rows<'_, T>, signals: Signals<'_, T>, members: usize) {
        let samples = signals.x.nrows();
        let width = self
            .tiles
            .iter()
            .map(|tile| tile.padded())
            .max()
            .unwrap_or(0);
        let end = self
            .tiles
            .last()
            .map_or(0, |&tile| self.place(tile, samples).end);
        self.products.resize(end);
        self.p.resize(2 * width * rows.stride);
        self.scratch.resize(width, members.max(1), rows.stride);
        self.moments.clear();
        self.moments.resize(samples, Moments::default());
        for &tile in &self.tiles {
            let place = self.place(tile, samples);
            let own = &mut self.products[place];
            let p = &mut self.p[..2 * tile.padded() * rows.stride];
            products(tile, rows, signals.x, p, own);
            Arch::new().dispatch(AddMoments {
                tile,
                signals,
                products: own,
                zeta: self.scratch.zeta.view_mut(),
                moments: &mut self.moments,
            });
        }
    }

    /// The squared distances within orbits, over its pairs.
    pub(super) fn distances(
        &mut self,
        signals: Signals<'_, T>,
        normalisers: &[Normaliser<T>],
        distances: Distances<'_>,
    ) {
        self.squares.clear();
        self.squares.resize(distances.count(), 0.0);
        for &tile in &self.tiles {
            let place = self.place(tile, normalisers.len());
            Arch::new().dispatch(AddSquares {
                tile,
                signals,
                products: &self.products[place],
                normalisers,
                distances,
                scratch: &mut self.scratch,
                squares: &mut self.squares,
            });
        }
    }

    /// Its share of the gradient.
    pub(super) fn gradient(
        &mut self,
        rows: Rows<'_, T>,
        signals: Signals<'_, T>,
        normalisers: &[Normaliser<T>],
        pull: &Pull<T>,
        distances: Distances<'_>,
    ) {
        self.z.zeros(signals.z.re.len());
        let first_row = self.first_row();
        self.w.zeros((rows.count - first_row) * rows.stride);
        for &tile in &self.tiles {
            let place = self.place(tile, normalisers.len());
            let add = AddGradient {
                tile,
                rows,
                signals,
                products: &mut self.products[place],
                normalisers,
                pull,
                distances,
                scratch: &mut self.scratch,
                p: &mut self.p[..2 * tile.padded() * rows.stride],
                z: self.z.view_mut(),
                w: self.w.view_mut(),
                first_row,
            };
            add.run();
        }
    }

    /// The squared distances from given invariants, over its pairs.
    pub(super) fn distances_to(
        &mut self,
        signals: Signals<'_, T>,
        normalisers: &[Normaliser<T>],
        aims: Aims<'_, T>,
    ) {
        self.squares.clear();
        self.squares.resize(normalisers.len(), 0.0);
        for &tile in &self.tiles {
            let place = self.place(tile, normalisers.len());
            Arch::new().dispatch(AddDistances {
                tile,
                signals,
                products: &self.products[place],
                normalisers,
                aims,
                scratch: &mut self.scratch,
                squares: &mut self.squares,
            });
        }
    }

    /// Its share of the gradient by x.
    pub(super) fn input_gradient(
        &mut self,
        rows: Rows<'_, T>,
        signals: Signals<'_, T>,
        normalisers: &[Normaliser<T>],
        aims: Aims<'_, T>,
        radial: &[T],
    ) {
        self.z.zeros(signals.z.re.len());
        self.x.zeros(normalisers.len() * rows.inputs);
        for &tile in &self.tiles {
            let place = self.place(tile, normalisers.len());
            let add = AddInputGradient {
                tile,
                rows,
                signals,
                products: &mut self.products[place],
                normalisers,
                aims,
                radial,
                scratch: &mut self.scratch,
                p: &mut self.p[..2 * tile.padded() * rows.stride],
                z: self.z.view_mut(),
                x: &mut self.x,
            };
            add.run();
        }
    }

    /// Tiles, and each one's z_ij for every sample.
    pub(super) fn tiles(&self, samples: usize) -> impl Iterator<Item = (Tile, &[T])> {
        self.tiles
            .iter()
            .map(move |&tile| (tile, &self.products[self.place(tile, samples)]))
    }

    /// Where a tile's products are. Only the last tile of all has fewer pairs than lanes.
    fn place(&self, tile: Tile, samples: usize) -> Range<usize> {
        let first = self.tiles.first().map_or(0, |first| first.place);
        let from = 2 * samples * (tile.place - first);
        from..from + 2 * samples * tile.padded()
    }
}
