//! `bispectral classify fit`: from signals to one model that classifies them on a device, in one command.

use super::page::Shown;
use crate::compare::{numbered, read};
use bispectral_core::Model;
use bispectral_learn::analysis::fit::Limits;
use bispectral_learn::classify::chain::{Chain, PROGRAM, Size};
use bispectral_learn::classify::compare::Labelled;
use bispectral_learn::classify::device;
use bispectral_learn::classify::evaluated::share;
use bispectral_learn::classify::samples::Samples;
use bispectral_learn::storage::NewFile;
use bispectral_learn::{Error, Result};
use bispectral_run::class_names::NewNames;
use bispectral_run::console::{self, Console};
use bispectral_run::pages::publish;
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// From signals that begin anywhere to one model with a classifier, the smallest that is right
///
/// Nothing is learned of the symmetry: signals are taken as windows of one period, and all cyclic shifts as the same. Chains of
/// 4 to 64 harmonics, all or few pairs, none to 256 hidden numbers or the nearest training sample are fitted in closed form; the smallest model of those
/// whose accuracy, with each training sample left out in turn, is within half a percent of the best is written, and the share
/// held out is classified by it. What the classes are called is written beside the model, to OUT.classes.json: a device knows
/// them by number.
#[derive(Debug, Args)]
pub(super) struct Fit {
    /// Signals [S, N]: .npy, text or IDX
    #[arg(long, value_name = "X.npy")]
    data: PathBuf,
    /// The class of each signal: integers or words
    #[arg(long, value_name = "y.npy")]
    labels: PathBuf,
    /// The model to write
    #[arg(short, long, value_name = "OUT.bsn")]
    output: PathBuf,
    /// What the device has: flash for the model and the program that runs it, RAM for signal, scratch and scores. With board=NAME
    /// both are those of the whole program that `firmware` writes for the board, stack included
    #[arg(long, value_name = "flash=32K,ram=4K[,board=NAME]")]
    fit: Option<Limits>,
    /// The share of the samples that are held out
    #[arg(long, value_name = "SHARE", default_value_t = 0.2)]
    held_out: f64,
    /// Also a page of what was fitted, report.html, with each figure as an SVG beside it: the folder to write
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Replace what is written where it exists
    #[arg(long)]
    force: bool,
}

#[derive(Serialize)]
struct Fitted {
    output: String,
    /// What class 0, 1, … is called.
    classes: Vec<String>,
    size: Size,
    flash_bytes: usize,
    program_bytes: usize,
    ram_bytes: usize,
    /// Of training samples, each left out in turn.
    left_out: f64,
    held_out: usize,
    right: usize,
    /// What was weighed: sizes, bytes, accuracy.
    weighed: Vec<(Size, usize, f64)>,
}

impl Fit {
    pub(super) fn run(&self, seed: u64, console: &Console) -> Result<()> {
        let mut output =
            NewFile::create(&self.output, self.force)?.other_than([&self.data, &self.labels])?;
        let names = NewNames::create(&self.output, self.force)?;
        if let Some(folder) = self.report.as_ref().filter(|folder| folder.exists())
            && !self.force
        {
            let path = folder.clone();
            return Err(Error::Exists { path });
        }
        let (signals, labels) = read(&self.data, &self.labels, console)?;
        let (classes, numbers) = numbered(&self.labels, &labels, &[])?;
        if !(0.0..0.9).contains(&self.held_out) {
            let what = format!("{} is not from 0 to 0.9", self.held_out);
            return Err(Error::new("the held-out share", what, "give 0.2"));
        }
        let all = Samples {
            samples: signals,
            labels: numbers.iter().map(|&class| class as i64).collect(),
            views: 1,
        };
        let [training, held_out] = all.split(self.held_out, seed)?;
        let labels_of =
            |places: &[usize]| -> Vec<usize> { places.iter().map(|&at| numbers[at]).collect() };
        let (samples, known) = (all.select(&training).samples, labels_of(&training));
        let limits = self.fit.unwrap_or_default();
        let (chain, tried) = Chain::choose(samples.view(), &known, classes.len(), &limits, seed)?;
        let model =
            Model::from_bytes(&chain.bytes).map_err(|error| Error::model(&self.output, error))?;
        let of_held_out = all.select(&held_out).samples;
        let found = device::classify(&model, of_held_out.view())?;
        let found: Vec<usize> = found.into_iter().map(usize::from).collect();
        let expected = labels_of(&held_out);
        let right = found.iter().zip(&expected).filter(|(f, e)| f == e);
        let fitted = Fitted {
            output: self.output.display().to_string(),
            classes,
            size: chain.size,
            flash_bytes: chain.bytes.len(),
            program_bytes: PROGRAM,
            ram_bytes: chain.ram,
            left_out: chain.left_out,
            held_out: expected.len(),
            right: right.count(),
            weighed: tried
                .iter()
                .map(|c| (c.size, c.bytes.len(), c.left_out))
                .collect(),
        };
        output.write(&chain.bytes)?;
        names.write(&chain.bytes, &fitted.classes)?;
        output.commit()?;
        let words = self.words(&fitted, training.len());
        if let Some(folder) = &self.report {
            let shown = Shown {
                data: &file_name(&self.data),
                training: &Labelled {
                    signals: samples,
                    classes: known,
                },
                held_out: &Labelled {
                    signals: of_held_out,
                    classes: expected,
                },
                taken: &found,
                classes: &fitted.classes,
                model: &model,
                words: &words,
            };
            publish(&shown.page()?, folder)?;
        }
        console.summary(&fitted, &words)
    }

    fn words(&self, fitted: &Fitted, training: usize) -> String {
        let Size {
            harmonics,
            selective,
            hidden,
            templates,
            ..
        } = fitted.size;
        let pairs = if selective { "few" } else { "all" };
        let behind = if templates {
            "the nearest training sample".into()
        } else {
            format!("{hidden} hidden numbers")
        };
        let names: Vec<String> = fitted
            .classes
            .iter()
            .map(|name| console::name(name))
            .collect();
        format!(
            "model        {}: {} bytes, RAM {} bytes; the program takes some {} KB more\n\
             classes      {}\n\
             chain        {harmonics} harmonics, {pairs} pairs, {behind}, of {} chains that were fitted\n\
             training     {training} samples, of which {:.1} % are right when they are left out\n\
             held out     {}",
            console::name(&fitted.output),
            fitted.flash_bytes,
            fitted.ram_bytes,
            fitted.program_bytes >> 10,
            names.join(", "),
            fitted.weighed.len(),
            100.0 * fitted.left_out,
            share(fitted.right, fitted.held_out),
        )
    }
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
