//! Structure `combined`: z_ij = scale · Σ_k (re + i·im) z_k or conj z_k, K terms of the coefficients of the signal itself
//! instead of N products with W.
//!
//! Where W_i ⊙ W_j ≈ scale · Σ_k c_k W_k, that is (W_i ⊙ W_j) x: for the characters of a group with one k exactly, for
//! disk harmonics with a few, by least squares on the host. It turns R²N/2 multiply-adds into RN + R²K/2.
//!
//! **The order.** The real sum takes +re·z_re, then −im·z_im, the imaginary sum +re·z_im, then +im·z_re, term after
//! term, each product and each sum rounded to f32; at last both are multiplied by the scale.

use crate::bispectrum::{Scale, coefficients, triple};
use crate::error::Error;
use crate::fold::{Fold, folded, row_of};
use crate::integer::{Integers, split};
use crate::magnitude::{Accumulator, Magnitude};
use crate::pairs::Order;
use crate::scaling::{bits_of_count, exponent_of_largest, power_of_two, restore};
use crate::weights::{Weights, with_matrix};
use num_complex::Complex32;

/// u16 k with the bit of its conjugate, i16 re, i16 im, all little-endian.
type Term = [u8; 6];

/// Where z_k comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rows<'a> {
    /// Weights that are floats.
    Float(Weights<'a>),
    /// Weights that are integers.
    Integer(Integers<'a>),
}

/// The terms of every pair, and the rows they are made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Combined<'a> {
    rows: Rows<'a>,
    fold: Fold<'a>,
    coefficients: &'a [Term],
    /// K.
    terms: usize,
    /// scale·2^-E_c.
    factor: f32,
    /// E_c = ⌊log2 scale⌋ + 15 + ⌈log2 K⌉. With it z_ij is at most 2√2·max|z_k| < 16 N, as in a dense model: see
    /// [`Scale`].
    exponent: i32,
}

impl<'a> Combined<'a> {
    /// Of a section that was checked.
    pub(crate) fn new(
        rows: Rows<'a>,
        fold: Fold<'a>,
        terms: u8,
        scale: f32,
        coefficients: &'a [u8],
    ) -> Result<Self, Error> {
        let exponent = exponent_of_largest([scale].into_iter());
        let exponent = exponent.ok().flatten().ok_or(Error::Malformed)?;
        let down = 15 + bits_of_count(terms.into()) as i32;
        Ok(Combined {
            rows,
            fold,
            coefficients: coefficients.as_chunks().0,
            terms: terms.into(),
            factor: restore(scale, -exponent) * power_of_two(-down),
            exponent: exponent + down,
        })
    }

    /// Elements of scratch: z of every stored row, and X where they are integers.
    pub(crate) fn scratch_len(&self, inputs: usize, stored_rows: usize) -> usize {
        self.signal_len(inputs) + 2 * stored_rows
    }

    fn signal_len(&self, inputs: usize) -> usize {
        match self.rows {
            Rows::Float(_) => 0,
            Rows::Integer(_) => Integers::signal_len(inputs),
        }
    }

    pub(crate) fn is_aligned(&self) -> bool {
        match self.rows {
            Rows::Float(weights) => weights.is_aligned(),
            Rows::Integer(_) => true,
        }
    }

    /// W_in of a row the model has.
    pub(crate) fn weight(&self, row: usize, column: usize) -> Option<Complex32> {
        self.fold.weight(row, |row| match self.rows {
            Rows::Float(weights) => weights.get(row, column),
            Rows::Integer(integers) => integers.weight(row, column),
        })
    }

    /// z of the stored rows.
    fn stored<'s>(&self, x: &[f32], scale: Scale, scratch: &'s mut [f32]) -> &'s [Complex32] {
        let (samples, z) = split(scratch, self.signal_len(x.len()));
        match self.rows {
            Rows::Float(weights) => with_matrix!(weights, w => coefficients(w, x, scale, z)),
            Rows::Integer(integers) => {
                let samples = samples.get_mut(..x.len()).unwrap_or_default();
                integers.coefficients(x, scale, samples, z);
            }
        }
        z
    }

    /// z_i of the scaled signal, row after row.
    pub(crate) fn each_coefficient(
        &self,
        x: &[f32],
        scale: Scale,
        scratch: &mut [f32],
        each: &mut dyn FnMut(Complex32),
    ) {
        self.fold
            .each_coefficient(self.stored(x, scale, scratch), each);
    }

    /// Every β_ij of the scaled signal in the order of the pairs, and their norm.
    pub(crate) fn each_term(
        &self,
        order: Order<'_>,
        x: &[f32],
        scale: Scale,
        scratch: &mut [f32],
        mut each: impl FnMut(usize, usize, Complex32),
    ) -> Magnitude {
        let z = self.stored(x, scale, scratch);
        let z_of = |row: usize| {
            let (stored, conjugated) = self.fold.stored(row);
            folded(z, stored, conjugated)
        };
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
