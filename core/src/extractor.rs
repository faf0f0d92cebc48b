//! A model with buffers of its own, for those who would rather not hand slices around.

use crate::error::{Error, saturate};
use crate::model::Model;
use heapless::Vec;
use num_complex::Complex32;

/// A [`Model`] and the memory it computes in, of a size known when the program is built.
///
/// `SCRATCH` is [`scratch_len(N, R)`](crate::scratch_len), `TERMS` is [`pair_count(R)`](crate::pair_count);
/// larger ones work and leave room for other models. Results are lent, so that nothing large passes over the stack;
/// `clone()` makes them values.
///
/// ```
/// use bispectral_core::{Extractor, Model, pair_count, scratch_len};
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
///
/// let model = Model::from_bytes(bytes)?;
/// let mut extractor = Extractor::<{ scratch_len(4, 3) }, { pair_count(3) }>::new(model)?;
///
/// let original = extractor.invariants(&[3.0, 1.0, 0.0, -1.0])?.clone();
/// let shifted = extractor.invariants(&[0.0, -1.0, 3.0, 1.0])?;
/// assert!(original.iter().zip(shifted).all(|(a, b)| (a - b).norm_sqr() < 1e-12));
/// # Ok::<(), bispectral_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Extractor<'a, const SCRATCH: usize, const TERMS: usize> {
    model: Model<'a>,
    scratch: [f32; SCRATCH],
    terms: Vec<Complex32, TERMS>,
}

impl<'a, const SCRATCH: usize, const TERMS: usize> Extractor<'a, SCRATCH, TERMS> {
    /// Buffers for `model`.
    ///
    /// # Errors
    /// [`Error::ScratchLength`] or [`Error::OutputLength`] where the capacities are too small for it.
    #[inline]
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
            terms: Vec::new(),
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
    /// As there, but for the lengths of buffers.
    pub fn invariants(&mut self, x: &[f32]) -> Result<&Vec<Complex32, TERMS>, Error> {
        self.fill(self.model.pairs(), |model, scratch, terms| {
            model.invariants(x, scratch, terms)
        })
    }

    /// β: see [`Model::bispectrum`].
    ///
    /// # Errors
    /// As there, but for the lengths of buffers.
    pub fn bispectrum(&mut self, x: &[f32]) -> Result<&Vec<Complex32, TERMS>, Error> {
        self.fill(self.model.pairs(), |model, scratch, terms| {
            model.bispectrum(x, scratch, terms)
        })
    }

    /// z: see [`Model::coefficients`].
    ///
    /// # Errors
    /// As there, but for the lengths of buffers.
    pub fn coefficients(&mut self, x: &[f32]) -> Result<&Vec<Complex32, TERMS>, Error> {
        self.fill(self.model.rows(), |model, scratch, terms| {
            model.coefficients(x, scratch, terms)
        })
    }

    /// The first `len` terms as `compute` leaves them; none where it fails.
    fn fill(
        &mut self,
        len: usize,
        compute: impl FnOnce(&Model<'a>, &mut [f32], &mut [Complex32]) -> Result<(), Error>,
    ) -> Result<&Vec<Complex32, TERMS>, Error> {
        let Extractor {
            model,
            scratch,
            terms,
        } = self;
        let result = terms
            .resize_default(len)
            .map_err(|_| Error::OutputLength {
                needed: saturate(len),
                found: saturate(TERMS),
            })
            .and_then(|()| compute(model, scratch, terms));
        match result {
            Ok(()) => Ok(terms),
            Err(error) => {
                terms.clear();
                Err(error)
            }
        }
    }
}
