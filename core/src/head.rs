//! A classifier behind the invariants: a multi-layer perceptron whose first layer is fed term by term.
//!
//! > a_1 = V_1 [Re β̄; Im β̄] + b_1 (or of the features of degree one),  a_l+1 = V_l+1 max(0, a_l) + b_l+1,  scores = a_L
//!
//! A projection of the invariants and the layer behind it are one linear map, and that of β̄ is that of β divided by
//! ‖β‖ at the end: so there is room for h_1 sums only, never for the invariants.
//!
//! **The order.** In the first layer a sum takes weight·feature in the order of the features, before they are normalised: for
//! every pair weight·Re β_ij and then weight·Im β_ij; then it is multiplied by 1/‖β‖ (of degree one 1/‖z‖), then by the scale
//! of its row (i8 only), and the bias is added.
//! In the others a sum takes its inputs in their order, then scale and bias. Nothing is fused.

use crate::error::Error;
use crate::format::{LayerEncoding, MAX_DIMENSION, StoredLayers, numbers};
use num_complex::Complex32;

/// Bytes of an f32: a weight, a scale or a bias.
const F32: usize = 4;

/// A checked perceptron.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Perceptron<'a> {
    encoding: LayerEncoding,
    /// m_l: numbers that leave each layer, little-endian.
    sizes: &'a [u8],
    layers: &'a [u8],
    /// Numbers that enter the first.
    features: usize,
    /// Of them in one invariant: two, or one where it is real.
    parts: usize,
}

/// One layer as it lies in flash.
#[derive(Clone, Copy)]
struct Layer<'a> {
    weights: &'a [u8],
    /// None where the weights are f32.
    scales: &'a [[u8; F32]],
    biases: &'a [[u8; F32]],
}

impl<'a> Perceptron<'a> {
    /// The perceptron of these layers behind so many features, of invariants of so many `parts`.
    pub(crate) fn new(layers: StoredLayers<'a>, features: usize, parts: usize) -> Self {
        let StoredLayers {
            encoding,
            sizes,
            layers,
        } = layers;
        Perceptron {
            encoding,
            sizes,
            layers,
            features,
            parts,
        }
    }

    /// That sizes and bytes fit together, and every number is finite.
    ///
    /// # Errors
    /// [`Error::Malformed`] where they do not.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.checked().ok_or(Error::Malformed)
    }

    fn checked(&self) -> Option<()> {
        let count = self.sizes.len() / 2;
        let counted = self.sizes.len().is_multiple_of(2) && (1..=255).contains(&count);
        let sized = numbers(self.sizes).all(|size| (1..=MAX_DIMENSION).contains(&size));
        let mut rest = self.layers;
        let mut inputs = self.features;
        for outputs in numbers(self.sizes) {
            let layer = self.split(&mut rest, inputs, outputs.into())?;
            let finite = |number: &[u8; F32]| f32::from_le_bytes(*number).is_finite();
            let whole = match self.encoding {
                LayerEncoding::F32 => layer.weights.as_chunks().0.iter().all(finite),
                LayerEncoding::I8 => layer.weights.iter().all(|&q| q != 0x80),
            };
            let mut others = layer.scales.iter().chain(layer.biases);
            if !(whole && others.all(finite)) {
                return None;
            }
            inputs = outputs.into();
        }
        (counted && sized && rest.is_empty()).then_some(())
    }

    /// Takes the next layer off `rest`.
    fn split(&self, rest: &mut &'a [u8], inputs: usize, outputs: usize) -> Option<Layer<'a>> {
        let (weight, scales) = match self.encoding {
            LayerEncoding::F32 => (F32, 0),
            LayerEncoding::I8 => (1, outputs),
        };
        let length = inputs.checked_mul(outputs)?.checked_mul(weight)?;
        let (weights, behind) = rest.split_at_checked(length)?;
        let (scales, behind) = behind.split_at_checked(F32 * scales)?;
        let (biases, behind) = behind.split_at_checked(F32 * outputs)?;
        *rest = behind;
        Some(Layer {
            weights,
            scales: scales.as_chunks().0,
            biases: biases.as_chunks().0,
        })
    }

    /// Scores there are.
    pub(crate) fn classes(&self) -> usize {
        numbers(self.sizes).next_back().map_or(0, usize::from)
    }

    /// Room for the numbers that enter and leave any layer behind the first.
    pub(crate) fn scratch_len(&self) -> usize {
        2 * self.widest()
    }

    fn widest(&self) -> usize {
        numbers(self.sizes).max().map_or(0, usize::from)
    }

    /// The first layer with its sums at the front of `scratch`, which has [`scratch_len`](Self::scratch_len) elements.
    #[inline(always)]
    pub(crate) fn first_layer<'s>(&'s self, scratch: &'s mut [f32]) -> Option<FirstLayer<'a, 's>> {
        let (sums, other) = scratch.split_at_mut_checked(self.widest())?;
        let outputs = numbers(self.sizes).next().map_or(0, usize::from);
        let mut rest = self.layers;
        let layer = self.split(&mut rest, self.features, outputs)?;
        sums.fill(0.0);
        Some(FirstLayer {
            perceptron: self,
            layer,
            rest,
            outputs,
            sums,
            other,
            at: 0,
        })
    }

    /// The layers behind the first, from its sums to the scores; `from` and `to` have room for the widest.
    fn other_layers(
        &self,
        mut rest: &'a [u8],
        from: &mut [f32],
        to: &mut [f32],
        scores: &mut [f32],
    ) {
        let (mut from, mut to) = (from, to);
        let mut inputs = numbers(self.sizes).next().map_or(0, usize::from);
        for outputs in numbers(self.sizes).skip(1).map(usize::from) {
            let Some(layer) = self.split(&mut rest, inputs, outputs) else {
                return;
            };
            let values = from.get_mut(..inputs).unwrap_or_default();
            for value in values.iter_mut() {
                *value = value.max(0.0);
            }
            for (row, to) in to.iter_mut().take(outputs).enumerate() {
                *to = self.sum(&layer, row, values);
            }
            layer.finish(to, 1.0);
            (from, to) = (to, from);
            inputs = outputs;
        }
        for (score, value) in scores.iter_mut().zip(from) {
            *score = *value;
        }
    }

    /// Row `row` of a layer's weights times what enters it.
    fn sum(&self, layer: &Layer<'a>, row: usize, values: &[f32]) -> f32 {
        let mut sum = 0.0;
        match self.encoding {
            LayerEncoding::F32 => {
                let (weights, _) = layer.weights.as_chunks::<F32>();
                for (value, weight) in values.iter().zip(column(weights, row, values.len())) {
                    sum += f32::from_le_bytes(*weight) * value;
                }
            }
            LayerEncoding::I8 => {
                for (value, weight) in values.iter().zip(column(layer.weights, row, values.len())) {
                    sum += f32::from(*weight as i8) * value;
                }
            }
        }
        sum
    }
}

/// The first layer while the terms of the bispectrum come.
pub(crate) struct FirstLayer<'a, 's> {
    perceptron: &'s Perceptron<'a>,
    layer: Layer<'a>,
    /// The layers behind it.
    rest: &'a [u8],
    /// m_1.
    outputs: usize,
    /// m_1 sums, and room for the widest layer.
    sums: &'s mut [f32],
    /// Room for the widest layer.
    other: &'s mut [f32],
    /// Numbers so far.
    at: usize,
}

impl FirstLayer<'_, '_> {
    /// Adds the parts of the next term, not yet normalised, to the sums.
    #[inline(always)]
    pub(crate) fn add(&mut self, term: Complex32) {
        self.add_number(term.re);
        if self.perceptron.parts > 1 {
            self.add_number(term.im);
        }
    }

    /// Adds the next feature, not yet normalised, to the sums.
    #[inline(never)]
    pub(crate) fn add_number(&mut self, value: f32) {
        let sums = self.sums.get_mut(..self.outputs).unwrap_or_default();
        let weights = self.layer.weights;
        match self.perceptron.encoding {
            LayerEncoding::F32 => {
                let (weights, _) = weights.as_chunks::<F32>();
                let column = column(weights, self.at, self.outputs);
                for (sum, weight) in sums.iter_mut().zip(column) {
                    *sum += f32::from_le_bytes(*weight) * value;
                }
            }
            LayerEncoding::I8 => {
                let column = column(weights, self.at, self.outputs);
                for (sum, weight) in sums.iter_mut().zip(column) {
                    *sum += f32::from(*weight as i8) * value;
                }
            }
        }
        self.at += 1;
    }

    /// The scores, once all features were added and what normalises them is known.
    pub(crate) fn scores(&mut self, factor: f32, scores: &mut [f32]) {
        let sums = self.sums.get_mut(..self.outputs).unwrap_or_default();
        self.layer.finish(sums, factor);
        (self.perceptron).other_layers(self.rest, self.sums, self.other, scores);
    }
}

impl Layer<'_> {
    /// The sums times `factor`, the scales of their rows, and with the biases.
    fn finish(&self, sums: &mut [f32], factor: f32) {
        let scales = self.scales.iter().map(|scale| f32::from_le_bytes(*scale));
        for ((sum, bias), scale) in sums
            .iter_mut()
            .zip(self.biases)
            .zip(scales.chain(core::iter::repeat(1.0)))
        {
            *sum = *sum * factor * scale + f32::from_le_bytes(*bias);
        }
    }
}

/// The `at`-th of runs of `len`.
#[inline(always)]
fn column<T>(all: &[T], at: usize, len: usize) -> &[T] {
    let from = at.saturating_mul(len);
    all.get(from..)
        .and_then(|rest| rest.get(..len))
        .unwrap_or_default()
}
