//! What a perceptron says of many samples, and how often it is right.

use super::gradient::Workspace;
use super::mlp::Mlp;
use crate::limits::interruption;
use ndarray::{Array2, Axis};
use rayon::prelude::*;

/// Samples that are classified at a time.
const BLOCK: usize = 512;

/// Inputs of a perceptron, a row each, and the class of each.
#[derive(Debug, Clone, Copy)]
pub struct Labelled<'a> {
    /// One a row.
    pub inputs: &'a Array2<f32>,
    /// One a row.
    pub classes: &'a [u8],
}

/// a_L of every row of `inputs`, one behind the other.
#[must_use]
pub fn outputs(mlp: &Mlp, inputs: &Array2<f32>) -> Vec<f32> {
    let blocks: Vec<_> = inputs.axis_chunks_iter(Axis(0), BLOCK).collect();
    let outputs: Vec<Vec<f32>> = blocks
        .into_par_iter()
        .map_init(Workspace::default, |workspace, block| {
            interruption::check();
            let samples: Vec<f32> = block.iter().copied().collect();
            workspace.outputs(mlp, &samples).to_vec()
        })
        .collect();
    outputs.concat()
}

/// The place of the largest output, the first of equals.
#[must_use]
pub fn class_of(outputs: &[f32]) -> u8 {
    let largest = outputs.iter().enumerate().fold(
        (0, f32::NEG_INFINITY),
        |(best, most), (class, &output)| {
            if output > most {
                (class, output)
            } else {
                (best, most)
            }
        },
    );
    largest.0 as u8
}

/// log softmax, in place of the outputs of one sample.
pub(super) fn log_softmax(outputs: &mut [f32]) {
    let largest = outputs.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = outputs.iter().map(|a| libm::expf(a - largest)).sum();
    let whole = largest + libm::logf(sum);
    outputs.iter_mut().for_each(|output| *output -= whole);
}

/// Mean loss, and the share of samples that are classified as what they are.
#[must_use]
pub fn evaluate(mlp: &Mlp, samples: Labelled<'_>) -> (f64, f64) {
    let mut outputs = outputs(mlp, samples.inputs);
    let (mut loss, mut right) = (0.0, 0);
    let each = outputs.chunks_exact_mut(mlp.classes());
    for (outputs, &class) in each.zip(samples.classes) {
        right += usize::from(class_of(outputs) == class);
        log_softmax(outputs);
        loss -= f64::from(outputs[usize::from(class)]);
    }
    let count = samples.classes.len().max(1) as f64;
    (loss / count, right as f64 / count)
}
