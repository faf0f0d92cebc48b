//! A model: its bytes, and what `bispectral-core` computes from them.

use crate::error::{Error, exception, unknown};
use crate::signals::{Signals, orbits};
use crate::work::{compute, in_steps};
use bispectral_learn::analysis::choice::{self, Pairs, Wanted};
use bispectral_learn::analysis::fit::{
    Candidate, Choices, Limits, best, least_need, random_signals,
};
use bispectral_learn::analysis::inversion::Inversion;
use bispectral_learn::bispectral_core::format::{self, Transform};
use bispectral_learn::bispectral_core::{self, Complex32};
use bispectral_learn::classify::device;
use bispectral_learn::data::orbits::Orbits;
use bispectral_learn::group::identify::identify;
use bispectral_learn::group::{LearnedTable, couplings_of, group_table, known_action};
use bispectral_learn::model::cost::Cost;
use bispectral_learn::model::couplings;
use bispectral_learn::model::emit::{Exported, Kind};
use bispectral_learn::model::features::{Arithmetic, FEW, Features, Many, Quantity};
use bispectral_learn::model::file::{ModelBytes, weights};
use bispectral_learn::model::form::{Encoding, Source};
use bispectral_learn::ndarray::Array2;
use bispectral_learn::{Error as LibraryError, Result as LibraryResult};
use numpy::{
    Complex64, IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// What errors call a model that came from no file.
const MODEL: &str = "model";

#[pyclass(frozen, module = "bispectral._bispectral")]
pub(crate) struct Model {
    pub(crate) bytes: ModelBytes,
    /// Made when many signals are computed for the first time.
    many: OnceLock<Option<Arc<Many>>>,
}

impl Model {
    pub(crate) fn of(bytes: ModelBytes) -> Self {
        Model {
            bytes,
            many: OnceLock::new(),
        }
    }
}

fn refused(error: bispectral_core::Error) -> PyErr {
    exception(LibraryError::model(Path::new(MODEL), error))
}

/// `None` for what is left open.
fn parsed<T: std::str::FromStr<Err = String>>(
    option: &str,
    text: Option<&str>,
) -> PyResult<Option<T>> {
    let parse = |text: &str| {
        text.parse()
            .map_err(|why| Error::new_err(format!("{option}: \"{text}\": {why}")))
    };
    text.map(parse).transpose()
}

fn encoding(text: Option<&str>) -> PyResult<Option<Encoding>> {
    Ok(match text {
        None => None,
        Some("f32") => Some(Encoding::F32),
        Some("f16") => Some(Encoding::F16),
        Some("i8") => Some(Encoding::I8),
        Some("i32") => Some(Encoding::I32),
        Some(other) => return Err(unknown("encoding", other, "f32, f16, i8 or i32")),
    })
}

#[pymethods]
impl Model {
    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<Self> {
        let bytes = ModelBytes::read(path).map_err(exception)?;
        Ok(Model::of(bytes))
    }

    #[staticmethod]
    fn from_bytes(bytes: Vec<u8>) -> PyResult<Self> {
        let bytes = ModelBytes::from_bytes(bytes).map_err(refused)?;
        Ok(Model::of(bytes))
    }

    #[staticmethod]
    fn from_weights(
        w: PyReadonlyArray2<'_, Complex32>,
        name: &str,
        group: Option<&str>,
    ) -> PyResult<Self> {
        let bytes = ModelBytes::of(&w.as_array(), name, group).map_err(refused)?;
        Ok(Model::of(bytes))
    }

    fn write(&self, path: PathBuf) -> PyResult<()> {
        self.bytes.write(path).map_err(exception)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.bytes.bytes())
    }

    /// What the model is, as JSON.
    fn describe(&self) -> String {
        let model = self.bytes.view();
        let parts = model.parts();
        let structure = match parts.structure {
            format::Structure::Conjugates { .. } => "conjugates".into(),
            format::Structure::Combined { terms, .. } => format!("combined:{terms}"),
            format::Structure::Cyclic {
                transform: Transform::Fft,
                ..
            } => "fft".into(),
            format::Structure::Cyclic { .. } => "cyclic".into(),
            format::Structure::Couplings(_) => "couplings".into(),
            _ => "dense".to_owned(),
        };
        let encoding = match parts.weights {
            format::Weights::F16(_) => "f16",
            format::Weights::I8 { .. } => "i8",
            format::Weights::I32 { .. } => "i32",
            _ => "f32",
        };
        json!({
            "name": model.name(), "group": model.group(), "inputs": model.inputs(), "rows": model.rows(),
            "pairs": model.pairs(), "features": model.feature_count(), "structure": structure, "encoding": encoding, "classes": model.classes(),
        })
        .to_string()
    }

    /// Flash, RAM and work, as JSON.
    fn cost(&self) -> PyResult<String> {
        let cost = Cost::of(&self.bytes.view(), self.bytes.bytes().len());
        serde_json::to_string(&cost).map_err(|error| Error::new_err(error.to_string()))
    }

    /// W, as the core reads it.
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<Complex32>> {
        weights(&self.bytes.view()).into_pyarray(py)
    }

    /// (i, j) of every invariant.
    fn pair_list<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<i64>> {
        let model = self.bytes.view();
        let is_coupled = matches!(model.parts().structure, format::Structure::Couplings(_));
        let pairs: Vec<(usize, usize)> = match is_coupled {
            true => Vec::new(),
            false => model.pair_list().collect(),
        };
        let at = |(k, side): (usize, usize)| [pairs[k].0, pairs[k].1][side] as i64;
        Array2::from_shape_fn((pairs.len(), 2), at).into_pyarray(py)
    }

    /// The Cayley table that W implies, and how sure each cell is.
    #[allow(clippy::type_complexity)]
    fn table<'py>(
        &self,
        py: Python<'py>,
        threads: Option<usize>,
    ) -> PyResult<(Bound<'py, PyArray2<u16>>, Bound<'py, PyArray2<f32>>)> {
        let model = self.bytes.view();
        if let (format::Structure::Couplings(_), Some(name)) =
            (model.parts().structure, model.group())
        {
            let table = group_table(name).map_err(exception)?;
            let (rows, products) = (table.order(), table.products());
            let products = Array2::from_shape_fn((rows, rows), |(i, j)| products[i * rows + j]);
            let sure = Array2::ones((rows, rows));
            return Ok((products.into_pyarray(py), sure.into_pyarray(py)));
        }
        let w = weights(&model);
        let learned = compute(py, threads, || LearnedTable::of(&w.view()))?.map_err(exception)?;
        let rows = w.nrows();
        let (table, sure) = (learned.table().products(), learned.confidences());
        let products = Array2::from_shape_fn((rows, rows), |(i, j)| table[i * rows + j]);
        let sure = Array2::from_shape_fn((rows, rows), |(i, j)| sure[i * rows + j]);
        Ok((products.into_pyarray(py), sure.into_pyarray(py)))
    }

    /// The group whose characters the rows are, as JSON; `None` where there is none.
    fn identify(&self, py: Python<'_>, threads: Option<usize>) -> PyResult<Option<String>> {
        let w = weights(&self.bytes.view());
        let found = compute(py, threads, || identify(&w.view()))?;
        Ok(found.ok().map(|found| {
            json!({
                "group": found.group.to_string(), "order": found.group.order(), "factors": found.group.factors(),
                "generators": found.generators, "characters": found.characters, "positions": found.positions,
                "overlaps": found.overlaps, "confidence": found.confidence,
            })
            .to_string()
        }))
    }

    #[pyo3(signature = (signals, quantity, exact, threads))]
    fn complex<'py>(
        &self,
        py: Python<'py>,
        signals: Signals<'py>,
        quantity: &str,
        exact: bool,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray2<Complex32>>> {
        let quantity = match quantity {
            "invariants" => Quantity::Invariants,
            "bispectrum" => Quantity::Bispectrum,
            "coefficients" => Quantity::Coefficients,
            other => {
                return Err(unknown(
                    "quantity",
                    other,
                    "invariants, bispectrum or coefficients",
                ));
            }
        };
        let model = self.bytes.view();
        let few = signals.count() < FEW;
        let features = if exact || few || quantity != Quantity::Invariants {
            Features::new(model, quantity, Arithmetic::Exact)
        } else {
            let many = match self.many.get() {
                Some(many) => many.clone(),
                None => compute(py, threads, || {
                    let made = || Many::of(&model).map(Arc::new);
                    self.many.get_or_init(made).clone()
                })?,
            };
            Features::prepared(model, many)
        };
        let out = PyArray2::zeros(py, [signals.count(), features.width()], false);
        let mut lent = out.readwrite();
        let slice = lent
            .as_slice_mut()
            .map_err(|error| Error::new_err(error.to_string()))?;
        signals.complex(py, threads, &features, slice)?;
        drop(lent);
        Ok(out)
    }

    fn real<'py>(
        &self,
        py: Python<'py>,
        signals: Signals<'py>,
        quantity: &str,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let quantity = match quantity {
            "power" => Quantity::Power,
            "features" => Quantity::Features,
            other => return Err(unknown("quantity", other, "power or features")),
        };
        let features = Features::new(self.bytes.view(), quantity, Arithmetic::Exact);
        let out = PyArray2::zeros(py, [signals.count(), features.width()], false);
        let mut lent = out.readwrite();
        let slice = lent
            .as_slice_mut()
            .map_err(|error| Error::new_err(error.to_string()))?;
        signals.real(py, threads, &features, slice)?;
        drop(lent);
        Ok(out)
    }

    /// The class of each signal, as a device says it: of a model with a classifier.
    fn classify<'py>(
        &self,
        py: Python<'py>,
        signals: Signals<'py>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let (model, samples) = (self.bytes.view(), signals.to_f32());
        if model.classes() == 0 || samples.ncols() != model.inputs() {
            let (found, inputs) = (samples.ncols(), model.inputs());
            let (what, remedy) = match model.classes() {
                0 => ("it has no classifier".to_owned(), "give a model with one"),
                _ => (
                    format!("signals have {found} values, it has {inputs} inputs"),
                    "give signals of the model",
                ),
            };
            return Err(exception(LibraryError::new(MODEL, what, remedy)));
        }
        let found = compute(py, threads, || device::classify(&model, samples.view()))?;
        let found = found.map_err(exception)?.into_iter().map(i64::from);
        Ok(PyArray1::from_iter(py, found))
    }

    /// Signals from invariants; residuals; and for each, what is left open, where that is known.
    #[allow(clippy::type_complexity)]
    fn invert<'py>(
        &self,
        py: Python<'py>,
        invariants: PyReadonlyArray2<'py, Complex64>,
        restarts: u32,
        seed: u64,
        threads: Option<usize>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(
        Bound<'py, PyArray2<f32>>,
        Bound<'py, PyArray1<f64>>,
        Vec<Option<String>>,
    )> {
        let model = self.bytes.view();
        let invariants = invariants.as_array();
        if invariants.ncols() != model.pairs() {
            let what = format!(
                "they have {} values, the model has {} invariants",
                invariants.ncols(),
                model.pairs()
            );
            return Err(exception(LibraryError::new(
                "invariants",
                what,
                "give features of this model",
            )));
        }
        let rebuilt = in_steps(py, threads, progress.as_ref(), |steps| {
            let inversion = Inversion::new(model, restarts, seed)?;
            let all: Vec<Complex64> = invariants.iter().copied().collect();
            for (sample, y) in all.chunks(model.pairs()).enumerate() {
                Inversion::check(sample, y)?;
            }
            inversion.invert(&all, |round, progress| {
                steps.done(|| {
                    json!({"round": round, "step": progress.steps, "moving": progress.moving})
                        .to_string()
                })
            })
        })?;
        let mut signals = Array2::zeros((rebuilt.len(), model.inputs()));
        let (mut residuals, mut open) = (Vec::new(), Vec::new());
        for (sample, (rebuilt, mut row)) in rebuilt.into_iter().zip(signals.rows_mut()).enumerate()
        {
            let rebuilt = rebuilt.ok_or_else(|| {
                let what = "no signal has these invariants";
                exception(LibraryError::new(
                    format!("sample {sample}"),
                    what,
                    "leave the sample out",
                ))
            })?;
            row.iter_mut()
                .zip(&rebuilt.signal)
                .for_each(|(to, x)| *to = *x);
            residuals.push(rebuilt.residual);
            let left = rebuilt.determination.filter(|known| !known.is_complete());
            open.push(left.map(|left| left.to_string()));
        }
        Ok((
            signals.into_pyarray(py),
            PyArray1::from_vec(py, residuals),
            open,
        ))
    }

    /// The model in another form; with `fit`, the best within these limits, and all that were weighed, as JSON.
    #[allow(clippy::too_many_arguments)]
    fn export<'py>(
        &self,
        py: Python<'py>,
        structure: Option<&str>,
        encoding: Option<&str>,
        pairs: Option<&str>,
        fit: Option<&str>,
        signals: Option<Signals<'py>>,
        labels: Option<PyReadonlyArray1<'py, i64>>,
        seed: u64,
        threads: Option<usize>,
    ) -> PyResult<(Self, Option<String>)> {
        let wanted: Option<Wanted> = parsed("structure", structure)?;
        let pairs: Option<Pairs> = parsed("pairs", pairs)?;
        let encoding = self::encoding(encoding)?;
        let limits = match fit {
            Some(text) => Some(
                text.parse::<Limits>()
                    .map_err(|why| Error::new_err(format!("fit: \"{text}\": {why}")))?,
            ),
            None => None,
        };
        let model = self.bytes.view();
        let signals = orbits(signals.as_ref(), labels.as_ref())?;
        if let Some(signals) = signals
            .as_ref()
            .filter(|signals| signals.inputs() != model.inputs())
        {
            let what = format!(
                "they have {} values, the model has {} inputs",
                signals.inputs(),
                model.inputs()
            );
            return Err(exception(LibraryError::new(
                "signals",
                what,
                "give signals of the model",
            )));
        }
        if model.classes() > 0
            && (wanted.is_some() || pairs.is_some() || encoding.is_some() || limits.is_some())
        {
            let what = "the model has a classifier, which was trained on the form it has";
            let remedy = "export its model first, and train the classifier on that";
            return Err(exception(LibraryError::new(MODEL, what, remedy)));
        }
        let (bytes, weighed) = compute(py, threads, || -> LibraryResult<_> {
            let source = Source::new(Path::new(MODEL), &model);
            match limits {
                Some(limits) => {
                    let chosen = (
                        encoding,
                        wanted.map(|wanted| wanted.resolve(&source)),
                        pairs,
                    );
                    fitted(&source, &model, signals, &limits, chosen, seed)
                }
                None if encoding.is_none() && wanted.is_none() && pairs.is_none() => {
                    Ok((self.bytes.bytes().to_vec(), None))
                }
                None => {
                    let form =
                        choice::form(&source, &model, signals.as_ref(), (encoding, wanted, pairs))?;
                    Ok((source.form(&form, signals.as_ref())?, None))
                }
            }
        })?
        .map_err(exception)?;
        let bytes = ModelBytes::from_bytes(bytes).map_err(refused)?;
        Ok((Model::of(bytes), weighed))
    }

    /// The model as a file of this kind; `stem` names the module or the C array.
    fn emit<'py>(&self, py: Python<'py>, kind: &str, stem: &str) -> PyResult<Bound<'py, PyBytes>> {
        let kind = match kind {
            "postcard" | "bsn" => Kind::Postcard,
            "rust" => Kind::Rust,
            "c" => Kind::C,
            other => return Err(unknown("emit", other, "bsn, rust or c")),
        };
        let exported = Exported::new(self.bytes.bytes()).map_err(refused)?;
        Ok(PyBytes::new(py, &kind.emitter().emit(&exported, stem)))
    }
}

/// The invariants of a group by its name, as it moves so many inputs: of permutations, couplings.
#[pyfunction]
pub(crate) fn known(
    py: Python<'_>,
    group: &str,
    inputs: Option<usize>,
    name: &str,
    seed: u64,
    threads: Option<usize>,
) -> PyResult<Model> {
    let bytes = compute(py, threads, || -> LibraryResult<_> {
        let action = known_action(group, inputs)?;
        couplings::encode(
            &couplings_of(&action, seed)?,
            Encoding::F32,
            name,
            Some(group),
        )
    })?;
    let bytes = ModelBytes::from_bytes(bytes.map_err(exception)?).map_err(refused)?;
    Ok(Model::of(bytes))
}

type Fitted = (Vec<u8>, Option<String>);

/// The best form within limits.
fn fitted(
    source: &Source,
    model: &bispectral_core::Model<'_>,
    signals: Option<Orbits>,
    limits: &Limits,
    (encoding, structure, pairs): (
        Option<Encoding>,
        Option<bispectral_learn::model::form::Structure>,
        Option<Pairs>,
    ),
    seed: u64,
) -> LibraryResult<Fitted> {
    let lists = match pairs {
        Some(pairs) => vec![(
            pairs.to_string(),
            pairs.list(source, model, signals.as_ref())?,
        )],
        None => Pairs::considered(source, model, signals.as_ref())?,
    };
    let choices = Choices {
        encoding,
        structure,
        pairs: lists,
    };
    let signals = match (signals, source.cyclic()) {
        (Some(signals), _) => signals,
        (None, Some(cyclic)) => random_signals(cyclic.identification(), seed)?,
        (None, None) => {
            let what = "no group is recognised, so forms need signals to be measured on";
            return Err(LibraryError::new(
                MODEL,
                what,
                "give signals and their labels",
            ));
        }
    };
    let mut candidates = Vec::new();
    for (form, name) in choices.forms(source) {
        candidates.push(Candidate::measure(source, form, name, &signals, limits)?);
    }
    let Some(chosen) = best(&candidates) else {
        let what = format!("no form fits: {}", least_need(&candidates));
        return Err(LibraryError::new(
            MODEL,
            what,
            "raise the limits, or learn fewer rows",
        ));
    };
    let weighed = candidates.iter().map(|one| {
        json!({
            "structure": one.form.structure.to_string(), "encoding": one.form.encoding.to_string(), "pairs": one.pairs,
            "cost": one.cost, "evaluation": one.evaluation, "chosen": std::ptr::eq(one, chosen),
        })
    });
    let weighed = serde_json::Value::Array(weighed.collect());
    Ok((chosen.bytes.clone(), Some(weighed.to_string())))
}
