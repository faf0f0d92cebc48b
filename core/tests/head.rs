//! A perceptron behind the invariants: what it computes, and what it refuses.

use bispectral_core::{Error, Head, Model, Part};
use proptest::prelude::*;

const MODEL: &[u8] = include_bytes!("../models/z4.bsn");
const TERMS: usize = 6;
const SIZES: [usize; 2] = [3, 2];
const X: [f32; 4] = [3.0, 1.0, 0.0, -1.0];

fn model() -> Model<'static> {
    Model::from_bytes(MODEL).unwrap()
}

/// Whole numbers between −127 and 127, without a pattern.
fn weight(at: usize) -> i8 {
    ((at * 89 + 31) % 255) as u8 as i8 / 2
}

/// Two layers in the order of the bytes; i8 has scales of a half, so both encodings hold the same numbers.
fn bytes(integer: bool) -> Vec<u8> {
    let mut bytes = vec![u8::from(integer), SIZES.len() as u8];
    bytes.extend(SIZES.iter().flat_map(|&size| (size as u16).to_le_bytes()));
    let mut inputs = 2 * TERMS;
    for outputs in SIZES {
        if integer {
            bytes.extend(std::iter::repeat_n(0.5_f32.to_le_bytes(), outputs).flatten());
        }
        bytes.extend((0..outputs).flat_map(|output| (output as f32 - 0.25).to_le_bytes()));
        for at in 0..inputs * outputs {
            if integer {
                bytes.push(weight(at) as u8);
            } else {
                bytes.extend((0.5 * f32::from(weight(at))).to_le_bytes());
            }
        }
        inputs = outputs;
    }
    bytes
}

fn classify(bytes: &[u8], x: &[f32]) -> Result<(usize, [f32; 2]), Error> {
    let (model, head) = (model(), Head::from_bytes(bytes, TERMS)?);
    let mut scratch = vec![0.0; model.scratch_len() + head.scratch_len()];
    let mut outputs = [0.0; 2];
    let class = head.classify(&model, x, &mut scratch, &mut outputs)?;
    Ok((class, outputs))
}

/// The same from all invariants at once, in f64.
fn expected(x: &[f32]) -> [f64; 2] {
    let invariants = model().invariants_vec(x).unwrap();
    let value = |at: usize| 0.5 * f64::from(weight(at));
    let mut hidden = [0, 1, 2].map(|output| output as f64 - 0.25);
    for (term, beta) in invariants.iter().enumerate() {
        for (output, hidden) in hidden.iter_mut().enumerate() {
            let column = 2 * term * SIZES[0] + output;
            *hidden +=
                value(column) * f64::from(beta.re) + value(column + SIZES[0]) * f64::from(beta.im);
        }
    }
    let row = |output: usize| {
        let terms = hidden
            .iter()
            .enumerate()
            .map(|(at, a)| value(output * 3 + at) * a.max(0.0));
        terms.sum::<f64>() + output as f64 - 0.25
    };
    [row(0), row(1)]
}

#[test]
fn both_encodings_compute_the_perceptron_of_all_invariants() {
    for x in [X, [0.0, 1.0, 0.0, 0.0], [1.0, -2.0, 4.0, 8.0]] {
        for integer in [false, true] {
            let (class, found) = classify(&bytes(integer), &x).unwrap();
            let expected = expected(&x);
            for (found, expected) in found.iter().zip(expected) {
                // Weights up to 32, two layers: sums of some hundreds in f32.
                assert!(
                    (f64::from(*found) - expected).abs() < 1e-2,
                    "{found} {expected}"
                );
            }
            assert_eq!(class, usize::from(expected[1] > expected[0]));
        }
    }
}

#[test]
fn a_shifted_signal_is_of_the_same_class() {
    let of = |x: &[f32]| classify(&bytes(true), x).unwrap();
    let (class, outputs) = of(&X);
    let (shifted_class, shifted) = of(&[-1.0, 3.0, 1.0, 0.0]);
    assert_eq!(class, shifted_class);
    assert!(
        outputs
            .iter()
            .zip(shifted)
            .all(|(a, b)| (a - b).abs() < 1e-2)
    );
}

#[test]
fn every_cut_and_every_longer_one_is_refused() {
    for integer in [false, true] {
        let whole = bytes(integer);
        for cut in 0..whole.len() {
            assert_eq!(
                Head::from_bytes(&whole[..cut], TERMS).unwrap_err(),
                Error::Malformed,
                "cut at {cut}"
            );
        }
        assert_eq!(
            Head::from_bytes(&[&whole[..], &[0]].concat(), TERMS).unwrap_err(),
            Error::Malformed
        );
        for terms in [0, TERMS - 1, TERMS + 1, usize::MAX / 2, usize::MAX] {
            assert!(Head::from_bytes(&whole, terms).is_err(), "{terms} terms");
        }
    }
}

#[test]
fn another_encoding_is_named_and_numbers_are_finite() {
    let mut other = bytes(true);
    other[0] = 2;
    let refused = Head::from_bytes(&other, TERMS).unwrap_err();
    assert_eq!(
        refused,
        Error::Unsupported {
            part: Part::Head,
            kind: 2
        }
    );
    let mut infinite = bytes(false);
    infinite[6..10].copy_from_slice(&f32::INFINITY.to_le_bytes());
    assert_eq!(
        Head::from_bytes(&infinite, TERMS).unwrap_err(),
        Error::Malformed
    );
}

#[test]
fn short_buffers_and_other_models_are_refused() {
    let bytes = bytes(true);
    let (model, head) = (model(), Head::from_bytes(&bytes, TERMS).unwrap());
    let needed = model.scratch_len() + head.scratch_len();
    assert_eq!((head.classes(), head.scratch_len()), (2, 6));
    let mut outputs = [0.0; 2];
    let short = head.classify(&model, &X, &mut vec![0.0; needed - 1], &mut outputs);
    assert!(
        matches!(short, Err(Error::ScratchLength { .. })),
        "{short:?}"
    );
    let none = head.classify(&model, &X, &mut vec![0.0; needed], &mut outputs[..1]);
    assert!(matches!(none, Err(Error::OutputLength { .. })), "{none:?}");
    let zero = head.classify(&model, &[0.0; 4], &mut vec![0.0; needed], &mut outputs);
    assert_eq!(zero, Err(Error::ZeroInput));
}

proptest! {
    #[test]
    fn any_bytes_are_used_or_refused(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), integer in any::<bool>(), terms in 0_usize..8) {
        if let Some(encoding) = bytes.first_mut() {
            *encoding = integer.into();
        }
        if let Ok(head) = Head::from_bytes(&bytes, terms) {
            let mut scratch = vec![0.0; model().scratch_len() + head.scratch_len()];
            let mut outputs = vec![0.0; head.classes()];
            let class = head.classify(&model(), &X, &mut scratch, &mut outputs);
            prop_assert!(class.is_err() || class.unwrap() < head.classes());
        }
    }

    #[test]
    fn a_changed_byte_of_a_perceptron_is_used_or_refused(at in 0_usize..60, to in any::<u8>(), integer in any::<bool>()) {
        let mut bytes = bytes(integer);
        let place = at % bytes.len();
        bytes[place] = to;
        let _ = classify(&bytes, &X);
    }
}
