//! Signals and rows as whole numbers, and their sums.

use crate::scaling::bits_of_count;
use num_complex::{Complex, Complex32};

/// Bits of |q|.
const WEIGHT_BITS: u32 = 7;
/// Bits of the magnitude of an i16.
const MOST_BITS: u32 = 15;
/// Bits of the magnitude of an i32.
const SUM_BITS: u32 = 31;

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
            signal: least(MOST_BITS, SUM_BITS - WEIGHT_BITS - terms),
            product: least(MOST_BITS, SUM_BITS - WEIGHT_BITS - terms - 1),
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
    pub(crate) const fn of_product(self) -> i32 {
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
fn dot(q: &[i8], x: &[i16]) -> i32 {
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
pub(crate) struct IntegerRow<'a> {
    pub(crate) re: &'a [i8],
    pub(crate) im: &'a [i8],
}

impl IntegerRow<'_> {
    /// Σ_n q_n X_n.
    #[inline(always)]
    pub(crate) fn coefficient(self, x: &[i16]) -> Complex<i32> {
        Complex::new(dot(self.re, x), dot(self.im, x))
    }

    /// V_n = (q_n X_n + 2^(s−1)) >> s.
    #[inline(always)]
    pub(crate) fn weigh(self, x: &[i16], precision: Precision, v_re: &mut [i16], v_im: &mut [i16]) {
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
    pub(crate) fn products(self, v_re: &[i16], v_im: &[i16]) -> Products {
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
pub(crate) struct Products {
    re_re: i32,
    im_im: i32,
    re_im: i32,
    im_re: i32,
}

impl Products {
    /// Σ V q where V, q, both or none are conjugated.
    #[inline(always)]
    pub(crate) fn sum(self, v_conjugated: bool, q_conjugated: bool) -> Complex<i32> {
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
pub(crate) fn scaled(sum: Complex<i32>, factor: f32) -> Complex32 {
    Complex32::new(sum.re as f32 * factor, sum.im as f32 * factor)
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
