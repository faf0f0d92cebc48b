//! Samples and what each of them is.

use crate::numeric::random::{Purpose, stream};
use crate::{Error, Result};
use bispectral_core::Model;
use ndarray::{Array2, Axis};
use rand::seq::SliceRandom;

/// Classes are counted in a byte.
const MOST_CLASSES: usize = 256;

/// Samples, one a row, and the label of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    /// One a row.
    pub samples: Array2<f32>,
    /// One a row.
    pub labels: Vec<i64>,
    /// Signals of a sample, one behind the other: views of the same thing.
    pub views: usize,
}

impl Samples {
    /// Those at the given places, in that order.
    #[must_use]
    pub fn select(&self, places: &[usize]) -> Self {
        Samples {
            samples: self.samples.select(Axis(0), places),
            labels: places.iter().map(|&place| self.labels[place]).collect(),
            views: self.views,
        }
    }

    /// The places of those to train on, and of the share that is held out, by chance.
    ///
    /// # Errors
    /// Nothing is left to train on.
    pub fn split(&self, held_out: f64, seed: u64) -> Result<[Vec<usize>; 2]> {
        let mut order: Vec<usize> = (0..self.labels.len()).collect();
        order.shuffle(&mut stream(seed, Purpose::Split));
        let (held_out, training) = order.split_at((order.len() as f64 * held_out).ceil() as usize);
        if training.is_empty() {
            let what = "no sample is left to train on";
            return Err(Error::new("the data", what, "give more samples"));
        }
        Ok([training, held_out].map(<[usize]>::to_vec))
    }

    pub(crate) fn check(&self, subject: &str, model: &Model<'_>) -> Result<()> {
        let (count, length) = self.samples.dim();
        if count != self.labels.len() {
            let what = format!("{} labels for {count} samples", self.labels.len());
            return Err(Error::new(subject, what, "give one label a sample"));
        }
        if length != self.views * model.inputs() {
            let what = format!(
                "samples of {length} values, the model has {} inputs",
                model.inputs()
            );
            return Err(Error::new(
                subject,
                what,
                "take the data the model was made for",
            ));
        }
        Ok(())
    }
}

/// The place of each label among `all`.
pub(super) fn places(all: &[i64], labels: &[i64]) -> Result<Vec<u8>> {
    let place = |(at, label): (usize, &i64)| match all.binary_search(label) {
        Ok(place) => Ok(place as u8),
        Err(_) => Err(Error::new(
            format!("sample {at}"),
            format!("its label {label} is not one the classifier knows"),
            "leave it out, or train with such samples",
        )),
    };
    labels.iter().enumerate().map(place).collect()
}

/// The labels there are, ascending.
pub(super) fn classes(labels: &[i64]) -> Result<Vec<i64>> {
    let mut classes = labels.to_vec();
    classes.sort_unstable();
    classes.dedup();
    if !(2..=MOST_CLASSES).contains(&classes.len()) {
        return Err(Error::new(
            "the labels",
            format!("{} classes", classes.len()),
            format!("give 2 to {MOST_CLASSES}"),
        ));
    }
    Ok(classes)
}
