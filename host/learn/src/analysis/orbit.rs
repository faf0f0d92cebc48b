//! How far a signal is from another one's orbit: min over g and c > 0 of ‖c·g·x − y‖ / ‖y‖.
//!
//! For a given g the best scale is c = ⟨gx, y⟩/‖gx‖², or nothing of gx at all where that is negative. A recognised
//! group moves inputs: its elements are permutations, and all are tried. Rotations are those of the pixel grid, in whole
//! degrees inside the disk: all are tried, of x and of y, because either may be the smoother one.

use crate::data::rotate::{DEGREES, Rotation};
use crate::group::identify::Identification;
use rayon::prelude::*;

/// What moves signals.
#[derive(Debug)]
pub enum Motions {
    /// Each element as the input that every input comes from.
    Permutations(Vec<Vec<usize>>),
    /// Rotations by 0, 1, … degrees.
    Rotations(Vec<Rotation>),
}

/// The place in an orbit that is nearest.
#[derive(Debug, Clone, PartialEq)]
pub struct Nearest {
    /// ‖c·g·x − y‖ / ‖y‖: 0 in the orbit, 1 for what has nothing in common with it.
    pub distance: f64,
    /// The number of the motion, in degrees for rotations.
    pub motion: usize,
    /// c·g·x.
    pub moved: Vec<f32>,
}

impl Motions {
    /// The elements of a recognised group, as they move inputs.
    ///
    /// Inputs at one place of the group, of which a quotient has several, stay beside each other in their order.
    #[must_use]
    pub fn of_group(found: &Identification) -> Self {
        let (group, positions) = (&found.group, &found.positions);
        let mut at = vec![Vec::new(); group.order()];
        let mut rank = Vec::with_capacity(positions.len());
        for (input, &place) in positions.iter().enumerate() {
            rank.push(at[place].len());
            at[place].push(input);
        }
        let element = |g: usize| {
            let from = positions.iter().zip(&rank);
            from.map(|(&place, &rank)| at[group.add(place, g)][rank])
                .collect()
        };
        Motions::Permutations((0..group.order()).map(element).collect())
    }

    /// Rotations of `size` × `size` pixels inside the disk.
    ///
    /// # Panics
    /// `size` is less than 2 or more than 65,535.
    #[must_use]
    pub fn rotations(size: usize) -> Self {
        let degrees = (0..DEGREES).into_par_iter();
        Motions::Rotations(degrees.map(|by| Rotation::in_disk(size, by)).collect())
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            Motions::Permutations(elements) => elements.len(),
            Motions::Rotations(rotations) => rotations.len(),
        }
    }

    /// Writes g·x to `moved`.
    ///
    /// # Panics
    /// There is no such motion, or a slice has another length than signals have.
    pub fn apply(&self, motion: usize, x: &[f32], moved: &mut [f32]) {
        match self {
            Motions::Permutations(elements) => {
                for (to, &from) in moved.iter_mut().zip(&elements[motion]) {
                    *to = x[from];
                }
            }
            Motions::Rotations(rotations) => rotations[motion].apply(x, moved),
        }
    }

    /// The place in the orbit of `x`, scaled, that is nearest to `y`.
    ///
    /// # Panics
    /// The signals have another length than these motions are of.
    #[must_use]
    pub fn nearest(&self, x: &[f32], y: &[f32]) -> Nearest {
        let mut moved = vec![0.0; x.len()];
        let mut best = (f64::INFINITY, 0, 0.0);
        for motion in 0..self.count() {
            self.apply(motion, x, &mut moved);
            let (distance, scale) = scaled_distance(&moved, y);
            if distance < best.0 {
                best = (distance, motion, scale);
            }
        }
        let (distance, motion, scale) = best;
        self.apply(motion, x, &mut moved);
        moved.iter_mut().for_each(|x| *x *= scale as f32);
        Nearest {
            distance,
            motion,
            moved,
        }
    }
}

/// min over c ≥ 0 of ‖c·x − y‖/‖y‖, and that c.
#[must_use]
pub fn scaled_distance(x: &[f32], y: &[f32]) -> (f64, f64) {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        let terms = a.iter().zip(b);
        terms.map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
    };
    let (own, whole) = (dot(x, x), dot(y, y));
    let scale = if own > 0.0 {
        dot(x, y).max(0.0) / own
    } else {
        0.0
    };
    // From the differences: what is left of 1 − cos² has no digits for signals that are nearly equal.
    let terms = x.iter().zip(y);
    let rest: f64 = terms
        .map(|(&x, &y)| (scale * f64::from(x) - f64::from(y)).powi(2))
        .sum();
    (
        if whole > 0.0 {
            (rest / whole).sqrt()
        } else {
            0.0
        },
        scale,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::group::Group;
    use crate::group::identify::identify;
    use num_complex::Complex32;

    fn motions(group: &str, rows: &[usize]) -> Motions {
        let w = group.parse::<Group>().unwrap().characters();
        let w = w.select(ndarray::Axis(0), rows);
        let w = w.mapv(|w| Complex32::new(w.re as f32, w.im as f32));
        Motions::of_group(&identify(&w.view()).unwrap())
    }

    #[test]
    fn a_moved_and_scaled_signal_is_in_the_orbit_and_is_moved_back() {
        let motions = motions("Z4xZ2", &[0, 1, 2, 3, 4, 5, 6, 7]);
        let signal = [3.0, 1.0, 0.0, -1.0, 0.5, 2.0, -4.0, 1.5];
        let mut moved = [0.0; 8];
        for motion in 0..motions.count() {
            motions.apply(motion, &signal, &mut moved);
            let scaled = moved.map(|x| 7.0 * x);
            let found = motions.nearest(&scaled, &signal);
            assert!(found.distance < 1e-7, "{found:?}");
            let back = found.moved.iter().zip(signal);
            assert!(back.into_iter().all(|(a, b)| (a - b).abs() < 1e-6));
        }
        // All elements, once each.
        let Motions::Permutations(elements) = &motions else {
            unreachable!()
        };
        let firsts: std::collections::BTreeSet<_> = elements.iter().map(|e| e[0]).collect();
        assert_eq!(firsts.len(), 8);
    }

    #[test]
    fn the_opposite_of_a_signal_has_nothing_in_common_with_its_orbit() {
        let motions = motions("Z3", &[0, 1, 2]);
        let found = motions.nearest(&[-1.0, -1.0, -1.0], &[2.0, 2.0, 2.0]);
        assert_eq!((found.distance, found.moved), (1.0, vec![0.0; 3]));
        assert_eq!(scaled_distance(&[0.0, 0.0], &[3.0, 4.0]), (1.0, 0.0));
    }

    #[test]
    fn a_quotient_moves_its_inputs_in_groups() {
        // Characters of Z4 that are one on {0, 2}: two elements of two inputs each.
        let motions = motions("Z4", &[0, 2]);
        let Motions::Permutations(elements) = &motions else {
            unreachable!()
        };
        assert_eq!(*elements, [vec![0, 1, 2, 3], vec![1, 0, 3, 2]]);
    }

    #[test]
    fn quarter_turns_are_in_the_orbit_and_other_turns_nearly() {
        let motions = Motions::rotations(8);
        let signal: Vec<f32> = (0..64).map(|n| ((n / 8 * 3 + n % 8) % 11) as f32).collect();
        let mut image = vec![0.0; 64];
        motions.apply(0, &signal, &mut image);
        let turned = |degrees: usize| {
            let mut turned = vec![0.0; 64];
            motions.apply(degrees, &image, &mut turned);
            motions.nearest(&turned, &image)
        };
        let quarter = turned(90);
        assert!(
            quarter.distance < 1e-6 && quarter.motion == 270,
            "{quarter:?}"
        );
        let other = turned(130);
        assert!((0.01..0.5).contains(&other.distance), "{other:?}");
    }
}
