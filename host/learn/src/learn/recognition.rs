//! How a phase ends: with the whole run where W is the characters of a group, in the next phase, or, where the run has
//! stalled, in another attempt from another start.

use super::checkpoint::Kept;
use super::phase::{LossName, Phase};
use super::pruning::unsteadiness;
use super::sampler::{Batch, Sampler};
use super::trainer::{Trainer, random};
use crate::Error;
use crate::group::identify::{Identification, identify};
use crate::group::{Refusal, complete};
use crate::network::{Network, Objective};
use bispectral_core::Complex32;
use ndarray::Array2;
use rayon::prelude::*;
use std::fmt;

/// A mean squared change of β̄ along orbits below this is an invariant, whatever it is called; stalled runs are at 0.1
/// to 0.4, converged ones below 1e-9.
pub(super) const SETTLED: f64 = 1e-4;
/// Exact characters may change by no more than this along orbits; unrelated signals differ by 2, and 20 % noise alone
/// makes those of Z8 change by 0.17.
const CHANGE: f64 = 0.3;
/// A group's elements must take one member of an orbit to another, but for this share of its square, on average over
/// the quarter of pairs where they do worst: another group of as many elements has half of them wrong, or more.
const RESIDUE: f64 = 0.15;

/// A row whose power changes by less than this share is a character's; noise changes by half.
const STEADY: f64 = 0.05;

/// Why no group was recognised behind W.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum NotRecognised {
    /// W is not the characters of a finite commutative group.
    Characters(Refusal),
    /// It is, but the group does not take members of orbits to each other.
    Elements {
        /// The name of the group.
        group: String,
        /// The share of a signal's square that its best element leaves, over the quarter of pairs where it is worst.
        residue: f64,
    },
    /// It is, but its exact characters are not invariant on the data.
    Invariants {
        /// The name of the group.
        group: String,
        /// The mean squared change along orbits.
        change: f64,
    },
    /// The group permutes inputs in a way that no characters express: the model is of couplings.
    Couplings {
        /// The name of the group.
        group: String,
    },
    /// The group moves signals linearly and permutes no inputs: the model is of couplings.
    Linear {
        /// The name of the group.
        group: String,
    },
    /// The change along orbits cannot be computed.
    Loss(Box<Error>),
}

impl fmt::Display for NotRecognised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotRecognised::Characters(refusal) => refusal.fmt(f),
            NotRecognised::Elements { group, residue } => write!(
                f,
                "its rows are the characters of {group}, but its elements leave {residue:.2} of what moves signals along orbits"
            ),
            NotRecognised::Invariants { group, change } => write!(
                f,
                "its rows are the characters of {group}, but these change by {change:.2} along orbits"
            ),
            NotRecognised::Couplings { group } => write!(
                f,
                "{group} permutes the inputs in a way that no characters express: its invariants are couplings"
            ),
            NotRecognised::Linear { group } => write!(
                f,
                "{group} moves signals linearly and permutes no inputs: its invariants are couplings"
            ),
            NotRecognised::Loss(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for NotRecognised {}

impl Trainer {
    /// What W is the characters of, where the data is moved by that group.
    ///
    /// # Errors
    /// Why there is no such group.
    pub fn recognise(&mut self) -> Result<Identification, NotRecognised> {
        self.recognise_rows(true)
    }

    /// As [`recognise`](Self::recognise); without `completing` every row must be a character.
    fn recognise_rows(&mut self, completing: bool) -> Result<Identification, NotRecognised> {
        let sampler = Sampler {
            seed: self.seed(),
            phase: u64::MAX,
            orbits: 80,
            members: 4,
        };
        sampler.draw(&self.orbits, 0, &mut self.batch);
        let w = self.weights();
        let found = identify(&w.view()).or_else(|refusal| {
            let completed = completing.then(|| self.completed(&w)).flatten();
            completed.ok_or(NotRecognised::Characters(refusal))
        })?;
        let Batch { samples, sizes } = &self.batch;
        let residue = residue(&found, samples, sizes);
        if residue > RESIDUE {
            let group = found.group.to_string();
            return Err(NotRecognised::Elements { group, residue });
        }
        let exact = Network::from_array(&found.exact().view());
        let loss = self
            .workspace
            .loss(&exact, samples, sizes, &Objective::default());
        let change = loss
            .map_err(|error| NotRecognised::Loss(Box::new(error)))?
            .invariance;
        if change > CHANGE {
            let group = found.group.to_string();
            return Err(NotRecognised::Invariants { group, change });
        }
        Ok(found)
    }

    /// The group that the rows with a steady power generate, where the others see nothing but noise or nothing at all.
    fn completed(&self, w: &Array2<Complex32>) -> Option<Identification> {
        if w.nrows() != w.ncols() {
            return None;
        }
        let Batch { samples, sizes } = &self.batch;
        let changes = unsteadiness(&self.network, samples, sizes);
        let steady = changes
            .iter()
            .zip(0..)
            .filter(|(change, _)| **change < STEADY);
        let known: Vec<usize> = steady.map(|(_, row)| row).collect();
        let mut found = identify(&complete(&w.view(), &known)?.view()).ok()?;
        found.known = known.len().min(w.nrows());
        Some(found)
    }

    /// What follows the phase `number`, whose last step had this change along orbits.
    pub(super) fn end_phase(&mut self, number: usize, invariance: f64) {
        let last = self.options.phases.len();
        // What a gradient has not yet made a character, the next phase may.
        let phase = &self.options.phases[number];
        let moments = |phase: &Phase| phase.loss == LossName::Moments;
        // Moments leave W as it is: attempts are over before them.
        let is_last_of_w = self.options.phases[number + 1..].iter().all(moments);
        let completing = phase.loss == LossName::Spectral || is_last_of_w;
        let phase_leaves_w = moments(phase);
        let phase_matches = phase.loss == LossName::Permutations;
        let before_gradients = phase.loss == LossName::Spectral;
        if self.options.polish && self.recognise_rows(completing).is_ok() {
            return self.begin(last);
        }
        if phase_matches && self.coupled().is_some() {
            return self.begin(last);
        }
        // No gradient is as exact as invariants that do not change at all.
        if before_gradients && self.moved_exactly() {
            return self.begin(last);
        }
        if !is_last_of_w || phase_leaves_w {
            return self.begin(number + 1);
        }
        let invariance = invariance.min(self.progress.best());
        let best = match self.kept.take() {
            Some(kept) if kept.invariance <= invariance => kept,
            _ => Kept {
                invariance,
                weights: self.parts(),
            },
        };
        let over = best.invariance < SETTLED || self.attempt >= self.options.restarts.unwrap_or(0);
        if over {
            self.load(&best.weights);
            let settled = best.invariance < SETTLED;
            self.begin(if settled { last } else { number + 1 });
        } else {
            self.attempt += 1;
            let inputs = self.network.inputs();
            let rows = self.options.rows.unwrap_or(inputs);
            self.network = random(rows, inputs, self.seed());
            self.begin(0);
        }
        self.kept = Some(best);
    }
}

/// How far the group's elements are from taking each member of an orbit to the next: the mean over the worst quarter of
/// such pairs of min_g ‖g·a − b‖² / ‖b‖². Zero where several inputs stand at one element: which of them goes where is not known.
fn residue(found: &Identification, samples: &[f32], sizes: &[usize]) -> f64 {
    let (group, inputs) = (&found.group, found.positions.len());
    if group.order() != inputs {
        return 0.0;
    }
    let mut at = vec![0; inputs];
    for (input, &element) in found.positions.iter().enumerate() {
        at[element] = input;
    }
    let samples: Vec<&[f32]> = samples.chunks_exact(inputs).collect();
    let ends = sizes.iter().scan(0, |end, size| {
        *end += size;
        Some(*end)
    });
    let pairs: Vec<(&[f32], &[f32])> = ends
        .zip(sizes)
        .flat_map(|(end, &size)| (end - size + 1..end).map(|b| (b - 1, b)))
        .map(|(a, b)| (samples[a], samples[b]))
        .collect();
    let mut residues: Vec<f64> = pairs
        .par_iter()
        .map(|(a, b)| {
            let square = |x: f32| f64::from(x).powi(2);
            let moved = |g: usize| -> f64 {
                let places = found.positions.iter().map(|&h| at[group.add(h, g)]);
                let pairs = a.iter().zip(places);
                pairs.map(|(a, place)| square(b[place] - a)).sum()
            };
            let least = (0..inputs).map(moved).fold(f64::INFINITY, f64::min);
            let whole: f64 = b.iter().map(|&b| square(b)).sum();
            if whole > 0.0 { least / whole } else { 0.0 }
        })
        .collect();
    residues.sort_by(|a, b| b.total_cmp(a));
    let worst = &residues[..residues.len().div_ceil(4)];
    worst.iter().sum::<f64>() / worst.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::group::Group;
    use crate::data::orbits::{Orbits, Transform};
    use crate::learn::Options;
    use std::f64::consts::TAU;

    fn options(loss: LossName) -> Options {
        Options {
            phases: vec![Phase::new(loss)],
            ..Options::default()
        }
    }

    fn orbits(group: &str) -> Orbits {
        Orbits::of_group(&group.parse().unwrap(), 100, 0)
    }

    fn characters(group: &str) -> Vec<f32> {
        let w = group.parse::<Group>().unwrap().characters();
        let re = w.iter().map(|w| w.re as f32);
        re.chain(w.iter().map(|w| w.im as f32)).collect()
    }

    #[test]
    fn a_group_is_recognised_only_where_it_moves_the_data() {
        let groups = |order| crate::group::of_order(order).into_iter();
        for (moves, named) in [4, 8, 9, 12, 16].into_iter().flat_map(|order| {
            groups(order)
                .flat_map(move |moves| groups(order).map(move |named| (moves.clone(), named)))
        }) {
            for noise in [0.0, 0.15] {
                let orbits = orbits(&moves.to_string()).noisy(noise, 0);
                let mut trainer = Trainer::new(&orbits, &options(LossName::Spectral)).unwrap();
                trainer.load(&characters(&named.to_string()));
                match trainer.recognise() {
                    Ok(found) => assert_eq!((&found.group, &moves), (&named, &named)),
                    Err(NotRecognised::Elements { group, .. }) => {
                        assert_eq!(group, named.to_string());
                        assert_ne!(moves, named, "noise {noise}");
                    }
                    Err(other) => panic!("{moves}, {named}: {other}"),
                }
            }
        }
    }

    #[test]
    fn smooth_signals_name_a_group_whose_high_frequencies_they_do_not_have() {
        let wave = |exemplar: usize, n: usize| -> f64 {
            let waves = (1..=5).map(|h| {
                let (size, phase) = (1 + exemplar * h % 7, exemplar * (3 + h * h));
                size as f64 * (TAU * (h * n) as f64 / 32.0 + phase as f64).cos()
            });
            waves.sum()
        };
        let samples = Array2::from_shape_fn((40, 32), |(exemplar, n)| wave(exemplar, n) as f32);
        let orbits = Orbits::transformed(samples, Transform::Translate1d).unwrap();
        let mut trainer = Trainer::new(&orbits, &options(LossName::Spectral)).unwrap();
        while trainer.step().unwrap().is_some() {}
        let found = trainer.recognise().unwrap();
        assert_eq!((found.group.to_string(), found.known), ("Z32".into(), 10));
    }

    #[test]
    fn a_run_that_stalls_begins_again_and_keeps_the_best() {
        let mut options = options(LossName::SecondOrder);
        (options.phases[0].steps, options.restarts) = (3, Some(2));
        let mut trainer = Trainer::new(&orbits("Z6"), &options).unwrap();
        let mut ends = Vec::new();
        while let Some(step) = trainer.step().unwrap() {
            if step.step == 3 {
                ends.push((step.attempt, step.invariance));
            }
        }
        let attempts: Vec<u32> = ends.iter().map(|end| end.0).collect();
        assert_eq!((attempts, trainer.attempts()), (vec![1, 2, 3], 3));
        let best = ends.iter().map(|end| end.1).fold(f64::INFINITY, f64::min);
        let kept = trainer.kept.as_ref().unwrap();
        assert_eq!(kept.invariance, best);
        assert_eq!(kept.weights, trainer.parts());
    }
}
