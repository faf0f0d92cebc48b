//! ‖β‖₂ of terms that come one at a time, exact to a few units in the last place for any number of them.

use crate::scaling::restore;
use num_complex::Complex32;

/// The length of a bispectrum, known once every term has been seen.
///
/// The streaming form hands out the terms of a signal that was scaled by a power of two.
/// [`normalise`](Self::normalise) makes a term β̄_ij, [`restore`](Self::restore) makes it β_ij of the signal as given.
///
/// ```
/// # use bispectral_core::{pair_count, scratch_len, Model};
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
/// let model = Model::from_bytes(bytes)?;
/// let mut scratch = [0.0; scratch_len(4, 3)];
/// let x = [1.0, -0.5, 0.25, 0.0];
///
/// let mut terms = Vec::new();
/// let magnitude = model.stream(&x, &mut scratch, |_, _, term| terms.push(term))?;
///
/// let mut invariants = [Default::default(); pair_count(3)];
/// model.invariants(&x, &mut scratch, &mut invariants)?;
/// assert!(terms.iter().zip(invariants).all(|(&term, expected)| magnitude.normalise(term) == expected));
/// # Ok::<(), bispectral_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Magnitude {
    norm: f32,
    exponent: i32,
}

impl Magnitude {
    /// ‖β‖₂ of the terms that were handed out; at least 2^-100.
    #[must_use]
    pub fn norm(&self) -> f32 {
        self.norm
    }

    /// β of the signal as given is a term times 2 to this.
    #[must_use]
    pub fn exponent(&self) -> i32 {
        self.exponent
    }

    /// Whether the terms are large enough for their direction to be known.
    pub(crate) fn has_direction(&self) -> bool {
        self.norm >= LEAST_NORM
    }

    /// β̄_ij: the term times 1/‖β‖₂, both rounded to f32.
    #[must_use]
    #[inline]
    pub fn normalise(&self, term: Complex32) -> Complex32 {
        let factor = 1.0 / self.norm;
        Complex32::new(term.re * factor, term.im * factor)
    }

    /// β_ij of the signal as given; infinite where it is larger than f32 holds.
    #[must_use]
    #[inline]
    pub fn restore(&self, term: Complex32) -> Complex32 {
        let Magnitude { exponent, .. } = *self;
        Complex32::new(restore(term.re, exponent), restore(term.im, exponent))
    }
}

/// Below this norm a term of 2^-24 of it would lose digits to underflow, and 2^28 lower the norm has no reciprocal.
const LEAST_NORM: f32 = 1.0 / (1_u128 << 100) as f32;
/// Squares of smaller terms would lose digits below 2^-126.
const SMALL: f32 = 1.0 / (1_u64 << 40) as f32;
/// By which terms below [`SMALL`] are enlarged before they are squared.
const ENLARGE: f32 = (1_u128 << 64) as f32;

/// Σ|β_ij|² with compensation, small terms apart so that none vanish.
#[derive(Default)]
pub(crate) struct Accumulator {
    large: Compensated,
    small: Compensated,
}

impl Accumulator {
    #[inline(always)]
    pub(crate) fn add(&mut self, term: Complex32) {
        if term.re.abs() >= SMALL || term.im.abs() >= SMALL {
            self.large.add(term.re * term.re + term.im * term.im);
        } else {
            let (re, im) = (term.re * ENLARGE, term.im * ENLARGE);
            self.small.add(re * re + im * im);
        }
    }

    pub(crate) fn finish(self, exponent: i32) -> Magnitude {
        let small = self.small.sum;
        let norm = if self.large.sum > 0.0 {
            libm::sqrtf(self.large.sum + small / ENLARGE / ENLARGE)
        } else {
            libm::sqrtf(small) / ENLARGE
        };
        Magnitude { norm, exponent }
    }
}

/// So many squares are added without compensation: their roundings are at most four units in the last place of the norm.
pub(crate) const BLOCK: usize = 16;
/// Squares below 2^-126 have lost digits, of 2^25 terms no more than 2^-44 of a sum that is larger than this.
const LEAST_SQUARES: f32 = 1.0 / (1_u128 << 80) as f32;

/// Σ|β_ij|² for terms that cost little else: block after block, only their sums compensated.
#[derive(Default)]
pub(crate) struct Blocks(Compensated);

/// Σ|β_ij|² of at most [`BLOCK`] terms.
#[derive(Default)]
pub(crate) struct Block {
    re: f32,
    im: f32,
}

impl Block {
    #[inline(always)]
    pub(crate) fn add(&mut self, term: Complex32) {
        self.re += term.re * term.re;
        self.im += term.im * term.im;
    }
}

impl Blocks {
    #[inline(always)]
    pub(crate) fn add(&mut self, block: Block) {
        self.0.add(block.re + block.im);
    }

    /// `None` where the terms are so small that some of their squares may have vanished.
    pub(crate) fn finish(self, exponent: i32) -> Option<Magnitude> {
        let norm = libm::sqrtf(self.0.sum);
        (self.0.sum >= LEAST_SQUARES).then_some(Magnitude { norm, exponent })
    }
}

/// Kahan's sum: what rounding took from the last addition is given to the next.
#[derive(Default)]
struct Compensated {
    sum: f32,
    excess: f32,
}

impl Compensated {
    #[inline(always)]
    fn add(&mut self, value: f32) {
        let wanted = value - self.excess;
        let sum = self.sum + wanted;
        self.excess = (sum - self.sum) - wanted;
        self.sum = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn norm(terms: impl Iterator<Item = f32>) -> f32 {
        let mut squares = Accumulator::default();
        terms.for_each(|re| squares.add(Complex32::new(re, 0.0)));
        squares.finish(0).norm()
    }

    #[test]
    fn a_million_terms_lose_nothing() {
        let exact = (1_000_000.0_f64).sqrt() * f64::from(0.1_f32);
        let found = norm(core::iter::repeat_n(0.1, 1_000_000));
        // Square, sum, root: three roundings of 2^-24 each and the second-order error of the compensation.
        assert!((f64::from(found) / exact - 1.0).abs() < 2e-7);
    }

    #[test]
    fn terms_whose_squares_vanish_still_have_a_norm() {
        for k in [-30, -39, -40, -41, -60, -100, -120] {
            let tiny = 2_f32.powi(k);
            let found = norm([tiny; 4].into_iter());
            assert_eq!(found, 2.0 * tiny, "2^{k}");
        }
        assert_eq!(norm([0.0; 4].into_iter()), 0.0);
    }

    #[test]
    fn small_terms_count_beside_large_ones() {
        let small = SMALL / 2.0;
        let found = norm([SMALL; 1].into_iter().chain([small; 12]));
        assert_eq!(found, 2.0 * SMALL);
    }
}
