//! ZCA whitening with the covariance of the data itself.
//!
//! Over whole orbits C = mean(x xᵀ) commutes with the group, and so does C^(−1/2): an equivariant map that needs no
//! knowledge of the group. A W learned behind it is as valid without it.

use super::matrix::{matrix, matrix_mut, multiply};
use faer::{Mat, Side};
use rayon::prelude::*;

/// Directions with less than this share of the largest variance are noise, or nothing at all (the mean of patches
/// without one): they are set to zero, and what W does there is left to its rows being orthonormal.
const LEAST_VARIANCE: f64 = 1e-7;

/// Samples that are whitened at a time, by one thread each.
const BLOCK: usize = 32;

/// C^(−1/2), to be applied to samples.
#[derive(Debug, Clone)]
pub struct Whitening {
    /// N×N, symmetric.
    matrix: Vec<f32>,
    inputs: usize,
}

impl Whitening {
    /// Of data with this covariance.
    #[must_use]
    pub fn of(covariance: Mat<f64>) -> Self {
        let inputs = covariance.nrows();
        let zca = zca(covariance);
        Whitening {
            matrix: (0..inputs * inputs)
                .map(|at| zca[(at / inputs, at % inputs)] as f32)
                .collect(),
            inputs,
        }
    }

    /// Whitens `samples`, N numbers each, one behind the other.
    pub fn apply(&self, samples: &mut [f32]) {
        let inputs = self.inputs;
        let zca = matrix(&self.matrix, inputs, inputs, inputs);
        samples.par_chunks_mut(BLOCK * inputs).for_each(|block| {
            let (rows, raw) = (block.len() / inputs, block.to_vec());
            let raw = matrix(&raw, rows, inputs, inputs);
            multiply(matrix_mut(block, rows, inputs, inputs), raw, zca, 1.0);
        });
    }
}

/// Brings every sample to unit length; a sample of zeros stays one.
pub fn normalise(samples: &mut [f32], inputs: usize) {
    for sample in samples.chunks_exact_mut(inputs) {
        let length = sample.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length > 0.0 {
            sample.iter_mut().for_each(|x| *x /= length);
        }
    }
}

/// C^(−1/2).
pub(crate) fn zca(covariance: Mat<f64>) -> Mat<f64> {
    function(covariance, |value, largest| {
        if value > LEAST_VARIANCE * largest {
            value.sqrt().recip()
        } else {
            0.0
        }
    })
}

/// C^(1/2): ‖a C^(1/2)‖² is the mean of |a x|².
pub(crate) fn square_root(covariance: Mat<f64>) -> Mat<f64> {
    // Where there is no variance, rounding may leave less than none.
    function(covariance, |value, _| value.max(0.0).sqrt())
}

/// The symmetric matrix of the same eigenvectors, with a function of each eigenvalue and the largest for eigenvalues.
fn function(covariance: Mat<f64>, of: impl Fn(f64, f64) -> f64) -> Mat<f64> {
    let inputs = covariance.nrows();
    let eigen = covariance
        .self_adjoint_eigen(Side::Lower)
        .expect("the covariance of finite samples has eigenvectors");
    let (vectors, values) = (eigen.U(), eigen.S().column_vector());
    let largest = (0..inputs).map(|k| values[k]).fold(0.0, f64::max);
    let scaled = Mat::from_fn(inputs, inputs, |n, k| {
        vectors[(n, k)] * of(values[k], largest)
    });
    scaled * vectors.transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::group::Group;
    use crate::data::orbits::Orbits;

    fn orbits() -> Orbits {
        Orbits::of_group(&"Z3xZ2".parse::<Group>().unwrap(), 40, 1)
    }

    #[test]
    fn whitened_samples_are_uncorrelated() {
        let orbits = orbits();
        let whitening = Whitening::of(orbits.covariance());
        let mut samples = vec![0.0; 40 * 6 * 6];
        for (at, sample) in samples.chunks_exact_mut(6).enumerate() {
            orbits.write_member(at / 6, at % 6, sample);
        }
        whitening.apply(&mut samples);
        for a in 0..6 {
            for b in 0..6 {
                let products = samples
                    .chunks_exact(6)
                    .map(|x| f64::from(x[a]) * f64::from(x[b]));
                let covariance = products.sum::<f64>() / 240.0;
                // 240 products of f32, each rounded three times.
                assert!(
                    (covariance - f64::from(u8::from(a == b))).abs() < 1e-5,
                    "{a}, {b}"
                );
            }
        }
    }

    #[test]
    fn whitening_moves_with_the_group() {
        let orbits = orbits();
        let whitening = Whitening::of(orbits.covariance());
        let member = |member| {
            let mut x = [0.0; 6];
            orbits.write_member(5, member, &mut x);
            x
        };
        let whitened = |mut x: [f32; 6]| {
            whitening.apply(&mut x);
            x
        };
        let (still, moved) = (whitened(member(0)), whitened(member(4)));
        for (raw, moved) in member(4).iter().zip(moved) {
            // Where translation takes each number is seen on the number itself.
            let from = member(0).iter().position(|x| x == raw).unwrap();
            assert!((moved - still[from]).abs() < 1e-5);
        }
    }

    #[test]
    fn samples_of_any_length_become_unit_vectors_and_zeros_stay() {
        let mut samples = [3.0, 4.0, 0.0, 0.0];
        normalise(&mut samples, 2);
        assert_eq!(samples, [0.6, 0.8, 0.0, 0.0]);
    }
}
