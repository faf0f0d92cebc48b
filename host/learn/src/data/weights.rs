//! W from a `.npy` file: complex64 or complex128 (float32 and float64 work, too), of shape [rows, inputs].

use super::npy::{Array, Element};
use crate::limits::memory;
use crate::{Error, Result};
use bispectral_core::Complex32;
use bispectral_core::format::MAX_DIMENSION;
use ndarray::Array2;
use num_complex::Complex64;
use std::path::Path;

/// Bytes of W that are in memory as f64 at a time.
const BLOCK: usize = 16 << 20;

/// What is wrong with a value, and what to do.
type Refusal = (String, &'static str);

/// The weights in the file at `path`, rounded to f32.
///
/// # Errors
/// The file is damaged or of another kind or shape, or a number is not finite or too large for f32.
pub fn read(path: &Path) -> Result<Array2<Complex32>> {
    let mut array = Array::open(path)?;
    check(&array, path)?;
    let (rows, columns) = (array.rows(), array.columns());
    let mut weights = memory::vector(path, "weights", rows * columns)?;
    let step = (BLOCK / (columns * Element::Complex128.size())).max(1);
    for first in (0..rows).step_by(step) {
        let block = array.read(first..first + step)?;
        for (place, value) in (first * columns..).zip(block) {
            let (row, column) = (place / columns, place % columns);
            let rounded = round(*value).map_err(|(what, remedy)| {
                Error::file(path, format!("row {row}, column {column}: {what}"), remedy)
            })?;
            weights.push(rounded);
        }
    }
    Ok(Array2::from_shape_vec((rows, columns), weights).expect("as many as were read"))
}

fn check(array: &Array, path: &Path) -> Result<()> {
    if array.dimensions() != 2 {
        return Err(Error::file(
            path,
            "the array has 1 dimension",
            "save one of shape [rows, inputs]",
        ));
    }
    if array.element().is_integer() {
        return Err(Error::file(
            path,
            format!("the elements are {}", array.element()),
            "save W.astype(\"complex64\")",
        ));
    }
    if array.rows().max(array.columns()) > MAX_DIMENSION.into() {
        return Err(Error::file(
            path,
            format!("the shape is [{}, {}]", array.rows(), array.columns()),
            format!("use at most {MAX_DIMENSION} rows and {MAX_DIMENSION} inputs"),
        ));
    }
    Ok(())
}

fn round(value: Complex64) -> std::result::Result<Complex32, Refusal> {
    let part = |part: &str, value: f64| {
        let rounded = value as f32;
        if !value.is_finite() {
            let what = format!("the {part} part is {value}");
            return Err((what, "replace it by a finite number"));
        }
        if !rounded.is_finite() {
            return Err((
                format!("the {part} part is {value:e}, more than f32 holds"),
                "scale W by a constant, the invariants stay the same",
            ));
        }
        Ok(rounded)
    };
    Ok(Complex32::new(
        part("real", value.re)?,
        part("imaginary", value.im)?,
    ))
}
