//! How a phase ends: with the whole run where W is the characters of a group, in the next phase, or, where the run has
//! stalled, in another attempt from another start.

use super::checkpoint::Kept;
use super::sampler::{Batch, Sampler};
use super::trainer::{Trainer, random};
use crate::group::identify::{Identification, identify};
use crate::network::{Network, Objective};

/// A mean squared change of β̄ along orbits below this is an invariant, whatever it is called; stalled runs are at 0.1
/// to 0.4, converged ones below 1e-9.
const SETTLED: f64 = 1e-4;
/// Exact characters may change by so much more along orbits than W: what rounding to f32 does.
const ROUNDING: f64 = 1e-10;
/// And by no more than this in all: unrelated signals differ by 2. Another group has at least half of its characters
/// wrong (Z4xZ2's change by 0.6 along orbits of Z2xZ2xZ2); 20 % noise alone makes Z8's change by 0.17.
const CHANGE: f64 = 0.3;

impl Trainer<'_> {
    /// What W is the characters of, where exact ones would be invariant to no less than W is.
    ///
    /// # Errors
    /// Why there is no such group, in one line.
    pub fn recognise(&mut self) -> Result<Identification, String> {
        let w = self.weights();
        let found = identify(&w.view()).map_err(|refusal| refusal.to_string())?;
        let exact = Network::from_array(&found.exact().view());
        let sampler = Sampler {
            seed: self.seed(),
            phase: u64::MAX,
            orbits: 20,
            members: 5,
        };
        sampler.draw(self.orbits, 0, &mut self.batch);
        let Batch { samples, sizes } = &self.batch;
        let mut change = |network| {
            self.workspace
                .loss(network, samples, sizes, &Objective::default())
                .map(|loss| loss.invariance)
                .map_err(|error| error.to_string())
        };
        let (learned, exact) = (change(&self.network)?, change(&exact)?);
        if exact > learned + ROUNDING || exact > CHANGE {
            return Err(format!(
                "the characters of {} change by {exact:.1e} along orbits, W by {learned:.1e}",
                found.group
            ));
        }
        Ok(found)
    }

    /// What follows the phase `number`, whose last step had this change along orbits.
    pub(super) fn end_phase(&mut self, number: usize, invariance: f64) {
        let last = self.config.phases.len();
        if self.config.polish && self.recognise().is_ok() {
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
            let (rows, inputs) = (self.network.rows(), self.network.inputs());
            self.network = random(rows, inputs, self.seed());
            self.begin(0);
        }
        self.kept = Some(best);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::group::Group;
    use crate::train::config::Config;
    use crate::train::phase::{LossName, Phase};
    use crate::train::source;

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

    #[test]
    fn a_group_is_recognised_only_where_its_characters_are_invariant() {
        let config = config("Z2xZ2xZ2", LossName::Spectral);
        let (training, _) = source::orbits(&config).unwrap();
        let mut trainer = Trainer::new(&config, &training);
        trainer.load(&characters("Z2xZ2xZ2"));
        assert_eq!(trainer.recognise().unwrap().group.to_string(), "Z2xZ2xZ2");
        trainer.load(&characters("Z4xZ2"));
        let why = trainer.recognise().unwrap_err();
        assert!(
            why.starts_with("the characters of Z4xZ2 change by "),
            "{why}"
        );
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
