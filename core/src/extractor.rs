//! A model with buffers of its own, for those who prefer values to slices.

use crate::error::Error;
use crate::format::saturate;
use crate::model::Model;
use heapless::Vec;
use num_complex::Complex32;

/// A [`Model`] and the memory it computes in, of a size known when the program is built.
///
/// `SCRATCH` is [`scratch_len(N, R)`](crate::scratch_len), `TERMS` is [`pair_count(R)`](crate::pair_count);
/// larger ones work and leave room for other models.
///
/// ```
/// use bispectral_core::{Extractor, Model, pair_count, scratch_len};
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
///
/// let model = Model::from_bytes(bytes)?;
/// let mut extractor = Extractor::<{ scratch_len(4, 3) }, { pair_count(3) }>::new(model)?;
///
/// let original = extractor.invariants(&[3.0, 1.0, 0.0, -1.0])?;
/// let shifted = extractor.invariants(&[0.0, -1.0, 3.0, 1.0])?;
/// assert!(original.iter().zip(&shifted).all(|(a, b)| (a - b).norm() < 1e-6));
/// # Ok::<(), bispectral_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Extractor<'a, const SCRATCH: usize, const TERMS: usize> {
    model: Model<'a>,
    scratch: [f32; SCRATCH],
}

impl<'a, const SCRATCH: usize, const TERMS: usize> Extractor<'a, SCRATCH, TERMS> {
    /// Buffers for `model`.
    ///
    /// # Errors
    /// [`Error::ScratchLength`] or [`Error::OutputLength`] where the capacities are too small for it.
    pub fn new(model: Model<'a>) -> Result<Self, Error> {
        if SCRATCH < model.scratch_len() {
            return Err(Error::ScratchLength {
                needed: saturate(model.scratch_len()),
                found: saturate(SCRATCH),
            });
        }
        if TERMS < model.pairs() {
            return Err(Error::OutputLength {
                needed: saturate(model.pairs()),
                found: saturate(TERMS),
            });
        }
        Ok(Extractor {
            model,
            scratch: [0.0; SCRATCH],
        })
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> Model<'a> {
        self.model
    }

    /// β̄: see [`Model::invariants`].
    ///
    /// # Errors
    /// As there.
    pub fn invariants(&mut self, x: &[f32]) -> Result<Vec<Complex32, TERMS>, Error> {
        let Extractor { model, scratch } = self;
        filled(model.pairs(), |out| model.invariants(x, scratch, out))
    }

    /// β: see [`Model::bispectrum`].
    ///
    /// # Errors
    /// As there.
    pub fn bispectrum(&mut self, x: &[f32]) -> Result<Vec<Complex32, TERMS>, Error> {
        let Extractor { model, scratch } = self;
        filled(model.pairs(), |out| model.bispectrum(x, scratch, out))
    }

    /// z: see [`Model::coefficients`].
    ///
    /// # Errors
    /// As there.
    pub fn coefficients(&mut self, x: &[f32]) -> Result<Vec<Complex32, TERMS>, Error> {
        filled(self.model.rows(), |out| self.model.coefficients(x, out))
    }

    /// |z|²: see [`Model::power_spectrum`].
    ///
    /// # Errors
    /// As there.
    pub fn power_spectrum(&mut self, x: &[f32]) -> Result<Vec<f32, TERMS>, Error> {
        filled(self.model.rows(), |out| self.model.power_spectrum(x, out))
    }
}

/// A vector of `len` elements, which `fill` puts in.
fn filled<T: Clone + Default, const CAPACITY: usize>(
    len: usize,
    fill: impl FnOnce(&mut [T]) -> Result<(), Error>,
) -> Result<Vec<T, CAPACITY>, Error> {
    let mut out = Vec::new();
    out.resize_default(len).map_err(|_| Error::OutputLength {
        needed: saturate(len),
        found: saturate(CAPACITY),
    })?;
    fill(&mut out)?;
    Ok(out)
}
