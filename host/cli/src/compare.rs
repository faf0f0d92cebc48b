//! `bispectral compare`: whether invariants help, beside what people use today.

use bispectral_learn::classify::compare::{Disturbance, Labelled, Line, compare};
use bispectral_learn::data::Labels;
use bispectral_learn::data::load::{self, Exemplars};
use bispectral_learn::data::remark::Remark;
use bispectral_learn::{Error, Result};
use bispectral_run::console::Console;
use clap::Args;
use serde::Serialize;
use std::cmp::Ordering;
use std::path::{Path, PathBuf};

/// See whether invariants of cyclic shifts help to classify signals
///
/// One table: the nearest neighbour of signals as they are, of power spectra, of magnitudes |z|, of signals under the best of
/// all shifts (brute force), of bispectra and of features of degree one; and the chain that a device runs. Accuracy with its
/// standard error over the draws, how much better than brute force and |z| (paired), time and bytes. Whatever is chosen is
/// chosen on training samples alone.
#[derive(Debug, Args)]
pub(super) struct Compare {
    /// Signals [S, N]: .npy, text or IDX
    #[arg(long, value_name = "X.npy")]
    data: PathBuf,
    /// The class of each signal: integers or words
    #[arg(long, value_name = "y.npy")]
    labels: PathBuf,
    /// Signals to classify; otherwise a share of the others is held out, anew in each draw
    #[arg(long, value_name = "X.npy", requires = "test_labels")]
    test_data: Option<PathBuf>,
    /// The class of each of these
    #[arg(long, value_name = "y.npy", requires = "test_data")]
    test_labels: Option<PathBuf>,
    /// The share that is held out
    #[arg(long, value_name = "SHARE", default_value_t = 0.3, value_parser = share)]
    held_out: f64,
    /// Draws of the split, of shifts and of noise
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    draws: u16,
    /// Let each signal begin at a random place: for signals that come aligned where a device will not have them so
    #[arg(long)]
    shift: bool,
    /// Add noise of this share of each signal's deviation
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = noise)]
    noise: f64,
    /// Cut each signal to this share of its period: then it is not quite cyclic
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = window)]
    window: f64,
    /// Let the speed of each signal differ by up to this share
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    speed: f64,
}

fn between(word: &str, least: f64, most: f64) -> std::result::Result<f64, String> {
    match word.parse::<f64>() {
        Ok(value) if (least..=most).contains(&value) => Ok(value),
        _ => Err(format!("a number from {least} to {most} is wanted")),
    }
}

fn share(word: &str) -> std::result::Result<f64, String> {
    between(word, 0.0, 0.9)
}

fn noise(word: &str) -> std::result::Result<f64, String> {
    between(word, 0.0, 100.0)
}

fn window(word: &str) -> std::result::Result<f64, String> {
    between(word, 0.1, 1.0)
}

#[derive(Serialize)]
struct Compared {
    training: usize,
    test: Option<usize>,
    inputs: usize,
    classes: usize,
    draws: u16,
    seed: u64,
    disturbance: Disturbance,
    methods: Vec<Line>,
}

impl Compare {
    pub(super) fn run(&self, seed: u64, console: &Console) -> Result<()> {
        let (training, labels) = read(&self.data, &self.labels, console)?;
        let test = match (&self.test_data, &self.test_labels) {
            (Some(data), Some(labels)) => Some(read(data, labels, console)?),
            _ => None,
        };
        let of_test = test.as_ref().map_or(&[][..], |(_, labels)| labels);
        let (known, classes) = numbered(&self.labels, &labels, of_test)?;
        let of_test = classes[labels.len()..].to_vec();
        if let Some((test, _)) = test.as_ref().filter(|(t, _)| t.ncols() != training.ncols()) {
            let what = format!(
                "signals of {} values, the others have {}",
                test.ncols(),
                training.ncols()
            );
            let path = self.test_data.as_deref().unwrap_or(&self.data);
            return Err(Error::file(path, what, "give signals of the same length"));
        }
        let training = Labelled {
            signals: training,
            classes: classes[..labels.len()].to_vec(),
        };
        let test = test.map(|(signals, _)| Labelled {
            signals,
            classes: of_test,
        });
        let disturbance = Disturbance {
            shift: self.shift,
            noise: self.noise,
            window: self.window,
            speed: self.speed,
        };
        let mut progress = console.progress("draws", self.draws.into());
        let methods = compare(
            &training,
            test.as_ref(),
            disturbance,
            self.draws.into(),
            self.held_out,
            seed,
            &mut |done| progress.at(done),
        )?;
        drop(progress);
        let compared = Compared {
            training: training.classes.len(),
            test: test.as_ref().map(|test| test.classes.len()),
            inputs: training.signals.ncols(),
            classes: known.len(),
            draws: self.draws,
            seed,
            disturbance,
            methods,
        };
        console.answer(&compared, &words(&compared))
    }
}

/// The different words of two lists of labels in their order, and the place of each label among them, one list after the other.
pub(crate) fn numbered(
    path: &Path,
    labels: &[String],
    others: &[String],
) -> Result<(Vec<String>, Vec<usize>)> {
    let all = || labels.iter().chain(others);
    let mut known: Vec<String> = all().cloned().collect();
    known.sort_unstable_by(|a, b| in_order(a, b));
    known.dedup();
    if !(2..=256).contains(&known.len()) {
        let what = format!("{} different labels", known.len());
        let remedy = "give the class of each signal, of 2 to 256 classes";
        return Err(Error::file(path, what, remedy));
    }
    let place = |label: &String| {
        let found = known.binary_search_by(|known| in_order(known, label));
        found.unwrap_or_default()
    };
    let places = all().map(place).collect();
    Ok((known, places))
}

/// Numbers as numbers, before words.
pub(crate) fn in_order(a: &str, b: &str) -> Ordering {
    let number = |word: &str| word.parse::<i64>().unwrap_or(i64::MAX);
    number(a).cmp(&number(b)).then_with(|| a.cmp(b))
}

/// Signals and the word for what each is.
pub(crate) fn read(
    data: &Path,
    labels: &Path,
    console: &Console,
) -> Result<(ndarray::Array2<f32>, Vec<String>)> {
    let Exemplars {
        samples, remarks, ..
    } = load::exemplars(data)?;
    // The mean of a signal is left out by all that is compared here.
    let said: Vec<Remark> = remarks
        .into_iter()
        .filter(|remark| !matches!(remark, Remark::Offset { .. }))
        .collect();
    console.note(&said);
    let labels = Labels::read(labels, samples.nrows())?;
    console.note(&labels.remarks);
    let name = |number: &i64| {
        let word = usize::try_from(*number)
            .ok()
            .and_then(|at| labels.names.get(at));
        word.cloned().unwrap_or_else(|| number.to_string())
    };
    let names: Vec<String> = labels.numbers.iter().map(name).collect();
    if names.len() != samples.nrows() {
        let what = format!("{} labels for {} signals", names.len(), samples.nrows());
        return Err(Error::file(data, what, "give one label a signal"));
    }
    Ok((samples, names))
}

fn words(compared: &Compared) -> String {
    let mut words = format!(
        "{} signals of {} samples, {} classes, {} draws\n{:<30}  accuracy         over brute force  over |z|          µs a signal  bytes",
        compared.training, compared.inputs, compared.classes, compared.draws, "method"
    );
    for line in &compared.methods {
        let [brute, brute_error] = line.over_brute_force;
        let [magnitudes, magnitudes_error] = line.over_magnitudes;
        words += &format!(
            "\n{:<30}  {:.3} ± {:.3}   {brute:+.3} ± {brute_error:.3}   {magnitudes:+.3} ± {magnitudes_error:.3}   {:>11.0}  {}",
            line.method, line.accuracy, line.error, line.microseconds, line.bytes
        );
    }
    words
}
