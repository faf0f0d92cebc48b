//! A model: a checked view of its bytes, and what it computes of a signal: z, |z|², β, β̄ and classes, in buffers of the
//! caller.

use crate::bispectrum::Scale;
use crate::error::{Error, saturate};
use crate::format::{Layout, Parts, View};
use crate::head::Perceptron;
use crate::kernel::Kernel;
use crate::magnitude::Magnitude;
use crate::pairs::Order;
use crate::scaling::{exponent_of_largest, restore};
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
    view: View<'a>,
    order: Order<'a>,
    head: Option<Perceptron<'a>>,
    stored_rows: usize,
    kernel: Kernel<'a>,
    /// Of the largest weight.
    exponent: i32,
}

impl<'a> Model<'a> {
    /// Checks `bytes` — magic, version, length, CRC, every dimension, every weight — and borrows the weights from them.
    ///
    /// Any alignment works. Where the bytes begin at a multiple of four, as with
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
        let (view, layout) = View::read(bytes)?;
        let Layout {
            order,
            head,
            stored_rows,
        } = layout;
        let (kernel, exponent) = Kernel::new(&view)?;
        Ok(Model {
            view,
            order,
            head,
            stored_rows,
            kernel,
            exponent,
        })
    }

    /// What people call the model.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.view.name
    }

    /// The group whose irreducible representations the rows are, where the exporter knew it.
    #[must_use]
    pub fn group(&self) -> Option<&'a str> {
        self.view.group
    }

    /// N: the samples of a signal.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.view.inputs.into()
    }

    /// R: the rows of W, one coefficient each.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.view.rows.into()
    }

    /// The invariants of a signal: R(R+1)/2, or as many as the model lists.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.order.len()
    }

    /// The rows i and j of the invariant at this index; `None` past the last.
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
        self.order.get(index)
    }

    /// (i, j) of every invariant, in their order.
    pub fn pair_list(&self) -> impl Iterator<Item = (usize, usize)> + Clone + use<'a> {
        self.order.iter()
    }

    /// Rows of W that are stored: R, or fewer where some are conjugates of others; none where the group makes them.
    #[must_use]
    pub fn stored_rows(&self) -> usize {
        self.stored_rows
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
        self.kernel.weight(row, column)
    }

    /// Whether the weights are read in place; otherwise they are put together from bytes, with the same results.
    #[must_use]
    pub fn is_aligned(&self) -> bool {
        self.kernel.is_aligned()
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
        self.view.parts()
    }

    /// Elements of scratch the calls below need; [`scratch_len`](crate::scratch_len) for use in types.
    #[must_use]
    pub fn scratch_len(&self) -> usize {
        self.kernel.scratch_len(self.inputs(), self.stored_rows)
    }

    /// β̄_ij = β_ij / ‖β‖₂ in the order of [`pairs`](crate::pairs), to the front of `invariants`.
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
    pub fn invariants(
        &self,
        x: &[f32],
        scratch: &mut [f32],
        invariants: &mut [Complex32],
    ) -> Result<(), Error> {
        let invariants = front(invariants, self.pairs())?;
        let magnitude = self.collect(x, scratch, invariants)?;
        if !magnitude.has_direction() {
            invariants.fill(Complex32::ZERO);
            return Err(Error::ZeroBispectrum);
        }
        for term in invariants.iter_mut() {
            *term = magnitude.normalise(*term);
        }
        Ok(())
    }

    /// β_ij in the order of [`pairs`](crate::pairs), to the front of `beta`.
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
    pub fn bispectrum(
        &self,
        x: &[f32],
        scratch: &mut [f32],
        beta: &mut [Complex32],
    ) -> Result<(), Error> {
        let beta = front(beta, self.pairs())?;
        // β = 0 is an answer; only β̄ has none.
        let magnitude = self.collect(x, scratch, beta)?;
        restore_all(bytemuck::must_cast_slice_mut(beta), magnitude.exponent())
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
    pub fn coefficients(
        &self,
        x: &[f32],
        scratch: &mut [f32],
        z: &mut [Complex32],
    ) -> Result<(), Error> {
        let z = front(z, self.rows())?;
        let (scratch, scale) = self.prepare(x, scratch)?;
        let mut out = z.iter_mut();
        self.kernel
            .each_coefficient(x, scale, scratch, &mut |value| {
                if let Some(z) = out.next() {
                    *z = value;
                }
            });
        restore_all(bytemuck::must_cast_slice_mut(z), scale.coefficient())
    }

    /// |z_i|², one a row, to the front of `power`: invariant, too, but it keeps no phase, so different signals share it.
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
    pub fn power_spectrum(
        &self,
        x: &[f32],
        scratch: &mut [f32],
        power: &mut [f32],
    ) -> Result<(), Error> {
        let power = front(power, self.rows())?;
        let (scratch, scale) = self.prepare(x, scratch)?;
        let mut out = power.iter_mut();
        self.kernel.each_coefficient(x, scale, scratch, &mut |z| {
            if let Some(power) = out.next() {
                *power = z.re * z.re + z.im * z.im;
            }
        });
        restore_all(power, 2 * scale.coefficient())
    }

    /// Hands every (i, j, β_ij) to `each`, in the order of [`pairs`](crate::pairs), and returns their norm: for devices
    /// that cannot hold R(R+1)/2 terms but can project, compare or classify them as they come.
    ///
    /// The terms are those of the signal scaled by a power of two, and not yet normalised;
    /// [`Magnitude`] turns them, or whatever is linear in them, into β̄ or β.
    ///
    /// # Errors
    /// A wrong length, or a signal that is zero or not finite: `each` was not called.
    /// [`Error::ZeroBispectrum`] where no row of W responds to the signal: every term was zero or nearly so.
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
    pub fn stream(
        &self,
        x: &[f32],
        scratch: &mut [f32],
        each: impl FnMut(usize, usize, Complex32),
    ) -> Result<Magnitude, Error> {
        Some(self.each_term(x, scratch, each)?)
            .filter(Magnitude::has_direction)
            .ok_or(Error::ZeroBispectrum)
    }

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
    pub fn scores(&self, x: &[f32], scratch: &mut [f32], scores: &mut [f32]) -> Result<(), Error> {
        let head = self.head.ok_or(Error::NoClassifier)?;
        let scores = front(scores, head.classes())?;
        let (needed, found) = (self.classifier_scratch_len(), scratch.len());
        let (scratch, behind) = scratch
            .get_mut(..needed)
            .and_then(|scratch| scratch.split_at_mut_checked(self.scratch_len()))
            .ok_or(Error::ScratchLength {
                needed: saturate(needed),
                found: saturate(found),
            })?;
        let mut first = head.first_layer(behind).ok_or(Error::Malformed)?;
        let magnitude = self.stream(x, scratch, |_, _, term| first.add(term))?;
        first.scores(magnitude, scores);
        if scores.iter().all(|score| score.is_finite()) {
            return Ok(());
        }
        scores.fill(0.0);
        Err(Error::Overflow)
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

    /// [`stream`](Self::stream), whatever the norm.
    #[inline]
    fn each_term(
        &self,
        x: &[f32],
        scratch: &mut [f32],
        each: impl FnMut(usize, usize, Complex32),
    ) -> Result<Magnitude, Error> {
        let (scratch, scale) = self.prepare(x, scratch)?;
        Ok(self.kernel.each_term(self.order, x, scale, scratch, each))
    }

    /// The terms of the scaled signal, one behind the other.
    fn collect(
        &self,
        x: &[f32],
        scratch: &mut [f32],
        out: &mut [Complex32],
    ) -> Result<Magnitude, Error> {
        let mut out = out.iter_mut();
        self.each_term(x, scratch, |_, _, term| {
            if let Some(out) = out.next() {
                *out = term;
            }
        })
    }

    /// The magnitude of `x`, once it is known to be a signal of this model.
    fn scale_of(&self, x: &[f32]) -> Result<Scale, Error> {
        if x.len() != self.inputs() {
            return Err(Error::InputLength {
                needed: saturate(self.inputs()),
                found: saturate(x.len()),
            });
        }
        match exponent_of_largest(x.iter().copied()) {
            Ok(Some(signal)) => Ok(Scale::new(signal, self.exponent)),
            Ok(None) => Err(Error::ZeroInput),
            Err(index) => Err(Error::NonFiniteInput {
                index: saturate(index),
            }),
        }
    }

    /// As much of the scratch as the model needs, and the magnitude of `x`.
    fn prepare<'s>(
        &self,
        x: &[f32],
        scratch: &'s mut [f32],
    ) -> Result<(&'s mut [f32], Scale), Error> {
        let (needed, found) = (self.scratch_len(), scratch.len());
        let scratch = scratch.get_mut(..needed).ok_or(Error::ScratchLength {
            needed: saturate(needed),
            found: saturate(found),
        })?;
        Ok((scratch, self.scale_of(x)?))
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
