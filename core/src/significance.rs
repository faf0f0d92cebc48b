//! Whether a bispectrum is more than rounding alone can make: below a floor, β̄ would be the direction of rounding errors.
//!
//! Signals without a third order exist, and are not rare: where only odd harmonics are there, as in mains current or in any
//! zero-mean sinusoid on an even cycle, z_i z_j z_ij* is exactly zero for every pair, and what is computed is noise.
//!
//! **What is computed.** With errors δz of every coefficient and δs of every z_ij,
//!
//! > |δβ_ij| ≤ |z_i||z_j| δs + |z_ij| (|z_i| + |z_j|) δz
//!
//! and so, with S = Σ_i |z_i|², Σ_j |z_ij|² ≤ M v² m² ‖x‖² and M the larger of N and R (for rows that are characters of a
//! group that is Parseval's equation; m is the largest |W_in|, v = m),
//!
//! > ‖δβ‖² ≤ 2 (δs² S² + 2 δz² M v² m² ‖x‖² S).
//!
//! **The errors.** One relative precision e serves all forms whose numbers are floats, whichever way they sum; another
//! those that sum whole numbers:
//!
//! > δz = e m Λ,  δs = 2 e m v Λ;  floats: e = (N + 8) 2^-23, Λ = ‖x‖;  bytes: e = 5/2 · 2^(1−b), Λ² at least N,
//!
//! with b = min(15, 24 − ⌈log2 N⌉) the bits of a sample in whole numbers. `docs/numerics.md` compares them with what each
//! form can make at most.
//!
//! **The rule.** β has a direction where ‖β‖ is at least twice its error:
//!
//! > ‖β‖² ≥ 16 e² m² v² Λ² S (2 S + M m² ‖x‖²).
//!
//! Whatever passes is of a size that f32 squares without loss: ‖β‖² ≤ S² m⁴ N ‖x‖² then makes S at least 16 e² m² ‖x‖², and
//! with a scaled signal, where m, ‖x‖ and N are at least 1, ‖β‖² is above 2^-73.

use crate::magnitude::Magnitude;
use crate::sample::Signal;
use crate::scaling::{PowerOfTwo, bits_of_count, power_of_two};
use num_complex::Complex32;

/// Bits of samples that are whole numbers, at most.
pub(crate) const MOST_BITS: u32 = 15;
/// Bits of a sample and of ⌈log2 N⌉ together, of whole numbers whose sum with weights of seven bits fits 31.
pub(crate) const SUM_BITS: u32 = 24;
/// Roundings of f32 in a sum over N samples, as many as this and N, each of two units.
const ROUNDINGS: usize = 8;

/// The floor of a model: what of it does not depend on the signal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Floor {
    /// m², of weights times 2^-E_w.
    modulus: f32,
    /// M.
    dimension: f32,
    /// 4 e of floats.
    floats: f32,
    /// 4 e of bytes.
    bytes: f32,
}

/// Of one signal times 2^-E_x, and its coefficients.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Energy {
    /// ‖x‖².
    pub(crate) samples: f32,
    /// 16 e² Λ².
    pub(crate) errors: f32,
    /// S = Σ_i |z_i|² over the rows.
    pub(crate) coefficients: f32,
    /// v²: m², or the square of the largest Σ_k |c_k| where z_ij is combined of z.
    pub(crate) products: f32,
}

/// A bispectrum once every term of it has been seen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    pub(crate) magnitude: Magnitude,
    pub(crate) direction: Direction,
}

/// Whether β̄ is more than the direction of rounding errors: a word, since the three bytes behind a `bool` are copied, too, which takes
/// 600 bytes of code on a Cortex-M0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Direction {
    OfRounding,
    OfSignal,
}

impl Direction {
    pub(crate) fn is_of_signal(self) -> bool {
        self == Direction::OfSignal
    }
}

impl Measured {
    /// Of a signal to which nothing responds.
    pub(crate) const NONE: Self = Measured {
        magnitude: Magnitude::ZERO,
        direction: Direction::OfRounding,
    };

    /// The magnitude, where β̄ is more than the direction of rounding errors.
    pub(crate) fn direction(self) -> Option<Magnitude> {
        self.direction.is_of_signal().then_some(self.magnitude)
    }
}

/// ‖x‖² of a signal times a power of two.
#[inline(never)]
pub(crate) fn energy_of_samples(x: Signal<'_>, scale: PowerOfTwo) -> f32 {
    let mut sum = 0.0;
    x.each(|_, x| {
        let x = scale.scale(x);
        sum += x * x;
    });
    sum
}

/// Σ|z|².
pub(crate) fn energy_of_coefficients(z: impl Iterator<Item = Complex32>) -> f32 {
    z.fold(0.0, |sum, z| sum + (z.re * z.re + z.im * z.im))
}

impl Floor {
    /// Of N inputs, R rows and the largest |W_in|², where the largest part of a weight has this exponent.
    pub(crate) fn new(inputs: usize, rows: usize, modulus: f32, exponent: i32) -> Self {
        let bits = MOST_BITS.min(SUM_BITS.saturating_sub(bits_of_count(inputs)));
        Floor {
            modulus: modulus * power_of_two(-2 * exponent),
            dimension: inputs.max(rows) as f32,
            floats: 4.0 * (inputs + ROUNDINGS) as f32 * power_of_two(-23),
            bytes: 10.0 * power_of_two(1 - bits as i32),
        }
    }

    /// 16 e² Λ² of floats, of a signal with this ‖x‖².
    pub(crate) fn errors_of_floats(&self, samples: f32) -> f32 {
        self.floats * self.floats * samples
    }

    /// 16 e² Λ² of whole numbers, where Λ² is at least this.
    pub(crate) fn errors_of_bytes(&self, samples: f32, least: f32) -> f32 {
        self.bytes * self.bytes * samples.max(least)
    }

    /// m².
    pub(crate) fn modulus(&self) -> f32 {
        self.modulus
    }

    /// A bispectrum of this magnitude, and whether it has a direction.
    #[inline(never)]
    pub(crate) fn measure(&self, magnitude: Magnitude, energy: Energy) -> Measured {
        let direction = if magnitude.is_normal() && self.is_exceeded(&magnitude, energy) {
            Direction::OfSignal
        } else {
            Direction::OfRounding
        };
        Measured {
            magnitude,
            direction,
        }
    }

    /// Whether ‖β‖ of the scaled signal is more than rounding can make of it.
    pub(crate) fn is_exceeded(&self, magnitude: &Magnitude, energy: Energy) -> bool {
        let Energy {
            samples,
            errors,
            coefficients,
            products,
        } = energy;
        let Floor {
            modulus, dimension, ..
        } = *self;
        let pairs = coefficients * (2.0 * coefficients + dimension * modulus * samples);
        // Neither side leaves f32: Σ|β|² < 2^122, and what vanishes on the left has no least norm.
        let norm = magnitude.norm();
        norm * norm >= errors * modulus * products * pairs
    }

    /// Whether z is more than rounding can make of it: S ≥ 4 M δz².
    pub(crate) fn is_exceeded_by_coefficients(&self, energy: Energy) -> bool {
        4.0 * energy.coefficients >= self.dimension * self.modulus * energy.errors
    }
}
