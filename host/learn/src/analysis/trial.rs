//! One attack from W and targets to endings: which features, how signals move, and what counts as reached.

use super::attack::{Attacked, Bounds, Ending, Plan, Summary, attack, bounds_of_copies, judge};
use super::descent::{Progress, Settings};
use super::orbit::Motions;
use super::representation::{Bispectrum, Forms, Pooled, Power, Representation};
use crate::data::rotate::disk;
use crate::group::Couplings;
use crate::group::identify::Identification;
use crate::{Error, Result};
use ndarray::ArrayView2;
use num_complex::Complex32;
use rayon::prelude::*;
use serde::Serialize;
use std::time::Instant;

/// ‖f(x̃) − f(x)‖ of unit vectors below which a representation is reached, where the group is exact.
pub const REACHED: f64 = 1e-4;
/// The distance from an orbit below which a signal is in it, where the group is exact.
pub const INSIDE: f64 = 1e-2;

/// What signals are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Features {
    /// β̄, the normalised bispectrum.
    Bispectrum,
    /// |z|², normalised.
    Power,
    /// As many different numbers as |z|² has: the mean squared responses of small random filters, normalised.
    Pooled,
    /// The invariants of couplings.
    Couplings,
}

impl Features {
    /// Its name in a sentence.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Features::Bispectrum => "bispectrum",
            Features::Power => "power spectrum",
            Features::Pooled => "mean-pooled filters",
            Features::Couplings => "couplings",
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
    /// The targets do not fit W, one is not finite, these features do not go with these motions, or `observe`
    /// failed.
    pub fn run(
        &self,
        features: Features,
        observe: impl FnMut(u32, Progress) -> Result<()>,
    ) -> Result<Outcome> {
        let Trial {
            w, targets, world, ..
        } = self;
        match features {
            Features::Bispectrum => {
                self.attack(features, Bispectrum::of_signals(w, targets)?, observe)
            }
            Features::Power => self.attack(features, Power::of_signals(w, targets)?, observe),
            Features::Pooled if world.exact => {
                // Of a real signal, |z|² holds every number twice.
                let filters = w.nrows().div_ceil(2);
                let pooled = Pooled::of_signals(world.shape, filters, self.seed, targets)?;
                self.attack(features, pooled, observe)
            }
            Features::Pooled => Err(Error::new(
                "pooled features",
                "they are of translations, not of rotations",
                "compare with the power spectrum",
            )),
            Features::Couplings => Err(Error::new(
                "couplings",
                "W has none",
                "compare with the bispectrum",
            )),
        }
    }

    /// Attacks by the invariants of couplings, in place of those of W.
    ///
    /// # Errors
    /// The targets do not fit them, one has no invariants, or `observe` failed.
    pub fn run_couplings(
        &self,
        couplings: &Couplings,
        observe: impl FnMut(u32, Progress) -> Result<()>,
    ) -> Result<Outcome> {
        let forms = Forms::of_signals(couplings, &self.targets)?;
        // On a grid nothing is exact but what shares the invariants, so a descent is followed to its end.
        let finish = |forms: &Forms<'_>, attacked: &mut Attacked| {
            if self.world.exact {
                return;
            }
            let signals = attacked.metamers.rows_mut().into_iter();
            let all: Vec<_> = signals.zip(&mut attacked.distances).enumerate().collect();
            all.into_par_iter().for_each(|(target, (mut x, distance))| {
                if let Some(x) = x.as_slice_mut() {
                    *distance = forms.finish(x, target, &self.world.support);
                }
            });
        };
        self.attack_and(Features::Couplings, forms, finish, observe)
    }

    fn attack(
        &self,
        features: Features,
        representation: impl Representation,
        observe: impl FnMut(u32, Progress) -> Result<()>,
    ) -> Result<Outcome> {
        self.attack_and(features, representation, |_, _| (), observe)
    }

    fn attack_and<R: Representation>(
        &self,
        features: Features,
        mut representation: R,
        finish: impl FnOnce(&R, &mut Attacked),
        observe: impl FnMut(u32, Progress) -> Result<()>,
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
        let mut attacked = attack(&mut representation, &bounds, &plan, observe)?;
        finish(&representation, &mut attacked);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::group::Group;
    use crate::data::orbits::Orbits;
    use crate::group::identify::identify;
    use ndarray::Array2;

    /// Twelve random functions on Z9, attacked by some features.
    fn attacked(features: Features) -> Outcome {
        let group: Group = "Z9".parse().unwrap();
        let w = group.characters();
        let w = w.mapv(|w| Complex32::new(w.re as f32, w.im as f32));
        let orbits = Orbits::of_group(&group, 12, 1);
        let mut targets = Array2::zeros((12, 9));
        for (orbit, mut target) in targets.rows_mut().into_iter().enumerate() {
            orbits.write_member(orbit, 0, target.as_slice_mut().unwrap());
        }
        let world = World::of_group(&identify(&w.view()).unwrap());
        let trial = Trial {
            w: w.view(),
            targets: targets.view(),
            world: &world,
            steps: 3000,
            restarts: 2,
            seed: 4,
        };
        trial.run(features, |_, _| Ok(())).unwrap()
    }

    #[test]
    fn what_shares_a_bispectrum_is_in_the_orbit() {
        let summary = attacked(Features::Bispectrum).summary().unwrap();
        assert!(summary.reached >= 11, "{summary:?}");
        assert_eq!(summary.inside, summary.reached);
        assert_eq!(summary.nearest, summary.reached);
    }

    #[test]
    fn what_shares_a_power_spectrum_or_pooled_responses_is_a_metamer() {
        for features in [Features::Power, Features::Pooled] {
            let outcome = attacked(features);
            let summary = outcome.summary().unwrap();
            assert!(summary.reached >= 6, "{features:?}: {summary:?}");
            assert_eq!(summary.inside, 0, "{features:?}: {summary:?}");
        }
    }

    #[test]
    fn copies_bound_what_counts_on_a_grid() {
        let world = World::of_rotation(8);
        let w = Array2::from_shape_fn((6, 64), |(i, n)| {
            let inside = f32::from(u8::from(world.support[n]));
            Complex32::cis((i * n) as f32 * 0.37) * inside * 0.125
        });
        let targets = Array2::from_shape_fn((2, 64), |(k, n)| {
            let wave = ((n * (k + 3)) % 7) as f32;
            if world.support[n] { wave } else { 0.0 }
        });
        let trial = Trial {
            w: w.view(),
            targets: targets.view(),
            world: &world,
            steps: 5,
            restarts: 0,
            seed: 0,
        };
        let outcome = trial.run(Features::Power, |_, _| Ok(())).unwrap();
        for ending in outcome.endings.unwrap() {
            let Bounds { reached, inside } = ending.bounds;
            assert!(reached > 0.0 && (0.05..1.0).contains(&inside), "{ending:?}");
            assert!(!ending.reached, "{ending:?}");
        }
        let line = trial
            .run(Features::Pooled, |_, _| Ok(()))
            .unwrap_err()
            .to_string();
        assert!(line.starts_with("pooled features: "), "{line}");
    }
}
