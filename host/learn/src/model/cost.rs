//! What a model asks of a device: flash, RAM, multiply-adds, and an estimate of instructions.

use super::instructions;
use bispectral_core::Model;
use bispectral_core::format::couplings::Basis;
use bispectral_core::format::{Couplings, List, Row, Structure, Transform};
use serde::Serialize;

/// What one model and one signal take.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cost {
    /// The model's bytes, without the program.
    pub flash_bytes: usize,
    /// What a program must have room for, without its stack.
    pub ram: Ram,
    /// What is computed.
    pub complex_multiply_adds: Work,
    /// An estimate for a Cortex-M4F in the streaming form: see [`instructions`].
    pub estimated_instructions: u64,
}

/// Bytes of RAM for one signal, without the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Ram {
    /// The samples.
    pub signal_bytes: usize,
    /// What the core computes in.
    pub scratch_bytes: usize,
    /// The invariants, or the scores of a classifier.
    pub result_bytes: usize,
    /// All of these.
    pub total_bytes: usize,
    /// All but the invariants, which are handed out one at a time.
    pub streaming_bytes: usize,
}

/// Complex multiply-adds for one signal; halves are exact in an f64.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Work {
    /// For z; x is real, so each counts half.
    pub coefficients: f64,
    /// For all z_ij.
    pub products: f64,
    /// Both.
    pub total: f64,
}

impl Cost {
    /// What a model of so many bytes takes.
    #[must_use]
    pub fn of(model: &Model<'_>, flash_bytes: usize) -> Self {
        Cost {
            flash_bytes,
            ram: Ram::of(model),
            complex_multiply_adds: Work::of(model),
            estimated_instructions: instructions::estimate(model),
        }
    }
}

impl Ram {
    fn of(model: &Model<'_>) -> Self {
        let signal_bytes = model.inputs() * size_of::<f32>();
        // A classifier takes the terms as they come: its result are the scores.
        let (scratch, result) = match model.classes() {
            0 => (model.scratch_len(), model.feature_count()),
            classes => (model.classifier_scratch_len(), classes),
        };
        let scratch_bytes = scratch * size_of::<f32>();
        let result_bytes = result * size_of::<f32>();
        Ram {
            signal_bytes,
            scratch_bytes,
            result_bytes,
            total_bytes: signal_bytes + scratch_bytes + result_bytes,
            streaming_bytes: signal_bytes + scratch_bytes,
        }
    }
}

impl Work {
    pub(super) fn of(model: &Model<'_>) -> Self {
        let inputs = model.inputs() as f64;
        let of_rows = model.stored_rows() as f64 * inputs / 2.0;
        let pairs = model.pairs() as f64;
        let (coefficients, products) = match model.parts().structure {
            Structure::Conjugates { rows } => (of_rows, inputs * distinct(model, rows) as f64),
            Structure::Combined { terms, .. } => (of_rows, pairs * f64::from(terms)),
            Structure::Cyclic {
                transform, factors, ..
            } => (transformed(transform, factors), pairs / 2.0),
            // A real product is a quarter of a complex one.
            Structure::Couplings(couplings) => {
                let (numbers, factors) = coupled(model, &couplings);
                (numbers / 4.0, factors / 4.0)
            }
            _ => (of_rows, pairs * inputs),
        };
        Work {
            coefficients,
            products,
            total: coefficients + products,
        }
    }
}

/// Products of stored rows that are computed: not again where the next pair has the same.
fn distinct(model: &Model<'_>, table: List<'_, Row>) -> usize {
    let stored = |row| table.get(row).map_or(0, |row| row.stored);
    let mut last = None;
    let of_pairs = model.pair_list().map(|(i, j)| (stored(i), stored(j)));
    of_pairs
        .filter(|pair| last.replace(*pair) != Some(*pair))
        .count()
}

/// How many numbers of U are stored, and how many products its forms take.
fn coupled(model: &Model<'_>, couplings: &Couplings<'_>) -> (f64, f64) {
    let numbers = match couplings.basis {
        Basis::Sparse { columns, .. } => columns.len(),
        _ => model.rows() * model.inputs(),
    };
    let products = couplings.terms.iter().map(|term| {
        let head = couplings.tensors.get(term).unwrap_or_default();
        usize::from(head.entries) * usize::from(head.order)
    });
    (numbers as f64, products.sum::<usize>() as f64)
}

/// For the coefficients of all characters of a group of these factors; half of them, since x is real.
fn transformed(transform: Transform, factors: List<'_, u16>) -> f64 {
    let order: f64 = factors.iter().map(f64::from).product();
    let along = |factor: u16| {
        let length = f64::from(factor);
        if transform.is_fast(factor) {
            // Half a multiply-add a number and stage of butterflies.
            length.log2() / 2.0
        } else {
            length
        }
    };
    order * factors.iter().map(along).sum::<f64>() / 2.0
}
