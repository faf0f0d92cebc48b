//! Which products of three coefficients do not turn, measured: the orders that planes were given are right where these are the
//! products whose orders add up.

use super::{Circle, Plane};
use crate::data::orbits::Orbits;
use num_complex::Complex64;
use rayon::prelude::*;
use serde::Serialize;

/// Products of whose size at least so much stays as it is along orbits are invariants.
const INVARIANT: f64 = 0.5;

/// Products z_a z_b z̄_c of the planes that turn best, on orbits that were not learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Products {
    /// Planes that were looked at.
    pub planes: usize,
    /// Products whose orders add up.
    pub expected: usize,
    /// Of these, invariants.
    pub invariant: usize,
    /// Products whose orders do not add up.
    pub others: usize,
    /// Of these, invariants.
    pub wrong: usize,
}

impl Circle {
    /// What the products of all planes with λ of at least `least` do along `orbits`.
    #[must_use]
    pub fn products(&self, orbits: &Orbits, least: f64) -> Products {
        let chosen = self.planes().iter().filter(|plane| plane.lambda >= least);
        let planes: Vec<&Plane> = chosen.collect();
        let z = coefficients(&planes, orbits);
        let pairs: Vec<(usize, usize)> = (0..planes.len())
            .flat_map(|a| (a..planes.len()).map(move |b| (a, b)))
            .collect();
        let counts = pairs.par_iter().map(|&(a, b)| {
            let mut counts = [0; 4];
            for c in 0..planes.len() {
                let adds_up = planes[a].order + planes[b].order == planes[c].order;
                let at = if adds_up { 0 } else { 2 };
                counts[at] += 1;
                counts[at + 1] += usize::from(share(&z, [a, b, c]) >= INVARIANT);
            }
            counts
        });
        let sum =
            |a: [usize; 4], b: [usize; 4]| [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]];
        let [expected, invariant, others, wrong] = counts.reduce(|| [0; 4], sum);
        Products {
            planes: planes.len(),
            expected,
            invariant,
            others,
            wrong,
        }
    }
}

/// One vector a member, by orbit.
fn coefficients(planes: &[&Plane], orbits: &Orbits) -> Vec<Vec<Vec<Complex64>>> {
    (0..orbits.len())
        .into_par_iter()
        .map(|orbit| {
            let mut x = vec![0.0; orbits.inputs()];
            (0..orbits.members(orbit))
                .map(|member| {
                    orbits.write_member(orbit, member, &mut x);
                    let z = |plane: &&Plane| {
                        let terms = plane.row.iter().zip(&x).map(|(u, &x)| u * f64::from(x));
                        terms.sum()
                    };
                    planes.iter().map(z).collect()
                })
                .collect()
        })
        .collect()
}

/// Σ |mean over an orbit of z_a z_b z̄_c|² / Σ mean |z_a z_b z̄_c|², without what chance leaves of a mean of k members.
fn share(z: &[Vec<Vec<Complex64>>], [a, b, c]: [usize; 3]) -> f64 {
    let (mut still, mut all) = (0.0, 0.0);
    for members in z {
        let count = members.len() as f64;
        let (mut sum, mut squares) = (Complex64::default(), 0.0);
        for z in members {
            let product = z[a] * z[b] * z[c].conj();
            sum += product;
            squares += product.norm_sqr();
        }
        still += (sum.norm_sqr() - squares) / (count * (count - 1.0)).max(1.0);
        all += squares / count;
    }
    if all > 0.0 { still / all } else { 0.0 }
}
