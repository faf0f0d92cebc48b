//! The invariance-based attack: signals that share a target's representation, made from noise. Are they in its orbit?
//!
//! A representation that loses nothing but the orbit has no others; one that loses more has as many as one likes.

use super::descent::{Progress, Settings, descend};
use super::orbit::Motions;
use super::representation::Representation;
use crate::Result;
use crate::numeric::random::{Purpose, stream_at};
use ndarray::{Array2, ArrayView2};
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use serde::Serialize;

/// Copies by which a target's bounds are had, where motions are not exact.
const COPIES: usize = 24;

/// How an attack is made.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Of every descent.
    pub descent: Settings,
    /// How often it begins again from other noise where the target's representation was not reached.
    pub restarts: u32,
    /// Of the noise.
    pub seed: u64,
}

/// What counts as a target's representation, and as its orbit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bounds {
    /// The largest ‖f(x̃) − f(x)‖ of a signal that has reached the target's representation.
    pub reached: f64,
    /// The largest distance from the target's orbit of a signal that is in it.
    pub inside: f64,
}

/// What came of an attack.
#[derive(Debug, Clone, PartialEq)]
pub struct Attacked {
    /// The signal for every target whose representation came nearest.
    pub metamers: Array2<f32>,
    /// ‖f(x̃) − f(x)‖ of each.
    pub distances: Vec<f64>,
    /// Steps of all descents.
    pub steps: usize,
}

/// Where one attack led.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ending {
    /// ‖f(x̃) − f(x)‖.
    pub representation: f64,
    /// Whether that is the target's representation.
    pub reached: bool,
    /// ‖c·g·x̃ − x‖/‖x‖ for the best element g and scale c.
    pub orbit: f64,
    /// Whether that is in the target's orbit.
    pub inside: bool,
    /// Whether no other target's orbit is as near.
    pub nearest: bool,
    /// The number of the best element; degrees of a rotation.
    pub motion: usize,
    /// What this was measured by.
    pub bounds: Bounds,
    /// c·g·x̃.
    #[serde(skip)]
    pub moved: Vec<f32>,
}

/// The bounds of every target where motions are not exact: what its own moved copies are measured at.
///
/// On a grid of pixels a rotation is not quite undone by turning back, and a learned representation changes a little on
/// the way. So a signal has reached a target's representation where it is as near as half of the target's own
/// copies are, and is in its orbit where, turned back, it is no further from the target than the copies are, turned
/// back.
///
/// # Errors
/// The representation refuses a signal.
pub fn bounds_of_copies(
    representation: &mut impl Representation,
    targets: &ArrayView2<'_, f32>,
    motions: &Motions,
) -> Result<Vec<Bounds>> {
    let inputs = targets.ncols();
    let mut gradient = vec![0.0; COPIES * inputs];
    let mut bounds = Vec::with_capacity(targets.nrows());
    for (place, target) in targets.rows().into_iter().enumerate() {
        let target = target.to_vec();
        let mut copies = vec![0.0; COPIES * inputs];
        for (k, copy) in copies.chunks_exact_mut(inputs).enumerate() {
            // Between the quarter turns, all of which are exact.
            let motion = (2 * k + 1) * motions.count() / (2 * COPIES);
            motions.apply(motion, &target, copy);
        }
        let mut squares = representation.approach(&copies, &[place; COPIES], &mut gradient)?;
        squares.sort_by(f64::total_cmp);
        let orbit = copies.par_chunks_exact(inputs);
        let orbit = orbit.map(|copy| motions.nearest(copy, &target).distance);
        bounds.push(Bounds {
            reached: squares[COPIES / 2].sqrt(),
            inside: orbit.reduce(|| 0.0, f64::max),
        });
    }
    Ok(bounds)
}

/// Attacks every target of `representation`; again from other noise where it was not reached, as `bounds` say.
///
/// # Errors
/// The representation refuses a signal, or `observe` failed.
pub fn attack(
    representation: &mut impl Representation,
    bounds: &[Bounds],
    plan: &Plan,
    mut observe: impl FnMut(u32, Progress) -> Result<()>,
) -> Result<Attacked> {
    let (targets, inputs) = (representation.targets(), representation.inputs());
    let mut attacked = Attacked {
        metamers: Array2::zeros((targets, inputs)),
        distances: vec![f64::INFINITY; targets],
        steps: 0,
    };
    for round in 0..=plan.restarts {
        let distances = attacked.distances.iter().zip(bounds);
        let open = distances.enumerate();
        let open = open.filter(|(_, (distance, bounds))| **distance > bounds.reached);
        let open: Vec<usize> = open.map(|(target, _)| target).collect();
        if open.is_empty() {
            break;
        }
        let starts = noise(plan, round, &open, inputs);
        let settings = &plan.descent;
        let starts = starts.view();
        let told = |progress| observe(round, progress);
        let found = descend(representation, &open, &starts, settings, told)?;
        attacked.steps += found.steps;
        let found = found.distances.iter().zip(found.signals.rows());
        for (&target, (&distance, signal)) in open.iter().zip(found) {
            if distance < attacked.distances[target] {
                attacked.distances[target] = distance;
                attacked.metamers.row_mut(target).assign(&signal);
            }
        }
    }
    Ok(attacked)
}

/// Gaussian noise for each of some targets, on the support.
fn noise(plan: &Plan, round: u32, targets: &[usize], inputs: usize) -> Array2<f32> {
    let mut starts = Array2::zeros((targets.len(), inputs));
    for (&target, mut start) in targets.iter().zip(starts.rows_mut()) {
        let place = [target as u64, u64::from(round)];
        let mut random = stream_at(plan.seed, Purpose::Starts, place);
        for (n, x) in start.iter_mut().enumerate() {
            let drawn = random.sample(StandardNormal);
            let inside = plan.descent.support.get(n).copied().unwrap_or(true);
            *x = if inside { drawn } else { 0.0 };
        }
    }
    starts
}

/// Where the attacks on `targets` led.
///
/// # Panics
/// There are not as many targets, attacks and bounds.
#[must_use]
pub fn judge(
    attacked: &Attacked,
    targets: &ArrayView2<'_, f32>,
    motions: &Motions,
    bounds: &[Bounds],
) -> Vec<Ending> {
    let targets: Vec<Vec<f32>> = targets.rows().into_iter().map(|row| row.to_vec()).collect();
    let metamers: Vec<Vec<f32>> = attacked
        .metamers
        .rows()
        .into_iter()
        .map(|row| row.to_vec())
        .collect();
    (0..targets.len())
        .into_par_iter()
        .map(|k| {
            let own = motions.nearest(&metamers[k], &targets[k]);
            let mut others = (0..targets.len()).filter(|&other| other != k);
            let bounds = bounds[k];
            Ending {
                representation: attacked.distances[k],
                reached: attacked.distances[k] <= bounds.reached,
                orbit: own.distance,
                inside: own.distance <= bounds.inside,
                nearest: others.all(|other| {
                    motions.nearest(&metamers[k], &targets[other]).distance > own.distance
                }),
                motion: own.motion,
                bounds,
                moved: own.moved,
            }
        })
        .collect()
}

/// All endings of one attack.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Summary {
    /// Attacks.
    pub targets: usize,
    /// Those that reached the target's representation.
    pub reached: usize,
    /// Those of them in the target's orbit.
    pub inside: usize,
    /// Those of them with no other target's orbit as near.
    pub nearest: usize,
    /// The median distance from the orbit, of those that reached.
    pub median_orbit: Option<f64>,
    /// The largest.
    pub largest_orbit: Option<f64>,
}

impl Summary {
    /// Of `endings`.
    #[must_use]
    pub fn of(endings: &[Ending]) -> Self {
        let reached = || endings.iter().filter(|ending| ending.reached);
        let mut orbit: Vec<f64> = reached().map(|ending| ending.orbit).collect();
        orbit.sort_by(f64::total_cmp);
        Summary {
            targets: endings.len(),
            reached: orbit.len(),
            inside: reached().filter(|ending| ending.inside).count(),
            nearest: reached().filter(|ending| ending.nearest).count(),
            median_orbit: orbit.get(orbit.len() / 2).copied(),
            largest_orbit: orbit.last().copied(),
        }
    }

    /// Of a hundred attacks that reached the target's representation, so many are in its orbit; none where none reached.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        (self.reached > 0).then(|| 100.0 * self.inside as f64 / self.reached as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ending(reached: bool, inside: bool, orbit: f64) -> Ending {
        Ending {
            representation: 0.0,
            reached,
            orbit,
            inside,
            nearest: inside,
            motion: 0,
            bounds: Bounds {
                reached: 0.0,
                inside: 0.0,
            },
            moved: Vec::new(),
        }
    }

    #[test]
    fn only_attacks_that_reached_their_target_count() {
        let found = Summary::of(&[
            ending(true, true, 0.1),
            ending(false, true, 0.0),
            ending(true, false, 0.9),
            ending(true, true, 0.2),
            ending(false, false, 5.0),
        ]);
        assert_eq!(
            (found.targets, found.reached, found.inside, found.nearest),
            (5, 3, 2, 2)
        );
        assert_eq!(
            (found.median_orbit, found.largest_orbit),
            (Some(0.2), Some(0.9))
        );
        assert_eq!(found.share(), Some(200.0 / 3.0));
        let none = Summary::of(&[ending(false, true, 0.0)]);
        assert_eq!((none.share(), none.median_orbit), (None, None));
    }

    #[test]
    fn the_noise_of_a_target_does_not_depend_on_the_others() {
        let plan = Plan {
            descent: Settings {
                support: vec![true, false, true],
                ..Settings::default()
            },
            restarts: 0,
            seed: 3,
        };
        let all = noise(&plan, 1, &[0, 1, 2], 3);
        assert_eq!(noise(&plan, 1, &[2], 3).row(0), all.row(2));
        assert_ne!(noise(&plan, 2, &[2], 3).row(0), all.row(2));
        assert!(all.column(1).iter().all(|&x| x == 0.0));
        assert!(all.column(2).iter().all(|&x| x != 0.0));
    }
}
