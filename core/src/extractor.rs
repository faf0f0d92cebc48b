//! A model with buffers of its own, for those who would rather not hand slices around.

use crate::error::{Error, saturate};
use crate::magnitude::Magnitude;
use crate::model::Model;
use crate::sample::Sample;
use heapless::Vec;
use num_complex::Complex32;

/// A [`Model`] and the memory it computes in, of a size known when the program is built.
///
/// `SCRATCH` and `NUMBERS` are [`Sizes::scratch`](crate::Sizes) and the most numbers that a result has, [`Sizes::features`](crate::Sizes) or
/// [`Sizes::classes`](crate::Sizes): constants of [`include_model!`](crate::include_model). Larger ones work and leave room for other
/// models. Results are lent as slices, so that nothing large passes over the stack.
///
/// ```
/// use bispectral_core::{Extractor, Model, include_model};
///
/// include_model!(mod turn = concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
///
/// let model = Model::from_bytes(turn::MODEL)?;
/// let mut extractor = Extractor::<{ turn::SCRATCH }, { turn::FEATURES }>::new(model)?;
///
/// let original = extractor.features(&[3.0, 1.0, 0.0, -1.0])?.to_vec();
/// let shifted = extractor.features(&[0_i16, -1, 3, 1])?;
/// assert!(original.iter().zip(shifted).all(|(a, b)| (a - b).abs() < 1e-6));
/// # Ok::<(), bispectral_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Extractor<'a, const SCRATCH: usize, const NUMBERS: usize> {
    model: Model<'a>,
    scratch: Vec<f32, SCRATCH>,
    numbers: Vec<f32, NUMBERS>,
}

impl<'a, const SCRATCH: usize, const NUMBERS: usize> Extractor<'a, SCRATCH, NUMBERS> {
    /// Buffers for `model`, a classifier included. Whether a result has room is seen when it is asked for.
    ///
    /// # Errors
    /// [`Error::ScratchLength`] where `SCRATCH` is too small for it.
    // Made where it stays: handed back, its buffers would be on the stack twice.
    #[inline(always)]
    pub fn new(model: Model<'a>) -> Result<Self, Error> {
        let needed = match model.classes() {
            0 => model.scratch_len(),
            _ => model.classifier_scratch_len(),
        };
        let mut scratch = Vec::new();
        match scratch.resize(needed, 0.0) {
            Ok(()) => Ok(Extractor {
                model,
                scratch,
                numbers: Vec::new(),
            }),
            Err(_) => Err(Error::ScratchLength {
                needed: saturate(needed),
                found: saturate(SCRATCH),
            }),
        }
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> Model<'a> {
        self.model
    }

    /// The features: see [`Model::features`].
    ///
    /// # Errors
    /// As there, but for the length of scratch.
    pub fn features<S: Sample>(&mut self, x: &[S]) -> Result<&[f32], Error> {
        self.fill(self.model.feature_count(), |model, scratch, out| {
            model.features(x, scratch, out)
        })
    }

    /// β̄: see [`Model::invariants`]. Each has two numbers.
    ///
    /// # Errors
    /// As there, but for the length of scratch.
    pub fn invariants<S: Sample>(&mut self, x: &[S]) -> Result<&[Complex32], Error> {
        self.fill_complex(self.model.pairs(), |model, scratch, out| {
            model.invariants(x, scratch, out)
        })
    }

    /// β: see [`Model::bispectrum`]. Each has two numbers.
    ///
    /// # Errors
    /// As there, but for the length of scratch.
    pub fn bispectrum<S: Sample>(&mut self, x: &[S]) -> Result<&[Complex32], Error> {
        self.fill_complex(self.model.pairs(), |model, scratch, out| {
            model.bispectrum(x, scratch, out)
        })
    }

    /// z: see [`Model::coefficients`]. Each has two numbers.
    ///
    /// # Errors
    /// As there, but for the length of scratch.
    pub fn coefficients<S: Sample>(&mut self, x: &[S]) -> Result<&[Complex32], Error> {
        self.fill_complex(self.model.rows(), |model, scratch, out| {
            model.coefficients(x, scratch, out)
        })
    }

    /// Hands out every term: see [`Model::stream`].
    ///
    /// # Errors
    /// As there, but for the length of scratch.
    #[inline]
    pub fn stream<S: Sample>(
        &mut self,
        x: &[S],
        each: impl FnMut(usize, usize, Complex32),
    ) -> Result<Magnitude, Error> {
        self.model.stream(x, &mut self.scratch, each)
    }

    /// The class, and the scores of all: see [`Model::classify`].
    ///
    /// # Errors
    /// As there, but for the length of scratch.
    pub fn classify<S: Sample>(&mut self, x: &[S]) -> Result<(usize, &[f32]), Error> {
        let mut class = 0;
        let scores = self.fill(self.model.classes(), |model, scratch, scores| {
            class = model.classify(x, scratch, scores)?;
            Ok(())
        })?;
        Ok((class, scores))
    }

    /// So many complex numbers as `compute` leaves them.
    fn fill_complex(
        &mut self,
        len: usize,
        compute: impl FnOnce(&Model<'a>, &mut [f32], &mut [Complex32]) -> Result<(), Error>,
    ) -> Result<&[Complex32], Error> {
        let numbers = self.fill(2 * len, |model, scratch, out| {
            compute(
                model,
                scratch,
                bytemuck::try_cast_slice_mut(out).unwrap_or_default(),
            )
        })?;
        Ok(bytemuck::try_cast_slice(numbers).unwrap_or_default())
    }

    /// The first `len` numbers as `compute` leaves them; none where it fails.
    fn fill(
        &mut self,
        len: usize,
        compute: impl FnOnce(&Model<'a>, &mut [f32], &mut [f32]) -> Result<(), Error>,
    ) -> Result<&[f32], Error> {
        let Extractor {
            model,
            scratch,
            numbers,
        } = self;
        let result = numbers
            .resize(len, 0.0)
            .map_err(|_| Error::OutputLength {
                needed: saturate(len),
                found: saturate(NUMBERS),
            })
            .and_then(|()| compute(model, scratch, numbers));
        match result {
            Ok(()) => Ok(numbers),
            Err(error) => {
                numbers.clear();
                Err(error)
            }
        }
    }
}
