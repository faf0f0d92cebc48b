//! Many signals from their invariants, by the model's group where it has one and otherwise by gradient.

use super::{Inverter, by_gradient};
use crate::analysis::descent::Progress;
use crate::analysis::form_inversion::invert_forms_within;
use crate::group::identify::identify;
use crate::group::{Couplings, Determination};
use crate::model::couplings;
use crate::model::file::weights;
use crate::{Error, Result};
use bispectral_core::{Complex32, Model, pair_count};
use ndarray::Array2;
use num_complex::Complex64;
use rayon::prelude::*;

/// More rows of couplings take minutes a signal: a step solves as many equations.
const MOST_ROWS: usize = 256;
/// Starts of least squares: nearly all signals take fewer than ten.
const STARTS: usize = 200;
/// What rounding to f32 leaves of an invariant, squared: its sums have errors of a few 2⁻²⁴.
const ROUNDING: f64 = 1e-12;

/// A model and how it is inverted.
#[derive(Debug)]
pub struct Inversion<'m> {
    model: Model<'m>,
    w: Array2<Complex32>,
    method: Method,
    group: Option<String>,
}

#[derive(Debug)]
enum Method {
    Group(Box<Inverter>),
    /// By least squares from random starts; its seed.
    Couplings(Box<Couplings>, u64),
    Gradient {
        restarts: u32,
        seed: u64,
    },
}

/// A signal that was rebuilt.
#[derive(Debug, Clone, PartialEq)]
pub struct Rebuilt {
    /// Of unit length.
    pub signal: Vec<f32>,
    /// ‖β̄(x) − y‖, by bispectral-core.
    pub residual: f64,
    /// What the invariants leave open; `None` where nobody knows.
    pub determination: Option<Determination>,
}

impl<'m> Inversion<'m> {
    /// Of `model`. `restarts` and `seed` are of descents from noise, where the model is of no group.
    ///
    /// # Errors
    /// The model has a list of pairs, and no group is recognised.
    pub fn new(model: Model<'m>, restarts: u32, seed: u64) -> Result<Self> {
        let w = weights(&model);
        if let Some(couplings) = couplings::decode(&model) {
            if couplings.rows() > MOST_ROWS {
                let what = format!(
                    "{} rows of couplings are more than the {MOST_ROWS} that are inverted",
                    couplings.rows()
                );
                return Err(Error::new("the model", what, "invert a smaller one"));
            }
            return Ok(Inversion {
                group: model.group().map(str::to_owned),
                method: Method::Couplings(Box::new(couplings), seed),
                model,
                w,
            });
        }
        let found = identify(&w.view());
        let method = match &found {
            Ok(found) => {
                let pairs: Vec<(usize, usize)> = model.pair_list().collect();
                Method::Group(Box::new(Inverter::new(&w.view(), found, &pairs)?))
            }
            Err(_) if model.pairs() == pair_count(model.rows()) => {
                Method::Gradient { restarts, seed }
            }
            Err(refusal) => {
                return Err(Error::new(
                    "the model",
                    format!("a list of pairs, and no finite commutative group: {refusal}"),
                    "invert with a model of all pairs",
                ));
            }
        };
        let group = found.ok().map(|found| found.group.to_string());
        Ok(Inversion {
            model,
            w,
            method,
            group,
        })
    }

    /// The group by which signals are rebuilt; none where it is done by gradient.
    #[must_use]
    pub fn group(&self) -> Option<&str> {
        self.group.as_deref()
    }

    /// Refuses invariants that no signal has; `sample` is their number in messages.
    ///
    /// # Errors
    /// A value is not finite, or all are zero.
    pub fn check(sample: usize, invariants: &[Complex64]) -> Result<()> {
        let refused =
            |what: String, remedy: &str| Err(Error::new(format!("sample {sample}"), what, remedy));
        if let Some(column) = invariants.iter().position(|y| !y.is_finite()) {
            let what = format!("column {column} is {}", invariants[column]);
            return refused(what, "replace the value or leave the sample out");
        }
        if invariants.iter().all(|y| *y == Complex64::ZERO) {
            let what = "every value is zero".into();
            return refused(what, "leave the sample out, no signal has it");
        }
        Ok(())
    }

    /// The signals of `invariants`, one sample behind the other; `None` where there is none at all. `observe` is told of
    /// every step of a descent.
    ///
    /// # Errors
    /// `observe` failed.
    ///
    /// # Panics
    /// The invariants are not of whole samples.
    pub fn invert(
        &self,
        invariants: &[Complex64],
        observe: impl FnMut(u32, Progress) -> Result<()>,
    ) -> Result<Vec<Option<Rebuilt>>> {
        let pairs = self.model.pairs();
        match &self.method {
            Method::Couplings(couplings, seed) => Ok(invariants
                .par_chunks(pairs)
                .map(|y| {
                    let target: Vec<f64> = y.iter().map(|y| y.re).collect();
                    let solved = ROUNDING * pairs as f64;
                    let found = invert_forms_within(couplings, &target, STARTS, *seed, solved);
                    Some(self.rebuilt(&found.signal, y, None))
                })
                .collect()),
            Method::Group(inverter) => Ok(invariants
                .par_chunks(pairs)
                .map(|y| {
                    let inverted = inverter.invert(y)?;
                    Some(self.rebuilt(&inverted.signal, y, Some(inverted.determination)))
                })
                .collect()),
            &Method::Gradient { restarts, seed } => {
                let targets: Vec<Complex32> = invariants
                    .chunks(pairs)
                    .flat_map(normalised)
                    .map(|y| Complex32::new(y.re as f32, y.im as f32))
                    .collect();
                let shape = (invariants.len() / pairs, pairs);
                let targets = Array2::from_shape_vec(shape, targets).expect("whole samples");
                let found =
                    by_gradient(&self.w.view(), &targets.view(), (restarts, seed), observe)?;
                let signals = found.metamers.rows().into_iter();
                Ok(signals
                    .zip(invariants.chunks(pairs))
                    .map(|(signal, y)| {
                        let signal: Vec<f64> = signal.iter().map(|&x| x.into()).collect();
                        Some(self.rebuilt(&signal, y, None))
                    })
                    .collect())
            }
        }
    }

    fn rebuilt(
        &self,
        signal: &[f64],
        y: &[Complex64],
        determination: Option<Determination>,
    ) -> Rebuilt {
        let length = signal.iter().map(|x| x * x).sum::<f64>().sqrt();
        let signal: Vec<f32> = signal.iter().map(|&x| (x / length) as f32).collect();
        let residual = match &self.method {
            // Divided by powers of ‖z‖, not by their own length.
            Method::Couplings(..) => distance(&self.model, &signal, y.iter().copied()),
            _ => distance(&self.model, &signal, normalised(y)),
        };
        Rebuilt {
            residual,
            signal,
            determination,
        }
    }
}

/// y at unit length, however small or large its numbers are.
fn normalised(y: &[Complex64]) -> impl Iterator<Item = Complex64> {
    let largest = y.iter().map(|y| y.norm()).fold(0.0, f64::max);
    let squares: f64 = y.iter().map(|y| (y / largest).norm_sqr()).sum();
    let norm = squares.sqrt();
    y.iter().map(move |y| y / largest / norm)
}

/// ‖β̄(x) − y‖; the length of y where x has no invariants.
fn distance(model: &Model<'_>, x: &[f32], y: impl Iterator<Item = Complex64>) -> f64 {
    let none = || vec![Complex32::ZERO; model.pairs()];
    let found = model.invariants_vec(x).unwrap_or_else(|_| none());
    let terms = found.iter().zip(y);
    let distance = terms.map(|(found, y)| {
        let found = Complex64::new(found.re.into(), found.im.into());
        (found - y).norm_sqr()
    });
    distance.sum::<f64>().sqrt()
}
