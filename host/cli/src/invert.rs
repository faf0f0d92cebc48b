//! `bispectral invert`: signals from their invariants, and how well the device's code gives these back.

use crate::models;
use bispectral_core::{Complex32, Model, pair_count};
use bispectral_learn::analysis::inversion::{Inverter, by_gradient};
use bispectral_learn::data::npy::{self, Array, Element};
use bispectral_learn::group::identify::{Identification, identify};
use bispectral_learn::group::{Determination, Refusal};
use bispectral_learn::model::file;
use bispectral_learn::storage::NewFile;
use bispectral_learn::{Error, Result};
use bispectral_run::console::{self, Console};
use clap::Args;
use ndarray::Array2;
use num_complex::Complex64;
use rayon::prelude::*;
use serde::Serialize;
use std::path::PathBuf;

/// Invariants in memory at a time.
const BLOCK: usize = 64 << 20;
/// Samples of which a line is said each.
const SAID: usize = 5;
/// ‖β̄(x) − y‖ beyond which x has little to do with y: two random β̄ are √2 apart.
const UNEXPLAINED: f64 = 0.5;

/// Rebuild signals from their invariants, up to the group and a positive factor
///
/// Y holds normalised invariants as `bispectral features` writes them: complex64 or complex128, of shape (samples, pairs).
/// X will be float32, of shape (samples, N), each signal of unit length. Where the model's rows are the characters of a
/// group, signals follow from few coefficients and least squares over all; otherwise they are made from noise by
/// gradient. Where the invariants do not determine a signal, because too many of its coefficients are zero, X holds one
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

/// How a model is inverted.
enum Method {
    Group(Box<Inverter>),
    Gradient { restarts: u32, seed: u64 },
}

/// A model and how it is inverted.
struct Work<'m> {
    model: Model<'m>,
    w: Array2<Complex32>,
    method: Method,
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

/// One sample done.
struct Done {
    x: Vec<f32>,
    residual: f64,
    /// None where nobody knows.
    determination: Option<Determination>,
}

impl Invert {
    pub(super) fn run(&self, seed: u64, console: &Console) -> Result<()> {
        let mut output = NewFile::create(&self.output, self.force)?;
        let file = models::read(&self.model)?;
        let model = file.model()?;
        let mut invariants = self.open(&model)?;
        let w = file::weights(&model);
        let found = identify(&w.view());
        let method = self.method(&model, &w, found.as_ref(), seed)?;
        let (samples, inputs) = (invariants.rows(), model.inputs());
        let mut inverted = Inverted {
            output: self.output.display().to_string(),
            group: found.ok().map(|found| found.group.to_string()),
            samples,
            inputs,
            residuals: Vec::new(),
            undetermined: Vec::new(),
            seconds: 0.0,
        };
        let work = Work { model, w, method };
        output.write(&npy::header(
            Element::Float32,
            [samples as u64, inputs as u64],
        ))?;
        let mut progress = console.progress("samples", samples);
        self.each_block(&mut invariants, |block| {
            for done in work.invert(block)? {
                let done = done.ok_or_else(|| self.refuse(inverted.residuals.len()))?;
                let bytes: Vec<u8> = done.x.iter().flat_map(|x| x.to_le_bytes()).collect();
                output.write(&bytes)?;
                inverted.add(done);
            }
            progress.at(inverted.residuals.len());
            Ok(())
        })?;
        output.commit()?;
        inverted.seconds = progress.seconds();
        drop(progress);
        inverted.warn(console);
        console.summary(&inverted, &inverted.words())
    }

    fn method(
        &self,
        model: &Model<'_>,
        w: &Array2<Complex32>,
        found: std::result::Result<&Identification, &Refusal>,
        seed: u64,
    ) -> Result<Method> {
        match found {
            Ok(found) => {
                let pairs: Vec<(usize, usize)> = model.pair_list().collect();
                let inverter = Inverter::new(&w.view(), found, &pairs)?;
                Ok(Method::Group(Box::new(inverter)))
            }
            Err(_) if model.pairs() == pair_count(model.rows()) => Ok(Method::Gradient {
                restarts: self.restarts,
                seed,
            }),
            Err(refusal) => Err(Error::file(
                &self.model,
                format!("a list of pairs, and no finite commutative group: {refusal}"),
                "invert with a model of all pairs",
            )),
        }
    }

    /// The invariants, once all of them are known to be some of the model's.
    fn open(&self, model: &Model<'_>) -> Result<Array> {
        let path = &self.invariants;
        let mut array = Array::open(path)?;
        if !array.element().is_complex() {
            let what = format!("the invariants are {}", array.element());
            let remedy = "give what `bispectral features` writes without flags, which is complex64";
            return Err(Error::file(path, what, remedy));
        }
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
                let refused = |what: &str, remedy: &str| {
                    Err(Error::file(path, format!("sample {at}: {what}"), remedy))
                };
                if let Some(column) = sample.iter().position(|y| !y.is_finite()) {
                    let what = format!("column {column} is {}", sample[column]);
                    return refused(&what, "replace the value or leave the sample out");
                }
                if sample.iter().all(|y| *y == Complex64::ZERO) {
                    return refused(
                        "every value is zero",
                        "leave the sample out, no signal has it",
                    );
                }
                at += 1;
            }
            Ok(())
        })?;
        Ok(array)
    }

    /// Hands whole samples to `each`, as many as fit a block.
    fn each_block(
        &self,
        array: &mut Array,
        mut each: impl FnMut(&[Complex64]) -> Result<()>,
    ) -> Result<()> {
        let step = (BLOCK / (array.columns() * Element::Complex128.size())).max(1);
        for first in (0..array.rows()).step_by(step) {
            each(array.read(first..first.saturating_add(step))?)?;
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

impl Work<'_> {
    /// The signals of a block of samples; `None` where there is none at all.
    fn invert(&self, block: &[Complex64]) -> Result<Vec<Option<Done>>> {
        let samples = block.par_chunks(self.model.pairs());
        match &self.method {
            Method::Group(inverter) => Ok(samples
                .map(|y| {
                    let inverted = inverter.invert(y)?;
                    Some(self.done(&inverted.signal, y, Some(inverted.determination)))
                })
                .collect()),
            &Method::Gradient { restarts, seed } => {
                let targets: Vec<Complex32> = block
                    .chunks(self.model.pairs())
                    .flat_map(normalised)
                    .map(|y| Complex32::new(y.re as f32, y.im as f32))
                    .collect();
                let shape = (samples.len(), self.model.pairs());
                let targets = Array2::from_shape_vec(shape, targets).expect("whole samples");
                let found =
                    by_gradient(&self.w.view(), &targets.view(), (restarts, seed), |_, _| {
                        Ok(())
                    })?;
                let signals = found.metamers.rows().into_iter().zip(block.chunks(shape.1));
                Ok(signals
                    .map(|(signal, y)| {
                        let signal: Vec<f64> = signal.iter().map(|&x| x.into()).collect();
                        Some(self.done(&signal, y, None))
                    })
                    .collect())
            }
        }
    }

    fn done(&self, signal: &[f64], y: &[Complex64], determination: Option<Determination>) -> Done {
        let length = signal.iter().map(|x| x * x).sum::<f64>().sqrt();
        let x: Vec<f32> = signal.iter().map(|&x| (x / length) as f32).collect();
        Done {
            residual: residual(&self.model, &x, y),
            x,
            determination,
        }
    }
}

/// y at unit length, however small or large its numbers are.
fn normalised(y: &[Complex64]) -> impl Iterator<Item = Complex64> {
    let largest = y.iter().map(|y| y.norm()).fold(0.0, f64::max);
    let squares: f64 = y.iter().map(|y| (y / largest).norm_sqr()).sum();
    let norm = squares.sqrt();
    y.iter().map(move |y| y / largest / norm)
}

/// ‖β̄(x) − y/‖y‖‖; one where x has no invariants.
fn residual(model: &Model<'_>, x: &[f32], y: &[Complex64]) -> f64 {
    let none = || vec![Complex32::ZERO; y.len()];
    let found = model.invariants_vec(x).unwrap_or_else(|_| none());
    let terms = found.iter().zip(normalised(y));
    let distance = terms.map(|(found, y)| {
        let found = Complex64::new(found.re.into(), found.im.into());
        (found - y).norm_sqr()
    });
    distance.sum::<f64>().sqrt()
}

impl Inverted {
    fn add(&mut self, done: Done) {
        let open = done.determination.filter(|known| !known.is_complete());
        let sample = self.residuals.len();
        let open = open.map(|open| Undetermined { sample, open });
        self.undetermined.extend(open);
        self.residuals.push(done.residual);
    }

    /// A line for each of the first samples that are not what one may take them for.
    fn warn(&self, console: &Console) {
        let open = self.undetermined.iter();
        let open = open.map(|Undetermined { sample, open }| {
            format!("sample {sample}: not determined: {open}: X holds one of many signals")
        });
        let unexplained = self.residuals.iter().enumerate();
        let unexplained = unexplained.filter(|(_, residual)| **residual > UNEXPLAINED);
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
