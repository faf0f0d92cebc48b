//! The pairs i ≤ j in the order (0,0), (0,1), …, (0,R−1), (1,1), …, cut into tiles that fit a cache and parts that
//! fit a thread.
//!
//! A tile is a stretch of consecutive pairs; a run is the stretch of a tile with one i. Runs are worked on in whole
//! lanes, so the last lanes reach past the run's end: into the next run, which then overwrites them, or past the last
//! row, where buffers have [`LANES`] spare elements. Hence no loop over pairs has a remainder.

use crate::numeric::{LANES, padded};
use std::ops::Range;

/// Numbers in a tile of P, real and imaginary: 192 KiB of f32, a tenth to a half of today's second-level caches.
const TILE: usize = 48 * 1024;

/// Pairs come in these steps: two rows of P each are the 96 rows of the AVX-512 product's widest kernel, and three
/// times the vectors'.
const STEP: usize = 3 * LANES;

/// Steps of a tile at most. From one to eight were tried; past three, caches cost more than packing saves.
const STEPS: usize = 3;

/// Parts there are at most: how many threads can be kept busy. Each has its own sum of ∂L/∂W, which costs 0.3 % of
/// a step to clear and to add up (N = R = 256, 100 samples).
const PARTS: usize = 16;

/// A stretch of consecutive pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tile {
    /// R.
    rows: usize,
    /// The first pair.
    first: (usize, usize),
    /// Its place among all pairs.
    pub(super) place: usize,
    /// How many pairs it has.
    pub(super) pairs: usize,
}

/// Consecutive pairs (i, j), (i, j+1), … of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    /// Where in the tile it begins.
    pub(super) at: usize,
    /// The row that its pairs share.
    pub(super) i: usize,
    /// The first other row.
    pub(super) j: usize,
    /// How many pairs it has.
    pub(super) len: usize,
}

impl Run {
    /// `len` up to whole lanes.
    #[inline(always)]
    pub(super) fn padded(self) -> usize {
        padded(self.len)
    }
}

impl Tile {
    /// Its pairs up to whole lanes: the length of its buffers. What is past its pairs counts as β = 0.
    #[inline(always)]
    pub(super) fn padded(self) -> usize {
        padded(self.pairs)
    }

    /// The row of its first pair: no pair has a smaller one.
    pub(super) fn first_row(self) -> usize {
        self.first.0
    }

    /// Its runs, in order.
    #[inline(always)]
    pub(super) fn runs(self) -> impl Iterator<Item = Run> {
        let (mut i, mut j) = self.first;
        let mut at = 0;
        std::iter::from_fn(move || {
            let len = (self.rows - j).min(self.pairs - at);
            let run = Run { at, i, j, len };
            at += len;
            i += 1;
            j = i;
            (len > 0).then_some(run)
        })
    }
}

/// R(R+1)/2.
pub(super) fn pair_count(rows: usize) -> usize {
    rows * (rows + 1) / 2
}

/// All tiles of R rows and N inputs.
pub(super) fn tiles(rows: usize, inputs: usize) -> Vec<Tile> {
    let size = STEP * (TILE / (2 * STEP * inputs.max(1))).clamp(1, STEPS);
    let count = pair_count(rows);
    let mut first = (0, 0);
    (0..count)
        .step_by(size)
        .map(|place| {
            let tile = Tile {
                rows,
                first,
                place,
                pairs: size.min(count - place),
            };
            if let Some(last) = tile.runs().last() {
                let next = last.j + last.len;
                first = if next < rows {
                    (last.i, next)
                } else {
                    (last.i + 1, last.i + 1)
                };
            }
            tile
        })
        .collect()
}

/// Which of so many tiles each part has.
pub(super) fn parts(tiles: usize) -> impl Iterator<Item = Range<usize>> {
    let count = tiles.min(PARTS);
    (0..count).map(move |part| tiles * part / count..tiles * (part + 1) / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_tiles_are_all_pairs_in_order() {
        for (rows, inputs) in [
            (0, 3),
            (1, 1),
            (2, 9),
            (7, 5000),
            (64, 700),
            (100, 256),
            (33, 2000),
        ] {
            let mut found = Vec::new();
            for tile in tiles(rows, inputs) {
                assert_eq!(tile.place, found.len());
                for run in tile.runs() {
                    assert_eq!(run.at, found.len() - tile.place);
                    found.extend((0..run.len).map(|k| (run.i, run.j + k)));
                }
                assert_eq!(found.len(), tile.place + tile.pairs);
            }
            let all = (0..rows).flat_map(|i| (i..rows).map(move |j| (i, j)));
            assert!(all.eq(found.iter().copied()), "{rows} rows");
            assert_eq!(found.len(), pair_count(rows));
        }
    }

    #[test]
    fn parts_are_all_tiles_in_order() {
        for tiles in [0, 1, 5, 16, 17, 257] {
            let parts: Vec<_> = parts(tiles).collect();
            assert!(parts.iter().cloned().flatten().eq(0..tiles));
            assert!(parts.iter().all(|part| !part.is_empty()));
        }
    }
}
