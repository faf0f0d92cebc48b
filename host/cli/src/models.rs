//! The model that a path means: a file, or the one in the folder of a run.

use bispectral_learn::model::file::ModelFile;
use bispectral_learn::storage::replacement::settle;
use bispectral_learn::{Error, Result};
use bispectral_run::{CONFIG, MODEL};
use std::path::{Path, PathBuf};

/// Reads the model at `path`, which may be the folder of a run or of a classifier.
pub(crate) fn read(path: &Path) -> Result<ModelFile> {
    ModelFile::read(&file_in(path)?)
}

/// Where the model is that `path` means.
pub(crate) fn file_in(path: &Path) -> Result<PathBuf> {
    if !path.is_dir() {
        return Ok(path.to_owned());
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

/// A run that was interrupted.
pub(crate) fn unfinished(folder: &Path) -> Error {
    let remedy = format!(
        "go on with `bispectral train --resume {}`",
        folder.display()
    );
    Error::file(folder, "the run is not finished", remedy)
}
