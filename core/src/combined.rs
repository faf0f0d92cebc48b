//! Structure `combined`: z_ij = scale · Σ_k (re + i·im) z_k or conj z_k, K terms of the coefficients of the signal itself
//! instead of N products with W.
//!
//! Where W_i ⊙ W_j ≈ scale · Σ_k c_k W_k, that is (W_i ⊙ W_j) x: for the characters of a group with one k exactly, for
//! disk harmonics with a few, by least squares on the host. It turns R²N/2 multiply-adds into RN + R²K/2.
//!
//! **The order.** The real sum takes +re·z_re, then −im·z_im, the imaginary sum +re·z_im, then +im·z_re, term after
//! term, each product and each sum rounded to f32; at last both are multiplied by the scale.

use crate::bispectrum::{Scale, triple};
use crate::fold::{Fold, folded, row_of};
use crate::integer::{Integers, split};
use crate::kernel::{Coefficients, Kernel};
use crate::magnitude::{Accumulator, Magnitude};
use crate::pairs::Order;
use crate::sample::Signal;
use crate::scaling::{bits_of_count, exponent_of_largest, power_of_two, restore};
use crate::significance::{Energy, Measured};
use crate::weights::Rows;
use num_complex::Complex32;

/// u16 k with the bit of its conjugate, i16 re, i16 im, all little-endian.
type Term = [u8; 6];

/// Where z_k comes from: stored rows of floats or of integers.
pub(crate) trait StoredRows: Copy {
    /// Elements of scratch: z of every row, and what it is computed in.
    fn scratch_len(&self) -> usize;

    fn is_aligned(&self) -> bool;

    fn weight(&self, row: usize, column: usize) -> Option<Complex32>;

    /// What the floor depends on.
    fn energy(&self, x: Signal<'_>, scale: Scale, z: impl Iterator<Item = Complex32>) -> Energy;

    /// z of every row.
    fn coefficients<'s>(
        &self,
        x: Signal<'_>,
        scale: Scale,
        scratch: &'s mut [f32],
    ) -> &'s [Complex32];
}

/// Rows of floats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Floats<W> {
    pub(crate) weights: W,
    pub(crate) rows: usize,
}

impl<W: Rows> StoredRows for Floats<W> {
    fn scratch_len(&self) -> usize {
        2 * self.rows
    }

    fn is_aligned(&self) -> bool {
        self.weights.is_aligned()
    }

    fn weight(&self, row: usize, column: usize) -> Option<Complex32> {
        self.weights.get(row, column)
    }

    fn energy(&self, x: Signal<'_>, scale: Scale, z: impl Iterator<Item = Complex32>) -> Energy {
        scale.energy(x, z)
    }

    fn coefficients<'s>(
        &self,
        x: Signal<'_>,
        scale: Scale,
        scratch: &'s mut [f32],
    ) -> &'s [Complex32] {
        let z: &mut [Complex32] = bytemuck::try_cast_slice_mut(scratch).unwrap_or_default();
        for (i, z) in z.iter_mut().enumerate() {
            *z = self.weights.coefficient(x, scale.input(), i);
        }
        z
    }
}

impl StoredRows for Integers<'_> {
    fn scratch_len(&self) -> usize {
        Integers::signal_len(self.inputs()) + 2 * self.stored_rows()
    }

    fn is_aligned(&self) -> bool {
        true
    }

    fn weight(&self, row: usize, column: usize) -> Option<Complex32> {
        Integers::weight(self, row, column)
    }

    fn energy(&self, x: Signal<'_>, scale: Scale, z: impl Iterator<Item = Complex32>) -> Energy {
        Integers::energy(self, x, scale, z)
    }

    fn coefficients<'s>(
        &self,
        x: Signal<'_>,
        scale: Scale,
        scratch: &'s mut [f32],
    ) -> &'s [Complex32] {
        let (samples, z) = split(scratch, Integers::signal_len(x.len()));
        let samples = samples.get_mut(..x.len()).unwrap_or_default();
        Integers::coefficients(self, x, scale, samples, z);
        z
    }
}

/// The terms of every pair, and the rows they are made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Combined<'a, R> {
    rows: R,
    fold: Fold<'a>,
    coefficients: &'a [Term],
    /// K.
    terms: usize,
    /// scale·2^-E_c.
    factor: f32,
    /// E_c = ⌊log2 scale⌋ + 15 + ⌈log2 K⌉. With it z_ij is at most 2√2·max|z_k| < 16 N, as in a dense model: see
    /// [`Scale`].
    exponent: i32,
    /// The square of the largest Σ_k |c_k|, of coefficients times the factor.
    largest: f32,
}

impl<'a, R: StoredRows> Combined<'a, R> {
    /// Of a section that was checked.
    pub(crate) fn new(
        rows: R,
        fold: Fold<'a>,
        terms: u8,
        scale: f32,
        coefficients: &'a [u8],
        longest: f32,
    ) -> Self {
        let exponent = exponent_of_largest([scale].into_iter());
        let exponent = exponent.ok().flatten().unwrap_or_default();
        let down = 15 + bits_of_count(terms.into()) as i32;
        let factor = restore(scale, -exponent) * power_of_two(-down);
        let largest = longest * factor;
        Combined {
            rows,
            fold,
            coefficients: coefficients.as_chunks().0,
            terms: terms.into(),
            factor,
            exponent: exponent + down,
            largest: largest * largest,
        }
    }
}

impl<R: StoredRows> Kernel for Combined<'_, R> {
    fn scratch_len(&self) -> usize {
        self.rows.scratch_len()
    }

    fn is_aligned(&self) -> bool {
        self.rows.is_aligned()
    }

    fn product_exponent(&self, _largest_weight: i32) -> i32 {
        self.exponent
    }

    fn weight(&self, row: usize, column: usize) -> Option<Complex32> {
        self.fold.weight(row, |row| self.rows.weight(row, column))
    }

    fn coefficients<'s>(
        &self,
        x: Signal<'_>,
        scale: Scale,
        scratch: &'s mut [f32],
    ) -> Coefficients<'s> {
        Coefficients::Complex(self.rows.coefficients(x, scale, scratch))
    }

    fn coefficient(&self, z: &Coefficients<'_>, row: usize) -> Complex32 {
        self.fold.coefficient(z.complex(), row)
    }

    #[inline]
    fn each_term(
        &self,
        order: Order<'_>,
        x: Signal<'_>,
        scale: Scale,
        scratch: &mut [f32],
        mut each: impl FnMut(usize, usize, Complex32),
    ) -> Measured {
        let z = self.rows.coefficients(x, scale, scratch);
        let energy = Energy {
            products: self.largest,
            ..self.rows.energy(x, scale, self.fold.coefficients(z))
        };
        let magnitude = self.terms_of(order, z, scale, &mut each);
        scale.floor().measure(magnitude, energy)
    }
}

impl<R> Combined<'_, R> {
    /// Every β_ij of the scaled signal in the order of the pairs, and their norm.
    #[inline(never)]
    fn terms_of(
        &self,
        order: Order<'_>,
        z: &[Complex32],
        scale: Scale,
        each: &mut dyn FnMut(usize, usize, Complex32),
    ) -> Magnitude {
        let z_of = |row: usize| self.fold.coefficient(z, row);
        let mut squares = Accumulator::default();
        let terms = self.coefficients.chunks_exact(self.terms.max(1));
        for ((i, j), terms) in order.iter().zip(terms) {
            let sum = combination(terms, z);
            let s = Complex32::new(sum.re * self.factor, sum.im * self.factor);
            let term = triple(z_of(i), z_of(j), s);
            squares.add(term);
            each(i, j, term);
        }
        squares.finish(3 * scale.coefficient() + self.exponent)
    }
}

/// The largest Σ_k (|re| + |im|) of combinations of so many terms, at least the largest Σ_k |c_k|.
pub(crate) fn longest(coefficients: &[u8], terms: u8) -> f32 {
    let (coefficients, _) = coefficients.as_chunks();
    let lengths = coefficients
        .chunks_exact(usize::from(terms).max(1))
        .map(length);
    lengths.max().unwrap_or_default() as f32
}

/// Σ_k (|re| + |im|).
fn length(terms: &[Term]) -> u32 {
    let part = |low, high| u32::from(i16::from_le_bytes([low, high]).unsigned_abs());
    let lengths = terms
        .iter()
        .map(|&[_, _, re, re_high, im, im_high]| part(re, re_high) + part(im, im_high));
    lengths.sum()
}

/// Σ_k (re + i·im) z_k or conj z_k.
#[inline(always)]
fn combination(terms: &[Term], z: &[Complex32]) -> Complex32 {
    let mut sum = Complex32::ZERO;
    for &[k, k_high, re, re_high, im, im_high] in terms {
        let (stored, conjugated) = row_of([k, k_high]);
        let z = folded(z, stored, conjugated);
        let re = f32::from(i16::from_le_bytes([re, re_high]));
        let im = f32::from(i16::from_le_bytes([im, im_high]));
        sum.re += re * z.re;
        sum.re -= im * z.im;
        sum.im += re * z.im;
        sum.im += im * z.re;
    }
    sum
}
