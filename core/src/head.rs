//! A perceptron behind the invariants: from a signal to a class, one term at a time.
//!
//! > a_1 = max(0, Σ_ij (U_ij Re β̄_ij + V_ij Im β̄_ij) + b_1),  a_l+1 = max(0, A_l a_l + b_l),  the last layer without max
//!
//! Principal components before a perceptron are a linear map, and one with its first layer: there is nothing to project
//! on a device. The first layer lies column after column, so each term adds its two columns to h_1 sums as it comes, and
//! ‖β‖₂ divides them in the end: no term is ever stored.
//!
//! The bytes, little-endian: u8 encoding (0: f32, 1: i8), u8 number of layers L, L × u16 sizes h_1 … h_L. Then each
//! layer: with i8, a f32 scale for each of its outputs; a f32 bias for each; the weights. Those of the first layer are, for
//! each term, h_1 for the real part and h_1 for the imaginary part; those of the others are one output after the other.

use crate::error::{Error, Part};
use crate::format::saturate;
use crate::model::Model;
use num_complex::Complex32;

/// The most layers: any perceptron that fits a device has fewer.
const MOST_LAYERS: usize = 16;

/// A checked view of a perceptron's bytes.
#[derive(Debug, Clone, Copy)]
pub struct Head<'a> {
    sizes: &'a [[u8; 2]],
    layers: &'a [u8],
    terms: usize,
    is_integer: bool,
}

/// One layer, as it lies in the bytes.
#[derive(Clone, Copy)]
struct Layer<'a> {
    scales: &'a [[u8; 4]],
    biases: &'a [[u8; 4]],
    weights: &'a [u8],
    outputs: usize,
}

impl<'a> Head<'a> {
    /// A perceptron for features of `terms` complex terms.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for another encoding, [`Error::Malformed`] where the lengths do not fit the sizes, there
    /// is no layer or an empty one, or a scale or bias is not finite.
    pub fn from_bytes(bytes: &'a [u8], terms: usize) -> Result<Self, Error> {
        let [encoding, count, rest @ ..] = bytes else {
            return Err(Error::Malformed);
        };
        if *encoding > 1 {
            return Err(Error::Unsupported {
                part: Part::Head,
                kind: *encoding,
            });
        }
        let count = usize::from(*count);
        let (sizes, layers) = rest.split_at_checked(2 * count).ok_or(Error::Malformed)?;
        let head = Head {
            sizes: sizes.as_chunks().0,
            layers,
            terms,
            is_integer: *encoding == 1,
        };
        let fits =
            (1..=MOST_LAYERS).contains(&count) && terms > 0 && head.sizes().all(|size| size > 0);
        if !fits || !head.has_right_length() {
            return Err(Error::Malformed);
        }
        let finite = |number: &[u8; 4]| f32::from_le_bytes(*number).is_finite();
        let is_finite = |layer: Layer<'_>| {
            let weights = if head.is_integer {
                &[][..]
            } else {
                layer.weights.as_chunks().0
            };
            let numbers = layer.scales.iter().chain(layer.biases).chain(weights);
            numbers.into_iter().all(finite)
        };
        if head.layers().all(is_finite) {
            Ok(head)
        } else {
            Err(Error::Malformed)
        }
    }

    /// How many classes it tells apart.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.sizes().last().unwrap_or(0)
    }

    /// Elements of scratch for one signal, beside the model's: two layers' numbers.
    #[must_use]
    pub fn scratch_len(&self) -> usize {
        2 * self.sizes().max().unwrap_or(0)
    }

    /// The class of a signal; `outputs` then begins with a number for each class, the largest for the one returned.
    ///
    /// The first [`Model::scratch_len`] elements of `scratch` are the model's, the next
    /// [`scratch_len`](Self::scratch_len) the perceptron's.
    ///
    /// # Errors
    /// Those of [`Model::stream`]; a wrong length; [`Error::Malformed`] where it was made for another number of terms.
    pub fn classify(
        &self,
        model: &Model<'_>,
        x: &[f32],
        scratch: &mut [f32],
        outputs: &mut [f32],
    ) -> Result<usize, Error> {
        let (needed, found) = (model.scratch_len() + self.scratch_len(), scratch.len());
        let room = Error::ScratchLength {
            needed: saturate(needed),
            found: saturate(found),
        };
        let (for_model, rest) = scratch
            .split_at_mut_checked(model.scratch_len())
            .ok_or(room)?;
        let half = self.scratch_len() / 2;
        let (mut from, rest) = rest.split_at_mut_checked(half).ok_or(room)?;
        let mut to = rest.get_mut(..half).ok_or(room)?;
        let (classes, found) = (self.classes(), outputs.len());
        let outputs = outputs.get_mut(..classes).ok_or(Error::OutputLength {
            needed: saturate(classes),
            found: saturate(found),
        })?;
        let mut layers = self.layers();
        let Some(first) = layers.next().filter(|_| model.pairs() == self.terms) else {
            return Err(Error::Malformed);
        };
        self.first(first, model, x, for_model, from)?;
        let mut inputs = first.outputs;
        for layer in layers {
            from.iter_mut().for_each(|a| *a = a.max(0.0));
            self.next(layer, from.get(..inputs).unwrap_or_default(), to);
            core::mem::swap(&mut from, &mut to);
            inputs = layer.outputs;
        }
        let mut best = (0, f32::NEG_INFINITY);
        for (class, (output, a)) in outputs.iter_mut().zip(from.iter()).enumerate() {
            *output = *a;
            if *a > best.1 {
                best = (class, *a);
            }
        }
        Ok(best.0)
    }

    /// The sums of the first layer, term by term, and then its biases.
    fn first(
        &self,
        layer: Layer<'_>,
        model: &Model<'_>,
        x: &[f32],
        scratch: &mut [f32],
        sums: &mut [f32],
    ) -> Result<(), Error> {
        let sums = sums.get_mut(..layer.outputs).unwrap_or_default();
        sums.fill(0.0);
        let magnitude = if self.is_integer {
            let mut columns = layer.weights.chunks_exact(2 * layer.outputs);
            model.stream(x, scratch, |_, _, term| {
                add(sums, columns.next().unwrap_or_default(), term, |&weight| {
                    f32::from(weight as i8)
                });
            })?
        } else {
            let (weights, _) = layer.weights.as_chunks::<4>();
            let mut columns = weights.chunks_exact(2 * layer.outputs);
            model.stream(x, scratch, |_, _, term| {
                add(sums, columns.next().unwrap_or_default(), term, |&weight| {
                    f32::from_le_bytes(weight)
                });
            })?
        };
        let factor = 1.0 / magnitude.norm();
        for (at, (sum, bias)) in sums.iter_mut().zip(layer.biases).enumerate() {
            *sum = *sum * factor * layer.scale(at) + f32::from_le_bytes(*bias);
        }
        Ok(())
    }

    /// Another layer.
    fn next(&self, layer: Layer<'_>, from: &[f32], to: &mut [f32]) {
        let (weights, _) = layer.weights.as_chunks::<4>();
        for (at, (to, bias)) in to.iter_mut().zip(layer.biases).enumerate() {
            let begin = at * from.len();
            let row = begin..begin + from.len();
            let sum = if self.is_integer {
                let row = layer.weights.get(row).unwrap_or_default();
                row.iter()
                    .zip(from)
                    .fold(0.0, |sum, (&w, a)| sum + f32::from(w as i8) * a)
            } else {
                let row = weights.get(row).unwrap_or_default();
                row.iter()
                    .zip(from)
                    .fold(0.0, |sum, (&w, a)| sum + f32::from_le_bytes(w) * a)
            };
            *to = sum * layer.scale(at) + f32::from_le_bytes(*bias);
        }
    }

    fn sizes(&self) -> impl Iterator<Item = usize> + use<'a> {
        self.sizes
            .iter()
            .map(|size| u16::from_le_bytes(*size).into())
    }

    /// Bytes of a layer: scales and biases, and weights.
    fn lengths(&self, inputs: usize, outputs: usize) -> Option<(usize, usize)> {
        let width = if self.is_integer { 1 } else { 4 };
        let weights = inputs.checked_mul(outputs)?.checked_mul(width)?;
        Some((
            if self.is_integer {
                8 * outputs
            } else {
                4 * outputs
            },
            weights,
        ))
    }

    fn has_right_length(&self) -> bool {
        let mut inputs = self.terms.saturating_mul(2);
        let mut needed = Some(0_usize);
        for outputs in self.sizes() {
            let layer = self.lengths(inputs, outputs);
            needed = needed.and_then(|sum| {
                let (numbers, weights) = layer?;
                sum.checked_add(numbers)?.checked_add(weights)
            });
            inputs = outputs;
        }
        needed == Some(self.layers.len())
    }

    /// The layers, first to last; empty ones where the bytes end, which a checked view's do not.
    fn layers(&self) -> impl Iterator<Item = Layer<'a>> + use<'a> {
        let (head, mut rest, mut inputs) = (*self, self.layers, self.terms.saturating_mul(2));
        self.sizes().map(move |outputs| {
            let (numbers, weights) = head.lengths(inputs, outputs).unwrap_or_default();
            let (numbers, behind) = rest.split_at_checked(numbers).unwrap_or_default();
            let (weights, behind) = behind.split_at_checked(weights).unwrap_or_default();
            (rest, inputs) = (behind, outputs);
            let (numbers, _) = numbers.as_chunks();
            let scales = if head.is_integer { outputs } else { 0 };
            let (scales, biases) = numbers.split_at_checked(scales).unwrap_or_default();
            Layer {
                scales,
                biases,
                weights,
                outputs,
            }
        })
    }
}

impl Layer<'_> {
    /// By what the sum of an output is multiplied: 1 for f32.
    fn scale(&self, output: usize) -> f32 {
        self.scales
            .get(output)
            .map_or(1.0, |scale| f32::from_le_bytes(*scale))
    }
}

/// Adds a term's two columns to the sums.
#[inline(always)]
fn add<W>(sums: &mut [f32], columns: &[W], term: Complex32, value: impl Fn(&W) -> f32) {
    let Some((re, im)) = columns.split_at_checked(sums.len()) else {
        return;
    };
    for (sum, (re, im)) in sums.iter_mut().zip(re.iter().zip(im)) {
        *sum += value(re) * term.re + value(im) * term.im;
    }
}
