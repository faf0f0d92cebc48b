//! Is the group that a W was learned from the one that its Cayley table shows? (The paper's third experiment.)

use bispectral_learn::Options;
use bispectral_learn::Result;
use bispectral_learn::data::group::Group;
use bispectral_learn::data::orbits::Orbits;
use bispectral_learn::group::{Cayley, LearnedTable, isomorphism};
use bispectral_learn::learn::phase::{LossName, Phase};
use bispectral_learn::learn::{Step, Trainer};
use ndarray::Array2;
use num_complex::Complex32;
use std::time::{Duration, Instant};

/// Functions on a group; a fifth of them is held out.
const EXEMPLARS: usize = 100;

/// How a group is learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recipe {
    /// As `bispectral train` does: the closed form, and gradients where that is not enough.
    Default,
    /// From random weights by gradients alone.
    Gradient,
}

/// What came of one group and seed.
#[derive(Debug, Clone)]
pub struct Recovery {
    /// W as it was learned, before anything is made exact.
    pub weights: Array2<Complex32>,
    /// Its table.
    pub learned: LearnedTable,
    /// Orbits of functions that were not trained on.
    pub held_out: Orbits,
    /// Each row's element in the given group, where the tables are isomorphic.
    pub isomorphism: Option<Vec<usize>>,
    /// Of a learned row with its exact character, where a group was recognised.
    pub least_overlap: Option<f64>,
    /// How often training began.
    pub attempts: u32,
    /// Steps of all attempts.
    pub steps: u64,
    /// From data to the group.
    pub time: Duration,
}

/// Learns `group` from all translates of 80 random functions, and compares tables.
///
/// # Errors
/// The training failed.
pub fn recover(
    group: &Group,
    seed: u64,
    recipe: Recipe,
    mut observe: impl FnMut(&Step),
) -> Result<Recovery> {
    let begun = Instant::now();
    let mut options = Options {
        seed,
        ..Options::default()
    };
    if recipe == Recipe::Gradient {
        options.phases = [LossName::SecondOrder, LossName::OrbitSeparation]
            .map(Phase::new)
            .to_vec();
    }
    let orbits = Orbits::of_group(group, EXEMPLARS, seed);
    let mut trainer = Trainer::new(&orbits, &options)?;
    while let Some(step) = trainer.step()? {
        observe(&step);
    }
    let least_overlap = trainer.recognise().ok().map(|found| found.overlap().0);
    let weights = trainer.weights();
    let learned = LearnedTable::of(&weights.view())?;
    let isomorphism = isomorphism(learned.table(), &Cayley::of(group)).unwrap_or(None);
    Ok(Recovery {
        weights,
        learned,
        held_out: trainer.held_out().clone(),
        isomorphism,
        least_overlap,
        attempts: trainer.attempts(),
        steps: trainer.steps_taken(),
        time: begun.elapsed(),
    })
}
