//! Refinement: the basis that makes the forms change least along orbits.
//!
//! With z = U x and f a form of it, W_f its mean square change along an orbit and Q_f its mean square,
//!
//! > L(G) = Σ_f W_f((1 + G) z) / Q_f((1 + G) z)
//!
//! is what the forms change along orbits, whatever the scale of blocks and forms. Its gradient in G, written by hand, and
//! Gauss's and Newton's matrix of the residues f − mean f give steps, damped by Levenberg's and Marquardt's rule. After each
//! step the forms are solved for again, in closed form.

use super::forms::Coefficients;
use crate::group::couplings::Couplings;
use faer::linalg::solvers::Solve;
use faer::{Mat, Side};

/// Samples that a step is computed from.
const SAMPLES: usize = 1500;
/// More unknowns than this take too long.
pub(super) const MOST_UNKNOWNS: usize = 300;

/// L, its gradient in G at G = 0, and the matrix of Gauss and Newton.
pub(super) struct Step {
    pub(super) loss: f64,
    pub(super) gradient: Vec<f64>,
    pub(super) matrix: Mat<f64>,
}

/// The loss and its derivatives by G, row after row, of the terms of order two and three that change at all.
pub(super) fn step(couplings: &Couplings, z: &Coefficients, matrix: bool) -> Step {
    let k = couplings.rows();
    let unknowns = k * k;
    let terms: Vec<usize> = (couplings.orders().enumerate())
        .filter(|&(_, order)| order > 1)
        .map(|(term, _)| term)
        .collect();
    let members = z.members().max(2);
    let orbits = &z.orbits[..z.orbits.len().min(SAMPLES.div_ceil(members))];
    let samples = orbits.len() * members;
    // f of every sample, and its gradient by z.
    let mut values = vec![vec![0.0; samples]; terms.len()];
    let mut slopes = vec![Vec::with_capacity(samples); terms.len()];
    for (o, orbit) in orbits.iter().enumerate() {
        for m in 0..members {
            let z: Vec<f64> = (0..k).map(|row| orbit[(row, m)]).collect();
            let forms = couplings.forms(&z);
            let jacobian = couplings.forms_jacobian(&z);
            for (t, &term) in terms.iter().enumerate() {
                values[t][o * members + m] = forms[term];
                slopes[t].push(jacobian.row(term).to_vec());
            }
        }
    }
    let mut found = Step {
        loss: 0.0,
        gradient: vec![0.0; unknowns],
        matrix: Mat::zeros(
            if matrix { unknowns } else { 0 },
            if matrix { unknowns } else { 0 },
        ),
    };
    for (values, slopes) in values.iter().zip(&slopes) {
        let (count, degrees) = (samples as f64, (members - 1) as f64 / members as f64);
        let mean = values.iter().sum::<f64>() / count;
        let total = values.iter().map(|f| (f - mean) * (f - mean)).sum::<f64>() / count;
        if total <= 0.0 {
            continue;
        }
        let mut residues = Vec::with_capacity(samples);
        for values in values.chunks_exact(members) {
            let mean = values.iter().sum::<f64>() / members as f64;
            residues.extend(values.iter().map(|f| f - mean));
        }
        let within = residues.iter().map(|r| r * r).sum::<f64>() / count / degrees;
        let ratio = within / total;
        found.loss += ratio;
        // ∂f/∂G_ab = (∂f/∂z_a) z_b; the mean of residues over an orbit is zero, so that ∂W = 2 Σ r ∂f.
        let mut rows = Mat::<f64>::zeros(if matrix { unknowns } else { 0 }, samples);
        for (s, slope) in slopes.iter().enumerate() {
            let orbit = &orbits[s / members];
            let weight =
                2.0 / (count * total) * (residues[s] / degrees - ratio * (values[s] - mean));
            for a in 0..k {
                for b in 0..k {
                    let by = slope[a] * orbit[(b, s % members)];
                    found.gradient[a * k + b] += weight * by;
                    if matrix {
                        rows[(a * k + b, s)] = by;
                    }
                }
            }
        }
        if matrix {
            for o in 0..orbits.len() {
                for row in 0..unknowns {
                    let range = o * members..(o + 1) * members;
                    let mean = range.clone().map(|s| rows[(row, s)]).sum::<f64>() / members as f64;
                    range.for_each(|s| rows[(row, s)] -= mean);
                }
            }
            let scale = faer::Scale(2.0 / (count * total * degrees));
            found.matrix += (&rows * rows.transpose()) * scale;
        }
    }
    found
}

/// 1 + G of one damped step.
pub(super) fn change(step: &Step, rows: usize, damping: f64) -> Option<Mat<f64>> {
    let unknowns = rows * rows;
    let mut matrix = step.matrix.clone();
    let mean = (0..unknowns).map(|k| matrix[(k, k)]).sum::<f64>() / unknowns as f64;
    (0..unknowns).for_each(|k| matrix[(k, k)] += damping * mean + 1e-12 * mean);
    let gradient = Mat::from_fn(unknowns, 1, |k, _| -step.gradient[k]);
    let solution = matrix.llt(Side::Lower).ok()?.solve(&gradient);
    let mut change = Mat::<f64>::identity(rows, rows);
    for a in 0..rows {
        for b in 0..rows {
            change[(a, b)] += solution[(a * rows + b, 0)];
        }
    }
    Some(change)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::representation::{Representation, orthogonal};
    use crate::group::compact::{Compact, Moments};
    use ndarray::Array2;

    #[test]
    fn the_gradient_is_the_limit_of_differences() {
        let group = Representation::so2(&[0, 1, 1, 2]);
        let orbits = group.orbits(40, 20, &orthogonal(7, 7), 1).unwrap();
        let moments = Moments::of(&orbits.noisy(0.2, 3)).unwrap();
        let found = Compact::of(&moments, 0).unwrap();
        let couplings = found.couplings();
        let k = couplings.rows();
        let at = |a: usize, b: usize, by: f64| {
            let mut change = Array2::<f64>::eye(k);
            change[(a, b)] += by;
            let basis = change.dot(couplings.basis());
            let basis = Mat::from_fn(k, basis.ncols(), |r, c| basis[(r, c)]);
            let z = Coefficients::of(moments.members(), &basis);
            step(couplings, &z, false)
        };
        let here = at(0, 0, 0.0);
        assert!(here.loss > 0.01, "{}", here.loss);
        let step = 1e-5;
        for a in 0..k {
            for b in 0..k {
                let difference = (at(a, b, step).loss - at(a, b, -step).loss) / (2.0 * step);
                let found = here.gradient[a * k + b];
                // Second differences of a sum of ratios near one: step² times tens.
                assert!(
                    (difference - found).abs() < 1e-6,
                    "{a}, {b}: {difference} {found}"
                );
            }
        }
    }
}
