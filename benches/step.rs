//! One training step (forward, loss, gradient) against its two large matrix products alone, in one run.
//!
//! `cargo bench -p bispectral-benches --bench step`
//!
//! The products alone are what the step cannot do without: C = P·Xᵀ and ∂L/∂P = ∂L/∂C·X with P of R(R+1) real rows.
//! They are measured as favourably as was found: in tiles of 192 rows, shared out to threads, with each P in cache.

use bispectral_learn::network::{Distance, Network, Objective, SecondOrder, Targets, Workspace};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use ndarray::Array2;
use num_complex::Complex32;
use rayon::prelude::*;
use std::hint::black_box;
use std::time::Instant;

const ROWS: usize = 256;
const ORBITS: [usize; 10] = [10; 10];
const SAMPLES: usize = 100;
/// Rows of a tile of P.
const TILE: usize = 192;
/// Tiles are shared out in so many parts, as the step does.
const PARTS: usize = 16;

/// What is timed, in the order of the table's columns.
const NAMES: [&str; 7] = [
    "step",
    "euclidean, centred",
    "loss alone",
    "C = P·Xᵀ",
    "∂P = ∂C·X",
    "second order",
    "towards a target",
];

fn main() {
    println!(
        "R = {ROWS}, {SAMPLES} samples in {} orbits, f32, {} threads; milliseconds, fastest (median)",
        ORBITS.len(),
        rayon::current_num_threads()
    );
    print!("   N");
    NAMES.iter().for_each(|name| print!(" {name:>18}"));
    println!("    step/products  Gflop/s of products, step  peak MB");
    for (inputs, rounds) in [(64, 60), (256, 40), (1024, 15)] {
        measure(inputs, rounds);
    }
}

fn measure(inputs: usize, rounds: usize) {
    let mut draw = noise();
    let w = Array2::from_shape_simple_fn((ROWS, inputs), || Complex32::new(draw(), draw()));
    let mut network = Network::from_array(&w.view());
    network.normalise_rows();
    let samples: Vec<f32> = (0..SAMPLES * inputs).map(|_| draw()).collect();
    let squared = Objective::default();
    let euclidean = Objective {
        distance: Distance::Euclidean,
        centre: true,
        ..squared
    };
    let mut workspace = Workspace::new();
    let mut step = |objective: &Objective| {
        let loss = workspace.loss_and_gradient(&network, &samples, &ORBITS, objective);
        black_box(loss.expect("finite samples"));
    };

    // The step's memory, before the products take theirs. Linux forgets earlier peaks when asked to.
    std::fs::write("/proc/self/clear_refs", "5").ok();
    step(&squared);
    let memory = peak_memory();
    let mut loss_workspace = Workspace::new();
    let mut products = Products::new(inputs, &mut draw);

    // Every sample towards the invariants of the next one.
    let invariants = loss_workspace.invariants(&network, &samples, false);
    let targets = Targets::new(&invariants.expect("finite samples").view());
    let next: Vec<usize> = (1..=SAMPLES).map(|k| k % SAMPLES).collect();
    let mut gradient = vec![0.0; samples.len()];

    let mut times = [const { Vec::new() }; NAMES.len()];
    for _ in 0..rounds {
        let mut columns = times.iter_mut();
        let mut time = |work: &mut dyn FnMut()| {
            let begin = Instant::now();
            work();
            let column: &mut Vec<f64> = columns.next().expect("a name for each");
            column.push(begin.elapsed().as_secs_f64() * 1e3);
        };
        time(&mut || step(&squared));
        time(&mut || step(&euclidean));
        time(&mut || {
            let loss = loss_workspace.loss(&network, &samples, &ORBITS, &squared);
            black_box(loss.expect("finite samples"));
        });
        time(&mut || products.forward(&samples));
        time(&mut || products.backward(&samples));
        time(&mut || {
            let objective = SecondOrder::default();
            let loss = loss_workspace.second_order(&network, &samples, &ORBITS, &objective);
            black_box(loss.expect("finite samples"));
        });
        time(&mut || {
            let squares =
                loss_workspace.input_gradient(&network, &samples, &targets, &next, &mut gradient);
            black_box(squares.expect("finite samples"));
        });
    }
    times
        .iter_mut()
        .for_each(|times| times.sort_by(f64::total_cmp));
    print!("{inputs:4}");
    for times in &times {
        print!(" {:>9.2} ({:>6.2})", times[0], times[rounds / 2]);
    }
    let ratio = |k: usize| times[0][k] / (times[3][k] + times[4][k]);
    let flop = 4.0 * (ROWS * (ROWS + 1) * inputs * SAMPLES) as f64;
    let rate = |milliseconds: f64| flop / milliseconds / 1e6;
    println!(
        "    {:5.2} ({:5.2})  {:20.0}, {:4.0}  {memory:7}",
        ratio(0),
        ratio(rounds / 2),
        rate(times[3][0] + times[4][0]),
        rate(times[0][0]),
    );
}

/// The two products, a part's tile of P and its share of C at a time.
struct Products {
    inputs: usize,
    parts: Vec<(Vec<f32>, Vec<f32>)>,
}

impl Products {
    fn new(inputs: usize, draw: &mut impl FnMut() -> f32) -> Self {
        let tiles = (ROWS * (ROWS + 1)).div_ceil(TILE);
        let parts = (0..PARTS).map(|part| {
            let own = tiles * (part + 1) / PARTS - tiles * part / PARTS;
            let p = (0..TILE * inputs).map(|_| draw()).collect();
            (p, vec![0.0; own * TILE * SAMPLES])
        });
        Products {
            inputs,
            parts: parts.collect(),
        }
    }

    fn forward(&mut self, samples: &[f32]) {
        let x = MatRef::from_row_major_slice(samples, SAMPLES, self.inputs);
        self.parts.par_iter_mut().for_each(|(p, c)| {
            let p = MatRef::from_row_major_slice(p, TILE, self.inputs);
            for c in c.chunks_exact_mut(TILE * SAMPLES) {
                let c = MatMut::from_column_major_slice_mut(c, TILE, SAMPLES);
                matmul(c, Accum::Replace, p, x.transpose(), 1.0, Par::Seq);
            }
        });
    }

    fn backward(&mut self, samples: &[f32]) {
        let x = MatRef::from_row_major_slice(samples, SAMPLES, self.inputs);
        self.parts.par_iter_mut().for_each(|(p, c)| {
            for c in c.chunks_exact(TILE * SAMPLES) {
                let c = MatRef::from_column_major_slice(c, TILE, SAMPLES);
                let p = MatMut::from_row_major_slice_mut(p, TILE, self.inputs);
                matmul(p, Accum::Replace, c, x, 1e-3, Par::Seq);
            }
        });
    }
}

/// Reproducible numbers in [−1, 1): a linear congruential generator, Knuth's constants.
fn noise() -> impl FnMut() -> f32 {
    let mut state = 1u64;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u32 << 23) as f32 - 1.0
    }
}

/// The most memory this process had, in MB; zero where the system does not tell.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or(0u64) / 1000
}
