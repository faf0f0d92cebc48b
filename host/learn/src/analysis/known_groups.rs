//! Groups that people know, tried on labelled orbits: all cyclic shifts, shifts of an image in both directions, quarter turns,
//! the mirror. Whatever was learned should do no worse.
//!
//! Of a group G and signals a, b of unit length, min_g ‖g·a − b‖² is what the best element leaves of b: zero where a and b are
//! one thing, moved by G, and 2 of signals that have nothing to do with each other.

use super::evaluation::{Evaluation, evaluate};
use crate::data::group::Group;
use crate::data::orbits::Orbits;
use crate::model::file::ModelBytes;
use crate::numeric::random::{Purpose, stream};
use bispectral_core::Complex32;
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Pairs of members that are aligned, within orbits and between them.
const PAIRS: usize = 200;
/// A pair is explained where its best element leaves less than this: 20 % of noise in both leaves 0.08.
pub const EXPLAINED: f64 = 0.2;
/// More inputs are not tried: aligning takes the square of them.
const MOST_INPUTS: usize = 1024;
/// Images have at least so many pixels a side.
const LEAST_SIDE: usize = 3;

/// A group by what it does to a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "motion", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum KnownGroup {
    /// All cyclic shifts of a signal.
    Shifts {
        /// Its values.
        inputs: usize,
    },
    /// All cyclic shifts of an image.
    ImageShifts {
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
    },
    /// Quarter turns of a square image.
    QuarterTurns {
        /// Pixels of its side.
        side: usize,
    },
    /// The signal read backwards.
    Reversal {
        /// Its values.
        inputs: usize,
    },
    /// The image, mirrored left to right.
    Mirror {
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
    },
}

/// How a known group does on orbits.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Trial {
    /// Which.
    #[serde(flatten)]
    pub group: KnownGroup,
    /// Its name, as one of commutative groups.
    pub name: String,
    /// What the best element leaves of another member of the same orbit, on average.
    pub aligned_within: f64,
    /// What it leaves of a member of another orbit.
    pub aligned_between: f64,
    /// The share of pairs within orbits of which it leaves less than [`EXPLAINED`].
    pub explained: f64,
    /// The exact invariants on the orbits that were held out, of groups that are moved by as many elements as there are inputs.
    pub evaluation: Option<Evaluation>,
}

impl KnownGroup {
    /// Those that may move signals of this length; of an image's height and width where that is known, and of a square one
    /// where there may be one.
    #[must_use]
    pub fn of(inputs: usize, image: Option<(usize, usize)>) -> Vec<Self> {
        if !(2..=MOST_INPUTS).contains(&inputs) {
            return Vec::new();
        }
        let side = inputs.isqrt();
        let square = (side * side == inputs).then_some((side, side));
        let image = image.or(square).filter(|&(height, width)| {
            height * width == inputs && height >= LEAST_SIDE && width >= LEAST_SIDE
        });
        let mut all = vec![
            KnownGroup::Shifts { inputs },
            KnownGroup::Reversal { inputs },
        ];
        if let Some((height, width)) = image {
            all.push(KnownGroup::ImageShifts { height, width });
            all.push(KnownGroup::Mirror { height, width });
            if height == width {
                all.push(KnownGroup::QuarterTurns { side: height });
            }
        }
        all
    }

    /// The cyclic factors of a group that acts regularly; of the others nothing.
    fn regular(self) -> Option<Group> {
        let factors = match self {
            KnownGroup::Shifts { inputs } => vec![inputs],
            KnownGroup::ImageShifts { height, width } => vec![height, width],
            _ => return None,
        };
        Group::new(factors).ok()
    }

    /// Its name, as one of commutative groups.
    #[must_use]
    pub fn name(self) -> String {
        match (self.regular(), self) {
            (Some(group), _) => group.to_string(),
            (None, KnownGroup::QuarterTurns { .. }) => "Z4".into(),
            (None, _) => "Z2".into(),
        }
    }

    /// The exact characters as a model called `name`; of groups that do not act regularly nothing.
    #[must_use]
    pub fn model(self, name: &str) -> Option<ModelBytes> {
        let group = self.regular()?;
        let w = group.characters();
        let w = w.mapv(|w| Complex32::new(w.re as f32, w.im as f32));
        ModelBytes::of(&w.view(), name, Some(&group.to_string())).ok()
    }

    fn order(self) -> usize {
        match self {
            KnownGroup::Shifts { inputs } => inputs,
            KnownGroup::ImageShifts { height, width } => height * width,
            KnownGroup::QuarterTurns { .. } => 4,
            KnownGroup::Reversal { .. } | KnownGroup::Mirror { .. } => 2,
        }
    }

    /// Where the value at `k` comes from in a signal that `element` has moved.
    fn source(self, element: usize, k: usize) -> usize {
        match self {
            KnownGroup::Shifts { inputs } => (k + element) % inputs,
            KnownGroup::ImageShifts { height, width } => {
                let (down, right) = (element / width, element % width);
                (k / width + down) % height * width + (k % width + right) % width
            }
            KnownGroup::QuarterTurns { side } => {
                let quarter = |k: usize| k % side * side + (side - 1 - k / side);
                (0..element).fold(k, |k, _| quarter(k))
            }
            KnownGroup::Reversal { inputs } if element == 1 => inputs - 1 - k,
            KnownGroup::Mirror { width, .. } if element == 1 => {
                k / width * width + width - 1 - k % width
            }
            KnownGroup::Reversal { .. } | KnownGroup::Mirror { .. } => k,
        }
    }

    /// min_g ‖g·a − b‖² of signals of unit length.
    fn left(self, a: &[f32], b: &[f32]) -> f64 {
        let along = |element: usize| -> f64 {
            let terms = b.iter().enumerate();
            terms
                .map(|(k, b)| f64::from(a[self.source(element, k)]) * f64::from(*b))
                .sum()
        };
        let best = (0..self.order()).map(along).fold(-1.0, f64::max);
        (2.0 - 2.0 * best).max(0.0)
    }

    /// How it does on these orbits.
    #[must_use]
    pub fn tried(self, pairs: &Pairs, held_out: &Orbits) -> Trial {
        let left = |pairs: &[[Vec<f32>; 2]]| -> Vec<f64> {
            pairs.par_iter().map(|[a, b]| self.left(a, b)).collect()
        };
        let (within, between) = (left(&pairs.within), left(&pairs.between));
        let near = within.iter().filter(|left| **left < EXPLAINED).count();
        let model = self.model("");
        Trial {
            group: self,
            name: self.name(),
            aligned_within: mean(&within),
            aligned_between: mean(&between),
            explained: near as f64 / within.len().max(1) as f64,
            evaluation: model.and_then(|model| evaluate(&model.view(), held_out).ok()),
        }
    }
}

impl fmt::Display for KnownGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KnownGroup::Shifts { inputs } => write!(f, "all {inputs} cyclic shifts"),
            KnownGroup::ImageShifts { height, width } => {
                write!(f, "shifts of {height} × {width} images")
            }
            KnownGroup::QuarterTurns { side } => {
                write!(f, "quarter turns of {side} × {side} images")
            }
            KnownGroup::Reversal { .. } => f.write_str("signals read backwards"),
            KnownGroup::Mirror { height, width } => {
                write!(f, "mirror of {height} × {width} images")
            }
        }
    }
}

/// Pairs of members, all of unit length.
#[derive(Debug, Clone)]
pub struct Pairs {
    /// Of one orbit.
    pub within: Vec<[Vec<f32>; 2]>,
    /// Of different orbits.
    pub between: Vec<[Vec<f32>; 2]>,
}

impl Pairs {
    /// Up to 200 of each kind, drawn by `seed`.
    #[must_use]
    pub fn of(orbits: &Orbits, seed: u64) -> Self {
        let mut random = stream(seed, Purpose::Permutations);
        let (mut within, mut between) = (Vec::new(), Vec::new());
        let several: Vec<usize> = (0..orbits.len())
            .filter(|&o| orbits.members(o) > 1)
            .collect();
        for k in 0..PAIRS {
            if !several.is_empty() {
                let orbit = several[k % several.len()];
                let members = orbits.members(orbit);
                let a = random.random_range(0..members);
                let b = (a + random.random_range(1..members)) % members;
                within.push([member(orbits, orbit, a), member(orbits, orbit, b)]);
            }
            if orbits.len() > 1 {
                let a = k % orbits.len();
                let b = (a + random.random_range(1..orbits.len())) % orbits.len();
                let [x, y] = [a, b].map(|o| (o, random.random_range(0..orbits.members(o))));
                between.push([member(orbits, x.0, x.1), member(orbits, y.0, y.1)]);
            }
        }
        Pairs { within, between }
    }

    /// What shifts that are not cyclic leave, on average over pairs within orbits: the best over all overlaps of at least
    /// `least` of a signal's values, each compared where both signals are.
    #[must_use]
    pub fn left_by_windows(&self, least: f64) -> f64 {
        let left: Vec<f64> = self
            .within
            .par_iter()
            .map(|[a, b]| windows(a, b, least).min(windows(b, a, least)))
            .collect();
        mean(&left)
    }
}

/// The least of ‖a[s..] − b[..N−s]‖² over what both have, as a share of the mean of their squares.
fn windows(a: &[f32], b: &[f32], least: f64) -> f64 {
    let values = a.len();
    let overlap = ((least * values as f64).ceil() as usize).clamp(1, values);
    let left = (0..=values - overlap).map(|shift| {
        let pairs = a[shift..].iter().zip(&b[..values - shift]);
        let (mut difference, mut squares) = (0.0, 0.0);
        for (a, b) in pairs {
            let (a, b) = (f64::from(*a), f64::from(*b));
            difference += (a - b) * (a - b);
            squares += 0.5 * (a * a + b * b);
        }
        if squares > 0.0 {
            difference / squares
        } else {
            2.0
        }
    });
    left.fold(2.0, f64::min)
}

fn member(orbits: &Orbits, orbit: usize, member: usize) -> Vec<f32> {
    let mut x = vec![0.0; orbits.inputs()];
    orbits.write_member(orbit, member, &mut x);
    let length = x
        .iter()
        .map(|&x| f64::from(x) * f64::from(x))
        .sum::<f64>()
        .sqrt();
    if length > 0.0 {
        x.iter_mut()
            .for_each(|x| *x = (f64::from(*x) / length) as f32);
    }
    x
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    /// Twenty random images of 5 × 5, each under all elements of `group`.
    fn orbits(group: KnownGroup) -> Orbits {
        let exemplars = Orbits::of_group(&"Z25".parse().unwrap(), 20, 3);
        let order = group.order();
        let samples = Array2::from_shape_fn((20 * order, 25), |(row, k)| {
            exemplars.exemplar(row / order)[group.source(row % order, k)]
        });
        let labels: Vec<i64> = (0..20 * order as i64)
            .map(|row| row / order as i64)
            .collect();
        Orbits::labelled(samples, &labels).unwrap()
    }

    #[test]
    fn of_the_known_groups_the_one_that_moves_the_data_explains_it() {
        let all = KnownGroup::of(25, None);
        assert_eq!(all.len(), 5);
        for &moves in &all {
            let orbits = orbits(moves);
            let pairs = Pairs::of(&orbits, 0);
            for &group in &all {
                let trial = group.tried(&pairs, &orbits);
                // Half a turn reads the pixels backwards.
                let half = matches!(
                    (moves, group),
                    (KnownGroup::Reversal { .. }, KnownGroup::QuarterTurns { .. })
                );
                let explains = group == moves || half;
                assert_eq!(trial.explained > 0.9, explains, "{moves:?}: {trial:?}");
                if let (Some(found), true) = (trial.evaluation, group == moves) {
                    assert!(found.within < 1e-9 && found.nearest == 1.0, "{found:?}");
                }
            }
        }
    }

    #[test]
    fn images_that_are_not_square_are_tried_where_their_shape_is_known() {
        let shapes = |image| {
            let all = KnownGroup::of(12, image);
            all.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let signals = ["all 12 cyclic shifts", "signals read backwards"];
        assert_eq!(shapes(None), signals);
        assert_eq!(
            shapes(Some((3, 4)))[2..],
            ["shifts of 3 × 4 images", "mirror of 3 × 4 images"]
        );
        assert_eq!(KnownGroup::of(12, Some((3, 4)))[2].name(), "Z3xZ4");
    }
}
