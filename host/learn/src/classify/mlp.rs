//! A multi-layer perceptron.
//!
//! > a_0 = x,  a_l+1 = max(0, V_l a_l + b_l),  the last layer without max

use crate::{Error, Result};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

/// The most numbers a layer may have on either side, and the most weights of all layers.
const MOST: usize = 1 << 20;
const MOST_PARAMETERS: usize = 1 << 28;

/// Layers of weights, each `[outputs × inputs]` row after row with its biases behind it.
///
/// ```
/// use bispectral_learn::classify::gradient::Workspace;
/// use bispectral_learn::classify::mlp::Mlp;
///
/// let mlp = Mlp::from_parameters(&[2, 1, 2], vec![1.0, -1.0, 0.5, 2.0, -2.0, 0.0, 0.0])?;
/// let mut workspace = Workspace::default();
/// // max(0, 3 − 1 + 0.5) = 2.5, then ±2 of it.
/// assert_eq!(workspace.outputs(&mlp, &[3.0, 1.0]), [5.0, -5.0]);
/// # Ok::<(), bispectral_learn::Error>(())
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
pub(super) fn parameters_of(inputs: usize, outputs: usize) -> usize {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::random::{Purpose, stream};

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
