//! `bispectral import`: W from a `.npy` file, whoever trained it, into a model for the device.

use bispectral_core::Model;
use bispectral_learn::data::weights;
use bispectral_learn::{Error, Result};
use bispectral_learn::{model::file, storage::NewFile};
use bispectral_run::console::{self, Console};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;

/// Make a model of the weights W in a NumPy array
///
/// W is complex64 or complex128 (float32 and float64 work, too), of shape (rows, inputs), in C or Fortran order.
/// Its values are rounded to f32.
#[derive(Debug, Args)]
pub(super) struct Import {
    /// The weights: an array of shape (rows, inputs)
    #[arg(value_name = "W.npy")]
    weights: PathBuf,
    /// The model to write
    #[arg(short, long, value_name = "MODEL.bsn")]
    output: PathBuf,
    /// What people call the model [default: the name of the array's file]
    #[arg(long, value_parser = words)]
    name: Option<String>,
    /// The group whose irreducible representations the rows are, such as Z4xZ2
    #[arg(long, value_parser = words)]
    group: Option<String>,
    /// Replace the output file where it exists
    #[arg(long)]
    force: bool,
}

#[derive(Serialize)]
struct Imported<'a> {
    output: String,
    name: &'a str,
    group: Option<&'a str>,
    inputs: usize,
    rows: usize,
    pairs: usize,
    bytes: usize,
}

impl Import {
    pub(super) fn run(&self, console: &Console) -> Result<()> {
        let mut output = NewFile::create(&self.output, self.force)?.other_than([&self.weights])?;
        let w = weights::read(&self.weights)?;
        let stem = self.weights.file_stem().unwrap_or_default();
        let stem = stem.to_string_lossy();
        let name = self.name.as_deref().unwrap_or(&stem);
        let refused = |error| Error::model(&self.weights, error);
        let bytes = file::encode_array(&w.view(), name, self.group.as_deref()).map_err(refused)?;
        let model = Model::from_bytes(&bytes).map_err(refused)?;
        output.write(&bytes)?;
        output.commit()?;
        self.report(&model, bytes.len(), console)
    }

    fn report(&self, model: &Model<'_>, bytes: usize, console: &Console) -> Result<()> {
        let imported = Imported {
            output: self.output.display().to_string(),
            name: model.name(),
            group: model.group(),
            inputs: model.inputs(),
            rows: model.rows(),
            pairs: model.pairs(),
            bytes,
        };
        let words = format!(
            "{}: model \"{}\", rows {}, inputs {}, invariants {}, {bytes} bytes",
            console::name(&imported.output),
            console::name(imported.name),
            imported.rows,
            imported.inputs,
            imported.pairs,
        );
        console.summary(&imported, &words)
    }
}

/// A name on the command line; what a terminal would obey has no place in one.
fn words(text: &str) -> std::result::Result<String, String> {
    if text.is_empty() || text.chars().any(char::is_control) {
        return Err("must be words without control characters".into());
    }
    Ok(text.to_owned())
}
