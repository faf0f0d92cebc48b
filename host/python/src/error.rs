//! Errors as Python's exceptions, with the library's one line.

use bispectral_learn::Error as LibraryError;
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyMemoryError, PyOSError, PyPermissionError,
    PyValueError,
};
use pyo3::prelude::*;
use std::io::ErrorKind;

pyo3::create_exception!(
    bispectral,
    Error,
    PyValueError,
    "What cannot be used as it is: what, where, and what to do."
);

/// As an exception: of files by the system's kind, of everything else `bispectral.Error`, which is a `ValueError`.
pub(crate) fn exception(error: impl Into<LibraryError>) -> PyErr {
    let error = error.into();
    let line = error.to_string();
    match &error {
        LibraryError::Read { kind, .. } | LibraryError::Write { kind, .. } => match kind {
            ErrorKind::NotFound => PyFileNotFoundError::new_err(line),
            ErrorKind::PermissionDenied => PyPermissionError::new_err(line),
            _ => PyOSError::new_err(line),
        },
        LibraryError::Exists { .. } | LibraryError::Occupied { .. } => {
            PyFileExistsError::new_err(line)
        }
        LibraryError::Memory { .. } => PyMemoryError::new_err(line),
        _ => Error::new_err(line),
    }
}

/// A word that is none of those expected.
pub(crate) fn unknown(option: &str, found: &str, expected: &str) -> PyErr {
    Error::new_err(format!("{option}: \"{found}\" is unknown: take {expected}"))
}
