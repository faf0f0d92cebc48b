//! Classes behind a model: features, principal components, a perceptron.

use crate::error::{Error, exception};
use crate::model::Model;
use crate::signals::{Signals, labels};
use crate::work::{compute, in_steps};
use bispectral_learn::analysis::fit::Limits;
use bispectral_learn::classify::chain::Chain;
use bispectral_learn::classify::classifier::Classifier as Trained;
use bispectral_learn::classify::device::Encoding;
use bispectral_learn::classify::prepared::{Prepared, Recipe, Stage};
use bispectral_learn::classify::samples::Samples;
use bispectral_learn::model::file::ModelBytes;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Map, Value, json};

#[pyclass(frozen, module = "bispectral._bispectral")]
pub(crate) struct Classifier {
    trained: Trained,
}

/// The paper's recipe, and what is chosen otherwise, as JSON.
fn recipe(text: &str) -> PyResult<Recipe> {
    let wrong = |error: serde_json::Error| {
        Error::new_err(format!("recipe: {error}: check its name and value"))
    };
    let chosen: Map<String, Value> = serde_json::from_str(text).map_err(wrong)?;
    let mut whole = serde_json::to_value(Recipe::default()).map_err(wrong)?;
    for (name, value) in chosen {
        let place = if whole.get(&name).is_some() {
            &mut whole
        } else {
            &mut whole["protocol"]
        };
        place[name] = value;
    }
    serde_json::from_value(whole).map_err(wrong)
}

#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn train_classifier<'py>(
    py: Python<'py>,
    model: &Model,
    signals: Signals<'py>,
    classes: PyReadonlyArray1<'py, i64>,
    recipe: &str,
    seed: u64,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Classifier> {
    let recipe = self::recipe(recipe)?;
    let data = Samples {
        samples: signals.to_f32(),
        labels: labels(&classes),
        views: 1,
    };
    let view = model.bytes.view();
    let trained = in_steps(py, threads, progress.as_ref(), |steps| {
        let mut stopped = None;
        let mut observe = |stage: Stage<'_>| {
            let told = steps.done(|| match stage {
                Stage::Features { done, of } => json!({"features": done, "of": of}).to_string(),
                Stage::Epoch(epoch) => serde_json::to_string(epoch).unwrap_or_default(),
            });
            stopped = stopped.take().or(told.err());
        };
        let prepared = Prepared::new(view, &data, &[], &recipe, seed, &mut observe)?;
        let trained = prepared.train(&recipe.protocol, seed, &mut observe)?.0;
        stopped.map_or(Ok(trained), Err)
    })?;
    Ok(Classifier { trained })
}

/// The smallest chain of degree one within the limits that is right, as a model with its classifier; and what it is, as JSON.
#[pyfunction]
pub(crate) fn fit_chain<'py>(
    py: Python<'py>,
    signals: Signals<'py>,
    classes: PyReadonlyArray1<'py, i64>,
    count: usize,
    fit: Option<&str>,
    seed: u64,
    threads: Option<usize>,
) -> PyResult<(Model, String)> {
    let limits = match fit {
        Some(text) => text
            .parse::<Limits>()
            .map_err(|why| Error::new_err(format!("fit: \"{text}\": {why}")))?,
        None => Limits::default(),
    };
    let samples = signals.to_f32();
    let known = labels(&classes).into_iter().map(usize::try_from);
    let known: Result<Vec<usize>, _> = known.collect();
    let known = known.map_err(|_| Error::new_err("y: a class below 0: number classes from 0"))?;
    let chosen = compute(py, threads, || {
        Chain::choose(samples.view(), &known, count, &limits, seed)
    })?;
    let (chain, tried) = chosen.map_err(exception)?;
    let told = json!({
        "size": chain.size, "left_out": chain.left_out, "ram_bytes": chain.ram, "flash_bytes": chain.bytes.len(), "tried": tried.len(),
    });
    let bytes = ModelBytes::from_bytes(chain.bytes);
    let bytes = bytes.map_err(|error| Error::new_err(error.to_string()))?;
    Ok((Model::of(bytes), told.to_string()))
}

#[pymethods]
impl Classifier {
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let trained = Trained::from_bytes(bytes).map_err(exception)?;
        Ok(Classifier { trained })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.trained.to_bytes())
    }

    /// The class of each signal.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        model: &Model,
        signals: Signals<'py>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let (samples, view) = (signals.to_f32(), model.bytes.view());
        let taken = compute(py, threads, || {
            self.trained.classify(view, samples.view(), &mut |_| {})
        })?;
        let taken = taken.map_err(exception)?;
        let known = self.trained.labels();
        let labels = taken.into_iter().map(|place| known[usize::from(place)]);
        Ok(PyArray1::from_iter(py, labels))
    }

    /// Model and classifier in one, for a device.
    fn behind(&self, model: &Model, encoding: &str) -> PyResult<Model> {
        let encoding = match encoding {
            "f32" => Encoding::F32,
            "i8" => Encoding::I8,
            other => return Err(crate::error::unknown("encoding", other, "f32 or i8")),
        };
        let folded = self.trained.folded().map_err(exception)?;
        let bytes = folded
            .behind(&model.bytes.view(), encoding)
            .map_err(exception)?;
        let bytes =
            ModelBytes::from_bytes(bytes).map_err(|error| Error::new_err(error.to_string()))?;
        Ok(Model::of(bytes))
    }
}
