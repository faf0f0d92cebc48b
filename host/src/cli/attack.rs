//! `bispectral attack`: signals that share a target's features, made from noise, and whether they are in its orbit.

mod page;
pub(super) mod picture;

pub(super) use page::ROTATION;

use super::console::{self, Console};
use super::place::{self, Folder};
use crate::analysis::attack::{Ending, Summary};
use crate::analysis::orbit::scaled_distance;
use crate::analysis::trial::{Features, INSIDE, Outcome, REACHED, Trial, World};
use crate::data::load;
use crate::export::bsn::{self, ModelFile};
use crate::export::npy;
use crate::group::identify::identify;
use crate::{Error, Result};
use clap::{Args, ValueEnum};
use ndarray::Array2;
use serde::Serialize;
use std::path::PathBuf;

/// Targets that are drawn.
const DRAWN: usize = 12;

/// Attack a model: from noise, find signals with the features of given ones, and see whether they are in their orbits
///
/// X is real, of shape (targets, N). For each target, Gaussian noise is moved by gradient descent until its features are
/// the target's. If the features lose nothing but the orbit, what is found is the target, moved: the distance is
/// told for the best group element and scale, where the model's group is recognised or --transform names it. Written
/// are metamers.npy, results.json, attack.png and report.html.
#[derive(Debug, Args)]
pub(super) struct Attack {
    /// The model
    #[arg(value_name = "MODEL.bsn")]
    model: PathBuf,
    /// The targets
    #[arg(value_name = "X.npy")]
    signals: PathBuf,
    #[command(flatten)]
    place: Folder,
    /// What is to be the same
    #[arg(long, value_enum, default_value_t = Features::Bispectrum)]
    features: Features,
    /// Steps from noise at most
    #[arg(long, value_name = "COUNT", default_value_t = 4000)]
    steps: usize,
    /// Begin again from other noise at most so often where the features are not reached
    #[arg(long, value_name = "COUNT", default_value_t = 2)]
    restarts: u32,
    /// How signals move, where the model's rows do not tell
    #[arg(long)]
    transform: Option<TransformName>,
}

/// What rows cannot tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TransformName {
    /// Rotations of a square image inside its disk.
    Rotate,
}

/// What is told of an attack.
#[derive(Debug, Serialize)]
struct Results {
    model: String,
    features: Features,
    /// Real numbers of the features.
    numbers: usize,
    /// The group, or how signals were said to move.
    motions: Option<String>,
    seed: u64,
    targets: usize,
    reached: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<Summary>,
    steps: usize,
    seconds: f64,
    attacks: Vec<Told>,
}

/// What is told of one target.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Told {
    Ending(Ending),
    /// Where nobody knows how signals move: how far the signals themselves are apart.
    Plain {
        representation: f64,
        reached: bool,
        signal: f64,
    },
}

impl Attack {
    pub(super) fn run(&self, seed: u64, console: &Console) -> Result<()> {
        self.place.check()?;
        let file = ModelFile::read(&self.model)?;
        let model = file.model()?;
        let w = bsn::weights(&model);
        let mut targets = load::exemplars(&self.signals)?.samples;
        if targets.ncols() != model.inputs() {
            return Err(Error::file(
                &self.signals,
                format!(
                    "signals of {} values where the model has {} inputs",
                    targets.ncols(),
                    model.inputs()
                ),
                format!("save signals of shape [targets, {}]", model.inputs()),
            ));
        }
        let (world, motions) = self.world(&w, &mut targets)?;
        let trial = Trial {
            w: w.view(),
            targets: targets.view(),
            world: &world,
            steps: self.steps,
            restarts: self.restarts,
            seed,
        };
        let outcome = follow(&trial, self.features, console)?;
        let results = self.results(seed, motions, &targets, &outcome);
        let metamers = npy::real(&outcome.attacked.metamers.view());
        self.place.write("metamers.npy", &metamers)?;
        let picture = picture::compare(&targets, world.shape, &[&outcome], DRAWN)?;
        self.place.write("attack.png", &picture)?;
        let (words, page) = (results.words(), self.page(&results));
        self.place
            .conclude(console, &results, [&words, &words], &page, Ok(()))
    }

    /// How signals move, and the name of that. Outside the disk, a target of a rotation is zero.
    fn world(
        &self,
        w: &Array2<bispectral_core::Complex32>,
        targets: &mut Array2<f32>,
    ) -> Result<(World, Option<String>)> {
        let inputs = w.ncols();
        if self.transform.is_some() {
            let size = inputs.isqrt();
            if size * size != inputs || size < 2 {
                let what = format!("{inputs} inputs are no square image");
                return Err(Error::file(&self.model, what, "leave --transform out"));
            }
            let world = World::of_rotation(size);
            for mut target in targets.rows_mut() {
                let pixels = target.iter_mut().zip(&world.support);
                pixels.for_each(|(x, &inside)| *x = if inside { *x } else { 0.0 });
            }
            return Ok((world, Some("rotations".into())));
        }
        Ok(match identify(&w.view()) {
            Ok(found) => (World::of_group(&found), Some(found.group.to_string())),
            Err(_) => (World::unknown(inputs), None),
        })
    }

    fn results(
        &self,
        seed: u64,
        motions: Option<String>,
        targets: &Array2<f32>,
        outcome: &Outcome,
    ) -> Results {
        let attacked = &outcome.attacked;
        let attacks = match &outcome.endings {
            Some(endings) => endings.iter().cloned().map(Told::Ending).collect(),
            None => {
                let pairs = attacked.metamers.rows().into_iter().zip(targets.rows());
                let pairs = pairs.zip(&attacked.distances);
                let told = pairs.map(|((metamer, target), &representation)| Told::Plain {
                    representation,
                    reached: representation <= REACHED,
                    signal: scaled_distance(&metamer.to_vec(), &target.to_vec()).0,
                });
                told.collect()
            }
        };
        Results {
            model: self.model.display().to_string(),
            features: self.features,
            numbers: outcome.numbers,
            motions,
            seed,
            targets: targets.nrows(),
            reached: outcome.reached,
            summary: outcome.summary(),
            steps: attacked.steps,
            seconds: outcome.seconds,
            attacks,
        }
    }
}

/// Runs an attack and tells how far it is.
pub(super) fn follow(trial: &Trial<'_>, features: Features, console: &Console) -> Result<Outcome> {
    let total = trial.steps * (trial.restarts as usize + 1);
    let mut progress = console.progress("steps", total);
    trial.run(features, |round, now| {
        let done = round as usize * trial.steps + now.steps;
        progress.tell(done, |_| format!(", {} signals still move", now.moving));
    })
}

impl Results {
    fn words(&self) -> String {
        let mut text = format!(
            "{}: attacked by {} ({} numbers), {} steps, {:.1} s\n\
             targets      {}\n\
             reached      {}",
            console::name(&self.model),
            self.features.name(),
            self.numbers,
            self.steps,
            self.seconds,
            self.targets,
            self.reached,
        );
        match (&self.summary, &self.motions) {
            (Some(summary), Some(motions)) => text.push_str(&format!(
                "\nin the orbit {} of {} that reached the target's features ({motions}); nearest to their own orbit {}; \
                 distance from it: median {}, largest {}",
                summary.inside,
                summary.reached,
                summary.nearest,
                number(summary.median_orbit),
                number(summary.largest_orbit),
            )),
            _ => text.push_str("\norbits       unknown: no group is recognised; name one with --transform"),
        }
        text
    }
}

/// A distance, or that there is none.
pub(super) fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{value:.4}"))
}
