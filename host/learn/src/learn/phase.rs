//! One part of a run: a loss, a schedule and a length, with the numbers that were found to work.

use super::LearnError;
use super::schedule::{Rates, Schedule};
use crate::data::orbits::Motion;
use crate::network::{Distance, Objective, Reconstruction};
use serde::{Deserialize, Serialize};

/// What a phase minimises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossName {
    /// The residual of permutations that take members to members: no gradient, exact, and from few orbits. For data that is
    /// moved by permutations, of up to 1024 inputs; beyond, it is left out.
    Permutations,
    /// The share of the orbits' moments that W does not make diagonal: no gradient, and exact on whole orbits. For
    /// data that is moved by permutations, of up to 1024 inputs; beyond, it is left out.
    Spectral,
    /// The change of |z_i|² along orbits: hundreds of times cheaper, and nearly enough.
    SecondOrder,
    /// The paper's loss: the change of β̄ along orbits, and the reconstruction of x.
    OrbitSeparation,
    /// The share of invariant forms that changes along orbits: no gradient, and W stays as it is. For data that a compact group
    /// moves linearly, in any coordinates, of up to 64 inputs; beyond, it is left out.
    Moments,
}

/// One part of a run: a loss, a schedule and a length.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Phase {
    /// What is minimised.
    pub loss: LossName,
    /// The share of rows that stay when the phase begins: those whose power changes least along orbits.
    pub keep: f64,
    /// At most so many steps.
    pub steps: u64,
    /// The largest learning rate.
    pub lr: f64,
    /// How it changes.
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
    /// Whether samples are whitened before they are brought to unit length (spectral, second order).
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
            keep: 1.0,
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
            LossName::Permutations | LossName::Moments => Phase {
                steps: 1,
                ..orbit_separation
            },
            LossName::Spectral => Phase {
                steps: 200,
                period: 1,
                tolerance: 1e-9,
                stall: 10,
                whiten: true,
                ..orbit_separation
            },
        }
    }

    /// The default for orbits of this motion: the group itself by matching members, the irreps in closed form where that finds
    /// none, second order where that was not enough, then the paper's loss. Labelled samples that none of these
    /// explains may be moved linearly: moments, at last.
    ///
    /// Rotation on a grid is only nearly a permutation of pixels and only nearly a group. Whitening would raise what
    /// interpolation left of the finest detail above everything else; the closed form without it is a good start. The
    /// loss is that of the authors' code, but for the weight of the reconstruction: theirs, 150/256, holds on to detail
    /// that cannot be invariant. Then the rows that are steady are trained alone.
    #[must_use]
    pub fn recipe(motion: Motion) -> Vec<Self> {
        let spectral = Phase::new(LossName::Spectral);
        let orbit_separation = Phase::new(LossName::OrbitSeparation);
        if motion == Motion::Rotation {
            let all_rows = Phase {
                steps: 6000,
                lr: 0.002,
                gamma: 0.02,
                distance: Distance::Euclidean,
                centre: true,
                reconstruction: Reconstruction::Real,
                ..orbit_separation
            };
            let steady_rows = Phase {
                keep: 0.6,
                steps: 12_000,
                lr: 0.001,
                gamma: 0.001,
                ..all_rows.clone()
            };
            let start = Phase {
                whiten: false,
                ..spectral
            };
            return vec![start, all_rows, steady_rows];
        }
        let mut phases = vec![
            Phase::new(LossName::Permutations),
            spectral,
            Phase::new(LossName::SecondOrder),
            orbit_separation,
        ];
        // The last, so that a run whose group is recognised before is the same with and without it. What it would find exactly is
        // looked at before the gradients, too (`Trainer::moved_exactly`).
        if motion == Motion::Unknown {
            phases.push(Phase::new(LossName::Moments));
        }
        phases
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

    /// Refuses numbers that cannot be meant; `phase` is its number, counted from one.
    pub(super) fn check(&self, phase: usize) -> Result<(), LearnError> {
        let positive = |value: f64| value.is_finite() && value > 0.0;
        let refused = if self.steps == 0 {
            ("it has no steps".into(), "set steps to 1 or more")
        } else if !positive(self.lr) || !positive(self.lr_low) {
            (
                format!("lr = {}, lr_low = {}", self.lr, self.lr_low),
                "set them above zero",
            )
        } else if !(self.keep > 0.0 && self.keep <= 1.0) {
            (format!("keep = {}", self.keep), "set it above 0, up to 1")
        } else if !self.gamma.is_finite() || self.gamma < 0.0 {
            (format!("gamma = {}", self.gamma), "set it to zero or above")
        } else if self.members < 2 || self.orbits == 0 {
            (
                format!(
                    "a batch of {} orbits with {} members each",
                    self.orbits, self.members
                ),
                "take at least one orbit and two members",
            )
        } else {
            return Ok(());
        };
        let (what, remedy) = refused;
        Err(LearnError::Phase {
            phase,
            what,
            remedy,
        })
    }
}
