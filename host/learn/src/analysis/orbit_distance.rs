//! The published measure of a rotation model: mean distance of centred, normalised β̄ within orbits and between them.

use crate::data::orbits::Orbits;
use crate::{Error, Result};
use bispectral_core::{Complex32, Model};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Orbits that are looked at, and members of each, evenly spread.
const ORBITS: usize = 24;
const MEMBERS: usize = 10;

/// Mean euclidean distances.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OrbitDistance {
    /// Of pairs of one orbit.
    pub within: f64,
    /// Of pairs of different orbits.
    pub between: f64,
    /// Samples that were looked at.
    pub samples: usize,
}

/// (β − its mean over pairs) / ‖…‖ by `bispectral-core`, compared over up to 24 orbits and 10 members of each.
///
/// # Errors
/// A sample has no invariants, or another length than the model's inputs.
pub fn orbit_distance(model: &Model<'_>, orbits: &Orbits) -> Result<OrbitDistance> {
    let spread = |len: usize, most: usize| {
        let count = len.min(most);
        (0..count).map(move |k| k * len / count)
    };
    let places: Vec<(usize, usize)> = spread(orbits.len(), ORBITS)
        .flat_map(|orbit| spread(orbits.members(orbit), MEMBERS).map(move |of| (orbit, of)))
        .collect();
    let features = places
        .par_iter()
        .map(|&(orbit, member)| {
            let mut x = vec![0.0; orbits.inputs()];
            orbits.write_member(orbit, member, &mut x);
            let features = model.invariants_vec(&x).map_err(|error| {
                let subject = format!("orbit {orbit}, member {member}");
                Error::new(subject, error.to_string(), "leave it out")
            })?;
            Ok(centred(features))
        })
        .collect::<Result<Vec<_>>>()?;
    let rows: Vec<[f64; 4]> = (0..places.len())
        .into_par_iter()
        .map(|a| {
            let mut sums = [0.0; 4];
            for b in (0..a).filter(|&b| places[a] != places[b]) {
                let kind = if places[a].0 == places[b].0 { 0 } else { 2 };
                sums[kind] += distance(&features[a], &features[b]);
                sums[kind + 1] += 1.0;
            }
            sums
        })
        .collect();
    let sum = |kind: usize| rows.iter().map(|row| row[kind]).sum::<f64>();
    Ok(OrbitDistance {
        within: sum(0) / sum(1),
        between: sum(2) / sum(3),
        samples: places.len(),
    })
}

/// Centring β̄ and normalising again is centring β: both only scale it.
fn centred(mut features: Vec<Complex32>) -> Vec<Complex32> {
    let mean = features.iter().sum::<Complex32>() / features.len() as f32;
    features.iter_mut().for_each(|beta| *beta -= mean);
    let squares = features.iter().map(|beta| f64::from(beta.norm_sqr()));
    let length = squares.sum::<f64>().sqrt() as f32;
    if length > 0.0 {
        features.iter_mut().for_each(|beta| *beta /= length);
    }
    features
}

fn distance(a: &[Complex32], b: &[Complex32]) -> f64 {
    let terms = a.iter().zip(b).map(|(a, b)| f64::from((a - b).norm_sqr()));
    terms.sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::file::encode_array;
    use crate::network::{Distance, Network, Objective, Reconstruction, Workspace};
    use crate::numeric::orthogonal::orthogonal;
    use ndarray::Array2;

    #[test]
    fn it_is_what_the_trainer_minimises() {
        let w = orthogonal(6, 6, 1).into_iter();
        let w: Vec<Complex32> = w
            .map(|w| Complex32::new(w.re as f32, w.im as f32))
            .collect();
        let w = Array2::from_shape_vec((6, 6), w).unwrap();
        let orbits = Orbits::of_group(&"Z6".parse().unwrap(), 4, 2);
        let bytes = encode_array(&w.view(), "", None).unwrap();
        let found = orbit_distance(&Model::from_bytes(&bytes).unwrap(), &orbits).unwrap();
        let mut samples = vec![0.0; 4 * 6 * 6];
        for (at, sample) in samples.chunks_exact_mut(6).enumerate() {
            orbits.write_member(at / 6, at % 6, sample);
        }
        let objective = Objective {
            distance: Distance::Euclidean,
            centre: true,
            reconstruction: Reconstruction::Real,
            gamma: 0.0,
        };
        let network = Network::from_array(&w.view());
        let loss = |sizes: &[usize]| {
            let mut workspace = Workspace::new();
            let loss = workspace.loss(&network, &samples, sizes, &objective);
            loss.unwrap().invariance
        };
        assert_eq!(found.samples, 24);
        assert!((found.within - loss(&[6; 4])).abs() < 1e-5, "{found:?}");
        // All 276 pairs are 60 within and 216 between.
        let all = (60.0 * found.within + 216.0 * found.between) / 276.0;
        assert!((all - loss(&[24])).abs() < 1e-5, "{found:?}");
    }
}
