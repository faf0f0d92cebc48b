//! How much memory training takes at the least: W and its optimiser, and of the phases the one that takes most. Whole
//! programs were seen to take up to three times that (Z512, `orbit-separation`: 0.36 GB).

use super::phase::{LossName, Phase};
use super::{LearnError, Options};
use crate::data::orbits::Orbits;
use crate::limits::memory;

/// Bytes that stay for every complex weight: W in f64 while it is drawn (16), W and its padded copy (16), the gradient (8),
/// Adam's two means (16) and the copy of a checkpoint (24).
const OF_WEIGHT: u64 = 80;
/// Bytes of a complex f32.
const COMPLEX: u64 = 8;

/// Bytes for training `rows` rows on `orbits`, at the least.
pub(super) fn needed(orbits: &Orbits, rows: usize, options: &Options) -> u64 {
    let (rows, inputs) = (rows as u64, orbits.inputs() as u64);
    let pairs = rows.saturating_mul(rows + 1) / 2;
    let largest = (0..orbits.len()).map(|orbit| orbits.members(orbit)).max();
    let of_phase = |phase: &Phase| {
        let members = phase.members.min(largest.unwrap_or(0));
        let batch = (phase.orbits.min(orbits.len()) as u64).saturating_mul(members as u64);
        let samples = batch.saturating_mul(rows + inputs).saturating_mul(COMPLEX);
        let square = inputs.saturating_mul(inputs);
        samples.saturating_add(match phase.loss {
            // z_ij of every pair and sample.
            LossName::OrbitSeparation => pairs.saturating_mul(batch).saturating_mul(COMPLEX),
            // The covariance, its eigenvectors and what is made of them, in f64.
            LossName::SecondOrder if phase.whiten => square.saturating_mul(32),
            LossName::SecondOrder => 0,
            // The values of an assignment, and the members that are matched.
            LossName::Permutations => square.saturating_mul(8),
            // The same in complex numbers.
            LossName::Spectral => square.saturating_mul(64),
            // Sums in f64 of up to 512 buckets of four parts, a quarter of a gigabyte at most.
            LossName::Moments => square.saturating_mul(4 * 512 * 8).min(1 << 28),
        })
    };
    let most = options.phases.iter().map(of_phase).max().unwrap_or(0);
    let weights = rows.saturating_mul(inputs).saturating_mul(OF_WEIGHT);
    weights.saturating_add(most)
}

/// Refuses what there is no memory for.
pub(super) fn check(orbits: &Orbits, rows: usize, options: &Options) -> Result<(), LearnError> {
    let what = format!("{rows} rows of W for {} inputs", orbits.inputs());
    memory::check("training", &what, needed(orbits, rows, options)).map_err(LearnError::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_grows_with_rows_and_never_overflows() {
        let orbits = Orbits::of_group(&"Z16".parse().unwrap(), 100, 0);
        let options = Options::default().resolved(orbits.motion()).unwrap();
        let small = needed(&orbits, 16, &options);
        assert!((10_000..10_000_000).contains(&small), "{small}");
        // 33,558,528 pairs of each sample of a batch.
        assert!(needed(&orbits, 8192, &options) > 10_000_000_000);
        assert_eq!(needed(&orbits, usize::MAX / 2, &options), u64::MAX);
    }
}
