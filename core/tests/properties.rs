//! What the exact irreducible representations of finite commutative groups promise: the invariants do not change
//! when the group acts on the signal, the coefficients only turn, and nothing depends on how long the signal is.
//!
//! Every tolerance is the radius that [`equations`] derives for f32; none is chosen.

mod equations;
mod written;

use bispectral_core::{Complex32, Error, Model};
use equations::{Disc, Evaluation, Rounded, evaluate};
use num_complex::Complex64;
use proptest::prelude::*;
use proptest::sample::Index;
use std::f64::consts::TAU;

/// Cyclic factors of the groups under test; N = R is their product.
const GROUPS: [&[usize]; 7] = [&[1], &[2], &[7], &[8], &[4, 2], &[3, 5], &[2, 2, 3]];

/// The characters are rounded to f32 once; the signals are f32.
const CHARACTERS: Rounded = Rounded {
    weights: 1,
    signal: 0,
};

fn digits(mut at: usize, factors: &[usize]) -> impl Iterator<Item = usize> {
    factors.iter().map(move |m| {
        let digit = at % m;
        at /= m;
        digit
    })
}

/// χ_k(n), whose values are 1 in modulus.
fn character(factors: &[usize], k: usize, n: usize) -> Complex64 {
    let turns: f64 = digits(k, factors)
        .zip(digits(n, factors))
        .zip(factors)
        .map(|((k, n), m)| ((k * n) % m) as f64 / *m as f64)
        .sum();
    Complex64::new((TAU * turns).cos(), -(TAU * turns).sin())
}

/// All characters as rows of unit length.
fn characters(factors: &[usize]) -> Vec<Complex64> {
    let n: usize = factors.iter().product();
    let entry = |k| move |at| character(factors, k, at) / (n as f64).sqrt();
    (0..n).flat_map(|k| (0..n).map(entry(k))).collect()
}

/// x moved by the group element g: (g x)(n) = x(n − g).
fn moved(x: &[f32], g: usize, factors: &[usize]) -> Vec<f32> {
    let mut out = vec![0.0; x.len()];
    for (n, x) in x.iter().enumerate() {
        let mut weight = 1;
        let mut to = 0;
        for ((n, g), m) in digits(n, factors).zip(digits(g, factors)).zip(factors) {
            to += (n + g) % m * weight;
            weight *= m;
        }
        out[to] = *x;
    }
    out
}

fn rounded(weights: &[Complex64]) -> Vec<Complex32> {
    let round = |w: &Complex64| Complex32::new(w.re as f32, w.im as f32);
    weights.iter().map(round).collect()
}

fn invariants(model: &Model<'_>, x: &[f32]) -> Result<Vec<Complex32>, Error> {
    let mut out = vec![Complex32::ZERO; model.pairs()];
    model.invariants(x, &mut vec![0.0; model.scratch_len()], &mut out)?;
    Ok(out)
}

fn exactly(weights: &[Complex64], x: &[f32]) -> Evaluation {
    let x: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
    evaluate(weights, &x, CHARACTERS)
}

/// Where a number must lie whose exact value is that of `value` and whose roundings are those of `errors`.
fn shifted(value: &Disc, errors: &Disc) -> Disc {
    Disc {
        centre: value.centre,
        radius: errors.radius,
    }
}

/// One of [`GROUPS`], and a signal on it.
fn signal() -> impl Strategy<Value = (&'static [usize], Vec<f32>)> {
    proptest::sample::select(&GROUPS[..]).prop_flat_map(|factors| {
        let n = factors.iter().product::<usize>();
        let samples = prop::collection::vec(-1.0_f32..1.0, n);
        (
            Just(factors),
            samples.prop_filter("zero", |x| x.iter().any(|x| *x != 0.0)),
        )
    })
}

proptest! {
    #[test]
    fn invariants_do_not_change_under_any_group_element((factors, x) in signal()) {
        let weights = characters(factors);
        let bytes = written::model(x.len(), &rounded(&weights));
        let model = Model::from_bytes(&bytes).unwrap();
        let still = exactly(&weights, &x);
        for g in 0..x.len() {
            let x = moved(&x, g, factors);
            let errors = exactly(&weights, &x);
            prop_assume!(errors.is_well_conditioned());
            let found = invariants(&model, &x).unwrap();
            for ((value, error), b) in still.invariants.iter().zip(&errors.invariants).zip(found) {
                let disc = shifted(value, error);
                prop_assert!(disc.holds(b.re, b.im), "element {g}: {b} outside {disc:?}");
            }
        }
    }

    #[test]
    fn the_bispectrum_itself_does_not_change_either((factors, x) in signal(), g in any::<Index>()) {
        let weights = characters(factors);
        let bytes = written::model(x.len(), &rounded(&weights));
        let model = Model::from_bytes(&bytes).unwrap();
        let still = exactly(&weights, &x);
        let x = moved(&x, g.index(x.len()), factors);
        let mut beta = vec![Complex32::ZERO; model.pairs()];
        model.bispectrum(&x, &mut vec![0.0; model.scratch_len()], &mut beta).unwrap();
        for ((value, error), b) in still.bispectrum.iter().zip(exactly(&weights, &x).bispectrum).zip(beta) {
            let disc = shifted(value, &error);
            prop_assert!(disc.holds(b.re, b.im), "{b} outside {disc:?}");
        }
    }

    #[test]
    fn a_coefficient_turns_by_the_character_of_its_row((factors, x) in signal(), g in any::<Index>()) {
        let weights = characters(factors);
        let bytes = written::model(x.len(), &rounded(&weights));
        let model = Model::from_bytes(&bytes).unwrap();
        let still = exactly(&weights, &x).coefficients;
        let g = g.index(x.len());
        let x = moved(&x, g, factors);
        let mut z = vec![Complex32::ZERO; x.len()];
        model.coefficients(&x, &mut vec![0.0; model.scratch_len()], &mut z).unwrap();
        for (row, (value, error)) in still.iter().zip(exactly(&weights, &x).coefficients).enumerate() {
            let mut disc = shifted(value, &error);
            disc.centre *= character(factors, row, g);
            prop_assert!(disc.holds(z[row].re, z[row].im), "row {row}: {} outside {disc:?}", z[row]);
        }
    }

    #[test]
    fn the_power_spectrum_does_not_change_under_any_group_element((factors, x) in signal()) {
        let weights = characters(factors);
        let bytes = written::model(x.len(), &rounded(&weights));
        let model = Model::from_bytes(&bytes).unwrap();
        let still = exactly(&weights, &x).coefficients;
        for g in 0..x.len() {
            let x = moved(&x, g, factors);
            let mut power = vec![0.0; x.len()];
            model.power_spectrum(&x, &mut vec![0.0; model.scratch_len()], &mut power).unwrap();
            for ((value, error), power) in still.iter().zip(exactly(&weights, &x).coefficients).zip(power) {
                let squared = value.centre.norm_sqr();
                // |z|² with z anywhere in its disc, two roundings of 2^-24, and steps of the subnormals.
                let radius = (2.0 * squared.sqrt() + error.radius) * error.radius;
                let tolerance = (squared + radius) * 2_f64.powi(-23) + radius + f64::from(f32::from_bits(3));
                prop_assert!((f64::from(power) - squared).abs() <= tolerance, "element {g}");
            }
        }
    }

    #[test]
    fn invariants_have_unit_norm_whatever_the_condition((factors, x) in signal()) {
        let weights = characters(factors);
        let bytes = written::model(x.len(), &rounded(&weights));
        match invariants(&Model::from_bytes(&bytes).unwrap(), &x) {
            Ok(found) => {
                prop_assert!(exactly(&weights, &x).permits(true));
                let squares: f64 = found.iter().map(|b| f64::from(b.re).powi(2) + f64::from(b.im).powi(2)).sum();
                // Three roundings of 2^-24 in the norm, one in its reciprocal, one in each product: below six together.
                prop_assert!((squares.sqrt() - 1.0).abs() < 6.0 * 2_f64.powi(-24), "{squares}");
            }
            Err(error) => {
                prop_assert_eq!(error, Error::ZeroBispectrum);
                prop_assert!(exactly(&weights, &x).permits(false));
            }
        }
    }

    #[test]
    fn a_phase_on_every_row_changes_nothing(
        (factors, x) in signal(),
        phases in prop::collection::vec(0.0..TAU, 15),
    ) {
        let n = x.len();
        let weights = characters(factors);
        let rephased: Vec<Complex64> = (weights.iter().enumerate())
            .map(|(at, w)| w * Complex64::new(phases[at / n].cos(), phases[at / n].sin()))
            .collect();
        let bytes = written::model(n, &rounded(&rephased));
        let errors = exactly(&rephased, &x);
        prop_assume!(errors.is_well_conditioned());
        let found = invariants(&Model::from_bytes(&bytes).unwrap(), &x).unwrap();
        for ((value, error), b) in exactly(&weights, &x).invariants.iter().zip(&errors.invariants).zip(found) {
            let disc = shifted(value, error);
            prop_assert!(disc.holds(b.re, b.im), "{b} outside {disc:?}");
        }
    }
}

#[test]
fn rows_multiplied_by_minus_one_change_no_bit() {
    for factors in GROUPS {
        let weights = rounded(&characters(factors));
        let n = factors.iter().product();
        let x: Vec<f32> = (0..n).map(|at| 1.0 / (3 + at * at) as f32).collect();
        let negated: Vec<Complex32> = (weights.iter().enumerate())
            .map(|(at, w)| if at / n % 2 == 0 { -w } else { *w })
            .collect();
        let [still, negated] = [weights, negated].map(|weights| {
            let bytes = written::model(n, &weights);
            invariants(&Model::from_bytes(&bytes).unwrap(), &x).unwrap()
        });
        assert_eq!(still, negated, "{factors:?}");
    }
}
