//! z, β and β̄ of `tests/golden`, which another program computed in double precision, from weights and signals
//! rounded to f32.

mod equations;
mod written;

use bispectral_core::{Complex32, Model};
use equations::{Disc, Rounded, evaluate};
use num_complex::Complex64;
use serde::Deserialize;

/// Both W and x are rounded from the file's doubles.
const ROUNDED: Rounded = Rounded {
    weights: 1,
    signal: 1,
};

/// What is measured is 9.9e-8 for z, 2.8e-7 for β and 2.1e-7 for β̄, on every machine; more is a change for the worse.
const MEASURED: [f64; 3] = [1.0e-7, 2.9e-7, 2.2e-7];

/// Complex arrays as the files have them.
#[derive(Deserialize)]
struct Planes {
    re: Vec<Vec<f64>>,
    im: Vec<Vec<f64>>,
}

impl Planes {
    fn row(&self, at: usize) -> Vec<Complex64> {
        let pair = |(re, im): (&f64, &f64)| Complex64::new(*re, *im);
        self.re[at].iter().zip(&self.im[at]).map(pair).collect()
    }
}

#[derive(Deserialize)]
struct Golden {
    name: String,
    inputs: usize,
    rows: usize,
    x: Vec<Vec<f64>>,
    w: Planes,
    z: Planes,
    beta: Planes,
    beta_normalised: Planes,
}

const FILES: [&str; 4] = [
    include_str!("golden/tiny.json"),
    include_str!("golden/wide.json"),
    include_str!("golden/square8.json"),
    include_str!("golden/square16.json"),
];

fn golden() -> impl Iterator<Item = Golden> {
    FILES
        .into_iter()
        .map(|text| serde_json::from_str(text).unwrap())
}

/// The worst error of a vector, of its largest magnitude; each element must be where its roundings allow.
fn worst(what: &str, found: &[Complex32], expected: &[Complex64], discs: &[Disc]) -> f64 {
    assert_eq!(
        (found.len(), discs.len()),
        (expected.len(), expected.len()),
        "{what}"
    );
    let magnitude = |z: Complex64| z.re.hypot(z.im);
    let largest = expected
        .iter()
        .fold(0.0_f64, |largest, z| largest.max(magnitude(*z)));
    let mut worst = 0.0_f64;
    for (at, ((found, expected), disc)) in found.iter().zip(expected).zip(discs).enumerate() {
        let disc = Disc {
            centre: *expected,
            radius: disc.radius,
        };
        assert!(
            disc.holds(found.re, found.im),
            "{what} {at}: {found} outside {disc:?}"
        );
        let error = Complex64::new(found.re.into(), found.im.into()) - expected;
        worst = worst.max(magnitude(error) / largest);
    }
    worst
}

#[test]
fn every_golden_vector_is_met_to_f32() {
    let mut overall = [0.0_f64; 3];
    for golden in golden() {
        let weights: Vec<Complex64> = (0..golden.rows).flat_map(|i| golden.w.row(i)).collect();
        let round = |w: &Complex64| Complex32::new(w.re as f32, w.im as f32);
        let bytes = written::model(
            golden.inputs,
            &weights.iter().map(round).collect::<Vec<_>>(),
        );
        let model = Model::from_bytes(&bytes).unwrap();
        assert_eq!(model.rows(), golden.rows);
        let mut scratch = vec![0.0; model.scratch_len()];
        let mut terms = vec![Complex32::ZERO; model.pairs()];
        for (at, exact_x) in golden.x.iter().enumerate() {
            let x: Vec<f32> = exact_x.iter().map(|x| *x as f32).collect();
            let exact = evaluate(&weights, exact_x, ROUNDED);
            let name = |what: &str| format!("{} {at} {what}", golden.name);

            let mut z = vec![Complex32::ZERO; model.rows()];
            model.coefficients(&x, &mut scratch, &mut z).unwrap();
            let errors = [
                worst(&name("z"), &z, &golden.z.row(at), &exact.coefficients),
                {
                    model.bispectrum(&x, &mut scratch, &mut terms).unwrap();
                    worst(&name("β"), &terms, &golden.beta.row(at), &exact.bispectrum)
                },
                {
                    model.invariants(&x, &mut scratch, &mut terms).unwrap();
                    worst(
                        &name("β̄"),
                        &terms,
                        &golden.beta_normalised.row(at),
                        &exact.invariants,
                    )
                },
            ];
            assert!(exact.is_well_conditioned(), "{}", golden.name);
            assert!(!exact.permits(false), "{}", golden.name);
            for (overall, error) in overall.iter_mut().zip(errors) {
                *overall = overall.max(error);
            }
        }
    }
    let [z, beta, normalised] = overall;
    println!("worst errors, of the largest magnitude: z {z:.1e}, β {beta:.1e}, β̄ {normalised:.1e}");
    for (worst, measured) in overall.iter().zip(MEASURED) {
        assert!(*worst < measured, "{worst:e}, {measured:e} before");
    }
}
