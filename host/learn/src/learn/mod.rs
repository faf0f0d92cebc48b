//! From orbits to W, and from W to a model: a list of phases, each a loss, a schedule and a length.
//!
//! | file | what it is |
//! | --- | --- |
//! | `options` | what can be chosen |
//! | `phase`, `schedule` | a loss with its numbers, the default recipe, the learning rate |
//! | `permutations` | the group itself, by matching members of orbits |
//! | `spectral` | the irreps in closed form |
//! | `sampler`, `pruning` | batches, and which rows stay |
//! | `trainer` | one step after the other |
//! | `recognition` | which group it is, and whether to go on or begin again |
//! | `diagnosis` | what the data looks like where no group is recognised |
//! | `learned` | what came of it |
//! | `known` | models of groups that are known by name, without data |
//! | `memory` | how much of it training takes |
//! | `checkpoint` | all of the state, to go on later |

pub mod checkpoint;
mod diagnosis;
pub mod known;
mod learn_error;
mod learned;
mod memory;
pub mod moments;
mod options;
pub mod permutations;
pub mod phase;
pub mod pruning;
mod recognition;
pub mod sampler;
pub mod schedule;
pub mod spectral;
mod trainer;

pub use diagnosis::{Diagnosis, Finding};
pub use learn_error::{Divergence, LearnError};
pub use learned::{Learned, Recognised, RecognisedIrrep};
pub use options::{Options, restarts};
pub use recognition::NotRecognised;
pub use trainer::{Step, Trainer};

use crate::data::orbits::Orbits;

/// Learns what relates the members of orbits: trains W by the default recipe or by that of `options`, begins again where
/// it stalls, recognises the group, puts its exact characters in the place of W, and evaluates the model on what was
/// held out.
///
/// # Errors
/// An option cannot be meant, there are too few orbits to hold some out, or training diverged.
///
/// ```
/// use bispectral_learn::{Options, Orbits, learn};
///
/// let orbits = Orbits::of_group(&"Z4xZ2".parse()?, 20, 0);
/// let learned = learn(&orbits, &Options::default())?;
/// assert_eq!(learned.group().unwrap().name, "Z4xZ2");
/// assert!(learned.evaluation().within < 1e-9 && learned.evaluation().between > 1.0);
/// let x = [1.0, 0.5, 0.0, 2.0, 0.0, 0.0, 1.0, -3.0];
/// assert_eq!(learned.model().view().invariants_vec(&x)?.len(), 36);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn learn(orbits: &Orbits, options: &Options) -> Result<Learned, LearnError> {
    Trainer::new(orbits, options)?.finish()
}
