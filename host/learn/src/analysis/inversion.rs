//! A signal from its invariants, up to the group and a positive factor, where the rows of W are the characters of a group.
//!
//! An invariant is a product of three coefficients, T(a, b, c) = f(a) f(b) f(c), so its logarithm is linear in theirs:
//! the cheapest recursion gives a first solution (`start`), in which one faint coefficient spoils nothing but itself; then all
//! invariants together,
//!
//! > min over f of Σ w |f(a) f(b) f(c) − T|²,
//!
//! average out what noise they have (`refinement`). The signal is x = Σ f(a) conj χ_a. Where no group is known, there is
//! [`by_gradient`].

mod gradient;
mod refinement;
mod signals;
mod start;
pub mod trial;

pub use gradient::by_gradient;
pub use signals::{Inversion, Rebuilt};

use self::start::BEGINNINGS;
use crate::group::identify::Identification;
use crate::group::recursion::Terms;
use crate::group::triples::{Classes, Triple};
use crate::group::{Determination, present};
use crate::{Error, Result};
use ndarray::{Array2, ArrayView2};
use num_complex::{Complex32, Complex64};

/// What is left of the invariants, relative to them, where no other beginning would do better: rounding leaves 1e-6.
const EXPLAINED: f64 = 1e-5;
/// Beginnings that leave the same to this part have come to the same end.
const SAME: f64 = 1e-3;

/// All that inversion needs to know of a model, once for many signals.
#[derive(Debug)]
pub struct Inverter {
    classes: Classes,
    terms: Terms,
    /// For every invariant, which term it is.
    measured: Vec<Measured>,
    /// For every term, how much its invariants weigh together.
    weights: Vec<f64>,
    /// conj χ of one character of each class at every input, at unit length.
    waves: Array2<Complex64>,
    generic: Determination,
}

/// An invariant: `scale` times a term or its conjugate.
#[derive(Debug, Clone, Copy)]
struct Measured {
    term: usize,
    conjugate: bool,
    scale: f64,
}

/// The values of the terms, the largest of modulus one.
#[derive(Debug)]
struct Target<'a> {
    inverter: &'a Inverter,
    values: Vec<Complex64>,
}

/// The strongest term is one; f32 leaves some 1e-7 of it in terms that are zero.
const ROUNDING: f64 = 1e-6;

/// A signal and what its invariants leave open about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Inverted {
    /// Of unit length.
    pub signal: Vec<f64>,
    /// Complete where it is the only one up to the group and a positive factor.
    pub determination: Determination,
}

impl Inverter {
    /// For invariants of `pairs` of rows of `w`, which is the characters `found`.
    ///
    /// # Errors
    /// A pair is not of rows of W.
    pub fn new(
        w: &ArrayView2<'_, Complex32>,
        found: &Identification,
        pairs: &[(usize, usize)],
    ) -> Result<Self> {
        if let Some((i, j)) = pairs.iter().find(|(i, j)| *i.max(j) >= w.nrows()) {
            let what = format!("a pair ({i}, {j}) where W has {} rows", w.nrows());
            return Err(Error::new("pairs", what, "export the model again"));
        }
        let classes = Classes::of(&found.group);
        let of_pair =
            |&(i, j): &(usize, usize)| classes.triple(found.characters[i], found.characters[j]);
        let mut triples: Vec<Triple> = pairs.iter().map(|pair| of_pair(pair).0).collect();
        triples.sort_unstable();
        triples.dedup();
        let power = |row: usize| -> f64 {
            let squares = w.row(row).into_iter().map(|w| f64::from(w.norm_sqr()));
            squares.sum()
        };
        let powers: Vec<f64> = (0..w.nrows()).map(power).collect();
        let mut weights = vec![0.0; triples.len()];
        let measured = pairs.iter().map(|pair| {
            let (triple, conjugate) = of_pair(pair);
            let term = triples.binary_search(&triple).unwrap_or_default();
            // W_i of length r is r times a character: β_ij = r_i² r_j² T / √N.
            let scale = powers[pair.0] * powers[pair.1];
            weights[term] += scale * scale;
            Measured {
                term,
                conjugate,
                scale,
            }
        });
        let measured = measured.collect();
        let terms = Terms::new(&classes, &triples);
        Ok(Inverter {
            generic: Determination::of(&classes, &terms, &vec![true; classes.count()]),
            waves: waves(&classes, found),
            classes,
            terms,
            measured,
            weights,
        })
    }

    /// What the invariants leave open about a signal without zero coefficients.
    #[must_use]
    pub fn generic(&self) -> &Determination {
        &self.generic
    }

    /// The signal with the invariants `y`, which need not be normalised; `None` where they are zero, not finite or of
    /// another number.
    #[must_use]
    pub fn invert(&self, y: &[Complex64]) -> Option<Inverted> {
        let target = Target::new(self, y)?;
        let f = target.solve()?;
        let moduli: Vec<f64> = f.iter().map(|f| f.norm()).collect();
        // A coefficient that only terms of rounding have is whatever these make of it, and known to be nothing.
        let pairs = present(&moduli).into_iter().zip(target.seen());
        let present: Vec<bool> = pairs.map(|(present, seen)| present && seen).collect();
        let determination = if present.iter().all(|&present| present) {
            self.generic.clone()
        } else {
            Determination::of(&self.classes, &self.terms, &present)
        };
        Some(Inverted {
            signal: self.signal(&f)?,
            determination,
        })
    }

    /// x = Σ f(a) conj χ_a over all characters, at unit length.
    fn signal(&self, f: &[Complex64]) -> Option<Vec<f64>> {
        let mut x = vec![0.0; self.waves.ncols()];
        for (class, (f, wave)) in f.iter().zip(self.waves.rows()).enumerate() {
            // A character and its opposite have conjugate terms.
            let twice = if self.classes.is_real(class) {
                1.0
            } else {
                2.0
            };
            for (x, wave) in x.iter_mut().zip(wave) {
                *x += twice * (f.re * wave.re - f.im * wave.im);
            }
        }
        let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let is_signal = length.is_finite() && length > 0.0;
        x.iter_mut().for_each(|x| *x /= length);
        is_signal.then_some(x)
    }
}

fn waves(classes: &Classes, found: &Identification) -> Array2<Complex64> {
    let characters = found.group.characters();
    Array2::from_shape_fn((classes.count(), found.positions.len()), |(class, n)| {
        characters[(classes.character(class), found.positions[n])].conj()
    })
}

impl<'a> Target<'a> {
    /// The weighted mean of the invariants of every term.
    fn new(inverter: &'a Inverter, y: &[Complex64]) -> Option<Self> {
        let largest = y
            .iter()
            .fold(0.0, |most: f64, y| most.max(y.re.abs()).max(y.im.abs()));
        if y.len() != inverter.measured.len() || !largest.is_finite() || largest == 0.0 {
            return None;
        }
        let mut values = vec![Complex64::ZERO; inverter.weights.len()];
        for (y, measured) in y.iter().zip(&inverter.measured) {
            let y = y / largest;
            let y = if measured.conjugate { y.conj() } else { y };
            values[measured.term] += measured.scale * y;
        }
        for (value, weight) in values.iter_mut().zip(&inverter.weights) {
            if *weight > 0.0 {
                *value /= *weight;
            }
        }
        let largest = values.iter().map(|value| value.norm()).fold(0.0, f64::max);
        if !largest.is_finite() || largest == 0.0 {
            return None;
        }
        values.iter_mut().for_each(|value| *value /= largest);
        Some(Target { inverter, values })
    }

    /// Which coefficients are in a term that is more than f32's rounding of the strongest.
    fn seen(&self) -> Vec<bool> {
        let mut seen = vec![false; self.inverter.classes.count()];
        for (factors, value) in self.inverter.terms.factors.iter().zip(&self.values) {
            if value.norm() > ROUNDING {
                factors.iter().for_each(|f| seen[f.class] = true);
            }
        }
        seen
    }

    /// The best of several beginnings: until one explains all, or two agree on what cannot be explained.
    fn solve(&self) -> Option<Vec<Complex64>> {
        let mut best: Option<(f64, Vec<Complex64>)> = None;
        for beginning in BEGINNINGS {
            let mut f = self.start(beginning);
            let left = self.refine(&mut f);
            if !left.is_finite() {
                continue;
            }
            let agrees = |least: &f64| (left - least).abs() <= SAME * least;
            let enough = left < EXPLAINED || best.as_ref().is_some_and(|(least, _)| agrees(least));
            if best.as_ref().is_none_or(|(least, _)| left < *least) {
                best = Some((left, f));
            }
            if enough {
                break;
            }
        }
        best.map(|(_, f)| f)
    }
}

#[cfg(test)]
mod tests;
