//! Features of degree one: magnitudes of coefficients, and phases of the bispectrum weighted by how large all three
//! coefficients behind them are.
//!
//! β is cubic in x: one strong coefficient outweighs all phases, and distances between bispectra say little. With a = |z_i|,
//! b = |z_j| and c = t·|z_ij|, where t brings products of rows to the magnitude of rows, the features are
//!
//! > |z_k| for every row, and w·u_ij for every pair, u_ij = (β_ij/|β_ij|)·1/(1/a + 1/b + 1/c) = t β_ij / (ab + bc + ca),
//!
//! all divided by ‖z‖₂. |u_ij| is at most the smallest of the three and falls to zero with it, so that a phase which is not
//! known does not count, and a signal whose third order vanishes has features, too.
//!
//! **The order.** A magnitude is √(re² + im²). With m = |β_ij| of the scaled signal, p = m·T and T = t·2^E, the divisor is
//! d = a·b + (p/a + p/b), and a term is Re β_ij·f and Im β_ij·f with f = (w·T)/d. Features are these times 1/‖z‖. Every
//! operation is rounded to f32 by itself. Where a, b or d is below 2^-60 the term is zero: with the largest sample and
//! weight between 1 and 2, it is far below the rounding of z.

use crate::magnitude::square_root;
use crate::scaling::restore;
use num_complex::Complex32;

/// Magnitudes and divisors below this give no term.
const LEAST: f32 = 1.0 / (1_u64 << 60) as f32;
/// Squares of smaller numbers would lose digits below 2^-126.
const SMALL: f32 = 1.0 / (1_u64 << 40) as f32;
/// By which numbers below [`SMALL`] are enlarged before they are squared.
const ENLARGE: f32 = (1_u128 << 64) as f32;
/// w and T lie between this and its reciprocal: then no intermediate value leaves f32.
const MOST: f32 = (1_u32 << 30) as f32;

/// The form of a model's features.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DegreeOne {
    /// T.
    products: f32,
    /// w·T.
    weighted: f32,
}

impl DegreeOne {
    /// With w, t and the exponent E by which products of scaled signals are smaller than coefficients; `None` where w or T is
    /// out of range.
    pub(crate) fn new(weight: f32, products: f32, exponent: i32) -> Option<Self> {
        let products = restore(products, exponent);
        let within = |value: f32| (1.0 / MOST..=MOST).contains(&value);
        (within(weight) && within(products)).then_some(DegreeOne {
            products,
            weighted: weight * products,
        })
    }

    /// w·u_ij of the term of the bispectrum and the magnitudes of its rows' coefficients.
    #[inline]
    pub(crate) fn term(&self, a: f32, b: f32, beta: Complex32) -> Complex32 {
        if a < LEAST || b < LEAST {
            return Complex32::ZERO;
        }
        let p = magnitude(beta) * self.products;
        let divisor = a * b + (p / a + p / b);
        if divisor < LEAST {
            return Complex32::ZERO;
        }
        let factor = self.weighted / divisor;
        Complex32::new(beta.re * factor, beta.im * factor)
    }
}

/// |z|, of numbers below 2^60.
#[inline]
pub(crate) fn magnitude(z: Complex32) -> f32 {
    if z.re.abs() >= SMALL || z.im.abs() >= SMALL {
        return square_root(z.re * z.re + z.im * z.im);
    }
    let (re, im) = (z.re * ENLARGE, z.im * ENLARGE);
    square_root(re * re + im * im) / ENLARGE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn harmonic(a: f64, b: f64, c: f64) -> f64 {
        1.0 / (1.0 / a + 1.0 / b + 1.0 / c)
    }

    #[test]
    fn a_term_is_the_phase_times_the_harmonic_mean() {
        let form = DegreeOne::new(0.5, 8.0, -3).unwrap();
        for (a, b, c) in [(1.0, 2.0, 3.0), (1e-6, 5.0, 0.1), (3e4, 1e-3, 1e-5)] {
            let phase = Complex32::new(0.6, -0.8);
            let beta = phase * (a * b * c);
            let found = form.term(a, b, beta);
            let expected = 0.5 * harmonic(a.into(), b.into(), c.into());
            let off = |found: f32, part: f64| (f64::from(found) / (part * expected) - 1.0).abs();
            // A dozen roundings of 2^-24.
            assert!(off(found.re, 0.6) < 1e-6, "{a} {b} {c}: {found}");
            assert!(off(found.im, -0.8) < 1e-6, "{a} {b} {c}: {found}");
        }
    }

    #[test]
    fn what_is_not_known_is_zero_and_never_not_a_number() {
        let form = DegreeOne::new(MOST, MOST, 0).unwrap();
        let small = [0.0, f32::MIN_POSITIVE, 1e-30, 1e-18, 1e-9, 1.0, 4e4];
        for a in small {
            for b in small {
                for c in small {
                    let found = form.term(a, b, Complex32::new(a * b * c, 0.0));
                    assert!(found.is_finite(), "{a} {b} {c}: {found}");
                    assert!(found.re <= 1.001 * MOST * a.min(b));
                }
            }
        }
    }

    #[test]
    fn weights_out_of_range_are_refused() {
        for (weight, products) in [
            (0.0, 1.0),
            (1.0, 0.0),
            (2e9, 1.0),
            (f32::NAN, 1.0),
            (-1.0, 1.0),
        ] {
            assert!(DegreeOne::new(weight, products, 0).is_none());
        }
        assert!(DegreeOne::new(1.0, 1.0, 31).is_none());
        assert!(DegreeOne::new(1.0, 1e-8, 26).is_some());
    }
}
