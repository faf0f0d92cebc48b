//! How many instructions a Cortex-M4F takes for one signal in the streaming form, estimated: what the kernels do, times
//! what each of that takes.
//!
//! The figures are solved for from the emulator's counts of a few groups in every form. A test counts three of these again
//! and finds the estimate within [`MARGIN`]; of three groups it had not been solved for, two forms of 46 were further
//! off, by up to 22 %. Instructions are not cycles.

use super::cost::Work;
use bispectral_core::format::couplings::Basis;
use bispectral_core::format::{Couplings, Structure, Transform, Weights};
use bispectral_core::{Model, pair_count};

/// Samples that the core's loops take at a time.
const LANES: usize = 8;
/// How far an estimate may be off for the groups it was solved for, of the count.
pub const MARGIN: f64 = 0.15;

/// Instructions of a kernel that uses W.
struct OfWeights {
    /// One sample times a weight, for z.
    sample: f64,
    /// One of W_i ⊙ x, for the rows that are first in a pair; with conjugates it is among the samples.
    weigh: f64,
    /// One multiply-add of a product.
    product: f64,
    /// One product beside its multiply-adds.
    each: f64,
    /// One term of the bispectrum.
    term: f64,
    /// What N that is no multiple of the lanes adds to a row, and to a product.
    rest: [f64; 2],
}

const F32: OfWeights = OfWeights {
    sample: 11.6,
    weigh: 4.0,
    product: 7.9,
    each: 0.0,
    term: 275.0,
    rest: [601.0, 226.0],
};
const F16: OfWeights = OfWeights {
    sample: 20.5,
    weigh: 3.0,
    product: 15.2,
    each: 0.0,
    term: 299.0,
    rest: [458.0, 184.0],
};
const I8: OfWeights = OfWeights {
    sample: 10.3,
    weigh: 4.0,
    product: 13.8,
    each: 0.0,
    term: 347.0,
    rest: [174.0, 0.0],
};
/// With conjugates four real sums are kept apart, from which both products come.
const F32_CONJUGATES: OfWeights = OfWeights {
    sample: 12.2,
    weigh: 0.0,
    product: 13.1,
    each: 550.0,
    term: 0.0,
    rest: [576.0, 0.0],
};
const F16_CONJUGATES: OfWeights = OfWeights {
    sample: 22.9,
    weigh: 0.0,
    product: 19.2,
    each: 507.0,
    term: 0.0,
    rest: [646.0, 0.0],
};
const I8_CONJUGATES: OfWeights = OfWeights {
    sample: 14.0,
    weigh: 0.0,
    term: 197.0,
    product: 13.5,
    each: 142.0,
    rest: [349.0, 0.0],
};

/// Combined: a sample of z, a term of the bispectrum, and each z_k of it.
const COMBINED_SAMPLE: f64 = 10.5;
const COMBINED_TERM: f64 = 94.0;
const COMBINED_COEFFICIENT: f64 = 37.0;

/// Instructions of a kernel that uses a group.
struct OfGroup {
    /// A term and a run of all pairs, a term of listed ones.
    term: f64,
    run: f64,
    listed: f64,
    /// The transform at all, an element, a line along a factor.
    transform: f64,
    element: f64,
    line: f64,
    /// A butterfly, and a multiply-add of a real and of a complex sum.
    butterfly: f64,
    real_sum: f64,
    complex_sum: f64,
    /// Which share of the lines along other factors than the longest is transformed: the others are conjugates.
    others: fn(f64) -> f64,
}

const FLOATS: OfGroup = OfGroup {
    term: 23.0,
    run: 91.0,
    listed: 181.0,
    transform: 1520.0,
    element: 41.5,
    line: 145.0,
    butterfly: 20.6,
    real_sum: 19.6,
    complex_sum: 25.0,
    others: |longest| ((longest / 2.0).floor() + 1.0) / longest,
};
const WHOLE: OfGroup = OfGroup {
    term: 31.3,
    run: 85.6,
    listed: 144.7,
    transform: 2040.0,
    element: 222.0,
    line: 219.0,
    butterfly: 90.3,
    real_sum: 18.3,
    complex_sum: 22.6,
    others: |_| 1.0,
};

/// Couplings: the section at all, a row of U, a term, an entry of its tensor and a factor of that.
const SECTION: f64 = 2280.0;
const COUPLED_ROW: f64 = 50.0;
const COUPLED_TERM: f64 = 124.0;
const ENTRY: f64 = 9.0;
const FACTOR: f64 = 9.0;
/// A number of U that is dense, and one that is sparse, in f32, f16 and i8.
const COUPLED_NUMBER: [[f64; 2]; 3] = [[6.5, 11.0], [9.7, 14.0], [5.5, 12.8]];

/// The estimate for the streaming form, with a closure that does nothing.
#[must_use]
pub fn estimate(model: &Model<'_>) -> u64 {
    let parts = model.parts();
    let pairs = model.pairs() as f64;
    let rows = model.stored_rows() as f64;
    let inputs = model.inputs() as f64;
    let count = match (parts.structure, parts.weights) {
        (Structure::Combined { terms, .. }, _) => {
            let term = COMBINED_TERM + COMBINED_COEFFICIENT * f64::from(terms);
            COMBINED_SAMPLE * rows * inputs + term * pairs
        }
        (
            Structure::Cyclic {
                transform, factors, ..
            },
            _,
        ) => {
            let factors: Vec<u16> = factors.iter().collect();
            let cost = match parts.weights {
                Weights::I32 { .. } => &WHOLE,
                _ => &FLOATS,
            };
            transformed(transform, &factors, cost) + of_group(model, &factors, cost)
        }
        (Structure::Couplings(couplings), weights) => coupled(model, &couplings, &weights),
        (Structure::Conjugates { .. }, Weights::I8 { .. }) => of_weights(model, &I8_CONJUGATES),
        (Structure::Conjugates { .. }, Weights::F16(_)) => of_weights(model, &F16_CONJUGATES),
        (Structure::Conjugates { .. }, _) => of_weights(model, &F32_CONJUGATES),
        (_, Weights::I8 { .. }) => of_weights(model, &I8),
        (_, Weights::F16(_)) => of_weights(model, &F16),
        _ => of_weights(model, &F32),
    };
    count.round() as u64
}

fn coupled(model: &Model<'_>, couplings: &Couplings<'_>, weights: &Weights<'_>) -> f64 {
    let of_number = match weights {
        Weights::I8 { .. } => COUPLED_NUMBER[2],
        Weights::F16(_) => COUPLED_NUMBER[1],
        _ => COUPLED_NUMBER[0],
    };
    let numbers = match couplings.basis {
        Basis::Sparse { columns, .. } => of_number[1] * columns.len() as f64,
        _ => of_number[0] * (model.rows() * model.inputs()) as f64,
    };
    let forms = couplings.terms.iter().map(|term| {
        let head = couplings.tensors.get(term).unwrap_or_default();
        let entry = ENTRY + FACTOR * f64::from(head.order);
        COUPLED_TERM + entry * f64::from(head.entries)
    });
    SECTION + COUPLED_ROW * model.rows() as f64 + numbers + forms.sum::<f64>()
}

fn of_weights(model: &Model<'_>, cost: &OfWeights) -> f64 {
    let (rows, inputs) = (model.stored_rows() as f64, model.inputs() as f64);
    let multiply_adds = Work::of(model).products;
    let products = multiply_adds / inputs;
    let [of_row, of_product] = match model.inputs() % LANES {
        0 => [0.0; 2],
        _ => cost.rest,
    };
    (cost.sample * rows + cost.weigh * firsts(model) as f64) * inputs
        + of_row * rows
        + cost.product * multiply_adds
        + (cost.each + of_product) * products
        + cost.term * model.pairs() as f64
}

/// Rows that come first in a pair.
fn firsts(model: &Model<'_>) -> usize {
    let mut last = None;
    let firsts = model.pair_list().map(|(i, _)| i);
    firsts.filter(|i| last.replace(*i) != Some(*i)).count()
}

/// Terms by the group's arithmetic. All pairs come in runs, which end where a row or its product passes the last factor.
fn of_group(model: &Model<'_>, factors: &[u16], cost: &OfGroup) -> f64 {
    let pairs = model.pairs() as f64;
    if model.pairs() < pair_count(model.rows()) {
        return cost.listed * pairs;
    }
    let last = factors.last().map_or(1.0, |&last| f64::from(last));
    cost.term * pairs + cost.run * (2.0 * pairs / last + model.rows() as f64)
}

/// For the coefficients of all characters of a group of these factors: along the longest, of real numbers, all lines
/// and half of their outputs; along the others half of the lines.
fn transformed(transform: Transform, factors: &[u16], cost: &OfGroup) -> f64 {
    let order: f64 = factors.iter().map(|&factor| f64::from(factor)).product();
    let mut sorted = factors.to_vec();
    sorted.sort_unstable();
    let longest = sorted.last().copied().map_or(1.0, f64::from);
    let along = |(place, &factor): (usize, &u16)| {
        let length = f64::from(factor);
        let half = (length / 2.0).floor() + 1.0;
        let (lines, outputs, sum) = if place + 1 == sorted.len() {
            (order / length, half, cost.real_sum)
        } else {
            let lines = order / length * (cost.others)(longest);
            (lines, length, cost.complex_sum)
        };
        let line = if transform.is_fast(factor) {
            cost.butterfly * length * length.log2() / 2.0
        } else {
            sum * length * outputs
        };
        lines * (cost.line + line)
    };
    cost.transform + cost.element * order + sorted.iter().enumerate().map(along).sum::<f64>()
}
