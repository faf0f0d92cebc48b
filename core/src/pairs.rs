//! Which (i, j) there are: the upper triangle with its diagonal, row by row,
//! (0,0), (0,1), …, (0,R−1), (1,1), …, (R−1,R−1), or those of them that a model lists.

use core::slice;

/// How many invariants a model of `rows` rows has: R(R+1)/2.
///
/// ```
/// assert_eq!(bispectral_core::pair_count(256), 32_896);
/// ```
#[must_use]
pub const fn pair_count(rows: usize) -> usize {
    rows * (rows + 1) / 2
}

/// Where β_ij stands among the invariants of a model of `rows` rows; β_ji is the same term.
///
/// `None` where i or j is not a row.
///
/// ```
/// use bispectral_core::{pair_index, pairs};
///
/// for (at, (i, j)) in pairs(5).enumerate() {
///     assert_eq!(pair_index(5, i, j), Some(at));
///     assert_eq!(pair_index(5, j, i), Some(at));
/// }
/// assert_eq!(pair_index(5, 0, 5), None);
/// ```
#[must_use]
pub const fn pair_index(rows: usize, i: usize, j: usize) -> Option<usize> {
    let (low, high) = if i < j { (i, j) } else { (j, i) };
    if high >= rows {
        return None;
    }
    Some(pair_count(rows) - pair_count(rows - low) + (high - low))
}

/// The pairs in the order in which every function here gives the invariants.
///
/// ```
/// let order: Vec<_> = bispectral_core::pairs(2).collect();
/// assert_eq!(order, [(0, 0), (0, 1), (1, 1)]);
/// ```
pub fn pairs(rows: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
    (0..rows).flat_map(move |i| (i..rows).map(move |j| (i, j)))
}

/// The pairs of a model, in the order of its features.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order<'a> {
    /// All pairs of so many rows; none where they are listed.
    rows: usize,
    /// Little-endian u16 i and j.
    listed: &'a [[u8; 4]],
    /// Invariants of no pair: forms of couplings, real.
    forms: usize,
}

impl<'a> Order<'a> {
    pub(crate) fn all(rows: usize) -> Self {
        Order {
            rows,
            listed: &[],
            forms: 0,
        }
    }

    pub(crate) fn listed(listed: &'a [[u8; 4]]) -> Self {
        Order {
            rows: 0,
            listed,
            forms: 0,
        }
    }

    /// So many invariants that no pairs belong to.
    pub(crate) fn forms(forms: usize) -> Self {
        Order {
            rows: 0,
            listed: &[],
            forms,
        }
    }

    /// Whether these are all pairs.
    pub(crate) fn is_all(&self) -> bool {
        self.rows > 0
    }

    pub(crate) fn len(&self) -> usize {
        pair_count(self.rows) + self.listed.len() + self.forms
    }

    /// The pairs, or the number of every form twice.
    pub(crate) fn list(&self) -> impl Iterator<Item = (usize, usize)> + Clone + use<'a> {
        self.iter().chain((0..self.forms).map(|at| (at, at)))
    }

    /// Real numbers in an invariant: a form is real.
    pub(crate) fn parts(&self) -> usize {
        if self.forms > 0 { 1 } else { 2 }
    }

    pub(crate) fn get(&self, at: usize) -> Option<(usize, usize)> {
        if let Some(pair) = self.listed.get(at) {
            return Some(indices(pair));
        }
        if at < self.forms {
            return Some((at, at));
        }
        let mut rest = at;
        for i in 0..self.rows {
            let row = self.rows - i;
            if rest < row {
                return Some((i, i + rest));
            }
            rest -= row;
        }
        None
    }

    #[inline(always)]
    pub(crate) fn iter(&self) -> Pairs<'a> {
        Pairs {
            next: (0, 0),
            rows: self.rows,
            listed: self.listed.iter(),
        }
    }
}

/// What [`Order::iter`] gives.
#[derive(Clone)]
pub(crate) struct Pairs<'a> {
    next: (usize, usize),
    rows: usize,
    listed: slice::Iter<'a, [u8; 4]>,
}

impl Iterator for Pairs<'_> {
    type Item = (usize, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, usize)> {
        let (i, j) = self.next;
        if i >= self.rows {
            return self.listed.next().map(indices);
        }
        self.next = if j + 1 < self.rows {
            (i, j + 1)
        } else {
            (i + 1, i + 1)
        };
        Some((i, j))
    }
}

#[inline(always)]
fn indices(&[i, i_high, j, j_high]: &[u8; 4]) -> (usize, usize) {
    let index = |low, high| usize::from(u16::from_le_bytes([low, high]));
    (index(i, i_high), index(j, j_high))
}
