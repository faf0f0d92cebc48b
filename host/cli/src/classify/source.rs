//! Where labelled samples come from: files of the user, or MNIST's digits, turned.

use bispectral_experiments::mnist::Half;
use bispectral_experiments::rotated_digits::{Changed, RotatedDigits, Window, copies, digits};
use bispectral_learn::classify::samples::Samples;
use bispectral_learn::data::Labels;
use bispectral_learn::data::load::{self, Exemplars};
use bispectral_learn::{Error, Result};
use bispectral_run::console::Console;
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
    /// The class of each sample: S integers or words
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
    #[arg(long, value_name = "PIXELS", requires = "copies", default_value = "1", value_parser = up_to::<8>)]
    moved: f64,
    /// By what share copies are stretched at most
    #[arg(long, value_name = "SHARE", requires = "copies", default_value = "0.12", value_parser = up_to::<1>)]
    stretched: f64,
    /// How far pixels of copies are pushed on average, smoothly, in pixels of the digit's 28
    #[arg(long, value_name = "PIXELS", requires = "copies", default_value = "0.7", value_parser = up_to::<8>)]
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
    pub(super) fn read(&self, folder: &Path, rotated: &RotatedDigits) -> Result<Vec<Array2<f32>>> {
        let changed = Changed {
            moved: self.moved,
            stretched: self.stretched,
            bent: self.bent,
        };
        copies(folder, rotated, changed, self.copies, usize::MAX)
    }
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

    /// The user's samples, or the given half of the digits; and the words that labels stand for, where they are words.
    pub(super) fn read(
        &self,
        half: Half,
        rotated: impl FnOnce() -> Result<RotatedDigits>,
        console: &Console,
    ) -> Result<(Samples, Vec<String>)> {
        if let Some(folder) = &self.mnist {
            let digits = digits(folder, half, &rotated()?, usize::MAX)?;
            return Ok((digits, Vec::new()));
        }
        let (Some(data), Some(labels)) = (&self.data, &self.labels) else {
            return Err(Error::new(
                "--data",
                "there is none",
                "give --data and --labels, or --mnist",
            ));
        };
        let Exemplars {
            samples, remarks, ..
        } = load::exemplars(data)?;
        console.note(&remarks);
        let labels = Labels::read(labels, samples.nrows())?;
        console.note(&labels.remarks);
        let read = Samples {
            samples,
            labels: labels.numbers,
            views: 1,
        };
        Ok((read, labels.names))
    }
}
