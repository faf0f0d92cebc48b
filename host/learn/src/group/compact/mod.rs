//! Any compact group that acts linearly, learned from orbits in closed form.
//!
//! | file | what it answers |
//! | --- | --- |
//! | `moments` | what of the samples is needed? Sums, added in chunks |
//! | `quadratic` | which quadratic forms stay the same along orbits? they are what commutes with the action |
//! | `commutant` | the same from moments alone: where there are many inputs, or much noise |
//! | `blocks` | in which basis does each irrep act by itself, and which are copies of one? |
//! | `forms` | which products of coefficients stay the same along orbits? |
//! | `lattice` | what are the characters of a commutative group? |
//! | `generators` | in which directions does a continuous group move? |
//! | `elements` | of a finite group: which are they? |
//! | `rotations` | in which basis are they rotations of space, exactly? |
//! | `name` | which group is it? |
//! | `refine` | in which basis do the forms change least along orbits? |
//! | `solve` | all of it, one after the other |

mod blocks;
mod commutant;
mod elements;
mod forms;
mod generators;
mod lattice;
mod moments;
mod name;
mod quadratic;
mod refine;
mod rotations;
mod solve;

pub use moments::{KEPT, KEPT_MEMBERS, MOST_INPUTS, Moments, MomentsError, PARTS};
pub use name::Name;
pub use solve::{Compact, Evidence, Form, Irrep, LeftOut, NoGroup};

#[cfg(test)]
mod samples {
    use crate::data::orbits::Orbits;
    use crate::data::representation::{Representation, orthogonal};
    use crate::numeric::random::{Purpose, stream};
    use ndarray::Array2;
    use rand::RngExt;
    use rand_distr::StandardNormal;

    /// Real functions on a small group.
    pub(super) fn finite(name: &str) -> Representation {
        Representation::regular(&match name {
            "Z8" => vec![vec![1, 2, 3, 4, 5, 6, 7, 0]],
            "S3" => vec![vec![1, 0, 2], vec![1, 2, 0]],
            "D4" => vec![vec![1, 2, 3, 0], vec![0, 3, 2, 1]],
            "Q8" => vec![vec![1, 2, 3, 0, 5, 6, 7, 4], vec![4, 7, 6, 5, 2, 1, 0, 3]],
            "A4" => vec![vec![1, 2, 0, 3], vec![1, 0, 3, 2]],
            _ => vec![vec![1, 2, 3, 0], vec![1, 0, 2, 3]],
        })
    }

    /// Orbits that no group moves: clouds of a covariance each, of one covariance, points with noise, rotations whose labels
    /// were lost, and a curved function of noise.
    pub(super) fn none(
        kind: usize,
        inputs: usize,
        [count, members]: [usize; 2],
        seed: u64,
    ) -> Orbits {
        let mut random = stream(seed, Purpose::Noise);
        let mut draw = |count: usize| -> Vec<f64> {
            (0..count).map(|_| random.sample(StandardNormal)).collect()
        };
        let rotated = Representation::so3(&[0, 1, 2]);
        let rotated = rotated
            .orbits(count, members, &orthogonal(9, 7), seed)
            .unwrap();
        let fixed = draw(inputs * inputs);
        let (mut samples, mut labels) = (Vec::new(), Vec::new());
        for orbit in 0..count {
            let (own, centre) = (draw(inputs * inputs), draw(inputs));
            for member in 0..members {
                let x = draw(inputs);
                let times = |matrix: &[f64]| -> Vec<f64> {
                    let row = |row: &[f64]| row.iter().zip(&x).map(|(m, x)| m * x).sum();
                    matrix.chunks_exact(inputs).map(row).collect()
                };
                let y: Vec<f64> = match kind {
                    0 => times(&own),
                    1 => times(&fixed),
                    2 => centre.iter().zip(&x).map(|(c, x)| c + 0.3 * x).collect(),
                    3 => {
                        let mut y = vec![0.0_f32; 9];
                        rotated.write_member((orbit * 7 + member * 11) % count, member, &mut y);
                        y.iter().map(|&y| f64::from(y)).collect()
                    }
                    _ => {
                        let bent = |n: usize| (centre[n] + centre[(n + 1) % inputs] * x[n]).tanh();
                        (0..inputs).map(|n| bent(n) * x[3 * n % inputs]).collect()
                    }
                };
                samples.extend(y.iter().map(|&y| y as f32));
                labels.push(orbit as i64);
            }
        }
        let width = samples.len() / labels.len();
        let samples = Array2::from_shape_vec((labels.len(), width), samples).unwrap();
        Orbits::labelled(samples, &labels).unwrap()
    }
}
