//! What there is without learned invariants: a linear machine, and invariance by pooling.

use super::{Row, Variant};
use crate::mnist;
use crate::svm::Svm;
use bispectral_core::Model;
use bispectral_learn::Result;
use bispectral_learn::classify::evaluated::Evaluated;
use bispectral_learn::classify::features::Features;
use bispectral_learn::classify::outputs::Labelled;
use bispectral_learn::classify::prepared::Recipe;
use bispectral_learn::classify::samples::Samples;
use bispectral_learn::data::rotate::{DEGREES, Rotation};
use ndarray::Array2;
use rayon::prelude::*;
use std::time::Instant;

/// Turns that pixels are pooled over.
const TURNS: usize = 36;
/// A linear support vector machine on pixels.
pub(super) fn linear(
    variant: &Variant,
    model: Model<'_>,
    training: &Samples,
    test: &Samples,
    seed: u64,
) -> Result<Row> {
    let begun = Instant::now();
    let Recipe {
        features,
        exponent,
        held_out,
        ..
    } = variant.recipe;
    let features = Features {
        model,
        kind: features,
        exponent,
        views: training.views,
    };
    let [kept, _] = training.split(held_out, seed)?;
    let training = training.select(&kept);
    let classes = |samples: &Samples| -> Vec<u8> {
        samples.labels.iter().map(|&label| label as u8).collect()
    };
    let (inputs, labels) = (features.of(training.samples.view())?, classes(&training));
    let svm = Svm::train(
        Labelled {
            inputs: &inputs,
            classes: &labels,
        },
        mnist::CLASSES,
        seed,
    );
    let taken = svm.classify(&features.of(test.samples.view())?);
    let names: Vec<i64> = (0..mnist::CLASSES as i64).collect();
    let evaluated = Evaluated::new(&classes(test), taken, &names);
    Ok(Row {
        accuracy: evaluated.accuracy,
        inputs: inputs.ncols(),
        parameters: mnist::CLASSES * (inputs.ncols() + 1),
        seconds: begun.elapsed().as_secs_f64(),
        evaluated,
        ..Row::of(variant)
    })
}

/// The largest value that each pixel takes as a digit is turned once around: invariance by pooling.
pub(super) fn pooled(samples: &Samples) -> Samples {
    let (count, inputs) = samples.samples.dim();
    let size = inputs.isqrt();
    let turns: Vec<Rotation> = (0..TURNS)
        .map(|turn| Rotation::in_disk(size, turn * DEGREES / TURNS))
        .collect();
    let rows: Vec<Vec<f32>> = (0..count)
        .into_par_iter()
        .map(|at| {
            let sample = samples.samples.row(at).to_vec();
            let (mut turned, mut largest) = (vec![0.0; inputs], vec![f32::NEG_INFINITY; inputs]);
            for turn in &turns {
                turn.apply(&sample, &mut turned);
                let pairs = largest.iter_mut().zip(&turned);
                pairs.for_each(|(largest, value)| *largest = largest.max(*value));
            }
            largest
        })
        .collect();
    Samples {
        samples: Array2::from_shape_vec((count, inputs), rows.concat()).expect("a row a sample"),
        labels: samples.labels.clone(),
        views: 1,
    }
}
