//! `bispectral report`: one HTML page of a training run, of an experiment or of the demo.

pub(super) mod figures;
mod run;

pub(super) use run::Finished;

use super::console::Console;
use crate::export::NewFile;
use crate::report::html::{self, REPORT};
use crate::report::page::{PAGE, Page};
use crate::report::pictures::Pictures;
use crate::train::run::CONFIG;
use crate::{Error, Result};
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
struct Told {
    report: String,
    bytes: usize,
    figures: usize,
}

impl Report {
    pub(super) fn run(&self, console: &Console) -> Result<()> {
        let (page, pictures) = self.page()?;
        let (path, replace) = match &self.output {
            Some(path) => (path.clone(), self.force),
            None => (self.folder.join(REPORT), true),
        };
        let mut file = NewFile::create(&path, replace)?;
        let rendered = html::render(&page, &pictures);
        file.write(rendered.html.as_bytes())?;
        file.commit()?;
        for fault in &rendered.faults {
            console.say(&format!("a picture is missing: {fault}"));
        }
        let told = Told {
            report: path.display().to_string(),
            bytes: rendered.html.len(),
            figures: rendered.figures,
        };
        let words = format!(
            "report       {}: {} figures, {} KB",
            told.report,
            told.figures,
            told.bytes.div_ceil(1000)
        );
        console.summary(&told, &words)
    }

    /// What the folder says of itself, or else what is to be said of a run.
    fn page(&self) -> Result<(Page, Pictures)> {
        let folder = &self.folder;
        if folder.join(PAGE).exists() {
            return Ok((Page::read(folder)?, Pictures::of(folder)));
        }
        if folder.join(CONFIG).exists() {
            return Ok(Finished::read(folder)?.page());
        }
        let what = if folder.is_dir() {
            "holds no run and no experiment"
        } else {
            "there is no such folder"
        };
        let remedy = "name one that `bispectral train`, `reproduce` or `demo` wrote";
        Err(Error::file(folder, what, remedy))
    }
}
