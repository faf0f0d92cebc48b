//! Random numbers that are a function of the seed: ChaCha with 8 rounds, a stream of its own for every purpose.
//!
//! `rand`, `rand_chacha` and `rand_distr` keep their values within a minor version; a test pins them across updates.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What the numbers are for. Draws for one purpose do not move when another draws more.
#[derive(Debug, Clone, Copy)]
pub enum Purpose {
    /// Random functions on a group.
    Exemplars,
    /// Which angles an exemplar is rotated by.
    Angles,
    /// Which patches are cut.
    Patches,
    /// What is held out.
    Split,
    /// How the moments of orbits are combined.
    Spectral,
    /// Noise on members.
    Noise,
    /// Filters of features that are pooled.
    Filters,
    /// Where an attack begins.
    Starts,
    /// Weights, batches and what is dropped of a classifier.
    Classifier,
    /// Which members are matched, and in what order.
    Permutations,
    /// Irreps, couplings and signals to test them on.
    Couplings,
}

/// The numbers of `seed` for `purpose`, from the beginning.
pub fn stream(seed: u64, purpose: Purpose) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(purpose as u64);
    random
}

/// The numbers of `seed` for `purpose` at a place of their own.
pub fn stream_at(seed: u64, purpose: Purpose, place: [u64; 2]) -> ChaCha8Rng {
    let mut key = [0; 32];
    let words = [seed, place[0], place[1], purpose as u64];
    for (to, word) in key.chunks_exact_mut(8).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, seq::index};
    use rand_distr::StandardNormal;

    #[test]
    fn numbers_stay_the_same_when_dependencies_are_updated() {
        let mut random = stream(3, Purpose::Exemplars);
        let normals: [f64; 3] = std::array::from_fn(|_| random.sample(StandardNormal));
        assert_eq!(
            normals,
            [0.43875618940787536, -1.128421964413239, -0.4192663050728368]
        );
        let chosen = index::sample(&mut stream(3, Purpose::Split), 1000, 5).into_vec();
        assert_eq!(chosen, [938, 544, 878, 69, 600]);
        let place = stream(3, Purpose::Patches).random_range(0..=496_usize);
        assert_eq!(place, 209);
    }
}
