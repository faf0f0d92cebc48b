//! How many of a known group's irreps a W holds, and how exactly.

use crate::data::group::Group;
use ndarray::ArrayView2;
use num_complex::{Complex32, Complex64};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeSet;

/// A row with more than this of a character is that irrep.
pub const EXACT: f64 = 0.999;

/// W against the characters of a group, each row with the one it is most like.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Irreps {
    /// How many there are.
    pub all: usize,
    /// Different characters that some row is most like.
    pub distinct: usize,
    /// Those with an overlap above 0.999.
    pub exact: usize,
    /// Mean overlap of a row with the character it is most like.
    pub mean_overlap: f64,
    /// The smallest.
    pub least_overlap: f64,
    /// The character that each row is most like.
    #[serde(skip)]
    pub nearest: Vec<usize>,
}

/// Compares the rows of `w`, at unit length, with the characters of `group`.
///
/// # Panics
/// The group has another order than W has inputs.
///
/// ```
/// use bispectral_learn::{analysis::irreps, data::group::Group};
/// use num_complex::Complex32;
///
/// let group: Group = "Z6".parse()?;
/// let w = group.characters().mapv(|w| Complex32::new(w.re as f32, w.im as f32));
/// let twice = w.select(ndarray::Axis(0), &[0, 1, 2, 3, 4, 4]);
/// let found = irreps::compare(&twice.view(), &group);
/// assert_eq!((found.all, found.distinct, found.exact), (6, 5, 5));
/// # Ok::<(), bispectral_learn::Error>(())
/// ```
#[must_use]
pub fn compare(w: &ArrayView2<'_, Complex32>, group: &Group) -> Irreps {
    assert_eq!(w.ncols(), group.order(), "functions on the group");
    let characters = group.characters();
    let best: Vec<(usize, f64)> = (0..w.nrows())
        .into_par_iter()
        .map(|row| {
            let wide = |w: &Complex32| Complex64::new(w.re.into(), w.im.into());
            let row: Vec<Complex64> = w.row(row).iter().map(wide).collect();
            let length = row.iter().map(|w| w.norm_sqr()).sum::<f64>().sqrt();
            let overlap = |k: usize| {
                let terms = row.iter().zip(characters.row(k));
                let inner: Complex64 = terms.map(|(w, chi)| w * chi.conj()).sum();
                inner.norm() / length.max(f64::MIN_POSITIVE)
            };
            let overlaps = (0..group.order()).map(|k| (k, overlap(k)));
            overlaps
                .max_by(|a, b| a.1.total_cmp(&b.1))
                .unwrap_or_default()
        })
        .collect();
    let distinct = |least: f64| {
        let above = best.iter().filter(|(_, overlap)| *overlap > least);
        above.map(|(k, _)| k).collect::<BTreeSet<_>>().len()
    };
    Irreps {
        all: group.order(),
        distinct: distinct(0.0),
        exact: distinct(EXACT),
        mean_overlap: best.iter().map(|best| best.1).sum::<f64>() / best.len().max(1) as f64,
        least_overlap: best.iter().map(|best| best.1).fold(1.0, f64::min),
        nearest: best.iter().map(|best| best.0).collect(),
    }
}
