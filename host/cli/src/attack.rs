//! `bispectral attack`: signals that share a target's features, made from noise, and whether they are in its orbit.

mod page;

use crate::choices::Attacked;
use crate::features::check_length;
use crate::models;
use bispectral_core::format::Structure;
use bispectral_experiments::attack::{compare, follow, follow_couplings, number};
use bispectral_experiments::output_folder::OutputFolder;
use bispectral_learn::analysis::attack::{Ending, Summary};
use bispectral_learn::analysis::orbit::scaled_distance;
use bispectral_learn::analysis::trial::{Features, INSIDE, Outcome, REACHED, Trial, World};
use bispectral_learn::data::load;
use bispectral_learn::data::npy;
use bispectral_learn::group::identify::identify;
use bispectral_learn::model::{couplings, file};
use bispectral_learn::{Error, Result};
use bispectral_run::console::{self, Console};
use bispectral_run::pages::facts;
use clap::{Args, ValueEnum};
use ndarray::Array2;
use serde::Serialize;
use std::path::PathBuf;

/// Targets that are drawn.
const DRAWN: usize = 12;

/// Attack a model: from noise, find signals with the features of given ones, and see whether they are in their orbits
///
/// X is what train takes: .npy, .csv or IDX, one target a row. For each target, Gaussian noise is moved by gradient descent until its features are
/// the target's. If the features lose nothing but the orbit, what is found is the target, moved: the distance is
/// told for the best group element and scale, where the model's group is recognised or --transform names it. Written
/// are metamers.npy, results.json, attack.svg and report.html.
#[derive(Debug, Args)]
pub(super) struct Attack {
    /// A model, or the folder of a run
    #[arg(value_name = "MODEL.bsn|DIR")]
    model: PathBuf,
    /// The targets
    #[arg(value_name = "X.npy")]
    signals: PathBuf,
    #[command(flatten)]
    output: OutputFolder,
    /// What is to be the same
    #[arg(long, value_enum, default_value_t = Attacked::Bispectrum)]
    features: Attacked,
    /// Steps from noise at most
    #[arg(long, value_name = "COUNT", default_value_t = 4000)]
    steps: usize,
    /// Begin again from other noise at most so often where the features are not reached
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
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

/// What became of an attack.
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
    attacks: Vec<AttackedTarget>,
}

/// What became of one target.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum AttackedTarget {
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
        self.output.check()?;
        let file = models::read(&self.model)?;
        let model = file.model()?;
        let w = file::weights(&model);
        let exemplars = load::exemplars(&self.signals)?;
        console.note(&exemplars.remarks);
        let mut targets = exemplars.samples;
        check_length(&self.signals, targets.ncols(), &file)?;
        let is_coupled = matches!(model.parts().structure, Structure::Couplings(_));
        let (world, motions) = self.world(&w, is_coupled, &mut targets)?;
        let trial = Trial {
            w: w.view(),
            targets: targets.view(),
            world: &world,
            steps: self.steps,
            restarts: self.restarts,
            seed,
        };
        let outcome = match (couplings::decode(&model), self.features.into()) {
            (None, features) => follow(&trial, features, console)?,
            (Some(couplings), Features::Bispectrum | Features::Couplings) => {
                follow_couplings(&trial, &couplings, console)?
            }
            (Some(_), Features::Power) => {
                let what = "the squares of the rows of couplings are not invariant";
                let remedy = "attack by the invariants: leave --features out";
                return Err(Error::file(&self.model, what, remedy));
            }
            (Some(_), features) => follow(&trial, features, console)?,
        };
        let results = self.results(seed, motions, &targets, &outcome);
        let metamers = npy::real(&outcome.attacked.metamers.view());
        self.output.write("metamers.npy", &metamers)?;
        let drawing = compare(&targets, world.shape, &[&outcome], DRAWN);
        let (words, page) = (results.words(), self.page(&results, drawing));
        self.output
            .conclude(console, &results, [&words, &words], &page, Ok(()))
    }

    /// How signals move, and the name of that. Outside the disk, a target of a rotation is zero.
    fn world(
        &self,
        w: &Array2<bispectral_core::Complex32>,
        is_coupled: bool,
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
        if is_coupled {
            return Ok((World::unknown(inputs), None));
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
            Some(endings) => endings
                .iter()
                .cloned()
                .map(AttackedTarget::Ending)
                .collect(),
            None => {
                let pairs = attacked.metamers.rows().into_iter().zip(targets.rows());
                let pairs = pairs.zip(&attacked.distances);
                let plain =
                    pairs.map(
                        |((metamer, target), &representation)| AttackedTarget::Plain {
                            representation,
                            reached: representation <= REACHED,
                            signal: scaled_distance(&metamer.to_vec(), &target.to_vec()).0,
                        },
                    );
                plain.collect()
            }
        };
        Results {
            model: self.model.display().to_string(),
            features: outcome.features,
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
            (Some(summary), Some(motions)) => {
                text.push_str(&format!(
                    "\nin the orbit {} of {} that reached the target's features ({motions}); distance from it: median {}, \
                     largest {}",
                    summary.inside,
                    summary.reached,
                    number(summary.median_orbit),
                    number(summary.largest_orbit),
                ));
                // Targets of one orbit are all as near, so this says nothing of what is inside.
                if summary.inside < summary.reached {
                    text.push_str(&format!(
                        "; nearer to it than to another target's {}",
                        summary.nearest
                    ));
                }
            }
            _ => text.push_str(
                "\norbits       unknown: no group is recognised; name one with --transform",
            ),
        }
        text
    }
}
