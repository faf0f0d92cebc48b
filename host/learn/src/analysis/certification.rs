//! Whether invariants tell all signals apart, up to the group: a search for counterexamples, and what is added where there is one.
//!
//! Full rank of the Jacobian tells signals apart that are near each other. Signals far apart may have the same invariants all the
//! same. So random signals x are inverted: an x′ with form(x′) = form(x) that is in another orbit is a counterexample, and the
//! smallest of the other forms that tells x from x′ joins the selective set, until nothing more is found. Where no form of up to
//! third order tells them apart, the pair itself proves that these are not enough: then the smallest form of order four that does
//! joins the set. Where none does, the pair is what is returned.

use super::form_inversion::invert_forms;
use crate::group::compact::Compact;
use crate::group::contraction::{Contractions, Covariant};
use crate::group::couplings::CouplingsError;
use crate::group::{Action, Couplings, couplings_of, forms_of_order_four};
use crate::numeric::random::{Purpose, stream_at};
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;

/// Larger models are not searched: an inversion takes the cube of the rows.
pub const MOST_ROWS: usize = 64;
/// Larger ones are not completed by forms of fourth order.
const MOST_COMPLETED_ROWS: usize = 128;
/// Signals that are inverted to see whether they are complete.
const TRIALS: usize = 8;
/// Forms that change by a larger share along orbits are those of noise.
const CHANGE: f64 = 1e-6;
/// Starts of one inversion: those that end in a valley above zero show nothing.
const STARTS: usize = 12;
/// Signals of unit length further than this from an orbit are outside: solved ones are within 1e-8 or at 0.1 and more.
const OUTSIDE: f64 = 1e-4;
/// Forms, of unit signals, that differ by more than this tell two signals apart.
const APART: f64 = 1e-6;

/// Two signals of unit length, in different orbits, that have the same invariants.
#[derive(Debug, Clone, PartialEq)]
pub struct Confusion {
    /// The signals.
    pub signals: [Vec<f64>; 2],
    /// How far the second is from the orbit of the first.
    pub distance: f64,
}

/// Invariants, and what was found about them.
#[derive(Debug, Clone, PartialEq)]
pub struct Certified {
    /// The selective set in front has told apart all signals that were tried.
    pub couplings: Couplings,
    /// Signals that were inverted in the last round; zero where there are too many rows.
    pub trials: usize,
    /// Forms that joined the selective set because of counterexamples.
    pub added: usize,
    /// Those of them that are of order four, since no form of up to third order did it.
    pub fourth: usize,
    /// Two signals that no form of up to fourth order tells apart.
    pub confused: Option<Confusion>,
}

/// The distance of `y` from the orbit of `x`, both taken at unit length.
///
/// # Panics
/// Their lengths are not the action's.
#[must_use]
pub fn orbit_distance(action: &Action, x: &[f64], y: &[f64]) -> f64 {
    let (x, y) = (unit(x), unit(y));
    let square =
        |moved: Vec<f64>| -> f64 { moved.iter().zip(&y).map(|(a, b)| (a - b).powi(2)).sum() };
    let squares = action.elements().iter().map(|g| square(g.moved(&x)));
    squares.fold(f64::INFINITY, f64::min).sqrt()
}

fn unit(x: &[f64]) -> Vec<f64> {
    let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    x.iter().map(|x| x / length).collect()
}

/// A random signal without any symmetry.
fn signal(inputs: usize, seed: u64, trial: usize) -> Vec<f64> {
    let mut random = stream_at(seed, Purpose::Exemplars, [trial as u64, 1]);
    let x: Vec<f64> = (0..inputs).map(|_| random.sample(StandardNormal)).collect();
    unit(&x)
}

/// Two signals that `couplings` do not tell apart though `action` does not relate them, where one of `trials` inversions finds
/// such; the first, whatever the threads.
#[must_use]
pub fn confusion(
    couplings: &Couplings,
    action: &Action,
    trials: usize,
    seed: u64,
) -> Option<Confusion> {
    (0..trials).into_par_iter().find_map_first(|trial| {
        let x = signal(action.degree(), seed, trial);
        let target = couplings.invariants(&x).ok()?;
        let found = invert_forms(couplings, &target, STARTS, seed ^ trial as u64);
        let distance = orbit_distance(action, &x, &found.signal);
        (found.is_solved() && distance > OUTSIDE).then(|| Confusion {
            signals: [x, unit(&found.signal)],
            distance,
        })
    })
}

/// The invariants of `action`, the selective set grown until `trials` inversions of random signals stay in their orbits.
///
/// ```
/// use bispectral_learn::analysis::certification::certified;
/// use bispectral_learn::group::known_action;
///
/// let found = certified(&known_action("D4", None)?, 20, 0)?;
/// assert!(found.confused.is_none() && found.trials == 20);
/// // Corners of a cube: mirror images have the same invariants of third order, and others of fourth.
/// assert!(certified(&known_action("O", Some(8))?, 20, 0)?.fourth > 0);
/// // Faces of a cube: z₁z₂z₃ times an antisymmetric form of order three would be needed, order six in all.
/// assert!(certified(&known_action("O", Some(6))?, 20, 0)?.confused.is_some());
/// # Ok::<(), bispectral_learn::Error>(())
/// ```
///
/// # Errors
/// The group is too large.
pub fn certified(action: &Action, trials: usize, seed: u64) -> Result<Certified, CouplingsError> {
    let mut couplings = couplings_of(action, seed)?;
    let count = couplings.selective().unwrap_or(couplings.terms().len());
    let mut found = Certified {
        couplings: couplings.clone(),
        trials: 0,
        added: 0,
        fourth: 0,
        confused: None,
    };
    if couplings.rows() > MOST_ROWS {
        return Ok(found);
    }
    found.trials = trials;
    let mut selective = count;
    let mut of_order_four = None;
    let confused = loop {
        let chosen = couplings.first(selective)?;
        let Some(confused) = confusion(&chosen, action, trials, seed) else {
            break None;
        };
        let Some(next) = separating(&couplings, selective, &confused) else {
            let forms = of_order_four.get_or_insert_with(|| forms_of_order_four(action).ok());
            let term = forms.as_ref().and_then(|forms| {
                let number = separating(forms, 0, &confused)?;
                couplings.with_term_of(forms, number, selective).ok()
            });
            let Some(extended) = term else {
                break Some(confused);
            };
            couplings = extended;
            selective += 1;
            found.fourth += 1;
            continue;
        };
        let mut order: Vec<usize> = (0..couplings.terms().len()).collect();
        order[selective..=next].rotate_right(1);
        selective += 1;
        couplings = couplings.select(&order)?.with_selective(selective)?;
    };
    found.added = selective - count;
    found.confused = confused;
    found.couplings = couplings;
    Ok(found)
}

/// Couplings, and behind them as many forms of fourth order, made of their terms and `others`, as tell signals apart: first those that
/// raise the rank of the derivatives, then, until `trials` inversions of random signals show nothing more, the smallest that
/// tells a signal from what came back.
///
/// No element of the group is needed: of two signals with the same invariants, another form tells whether they are of one orbit.
///
/// # Errors
/// None that sound couplings could have.
pub fn completed(
    couplings: &Couplings,
    others: Vec<Covariant>,
    trials: usize,
    seed: u64,
) -> Result<Couplings, CouplingsError> {
    let contractions = Contractions::of(couplings, others);
    let generic = couplings.coefficients(&signal(couplings.inputs(), seed, usize::MAX))?;
    let mut chosen = contractions.independent(&unit(&generic));
    let mut all = contractions.with(&chosen)?;
    // Each is a counterexample less: there are few, and never more than blocks have rows.
    for _ in 0..couplings.rows() {
        let missing = (0..trials).into_par_iter().find_map_first(|trial| {
            let x = signal(all.inputs(), seed, trial);
            let target = all.invariants(&x).ok()?;
            let found = invert_forms(&all, &target, STARTS, seed ^ trial as u64);
            if !found.is_solved() {
                return None;
            }
            let here = unit(&all.coefficients(&x).ok()?);
            let there = unit(&all.coefficients(&found.signal).ok()?);
            let value = |number, z: &[f64]| contractions.value(number, z);
            let apart =
                |&number: &usize| (value(number, &here) - value(number, &there)).abs() > APART;
            (0..contractions.count())
                .filter(|number| !chosen.contains(number))
                .find(apart)
        });
        let Some(next) = missing else { break };
        chosen.push(next);
        all = contractions.with(&chosen)?;
    }
    Ok(all)
}

/// The invariants of a compact group, with the forms of fourth order without which they do not determine a signal. What noise left
/// of forms that change along orbits, and models too large to search, stay as they are.
///
/// ```
/// use bispectral_learn::analysis::certification::invariants_of;
/// use bispectral_learn::data::representation::{Representation, orthogonal};
/// use bispectral_learn::group::compact::{Compact, Moments};
///
/// // Rotations of space on coefficients of degrees 0 to 2: 9 numbers less 3 angles, but only 5 forms of up to third order.
/// let orbits = Representation::so3(&[0, 1, 2]).orbits(300, 4, &orthogonal(9, 7), 0)?;
/// let found = Compact::of(&Moments::of(&orbits)?, 0)?;
/// let third = found.couplings().terms().len();
/// assert!(third < 6 && invariants_of(&found, 0)?.terms().len() >= 6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// None that sound couplings could have.
pub fn invariants_of(found: &Compact, seed: u64) -> Result<Couplings, CouplingsError> {
    let couplings = found.couplings();
    let exact = found.forms().iter().all(|form| form.lambda > 1.0 - CHANGE);
    if !exact || couplings.rows() > MOST_COMPLETED_ROWS {
        return Ok(couplings.clone());
    }
    completed(couplings, found.covariants(), TRIALS, seed)
}

/// The smallest form behind the selective ones that tells the two signals apart.
fn separating(couplings: &Couplings, selective: usize, confused: &Confusion) -> Option<usize> {
    let [a, b] = &confused.signals;
    let (a, b) = (couplings.invariants(a).ok()?, couplings.invariants(b).ok()?);
    let size = |&term: &usize| {
        let tensor = couplings.terms()[term].tensor;
        couplings.tensors()[tensor].entries().len()
    };
    (selective..a.len())
        .filter(|&term| (a[term] - b[term]).abs() > APART)
        .min_by_key(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::known_action;

    #[test]
    fn a_selective_set_without_counterexamples_is_found_for_every_usual_group() {
        for name in ["S3", "D4", "Q8", "D8", "A4", "S4", "Z7⋊Z3", "Dic6"] {
            let action = known_action(name, None).unwrap();
            let begun = std::time::Instant::now();
            let before = couplings_of(&action, 0).unwrap().selective();
            // A rare one may need some hundred signals to be seen.
            let found = certified(&action, 300, 0).unwrap();
            println!(
                "{name}: {before:?} and {} more of {}, {:?}",
                found.added,
                found.couplings.terms().len(),
                begun.elapsed()
            );
            assert_eq!(found.confused, None, "{name}");
            let chosen = found.couplings.first(found.couplings.selective().unwrap());
            // Signals that it was not grown on.
            assert_eq!(confusion(&chosen.unwrap(), &action, 40, 9), None, "{name}");
        }
    }

    #[test]
    fn where_third_order_is_not_enough_two_signals_prove_it() {
        for (name, inputs) in [("O", 6), ("A4", 4)] {
            let action = known_action(name, Some(inputs)).unwrap();
            let found = certified(&action, 40, 0).unwrap();
            let Some(confused) = found.confused else {
                panic!("{name} on {inputs}");
            };
            let [a, b] = confused
                .signals
                .map(|x| found.couplings.invariants(&x).unwrap());
            let off = a
                .iter()
                .zip(&b)
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f64::max);
            assert!(off < 1e-6 && confused.distance > 0.01, "{name} on {inputs}");
        }
    }

    #[test]
    fn forms_of_fourth_order_tell_the_corners_of_a_cube_from_their_mirror_image() {
        let action = known_action("O", Some(8)).unwrap();
        let third = couplings_of(&action, 0).unwrap();
        assert!(confusion(&third, &action, 40, 0).is_some());
        let found = certified(&action, 100, 0).unwrap();
        assert_eq!((found.confused, found.fourth > 0), (None, true));
        assert_eq!(found.couplings.orders().max(), Some(4));
        let selective = found.couplings.selective().unwrap();
        let chosen = found.couplings.first(selective).unwrap();
        assert_eq!(confusion(&chosen, &action, 40, 9), None);
    }
}
