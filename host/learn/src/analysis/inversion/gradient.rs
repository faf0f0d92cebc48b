//! Inversion where no group is known: by gradient from noise, and again from other noise where that ends elsewhere.

use crate::Result;
use crate::analysis::attack::{Attacked, Bounds, Plan, attack};
use crate::analysis::descent::{Progress, Settings};
use crate::analysis::representation::Bispectrum;
use crate::analysis::trial::REACHED;
use ndarray::ArrayView2;
use num_complex::Complex32;

/// Signals whose normalised bispectra are the rows of `invariants`, as near as `restarts` beginnings come.
///
/// Numbers of a signal that no row of `w` looks at are zero.
///
/// # Errors
/// W or the invariants are not finite, or `observe` failed.
pub fn by_gradient(
    w: &ArrayView2<'_, Complex32>,
    invariants: &ArrayView2<'_, Complex32>,
    (restarts, seed): (u32, u64),
    observe: impl FnMut(u32, Progress) -> Result<()>,
) -> Result<Attacked> {
    let is_seen = |n: usize| w.column(n).iter().any(|w| *w != Complex32::ZERO);
    let descent = Settings {
        support: (0..w.ncols()).map(is_seen).collect(),
        ..Settings::default()
    };
    let plan = Plan {
        descent,
        restarts,
        seed,
    };
    let bounds = Bounds {
        reached: REACHED,
        inside: 0.0,
    };
    let mut bispectrum = Bispectrum::new(w, invariants);
    let bounds = vec![bounds; invariants.nrows()];
    attack(&mut bispectrum, &bounds, &plan, observe)
}
