//! A model: a checked view of its bytes, and what it computes of a signal: z, |z|², β, β̄ and classes, in buffers of the
//! caller.

use crate::cyclic::transform_features;
use crate::error::Error;
use crate::feature::{EVERY, Feature};
use crate::format::{Output, Parts, StoredStructure, View, before_checksum};
use crate::inference::Inference;
use crate::kernel::{self, Findings};
use crate::magnitude::Magnitude;
#[cfg(feature = "sliding")]
use crate::sample::{Follow, Tracked};
use crate::sample::{Sample, Signal};
use num_complex::Complex32;

/// Elements of scratch that a model needs for one signal: the products of a row with the signal, and z.
///
/// ```
/// use bispectral_core::scratch_len;
///
/// static mut SCRATCH: [f32; scratch_len(64, 64)] = [0.0; scratch_len(64, 64)];
/// assert_eq!(scratch_len(64, 64) * size_of::<f32>(), 1024);
/// ```
#[must_use]
pub const fn scratch_len(inputs: usize, rows: usize) -> usize {
    2 * inputs + 2 * rows
}

/// A bispectral model whose weights stay where they are, in flash or in a file's bytes.
///
/// Making one checks every byte once; after that nothing can fail but a call with wrong lengths
/// or a signal without direction. It is a view: a few words, `Copy`, and shareable between tasks.
///
/// ```
/// # use bispectral_core::{pair_count, scratch_len, Model};
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
/// let model = Model::from_bytes(bytes)?;
/// assert_eq!((model.inputs(), model.rows()), (4, 3));
///
/// let mut scratch = [0.0; scratch_len(4, 3)];
/// let mut original = [Default::default(); pair_count(3)];
/// let mut shifted = original;
/// model.invariants(&[3.0, 1.0, 0.0, -1.0], &mut scratch, &mut original)?;
/// model.invariants(&[-1.0, 3.0, 1.0, 0.0], &mut scratch, &mut shifted)?;
/// for (a, b) in original.iter().zip(&shifted) {
///     assert!((a - b).norm_sqr() < 1e-12);
/// }
/// # Ok::<(), bispectral_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Model<'a> {
    /// All bytes but the CRC. Which of them is what is found anew by every call, in some 300 instructions.
    message: &'a [u8],
    findings: Findings,
}

impl<'a> Model<'a> {
    /// Checks `bytes` — magic, version, length, CRC, every dimension, every weight — and borrows the weights from them.
    ///
    /// Any alignment works, with the feature `unaligned`. Where the bytes begin at a multiple of four, as with
    /// [`include_model!`](crate::include_model), Cortex-M and RISC-V load the weights faster.
    ///
    /// # Errors
    /// The first thing that is wrong, by name.
    ///
    /// ```
    /// # use bispectral_core::{Error, Model};
    /// let mut bytes = *include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
    /// assert!(Model::from_bytes(&bytes).is_ok());
    /// bytes[40] ^= 1;
    /// assert!(matches!(Model::from_bytes(&bytes), Err(Error::Checksum { .. })));
    /// ```
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, Error> {
        let message = View::read(bytes)?;
        let findings = Findings::of(&View::split(message))?;
        Ok(Model { message, findings })
    }

    /// What [`from_bytes`](Self::from_bytes) found out of the numbers, for [`from_checked_bytes`](Self::from_checked_bytes) and
    /// [`StaticModel::new`](crate::StaticModel::new).
    #[must_use]
    pub fn findings(&self) -> [u32; 4] {
        self.findings.words()
    }

    /// The model in `bytes` that [`from_bytes`](Self::from_bytes) has accepted before, perhaps on another machine, and of which
    /// it had these [`findings`](Self::findings): a program that reads no other needs neither parser nor checksum.
    ///
    /// Nothing is checked. Of other bytes or findings, results are wrong or missing, and nothing worse. Where the model is
    /// known when the program is built, [`StaticModel`](crate::StaticModel) takes less flash still.
    ///
    /// ```
    /// # use bispectral_core::Model;
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
    /// let findings = Model::from_bytes(bytes)?.findings();
    /// let model = Model::from_checked_bytes(bytes, findings);
    /// assert_eq!((model.inputs(), model.rows()), (4, 3));
    /// # Ok::<(), bispectral_core::Error>(())
    /// ```
    #[must_use]
    pub const fn from_checked_bytes(bytes: &'a [u8], findings: [u32; 4]) -> Self {
        Model {
            message: before_checksum(bytes),
            findings: Findings::from_words(findings),
        }
    }

    /// The fields, which were checked.
    fn view(&self) -> View<'a> {
        View::split(self.message)
    }

    /// Has `compute` compute with the fields.
    fn with<T>(&self, compute: impl FnOnce(Inference<'_, 'a, EVERY>) -> T) -> T {
        compute(Inference {
            view: &self.view(),
            findings: self.findings,
        })
    }

    /// What people call the model.
    #[must_use]
    pub fn name(&self) -> &'a str {
        core::str::from_utf8(self.view().name).unwrap_or_default()
    }

    /// The group whose irreducible representations the rows are, where the exporter knew it.
    #[must_use]
    pub fn group(&self) -> Option<&'a str> {
        core::str::from_utf8(self.view().group)
            .ok()
            .filter(|group| !group.is_empty())
    }

    /// The features of this crate that a program needs for this model.
    ///
    /// ```
    /// # use bispectral_core::{Feature, Model};
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
    /// let model = Model::from_bytes(bytes)?;
    /// assert!(model.needed_features().eq([Feature::F32, Feature::Dense]));
    /// # Ok::<(), bispectral_core::Error>(())
    /// ```
    pub fn needed_features(&self) -> impl Iterator<Item = Feature> + use<> {
        let view = self.view();
        let transform = match view.structure() {
            // Whole numbers have a transform of their own.
            Some(StoredStructure::Cyclic {
                transform, factors, ..
            }) if !view.is_whole() => Some(transform_features(transform, factors)),
            _ => None,
        };
        view.features().chain(transform.into_iter().flatten())
    }

    /// N: the samples of a signal.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.view().inputs.into()
    }

    /// R: the rows of W, one coefficient each.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.view().rows.into()
    }

    /// The invariants of a signal: R(R+1)/2, or as many as the model lists; of couplings, its terms.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.view().order().len()
    }

    /// The rows i and j of the invariant at this index; `None` past the last. Of couplings, its number twice.
    ///
    /// ```
    /// # use bispectral_core::Model;
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
    /// let model = Model::from_bytes(bytes)?;
    /// assert_eq!((model.pair(4), model.pair(6)), (Some((1, 2)), None));
    /// # Ok::<(), bispectral_core::Error>(())
    /// ```
    #[must_use]
    pub fn pair(&self, index: usize) -> Option<(usize, usize)> {
        self.view().order().get(index)
    }

    /// (i, j) of every invariant, in their order; of couplings, the number of each term twice.
    pub fn pair_list(&self) -> impl Iterator<Item = (usize, usize)> + Clone + use<'a> {
        self.view().order().list()
    }

    /// Rows of W that are stored: R, or fewer where some are conjugates of others; none where the group makes them.
    #[must_use]
    pub fn stored_rows(&self) -> usize {
        self.view().stored_rows()
    }

    /// W_ij as the model holds it; `None` where there is no such row or column.
    ///
    /// ```
    /// # use bispectral_core::{Model};
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
    /// let model = Model::from_bytes(bytes)?;
    /// assert_eq!(model.weight(0, 0).unwrap().re, 0.5);
    /// assert_eq!(model.weight(3, 0), None);
    /// # Ok::<(), bispectral_core::Error>(())
    /// ```
    #[must_use]
    pub fn weight(&self, row: usize, column: usize) -> Option<Complex32> {
        if row >= self.rows() {
            return None;
        }
        kernel::weight(&self.view(), self.findings, row, column)
    }

    /// Whether the weights are read in place; otherwise they are put together from bytes, with the same results.
    #[must_use]
    pub fn is_aligned(&self) -> bool {
        kernel::is_aligned(&self.view(), self.findings)
    }

    /// What the model consists of: written, it is the model's bytes again.
    ///
    /// ```
    /// # use bispectral_core::Model;
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
    /// let parts = Model::from_bytes(bytes)?.parts();
    /// assert_eq!(parts.write(&mut [0; 148])?, bytes);
    /// # Ok::<(), bispectral_core::Error>(())
    /// ```
    #[must_use]
    pub fn parts(&self) -> Parts<'a> {
        self.view().parts()
    }

    /// Elements of scratch the calls below need; [`scratch_len`](crate::scratch_len) for use in types.
    #[must_use]
    pub fn scratch_len(&self) -> usize {
        self.with(|inference| inference.scratch_len())
    }

    /// β̄_ij = β_ij / ‖β‖₂ in the order of [`pairs`](crate::pairs), to the front of `invariants`; of couplings, the terms in
    /// their order, whose imaginary part is zero.
    ///
    /// Multiplying the signal by a power of two changes no bit of them.
    ///
    /// # Errors
    /// A wrong length, or a signal that is zero or not finite: `invariants` is untouched.
    /// [`Error::ZeroBispectrum`] where no row of W responds to the signal: `invariants` is zeros.
    ///
    /// ```
    /// # use bispectral_core::{Complex32, Model, pair_count, scratch_len};
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
    /// let model = Model::from_bytes(bytes)?;
    /// let (mut scratch, mut a) = ([0.0; scratch_len(4, 3)], [Complex32::ZERO; pair_count(3)]);
    /// let mut b = a;
    /// model.invariants(&[3.0, 1.0, 0.0, -1.0], &mut scratch, &mut a)?;
    /// model.invariants(&[3e20, 1e20, 0.0, -1e20], &mut scratch, &mut b)?;
    /// assert!(a.iter().zip(b).all(|(a, b)| (a - b).norm_sqr() < 1e-12));
    /// # Ok::<(), bispectral_core::Error>(())
    /// ```
    pub fn invariants<S: Sample>(
        &self,
        x: &[S],
        scratch: &mut [f32],
        invariants: &mut [Complex32],
    ) -> Result<(), Error> {
        S::signal(x, |x| self.normalised(x, scratch, invariants))
    }

    /// [`invariants`](Self::invariants), of samples of any type.
    fn normalised(
        &self,
        x: Signal<'_>,
        scratch: &mut [f32],
        invariants: &mut [Complex32],
    ) -> Result<(), Error> {
        self.with(|inference| inference.invariants(x, scratch, invariants))
    }

    /// Numbers that [`features`](Self::features) gives for a signal.
    #[must_use]
    pub fn feature_count(&self) -> usize {
        self.view().feature_count()
    }

    /// The features of a signal as real numbers, to the front of `features`, whatever kind of model this is; they are what
    /// a classifier behind it takes. Of a bispectrum, Re β̄_ij and Im β̄_ij beside each other, in the order of the pairs; of
    /// couplings, the invariants, which are real; of [degree one](crate::format::Output::DegreeOne), |z_k| of every row and then
    /// the two parts of every pair's term.
    ///
    /// Multiplying the signal by a power of two changes no bit of them.
    ///
    /// # Errors
    /// As [`invariants`](Self::invariants). Features of degree one are there for all signals to which some row of W responds by
    /// more than the rounding of its sum.
    ///
    /// ```
    /// # use bispectral_core::{Model, pair_count, scratch_len};
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
    /// let model = Model::from_bytes(bytes)?;
    /// let (mut scratch, mut features) = ([0.0; scratch_len(4, 3)], [0.0; 2 * pair_count(3)]);
    /// assert_eq!(model.feature_count(), features.len());
    /// model.features(&[2.0, 0.0, 0.0, 0.0], &mut scratch, &mut features)?;
    /// assert_eq!(features[..4], [features[0], 0.0, features[0], 0.0]);
    /// # Ok::<(), bispectral_core::Error>(())
    /// ```
    pub fn features<S: Sample>(
        &self,
        x: &[S],
        scratch: &mut [f32],
        features: &mut [f32],
    ) -> Result<(), Error> {
        S::signal(x, |x| self.features_of(x, scratch, features))
    }

    /// [`features`](Self::features), of samples of any type.
    pub(crate) fn features_of(
        &self,
        x: Signal<'_>,
        scratch: &mut [f32],
        features: &mut [f32],
    ) -> Result<(), Error> {
        self.with(|inference| inference.features(x, scratch, features))
    }

    /// What the features of a signal are.
    #[must_use]
    pub fn output(&self) -> Output {
        self.view().output()
    }

    /// β_ij in the order of [`pairs`](crate::pairs), to the front of `beta`; of couplings, the forms at z, not divided by
    /// its norm.
    ///
    /// A term below 2^-126 of X³V⁴, with X and V the largest sample and weight, loses digits; below 2^-149, it is zero.
    ///
    /// # Errors
    /// A wrong length, or a signal that is zero or not finite: `beta` is untouched.
    /// [`Error::Overflow`] where a term is larger than f32 holds: `beta` is zeros.
    ///
    /// ```
    /// # use bispectral_core::{Complex32, Model, pair_count, scratch_len};
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
    /// let model = Model::from_bytes(bytes)?;
    /// let (mut scratch, mut beta) = ([0.0; scratch_len(4, 3)], [Complex32::ZERO; pair_count(3)]);
    /// model.bispectrum(&[2.0, 0.0, 0.0, 0.0], &mut scratch, &mut beta)?;
    /// assert_eq!(beta, [Complex32::new(0.5, 0.0); 6]);
    /// # Ok::<(), bispectral_core::Error>(())
    /// ```
    pub fn bispectrum<S: Sample>(
        &self,
        x: &[S],
        scratch: &mut [f32],
        beta: &mut [Complex32],
    ) -> Result<(), Error> {
        S::signal(x, |x| self.bispectrum_of(x, scratch, beta))
    }

    /// [`bispectrum`](Self::bispectrum), of samples of any type.
    fn bispectrum_of(
        &self,
        x: Signal<'_>,
        scratch: &mut [f32],
        beta: &mut [Complex32],
    ) -> Result<(), Error> {
        self.with(|inference| inference.bispectrum(x, scratch, beta))
    }

    /// z = W x, one coefficient a row, to the front of `z`.
    ///
    /// # Errors
    /// A wrong length, or a signal that is zero or not finite: `z` is untouched.
    /// [`Error::Overflow`] where a coefficient is larger than f32 holds: `z` is zeros.
    ///
    /// ```
    /// # use bispectral_core::{Complex32, Model, scratch_len};
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
    /// let model = Model::from_bytes(bytes)?;
    /// let (mut scratch, mut z) = ([0.0; scratch_len(4, 3)], [Complex32::ZERO; 3]);
    /// model.coefficients(&[1.0, 1.0, 0.0, 0.0], &mut scratch, &mut z)?;
    /// assert_eq!(z, [Complex32::new(1.0, 0.0), Complex32::new(0.5, -0.5), Complex32::ZERO]);
    /// # Ok::<(), bispectral_core::Error>(())
    /// ```
    pub fn coefficients<S: Sample>(
        &self,
        x: &[S],
        scratch: &mut [f32],
        z: &mut [Complex32],
    ) -> Result<(), Error> {
        S::signal(x, |x| self.coefficients_of(x, scratch, z))
    }

    /// [`coefficients`](Self::coefficients), of samples of any type.
    fn coefficients_of(
        &self,
        x: Signal<'_>,
        scratch: &mut [f32],
        z: &mut [Complex32],
    ) -> Result<(), Error> {
        self.with(|inference| inference.coefficients(x, scratch, z))
    }

    /// |z_i|², one a row, to the front of `power`: invariant, too, but it keeps no phase, so different signals share it.
    /// Of couplings, only the sums over the rows of a block are invariant.
    ///
    /// # Errors
    /// As [`coefficients`](Self::coefficients).
    ///
    /// ```
    /// # use bispectral_core::{Model, scratch_len};
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
    /// let model = Model::from_bytes(bytes)?;
    /// let (mut scratch, mut power) = ([0.0; scratch_len(4, 3)], [0.0; 3]);
    /// model.power_spectrum(&[1.0, 1.0, 0.0, 0.0], &mut scratch, &mut power)?;
    /// assert_eq!(power, [1.0, 0.5, 0.0]);
    /// # Ok::<(), bispectral_core::Error>(())
    /// ```
    pub fn power_spectrum<S: Sample>(
        &self,
        x: &[S],
        scratch: &mut [f32],
        power: &mut [f32],
    ) -> Result<(), Error> {
        S::signal(x, |x| self.power_spectrum_of(x, scratch, power))
    }

    /// [`power_spectrum`](Self::power_spectrum), of samples of any type.
    fn power_spectrum_of(
        &self,
        x: Signal<'_>,
        scratch: &mut [f32],
        power: &mut [f32],
    ) -> Result<(), Error> {
        self.with(|inference| inference.power_spectrum(x, scratch, power))
    }

    /// Hands every (i, j, β_ij) to `each`, in the order of [`pairs`](crate::pairs), and returns their norm: for devices
    /// that cannot hold R(R+1)/2 terms but can project, compare or classify them as they come.
    ///
    /// The terms are those of the signal scaled by a power of two, and not yet normalised;
    /// [`Magnitude`] turns them, or whatever is linear in them, into β̄ or β. Of couplings, `each` gets the number of the
    /// term twice, and the invariant itself: its norm counts as 1.
    ///
    /// # Errors
    /// A wrong length, or a signal that is zero or not finite: `each` was not called.
    /// [`Error::ZeroBispectrum`] where β is no larger than rounding could make it: the terms were errors of rounding.
    ///
    /// ```
    /// # use bispectral_core::{Model, scratch_len};
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
    /// let model = Model::from_bytes(bytes)?;
    /// let mut scratch = [0.0; scratch_len(4, 3)];
    ///
    /// // A linear read-out of the invariants, with no memory for them.
    /// let mut read_out = |x: &[f32; 4]| {
    ///     let mut sum = 0.0;
    ///     let magnitude = model.stream(x, &mut scratch, |i, j, term| sum += (i + 2 * j) as f32 * term.re)?;
    ///     Ok(sum / magnitude.norm())
    /// };
    /// let (original, shifted) = (read_out(&[3.0, 1.0, 0.0, -1.0])?, read_out(&[0.0, -1.0, 3.0, 1.0])?);
    /// assert!((original - shifted).abs() < 1e-6);
    /// # Ok::<(), bispectral_core::Error>(())
    /// ```
    #[inline]
    pub fn stream<S: Sample>(
        &self,
        x: &[S],
        scratch: &mut [f32],
        each: impl FnMut(usize, usize, Complex32),
    ) -> Result<Magnitude, Error> {
        S::signal(x, |x| {
            self.with(|inference| inference.stream(x, scratch, each))
        })
    }

    /// Classes that [`scores`](Self::scores) tells apart; none where the model has no classifier.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.with(|inference| inference.classes())
    }

    /// Elements of scratch that [`scores`](Self::scores) and [`classify`](Self::classify) need.
    #[must_use]
    pub fn classifier_scratch_len(&self) -> usize {
        self.with(|inference| inference.classifier_scratch_len())
    }

    /// The class of a signal: the first of those with the largest [score](Self::scores).
    ///
    /// # Errors
    /// As [`scores`](Self::scores).
    pub fn classify<S: Sample>(
        &self,
        x: &[S],
        scratch: &mut [f32],
        scores: &mut [f32],
    ) -> Result<usize, Error> {
        S::signal(x, |x| self.class_of(x, scratch, scores))
    }

    /// [`classify`](Self::classify), of samples of any type.
    pub(crate) fn class_of(
        &self,
        x: Signal<'_>,
        scratch: &mut [f32],
        scores: &mut [f32],
    ) -> Result<usize, Error> {
        self.with(|inference| inference.classify(x, scratch, scores))
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
    /// use bispectral_core::format::{Head, Layer, Layers, Parts, Weights};
    /// use bispectral_core::Model;
    ///
    /// // One row and one input: β̄ = 1 for a positive sample and −1 for a negative one.
    /// let weights = Weights::F32((&[1.0, 0.0]).into());
    /// // Scores Re β̄ and −Re β̄: weights of the real part, then of the imaginary part.
    /// let layer = Layer { weights: &[1.0, -1.0, 0.0, 0.0], biases: &[0.0, 0.0] };
    /// let layers = [layer];
    /// let head = Head::Perceptron(Layers::F32(&layers));
    /// let parts = Parts { inputs: 1, rows: 1, weights, head, ..Parts::default() };
    /// let mut bytes = vec![0; parts.encoded_len()?];
    /// let model = Model::from_bytes(parts.write(&mut bytes)?)?;
    ///
    /// let (mut scratch, mut scores) = (vec![0.0; model.classifier_scratch_len()], [0.0; 2]);
    /// assert_eq!(model.classify(&[0.3], &mut scratch, &mut scores)?, 0);
    /// assert_eq!(model.classify(&[-7.0], &mut scratch, &mut scores)?, 1);
    /// assert_eq!(scores, [-1.0, 1.0]);
    /// # Ok::<(), bispectral_core::Error>(())
    /// ```
    pub fn scores<S: Sample>(
        &self,
        x: &[S],
        scratch: &mut [f32],
        scores: &mut [f32],
    ) -> Result<(), Error> {
        S::signal(x, |x| self.scores_of(x, scratch, scores))
    }

    /// [`scores`](Self::scores), of samples of any type.
    fn scores_of(
        &self,
        x: Signal<'_>,
        scratch: &mut [f32],
        scores: &mut [f32],
    ) -> Result<(), Error> {
        self.with(|inference| inference.scores(x, scratch, scores))
    }

    /// [`invariants`](Self::invariants) in a vector of their own.
    ///
    /// # Errors
    /// As there, but for the lengths.
    ///
    /// ```
    /// # use bispectral_core::Model;
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
    /// let model = Model::from_bytes(bytes)?;
    /// let invariants = model.invariants_vec(&[3.0, 1.0, 0.0, -1.0])?;
    /// assert_eq!(invariants.len(), model.pairs());
    /// # Ok::<(), bispectral_core::Error>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn invariants_vec(&self, x: &[f32]) -> Result<std::vec::Vec<Complex32>, Error> {
        let mut out = std::vec![Complex32::ZERO; self.pairs()];
        self.invariants(x, &mut std::vec![0.0; self.scratch_len()], &mut out)?;
        Ok(out)
    }

    /// [`coefficients`](Self::coefficients) in a vector of their own.
    ///
    /// # Errors
    /// As there, but for the lengths.
    ///
    /// ```
    /// # use bispectral_core::Model;
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
    /// let model = Model::from_bytes(bytes)?;
    /// assert_eq!(model.coefficients_vec(&[3.0, 1.0, 0.0, -1.0])?.len(), model.rows());
    /// # Ok::<(), bispectral_core::Error>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn coefficients_vec(&self, x: &[f32]) -> Result<std::vec::Vec<Complex32>, Error> {
        let mut out = std::vec![Complex32::ZERO; self.rows()];
        self.coefficients(x, &mut std::vec![0.0; self.scratch_len()], &mut out)?;
        Ok(out)
    }

    /// Hands out every character that a window needs, and how its coefficient begins; `false` where `each` ended it.
    #[cfg(feature = "sliding")]
    pub(crate) fn track(
        &self,
        each: &mut dyn FnMut(usize, &dyn Fn() -> Tracked) -> bool,
    ) -> Result<bool, Error> {
        kernel::track(&self.view(), self.findings, each)
    }

    /// Characters that a window needs at most.
    #[cfg(feature = "sliding")]
    pub(crate) fn most_characters(&self) -> usize {
        kernel::most_characters(&self.view(), self.findings)
    }

    /// Calls `with` with what adds a change of a sample to a coefficient.
    #[cfg(feature = "sliding")]
    pub(crate) fn follow(&self, with: &mut dyn FnMut(&Follow<'_>)) {
        kernel::follow(&self.view(), self.findings, with);
    }

    /// [`stream`](Self::stream), of samples of any type.
    #[cfg(feature = "sliding")]
    #[inline]
    pub(crate) fn stream_of(
        &self,
        x: Signal<'_>,
        scratch: &mut [f32],
        each: impl FnMut(usize, usize, Complex32),
    ) -> Result<Magnitude, Error> {
        self.with(|inference| inference.stream(x, scratch, each))
    }
}
