//! How a phase ends: with the whole run where W is the characters of a group, in the next phase, or, where the run has
//! stalled, in another attempt from another start.

use super::checkpoint::Kept;
use super::phase::LossName;
use super::pruning::unsteadiness;
use super::sampler::{Batch, Sampler};
use super::trainer::{Trainer, random};
use crate::group::complete;
use crate::group::identify::{Identification, identify};
use crate::network::{Network, Objective};
use bispectral_core::Complex32;
use ndarray::Array2;
use rayon::prelude::*;

/// A mean squared change of β̄ along orbits below this is an invariant, whatever it is called; stalled runs are at 0.1
/// to 0.4, converged ones below 1e-9.
const SETTLED: f64 = 1e-4;
/// Exact characters may change by no more than this along orbits; unrelated signals differ by 2, and 20 % noise alone
/// makes those of Z8 change by 0.17.
const CHANGE: f64 = 0.3;
/// A group's elements must take one member of an orbit to another, but for this share of its square, on average over
/// the quarter of pairs where they do worst: another group of as many elements has half of them wrong, or more.
const RESIDUE: f64 = 0.15;

/// A row whose power changes by less than this share is a character's; noise changes by half.
const STEADY: f64 = 0.05;

impl Trainer<'_> {
    /// What W is the characters of, where the data is moved by that group.
    ///
    /// # Errors
    /// Why there is no such group, in one line.
    pub fn recognise(&mut self) -> Result<Identification, String> {
        self.recognise_rows(true)
    }

    /// As [`recognise`](Self::recognise); without `completing` every row must be a character.
    fn recognise_rows(&mut self, completing: bool) -> Result<Identification, String> {
        let sampler = Sampler {
            seed: self.seed(),
            phase: u64::MAX,
            orbits: 80,
            members: 4,
        };
        sampler.draw(self.orbits, 0, &mut self.batch);
        let w = self.weights();
        let found = identify(&w.view()).or_else(|refusal| {
            let completed = completing.then(|| self.completed(&w)).flatten();
            completed.ok_or_else(|| refusal.to_string())
        })?;
        let Batch { samples, sizes } = &self.batch;
        let residue = residue(&found, samples, sizes);
        if residue > RESIDUE {
            return Err(format!(
                "its rows are the characters of {}, but its elements leave {residue:.2} of what moves signals along orbits",
                found.group
            ));
        }
        let exact = Network::from_array(&found.exact().view());
        let loss = self
            .workspace
            .loss(&exact, samples, sizes, &Objective::default());
        let change = loss.map_err(|error| error.to_string())?.invariance;
        if change > CHANGE {
            return Err(format!(
                "its rows are the characters of {}, but these change by {change:.2} along orbits",
                found.group
            ));
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
        let last = self.config.phases.len();
        // What a gradient has not yet made a character, the next phase may.
        let phase = &self.config.phases[number];
        let completing = phase.loss == LossName::Spectral || number + 1 == last;
        if self.config.polish && self.recognise_rows(completing).is_ok() {
            return self.begin(last);
        }
        if number + 1 < last {
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
        let over = best.invariance < SETTLED || self.attempt >= self.config.restarts.unwrap_or(0);
        if over {
            self.load(&best.weights);
            self.begin(last);
        } else {
            self.attempt += 1;
            let inputs = self.network.inputs();
            let rows = self.config.rows.unwrap_or(inputs);
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
    use crate::train::config::Config;
    use crate::train::phase::Phase;
    use crate::train::source;
    use std::f64::consts::TAU;

    fn config(group: &str, loss: LossName) -> Config {
        let mut config = Config::default();
        config.data.group = Some(group.into());
        config.phases = vec![Phase::new(loss)];
        config
    }

    fn characters(group: &str) -> Vec<f32> {
        let w = group.parse::<Group>().unwrap().characters();
        let re = w.iter().map(|w| w.re as f32);
        re.chain(w.iter().map(|w| w.im as f32)).collect()
    }

    fn recognised(data: &Config, characters_of: &str) -> Result<String, String> {
        let (training, _) = source::orbits(data).unwrap();
        let mut trainer = Trainer::new(data, &training);
        trainer.load(&characters(characters_of));
        trainer.recognise().map(|found| found.group.to_string())
    }

    #[test]
    fn a_group_is_recognised_only_where_it_moves_the_data() {
        let groups = |order| crate::group::of_order(order).into_iter();
        for (moves, named) in [4, 8, 9, 12, 16].into_iter().flat_map(|order| {
            groups(order)
                .flat_map(move |moves| groups(order).map(move |named| (moves.clone(), named)))
        }) {
            for noise in [0.0, 0.15] {
                let mut config = config(&moves.to_string(), LossName::Spectral);
                config.data.noise = noise;
                let found = recognised(&config, &named.to_string());
                assert_eq!(found.is_ok(), moves == named, "{moves}, {named}: {found:?}");
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
        let config = config("Z32", LossName::Spectral);
        let mut trainer = Trainer::new(&config, &orbits);
        while trainer.step().unwrap().is_some() {}
        let found = trainer.recognise().unwrap();
        assert_eq!((found.group.to_string(), found.known), ("Z32".into(), 10));
    }

    #[test]
    fn a_run_that_stalls_begins_again_and_keeps_the_best() {
        let mut config = config("Z6", LossName::SecondOrder);
        (config.phases[0].steps, config.restarts) = (3, Some(2));
        let (training, _) = source::orbits(&config).unwrap();
        let mut trainer = Trainer::new(&config, &training);
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
