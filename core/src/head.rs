//! A classifier behind the invariants: a multi-layer perceptron whose first layer is fed term by term.
//!
//! > a_1 = V_1 [Re β̄; Im β̄] + b_1,  a_l+1 = V_l+1 max(0, a_l) + b_l+1,  scores = a_L
//!
//! A projection of the invariants and the layer behind it are one linear map, and that of β̄ is that of β divided by
//! ‖β‖ at the end: so there is room for h_1 sums only, never for the invariants.
//!
//! **The order.** In the first layer a sum takes, for every pair in the order of the features, weight·Re β_ij and then
//! weight·Im β_ij; then it is multiplied by 1/‖β‖, then by the scale of its row (i8 only), and the bias is added.
//! In the others a sum takes its inputs in their order, then scale and bias. Nothing is fused.

use crate::error::Error;
use crate::format::{Head, LayerEncoding, MAX_DIMENSION, numbers, saturate};
use crate::model::Model;
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
    /// Numbers that enter the first: two a pair.
    features: usize,
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
    /// The perceptron of `head` behind `pairs` invariants, if it has one.
    ///
    /// # Errors
    /// [`Error::Malformed`] where sizes and bytes do not fit together, or a number is not finite.
    pub(crate) fn new(head: &Head<'a>, pairs: usize) -> Result<Option<Self>, Error> {
        let Head::Perceptron {
            encoding,
            sizes,
            layers,
        } = *head
        else {
            return Ok(None);
        };
        let perceptron = Perceptron {
            encoding,
            sizes,
            layers,
            features: 2 * pairs,
        };
        perceptron.check().ok_or(Error::Malformed)?;
        Ok(Some(perceptron))
    }

    fn check(&self) -> Option<()> {
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

    /// Adds a term of the bispectrum, the `at`-th of its features, to the sums of the first layer.
    #[inline(always)]
    fn add_term(&self, first: &Layer<'a>, at: usize, term: Complex32, sums: &mut [f32]) {
        let outputs = sums.len();
        for (part, value) in [(2 * at, term.re), (2 * at + 1, term.im)] {
            match self.encoding {
                LayerEncoding::F32 => {
                    let (weights, _) = first.weights.as_chunks::<F32>();
                    for (sum, weight) in sums.iter_mut().zip(column(weights, part, outputs)) {
                        *sum += f32::from_le_bytes(*weight) * value;
                    }
                }
                LayerEncoding::I8 => {
                    for (sum, weight) in sums.iter_mut().zip(column(first.weights, part, outputs)) {
                        *sum += f32::from(*weight as i8) * value;
                    }
                }
            }
        }
    }

    /// The layers behind the first, from its sums to the scores; `from` and `to` have room for the widest.
    fn rest(&self, mut rest: &'a [u8], from: &mut [f32], to: &mut [f32], scores: &mut [f32]) {
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

impl Model<'_> {
    /// Classes that [`scores`](Self::scores) tells apart; none where the model has no classifier.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.head.map_or(0, |head| head.classes())
    }

    /// Elements of scratch that [`scores`](Self::scores) and [`classify`](Self::classify) need.
    #[must_use]
    pub fn classifier_scratch_len(&self) -> usize {
        self.scratch_len() + self.head.map_or(0, |head| head.scratch_len())
    }

    /// The score of every class, to the front of `scores`; the largest is the class.
    ///
    /// The invariants are never held: they go into the first layer of the classifier as they come.
    ///
    /// # Errors
    /// [`Error::NoClassifier`]; a wrong length, or a signal that is zero or not finite; [`Error::ZeroBispectrum`] where no
    /// row of W responds to it. [`Error::Overflow`] where a score is larger than f32 holds: `scores` is zeros.
    ///
    /// ```
    /// use bispectral_core::{Model, format::{Head, LayerEncoding, Parts}};
    ///
    /// // One row and one input: β̄ = 1 for a positive sample and −1 for a negative one.
    /// let weights = [1.0_f32, 0.0].map(f32::to_le_bytes).concat();
    /// // Scores Re β̄ and −Re β̄: weights of the real part, of the imaginary part, biases.
    /// let layers = [1.0_f32, -1.0, 0.0, 0.0, 0.0, 0.0].map(f32::to_le_bytes).concat();
    /// let head = Head::Perceptron { encoding: LayerEncoding::F32, sizes: &[2, 0], layers: &layers };
    /// let parts = Parts { inputs: 1, rows: 1, weights: &weights, head, ..Parts::default() };
    /// let mut bytes = vec![0; parts.encoded_len()?];
    /// let model = Model::from_bytes(parts.write(&mut bytes)?)?;
    ///
    /// let (mut scratch, mut scores) = (vec![0.0; model.classifier_scratch_len()], [0.0; 2]);
    /// assert_eq!(model.classify(&[0.3], &mut scratch, &mut scores)?, 0);
    /// assert_eq!(model.classify(&[-7.0], &mut scratch, &mut scores)?, 1);
    /// assert_eq!(scores, [-1.0, 1.0]);
    /// # Ok::<(), bispectral_core::Error>(())
    /// ```
    pub fn scores(&self, x: &[f32], scratch: &mut [f32], scores: &mut [f32]) -> Result<(), Error> {
        let head = self.head.ok_or(Error::NoClassifier)?;
        let scores = crate::features::front(scores, head.classes())?;
        let (needed, found) = (self.classifier_scratch_len(), scratch.len());
        let short = Error::ScratchLength {
            needed: saturate(needed),
            found: saturate(found),
        };
        let (scratch, behind) = scratch
            .split_at_mut_checked(self.scratch_len())
            .ok_or(short)?;
        let widest = head.widest();
        let (sums, behind) = behind.split_at_mut_checked(widest).ok_or(short)?;
        let other = behind.get_mut(..widest).ok_or(short)?;

        let mut rest = head.layers;
        let outputs = numbers(head.sizes).next().map_or(0, usize::from);
        let first = head
            .split(&mut rest, head.features, outputs)
            .ok_or(Error::Malformed)?;
        sums.fill(0.0);
        let mut at = 0;
        let first_sums = sums.get_mut(..outputs).unwrap_or_default();
        let magnitude = self.stream(x, scratch, |_, _, term| {
            head.add_term(&first, at, term, first_sums);
            at += 1;
        })?;
        first.finish(first_sums, 1.0 / magnitude.norm());
        head.rest(rest, sums, other, scores);
        if scores.iter().all(|score| score.is_finite()) {
            return Ok(());
        }
        scores.fill(0.0);
        Err(Error::Overflow)
    }

    /// The class of a signal: the first of those with the largest [score](Self::scores).
    ///
    /// # Errors
    /// As [`scores`](Self::scores).
    pub fn classify(
        &self,
        x: &[f32],
        scratch: &mut [f32],
        scores: &mut [f32],
    ) -> Result<usize, Error> {
        self.scores(x, scratch, scores)?;
        let mut best = (0, f32::NEG_INFINITY);
        for (class, score) in scores.iter().take(self.classes()).enumerate() {
            if *score > best.1 {
                best = (class, *score);
            }
        }
        Ok(best.0)
    }
}
