//! `bispectral inspect`: what a model is, and what it asks of a device.

use crate::models;
use bispectral_core::format::{self, Transform};
use bispectral_core::{Feature, Model, pair_count};
use bispectral_learn::Result;
use bispectral_learn::model::cost::{Cost, Ram, Work};
use bispectral_learn::model::file::weights;
use bispectral_learn::model::instructions::MARGIN;
use bispectral_run::class_names;
use bispectral_run::console::{self, Console};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;

/// Show what a model is, and the flash and RAM it takes
///
/// Flash is the size of the file. RAM is the signal, the scratch and the result, without the stack; streaming hands out
/// one invariant at a time and needs no room for the result. A complex multiply-add is four real ones. Counted is
/// what this model computes: z = W x (x is real, so each counts half; by a transform where the model has one) and
/// z_ij for every pair (N each where they come from W, K each where they are combined); of couplings, a quarter for each
/// product of real numbers in U x and in the forms; not counted are the products
/// W_i ⊙ x, two complex products a pair for z_i z_j conj(z_ij), scaling and normalising.
#[derive(Debug, Args)]
pub(super) struct Inspect {
    /// A model, or the folder of a run
    #[arg(value_name = "MODEL.bsn|DIR")]
    model: PathBuf,
}

#[derive(Serialize)]
struct Inspected<'a> {
    file: String,
    name: &'a str,
    group: Option<&'a str>,
    inputs: usize,
    rows: usize,
    pairs: usize,
    encoding: &'static str,
    structure: String,
    /// Of couplings: how many terms, from the first, tell all orbits apart, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    selective: Option<usize>,
    stored_rows: usize,
    classes: usize,
    /// What these are called, where it is written beside the model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    class_names: Vec<String>,
    format_version: u8,
    file_bytes: usize,
    #[serde(flatten)]
    cost: Cost,
    largest_deviation_of_row_lengths_from_1: f64,
    crc32: String,
    /// The features of bispectral-core that a program needs for the model.
    features: Vec<&'static str>,
}

impl Inspect {
    pub(super) fn run(&self, console: &Console) -> Result<()> {
        let file = models::read(&self.model)?;
        let model = file.model()?;
        let inspected = Inspected {
            file: file.path().display().to_string(),
            name: model.name(),
            group: model.group(),
            inputs: model.inputs(),
            rows: model.rows(),
            pairs: model.pairs(),
            encoding: encoding(&model),
            structure: structure(&model),
            selective: selective(&model),
            stored_rows: model.stored_rows(),
            classes: model.classes(),
            class_names: match model.classes() {
                0 => Vec::new(),
                _ => class_names::beside(&file)?.unwrap_or_default(),
            },
            // The core refuses every other version.
            format_version: format::VERSION,
            file_bytes: file.bytes().len(),
            cost: Cost::of(&model, file.bytes().len()),
            largest_deviation_of_row_lengths_from_1: deviation(&model),
            crc32: format!("{:08x}", file.checksum()),
            features: model.needed_features().map(Feature::name).collect(),
        };
        console.answer(&inspected, &inspected.words())
    }
}

/// How a weight is stored.
fn encoding(model: &Model<'_>) -> &'static str {
    match model.parts().weights {
        format::Weights::F16(_) => "f16",
        format::Weights::I8 { .. } => "i8",
        format::Weights::I32 { .. } => "i32",
        _ => "f32",
    }
}

/// How z_ij is had.
fn structure(model: &Model<'_>) -> String {
    match model.parts().structure {
        format::Structure::Conjugates { .. } => "conjugates".into(),
        format::Structure::Combined { terms, .. } => format!("combined:{terms}"),
        format::Structure::Cyclic {
            transform: Transform::Fft,
            ..
        } => "fft".into(),
        format::Structure::Cyclic { .. } => "cyclic".into(),
        format::Structure::Couplings(_) => "couplings".into(),
        _ => "dense".into(),
    }
}

/// How many terms of couplings are a selective set.
fn selective(model: &Model<'_>) -> Option<usize> {
    match model.parts().structure {
        format::Structure::Couplings(couplings) if couplings.selective > 0 => {
            Some(couplings.selective.into())
        }
        _ => None,
    }
}

/// max_i |‖W_i‖₂ − 1|, in f64.
fn deviation(model: &Model<'_>) -> f64 {
    let w = weights(model);
    let length = |row: usize| {
        let squares = w
            .row(row)
            .into_iter()
            .map(|w| f64::from(w.re).powi(2) + f64::from(w.im).powi(2));
        squares.sum::<f64>().sqrt()
    };
    (0..model.rows())
        .map(|row| (length(row) - 1.0).abs())
        .fold(0.0, f64::max)
}

impl Inspected<'_> {
    fn words(&self) -> String {
        let Ram {
            signal_bytes,
            scratch_bytes,
            result_bytes,
            total_bytes,
            streaming_bytes,
        } = &self.cost.ram;
        let Work {
            coefficients,
            products,
            total,
        } = &self.cost.complex_multiply_adds;
        let lines = [
            ("name", console::name(self.name)),
            (
                "group",
                self.group.map_or("not given".into(), console::name),
            ),
            ("inputs N", self.inputs.to_string()),
            ("rows R", self.rows.to_string()),
            if self.structure == "couplings" {
                let terms = match self.selective {
                    Some(count) => format!("{}, the first {count} a selective set", self.pairs),
                    None => self.pairs.to_string(),
                };
                ("terms", terms)
            } else {
                ("pairs", of_all(self.pairs, pair_count(self.rows)))
            },
            ("encoding", self.encoding.into()),
            (
                "structure",
                format!("{}, rows stored {}", self.structure, self.stored_rows),
            ),
            (
                "classifier",
                match self.classes {
                    0 => "none".into(),
                    classes if self.class_names.is_empty() => format!("{classes} classes"),
                    classes => {
                        let names: Vec<String> = self
                            .class_names
                            .iter()
                            .map(|name| console::name(name))
                            .collect();
                        format!("{classes} classes: {}", names.join(", "))
                    }
                },
            ),
            ("format", format!("version {}", self.format_version)),
            (
                "file",
                format!("{} bytes, CRC-32 {}", self.file_bytes, self.crc32),
            ),
            ("flash", format!("{} bytes", self.cost.flash_bytes)),
            (
                "RAM",
                format!(
                    "{total_bytes} bytes: signal {signal_bytes}, scratch {scratch_bytes}, result {result_bytes}"
                ),
            ),
            (
                "streaming",
                format!("{streaming_bytes} bytes: signal {signal_bytes}, scratch {scratch_bytes}"),
            ),
            (
                "work",
                format!(
                    "{total} complex multiply-adds a signal: z = W x {coefficients} (x is real, so each counts half), \
                     products of pairs {products}"
                ),
            ),
            (
                "estimate",
                format!(
                    "{} instructions on a Cortex-M4F, mostly within {:.0} %",
                    self.cost.estimated_instructions,
                    100.0 * MARGIN
                ),
            ),
            (
                "row lengths",
                format!(
                    "within {:.1e} of 1",
                    self.largest_deviation_of_row_lengths_from_1
                ),
            ),
            (
                "Cargo.toml",
                format!(
                    "bispectral-core = {{ version = \"0.1\", default-features = false, features = {:?} }}",
                    self.features
                ),
            ),
        ];
        lines
            .map(|(title, value)| format!("{title:<12}{value}"))
            .join("\n")
    }
}

/// `32896`, or `256 of 32896`.
fn of_all(some: usize, all: usize) -> String {
    if some == all {
        all.to_string()
    } else {
        format!("{some} of {all}")
    }
}
