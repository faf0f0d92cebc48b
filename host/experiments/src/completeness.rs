//! `bispectral reproduce completeness`: only signals of one orbit share their invariants.

mod attacks;
pub(super) mod images;
mod inversion;
mod page;

use super::{Output, rotation, translation};
use crate::mnist;
use attacks::{Attacks, Row};
use bispectral_learn::Result;
use bispectral_learn::model::file::{self, ModelFile};
use bispectral_report::Chart;
use bispectral_run::MODEL;
use bispectral_run::console::Console;
use clap::Args;
use images::Symmetry;
use ndarray::Array2;
use num_complex::Complex32;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Invert invariants, and attack them: what shares them is the same signal, moved
///
/// Random signals on groups are rebuilt from their invariants, from all and from few, with and without noise.
/// From noise, signals are moved until their features are those of patches never trained on, and of digits where --mnist
/// or BISPECTRAL_MNIST names their folder: by the bispectrum, by the power spectrum of the same W, and for translation by
/// pooled responses of filters. What reached a target's features is in its orbit, or a metamer. Takes minutes; without
/// --rotation some more, in which the rotation model is learned.
#[derive(Debug, Args)]
pub(super) struct Completeness {
    #[command(flatten)]
    output: Output,
    /// MNIST's folder [default: that in BISPECTRAL_MNIST, if any]
    #[arg(long, value_name = "DIR")]
    mnist: Option<PathBuf>,
    /// What `reproduce rotation` left, or its model [default: learn it]
    #[arg(long, value_name = "DIR|MODEL.bsn")]
    rotation: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Results {
    experiment: &'static str,
    seed: u64,
    inversions: Vec<inversion::Row>,
    #[serde(skip)]
    noise: Chart,
    attacks: Vec<Row>,
}

impl Completeness {
    pub(super) fn run(&self, seed: u64, console: &Console) -> Result<()> {
        self.output.check()?;
        let mnist = mnist::folder(self.mnist.as_deref());
        let given = self.rotation.as_deref().map(rotation_model).transpose()?;
        if mnist.is_none() {
            console.say(mnist::NONE);
        }
        let (inversions, noise) = inversion::run(&self.output, seed, console)?;
        let output = self.output.within("translation");
        let (translation, size) = translation::whole_orbits(output, seed, console)?;
        let rotation = match given {
            Some(given) => given,
            None => {
                let output = self.output.within("rotation");
                rotation_model(&rotation::model(output, seed, console)?)?
            }
        };
        let mut rows = Vec::new();
        for (symmetry, w) in [(Symmetry::translation(size), read(&translation)?), rotation] {
            let attacks = Attacks {
                output: &self.output,
                symmetry,
                w,
                seed,
            };
            rows.extend(attacks.run(mnist.as_deref(), console)?);
        }
        let results = Results {
            experiment: "completeness",
            seed,
            inversions,
            noise,
            attacks: rows,
        };
        let words = format!(
            "{}\n\n{}",
            inversion::words(&results.inversions),
            attacks::words(&results.attacks)
        );
        let page = self.page(&results);
        let verdict = inversion::check(&self.output, &results.inversions)
            .and_then(|()| attacks::check(&self.output, &results.attacks));
        self.output
            .conclude(console, &results, [&words, &words], &page, verdict)
    }
}

/// A model of square images that turn.
fn rotation_model(path: &Path) -> Result<(Symmetry, Array2<Complex32>)> {
    let w = read(path)?;
    Ok((Symmetry::rotation(path, w.ncols())?, w))
}

/// W of a model, of a run's folder, or of that of an experiment with a run in it.
fn read(path: &Path) -> Result<Array2<Complex32>> {
    let places = [path.join("run").join(MODEL), path.join(MODEL)];
    let found = places.iter().find(|place| place.is_file());
    let file = ModelFile::read(found.map_or(path, |found| found))?;
    Ok(file::weights(&file.model()?))
}
