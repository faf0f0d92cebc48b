//! What the tests of this folder share: the example model, made afresh, and what the core computes with it.

#[path = "../../firmware-example/src/place.rs"]
pub mod place;
#[path = "../../firmware-example/src/reference.rs"]
pub mod reference;
#[path = "../../firmware-example/src/signals.rs"]
pub mod signals;

pub mod browser;
pub mod classified;
pub mod device;
pub mod example;
pub mod forms;
pub mod least;
pub mod octahedral;
pub mod rotated;
mod skip;
pub mod sphere;

pub use skip::skipped;
use std::path::{Path, PathBuf};

/// The folder of the whole project.
#[must_use]
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
