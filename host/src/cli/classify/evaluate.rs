//! `bispectral classify evaluate`: how often a classifier is right on samples it has not seen.

use super::source::{Source, turned};
use super::{CLASSIFIER, Evaluated, MODEL, RESULTS};
use crate::Result;
use crate::classify::classifier::Classifier;
use crate::cli::console::Console;
use crate::data::mnist::Half;
use crate::export::bsn::ModelFile;
use clap::Args;
use std::fs;
use std::path::{Path, PathBuf};

/// Say how often a classifier is right
#[derive(Debug, Args)]
pub(super) struct Evaluate {
    /// The folder that `bispectral classify train` wrote
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    source: Source,
}

impl Evaluate {
    pub(super) fn run(&self, seed: u64, console: &Console) -> Result<()> {
        let file = ModelFile::read(&self.folder.join(MODEL))?;
        let model = file.model()?;
        let classifier = Classifier::read(&self.folder.join(CLASSIFIER))?;
        let window = self.source.window.map(f64::from);
        let window = window
            .or_else(|| trained_window(&self.folder))
            .unwrap_or(28.0);
        let data = self
            .source
            .read(Half::Test, || turned(model.inputs(), window, seed))?;
        let evaluated = Evaluated::of(&classifier, model, &data, console)?;
        console.answer(&evaluated, &evaluated.words())
    }
}

/// What the classifier in a folder was trained with, where its results still say so.
pub(super) fn trained_window(folder: &Path) -> Option<f64> {
    let text = fs::read(folder.join(RESULTS)).ok()?;
    let results: serde_json::Value = serde_json::from_slice(&text).ok()?;
    let window = results["window"].as_f64();
    window.filter(|window| (8.0..=40.0).contains(window))
}
