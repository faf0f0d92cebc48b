//! `bispectral firmware`: a whole small program around a model, for a board.

use crate::choices::Language;
use crate::models;
use bispectral_learn::data::Signals;
use bispectral_learn::model::emit::Exported;
use bispectral_learn::model::firmware::{BOARDS, Board, Project, made_up_windows};
use bispectral_learn::storage::{FolderLock, NewFile, keep_inputs};
use bispectral_learn::{Error, Result};
use bispectral_run::MODEL;
use bispectral_run::console::{self, Console};
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// Write a whole small program around a model, for a board
///
/// A Cargo project, or with --lang c a Makefile: it reads windows, calls the model and prints. `cargo run --release` in the folder
/// runs it in QEMU, where that has the board, otherwise on the board by probe-rs. The library lies beside the program, with
/// the features that the model needs; expected.txt is what the host computes of the same windows, to the bit. Boards:
/// cortex-m4f, cortex-m0 (M0+ too), cortex-m33 and rv32, which QEMU has; stm32f405 and rp2040 by their HAL crates
#[derive(Debug, Args)]
pub(super) struct Firmware {
    /// A model, or the folder of a run
    #[arg(value_name = "MODEL.bsn|DIR")]
    model: PathBuf,
    /// The folder to write
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// The board
    #[arg(long, value_name = "NAME", default_value = "cortex-m4f", value_parser = names())]
    board: String,
    /// The language of the program
    #[arg(long, value_name = "LANGUAGE", value_enum, default_value_t = Language::Rust)]
    lang: Language,
    /// Recorded windows for the program to read, one a row, as `features` takes them [default: made-up ones]
    #[arg(long, value_name = "X.csv|X.npy")]
    data: Option<PathBuf>,
    /// How many of the windows, from the first [default: all, up to 32]
    #[arg(long, value_name = "COUNT", requires = "data", value_parser = clap::value_parser!(u16).range(1..))]
    windows: Option<u16>,
    /// Replace the files of a program where the folder exists
    #[arg(long)]
    force: bool,
}

/// What every program has beside its model.
const EXPECTED: &str = "expected.txt";

/// Windows that are taken where their number is not given.
const MOST_WINDOWS: usize = 32;

/// The names of boards, as values of a flag.
pub(crate) fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(BOARDS.map(|board| board.name))
}

/// The board of a name that was accepted.
pub(crate) fn board(name: &str) -> &'static Board {
    Board::named(name).unwrap_or(&BOARDS[0])
}

#[derive(Serialize)]
struct Written<'a> {
    output: String,
    board: &'a str,
    target: &'a str,
    language: bispectral_learn::model::firmware::Language,
    windows: usize,
    files: Vec<String>,
    /// The command that runs it, in its folder.
    run: &'static str,
}

impl Firmware {
    pub(super) fn run(&self, console: &Console) -> Result<()> {
        let file = models::read(&self.model)?;
        let exported =
            Exported::new(file.bytes()).map_err(|error| Error::model(file.path(), error))?;
        let board = board(&self.board);
        if self.lang == Language::C && !board.has_c() {
            let what = "there is no program in C for this board";
            let remedy =
                "take --lang rust, or one of cortex-m4f, cortex-m0, cortex-m33 and stm32f405";
            return Err(Error::new(board.name, what, remedy));
        }
        if self.output.exists() && !self.force {
            return Err(Error::Exists {
                path: self.output.clone(),
            });
        }
        if self.output.join(MODEL).exists() && !self.output.join(EXPECTED).exists() {
            let what = "the folder holds a model, and no program";
            return Err(Error::file(&self.output, what, "choose another one"));
        }
        let windows = self.recorded(exported.sizes().inputs, console)?;
        let project = Project {
            exported: &exported,
            board,
            language: self.lang.into(),
            windows: &windows,
        };
        let files = bispectral_firmware::files(&project).map_err(|error| match &self.data {
            Some(path) => {
                let what = format!("{}: {}", error.subject(), error.what());
                Error::file(path, what, "leave it out")
            }
            None => error,
        })?;
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        let inputs: Vec<&Path> = (self.data.iter().map(PathBuf::as_path))
            .chain([file.path()])
            .collect();
        keep_inputs(&self.output, &names, &inputs)?;
        let _lock = FolderLock::acquire(&self.output)?;
        for (name, bytes) in &files {
            write(&self.output.join(name), bytes)?;
        }
        let run = match self.lang {
            Language::Rust => "cargo run --release",
            Language::C => "make run",
        };
        let written = Written {
            output: self.output.display().to_string(),
            board: board.name,
            target: board.target,
            language: self.lang.into(),
            windows: windows.len() / exported.sizes().inputs,
            files: files.into_iter().map(|(name, _)| name).collect(),
            run,
        };
        let words = format!(
            "{}: a program for {}, {} windows; run it with `cd {} && {run}`",
            console::name(&written.output),
            board.about,
            written.windows,
            console::name(&written.output),
        );
        console.summary(&written, &words)
    }

    /// The windows of --data, or made-up ones.
    fn recorded(&self, inputs: usize, console: &Console) -> Result<Vec<f32>> {
        let Some(path) = &self.data else {
            return Ok(made_up_windows(inputs));
        };
        let mut signals = Signals::open(path)?;
        signals.check_samples()?;
        console.note(signals.remarks());
        if signals.length() != inputs {
            let what = format!(
                "signals of {} values, the model has {inputs} inputs",
                signals.length()
            );
            let remedy = format!("save signals of shape [samples, {inputs}]");
            return Err(Error::file(path, what, remedy));
        }
        let most = self.windows.map_or(MOST_WINDOWS, usize::from);
        let mut samples = Vec::new();
        signals.samples(0..signals.count().min(most), &mut samples)?;
        Ok(samples.into_iter().map(|sample| sample as f32).collect())
    }
}

/// Writes a file, and the folders it is in.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| Error::writing(folder, &error))?;
    }
    let mut file = NewFile::create(path, true)?;
    file.write(bytes)?;
    file.commit()
}
