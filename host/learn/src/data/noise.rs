//! Normal noise on the members of orbits.

use super::orbits::Orbits;
use crate::limits::MOST_NOISE;
use crate::numeric::random::{Purpose, stream_at};
use rand::RngExt;
use rand_distr::StandardNormal;

/// What is added to every member.
#[derive(Debug, Clone, Copy)]
pub(super) struct Noise {
    /// Its deviation, as a share of the member's root mean square.
    share: f64,
    seed: u64,
}

impl Orbits {
    /// The same orbits with normal noise on every member, of which `share` is the deviation as a share of the
    /// member's root mean square, up to [`MOST_NOISE`]. The noise of a member is a function of the seed: it is the same at every look.
    #[must_use]
    pub fn noisy(mut self, share: f64, seed: u64) -> Self {
        let share = share.min(MOST_NOISE);
        self.noise = (share > 0.0).then_some(Noise { share, seed });
        self
    }
}

impl Noise {
    /// Adds that of one member to `out`.
    pub(super) fn add(&self, exemplar: usize, element: usize, out: &mut [f32]) {
        let squares = out.iter().map(|&x| f64::from(x) * f64::from(x));
        let deviation = self.share * (squares.sum::<f64>() / out.len() as f64).sqrt();
        let mut random = stream_at(self.seed, Purpose::Noise, [exemplar as u64, element as u64]);
        for x in out {
            let noise = (deviation * random.sample::<f64, _>(StandardNormal)) as f32;
            // What is finite stays finite, however large it is.
            *x = (*x + noise).clamp(f32::MIN, f32::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::group::Group;
    use crate::data::orbits::tests::member;

    #[test]
    fn noise_leaves_every_number_finite() {
        let samples = ndarray::arr2(&[[3e38_f32, -3e38, 1.0], [1.0, 2.0, 3e38]]);
        let orbits = Orbits::transformed(&samples, crate::data::orbits::Transform::Translate1d);
        let noisy = orbits.unwrap().noisy(f64::INFINITY, 1);
        for of in 0..3 {
            assert!(member(&noisy, 0, of).iter().all(|x| x.is_finite()));
        }
    }

    #[test]
    fn noise_has_its_share_of_the_signal_and_is_the_same_at_every_look() {
        let group: Group = "Z32".parse().unwrap();
        let clean = Orbits::of_group(&group, 50, 4);
        let noisy = clean.clone().noisy(0.1, 9);
        let mut squares = [0.0; 2];
        for (orbit, of) in (0..50).flat_map(|orbit| [0, 7].map(|of| (orbit, of))) {
            let (x, y) = (member(&clean, orbit, of), member(&noisy, orbit, of));
            assert_eq!(y, member(&noisy, orbit, of));
            for (x, y) in x.iter().zip(&y) {
                squares[0] += f64::from(*x).powi(2);
                squares[1] += f64::from(y - x).powi(2);
            }
        }
        // 3200 numbers: four standard errors are 5 %.
        let share = (squares[1] / squares[0]).sqrt();
        assert!((share - 0.1).abs() < 0.005, "{share}");
        let added = |orbits: &Orbits, of| -> Vec<f32> {
            let pairs = member(orbits, 0, of).into_iter().zip(member(&clean, 0, of));
            pairs.map(|(y, x)| y - x).collect()
        };
        assert_ne!(added(&noisy, 0), added(&noisy, 1));
        assert_ne!(added(&noisy, 0), added(&clean.clone().noisy(0.1, 8), 0));
    }
}
