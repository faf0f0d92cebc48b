//! `bispectral reproduce`: the paper's experiments, one file each.

mod cayley;
mod rotation;
mod rotmnist;
mod translation;

use super::console::Console;
use crate::data::weights;
use crate::export::{NewFile, bsn};
use crate::report::html;
use crate::report::page::Page;
use crate::{Error, Result};
use clap::{Args, Subcommand};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

const RESULTS: &str = "results.json";

/// Repeat an experiment of the paper: figures and results in a folder
#[derive(Debug, Args)]
pub(super) struct Reproduce {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, Subcommand)]
enum Experiment {
    Cayley(cayley::Cayley),
    Rotation(rotation::Rotation),
    Rotmnist(rotmnist::Rotmnist),
    Translation(translation::Translation),
}

/// Where an experiment leaves what it found.
#[derive(Debug, Args)]
struct Place {
    /// The folder for figures and results
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Replace the results that the folder holds
    #[arg(long)]
    force: bool,
    /// A small form of the experiment, in seconds
    #[arg(long)]
    quick: bool,
}

impl Reproduce {
    pub(super) fn run(&self, seed: Option<u64>, console: &Console) -> Result<()> {
        match &self.experiment {
            Experiment::Cayley(cayley) => cayley.run(seed.unwrap_or(0), console),
            Experiment::Rotation(rotation) => rotation.run(seed.unwrap_or(0), console),
            Experiment::Rotmnist(rotmnist) => rotmnist.run(seed.unwrap_or(0), console),
            Experiment::Translation(translation) => translation.run(seed.unwrap_or(0), console),
        }
    }
}

/// The bytes of a model of a published W, where one is named, for images of so many pixels.
fn published(path: Option<&Path>, pixels: usize) -> Result<Option<Vec<u8>>> {
    let Some(path) = path else {
        return Ok(None);
    };
    let w = weights::read(path)?;
    if w.ncols() != pixels {
        let what = format!("W has {} inputs, the images {pixels} pixels", w.ncols());
        return Err(Error::file(path, what, "give one for images of that size"));
    }
    let bytes = bsn::encode_array(&w.view(), "published", None);
    bytes.map(Some).map_err(|error| Error::model(path, error))
}

impl Place {
    /// Refuses a folder that holds anything; nothing is written before there is something to keep.
    fn check(&self) -> Result<()> {
        let folder = &self.output;
        let holds = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
        if holds && !self.force {
            let remedy = "choose another one, or add --force";
            return Err(Error::file(folder, "the folder is not empty", remedy));
        }
        Ok(())
    }

    /// Writes what was found, `text` for people, and tells it: the object or the words on success; otherwise the
    /// words, and then only the failure.
    fn conclude(
        &self,
        console: &Console,
        results: &impl Serialize,
        [text, words]: [&str; 2],
        page: &Page,
        verdict: Result<()>,
    ) -> Result<()> {
        self.write_results(results)?;
        self.write("results.txt", text.as_bytes())?;
        let report = html::publish(page, &self.output)?;
        let words = format!(
            "{words}\nresults      {}\nreport       {}",
            self.output.display(),
            report.display()
        );
        match verdict {
            Ok(()) => console.answer(results, &words),
            Err(error) => {
                console.say(&words);
                Err(error)
            }
        }
    }

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.output.join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let folder = &self.output;
        fs::create_dir_all(folder).map_err(|error| Error::writing(folder, &error))?;
        let mut file = NewFile::create(&self.path(name), true)?;
        file.write(bytes)?;
        file.commit()
    }

    /// What a page says of how it came about; `experiment` is its name with the flags of its own.
    fn facts(&self, experiment: &str, seed: u64) -> Vec<(&'static str, String)> {
        let quick = if self.quick { " --quick" } else { "" };
        vec![
            (
                "command",
                format!("bispectral reproduce {experiment}{quick} --seed {seed} -o DIR"),
            ),
            ("seed", seed.to_string()),
            (
                "program",
                format!("bispectral {}", env!("CARGO_PKG_VERSION")),
            ),
        ]
    }

    /// What was found, for programs.
    fn write_results(&self, results: &impl Serialize) -> Result<()> {
        let json = serde_json::to_vec_pretty(results).expect("numbers and names serialise");
        self.write(RESULTS, &json)
    }
}
