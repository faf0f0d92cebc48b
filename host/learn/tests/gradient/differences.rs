//! Gradients against finite differences of the losses.

use super::gradient_of;
use super::random::{SHAPES, noise, objectives, random_network, random_samples};
use bispectral_learn::network::{Loss, Network, SecondOrder, Workspace};

/// What truncation leaves: 7e-10 was seen with one row of two inputs, 3e-11 with any other shape.
const TOLERANCE: f64 = 1e-8;

/// The error of a gradient against differences of `loss` along some directions, relative to its length.
///
/// Of fourth order: a step h of 1e-3 leaves some h⁴ = 1e-12 of truncation, and ε/h = 2e-13 of the loss as rounding.
fn error_by_differences(
    network: &Network<f64>,
    gradient: &[f64],
    mut loss: impl FnMut(&Network<f64>) -> Loss,
) -> f64 {
    const STEP: f64 = 1e-3;
    let weights = gradient.len();
    let length = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
    let mut draw = noise::<f64>(3);
    let mut worst = 0.0f64;
    // Two single weights, a real and an imaginary part, and two directions in which all weights move.
    for direction in 0..4 {
        let unit: Vec<f64> = if direction < 2 {
            let place = weights * direction / 2 + weights / 5;
            (0..weights)
                .map(|k| f64::from(u8::from(k == place)))
                .collect()
        } else {
            let each = (3.0 / weights as f64).sqrt();
            (0..weights).map(|_| draw() * each).collect()
        };
        let mut at = |shift: f64| {
            let mut moved = network.clone();
            let (re, im) = moved.parts_mut();
            for (w, unit) in re.iter_mut().chain(im).zip(&unit) {
                *w += shift * unit;
            }
            loss(&moved).total
        };
        let mut slope = |step: f64| (at(step) - at(-step)) / (2.0 * step);
        let expected = (4.0 * slope(STEP) - slope(2.0 * STEP)) / 3.0;
        let found: f64 = gradient.iter().zip(&unit).map(|(g, unit)| g * unit).sum();
        worst = worst.max((found - expected).abs() / length);
    }
    worst
}

#[test]
fn the_gradient_is_that_of_the_loss() {
    let mut workspace = Workspace::new();
    for (rows, inputs, orbits) in SHAPES {
        let network = random_network(rows, inputs, 1);
        let samples = random_samples(inputs, orbits, 2);
        for objective in objectives() {
            workspace
                .loss_and_gradient(&network, &samples, orbits, &objective)
                .expect("finite");
            let gradient = gradient_of(&workspace);
            let error = error_by_differences(&network, &gradient, |network| {
                workspace
                    .loss(network, &samples, orbits, &objective)
                    .expect("finite")
            });
            assert!(
                error < TOLERANCE,
                "{rows}×{inputs} {orbits:?} {objective:?}: {error:.1e}"
            );
        }
    }
}

#[test]
fn the_second_order_gradient_is_that_of_its_loss() {
    let mut workspace = Workspace::new();
    for (rows, inputs, orbits) in SHAPES {
        let network = random_network(rows, inputs, 4);
        // Far from unit magnitude: V/S does not care.
        let mut samples = random_samples::<f64>(inputs, orbits, 5);
        samples.iter_mut().for_each(|x| *x *= 1e-30);
        let mut loss = |network: &Network<f64>| {
            let loss = workspace.second_order(network, &samples, orbits, &SecondOrder::default());
            (loss.expect("finite"), gradient_of(&workspace))
        };
        let (_, gradient) = loss(&network);
        let error = error_by_differences(&network, &gradient, |network| loss(network).0);
        assert!(error < TOLERANCE, "{rows}×{inputs}: {error:.1e}");
    }
}
