//! The angle of every member: from the phase of one plane at first, then from what all orders say together.
//!
//! A member whose coefficients are z_p stands where Σ_p w_p Re(z_p c̄_p e^{−imθ}) is largest, with c_p the mean of z_p e^{−imθ}
//! over its orbit and w_p = λ/(1 − λ), the ratio of what turns to what does not.

use super::NoCircle;
use super::planes::{Form, Plane, forms, planes, turned_back};
use super::samples::Samples;
use num_complex::Complex64;
use rayon::prelude::*;
use std::f64::consts::TAU;

/// Principal components among which a plane is looked for: one of low order has much of the variance.
const COMPONENTS: usize = 8;
/// How much |z|² may deviate along orbits, as a share of its mean, in a plane that may turn.
const MOST_DEVIATION: f64 = 0.35;
/// How many such planes are tried: one of order two would find the even orders alone.
const SEEDS: usize = 3;
/// Planes that a circle has at least.
const LEAST_PLANES: usize = 4;
/// How often angles are corrected; on photographs none moves by more than 0.01 degrees from the third time on.
const ROUNDS: usize = 4;
/// Angles at which a member is tried, before the best is refined by a parabola.
const GRID: usize = 720;
/// Keeps the weight of a form finite: no form on a grid of pixels turns better.
const ROUNDING: f64 = 0.01;

/// The angles of all members, and the planes.
pub(super) fn learned(samples: &Samples) -> Result<(Vec<Vec<f64>>, Vec<Plane>), NoCircle> {
    let mut seeds = seeds(samples);
    let deviation = seeds.first().map_or(1.0, |seed| seed.0);
    seeds.retain(|seed| seed.0 <= MOST_DEVIATION);
    seeds.truncate(SEEDS);
    let tried = seeds.into_iter().map(|(_, pair)| {
        let angles = corrected(samples, &phases(samples, pair));
        let forms = forms(samples, &angles);
        let turning: f64 = forms.iter().map(weight_of_order).sum();
        (turning, angles, forms)
    });
    let best = tried.max_by(|a, b| a.0.total_cmp(&b.0));
    let (_, mut angles, mut found) = best.ok_or(NoCircle::Seed { deviation })?;
    for _ in 1..ROUNDS {
        angles = moved(samples, &angles, &found);
        found = forms(samples, &angles);
    }
    if found.iter().filter(|form| form.order > 0).count() < LEAST_PLANES {
        return Err(NoCircle::Planes { found: found.len() });
    }
    let planes = planes(samples, &found);
    Ok((angles, planes))
}

fn weight_of_order(form: &Form) -> f64 {
    if form.order == 0 {
        form.lambda
    } else {
        2.0 * form.lambda
    }
}

/// Pairs of components, those first whose sum of squares deviates least along orbits.
fn seeds(samples: &Samples) -> Vec<(f64, [usize; 2])> {
    let most = COMPONENTS.min(samples.rank());
    let pairs = (0..most).flat_map(|i| (i + 1..most).map(move |j| [i, j]));
    let mut found: Vec<(f64, [usize; 2])> =
        pairs.map(|pair| (deviation(samples, pair), pair)).collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found
}

/// The root mean square deviation of |z|² from its mean over the orbit, as a share of the root mean square of |z|².
fn deviation(samples: &Samples, pair: [usize; 2]) -> f64 {
    let (mut around, mut all) = (0.0, 0.0);
    for orbit in 0..samples.orbits().len() {
        let members = samples.white(orbit).chunks_exact(samples.rank());
        let squares: Vec<f64> = members
            .map(|y| pair.map(|k| samples.component(y, k).powi(2)).iter().sum())
            .collect();
        let mean = squares.iter().sum::<f64>() / squares.len() as f64;
        around += squares.iter().map(|s| (s - mean).powi(2)).sum::<f64>();
        all += squares.iter().map(|s| s * s).sum::<f64>();
    }
    (around / all).sqrt()
}

/// The phase of one plane.
fn phases(samples: &Samples, [i, j]: [usize; 2]) -> Vec<Vec<f64>> {
    let phase = |y: &[f64]| samples.component(y, j).atan2(samples.component(y, i));
    (0..samples.orbits().len())
        .map(|orbit| {
            samples
                .white(orbit)
                .chunks_exact(samples.rank())
                .map(phase)
                .collect()
        })
        .collect()
}

fn corrected(samples: &Samples, angles: &[Vec<f64>]) -> Vec<Vec<f64>> {
    moved(samples, angles, &forms(samples, angles))
}

/// Every angle where its orbit, as seen by `forms`, agrees with the member best.
fn moved(samples: &Samples, angles: &[Vec<f64>], forms: &[Form]) -> Vec<Vec<f64>> {
    let orders = forms.iter().map(|form| form.order).max().unwrap_or(0) + 1;
    let means: Vec<Vec<Vec<Complex64>>> = (0..orders)
        .map(|order| turned_back(samples, angles, order))
        .collect();
    let turns: Vec<Complex64> = (0..GRID)
        .map(|k| Complex64::from_polar(1.0, -TAU * k as f64 / GRID as f64))
        .collect();
    (0..samples.orbits().len())
        .into_par_iter()
        .map(|orbit| {
            let of_orbit: Vec<Complex64> = forms
                .iter()
                .map(|form| {
                    let coefficient = form.of(&means[form.order][orbit]);
                    coefficient.conj() * (form.lambda / (1.0 + ROUNDING - form.lambda))
                })
                .collect();
            let members = samples.white(orbit).chunks_exact(samples.rank());
            members
                .map(|y| {
                    let mut agreement = vec![Complex64::default(); orders];
                    for (form, expected) in forms.iter().zip(&of_orbit) {
                        agreement[form.order] += form.of_real(y) * expected;
                    }
                    best_angle(&agreement, &turns)
                })
                .collect()
        })
        .collect()
}

/// Where Σ_m Re(a_m e^{−imθ}) is largest.
fn best_angle(agreement: &[Complex64], turns: &[Complex64]) -> f64 {
    let at = |k: usize| -> f64 {
        let terms = agreement.iter().enumerate();
        terms
            .map(|(m, a)| (a * turns[m * k % turns.len()]).re)
            .sum()
    };
    let values: Vec<f64> = (0..turns.len()).map(at).collect();
    let best = (0..values.len())
        .max_by(|&a, &b| values[a].total_cmp(&values[b]))
        .unwrap_or(0);
    let around = |by: usize| values[(best + by) % values.len()];
    let (before, here, after) = (around(values.len() - 1), around(0), around(1));
    let bend = before - 2.0 * here + after;
    let by = if bend < 0.0 {
        0.5 * (before - after) / bend
    } else {
        0.0
    };
    TAU * (best as f64 + by) / values.len() as f64
}

impl Form {
    /// vᴴ y.
    fn of(&self, y: &[Complex64]) -> Complex64 {
        self.vector.iter().zip(y).map(|(v, y)| v.conj() * y).sum()
    }

    /// vᴴ y of a real y.
    fn of_real(&self, y: &[f64]) -> Complex64 {
        self.vector.iter().zip(y).map(|(v, y)| v.conj() * y).sum()
    }
}
