//! `bispectral reproduce`: the paper's experiments, one file each.

mod cayley;
mod completeness;
mod rotation;
mod rotmnist;
mod translation;

use super::console::Console;
use super::place;
use crate::data::weights;
use crate::export::bsn;
use crate::{Error, Result};
use clap::{Args, Subcommand};
use std::ops::Deref;
use std::path::Path;

/// Repeat an experiment of the paper: figures and results in a folder
#[derive(Debug, Args)]
pub(super) struct Reproduce {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, Subcommand)]
enum Experiment {
    Cayley(cayley::Cayley),
    Completeness(completeness::Completeness),
    Rotation(rotation::Rotation),
    Rotmnist(rotmnist::Rotmnist),
    Translation(translation::Translation),
}

/// Where an experiment leaves what it found, and in which form it is run.
#[derive(Debug, Args)]
struct Place {
    #[command(flatten)]
    folder: place::Folder,
    /// A small form of the experiment, in seconds
    #[arg(long)]
    quick: bool,
}

impl Deref for Place {
    type Target = place::Folder;

    fn deref(&self) -> &place::Folder {
        &self.folder
    }
}

impl Reproduce {
    pub(super) fn run(&self, seed: Option<u64>, console: &Console) -> Result<()> {
        match &self.experiment {
            Experiment::Cayley(cayley) => cayley.run(seed.unwrap_or(0), console),
            Experiment::Completeness(completeness) => completeness.run(seed.unwrap_or(0), console),
            Experiment::Rotation(rotation) => rotation.run(seed.unwrap_or(0), console),
            Experiment::Rotmnist(rotmnist) => rotmnist.run(seed.unwrap_or(0), console),
            Experiment::Translation(translation) => translation.run(seed.unwrap_or(0), console),
        }
    }
}

/// The bytes of a model of a published W, where one is named, for images of so many pixels.
fn published(path: Option<&Path>, pixels: usize) -> Result<Option<Vec<u8>>> {
    let Some(path) = path else {
        return Ok(None);
    };
    let w = weights::read(path)?;
    if w.ncols() != pixels {
        let what = format!("W has {} inputs, the images {pixels} pixels", w.ncols());
        return Err(Error::file(path, what, "give one for images of that size"));
    }
    let bytes = bsn::encode_array(&w.view(), "published", None);
    bytes.map(Some).map_err(|error| Error::model(path, error))
}

impl Place {
    /// A folder in this one, for a part of the experiment that fills a folder of its own.
    fn within(&self, name: &str) -> Place {
        Place {
            folder: place::Folder {
                output: self.path(name),
                force: true,
            },
            quick: self.quick,
        }
    }

    /// What a page says of how it came about; `experiment` is its name with the flags of its own.
    fn facts(&self, experiment: &str, seed: u64) -> Vec<(&'static str, String)> {
        let quick = if self.quick { " --quick" } else { "" };
        place::facts(&format!("reproduce {experiment}{quick}"), seed)
    }
}
