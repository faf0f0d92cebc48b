//! A classifier as a device has it: principal components, scaling and the perceptron's first layer are one linear map of
//! the invariants, so there is one layer of 2P inputs and nothing else before it. It goes into the model's file, behind
//! the invariants, and [`Model::classify`] computes with it, on a device as on a host.

use super::mlp::Mlp;
use super::pca::Projection;
use super::products::{combine, swap};
use super::scaling::Scaling;
use crate::limits::interruption;
use crate::model::file;
use crate::{Error, Result};
use bispectral_core::Model;
use bispectral_core::format::{self, Head, Layers, Parts};
use ndarray::ArrayView2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The largest whole number of a weight.
const LARGEST: f32 = 127.0;

/// What a weight is on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// Four bytes.
    F32,
    /// One byte, and a scale for each output of a layer.
    I8,
}

/// A perceptron of invariants: β̄ goes in as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Folded {
    layers: Vec<Layer>,
}

#[derive(Debug, Clone, PartialEq)]
struct Layer {
    /// One output after the other.
    weights: Vec<f32>,
    biases: Vec<f32>,
}

impl Folded {
    /// The perceptron `mlp` behind components and scaling.
    ///
    /// # Panics
    /// They do not belong together.
    #[must_use]
    pub fn new(projection: &Projection, scaling: &Scaling, mlp: &Mlp) -> Self {
        let components = projection.components();
        assert_eq!(mlp.inputs(), 2 * components, "components");
        let mut layers: Vec<Layer> = mlp
            .layers()
            .map(|layer| Layer {
                weights: layer.weights.to_vec(),
                biases: layer.biases.to_vec(),
            })
            .collect();
        let first = &mut layers[0];
        // u = ((p − o) − m) s, so that A u + b = (s A) p + b − s A (o + m).
        for (row, bias) in first
            .weights
            .chunks_exact_mut(2 * components)
            .zip(&mut first.biases)
        {
            row.iter_mut().for_each(|weight| *weight *= scaling.factor);
            let away = projection.offset().iter().zip(&scaling.mean);
            let away = row
                .iter()
                .zip(away)
                .map(|(w, (o, m))| f64::from(*w) * f64::from(o + m));
            *bias -= away.sum::<f64>() as f32;
        }
        // (A_re + i A_im) V: its real parts belong to Re f, its imaginary parts to Im f.
        let half = |imaginary: usize| -> Vec<f32> {
            let rows = first.weights.chunks_exact(2 * components);
            rows.flat_map(|row| row[imaginary * components..][..components].to_vec())
                .collect()
        };
        let (rows, width) = projection.rows();
        first.weights = combine([&half(0), &half(1)], [rows, &swap(rows, width)], width);
        Folded { layers }
    }

    /// The perceptron `mlp` behind real invariants of which each was less its mean and divided by its deviation.
    ///
    /// # Panics
    /// They do not belong together.
    #[must_use]
    pub fn standardised(means: &[f32], deviations: &[f32], mlp: &Mlp) -> Self {
        assert_eq!((mlp.inputs(), means.len()), (means.len(), deviations.len()));
        let mut layers: Vec<Layer> = (mlp.layers())
            .map(|layer| Layer {
                weights: layer.weights.to_vec(),
                biases: layer.biases.to_vec(),
            })
            .collect();
        let (first, count) = (&mut layers[0], means.len());
        let mut weights = Vec::with_capacity(2 * first.weights.len());
        for (row, bias) in first.weights.chunks_exact(count).zip(&mut first.biases) {
            let divided = row
                .iter()
                .zip(deviations)
                .map(|(w, deviation)| w / deviation);
            let divided: Vec<f32> = divided.collect();
            let terms = divided.iter().zip(means);
            *bias -= terms
                .map(|(w, mean)| f64::from(*w) * f64::from(*mean))
                .sum::<f64>() as f32;
            weights.extend(divided);
            // There are no imaginary parts.
            weights.extend(std::iter::repeat_n(0.0, count));
        }
        first.weights = weights;
        Folded { layers }
    }

    /// The bytes of `model` with this perceptron behind its invariants; where these are real, the weights of imaginary
    /// parts are left out.
    ///
    /// # Errors
    /// It was made for another number of invariants, or a weight is not finite.
    pub fn behind(&self, model: &Model<'_>, encoding: Encoding) -> Result<Vec<u8>> {
        let with = |layers: Layers<'_>| {
            file::encode(&Parts {
                head: Head::Perceptron(layers),
                ..model.parts()
            })
        };
        let parts = if model.feature_count() == model.pairs() {
            1
        } else {
            2
        };
        let numbered = self.layers.iter().enumerate();
        let bytes = match encoding {
            Encoding::F32 => {
                let weights: Vec<Vec<f32>> = numbered
                    .map(|(at, layer)| {
                        layer.ordered((at == 0).then_some(parts), |_, weight| weight)
                    })
                    .collect();
                let layers: Vec<format::Layer<'_>> = (self.layers.iter().zip(&weights))
                    .map(|(Layer { biases, .. }, weights)| format::Layer { weights, biases })
                    .collect();
                with(Layers::F32(&layers))
            }
            Encoding::I8 => {
                let scaled: Vec<(Vec<i8>, Vec<f32>)> = numbered
                    .map(|(at, layer)| {
                        let scales = layer.scales();
                        // Rounded to the nearest; −127 … 127, so the cast is exact.
                        let q =
                            |output: usize, weight: f32| (weight / scales[output]).round() as i8;
                        (layer.ordered((at == 0).then_some(parts), q), scales)
                    })
                    .collect();
                let layers: Vec<format::ScaledLayer<'_>> = (self.layers.iter().zip(&scaled))
                    .map(
                        |(Layer { biases, .. }, (weights, scales))| format::ScaledLayer {
                            weights,
                            scales,
                            biases,
                        },
                    )
                    .collect();
                with(Layers::I8(&layers))
            }
        };
        bytes.map_err(|error| Error::new("the classifier", error.to_string(), "train it again"))
    }
}

impl Layer {
    /// For each output the step of which its weights are whole numbers.
    fn scales(&self) -> Vec<f32> {
        let inputs = self.weights.len() / self.biases.len();
        let largest = |row: &[f32]| {
            row.iter()
                .fold(0.0_f32, |most, weight| most.max(weight.abs()))
        };
        let scale = |row: &[f32]| match largest(row) {
            0.0 => 1.0,
            most => most / LARGEST,
        };
        self.weights.chunks_exact(inputs).map(scale).collect()
    }

    /// The weights in the order of a model, each as `value` makes it of its output and itself; in the first layer those of
    /// so many parts of each term.
    fn ordered<T>(&self, first: Option<usize>, value: impl Fn(usize, f32) -> T) -> Vec<T> {
        let outputs = self.biases.len();
        let inputs = self.weights.len() / outputs;
        let weight = |output: usize, input: usize| {
            let weight = self.weights[output * inputs + input];
            value(output, weight)
        };
        let Some(parts) = first else {
            let rows =
                (0..outputs).flat_map(|output| (0..inputs).map(move |input| (output, input)));
            return rows.map(|(output, input)| weight(output, input)).collect();
        };
        // Term after term: all outputs of its real part, and of its imaginary part.
        let terms =
            (0..inputs / 2).flat_map(|term| [term, inputs / 2 + term].into_iter().take(parts));
        let columns = terms.flat_map(|input| (0..outputs).map(move |output| (output, input)));
        columns
            .map(|(output, input)| weight(output, input))
            .collect()
    }
}

/// The class of every sample, by the code that runs on the device.
///
/// # Errors
/// A sample without invariants, or a model without a classifier.
pub fn classify(model: &Model<'_>, samples: ArrayView2<'_, f32>) -> Result<Vec<u8>> {
    let rows: Vec<_> = samples.rows().into_iter().collect();
    let classes: Vec<std::result::Result<usize, bispectral_core::Error>> = rows
        .into_par_iter()
        .map_init(
            || {
                let scratch = vec![0.0; model.classifier_scratch_len()];
                (scratch, vec![0.0; model.classes()])
            },
            |(scratch, scores), row| {
                interruption::check();
                model.classify(&row.to_vec(), scratch, scores)
            },
        )
        .collect();
    let class = |(at, class): (usize, std::result::Result<usize, bispectral_core::Error>)| {
        class.map(|class| class as u8).map_err(|error| {
            Error::new(
                format!("sample {at}"),
                error.to_string(),
                "leave the sample out",
            )
        })
    };
    classes.into_iter().enumerate().map(class).collect()
}
