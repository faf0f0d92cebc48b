//! Signals that a compact group moves linearly: random vectors on which a representation acts, behind a mixing.
//!
//! y = Q ρ(g) x, with x standard normal, ρ a sum of irreps and Q a random orthogonal matrix that hides them, or points of the
//! sphere at which a function is sampled.

use super::orbits::{Orbits, OrbitsError};
use crate::numeric::alignment::random_rotations;
use crate::numeric::harmonics::{Degree, harmonics};
use crate::numeric::random::{Purpose, stream_at};
use faer::Mat;
use ndarray::Array2;
use rand::RngExt;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use std::f64::consts::TAU;

/// How much spectra of functions on a sphere differ.
pub const SPECTRA: f64 = 0.3;

/// An orthogonal representation of a compact group.
#[derive(Debug, Clone)]
pub struct Representation {
    blocks: Blocks,
    dimension: usize,
}

#[derive(Debug, Clone)]
enum Blocks {
    /// By the orders of a torus's angles, and the sign that a mirror image has; both columns of a plane where an order is not zero.
    Torus {
        orders: Vec<Vec<i32>>,
        /// How the element of order two acts beside the angles.
        second: Second,
    },
    /// Degrees of harmonics.
    Sphere(Vec<Degree>),
    /// Each element, as the column that each row comes from.
    Finite(Vec<Vec<usize>>),
}

/// What acts beside the angles of a torus.
#[derive(Debug, Clone)]
enum Second {
    None,
    /// The mirror image: every angle changes its sign.
    Mirror,
    /// A sign for each block.
    Signs(Vec<bool>),
}

impl Representation {
    /// SO(2) by blocks of these orders; order 0 is the trivial one.
    #[must_use]
    pub fn so2(orders: &[i32]) -> Self {
        let orders: Vec<Vec<i32>> = orders.iter().map(|&order| vec![order]).collect();
        Representation::torus(&orders)
    }

    /// A torus by blocks of these orders, one number an angle.
    #[must_use]
    pub fn torus(orders: &[Vec<i32>]) -> Self {
        Representation::with_second(orders, Second::None)
    }

    /// O(2) by blocks of these orders; order 0 is the trivial one.
    #[must_use]
    pub fn o2(orders: &[i32]) -> Self {
        let orders: Vec<Vec<i32>> = orders.iter().map(|&order| vec![order]).collect();
        Representation::with_second(&orders, Second::Mirror)
    }

    /// SO(2) × Z2 by blocks of these orders, with the signs of the second factor.
    #[must_use]
    pub fn so2_and_sign(blocks: &[(i32, bool)]) -> Self {
        let orders: Vec<Vec<i32>> = blocks.iter().map(|&(order, _)| vec![order]).collect();
        let signs = blocks.iter().map(|&(_, sign)| sign).collect();
        Representation::with_second(&orders, Second::Signs(signs))
    }

    fn with_second(orders: &[Vec<i32>], second: Second) -> Self {
        let size = |order: &Vec<i32>| 1 + usize::from(order.iter().any(|&m| m != 0));
        Representation {
            dimension: orders.iter().map(size).sum(),
            blocks: Blocks::Torus {
                orders: orders.to_vec(),
                second,
            },
        }
    }

    /// SO(3) by these degrees, on coefficients of real spherical harmonics of orders −l to l.
    #[must_use]
    pub fn so3(degrees: &[usize]) -> Self {
        Representation {
            dimension: degrees.iter().map(|l| 2 * l + 1).sum(),
            blocks: Blocks::Sphere(degrees.iter().map(|&l| Degree::new(l)).collect()),
        }
    }

    /// Real functions on the finite group that permutations generate: the regular representation.
    #[must_use]
    pub fn regular(generators: &[Vec<usize>]) -> Self {
        let points = generators.first().map_or(1, Vec::len);
        let compose = |a: &[usize], b: &[usize]| b.iter().map(|&at| a[at]).collect::<Vec<usize>>();
        let mut elements = vec![(0..points).collect::<Vec<usize>>()];
        let mut next = 0;
        while next < elements.len() {
            for generator in generators {
                let product = compose(generator, &elements[next]);
                if !elements.contains(&product) {
                    elements.push(product);
                }
            }
            next += 1;
        }
        let number = |element: &[usize]| elements.iter().position(|e| e == element).unwrap_or(0);
        let table = (elements.iter())
            .map(|a| elements.iter().map(|b| number(&compose(a, b))).collect())
            .collect();
        Representation {
            dimension: elements.len(),
            blocks: Blocks::Finite(table),
        }
    }

    /// The dimension of what is acted on.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// How many elements the group has, where they are finitely many.
    #[must_use]
    pub fn order(&self) -> Option<usize> {
        match &self.blocks {
            Blocks::Finite(elements) => Some(elements.len()),
            _ => None,
        }
    }

    /// `count` elements that are drawn at random; of a finite group no element twice, and no more than there are.
    fn elements(&self, count: usize, random: &mut ChaCha8Rng) -> Vec<Mat<f64>> {
        if let Blocks::Finite(elements) = &self.blocks {
            let count = count.min(elements.len());
            let chosen = index::sample(random, elements.len(), count);
            let dimension = self.dimension;
            let one = |from: usize| {
                let mut matrix = Mat::zeros(dimension, dimension);
                for (column, &row) in elements[from].iter().enumerate() {
                    matrix[(row, column)] = 1.0;
                }
                matrix
            };
            return chosen.into_iter().map(one).collect();
        }
        (0..count).map(|_| self.draw(random)).collect()
    }

    /// An element of a group with infinitely many, uniformly.
    fn draw(&self, random: &mut ChaCha8Rng) -> Mat<f64> {
        let mut matrix = Mat::zeros(self.dimension, self.dimension);
        let mut at = 0;
        match &self.blocks {
            Blocks::Torus { orders, second } => {
                let rank = orders.first().map_or(0, Vec::len);
                let angles: Vec<f64> = (0..rank).map(|_| TAU * random.random::<f64>()).collect();
                let flip = !matches!(second, Second::None) && random.random::<bool>();
                for (block, orders) in orders.iter().enumerate() {
                    let angle: f64 = (orders.iter().zip(&angles))
                        .map(|(&order, angle)| f64::from(order) * angle)
                        .sum();
                    let (sin, cos) = angle.sin_cos();
                    let sign = match second {
                        Second::Signs(signs) if flip && signs[block] => -1.0,
                        _ => 1.0,
                    };
                    // The mirror image is x → −y's sign: cos stays, sin changes its sign.
                    let mirror = match second {
                        Second::Mirror if flip => -1.0,
                        _ => 1.0,
                    };
                    if orders.iter().all(|&order| order == 0) {
                        matrix[(at, at)] = sign;
                        at += 1;
                        continue;
                    }
                    matrix[(at, at)] = sign * cos;
                    matrix[(at + 1, at)] = sign * sin;
                    matrix[(at, at + 1)] = -sign * mirror * sin;
                    matrix[(at + 1, at + 1)] = sign * mirror * cos;
                    at += 2;
                }
            }
            Blocks::Sphere(degrees) => {
                let (alpha, gamma) = (TAU * random.random::<f64>(), TAU * random.random::<f64>());
                let beta = (2.0 * random.random::<f64>() - 1.0).acos();
                for degree in degrees {
                    let rotation = degree.rotation([alpha, beta, gamma]);
                    let size = rotation.nrows();
                    let mut block = matrix.submatrix_mut(at, at, size, size);
                    block.copy_from(&rotation);
                    at += size;
                }
            }
            Blocks::Finite(_) => {}
        }
        matrix
    }

    /// `orbits` random vectors, each moved by `members` elements, behind `mixing`: one column a coefficient, one row an input.
    ///
    /// # Errors
    /// Fewer than two orbits or members.
    ///
    /// ```
    /// use bispectral_learn::data::representation::{Representation, orthogonal};
    ///
    /// let rotations = Representation::so3(&[0, 1, 2]);
    /// let orbits = rotations.orbits(20, 30, &orthogonal(9, 1), 0)?;
    /// assert_eq!((orbits.inputs(), orbits.len(), orbits.members(0)), (9, 20, 30));
    /// # Ok::<(), bispectral_learn::Error>(())
    /// ```
    pub fn orbits(
        &self,
        orbits: usize,
        members: usize,
        mixing: &Mat<f64>,
        seed: u64,
    ) -> Result<Orbits, OrbitsError> {
        let inputs = mixing.nrows();
        let (mut samples, mut labels) = (Vec::new(), Vec::new());
        for orbit in 0..orbits {
            let place = [orbit as u64, 0];
            let mut random = stream_at(seed, Purpose::Exemplars, place);
            let x = Mat::from_fn(self.dimension, 1, |_, _| {
                random.sample::<f64, _>(StandardNormal)
            });
            for element in self.elements(members, &mut random) {
                let y = mixing * (element * &x);
                samples.extend((0..inputs).map(|n| y[(n, 0)] as f32));
                labels.push(orbit as i64);
            }
        }
        let samples = Array2::from_shape_vec((labels.len(), inputs), samples).unwrap_or_default();
        Orbits::labelled(samples, &labels)
    }
}

/// From coefficients of degrees 0 to `most` to what functions on the sphere are at `points`.
#[must_use]
pub fn sampled(most: usize, points: &[[f64; 3]]) -> Mat<f64> {
    let rows: Vec<Vec<f64>> = points.iter().map(|&point| harmonics(most, point)).collect();
    Mat::from_fn(points.len(), (most + 1) * (most + 1), |row, k| rows[row][k])
}

/// Random functions on a sphere, each rotated at random `members` times, behind `mixing`: one column a coefficient of degrees 0
/// to `most`, one row an input. Coefficients are normal; each degree of each function has an amplitude of its own, whose
/// logarithm is normal with a deviation of [`SPECTRA`]: no two things have the same spectrum.
///
/// # Errors
/// Fewer than two orbits or members.
///
/// # Panics
/// `mixing` has not (most + 1)² columns.
pub fn functions_on_sphere(
    most: usize,
    mixing: &Mat<f64>,
    orbits: usize,
    members: usize,
    seed: u64,
) -> Result<Orbits, OrbitsError> {
    let degrees: Vec<Degree> = (0..=most).map(Degree::new).collect();
    let (inputs, size) = (mixing.nrows(), (most + 1) * (most + 1));
    assert_eq!(mixing.ncols(), size, "one column a coefficient");
    let of_orbit = |orbit: usize| -> Vec<f32> {
        let mut random = stream_at(seed, Purpose::Exemplars, [orbit as u64, 0]);
        let mut normal = || random.sample::<f64, _>(StandardNormal);
        let parts: Vec<Vec<f64>> = (0..=most)
            .map(|l| {
                let amplitude = (SPECTRA * normal()).exp();
                (0..2 * l + 1).map(|_| amplitude * normal()).collect()
            })
            .collect();
        let rotations = random_rotations(members, seed ^ (orbit as u64 + 1) << 32);
        let moved = |&angles: &[f64; 3]| -> Vec<f64> {
            let parts = degrees.iter().zip(&parts);
            parts
                .flat_map(|(degree, part)| degree.rotated(angles, part))
                .collect()
        };
        let moved: Vec<Vec<f64>> = rotations.iter().map(moved).collect();
        let samples = mixing * Mat::from_fn(size, members, |k, m| moved[m][k]);
        let places = (0..members).flat_map(|m| (0..inputs).map(move |n| (n, m)));
        places.map(|at| samples[at] as f32).collect()
    };
    let samples: Vec<Vec<f32>> = (0..orbits).into_par_iter().map(of_orbit).collect();
    let labels: Vec<i64> = (0..orbits * members)
        .map(|row| (row / members) as i64)
        .collect();
    let shape = (labels.len(), inputs);
    let samples = Array2::from_shape_vec(shape, samples.concat()).unwrap_or_default();
    Orbits::labelled(samples, &labels)
}

/// A random orthogonal matrix.
#[must_use]
pub fn orthogonal(dimension: usize, seed: u64) -> Mat<f64> {
    let mut random = stream_at(seed, Purpose::Exemplars, [u64::MAX, 1]);
    let gaussian = Mat::from_fn(dimension, dimension, |_, _| {
        random.sample::<f64, _>(StandardNormal)
    });
    gaussian.qr().compute_thin_Q()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::random::stream;

    fn close(a: &Mat<f64>, b: &Mat<f64>) -> bool {
        (a - b).norm_max() < 1e-10
    }

    #[test]
    fn elements_are_orthogonal_and_rotations_of_degree_one_are_of_space() {
        let mut random = stream(5, Purpose::Exemplars);
        for (group, dimension) in [
            (Representation::so2(&[0, 1, 2]), 5),
            (Representation::o2(&[0, 1, 3]), 5),
            (
                Representation::torus(&[vec![1, 0], vec![1, -1], vec![0, 0]]),
                5,
            ),
            (Representation::so2_and_sign(&[(0, true), (1, false)]), 3),
            (Representation::so3(&[0, 1, 4]), 13),
            (Representation::regular(&[vec![1, 0, 2], vec![1, 2, 0]]), 6),
        ] {
            assert_eq!(group.dimension(), dimension);
            for element in group.elements(4, &mut random) {
                let gram = element.transpose() * &element;
                assert!(
                    close(&gram, &Mat::identity(dimension, dimension)),
                    "{group:?}"
                );
            }
        }
        // Of degree 1 the determinant is 1, and the trace of degree 2 is that of the symmetric square less one.
        let both = Representation::so3(&[1, 2]);
        for element in both.elements(4, &mut random) {
            let one = element.submatrix(0, 0, 3, 3);
            let trace =
                |at: usize, size: usize| (at..at + size).map(|k| element[(k, k)]).sum::<f64>();
            let (small, square) = (
                trace(0, 3),
                (one * one).diagonal().column_vector().iter().sum::<f64>(),
            );
            assert!((one.determinant() - 1.0).abs() < 1e-10);
            assert!((trace(3, 5) - ((small * small + square) / 2.0 - 1.0)).abs() < 1e-10);
        }
    }

    #[test]
    fn a_generated_group_is_as_large_as_it_should_be() {
        let order = |generators: &[Vec<usize>]| Representation::regular(generators).order();
        assert_eq!(order(&[vec![1, 2, 3, 0], vec![1, 0, 2, 3]]), Some(24));
        let quaternions = [vec![1, 2, 3, 0, 5, 6, 7, 4], vec![4, 7, 6, 5, 2, 1, 0, 3]];
        assert_eq!(order(&quaternions), Some(8));
    }
}
