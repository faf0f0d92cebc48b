//! z = W x and β_ij = z_i · z_j · conj((W_i ⊙ W_j) x), in one order of arithmetic for every processor.
//!
//! **The order.** A sum over n has [`LANES`] partial sums: term n goes to lane n mod 8, in the order of n, and the
//! lanes are added as ((0+4)+(2+6)) + ((1+5)+(3+7)). A complex term is two real ones: the real lane takes
//! +v_re·w_re, then −v_im·w_im; the imaginary lane +v_re·w_im, then +v_im·w_re. Every product and every sum is
//! rounded to f32 by itself; nothing is fused. Eight lanes are one AVX register or two of SSE, and sixteen of the
//! Cortex-M4F's 32 registers.

use crate::magnitude::{Accumulator, Magnitude};
use crate::pairs::Order;
use crate::scaling::{PowerOfTwo, power_of_two};
use crate::weights::{Element, Matrix, Row};
use num_complex::Complex32;

/// Independent partial sums of every sum over the inputs.
pub const LANES: usize = 8;

type Lanes = [f32; LANES];

#[inline(always)]
fn total(l: Lanes) -> f32 {
    ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]))
}

/// The elements of a row beyond its last whole chunk, and zeros: terms of zero change no bit of a sum that
/// began at +0.
#[inline(always)]
fn padded<E: Element>(rest: &[E]) -> Lanes {
    let mut lanes = [0.0; LANES];
    for (lane, element) in lanes.iter_mut().zip(rest) {
        *lane = element.value();
    }
    lanes
}

/// z_i = W_i (2^k x).
#[inline(always)]
fn coefficient<E: Element>(row: Row<'_, E>, x: &[f32], scale: PowerOfTwo) -> Complex32 {
    let (mut re, mut im) = ([0.0; LANES], [0.0; LANES]);
    let mut add = |x: Lanes, w_re: Lanes, w_im: Lanes| {
        for l in 0..LANES {
            let x = scale.scale(x[l]);
            re[l] += w_re[l] * x;
            im[l] += w_im[l] * x;
        }
    };
    let (x, x_rest) = x.as_chunks::<LANES>();
    let (w_re, w_re_rest) = row.re.as_chunks::<LANES>();
    let (w_im, w_im_rest) = row.im.as_chunks::<LANES>();
    for ((x, w_re), w_im) in x.iter().zip(w_re).zip(w_im) {
        add(*x, w_re.map(E::value), w_im.map(E::value));
    }
    if !x_rest.is_empty() {
        add(padded(x_rest), padded(w_re_rest), padded(w_im_rest));
    }
    Complex32::new(total(re), total(im))
}

/// z = W (2^k x) of as many rows as there is room for. Compiled once an element type, for every kind that asks for it.
#[inline(never)]
pub(crate) fn coefficients<E: Element>(
    weights: Matrix<'_, E>,
    x: &[f32],
    scale: Scale,
    z: &mut [Complex32],
) {
    for (i, z) in z.iter_mut().enumerate() {
        *z = coefficient(weights.row(i), x, scale.input());
    }
}

/// Σ_n v_n W_jn, which for v = W_i ⊙ x is (W_i ⊙ W_j) x.
#[inline(always)]
fn product<E: Element>(v_re: &[f32], v_im: &[f32], row: Row<'_, E>) -> Complex32 {
    let (mut re, mut im) = ([0.0; LANES], [0.0; LANES]);
    let mut add = |v_re: Lanes, v_im: Lanes, w_re: Lanes, w_im: Lanes| {
        for l in 0..LANES {
            re[l] += v_re[l] * w_re[l];
            re[l] -= v_im[l] * w_im[l];
            im[l] += v_re[l] * w_im[l];
            im[l] += v_im[l] * w_re[l];
        }
    };
    let (v_re, v_re_rest) = v_re.as_chunks::<LANES>();
    let (v_im, v_im_rest) = v_im.as_chunks::<LANES>();
    let (w_re, w_re_rest) = row.re.as_chunks::<LANES>();
    let (w_im, w_im_rest) = row.im.as_chunks::<LANES>();
    for (((v_re, v_im), w_re), w_im) in v_re.iter().zip(v_im).zip(w_re).zip(w_im) {
        add(*v_re, *v_im, w_re.map(E::value), w_im.map(E::value));
    }
    if !v_re_rest.is_empty() {
        let (w_re, w_im) = (padded(w_re_rest), padded(w_im_rest));
        add(padded(v_re_rest), padded(v_im_rest), w_re, w_im);
    }
    Complex32::new(total(re), total(im))
}

/// A row times the signal, v_n = W_in (2^k x_n) 2^-E_w, into two buffers of N.
#[inline(always)]
pub(crate) fn weigh<E: Element>(
    row: Row<'_, E>,
    x: &[f32],
    scale: Scale,
    v_re: &mut [f32],
    v_im: &mut [f32],
) {
    let (input, factor) = (scale.input(), scale.product());
    let v = v_re.iter_mut().zip(v_im);
    for (((v_re, v_im), x), (w_re, w_im)) in v.zip(x).zip(row.re.iter().zip(row.im)) {
        let x = input.scale(*x);
        *v_re = w_re.value() * x * factor;
        *v_im = w_im.value() * x * factor;
    }
}

/// z_i z_j conj(s).
#[inline(always)]
pub(crate) fn triple(z_i: Complex32, z_j: Complex32, s: Complex32) -> Complex32 {
    let re = z_i.re * z_j.re - z_i.im * z_j.im;
    let im = z_i.re * z_j.im + z_i.im * z_j.re;
    Complex32::new(re * s.re + im * s.im, im * s.re - re * s.im)
}

/// Where the intermediate values of one signal live: N and N elements, and one number a stored row.
pub(crate) struct Scratch<'s> {
    pub(crate) v_re: &'s mut [f32],
    pub(crate) v_im: &'s mut [f32],
    pub(crate) z: &'s mut [Complex32],
}

impl<'s> Scratch<'s> {
    /// Of a buffer whose length the caller has checked: what is missing would be empty.
    pub(crate) fn split(buffer: &'s mut [f32], inputs: usize) -> Self {
        let (v_re, rest) = buffer.split_at_mut_checked(inputs).unwrap_or_default();
        let (v_im, z) = rest.split_at_mut_checked(inputs).unwrap_or_default();
        let z = bytemuck::try_cast_slice_mut(z).unwrap_or_default();
        Scratch { v_re, v_im, z }
    }
}

/// How a signal and the weights are brought to a common magnitude: with E_x and E_w the exponents of the largest
/// sample and weight, x is multiplied by 2^-(E_x+E_w) and W_i ⊙ x once more by 2^-E_w.
///
/// Then |z_i| < 4√2 N and |z_ij| < 16 N, so that with N ≤ 2^13 and 2^25 pairs |β_ij| < 2^9 N³ and Σ|β|² < 2^122.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    signal: i32,
    weights: i32,
}

impl Scale {
    pub(crate) fn new(signal: i32, weights: i32) -> Self {
        Scale { signal, weights }
    }

    /// What x is multiplied by.
    pub(crate) fn input(self) -> PowerOfTwo {
        PowerOfTwo::new(-self.coefficient())
    }

    /// What x is multiplied by where the weights have their own factor.
    pub(crate) fn signal(self) -> PowerOfTwo {
        PowerOfTwo::new(-self.signal)
    }

    /// What W_i ⊙ x is multiplied by.
    fn product(self) -> f32 {
        power_of_two(-self.weights)
    }

    /// E_x and E_w.
    pub(crate) fn exponents(self) -> (i32, i32) {
        (self.signal, self.weights)
    }

    /// z is the computed one times 2 to this.
    pub(crate) fn coefficient(self) -> i32 {
        self.signal + self.weights
    }

    /// β is the computed one times 2 to this.
    pub(crate) fn bispectrum(self) -> i32 {
        3 * self.signal + 4 * self.weights
    }
}

/// Every β_ij of the scaled signal in the order of the pairs, and their norm.
#[inline(always)]
pub(crate) fn each_term<E: Element>(
    weights: Matrix<'_, E>,
    order: Order<'_>,
    scale: Scale,
    x: &[f32],
    scratch: Scratch<'_>,
    each: &mut dyn FnMut(usize, usize, Complex32),
) -> Magnitude {
    let Scratch { v_re, v_im, z } = scratch;
    coefficients(weights, x, scale, z);
    let z = |row: usize| z.get(row).copied().unwrap_or_default();
    let mut squares = Accumulator::default();
    let (mut weighed, mut z_i) = (None, Complex32::ZERO);
    for (i, j) in order.iter() {
        if weighed != Some(i) {
            weigh(weights.row(i), x, scale, v_re, v_im);
            (weighed, z_i) = (Some(i), z(i));
        }
        let s = product(v_re, v_im, weights.row(j));
        let term = triple(z_i, z(j), s);
        squares.add(term);
        each(i, j, term);
    }
    squares.finish(scale.bispectrum())
}
