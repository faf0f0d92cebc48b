//! The loss of a perceptron and its gradient by hand.
//!
//! > loss = −Σ_c t_c log softmax(a_L)_c,  ∂loss/∂a_L = softmax(a_L) − t,  and back through each layer

use super::mlp::{Layer, Mlp, parameters_of};
use crate::numeric::matrix::{matrix, matrix_mut, multiply};
use rand::{Rng, RngExt};

/// What every step computes in.
#[derive(Debug, Default)]
pub struct Workspace {
    /// a_0 … a_L, a batch each.
    activations: Vec<Vec<f32>>,
    /// Which hidden numbers are kept in a step, and by what they grow for those that are not.
    masks: Vec<Vec<f32>>,
    gradient: Vec<f32>,
    delta: Vec<f32>,
    below: Vec<f32>,
}

/// What a batch is trained towards.
#[derive(Debug, Clone, Copy)]
pub struct Targets<'a> {
    /// The class of every sample.
    pub classes: &'a [u8],
    /// The share of the target that is spread evenly over all classes.
    pub smoothing: f32,
}

impl Workspace {
    /// a_L of every sample, one behind the other.
    pub fn outputs(&mut self, mlp: &Mlp, samples: &[f32]) -> &[f32] {
        self.forward(mlp, samples, &mut |_| {});
        &self.activations[mlp.sizes().len() - 1]
    }

    /// The mean loss of a batch; [`gradient`](Self::gradient) is then its gradient. Hidden numbers are dropped with the
    /// probability `dropout`, and the others enlarged to make up for it.
    pub fn loss_and_gradient(
        &mut self,
        mlp: &Mlp,
        samples: &[f32],
        targets: Targets<'_>,
        dropout: f32,
        random: &mut impl Rng,
    ) -> f64 {
        self.forward(mlp, samples, &mut |mask| {
            let kept = 1.0 / (1.0 - dropout);
            mask.fill_with(|| {
                if dropout > 0.0 && random.random::<f32>() < dropout {
                    0.0
                } else {
                    kept
                }
            });
        });
        let loss = self.softmax(mlp.classes(), targets);
        self.backward(mlp);
        loss
    }

    /// In the order of the parameters.
    #[must_use]
    pub fn gradient(&self) -> &[f32] {
        &self.gradient
    }

    /// `drop` may change the mask of every hidden layer, by which its numbers are multiplied.
    fn forward(&mut self, mlp: &Mlp, samples: &[f32], drop: &mut dyn FnMut(&mut [f32])) {
        let batch = samples.len() / mlp.inputs();
        let count = mlp.sizes().len();
        self.activations.resize_with(count, Vec::new);
        self.masks.resize_with(count, Vec::new);
        self.activations[0].clear();
        self.activations[0].extend_from_slice(samples);
        for (l, layer) in mlp.layers().enumerate() {
            let outputs = layer.outputs();
            let (before, after) = self.activations.split_at_mut(l + 1);
            let (from, to) = (&before[l], &mut after[0]);
            to.resize(batch * outputs, 0.0);
            multiply(
                matrix_mut(to, batch, outputs, outputs),
                matrix(from, batch, layer.inputs, layer.inputs),
                matrix(layer.weights, outputs, layer.inputs, layer.inputs).transpose(),
                1.0,
            );
            let hidden = l + 2 < count;
            let mask = &mut self.masks[l + 1];
            mask.resize(if hidden { batch * outputs } else { 0 }, 0.0);
            mask.fill(1.0);
            drop(mask);
            for (row, mask) in to.chunks_exact_mut(outputs).zip(
                mask.chunks_exact(outputs)
                    .map(Some)
                    .chain(std::iter::repeat(None)),
            ) {
                for (value, bias) in row.iter_mut().zip(layer.biases) {
                    *value += bias;
                }
                if let Some(mask) = mask {
                    for (value, mask) in row.iter_mut().zip(mask) {
                        *value = value.max(0.0) * mask;
                    }
                }
            }
        }
    }

    /// The mean loss, and ∂loss/∂a_L in `delta`.
    fn softmax(&mut self, classes: usize, targets: Targets<'_>) -> f64 {
        let outputs = self.activations.last().map_or(&[][..], |outputs| outputs);
        let share = 1.0 / targets.classes.len().max(1) as f32;
        let spread = targets.smoothing / classes as f32;
        self.delta.clear();
        let mut loss = 0.0;
        for (row, &class) in outputs.chunks_exact(classes).zip(targets.classes) {
            let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let sum: f32 = row.iter().map(|a| libm::expf(a - largest)).sum();
            let log_sum = largest + libm::logf(sum);
            for (c, a) in row.iter().enumerate() {
                let sure = if c == usize::from(class) {
                    1.0 - targets.smoothing
                } else {
                    0.0
                };
                let target = sure + spread;
                loss += f64::from(target * (log_sum - a));
                self.delta.push(share * (libm::expf(a - log_sum) - target));
            }
        }
        loss * f64::from(share)
    }

    fn backward(&mut self, mlp: &Mlp) {
        self.gradient.resize(mlp.parameters().len(), 0.0);
        let layers: Vec<Layer<'_>> = mlp.layers().collect();
        let mut end = mlp.parameters().len();
        for (l, layer) in layers.iter().enumerate().rev() {
            let (inputs, outputs) = (layer.inputs, layer.outputs());
            let batch = self.delta.len() / outputs;
            let begin = end - parameters_of(inputs, outputs);
            let (weights, biases) = self.gradient[begin..end].split_at_mut(inputs * outputs);
            end = begin;
            let delta = matrix(&self.delta, batch, outputs, outputs);
            let from = matrix(&self.activations[l], batch, inputs, inputs);
            multiply(
                matrix_mut(weights, outputs, inputs, inputs),
                delta.transpose(),
                from,
                1.0,
            );
            biases.fill(0.0);
            for row in self.delta.chunks_exact(outputs) {
                biases
                    .iter_mut()
                    .zip(row)
                    .for_each(|(bias, delta)| *bias += delta);
            }
            if l == 0 {
                break;
            }
            self.below.resize(batch * inputs, 0.0);
            let weights = matrix(layer.weights, outputs, inputs, inputs);
            multiply(
                matrix_mut(&mut self.below, batch, inputs, inputs),
                delta,
                weights,
                1.0,
            );
            let through = self.activations[l].iter().zip(&self.masks[l]);
            for (below, (a, mask)) in self.below.iter_mut().zip(through) {
                *below = if *a > 0.0 { *below * mask } else { 0.0 };
            }
            std::mem::swap(&mut self.below, &mut self.delta);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::random::{Purpose, stream};

    const SIZES: [usize; 4] = [3, 5, 4, 3];

    /// A perceptron and a batch of 6.
    fn example() -> (Mlp, Vec<f32>, Vec<u8>) {
        let mut random = stream(1, Purpose::Classifier);
        let mut mlp = Mlp::random(&SIZES, &mut random).unwrap();
        for parameter in mlp.parameters_mut() {
            *parameter += 0.1 * random.random::<f32>();
        }
        let samples = (0..18)
            .map(|_| 2.0 * random.random::<f32>() - 1.0)
            .collect();
        (mlp, samples, vec![0, 1, 2, 2, 1, 0])
    }

    fn loss(mlp: &Mlp, samples: &[f32], targets: Targets<'_>, dropout: f32) -> (f64, Vec<f32>) {
        let mut workspace = Workspace::default();
        let mut random = stream(2, Purpose::Classifier);
        let loss = workspace.loss_and_gradient(mlp, samples, targets, dropout, &mut random);
        (loss, workspace.gradient().to_vec())
    }

    #[test]
    fn the_gradient_is_that_of_differences() {
        let (mlp, samples, classes) = example();
        for (smoothing, dropout) in [(0.0, 0.0), (0.2, 0.0), (0.1, 0.3)] {
            let targets = Targets {
                classes: &classes,
                smoothing,
            };
            let (_, gradient) = loss(&mlp, &samples, targets, dropout);
            assert!(
                gradient.iter().any(|&g| g.abs() > 0.05),
                "there is something to compare"
            );
            let mut corners = 0;
            for (at, exact) in gradient.iter().enumerate() {
                const STEP: f32 = 1.0 / 256.0;
                let difference = |step: f32| {
                    let moved = |step: f32| {
                        let mut mlp = mlp.clone();
                        mlp.parameters_mut()[at] += step;
                        loss(&mlp, &samples, targets, dropout).0
                    };
                    (moved(step) - moved(-step)) / f64::from(2.0 * step)
                };
                let [wide, narrow] = [STEP, STEP / 2.0].map(difference);
                // A step across a corner of ReLU has no derivative, and another half-way.
                if (wide - narrow).abs() > 2e-4 {
                    corners += 1;
                    continue;
                }
                // f32 losses of about one over a step of 2⁻⁷, and the third derivative.
                let error = (wide - f64::from(*exact)).abs();
                assert!(error < 2e-4, "parameter {at}: {exact}, {wide}");
            }
            assert!(corners < gradient.len() / 10, "{corners} corners");
        }
    }

    #[test]
    fn what_is_dropped_is_made_up_for_by_the_others() {
        let mlp = Mlp::from_parameters(&[1, 1, 1], vec![1.0, 0.0, 1.0, 0.0]).unwrap();
        let mut workspace = Workspace::default();
        let mut random = stream(0, Purpose::Classifier);
        let samples = vec![1.0; 20_000];
        let classes = vec![0; 20_000];
        let targets = Targets {
            classes: &classes,
            smoothing: 0.0,
        };
        workspace.loss_and_gradient(&mlp, &samples, targets, 0.25, &mut random);
        let hidden = &workspace.activations[1];
        let dropped = hidden.iter().filter(|&&a| a == 0.0).count() as f32 / 20_000.0;
        assert!(hidden.iter().all(|&a| a == 0.0 || a == 1.0 / 0.75));
        // Three deviations of a mean of 20,000.
        assert!((dropped - 0.25).abs() < 0.01, "{dropped}");
        assert!(
            workspace.outputs(&mlp, &samples).iter().all(|&a| a == 1.0),
            "none where it classifies"
        );
    }
}
