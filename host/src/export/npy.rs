//! `.npy` files of whole arrays.

use crate::data::npy::{Element, header};
use bispectral_core::Complex32;
use ndarray::ArrayView2;

/// The bytes of a file that NumPy reads as complex64.
///
/// ```
/// use bispectral::export::npy;
/// use bispectral_core::Complex32;
///
/// let w = ndarray::arr2(&[[Complex32::I, Complex32::ONE]]);
/// let bytes = npy::complex(&w.view());
/// assert_eq!(bytes[bytes.len() - 16..][4..8], 1.0_f32.to_le_bytes());
/// ```
#[must_use]
pub fn complex(array: &ArrayView2<'_, Complex32>) -> Vec<u8> {
    let shape = [array.nrows() as u64, array.ncols() as u64];
    let mut bytes = header(Element::Complex64, shape);
    let parts = array.iter().flat_map(|value| [value.re, value.im]);
    bytes.extend(parts.flat_map(f32::to_le_bytes));
    bytes
}

/// The bytes of a file that NumPy reads as float32.
#[must_use]
pub fn real(array: &ArrayView2<'_, f32>) -> Vec<u8> {
    let shape = [array.nrows() as u64, array.ncols() as u64];
    let mut bytes = header(Element::Float32, shape);
    bytes.extend(array.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}
