//! Rotations of functions on a sphere, learned from samples alone behind a mixing, as a model.

use bispectral_learn::analysis::certification::invariants_of;
use bispectral_learn::data::representation::{functions_on_sphere, orthogonal};
use bispectral_learn::group::Couplings;
use bispectral_learn::group::compact::{Compact, Moments};

/// The complete couplings of degrees 0 to `most`, learned from so many orbits of 60 members: those of third order, and what of fourth
/// order signals need to come back.
///
/// # Panics
/// They are not those of SO(3).
#[must_use]
pub fn learned(most: usize, orbits: usize) -> Couplings {
    let mixing = orthogonal((most + 1) * (most + 1), 7);
    let orbits = functions_on_sphere(most, &mixing, orbits, 60, 1).expect("orbits");
    let found = Compact::of(&Moments::of(&orbits).expect("samples"), 0).expect("a group");
    assert_eq!(found.name().to_string(), "SO(3)");
    invariants_of(&found, 0).expect("couplings")
}
