//! A checked view of a model's bytes, and what it computes.

use crate::bispectrum::{Scale, Scratch, coefficient, each_term};
use crate::error::Error;
use crate::format::{Parts, saturate};
use crate::magnitude::Magnitude;
use crate::pairs::pair_count;
use crate::scaling::{exponent_of_largest, restore};
use crate::weights::{Refused, Weights};
use num_complex::Complex32;

/// The largest weight must be within 2^±this; then no product of two weights and a scaled sample leaves f32.
const WEIGHT_EXPONENT: i32 = 60;

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
    parts: Parts<'a>,
    weights: Weights<'a>,
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
        let parts = Parts::read(bytes)?;
        let inputs = usize::from(parts.inputs);
        let (weights, exponent) =
            Weights::new(parts.weights, inputs).map_err(|refused| match refused {
                Refused::NonFinite(at) => Error::NonFiniteWeight {
                    row: (at / (2 * inputs).max(1)) as u16,
                    column: (at % inputs.max(1)) as u16,
                },
                Refused::Zero => Error::WeightRange,
            })?;
        if exponent.abs() > WEIGHT_EXPONENT {
            return Err(Error::WeightRange);
        }
        Ok(Model {
            parts,
            weights,
            exponent,
        })
    }

    /// N: the samples of a signal.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.parts.inputs.into()
    }

    /// R: the rows of W, one coefficient each.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.parts.rows.into()
    }

    /// R(R+1)/2: the invariants of a signal.
    #[must_use]
    pub fn pairs(&self) -> usize {
        pair_count(self.rows())
    }

    /// Elements of scratch the calls below need; [`scratch_len`](crate::scratch_len) for use in types.
    #[must_use]
    pub fn scratch_len(&self) -> usize {
        scratch_len(self.inputs(), self.rows())
    }

    /// What people call the model.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.parts.name
    }

    /// The group whose irreducible representations the rows are, where the exporter knew it.
    #[must_use]
    pub fn group(&self) -> Option<&'a str> {
        self.parts.group
    }

    /// Whether the weights are read in place; otherwise they are put together from bytes, with the same results.
    #[must_use]
    pub fn is_aligned(&self) -> bool {
        matches!(self.weights, Weights::Aligned(_))
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
        match self.weights {
            Weights::Aligned(w) => w.row(row).get(column),
            Weights::Bytes(w) => w.row(row).get(column),
        }
    }

    /// z = W x, one coefficient a row, to the front of `z`.
    ///
    /// # Errors
    /// A wrong length, or a signal that is zero or not finite: `z` is untouched.
    /// [`Error::Overflow`] where a coefficient is larger than f32 holds: `z` is zeros.
    ///
    /// ```
    /// # use bispectral_core::{Complex32, Model};
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
    /// let model = Model::from_bytes(bytes)?;
    /// let mut z = [Complex32::ZERO; 3];
    /// model.coefficients(&[1.0, 1.0, 0.0, 0.0], &mut z)?;
    /// assert_eq!(z, [Complex32::new(1.0, 0.0), Complex32::new(0.5, -0.5), Complex32::ZERO]);
    /// # Ok::<(), bispectral_core::Error>(())
    /// ```
    pub fn coefficients(&self, x: &[f32], z: &mut [Complex32]) -> Result<(), Error> {
        let z = front(z, self.rows())?;
        let scale = self.scale_of(x)?;
        self.each_coefficient(x, scale, z.iter_mut(), |z, value| *z = value);
        restore_all(bytemuck::must_cast_slice_mut(z), scale.coefficient())
    }

    /// |z_i|², one a row, to the front of `power`: invariant, too, but it keeps no phase, so different signals share it.
    ///
    /// # Errors
    /// As [`coefficients`](Self::coefficients).
    ///
    /// ```
    /// # use bispectral_core::Model;
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
    /// let model = Model::from_bytes(bytes)?;
    /// let mut power = [0.0; 3];
    /// model.power_spectrum(&[1.0, 1.0, 0.0, 0.0], &mut power)?;
    /// assert_eq!(power, [1.0, 0.5, 0.0]);
    /// # Ok::<(), bispectral_core::Error>(())
    /// ```
    pub fn power_spectrum(&self, x: &[f32], power: &mut [f32]) -> Result<(), Error> {
        let power = front(power, self.rows())?;
        let scale = self.scale_of(x)?;
        self.each_coefficient(x, scale, power.iter_mut(), |power, z| {
            *power = z.re * z.re + z.im * z.im;
        });
        restore_all(power, 2 * scale.coefficient())
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
        mut each: impl FnMut(usize, usize, Complex32),
    ) -> Result<Magnitude, Error> {
        Some(self.each_term(x, scratch, &mut each)?)
            .filter(Magnitude::has_direction)
            .ok_or(Error::ZeroBispectrum)
    }

    /// [`stream`](Self::stream), whatever the norm, and once for all closures: its loops are 3 KB of code, the indirect call a dozen
    /// instructions of the hundreds that a term takes.
    fn each_term(
        &self,
        x: &[f32],
        scratch: &mut [f32],
        each: &mut dyn FnMut(usize, usize, Complex32),
    ) -> Result<Magnitude, Error> {
        let scratch = self.split(scratch)?;
        let scale = self.scale_of(x)?;
        Ok(match self.weights {
            Weights::Aligned(w) => each_term(w, scale, x, scratch, each),
            Weights::Bytes(w) => each_term(w, scale, x, scratch, each),
        })
    }

    /// The terms of the scaled signal, one behind the other.
    fn collect(
        &self,
        x: &[f32],
        scratch: &mut [f32],
        out: &mut [Complex32],
    ) -> Result<Magnitude, Error> {
        let mut out = out.iter_mut();
        self.each_term(x, scratch, &mut |_, _, term| {
            if let Some(out) = out.next() {
                *out = term;
            }
        })
    }

    fn each_coefficient<T>(
        &self,
        x: &[f32],
        scale: Scale,
        out: impl Iterator<Item = T>,
        mut put: impl FnMut(T, Complex32),
    ) {
        let input = scale.input();
        for (i, out) in out.enumerate() {
            let z = match self.weights {
                Weights::Aligned(w) => coefficient(w.row(i), x, input),
                Weights::Bytes(w) => coefficient(w.row(i), x, input),
            };
            put(out, z);
        }
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

    fn split<'s>(&self, scratch: &'s mut [f32]) -> Result<Scratch<'s>, Error> {
        let (needed, found) = (self.scratch_len(), scratch.len());
        Scratch::split(scratch, self.inputs(), self.rows()).ok_or(Error::ScratchLength {
            needed: saturate(needed),
            found: saturate(found),
        })
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
