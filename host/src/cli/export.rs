//! `bispectral export`: a model in the form that a device wants.

use super::console::{self, Console};
use crate::export::NewFile;
use crate::export::bsn::ModelFile;
use crate::export::emit::{Exported, Kind};
use crate::train::run;
use crate::{Error, Result};
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Write a model in the form that a device wants
#[derive(Debug, Args)]
pub(super) struct Export {
    /// A model, or the folder of a run
    #[arg(value_name = "MODEL.bsn|DIR")]
    model: PathBuf,
    /// The file to write; what it is called names the module or the C array
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// What kind of file to write
    #[arg(long, value_name = "KIND", value_enum, default_value_t = Kind::Postcard)]
    emit: Kind,
    /// Replace the output file where it exists
    #[arg(long)]
    force: bool,
}

#[derive(Serialize)]
struct Told<'a> {
    output: String,
    emit: Kind,
    name: &'a str,
    group: Option<&'a str>,
    inputs: usize,
    rows: usize,
    pairs: usize,
    flash_bytes: usize,
}

impl Export {
    pub(super) fn run(&self, console: &Console) -> Result<()> {
        let mut output = NewFile::create(&self.output, self.force)?;
        let path = model_in(&self.model);
        let file = ModelFile::read(&path)?;
        let exported = Exported::new(file.bytes()).map_err(|error| Error::model(&path, error))?;
        let stem = self
            .output
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy();
        output.write(&self.emit.emitter().emit(&exported, &stem))?;
        output.commit()?;
        self.report(&exported, console)
    }

    fn report(&self, exported: &Exported<'_>, console: &Console) -> Result<()> {
        let model = exported.model();
        let told = Told {
            output: self.output.display().to_string(),
            emit: self.emit,
            name: model.name(),
            group: model.group(),
            inputs: model.inputs(),
            rows: model.rows(),
            pairs: model.pairs(),
            flash_bytes: exported.bytes().len(),
        };
        let words = format!(
            "{}: model \"{}\", rows {}, inputs {}, invariants {}, {} bytes of flash",
            console::name(&told.output),
            console::name(told.name),
            told.rows,
            told.inputs,
            told.pairs,
            told.flash_bytes,
        );
        console.summary(&told, &words)
    }
}

/// The model that a path means: a file, or the one in the folder of a run.
pub(super) fn model_in(path: &Path) -> PathBuf {
    if path.is_dir() {
        path.join(run::MODEL)
    } else {
        path.to_owned()
    }
}
