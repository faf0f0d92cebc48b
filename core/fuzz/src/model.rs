//! Arbitrary bytes are a model, or they have an error: once as they are, and once with magic, version, length and CRC
//! made right, without which a fuzzer would never see the fields. What loads is computed with, and written back.
//!
//! Called by libFuzzer (`fuzz_targets/model.rs`) and, with the same corpus, by ordinary tests (`tests/fuzz.rs`).

use bispectral_core::format::couplings::Coefficients;
use bispectral_core::format::{Couplings, MAGIC, Structure, VERSION};
use bispectral_core::{Complex32, Error, Model};
use crc::{CRC_32_ISO_HDLC, Crc, Table};

const CRC: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);

/// Rows times inputs of the models that are computed with: larger ones only take time.
const SMALL: usize = 256;

/// By which share a form may pass its bound.
const ROUNDING: f64 = 1e-4;

/// The bytes of a model that stand between its length and its checksum: what a fuzzer changes.
pub(crate) fn fields(model: &[u8]) -> &[u8] {
    let begin = MAGIC.len() + 1 + size_of::<u32>();
    model
        .get(begin..model.len().saturating_sub(size_of::<u32>()))
        .unwrap_or_default()
}

/// The bytes as the fields behind the length, with everything around them right.
pub(crate) fn repaired(fields: &[u8]) -> Vec<u8> {
    let mut out = Vec::from(MAGIC);
    out.push(VERSION);
    out.extend((fields.len() as u32 + 13).to_le_bytes());
    out.extend(fields);
    let crc = CRC.checksum(&out);
    out.extend(crc.to_le_bytes());
    out
}

/// Loads the bytes, and computes with what loads; says whether it did.
pub(crate) fn examine(bytes: &[u8]) -> bool {
    match Model::from_bytes(bytes) {
        Ok(model) => {
            let (inputs, rows) = (model.inputs(), model.rows());
            assert_eq!(model.weight(rows, 0), None);
            assert_eq!(model.weight(0, inputs), None);
            if inputs * rows <= SMALL {
                assert_eq!(written_back(&model), bytes, "a model has one form");
                compute(&model);
            }
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

fn written_back(model: &Model<'_>) -> Vec<u8> {
    let parts = model.parts();
    let mut bytes = vec![0; parts.encoded_len().expect("parts of a model")];
    parts.write(&mut bytes).expect("room for it");
    bytes
}

/// Every computation, for a signal made of the weights' own bits: large, small, of all magnitudes.
fn compute(model: &Model<'_>) {
    let sample = |n| model.weight(n % model.rows(), n).map_or(1.0, |w| w.re);
    for scale in [1.0, f32::MIN_POSITIVE, 1e30] {
        let x: Vec<f32> = (0..model.inputs()).map(|n| sample(n) * scale).collect();
        let mut scratch = vec![0.0; model.scratch_len()];
        let mut terms = vec![Complex32::ZERO; model.pairs()];
        let mut z = vec![Complex32::ZERO; model.rows()];
        let mut power = vec![0.0; model.rows()];
        let finite = |z: &Complex32| z.re.is_finite() && z.im.is_finite();

        check(model.coefficients(&x, &mut scratch, &mut z));
        check(model.power_spectrum(&x, &mut scratch, &mut power));
        check(model.bispectrum(&x, &mut scratch, &mut terms));
        let mut features = vec![0.0; model.feature_count()];
        check(model.features(&x, &mut scratch, &mut features));
        assert!(features.iter().all(|feature| feature.is_finite()));
        if model.classes() > 0 {
            let mut scratch = vec![0.0; model.classifier_scratch_len()];
            let mut scores = vec![0.0; model.classes()];
            check(model.scores(&x, &mut scratch, &mut scores));
            assert!(scores.iter().all(|score| score.is_finite()));
        }
        assert!(terms.iter().chain(&z).all(finite));
        assert!(power.iter().all(|p| p.is_finite()));

        let mut streamed = Vec::new();
        let magnitude = model.stream(&x, &mut scratch, |_, _, term| streamed.push(term));
        let result = model.invariants(&x, &mut scratch, &mut terms);
        assert_eq!(magnitude.map(|_| ()), result);
        check(result);
        if let Ok(magnitude) = magnitude {
            assert!(terms.iter().all(finite));
            let same = |(a, b): (&Complex32, &Complex32)| magnitude.normalise(*a) == *b;
            assert!(streamed.iter().zip(&terms).all(same));
            match model.parts().structure {
                // They are divided by powers of ‖z‖, not by their own length.
                Structure::Couplings(couplings) => bounded(&couplings, &terms),
                _ => assert!((norm_sqr(&terms) - 1.0).abs() < 1e-6),
            }
        }
    }
}

fn norm_sqr(terms: &[Complex32]) -> f64 {
    let square = |part: f32| f64::from(part).powi(2);
    terms.iter().map(|b| square(b.re) + square(b.im)).sum()
}

/// Forms of a z of length 1: none is larger than the coefficients of its tensor together.
fn bounded(couplings: &Couplings<'_>, terms: &[Complex32]) {
    let coefficients: Vec<f64> = match couplings.coefficients {
        Coefficients::Dictionary { magnitudes, codes } => {
            let largest = |code: u8| magnitudes.get(usize::from(code & 0x7f));
            let known = |code| f64::from(largest(code).expect("a code of the dictionary"));
            codes.iter().map(known).collect()
        }
        Coefficients::F16(bits) => bits.iter().map(magnitude_of_half).collect(),
        Coefficients::F32(numbers) => numbers.iter().map(|c| f64::from(c.abs())).collect(),
        other => panic!("no bound is known of {other:?}"),
    };
    let mut rest = &coefficients[..];
    let largest: Vec<f64> = (couplings.tensors.iter())
        .map(|tensor| {
            let (of_tensor, behind) = rest.split_at(tensor.entries.into());
            rest = behind;
            of_tensor.iter().sum()
        })
        .collect();
    for (term, tensor) in terms.iter().zip(couplings.terms.iter()) {
        assert_eq!(term.im, 0.0);
        // Of a factor, a product and a sum: three roundings of 2^-24 an entry and a factor of it, far below this.
        let bound = largest[tensor] * (1.0 + ROUNDING);
        assert!(f64::from(term.re).abs() <= bound, "{term} of {bound}");
    }
}

/// |c| of the bits of a finite half.
fn magnitude_of_half(bits: u16) -> f64 {
    let (field, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    match field {
        0 => fraction * 2f64.powi(-24),
        _ => (fraction + 1024.0) * 2f64.powi(field - 25),
    }
}

/// Whatever the model and the signal, these are all there can be wrong.
fn check(result: Result<(), Error>) {
    use Error::{NonFiniteInput, Overflow, ZeroBispectrum, ZeroInput};
    match result {
        Ok(()) | Err(NonFiniteInput { .. } | ZeroInput | Overflow | ZeroBispectrum) => {}
        Err(error) => panic!("{error}"),
    }
}
