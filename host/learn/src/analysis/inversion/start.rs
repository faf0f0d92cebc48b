//! A first solution: the coefficients one after another, each on the way that noise disturbs least.

use super::Target;
use crate::group::lattice::Lattice;
use crate::group::recursion::{Closing, Part, Recursion, Step};
use crate::group::triples::Coefficient;
use num_complex::Complex64;
use std::f64::consts::TAU;

/// The logarithm of a modulus where terms are at most one: more is noise, and its cube is still a number.
const LARGEST: f64 = 40.0;

/// How a recursion begins and goes on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beginning {
    /// Of the coefficient it begins with, by strength.
    rank: usize,
    /// A term below this part of the strongest may be noise alone: it leads nowhere, but may close a loop.
    faint: f64,
}

/// One after the other, while none explains the terms: the first for invariants from f32, others for noisy ones.
pub(super) const BEGINNINGS: [Beginning; 5] = [
    Beginning {
        rank: 0,
        faint: 1e-6,
    },
    Beginning {
        rank: 0,
        faint: 1e-2,
    },
    Beginning {
        rank: 0,
        faint: 1e-1,
    },
    Beginning {
        rank: 1,
        faint: 1e-6,
    },
    Beginning {
        rank: 1,
        faint: 1e-2,
    },
];

impl Target<'_> {
    /// Coefficients whose products are the terms, as far as the terms agree.
    pub(super) fn start(&self, beginning: Beginning) -> Vec<Complex64> {
        let recursion = self.recursion(beginning);
        let moduli = self.moduli(&recursion);
        let turns = self.turns(&recursion);
        moduli
            .into_iter()
            .zip(turns)
            .map(|(log, turns)| Complex64::from_polar(log.min(LARGEST).exp(), TAU * turns))
            .collect()
    }

    /// Noise of deviation σ on a term is σ² / w|T|² on its logarithm.
    fn recursion(&self, beginning: Beginning) -> Recursion {
        let inverter = self.inverter;
        let energies: Vec<f64> = self
            .values
            .iter()
            .zip(&inverter.weights)
            .map(|(value, weight)| weight * value.norm_sqr())
            .collect();
        let costs: Vec<f64> = energies.iter().map(|energy| 1.0 / energy).collect();
        let mut strength = vec![0.0; inverter.classes.count()];
        for (factors, energy) in inverter.terms.factors.iter().zip(&energies) {
            factors.iter().for_each(|f| strength[f.class] += energy);
        }
        let mut wanted: Vec<usize> = (0..strength.len()).filter(|&c| strength[c] > 0.0).collect();
        wanted.sort_by(|&a, &b| strength[b].total_cmp(&strength[a]));
        let beginnings = wanted.len().div_ceil(2);
        wanted[..beginnings].rotate_left(beginning.rank % beginnings.max(1));
        let strongest = energies.iter().copied().fold(0.0, f64::max);
        let dearest = 1.0 / (strongest * beginning.faint * beginning.faint);
        Recursion::new(
            &inverter.classes,
            &inverter.terms,
            (&costs, dearest),
            &wanted,
        )
    }

    /// The logarithm of every modulus: along the recursion with free ones of one, then those by least squares.
    fn moduli(&self, recursion: &Recursion) -> Vec<f64> {
        let values: Vec<f64> = self.values.iter().map(|value| value.norm().ln()).collect();
        let mut logs = self.along(recursion, Part::Modulus, &values, f64::NEG_INFINITY);
        let powers = recursion.powers(&self.inverter.terms, Part::Modulus);
        let mut squares = LeastSquares::new(recursion.free.len());
        for &(closing, cost) in &recursion.closings {
            let Closing::Term(term) = closing else {
                continue;
            };
            let row = recursion.equation(&self.inverter.terms, Part::Modulus, closing, &powers);
            let Some(row) = row else { continue };
            let left = values[term] - self.sum(term, Part::Modulus, &logs);
            let equation = row.iter().map(|&power| power as f64).chain([left]);
            // 1/cost as a weight is the usual one; its square, because terms of noise alone are many.
            squares.add(equation.map(|part| part / cost).collect());
        }
        let free = squares.solve();
        for (log, powers) in logs.iter_mut().zip(&powers) {
            if let Some(powers) = powers {
                *log += dot(powers, &free);
            }
        }
        logs
    }

    /// Every phase in turns: along the recursion with free ones of zero, then those from what closes loops.
    fn turns(&self, recursion: &Recursion) -> Vec<f64> {
        let terms = &self.inverter.terms;
        let values: Vec<f64> = self.values.iter().map(|value| value.arg() / TAU).collect();
        let mut turns = self.along(recursion, Part::Phase, &values, 0.0);
        let powers = recursion.powers(terms, Part::Phase);
        let mut lattice = Lattice::new(recursion.free.len());
        let translates = self.inverter.classes.group().order();
        for &(closing, cost) in &recursion.closings {
            // What is complete has no news.
            if lattice.freedom() == 0 && lattice.solutions() <= translates as u128 {
                break;
            }
            if let Some(row) = recursion.equation(terms, Part::Phase, closing, &powers) {
                let left = match closing {
                    Closing::Term(term) => values[term] - self.sum(term, Part::Phase, &turns),
                    Closing::Real(class) => -2.0 * turns[class],
                };
                let mut longer = lattice.clone();
                longer.add(&row, left);
                // Noise may say where a free one is that nothing else holds, but not choose among the solutions so far.
                if cost <= recursion.dearest || longer.freedom() < lattice.freedom() {
                    lattice = longer;
                }
            }
        }
        let free = lattice.solve();
        for (class, (turn, powers)) in turns.iter_mut().zip(&powers).enumerate() {
            if let Some(powers) = powers {
                *turn += dot(powers, &free);
            }
            if self.inverter.classes.is_real(class) {
                *turn = (2.0 * *turn).round() / 2.0;
            }
        }
        turns
    }

    /// What every class is along a recursion whose free ones are zero; `unreached` where it does not lead.
    fn along(&self, recursion: &Recursion, part: Part, values: &[f64], unreached: f64) -> Vec<f64> {
        let mut found = vec![unreached; self.inverter.classes.count()];
        recursion.free.iter().for_each(|&class| found[class] = 0.0);
        for &Step { term, place } in &recursion.steps {
            let factors = &self.inverter.terms.factors[term];
            let Coefficient { class, .. } = factors[place];
            found[class] = 0.0;
            let sign = part.sign(factors[place]) as f64;
            found[class] = sign * (values[term] - self.sum(term, part, &found));
        }
        found
    }

    /// What the factors of a term come to.
    fn sum(&self, term: usize, part: Part, found: &[f64]) -> f64 {
        let factors = self.inverter.terms.factors[term].iter();
        factors.map(|f| part.sign(*f) as f64 * found[f.class]).sum()
    }
}

/// What the free ones come to.
fn dot(powers: &[i128], free: &[f64]) -> f64 {
    let terms = powers.iter().zip(free);
    terms.map(|(&power, free)| power as f64 * free).sum()
}

/// Equations by least squares, as a triangle that Givens' rotations keep: equations a million times as sure as others
/// come first, and lose no digit to them.
struct LeastSquares {
    /// Row c begins in column c; the right side is the last column.
    rows: Vec<Vec<f64>>,
}

impl LeastSquares {
    fn new(unknowns: usize) -> Self {
        LeastSquares {
            rows: vec![vec![0.0; unknowns + 1]; unknowns],
        }
    }

    fn add(&mut self, mut equation: Vec<f64>) {
        for (column, row) in self.rows.iter_mut().enumerate() {
            let length = row[column].hypot(equation[column]);
            if equation[column] == 0.0 || !length.is_finite() {
                continue;
            }
            let (cos, sin) = (row[column] / length, equation[column] / length);
            for (row, equation) in row.iter_mut().zip(&mut equation).skip(column) {
                (*row, *equation) = (cos * *row + sin * *equation, cos * *equation - sin * *row);
            }
        }
    }

    /// Unknowns that nothing holds are zero.
    fn solve(&self) -> Vec<f64> {
        let unknowns = self.rows.len();
        let mut solution = vec![0.0; unknowns];
        for (column, row) in self.rows.iter().enumerate().rev() {
            let known = row.iter().zip(&solution).skip(column + 1);
            let known: f64 = known.map(|(row, solution)| row * solution).sum();
            let value = (row[unknowns] - known) / row[column];
            if value.is_finite() {
                solution[column] = value;
            }
        }
        solution
    }
}
