//! W where it lies in flash: row after row, in each row the N real parts and then the N imaginary parts.
//!
//! Planar rows let a compiler load whole vectors and need no shuffles.

use crate::bispectrum::{
    Scale, coefficient, coefficient_of, product, product_of, real_coefficient, real_coefficient_of,
    weigh, weigh_of,
};
use crate::conjugates::{Sums, sums, sums_of};
use crate::error::Error;
use crate::half::{is_finite, widen};
use crate::sample::Signal;
use crate::scaling::{PowerOfTwo, exponent_of_largest};
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

/// Rows of complex numbers, and the sums over them that the kernels ask for.
pub(crate) trait Rows: Copy {
    /// W_in of a stored row.
    fn get(&self, row: usize, column: usize) -> Option<Complex32>;

    /// v_n = W_in (2^k x_n) 2^-E_w, into two buffers of N.
    fn weigh(&self, row: usize, x: Signal<'_>, scale: Scale, v: &mut [f32]);

    /// z_i = W_i (2^k x), where there is no room for the scaled signal.
    fn coefficient(&self, x: Signal<'_>, scale: PowerOfTwo, row: usize) -> Complex32;

    /// Σ_n v_n W_jn.
    fn product(&self, v: &[f32], row: usize) -> Complex32;

    /// The four real sums of it.
    fn sums(&self, v: &[f32], row: usize) -> Sums;

    /// The stored number at this index, of rows that are real.
    fn number(&self, at: usize) -> Option<f32>;

    /// Σ_n U_n (2^k x_n) of the real row that begins at this number.
    fn real_coefficient(&self, from: usize, x: Signal<'_>, scale: PowerOfTwo) -> f32;

    /// Whether they are read in place.
    fn is_aligned(&self) -> bool;
}

/// The rows of W, all of one element type, at its alignment.
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
    pub(crate) const fn new(elements: &'a [E], inputs: usize) -> Self {
        Matrix { elements, inputs }
    }

    /// Whether elements can be loaded where these bytes lie.
    pub(crate) fn is_in_place(bytes: &[u8]) -> bool
    where
        E: bytemuck::AnyBitPattern,
    {
        cfg!(target_endian = "little") && bytemuck::try_cast_slice::<u8, E>(bytes).is_ok()
    }

    /// Of bytes that lie where elements can be loaded; without rows of any others.
    pub(crate) fn in_place(bytes: &'a [u8], inputs: usize) -> Self
    where
        E: bytemuck::AnyBitPattern,
    {
        let elements = bytemuck::try_cast_slice(bytes).unwrap_or_default();
        Matrix::new(elements, inputs)
    }

    /// All of them, one behind the other.
    #[inline(always)]
    pub(crate) fn elements(&self) -> &'a [E] {
        self.elements
    }

    /// Row `i`; an empty one past the end, where no caller goes: the slices are taken without a panic path.
    #[inline(always)]
    pub(crate) fn row(&self, i: usize) -> Row<'a, E> {
        let row = self.run(2 * i * self.inputs, 2 * self.inputs);
        let (re, im) = row.split_at_checked(self.inputs).unwrap_or_default();
        Row { re, im }
    }

    /// `len` elements from this one on; none past the end, where no caller goes.
    #[inline(always)]
    pub(crate) fn run(&self, from: usize, len: usize) -> &'a [E] {
        let rest = self.elements.get(from..).unwrap_or_default();
        rest.get(..len).unwrap_or_default()
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

/// The loops of one element type. They are compiled here, as this crate is optimised, and once: a function with type
/// parameters would be compiled in each program that uses it, as that program is.
macro_rules! rows_of {
    ($element:ty) => {
        impl Rows for Matrix<'_, $element> {
            fn get(&self, row: usize, column: usize) -> Option<Complex32> {
                self.row(row).get(column)
            }

            #[inline(never)]
            fn weigh(&self, row: usize, x: Signal<'_>, scale: Scale, v: &mut [f32]) {
                weigh(self.row(row), x, scale, v);
            }

            #[inline(never)]
            fn coefficient(&self, x: Signal<'_>, scale: PowerOfTwo, row: usize) -> Complex32 {
                coefficient(self.row(row), x, scale)
            }

            #[inline(never)]
            fn product(&self, v: &[f32], row: usize) -> Complex32 {
                product(v, self.row(row))
            }

            #[inline(never)]
            fn sums(&self, v: &[f32], row: usize) -> Sums {
                sums(v, self.row(row))
            }

            #[inline(always)]
            fn number(&self, at: usize) -> Option<f32> {
                self.elements.get(at).map(|element| element.value())
            }

            #[inline(never)]
            fn real_coefficient(&self, from: usize, x: Signal<'_>, scale: PowerOfTwo) -> f32 {
                real_coefficient(self.run(from, x.len()), x, scale)
            }

            fn is_aligned(&self) -> bool {
                true
            }
        }
    };
}

rows_of!(f32);
#[cfg(feature = "f16")]
rows_of!(u16);

/// Rows at an address from which their elements cannot be loaded, or on a big-endian machine: put together from bytes, by
/// loops that are short instead of fast, in the same order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bytes<'a> {
    bytes: &'a [u8],
    inputs: usize,
    /// Binary16 instead of f32.
    halves: bool,
}

impl<'a> Bytes<'a> {
    /// The numbers in `bytes`, in rows of so many complex ones.
    pub(crate) const fn new(bytes: &'a [u8], inputs: usize, halves: bool) -> Self {
        Bytes {
            bytes,
            inputs,
            halves,
        }
    }

    /// The numbers of row `i`.
    fn row(&self, i: usize) -> impl Fn(usize) -> Complex32 {
        move |n| {
            let at = i * 2 * self.inputs + n;
            let part = |at| self.number(at).unwrap_or_default();
            Complex32::new(part(at), part(at + self.inputs))
        }
    }
}

impl Rows for Bytes<'_> {
    fn get(&self, row: usize, column: usize) -> Option<Complex32> {
        if column >= self.inputs {
            return None;
        }
        let at = row * 2 * self.inputs + column;
        let re = self.number(at)?;
        Some(Complex32::new(re, self.number(at + self.inputs)?))
    }

    #[inline(never)]
    fn weigh(&self, row: usize, x: Signal<'_>, scale: Scale, v: &mut [f32]) {
        weigh_of(&self.row(row), x, scale, v);
    }

    fn coefficient(&self, x: Signal<'_>, scale: PowerOfTwo, row: usize) -> Complex32 {
        coefficient_of(x, scale, &self.row(row))
    }

    #[inline(never)]
    fn product(&self, v: &[f32], row: usize) -> Complex32 {
        product_of(v, &self.row(row))
    }

    #[inline(never)]
    fn sums(&self, v: &[f32], row: usize) -> Sums {
        sums_of(v, &self.row(row))
    }

    #[inline(never)]
    fn number(&self, at: usize) -> Option<f32> {
        if self.halves && cfg!(feature = "f16") {
            let (halves, _) = self.bytes.as_chunks();
            // Neither infinity nor NaN has a value that `widen` gives: the one is as good as the other.
            halves.get(at).map(|half| match u16::from_le_bytes(*half) {
                half if is_finite(half) => widen(half),
                _ => f32::INFINITY,
            })
        } else {
            let (floats, _) = self.bytes.as_chunks();
            floats.get(at).map(|float| f32::from_le_bytes(*float))
        }
    }

    fn real_coefficient(&self, from: usize, x: Signal<'_>, scale: PowerOfTwo) -> f32 {
        real_coefficient_of(x, scale, &|n| self.number(from + n).unwrap_or_default())
    }

    fn is_aligned(&self) -> bool {
        false
    }
}

/// W in whichever way its bytes can be read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Weights<'a> {
    /// f32 in place.
    Floats(Matrix<'a, f32>),
    /// Binary16 in place.
    #[cfg(feature = "f16")]
    Halves(Matrix<'a, u16>),
    /// Any other address or machine.
    Bytes(Bytes<'a>),
}

/// `$body` with `$w` the rows, of whichever kind.
macro_rules! with_rows {
    ($weights:expr, $w:ident => $body:expr) => {
        match $weights {
            Weights::Floats($w) => $body,
            #[cfg(feature = "f16")]
            Weights::Halves($w) => $body,
            Weights::Bytes($w) => $body,
        }
    };
}

impl<'a> Weights<'a> {
    /// The rows in `bytes`, which were checked.
    pub(crate) fn new(bytes: &'a [u8], inputs: usize, halves: bool) -> Self {
        #[cfg(feature = "f16")]
        if halves {
            return match bytemuck::try_cast_slice(bytes) {
                Ok(elements) if cfg!(target_endian = "little") => {
                    Weights::Halves(Matrix::new(elements, inputs))
                }
                _ => Weights::Bytes(Bytes {
                    bytes,
                    inputs,
                    halves,
                }),
            };
        }
        match bytemuck::try_cast_slice(bytes) {
            Ok(elements) if cfg!(target_endian = "little") => {
                Weights::Floats(Matrix::new(elements, inputs))
            }
            _ => Weights::Bytes(Bytes {
                bytes,
                inputs,
                halves,
            }),
        }
    }
}

impl Rows for Weights<'_> {
    fn get(&self, row: usize, column: usize) -> Option<Complex32> {
        with_rows!(self, w => w.get(row, column))
    }

    #[inline(never)]
    fn weigh(&self, row: usize, x: Signal<'_>, scale: Scale, v: &mut [f32]) {
        with_rows!(self, w => w.weigh(row, x, scale, v));
    }

    fn coefficient(&self, x: Signal<'_>, scale: PowerOfTwo, row: usize) -> Complex32 {
        with_rows!(self, w => w.coefficient(x, scale, row))
    }

    #[inline(always)]
    fn product(&self, v: &[f32], row: usize) -> Complex32 {
        with_rows!(self, w => w.product(v, row))
    }

    #[inline(always)]
    fn sums(&self, v: &[f32], row: usize) -> Sums {
        with_rows!(self, w => w.sums(v, row))
    }

    fn number(&self, at: usize) -> Option<f32> {
        with_rows!(self, w => w.number(at))
    }

    fn real_coefficient(&self, from: usize, x: Signal<'_>, scale: PowerOfTwo) -> f32 {
        with_rows!(self, w => w.real_coefficient(from, x, scale))
    }

    fn is_aligned(&self) -> bool {
        with_rows!(self, w => w.is_aligned())
    }
}

/// Why bytes are not weights.
pub(crate) enum Refused {
    /// The element at this index in the stored order is not finite.
    NonFinite(usize),
    /// All are zero.
    Zero,
}

/// The largest weights.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Largest {
    /// ⌊log2⌋ of the largest real or imaginary part: E_w.
    pub(crate) exponent: i32,
    /// The largest |W_in|², rounded.
    pub(crate) modulus: f32,
}

impl Bytes<'_> {
    /// The largest |w|².
    pub(crate) fn largest_modulus(&self) -> f32 {
        let mut largest = 0.0;
        let (mut at, mut column) = (0, 0);
        while let (Some(re), Some(im)) = (self.number(at), self.number(at + self.inputs)) {
            largest = largest_of(largest, re * re + im * im);
            (at, column) = (at + 1, column + 1);
            if column == self.inputs {
                // Past the imaginary parts.
                (at, column) = (at + self.inputs, 0);
            }
        }
        largest
    }

    /// The exponent of the largest of the numbers.
    pub(crate) fn largest(&self) -> Result<i32, Refused> {
        let width = if self.halves { 2 } else { 4 };
        let numbers = (0..self.bytes.len() / width).map(|at| self.number(at).unwrap_or_default());
        exponent_of_largest(numbers)
            .map_err(Refused::NonFinite)?
            .ok_or(Refused::Zero)
    }
}

/// Of two numbers: as `f32::max`, which on a device is a function of its own.
pub(crate) fn largest_of(a: f32, b: f32) -> f32 {
    if b > a { b } else { a }
}

impl Refused {
    /// The error of a reader, where a row has `inputs` complex numbers.
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
