//! The folder that a command fills: refused where it holds anything, and written only once there is something to keep.

use super::console::Console;
use crate::export::NewFile;
use crate::report::html;
use crate::report::page::Page;
use crate::{Error, Result};
use clap::Args;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

const RESULTS: &str = "results.json";

/// Where a command leaves what it found.
#[derive(Debug, Args)]
pub(super) struct Folder {
    /// The folder for figures and results
    #[arg(short, long, value_name = "DIR")]
    pub(super) output: PathBuf,
    /// Replace the results that the folder holds
    #[arg(long)]
    pub(super) force: bool,
}

impl Folder {
    /// Refuses a folder that holds anything; nothing is written before there is something to keep.
    pub(super) fn check(&self) -> Result<()> {
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
    pub(super) fn conclude(
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

    pub(super) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.output.join(name)
    }

    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let folder = &self.output;
        fs::create_dir_all(folder).map_err(|error| Error::writing(folder, &error))?;
        let mut file = NewFile::create(&self.path(name), true)?;
        file.write(bytes)?;
        file.commit()
    }

    /// What was found, for programs.
    fn write_results(&self, results: &impl Serialize) -> Result<()> {
        let json = serde_json::to_vec_pretty(results).expect("numbers and names serialise");
        self.write(RESULTS, &json)
    }
}

/// What a page says of how it came about; `command` is that with its flags, without the program's name.
pub(super) fn facts(command: &str, seed: u64) -> Vec<(&'static str, String)> {
    vec![
        (
            "command",
            format!("bispectral {command} --seed {seed} -o DIR"),
        ),
        ("seed", seed.to_string()),
        (
            "program",
            format!("bispectral {}", env!("CARGO_PKG_VERSION")),
        ),
    ]
}
