//! Is the group that a W was learned from the one that its Cayley table shows? (The paper's third experiment.)

use crate::Result;
use crate::data::group::Group;
use crate::data::orbits::Orbits;
use crate::group::{Cayley, Learned, isomorphism};
use crate::train::config::{Config, Data};
use crate::train::phase::LossName;
use crate::train::phase::Phase;
use crate::train::source;
use crate::train::trainer::{Step, Trainer};
use ndarray::Array2;
use num_complex::Complex32;
use std::time::{Duration, Instant};

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
    pub learned: Learned,
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
    let mut config = Config {
        seed,
        data: Data {
            group: Some(group.to_string()),
            ..Data::default()
        },
        ..Config::default()
    };
    if recipe == Recipe::Gradient {
        config.phases = [LossName::SecondOrder, LossName::OrbitSeparation]
            .map(Phase::new)
            .to_vec();
    }
    source::complete(&mut config)?;
    let (training, held_out) = source::orbits(&config)?;
    let mut trainer = Trainer::new(&config, &training);
    while let Some(step) = trainer.step()? {
        observe(&step);
    }
    let least_overlap = trainer.recognise().ok().map(|found| found.overlap().0);
    let weights = trainer.weights();
    let learned = Learned::of(&weights.view())?;
    let isomorphism = isomorphism(learned.table(), &Cayley::of(group)).unwrap_or(None);
    Ok(Recovery {
        weights,
        learned,
        held_out,
        isomorphism,
        least_overlap,
        attempts: trainer.attempts(),
        steps: trainer.steps_taken(),
        time: begun.elapsed(),
    })
}
