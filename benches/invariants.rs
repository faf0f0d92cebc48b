//! One signal through bispectral-core on one core of the host: time, and how far from what the processor could do.
//!
//! `cargo bench -p bispectral-benches --bench invariants`

use bispectral_core::format::{Parts, Weights};
use bispectral_core::{Complex32, Model};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Enough that the fastest run had the core to itself.
const REPETITIONS: usize = 60;

fn main() {
    println!("one signal, all invariants, one core; fastest and median of {REPETITIONS}");
    println!("   N    R    pairs     fastest      median   Gflop/s   of the loop's peak");
    let peak = peak();
    for (inputs, rows) in [(64, 33), (64, 64), (256, 256), (1024, 256)] {
        measure(inputs, rows, peak);
    }
    println!(
        "peak: {:.1} Gflop/s, separate multiplications and additions in registers, compiled as the core is",
        peak / 1e9
    );
}

/// Weights without any structure, of about unit length a row.
fn model(inputs: u16, rows: u16) -> Vec<u8> {
    let count = 2 * usize::from(inputs) * usize::from(rows);
    let weights: Vec<f32> = (0..count)
        .map(|k| (k as f32 * 1.618).sin() / f32::from(inputs).sqrt())
        .collect();
    let parts = Parts {
        inputs,
        rows,
        name: "bench",
        weights: Weights::F32((&weights[..]).into()),
        ..Parts::default()
    };
    let mut bytes = vec![0; parts.encoded_len().expect("fitting parts")];
    parts.write(&mut bytes).expect("room");
    bytes
}

fn measure(inputs: u16, rows: u16, peak: f64) {
    let bytes = model(inputs, rows);
    let model = Model::from_bytes(&bytes).expect("a sound model");
    let x: Vec<f32> = (0..inputs).map(|n| (f32::from(n) * 0.7).sin()).collect();
    let mut scratch = vec![0.0; model.scratch_len()];
    let mut out = vec![Complex32::ZERO; model.pairs()];
    let (fastest, median) = times(|| {
        model
            .invariants(black_box(&x), &mut scratch, &mut out)
            .expect("a signal");
        black_box(&out);
    });
    // A complex multiply-add is four real multiplications and four additions.
    let flops = (8 * model.pairs() * model.inputs()) as f64 / fastest.as_secs_f64();
    println!(
        "{inputs:4} {rows:4} {:8} {fastest:11.3?} {median:11.3?} {:9.1} {:8.0} %",
        model.pairs(),
        flops / 1e9,
        100.0 * flops / peak,
    );
}

fn times(mut work: impl FnMut()) -> (Duration, Duration) {
    let mut times: Vec<Duration> = (0..REPETITIONS)
        .map(|_| {
            let begin = Instant::now();
            work();
            begin.elapsed()
        })
        .collect();
    times.sort();
    (times[0], times[REPETITIONS / 2])
}

/// Multiplications and additions a second, alternating, on values that stay in registers.
fn peak() -> f64 {
    const STEPS: usize = 200_000;
    /// Enough independent sums to hide the latency of an addition.
    const SUMS: usize = 48;
    let mut sums = [1.0_f32; SUMS];
    let (fastest, _) = times(|| {
        let (a, b) = (black_box(0.999_f32), black_box(1e-6_f32));
        for _ in 0..STEPS {
            for sum in &mut sums {
                *sum = *sum * a + b;
            }
        }
        black_box(&sums);
    });
    (2 * STEPS * SUMS) as f64 / fastest.as_secs_f64()
}
