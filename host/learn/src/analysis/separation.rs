//! Which invariants tell orbits apart: for each pair Fisher's ratio, the variance of its means over orbits to its mean
//! variance within them,
//!
//! > F_p = Σ_o n_o |m_op − m_p|² / Σ_o Σ_s |β̄_p(s) − m_op|².

use crate::data::orbits::Orbits;
use crate::{Error, Result};
use bispectral_core::{Complex32, Model};
use num_complex::Complex64;
use rayon::prelude::*;

/// What rounding leaves of the variance of a component of a unit vector; smaller ones say nothing.
const ROUNDING: f64 = 1.0 / (1_u64 << 46) as f64;
/// Samples whose invariants are in memory at a time.
const BLOCK: usize = 16;

/// F of every invariant of the model, from all samples.
///
/// # Errors
/// The signals are of another length than the model's inputs, or one has no invariants.
pub fn fisher(model: &Model<'_>, orbits: &Orbits) -> Result<Vec<f64>> {
    let pairs = model.pairs();
    let mut squares = vec![0.0; pairs];
    let mut of_means = vec![0.0; pairs];
    let mut sums = vec![Complex64::ZERO; pairs];
    let mut samples = 0;
    for orbit in 0..orbits.len() {
        let members = orbits.members(orbit);
        let mut sum = vec![Complex64::ZERO; pairs];
        for first in (0..members).step_by(BLOCK) {
            let block: Vec<Vec<Complex32>> = (first..members.min(first + BLOCK))
                .into_par_iter()
                .map(|member| invariants(model, orbits, orbit, member))
                .collect::<Result<_>>()?;
            // One after the other, so that the sums do not depend on threads.
            for (p, term) in block.iter().flat_map(|terms| terms.iter().enumerate()) {
                let term = Complex64::new(term.re.into(), term.im.into());
                squares[p] += term.norm_sqr();
                sum[p] += term;
            }
        }
        for p in 0..pairs {
            of_means[p] += sum[p].norm_sqr() / members as f64;
            sums[p] += sum[p];
        }
        samples += members;
    }
    let ratio = |p: usize| {
        let mean = sums[p].norm_sqr() / samples as f64;
        let within = (squares[p] - of_means[p]).max(ROUNDING * samples as f64);
        (of_means[p] - mean).max(0.0) / within
    };
    Ok((0..pairs).map(ratio).collect())
}

/// The `most` pairs with the largest F, in the order of the model.
///
/// # Errors
/// As [`fisher`].
pub fn best(model: &Model<'_>, orbits: &Orbits, most: usize) -> Result<Vec<(usize, usize)>> {
    let ratios = fisher(model, orbits)?;
    let mut places: Vec<usize> = (0..ratios.len()).collect();
    // Equal ones in the order of the model.
    places.sort_by(|&a, &b| ratios[b].total_cmp(&ratios[a]));
    places.truncate(most);
    places.sort_unstable();
    Ok(places.into_iter().filter_map(|at| model.pair(at)).collect())
}

fn invariants(
    model: &Model<'_>,
    orbits: &Orbits,
    orbit: usize,
    member: usize,
) -> Result<Vec<Complex32>> {
    let mut x = vec![0.0; orbits.inputs()];
    orbits.write_member(orbit, member, &mut x);
    model.invariants_vec(&x).map_err(|error| {
        let subject = format!("orbit {}, member {member}", orbits.label(orbit));
        Error::new(subject, error.to_string(), "leave it out")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::group::Group;
    use crate::model::file::encode_array;
    use ndarray::Array2;

    #[test]
    fn pairs_without_difference_between_orbits_come_last() {
        // Signals of one frequency and a mean, at any phase: of Z8 only characters 0, 2 and −2 = 6 respond, and with
        // equal amplitudes only the sign of the mean tells orbits apart.
        let group: Group = "Z8".parse().unwrap();
        let w = group
            .characters()
            .mapv(|w| Complex32::new(w.re as f32, w.im as f32));
        let bytes = encode_array(&w.view(), "", None).unwrap();
        let model = Model::from_bytes(&bytes).unwrap();
        let signal = |(s, n): (usize, usize)| {
            let turn = std::f32::consts::FRAC_PI_2 * (n + s / 2) as f32;
            turn.cos() + if s % 2 == 0 { 1.0 } else { -1.0 }
        };
        let samples = Array2::from_shape_fn((8, 8), signal);
        let labels: Vec<i64> = (0..8).map(|s| s % 2).collect();
        let orbits = Orbits::labelled(samples, &labels).unwrap();
        let ratios = fisher(&model, &orbits).unwrap();
        let found = best(&model, &orbits, 4).unwrap();
        assert_eq!(found, [(0, 0), (0, 2), (0, 6), (2, 6)]);
        let rest = model.pair_list().zip(&ratios);
        for (pair, &ratio) in rest.filter(|(pair, _)| !found.contains(pair)) {
            assert!(ratio < 1.0, "{pair:?}: {ratio}");
        }
    }
}
