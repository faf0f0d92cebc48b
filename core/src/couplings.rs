//! Couplings: z = U x, real, and invariant forms of one to four blocks of it, t = Σ c z_a z_b z_c / ‖z‖ᵒ.
//!
//! For groups that do not commute, or act on no grid. U has blocks of rows on each of which an irrep acts; a tensor c is a
//! form of o blocks, stored once for all of their copies, and a term says where its blocks begin.
//!
//! **The order.** A dense row of U: the lanes of [`bispectrum`](crate::bispectrum), real. A sparse row: its products one
//! after the other, in the order of the columns. With i8, the whole numbers of [`integer`](crate::integer).
//! ‖z‖² is the compensated sum of the squares in the order of the rows; every z is multiplied by 1/‖z‖. A form takes its
//! entries one after the other, of each ((c·z_a)·z_b)·z_c in the order of the blocks. Every product and every sum is
//! rounded to f32 by itself; nothing is fused.
//!
//! With |x| scaled below 2 and |U| below 2, |z| < 4N ≤ 2^15, and with |c| < 2^16 no form of four leaves f32.

use crate::bispectrum::Scale;
use crate::error::Error;
use crate::feature::Feature;
use crate::format::couplings::{
    Basis, Coefficients as Coded, Couplings as Section, Numbers as Offsets, Tensor,
};
use crate::format::{Encoding, Value, View};
use crate::half::widen;
use crate::integer::{Precision, dot, quantise};
use crate::kernel::{Coefficients, Kernel};
use crate::magnitude::{Accumulator, Magnitude};
use crate::pairs::Order;
use crate::sample::Signal;
use crate::scaling::{PowerOfTwo, exponent_of_largest, power_of_two, restore};
use crate::significance::{Direction, Energy, Measured, energy_of_samples};
use crate::weights::{Bytes, Element, Largest, Refused, Rows, Weights};
use num_complex::Complex32;

/// U as it is stored.
#[derive(Debug, Clone, Copy)]
enum Numbers<'a> {
    /// With whether they are halves, and their bytes.
    Float(Weights<'a>, bool, &'a [u8]),
    Integer {
        q: &'a [i8],
        scales: &'a [[u8; 4]],
    },
}

/// A checked model of couplings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Couplings<'a> {
    numbers: Numbers<'a>,
    /// The section; it is split again for every signal, which takes less room than its lists.
    section: &'a [u8],
    inputs: usize,
    rows: usize,
}

impl<'a> Couplings<'a> {
    /// The model of a view whose section and lengths were checked.
    pub(crate) fn new<const KINDS: u32>(view: &View<'a, KINDS>, section: &'a [u8]) -> Self {
        let (inputs, rows) = (view.inputs.into(), view.rows.into());
        let numbers = match view.encoding() {
            Encoding::I8 { scales } if Feature::I8.is_in(KINDS) => Numbers::Integer {
                q: bytemuck::must_cast_slice(view.weights),
                scales: scales.as_chunks().0,
            },
            encoding => {
                let halves = matches!(encoding, Encoding::F16);
                Numbers::Float(
                    Weights::new(view.weights, inputs, halves),
                    halves,
                    view.weights,
                )
            }
        };
        Couplings {
            numbers,
            section,
            inputs,
            rows,
        }
    }

    /// The largest number of U, once all are known to be numbers.
    pub(crate) fn largest(&self) -> Result<Largest, Error> {
        self.largest_exponent().map(bounded)
    }

    fn largest_exponent(&self) -> Result<i32, Error> {
        let Numbers::Float(_, halves, bytes) = self.numbers else {
            return self.integer_exponent();
        };
        match Bytes::new(bytes, self.inputs, halves).largest() {
            Ok(exponent) => Ok(exponent),
            Err(Refused::Zero) => Err(Error::WeightRange),
            Err(Refused::NonFinite(at)) => {
                let place = self.split().and_then(|s| position(s, self.inputs, at));
                let (row, column) = place.ok_or(Error::Malformed)?;
                Err(Error::NonFiniteWeight {
                    row: row as u16,
                    column: column as u16,
                })
            }
        }
    }

    /// E_w, with the scales of rows of zeros among the weights: zero times infinity would be no number.
    fn integer_exponent(&self) -> Result<i32, Error> {
        let Numbers::Integer { q, scales } = self.numbers else {
            return Err(Error::Malformed);
        };
        // It has no opposite.
        if q.contains(&i8::MIN) {
            return Err(Error::Malformed);
        }
        let section = self.split().ok_or(Error::Malformed)?;
        let mut rest = q;
        let largest = scales.iter().enumerate().map(|(row, scale)| {
            let (row, behind) = rest
                .split_at_checked(self.stored(&section, row))
                .unwrap_or_default();
            rest = behind;
            let largest = row.iter().map(|q| q.unsigned_abs()).max();
            f32::from_le_bytes(*scale) * f32::from(largest.unwrap_or_default().max(1))
        });
        match exponent_of_largest(largest) {
            Ok(Some(exponent)) if q.iter().any(|q| *q != 0) => Ok(exponent),
            // Zeros only, or larger than f32 holds.
            _ => Err(Error::WeightRange),
        }
    }

    /// The lists of the section, which had them when it was checked.
    fn split(&self) -> Option<Section<'a>> {
        Section::split(self.section, self.inputs, self.rows)
    }

    /// How many numbers of a row are stored.
    #[inline(always)]
    fn stored(&self, section: &Section<'_>, row: usize) -> usize {
        match section.basis {
            Basis::Dense => self.inputs,
            Basis::Sparse { counts, .. } => counts.get(row).unwrap_or_default().into(),
        }
    }

    /// z of the scaled signal, to the front of the scratch, which has [`scratch_len`](Self::scratch_len) elements.
    fn real_coefficients<'s>(
        &self,
        section: &Section<'_>,
        x: Signal<'_>,
        scale: Scale,
        scratch: &'s mut [f32],
    ) -> &'s mut [f32] {
        let (z, behind) = scratch.split_at_mut_checked(self.rows).unwrap_or_default();
        match self.numbers {
            Numbers::Float(weights, ..) => match section.basis {
                Basis::Dense => {
                    for (k, z) in z.iter_mut().enumerate() {
                        *z = weights.real_coefficient(k * self.inputs, x, scale.input());
                    }
                }
                Basis::Sparse { counts, columns } => {
                    sparse(
                        weights,
                        counts.stored_bytes(),
                        columns,
                        (x, scale.input()),
                        z,
                    );
                }
            },
            Numbers::Integer { q, scales } => {
                let samples: &mut [i16] = bytemuck::must_cast_slice_mut(behind);
                let samples = samples.get_mut(..self.inputs).unwrap_or_default();
                self.integer_coefficients(section, (q, scales), x, scale, samples, z);
            }
        }
        z
    }

    /// Σ q X as an f32, times scale_k·2^(1−b_x−E_w).
    fn integer_coefficients(
        &self,
        section: &Section<'_>,
        (q, scales): (&[i8], &[[u8; 4]]),
        x: Signal<'_>,
        scale: Scale,
        samples: &mut [i16],
        z: &mut [f32],
    ) {
        let (precision, (signal, weights)) = (Precision::of(self.inputs), scale.exponents());
        let mut whole = samples.iter_mut();
        x.each(|_, x| {
            if let Some(sample) = whole.next() {
                *sample = quantise(x, signal, precision);
            }
        });
        match section.basis {
            Basis::Dense => {
                for (z, row) in z.iter_mut().zip(q.chunks_exact(self.inputs.max(1))) {
                    *z = dot(row, samples) as f32;
                }
            }
            Basis::Sparse { counts, columns } => {
                let product = |sum: i32, q: &i8, n: usize| {
                    let sample = samples.get(n).copied().unwrap_or_default();
                    sum + i32::from(*q) * i32::from(sample)
                };
                let sums = z.iter_mut().map(|z| |sum: i32| *z = sum as f32);
                each_sum(q, counts.stored_bytes(), columns, product, sums);
            }
        }
        let exponent = -precision.of_signal(0) - weights;
        for (z, scale) in z.iter_mut().zip(scales) {
            *z *= restore(f32::from_le_bytes(*scale), exponent);
        }
    }

    /// The number, the order and the value at z of every form: not divided by ‖z‖, of the signal scaled by a power of two.
    pub(crate) fn each_form(
        &self,
        x: Signal<'_>,
        scale: Scale,
        scratch: &mut [f32],
        each: &mut dyn FnMut(usize, usize, f32),
    ) {
        let Some(section) = self.split() else { return };
        let z = self.real_coefficients(&section, x, scale, scratch);
        each_form(&section, z, each);
    }
}

/// The largest number of U has this exponent: its square is below 4 times that of the power of two.
fn bounded(exponent: i32) -> Largest {
    Largest {
        exponent,
        modulus: power_of_two(2 * exponent + 2),
    }
}

impl Kernel for Couplings<'_> {
    /// z, and with i8 the signal as whole numbers of 16 bits.
    fn scratch_len(&self) -> usize {
        match self.numbers {
            Numbers::Float(..) => self.rows,
            Numbers::Integer { .. } => self.rows + self.inputs.div_ceil(2),
        }
    }

    fn is_aligned(&self) -> bool {
        match self.numbers {
            Numbers::Float(weights, ..) => weights.is_aligned(),
            Numbers::Integer { .. } => true,
        }
    }

    /// U_kn.
    fn weight(&self, row: usize, column: usize) -> Option<Complex32> {
        if row >= self.rows || column >= self.inputs {
            return None;
        }
        let section = self.split()?;
        let at = match section.basis {
            Basis::Dense => Some(row * self.inputs + column),
            Basis::Sparse { counts, columns } => {
                let from = (counts.iter().take(row)).map(usize::from).sum::<usize>();
                let count = counts.get(row)?;
                (from..from + usize::from(count)).find(|&at| columns.get(at) == Some(column))
            }
        };
        let weight = match (at, self.numbers) {
            (None, _) => 0.0,
            (Some(at), Numbers::Float(weights, ..)) => weights.number(at)?,
            (Some(at), Numbers::Integer { q, scales }) => {
                f32::from_le_bytes(*scales.get(row)?) * f32::from(*q.get(at)?)
            }
        };
        Some(Complex32::new(weight, 0.0))
    }

    fn coefficients<'s>(
        &self,
        x: Signal<'_>,
        scale: Scale,
        scratch: &'s mut [f32],
    ) -> Coefficients<'s> {
        match self.split() {
            Some(section) => {
                Coefficients::Real(self.real_coefficients(&section, x, scale, scratch))
            }
            None => Coefficients::Real(&[]),
        }
    }

    fn coefficient(&self, z: &Coefficients<'_>, row: usize) -> Complex32 {
        z.get(row)
    }

    /// Every invariant, with its number twice in place of a pair. They are divided by powers of ‖z‖ already: the norm that
    /// is returned is 1, or there is no direction where z is no more than rounding could make it, and then `each` was not
    /// called.
    fn each_term(
        &self,
        _order: Order<'_>,
        x: Signal<'_>,
        scale: Scale,
        scratch: &mut [f32],
        mut each: impl FnMut(usize, usize, Complex32),
    ) -> Measured {
        let Some(section) = self.split() else {
            return Measured::NONE;
        };
        let z = self.real_coefficients(&section, x, scale, scratch);
        let mut squares = Accumulator::default();
        for z in z.iter() {
            squares.add_real(*z);
        }
        let magnitude = squares.finish(0);
        let (floor, samples) = (scale.floor(), energy_of_samples(x, scale.signal()));
        let energy = Energy {
            samples,
            errors: match self.numbers {
                Numbers::Float(..) => floor.errors_of_floats(samples),
                Numbers::Integer { .. } => floor.errors_of_bytes(samples, self.inputs as f32),
            },
            coefficients: magnitude.norm() * magnitude.norm(),
            products: 0.0,
        };
        if !(magnitude.is_normal() && floor.is_exceeded_by_coefficients(energy)) {
            return Measured::NONE;
        }
        let factor = 1.0 / magnitude.norm();
        for z in z.iter_mut() {
            *z *= factor;
        }
        each_form(&section, z, &mut |number, _, value| {
            each(number, number, Complex32::new(value, 0.0));
        });
        Measured {
            magnitude: Magnitude::ONE,
            direction: Direction::OfSignal,
        }
    }
}

/// z = U (2^k x) of a sparse U.
fn sparse(
    weights: Weights<'_>,
    counts: &[[u8; 2]],
    columns: Offsets<'_>,
    (x, scale): (Signal<'_>, PowerOfTwo),
    z: &mut [f32],
) {
    match (weights, x) {
        (Weights::Floats(w), Signal::Floats(x)) => {
            sparse_in_place(w.elements(), counts, columns, (x, scale), z);
        }
        #[cfg(feature = "f16")]
        (Weights::Halves(w), Signal::Floats(x)) => {
            sparse_in_place(w.elements(), counts, columns, (x, scale), z);
        }
        // What has to be put together: slower and smaller, with the same bits.
        _ => {
            let mut entries = 0..columns.len();
            for (z, count) in z.iter_mut().zip(counts) {
                *z = 0.0;
                for entry in entries.by_ref().take(u16::from_le_bytes(*count).into()) {
                    let x = scale.scale(x.get(columns.read(entry)));
                    *z += weights.number(entry).unwrap_or_default() * x;
                }
            }
        }
    }
}

/// [`sparse`], of numbers and samples where they lie.
#[inline(never)]
fn sparse_in_place<E: Element>(
    numbers: &[E],
    counts: &[[u8; 2]],
    columns: Offsets<'_>,
    (x, scale): (&[f32], PowerOfTwo),
    z: &mut [f32],
) {
    let product = |sum: f32, w: &E, n: usize| {
        let x = x.get(n).copied().unwrap_or_default();
        sum + w.value() * scale.scale(x)
    };
    let sums = z.iter_mut().map(|z| |sum: f32| *z = sum);
    each_sum(numbers, counts, columns, product, sums);
}

/// Of every row the sum of its products, each of a stored number and its column, from the first to the last.
#[inline(always)]
fn each_sum<E, S: Default>(
    numbers: &[E],
    counts: &[[u8; 2]],
    columns: Offsets<'_>,
    product: impl Fn(S, &E, usize) -> S,
    sums: impl Iterator<Item = impl FnOnce(S)>,
) {
    // How wide a column is, is asked once and not for every number.
    match columns {
        Offsets::Bytes(columns) => {
            each_sum_of(numbers, counts, columns.stored_bytes(), product, sums);
        }
        Offsets::Words(columns) => {
            each_sum_of(numbers, counts, columns.stored_bytes(), product, sums);
        }
    }
}

/// [`each_sum`], of columns of so many little-endian bytes.
#[inline(always)]
fn each_sum_of<E, S: Default, const BYTES: usize>(
    mut numbers: &[E],
    counts: &[[u8; 2]],
    mut columns: &[[u8; BYTES]],
    product: impl Fn(S, &E, usize) -> S,
    sums: impl Iterator<Item = impl FnOnce(S)>,
) {
    for (put, count) in sums.zip(counts) {
        let count = u16::from_le_bytes(*count).into();
        let (row, other_numbers) = numbers.split_at_checked(count).unwrap_or_default();
        let (at, other_columns) = columns.split_at_checked(count).unwrap_or_default();
        (numbers, columns) = (other_numbers, other_columns);
        let number = |bytes: &[u8; BYTES]| {
            let digits = bytes.iter().rev();
            digits.fold(0, |n, byte| n << 8 | usize::from(*byte))
        };
        let entries = row.iter().zip(at);
        put(entries.fold(S::default(), |sum, (w, at)| product(sum, w, number(at))));
    }
}

/// Hands number, order and value of every form at z to `each`.
fn each_form(section: &Section<'_>, z: &[f32], each: &mut dyn FnMut(usize, usize, f32)) {
    match section.coefficients {
        Coded::Dictionary { magnitudes, codes } => {
            let magnitudes = magnitudes.stored_bytes();
            let value = |[code]: [u8; 1]| {
                let magnitude = magnitudes.get(usize::from(code & 0x7f));
                let bits = u32::from_le_bytes(magnitude.copied().unwrap_or_default());
                // The sign is a bit of both.
                f32::from_bits(bits | u32::from(code & 0x80) << 24)
            };
            each_coded(section, codes.stored_bytes(), value, z, each);
        }
        Coded::F16(list) => {
            let value = |half| widen(u16::from_le_bytes(half));
            each_coded(section, list.stored_bytes(), value, z, each);
        }
        Coded::F32(list) => {
            each_coded(section, list.stored_bytes(), f32::from_le_bytes, z, each);
        }
    }
}

/// [`each_form`], of coefficients that are `value` of their codes.
#[inline(always)]
fn each_coded<C: Copy>(
    section: &Section<'_>,
    codes: &[C],
    value: impl Fn(C) -> f32 + Copy,
    z: &[f32],
    each: &mut dyn FnMut(usize, usize, f32),
) {
    let tensors = section.tensors.stored_bytes();
    let all = (codes, section.indices.stored_bytes().as_flattened());
    // The tensors from number `at` on, and their codes and indices.
    let (mut at, mut heads, (mut codes, mut indices)) = (0, tensors, all);
    let mut offset = 0;
    for number in 0..section.terms.len() {
        let wanted = section.terms.read(number);
        if wanted < at {
            (at, heads, (codes, indices)) = (0, tensors, all);
        }
        while at < wanted {
            let Some((passed, behind)) = heads.split_first() else {
                return;
            };
            let head = Tensor::from_le_bytes(*passed);
            let entries = usize::from(head.entries);
            codes = codes.get(entries..).unwrap_or_default();
            indices = (indices.get(entries * usize::from(head.order)..)).unwrap_or_default();
            (at, heads) = (at + 1, behind);
        }
        let Some(head) = heads.first() else { return };
        let head = Tensor::from_le_bytes(*head);
        let codes = codes.get(..head.entries.into()).unwrap_or_default();
        let from = (section.offsets, offset);
        let result = match head.order {
            1 => form::<1, C>(z, from, indices, codes, value),
            2 => form::<2, C>(z, from, indices, codes, value),
            3 => form::<3, C>(z, from, indices, codes, value),
            _ => form::<4, C>(z, from, indices, codes, value),
        };
        offset += usize::from(head.order);
        each(number, head.order.into(), result);
    }
}

/// Σ c Π z over the entries of one tensor, the first of whose indices are at the front, with blocks that begin at the
/// offsets from this one on. That an index stays within its block was checked when the model was read.
///
/// A function of its own: among the others its loop has no registers left for z.
#[inline(never)]
fn form<const ORDER: usize, C: Copy>(
    z: &[f32],
    (offsets, first): (Offsets<'_>, usize),
    indices: &[u8],
    codes: &[C],
    value: impl Fn(C) -> f32,
) -> f32 {
    let mut begin = [0; ORDER];
    for (begin, at) in begin.iter_mut().zip(first..) {
        *begin = offsets.read(at);
    }
    let (indices, _) = indices.as_chunks::<ORDER>();
    let mut sum = 0.0;
    for (code, indices) in codes.iter().zip(indices) {
        let mut product = value(*code);
        for k in 0..ORDER {
            let at = begin[k] + usize::from(indices[k]);
            product *= z.get(at).copied().unwrap_or_default();
        }
        sum += product;
    }
    sum
}

/// The row and column of the stored number at this index.
fn position(section: Section<'_>, inputs: usize, at: usize) -> Option<(usize, usize)> {
    match section.basis {
        Basis::Dense => Some((at / inputs.max(1), at % inputs.max(1))),
        Basis::Sparse { counts, columns } => {
            let mut end = 0;
            let row = counts.iter().position(|count| {
                end += usize::from(count);
                at < end
            })?;
            Some((row, columns.get(at)?))
        }
    }
}
