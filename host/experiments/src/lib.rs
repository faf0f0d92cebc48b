//! What the paper shows, and past it: one file an experiment, each a client of the library like any other.

pub mod angular;
mod area;
pub mod attack;
mod cayley;
mod compact;
mod completeness;
mod disk;
pub mod equivariance;
mod groups;
pub mod mnist;
pub mod output_folder;
pub mod recovery;
pub mod rotated_digits;
mod rotation;
mod rotmnist;
mod sphere;
pub mod svm;
mod translation;

use bispectral_learn::data::weights;
use bispectral_learn::model::file;
use bispectral_learn::{Error, Result};
use bispectral_run::Run;
use bispectral_run::config::Config;
use bispectral_run::console::Console;
use bispectral_run::pages;
use clap::{Args, Subcommand};
use output_folder::OutputFolder;
use std::ops::Deref;
use std::path::Path;

/// Repeat an experiment of the paper: figures and results in a folder
#[derive(Debug, Args)]
pub struct Reproduce {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, Subcommand)]
enum Experiment {
    Cayley(cayley::Cayley),
    Compact(compact::Compact),
    Completeness(completeness::Completeness),
    Disk(disk::Disk),
    Groups(groups::Groups),
    Rotation(rotation::Rotation),
    Rotmnist(rotmnist::Rotmnist),
    Sphere(sphere::Sphere),
    Translation(translation::Translation),
}

/// Where an experiment leaves what it found, and in which form it is run.
#[derive(Debug, Args)]
struct Output {
    #[command(flatten)]
    folder: OutputFolder,
    /// A small form of the experiment, in seconds
    #[arg(long)]
    quick: bool,
    /// Go on with what an interrupted command left in the folder: what was learned there is not learned again
    #[arg(long, conflicts_with = "force")]
    resume: bool,
}

impl Deref for Output {
    type Target = OutputFolder;

    fn deref(&self) -> &OutputFolder {
        &self.folder
    }
}

impl Reproduce {
    /// Runs it, and leaves a folder with what was found.
    ///
    /// # Errors
    /// It could not be run, or did not show what it is to show.
    pub fn run(&self, seed: Option<u64>, console: &Console) -> Result<()> {
        match &self.experiment {
            Experiment::Cayley(cayley) => cayley.run(seed.unwrap_or(0), console),
            Experiment::Compact(compact) => compact.run(seed.unwrap_or(0), console),
            Experiment::Completeness(completeness) => completeness.run(seed.unwrap_or(0), console),
            Experiment::Disk(disk) => disk.run(seed.unwrap_or(0), console),
            Experiment::Groups(groups) => groups.run(seed.unwrap_or(0), console),
            Experiment::Rotation(rotation) => rotation.run(seed.unwrap_or(0), console),
            Experiment::Rotmnist(rotmnist) => rotmnist.run(seed.unwrap_or(0), console),
            Experiment::Sphere(sphere) => sphere.run(seed.unwrap_or(0), console),
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
    let bytes = file::encode_array(&w.view(), "published", None);
    bytes.map(Some).map_err(|error| Error::model(path, error))
}

impl Output {
    /// Refuses a folder that holds anything, unless it is to be replaced or gone on with.
    fn check(&self) -> Result<()> {
        if self.resume {
            return Ok(());
        }
        self.folder.check()
    }

    /// Trains in the folder `name` in it; where an interrupted command is gone on with, from where that was.
    fn train(&self, config: Config, name: &str) -> Result<Run> {
        let folder = self.path(name);
        if self.resume {
            Run::go_on_or_create(config, &folder)
        } else {
            Run::create(config, &folder, true)
        }
    }

    /// What an interrupted experiment says.
    fn stopped(&self) -> Error {
        Error::file(self.folder(), "stopped, and saved", "go on with --resume")
    }

    /// A folder in this one, for a part of the experiment that fills a folder of its own.
    fn within(&self, name: &str) -> Output {
        Output {
            folder: OutputFolder {
                output: self.path(name),
                force: true,
            },
            quick: self.quick,
            resume: self.resume,
        }
    }

    /// What a page says of how it came about; `experiment` is its name with the flags of its own.
    fn facts(&self, experiment: &str, seed: u64) -> Vec<(&'static str, String)> {
        let quick = if self.quick { " --quick" } else { "" };
        pages::facts(&format!("reproduce {experiment}{quick}"), seed)
    }
}
