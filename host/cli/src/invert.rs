//! `bispectral invert`: signals from their invariants, and how well the device's code gives these back.

use crate::features::{is_table, lines};
use crate::group::permuted::action_of;
use crate::model::INCOMPLETE;
use crate::models;
use bispectral_core::Model;
use bispectral_learn::analysis::certification::confusion;
use bispectral_learn::analysis::inversion::{Inversion, Rebuilt};
use bispectral_learn::data::Signals;
use bispectral_learn::data::npy::{self, Array, Element};
use bispectral_learn::group::Determination;
use bispectral_learn::model::couplings;
use bispectral_learn::storage::NewFile;
use bispectral_learn::{Error, Result};
use bispectral_run::MODEL;
use bispectral_run::console::{self, Console};
use clap::Args;
use num_complex::Complex64;
use serde::Serialize;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Invariants in memory at a time.
const BLOCK: usize = 64 << 20;
/// Samples of which a line is said each.
const SAID: usize = 5;
/// ‖β̄(x) − y‖ beyond which x has little to do with y: two random β̄ are √2 apart.
const UNEXPLAINED: f64 = 0.5;
/// The same of couplings, which are forms of a unit vector: rounding leaves 1e-7.
const UNEXPLAINED_FORMS: f64 = 1e-2;
/// Models of couplings with no more rows than this are tried on so many signals, in less than a second.
const MOST_TRIED: usize = 24;
const TRIALS: usize = 20;

/// Rebuild signals from their invariants, up to the group and a positive factor
///
/// Y holds normalised invariants as `bispectral features` writes them: complex64 or complex128, of shape (samples, pairs), or a table
/// of real and imaginary parts. X will be float32, of shape (samples, N), or a table where it is called .csv; each signal has unit
/// length. Where the model's rows are the characters of a
/// group, signals follow from few coefficients and least squares over all; otherwise they are made from noise by
/// gradient. A model of couplings is inverted by least squares from several starts. Where the invariants do not determine a signal, because too many of its coefficients are zero, X holds one
/// of those that have them, and a line says so.
#[derive(Debug, Args)]
pub(super) struct Invert {
    /// A model, or the folder of a run
    #[arg(value_name = "MODEL.bsn|DIR")]
    model: PathBuf,
    /// The invariants
    #[arg(value_name = "Y.npy")]
    invariants: PathBuf,
    /// The array to write
    #[arg(short, long, value_name = "X.npy")]
    output: PathBuf,
    /// Without a group: how often to begin again from other noise
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    restarts: u32,
    /// Replace the output file where it exists
    #[arg(long)]
    force: bool,
}

/// What is inverted.
#[derive(Debug, Serialize)]
struct Inverted {
    output: String,
    /// None where signals were found by gradient.
    group: Option<String>,
    samples: usize,
    inputs: usize,
    /// ‖β̄(x) − y‖ of every sample, by bispectral-core.
    residuals: Vec<f64>,
    undetermined: Vec<Undetermined>,
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct Undetermined {
    sample: usize,
    #[serde(flatten)]
    open: Determination,
}

impl Invert {
    pub(super) fn run(&self, seed: u64, console: &Console) -> Result<()> {
        let mut output = NewFile::create(&self.output, self.force)?.other_than([
            &self.model,
            &self.model.join(MODEL),
            &self.invariants,
        ])?;
        let file = models::read(&self.model)?;
        let model = file.model()?;
        let mut invariants = self.open(&model)?;
        let coupled = couplings::decode(&model);
        if let Some(forms) = &coupled
            && forms.rows() <= MOST_TRIED
            && let Some(action) = action_of(&file)?
            && confusion(forms, &action, TRIALS, seed).is_some()
        {
            let path = self.model.display().to_string();
            console.say(&format!("note: {}: {INCOMPLETE}", console::name(&path)));
        }
        let inversion = Inversion::new(model, self.restarts, seed).map_err(|error| {
            Error::file(
                &self.model,
                error.what(),
                error.remedy().unwrap_or_default(),
            )
        })?;
        let (samples, inputs) = (invariants.rows(), model.inputs());
        let mut inverted = Inverted {
            output: self.output.display().to_string(),
            group: inversion.group().map(str::to_owned),
            samples,
            inputs,
            residuals: Vec::new(),
            undetermined: Vec::new(),
            seconds: 0.0,
        };
        let is_text = is_table(&self.output);
        if !is_text {
            let shape = [samples as u64, inputs as u64];
            output.write(&npy::header(Element::Float32, shape))?;
        }
        let mut progress = console.progress("samples", samples);
        self.each_block(&mut invariants, |block| {
            for done in inversion.invert(block, |_, _| Ok(()))? {
                let done = done.ok_or_else(|| self.refuse(inverted.residuals.len()))?;
                let bytes: Vec<u8> = done.signal.iter().flat_map(|x| x.to_le_bytes()).collect();
                match is_text {
                    true => output.write(&lines(&bytes, bytes.len()))?,
                    false => output.write(&bytes)?,
                }
                inverted.add(done);
            }
            progress.at(inverted.residuals.len());
            Ok(())
        })?;
        output.commit()?;
        inverted.seconds = progress.seconds();
        drop(progress);
        let unexplained = if coupled.is_some() {
            UNEXPLAINED_FORMS
        } else {
            UNEXPLAINED
        };
        inverted.warn(unexplained, console);
        console.summary(&inverted, &inverted.words())
    }

    /// The invariants, once all of them are known to be some of the model's.
    fn open(&self, model: &Model<'_>) -> Result<Invariants> {
        let path = &self.invariants;
        let mut array = Invariants::open(path)?;
        if array.columns() != model.pairs() {
            let what = format!(
                "samples of {} values where {} has {} invariants",
                array.columns(),
                self.model.display(),
                model.pairs()
            );
            let remedy = "give what `bispectral features` writes with the same model";
            return Err(Error::file(path, what, remedy));
        }
        let (columns, mut at) = (array.columns(), 0);
        self.each_block(&mut array, |block| {
            for sample in block.chunks(columns) {
                Inversion::check(at, sample).map_err(|error| {
                    let what = format!("sample {at}: {}", error.what());
                    Error::file(path, what, error.remedy().unwrap_or_default())
                })?;
                at += 1;
            }
            Ok(())
        })?;
        Ok(array)
    }

    /// Hands whole samples to `each`, as many as fit a block.
    fn each_block(
        &self,
        array: &mut Invariants,
        mut each: impl FnMut(&[Complex64]) -> Result<()>,
    ) -> Result<()> {
        let step = (BLOCK / (array.columns() * Element::Complex128.size())).max(1);
        for first in (0..array.rows()).step_by(step) {
            let end = array.rows().min(first.saturating_add(step));
            each(&array.read(first..end)?)?;
        }
        Ok(())
    }

    fn refuse(&self, sample: usize) -> Error {
        Error::file(
            &self.invariants,
            format!("sample {sample}: no signal has these invariants"),
            "leave the sample out",
        )
    }
}

/// Invariants in a file, a block at a time.
enum Invariants {
    Array(Array),
    /// Real and imaginary parts beside each other.
    Table(Signals),
}

impl Invariants {
    fn open(path: &Path) -> Result<Self> {
        if is_table(path) {
            let table = Signals::open(path)?;
            if table.length() % 2 == 1 {
                let what = format!("lines of {} values", table.length());
                let remedy = "give real and imaginary parts, as `bispectral features` writes them without flags";
                return Err(Error::file(path, what, remedy));
            }
            return Ok(Invariants::Table(table));
        }
        let array = Array::open(path)?;
        if !array.element().is_complex() {
            let what = format!("the invariants are {}", array.element());
            let remedy = "give what `bispectral features` writes without flags, which is complex64";
            return Err(Error::file(path, what, remedy));
        }
        Ok(Invariants::Array(array))
    }

    fn rows(&self) -> usize {
        match self {
            Invariants::Array(array) => array.rows(),
            Invariants::Table(table) => table.count(),
        }
    }

    /// Of a sample.
    fn columns(&self) -> usize {
        match self {
            Invariants::Array(array) => array.columns(),
            Invariants::Table(table) => table.length() / 2,
        }
    }

    fn read(&mut self, rows: Range<usize>) -> Result<Vec<Complex64>> {
        match self {
            Invariants::Array(array) => Ok(array.read(rows)?.to_vec()),
            Invariants::Table(table) => {
                let mut values = Vec::new();
                table.read(rows, &mut values)?;
                let (parts, _) = values.as_chunks::<2>();
                Ok(parts
                    .iter()
                    .map(|[re, im]| Complex64::new(*re, *im))
                    .collect())
            }
        }
    }
}

impl Inverted {
    fn add(&mut self, done: Rebuilt) {
        let open = done.determination.filter(|known| !known.is_complete());
        let sample = self.residuals.len();
        let open = open.map(|open| Undetermined { sample, open });
        self.undetermined.extend(open);
        self.residuals.push(done.residual);
    }

    /// A line for each of the first samples that are not what one may take them for.
    fn warn(&self, most: f64, console: &Console) {
        let open = self.undetermined.iter();
        let open = open.map(|Undetermined { sample, open }| {
            format!("sample {sample}: not determined: {open}: X holds one of many signals")
        });
        let unexplained = self.residuals.iter().enumerate();
        let unexplained = unexplained.filter(|(_, residual)| **residual > most);
        let unexplained = unexplained.map(|(sample, residual)| {
            format!("sample {sample}: no signal found with these invariants (residual {residual:.2}): check the model")
        });
        let lines: Vec<String> = open.chain(unexplained).collect();
        lines.iter().take(SAID).for_each(|line| console.say(line));
        if lines.len() > SAID {
            console.say(&format!("and {} more: --json", lines.len() - SAID));
        }
    }

    fn words(&self) -> String {
        let mut sorted = self.residuals.clone();
        sorted.sort_by(f64::total_cmp);
        let median = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
        let largest = sorted.last().copied().unwrap_or(0.0);
        format!(
            "{}: samples {}, inputs {} (float32), by {}, residual {median:.1e} (largest {largest:.1e}), \
             not determined {}, {:.3} s",
            console::name(&self.output),
            self.samples,
            self.inputs,
            match &self.group {
                Some(group) => format!("the group {group}"),
                None => "gradient".into(),
            },
            self.undetermined.len(),
            self.seconds,
        )
    }
}
