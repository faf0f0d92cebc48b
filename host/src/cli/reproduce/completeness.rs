//! `bispectral reproduce completeness`: only signals of one orbit share their invariants.

mod attacks;
mod images;
mod page;

use super::{Place, rotation, translation};
use crate::Result;
use crate::cli::console::Console;
use crate::data::mnist;
use crate::export::bsn::{self, ModelFile};
use crate::train::run::MODEL;
use attacks::{Attacks, Row};
use clap::Args;
use images::Symmetry;
use ndarray::Array2;
use num_complex::Complex32;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Attack the invariants of translation and rotation: what shares them is the same signal, moved
///
/// From noise, signals are moved until their features are those of patches never trained on, and of digits where --mnist
/// or BISPECTRAL_MNIST names their folder: by the bispectrum, by the power spectrum of the same W, and for translation by
/// pooled responses of filters. What reached a target's features is in its orbit, or a metamer. Takes minutes; without
/// --rotation some more, in which the rotation model is learned.
#[derive(Debug, Args)]
pub(super) struct Completeness {
    #[command(flatten)]
    place: Place,
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
    attacks: Vec<Row>,
}

impl Completeness {
    pub(super) fn run(&self, seed: u64, console: &Console) -> Result<()> {
        self.place.check()?;
        let mnist = mnist::folder(self.mnist.as_deref());
        if mnist.is_none() {
            console.say(mnist::NONE);
        }
        let given = self.rotation.as_deref().map(read).transpose()?;
        let place = self.place.within("translation");
        let (translation, size) = translation::whole_orbits(place, seed, console)?;
        let rotation = match given {
            Some(w) => w,
            None => read(&rotation::model(
                self.place.within("rotation"),
                seed,
                console,
            )?)?,
        };
        let mut rows = Vec::new();
        for (symmetry, w) in [
            (Symmetry::translation(size), read(&translation)?),
            (Symmetry::rotation(rotation.ncols())?, rotation),
        ] {
            let attacks = Attacks {
                place: &self.place,
                symmetry,
                w,
                seed,
            };
            rows.extend(attacks.run(mnist.as_deref(), console)?);
        }
        let results = Results {
            experiment: "completeness",
            seed,
            attacks: rows,
        };
        let (words, page) = (attacks::words(&results.attacks), self.page(&results));
        let verdict = attacks::check(&self.place, &results.attacks);
        self.place
            .conclude(console, &results, [&words, &words], &page, verdict)
    }
}

/// W of a model, of a run's folder, or of that of an experiment with a run in it.
fn read(path: &Path) -> Result<Array2<Complex32>> {
    let places = [path.join("run").join(MODEL), path.join(MODEL)];
    let found = places.iter().find(|place| place.is_file());
    let file = ModelFile::read(found.map_or(path, |found| found))?;
    Ok(bsn::weights(&file.model()?))
}
