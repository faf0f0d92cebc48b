//! W where it lies in flash: row after row, in each row the N real parts and then the N imaginary parts.
//!
//! Planar rows let a compiler load whole vectors and need no shuffles.

use crate::error::Error;
use crate::half::is_finite;
use crate::scaling::exponent_of_largest;
use num_complex::Complex32;

/// A stored number and how it becomes an f32.
pub(crate) trait Element: Copy {
    fn value(self) -> f32;
}

impl Element for f32 {
    #[inline(always)]
    fn value(self) -> f32 {
        self
    }
}

/// Little-endian bytes at any alignment. One instruction more a number on a Cortex-M4, several on a processor
/// that loads no unaligned words.
impl Element for [u8; 4] {
    #[inline(always)]
    fn value(self) -> f32 {
        f32::from_le_bytes(self)
    }
}

/// The rows of W, all of one element type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Matrix<'a, E> {
    elements: &'a [E],
    inputs: usize,
}

/// One row of W: `re[n] + i·im[n]`, both of N elements.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a, E> {
    pub(crate) re: &'a [E],
    pub(crate) im: &'a [E],
}

impl<'a, E: Element> Matrix<'a, E> {
    /// Row `i`; an empty one past the end, where no caller goes: the slices are taken without a panic path.
    #[inline(always)]
    pub(crate) fn row(&self, i: usize) -> Row<'a, E> {
        let from = i * 2 * self.inputs;
        let middle = from + self.inputs;
        let to = middle + self.inputs;
        Row {
            re: self.elements.get(from..middle).unwrap_or_default(),
            im: self.elements.get(middle..to).unwrap_or_default(),
        }
    }
}

impl<E: Element> Row<'_, E> {
    pub(crate) fn get(&self, n: usize) -> Option<Complex32> {
        Some(Complex32::new(
            self.re.get(n)?.value(),
            self.im.get(n)?.value(),
        ))
    }
}

/// W in whichever way its bytes can be read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Weights<'a> {
    /// Little-endian f32 on a little-endian machine at a multiple of four: read in place.
    Aligned(Matrix<'a, f32>),
    /// Any other address or machine.
    Bytes(Matrix<'a, [u8; 4]>),
    /// Binary16 at a multiple of two on a little-endian machine.
    Halves(Matrix<'a, u16>),
    /// Binary16 at any other address or machine.
    HalfBytes(Matrix<'a, [u8; 2]>),
}

/// `$body` with `$w` the matrix, of whichever element type.
macro_rules! with_matrix {
    ($weights:expr, $w:ident => $body:expr) => {
        match $weights {
            $crate::weights::Weights::Aligned($w) => $body,
            $crate::weights::Weights::Bytes($w) => $body,
            $crate::weights::Weights::Halves($w) => $body,
            $crate::weights::Weights::HalfBytes($w) => $body,
        }
    };
}
pub(crate) use with_matrix;

/// Why bytes are not weights.
pub(crate) enum Refused {
    /// The element at this index in the stored order is not finite.
    NonFinite(usize),
    /// All are zero.
    Zero,
}

impl<'a> Weights<'a> {
    /// Weights in `bytes`, whose length the caller has checked, and the exponent of the largest.
    pub(crate) fn new(bytes: &'a [u8], inputs: usize) -> Result<(Self, i32), Refused> {
        let (elements, _) = bytes.as_chunks::<4>();
        let exponent = exponent_of_largest(elements.iter().map(|element| element.value()))
            .map_err(Refused::NonFinite)?
            .ok_or(Refused::Zero)?;
        let weights = match bytemuck::try_cast_slice(bytes) {
            Ok(elements) if cfg!(target_endian = "little") => {
                Weights::Aligned(Matrix { elements, inputs })
            }
            _ => Weights::Bytes(Matrix { elements, inputs }),
        };
        Ok((weights, exponent))
    }

    /// [`new`](Self::new), of binary16.
    pub(crate) fn halves(bytes: &'a [u8], inputs: usize) -> Result<(Self, i32), Refused> {
        let (elements, _) = bytes.as_chunks::<2>();
        if let Some(at) = (elements.iter()).position(|half| !is_finite(u16::from_le_bytes(*half))) {
            return Err(Refused::NonFinite(at));
        }
        let exponent = exponent_of_largest(elements.iter().map(|element| element.value()))
            .map_err(Refused::NonFinite)?
            .ok_or(Refused::Zero)?;
        let weights = match bytemuck::try_cast_slice(bytes) {
            Ok(elements) if cfg!(target_endian = "little") => {
                Weights::Halves(Matrix { elements, inputs })
            }
            _ => Weights::HalfBytes(Matrix { elements, inputs }),
        };
        Ok((weights, exponent))
    }

    /// W_in of a stored row.
    pub(crate) fn get(&self, row: usize, column: usize) -> Option<Complex32> {
        with_matrix!(self, w => w.row(row).get(column))
    }

    /// Whether they are read in place.
    pub(crate) fn is_aligned(&self) -> bool {
        matches!(self, Weights::Aligned(_) | Weights::Halves(_))
    }
}

impl Refused {
    /// The error of a reader, where a row has `inputs` numbers.
    pub(crate) fn error(self, inputs: usize) -> Error {
        match self {
            Refused::NonFinite(at) => Error::NonFiniteWeight {
                row: (at / (2 * inputs).max(1)) as u16,
                column: (at % inputs.max(1)) as u16,
            },
            Refused::Zero => Error::WeightRange,
        }
    }
}
