//! Sums over samples, added in chunks and on many machines, and the linear group behind them.

use crate::error::{Error, exception};
use crate::model::Model;
use crate::signals::{Signals, labels};
use crate::work::compute;
use bispectral_learn::Error as LibraryError;
use bispectral_learn::analysis::certification::invariants_of;
use bispectral_learn::group::compact::{Compact, LeftOut, Moments as Sums};
use bispectral_learn::model::couplings::encode;
use bispectral_learn::model::file::ModelBytes;
use bispectral_learn::model::form::Encoding;
use numpy::{PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};
use std::sync::{Mutex, MutexGuard};

#[pyclass(frozen, module = "bispectral._bispectral")]
pub(crate) struct Moments {
    sums: Mutex<Sums>,
}

impl Moments {
    /// Refused where an interruption left a part of a chunk in them.
    fn sums(&self) -> PyResult<MutexGuard<'_, Sums>> {
        self.sums.lock().map_err(|_| {
            Error::new_err("moments: adding to them was interrupted: begin with new ones")
        })
    }

    fn of(sums: Sums) -> Self {
        Moments {
            sums: Mutex::new(sums),
        }
    }
}

#[pymethods]
impl Moments {
    #[new]
    fn new(inputs: usize) -> PyResult<Self> {
        Ok(Moments::of(Sums::new(inputs).map_err(exception)?))
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        Ok(Moments::of(Sums::from_bytes(bytes).map_err(exception)?))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| Ok::<_, PyErr>(self.sums()?.to_bytes()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn inputs(&self, py: Python<'_>) -> PyResult<usize> {
        py.detach(|| Ok(self.sums()?.inputs()))
    }

    fn count(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| Ok(self.sums()?.count()))
    }

    /// Samples of one more chunk.
    fn add<'py>(
        &self,
        py: Python<'py>,
        signals: Signals<'py>,
        orbit: PyReadonlyArray1<'py, i64>,
        threads: Option<usize>,
    ) -> PyResult<()> {
        let (samples, labels) = (signals.to_f32(), labels(&orbit));
        compute(py, threads, || {
            let added = self.sums()?.add(samples.view(), &labels);
            added.map_err(exception)
        })?
    }

    /// What another has seen.
    fn merge(&self, py: Python<'_>, other: &Moments) -> PyResult<()> {
        // One after the other, so that no two wait for each other.
        py.detach(|| {
            let other = other.sums()?.clone();
            self.sums()?.merge(other).map_err(exception)
        })
    }

    /// The group, its blocks and how sure they are, as JSON; its model.
    fn learn(
        &self,
        py: Python<'_>,
        name: &str,
        seed: u64,
        threads: Option<usize>,
    ) -> PyResult<Compacted> {
        let sums = py.detach(|| Ok::<_, PyErr>(self.sums()?.clone()))?;
        let found = compute(py, threads, || -> Result<_, LibraryError> {
            let found = Compact::of(&sums, seed).map_err(|why| {
                let remedy = "give whole orbits of more things, or more members of each";
                LibraryError::new("samples", why.to_string(), remedy)
            })?;
            let group = found.name().to_string();
            let couplings = invariants_of(&found, seed)?;
            let bytes = encode(&couplings, Encoding::F32, name, Some(&group))?;
            Ok((found, group, bytes))
        })?;
        let (found, group, bytes) = found.map_err(exception)?;
        let bytes =
            ModelBytes::from_bytes(bytes).map_err(|error| Error::new_err(error.to_string()))?;
        Ok(Compacted {
            found,
            group,
            bytes,
        })
    }
}

/// A group that acts linearly, as it was learned.
#[pyclass(frozen, module = "bispectral._bispectral")]
pub(crate) struct Compacted {
    found: Compact,
    group: String,
    bytes: ModelBytes,
}

#[pymethods]
impl Compacted {
    fn model(&self) -> Model {
        Model::of(self.bytes.clone())
    }

    /// The basis in which each irrep has rows of its own.
    fn basis<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        PyArray2::from_array(py, self.found.couplings().basis())
    }

    fn describe(&self) -> String {
        let irreps = self.found.irreps().iter();
        let irreps = irreps.map(|irrep| {
            json!({"dimension": irrep.dimension, "copies": irrep.copies.len(), "trivial": irrep.trivial})
        });
        let forms = self.found.forms().iter();
        let forms = forms.map(|form| json!({"irreps": form.irreps, "lambda": form.lambda}));
        let left_out = self.found.left_out().iter().map(|left_out| match left_out {
            LeftOut::Noise { dimension, lambda } => {
                json!({"why": "noise", "dimension": dimension, "lambda": lambda})
            }
            LeftOut::Unclear {
                irreps,
                lambda,
                held_out,
            } => {
                json!({"why": "unclear", "irreps": irreps, "lambda": lambda, "held_out": held_out})
            }
            LeftOut::Products { irreps, products } => {
                json!({"why": "too many products", "irreps": irreps, "products": products})
            }
            _ => json!({"why": "other"}),
        });
        let evidence = self.found.commutant();
        json!({
            "group": self.group, "blocks": self.found.dimensions(), "irreps": irreps.collect::<Value>(),
            "forms": forms.collect::<Value>(), "left_out": left_out.collect::<Value>(),
            "commutant": {"dimension": evidence.dimension, "last": evidence.last, "next": evidence.next, "deviation": evidence.deviation},
        })
        .to_string()
    }
}
