//! Where labelled samples come from: files of the user, or MNIST's digits, turned.

use crate::classify::classifier::Samples;
use crate::data::load;
use crate::data::mnist::{Digits, Half, Turned};
use crate::{Error, Result};
use clap::Args;
use std::path::{Path, PathBuf};

/// Samples and what each of them is.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Source {
    /// Samples [S, N]: .npy, .csv or IDX (.gz too)
    #[arg(
        long,
        value_name = "X.npy",
        requires = "labels",
        required_unless_present = "mnist",
        conflicts_with = "mnist"
    )]
    pub(super) data: Option<PathBuf>,
    /// The class of each sample: S integers
    #[arg(long, value_name = "y.npy", requires = "data")]
    pub(super) labels: Option<PathBuf>,
    /// MNIST's digits, each turned by an angle of its own: the folder with its four files
    #[arg(long, value_name = "DIR")]
    pub(super) mnist: Option<PathBuf>,
    /// Pixels of a digit's 28 that a sample covers, around its middle [default: 28]
    #[arg(long, value_name = "PIXELS", requires = "mnist", value_parser = clap::value_parser!(u8).range(8..=40))]
    pub(super) window: Option<u8>,
}

impl Source {
    /// The user's samples, or the given half of the digits, for a model of so many inputs.
    pub(super) fn read(
        &self,
        half: Half,
        inputs: usize,
        window: f64,
        seed: u64,
    ) -> Result<Samples> {
        if let Some(folder) = &self.mnist {
            return digits(folder, half, inputs, window, seed, usize::MAX);
        }
        let (Some(data), Some(labels)) = (&self.data, &self.labels) else {
            return Err(Error::new(
                "--data",
                "there is none",
                "give --data and --labels, or --mnist",
            ));
        };
        Ok(Samples {
            samples: load::exemplars(data)?.samples,
            labels: load::labels(labels)?,
        })
    }
}

/// The first `most` digits of a half as samples for a model of so many inputs.
pub(in crate::cli) fn digits(
    folder: &Path,
    half: Half,
    inputs: usize,
    window: f64,
    seed: u64,
    most: usize,
) -> Result<Samples> {
    let size = inputs.isqrt();
    if size * size != inputs || size < 2 {
        let what = format!("digits are square, the model has {inputs} inputs");
        return Err(Error::file(folder, what, "take a model of rotated images"));
    }
    let digits = Digits::read(folder, half)?.first(most);
    let turned = Turned {
        size,
        window,
        jitter: 0.0,
        copy: 0,
        seed,
    };
    Ok(Samples {
        samples: digits.turned(&turned),
        labels: digits.labels().iter().map(|&label| label.into()).collect(),
    })
}
