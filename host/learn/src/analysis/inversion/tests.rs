//! Random signals on random groups, there and back again.

use super::trial::{Pairs, Trial};
use super::*;
use crate::data::group::Group;
use crate::group::determination;
use proptest::prelude::*;

/// A trial on `group`, and its random signal without these characters and their opposites.
fn trial(group: &Group, pairs: Pairs, seed: u64, zeros: &[usize]) -> (Trial, Vec<f32>) {
    let trial = Trial::new(group, pairs).unwrap();
    let characters = group.characters();
    let signal = trial.signal(0, seed);
    let mut x: Vec<f64> = signal.iter().map(|&x| x.into()).collect();
    for &k in zeros {
        let row = characters.row(k);
        let z: Complex64 = row.iter().zip(&x).map(|(w, x)| w * x).sum();
        let twice = if group.negate(k) == k { 1.0 } else { 2.0 };
        x.iter_mut()
            .zip(row)
            .for_each(|(x, w)| *x -= twice * (z * w.conj()).re);
    }
    (trial, x.iter().map(|&x| x as f32).collect())
}

fn error(trial: &Trial, x: &[f32]) -> f64 {
    let inverted = trial.inverter.invert(&trial.measure(x).unwrap()).unwrap();
    trial.distance(&inverted.signal, x)
}

/// The coefficients of `x`.
fn coefficients(trial: &Trial, x: &[f32]) -> Vec<Complex64> {
    let found = &trial.found;
    let characters = found.group.characters();
    let z = |&k: &usize| {
        let at = x.iter().zip(&found.positions);
        at.map(|(&x, &n)| characters[(k, n)] * f64::from(x)).sum()
    };
    found.characters.iter().map(z).collect()
}

/// Whether every coefficient is zero up to rounding or strong, of weak ones f32 leaves too little in a term of three; and
/// whether there is one: where all are zero, signals are of unit deviation before.
fn is_clear(z: &[Complex64]) -> bool {
    let largest = z.iter().map(|z| z.norm()).fold(0.0, f64::max);
    largest > 1e-2
        && z.iter()
            .all(|z| !(1e-5..5e-2).contains(&(z.norm() / largest)))
}

/// Products of cyclic groups of up to 64 elements.
fn groups() -> impl Strategy<Value = Group> {
    let factors = prop::collection::vec(1_usize..=8, 1..=3);
    let group = factors.prop_map(|factors| Group::new(factors).unwrap());
    group.prop_filter("at most 64 elements", |group| group.order() <= 64)
}

fn selections() -> impl Strategy<Value = Pairs> {
    let selective = (1_usize..4).prop_map(Pairs::Selective);
    prop_oneof![Just(Pairs::Full), Just(Pairs::Least), selective]
}

proptest! {
    #[test]
    fn a_signal_comes_back_from_its_invariants(group in groups(), seed: u64) {
        let (trial, x) = trial(&group, Pairs::Full, seed, &[]);
        let error = error(&trial, &x);
        prop_assert!(error < 1e-3, "{} {}", group, error);
    }

    #[test]
    fn and_without_its_mean_where_that_is_not_needed(group in groups(), seed: u64) {
        // On Z2, Z4 and Z2xZ2 it is; Z3 has the one term f(1)³.
        prop_assume!(group.order() > 4);
        let (trial, x) = trial(&group, Pairs::Full, seed, &[0]);
        let error = error(&trial, &x);
        prop_assert!(error < 1e-3, "{} {}", group, error);
    }

    #[test]
    fn what_is_determined_comes_back_and_what_is_not_is_said(
        group in groups(),
        seed: u64,
        zeros in prop::collection::vec(any::<prop::sample::Index>(), 1..6),
        pairs in selections(),
    ) {
        let zeros: Vec<usize> = zeros.iter().map(|zero| zero.index(group.order())).collect();
        let (trial, x) = trial(&group, pairs, seed, &zeros);
        let z = coefficients(&trial, &x);
        prop_assume!(is_clear(&z));
        let known = determination(&trial.found, &trial.pairs, &z);
        // What is not determined may look as if it were, in the noise of a few terms; not in that of all.
        prop_assume!(known.is_complete() || pairs == Pairs::Full);
        // Where all terms are zero, only rounding is left of them.
        let y = trial.measure(&x);
        let cube = x.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().powf(1.5);
        let of_rounding = |y: &Vec<Complex64>| y.iter().all(|y| y.norm() < 1e-6 * cube);
        prop_assume!(!y.as_ref().is_ok_and(of_rounding) && y.is_ok());
        let inverted = trial.inverter.invert(&y.unwrap()).unwrap();
        prop_assert_eq!(inverted.determination.is_complete(), known.is_complete());
        if known.is_complete() {
            let error = trial.distance(&inverted.signal, &x);
            prop_assert!(error < 1e-3, "{} {} {:?} {}", group, pairs, zeros, error);
        }
    }

    #[test]
    fn any_numbers_are_inverted_or_refused(
        group in groups(),
        y in prop::collection::vec((any::<f64>(), any::<f64>()), 2080),
        pairs in selections(),
    ) {
        let trial = Trial::new(&group, pairs).unwrap();
        let y = y.iter().take(trial.invariants());
        let y: Vec<Complex64> = y.map(|&(re, im)| Complex64::new(re, im)).collect();
        if let Some(inverted) = trial.inverter.invert(&y) {
            prop_assert!(inverted.signal.iter().all(|x| x.is_finite()));
        }
        prop_assert!(trial.inverter.invert(&y[1..]).is_none());
    }
}

#[test]
fn noise_on_invariants_is_averaged_out() {
    let trial = Trial::new(&"Z8xZ4".parse().unwrap(), Pairs::Full).unwrap();
    let errors = trial.errors(50, 1e-2, 1).unwrap();
    // 528 complex numbers say what 32 are: about a quarter of the noise is left.
    assert!(errors[25] < 5e-3 && errors[49] < 5e-2, "{errors:?}");
}
