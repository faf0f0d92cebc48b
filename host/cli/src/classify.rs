//! `bispectral classify`: from invariants to classes.

mod evaluate;
mod export;
mod fit;
mod page;
mod predict;
mod recipe;
mod source;
mod train;

use bispectral_learn::classify::classifier::Classifier;
use bispectral_learn::classify::device;
use bispectral_learn::classify::evaluated::Evaluated;
use bispectral_learn::model::file::ModelFile;
use bispectral_learn::storage::replacement::settle;
use bispectral_learn::{Error, Result};
use bispectral_run::class_names;
use bispectral_run::console::Console;
use clap::{Args, Subcommand};
use ndarray::ArrayView2;
use std::path::{Path, PathBuf};

/// What is in the folder of a classifier.
const MODEL: &str = "model.bsn";
pub(crate) const CLASSIFIER: &str = "classifier.bin";
const RESULTS: &str = "results.json";

/// Where these are.
fn files(folder: &Path) -> [PathBuf; 3] {
    [MODEL, CLASSIFIER, RESULTS].map(|name| folder.join(name))
}

use recipe::Choices;

/// Train a classifier on the invariants of a model, and see how often it is right
#[derive(Debug, Args)]
pub(super) struct Classify {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(after_help = super::CONTRACT)]
    Train(Box<train::Train>),
    #[command(after_help = super::CONTRACT)]
    Evaluate(evaluate::Evaluate),
    #[command(after_help = super::CONTRACT)]
    Export(export::Export),
    #[command(after_help = super::CONTRACT)]
    Fit(fit::Fit),
    #[command(after_help = super::CONTRACT)]
    Predict(predict::Predict),
}

/// A classifier as `train` left it in a folder, or as a device has it in one file.
struct Trained {
    file: ModelFile,
    classifier: Option<Classifier>,
    /// What classes are called, of a classifier in one file that has names beside it.
    names: Option<Vec<String>>,
}

impl Trained {
    fn open(path: &Path) -> Result<Self> {
        if path.is_dir() {
            return Trained::open_folder(path);
        }
        let file = ModelFile::read(path)?;
        if file.model()?.classes() == 0 {
            let what = "the model has no classifier";
            let remedy =
                "name the folder that `classify train` wrote, or the model of `classify export`";
            return Err(Error::file(path, what, remedy));
        }
        Ok(Trained {
            names: class_names::beside(&file)?,
            file,
            classifier: None,
        })
    }

    /// What `train` wrote, and nothing else.
    fn open_folder(folder: &Path) -> Result<Self> {
        settle(folder)?;
        let path = folder.join(CLASSIFIER);
        if !path.exists() {
            let what = match (folder.is_dir(), folder.exists()) {
                (true, _) => "the folder holds no classifier",
                (_, true) => "a file, where the folder of a classifier is wanted",
                _ => "there is no such folder",
            };
            return Err(Error::file(
                folder,
                what,
                "name the folder that `bispectral classify train` wrote",
            ));
        }
        let file = ModelFile::read(&folder.join(MODEL))?;
        let classifier = Classifier::read(&path)?;
        if classifier.model() != Some(file.checksum()) {
            let what = "it was trained on another model than the one beside it";
            return Err(Error::file(&path, what, "put that back, or train again"));
        }
        Ok(Trained {
            file,
            classifier: Some(classifier),
            names: None,
        })
    }

    /// The number of the class that each sample is taken for.
    fn classify(
        &self,
        samples: ArrayView2<'_, f32>,
        observe: &mut dyn FnMut(usize),
    ) -> Result<Vec<u8>> {
        let model = self.file.model()?;
        match &self.classifier {
            Some(classifier) => classifier.classify(model, samples, observe),
            None => device::classify(&model, samples),
        }
    }

    fn name(&self, class: u8) -> String {
        match (&self.classifier, &self.names) {
            (Some(classifier), _) => classifier.name(class),
            (None, Some(names)) => names[usize::from(class)].clone(),
            (None, None) => class.to_string(),
        }
    }
}

impl Classify {
    pub(super) fn run(&self, seed: Option<u64>, console: &Console) -> Result<()> {
        let seed = seed.unwrap_or(0);
        match &self.command {
            Command::Train(train) => train.run(seed, console),
            Command::Evaluate(evaluate) => evaluate.run(seed, console),
            Command::Export(export) => export.run(seed, console),
            Command::Fit(fit) => fit.run(seed, console),
            Command::Predict(predict) => predict.run(console),
        }
    }
}
