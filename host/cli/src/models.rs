//! The model that a path means: a file, or the one in the folder of a run.

use bispectral_core::Model;
use bispectral_learn::data::remark::Remark;
use bispectral_learn::model::file::ModelFile;
use bispectral_learn::storage::replacement::settle;
use bispectral_learn::{Error, Result};
use bispectral_run::console::Console;
use bispectral_run::{CONFIG, MODEL};
use std::path::{Path, PathBuf};

/// Reads the model at `path`, which may be the folder of a run or of a classifier.
pub(crate) fn read(path: &Path) -> Result<ModelFile> {
    ModelFile::read(&file_in(path)?)
}

/// Whether `path` is the folder of a classifier.
pub(crate) fn holds_classifier(path: &Path) -> bool {
    path.join(crate::classify::CLASSIFIER).exists()
}

/// Where the model is that `path` means.
pub(crate) fn file_in(path: &Path) -> Result<PathBuf> {
    if !path.is_dir() {
        // The model of a run that was interrupted is not there yet.
        let folder = path.parent().filter(|folder| folder.join(CONFIG).exists());
        let is_model = path.file_name().is_some_and(|name| name == MODEL);
        return match folder.filter(|_| is_model && !path.exists()) {
            Some(folder) => Err(unfinished(folder)),
            None => Ok(path.to_owned()),
        };
    }
    settle(path)?;
    let file = path.join(MODEL);
    if file.exists() {
        return Ok(file);
    }
    Err(if path.join(CONFIG).exists() {
        unfinished(path)
    } else {
        let what = format!("the folder holds no {MODEL}");
        Error::file(path, what, "name a model, or the folder of a run")
    })
}

/// Whether an offset of signals is among what the model computes: not where its rows are harmonics of a period alone. Of
/// couplings, which have no W, some form of the mean always is.
pub(crate) fn sees_the_mean(model: &Model<'_>) -> bool {
    let seen = model.coefficients_vec(&vec![1.0; model.inputs()]);
    // f32 sums of up to 8192 values.
    seen.is_err()
        || seen
            .iter()
            .flatten()
            .any(|coefficient| coefficient.norm() > 1e-3)
}

/// What is to be said of signals of which this model computes something.
pub(crate) fn note(model: &Model<'_>, remarks: &[Remark], console: &Console) {
    let offset = |remark: &&Remark| !matches!(remark, Remark::Offset { .. });
    let said: Vec<Remark> = match sees_the_mean(model) {
        true => remarks.to_vec(),
        false => remarks.iter().filter(offset).cloned().collect(),
    };
    console.note(&said);
}

/// A run that was interrupted.
pub(crate) fn unfinished(folder: &Path) -> Error {
    let remedy = format!(
        "go on with `bispectral train --resume {}`",
        folder.display()
    );
    Error::file(folder, "the run is not finished", remedy)
}
