//! What a model computes of a signal, whether it was read from bytes or made when the program was built.

use crate::bispectrum::Scale;
use crate::degree_one::{DegreeOne, magnitude};
use crate::error::{Error, saturate};
use crate::format::View;
use crate::head::Perceptron;
use crate::kernel::{self, Findings};
use crate::magnitude::{Accumulator, Magnitude};
use crate::sample::Signal;
use crate::scaling::{LargestOf, power_of_two, restore};
use crate::significance::Measured;
use num_complex::Complex32;

/// A model's fields and findings.
#[derive(Clone, Copy)]
pub(crate) struct Inference<'v, 'a, const KINDS: u32> {
    pub(crate) view: &'v View<'a, KINDS>,
    pub(crate) findings: Findings,
}

impl<const KINDS: u32> Inference<'_, '_, KINDS> {
    /// Elements of scratch for everything but a classifier.
    pub(crate) fn scratch_len(self) -> usize {
        kernel::scratch_len(self.view, self.findings)
    }

    /// Elements of scratch for a classifier.
    pub(crate) fn classifier_scratch_len(self) -> usize {
        let head = self.view.perceptron().map_or(0, |head| head.scratch_len());
        self.scratch_len() + head + self.view.output().magnitudes(self.view.rows.into())
    }

    /// β̄.
    pub(crate) fn invariants(
        self,
        x: Signal<'_>,
        scratch: &mut [f32],
        invariants: &mut [Complex32],
    ) -> Result<(), Error> {
        let invariants = front(invariants, self.view.order().len())?;
        let measured = self.collect(x, scratch, invariants)?;
        let Some(magnitude) = measured.direction() else {
            invariants.fill(Complex32::ZERO);
            return Err(Error::ZeroBispectrum);
        };
        for term in invariants.iter_mut() {
            *term = magnitude.normalise(*term);
        }
        Ok(())
    }

    /// β̄ or what stands in its place, as real numbers.
    pub(crate) fn features(
        self,
        x: Signal<'_>,
        scratch: &mut [f32],
        features: &mut [f32],
    ) -> Result<(), Error> {
        let features = front(features, self.view.feature_count())?;
        if let Some(form) = kernel::degree_one(self.view, self.findings)? {
            let (magnitudes, terms) = features
                .split_at_mut_checked(self.view.rows.into())
                .ok_or(Error::Malformed)?;
            let (scale, factor) = match self.magnitudes(x, scratch, magnitudes) {
                Err(Error::ZeroBispectrum) => {
                    features.fill(0.0);
                    return Err(Error::ZeroBispectrum);
                }
                found => found?,
            };
            let (parts, _) = terms.as_chunks_mut::<2>();
            let mut parts = parts.iter_mut();
            let each = &mut |term: Complex32| {
                if let Some(parts) = parts.next() {
                    *parts = [term.re, term.im];
                }
            };
            self.each_weighted(form, (x, scale), scratch, magnitudes, each);
            for feature in features.iter_mut() {
                *feature *= factor;
            }
            return Ok(());
        }
        if self.view.order().parts() == 1 {
            let mut out = features.iter_mut();
            let result = self.stream(x, scratch, |_, _, term| {
                if let Some(out) = out.next() {
                    *out = term.re;
                }
            });
            if result == Err(Error::ZeroBispectrum) {
                features.fill(0.0);
            }
            return result.map(|_| ());
        }
        // Of an even length and an alignment that every f32 has: the cast does not fail.
        let invariants = bytemuck::try_cast_slice_mut(features).unwrap_or_default();
        self.invariants(x, scratch, invariants)
    }

    /// |z_k| of the scaled signal to `magnitudes`, one a row; its scale, and 1/‖z‖.
    fn magnitudes(
        self,
        x: Signal<'_>,
        scratch: &mut [f32],
        magnitudes: &mut [f32],
    ) -> Result<(Scale, f32), Error> {
        // With the largest sample and weight between 1 and 2: what the rounding of N products alone can leave.
        let rounding = x.len() as f32 * power_of_two(-24);
        let (mut squares, mut responds) = (Accumulator::default(), false);
        let mut out = magnitudes.iter_mut();
        let scale = self.each_coefficient(x, scratch, &mut |z| {
            let magnitude = magnitude(z);
            squares.add(z);
            responds |= magnitude > rounding;
            if let Some(out) = out.next() {
                *out = magnitude;
            }
        })?;
        if !responds {
            magnitudes.fill(0.0);
            return Err(Error::ZeroBispectrum);
        }
        Ok((scale, 1.0 / squares.finish(0).norm()))
    }

    /// The term of degree one of every pair, of magnitudes that are those of the same signal.
    fn each_weighted(
        self,
        form: DegreeOne,
        (x, scale): (Signal<'_>, Scale),
        scratch: &mut [f32],
        magnitudes: &[f32],
        each: &mut dyn FnMut(Complex32),
    ) {
        let of_row = |row: usize| magnitudes.get(row).copied().unwrap_or_default();
        let scratch = scratch.get_mut(..self.scratch_len()).unwrap_or_default();
        kernel::each_term(self.view, self.findings, x, scale, scratch, |i, j, beta| {
            each(form.term(of_row(i), of_row(j), beta));
        });
    }

    /// β; of couplings, their forms.
    pub(crate) fn bispectrum(
        self,
        x: Signal<'_>,
        scratch: &mut [f32],
        beta: &mut [Complex32],
    ) -> Result<(), Error> {
        let beta = front(beta, self.view.order().len())?;
        if self.view.order().parts() == 1 {
            return self.forms(x, scratch, beta);
        }
        // β = 0 is an answer; only β̄ has none.
        let Measured { magnitude, .. } = self.collect(x, scratch, beta)?;
        restore_all(bytemuck::must_cast_slice_mut(beta), magnitude.exponent())
    }

    /// The forms of couplings.
    fn forms(self, x: Signal<'_>, scratch: &mut [f32], out: &mut [Complex32]) -> Result<(), Error> {
        let (scratch, scale) = self.prepare(x, scratch)?;
        let mut terms = out.iter_mut();
        kernel::each_form(self.view, x, scale, scratch, &mut |_, order, value| {
            if let Some(term) = terms.next() {
                let exponent = scale.coefficient() * order as i32;
                *term = Complex32::new(restore(value, exponent), 0.0);
            }
        });
        restore_all(bytemuck::must_cast_slice_mut(out), 0)
    }

    /// z.
    pub(crate) fn coefficients(
        self,
        x: Signal<'_>,
        scratch: &mut [f32],
        z: &mut [Complex32],
    ) -> Result<(), Error> {
        let z = front(z, self.view.rows.into())?;
        let mut out = z.iter_mut();
        let scale = self.each_coefficient(x, scratch, &mut |value| {
            if let Some(z) = out.next() {
                *z = value;
            }
        })?;
        restore_all(bytemuck::must_cast_slice_mut(z), scale.coefficient())
    }

    /// |z|².
    pub(crate) fn power_spectrum(
        self,
        x: Signal<'_>,
        scratch: &mut [f32],
        power: &mut [f32],
    ) -> Result<(), Error> {
        let power = front(power, self.view.rows.into())?;
        let mut out = power.iter_mut();
        let scale = self.each_coefficient(x, scratch, &mut |z| {
            if let Some(power) = out.next() {
                *power = z.re * z.re + z.im * z.im;
            }
        })?;
        restore_all(power, 2 * scale.coefficient())
    }

    /// z_i of the scaled signal to `each`, row after row.
    fn each_coefficient(
        self,
        x: Signal<'_>,
        scratch: &mut [f32],
        each: &mut dyn FnMut(Complex32),
    ) -> Result<Scale, Error> {
        let (scratch, scale) = self.prepare(x, scratch)?;
        kernel::each_coefficient(self.view, self.findings, x, scale, scratch, each);
        Ok(scale)
    }

    /// Classes, or none.
    pub(crate) fn classes(self) -> usize {
        self.view.perceptron().map_or(0, |head| head.classes())
    }

    /// The first of the classes with the largest score.
    pub(crate) fn classify(
        self,
        x: Signal<'_>,
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

    /// The score of every class.
    pub(crate) fn scores(
        self,
        x: Signal<'_>,
        scratch: &mut [f32],
        scores: &mut [f32],
    ) -> Result<(), Error> {
        let head: Perceptron<'_> = self.view.perceptron().ok_or(Error::NoClassifier)?;
        let scores = front(scores, head.classes())?;
        let before = self.scratch_len();
        let magnitudes = self.view.output().magnitudes(self.view.rows.into());
        let needed = before + magnitudes + head.scratch_len();
        let found = scratch.len();
        let (scratch, behind) = scratch
            .get_mut(..needed)
            .and_then(|scratch| scratch.split_at_mut_checked(before))
            .ok_or(Error::ScratchLength {
                needed: saturate(needed),
                found: saturate(found),
            })?;
        let (magnitudes, behind) = behind
            .split_at_mut_checked(magnitudes)
            .ok_or(Error::Malformed)?;
        let mut first = head.first_layer(behind).ok_or(Error::Malformed)?;
        let factor = if let Some(form) = kernel::degree_one(self.view, self.findings)? {
            let (scale, factor) = self.magnitudes(x, scratch, magnitudes)?;
            for magnitude in magnitudes.iter() {
                first.add_number(*magnitude);
            }
            let each = &mut |term| first.add(term);
            self.each_weighted(form, (x, scale), scratch, magnitudes, each);
            factor
        } else {
            let magnitude = self.stream(x, scratch, |_, _, term| first.add(term))?;
            1.0 / magnitude.norm()
        };
        first.scores(factor, scores);
        if scores.iter().all(|score| score.is_finite()) {
            return Ok(());
        }
        scores.fill(0.0);
        Err(Error::Overflow)
    }

    /// Every (i, j, β_ij) of the scaled signal to `each`, and their norm.
    #[inline]
    pub(crate) fn stream(
        self,
        x: Signal<'_>,
        scratch: &mut [f32],
        each: impl FnMut(usize, usize, Complex32),
    ) -> Result<Magnitude, Error> {
        let (scratch, scale) = self.prepare(x, scratch)?;
        let measured = kernel::each_term(self.view, self.findings, x, scale, scratch, each);
        measured.direction().ok_or(Error::ZeroBispectrum)
    }

    /// The terms of the scaled signal, one behind the other.
    fn collect(
        self,
        x: Signal<'_>,
        scratch: &mut [f32],
        out: &mut [Complex32],
    ) -> Result<Measured, Error> {
        let (scratch, scale) = self.prepare(x, scratch)?;
        let mut out = out.iter_mut();
        let collect = |_, _, term| {
            if let Some(out) = out.next() {
                *out = term;
            }
        };
        Ok(kernel::each_term(
            self.view,
            self.findings,
            x,
            scale,
            scratch,
            collect,
        ))
    }

    /// As much of the scratch as the model needs, and the magnitude of `x`, once it is known to be a signal of this model.
    #[inline(never)]
    fn prepare<'s>(
        self,
        x: Signal<'_>,
        scratch: &'s mut [f32],
    ) -> Result<(&'s mut [f32], Scale), Error> {
        let (needed, found) = (self.scratch_len(), scratch.len());
        let scratch = scratch.get_mut(..needed).ok_or(Error::ScratchLength {
            needed: saturate(needed),
            found: saturate(found),
        })?;
        if x.len() != usize::from(self.view.inputs) {
            return Err(Error::InputLength {
                needed: self.view.inputs.into(),
                found: saturate(x.len()),
            });
        }
        let mut largest = LargestOf::default();
        x.each(|n, x| largest.add(n, x));
        match largest.exponent() {
            Ok(Some(signal)) => {
                let floor = self.findings.floor(self.view);
                let scale = Scale::new(signal, self.findings.exponent.into(), floor);
                Ok((scratch, scale))
            }
            Ok(None) => Err(Error::ZeroInput),
            Err(index) => Err(Error::NonFiniteInput {
                index: saturate(index),
            }),
        }
    }
}

/// The first `needed` elements of a caller's buffer.
fn front<T>(out: &mut [T], needed: usize) -> Result<&mut [T], Error> {
    let found = out.len();
    out.get_mut(..needed).ok_or(Error::OutputLength {
        needed: saturate(needed),
        found: saturate(found),
    })
}

/// Multiplies by 2^exponent; zeros and an error where that leaves f32, so that nothing passes for a result.
fn restore_all(values: &mut [f32], exponent: i32) -> Result<(), Error> {
    for value in values.iter_mut() {
        *value = restore(*value, exponent);
    }
    if values.iter().all(|value| value.is_finite()) {
        Ok(())
    } else {
        values.fill(0.0);
        Err(Error::Overflow)
    }
}
