//! ‖β̄(x) − t‖² against its equation, and its gradient by x against finite differences.

use super::random::{SHAPES, noise, random_network, random_samples};
use bispectral_learn::network::{Network, Targets, Workspace};
use bispectral_learn::numeric::Real;
use ndarray::Array2;
use num_complex::Complex;

/// So many samples of each shape, and targets that several of them share.
const SAMPLES: usize = 5;
const WHICH: [usize; SAMPLES] = [2, 0, 1, 1, 2];
const TARGETS: usize = 3;

/// A network, samples, and the invariants of other samples, scaled: a target need not have unit length.
struct Case<T> {
    network: Network<T>,
    samples: Vec<T>,
    invariants: Array2<Complex<T>>,
}

impl<T: Real> Case<T> {
    fn new(rows: usize, inputs: usize) -> Self {
        let network = random_network(rows, inputs, 1);
        let others = random_samples(inputs, &[TARGETS], 2);
        let invariants = Workspace::new().invariants(&network, &others, false);
        Case {
            network,
            samples: random_samples(inputs, &[SAMPLES], 3),
            invariants: invariants.expect("finite").mapv(|t| t * T::rounded(0.75)),
        }
    }

    fn input_gradient(&self, workspace: &mut Workspace<T>, samples: &[T]) -> (Vec<f64>, Vec<T>) {
        let targets = Targets::new(&self.invariants.view());
        let mut gradient = vec![T::rounded(f64::NAN); samples.len()];
        let squares =
            workspace.input_gradient(&self.network, samples, &targets, &WHICH, &mut gradient);
        (squares.expect("finite"), gradient)
    }
}

/// ‖β̄(x) − t‖², one number after the other.
fn by_definition(w: &Array2<Complex<f64>>, x: &[f64], target: &[Complex<f64>]) -> f64 {
    let (rows, inputs) = w.dim();
    let sum = |term: &dyn Fn(usize) -> Complex<f64>| (0..inputs).map(term).sum::<Complex<f64>>();
    let z: Vec<_> = (0..rows).map(|i| sum(&|n| w[(i, n)] * x[n])).collect();
    let pairs = (0..rows).flat_map(|i| (i..rows).map(move |j| (i, j)));
    let beta = pairs.map(|(i, j)| z[i] * z[j] * sum(&|n| w[(i, n)] * w[(j, n)] * x[n]).conj());
    let beta: Vec<_> = beta.collect();
    let norm = beta.iter().map(|beta| beta.norm_sqr()).sum::<f64>().sqrt();
    let terms = beta.iter().zip(target);
    terms.map(|(beta, t)| (beta / norm - t).norm_sqr()).sum()
}

#[test]
fn distances_from_targets_are_what_their_equation_says() {
    let mut workspace = Workspace::new();
    for (rows, inputs, _) in SHAPES {
        let case = Case::<f64>::new(rows, inputs);
        let w = case.network.to_array();
        let (squares, _) = case.input_gradient(&mut workspace, &case.samples);
        for ((x, target), found) in case.samples.chunks(inputs).zip(WHICH).zip(squares) {
            let expected = by_definition(&w, x, &case.invariants.row(target).to_vec());
            // Doubles summed in another order.
            let error = (found - expected).abs();
            assert!(error < 1e-13, "{rows}×{inputs}: {found}, {expected}");
        }
    }
}

#[test]
fn the_gradient_by_signals_is_that_of_the_distances() {
    const STEP: f64 = 1e-3;
    let mut workspace = Workspace::new();
    for (rows, inputs, _) in SHAPES {
        let case = Case::<f64>::new(rows, inputs);
        let (_, gradient) = case.input_gradient(&mut workspace, &case.samples);
        let length = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        let mut draw = noise::<f64>(4);
        for place in 0..3 {
            // One number of one sample, then all of all samples.
            let unit: Vec<f64> = (0..gradient.len())
                .map(|k| match place {
                    0 => f64::from(u8::from(k == gradient.len() / 3)),
                    _ => draw() * (3.0 / gradient.len() as f64).sqrt(),
                })
                .collect();
            let mut at = |shift: f64| -> f64 {
                let moved = case.samples.iter().zip(&unit);
                let moved: Vec<f64> = moved.map(|(x, unit)| x + shift * unit).collect();
                case.input_gradient(&mut workspace, &moved).0.iter().sum()
            };
            let mut slope = |step: f64| (at(step) - at(-step)) / (2.0 * step);
            let expected = (4.0 * slope(STEP) - slope(2.0 * STEP)) / 3.0;
            let found: f64 = gradient.iter().zip(&unit).map(|(g, unit)| g * unit).sum();
            // Truncation of fourth order, as for W. Of one input β̄ is a sign, and has no gradient.
            let error = (found - expected).abs() / length.max(1e-3);
            assert!(error < 1e-8, "{rows}×{inputs}: {found}, {expected}");
        }
    }
}

#[test]
fn on_the_way_to_a_target_the_bits_do_not_depend_on_threads_or_history() {
    let case = Case::<f32>::new(100, 100);
    let on = |threads: usize, workspace: &mut Workspace<f32>| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads")
            .install(|| case.input_gradient(workspace, &case.samples))
    };
    let one = on(1, &mut Workspace::new());
    let mut used = Workspace::new();
    Case::<f32>::new(19, 33).input_gradient(&mut used, &random_samples(33, &[SAMPLES], 5));
    for threads in [2, 8] {
        assert!(on(threads, &mut used) == one, "{threads} threads");
    }
}

#[test]
fn the_magnitude_of_a_signal_divides_its_gradient() {
    let case = Case::<f32>::new(9, 12);
    let mut workspace = Workspace::new();
    let (squares, gradient) = case.input_gradient(&mut workspace, &case.samples);
    for exponent in [-60, 40] {
        let scale = 2f32.powi(exponent);
        let scaled: Vec<f32> = case.samples.iter().map(|x| x * scale).collect();
        let (its, its_gradient) = case.input_gradient(&mut workspace, &scaled);
        assert_eq!(its, squares);
        let restored: Vec<f32> = its_gradient.iter().map(|g| g * scale).collect();
        assert_eq!(restored, gradient);
    }
    // No direction, no gradient; and t is then all that is left of the difference.
    let (squares, gradient) = case.input_gradient(&mut workspace, &vec![0.0; case.samples.len()]);
    assert!(squares.iter().all(|square| (square - 0.5625).abs() < 1e-6));
    assert!(gradient.iter().all(|&g| g == 0.0));
}

#[test]
fn targets_that_do_not_fit_are_refused() {
    let case = Case::<f64>::new(3, 5);
    let targets = Targets::new(&case.invariants.view());
    let refusal = |network: &Network<f64>, which: &[usize], gradient: usize| {
        let mut gradient = vec![0.0; gradient];
        let mut workspace = Workspace::new();
        let found =
            workspace.input_gradient(network, &case.samples, &targets, which, &mut gradient);
        found.expect_err("does not fit").to_string()
    };
    let all = case.samples.len();
    assert!(refusal(&case.network, &WHICH[1..], all).contains("4 of them for 25 numbers"));
    assert!(refusal(&case.network, &WHICH, all - 1).contains("5 of them for 25 numbers"));
    assert!(refusal(&case.network, &[0, 1, 2, 3, 0], all).contains("no target 3 among 3"));
    let larger = random_network(4, 5, 1);
    assert!(refusal(&larger, &WHICH, all).contains("6 terms where W has 10 pairs"));
}
