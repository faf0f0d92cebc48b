//! `bispectral classify evaluate`: how often a classifier is right on samples it has not seen.

use super::source::{Source, turned};
use super::{CLASSIFIER, Evaluated, MODEL, RESULTS};
use crate::Result;
use crate::classify::classifier::Classifier;
use crate::cli::console::Console;
use crate::data::mnist::Half;
use crate::data::turned::Window;
use crate::export::bsn::ModelFile;
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
            .read(Half::Test, || turned(model.inputs(), window, seed))?;
        let evaluated = Evaluated::of(&[classifier], model, &data, console)?;
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
