//! Learning, step by step, and what came of it.

use crate::error::{Error, exception, unknown};
use crate::model::Model;
use crate::signals::{Signals, labels};
use crate::work::in_steps;
use bispectral_learn::bispectral_core::Complex32;
use bispectral_learn::data::orbits::{Orbits, Split, Transform};
use bispectral_learn::group::LearnedTable;
use bispectral_learn::learn::Trainer;
use bispectral_learn::learn::phase::{LossName, Phase};
use bispectral_learn::ndarray::Array2;
use bispectral_learn::{Learned as Outcome, Options};
use bispectral_report::{Block, Page, render};
use bispectral_run::learned::page;
use bispectral_run::pages::write_file;
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// One line of the curve for so many steps.
const STEPS_A_LINE: u64 = 10;

#[pyclass(frozen, module = "bispectral._bispectral")]
pub(crate) struct Learned {
    outcome: Outcome,
    /// Losses of the steps, as JSON lines.
    metrics: String,
    shape: (usize, usize),
}

fn json_error(error: serde_json::Error) -> PyErr {
    Error::new_err(error.to_string().replace('\n', " "))
}

/// A phase of this name with the numbers that are known to work, and those of `changes` in their place.
fn phase(changes: &Map<String, Value>) -> PyResult<Phase> {
    let loss = changes
        .get("loss")
        .cloned()
        .unwrap_or_else(|| json!("orbit-separation"));
    let loss: LossName = serde_json::from_value(loss).map_err(|error| {
        Error::new_err(format!(
            "phases: {error}: take spectral, second-order or orbit-separation"
        ))
    })?;
    let Ok(Value::Object(mut whole)) = serde_json::to_value(Phase::new(loss)) else {
        return Err(Error::new_err("phases: a phase has no fields: report this"));
    };
    whole.extend(changes.clone());
    serde_json::from_value(Value::Object(whole))
        .map_err(|error| Error::new_err(format!("phases: {error}: check its name and value")))
}

/// What is chosen, as JSON: the fields of `Options`.
fn options(text: &str) -> PyResult<Options> {
    let chosen: Map<String, Value> = serde_json::from_str(text).map_err(json_error)?;
    let mut options = Options::default();
    for (name, value) in chosen {
        let wrong =
            |error: serde_json::Error| Error::new_err(format!("{name}: {error}: check its value"));
        match name.as_str() {
            "name" => options.name = serde_json::from_value(value).map_err(wrong)?,
            "seed" => options.seed = serde_json::from_value(value).map_err(wrong)?,
            "rows" => options.rows = serde_json::from_value(value).map_err(wrong)?,
            "held_out" => options.held_out = serde_json::from_value(value).map_err(wrong)?,
            "restarts" => options.restarts = serde_json::from_value(value).map_err(wrong)?,
            "polish" => options.polish = serde_json::from_value(value).map_err(wrong)?,
            "split" => {
                options.split = match value.as_str() {
                    Some("exemplars") => Split::Exemplars,
                    Some("transforms") => Split::Transforms,
                    _ => {
                        return Err(unknown(
                            "split",
                            &value.to_string(),
                            "exemplars or transforms",
                        ));
                    }
                }
            }
            "phases" => {
                let phases: Vec<Map<String, Value>> =
                    serde_json::from_value(value).map_err(wrong)?;
                options.phases = phases.iter().map(phase).collect::<PyResult<_>>()?;
            }
            _ => return Err(unknown("options", &name, "one of the documented options")),
        }
    }
    Ok(options)
}

fn train(
    py: Python<'_>,
    orbits: &Orbits,
    options: &Options,
    shape: Option<(usize, usize)>,
    threads: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Learned> {
    let (outcome, metrics) = in_steps(py, threads, progress, |steps| {
        let mut trainer = Trainer::new(orbits, options)?;
        let mut metrics = String::new();
        while let Some(step) = trainer.step()? {
            let words = || serde_json::to_string(&step).unwrap_or_default();
            if step.step % STEPS_A_LINE == 0 || trainer.next_step() == 0 {
                metrics += &words();
                metrics.push('\n');
            }
            let limit = trainer.phase().map_or(step.step, |(_, phase)| phase.steps);
            steps.done(|| {
                let mut value = serde_json::to_value(step).unwrap_or_default();
                value["steps"] = json!(limit);
                value.to_string()
            })?;
        }
        Ok((trainer.finish()?, metrics))
    })?;
    let shape = shape.unwrap_or((1, orbits.inputs()));
    Ok(Learned {
        outcome,
        metrics,
        shape,
    })
}

/// How exemplars are moved, by name.
pub(crate) fn transform(
    name: &str,
    inputs: usize,
    shape: Option<(usize, usize)>,
    fraction: f64,
    seed: u64,
) -> PyResult<Transform> {
    let image = || {
        let side = inputs.isqrt();
        shape.or((side * side == inputs).then_some((side, side))).ok_or_else(|| {
            Error::new_err(format!("X: {inputs} values are no square image: give an array of shape [samples, height, width]"))
        })
    };
    Ok(match name {
        "translate1d" => Transform::Translate1d,
        "translate2d" => {
            let (height, width) = image()?;
            Transform::Translate2d { height, width }
        }
        "rotate" => Transform::Rotate {
            size: image()?.0,
            fraction,
            seed,
        },
        other => Transform::Group(other.parse().map_err(|_| {
            unknown(
                "transform",
                other,
                "translate1d, translate2d, rotate or a group such as Z4xZ2",
            )
        })?),
    })
}

#[pyfunction]
pub(crate) fn learn<'py>(
    py: Python<'py>,
    signals: Signals<'py>,
    orbit: PyReadonlyArray1<'py, i64>,
    shape: Option<(usize, usize)>,
    options: &str,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Learned> {
    let options = self::options(options)?;
    let orbits = Orbits::labelled(signals.to_f32(), &labels(&orbit)).map_err(exception)?;
    train(py, &orbits, &options, shape, threads, progress.as_ref())
}

#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn learn_transformed<'py>(
    py: Python<'py>,
    exemplars: Signals<'py>,
    transform: &str,
    shape: Option<(usize, usize)>,
    fraction: f64,
    options: &str,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Learned> {
    let options = self::options(options)?;
    let exemplars = exemplars.to_f32();
    let transform = self::transform(transform, exemplars.ncols(), shape, fraction, options.seed)?;
    let orbits = Orbits::transformed(exemplars, transform).map_err(exception)?;
    train(py, &orbits, &options, shape, threads, progress.as_ref())
}

impl Learned {
    fn page(&self, title: &str) -> Page {
        page(title, &self.outcome, self.shape, &self.metrics)
    }
}

#[pymethods]
impl Learned {
    fn model(&self) -> Model {
        let bytes = self.outcome.model().clone();
        Model::of(bytes)
    }

    /// W as it was learned.
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<Complex32>> {
        self.outcome.weights().to_owned().into_pyarray(py)
    }

    /// The table that W as it was learned implies; of permutations, their own.
    fn table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u16>>> {
        let table = match self.outcome.action() {
            Some(action) => action.table(),
            None => {
                let learned = LearnedTable::of(&self.outcome.weights()).map_err(exception)?;
                learned.table().clone()
            }
        };
        let rows = table.order();
        let products = table.products();
        Ok(Array2::from_shape_fn((rows, rows), |(i, j)| products[i * rows + j]).into_pyarray(py))
    }

    /// Where each element of the group moves each input, where it is permutations.
    fn permutations<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray2<i64>>> {
        let action = self.outcome.action()?;
        let images = action.elements().iter().map(|element| element.images());
        let images: Vec<Vec<i64>> = images
            .map(|images| images.iter().map(|&to| i64::from(to)).collect())
            .collect();
        let shape = (images.len(), action.degree());
        Some(Array2::from_shape_fn(shape, |(g, n)| images[g][n]).into_pyarray(py))
    }

    /// Group, evaluation and steps, as JSON.
    fn describe(&self) -> String {
        json!({
            "group": self.outcome.group(),
            "no_group": self.outcome.identification().err().filter(|_| self.outcome.group().is_none()).map(ToString::to_string),
            "evaluation": self.outcome.evaluation(),
            "diagnosis": self.outcome.diagnosis(),
            "steps": self.outcome.steps(),
            "attempts": self.outcome.attempts(),
        })
        .to_string()
    }

    /// Distances between some of the samples that were held out.
    fn distances<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        let distances = &self.outcome.distances().matrix;
        distances.mapv(f64::from).into_pyarray(py)
    }

    /// The page, as one file.
    fn report(&self, path: PathBuf, title: &str) -> PyResult<()> {
        let html = render(&self.page(title)).html;
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .ok_or_else(|| {
                Error::new_err(format!(
                    "{}: it names no file: name one such as page.html",
                    path.display()
                ))
            })?;
        write_file(folder.unwrap_or(Path::new(".")), name, html.as_bytes()).map_err(exception)
    }

    /// Name and SVG of each figure of the page.
    fn figures(&self) -> Vec<(String, String)> {
        let page = self.page("");
        let blocks = page.sections.iter().flat_map(|section| &section.blocks);
        let figures = blocks.filter_map(|block| match block {
            Block::Figure(figure) => Some((figure.name.clone(), figure.drawing.svg())),
            _ => None,
        });
        figures.collect()
    }
}
