//! Arrays that come from Python.

use crate::error::{Error, exception};
use bispectral_learn::bispectral_core::Complex32;
use bispectral_learn::data::orbits::Orbits;
use bispectral_learn::model::features::Features;
use bispectral_learn::ndarray::Array2;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// Signals, one a row, where they lie.
#[derive(FromPyObject)]
pub(crate) enum Signals<'py> {
    Single(PyReadonlyArray2<'py, f32>),
    Double(PyReadonlyArray2<'py, f64>),
}

impl Signals<'_> {
    pub(crate) fn count(&self) -> usize {
        match self {
            Signals::Single(x) => x.as_array().nrows(),
            Signals::Double(x) => x.as_array().nrows(),
        }
    }

    /// As they are trained on; copied, since the library keeps them.
    pub(crate) fn to_f32(&self) -> Array2<f32> {
        match self {
            Signals::Single(x) => x.as_array().to_owned(),
            Signals::Double(x) => x.as_array().mapv(|x| x as f32),
        }
    }

    pub(crate) fn complex(
        &self,
        py: Python<'_>,
        threads: Option<usize>,
        features: &Features<'_>,
        out: &mut [Complex32],
    ) -> PyResult<()> {
        let computed = match self {
            Signals::Single(x) => {
                let x = x.as_array();
                crate::work::compute(py, threads, || features.complex(x, out))
            }
            Signals::Double(x) => {
                let x = x.as_array();
                crate::work::compute(py, threads, || features.complex(x, out))
            }
        };
        computed?.map_err(exception)
    }

    pub(crate) fn real(
        &self,
        py: Python<'_>,
        threads: Option<usize>,
        features: &Features<'_>,
        out: &mut [f32],
    ) -> PyResult<()> {
        let computed = match self {
            Signals::Single(x) => {
                let x = x.as_array();
                crate::work::compute(py, threads, || features.real(x, out))
            }
            Signals::Double(x) => {
                let x = x.as_array();
                crate::work::compute(py, threads, || features.real(x, out))
            }
        };
        computed?.map_err(exception)
    }
}

/// Labels, one a signal.
pub(crate) fn labels(labels: &PyReadonlyArray1<'_, i64>) -> Vec<i64> {
    labels.as_array().to_vec()
}

/// Signals with labels, where both are given.
pub(crate) fn orbits(
    signals: Option<&Signals<'_>>,
    of: Option<&PyReadonlyArray1<'_, i64>>,
) -> PyResult<Option<Orbits>> {
    match (signals, of) {
        (Some(signals), Some(of)) => {
            let orbits = Orbits::labelled(signals.to_f32(), &labels(of)).map_err(exception)?;
            Ok(Some(orbits))
        }
        (None, None) => Ok(None),
        _ => Err(Error::new_err(
            "X, y: one without the other: give both or none",
        )),
    }
}
