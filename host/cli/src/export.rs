//! `bispectral export`: a model in the form that a device wants.

mod fitting;

use crate::choices::{Emit, Encoding};
use crate::models;
use bispectral_core::format::Structure;
use bispectral_core::{Error as CoreError, Model};
use bispectral_learn::analysis::choice::{self, Pairs, Wanted};
use bispectral_learn::analysis::fit::Limits;
use bispectral_learn::analysis::form_error::{FormError, form_error};
use bispectral_learn::data::load;
use bispectral_learn::data::orbits::Orbits;
use bispectral_learn::model::cost::Cost;
use bispectral_learn::model::couplings::largest_error;
use bispectral_learn::model::cyclic;
use bispectral_learn::model::emit::{Exported, Kind};
use bispectral_learn::model::file::ModelFile;
use bispectral_learn::model::form::{Form, Source};
use bispectral_learn::storage::NewFile;
use bispectral_learn::{Error, Result};
use bispectral_run::MODEL;
use bispectral_run::class_names::{self, NewNames};
use bispectral_run::console::{self, Console};
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Write a model in the form that a device wants
///
/// Without --encoding, --structure, --pairs or --fit the model stays as it is. With --fit every form that the others leave
/// open is made, read by the core and measured on signals (--data with --labels; random ones where the model's group is
/// recognised), and the best that fits is written: most nearest neighbours of the same orbit, then the largest ratio of
/// distances between orbits to those within, then the smallest.
#[derive(Debug, Args)]
pub(super) struct Export {
    /// A model, or the folder of a run
    #[arg(value_name = "MODEL.bsn|DIR")]
    model: PathBuf,
    /// The file to write; what it is called names the module or the C array
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// How a weight is stored [default: f32]
    #[arg(long, value_name = "KIND", value_enum)]
    encoding: Option<Encoding>,
    /// Which invariants: full; selective, as few as determine a signal of the model's group, in K ways; best, the K that
    /// tell the orbits of --data apart best [default: those the model has]
    #[arg(long, value_name = "full|selective[:K]|best:K")]
    pairs: Option<Pairs>,
    /// How products of rows are had: dense, from W; conjugates, of each pair of conjugate rows one is stored; combined,
    /// of K other coefficients; cyclic, by the arithmetic of the model's group; fft, that with a fast transform;
    /// structured, fft or cyclic where there is a group, otherwise combined:4 [default: dense]. Conjugates, cyclic and fft put
    /// the rows, and so the invariants, in another order
    #[arg(long, value_name = "dense|conjugates|combined:K|cyclic|fft|structured")]
    structure: Option<Wanted>,
    /// The highest order of invariants: 4 adds those that signals without a third order have (odd harmonics only), of a model
    /// whose group is recognised and has up to 256 elements; the model becomes one of couplings [default: as the model has]
    #[arg(long, value_name = "ORDER", value_parser = clap::value_parser!(u8).range(4..=4), conflicts_with_all = ["pairs", "structure", "fit"])]
    order: Option<u8>,
    /// What kind of file to write
    #[arg(long, value_name = "KIND", value_enum, default_value_t = Emit::Postcard)]
    emit: Emit,
    /// Choose the best form within these limits: flash for the model, RAM for signal, scratch and result (or without the
    /// result, streaming), instructions a signal on a Cortex-M4F (an estimate). With board=NAME flash and RAM are those of the
    /// whole program that `firmware` writes for the board, stack included
    #[arg(long, value_name = "flash=256K,ram=32K[,instructions=2M][,board=NAME]")]
    fit: Option<Limits>,
    /// Signals to choose by: an array of shape (samples, N)
    #[arg(long, value_name = "X.npy", requires = "labels")]
    data: Option<PathBuf>,
    /// The orbit of each signal: integers
    #[arg(long, value_name = "y.npy", requires = "data")]
    labels: Option<PathBuf>,
    /// Replace the output file where it exists
    #[arg(long)]
    force: bool,
}

/// Random signals on which the rounding of an encoding is measured.
const SIGNALS: usize = 100;

/// What was written.
#[derive(Serialize)]
struct Summary<'a> {
    output: String,
    emit: Kind,
    name: &'a str,
    group: Option<&'a str>,
    inputs: usize,
    rows: usize,
    pairs: usize,
    #[serde(flatten)]
    cost: Cost,
    /// How far its invariants are from those of the model it was made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<FormError>,
    /// Of couplings in another form: how far an invariant is off at most, on random signals.
    #[serde(skip_serializing_if = "Option::is_none")]
    largest_error: Option<f64>,
    /// With --fit: what was weighed.
    #[serde(skip_serializing_if = "Option::is_none")]
    candidates: Option<Vec<fitting::Weighed>>,
}

impl Export {
    pub(super) fn run(&self, seed: Option<u64>, console: &Console) -> Result<()> {
        self.emit.check(&self.output)?;
        let mut output = NewFile::create(&self.output, self.force)?
            .other_than([&self.model, &self.model.join(MODEL)])?
            .other_than(self.data.iter().chain(&self.labels))?;
        let path = models::file_in(&self.model)?;
        let file = ModelFile::read(&path)?;
        let model = file.model()?;
        self.check_classifier(&path, &model)?;
        if models::holds_classifier(&self.model) {
            console.say(&format!(
                "note: {0}: this is the model without its classifier; `bispectral classify export {0}` writes both",
                self.model.display()
            ));
        }
        let signals = self.signals(model.inputs(), console)?;
        let mut error = None;
        let (bytes, candidates) = match &self.fit {
            Some(limits) => {
                let source = Source::new(&path, &model);
                let (bytes, weighed) =
                    self.fitted(&source, &model, signals, limits, seed, console)?;
                (bytes, Some(weighed))
            }
            None if self.order.is_some() => {
                let encoding = self.encoding.unwrap_or(Encoding::F32).into();
                let source = Source::new(&path, &model);
                (source.of_fourth_order(encoding)?, None)
            }
            None if self.keeps_form() => (file.bytes().to_vec(), None),
            None if self.keeps_roots(&model) => (self.other_roots(&path, &model)?, None),
            None => {
                let source = Source::new(&path, &model);
                let chosen = (self.encoding.map(Into::into), self.structure, self.pairs);
                let form = choice::form(&source, &model, signals.as_ref(), chosen)?;
                let bytes = source.form(&form, signals.as_ref())?;
                error = rounding(&source, &form, &bytes, seed.unwrap_or(0))?;
                (bytes, None)
            }
        };
        // A classifier keeps its form, so that names of its classes stay right.
        let classes = match model.classes() {
            0 => Vec::new(),
            _ => class_names::beside(&file)?.unwrap_or_default(),
        };
        if self.emit == Emit::Postcard && !classes.is_empty() {
            NewNames::create(&self.output, self.force)?.write(&bytes, &classes)?;
        }
        let exported = Exported::new(&bytes).map_err(|error| Error::model(&path, error))?;
        let exported = exported.with_classes(&classes);
        let stem = self.output.file_stem().unwrap_or_default();
        output.write(
            &Kind::from(self.emit)
                .emitter()
                .emit(&exported, &stem.to_string_lossy()),
        )?;
        output.commit()?;
        let unchanged = self.keeps_form() && self.fit.is_none();
        let change = match unchanged || error.is_some() || self.order.is_some() {
            true => None,
            false => form_error(exported.model(), &model, seed.unwrap_or_default()),
        };
        self.report(&exported, change, candidates, error, console)
    }

    /// A classifier knows the invariants it was trained on, not those of another form.
    fn check_classifier(&self, path: &Path, model: &Model<'_>) -> Result<()> {
        let kept = self.keeps_form() || self.keeps_roots(model);
        if model.classes() == 0 || (kept && self.fit.is_none()) {
            return Ok(());
        }
        let what = "the model has a classifier, which was trained on the form it has";
        let remedy = "export its model first, and train and export the classifier on that";
        Err(Error::file(path, what, remedy))
    }

    fn keeps_form(&self) -> bool {
        self.encoding.is_none()
            && self.pairs.is_none()
            && self.structure.is_none()
            && self.order.is_none()
    }

    /// Whether nothing is asked for but another encoding of a group's roots of unity.
    fn keeps_roots(&self, model: &Model<'_>) -> bool {
        let encoding = matches!(self.encoding, Some(Encoding::F32 | Encoding::I32));
        let cyclic = matches!(model.parts().structure, Structure::Cyclic { .. });
        let same = self.pairs.is_none() && self.structure.is_none() && self.order.is_none();
        encoding && cyclic && same
    }

    /// The model with its roots of unity in the encoding that is asked for.
    fn other_roots(&self, path: &Path, model: &Model<'_>) -> Result<Vec<u8>> {
        let encoding = self.encoding.unwrap_or(Encoding::F32).into();
        let encoded = cyclic::encoded(model, encoding).unwrap_or(Err(CoreError::Malformed));
        encoded.map_err(|error| Error::model(path, error))
    }

    /// The user's signals, which must be the model's.
    fn signals(&self, inputs: usize, console: &Console) -> Result<Option<Orbits>> {
        let (Some(data), Some(labels)) = (&self.data, &self.labels) else {
            return Ok(None);
        };
        let signals = load::labelled(data, labels)?;
        console.note(signals.remarks());
        if signals.inputs() != inputs {
            let what = format!(
                "signals of {} values, the model has {inputs} inputs",
                signals.inputs()
            );
            return Err(Error::file(
                data,
                what,
                format!("save signals of shape [samples, {inputs}]"),
            ));
        }
        Ok(Some(signals))
    }

    fn report(
        &self,
        exported: &Exported<'_>,
        change: Option<FormError>,
        candidates: Option<Vec<fitting::Weighed>>,
        largest_error: Option<f64>,
        console: &Console,
    ) -> Result<()> {
        let model = exported.model();
        let summary = Summary {
            output: self.output.display().to_string(),
            emit: self.emit.into(),
            name: model.name(),
            group: model.group(),
            inputs: model.inputs(),
            rows: model.rows(),
            pairs: model.pairs(),
            cost: Cost::of(model, exported.bytes().len()),
            change,
            largest_error,
            candidates,
        };
        let change = change.map_or(String::new(), |change| {
            format!(
                ", invariants of {} random signals changed by {:.1e} at most ({:.1e} root mean square)",
                change.signals, change.largest, change.root_mean_square
            )
        });
        let words = format!(
            "{}: model \"{}\", rows {}, inputs {}, invariants {}, flash {} bytes, RAM {} bytes (streaming {}), \
             about {} instructions on a Cortex-M4F{change}{}",
            console::name(&summary.output),
            console::name(summary.name),
            summary.rows,
            summary.inputs,
            summary.pairs,
            summary.cost.flash_bytes,
            summary.cost.ram.total_bytes,
            summary.cost.ram.streaming_bytes,
            summary.cost.estimated_instructions,
            summary.largest_error.map_or_else(String::new, |error| {
                format!(", invariants off by {error:.1e} at most on {SIGNALS} random signals")
            }),
        );
        console.summary(&summary, &words)
    }
}

/// How far the invariants of couplings in this form are from those of the model, on random signals; of other models nothing.
fn rounding(source: &Source, form: &Form, bytes: &[u8], seed: u64) -> Result<Option<f64>> {
    let Some(couplings) = source.couplings() else {
        return Ok(None);
    };
    let all = (0..couplings.terms().len()).map(|term| (term, term));
    let terms: Vec<(usize, usize)> = form.pairs.clone().unwrap_or_else(|| all.collect());
    let terms: Vec<usize> = terms.into_iter().map(|(term, _)| term).collect();
    let exact = couplings.select(&terms)?;
    let model = Model::from_bytes(bytes).map_err(|error| Error::model(source.path(), error))?;
    largest_error(&model, &exact, SIGNALS, seed).map(Some)
}
