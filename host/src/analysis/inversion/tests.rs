//! Random signals on random groups, there and back again.

use super::*;
use crate::data::group::Group;
use crate::data::random::{Purpose, stream};
use crate::export::bsn::encode_array;
use crate::group::identify::identify;
use crate::group::{determination, least, selective};
use bispectral_core::{Model, pair_index, pairs};
use proptest::prelude::*;
use rand::RngExt;
use rand_distr::StandardNormal;

/// A group's exact characters as a model, and its full triangle or the chosen pairs.
struct Case {
    group: Group,
    found: Identification,
    bytes: Vec<u8>,
    pairs: Vec<(usize, usize)>,
    inverter: Inverter,
}

impl Case {
    /// All pairs, or those of `paths` walks, of which 0 is the least selection.
    fn new(group: &Group, paths: Option<usize>) -> Self {
        let w = group.characters();
        let w = w.mapv(|w| Complex32::new(w.re as f32, w.im as f32));
        let found = identify(&w.view()).unwrap();
        let pairs = match paths {
            None => pairs(group.order()).collect(),
            Some(0) => least(&found),
            Some(paths) => selective(&found, paths),
        };
        Case {
            group: group.clone(),
            bytes: encode_array(&w.view(), "", None).unwrap(),
            inverter: Inverter::new(&w.view(), &found, &pairs).unwrap(),
            pairs,
            found,
        }
    }

    /// By the device's code; none where all of these are zero and only rounding would be left.
    fn invariants(&self, x: &[f64]) -> Option<Vec<Complex64>> {
        let model = Model::from_bytes(&self.bytes).unwrap();
        let x: Vec<f32> = x.iter().map(|&x| x as f32).collect();
        let mut all = vec![Complex32::ZERO; model.pairs()];
        let mut scratch = vec![0.0; model.scratch_len()];
        model.bispectrum(&x, &mut scratch, &mut all).ok()?;
        let cube = x.iter().map(|x| x * x).sum::<f32>().powf(1.5);
        let at = |&(i, j): &(usize, usize)| all[pair_index(model.rows(), i, j).unwrap()];
        let chosen = self.pairs.iter().map(at);
        let chosen: Vec<Complex32> = chosen.collect();
        let largest = chosen.iter().map(|y| y.norm()).fold(0.0, f32::max);
        let wide = chosen
            .iter()
            .map(|y| Complex64::new(y.re.into(), y.im.into()));
        (largest > 1e-6 * cube).then(|| wide.collect())
    }

    /// Of the signal itself.
    fn determination(&self, x: &[f64]) -> Determination {
        let characters = self.found.group.characters();
        let z = |&k: &usize| {
            let at = x.iter().zip(&self.found.positions);
            at.map(|(x, &n)| characters[(k, n)] * x).sum()
        };
        let z: Vec<Complex64> = self.found.characters.iter().map(z).collect();
        determination(&self.found, &self.pairs, &z)
    }

    fn error(&self, x: &[f64]) -> f64 {
        let y = self.invariants(x).unwrap();
        let inverted = self.inverter.invert(&y).unwrap();
        distance(&self.group, &inverted.signal, x)
    }
}

/// ‖a − b‖ at unit length, b where it is nearest.
fn distance(group: &Group, a: &[f64], b: &[f64]) -> f64 {
    let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let (la, lb) = (length(a), length(b));
    let to = |shift: usize| -> f64 {
        let terms = (0..a.len()).map(|n| a[n] / la - b[group.add(n, shift)] / lb);
        terms.map(|d| d * d).sum::<f64>().sqrt()
    };
    (0..a.len()).map(to).fold(f64::INFINITY, f64::min)
}

fn random(order: usize, seed: u64) -> Vec<f64> {
    let mut random = stream(seed, Purpose::Exemplars);
    (0..order).map(|_| random.sample(StandardNormal)).collect()
}

/// The signal without these characters, and theirs of opposite sign.
fn without(group: &Group, x: &[f64], zeros: &[usize]) -> Vec<f64> {
    let characters = group.characters();
    let mut x = x.to_vec();
    for &k in zeros {
        let row = characters.row(k);
        let z: Complex64 = row.iter().zip(&x).map(|(w, x)| w * x).sum();
        let twice = if group.negate(k) == k { 1.0 } else { 2.0 };
        x.iter_mut()
            .zip(row)
            .for_each(|(x, w)| *x -= twice * (z * w.conj()).re);
    }
    x
}

/// Products of cyclic groups of up to 64 elements.
fn groups() -> impl Strategy<Value = Group> {
    let factors = prop::collection::vec(1_usize..=8, 1..=3);
    let group = factors.prop_map(|factors| Group::new(factors).unwrap());
    group.prop_filter("at most 64 elements", |group| group.order() <= 64)
}

proptest! {
    #[test]
    fn a_signal_comes_back_from_its_invariants(group in groups(), seed: u64) {
        let case = Case::new(&group, None);
        let error = case.error(&random(group.order(), seed));
        prop_assert!(error < 1e-3, "{} {}", group, error);
    }

    #[test]
    fn and_without_its_mean_where_that_is_not_needed(group in groups(), seed: u64) {
        prop_assume!(group.order() > 4);
        let case = Case::new(&group, None);
        let x = without(&group, &random(group.order(), seed), &[0]);
        let error = case.error(&x);
        prop_assert!(error < 1e-3, "{} {}", group, error);
    }

    #[test]
    fn what_is_determined_comes_back_and_what_is_not_is_said(
        group in groups(),
        seed: u64,
        zeros in prop::collection::vec(any::<prop::sample::Index>(), 1..6),
        paths in prop::option::of(0_usize..4),
    ) {
        let case = Case::new(&group, paths);
        let zeros: Vec<usize> = zeros.iter().map(|zero| zero.index(group.order())).collect();
        let x = without(&group, &random(group.order(), seed), &zeros);
        let known = case.determination(&x);
        // What is not determined may look as if it were, in the noise of a few terms; not in that of all.
        prop_assume!(known.is_complete() || paths.is_none());
        let Some(y) = case.invariants(&x) else { return Ok(()) };
        let inverted = case.inverter.invert(&y).unwrap();
        prop_assert_eq!(inverted.determination.is_complete(), known.is_complete());
        if known.is_complete() {
            let error = distance(&group, &inverted.signal, &x);
            prop_assert!(error < 1e-3, "{} {:?} {}", group, zeros, error);
        }
    }

    #[test]
    fn any_numbers_are_inverted_or_refused(
        group in groups(),
        y in prop::collection::vec((any::<f64>(), any::<f64>()), 2080),
        paths in prop::option::of(0_usize..3),
    ) {
        let case = Case::new(&group, paths);
        let y: Vec<Complex64> = y.iter().take(case.pairs.len()).map(|&(re, im)| Complex64::new(re, im)).collect();
        if let Some(inverted) = case.inverter.invert(&y) {
            prop_assert!(inverted.signal.iter().all(|x| x.is_finite()));
        }
    }
}
