//! One part of a run: a loss, a schedule and a length, with the numbers that were found to work.

use super::config::{Data, TransformName};
use super::schedule::{Rates, Schedule};
use crate::network::{Distance, Objective, Reconstruction};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// What a phase minimises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum LossName {
    /// The share of the orbits' moments that W does not make diagonal: no gradient, and exact on whole orbits. For
    /// data that is moved by permutations, of up to 1024 inputs; beyond, it is left out.
    Spectral,
    /// The change of |z_i|² along orbits: hundreds of times cheaper, and nearly enough.
    SecondOrder,
    /// The paper's loss: the change of β̄ along orbits, and the reconstruction of x.
    OrbitSeparation,
}

/// One part of a run: a loss, a schedule and a length.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Phase {
    /// What is minimised.
    pub loss: LossName,
    /// At most so many steps.
    pub steps: u64,
    /// The largest learning rate.
    pub lr: f64,
    /// Its course.
    pub schedule: Schedule,
    /// The smallest rate of a cyclic schedule.
    pub lr_low: f64,
    /// Steps of a triangle, of the mean by which a plateau is seen, and of the mean that may end the phase.
    pub period: u64,
    /// Periods without a fall that make a plateau.
    pub patience: u32,
    /// The phase ends once the mean change along orbits of a period is below this.
    pub tolerance: f64,
    /// The phase ends once that mean has not fallen for so many periods; never where it is zero.
    pub stall: u32,
    /// Orbits in a batch.
    pub orbits: usize,
    /// Members of each.
    pub members: usize,
    /// Whether samples are whitened and brought to unit length (second order).
    pub whiten: bool,
    /// The weight of the reconstruction (orbit separation).
    pub gamma: f64,
    /// How β̄ are compared (orbit separation).
    pub distance: Distance,
    /// Whether the mean of β is subtracted before it is normalised (orbit separation).
    pub centre: bool,
    /// What of the residual counts (orbit separation).
    pub reconstruction: Reconstruction,
}

impl Default for Phase {
    fn default() -> Self {
        Phase::new(LossName::OrbitSeparation)
    }
}

impl Phase {
    /// A phase with the numbers that brought every small group and 8×8 translation to exact invariants.
    #[must_use]
    pub fn new(loss: LossName) -> Self {
        let orbit_separation = Phase {
            loss,
            steps: 2000,
            lr: 0.005,
            schedule: Schedule::Cosine,
            lr_low: 1e-4,
            period: 50,
            patience: 10,
            tolerance: 1e-10,
            stall: 0,
            orbits: 10,
            members: 10,
            whiten: false,
            gamma: 0.5,
            distance: Distance::Squared,
            centre: false,
            reconstruction: Reconstruction::Complex,
        };
        match loss {
            LossName::OrbitSeparation => orbit_separation,
            LossName::SecondOrder => Phase {
                steps: 8000,
                lr: 0.01,
                tolerance: 1e-7,
                orbits: 20,
                whiten: true,
                ..orbit_separation
            },
            LossName::Spectral => Phase {
                steps: 200,
                period: 1,
                tolerance: 1e-9,
                stall: 10,
                ..orbit_separation
            },
        }
    }

    /// The default for `data`: the closed form, second order where that was not enough, then the paper's loss.
    ///
    /// Rotation on a grid is no permutation of pixels: no closed form, and no whitening, which would raise what
    /// interpolation left of the finest detail above everything else.
    #[must_use]
    pub fn recipe(data: &Data) -> Vec<Self> {
        let of = |losses: &[LossName]| losses.iter().map(|&loss| Phase::new(loss)).collect();
        if data.transform == Some(TransformName::Rotate) {
            let mut phases: Vec<Self> = of(&[LossName::SecondOrder, LossName::OrbitSeparation]);
            phases[0].whiten = false;
            return phases;
        }
        of(&[
            LossName::Spectral,
            LossName::SecondOrder,
            LossName::OrbitSeparation,
        ])
    }

    /// The numbers of its schedule.
    #[must_use]
    pub fn rates(&self) -> Rates {
        Rates {
            schedule: self.schedule,
            lr: self.lr,
            lr_low: self.lr_low,
            period: self.period.max(1),
            patience: self.patience,
            steps: self.steps,
        }
    }

    /// The paper's loss in its variant.
    #[must_use]
    pub fn objective(&self) -> Objective {
        Objective {
            distance: self.distance,
            centre: self.centre,
            reconstruction: self.reconstruction,
            gamma: self.gamma,
        }
    }

    /// Refuses numbers that cannot be meant; `number` is the phase's, counted from one.
    pub(super) fn check(&self, number: usize) -> Result<()> {
        let wrong =
            |what: String, remedy: &str| Err(Error::new(format!("phase {number}"), what, remedy));
        let positive = |value: f64| value.is_finite() && value > 0.0;
        if self.steps == 0 {
            return wrong("it has no steps".into(), "set steps to 1 or more");
        }
        if !positive(self.lr) || !positive(self.lr_low) {
            return wrong(
                format!("lr = {}, lr_low = {}", self.lr, self.lr_low),
                "set them above zero",
            );
        }
        if !self.gamma.is_finite() || self.gamma < 0.0 {
            return wrong(format!("gamma = {}", self.gamma), "set it to zero or above");
        }
        if self.members < 2 || self.orbits == 0 {
            return wrong(
                format!(
                    "a batch of {} orbits with {} members each",
                    self.orbits, self.members
                ),
                "take at least one orbit and two members",
            );
        }
        Ok(())
    }
}
