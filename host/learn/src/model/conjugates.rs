//! Rows that are conjugates of others, or the same: z of a conjugate row is conj z for real x, so one of each is stored.

use bispectral_core::Complex32;
use bispectral_core::format::Row;
use ndarray::{Array2, ArrayView1, ArrayView2, Axis};

/// Parts of rows that differ by less than this share of the largest weight are the same number, rounded twice.
const ROUNDING: f32 = 1e-6;

/// Which rows of W are stored, and how every row is had from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folded {
    /// The rows that are stored, in the order of their first appearance.
    pub stored: Vec<usize>,
    /// For every row the place of its stored row, and whether it is conjugated.
    pub table: Vec<(usize, bool)>,
}

impl Folded {
    /// Folds W.
    ///
    /// ```
    /// use bispectral_learn::{data::group::Group, model::conjugates::Folded};
    /// # use num_complex::Complex32;
    ///
    /// let w = "Z4".parse::<Group>()?.characters().mapv(|w| Complex32::new(w.re as f32, w.im as f32));
    /// let folded = Folded::of(&w.view());
    /// assert_eq!(folded.stored, [0, 1, 2]);
    /// assert_eq!(folded.table[3], (1, true));
    /// # Ok::<(), bispectral_learn::Error>(())
    /// ```
    #[must_use]
    pub fn of(w: &ArrayView2<'_, Complex32>) -> Self {
        let largest = w
            .iter()
            .fold(0.0, |most: f32, w| most.max(w.re.abs()).max(w.im.abs()));
        let close = ROUNDING * largest;
        let mut folded = Folded {
            stored: Vec::new(),
            table: Vec::with_capacity(w.nrows()),
        };
        for (row, values) in w.rows().into_iter().enumerate() {
            let found = folded
                .stored
                .iter()
                .enumerate()
                .find_map(|(place, &stored)| {
                    let stored = w.row(stored);
                    let is = |conjugated| same(&values, &stored, conjugated, close);
                    [false, true]
                        .into_iter()
                        .find(|&conjugated| is(conjugated))
                        .map(|conjugated| (place, conjugated))
                });
            folded.table.push(found.unwrap_or_else(|| {
                folded.stored.push(row);
                (folded.stored.len() - 1, false)
            }));
        }
        folded
    }

    /// Whether every row is stored, so that there is nothing to gain.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.stored.len() == self.table.len()
    }

    /// Rows in an order that puts all that share a stored row behind one another: their products are computed once.
    #[must_use]
    pub fn together(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.table.len()).collect();
        rows.sort_by_key(|&row| self.table[row]);
        rows
    }

    /// The stored rows.
    #[must_use]
    pub fn rows(&self, w: &ArrayView2<'_, Complex32>) -> Array2<Complex32> {
        w.select(Axis(0), &self.stored)
    }

    /// The table of a model.
    #[must_use]
    pub fn table(&self) -> Vec<Row> {
        let row = |&(place, conjugated): &(usize, bool)| Row {
            stored: place as u16,
            conjugated,
        };
        self.table.iter().map(row).collect()
    }
}

fn same(
    a: &ArrayView1<'_, Complex32>,
    b: &ArrayView1<'_, Complex32>,
    conjugated: bool,
    close: f32,
) -> bool {
    let sign = if conjugated { -1.0 } else { 1.0 };
    a.iter()
        .zip(b)
        .all(|(a, b)| (a.re - b.re).abs() <= close && (a.im - sign * b.im).abs() <= close)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::group::Group;

    #[test]
    fn characters_fold_to_one_of_each_class() {
        for (name, classes) in [
            ("Z1", 1),
            ("Z7", 4),
            ("Z8", 5),
            ("Z4xZ4", 10),
            ("Z16xZ16", 130),
        ] {
            let group: Group = name.parse().unwrap();
            let w = group
                .characters()
                .mapv(|w| Complex32::new(w.re as f32, w.im as f32));
            let folded = Folded::of(&w.view());
            assert_eq!(folded.stored.len(), classes, "{name}");
            for (row, &(place, conjugated)) in folded.table.iter().enumerate() {
                let stored = folded.stored[place];
                let expected = if conjugated {
                    group.negate(stored)
                } else {
                    stored
                };
                assert_eq!(row, expected, "{name}");
            }
            let together = w.select(Axis(0), &folded.together());
            let table = Folded::of(&together.view()).table;
            assert!(table.is_sorted(), "{name}");
        }
    }

    #[test]
    fn a_row_alone_is_stored_as_it_is() {
        let w = ndarray::arr2(&[
            [Complex32::new(1.0, 0.5), Complex32::new(0.0, 1.0)],
            [Complex32::new(1.0, -0.5), Complex32::new(0.0, -0.99)],
        ]);
        assert!(Folded::of(&w.view()).is_identity());
    }
}
