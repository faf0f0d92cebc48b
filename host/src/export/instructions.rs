//! How many instructions a Cortex-M4F takes for one signal in the streaming form, estimated: what the kernels do, times
//! what each of that takes.
//!
//! The figures are solved for from the emulator's counts of Z16xZ16 and of the example's model in each form; a test
//! counts other models and finds the estimate within [`MARGIN`]. Instructions are not cycles.

use super::cost::Work;
use bispectral_core::Model;
use bispectral_core::format::{Encoding, Structure, Transform};

/// How far an estimate may be off, of the count.
pub const MARGIN: f64 = 0.15;

/// Instructions of the kernels that use W: for one real sample times a weight in z, and for W_i ⊙ x where products are
/// dense; for one multiply-add of a dense product; for one term of the bispectrum beside that.
struct OfWeights {
    sample: f64,
    product: f64,
    term: f64,
}

const F32: OfWeights = OfWeights {
    sample: 13.0,
    product: 8.7,
    term: 235.0,
};
const F16: OfWeights = OfWeights {
    sample: 24.0,
    product: 15.8,
    term: 275.0,
};
const I8: OfWeights = OfWeights {
    sample: 13.0,
    product: 14.9,
    term: 296.0,
};

/// Combined: a sample of z, a term of the bispectrum, and each z_k of it.
const COMBINED_SAMPLE: f64 = 10.5;
const COMBINED_TERM: f64 = 94.0;
const COMBINED_COEFFICIENT: f64 = 37.0;

/// Cyclic: a term among all pairs, which come in runs, and of a list.
const RUN_TERM: f64 = 31.0;
const LISTED_TERM: f64 = 80.0;
/// A multiply-add of a sum along the longest factor, where all is real, and along another; a butterfly's half.
const REAL_SUM: f64 = 20.0;
const COMPLEX_SUM: f64 = 37.0;
const BUTTERFLY: f64 = 90.0;

/// The estimate for the streaming form, with a closure that does nothing.
#[must_use]
pub fn estimate(model: &Model<'_>) -> u64 {
    let parts = model.parts();
    let pairs = model.pairs() as f64;
    let samples = (model.stored_rows() * model.inputs()) as f64;
    let of_weights = match parts.encoding {
        Encoding::F16 => F16,
        Encoding::I8 { .. } => I8,
        _ => F32,
    };
    let count = match parts.structure {
        Structure::Combined { terms, .. } => {
            let term = COMBINED_TERM + COMBINED_COEFFICIENT * f64::from(terms);
            COMBINED_SAMPLE * samples + term * pairs
        }
        Structure::Cyclic {
            transform, factors, ..
        } => {
            let term = if model.pairs() == bispectral_core::pair_count(model.rows()) {
                RUN_TERM
            } else {
                LISTED_TERM
            };
            transformed(transform, factors) + term * pairs
        }
        _ => {
            let OfWeights {
                sample,
                product,
                term,
            } = of_weights;
            sample * samples + product * Work::of(model).products + term * pairs
        }
    };
    count.round() as u64
}

/// For the coefficients of all characters of a group of these factors.
fn transformed(transform: Transform, factors: &[u8]) -> f64 {
    let factors = factors.as_chunks::<2>().0.iter();
    let mut factors: Vec<u16> = factors.map(|factor| u16::from_le_bytes(*factor)).collect();
    let order: f64 = factors.iter().map(|&factor| f64::from(factor)).product();
    factors.sort_unstable();
    let along = |(place, &factor): (usize, &u16)| {
        let length = f64::from(factor);
        if transform == Transform::Fft && factor.is_power_of_two() && (4..=1024).contains(&factor) {
            BUTTERFLY * length.log2() / 4.0
        } else if place + 1 == factors.len() {
            REAL_SUM * (length / 2.0 + 1.0)
        } else {
            COMPLEX_SUM * length / 2.0
        }
    };
    order * factors.iter().enumerate().map(along).sum::<f64>()
}
