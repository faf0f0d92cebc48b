//! `bispectral classify evaluate`: how often a classifier is right on samples it has not seen.

use super::source::Source;
use super::{CLASSIFIER, Evaluated, MODEL, RESULTS};
use bispectral_experiments::mnist::Half;
use bispectral_experiments::rotated_digits::{Window, for_model};
use bispectral_learn::Result;
use bispectral_learn::classify::classifier::Classifier;
use bispectral_learn::model::file::ModelFile;
use bispectral_run::console::Console;
use clap::Args;
use serde::Deserialize;
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
        let window = self.source.window(trained_window(&self.folder));
        let data = self
            .source
            .read(Half::Test, || for_model(model.inputs(), window, seed))?;
        let mut progress = console.progress("samples classified", data.labels.len());
        let observe = &mut |done| progress.at(done);
        let evaluated = Evaluated::of(&[classifier], model, &data, observe)?;
        drop(progress);
        console.answer(&evaluated, &evaluated.words())
    }
}

/// What the classifier in a folder was trained with, where its results still say so.
pub(super) fn trained_window(folder: &Path) -> Window {
    #[derive(Deserialize)]
    struct Results {
        window: Window,
    }
    let results = fs::read(folder.join(RESULTS)).ok();
    let results = results.and_then(|text| serde_json::from_slice::<Results>(&text).ok());
    let window = results.map_or_else(Window::default, |results| results.window);
    let is_in_range = (8.0..=40.0).contains(&window.pixels)
        && (1..=32).contains(&window.places)
        && (0.0..=8.0).contains(&window.radius);
    if is_in_range {
        window
    } else {
        Window::default()
    }
}
