//! `bispectral reproduce sphere`: rotations of functions on a sphere, learned from samples alone, against spherical harmonics and
//! Wigner's symbols; signals back from their invariants; digits on the sphere.

mod digits;
mod learned;
mod page;

use super::Output;
use crate::mnist;
use bispectral_learn::analysis::certification::invariants_of;
use bispectral_learn::group::compact::{Compact, Moments};
use bispectral_learn::model::cost::Cost;
use bispectral_learn::model::couplings::encode;
use bispectral_learn::model::form::Encoding;
use bispectral_learn::{Error, Result};
use bispectral_run::console::Console;
use clap::Args;
use learned::{Case, Inverted, Row, invert, learn};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

/// Learn rotations of a sphere from samples alone, and classify digits on it
///
/// Random functions of degrees up to 8 are sampled at 128 points of a sphere, some of them behind a random mixing of the
/// inputs, and rotated at random. From which samples belong together alone: the blocks, against real spherical harmonics; the
/// couplings, against Wigner's 3j symbols; how many orbits that takes; signals from their invariants; what a model takes of a
/// device. Where --mnist or BISPECTRAL_MNIST names MNIST's folder, digits on the sphere are classified, trained as they are
/// and tested rotated at random. Takes minutes.
#[derive(Debug, Args)]
pub(super) struct Sphere {
    #[command(flatten)]
    output: Output,
    /// MNIST's folder [default: that in BISPECTRAL_MNIST, if any]
    #[arg(long, value_name = "DIR")]
    mnist: Option<PathBuf>,
}

/// A model of the learned group.
#[derive(Debug, Serialize)]
struct Stored {
    encoding: String,
    /// How many, those of fourth order among them.
    invariants: usize,
    flash: usize,
    ram: usize,
    /// On a Cortex-M4F, an estimate.
    instructions: u64,
}

#[derive(Debug, Serialize)]
struct Results {
    experiment: &'static str,
    seed: u64,
    rows: Vec<Row>,
    inversion: Vec<Inverted>,
    models: Vec<Stored>,
    digits: Option<digits::Digits>,
    seconds: f64,
}

/// The group that was learned at points that are not mixed, for pictures.
struct Drawn {
    found: Compact,
    case: Case,
}

impl Sphere {
    pub(super) fn run(&self, seed: u64, console: &Console) -> Result<()> {
        self.output.check()?;
        let begun = Instant::now();
        let folder = mnist::folder(self.mnist.as_deref());
        if folder.is_none() {
            console.say(mnist::NONE);
        }
        let mut rows = Vec::new();
        let mut drawn: Option<Drawn> = None;
        for case in learned::cases(self.output.quick) {
            console.say(&format!("learning {}", case.words()));
            let (row, found) = learn(&case, seed)?;
            console.say(&row.cells().join("  "));
            rows.push(row);
            if drawn.is_none() {
                drawn = found.map(|found| Drawn { found, case });
            }
        }
        let Some(drawn) = drawn else {
            let why = rows
                .first()
                .map(|row| row.found.clone())
                .unwrap_or_default();
            return Err(Error::new("the sphere", why, "try another --seed"));
        };
        console.say("signals from their invariants");
        let count = if self.output.quick { 5 } else { 20 };
        let inversion = invert(&drawn.found, count, seed)?;
        let models = self.models(&drawn.found, seed)?;
        let digits = match &folder {
            Some(folder) => Some(digits::classify(folder, &self.output, seed, console)?),
            None => None,
        };
        let results = Results {
            experiment: "sphere",
            seed,
            rows,
            inversion,
            models,
            digits,
            seconds: begun.elapsed().as_secs_f64(),
        };
        let words = results.words();
        let page = page::page(&results, &drawn, self.output.facts("sphere", seed));
        let verdict = results.check(&self.output);
        self.output
            .conclude(console, &results, [&words, &words], &page, verdict)
    }

    /// Of third order, which is enough to tell classes apart, and complete.
    fn models(&self, found: &Compact, seed: u64) -> Result<Vec<Stored>> {
        let group = found.name().to_string();
        let complete = invariants_of(found, seed)?;
        let third = [Encoding::F32, Encoding::F16, Encoding::I8].map(|of| (found.couplings(), of));
        let mut models = Vec::new();
        for (couplings, encoding) in third
            .into_iter()
            .chain(third.map(|(_, of)| (&complete, of)))
        {
            let bytes = encode(couplings, encoding, "sphere", Some(&group))?;
            let invariants = couplings.terms().len();
            self.output
                .write(&format!("sphere-{invariants}-{encoding}.bsn"), &bytes)?;
            let model = bispectral_core::Model::from_bytes(&bytes)
                .map_err(|error| Error::model("the model".as_ref(), error))?;
            let cost = Cost::of(&model, bytes.len());
            models.push(Stored {
                encoding: encoding.to_string(),
                invariants,
                flash: cost.flash_bytes,
                ram: cost.ram.streaming_bytes,
                instructions: cost.estimated_instructions,
            });
        }
        Ok(models)
    }
}

/// What orbits of a case come to.
fn moments(case: &Case, seed: u64) -> Result<Moments> {
    Ok(Moments::of(
        &case
            .orbits(case.orbits, case.members, seed)?
            .noisy(case.noise, seed),
    )?)
}

impl Results {
    fn words(&self) -> String {
        let mut text = format!(
            "{:<38} {:>8} {:<8} {:>10} {:>9} {:>16} {:>9} {:>8} {:>8} {:>7}\n",
            "functions on a sphere",
            "orbits",
            "named",
            "harmonics",
            "couplings",
            "against Wigner's",
            "1 − λ",
            "within",
            "between",
            "seconds"
        );
        for row in &self.rows {
            let [
                what,
                orbits,
                found,
                harmonics,
                forms,
                wigner,
                lambda,
                within,
                between,
                seconds,
            ] = row.cells();
            let _ = writeln!(
                text,
                "{what:<38} {orbits:>8} {found:<8} {harmonics:>10} {forms:>9} {wigner:>16} {lambda:>9} {within:>8} {between:>8} {seconds:>7}"
            );
        }
        for inverted in &self.inversion {
            let _ = writeln!(text, "{}", inverted.words());
        }
        for model in &self.models {
            let _ = writeln!(
                text,
                "model of {} invariants in {}: {} bytes of flash, {} of RAM and the stack, {} instructions (estimate, Cortex-M4F)",
                model.invariants, model.encoding, model.flash, model.ram, model.instructions
            );
        }
        if let Some(digits) = &self.digits {
            let _ = writeln!(text, "{}", digits.words());
        }
        let _ = write!(text, "{:.0} s", self.seconds);
        text
    }

    /// What is not mixed, noisy or of few orbits is to be learned as it is, and signals have to come back from complete invariants.
    fn check(&self, output: &Output) -> Result<()> {
        let refused = |what: String| {
            let remedy = "see there for what was found";
            Err(Error::file(&output.path("results.json"), what, remedy))
        };
        if let Some(row) = self.rows.iter().find(|row| row.needed && !row.right) {
            return refused(format!("{} were not learned", row.what));
        }
        let complete = |row: &&Inverted| row.fourth > 0 && row.inside < row.signals;
        match self.inversion.iter().find(complete) {
            None => Ok(()),
            Some(row) => refused(format!(
                "signals of degrees 0–{} did not come back",
                row.degree
            )),
        }
    }
}
