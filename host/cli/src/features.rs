//! `bispectral features`: β̄, β, z or |z|² of many signals, computed by the code that runs on the device.

use crate::group::permuted::action_of;
use crate::models;
use bispectral_core::format::Output;
use bispectral_core::{Complex32, Model};
use bispectral_learn::data::Signals;
use bispectral_learn::data::npy::{self, Element};
use bispectral_learn::data::offset::Offset;
use bispectral_learn::data::rounding::{Unfit, to_f32, to_f32_direction};
use bispectral_learn::group::Action;
use bispectral_learn::limits::memory;
use bispectral_learn::model::file::ModelFile;
use bispectral_learn::storage::NewFile;
use bispectral_learn::{Error, Result};
use bispectral_run::MODEL;
use bispectral_run::console::{self, Console};
use clap::Args;
use rayon::ThreadPool;
use rayon::prelude::*;
use serde::Serialize;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Signals and results in memory at a time; more where one sample a thread is more.
const BLOCK: usize = 64 << 20;
/// Bytes a value of a signal takes while it is read: its own, as a complex number, as f64.
const INPUT: usize = 16 + 16 + 8;

/// Compute the features of signals with a model
///
/// X is what train takes: .npy of any real type, of shape (samples, N), (N,) or (samples, height, width); text (.csv, .txt), one
/// signal a line; or IDX, plain or compressed. Y is an array of shape (samples, features): the normalised bispectrum (complex64),
/// unless another quantity is asked for; or a table with one sample a line where it is called .csv. A sample that is zero or not finite is an error, and then no file is written.
#[derive(Debug, Args)]
pub(super) struct Features {
    /// A model, or the folder of a run
    #[arg(value_name = "MODEL.bsn|DIR")]
    model: PathBuf,
    /// The signals
    #[arg(value_name = "X.npy")]
    signals: PathBuf,
    /// The array to write: .npy, or .csv
    #[arg(short, long, value_name = "Y.npy")]
    output: PathBuf,
    #[command(flatten)]
    quantity: Flags,
    /// Replace the output file where it exists
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
struct Flags {
    /// The bispectrum before it is normalised (complex64)
    #[arg(long)]
    raw: bool,
    /// The coefficients z = W x, one a row of W (complex64)
    #[arg(long)]
    coefficients: bool,
    /// The power spectrum |z|², one a row of W (float32)
    #[arg(long)]
    power: bool,
    /// The canonical form: of all signals that the group moves the signal to, the greatest in lexicographic order (float32, one
    /// an input). Equal exactly where signals are in one orbit, also where invariants do not tell; but noise may change which
    /// one it is. The group is that of permutations.npy beside the model, or moves the inputs as its name says
    #[arg(long)]
    canonical: bool,
}

/// What is computed of a signal.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Quantity {
    Invariants,
    Bispectrum,
    Coefficients,
    Power,
    Canonical,
    #[serde(rename = "degree-one")]
    DegreeOne,
}

#[derive(Serialize)]
struct Computed {
    output: String,
    quantity: Quantity,
    dtype: String,
    samples: usize,
    features: usize,
    seconds: f64,
    samples_per_second: f64,
}

impl Features {
    pub(super) fn run(&self, pool: &ThreadPool, console: &Console) -> Result<()> {
        let mut output = NewFile::create(&self.output, self.force)?.other_than([
            &self.model,
            &self.model.join(MODEL),
            &self.signals,
        ])?;
        let file = models::read(&self.model)?;
        let mut work = Work {
            model: file.model()?,
            quantity: self.quantity.chosen(&file.model()?),
            signals: Signals::open(&self.signals)?,
            action: None,
        };
        if self.quantity.canonical {
            work.action = Some(action_of(&file)?.ok_or_else(|| no_permutations(&file))?);
        }
        work.signals.check_samples()?;
        check_length(&self.signals, work.signals.length(), &file)?;
        let offset = work.check_every_sample(pool)?;
        console.note(work.signals.remarks());
        if work.action.is_none() && models::sees_the_mean(&work.model) {
            let file = self.signals.display().to_string();
            console.note(offset.remark(&file).as_slice());
        }
        let is_text = is_table(&self.output);
        output.write(&if is_text {
            work.titles()
        } else {
            work.header()
        })?;
        let mut progress = console.progress("samples", work.signals.count());
        let of_sample = work.result_len();
        work.each_block(pool, |done, bytes| {
            progress.at(done);
            match is_text {
                true => output.write(&lines(bytes, of_sample)),
                false => output.write(bytes),
            }
        })?;
        output.commit()?;
        let seconds = progress.seconds();
        drop(progress);
        self.report(&work, seconds, console)
    }

    fn report(&self, work: &Work<'_>, seconds: f64, console: &Console) -> Result<()> {
        let samples = work.signals.count();
        let computed = Computed {
            output: self.output.display().to_string(),
            quantity: work.quantity,
            dtype: work.quantity.element().to_string(),
            samples,
            features: work.quantity.width(&work.model),
            seconds,
            samples_per_second: samples as f64 / seconds,
        };
        let words = format!(
            "{}: samples {samples}, features {} ({}), {seconds:.3} s, {:.1} samples/s",
            console::name(&computed.output),
            computed.features,
            computed.dtype,
            computed.samples_per_second,
        );
        console.summary(&computed, &words)
    }
}

/// Refuses signals of another length than the model's.
pub(crate) fn check_length(
    signals: impl AsRef<Path>,
    length: usize,
    file: &ModelFile,
) -> Result<()> {
    let inputs = file.model()?.inputs();
    if length == inputs {
        return Ok(());
    }
    let what = format!(
        "signals of {length} values where {} has {inputs} inputs",
        file.path().display()
    );
    Err(Error::file(
        signals.as_ref(),
        what,
        format!("save signals of shape [samples, {inputs}]"),
    ))
}

/// Whether a file is written as text, by its name.
pub(crate) fn is_table(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("csv"))
}

/// A line of text for each result of so many bytes: f32 in the fewest digits that are read as the same number.
pub(crate) fn lines(results: &[u8], of_sample: usize) -> Vec<u8> {
    let mut text = String::new();
    for result in results.chunks_exact(of_sample) {
        let (numbers, _) = result.as_chunks::<4>();
        let fields: Vec<String> = numbers
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes).to_string())
            .collect();
        text += &fields.join(",");
        text.push('\n');
    }
    text.into()
}

impl Flags {
    /// What was asked for, and otherwise what the model's features are.
    fn chosen(&self, model: &Model<'_>) -> Quantity {
        if self.raw {
            Quantity::Bispectrum
        } else if self.coefficients {
            Quantity::Coefficients
        } else if self.power {
            Quantity::Power
        } else if self.canonical {
            Quantity::Canonical
        } else if matches!(model.output(), Output::DegreeOne { .. }) {
            Quantity::DegreeOne
        } else {
            Quantity::Invariants
        }
    }
}

impl Quantity {
    /// Elements of one sample's result.
    fn width(self, model: &Model<'_>) -> usize {
        match self {
            Quantity::Invariants | Quantity::Bispectrum => model.pairs(),
            Quantity::Coefficients | Quantity::Power => model.rows(),
            Quantity::DegreeOne => model.feature_count(),
            Quantity::Canonical => model.inputs(),
        }
    }

    fn element(self) -> Element {
        match self {
            Quantity::Power | Quantity::DegreeOne | Quantity::Canonical => Element::Float32,
            _ => Element::Complex64,
        }
    }

    /// The normalised bispectrum does not depend on the signal's scale; everything else does.
    fn round(self, sample: &[f64], x: &mut Vec<f32>) -> std::result::Result<(), Unfit> {
        match self {
            Quantity::Invariants | Quantity::DegreeOne => to_f32_direction(sample, x),
            _ => to_f32(sample, x),
        }
    }
}

/// Why a sample has no features, and what to do.
type Refusal = (String, &'static str);

/// Memory in which one thread computes one sample after the other.
struct Workspace {
    x: Vec<f32>,
    scratch: Vec<f32>,
    terms: Vec<Complex32>,
    power: Vec<f32>,
}

/// A model, its signals, and what is computed of them.
struct Work<'m> {
    model: Model<'m>,
    quantity: Quantity,
    signals: Signals,
    /// Where canonical forms are computed.
    action: Option<Action>,
}

impl Work<'_> {
    fn header(&self) -> Vec<u8> {
        let width = self.quantity.width(&self.model);
        let shape = [self.signals.count() as u64, width as u64];
        npy::header(self.quantity.element(), shape)
    }

    /// The first line of a table: real and imaginary parts beside each other.
    fn titles(&self) -> Vec<u8> {
        let width = self.quantity.width(&self.model);
        let titles: Vec<String> = match self.quantity.element() {
            Element::Float32 => {
                let title = match self.quantity {
                    Quantity::DegreeOne => "feature",
                    Quantity::Canonical => "canonical",
                    _ => "power",
                };
                (0..width).map(|k| format!("{title}_{k}")).collect()
            }
            _ => (0..width).map(|k| format!("re_{k},im_{k}")).collect(),
        };
        (titles.join(",") + "\n").into()
    }

    /// Looks at every sample first: better now than after an hour.
    fn check_every_sample(&mut self, pool: &ThreadPool) -> Result<Offset> {
        let (mut samples, mut offset) = (Vec::new(), Offset::new());
        for range in self.blocks(pool) {
            self.signals.samples(range.clone(), &mut samples)?;
            let mut x = Vec::new();
            for (index, sample) in range.zip(samples.chunks(self.model.inputs())) {
                let unfit = self.quantity.round(sample, &mut x);
                unfit.map_err(|unfit| self.refuse(index, (unfit.to_string(), unfit.remedy())))?;
                offset.add(sample.iter().copied());
            }
        }
        Ok(offset)
    }

    /// Hands the results to `each`, a block of samples at a time in their order, with how many samples are done.
    fn each_block(
        &mut self,
        pool: &ThreadPool,
        mut each: impl FnMut(usize, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let (mut samples, mut results) = (Vec::new(), Vec::new());
        for range in self.blocks(pool) {
            self.signals.samples(range.clone(), &mut samples)?;
            let length = range.len() * self.result_len();
            if results.len() < length {
                results = memory::vector(self.signals.path(), "results", length)?;
            }
            results.resize(length, 0);
            pool.install(|| self.compute(&samples, &mut results))
                .map_err(|(at, refusal)| self.refuse(range.start + at, refusal))?;
            each(range.end, &results)?;
        }
        Ok(())
    }

    /// Bytes of one sample's result.
    fn result_len(&self) -> usize {
        self.quantity.width(&self.model) * self.quantity.element().size()
    }

    fn blocks(&self, pool: &ThreadPool) -> impl Iterator<Item = Range<usize>> + use<> {
        let count = self.signals.count();
        let of_sample = self.result_len() + self.model.inputs() * INPUT;
        let step = (BLOCK / of_sample).max(pool.current_num_threads());
        (0..count)
            .step_by(step)
            .map(move |first| first..count.min(first.saturating_add(step)))
    }

    /// The results of a block; or the first sample that has none, whatever the order they were computed in.
    fn compute(
        &self,
        samples: &[f64],
        results: &mut [u8],
    ) -> std::result::Result<(), (usize, Refusal)> {
        let samples = samples.par_chunks(self.model.inputs());
        let refused = samples
            .zip(results.par_chunks_mut(self.result_len()))
            .enumerate()
            .map_init(
                || self.workspace(),
                |workspace, (at, (sample, result))| {
                    let computed = self.compute_sample(sample, workspace, result);
                    computed.err().map(|refusal| (at, refusal))
                },
            )
            .flatten()
            .min_by_key(|(at, _)| *at);
        refused.map_or(Ok(()), Err)
    }

    fn workspace(&self) -> Workspace {
        let width = self.quantity.width(&self.model);
        let (terms, power) = match self.quantity {
            Quantity::Power | Quantity::DegreeOne | Quantity::Canonical => (0, width),
            _ => (width, 0),
        };
        Workspace {
            x: Vec::new(),
            scratch: vec![0.0; self.model.scratch_len()],
            terms: vec![Complex32::ZERO; terms],
            power: vec![0.0; power],
        }
    }

    fn compute_sample(
        &self,
        sample: &[f64],
        workspace: &mut Workspace,
        result: &mut [u8],
    ) -> std::result::Result<(), Refusal> {
        let Workspace {
            x,
            scratch,
            terms,
            power,
        } = workspace;
        let rounded = self.quantity.round(sample, x);
        rounded.map_err(|unfit| (unfit.to_string(), unfit.remedy()))?;
        match self.quantity {
            Quantity::Invariants => self.model.invariants(x, scratch, terms),
            Quantity::Bispectrum => self.model.bispectrum(x, scratch, terms),
            Quantity::Coefficients => self.model.coefficients(x, scratch, terms),
            Quantity::Power => self.model.power_spectrum(x, scratch, power),
            Quantity::DegreeOne => self.model.features(x, scratch, power),
            Quantity::Canonical => {
                // Without −0, which is less than 0 in the total order.
                let x: Vec<f64> = x.iter().map(|&x| f64::from(x) + 0.0).collect();
                let form = self.action.iter().flat_map(|action| action.canonical(&x));
                power
                    .iter_mut()
                    .zip(form)
                    .for_each(|(to, x)| *to = x as f32);
                Ok(())
            }
        }
        .map_err(refusal)?;
        let (numbers, _) = result.as_chunks_mut::<4>();
        let parts = terms.iter().flat_map(|term| [&term.re, &term.im]);
        for (number, value) in numbers.iter_mut().zip(parts.chain(&*power)) {
            *number = value.to_le_bytes();
        }
        Ok(())
    }

    fn refuse(&self, index: usize, (what, remedy): Refusal) -> Error {
        Error::file(
            self.signals.path(),
            format!("sample {index}: {what}"),
            remedy,
        )
    }
}

/// A model without canonical forms.
fn no_permutations(file: &ModelFile) -> Error {
    Error::file(
        file.path(),
        "how its group permutes the inputs is not known, so signals have no canonical form",
        "name the folder of its run, or put the permutations.npy of that run, or of `bispectral model --permutations`, beside it",
    )
}

/// What the core says of a sample whose values are in order.
fn refusal(error: bispectral_core::Error) -> Refusal {
    use bispectral_core::Error::{Overflow, ZeroBispectrum};
    match error {
        Overflow => (
            "the result is larger than f32 holds".into(),
            "scale the signals down, or compute normalised features, which do not depend on scale",
        ),
        ZeroBispectrum => (
            "its bispectrum is zero up to rounding, third order says nothing about it".into(),
            "make a model of fourth order with `bispectral export MODEL -o OUT.bsn --order 4`, or take --power, which every signal has",
        ),
        _ => (error.to_string(), "leave the sample out"),
    }
}
