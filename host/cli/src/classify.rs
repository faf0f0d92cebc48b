//! `bispectral classify`: from invariants to classes.

mod evaluate;
mod export;
mod recipe;
mod source;
mod train;

use bispectral_learn::Result;
use bispectral_learn::classify::evaluated::Evaluated;
use bispectral_run::console::Console;
use clap::{Args, Subcommand};

/// What is in the folder of a classifier.
const MODEL: &str = "model.bsn";
const CLASSIFIER: &str = "classifier.bin";
const RESULTS: &str = "results.json";

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
