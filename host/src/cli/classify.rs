//! `bispectral classify`: from invariants to classes.

mod evaluate;
mod export;
mod recipe;
mod source;
mod train;

use super::console::Console;
use crate::Result;
use crate::classify::classifier::Classifier;
use crate::classify::samples::Samples;
use bispectral_core::Model;
use clap::{Args, Subcommand};
use serde::Serialize;
use std::fmt::Write as _;

/// What is in the folder of a classifier.
pub(super) const MODEL: &str = "model.bsn";
pub(super) const CLASSIFIER: &str = "classifier.bin";
pub(super) const RESULTS: &str = "results.json";

pub(super) use recipe::Choices;
pub(super) use source::{copies, digits, turned};
pub(super) use train::tell;

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
}

impl Classify {
    pub(super) fn run(&self, seed: Option<u64>, console: &Console) -> Result<()> {
        let seed = seed.unwrap_or(0);
        match &self.command {
            Command::Train(train) => train.run(seed, console),
            Command::Evaluate(evaluate) => evaluate.run(seed, console),
            Command::Export(export) => export.run(seed, console),
        }
    }
}

/// How often a classifier is right.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Evaluated {
    pub(super) samples: usize,
    pub(super) right: usize,
    pub(super) accuracy: f64,
    /// What each class is called.
    pub(super) labels: Vec<i64>,
    /// How many samples of each class (a row) were taken for each class (a column).
    pub(super) confusion: Vec<Vec<usize>>,
    /// What each sample was taken for.
    #[serde(skip)]
    pub(super) taken: Vec<u8>,
}

impl Evaluated {
    /// Has `members`, mostly one, classify `data`, and compares.
    pub(super) fn of(
        members: &[Classifier],
        model: Model<'_>,
        data: &Samples,
        console: &Console,
    ) -> Result<Self> {
        data.check("the data", &model)?;
        let classes = members[0].classes_of(&data.labels)?;
        let mut progress = console.progress("samples classified", classes.len());
        let told = &mut |done| progress.at(done);
        let taken = Classifier::vote(members, model, data.samples.view(), told)?;
        Ok(Evaluated::new(&classes, taken, members[0].labels()))
    }

    pub(super) fn new(classes: &[u8], taken: Vec<u8>, labels: &[i64]) -> Self {
        let mut confusion = vec![vec![0; labels.len()]; labels.len()];
        for (&class, &taken) in classes.iter().zip(&taken) {
            confusion[usize::from(class)][usize::from(taken)] += 1;
        }
        let right = (0..labels.len()).map(|class| confusion[class][class]).sum();
        Evaluated {
            samples: classes.len(),
            right,
            accuracy: right as f64 / classes.len().max(1) as f64,
            labels: labels.to_vec(),
            confusion,
            taken,
        }
    }

    /// The table of what was taken for what.
    fn words(&self) -> String {
        let mut text = format!(
            "{} of {} right: {:.2} %\n",
            self.right,
            self.samples,
            100.0 * self.accuracy
        );
        // A table of more columns does not fit a line.
        if self.labels.len() <= 12 {
            let _ = write!(text, "{:>12}", "taken for");
            self.labels.iter().for_each(|label| {
                let _ = write!(text, " {label:>6}");
            });
            for (label, row) in self.labels.iter().zip(&self.confusion) {
                let _ = write!(text, "\n{label:>12}");
                row.iter().for_each(|count| {
                    let _ = write!(text, " {count:>6}");
                });
            }
        }
        text
    }
}
