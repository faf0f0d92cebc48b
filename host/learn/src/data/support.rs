//! The inputs that carry anything: those that are not zero in every member.

use super::orbits::Orbits;
use super::rotate::disk;
use super::transform::Action;
use std::sync::Arc;

impl Orbits {
    /// The same orbits without inputs that are zero in every member, such as the corners around a disk; and the
    /// numbers of those that are left. Noise is everywhere, so it leaves all.
    #[must_use]
    pub fn supported(&self) -> (Self, Arc<[usize]>) {
        let inputs = self.samples.ncols();
        let excited: Vec<bool> = match (&self.noise, &*self.action) {
            (None, Action::Rotate(_)) => disk(inputs.isqrt()),
            (None, Action::Given) => {
                let column = |n| self.samples.column(n).iter().any(|&x| x != 0.0);
                (0..inputs).map(column).collect()
            }
            _ => vec![true; inputs],
        };
        let support: Arc<[usize]> = (0..inputs).filter(|&n| excited[n]).collect();
        let orbits = Orbits {
            support: (support.len() < inputs).then(|| Arc::clone(&support)),
            ..self.clone()
        };
        (orbits, support)
    }

    /// The same with every input.
    #[must_use]
    pub fn with_all_inputs(&self) -> Self {
        Orbits {
            support: None,
            ..self.clone()
        }
    }
}

/// The inputs of `all` that are left, into `out`.
///
/// # Panics
/// `out` is of another length.
pub(super) fn gather(all: &[f32], support: &[usize], out: &mut [f32]) {
    assert_eq!(out.len(), support.len(), "as many as inputs");
    let places = out.iter_mut().zip(support);
    places.for_each(|(out, &input)| *out = all[input]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::orbits::Transform;
    use crate::data::orbits::tests::member;
    use ndarray::Array2;

    #[test]
    fn inputs_that_are_always_zero_can_be_left_out() {
        let images = Array2::from_shape_fn((2, 64), |(row, n)| (7 * n % 13 + row) as f32);
        let turn = Transform::Rotate {
            size: 8,
            fraction: 1.0,
            seed: 0,
        };
        let samples = ndarray::arr2(&[
            [0.0, 1.0, 2.0],
            [0.0, 5.0, 0.0],
            [0.0, 2.0, 1.0],
            [0.0, 0.0, 5.0],
        ]);
        for (orbits, left) in [
            (Orbits::transformed(images.clone(), turn).unwrap(), 32),
            (
                Orbits::transformed(images, Transform::Translate1d).unwrap(),
                64,
            ),
            (Orbits::labelled(samples, &[1, 2, 1, 2]).unwrap(), 2),
        ] {
            let (fewer, support) = orbits.supported();
            assert_eq!((fewer.inputs(), support.len()), (left, left));
            let (all, some) = (member(&orbits, 1, 1), member(&fewer, 1, 1));
            assert!(support.iter().zip(&some).all(|(&n, x)| all[n] == *x));
            let rest = (0..orbits.inputs()).filter(|n| !support.contains(n));
            assert!(rest.into_iter().all(|n| all[n] == 0.0));
        }
    }
}
