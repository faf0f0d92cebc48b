//! Where labelled samples come from: files of the user, or MNIST's digits, turned.

use crate::classify::samples::Samples;
use crate::data::load;
use crate::data::mnist::{Digits, Half};
use crate::data::turned::{Changed, Turned, Window};
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
    window: Option<u8>,
    /// Average the features of so many windows of a digit: its middle, and the others around it [default: 1]
    #[arg(long, value_name = "COUNT", requires = "mnist", value_parser = clap::value_parser!(u8).range(1..=32))]
    places: Option<u8>,
    /// How far those around the middle are from it, in pixels of the digit's 28 [default: 2]
    #[arg(long, value_name = "PIXELS", requires = "mnist", value_parser = up_to::<8>)]
    radius: Option<f64>,
}

/// Further copies of the digits to train on.
#[derive(Debug, Args)]
pub(super) struct Copies {
    /// Train on so many copies of each digit more, at the same angle, each changed a little [default: 0]
    #[arg(long, value_name = "COUNT", requires = "mnist", default_value = "0", value_parser = clap::value_parser!(u8).range(0..=32))]
    copies: u8,
    /// How far copies are moved at most, in pixels of the digit's 28
    #[arg(long, value_name = "PIXELS", default_value = "1", value_parser = up_to::<8>)]
    moved: f64,
    /// By what share copies are stretched at most
    #[arg(long, value_name = "SHARE", default_value = "0.12", value_parser = up_to::<1>)]
    stretched: f64,
    /// How far pixels of copies are pushed on average, smoothly, in pixels of the digit's 28
    #[arg(long, value_name = "PIXELS", default_value = "0.7", value_parser = up_to::<8>)]
    bent: f64,
}

fn up_to<const MOST: u8>(word: &str) -> std::result::Result<f64, String> {
    match word.parse::<f64>() {
        Ok(value) if (0.0..=f64::from(MOST)).contains(&value) => Ok(value),
        _ => Err(format!("a number from 0 to {MOST} is wanted")),
    }
}

impl Copies {
    /// The samples of each copy of the digits in `folder`.
    pub(super) fn read(&self, folder: &Path, turned: &Turned) -> Result<Vec<Array2<f32>>> {
        let changed = Changed {
            moved: self.moved,
            stretched: self.stretched,
            bent: self.bent,
        };
        copies(folder, turned, changed, self.copies, usize::MAX)
    }
}

/// The first `most` training digits again and again, each time changed in another way.
pub(in crate::cli) fn copies(
    folder: &Path,
    turned: &Turned,
    changed: Changed,
    count: u8,
    most: usize,
) -> Result<Vec<Array2<f32>>> {
    let copy = |copy: u8| {
        let copy = Turned {
            changed,
            copy: copy.into(),
            ..*turned
        };
        Ok(digits(folder, Half::Training, &copy, most)?.samples)
    };
    (1..=count).map(copy).collect()
}

impl Source {
    /// What of a digit is seen: what was chosen, and otherwise `before`.
    pub(super) fn window(&self, before: Window) -> Window {
        let radius = if before.places > 1 {
            before.radius
        } else {
            2.0
        };
        Window {
            pixels: self.window.map_or(before.pixels, f64::from),
            places: self.places.map_or(before.places, usize::from),
            radius: self.radius.unwrap_or(radius),
        }
    }

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
            views: 1,
        })
    }
}

/// How digits become samples of a model with so many inputs.
pub(in crate::cli) fn turned(inputs: usize, window: Window, seed: u64) -> Result<Turned> {
    let size = inputs.isqrt();
    if size * size != inputs || size < 2 {
        let what = format!("digits are square, the model has {inputs} inputs");
        return Err(Error::new(
            "--mnist",
            what,
            "take a model of rotated images",
        ));
    }
    Ok(Turned::new(size, window, seed))
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
        views: turned.window.places,
    })
}
