//! Inputs of a perceptron without mean, and with a mean square of one.
//!
//! One factor for all of them: what varies little stays small, which is how principal components tell signal from noise.

use ndarray::{Array2, Axis};
use serde::{Deserialize, Serialize};

/// x ← (x − mean) · factor
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// One an input.
    pub mean: Vec<f32>,
    /// One for all.
    pub factor: f32,
}

impl Scaling {
    /// That of `inputs`, a row a sample.
    #[must_use]
    pub fn of(inputs: &Array2<f32>) -> Self {
        let count = inputs.nrows().max(1) as f64;
        let mean: Vec<f32> = inputs
            .axis_iter(Axis(1))
            .map(|column| (column.iter().map(|&x| f64::from(x)).sum::<f64>() / count) as f32)
            .collect();
        let squares = inputs.rows().into_iter().map(|row| {
            let square = |(&x, mean): (&f32, &f32)| f64::from(x - mean).powi(2);
            row.iter().zip(&mean).map(square).sum::<f64>()
        });
        let square: f64 = squares.sum();
        let factor = if square > 0.0 {
            (inputs.len() as f64 / square).sqrt() as f32
        } else {
            1.0
        };
        Scaling { mean, factor }
    }

    /// Applies it to `inputs`, which have as many columns.
    pub fn apply(&self, inputs: &mut Array2<f32>) {
        for mut row in inputs.rows_mut() {
            let pairs = row.iter_mut().zip(&self.mean);
            pairs.for_each(|(x, mean)| *x = (*x - mean) * self.factor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn inputs_have_no_mean_and_a_mean_square_of_one() {
        let mut inputs = array![[1.0, 10.0], [3.0, 30.0], [5.0, 20.0]];
        Scaling::of(&inputs).apply(&mut inputs);
        let square: f32 = inputs.iter().map(|x| x * x).sum::<f32>() / 6.0;
        assert!((square - 1.0).abs() < 1e-6, "{square}");
        for column in inputs.axis_iter(Axis(1)) {
            assert!(column.sum().abs() < 1e-6);
        }
        // What varied five times less still does.
        assert!(inputs[(2, 0)] < inputs[(1, 1)] / 4.0);
    }

    #[test]
    fn what_does_not_vary_is_zero() {
        let mut inputs = array![[2.0], [2.0]];
        Scaling::of(&inputs).apply(&mut inputs);
        assert_eq!(inputs, array![[0.0], [0.0]]);
    }
}
