//! A linear support vector machine, one class against all others: what can be had without invariance.
//!
//! > min_w ½‖w‖² + C Σ_i max(0, 1 − y_i w·x_i)²
//!
//! by dual coordinate descent (Hsieh et al. 2008), the algorithm of LIBLINEAR, on samples of a mean square length of one;
//! a constant beside the inputs is the bias.

use bispectral_learn::classify::outputs::{Labelled, class_of};
use bispectral_learn::numeric::random::{Purpose, stream_at};
use ndarray::Array2;
use rand::seq::SliceRandom;
use rayon::prelude::*;

/// C: scikit-learn's default.
const COST: f32 = 1.0;
/// The most rounds over all samples.
const ROUNDS: u64 = 60;
/// Ends where no sample's gradient is farther from its optimum.
const TOLERANCE: f32 = 1e-2;

/// A plane a class.
#[derive(Debug, Clone, PartialEq)]
pub struct Svm {
    /// One row a class: a weight an input, and the bias.
    planes: Vec<Vec<f32>>,
    /// What samples are multiplied by.
    scale: f32,
}

impl Svm {
    /// Trains a plane for each of `classes`.
    #[must_use]
    pub fn train(training: Labelled<'_>, classes: usize, seed: u64) -> Self {
        let square: f64 = training.inputs.iter().map(|&x| f64::from(x).powi(2)).sum();
        let scale = (training.inputs.nrows() as f64 / square.max(f64::MIN_POSITIVE)).sqrt() as f32;
        let scaled = training.inputs.mapv(|x| x * scale);
        let training = Labelled {
            inputs: &scaled,
            ..training
        };
        let classes = (0..classes).into_par_iter();
        let planes = classes
            .map(|class| plane(training, class as u8, seed))
            .collect();
        Svm { planes, scale }
    }

    /// The class of every row.
    #[must_use]
    pub fn classify(&self, inputs: &Array2<f32>) -> Vec<u8> {
        let rows: Vec<_> = inputs.rows().into_iter().collect();
        rows.into_par_iter()
            .map(|row| {
                let x: Vec<f32> = row.iter().map(|x| x * self.scale).collect();
                let outputs: Vec<f32> = self.planes.iter().map(|plane| output(plane, &x)).collect();
                class_of(&outputs)
            })
            .collect()
    }
}

/// w·(x, 1)
fn output(plane: &[f32], x: &[f32]) -> f32 {
    let (bias, weights) = plane.split_last().unwrap_or((&0.0, &[]));
    bias + dot(weights, x)
}

/// In eight sums, which the compiler computes side by side.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

fn plane(training: Labelled<'_>, class: u8, seed: u64) -> Vec<f32> {
    let (count, inputs) = training.inputs.dim();
    let mut plane = vec![0.0; inputs + 1];
    let mut multipliers = vec![0.0_f32; count];
    let standard = training.inputs.as_standard_layout();
    let samples = standard.as_slice().expect("it lies in one piece");
    let sample = |at: usize| &samples[at * inputs..][..inputs];
    let diagonal = 0.5 / COST;
    let curvature: Vec<f32> = (0..count)
        .map(|at| dot(sample(at), sample(at)) + 1.0 + diagonal)
        .collect();
    let mut order: Vec<usize> = (0..count).collect();
    for round in 0..ROUNDS {
        order.shuffle(&mut stream_at(
            seed,
            Purpose::Classifier,
            [round, u64::from(class) + 1],
        ));
        let mut farthest = 0.0_f32;
        for &at in &order {
            let x = sample(at);
            let sign = if training.classes[at] == class {
                1.0
            } else {
                -1.0
            };
            let gradient = sign * output(&plane, x) - 1.0 + diagonal * multipliers[at];
            let projected = if multipliers[at] == 0.0 {
                gradient.min(0.0)
            } else {
                gradient
            };
            farthest = farthest.max(projected.abs());
            if projected == 0.0 {
                continue;
            }
            let before = multipliers[at];
            multipliers[at] = (before - gradient / curvature[at]).max(0.0);
            let step = sign * (multipliers[at] - before);
            let (bias, weights) = plane.split_last_mut().expect("there is a bias");
            weights
                .iter_mut()
                .zip(x)
                .for_each(|(weight, x)| *weight += step * x);
            *bias += step;
        }
        if farthest < TOLERANCE {
            break;
        }
    }
    plane
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::arr2;

    /// A square's quadrants: each is one side of a line against the three others.
    #[test]
    fn what_lines_can_part_is_parted() {
        let corner = |class: usize| [[5.0, 4.0], [-4.0, 5.0], [-5.0, -4.0], [4.0, -5.0]][class];
        let at = |sample: usize| {
            let [x, y] = corner(sample % 4);
            [x + (sample % 7) as f32 / 7.0, y - (sample % 5) as f32 / 5.0]
        };
        let inputs = arr2(&std::array::from_fn::<_, 80, _>(at));
        let classes: Vec<u8> = (0..80).map(|sample| (sample % 4) as u8).collect();
        let svm = Svm::train(
            Labelled {
                inputs: &inputs,
                classes: &classes,
            },
            4,
            0,
        );
        assert_eq!(svm.classify(&inputs), classes);
    }

    /// min ½w² + 2 max(0, 1 − w)² for x = ±1: w = 4/5, with the bias at zero by symmetry.
    #[test]
    fn the_minimum_is_that_of_the_formula() {
        let inputs = arr2(&[[1.0], [-1.0]]);
        let classes = [1, 0];
        let svm = Svm::train(
            Labelled {
                inputs: &inputs,
                classes: &classes,
            },
            2,
            0,
        );
        let [weight, bias] = svm.planes[1][..] else {
            panic!("two numbers")
        };
        // The tolerance of the gradient over a curvature of 2.5.
        assert!(
            (weight - 0.8).abs() < 4e-3 && bias.abs() < 4e-3,
            "{weight} {bias}"
        );
    }
}
