//! The samples of a step at a common magnitude, and their coefficients z = W x.
//!
//! β̄ does not change when x is multiplied by c > 0, so x is worked on as 2^-e x with its largest element in [1, 2):
//! then ‖β‖² neither overflows nor underflows in f32.

use super::forward::{Rows, Signals};
use super::planar::{Buffer, PlanarBuffer};
use crate::numeric::matrix::{matrix, matrix_mut, multiply};
use crate::numeric::{LANES, Real, padded};
use crate::{Error, Result};
use rayon::prelude::*;

/// Samples that one task transforms: few enough for two threads to share a batch of 100, enough to repay packing W.
pub(super) const BLOCK: usize = 25;

/// What e is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Magnitude {
    /// Every sample has its own.
    Each,
    /// One for the batch, where samples are compared.
    Common,
}

/// B samples of N numbers, and z of each.
#[derive(Debug, Default)]
pub(super) struct Batch<T> {
    pub(super) samples: usize,
    pub(super) inputs: usize,
    /// From one sample's coefficients to the next one's.
    pub(super) stride: usize,
    pub(super) x: Buffer<T>,
    /// e of every sample.
    pub(super) exponents: Vec<i32>,
    pub(super) z: PlanarBuffer<T>,
}

impl<T: Real> Batch<T> {
    /// Takes `samples` over, N numbers each, for a network of `rows`.
    pub(super) fn load(
        &mut self,
        samples: &[T],
        inputs: usize,
        rows: usize,
        magnitude: Magnitude,
    ) -> Result<()> {
        if let Some(place) = samples.iter().position(|x| !x.is_finite()) {
            return Err(Error::new(
                format!("sample {} of the batch", place / inputs),
                format!("its element {} is {}", place % inputs, samples[place]),
                "every number of the data must be finite",
            ));
        }
        let count = samples.len() / inputs;
        let stride = padded(rows) + LANES;
        (self.samples, self.inputs, self.stride) = (count, inputs, stride);
        self.x.resize(samples.len());
        // What lies behind each sample's coefficients must be zero, also after another number of rows.
        self.z.zeros(count * stride);
        self.exponents.clear();
        let common = (magnitude == Magnitude::Common).then(|| exponent(samples));
        let rows = self.x.chunks_exact_mut(inputs);
        for (to, from) in rows.zip(samples.chunks_exact(inputs)) {
            let exponent = common.unwrap_or_else(|| exponent(from));
            let scale = power_of_two::<T>(-exponent);
            for (to, &from) in to.iter_mut().zip(from) {
                *to = from * scale;
            }
            self.exponents.push(exponent);
        }
        Ok(())
    }

    /// z = W x of every sample.
    pub(super) fn transform(&mut self, w: Rows<'_, T>) {
        let (inputs, stride) = (self.inputs, self.stride);
        let blocks = self.z.re.par_chunks_mut(BLOCK * stride);
        let blocks = blocks.zip(self.z.im.par_chunks_mut(BLOCK * stride));
        let blocks = blocks.zip(self.x.par_chunks(BLOCK * inputs));
        blocks.for_each(|((re, im), x)| {
            let samples = x.len() / inputs;
            let x = matrix(x, samples, inputs, inputs);
            for (z, w) in [(re, w.re()), (im, w.im())] {
                let z = matrix_mut(z, samples, w.nrows(), stride);
                multiply(z, x, w.transpose(), T::one());
            }
        });
    }

    /// X and z.
    pub(super) fn signals(&self) -> Signals<'_, T> {
        Signals {
            x: matrix(&self.x, self.samples, self.inputs, self.inputs),
            z: self.z.view(),
            stride: self.stride,
        }
    }
}

/// 2^e
pub(super) fn power_of_two<T: Real>(e: i32) -> T {
    T::rounded(2f64.powi(e))
}

/// ⌊log₂⌋ of the largest |x|, and 0 where all are zero.
///
/// Within the exponents of T's normal numbers, so that 2^e and 2^-e are numbers of T.
fn exponent<T: Real>(samples: &[T]) -> i32 {
    let largest = samples.iter().fold(T::zero(), |m, x| m.max(x.abs())).wide();
    if largest == 0.0 {
        return 0;
    }
    let biased = |value: f64| ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let lowest = biased(T::min_positive_value().wide());
    biased(largest).clamp(lowest, -lowest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_brought_between_one_and_two_exactly() {
        let mut batch = Batch::<f32>::default();
        let samples = [
            3e-20,
            -5e-20,
            0.0,
            0.0,
            1e30,
            7e37,
            f32::MAX,
            1e-45,
            1e-40,
            0.0,
        ];
        batch.load(&samples, 2, 3, Magnitude::Each).unwrap();
        for (b, e) in batch.exponents.iter().enumerate() {
            let largest = batch.x[2 * b].abs().max(batch.x[2 * b + 1].abs());
            match b {
                1 => assert_eq!((largest, *e), (0.0, 0)),
                // Not a normal number: as near to one as 2^126 brings it.
                4 => assert_eq!(*e, -126),
                _ => assert!((1.0..4.0).contains(&largest), "{largest}"),
            }
            let back = |x: f32| (f64::from(x) * 2f64.powi(*e)) as f32;
            assert!(b == 3 || back(batch.x[2 * b]) == samples[2 * b]);
            assert!(back(batch.x[2 * b + 1]) == samples[2 * b + 1] || b == 3);
        }
    }

    #[test]
    fn what_is_not_finite_is_refused_by_its_place() {
        let mut batch = Batch::<f64>::default();
        let error = batch
            .load(&[0.0, 1.0, 2.0, f64::NAN], 2, 3, Magnitude::Each)
            .unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("sample 1 of the batch: its element 1 is NaN")
        );
    }
}
