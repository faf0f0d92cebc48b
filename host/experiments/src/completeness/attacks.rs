//! Attacks on both models by the bispectrum, and by features that forget more.

use super::Output;
use super::images::{self, Kind, Symmetry};
use crate::attack::{compare, follow, number};
use bispectral_learn::analysis::attack::{Ending, Summary};
use bispectral_learn::analysis::trial::{Features, Outcome, Trial, World};
use bispectral_learn::group::identify::identify;
use bispectral_learn::{Error, Result};
use bispectral_report::{Chart, Curve, Drawing, Panel, Scale};
use bispectral_run::console::Console;
use ndarray::Array2;
use num_complex::Complex32;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

/// Images of each set, and in the quick form.
const IMAGES: usize = 100;
const QUICK_IMAGES: usize = 8;
/// Images that are drawn.
const DRAWN: usize = 12;
const STEPS: usize = 4000;

/// Of a hundred attacks that reached their target's features, so many at least are in its orbit.
const TRANSLATION: f64 = 99.0;
const ROTATION: f64 = 90.0;
/// And by the power spectrum less than so many.
const POWER: f64 = 5.0;
/// Of a hundred attacks, at least so many are to reach the features: else the rest would say little.
const REACHED: f64 = 80.0;

/// The attacks on one set of images by one kind of features.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) model: &'static str,
    pub(super) images: &'static str,
    pub(super) features: Features,
    /// Real numbers of the features.
    pub(super) numbers: usize,
    #[serde(flatten)]
    pub(super) summary: Summary,
    pub(super) steps: usize,
    pub(super) seconds: f64,
    attacks: Vec<Ending>,
    /// Of the first features of a set, what shares them and how far it is from orbits.
    #[serde(skip)]
    pub(super) drawn: Option<(Drawing, Chart)>,
}

/// The attacks on one model.
pub(super) struct Attacks<'a> {
    pub(super) output: &'a Output,
    pub(super) symmetry: Symmetry,
    pub(super) w: Array2<Complex32>,
    pub(super) seed: u64,
}

impl Attacks<'_> {
    pub(super) fn run(&self, mnist: Option<&Path>, console: &Console) -> Result<Vec<Row>> {
        let world = self.world()?;
        let count = if self.output.quick {
            QUICK_IMAGES
        } else {
            IMAGES
        };
        let mut rows = Vec::new();
        for (images, targets) in images::sets(self.symmetry, count, self.seed, mnist)? {
            let trial = Trial {
                w: self.w.view(),
                targets: targets.view(),
                world: &world,
                steps: STEPS,
                restarts: self.restarts(),
                seed: self.seed,
            };
            let mut outcomes = Vec::new();
            for &features in self.features() {
                console.say(&format!(
                    "attacking the {} model: {images}, {}",
                    self.symmetry.name(),
                    features.name()
                ));
                outcomes.push(follow(&trial, features, console)?);
            }
            let all: Vec<&Outcome> = outcomes.iter().collect();
            let pairs = compare(&targets, world.shape, &all, DRAWN);
            let mut drawn = Some((pairs, distances(self.symmetry.name(), images, &outcomes)));
            rows.extend(
                outcomes
                    .into_iter()
                    .map(|outcome| self.row(images, outcome, drawn.take())),
            );
        }
        Ok(rows)
    }

    fn features(&self) -> &'static [Features] {
        match self.symmetry.kind {
            Kind::Translation => &[Features::Bispectrum, Features::Power, Features::Pooled],
            Kind::Rotation => &[Features::Bispectrum, Features::Power],
        }
    }

    /// On a grid of pixels, a few descents end far from the target, and other noise does not. Shifted patches that are
    /// not reached have weak frequencies, whatever the noise.
    fn restarts(&self) -> u32 {
        match self.symmetry.kind {
            Kind::Translation => 0,
            Kind::Rotation => 2,
        }
    }

    fn world(&self) -> Result<World> {
        match self.symmetry.kind {
            Kind::Translation => {
                let found = identify(&self.w.view()).map_err(|refusal| {
                    let what = format!("no group is recognised: {refusal}");
                    Error::file(self.output.folder(), what, "see translation/whole for why")
                })?;
                Ok(World::of_group(&found))
            }
            Kind::Rotation => Ok(World::of_rotation(self.symmetry.size)),
        }
    }

    fn row(&self, images: &'static str, outcome: Outcome, drawn: Option<(Drawing, Chart)>) -> Row {
        let endings = outcome.endings.unwrap_or_default();
        Row {
            model: self.symmetry.name(),
            images,
            features: outcome.features,
            numbers: outcome.numbers,
            summary: Summary::of(&endings),
            steps: outcome.attacked.steps,
            seconds: outcome.seconds,
            attacks: endings,
            drawn,
        }
    }
}

/// The name of a figure: rotation-digits-pairs.
pub(super) fn name(model: &str, images: &str, what: &str) -> String {
    let images = images.rsplit(' ').next().unwrap_or(images);
    format!("{model}-{images}-{what}")
}

/// All distances from orbits, sorted.
fn distances(model: &str, images: &str, outcomes: &[Outcome]) -> Chart {
    let sorted = |outcome: &Outcome| {
        let endings = outcome.endings.iter().flatten();
        let mut values: Vec<f64> = endings.map(|ending| ending.orbit).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let count = outcomes
        .first()
        .map_or(0, |first| first.attacked.distances.len());
    Chart {
        title: format!("Attacks on the {model} model, {images}"),
        x_label: "attacks, sorted".into(),
        x: (1..=count).map(|k| k as f64).collect(),
        panels: vec![Panel {
            title: "Distance of what was found from the target's orbit".into(),
            y_label: "share of the target".into(),
            scale: Scale::Log,
            curves: outcomes
                .iter()
                .map(|outcome| Curve {
                    label: outcome.features.name().into(),
                    values: sorted(outcome),
                    predicted: None,
                })
                .collect(),
        }],
    }
}

pub(super) fn words(rows: &[Row]) -> String {
    let mut text = format!(
        "{:<12} {:<16} {:<20} {:>7} {:>8} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8}\n",
        "model",
        "images",
        "features",
        "attacks",
        "reached",
        "in orbit",
        "nearest",
        "median",
        "largest",
        "steps",
        "seconds"
    );
    for row in rows {
        let summary = &row.summary;
        let _ = writeln!(
            text,
            "{:<12} {:<16} {:<20} {:>7} {:>8} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8.1}",
            row.model,
            row.images,
            row.features.name(),
            summary.targets,
            summary.reached,
            summary.inside,
            summary.nearest,
            number(summary.median_orbit),
            number(summary.largest_orbit),
            row.steps,
            row.seconds,
        );
    }
    text.push_str(
        "Reached: the target's features; in orbit, and nearest to its own of all targets' orbits: of those that reached. Median \
         and largest are distances from the target's orbit, of those, as shares of the target.",
    );
    text
}

/// The paper's claim, in figures. A small model of rotation is only looked at.
pub(super) fn check(output: &Output, rows: &[Row]) -> Result<()> {
    for row in rows {
        let least = match (row.model, row.features) {
            ("translation", Features::Bispectrum) => Some(TRANSLATION),
            ("rotation", Features::Bispectrum) if !output.quick => Some(ROTATION),
            _ => None,
        };
        let share = row.summary.share().unwrap_or(0.0);
        let reached = 100.0 * row.summary.reached as f64 / row.summary.targets.max(1) as f64;
        let what = match least {
            Some(least) if share < least => {
                format!("{share:.0} of 100 in the orbit where {least} were expected")
            }
            Some(_) if reached < REACHED => {
                format!("{reached:.0} of 100 attacks reached the target's features")
            }
            None if row.model == "translation"
                && row.features == Features::Power
                && share >= POWER =>
            {
                format!("{share:.0} of 100 in the orbit by the power spectrum")
            }
            _ => continue,
        };
        let what = format!(
            "{}, {}, {}: {what}",
            row.model,
            row.images,
            row.features.name()
        );
        return Err(Error::file(
            output.folder(),
            what,
            "see results.json for which",
        ));
    }
    Ok(())
}
