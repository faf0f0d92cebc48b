//! Loss and gradient against double-precision references, their definitions, finite differences, and themselves on
//! other thread counts.

mod definition;
mod differences;
mod edges;
mod golden;
mod input_gradient;
mod random;
mod steadiness;

use bispectral_learn::network::Workspace;
use bispectral_learn::numeric::Real;

/// ‖found − expected‖ / ‖expected‖.
pub(crate) fn relative(
    found: impl IntoIterator<Item = f64>,
    expected: impl IntoIterator<Item = f64>,
) -> f64 {
    let (mut difference, mut length) = (0.0, 0.0);
    let mut expected = expected.into_iter();
    for found in found {
        let expected = expected.next().expect("as many as found");
        difference += (found - expected).powi(2);
        length += expected.powi(2);
    }
    assert!(expected.next().is_none(), "as many as expected");
    (difference / length).sqrt()
}

/// ∂L/∂Re W, then ∂L/∂Im W.
pub(crate) fn gradient_of<T: Real>(workspace: &Workspace<T>) -> Vec<f64> {
    let gradient = workspace.gradient();
    gradient
        .re
        .iter()
        .chain(gradient.im)
        .map(|g| g.wide())
        .collect()
}
