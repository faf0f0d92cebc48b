//! Parts that are valid by construction, made of arbitrary bytes: written, read by the crate and by the reader made by hand from
//! `docs/format.md`, and computed with. z, β and β̄ must lie where the equations in f64 and the analysis of roundings put
//! them (`core/tests/equations`).
//!
//! Called by libFuzzer (`core/fuzz/fuzz_targets/parts.rs`) and by an ordinary test.

use crate::by_hand::both;
use crate::equations::{Rounded, evaluate};
use bispectral_core::format::{Parts, Row, Structure, Weights};
use bispectral_core::{Complex32, Error, Model};
use num_complex::Complex64;

/// Numbers taken from bytes, zeros behind their end.
struct Bytes<'a>(core::slice::Iter<'a, u8>);

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    fn from(&mut self, least: usize, most: usize) -> usize {
        least + usize::from(self.byte()) % (most - least + 1)
    }

    /// Between −1 and 1, of any size down to 2^-30.
    fn number(&mut self) -> f32 {
        let bits = i16::from_le_bytes([self.byte(), self.byte()]);
        let exponent = i32::from(bits & 15);
        f32::from(bits >> 4) / 2048.0 * (-2.0 * exponent as f32).exp2()
    }
}

/// Makes a model of the bytes, and compares what it computes; whether there was a direction to compare.
pub(crate) fn examine(bytes: &[u8]) -> bool {
    let mut bytes = Bytes(bytes.iter());
    let (inputs, stored) = (bytes.from(1, 12), bytes.from(1, 6));
    let folds = bytes.byte() & 1 == 1;
    let rows: Vec<Row> = (0..stored as u16)
        .flat_map(|stored| {
            let row = |conjugated| Row { stored, conjugated };
            [Some(row(false)), folds.then_some(row(true))]
        })
        .flatten()
        .collect();
    let halves = bytes.byte() & 1 == 1;
    let mut weights: Vec<f32> = (0..2 * inputs * stored).map(|_| bytes.number()).collect();
    // Neither W nor a sign of a row that is stored twice may vanish.
    for row in weights.chunks_mut(2 * inputs) {
        row[0] += if row[0] < 0.0 { -1.0 } else { 1.0 };
    }
    let as_halves: Vec<u16> = weights.iter().map(|&w| half(w)).collect();
    let parts = Parts {
        inputs: inputs as u16,
        rows: rows.len() as u16,
        name: "fuzz",
        structure: match folds {
            true => Structure::Conjugates {
                rows: (&rows[..]).into(),
            },
            false => Structure::Dense,
        },
        weights: match halves {
            true => Weights::F16((&as_halves[..]).into()),
            false => Weights::F32((&weights[..]).into()),
        },
        ..Parts::default()
    };
    let mut file = vec![0; parts.encoded_len().expect("valid parts")];
    parts.write(&mut file).expect("room for them");
    let (model, decoded) = both(&file).expect("a model of valid parts");
    let x: Vec<f32> = (0..inputs).map(|_| bytes.number()).collect();
    compare(&model, &decoded.weights, &x)
}

/// An f32 between 2^-14 and 2^15 in magnitude as a half, its bits below cut off; smaller ones become zero.
fn half(w: f32) -> u16 {
    let bits = w.to_bits();
    let exponent = (bits >> 23 & 0xff) as i32 - 127 + 15;
    let sign = (bits >> 16 & 0x8000) as u16;
    match exponent {
        1..=30 => sign | (exponent as u16) << 10 | (bits >> 13 & 0x3ff) as u16,
        _ => sign,
    }
}

fn compare(model: &Model<'_>, weights: &[Complex32], x: &[f32]) -> bool {
    let mut scratch = vec![0.0; model.scratch_len()];
    let mut z = vec![Complex32::ZERO; model.rows()];
    let mut beta = vec![Complex32::ZERO; model.pairs()];
    let mut invariants = beta.clone();
    if x.iter().all(|&x| x == 0.0) {
        let refused = model.invariants(x, &mut scratch, &mut invariants);
        assert_eq!(refused, Err(Error::ZeroInput));
        return false;
    }
    let w: Vec<Complex64> = weights
        .iter()
        .map(|w| Complex64::new(w.re.into(), w.im.into()))
        .collect();
    let exact: Vec<f64> = x.iter().map(|&x| x.into()).collect();
    let exact = evaluate(&w, &exact, Rounded::default());
    model
        .coefficients(x, &mut scratch, &mut z)
        .expect("coefficients");
    for (z, disc) in z.iter().zip(&exact.coefficients) {
        assert!(disc.holds(z.re, z.im), "{z} is outside {disc:?}");
    }
    model
        .bispectrum(x, &mut scratch, &mut beta)
        .expect("a bispectrum");
    for (beta, disc) in beta.iter().zip(&exact.bispectrum) {
        assert!(disc.holds(beta.re, beta.im), "{beta} is outside {disc:?}");
    }
    match model.invariants(x, &mut scratch, &mut invariants) {
        Ok(()) => {
            assert!(exact.permits(true), "a direction of roundings");
            for (beta, disc) in invariants.iter().zip(&exact.invariants) {
                assert!(disc.holds(beta.re, beta.im), "{beta} is outside {disc:?}");
            }
            exact.is_well_conditioned()
        }
        Err(error) => {
            assert_eq!(error, Error::ZeroBispectrum);
            assert!(exact.permits(false), "a direction was refused");
            false
        }
    }
}
