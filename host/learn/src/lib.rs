//! Learn the symmetry behind data: from examples grouped into orbits ("these are all the same thing, moved somehow") the
//! irreducible representations of what relates them, as a model of its invariants for a microcontroller.
//!
//! ```
//! use bispectral_learn::{Options, Orbits, learn};
//!
//! // Samples with the same label are one thing, moved somehow; here by what nobody tells the program.
//! let shape = |k: usize, n: usize| ((k + 3) * n * n % 29) as f32;
//! let shifted = |k, by| (0..8).map(|n| shape(k, (n + by) % 8)).collect::<Vec<f32>>();
//! let samples = (0..160).map(|row| (row as i64 / 8, shifted(row / 8, row % 8)));
//!
//! let learned = learn(&Orbits::from_samples(samples)?, &Options::default())?;
//! assert_eq!(learned.group().unwrap().name, "Z8");
//! # let folder = tempfile::tempdir()?;
//! # std::env::set_current_dir(&folder)?;
//! learned.model().write("model.bsn")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each module uses only those above it:
//!
//! | module | what it is for |
//! | --- | --- |
//! | [`limits`] | what may be asked for at most, whether there is memory for it, and when work is to end |
//! | [`storage`] | files, written whole or not at all |
//! | [`numeric`] | precisions, matrices, Adam, whitening, random streams |
//! | [`data`] | readers, samples, transforms, orbits, splits |
//! | [`network`] | forward pass, losses, gradients by hand |
//! | [`group`] | Cayley tables, names, irreps, selective sets of invariants |
//! | [`model`] | `.bsn` files, forms and encodings, their cost |
//! | [`analysis`] | evaluation, the best form that fits, attack, inversion |
//! | [`learn`](mod@learn) | recipe, phases, trainer, recognition |
//! | [`classify`] | from invariants to classes |

pub mod analysis;
pub mod classify;
pub mod data;
mod error;
pub mod group;
pub mod learn;
pub mod limits;
pub mod model;
pub mod network;
pub mod numeric;
pub mod printable;
pub mod storage;

pub use bispectral_core;
pub use data::orbits::{Orbits, OrbitsError};
pub use error::{Error, Result};
pub use learn::{LearnError, Learned, Options, learn};
pub use ndarray;
