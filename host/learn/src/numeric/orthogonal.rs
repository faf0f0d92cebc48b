//! Complex orthogonal initialisation (Trabelsi et al. 2018): a random W with orthonormal rows.

use num_complex::Complex64;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// R·N numbers, row after row. Where R > N only every N rows are orthogonal to each other.
///
/// Gram and Schmidt's method on Gaussian rows gives the uniform distribution over unitary matrices;
/// applied twice it is orthogonal to the last digits.
#[must_use]
pub fn orthogonal(rows: usize, inputs: usize, seed: u64) -> Vec<Complex64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = || -> f64 { StandardNormal.sample(&mut random) };
    let mut w = vec![Complex64::ZERO; rows * inputs];
    for i in 0..rows {
        let (before, from) = w.split_at_mut(i * inputs);
        let row = &mut from[..inputs];
        row.fill_with(|| Complex64::new(draw(), draw()));
        let block = &before[i / inputs * inputs * inputs..];
        for _ in 0..2 {
            for other in block.chunks_exact(inputs) {
                let part: Complex64 = other.iter().zip(&*row).map(|(o, x)| o.conj() * x).sum();
                row.iter_mut().zip(other).for_each(|(x, o)| *x -= part * o);
            }
            let length = row.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt();
            row.iter_mut().for_each(|x| *x /= length);
        }
    }
    w
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_orthonormal() {
        for (rows, inputs) in [(5, 5), (3, 8), (9, 4)] {
            let w = orthogonal(rows, inputs, 7);
            for i in 0..rows {
                for j in 0..i {
                    let (a, b) = (&w[i * inputs..][..inputs], &w[j * inputs..][..inputs]);
                    let inner: Complex64 = a.iter().zip(b).map(|(a, b)| a * b.conj()).sum();
                    if i / inputs == j / inputs {
                        assert!(inner.norm() < 1e-14, "{rows}×{inputs}: {i}, {j}");
                    }
                }
                let length: f64 = w[i * inputs..][..inputs].iter().map(|x| x.norm_sqr()).sum();
                assert!((length - 1.0).abs() < 1e-14);
            }
        }
    }
}
