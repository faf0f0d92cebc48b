//! Are the invariants of held-out orbits invariant, do they tell orbits apart, and does W lose anything?

use crate::data::orbits::Orbits;
use crate::model::file::weights;
use crate::numeric::dual::dual;
use crate::{Error, Result};
use bispectral_core::format::Structure;
use bispectral_core::{Complex32, Model};
use ndarray::Array2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Orbits that are looked at, and members of each: pairs of 200 samples are enough for three digits of a mean.
const ORBITS: usize = 20;
const MEMBERS: usize = 10;
/// Of those whose distances are looked at one by one.
const SHOWN_ORBITS: usize = 10;
const SHOWN_MEMBERS: usize = 6;

/// How good a model is on given orbits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Orbits that were looked at.
    pub orbits: usize,
    /// Samples that were looked at.
    pub samples: usize,
    /// Mean ‖β̄(a) − β̄(b)‖² over pairs of one orbit.
    pub within: f64,
    /// Mean ‖β̄(a) − β̄(b)‖² over pairs of different orbits.
    pub between: f64,
    /// Share of samples whose nearest other sample is of the same orbit.
    pub nearest: f64,
    /// Mean ‖x − W†Wx‖² / ‖x‖²; of couplings, whose basis need not be orthonormal, ‖x − U⁺Ux‖² / ‖x‖².
    pub reconstruction: f64,
}

/// Distances between the samples of some orbits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Distances {
    /// ‖β̄(a) − β̄(b)‖ for every two samples, which are in the order of their orbits.
    pub matrix: Array2<f64>,
    /// The label of each orbit, and how many of the samples are its members.
    pub orbits: Vec<(i64, usize)>,
}

struct Sample {
    orbit: usize,
    invariants: Vec<Complex32>,
    residual: f64,
}

/// Looks at up to 20 orbits and 10 members of each, evenly spread.
///
/// # Errors
/// The orbits are of another length than the model's inputs, or a sample has no invariants.
pub fn evaluate(model: &Model<'_>, orbits: &Orbits) -> Result<Evaluation> {
    Ok(compare(&samples(model, orbits, ORBITS, MEMBERS)?))
}

/// The distances within and between up to 10 orbits, of 6 members each, evenly spread.
///
/// # Errors
/// The orbits are of another length than the model's inputs, or a sample has no invariants.
pub fn distances(model: &Model<'_>, orbits: &Orbits) -> Result<Distances> {
    let samples = samples(model, orbits, SHOWN_ORBITS, SHOWN_MEMBERS)?;
    let squares = squared_distances(&samples).concat();
    let matrix = Array2::from_shape_vec((samples.len(), samples.len()), squares);
    let alike = samples.chunk_by(|a, b| a.orbit == b.orbit);
    Ok(Distances {
        matrix: matrix.expect("a row a sample").mapv(f64::sqrt),
        orbits: alike
            .map(|members| (orbits.label(members[0].orbit), members.len()))
            .collect(),
    })
}

/// Up to so many orbits and members of each, in their order.
fn samples(
    model: &Model<'_>,
    orbits: &Orbits,
    most_orbits: usize,
    most_members: usize,
) -> Result<Vec<Sample>> {
    if orbits.inputs() != model.inputs() {
        return Err(Error::new(
            "the data",
            format!(
                "samples of {} numbers, the model has {} inputs",
                orbits.inputs(),
                model.inputs()
            ),
            "take the data the model was made for",
        ));
    }
    let mut w = weights(model);
    // Bases of couplings need not be orthonormal: their duals rebuild what they see.
    if matches!(model.parts().structure, Structure::Couplings { .. })
        && let Some(dual) = dual(&w.mapv(|u| f64::from(u.re)))
    {
        w = dual.mapv(|u| Complex32::new(u as f32, 0.0));
    }
    let members = |orbit| spread(orbits.members(orbit), most_members);
    let places: Vec<(usize, usize)> = spread(orbits.len(), most_orbits)
        .flat_map(|orbit| members(orbit).map(move |member| (orbit, member)))
        .collect();
    places
        .into_par_iter()
        .map(|(orbit, member)| sample(model, &w, orbits, orbit, member))
        .collect()
}

/// At most `most` of 0..len, evenly.
fn spread(len: usize, most: usize) -> impl Iterator<Item = usize> {
    let count = len.min(most);
    (0..count).map(move |k| k * len / count)
}

fn sample(
    model: &Model<'_>,
    w: &Array2<Complex32>,
    orbits: &Orbits,
    orbit: usize,
    member: usize,
) -> Result<Sample> {
    let mut x = vec![0.0; orbits.inputs()];
    orbits.write_member(orbit, member, &mut x);
    let refused = |error: bispectral_core::Error| {
        Error::new(
            format!("orbit {orbit}, member {member}"),
            error.to_string(),
            "leave it out",
        )
    };
    let invariants = model.invariants_vec(&x).map_err(refused)?;
    let z = model.coefficients_vec(&x).map_err(refused)?;
    Ok(Sample {
        orbit,
        invariants,
        residual: residual(w, &x, &z),
    })
}

/// ‖x − W†z‖² / ‖x‖²
fn residual(w: &Array2<Complex32>, x: &[f32], z: &[Complex32]) -> f64 {
    let mut rebuilt = vec![Complex32::ZERO; x.len()];
    for (row, z) in w.rows().into_iter().zip(z) {
        for (w, rebuilt) in row.iter().zip(&mut rebuilt) {
            *rebuilt += w.conj() * z;
        }
    }
    let lost: f64 = x
        .iter()
        .zip(&rebuilt)
        .map(|(x, r)| f64::from((r - x).norm_sqr()))
        .sum();
    lost / x.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>()
}

fn squared_distance(a: &Sample, b: &Sample) -> f64 {
    let terms = a.invariants.iter().zip(&b.invariants);
    terms.map(|(a, b)| f64::from((a - b).norm_sqr())).sum()
}

/// Row a holds the distances to all b.
fn squared_distances(samples: &[Sample]) -> Vec<Vec<f64>> {
    samples
        .par_iter()
        .map(|a| samples.iter().map(|b| squared_distance(a, b)).collect())
        .collect()
}

fn compare(samples: &[Sample]) -> Evaluation {
    // Each row is summed in order, so the means do not depend on threads.
    let rows = squared_distances(samples);
    let mut within = Mean::default();
    let mut between = Mean::default();
    let mut nearest = Mean::default();
    for (a, distances) in rows.iter().enumerate() {
        let others = || distances.iter().enumerate().filter(|&(b, _)| b != a);
        for (b, &distance) in others() {
            if samples[a].orbit == samples[b].orbit {
                within.add(distance);
            } else {
                between.add(distance);
            }
        }
        if let Some((b, _)) = others().min_by(|(_, a), (_, b)| a.total_cmp(b)) {
            nearest.add(f64::from(u8::from(samples[a].orbit == samples[b].orbit)));
        }
    }
    let mut reconstruction = Mean::default();
    samples
        .iter()
        .for_each(|sample| reconstruction.add(sample.residual));
    let mut orbits: Vec<usize> = samples.iter().map(|sample| sample.orbit).collect();
    orbits.dedup();
    Evaluation {
        orbits: orbits.len(),
        samples: samples.len(),
        within: within.value(),
        between: between.value(),
        nearest: nearest.value(),
        reconstruction: reconstruction.value(),
    }
}

#[derive(Default)]
struct Mean {
    sum: f64,
    count: usize,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    fn value(&self) -> f64 {
        self.sum / self.count.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::group::Group;
    use crate::model::file::encode_array;
    use ndarray::Array2;

    fn evaluated(w: &Array2<Complex32>) -> Evaluation {
        let group: Group = "Z4xZ2".parse().unwrap();
        let bytes = encode_array(&w.view(), "", None).unwrap();
        evaluate(
            &Model::from_bytes(&bytes).unwrap(),
            &Orbits::of_group(&group, 30, 2),
        )
        .unwrap()
    }

    #[test]
    fn the_characters_of_the_group_are_perfect() {
        let group: Group = "Z4xZ2".parse().unwrap();
        let w = group
            .characters()
            .mapv(|w| Complex32::new(w.re as f32, w.im as f32));
        let found = evaluated(&w);
        assert_eq!((found.orbits, found.samples), (20, 160));
        // Squares of some hundred roundings of 2^-24.
        assert!(
            found.within < 1e-11 && found.reconstruction < 1e-12,
            "{found:?}"
        );
        assert!(found.between > 1.0 && found.nearest == 1.0, "{found:?}");
    }

    #[test]
    fn distances_are_those_whose_squares_are_evaluated() {
        let group: Group = "Z8".parse().unwrap();
        let w = group
            .characters()
            .mapv(|w| Complex32::new(w.re as f32, w.im as f32));
        let bytes = encode_array(&w.view(), "", None).unwrap();
        let model = Model::from_bytes(&bytes).unwrap();
        let found = distances(&model, &Orbits::of_group(&group, 40, 1)).unwrap();
        let labels: Vec<i64> = (0..10).map(|k| k * 4).collect();
        assert_eq!(
            found.orbits,
            labels.iter().map(|&k| (k, 6)).collect::<Vec<_>>()
        );
        assert_eq!(found.matrix.dim(), (60, 60));
        for ((a, b), &distance) in found.matrix.indexed_iter() {
            assert_eq!(distance, found.matrix[(b, a)]);
            // Roots of some hundred roundings of 2^-24.
            assert!(if a / 6 == b / 6 {
                distance < 1e-5
            } else {
                distance > 0.1
            });
        }
        // As many orbits and members as both functions look at.
        let few = Orbits::of_group(&"Z6".parse().unwrap(), 10, 3);
        let w = "Z6".parse::<Group>().unwrap().characters();
        let w = w.mapv(|w| Complex32::new(w.re as f32, 0.0));
        let bytes = encode_array(&w.view(), "", None).unwrap();
        let model = Model::from_bytes(&bytes).unwrap();
        let matrix = distances(&model, &few).unwrap().matrix;
        let pairs = |(a, b): (usize, usize)| a != b && a / 6 == b / 6;
        let squares = matrix.indexed_iter().filter(|(at, _)| pairs(*at));
        let mean = squares.map(|(_, d)| d * d).sum::<f64>() / (60.0 * 5.0);
        let within = evaluate(&model, &few).unwrap().within;
        assert!((mean - within).abs() < 1e-12 * within, "{mean} {within}");
    }

    #[test]
    fn the_characters_of_another_group_are_not() {
        let other: Group = "Z8".parse().unwrap();
        let w = other
            .characters()
            .mapv(|w| Complex32::new(w.re as f32, w.im as f32));
        let found = evaluated(&w);
        assert!(found.within > 0.1, "{found:?}");
    }

    #[test]
    fn fewer_rows_rebuild_less() {
        let group: Group = "Z4xZ2".parse().unwrap();
        let w = group
            .characters()
            .mapv(|w| Complex32::new(w.re as f32, w.im as f32));
        let half = w.select(ndarray::Axis(0), &[0, 1, 2, 3]);
        let found = evaluated(&half);
        assert!((0.2..0.8).contains(&found.reconstruction), "{found:?}");
    }
}
