//! Networks, samples and shapes to try.

use bispectral_learn::network::{Distance, Network, Objective, Reconstruction};
use bispectral_learn::numeric::Real;
use ndarray::Array2;
use num_complex::Complex;

/// Reproducible numbers in [−1, 1): a linear congruential generator, Knuth's constants.
pub(crate) fn noise<T: Real>(seed: u64) -> impl FnMut() -> T {
    let mut state = seed.wrapping_mul(2_862_933_555_777_941_757) + 1;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        T::rounded((state >> 33) as f64 / f64::from(1u32 << 30) - 1.0)
    }
}

/// Rows of about unit length, but not quite: so that a derivative along a row is seen.
pub(crate) fn random_network<T: Real>(rows: usize, inputs: usize, seed: u64) -> Network<T> {
    let mut draw = noise::<T>(seed);
    let length = T::rounded((1.5 / inputs as f64).sqrt());
    let w = Array2::from_shape_simple_fn((rows, inputs), || {
        Complex::new(draw() * length, draw() * length)
    });
    Network::from_array(&w.view())
}

pub(crate) fn random_samples<T: Real>(inputs: usize, orbits: &[usize], seed: u64) -> Vec<T> {
    let mut draw = noise(seed);
    let count = inputs * orbits.iter().sum::<usize>();
    (0..count).map(|_| draw()).collect()
}

pub(crate) fn objectives() -> impl Iterator<Item = Objective> {
    (0..8).map(|bits| Objective {
        distance: [Distance::Squared, Distance::Euclidean][bits & 1],
        centre: bits & 2 != 0,
        reconstruction: [Reconstruction::Complex, Reconstruction::Real][bits >> 2],
        gamma: 0.3,
    })
}

/// R, N, orbits. None a multiple of a vector; more rows than inputs, and fewer; several tiles and parts; B from 1 on.
pub(crate) const SHAPES: [(usize, usize, &[usize]); 7] = [
    (1, 1, &[1]),
    (1, 2, &[3]),
    (3, 5, &[2, 3]),
    (5, 3, &[1, 4, 2]),
    (19, 33, &[0, 6, 1]),
    (40, 23, &[3, 1, 26, 2]),
    (17, 1100, &[2, 3]),
];
