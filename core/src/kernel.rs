//! How z and z_ij are computed, one kind a file: what a [`Model`](crate::Model) asks of its structure and encoding.

use crate::bispectrum::{Scale, Scratch, coefficients, each_term};
use crate::combined::{Combined, Rows};
use crate::conjugates;
use crate::cyclic::Cyclic;
use crate::error::Error;
use crate::fold::Fold;
use crate::format::{Encoding, StoredStructure, View, order_and_exponent};
use crate::integer::{Integers, split};
use crate::magnitude::Magnitude;
use crate::model::scratch_len;
use crate::pairs::Order;
use crate::weights::{Weights, with_matrix};
use num_complex::Complex32;

/// The largest weight must be within 2^±this; then no product of two weights and a scaled sample leaves f32.
const WEIGHT_EXPONENT: i32 = 60;

/// The computation a model calls for. The scratch it is given has [`scratch_len`](Self::scratch_len) elements.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kernel<'a> {
    /// From W itself.
    Dense(Weights<'a>),
    /// From W whose conjugate rows are stored once.
    Conjugates(Weights<'a>, Fold<'a>),
    /// From the group.
    Cyclic(Cyclic<'a>),
    /// From W in whole numbers, with or without conjugates.
    Integer(Integers<'a>, Fold<'a>),
    /// z_ij from z.
    Combined(Combined<'a>),
}

impl<'a> Kernel<'a> {
    /// The computation, and the exponent of the largest weight, once every weight is known to be a number.
    pub(crate) fn new(view: &View<'a>) -> Result<(Self, i32), Error> {
        let inputs = view.inputs.into();
        match (view.encoding, view.structure) {
            (_, StoredStructure::Cyclic { factors, .. }) => {
                let (_, width) = order_and_exponent(factors).ok_or(Error::Malformed)?;
                let (roots, exponent) = floats(view, width)?;
                let cyclic = Cyclic::new(&view.structure, roots, exponent)?;
                Ok((Kernel::Cyclic(cyclic), exponent))
            }
            (
                _,
                StoredStructure::Combined {
                    rows,
                    terms,
                    scale,
                    coefficients,
                },
            ) => {
                let (weights, exponent) = match view.encoding {
                    Encoding::I8 { scales } => {
                        let (w, exponent) = integers(view, scales)?;
                        (Rows::Integer(w), exponent)
                    }
                    _ => {
                        let (w, exponent) = floats(view, inputs)?;
                        (Rows::Float(w), exponent)
                    }
                };
                let combined = Combined::new(weights, Fold::new(rows), terms, scale, coefficients)?;
                Ok((Kernel::Combined(combined), exponent))
            }
            (Encoding::I8 { scales }, structure) => {
                let (w, exponent) = integers(view, scales)?;
                let fold = match structure {
                    StoredStructure::Conjugates { rows } => Fold::new(rows),
                    _ => Fold::NONE,
                };
                Ok((Kernel::Integer(w, fold), exponent))
            }
            (_, StoredStructure::Dense) => {
                let (weights, exponent) = floats(view, inputs)?;
                Ok((Kernel::Dense(weights), exponent))
            }
            (_, StoredStructure::Conjugates { rows }) => {
                let (weights, exponent) = floats(view, inputs)?;
                Ok((Kernel::Conjugates(weights, Fold::new(rows)), exponent))
            }
        }
    }

    /// Elements of scratch for one signal.
    pub(crate) fn scratch_len(&self, inputs: usize, stored_rows: usize) -> usize {
        match self {
            Kernel::Dense(_) | Kernel::Conjugates(..) => scratch_len(inputs, stored_rows),
            Kernel::Cyclic(cyclic) => cyclic.scratch_len(),
            Kernel::Integer(..) => Integers::products_len(inputs) + 2 * stored_rows,
            Kernel::Combined(combined) => combined.scratch_len(inputs, stored_rows),
        }
    }

    pub(crate) fn is_aligned(&self) -> bool {
        match self {
            Kernel::Dense(weights) | Kernel::Conjugates(weights, _) => weights.is_aligned(),
            Kernel::Cyclic(cyclic) => cyclic.is_aligned(),
            Kernel::Integer(..) => true,
            Kernel::Combined(combined) => combined.is_aligned(),
        }
    }

    /// W_in of a row the model has.
    pub(crate) fn weight(&self, row: usize, column: usize) -> Option<Complex32> {
        match *self {
            Kernel::Dense(weights) => weights.get(row, column),
            Kernel::Conjugates(weights, fold) => fold.weight(row, |row| weights.get(row, column)),
            Kernel::Cyclic(cyclic) => cyclic.weight(row, column),
            Kernel::Integer(integers, fold) => fold.weight(row, |row| integers.weight(row, column)),
            Kernel::Combined(combined) => combined.weight(row, column),
        }
    }

    /// z_i of the scaled signal, row after row.
    pub(crate) fn each_coefficient(
        &self,
        x: &[f32],
        scale: Scale,
        scratch: &mut [f32],
        each: &mut dyn FnMut(Complex32),
    ) {
        match *self {
            Kernel::Dense(weights) => {
                Kernel::Conjugates(weights, Fold::NONE).each_coefficient(x, scale, scratch, each)
            }
            Kernel::Conjugates(weights, fold) => {
                let Scratch { z, .. } = Scratch::split(scratch, x.len());
                with_matrix!(weights, w => coefficients(w, x, scale, z));
                fold.each_coefficient(z, each);
            }
            Kernel::Cyclic(cyclic) => cyclic.each_coefficient(x, scale, scratch, each),
            Kernel::Integer(integers, fold) => {
                let (samples, z) = split(scratch, Integers::products_len(x.len()));
                let samples = samples.get_mut(..x.len()).unwrap_or_default();
                integers.coefficients(x, scale, samples, z);
                fold.each_coefficient(z, each);
            }
            Kernel::Combined(combined) => combined.each_coefficient(x, scale, scratch, each),
        }
    }

    /// Every β_ij of the scaled signal in the order of the pairs, and their norm.
    ///
    /// Compiled once for all closures where a term takes hundreds of instructions and the loops 3 KB of code, so that an
    /// indirect call is a dozen more; into each caller where a term takes no more than that call.
    #[inline]
    pub(crate) fn each_term(
        &self,
        order: Order<'_>,
        x: &[f32],
        scale: Scale,
        scratch: &mut [f32],
        mut each: impl FnMut(usize, usize, Complex32),
    ) -> Magnitude {
        match self {
            Kernel::Cyclic(cyclic) => cyclic.each_term(order, x, scale, scratch, each),
            _ => self.each_summed_term(order, x, scale, scratch, &mut each),
        }
    }

    /// The kinds whose z_ij are sums over the inputs.
    #[inline(never)]
    fn each_summed_term(
        &self,
        order: Order<'_>,
        x: &[f32],
        scale: Scale,
        scratch: &mut [f32],
        each: &mut dyn FnMut(usize, usize, Complex32),
    ) -> Magnitude {
        match *self {
            Kernel::Dense(weights) => {
                let scratch = Scratch::split(scratch, x.len());
                with_matrix!(weights, w => each_term(w, order, scale, x, scratch, each))
            }
            // Not one of them: `each_term` has it.
            Kernel::Cyclic(cyclic) => cyclic.each_term(order, x, scale, scratch, each),
            Kernel::Conjugates(weights, fold) => {
                let scratch = Scratch::split(scratch, x.len());
                with_matrix!(weights, w => {
                    coefficients(w, x, scale, scratch.z);
                    conjugates::each_term((w, fold), order, scale, x, scratch, each)
                })
            }
            Kernel::Integer(integers, fold) => {
                integers.each_term(fold, order, x, scale, scratch, each)
            }
            Kernel::Combined(combined) => combined.each_term(order, x, scale, scratch, each),
        }
    }
}

/// The largest weight is within its limits.
fn in_range<T>((weights, exponent): (T, i32)) -> Result<(T, i32), Error> {
    if exponent.abs() > WEIGHT_EXPONENT {
        return Err(Error::WeightRange);
    }
    Ok((weights, exponent))
}

/// Weights that are floats, of either length, `width` complex numbers a row.
fn floats<'a>(view: &View<'a>, width: usize) -> Result<(Weights<'a>, i32), Error> {
    let weights = match view.encoding {
        Encoding::F16 => Weights::halves(view.weights, width),
        _ => Weights::new(view.weights, width),
    };
    weights
        .map_err(|refused| refused.error(width))
        .and_then(in_range)
}

/// Weights that are whole numbers.
fn integers<'a>(view: &View<'a>, scales: &'a [u8]) -> Result<(Integers<'a>, i32), Error> {
    Integers::new(view.weights, scales, view.inputs.into()).and_then(in_range)
}
