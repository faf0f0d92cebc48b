//! Which (i, j) there are: the upper triangle with its diagonal, row by row,
//! (0,0), (0,1), …, (0,R−1), (1,1), …, (R−1,R−1).

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
