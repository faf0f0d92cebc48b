//! The transform along a factor that is a power of two: radix two, on the line in reversed order of bits.
//!
//! Plain f32, no fused operations and no function of a platform's: the bits are the same on every processor. From a, b and the
//! twiddle w a butterfly makes a ± y, where y is b for w = 1 and otherwise w·b,
//! y_re = w_re·b_re − w_im·b_im, y_im = w_re·b_im + w_im·b_re: the bits of the crate `microfft`, which has a function a length.

use crate::feature::Feature;
use num_complex::Complex32;

/// The longest line: the table has a quarter of its circle.
const LONGEST: usize = if cfg!(feature = "fft-1024") {
    1024
} else {
    256
};
const QUARTER: usize = LONGEST / 4;

/// sin(2π t/[`LONGEST`]), rounded to f32.
static SINES: [f32; QUARTER + 1] = {
    let mut sines = [0.0; QUARTER + 1];
    let mut t = 0;
    while t <= QUARTER {
        sines[t] = sine(core::f64::consts::TAU * t as f64 / LONGEST as f64) as f32;
        t += 1;
    }
    sines
};

/// sin x for 0 ≤ x ≤ π/2 by its series, for the table.
const fn sine(x: f64) -> f64 {
    // x^27/27! is below 2^-75.
    let (mut sum, mut n) = (1.0, 26);
    while n > 0 {
        sum = 1.0 - sum * x * x / (n * (n + 1)) as f64;
        n -= 2;
    }
    sum * x
}

/// Whether a line of this length is transformed fast: 4, 8, … up to the longest.
pub(super) fn is_fast(m: usize) -> bool {
    Feature::Fft.is_on() && m.is_power_of_two() && (4..=LONGEST).contains(&m)
}

/// Where an element of a line of m is before the transform: its number with the bits reversed.
#[inline(always)]
pub(super) fn reversed(n: usize, m: usize) -> usize {
    n.reverse_bits() >> (m.leading_zeros() + 1)
}

/// The twiddles of a line as long as this: exp(−πi k/m) for 0 ≤ k < m, from m on, for each m = 1, 2, 4, ….
#[inline(never)]
pub(super) fn write_twiddles(twiddles: &mut [Complex32]) {
    let sine = |t: usize| SINES.get(t).copied().unwrap_or_default();
    let (mut step, mut t) = (2 * QUARTER, 0);
    for twiddle in twiddles.iter_mut().skip(1) {
        *twiddle = if t <= QUARTER {
            Complex32::new(sine(QUARTER - t), -sine(t))
        } else {
            Complex32::new(-sine(t - QUARTER), -sine(2 * QUARTER - t))
        };
        t += step;
        if t == 2 * QUARTER {
            (step, t) = (step / 2, 0);
        }
    }
}

/// Σ_g v_g exp(−2πi k g/m) written over v, which is in reversed order of bits.
#[inline(never)]
pub(super) fn transform(line: &mut [Complex32], twiddles: &[Complex32]) {
    let (fours, _) = line.as_chunks_mut();
    for four in fours {
        let [a, b, c, d] = *four;
        let ((a, b), (c, d)) = ((a + b, a - b), (c + d, c - d));
        let d = Complex32::new(0.0, -1.0) * d;
        *four = [a + c, b + d, a - c, b - d];
    }
    let mut m = 4;
    while let Some(twiddles) = twiddles.get(m..2 * m) {
        let mut rest = &mut *line;
        while let Some((a, behind)) = rest.split_at_mut_checked(m) {
            let Some((b, behind)) = behind.split_at_mut_checked(m) else {
                break;
            };
            let mut pairs = a.iter_mut().zip(b).zip(twiddles);
            if let Some(((a, b), _)) = pairs.next() {
                (*a, *b) = (*a + *b, *a - *b);
            }
            for ((a, b), w) in pairs {
                let y = w * *b;
                (*a, *b) = (*a + y, *a - y);
            }
            rest = behind;
        }
        m *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use microfft::complex::*;

    fn transformed<const M: usize>(line: &[Complex32; M]) -> [Complex32; M] {
        let mut twiddles = [Complex32::ZERO; M];
        write_twiddles(&mut twiddles);
        let mut z = core::array::from_fn(|n| line[reversed(n, M)]);
        transform(&mut z, &twiddles);
        z
    }

    /// Miri takes a second for each of long lines.
    const ROUNDS: usize = if cfg!(miri) { 2 } else { 100 };

    #[test]
    fn every_line_has_the_bits_of_microfft() {
        fn check<const M: usize>(theirs: impl Fn(&mut [Complex32; M]) -> &mut [Complex32; M]) {
            assert_eq!(is_fast(M), Feature::Fft.is_on() && M <= LONGEST);
            let mut state = 1_u32;
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // Zeros of both signs among them.
                match state >> 29 {
                    0 => 0.0,
                    1 => -0.0,
                    _ => (state >> 8) as f32 / 8e6 - 1.0,
                }
            };
            for round in 0..ROUNDS {
                // Lines of real numbers are those of the longest factor.
                let imaginary = |x: f32| if round % 2 == 0 { 0.0 } else { x };
                let mut line = [(); M].map(|()| {
                    let re = next();
                    Complex32::new(re, imaginary(next()))
                });
                let ours = transformed(&line);
                for (ours, theirs) in ours.iter().zip(theirs(&mut line)) {
                    assert_eq!(ours.re.to_bits(), theirs.re.to_bits(), "{M}");
                    assert_eq!(ours.im.to_bits(), theirs.im.to_bits(), "{M}");
                }
            }
        }
        check(cfft_4);
        check(cfft_8);
        check(cfft_16);
        check(cfft_32);
        check(cfft_64);
        check(cfft_128);
        check(cfft_256);
        if LONGEST > 256 {
            check(cfft_512);
            check(cfft_1024);
        }
    }
}
