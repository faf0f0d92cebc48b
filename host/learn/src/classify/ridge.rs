//! A linear classifier in closed form: ridge regression to the classes, its strength chosen by leaving one sample out.
//!
//! > min Σ_s ‖y_s − ȳ − V(f_s − f̄)‖² + λ‖V‖²,  y_s = ±1 for each class
//!
//! With the eigenvectors of the Gram matrix of the features, what a sample left out would be taken for is known for every λ
//! without another fit: its residual divided by 1 − h_ss.

use faer::{Mat, Side};
use ndarray::{Array2, ArrayView2, Axis};

/// λ, as shares of the largest eigenvalue: 10^-7 … 10.
const STRENGTHS: usize = 25;
/// Of few samples one strength is best by chance: it counts with so many on either side.
const BESIDE: usize = 2;

/// Scores of classes that are linear in features.
#[derive(Debug, Clone, PartialEq)]
pub struct Ridge {
    /// One row a class.
    pub weights: Array2<f32>,
    /// One a class.
    pub biases: Vec<f32>,
    /// The share of training samples that are right when they are left out.
    pub left_out: f64,
}

impl Ridge {
    /// Of features, one sample a row, and the class of each, below `classes`.
    ///
    /// # Panics
    /// There are no samples, or other numbers of them.
    #[must_use]
    pub fn fit(features: ArrayView2<'_, f32>, labels: &[usize], classes: usize) -> Self {
        let samples = features.nrows();
        assert!(samples > 0 && samples == labels.len(), "one label a sample");
        let mean = features.mean_axis(Axis(0)).expect("there are samples");
        let centred = Mat::from_fn(samples, features.ncols(), |s, f| {
            f64::from(features[(s, f)] - mean[f])
        });
        let share = |class: usize| labels.iter().filter(|&&label| label == class).count() as f64;
        let means: Vec<f64> = (0..classes)
            .map(|c| 2.0 * share(c) / samples as f64 - 1.0)
            .collect();
        let target = |s: usize, c: usize| if labels[s] == c { 1.0 } else { -1.0 };
        let y = Mat::from_fn(samples, classes, |s, c| target(s, c) - means[c]);
        let eigen = (&centred * centred.transpose())
            .self_adjoint_eigen(Side::Lower)
            .expect("a Gram matrix of finite features has eigenvectors");
        let (u, values) = (eigen.U(), eigen.S().column_vector());
        let values: Vec<f64> = (0..samples).map(|k| values[k].max(0.0)).collect();
        let largest = values
            .iter()
            .fold(f64::MIN_POSITIVE, |most, v| most.max(*v));
        let along = u.transpose() * &y;
        let mut tried: Vec<(f64, f64, f64)> = Vec::new();
        for step in 0..STRENGTHS {
            let strength = largest * 10_f64.powf(step as f64 / 3.0 - 7.0);
            let kept: Vec<f64> = values.iter().map(|v| v / (v + strength)).collect();
            let shrunk = Mat::from_fn(samples, classes, |k, c| kept[k] * along[(k, c)]);
            let fitted = u * shrunk;
            let (mut right, mut square) = (0_usize, 0.0);
            for s in 0..samples {
                let h: f64 = (0..samples).map(|k| kept[k] * u[(s, k)] * u[(s, k)]).sum();
                let left = (1.0 - h - 1.0 / samples as f64).max(1e-6);
                let mut winner = (0, f64::NEG_INFINITY);
                for c in 0..classes {
                    let residual = (y[(s, c)] - fitted[(s, c)]) / left;
                    square += residual * residual;
                    let score = target(s, c) - residual;
                    if score > winner.1 {
                        winner = (c, score);
                    }
                }
                right += usize::from(winner.0 == labels[s]);
            }
            let right = right as f64 / samples as f64;
            // Of the same accuracy the smaller error.
            let error = 1e-4 * (square / (samples * classes) as f64).min(1e3);
            tried.push((strength, right, error));
        }
        let score = |at: usize| {
            let beside = (at..=at + 2 * BESIDE).map(|k| k.saturating_sub(BESIDE));
            let right = beside.map(|k| tried[k.min(tried.len() - 1)].1);
            right.sum::<f64>() / (2 * BESIDE + 1) as f64 - tried[at].2
        };
        let better = |best: usize, at: usize| if score(at) > score(best) { at } else { best };
        let (strength, left_out, _) = tried[(1..tried.len()).fold(0, better)];
        let duals = Mat::from_fn(samples, classes, |k, c| {
            along[(k, c)] / (values[k] + strength)
        });
        let weights = (u * duals).transpose() * &centred;
        let weights = Array2::from_shape_fn((classes, features.ncols()), |(c, f)| weights[(c, f)]);
        let bias = |c: usize| {
            let away = (0..mean.len()).map(|f| weights[(c, f)] * f64::from(mean[f]));
            (means[c] - away.sum::<f64>()) as f32
        };
        Ridge {
            biases: (0..classes).map(bias).collect(),
            weights: weights.mapv(|w| w as f32),
            left_out,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::random::{Purpose, stream};
    use rand::RngExt;

    /// Two clouds that overlap.
    fn clouds(count: usize) -> (Array2<f32>, Vec<usize>) {
        let mut random = stream(3, Purpose::Classifier);
        let labels: Vec<usize> = (0..count).map(|s| s % 2).collect();
        let features = Array2::from_shape_fn((count, 6), |(s, f)| {
            let noise: f32 = (0..6).map(|_| random.random::<f32>() - 0.5).sum();
            noise + if f < 2 { labels[s] as f32 } else { 0.0 }
        });
        (features, labels)
    }

    fn class(ridge: &Ridge, features: ndarray::ArrayView1<'_, f32>) -> usize {
        let score = |c: usize| ridge.weights.row(c).dot(&features) + ridge.biases[c];
        usize::from(score(1) > score(0))
    }

    #[test]
    fn what_it_says_of_samples_left_out_is_what_leaving_them_out_gives() {
        let (features, labels) = clouds(40);
        let all = Ridge::fit(features.view(), &labels, 2);
        let right = (0..40).filter(|&out| {
            let others: Vec<usize> = (0..40).filter(|s| *s != out).collect();
            let labels_of: Vec<usize> = others.iter().map(|&s| labels[s]).collect();
            let fitted = Ridge::fit(features.select(Axis(0), &others).view(), &labels_of, 2);
            class(&fitted, features.row(out)) == labels[out]
        });
        // λ is chosen anew each time: a sample or two may fall to the other side.
        let off = (right.count() as f64 / 40.0 - all.left_out).abs();
        assert!(off <= 0.051, "{off}");
        assert!(all.left_out > 0.7 && all.left_out < 1.0, "{}", all.left_out);
    }

    #[test]
    fn more_features_than_samples_are_no_trouble() {
        let (features, labels) = clouds(5);
        let ridge = Ridge::fit(features.view(), &labels, 2);
        assert!(ridge.weights.iter().all(|w| w.is_finite()));
    }
}
