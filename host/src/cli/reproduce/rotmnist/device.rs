//! Classifiers as a device has them: fewer rows of W, whole numbers, one term at a time.

use crate::classify::classifier::Classifier;
use crate::classify::device::{Encoding, classify};
use crate::classify::features::{Features, Kind};
use crate::classify::samples::Samples;
use crate::cli::classify::Evaluated;
use crate::export::bsn;
use crate::{Error, Result};
use bispectral_core::Model;
use ndarray::Axis;
use serde::Serialize;

/// Digits by which rows are chosen.
const LOOKED_AT: usize = 2000;

/// What a classifier takes on a device, in bytes.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Device {
    pub(super) terms: usize,
    /// Model and perceptron.
    pub(super) flash: usize,
    /// Buffers for one signal, with the signal and the outputs.
    pub(super) ram: usize,
}

/// The bytes of a model with only so many rows: those with the most power on average.
pub(super) fn smaller(model: Model<'_>, rows: usize, data: &Samples) -> Result<Vec<u8>> {
    let places: Vec<usize> = (0..data.labels.len().min(LOOKED_AT)).collect();
    let features = Features {
        model,
        kind: Kind::Power,
        exponent: 1.0,
    };
    let powers = features
        .of(data.select(&places).samples.view())?
        .sum_axis(Axis(0));
    let mut order: Vec<usize> = (0..model.rows()).collect();
    order.sort_by(|&a, &b| powers[b].total_cmp(&powers[a]));
    order.truncate(rows);
    order.sort_unstable();
    let w = bsn::weights(&model).select(Axis(0), &order);
    bsn::encode_array(&w.view(), model.name(), None)
        .map_err(|error| Error::new("the model", error.to_string(), "name another"))
}

/// How often the device's code is right with whole numbers, and what it takes.
pub(super) fn evaluate(
    classifier: &Classifier,
    model: Model<'_>,
    test: &Samples,
) -> Result<(Evaluated, Option<Device>)> {
    let bytes = classifier.folded()?.behind(&model, Encoding::I8)?;
    let model = Model::from_bytes(&bytes)
        .map_err(|error| Error::new("the classifier", error.to_string(), "train it again"))?;
    let taken = classify(&model, test.samples.view())?;
    let classes = classifier.classes_of(&test.labels)?;
    let numbers = model.classifier_scratch_len() + model.inputs() + model.classes();
    let device = Device {
        terms: model.pairs(),
        flash: bytes.len(),
        ram: numbers * size_of::<f32>(),
    };
    Ok((
        Evaluated::new(&classes, taken, classifier.labels()),
        Some(device),
    ))
}
