//! Classifiers as a device has them: the terms that matter, whole numbers, one term at a time.

use bispectral_core::Model;
use bispectral_learn::classify::classifier::Classifier;
use bispectral_learn::classify::device::{Encoding, classify};
use bispectral_learn::classify::evaluated::Evaluated;
use bispectral_learn::classify::features::{Features, Kind};
use bispectral_learn::classify::samples::Samples;
use bispectral_learn::model::file;
use bispectral_learn::model::form::{self, Form, Source, Structure};
use bispectral_learn::{Error, Result};
use ndarray::Axis;
use serde::Serialize;

/// Digits by which terms are chosen.
const LOOKED_AT: usize = 2000;

/// What a classifier takes on a device, in bytes.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Device {
    pub(super) rows: usize,
    pub(super) terms: usize,
    /// Model and perceptron.
    pub(super) flash: usize,
    /// Buffers for one signal, with the signal and the outputs.
    pub(super) ram: usize,
}

/// The bytes of a model with whole numbers as weights and so many terms: those that are largest on average.
pub(super) fn smaller(model: Model<'_>, terms: usize, data: &Samples) -> Result<Vec<u8>> {
    let places: Vec<usize> = (0..data.labels.len().min(LOOKED_AT)).collect();
    let features = Features {
        model,
        kind: Kind::Invariants,
        exponent: 1.0,
        views: data.views,
    };
    let all = features.of(data.select(&places).samples.view())?;
    let count = model.pairs();
    let squares = all.mapv(|part| part * part).sum_axis(Axis(0));
    let power = |term: usize| squares[term] + squares[count + term];
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| power(b).total_cmp(&power(a)));
    order.truncate(terms);
    order.sort_unstable();
    let pairs: Vec<(usize, usize)> = order.iter().filter_map(|&term| model.pair(term)).collect();
    // Rows of no pair are left out.
    let mut rows: Vec<usize> = pairs.iter().flat_map(|&(i, j)| [i, j]).collect();
    rows.sort_unstable();
    rows.dedup();
    let place = |row: usize| rows.partition_point(|&other| other < row);
    let pairs = pairs.iter().map(|&(i, j)| (place(i), place(j))).collect();
    let w = file::weights(&model).select(Axis(0), &rows);
    let wrong = |error: bispectral_core::Error| {
        Error::new("the model", error.to_string(), "name another one")
    };
    let dense = file::encode_array(&w.view(), model.name(), None).map_err(wrong)?;
    let dense = Model::from_bytes(&dense).map_err(wrong)?;
    let form = Form {
        encoding: form::Encoding::I8,
        structure: Structure::Dense,
        pairs: Some(pairs).filter(|pairs: &Vec<_>| pairs.len() < dense.pairs()),
    };
    Source::new("the model".as_ref(), &dense).form(&form, None)
}

/// The bytes of model and classifier with whole numbers, how often the device's code is right with them, and what it takes.
pub(super) fn evaluate(
    classifier: &Classifier,
    model: Model<'_>,
    test: &Samples,
) -> Result<(Vec<u8>, Evaluated, Device)> {
    let bytes = classifier.folded()?.behind(&model, Encoding::I8)?;
    let model = Model::from_bytes(&bytes)
        .map_err(|error| Error::new("the classifier", error.to_string(), "train it again"))?;
    let taken = classify(&model, test.samples.view())?;
    let classes = classifier.classes_of(&test.labels)?;
    let numbers = model.classifier_scratch_len() + model.inputs() + model.classes();
    let device = Device {
        rows: model.rows(),
        terms: model.pairs(),
        flash: bytes.len(),
        ram: numbers * size_of::<f32>(),
    };
    let evaluated = Evaluated::new(&classes, taken, classifier.labels());
    Ok((bytes, evaluated, device))
}
