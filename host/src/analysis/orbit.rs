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
