//! The folder that a command fills: refused where it holds anything, and written only once there is something to keep.

use bispectral_learn::{Error, Result};
use bispectral_report::Page;
use bispectral_run::console::Console;
use bispectral_run::pages::{publish, write_file};
use clap::Args;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

const RESULTS: &str = "results.json";

/// Where a command leaves what it found.
#[derive(Debug, Args)]
pub struct OutputFolder {
    /// The folder for figures and results
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Replace the results that the folder holds
    #[arg(long)]
    pub force: bool,
}

impl OutputFolder {
    /// Where it is.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.output
    }

    /// Refuses a folder that holds anything; nothing is written before there is something to keep.
    ///
    /// # Errors
    /// The folder is not empty, and was not allowed to be replaced.
    pub fn check(&self) -> Result<()> {
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
    ///
    /// # Errors
    /// A file cannot be written, or the verdict's.
    pub fn conclude(
        &self,
        console: &Console,
        results: &impl Serialize,
        [text, words]: [&str; 2],
        page: &Page,
        verdict: Result<()>,
    ) -> Result<()> {
        self.write_results(results)?;
        self.write("results.txt", text.as_bytes())?;
        let report = publish(page, &self.output)?;
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

    /// A file in it.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.output.join(name)
    }

    /// Writes a file in it, and the folder where there is none.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        write_file(&self.output, name, bytes)
    }

    /// What was found, for programs.
    fn write_results(&self, results: &impl Serialize) -> Result<()> {
        let json = serde_json::to_vec_pretty(results).expect("numbers and names serialise");
        self.write(RESULTS, &json)
    }
}
