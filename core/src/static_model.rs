//! A model that was checked before the program was built: no parser and no checksum in flash, and of its kernels only the one
//! it needs.

use crate::error::{Error, Part};
use crate::feature::ANYWHERE;
#[cfg(doc)]
use crate::feature::{Feature, LISTED_PAIRS};
use crate::flash::Aligned;
use crate::format::{Output, View, checked_message};
use crate::inference::Inference;
use crate::kernel::Findings;
use crate::magnitude::Magnitude;
#[cfg(doc)]
use crate::model::Model;
use crate::sample::Sample;
use num_complex::Complex32;

/// A model of known kinds, all of whose fields are known when the program is built.
///
/// `bispectral export --emit rust` writes one. Its methods are those of [`Model`], with the same bits; what they leave out is
/// whatever a model of other kinds would need, and all that reads and checks one. `KINDS` is the sum of
/// [`Feature::bit`] over [`Model::needed_features`] and, where the model lists its pairs, [`LISTED_PAIRS`].
///
/// ```
/// use bispectral_core::{Aligned, Complex32, Feature, Model, StaticModel};
///
/// static BYTES: &Aligned<[u8]> =
///     &Aligned(*include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn")));
/// const KINDS: u32 = Feature::Dense.bit() | Feature::F32.bit();
/// // What `Model::from_bytes(&BYTES.0)?.findings()` is.
/// const FINDINGS: [u32; 4] = [0xff, 0x3e80_0000, 0, 0];
/// static TURN: StaticModel<KINDS> = match StaticModel::new(BYTES, FINDINGS) {
///     Ok(model) => model,
///     Err(_) => panic!("another model"),
/// };
///
/// let model = Model::from_bytes(&BYTES.0)?;
/// assert_eq!(model.findings(), FINDINGS);
/// let (mut scratch, mut a) = ([0.0; 14], [Complex32::ZERO; 6]);
/// let mut b = a;
/// TURN.invariants(&[3.0, 1.0, 0.0, -1.0], &mut scratch, &mut a)?;
/// model.invariants(&[3.0, 1.0, 0.0, -1.0], &mut scratch, &mut b)?;
/// assert_eq!(a, b);
/// # Ok::<(), bispectral_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct StaticModel<const KINDS: u32> {
    view: View<'static, KINDS>,
    findings: Findings,
}

impl<const KINDS: u32> StaticModel<KINDS> {
    /// The model in these bytes, which [`Model::from_bytes`] has accepted before, and of which it had these
    /// [`findings`](Model::findings).
    ///
    /// For constants: that these are the bytes which were accepted is known by their checksum, when the program is built.
    ///
    /// # Errors
    /// [`Error::Magic`], [`Error::Checksum`] and what else a damaged model is; [`Error::Unsupported`] where the model is not of
    /// these kinds, [`Error::NeedsFeature`] where the program is built without one of them. Nothing else is checked: of
    /// bytes that no reader would accept, and of other findings, results are wrong or missing.
    pub const fn new(bytes: &'static Aligned<[u8]>, findings: [u32; 4]) -> Result<Self, Error> {
        let message = match checked_message(&bytes.0) {
            Ok(message) => message,
            Err(error) => return Err(error),
        };
        let view = View::split(message);
        if KINDS & ANYWHERE != 0 {
            return Err(Error::Unsupported {
                part: Part::Encoding,
                kind: 0,
            });
        }
        if let Err(error) = view.check_static() {
            return Err(error);
        }
        Ok(StaticModel {
            view,
            findings: Findings::from_words(findings),
        })
    }

    #[inline(always)]
    fn inference(&self) -> Inference<'_, 'static, KINDS> {
        Inference {
            view: &self.view,
            findings: self.findings,
        }
    }

    /// N: the samples of a signal.
    #[must_use]
    pub const fn inputs(&self) -> usize {
        self.view.inputs as usize
    }

    /// R: the rows of W, one coefficient each.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.view.rows as usize
    }

    /// The invariants of a signal: see [`Model::pairs`].
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.view.order().len()
    }

    /// (i, j) of every invariant: see [`Model::pair_list`].
    pub fn pair_list(&self) -> impl Iterator<Item = (usize, usize)> + Clone + use<KINDS> {
        self.view.order().list()
    }

    /// What the features of a signal are.
    #[must_use]
    pub fn output(&self) -> Output {
        self.view.output()
    }

    /// Numbers that [`features`](Self::features) gives for a signal.
    #[must_use]
    pub fn feature_count(&self) -> usize {
        self.view.feature_count()
    }

    /// Classes that [`scores`](Self::scores) tells apart; none where the model has no classifier.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.inference().classes()
    }

    /// Elements of scratch of the calls below, but for those of a classifier.
    #[must_use]
    pub fn scratch_len(&self) -> usize {
        self.inference().scratch_len()
    }

    /// Elements of scratch that [`scores`](Self::scores) and [`classify`](Self::classify) need.
    #[must_use]
    pub fn classifier_scratch_len(&self) -> usize {
        self.inference().classifier_scratch_len()
    }

    /// β̄: see [`Model::invariants`].
    ///
    /// # Errors
    /// As there.
    pub fn invariants<S: Sample>(
        &self,
        x: &[S],
        scratch: &mut [f32],
        invariants: &mut [Complex32],
    ) -> Result<(), Error> {
        S::signal(x, |x| self.inference().invariants(x, scratch, invariants))
    }

    /// The features of a signal as real numbers: see [`Model::features`].
    ///
    /// # Errors
    /// As there.
    pub fn features<S: Sample>(
        &self,
        x: &[S],
        scratch: &mut [f32],
        features: &mut [f32],
    ) -> Result<(), Error> {
        S::signal(x, |x| self.inference().features(x, scratch, features))
    }

    /// β: see [`Model::bispectrum`].
    ///
    /// # Errors
    /// As there.
    pub fn bispectrum<S: Sample>(
        &self,
        x: &[S],
        scratch: &mut [f32],
        beta: &mut [Complex32],
    ) -> Result<(), Error> {
        S::signal(x, |x| self.inference().bispectrum(x, scratch, beta))
    }

    /// z: see [`Model::coefficients`].
    ///
    /// # Errors
    /// As there.
    pub fn coefficients<S: Sample>(
        &self,
        x: &[S],
        scratch: &mut [f32],
        z: &mut [Complex32],
    ) -> Result<(), Error> {
        S::signal(x, |x| self.inference().coefficients(x, scratch, z))
    }

    /// |z_i|²: see [`Model::power_spectrum`].
    ///
    /// # Errors
    /// As there.
    pub fn power_spectrum<S: Sample>(
        &self,
        x: &[S],
        scratch: &mut [f32],
        power: &mut [f32],
    ) -> Result<(), Error> {
        S::signal(x, |x| self.inference().power_spectrum(x, scratch, power))
    }

    /// Hands every (i, j, β_ij) to `each`: see [`Model::stream`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn stream<S: Sample>(
        &self,
        x: &[S],
        scratch: &mut [f32],
        each: impl FnMut(usize, usize, Complex32),
    ) -> Result<Magnitude, Error> {
        S::signal(x, |x| self.inference().stream(x, scratch, each))
    }

    /// The class of a signal: see [`Model::classify`].
    ///
    /// # Errors
    /// As there.
    pub fn classify<S: Sample>(
        &self,
        x: &[S],
        scratch: &mut [f32],
        scores: &mut [f32],
    ) -> Result<usize, Error> {
        S::signal(x, |x| self.inference().classify(x, scratch, scores))
    }

    /// The score of every class: see [`Model::scores`].
    ///
    /// # Errors
    /// As there.
    pub fn scores<S: Sample>(
        &self,
        x: &[S],
        scratch: &mut [f32],
        scores: &mut [f32],
    ) -> Result<(), Error> {
        S::signal(x, |x| self.inference().scores(x, scratch, scores))
    }
}
