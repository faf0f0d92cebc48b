//! What a model computes of a signal: z, |z|², β and β̄, in buffers of the caller.

use crate::bispectrum::Scale;
use crate::error::Error;
use crate::format::saturate;
use crate::magnitude::Magnitude;
use crate::model::Model;
use crate::scaling::{exponent_of_largest, restore};
use num_complex::Complex32;

impl Model<'_> {
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
        each: impl FnMut(usize, usize, Complex32),
    ) -> Result<Magnitude, Error> {
        Some(self.each_term(x, scratch, each)?)
            .filter(Magnitude::has_direction)
            .ok_or(Error::ZeroBispectrum)
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
