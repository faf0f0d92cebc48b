//! Features of degree one: the definition in f64, invariance, every structure, signals without a third order, the classifier.

// Moduli, and lists from vectors, are of `std`.
#![cfg(feature = "std")]

#[path = "structures/kinds.rs"]
#[allow(dead_code)]
mod kinds;

use bispectral_core::format::{Head, Layer, Layers, Output, PairList, Parts, Structure, Weights};
use bispectral_core::{Error, Model};
use kinds::{bytes, listed};
use num_complex::Complex64;
use proptest::prelude::*;
use std::f64::consts::TAU;

const N: usize = 12;
const OUTPUT: Output = Output::DegreeOne {
    weight: 0.5,
    products: 3.464_101_6,
};

/// exp(−2πi k n/N)/√N for k = 1 … 5, real parts of a row before its imaginary parts.
fn rows() -> Vec<f32> {
    let part = |k: usize, part: fn(f64) -> f64| {
        (0..N).map(move |n| (part(TAU * (k * n % N) as f64 / N as f64) / (N as f64).sqrt()) as f32)
    };
    let row = |k| part(k, f64::cos).chain(part(k, |angle| -angle.sin()));
    (1..=5).flat_map(row).collect()
}

fn parts<'a>(weights: &'a [f32]) -> Parts<'a> {
    Parts {
        inputs: N as u16,
        rows: 5,
        output: OUTPUT,
        weights: Weights::F32(weights.into()),
        ..Parts::default()
    }
}

/// The same group as structure `cyclic`.
fn cyclic() -> Vec<u8> {
    let roots = |part: fn(f64) -> f64| {
        (0..N).map(move |t| (part(TAU * t as f64 / N as f64) / (N as f64).sqrt()) as f32)
    };
    let roots: Vec<f32> = roots(f64::cos).chain(roots(|a| -a.sin())).collect();
    let (characters, elements): (Vec<u16>, Vec<u16>) = ((1..=5).collect(), (0..N as u16).collect());
    bytes(&Parts {
        structure: Structure::Cyclic {
            transform: Default::default(),
            factors: (&[N as u16]).into(),
            characters: (&characters).into(),
            elements: (&elements).into(),
        },
        ..parts(&roots)
    })
}

fn features(model: &Model<'_>, x: &[f32]) -> Result<Vec<f32>, Error> {
    let mut features = vec![f32::NAN; model.feature_count()];
    model.features(x, &mut vec![0.0; model.scratch_len()], &mut features)?;
    Ok(features)
}

/// The definition, in f64 and from W.
fn definition(model: &Model<'_>, x: &[f32]) -> Vec<f64> {
    let Output::DegreeOne { weight, products } = model.output() else {
        panic!("another form");
    };
    let w = |i: usize, n: usize| {
        let w = model.weight(i, n).unwrap();
        Complex64::new(w.re.into(), w.im.into())
    };
    let sum = |term: &dyn Fn(usize) -> Complex64| -> Complex64 {
        (0..x.len()).map(|n| term(n) * f64::from(x[n])).sum()
    };
    let z: Vec<_> = (0..model.rows()).map(|i| sum(&|n| w(i, n))).collect();
    let norm = z.iter().map(Complex64::norm_sqr).sum::<f64>().sqrt();
    let mut out: Vec<f64> = z.iter().map(|z| z.norm() / norm).collect();
    for (i, j) in model.pair_list() {
        let s = sum(&|n| w(i, n) * w(j, n)) * f64::from(products);
        let beta = z[i] * z[j] * s.conj();
        let harmonic = 1.0 / (1.0 / z[i].norm() + 1.0 / z[j].norm() + 1.0 / s.norm());
        let term = beta / beta.norm() * harmonic * f64::from(weight) / norm;
        out.extend([term.re, term.im]);
    }
    out
}

fn close(a: &[f32], b: &[f32], most: f32) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= most)
}

fn signal() -> impl Strategy<Value = Vec<f32>> {
    prop::collection::vec(-1.0_f32..1.0, N)
}

proptest! {
    #[test]
    fn they_are_the_definition_and_do_not_change_when_the_signal_is_moved(x in signal(), by in 0..N) {
        let weights = rows();
        let (dense, cyclic) = (bytes(&parts(&weights)), cyclic());
        for file in [&dense, &cyclic] {
            let model = Model::from_bytes(file).unwrap();
            let Ok(found) = features(&model, &x) else { continue };
            let mut moved = x.clone();
            moved.rotate_left(by);
            // z has errors of some 2^-24 of ‖x‖, and each feature changes by at most three times what z does.
            prop_assert!(close(&found, &features(&model, &moved).unwrap(), 3e-5));
            for (found, expected) in found.iter().zip(definition(&model, &x)) {
                let both = (f64::from(*found) - expected).abs();
                prop_assert!(both < 3e-5 || expected.is_nan(), "{found} {expected}");
            }
        }
    }

    #[test]
    fn a_power_of_two_changes_no_bit_and_any_factor_little(x in signal(), k in -60_i32..60, c in 0.01_f32..100.0) {
        let file = cyclic();
        let model = Model::from_bytes(&file).unwrap();
        if let Ok(found) = features(&model, &x) {
            let times = |c: f32| x.iter().map(|x| x * c).collect::<Vec<_>>();
            prop_assert_eq!(&features(&model, &times(2_f32.powi(k))).unwrap(), &found);
            prop_assert!(close(&features(&model, &times(c)).unwrap(), &found, 3e-5));
        }
    }

    /// Distances mean something: a small change of the signal is a small change of its features, wherever phases are unknown.
    #[test]
    fn they_change_no_more_than_the_signal_does(x in signal(), e in signal(), size in -6.0_f32..-2.0) {
        let file = cyclic();
        let model = Model::from_bytes(&file).unwrap();
        let y: Vec<f32> = x.iter().zip(&e).map(|(x, e)| x + 10_f32.powf(size) * e).collect();
        if let (Ok(a), Ok(b)) = (features(&model, &x), features(&model, &y)) {
            let length = |x: &mut dyn Iterator<Item = f32>| x.map(|x| x * x).sum::<f32>().sqrt();
            let z = model.coefficients_vec(&x).unwrap();
            let moved = length(&mut x.iter().zip(&y).map(|(x, y)| x - y));
            let z = length(&mut z.iter().flat_map(|z| [z.re, z.im]));
            let off = length(&mut a.iter().zip(&b).map(|(a, b)| a - b));
            // Fifteen pairs, each with a slope of at most three in each of its coefficients, twice over by the norm.
            prop_assert!(off <= 30.0 * moved / z + 1e-5, "{off} for {}", moved / z);
        }
    }
}

#[test]
fn a_signal_without_a_third_order_has_features() {
    // Character 5 alone: 5 + 5 = 10 is another one, and its coefficient zero.
    let x: Vec<f32> = (0..N)
        .map(|n| (TAU * (5 * n % N) as f64 / N as f64).cos() as f32)
        .collect();
    let file = cyclic();
    let model = Model::from_bytes(&file).unwrap();
    let found = features(&model, &x).unwrap();
    assert!((found[4] - 1.0).abs() < 1e-6, "{found:?}");
    assert!(
        found
            .iter()
            .enumerate()
            .all(|(k, f)| k == 4 || f.abs() < 1e-6)
    );
}

#[test]
fn what_no_row_responds_to_is_refused_and_leaves_zeros() {
    let file = cyclic();
    let model = Model::from_bytes(&file).unwrap();
    let mut features = vec![7.0; model.feature_count() + 1];
    let mut scratch = vec![0.0; model.scratch_len()];
    let x = [0.3; N];
    let error = model.features(&x, &mut scratch, &mut features);
    assert_eq!(error, Err(Error::ZeroBispectrum));
    assert!(features[..model.feature_count()].iter().all(|f| *f == 0.0));
    assert_eq!(features[model.feature_count()], 7.0);
    let short = &mut features[..5];
    let error = model.features(&x, &mut scratch, short).unwrap_err();
    assert_eq!(
        error,
        Error::OutputLength {
            needed: 35,
            found: 5
        }
    );
}

#[test]
fn listed_pairs_are_those_of_all_pairs() {
    let weights = rows();
    let all = bytes(&parts(&weights));
    let some = listed(&[(0, 0), (1, 2), (3, 4)]);
    let some = bytes(&Parts {
        pairs: PairList::Listed((&some).into()),
        ..parts(&weights)
    });
    let [all, some] = [&all, &some].map(|file| Model::from_bytes(file).unwrap());
    assert_eq!((all.feature_count(), some.feature_count()), (35, 11));
    let x: Vec<f32> = (0..N).map(|n| (n * n % 7) as f32).collect();
    let [all, some] = [&all, &some].map(|model| features(model, &x).unwrap());
    let at = |pair: usize| &all[5 + 2 * pair..][..2];
    assert_eq!(some, [&all[..5], at(0), at(6), at(13)].concat());
}

#[test]
fn a_classifier_takes_them_as_they_are() {
    let weights = rows();
    let v: Vec<f32> = (0..2 * 35).map(|k| (k % 11) as f32 - 5.0).collect();
    let layer = [Layer {
        weights: &v,
        biases: &[0.25, -0.5],
    }];
    let file = bytes(&Parts {
        head: Head::Perceptron(Layers::F32(&layer)),
        ..parts(&weights)
    });
    let model = Model::from_bytes(&file).unwrap();
    let x: Vec<f32> = (0..N).map(|n| (n * n % 7) as f32 - 2.0).collect();
    let found = features(&model, &x).unwrap();
    let mut scores = [0.0; 2];
    assert_eq!(model.classifier_scratch_len(), model.scratch_len() + 4 + 5);
    let mut scratch = vec![0.0; model.classifier_scratch_len()];
    model.scores(&x, &mut scratch, &mut scores).unwrap();
    for (class, (score, bias)) in scores.iter().zip([0.25, -0.5]).enumerate() {
        let terms = found.iter().enumerate().map(|(k, f)| v[2 * k + class] * f);
        let expected = terms.sum::<f32>() + bias;
        assert!((score - expected).abs() < 1e-4, "{score} {expected}");
    }
}

#[test]
fn weights_of_phases_out_of_range_are_refused() {
    let weights = rows();
    for (weight, products) in [
        (0.0, 3.0),
        (f32::NAN, 3.0),
        (1.0, f32::INFINITY),
        (1.0, 1e-12),
        (1.0, -3.0),
    ] {
        let output = Output::DegreeOne { weight, products };
        let file = bytes(&Parts {
            output,
            ..parts(&weights)
        });
        assert_eq!(Model::from_bytes(&file).unwrap_err(), Error::Malformed);
    }
}

/// The bits of one signal's features, the same on every processor.
#[test]
fn their_bits_are_pinned() {
    let weights = rows();
    let dense = bytes(&parts(&weights));
    let model = Model::from_bytes(&dense).unwrap();
    let x: Vec<f32> = (0..N).map(|n| (n * n % 7) as f32 * 0.37 - 0.5).collect();
    let found = features(&model, &x).unwrap();
    let hash = found.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, f| {
        (hash ^ u64::from(f.to_bits())).wrapping_mul(0x0000_0100_0000_01b3)
    });
    assert_eq!(hash, 0xe973_cbb5_b4cb_6921, "{hash:#018x}");
}
