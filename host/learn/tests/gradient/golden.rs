//! Golden files: inputs, weights, z, β, β̄, losses and gradients of other software, in double precision.

use super::{gradient_of, relative};
use bispectral_learn::network::{Distance, Network, Objective, Reconstruction, Workspace};
use bispectral_learn::numeric::Real;
use ndarray::Array2;
use num_complex::Complex;
use serde_json::Value;

const GOLDEN: [&str; 4] = [
    include_str!("../golden/tiny.json"),
    include_str!("../golden/wide.json"),
    include_str!("../golden/square8.json"),
    include_str!("../golden/square16.json"),
];

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        _ => vec![value.as_f64().expect("a number")],
    }
}

fn complex(value: &Value) -> Vec<Complex<f64>> {
    let parts = numbers(&value["re"]).into_iter().zip(numbers(&value["im"]));
    parts.map(|(re, im)| Complex::new(re, im)).collect()
}

fn count(value: &Value) -> usize {
    value.as_u64().expect("a count") as usize
}

/// A golden file's network, samples and orbits, rounded to T.
struct Golden<T> {
    file: Value,
    network: Network<T>,
    samples: Vec<T>,
    orbits: Vec<usize>,
}

impl<T: Real> Golden<T> {
    fn read(text: &str) -> Self {
        let file: Value = serde_json::from_str(text).expect("JSON");
        let round = |w: Complex<f64>| Complex::new(T::rounded(w.re), T::rounded(w.im));
        let w = complex(&file["w"]).into_iter().map(round).collect();
        let w = Array2::from_shape_vec((count(&file["rows"]), count(&file["inputs"])), w);
        let labels = numbers(&file["labels"]);
        Golden {
            network: Network::from_array(&w.expect("R×N").view()),
            samples: numbers(&file["x"]).into_iter().map(T::rounded).collect(),
            orbits: labels.chunk_by(|a, b| a == b).map(<[f64]>::len).collect(),
            file,
        }
    }

    fn objective(&self, variant: &Value) -> Objective {
        Objective {
            distance: if variant["distance"] == "euclidean" {
                Distance::Euclidean
            } else {
                Distance::Squared
            },
            centre: variant["centre"] == true,
            reconstruction: if variant["reconstruction"] == "real" {
                Reconstruction::Real
            } else {
                Reconstruction::Complex
            },
            gamma: self.file["gamma"].as_f64().expect("γ"),
        }
    }
}

fn parts<T: Real>(values: impl IntoIterator<Item = Complex<T>>) -> impl Iterator<Item = f64> {
    values.into_iter().flat_map(|v| [v.re.wide(), v.im.wide()])
}

/// The largest errors of all golden files: features, losses, gradients.
fn golden_errors<T: Real>() -> [f64; 3] {
    let mut worst = [0.0f64; 3];
    let mut workspace = Workspace::<T>::new();
    for text in GOLDEN {
        let golden = Golden::<T>::read(text);
        let (network, samples) = (&golden.network, &golden.samples[..]);
        for (found, name) in [
            (workspace.coefficients(network, samples), "z"),
            (workspace.bispectra(network, samples), "beta"),
            (
                workspace.invariants(network, samples, false),
                "beta_normalised",
            ),
        ] {
            let expected = complex(&golden.file[name]);
            worst[0] = worst[0].max(relative(parts(found.expect("finite")), parts(expected)));
        }
        for variant in golden.file["variants"].as_array().expect("variants") {
            let objective = golden.objective(variant);
            let loss = workspace
                .loss_and_gradient(network, samples, &golden.orbits, &objective)
                .expect("finite");
            for (found, name) in [
                (loss.invariance, "invariance_loss"),
                (loss.reconstruction, "reconstruction_loss"),
                (loss.total, "total"),
            ] {
                worst[1] = worst[1].max(relative([found], numbers(&variant[name])));
            }
            let expected = [numbers(&variant["grad_re"]), numbers(&variant["grad_im"])].concat();
            worst[2] = worst[2].max(relative(gradient_of(&workspace), expected));
        }
    }
    worst
}

/// Seen: 4e-16, 1e-15 and 6e-16.
#[test]
fn golden_in_double_precision() {
    let worst = golden_errors::<f64>();
    assert!(worst.iter().all(|error| *error < 1e-13), "{worst:?}");
}

/// Seen: 2e-7, 8e-7 and 3e-7, a few roundings.
#[test]
fn golden_in_single_precision() {
    let worst = golden_errors::<f32>();
    assert!(worst.iter().all(|error| *error < 1e-5), "{worst:?}");
}
