//! Where labelled samples come from: files of the user, or MNIST's digits, turned.

use crate::classify::samples::Samples;
use crate::data::load;
use crate::data::mnist::{Digits, Half, Turned};
use crate::{Error, Result};
use clap::Args;
use ndarray::Array2;
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

/// Further copies of the digits to train on.
#[derive(Debug, Args)]
pub(super) struct Copies {
    /// Train on so many copies of each digit more, at the same angle and moved a little [default: 0]
    #[arg(long, value_name = "COUNT", requires = "mnist", default_value = "0", value_parser = clap::value_parser!(u8).range(0..=32))]
    copies: u8,
    /// How far copies are moved at most, in pixels of the digit's 28
    #[arg(long, value_name = "PIXELS", default_value = "1", value_parser = clap::value_parser!(u8).range(0..=8))]
    jitter: u8,
}

impl Copies {
    /// The samples of each copy of the digits in `folder`.
    pub(super) fn read(&self, folder: &Path, turned: &Turned) -> Result<Vec<Array2<f32>>> {
        let moved = |copy: u8| Turned {
            jitter: self.jitter.into(),
            copy: copy.into(),
            ..*turned
        };
        let copy = |copy| digits(folder, Half::Training, &moved(copy), usize::MAX);
        (1..=self.copies).map(|k| Ok(copy(k)?.samples)).collect()
    }
}

impl Source {
    /// The user's samples, or the given half of the digits.
    pub(super) fn read(
        &self,
        half: Half,
        turned: impl FnOnce() -> Result<Turned>,
    ) -> Result<Samples> {
        if let Some(folder) = &self.mnist {
            return digits(folder, half, &turned()?, usize::MAX);
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

/// How digits become samples of a model with so many inputs, in the middle of their windows.
pub(in crate::cli) fn turned(inputs: usize, window: f64, seed: u64) -> Result<Turned> {
    let size = inputs.isqrt();
    if size * size != inputs || size < 2 {
        let what = format!("digits are square, the model has {inputs} inputs");
        return Err(Error::new(
            "--mnist",
            what,
            "take a model of rotated images",
        ));
    }
    Ok(Turned {
        size,
        window,
        jitter: 0.0,
        copy: 0,
        seed,
    })
}

/// The first `most` digits of a half.
pub(in crate::cli) fn digits(
    folder: &Path,
    half: Half,
    turned: &Turned,
    most: usize,
) -> Result<Samples> {
    let digits = Digits::read(folder, half)?.first(most);
    Ok(Samples {
        samples: digits.turned(turned),
        labels: digits.labels().iter().map(|&label| label.into()).collect(),
    })
}
