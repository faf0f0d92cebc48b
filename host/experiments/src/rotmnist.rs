//! `bispectral reproduce rotmnist`: the paper's downstream task, turned digits by the invariants of a model that has
//! never seen a digit.

mod baselines;
mod device;
mod page;
mod variants;

use super::rotation::configuration;
use super::{Output, published};
use crate::mnist::{self, Half};
use crate::rotated_digits::{RotatedDigits, Window};
use crate::rotated_digits::{copies, digits, for_model};
use baselines::{linear, pooled};
use bispectral_core::Model;
use bispectral_learn::classify::classifier::Classifier;
use bispectral_learn::classify::evaluated::Evaluated;
use bispectral_learn::classify::prepared::{Prepared, Stage, Trained};
use bispectral_learn::classify::samples::Samples;
use bispectral_learn::model::file::ModelFile;
use bispectral_learn::{Error, Result};
use bispectral_run::Outcome;
use bispectral_run::console::Console;
use bispectral_run::training::follow;
use bispectral_run::training::tell;
use clap::Args;
use device::Device;
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;
use variants::{Input, Variant};

/// Of the small form.
const QUICK_DIGITS: usize = 2000;

/// Classify turned digits by invariants that were learned from photographs
///
/// MNIST's digits, each turned by an angle of its own, 16 × 16 pixels (or as many as the model has inputs) inside a disk. A linear machine and a perceptron on
/// pixels, on pooled pixels and on the power spectrum, and then on the invariants: with the paper's protocol, and past
/// it. Takes minutes.
#[derive(Debug, Args)]
pub(super) struct Rotmnist {
    #[command(flatten)]
    output: Output,
    /// MNIST's folder [default: that in BISPECTRAL_MNIST]
    #[arg(long, value_name = "DIR")]
    mnist: Option<PathBuf>,
    /// A model of rotated patches [default: one is learned first, which takes minutes]
    #[arg(long, value_name = "MODEL.bsn")]
    model: Option<PathBuf>,
    /// Compare with another W for 16 × 16 pixels, such as the authors' published one
    #[arg(long, value_name = "W.npy")]
    published: Option<PathBuf>,
    /// Only the variants with these names
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    only: Vec<String>,
}

/// What a variant came to.
#[derive(Debug, Serialize)]
struct Row {
    name: &'static str,
    what: &'static str,
    /// In the paper.
    published: Option<f64>,
    accuracy: f64,
    held_out: Option<f64>,
    inputs: usize,
    parameters: usize,
    seconds: f64,
    /// Of these, for the features and components of all digits to train on; 0 where they are those of the row before.
    features: f64,
    /// Bytes on a device: of model and perceptron, and of buffers.
    device: Option<Device>,
    #[serde(skip)]
    trained: Option<Trained>,
    #[serde(skip)]
    evaluated: Evaluated,
}

#[derive(Debug, Serialize)]
struct Results {
    experiment: &'static str,
    seed: u64,
    size: usize,
    rows_of_w: usize,
    training: usize,
    test: usize,
    rows: Vec<Row>,
    confusion: Vec<Vec<usize>>,
    seconds: f64,
    /// The most memory there was at a time, in bytes, where the system says so.
    memory: Option<u64>,
}

/// What a variant is trained on, and what was trained: the next one may need the same.
struct Ready<'v> {
    variant: &'v Variant,
    prepared: Prepared,
    members: Vec<(Classifier, Trained)>,
}

/// The digits, as one window sees them.
struct Digits {
    turned: RotatedDigits,
    training: Samples,
    test: Samples,
}

impl Rotmnist {
    pub(super) fn run(&self, seed: u64, console: &Console) -> Result<()> {
        self.output.check()?;
        let begun = Instant::now();
        let variants = self.variants()?;
        let named = self.model.as_deref().map(ModelFile::read).transpose()?;
        let inputs = match &named {
            Some(file) => file.model()?.inputs(),
            None if self.output.quick => 8 * 8,
            None => 16 * 16,
        };
        // Read before the minutes that training takes.
        let mut digits = self.digits(inputs, variants[0].window, seed)?;
        let size = digits.turned.size;
        let published = published(self.published.as_deref(), inputs)?;
        let learned = match named {
            Some(file) => file,
            None => self.learn(seed, size, console)?,
        };
        let model = learned.model()?;
        let other = published.as_deref().map(Model::from_bytes).transpose();
        let other = other
            .map_err(|error| Error::new("--published", error.to_string(), "give another W"))?;
        let mut rows = Vec::new();
        let mut ready: Option<Ready<'_>> = None;
        for variant in &variants {
            if digits.turned.window != variant.window {
                digits = self.digits(inputs, variant.window, seed)?;
            }
            let smaller;
            let model = match variant.input {
                Input::Published => match other {
                    Some(other) => other,
                    None => continue,
                },
                Input::Device(terms) => {
                    smaller = device::smaller(model, terms, &digits.training)?;
                    Model::from_bytes(&smaller)
                        .map_err(|error| Error::model(learned.path(), error))?
                }
                _ => model,
            };
            console.say(&format!("{}: {}", variant.name, variant.what));
            let row = self.row(variant, model, &digits, &mut ready, seed, console)?;
            let accuracy = 100.0 * row.accuracy;
            console.say(&format!("{}: {accuracy:.2} % of the test digits", row.name));
            rows.push(row);
        }
        let results = Results {
            experiment: "rotmnist",
            seed,
            size,
            rows_of_w: model.rows(),
            training: digits.training.labels.len(),
            test: digits.test.labels.len(),
            confusion: best(&rows).evaluated.confusion.clone(),
            rows,
            seconds: begun.elapsed().as_secs_f64(),
            memory: most_memory(),
        };
        let seen = variants
            .iter()
            .find(|variant| variant.name == best(&results.rows).name);
        if let Some(seen) = seen.filter(|seen| seen.window != digits.turned.window) {
            digits = self.digits(inputs, seen.window, seed)?;
        }
        let (words, page) = (results.words(), self.page(&results, &digits));
        self.output
            .conclude(console, &results, [&words, &words], &page, Ok(()))
    }

    fn variants(&self) -> Result<Vec<Variant>> {
        let all = variants::all(self.output.quick);
        if let Some(name) = self
            .only
            .iter()
            .find(|name| !all.iter().any(|v| v.name == **name))
        {
            let names: Vec<&str> = all.iter().map(|variant| variant.name).collect();
            let what = format!("there is no variant {name:?}");
            return Err(Error::new(
                "--only",
                what,
                format!("name some of {}", names.join(", ")),
            ));
        }
        let is_asked =
            |v: &Variant| self.only.is_empty() || self.only.iter().any(|name| name == v.name);
        Ok(all.into_iter().filter(is_asked).collect())
    }

    fn folder(&self) -> Result<PathBuf> {
        let folder = self.mnist.clone();
        let folder = folder.or_else(|| std::env::var_os(mnist::FOLDER).map(PathBuf::from));
        folder.ok_or_else(|| {
            let remedy = "give --mnist DIR or set BISPECTRAL_MNIST";
            Error::new("MNIST", "no folder is named", remedy)
        })
    }

    fn most(&self) -> usize {
        if self.output.quick {
            QUICK_DIGITS
        } else {
            usize::MAX
        }
    }

    fn digits(&self, inputs: usize, window: Window, seed: u64) -> Result<Digits> {
        let (folder, turned) = (self.folder()?, for_model(inputs, window, seed)?);
        let half = |half| digits(&folder, half, &turned, self.most());
        Ok(Digits {
            training: half(Half::Training)?,
            test: half(Half::Test)?,
            turned,
        })
    }

    /// A model that is learned now.
    fn learn(&self, seed: u64, size: usize, console: &Console) -> Result<ModelFile> {
        console.say("learning rotations from photographs");
        let config = configuration(None, seed, size, self.output.quick);
        let run = self.output.train(config, "run")?;
        match follow(run, console)? {
            Outcome::Finished(trained) => ModelFile::read(&trained.model),
            Outcome::Stopped => Err(self.output.stopped()),
        }
    }

    /// Trains and tests one variant. What is ready from the one before is used again where it is the same.
    fn row<'v>(
        &self,
        variant: &'v Variant,
        model: Model<'_>,
        digits: &Digits,
        ready: &mut Option<Ready<'v>>,
        seed: u64,
        console: &Console,
    ) -> Result<Row> {
        let begun = Instant::now();
        let (training, test) = match variant.input {
            Input::Pooled => {
                let [training, test] = [&digits.training, &digits.test].map(pooled);
                (Cow::Owned(training), Cow::Owned(test))
            }
            _ => (Cow::Borrowed(&digits.training), Cow::Borrowed(&digits.test)),
        };
        if variant.input == Input::Linear {
            return linear(variant, model, &training, &test, seed);
        }
        let recipe = &variant.recipe;
        let mut progress = None;
        let epochs = recipe.protocol.epochs;
        let observe = &mut |stage: Stage<'_>| tell(console, &mut progress, epochs, stage);
        let mut prepared = 0.0;
        if !matches!(ready, Some(before) if before.variant.prepares_as(variant)) {
            // Before there is anything new: two of them would not fit memory.
            *ready = None;
            let turned = &digits.turned;
            let (count, most) = (variant.copies, self.most());
            let copies = copies(&self.folder()?, turned, variant.changed, count, most)?;
            let computed = Instant::now();
            *ready = Some(Ready {
                variant,
                prepared: Prepared::new(model, &training, &copies, recipe, seed, observe)?,
                members: Vec::new(),
            });
            prepared = computed.elapsed().as_secs_f64();
        }
        let Some(ready) = ready else {
            unreachable!("it was prepared above")
        };
        if ready.variant.recipe.protocol != recipe.protocol {
            ready.members.clear();
        }
        ready.variant = variant;
        while ready.members.len() < variant.members {
            let seed = seed + ready.members.len() as u64;
            let member = ready.prepared.train(&recipe.protocol, seed, observe)?;
            ready.members.push(member);
        }
        drop(progress);
        let trained = ready.members[0].1.clone();
        let members = ready.members[..variant.members].iter();
        let members: Vec<Classifier> = members.map(|member| member.0.clone()).collect();
        let (evaluated, device) = match variant.input {
            Input::Device(_) => {
                let (bytes, evaluated, device) = device::evaluate(&members[0], model, &test)?;
                self.output
                    .write(&format!("{}.bsn", variant.name), &bytes)?;
                (evaluated, Some(device))
            }
            _ => {
                let mut progress = console.progress("samples classified", test.labels.len());
                let observe = &mut |done| progress.at(done);
                (Evaluated::of(&members, model, &test, observe)?, None)
            }
        };
        Ok(Row {
            device,
            accuracy: evaluated.accuracy,
            held_out: Some(trained.accuracy),
            inputs: trained.inputs,
            parameters: trained.parameters,
            features: prepared,
            seconds: begun.elapsed().as_secs_f64(),
            trained: Some(trained),
            evaluated,
            ..Row::of(variant)
        })
    }
}

impl Row {
    /// Nothing known yet.
    fn of(variant: &Variant) -> Self {
        Row {
            name: variant.name,
            what: variant.what,
            published: variant.published,
            accuracy: 0.0,
            held_out: None,
            inputs: 0,
            parameters: 0,
            seconds: 0.0,
            features: 0.0,
            device: None,
            trained: None,
            evaluated: Evaluated::new(&[], Vec::new(), &[]),
        }
    }
}

/// The variant that is right most often on what was held out, which is how one would choose; of those for no device.
fn best(rows: &[Row]) -> &Row {
    let key = |row: &Row| (row.device.is_none(), row.held_out.unwrap_or(0.0));
    rows.iter()
        .reduce(|best, row| if key(row) > key(best) { row } else { best })
        .expect("there is a variant")
}

/// As Linux counts it.
fn most_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(1024 * kibibytes)
}

impl Results {
    fn words(&self) -> String {
        let mut text = format!(
            "{:<11} {:<44} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n",
            "--only", "", "test", "held out", "paper", "seconds", "features", "flash", "RAM"
        );
        let percent =
            |share: Option<f64>| share.map_or(String::new(), |s| format!("{:.2} %", 100.0 * s));
        for row in &self.rows {
            let bytes = |of: fn(&Device) -> usize| {
                row.device
                    .as_ref()
                    .map_or(String::new(), |d| of(d).to_string())
            };
            let _ = writeln!(
                text,
                "{:<11} {:<44} {:>8} {:>8} {:>8} {:>8.1} {:>8.1} {:>8} {:>8}",
                row.name,
                row.what,
                percent(Some(row.accuracy)),
                percent(row.held_out),
                percent(row.published),
                row.seconds,
                row.features,
                bytes(|device| device.flash),
                bytes(|device| device.ram),
            );
        }
        let best = best(&self.rows);
        let _ = write!(
            text,
            "{} rows of W, {} digits to train on and to hold out, {} to test; {} wrong with \"{}\"; {:.0} s{}",
            self.rows_of_w,
            self.training,
            self.test,
            best.evaluated.samples - best.evaluated.right,
            best.what,
            self.seconds,
            self.memory.map_or(String::new(), |bytes| format!(
                ", at most {:.2} GB of memory",
                bytes as f64 / 1e9
            )),
        );
        text
    }
}
