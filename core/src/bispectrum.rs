//! z = W x and β_ij = z_i · z_j · conj((W_i ⊙ W_j) x), in one order of arithmetic for every processor.
//!
//! **The order.** A sum over n has [`LANES`] partial sums: term n goes to lane n mod 8, in the order of n, and the
//! lanes are added as ((0+4)+(2+6)) + ((1+5)+(3+7)). A complex term is two real ones: the real lane takes
//! +v_re·w_re, then −v_im·w_im; the imaginary lane +v_re·w_im, then +v_im·w_re. Every product and every sum is
//! rounded to f32 by itself; nothing is fused. Eight lanes are one AVX register or two of SSE, and sixteen of the
//! Cortex-M4F's 32 registers.

use crate::kernel::{Coefficients, Kernel};
use crate::magnitude::Accumulator;
use crate::pairs::Order;
use crate::sample::Signal;
use crate::scaling::{PowerOfTwo, power_of_two};
use crate::significance::{Energy, Floor, Measured, energy_of_coefficients, energy_of_samples};
use crate::weights::{Element, Row, Rows};
use num_complex::Complex32;

/// Independent partial sums of every sum over the inputs.
const LANES: usize = 8;

type Lanes = [f32; LANES];

#[inline(always)]
fn total(l: Lanes) -> f32 {
    ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]))
}

/// z_i = W_i (2^k x), where there is no room for the scaled signal.
#[inline(always)]
pub(crate) fn coefficient<E: Element>(
    row: Row<'_, E>,
    x: Signal<'_>,
    scale: PowerOfTwo,
) -> Complex32 {
    let (mut re, mut im) = ([0.0; LANES], [0.0; LANES]);
    let Signal::Floats(x) = x else {
        return coefficient_of(x, scale, &|n| row.get(n).unwrap_or_default());
    };
    let (x, x_rest) = x.as_chunks::<LANES>();
    let (w_re, w_re_rest) = row.re.as_chunks::<LANES>();
    let (w_im, w_im_rest) = row.im.as_chunks::<LANES>();
    for ((x, w_re), w_im) in x.iter().zip(w_re).zip(w_im) {
        for l in 0..LANES {
            let x = scale.scale(x[l]);
            re[l] += w_re[l].value() * x;
            im[l] += w_im[l].value() * x;
        }
    }
    if !x_rest.is_empty() {
        let (mut last_re, mut last_im) = (re, im);
        let lanes = last_re.iter_mut().zip(&mut last_im);
        let w = w_re_rest.iter().zip(w_im_rest);
        for (((re, im), x), (w_re, w_im)) in lanes.zip(x_rest).zip(w) {
            let x = scale.scale(*x);
            *re += w_re.value() * x;
            *im += w_im.value() * x;
        }
        (re, im) = (last_re, last_im);
    }
    Complex32::new(total(re), total(im))
}

/// [`coefficient`] of a row whose numbers are put together one by one: slower and smaller, with the same bits.
pub(crate) fn coefficient_of(
    x: Signal<'_>,
    scale: PowerOfTwo,
    row: &dyn Fn(usize) -> Complex32,
) -> Complex32 {
    let mut lanes = [Complex32::ZERO; LANES];
    x.each(|n, x| {
        let (w, x) = (row(n), scale.scale(x));
        if let Some(lane) = lanes.get_mut(n % LANES) {
            lane.re += w.re * x;
            lane.im += w.im * x;
        }
    });
    Complex32::new(total(lanes.map(|l| l.re)), total(lanes.map(|l| l.im)))
}

/// z_k = U_k (2^k x) of a real row, in the lanes of [`coefficient`].
#[inline(always)]
pub(crate) fn real_coefficient<E: Element>(row: &[E], x: Signal<'_>, scale: PowerOfTwo) -> f32 {
    let Signal::Floats(x) = x else {
        return real_coefficient_of(x, scale, &|n| row.get(n).map_or(0.0, |w| w.value()));
    };
    let mut sums = [0.0; LANES];
    let (x, x_rest) = x.as_chunks::<LANES>();
    let (w, w_rest) = row.as_chunks::<LANES>();
    for (x, w) in x.iter().zip(w) {
        for l in 0..LANES {
            sums[l] += w[l].value() * scale.scale(x[l]);
        }
    }
    if !x_rest.is_empty() {
        let mut last = sums;
        for ((sum, x), w) in last.iter_mut().zip(x_rest).zip(w_rest) {
            *sum += w.value() * scale.scale(*x);
        }
        sums = last;
    }
    total(sums)
}

/// [`real_coefficient`] of numbers that are put together one by one.
pub(crate) fn real_coefficient_of(
    x: Signal<'_>,
    scale: PowerOfTwo,
    row: &dyn Fn(usize) -> f32,
) -> f32 {
    let mut sums = [0.0; LANES];
    x.each(|n, x| {
        if let Some(sum) = sums.get_mut(n % LANES) {
            *sum += row(n) * scale.scale(x);
        }
    });
    total(sums)
}

/// Σ_n v_n W_jn, which for v = W_i ⊙ x is (W_i ⊙ W_j) x, and for v = x is z_j: the terms of its imaginary part, all zero,
/// change no bit.
#[inline(always)]
pub(crate) fn product<E: Element>(v: &[f32], row: Row<'_, E>) -> Complex32 {
    let (mut re, mut im) = ([0.0; LANES], [0.0; LANES]);
    // One length for all four, so that the loop has one end to look for.
    let n = row.re.len();
    let Some((v_re, v_im)) = v.split_at_checked(n) else {
        return Complex32::ZERO;
    };
    if v_im.len() != n || row.im.len() != n {
        return Complex32::ZERO;
    }
    let (v_re, v_re_rest) = v_re.as_chunks::<LANES>();
    let (v_im, v_im_rest) = v_im.as_chunks::<LANES>();
    let (w_re, w_re_rest) = row.re.as_chunks::<LANES>();
    let (w_im, w_im_rest) = row.im.as_chunks::<LANES>();
    for (((v_re, v_im), w_re), w_im) in v_re.iter().zip(v_im).zip(w_re).zip(w_im) {
        for l in 0..LANES {
            let (w_re, w_im) = (w_re[l].value(), w_im[l].value());
            re[l] += v_re[l] * w_re;
            re[l] -= v_im[l] * w_im;
            im[l] += v_re[l] * w_im;
            im[l] += v_im[l] * w_re;
        }
    }
    if !v_re_rest.is_empty() {
        // Other lanes than those of the loop above, which are to stay in registers.
        let mut lanes = [re, im];
        let w = |n: usize| {
            let number = |rest: &[E]| rest.get(n).map_or(0.0, |w| w.value());
            Complex32::new(number(w_re_rest), number(w_im_rest))
        };
        add_products(&mut lanes, v_re_rest, v_im_rest, &w);
        [re, im] = lanes;
    }
    Complex32::new(total(re), total(im))
}

/// [`product`] of a row whose numbers are put together one by one: slower and smaller, with the same bits.
pub(crate) fn product_of(v: &[f32], row: &dyn Fn(usize) -> Complex32) -> Complex32 {
    let (v_re, v_im) = v.split_at_checked(v.len() / 2).unwrap_or_default();
    let mut lanes = [[0.0; LANES]; 2];
    add_products(&mut lanes, v_re, v_im, row);
    let [re, im] = lanes;
    Complex32::new(total(re), total(im))
}

/// Adds v_n w_n to real and imaginary lanes, of which the first is that of the first n.
#[inline(never)]
fn add_products(
    [re, im]: &mut [Lanes; 2],
    v_re: &[f32],
    v_im: &[f32],
    w: &dyn Fn(usize) -> Complex32,
) {
    for (n, (v_re, v_im)) in v_re.iter().zip(v_im).enumerate() {
        let (l, w) = (n % LANES, w(n));
        re[l] += v_re * w.re;
        re[l] -= v_im * w.im;
        im[l] += v_re * w.im;
        im[l] += v_im * w.re;
    }
}

/// z = W (2^k x) of as many rows as there is room for, with the scaled signal in two buffers of N.
pub(crate) fn coefficients(
    weights: &impl Rows,
    x: Signal<'_>,
    scale: Scale,
    Scratch { v, z }: &mut Scratch<'_>,
) {
    scale_signal(x, scale.input(), v);
    for (i, z) in z.iter_mut().enumerate() {
        *z = weights.product(v, i);
    }
}

/// The scaled signal to the first half of a buffer, and zeros to the second.
#[inline(never)]
fn scale_signal(x: Signal<'_>, scale: PowerOfTwo, v: &mut [f32]) {
    let (v_re, v_im) = v.split_at_mut_checked(x.len()).unwrap_or_default();
    x.each_run(|from, x| {
        let v = v_re.get_mut(from..).unwrap_or_default();
        v.iter_mut().zip(x).for_each(|(v, x)| *v = scale.scale(*x));
    });
    v_im.fill(0.0);
}

/// A row times the signal, v_n = W_in (2^k x_n) 2^-E_w, into two buffers of N.
#[inline(always)]
pub(crate) fn weigh<E: Element>(row: Row<'_, E>, x: Signal<'_>, scale: Scale, v: &mut [f32]) {
    let (v_re, v_im) = v.split_at_mut_checked(x.len()).unwrap_or_default();
    let weigher = Weigher::new(scale);
    x.each_run(|from, x| {
        let v_re = v_re.get_mut(from..).unwrap_or_default();
        let v_im = v_im.get_mut(from..).unwrap_or_default();
        let w_re = row.re.get(from..).unwrap_or_default();
        let w_im = row.im.get(from..).unwrap_or_default();
        let v = v_re.iter_mut().zip(v_im);
        for (((v_re, v_im), x), (w_re, w_im)) in v.zip(x).zip(w_re.iter().zip(w_im)) {
            (*v_re, *v_im) = weigher.weigh(w_re.value(), w_im.value(), *x);
        }
    });
}

/// [`weigh`] of a row whose numbers are put together one by one.
pub(crate) fn weigh_of(
    row: &dyn Fn(usize) -> Complex32,
    x: Signal<'_>,
    scale: Scale,
    v: &mut [f32],
) {
    let (v_re, v_im) = v.split_at_mut_checked(x.len()).unwrap_or_default();
    let weigher = Weigher::new(scale);
    for (n, (v_re, v_im)) in v_re.iter_mut().zip(v_im).enumerate() {
        let w = row(n);
        (*v_re, *v_im) = weigher.weigh(w.re, w.im, x.get(n));
    }
}

/// What turns weights and samples into their products.
struct Weigher {
    input: PowerOfTwo,
    factor: f32,
}

impl Weigher {
    #[inline(always)]
    fn new(scale: Scale) -> Self {
        Weigher {
            input: scale.input(),
            factor: scale.product(),
        }
    }

    #[inline(always)]
    fn weigh(&self, w_re: f32, w_im: f32, x: f32) -> (f32, f32) {
        let x = self.input.scale(x);
        (w_re * x * self.factor, w_im * x * self.factor)
    }
}

/// z_i z_j conj(s).
#[inline(always)]
pub(crate) fn triple(z_i: Complex32, z_j: Complex32, s: Complex32) -> Complex32 {
    let re = z_i.re * z_j.re - z_i.im * z_j.im;
    let im = z_i.re * z_j.im + z_i.im * z_j.re;
    Complex32::new(re * s.re + im * s.im, im * s.re - re * s.im)
}

/// Where the intermediate values of one signal live: N real and N imaginary parts, and one number a stored row.
pub(crate) struct Scratch<'s> {
    pub(crate) v: &'s mut [f32],
    pub(crate) z: &'s mut [Complex32],
}

impl<'s> Scratch<'s> {
    /// Of a buffer whose length the caller has checked: what is missing would be empty.
    pub(crate) fn split(buffer: &'s mut [f32], inputs: usize) -> Self {
        let (v, z) = buffer.split_at_mut_checked(2 * inputs).unwrap_or_default();
        let z = bytemuck::must_cast_slice_mut(z.as_chunks_mut::<2>().0);
        Scratch { v, z }
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
    floor: Floor,
}

impl Scale {
    pub(crate) fn new(signal: i32, weights: i32, floor: Floor) -> Self {
        Scale {
            signal,
            weights,
            floor,
        }
    }

    /// What rounding can make of a signal and weights of this magnitude.
    pub(crate) fn floor(self) -> Floor {
        self.floor
    }

    /// What the floor depends on, where samples are rounded as f32 are and z_ij are products with W.
    pub(crate) fn energy(self, x: Signal<'_>, z: impl Iterator<Item = Complex32>) -> Energy {
        let samples = energy_of_samples(x, self.signal());
        Energy {
            samples,
            errors: self.floor.errors_of_floats(samples),
            coefficients: energy_of_coefficients(z),
            products: self.floor.modulus(),
        }
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

/// Structure `dense`: W of any rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dense<W> {
    pub(crate) weights: W,
    pub(crate) inputs: usize,
    pub(crate) rows: usize,
}

impl<W: Rows> Kernel for Dense<W> {
    fn scratch_len(&self) -> usize {
        2 * self.inputs + 2 * self.rows
    }

    fn is_aligned(&self) -> bool {
        self.weights.is_aligned()
    }

    fn weight(&self, row: usize, column: usize) -> Option<Complex32> {
        self.weights.get(row, column)
    }

    fn coefficients<'s>(
        &self,
        x: Signal<'_>,
        scale: Scale,
        scratch: &'s mut [f32],
    ) -> Coefficients<'s> {
        let mut scratch = Scratch::split(scratch, self.inputs);
        coefficients(&self.weights, x, scale, &mut scratch);
        Coefficients::Complex(scratch.z)
    }

    fn coefficient(&self, z: &Coefficients<'_>, row: usize) -> Complex32 {
        z.get(row)
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
        each_term(self, order, x, scale, scratch, &mut each)
    }
}

/// Every β_ij of the scaled signal in the order of the pairs, and their norm. A term takes hundreds of instructions, so that
/// an indirect call is few more, and the loop is compiled once for all closures.
#[inline(never)]
fn each_term<W: Rows>(
    Dense {
        weights, inputs, ..
    }: &Dense<W>,
    order: Order<'_>,
    x: Signal<'_>,
    scale: Scale,
    scratch: &mut [f32],
    each: &mut dyn FnMut(usize, usize, Complex32),
) -> Measured {
    let mut scratch = Scratch::split(scratch, *inputs);
    coefficients(weights, x, scale, &mut scratch);
    let Scratch { v, z } = scratch;
    let z_of = |row: usize| z.get(row).copied().unwrap_or_default();
    let mut squares = Accumulator::default();
    // No row has this number.
    let (mut weighed, mut z_i) = (usize::MAX, Complex32::ZERO);
    for (i, j) in order.iter() {
        if weighed != i {
            weights.weigh(i, x, scale, v);
            (weighed, z_i) = (i, z_of(i));
        }
        let s = weights.product(v, j);
        let term = triple(z_i, z_of(j), s);
        squares.add(term);
        each(i, j, term);
    }
    let magnitude = squares.finish(scale.bispectrum());
    let energy = scale.energy(x, z.iter().copied());
    scale.floor().measure(magnitude, energy)
}
