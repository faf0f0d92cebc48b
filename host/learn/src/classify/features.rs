//! What a classifier is given of a signal: the invariants of a model, of many signals at once where that is possible and
//! otherwise by the code that runs on the device; or, to compare with, the power spectrum or the signal itself.
//!
//! > f = β̄ |β̄|^(γ−1), the real parts and then the imaginary parts; γ = 1 is the paper's.
//!
//! Terms are products of three coefficients, so a few dwarf the others: γ < 1 brings them closer, and changes no phase. A
//! device can do the same one term at a time, because a power of ‖β‖ may divide afterwards.

use crate::limits::interruption;
use crate::model::batch::{Batch, Room};
use crate::{Error, Result};
use bispectral_core::{Complex32, Model};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Samples that one thread computes at a time.
pub(super) const BLOCK: usize = 128;

/// A quantity of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// β̄: all there is to know of a signal but where in its orbit it is.
    Invariants,
    /// |z|² / ‖z‖²: invariant, too, but without phases.
    Power,
    /// The signal as it is.
    Signal,
}

/// A quantity of a model's signals.
#[derive(Debug, Clone, Copy)]
pub struct Features<'m> {
    /// What computes it.
    pub model: Model<'m>,
    /// Which.
    pub kind: Kind,
    /// γ, of invariants.
    pub exponent: f32,
    /// Signals of a sample, one behind the other: views of the same thing, whose features are averaged.
    pub views: usize,
}

impl Features<'_> {
    /// Real numbers of a signal.
    #[must_use]
    pub fn width(&self) -> usize {
        match self.kind {
            Kind::Invariants => 2 * self.model.pairs(),
            Kind::Power => self.model.rows(),
            Kind::Signal => self.model.inputs(),
        }
    }

    /// Numbers of a sample.
    fn length(&self) -> usize {
        self.views * self.model.inputs()
    }

    /// The features of every sample, a row each.
    ///
    /// # Errors
    /// A sample has none: it is zero, not finite, or no row of W responds to it.
    ///
    /// # Panics
    /// The samples are of another length than so many views of the model's inputs.
    pub fn of(&self, samples: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
        let width = self.width();
        assert_eq!(samples.ncols(), self.length(), "inputs");
        let mut all = Array2::zeros((samples.nrows(), width));
        let out = all.as_slice_mut().expect("it lies in one piece");
        let samples = samples.as_standard_layout();
        let samples = samples.as_slice().expect("it lies in one piece");
        let computed: Vec<Result<()>> = out
            .par_chunks_mut(BLOCK * width)
            .zip(samples.par_chunks(BLOCK * self.length()))
            .enumerate()
            .map(|(block, (out, samples))| self.compute(samples, block * BLOCK, out))
            .collect();
        computed.into_iter().collect::<Result<()>>()?;
        Ok(all)
    }

    /// The features of `samples`, one behind the other, on this thread; `first` is the number of the first sample in
    /// messages.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    ///
    /// # Panics
    /// `out` or the samples are of other lengths.
    pub(super) fn compute(&self, samples: &[f32], first: usize, out: &mut [f32]) -> Result<()> {
        let (length, width) = (self.length(), self.width());
        assert_eq!(samples.len() / length * width, out.len(), "features");
        if self.views == 1 {
            return self.signals(samples, |at| first + at, out);
        }
        // A few samples at a time, so that their views take no more room than a block.
        let some = BLOCK.div_ceil(self.views);
        let mut all = vec![0.0; some * self.views * width];
        let parts = samples
            .chunks(some * length)
            .zip(out.chunks_mut(some * width));
        for (part, (samples, out)) in parts.enumerate() {
            let all = &mut all[..out.len() * self.views];
            self.signals(samples, |at| first + part * some + at / self.views, all)?;
            let sets = all.chunks_exact(self.views * width);
            for (out, views) in out.chunks_exact_mut(width).zip(sets) {
                out.fill(0.0);
                for view in views.chunks_exact(width) {
                    out.iter_mut().zip(view).for_each(|(sum, f)| *sum += f);
                }
                out.iter_mut().for_each(|sum| *sum /= self.views as f32);
            }
        }
        Ok(())
    }

    /// The features of signals; `sample` says which sample a signal is of.
    fn signals(
        &self,
        samples: &[f32],
        sample: impl Fn(usize) -> usize,
        out: &mut [f32],
    ) -> Result<()> {
        let inputs = self.model.inputs();
        let mut scratch = vec![0.0; self.model.scratch_len()];
        let mut terms = match self.kind {
            Kind::Invariants => vec![Complex32::ZERO; self.model.pairs()],
            Kind::Power | Kind::Signal => Vec::new(),
        };
        let batch = match self.kind {
            Kind::Invariants => Batch::new(&self.model),
            Kind::Power | Kind::Signal => None,
        };
        if let Some(batch) = &batch {
            batch.compute(samples, inputs, &mut Room::default(), out);
        }
        let rows = samples
            .chunks_exact(inputs)
            .zip(out.chunks_exact_mut(self.width()));
        for (at, (x, out)) in rows.enumerate() {
            interruption::check();
            if batch.is_some() && out[0].is_finite() {
                let (re, im) = out.split_at_mut(self.model.pairs());
                for (re, im) in re.iter_mut().zip(im) {
                    let term = compress(Complex32::new(*re, *im), self.exponent);
                    (*re, *im) = (term.re, term.im);
                }
                continue;
            }
            // One that is out of range for many at once has an answer from the core, or a word why not.
            self.of_sample(x, &mut scratch, &mut terms, out)
                .map_err(|error| {
                    Error::new(
                        format!("sample {}", sample(at)),
                        error.to_string(),
                        "leave the sample out",
                    )
                })?;
        }
        Ok(())
    }

    fn of_sample(
        &self,
        x: &[f32],
        scratch: &mut [f32],
        terms: &mut [Complex32],
        out: &mut [f32],
    ) -> std::result::Result<(), bispectral_core::Error> {
        match self.kind {
            Kind::Invariants => {
                self.model.invariants(x, scratch, terms)?;
                let (re, im) = out.split_at_mut(terms.len());
                for ((re, im), term) in re.iter_mut().zip(im).zip(terms) {
                    let term = compress(*term, self.exponent);
                    (*re, *im) = (term.re, term.im);
                }
            }
            Kind::Power => {
                self.model.power_spectrum(x, scratch, out)?;
                let sum: f32 = out.iter().sum();
                if sum > 0.0 {
                    out.iter_mut().for_each(|power| *power /= sum);
                }
            }
            Kind::Signal => out.copy_from_slice(x),
        }
        Ok(())
    }
}

/// β |β|^(γ−1); zero stays zero.
fn compress(term: Complex32, exponent: f32) -> Complex32 {
    let square = term.re * term.re + term.im * term.im;
    if exponent == 1.0 || square == 0.0 {
        return term;
    }
    // Roots are what a device has instructions for.
    let factor = if exponent == 0.5 {
        1.0 / square.sqrt().sqrt()
    } else {
        libm::powf(square, 0.5 * (exponent - 1.0))
    };
    term * factor
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Axis, array};

    fn model() -> Model<'static> {
        Model::from_bytes(include_bytes!("../../tests/z4.bsn")).unwrap()
    }

    #[test]
    fn features_are_those_of_the_core() {
        let samples = array![[3.0, 1.0, 0.0, -1.0], [1.0, 0.0, 0.0, 0.0]];
        let (model, exponent) = (model(), 1.0);
        let features = Features {
            model,
            kind: Kind::Invariants,
            exponent,
            views: 1,
        };
        let found = features.of(samples.view()).unwrap();
        for (sample, found) in samples.rows().into_iter().zip(found.rows()) {
            let expected = model.invariants_vec(&sample.to_vec()).unwrap();
            let parts = expected
                .iter()
                .map(|term| term.re)
                .chain(expected.iter().map(|term| term.im));
            for (found, part) in found.iter().zip(parts) {
                // A few roundings of terms of at most one.
                assert!((found - part).abs() < 1e-6, "{found} {part}");
            }
        }
        let signal = Features {
            kind: Kind::Signal,
            ..features
        };
        assert_eq!(signal.of(samples.view()).unwrap(), samples);
        let power = Features {
            kind: Kind::Power,
            ..features
        }
        .of(samples.view())
        .unwrap();
        assert!((power.row(0).sum() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn an_exponent_changes_magnitudes_and_no_phase() {
        let term = Complex32::new(-3.0, 4.0);
        let root = compress(term, 0.5);
        assert!((root.norm() - 5.0_f32.sqrt()).abs() < 1e-6);
        assert!((root.arg() - term.arg()).abs() < 1e-6);
        assert_eq!(compress(term, 1.0), term);
        assert_eq!(compress(Complex32::ZERO, 0.5), Complex32::ZERO);
    }

    #[test]
    fn a_sample_without_features_is_named() {
        let mut samples = Array2::ones((300, 4));
        samples.row_mut(200).fill(0.0);
        samples.row_mut(290).fill(f32::NAN);
        let features = Features {
            model: model(),
            kind: Kind::Invariants,
            exponent: 1.0,
            views: 1,
        };
        let line = features.of(samples.view()).unwrap_err().to_string();
        assert!(line.starts_with("sample 200: "), "{line}");
    }

    #[test]
    fn views_are_averaged() {
        let mut samples = Array2::from_shape_fn((200, 8), |(s, k)| ((s * 8 + k) % 7) as f32 - 2.5);
        let one = Features {
            model: model(),
            kind: Kind::Invariants,
            exponent: 1.0,
            views: 1,
        };
        let two = Features { views: 2, ..one };
        let found = two.of(samples.view()).unwrap();
        let [first, second] =
            [0..4, 4..8].map(|view| one.of(samples.slice_axis(Axis(1), view.into())));
        let expected = (first.unwrap() + second.unwrap()) / 2.0;
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
        samples
            .row_mut(150)
            .iter_mut()
            .skip(4)
            .for_each(|x| *x = 0.0);
        let line = two.of(samples.view()).unwrap_err().to_string();
        assert!(line.starts_with("sample 150: "), "{line}");
    }
}
