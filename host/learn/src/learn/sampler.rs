//! Batches: M random members of each of some random orbits.
//!
//! The batch of a step is a function of seed, phase and step alone, so a resumed run draws what it would have drawn.

use crate::data::orbits::Orbits;
use rand::seq::index;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Which steps' batches: the seed and the number of the phase.
#[derive(Debug, Clone, Copy)]
pub struct Sampler {
    /// Of the run.
    pub seed: u64,
    /// Counted from zero.
    pub phase: u64,
    /// Orbits in a batch.
    pub orbits: usize,
    /// Members of each.
    pub members: usize,
}

/// Samples of some orbits, one orbit behind the other.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// B·N numbers, sample after sample.
    pub samples: Vec<f32>,
    /// How many samples each orbit has.
    pub sizes: Vec<usize>,
}

impl Sampler {
    /// The batch of `step`, into `batch`. Fewer orbits or members than asked for where there are not so many.
    pub fn draw(&self, orbits: &Orbits, step: u64, batch: &mut Batch) {
        let mut random = self.random(step);
        let inputs = orbits.inputs();
        batch.samples.clear();
        batch.sizes.clear();
        let chosen = index::sample(&mut random, orbits.len(), self.orbits.min(orbits.len()));
        for orbit in chosen {
            let members = orbits.members(orbit);
            let count = self.members.min(members);
            for member in index::sample(&mut random, members, count) {
                let from = batch.samples.len();
                batch.samples.resize(from + inputs, 0.0);
                orbits.write_member(orbit, member, &mut batch.samples[from..]);
            }
            batch.sizes.push(count);
        }
    }

    /// A generator of its own for every step: seed, phase and step are the words of its key.
    fn random(&self, step: u64) -> impl Rng + use<> {
        let mut key = [0; 32];
        for (place, word) in key.chunks_exact_mut(8).zip([self.seed, self.phase, step]) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        ChaCha8Rng::from_seed(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::group::Group;

    fn draw(seed: u64, phase: u64, step: u64, members: usize) -> Batch {
        let group: Group = "Z6".parse().unwrap();
        let sampler = Sampler {
            seed,
            phase,
            orbits: 4,
            members,
        };
        let mut batch = Batch::default();
        sampler.draw(&Orbits::of_group(&group, 9, 0), step, &mut batch);
        batch
    }

    #[test]
    fn a_batch_is_a_function_of_seed_phase_and_step() {
        let samples = |seed, phase, step| draw(seed, phase, step, 3).samples;
        assert_eq!(samples(1, 0, 7), samples(1, 0, 7));
        for other in [samples(2, 0, 7), samples(1, 1, 7), samples(1, 0, 8)] {
            assert_ne!(samples(1, 0, 7), other);
        }
    }

    #[test]
    fn an_orbit_gives_distinct_members_and_no_more_than_it_has() {
        let batch = draw(0, 0, 0, 100);
        assert_eq!(batch.sizes, [6; 4]);
        for orbit in batch.samples.chunks_exact(6 * 6) {
            let mut firsts: Vec<f32> = orbit.chunks_exact(6).map(|member| member[0]).collect();
            firsts.sort_by(f32::total_cmp);
            firsts.dedup();
            assert_eq!(firsts.len(), 6);
        }
    }
}
