//! `bispectral classify predict`: what each signal is taken for.

use super::{Trained, files};
use crate::compare::in_order;
use crate::features::check_length;
use crate::models;
use bispectral_learn::Result;
use bispectral_learn::data::load;
use bispectral_learn::storage::NewFile;
use bispectral_run::console::{self, Console};
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Say what each signal is
///
/// One label a line, in the order of the signals, as they were in training; of a model without its file of class names, the
/// number of the class.
#[derive(Debug, Args)]
pub(super) struct Predict {
    /// The folder that `bispectral classify train` wrote, or a model with a classifier
    #[arg(value_name = "DIR|MODEL.bsn")]
    classifier: PathBuf,
    /// The signals
    #[arg(value_name = "X.npy")]
    signals: PathBuf,
    /// The labels to write, one a line
    #[arg(short, long, value_name = "labels.csv")]
    output: PathBuf,
    /// Replace the output file where it exists
    #[arg(long)]
    force: bool,
}

#[derive(Serialize)]
struct Predicted {
    output: String,
    samples: usize,
    /// How many were taken for each.
    counts: BTreeMap<String, usize>,
}

impl Predict {
    pub(super) fn run(&self, console: &Console) -> Result<()> {
        let mut output = NewFile::create(&self.output, self.force)?
            .other_than([&self.classifier, &self.signals])?
            .other_than(files(&self.classifier))?;
        let trained = Trained::open(&self.classifier)?;
        let exemplars = load::exemplars(&self.signals)?;
        models::note(&trained.file.model()?, &exemplars.remarks, console);
        let samples = exemplars.samples;
        check_length(&self.signals, samples.ncols(), &trained.file)?;
        let mut progress = console.progress("samples classified", samples.nrows());
        let taken = trained.classify(samples.view(), &mut |done| progress.at(done))?;
        drop(progress);
        let labels: Vec<String> = taken.iter().map(|&class| trained.name(class)).collect();
        let mut text = String::from("label\n");
        let mut counts = BTreeMap::new();
        for label in labels {
            let quoted = label.contains([',', ';', '"', '\t']);
            text += &if quoted {
                format!("\"{}\"", label.replace('"', "\"\""))
            } else {
                label.clone()
            };
            text.push('\n');
            *counts.entry(label).or_insert(0) += 1;
        }
        output.write(text.as_bytes())?;
        output.commit()?;
        let predicted = Predicted {
            output: self.output.display().to_string(),
            samples: taken.len(),
            counts,
        };
        let mut counts: Vec<_> = predicted.counts.iter().collect();
        counts.sort_by(|a, b| in_order(a.0, b.0));
        let shares: Vec<String> = counts
            .into_iter()
            .map(|(label, count)| format!("{} {count}", console::name(label)))
            .collect();
        let words = format!(
            "{}: {} samples: {}",
            console::name(&predicted.output),
            predicted.samples,
            shares.join(", ")
        );
        console.summary(&predicted, &words)
    }
}
