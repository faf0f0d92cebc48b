//! Without the feature `fft`: no model that calls for it is read.

use num_complex::Complex32;

/// Whether models that call for the fast transform can be computed.
pub(super) const AVAILABLE: bool = false;

pub(super) fn fast(_line: &mut [Complex32]) -> bool {
    false
}
