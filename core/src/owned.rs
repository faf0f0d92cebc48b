//! Feature `std`: results as `Vec`, for hosts that compute with the very code of the device.

use crate::error::Error;
use crate::model::Model;
use num_complex::Complex32;
use std::vec;
use std::vec::Vec;

impl Model<'_> {
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
    pub fn invariants_vec(&self, x: &[f32]) -> Result<Vec<Complex32>, Error> {
        let mut out = vec![Complex32::ZERO; self.pairs()];
        self.invariants(x, &mut vec![0.0; self.scratch_len()], &mut out)?;
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
    pub fn coefficients_vec(&self, x: &[f32]) -> Result<Vec<Complex32>, Error> {
        let mut out = vec![Complex32::ZERO; self.rows()];
        self.coefficients(x, &mut vec![0.0; self.scratch_len()], &mut out)?;
        Ok(out)
    }
}

impl From<Error> for std::io::Error {
    fn from(error: Error) -> Self {
        std::io::Error::new(std::io::ErrorKind::InvalidData, error)
    }
}
