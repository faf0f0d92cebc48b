//! One attack from W and targets to endings: which features, how signals move, and what counts as reached.

use super::attack::{Attacked, Bounds, Ending, Plan, Summary, attack, bounds_of_copies, judge};
use super::descent::{Progress, Settings};
use super::orbit::Motions;
use super::representation::{Bispectrum, Pooled, Power, Representation};
use crate::data::rotate::disk;
use crate::group::identify::Identification;
use crate::{Error, Result};
use ndarray::ArrayView2;
use num_complex::Complex32;
use serde::Serialize;
use std::time::Instant;

/// ‖f(x̃) − f(x)‖ of unit vectors below which a representation is reached, where the group is exact.
pub const REACHED: f64 = 1e-4;
/// The distance from an orbit below which a signal is in it, where the group is exact.
pub const INSIDE: f64 = 1e-2;

/// What signals are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Features {
    /// β̄, the normalised bispectrum.
    Bispectrum,
    /// |z|², normalised.
    Power,
    /// As many numbers as |z|²: the mean responses of small random filters, normalised.
    Pooled,
}

impl Features {
    /// Its name in a sentence.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Features::Bispectrum => "bispectrum",
            Features::Power => "power spectrum",
            Features::Pooled => "mean-pooled filters",
        }
    }
}

/// How signals move, and what they look like.
#[derive(Debug)]
pub struct World {
    /// None where nobody knows.
    pub motions: Option<Motions>,
    /// Height and width.
    pub shape: (usize, usize),
    /// Which numbers of a signal may change; all of them where it is empty.
    pub support: Vec<bool>,
    exact: bool,
}

impl World {
    /// That of a recognised group. Two equal factors make square images, all other signals are lines.
    #[must_use]
    pub fn of_group(found: &Identification) -> Self {
        let inputs = found.positions.len();
        let shape = match *found.group.factors() {
            [a, b] if a == b && a * b == inputs => (a, b),
            _ => (1, inputs),
        };
        World {
            motions: Some(Motions::of_group(found)),
            shape,
            support: Vec::new(),
            exact: true,
        }
    }

    /// Rotations of `size` × `size` pixels inside the disk.
    ///
    /// # Panics
    /// `size` is less than 2 or more than 65,535.
    #[must_use]
    pub fn of_rotation(size: usize) -> Self {
        World {
            motions: Some(Motions::rotations(size)),
            shape: (size, size),
            support: disk(size),
            exact: false,
        }
    }

    /// Signals of which nobody knows how they move.
    #[must_use]
    pub fn unknown(inputs: usize) -> Self {
        World {
            motions: None,
            shape: (1, inputs),
            support: Vec::new(),
            exact: true,
        }
    }
}

/// What is attacked.
#[derive(Debug, Clone, Copy)]
pub struct Trial<'a> {
    /// W.
    pub w: ArrayView2<'a, Complex32>,
    /// One a row.
    pub targets: ArrayView2<'a, f32>,
    /// How they move.
    pub world: &'a World,
    /// Steps of a descent at most.
    pub steps: usize,
    /// Descents that begin again.
    pub restarts: u32,
    /// Of noise and filters.
    pub seed: u64,
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What was compared.
    pub features: Features,
    /// Real numbers that it has.
    pub numbers: usize,
    /// Signals and how near they came.
    pub attacked: Attacked,
    /// How many came near enough.
    pub reached: usize,
    /// Where they led, where it is known how signals move.
    pub endings: Option<Vec<Ending>>,
    /// From targets to endings.
    pub seconds: f64,
}

impl Trial<'_> {
    /// Attacks by these features.
    ///
    /// # Errors
    /// The targets do not fit W, one is not finite, or these features do not go with these motions.
    pub fn run(&self, features: Features, observe: impl FnMut(u32, Progress)) -> Result<Outcome> {
        let Trial {
            w, targets, world, ..
        } = self;
        match features {
            Features::Bispectrum => {
                self.attack(features, Bispectrum::of_signals(w, targets)?, observe)
            }
            Features::Power => self.attack(features, Power::of_signals(w, targets)?, observe),
            Features::Pooled if world.exact => {
                let pooled = Pooled::of_signals(world.shape, w.nrows(), self.seed, targets)?;
                self.attack(features, pooled, observe)
            }
            Features::Pooled => Err(Error::new(
                "pooled features",
                "they are of translations, not of rotations",
                "compare with the power spectrum",
            )),
        }
    }

    fn attack(
        &self,
        features: Features,
        mut representation: impl Representation,
        observe: impl FnMut(u32, Progress),
    ) -> Result<Outcome> {
        let begun = Instant::now();
        let bounds = match &self.world.motions {
            Some(motions) if !self.world.exact => {
                bounds_of_copies(&mut representation, &self.targets, motions)?
            }
            _ => {
                let (reached, inside) = (REACHED, INSIDE);
                vec![Bounds { reached, inside }; self.targets.nrows()]
            }
        };
        let plan = Plan {
            descent: Settings {
                steps: self.steps,
                reached: REACHED,
                support: self.world.support.clone(),
                ..Settings::default()
            },
            restarts: self.restarts,
            seed: self.seed,
        };
        let attacked = attack(&mut representation, &bounds, &plan, observe)?;
        let motions = self.world.motions.as_ref();
        let endings = motions.map(|motions| judge(&attacked, &self.targets, motions, &bounds));
        let near = attacked.distances.iter().zip(&bounds);
        Ok(Outcome {
            features,
            numbers: representation.features(),
            reached: near
                .filter(|(distance, bounds)| **distance <= bounds.reached)
                .count(),
            endings,
            seconds: begun.elapsed().as_secs_f64(),
            attacked,
        })
    }
}

impl Outcome {
    /// Of all endings.
    #[must_use]
    pub fn summary(&self) -> Option<Summary> {
        self.endings.as_deref().map(Summary::of)
    }
}
