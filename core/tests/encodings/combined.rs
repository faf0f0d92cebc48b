//! Structure `combined`: z_ij from a few coefficients of the signal, with W in any encoding; and models of every kind
//! here damaged in tens of thousands of ways.

use crate::by_hand::{Fields, both, with_checksum};
use crate::{bits, invariants};
use bispectral_core::{Complex32, Error, Model, pairs};
use proptest::prelude::*;
use std::f64::consts::TAU;

/// (k with the bit of its conjugate, re, im).
type Term = (u16, i16, i16);

/// A section of kind 2.
fn section(table: &[u16], terms: u8, scale: f32, coefficients: &[Term]) -> (u8, Vec<u8>) {
    let mut bytes: Vec<u8> = table.iter().flat_map(|row| row.to_le_bytes()).collect();
    bytes.push(terms);
    bytes.extend(scale.to_le_bytes());
    for (k, re, im) in coefficients {
        bytes.extend(k.to_le_bytes());
        bytes.extend(re.to_le_bytes());
        bytes.extend(im.to_le_bytes());
    }
    (2, bytes)
}

/// The characters of Z_n, 1/√n each number, in an encoding.
fn characters(n: usize, encoding: u8) -> Fields {
    let length = (n as f64).sqrt();
    let part = |k: usize, at: usize| {
        let angle = -TAU * (k * (at % n) % n) as f64 / n as f64;
        if at < n { angle.cos() } else { angle.sin() }
    };
    let parts = (0..n).flat_map(|k| (0..2 * n).map(move |at| part(k, at)));
    let (section, weights): (Vec<u8>, Vec<u8>) = match encoding {
        0 => (
            vec![],
            parts
                .flat_map(|w| ((w / length) as f32).to_le_bytes())
                .collect(),
        ),
        // ±1, ±1/2 and 0 of Z4 are whole at 126, and powers of two in f16.
        1 => (
            vec![],
            parts
                .flat_map(|w| half((w / length) as f32).to_le_bytes())
                .collect(),
        ),
        _ => {
            let scale = ((1.0 / 126.0 / length) as f32).to_le_bytes();
            (
                scale.repeat(n),
                parts.map(|w| (w * 126.0).round() as i8 as u8).collect(),
            )
        }
    };
    let mut fields = Fields {
        inputs: n as u16,
        rows: n as u16,
        name: vec![],
        group: vec![],
        weights,
        ..Fields::z4()
    };
    fields.sections[0] = (encoding, section);
    fields
}

/// Of a number that is one: 0 or a power of two of normal exponent.
fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    match value.abs() {
        magnitude if magnitude < 1e-6 => sign,
        _ => sign | ((((bits >> 23 & 255) - 112) << 10) as u16),
    }
}

/// One term a pair: 1/√n times the character i + j.
fn combined(mut fields: Fields, list: &[(usize, usize)]) -> Fields {
    let n = usize::from(fields.rows);
    let term = |&(i, j): &(usize, usize)| (((i + j) % n) as u16, 32767, 0);
    let coefficients: Vec<Term> = list.iter().map(term).collect();
    let table: Vec<u16> = (0..fields.rows).collect();
    let scale = (1.0 / (n as f64).sqrt() / 32767.0) as f32;
    fields.sections[2] = section(&table, 1, scale, &coefficients);
    fields
}

const X: [f32; 8] = [0.3, -0.9, 0.7, 0.1, 0.25, -0.4, 0.0, 0.6];

#[test]
fn characters_combined_of_one_row_are_the_dense_model_within_rounding() {
    for (n, encoding) in [(4, 0), (4, 1), (4, 2), (8, 0), (7, 0), (1, 0)] {
        let dense = characters(n, encoding);
        let all: Vec<_> = pairs(n).collect();
        let combined = combined(dense.clone(), &all);
        let expected = invariants(&dense.encode(), &X[..n]).unwrap();
        let found = invariants(&combined.encode(), &X[..n]).unwrap();
        // i8 rounds X and V to 15 bits each, f32 the rest.
        let tolerance = if encoding == 2 { 2e-4 } else { 1e-6 };
        for (a, b) in expected.iter().zip(&found) {
            assert!(
                (a - b).l1_norm() < tolerance,
                "Z{n}, encoding {encoding}: {a} {b}"
            );
        }
    }
}

#[test]
fn listed_pairs_have_the_terms_at_their_places() {
    let list = [(0, 0), (0, 3), (1, 2), (1, 7), (5, 6)];
    let mut fields = combined(characters(8, 0), &list);
    let listed = list.iter().flat_map(|&(i, j)| [i as u16, j as u16]);
    fields.sections[1] = (1, listed.flat_map(u16::to_le_bytes).collect());
    let bytes = fields.encode();
    let (model, _) = both(&bytes).unwrap();
    let mut scratch = vec![0.0; model.scratch_len()];
    let mut terms = Vec::new();
    let magnitude = model.stream(&X, &mut scratch, |i, j, term| terms.push((i, j, term)));
    let magnitude = magnitude.unwrap();
    let order: Vec<_> = terms.iter().map(|&(i, j, _)| (i, j)).collect();
    assert_eq!(order, list);
    let whole = combined(characters(8, 0), &pairs(8).collect::<Vec<_>>()).encode();
    let whole = Model::from_bytes(&whole).unwrap().pairs();
    assert_eq!((model.pairs(), whole), (5, 36));
    let mut beta = vec![Complex32::ZERO; 36];
    let dense = characters(8, 0).encode();
    let dense = Model::from_bytes(&dense).unwrap();
    let mut scratch = vec![0.0; dense.scratch_len()];
    dense.bispectrum(&X, &mut scratch, &mut beta).unwrap();
    for (i, j, term) in terms {
        let at = bispectral_core::pair_index(8, i, j).unwrap();
        let error = (magnitude.restore(term) - beta[at]).l1_norm();
        assert!(error < 1e-6, "{i} {j}: {error:e}");
    }
}

/// Any terms of a model of five inputs, whose four rows are 0, 1, conj 0 and 1 of two that are stored.
fn any_terms() -> impl Strategy<Value = (Vec<f32>, Vec<Term>, u8, f32)> {
    let weight = -1.0_f32..1.0;
    let weights = prop::collection::vec(weight, 20);
    let row = prop_oneof![Just(0_u16), Just(1), Just(0x8000), Just(0x8001)];
    (weights, 1..=3_u8, -120..120_i32).prop_flat_map(move |(weights, terms, exponent)| {
        let term = (row.clone(), any::<i16>(), any::<i16>());
        let coefficients = prop::collection::vec(term, 10 * usize::from(terms));
        (
            Just(weights),
            coefficients,
            Just(terms),
            Just(1.25 * 2_f32.powi(exponent)),
        )
    })
}

fn folded(weights: &[f32], coefficients: &[Term], terms: u8, scale: f32) -> Fields {
    let mut fields = Fields {
        inputs: 5,
        rows: 4,
        name: vec![],
        group: vec![],
        weights: weights.iter().flat_map(|w| w.to_le_bytes()).collect(),
        ..Fields::z4()
    };
    fields.sections[2] = section(&[0, 1, 0x8000, 1], terms, scale, coefficients);
    fields
}

proptest! {
    #[test]
    fn terms_are_summed_in_the_documented_order((weights, coefficients, terms, scale) in any_terms()) {
        let bytes = folded(&weights, &coefficients, terms, scale).encode();
        let (model, _) = both(&bytes).unwrap();
        prop_assert_eq!((model.stored_rows(), model.scratch_len()), (2, 4));
        let mut scratch = vec![0.0; model.scratch_len()];
        // The largest sample is 1 to 2, so that z is scaled by the weights' power of two alone.
        let x = [1.5, -0.25, 0.75, 1.0, -0.125];
        let mut z = [Complex32::ZERO; 4];
        model.coefficients(&x, &mut scratch, &mut z).unwrap();
        let largest = weights.iter().fold(0.0_f32, |largest, w| largest.max(w.abs()));
        let e_w = (largest.to_bits() >> 23) as i32 - 127;
        let z = z.map(|z| z * 2_f32.powi(-e_w));
        prop_assert_eq!((z[2], z[3]), (z[0].conj(), z[1]));
        let e_c = (scale.to_bits() >> 23) as i32 - 127 + 15 + [0, 1, 2][usize::from(terms) - 1];
        let mut at = 0;
        let result = model.stream(&x, &mut scratch, |i, j, term| {
            let (mut re, mut im) = (0.0_f32, 0.0_f32);
            for &(k, c_re, c_im) in &coefficients[at * usize::from(terms)..][..usize::from(terms)] {
                let z = z[usize::from(k & 1)];
                let z = if k & 0x8000 == 0 { z } else { z.conj() };
                let (c_re, c_im) = (f32::from(c_re), f32::from(c_im));
                re += c_re * z.re;
                re -= c_im * z.im;
                im += c_re * z.im;
                im += c_im * z.re;
            }
            let factor = (f64::from(scale) * f64::from(-e_c).exp2()) as f32;
            let s = Complex32::new(re * factor, im * factor);
            let (a, b) = (z[i], z[j]);
            let (re, im) = (a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
            let expected = Complex32::new(re * s.re + im * s.im, im * s.re - re * s.im);
            assert_eq!(bits(&[term]), bits(&[expected]), "β {i} {j}");
            at += 1;
        });
        if let Ok(magnitude) = result {
            prop_assert_eq!(magnitude.exponent(), 3 * e_w + e_c);
        }
        prop_assert_eq!(at, 10);
    }
}

#[test]
fn the_most_and_largest_terms_leave_room_for_their_squares() {
    // All weights (2−ε)(1+i) of all inputs there can be, and 255 coefficients of −32768(1+i): |z_ij| < 16 N.
    let largest = f32::from_bits(2_f32.to_bits() - 1);
    let n = 8192;
    let mut fields = Fields {
        inputs: n,
        rows: 1,
        weights: largest.to_le_bytes().repeat(2 * usize::from(n)),
        ..Fields::z4()
    };
    let terms = [(0, i16::MIN, i16::MIN); 255];
    fields.sections[2] = section(&[0], 255, largest, &terms);
    let bytes = fields.encode();
    let model = Model::from_bytes(&bytes).unwrap();
    let (mut scratch, x) = (vec![0.0; model.scratch_len()], vec![largest; n.into()]);
    let magnitude = model.stream(&x, &mut scratch, |_, _, _| {}).unwrap();
    let ratio = magnitude.norm() / (512.0 * f32::from(n).powi(3));
    assert!((0.99..1.0).contains(&ratio), "{ratio}");
}

fn refusal(section: (u8, Vec<u8>)) -> Error {
    let mut fields = folded(&[0.5; 20], &[(0, 1, 1); 10], 1, 1.0);
    assert_eq!(both(&fields.encode()).map(|_| ()), Ok(()));
    fields.sections[2] = section;
    both(&fields.encode()).unwrap_err()
}

#[test]
fn terms_of_no_row_and_no_terms_are_malformed() {
    let table = [0, 1, 0x8000, 1];
    for k in [2, 3, 0x8002, 0x7fff, 0xffff] {
        let mut terms = [(0, 1, 1); 10];
        terms[7].0 = k;
        assert_eq!(
            refusal(section(&table, 1, 1.0, &terms)),
            Error::Malformed,
            "{k}"
        );
    }
    assert_eq!(refusal(section(&table, 0, 1.0, &[])), Error::Malformed);
    for count in [0, 9, 11, 20] {
        let terms = vec![(0, 1, 1); count];
        assert_eq!(
            refusal(section(&table, 1, 1.0, &terms)),
            Error::Malformed,
            "{count}"
        );
    }
    let (kind, mut bytes) = section(&table, 1, 1.0, &[(0, 1, 1); 10]);
    bytes.pop();
    assert_eq!(refusal((kind, bytes)), Error::Malformed);
    assert_eq!(refusal((2, vec![])), Error::Malformed);
}

#[test]
fn a_scale_that_is_none_is_malformed() {
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY, f32::from_bits(1)] {
        let section = section(&[0, 1, 0x8000, 1], 1, scale, &[(0, 1, 1); 10]);
        assert_eq!(refusal(section), Error::Malformed, "{scale:e}");
    }
}

/// A model of each kind here.
fn models() -> Vec<Fields> {
    let all: Vec<_> = pairs(4).collect();
    let mut listed = combined(characters(4, 2), &[(0, 1), (2, 2)]);
    listed.sections[1] = (1, vec![0, 0, 1, 0, 2, 0, 2, 0]);
    vec![
        characters(4, 1),
        characters(7, 2),
        combined(characters(4, 0), &all),
        combined(characters(4, 1), &all),
        listed,
        folded(&[0.5; 20], &[(0x8000, 1, 1); 10], 1, 1.0),
    ]
}

/// Steele, Lea and Flood's generator.
fn next(state: &mut u64) -> usize {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 1) as usize
}

#[test]
fn damaged_models_are_what_the_page_says_or_refused_and_never_a_nan() {
    let (mut state, mut loaded, mut refused) = (1, 0, 0);
    for fields in models() {
        let original = fields.encode();
        for _ in 0..10_000 {
            let mut message = original[..original.len() - 4].to_vec();
            for _ in 0..=next(&mut state) % 3 {
                let at = next(&mut state) % message.len();
                match next(&mut state) % 8 {
                    0..=4 => message[at] ^= 1 << (next(&mut state) % 8),
                    5 => message[at] = next(&mut state) as u8,
                    6 => message.insert(at, 0),
                    _ => drop(message.remove(at)),
                }
            }
            let bytes = with_checksum(message);
            match both(&bytes) {
                Ok((model, _)) => {
                    loaded += 1;
                    computes(&model);
                    let mut again = vec![0; bytes.len()];
                    assert_eq!(model.parts().write(&mut again).unwrap(), bytes);
                }
                Err(_) => refused += 1,
            }
        }
    }
    println!("{loaded} loaded, {refused} refused");
    assert!(loaded > 10_000 && refused > 10_000, "{loaded} {refused}");
}

fn computes(model: &Model<'_>) {
    let x: Vec<f32> = (0..model.inputs()).map(|n| X[n % 8]).collect();
    let mut scratch = vec![0.0; model.scratch_len()];
    let mut out = vec![Complex32::ZERO; model.pairs().max(model.rows())];
    let finite = |out: &[Complex32]| out.iter().all(|b| b.re.is_finite() && b.im.is_finite());
    for (result, allowed) in [
        (
            model.coefficients(&x, &mut scratch, &mut out),
            Error::Overflow,
        ),
        (
            model.bispectrum(&x, &mut scratch, &mut out),
            Error::Overflow,
        ),
        (
            model.invariants(&x, &mut scratch, &mut out),
            Error::ZeroBispectrum,
        ),
    ] {
        if let Err(error) = result {
            assert_eq!(error, allowed);
        }
        assert!(finite(&out));
    }
}
