//! How z and z_ij are had, one kind a file: what a [`Model`](crate::Model) asks of its structure and encoding.

use crate::bispectrum::{Scale, Scratch, coefficient, each_term};
use crate::error::{Error, Part};
use crate::format::{Encoding, Parts, Structure};
use crate::magnitude::Magnitude;
use crate::model::scratch_len;
use crate::pairs::Order;
use crate::weights::{Weights, with_matrix};
use num_complex::Complex32;

/// The computation a model calls for. The scratch it is given has [`scratch_len`](Self::scratch_len) elements.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kernel<'a> {
    /// From W itself.
    Dense(Weights<'a>),
}

impl<'a> Kernel<'a> {
    /// The computation, and the exponent of the largest weight, once every weight is known to be a number.
    pub(crate) fn new(parts: &Parts<'a>) -> Result<(Self, i32), Error> {
        let inputs = parts.inputs.into();
        match (parts.encoding, parts.structure) {
            (Encoding::F32, Structure::Dense) => {
                let (weights, exponent) =
                    Weights::new(parts.weights, inputs).map_err(|refused| refused.error(inputs))?;
                Ok((Kernel::Dense(weights), exponent))
            }
            (Encoding::F16, _) => Err(unsupported(Part::Encoding, 1)),
            (Encoding::I8 { .. }, _) => Err(unsupported(Part::Encoding, 2)),
            (_, Structure::Conjugates { .. }) => Err(unsupported(Part::Structure, 1)),
            (_, Structure::Combined { .. }) => Err(unsupported(Part::Structure, 2)),
            (_, Structure::Cyclic { .. }) => Err(unsupported(Part::Structure, 3)),
        }
    }

    /// Elements of scratch for one signal.
    pub(crate) fn scratch_len(&self, inputs: usize, stored_rows: usize) -> usize {
        match self {
            Kernel::Dense(_) => scratch_len(inputs, stored_rows),
        }
    }

    pub(crate) fn is_aligned(&self) -> bool {
        match self {
            Kernel::Dense(weights) => weights.is_aligned(),
        }
    }

    /// W_in of a row the model has.
    pub(crate) fn weight(&self, row: usize, column: usize) -> Option<Complex32> {
        match *self {
            Kernel::Dense(weights) => with_matrix!(weights, w => w.row(row).get(column)),
        }
    }

    /// z_i of the scaled signal, row after row.
    pub(crate) fn each_coefficient(
        &self,
        x: &[f32],
        scale: Scale,
        _scratch: &mut [f32],
        each: &mut dyn FnMut(Complex32),
    ) {
        match *self {
            Kernel::Dense(weights) => with_matrix!(weights, w => {
                for row in w.rows() {
                    each(coefficient(row, x, scale.input()));
                }
            }),
        }
    }

    /// Every β_ij of the scaled signal in the order of the pairs, and their norm.
    pub(crate) fn each_term(
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
        }
    }
}

fn unsupported(part: Part, kind: u8) -> Error {
    Error::Unsupported { part, kind }
}
