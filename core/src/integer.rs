//! Encoding i8: W_in = q_in·scale_i with whole −127 ≤ q ≤ 127, a quarter of the flash of f32 and sums of whole numbers.
//!
//! A sum of integers has no order and no rounding, so the bits are the same everywhere without further ado, and a
//! processor without a floating-point unit has it in a fraction of the instructions.
//!
//! **The signal** is scaled by a power of two, so that the largest sample has b_x bits, and rounded to whole numbers X,
//! a half away from zero: |X_n| < 2^b_x, b_x = min(15, 24 − ⌈log2 N⌉). Then |Σ q X| < N·127·2^b_x < 2^31.
//!
//! **The products** V = (q_i X + 2^(s−1)) >> s, an arithmetic shift that rounds a half upwards, have b_v bits:
//! s = 7 + b_x − b_v, b_v = min(15, 23 − ⌈log2 N⌉), |V| < 2^b_v. Then |Σ (V_re q_re − V_im q_im)| < 2N·127·2^b_v < 2^31.
//!
//! **The results.** z_i = Σ q X as an f32, to nearest even, times scale_i·2^(1−b_x−E_w), where E_w is the exponent of the
//! largest weight or scale; z_ij = Σ V q_j as an f32 times the product of scale_i·2^(1−b_x+s−E_w) and scale_j·2^-E_w.
//!
//! Up to 256 inputs X and V have 15 bits: what is rounded off is 2^-16 of the largest sample or product, where rounding
//! W to q costs 2^-8 of the largest weight. Measured against f32 arithmetic on the same weights, β̄ changes by 9·10^-5 for
//! 16 to 256 inputs and by 3·10^-4 for 1024. A sample below 2^-(b_x+1) of the largest counts for nothing.
//!
//! With 64 inputs and 33 rows a Cortex-M0 takes 2.7 million instructions for 561 invariants, with f32 33.9; a Cortex-M4F,
//! which has floats, 0.73 million and 0.45.

use crate::bispectrum::{Scale, triple};
use crate::error::Error;
use crate::fold::{Fold, folded};
use crate::kernel::{Coefficients, Kernel};
use crate::magnitude::Accumulator;
use crate::pairs::Order;
use crate::sample::Signal;
use crate::scaling::{LargestOf, bits_of_count, power_of_two, restore};
use crate::significance::{
    Energy, MOST_BITS, Measured, SUM_BITS, energy_of_coefficients, energy_of_samples,
};
use crate::weights::{Largest, largest_of};
use num_complex::{Complex, Complex32};

/// Bits of |q|.
const WEIGHT_BITS: u32 = 7;
/// The square of the largest |q|.
const LARGEST_SQUARE: f32 = 127.0 * 127.0;

/// How many bits a signal of N samples and its products with a row keep: as many as no sum leaves i32 with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Precision {
    /// b_x.
    signal: u32,
    /// b_v.
    product: u32,
}

impl Precision {
    /// That of a model of 1 ≤ N ≤ 2^13 inputs.
    pub(crate) const fn of(inputs: usize) -> Self {
        let terms = bits_of_count(inputs);
        Precision {
            signal: least(MOST_BITS, SUM_BITS - terms),
            product: least(MOST_BITS, SUM_BITS - terms - 1),
        }
    }

    /// s, by which a product of a weight and a sample is shifted down.
    const fn shift(self) -> u32 {
        WEIGHT_BITS + self.signal - self.product
    }

    /// X is the signal times 2 to this, for a signal whose largest sample has `exponent`.
    pub(crate) const fn of_signal(self, exponent: i32) -> i32 {
        self.signal as i32 - 1 - exponent
    }

    /// V is q·X times 2 to minus this.
    const fn of_product(self) -> i32 {
        self.shift() as i32
    }
}

const fn least(a: u32, b: u32) -> u32 {
    if a < b { a } else { b }
}

/// X = x·2^(b_x−1−exponent), to the nearest whole number, a half away from zero, at most 2^b_x − 1.
///
/// `exponent` is that of the largest sample. Integer arithmetic on the bits of x: no processor needs floats for it.
#[inline(always)]
pub(crate) fn quantise(x: f32, exponent: i32, precision: Precision) -> i16 {
    let bits = x.to_bits();
    let field = bits >> 23 & 0xff;
    // Subnormals have the exponent of the smallest normal numbers, and no leading one.
    let mantissa = bits & 0x007f_ffff | u32::from(field != 0) << 23;
    // |x| = mantissa·2^(field − 150).
    let down = 150 - field.max(1) as i32 - precision.of_signal(exponent);
    let magnitude = if down > 0 {
        ((mantissa >> (down - 1).min(31)) + 1) >> 1
    } else {
        // Only where the largest sample is subnormal: then no mantissa is longer than that sample's.
        mantissa << -down
    };
    let magnitude = magnitude.min((1 << precision.signal) - 1) as i16;
    if bits >> 31 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

/// Elements that a round of the loop takes.
const ROUND: usize = 8;

/// Σ_n q_n X_n.
///
/// One sum a loop: with the two of a complex number in one loop, LLVM 22 gathers the terms of each and spills what it
/// loaded for the other. 27 instructions for eight terms on a Cortex-M4 (LDRSB, LDRSH, SMLABB each), 54 on a Cortex-M0,
/// 35 on RV32IMAC, by the disassembly.
#[inline(always)]
pub(crate) fn dot(q: &[i8], x: &[i16]) -> i32 {
    let (q_rounds, q_rest) = q.as_chunks::<ROUND>();
    let (x_rounds, x_rest) = x.as_chunks::<ROUND>();
    let mut sum = 0;
    for (q, x) in q_rounds.iter().zip(x_rounds) {
        for (q, x) in q.iter().zip(x) {
            sum += i32::from(*q) * i32::from(*x);
        }
    }
    for (q, x) in q_rest.iter().zip(x_rest) {
        sum += i32::from(*q) * i32::from(*x);
    }
    sum
}

/// One row of W: q of the real parts and of the imaginary parts, both of N elements.
#[derive(Debug, Clone, Copy)]
struct IntegerRow<'a> {
    re: &'a [i8],
    im: &'a [i8],
}

impl IntegerRow<'_> {
    /// Σ_n q_n X_n.
    #[inline(always)]
    fn coefficient(self, x: &[i16]) -> Complex<i32> {
        Complex::new(dot(self.re, x), dot(self.im, x))
    }

    /// V_n = (q_n X_n + 2^(s−1)) >> s.
    #[inline(always)]
    fn weigh(self, x: &[i16], precision: Precision, v_re: &mut [i16], v_im: &mut [i16]) {
        let shift = precision.shift();
        let half = 1 << (shift - 1);
        let v = v_re.iter_mut().zip(v_im);
        for (((v_re, v_im), x), (re, im)) in v.zip(x).zip(self.re.iter().zip(self.im)) {
            let x = i32::from(*x);
            *v_re = ((i32::from(*re) * x + half) >> shift) as i16;
            *v_im = ((i32::from(*im) * x + half) >> shift) as i16;
        }
    }

    /// The four real sums of Σ_n V_n q_n.
    #[inline(always)]
    fn products(self, v_re: &[i16], v_im: &[i16]) -> Products {
        Products {
            re_re: dot(self.re, v_re),
            im_im: dot(self.im, v_im),
            re_im: dot(self.im, v_re),
            im_re: dot(self.re, v_im),
        }
    }
}

/// Σ V_re q_re, Σ V_im q_im, Σ V_re q_im and Σ V_im q_re.
#[derive(Debug, Clone, Copy, Default)]
struct Products {
    re_re: i32,
    im_im: i32,
    re_im: i32,
    im_re: i32,
}

impl Products {
    /// Σ V q where V, q, both or none are conjugated.
    #[inline(always)]
    fn sum(self, v_conjugated: bool, q_conjugated: bool) -> Complex<i32> {
        let v = if v_conjugated { -1 } else { 1 };
        let q = if q_conjugated { -1 } else { 1 };
        Complex::new(
            self.re_re - v * q * self.im_im,
            q * self.re_im + v * self.im_re,
        )
    }
}

/// A sum as an f32, to nearest even, times `factor`.
#[inline(always)]
fn scaled(sum: Complex<i32>, factor: f32) -> Complex32 {
    Complex32::new(sum.re as f32 * factor, sum.im as f32 * factor)
}

/// W in whole numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Integers<'a> {
    /// Row after row, in each the real parts and then the imaginary parts.
    q: &'a [i8],
    scales: &'a [[u8; 4]],
    inputs: usize,
    /// Λ² is at least this: N, and more where the largest |q| of a row with a large scale is far below 127, since what is
    /// rounded off a product is a half of a power of two times its scale.
    rounded: f32,
}

impl<'a> Integers<'a> {
    /// Weights and scales whose lengths were checked, and what [`largest`](Self::largest) said of them.
    pub(crate) fn new(weights: &'a [u8], scales: &'a [u8], inputs: usize, rounded: f32) -> Self {
        Integers {
            q: bytemuck::must_cast_slice(weights),
            scales: scales.as_chunks().0,
            inputs,
            rounded,
        }
    }

    /// What the floor depends on: [`Scale::energy`], with the steps of whole numbers.
    pub(crate) fn energy(
        &self,
        x: Signal<'_>,
        scale: Scale,
        z: impl Iterator<Item = Complex32>,
    ) -> Energy {
        let samples = energy_of_samples(x, scale.signal());
        Energy {
            samples,
            errors: scale.floor().errors_of_bytes(samples, self.rounded),
            coefficients: energy_of_coefficients(z),
            products: scale.floor().modulus(),
        }
    }

    /// The largest weights and the least Λ², once every weight is known to be one.
    pub(crate) fn largest(&self) -> Result<(Largest, f32), Error> {
        let (mut modulus, mut scale_square) = (0.0, 0.0);
        let (mut weights, mut most) = (LargestOf::default(), 0);
        for row in 0..self.scales.len() {
            let IntegerRow { re, im } = self.row(row);
            let (mut q, mut largest) = (0, 0);
            for (re, im) in re.iter().zip(im) {
                let (re, im) = (i32::from(*re).abs(), i32::from(*im).abs());
                q = q.max(re).max(im);
                largest = largest.max(re * re + im * im);
            }
            most = most.max(q);
            let scale = self.scale(row);
            // The scale of a row of zeros counts: zero times infinity would be no number.
            weights.add(row, scale * q.max(1) as f32);
            let square = scale * scale;
            modulus = largest_of(modulus, square * largest as f32);
            if largest > 0 {
                scale_square = largest_of(scale_square, square);
            }
        }
        // −128 has no opposite: a row and its negative or conjugate are both to be rows.
        if most > 127 {
            return Err(Error::Malformed);
        }
        // All are zero, or one is larger than f32 holds.
        let (1.., Ok(Some(exponent))) = (most, weights.exponent()) else {
            return Err(Error::WeightRange);
        };
        let rounded = scale_square * LARGEST_SQUARE / modulus;
        let rounded = self.inputs as f32 * largest_of(1.0, rounded);
        Ok((Largest { exponent, modulus }, rounded))
    }

    /// N.
    pub(crate) fn inputs(&self) -> usize {
        self.inputs
    }

    /// Rows that are stored.
    pub(crate) fn stored_rows(&self) -> usize {
        self.scales.len()
    }

    /// Elements of f32 for X.
    pub(crate) const fn signal_len(inputs: usize) -> usize {
        inputs.div_ceil(2)
    }

    /// Elements of f32 for X and both parts of V.
    pub(crate) const fn products_len(inputs: usize) -> usize {
        (3 * inputs).div_ceil(2)
    }

    /// A stored weight.
    pub(crate) fn weight(&self, row: usize, column: usize) -> Option<Complex32> {
        let IntegerRow { re, im } = self.row(row);
        let weight = |q: i8| self.scale(row) * f32::from(q);
        Some(Complex32::new(
            weight(*re.get(column)?),
            weight(*im.get(column)?),
        ))
    }

    /// Row `k`; an empty one past the end, where no caller goes.
    #[inline(always)]
    fn row(&self, k: usize) -> IntegerRow<'a> {
        let from = 2 * k * self.inputs;
        let row = self.q.get(from..from + 2 * self.inputs).unwrap_or_default();
        let (re, im) = row.split_at_checked(self.inputs).unwrap_or_default();
        IntegerRow { re, im }
    }

    #[inline(always)]
    fn scale(&self, k: usize) -> f32 {
        self.scales
            .get(k)
            .map_or(0.0, |scale| f32::from_le_bytes(*scale))
    }

    /// X, to `samples`, and with it z of the stored rows.
    pub(crate) fn coefficients(
        &self,
        x: Signal<'_>,
        scale: Scale,
        samples: &mut [i16],
        z: &mut [Complex32],
    ) {
        let (precision, (signal, weights)) = (Precision::of(self.inputs), scale.exponents());
        let mut whole = samples.iter_mut();
        x.each(|_, x| {
            if let Some(sample) = whole.next() {
                *sample = quantise(x, signal, precision);
            }
        });
        let exponent = -precision.of_signal(0) - weights;
        for (k, z) in z.iter_mut().enumerate() {
            let factor = restore(self.scale(k), exponent);
            *z = scaled(self.row(k).coefficient(samples), factor);
        }
    }
}

/// Structures `dense` and `conjugates` of whole numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IntegerRows<'a> {
    pub(crate) integers: Integers<'a>,
    pub(crate) fold: Fold<'a>,
}

impl Kernel for IntegerRows<'_> {
    fn scratch_len(&self) -> usize {
        Integers::products_len(self.integers.inputs) + 2 * self.integers.stored_rows()
    }

    fn is_aligned(&self) -> bool {
        true
    }

    fn weight(&self, row: usize, column: usize) -> Option<Complex32> {
        self.fold
            .weight(row, |row| self.integers.weight(row, column))
    }

    fn coefficients<'s>(
        &self,
        x: Signal<'_>,
        scale: Scale,
        scratch: &'s mut [f32],
    ) -> Coefficients<'s> {
        let (samples, z) = split(scratch, Integers::products_len(x.len()));
        let samples = samples.get_mut(..x.len()).unwrap_or_default();
        self.integers.coefficients(x, scale, samples, z);
        Coefficients::Complex(z)
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
        each_term(self, order, x, scale, scratch, &mut each)
    }
}

/// Every β_ij of the scaled signal in the order of the pairs, and their norm.
///
/// The scratch has [`Integers::products_len`] elements, and two for each stored row.
#[inline(never)]
fn each_term(
    rows: &IntegerRows<'_>,
    order: Order<'_>,
    x: Signal<'_>,
    scale: Scale,
    scratch: &mut [f32],
    each: &mut dyn FnMut(usize, usize, Complex32),
) -> Measured {
    let integers = &rows.integers;
    let (buffer, z) = split(scratch, Integers::products_len(integers.inputs));
    let (samples, v) = buffer
        .split_at_mut_checked(integers.inputs)
        .unwrap_or_default();
    let (v_re, v_im) = v.split_at_mut_checked(integers.inputs).unwrap_or_default();
    let v_im = v_im.get_mut(..integers.inputs).unwrap_or_default();
    integers.coefficients(x, scale, samples, z);
    let energy = integers.energy(x, scale, rows.fold.coefficients(z));
    let precision = Precision::of(integers.inputs);
    let (_, weights) = scale.exponents();
    let exponent = precision.of_product() - precision.of_signal(0) - weights;
    let per_row = power_of_two(-weights);

    let mut squares = Accumulator::default();
    // No row has this number.
    let (mut weighed, mut multiplied) = (usize::MAX, usize::MAX);
    let (mut factor, mut products) = (0.0, Products::default());
    for (i, j) in order.iter() {
        let ((a, a_conjugated), (b, b_conjugated)) = (rows.fold.stored(i), rows.fold.stored(j));
        if weighed != a {
            integers.row(a).weigh(samples, precision, v_re, v_im);
            factor = restore(integers.scale(a), exponent);
            (weighed, multiplied) = (a, usize::MAX);
        }
        if multiplied != b {
            products = integers.row(b).products(v_re, v_im);
            multiplied = b;
        }
        let sum = products.sum(a_conjugated, b_conjugated);
        let s = scaled(sum, factor * (integers.scale(b) * per_row));
        let term = triple(folded(z, a, a_conjugated), folded(z, b, b_conjugated), s);
        squares.add(term);
        each(i, j, term);
    }
    let magnitude = squares.finish(scale.bispectrum());
    scale.floor().measure(magnitude, energy)
}

/// So many elements of a scratch buffer as numbers of 16 bits, and z in the others.
pub(crate) fn split(scratch: &mut [f32], len: usize) -> (&mut [i16], &mut [Complex32]) {
    let (buffer, z) = scratch.split_at_mut_checked(len).unwrap_or_default();
    let z = bytemuck::try_cast_slice_mut(z).unwrap_or_default();
    (bytemuck::must_cast_slice_mut(buffer), z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::MAX_DIMENSION;

    /// The largest |q|.
    const LARGEST: i64 = 127;

    #[test]
    fn no_sum_leaves_i32_and_one_bit_more_would() {
        for inputs in 1..=usize::from(MAX_DIMENSION) {
            let precision = Precision::of(inputs);
            let largest = |bits: u32| (1_i64 << bits) - 1;
            let terms = |count: usize, bits| count as i64 * LARGEST * largest(bits);
            let fits = |sum: i64| sum <= i64::from(i32::MAX);
            assert!(fits(terms(inputs, precision.signal)));
            assert!(fits(terms(2 * inputs, precision.product)));
            if inputs.is_power_of_two() {
                let more = precision.signal + 1;
                assert!(more > MOST_BITS || !fits(terms(2 * inputs, more)));
            }
            // The largest product of a weight and a sample, shifted, has b_v bits.
            let product = LARGEST * largest(precision.signal);
            let half = 1 << (precision.shift() - 1);
            assert!((product + half) >> precision.shift() <= largest(precision.product));
            assert!((half - product) >> precision.shift() >= -largest(precision.product));
        }
        assert_eq!(Precision::of(256).signal, 15);
        assert_eq!(Precision::of(256).product, 15);
        assert_eq!(Precision::of(8192).product, 10);
    }

    #[test]
    fn the_largest_rows_and_signals_do_not_overflow() {
        // Overflow checks are on where tests run.
        for inputs in [1, 2, 255, 256, 257, 512, 1024, 8192] {
            let precision = Precision::of(inputs);
            let x = [((1 << precision.signal) - 1) as i16; 8192];
            for (re, im) in [(127, -127), (-127, -127), (127, 127), (-127, 127)] {
                let (re, im) = ([re; 8192], [im; 8192]);
                let row = IntegerRow {
                    re: &re[..inputs],
                    im: &im[..inputs],
                };
                let (mut v_re, mut v_im) = ([0; 8192], [0; 8192]);
                row.coefficient(&x[..inputs]);
                row.weigh(&x[..inputs], precision, &mut v_re, &mut v_im);
                row.products(&v_re[..inputs], &v_im[..inputs])
                    .sum(false, false);
            }
        }
    }

    /// x·2^k to the nearest whole number, a half away from zero, in f64, where all of it is exact.
    fn rounded(x: f32, k: i32) -> i64 {
        (f64::from(x) * f64::from(k).exp2()).round() as i64
    }

    #[test]
    fn samples_are_rounded_to_the_nearest_whole_number() {
        let precision = Precision::of(64);
        let largest = (1 << 15) - 1;
        for exponent in [-149, -148, -135, -127, -126, -125, -1, 0, 1, 100, 127] {
            let k = precision.of_signal(exponent);
            let top = f64::from(exponent).exp2();
            for step in 0..4096 {
                // All magnitudes from 2^-20 of the largest on, ties included.
                let x = (top * f64::from(step) / 2048.0) as f32;
                let small = (top * f64::from(step) / f64::from(1 << 31)) as f32;
                for x in [x, -x, small, -small] {
                    let expected = rounded(x, k).clamp(-largest, largest);
                    let found = quantise(x, exponent, precision);
                    assert_eq!(i64::from(found), expected, "{x:e} of 2^{exponent}");
                }
            }
        }
    }

    #[test]
    fn a_signal_times_a_power_of_two_is_the_same_whole_numbers() {
        let precision = Precision::of(1000);
        let signal = [1.0, -1.999_999_9, 0.3, 1e-3, -1.0 / 16384.0, 3e-9, 0.0];
        let expected = signal.map(|x| quantise(x, 0, precision));
        for k in -126..=126 {
            let factor = f64::from(k).exp2() as f32;
            // What is subnormal after this is rounded, far below what counts.
            let found = signal.map(|x| quantise(x * factor, k, precision));
            assert_eq!(found, expected, "2^{k}");
        }
    }

    #[test]
    fn products_are_shifted_down_with_a_half_upwards() {
        let precision = Precision::of(64);
        assert_eq!(precision.shift(), 7);
        let (re, im) = ([1, 1, -1, 127], [-1, 3, 0, -127]);
        let row = IntegerRow { re: &re, im: &im };
        let (mut v_re, mut v_im) = ([0; 4], [0; 4]);
        row.weigh(&[64, 63, 64, 32767], precision, &mut v_re, &mut v_im);
        assert_eq!(v_re, [1, 0, 0, 32511]);
        assert_eq!(v_im, [0, 1, 0, -32511]);
        // (1 + 2i)(3 + 4i) = −5 + 10i.
        let (re, im) = ([3, 0], [4, 0]);
        let row = IntegerRow { re: &re, im: &im };
        let products = row.products(&[1, 0], &[2, 0]);
        assert_eq!(products.sum(false, false), Complex::new(-5, 10));
        assert_eq!(products.sum(true, true), Complex::new(-5, -10));
        // (1 − 2i)(3 + 4i) = 11 − 2i.
        assert_eq!(products.sum(true, false), Complex::new(11, -2));
        assert_eq!(products.sum(false, true), Complex::new(11, 2));
    }

    #[test]
    fn sums_of_any_length_are_the_definition() {
        let q: [i8; 37] = core::array::from_fn(|n| (n as i8).wrapping_mul(37) % 100);
        let x: [i16; 37] = core::array::from_fn(|n| (n as i16).wrapping_mul(7919));
        for n in 0..=37 {
            let terms = q.iter().zip(&x).take(n);
            let expected: i32 = terms.map(|(q, x)| i32::from(*q) * i32::from(*x)).sum();
            assert_eq!(dot(&q[..n], &x[..n]), expected);
        }
    }
}
