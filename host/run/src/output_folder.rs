//! The folder that a command fills: refused where it holds anything, and written only once there is something to keep.

use crate::console::Console;
use bispectral_learn::storage::NewFile;
use bispectral_learn::{Error, Result};
use bispectral_report::{Block, MOST_BYTES, Page, render};
use clap::Args;
use serde::Serialize;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

const RESULTS: &str = "results.json";
/// What a page is called in its folder, as data.
pub const PAGE: &str = "page.json";
/// What it is called as people read it.
pub const REPORT: &str = "report.html";

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

fn write_file(folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let path = folder.join(name);
    let parent = path.parent().unwrap_or(folder);
    fs::create_dir_all(parent).map_err(|error| Error::writing(parent, &error))?;
    let mut file = NewFile::create(&path, true)?;
    file.write(bytes)?;
    file.commit()
}

/// Writes `page` into `folder`: as data, as `report.html`, and each of its figures as an SVG; and says where the page is.
///
/// # Errors
/// A file cannot be written. A figure that cannot be drawn is no error: the page says so in its place.
pub fn publish(page: &Page, folder: &Path) -> Result<PathBuf> {
    write_file(folder, PAGE, &page.to_json())?;
    let blocks = page.sections.iter().flat_map(|section| &section.blocks);
    for block in blocks {
        if let Block::Figure(figure) = block
            && let Some(name) = figure.file_name()
        {
            write_file(folder, &name, figure.drawing.svg().as_bytes())?;
        }
    }
    write_file(folder, REPORT, render(page).html.as_bytes())?;
    Ok(folder.join(REPORT))
}

/// The page that was published in `folder`.
///
/// # Errors
/// There is none, or it is damaged.
pub fn read_page(folder: &Path) -> Result<Page> {
    let path = folder.join(PAGE);
    let reading = |error| Error::reading(&path, &error);
    let mut text = Vec::new();
    let file = File::open(&path).map_err(reading)?;
    let most = MOST_BYTES as u64;
    file.take(most + 1)
        .read_to_end(&mut text)
        .map_err(reading)?;
    Page::from_json(&text)
        .map_err(|error| Error::file(&path, error.to_string(), "run the experiment again"))
}

/// What a page says of how it came about; `command` is that with its flags, without the program's name.
#[must_use]
pub fn facts(command: &str, seed: u64) -> Vec<(&'static str, String)> {
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
