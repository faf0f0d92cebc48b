//! A sliding window against the whole transform, after many samples: how far apart they are, and what a sample takes.
//!
//! `cargo run --release -p bispectral-core --example sliding -- 10000000`

#[path = "../tests/sliding/mod.rs"]
#[allow(dead_code)]
mod sliding;

use bispectral_core::format::Transform;
use bispectral_core::{Complex32, Model, Sliding};
use sliding::{FORMS, Stream, distance, model};
use std::hint::black_box;
use std::time::Instant;

/// Samples between two looks; no divisor of N, so that the window begins anywhere.
const HOP: usize = 9973;
/// Samples of a look at the time.
const TIMED: usize = 100_000;

fn main() {
    let argument = std::env::args().nth(1);
    let samples = argument.map_or(Ok(10_000_000), |text| text.parse());
    let Ok(samples) = samples else {
        eprintln!("error: how many samples: a whole number");
        std::process::exit(2);
    };
    println!(
        "| form | inputs | samples | largest distance from the whole transform | time of a sample, of that of a transform |"
    );
    println!("| --- | --- | --- | --- | --- |");
    for form in FORMS {
        for inputs in [64, 256] {
            let bytes = model(form, inputs);
            let model = Model::from_bytes(&bytes).expect("a sound model");
            let worst = distance(model, &mut Stream::new(7), samples, HOP);
            let (transform, whole) = form;
            let name = match transform {
                Transform::Fft => "fft",
                _ => "cyclic",
            };
            println!(
                "| {name} {} | {inputs} | {samples} | {worst:.1e} | 1/{:.0} |",
                if whole { "i32" } else { "f32" },
                1.0 / share(model)
            );
        }
    }
}

/// The time of a sample as a share of that of all coefficients.
fn share(model: Model<'_>) -> f64 {
    let mut stream = Stream::new(9);
    let samples: Vec<i16> = (0..TIMED).map(|_| stream.next()).collect();
    let mut window = Sliding::<i16, 1024, 513>::new(model).expect("a cyclic model");
    let begun = Instant::now();
    for hop in samples.chunks(16) {
        window.extend(black_box(hop)).expect("integers");
    }
    let of_sample = begun.elapsed().as_secs_f64() / TIMED as f64;
    let mut scratch = vec![0.0; model.scratch_len()];
    let mut z = vec![Complex32::ZERO; model.rows()];
    let windows = samples.chunks_exact(model.inputs());
    let count = windows.len();
    let begun = Instant::now();
    for window in windows {
        let found = model.coefficients(black_box(window), &mut scratch, &mut z);
        found.expect("coefficients");
    }
    of_sample / (begun.elapsed().as_secs_f64() / count as f64)
}
