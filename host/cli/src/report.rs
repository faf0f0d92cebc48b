//! `bispectral report`: one HTML page of a training run, of an experiment or of the demo.

mod run;

pub(super) use run::Finished;

use bispectral_learn::storage::NewFile;
use bispectral_learn::{Error, Result};
use bispectral_report::{Page, render};
use bispectral_run::console::Console;
use bispectral_run::pages::{PAGE, REPORT, read_page};
use bispectral_run::{CONFIG, FILES};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;

/// Make one self-contained HTML page of a run or an experiment: words, tables and all figures
///
/// The page needs no network and no other file: send it, print it, keep it.
#[derive(Debug, Args)]
pub(super) struct Report {
    /// The folder of a training run, or of what `reproduce` or `demo` wrote
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The page [default: report.html in the folder, which replaces an earlier one]
    #[arg(short, long, value_name = "FILE.html")]
    output: Option<PathBuf>,
    /// Replace FILE.html where it exists
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Serialize)]
struct Summary {
    report: String,
    bytes: usize,
    figures: usize,
}

impl Report {
    pub(super) fn run(&self, console: &Console) -> Result<()> {
        let page = self.page()?;
        let (path, replace) = match &self.output {
            Some(path) => (path.clone(), self.force),
            None => (self.folder.join(REPORT), true),
        };
        let read = FILES.iter().chain([&PAGE]);
        let mut file =
            NewFile::create(&path, replace)?.other_than(read.map(|name| self.folder.join(name)))?;
        let rendered = render(&page);
        file.write(rendered.html.as_bytes())?;
        file.commit()?;
        for fault in &rendered.faults {
            console.say(&format!("a figure is missing: {fault}"));
        }
        let summary = Summary {
            report: path.display().to_string(),
            bytes: rendered.html.len(),
            figures: rendered.figures,
        };
        let words = format!(
            "report       {}: {} figures, {} KB",
            summary.report,
            summary.figures,
            summary.bytes.div_ceil(1000)
        );
        console.summary(&summary, &words)
    }

    /// What the folder says of itself, or else what is to be said of a run.
    fn page(&self) -> Result<Page> {
        let folder = &self.folder;
        if folder.join(PAGE).exists() {
            return read_page(folder);
        }
        if folder.join(CONFIG).exists() {
            return Ok(Finished::read(folder)?.page());
        }
        let what = if folder.is_dir() {
            "holds no run and no experiment"
        } else if folder.exists() {
            "a report is of a folder, and this is a file"
        } else {
            "there is no such folder"
        };
        let remedy = "name one that `bispectral train`, `reproduce` or `demo` wrote";
        Err(Error::file(folder, what, remedy))
    }
}
