//! A multi-layer perceptron, its loss and its gradient by hand.
//!
//! > a_0 = x,  a_l+1 = max(0, V_l a_l + b_l),  the last layer without max;  loss = −Σ_c t_c log softmax(a_L)_c

use crate::network::matrix::{matrix, matrix_mut, multiply};
use crate::{Error, Result};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

/// The most numbers a layer may have on either side, and the most weights of all layers.
const MOST: usize = 1 << 20;
const MOST_PARAMETERS: usize = 1 << 28;

/// Layers of weights, each `[outputs × inputs]` row after row with its biases behind it.
///
/// ```
/// use bispectral::classify::mlp::{Mlp, Workspace};
///
/// let mlp = Mlp::from_parameters(&[2, 1, 2], vec![1.0, -1.0, 0.5, 2.0, -2.0, 0.0, 0.0])?;
/// let mut workspace = Workspace::default();
/// // max(0, 3 − 1 + 0.5) = 2.5, then ±2 of it.
/// assert_eq!(workspace.outputs(&mlp, &[3.0, 1.0]), [5.0, -5.0]);
/// # Ok::<(), bispectral::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Mlp {
    sizes: Vec<usize>,
    parameters: Vec<f32>,
}

/// What a file holds of it, which may be anything.
#[derive(Deserialize)]
struct Stored {
    sizes: Vec<usize>,
    parameters: Vec<f32>,
}

impl TryFrom<Stored> for Mlp {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self> {
        Mlp::from_parameters(&stored.sizes, stored.parameters)
    }
}

/// One layer: `outputs` rows of `inputs` weights, and a bias for each.
#[derive(Debug, Clone, Copy)]
pub struct Layer<'a> {
    /// Row after row.
    pub weights: &'a [f32],
    /// One a row.
    pub biases: &'a [f32],
    /// Numbers that come in.
    pub inputs: usize,
}

impl Layer<'_> {
    /// Numbers that go out.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.biases.len()
    }
}

/// Weights and biases from `inputs` to `outputs`.
fn parameters_of(inputs: usize, outputs: usize) -> usize {
    (inputs + 1) * outputs
}

impl Mlp {
    /// Kaiming's start: weights of deviation √(2/inputs), so that ReLU keeps the variance; biases of zero.
    ///
    /// # Errors
    /// There are fewer than two sizes, one is zero or larger than memory should be asked for.
    pub fn random(sizes: &[usize], random: &mut impl Rng) -> Result<Self> {
        let mut mlp = Mlp::from_parameters(sizes, vec![0.0; length(sizes)?])?;
        let mut at = 0;
        for pair in sizes.windows(2) {
            let deviation = (2.0 / pair[0] as f64).sqrt();
            for weight in &mut mlp.parameters[at..][..pair[0] * pair[1]] {
                let normal: f64 = StandardNormal.sample(random);
                *weight = (normal * deviation) as f32;
            }
            at += parameters_of(pair[0], pair[1]);
        }
        Ok(mlp)
    }

    /// A perceptron whose parameters are known: layer after layer, weights and then biases.
    ///
    /// # Errors
    /// As [`random`](Self::random), or there are not as many parameters as the sizes call for.
    pub fn from_parameters(sizes: &[usize], parameters: Vec<f32>) -> Result<Self> {
        let needed = length(sizes)?;
        if parameters.len() != needed {
            return Err(Error::new(
                "the perceptron",
                format!(
                    "{} parameters where its layers have {needed}",
                    parameters.len()
                ),
                "give all weights and biases",
            ));
        }
        Ok(Mlp {
            sizes: sizes.to_vec(),
            parameters,
        })
    }

    /// Inputs, the hidden layers, classes.
    #[must_use]
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Numbers that go in.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.sizes[0]
    }

    /// How many classes there are.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.sizes[self.sizes.len() - 1]
    }

    /// All weights and biases.
    #[must_use]
    pub fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    /// All weights and biases, to be changed.
    pub fn parameters_mut(&mut self) -> &mut [f32] {
        &mut self.parameters
    }

    /// The layers, first to last.
    pub fn layers(&self) -> impl Iterator<Item = Layer<'_>> {
        let mut rest = &self.parameters[..];
        self.sizes.windows(2).map(move |pair| {
            let (layer, behind) = rest.split_at(parameters_of(pair[0], pair[1]));
            rest = behind;
            let (weights, biases) = layer.split_at(pair[0] * pair[1]);
            Layer {
                weights,
                biases,
                inputs: pair[0],
            }
        })
    }
}

/// How many parameters there are; no more than memory should be asked for.
fn length(sizes: &[usize]) -> Result<usize> {
    let is_size = |size: &usize| (1..=MOST).contains(size);
    let layers = sizes.windows(2).map(|pair| parameters_of(pair[0], pair[1]));
    if sizes.len() >= 2 && sizes.iter().all(is_size) {
        let needed = layers.fold(0, usize::saturating_add);
        if needed <= MOST_PARAMETERS {
            return Ok(needed);
        }
    }
    let shown = &sizes[..sizes.len().min(8)];
    Err(Error::new(
        "the perceptron",
        format!("{} layers of {shown:?} numbers", sizes.len()),
        format!("give two or more, each of 1 to {MOST}, with at most {MOST_PARAMETERS} weights"),
    ))
}

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
        &self.activations[mlp.sizes.len() - 1]
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
        let count = mlp.sizes.len();
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
        self.gradient.resize(mlp.parameters.len(), 0.0);
        let layers: Vec<Layer<'_>> = mlp.layers().collect();
        let mut end = mlp.parameters.len();
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
    use crate::data::random::{Purpose, stream};

    const SIZES: [usize; 4] = [3, 5, 4, 3];

    /// A perceptron and a batch of 6 with biases and activations away from zero, where ReLU has a corner.
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
            for (at, exact) in gradient.iter().enumerate() {
                const STEP: f32 = 1.0 / 256.0;
                let moved = |step: f32| {
                    let mut mlp = mlp.clone();
                    mlp.parameters_mut()[at] += step;
                    loss(&mlp, &samples, targets, dropout).0
                };
                let difference = (moved(STEP) - moved(-STEP)) / f64::from(2.0 * STEP);
                // f32 losses of about one over a step of 2⁻⁷, and the third derivative.
                let error = (difference - f64::from(*exact)).abs();
                assert!(error < 2e-4, "parameter {at}: {exact}, {difference}");
            }
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

    #[test]
    fn kaimings_start_keeps_the_variance() {
        let mlp = Mlp::random(&[400, 300, 1], &mut stream(5, Purpose::Classifier)).unwrap();
        let first = mlp.layers().next().unwrap();
        let square = first.weights.iter().map(|w| w * w).sum::<f32>() / first.weights.len() as f32;
        // 120,000 squares of deviation √2 · 2/400.
        assert!((square * 200.0 - 1.0).abs() < 0.02, "{square}");
        assert!(first.biases.iter().all(|&bias| bias == 0.0));
    }

    #[test]
    fn layers_that_cannot_be_are_refused() {
        for sizes in [
            &[3][..],
            &[],
            &[3, 0, 2],
            &[3, usize::MAX, 2],
            &[MOST, MOST],
        ] {
            assert!(
                Mlp::random(sizes, &mut stream(0, Purpose::Classifier)).is_err(),
                "{sizes:?}"
            );
        }
        let line = Mlp::from_parameters(&[2, 2], vec![0.0; 5])
            .unwrap_err()
            .to_string();
        assert!(
            line.contains("5 parameters where its layers have 6"),
            "{line}"
        );
    }
}
