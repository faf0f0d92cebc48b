//! Loss and gradient against double-precision references, finite differences, and themselves on other thread counts.

use bispectral::network::{
    Distance, Loss, Network, Objective, Real, Reconstruction, SecondOrder, Workspace,
};
use ndarray::Array2;
use num_complex::Complex;
use serde_json::Value;

const GOLDEN: [&str; 4] = [
    include_str!("../../tests/golden/tiny.json"),
    include_str!("../../tests/golden/wide.json"),
    include_str!("../../tests/golden/square8.json"),
    include_str!("../../tests/golden/square16.json"),
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

/// ‖found − expected‖ / ‖expected‖.
fn relative(found: impl IntoIterator<Item = f64>, expected: impl IntoIterator<Item = f64>) -> f64 {
    let (mut difference, mut length) = (0.0, 0.0);
    let mut expected = expected.into_iter();
    for found in found {
        let expected = expected.next().expect("as many as found");
        difference += (found - expected).powi(2);
        length += expected.powi(2);
    }
    assert!(expected.next().is_none(), "as many as expected");
    (difference / length).sqrt()
}

fn parts<T: Real>(values: impl IntoIterator<Item = Complex<T>>) -> impl Iterator<Item = f64> {
    values.into_iter().flat_map(|v| [v.re.wide(), v.im.wide()])
}

fn gradient_of<T: Real>(workspace: &Workspace<T>) -> Vec<f64> {
    let gradient = workspace.gradient();
    gradient
        .re
        .iter()
        .chain(gradient.im)
        .map(|g| g.wide())
        .collect()
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
    println!(
        "{}: features {:.1e}, losses {:.1e}, gradients {:.1e}",
        std::any::type_name::<T>(),
        worst[0],
        worst[1],
        worst[2]
    );
    worst
}

#[test]
fn golden_in_double_precision() {
    let [features, losses, gradients] = golden_errors::<f64>();
    assert!(features < 1e-12);
    assert!(losses < 1e-9);
    assert!(gradients < 1e-7);
}

#[test]
fn golden_in_single_precision() {
    let worst = golden_errors::<f32>();
    assert!(worst.iter().all(|error| *error < 1e-4), "{worst:?}");
}

/// Reproducible numbers in [−1, 1): a linear congruential generator, Knuth's constants.
fn noise<T: Real>(seed: u64) -> impl FnMut() -> T {
    let mut state = seed.wrapping_mul(2_862_933_555_777_941_757) + 1;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        T::rounded((state >> 33) as f64 / f64::from(1u32 << 30) - 1.0)
    }
}

/// Rows of about unit length, but not quite: so that a derivative along a row is seen.
fn random_network<T: Real>(rows: usize, inputs: usize, seed: u64) -> Network<T> {
    let mut draw = noise::<T>(seed);
    let length = T::rounded((1.5 / inputs as f64).sqrt());
    let w = Array2::from_shape_simple_fn((rows, inputs), || {
        Complex::new(draw() * length, draw() * length)
    });
    Network::from_array(&w.view())
}

fn random_samples<T: Real>(inputs: usize, orbits: &[usize], seed: u64) -> Vec<T> {
    let mut draw = noise(seed);
    let count = inputs * orbits.iter().sum::<usize>();
    (0..count).map(|_| draw()).collect()
}

fn objectives() -> impl Iterator<Item = Objective> {
    (0..8).map(|bits| Objective {
        distance: [Distance::Squared, Distance::Euclidean][bits & 1],
        centre: bits & 2 != 0,
        reconstruction: [Reconstruction::Complex, Reconstruction::Real][bits >> 2],
        gamma: 0.3,
    })
}

/// R, N, orbits. None a multiple of a vector; more rows than inputs, and fewer; several tiles and parts; B from 1 on.
const SHAPES: [(usize, usize, &[usize]); 7] = [
    (1, 1, &[1]),
    (1, 2, &[3]),
    (3, 5, &[2, 3]),
    (5, 3, &[1, 4, 2]),
    (19, 33, &[0, 6, 1]),
    (40, 23, &[3, 1, 26, 2]),
    (17, 1100, &[2, 3]),
];

/// The loss as the equations say it, one number after the other.
fn by_definition(
    network: &Network<f64>,
    samples: &[f64],
    orbits: &[usize],
    objective: &Objective,
) -> Loss {
    let w = network.to_array();
    let (rows, inputs) = w.dim();
    let mut invariants = Vec::new();
    let mut reconstruction = 0.0;
    for x in samples.chunks_exact(inputs) {
        let sum =
            |term: &dyn Fn(usize) -> Complex<f64>| (0..inputs).map(term).sum::<Complex<f64>>();
        let z: Vec<_> = (0..rows).map(|i| sum(&|n| w[(i, n)] * x[n])).collect();
        let mut beta = Vec::new();
        for i in 0..rows {
            for j in i..rows {
                beta.push(z[i] * z[j] * sum(&|n| w[(i, n)] * w[(j, n)] * x[n]).conj());
            }
        }
        if objective.centre {
            let mean = beta.iter().sum::<Complex<f64>>() / beta.len() as f64;
            beta.iter_mut().for_each(|beta| *beta -= mean);
        }
        let norm = beta.iter().map(|beta| beta.norm_sqr()).sum::<f64>().sqrt();
        // One centred term is nothing but rounding.
        let scale = if objective.centre && rows == 1 {
            0.0
        } else {
            1.0 / norm
        };
        invariants.push(beta.iter().map(|beta| beta * scale).collect::<Vec<_>>());
        for n in 0..inputs {
            let r = x[n]
                - (0..rows)
                    .map(|i| w[(i, n)].conj() * z[i])
                    .sum::<Complex<f64>>();
            reconstruction += match objective.reconstruction {
                Reconstruction::Complex => r.norm_sqr(),
                Reconstruction::Real => r.re * r.re,
            };
        }
    }
    let (mut invariance, mut pairs, mut first) = (0.0, 0.0, 0);
    for size in orbits {
        for a in first..first + size {
            for b in a + 1..first + size {
                let terms = invariants[a].iter().zip(&invariants[b]);
                let square: f64 = terms.map(|(a, b)| (a - b).norm_sqr()).sum();
                pairs += 1.0;
                invariance += match objective.distance {
                    Distance::Squared => square,
                    Distance::Euclidean => square.sqrt(),
                };
            }
        }
        first += size;
    }
    let invariance = if pairs > 0.0 { invariance / pairs } else { 0.0 };
    let reconstruction = reconstruction / invariants.len() as f64;
    Loss {
        invariance,
        reconstruction,
        total: invariance + objective.gamma * reconstruction,
    }
}

/// Sums of up to 10⁵ terms in another order: 1e-12 is a thousand times what they were seen to differ by.
#[test]
fn the_loss_is_what_its_equation_says() {
    let mut workspace = Workspace::new();
    for (rows, inputs, orbits) in SHAPES {
        let network = random_network(rows, inputs, 1);
        let samples = random_samples(inputs, orbits, 2);
        for objective in objectives() {
            let expected = by_definition(&network, &samples, orbits, &objective);
            let found = workspace
                .loss(&network, &samples, orbits, &objective)
                .expect("finite");
            for (found, expected) in [
                (found.invariance, expected.invariance),
                (found.reconstruction, expected.reconstruction),
                (found.total, expected.total),
            ] {
                let error = (found - expected).abs() / expected.max(1.0);
                assert!(
                    error < 1e-12,
                    "{rows}×{inputs} {orbits:?} {objective:?}: {error:.1e}"
                );
            }
        }
    }
}

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
                error < 1e-8,
                "{rows}×{inputs} {orbits:?} {objective:?}: {error:.1e}"
            );
        }
    }
}

/// V_i/S_i and ‖WW† − I‖² as the equations say them.
fn second_order_by_definition(network: &Network<f64>, samples: &[f64], orbits: &[usize]) -> Loss {
    let w = network.to_array();
    let (rows, inputs) = w.dim();
    let count = samples.len() / inputs;
    let mut ratios = 0.0;
    let mut excess = 0.0;
    for i in 0..rows {
        let z = |x: &[f64]| (0..inputs).map(|n| w[(i, n)] * x[n]).sum::<Complex<f64>>();
        let powers: Vec<f64> = samples
            .chunks_exact(inputs)
            .map(|x| z(x).norm_sqr())
            .collect();
        let (mut variance, mut rest) = (0.0, &powers[..]);
        for &size in orbits {
            let (orbit, others) = rest.split_at(size);
            rest = others;
            let mean = orbit.iter().sum::<f64>() / size as f64;
            variance += orbit.iter().map(|p| (p - mean).powi(2)).sum::<f64>();
        }
        ratios += variance / powers.iter().map(|p| p * p).sum::<f64>();
        for j in 0..rows {
            let product: Complex<f64> = (0..inputs).map(|n| w[(i, n)] * w[(j, n)].conj()).sum();
            excess += (product - f64::from(u8::from(i == j))).norm_sqr();
        }
    }
    assert_eq!(count, orbits.iter().sum::<usize>());
    let (invariance, reconstruction) = (ratios / rows as f64, excess / rows as f64);
    Loss {
        invariance,
        reconstruction,
        total: invariance + 10.0 * reconstruction,
    }
}

#[test]
fn the_second_order_objective_is_what_its_equation_says_and_so_is_its_gradient() {
    let mut workspace = Workspace::new();
    let objective = SecondOrder::default();
    for (rows, inputs, orbits) in SHAPES {
        let network = random_network(rows, inputs, 4);
        // Far from unit magnitude: V/S must not care.
        let mut samples = random_samples::<f64>(inputs, orbits, 5);
        samples.iter_mut().for_each(|x| *x *= 1e-30);
        let expected = second_order_by_definition(&network, &samples, orbits);
        let found = workspace
            .second_order(&network, &samples, orbits, &objective)
            .expect("finite");
        let error = relative(
            [found.invariance, found.reconstruction, found.total],
            [expected.invariance, expected.reconstruction, expected.total],
        );
        assert!(error < 1e-13, "{rows}×{inputs}: {error:.1e}");
        let gradient = gradient_of(&workspace);
        let error = error_by_differences(&network, &gradient, |network| {
            second_order_by_definition(network, &samples, orbits)
        });
        assert!(error < 1e-8, "{rows}×{inputs}: {error:.1e}");
    }
}

/// Loss and gradient of both objectives, as bits.
fn bits(workspace: &mut Workspace<f32>, shape: (usize, usize, &[usize])) -> Vec<u64> {
    let (rows, inputs, orbits) = shape;
    let network = random_network(rows, inputs, 6);
    let samples = random_samples(inputs, orbits, 7);
    let mut bits = Vec::new();
    let mut note = |loss: Loss, workspace: &Workspace<f32>| {
        bits.extend([loss.invariance, loss.reconstruction, loss.total].map(f64::to_bits));
        let gradient = workspace.gradient();
        let numbers = gradient.re.iter().chain(gradient.im);
        bits.extend(numbers.map(|g| u64::from(g.to_bits())));
    };
    for objective in objectives() {
        let loss = workspace.loss_and_gradient(&network, &samples, orbits, &objective);
        note(loss.expect("finite"), workspace);
    }
    let loss = workspace.second_order(&network, &samples, orbits, &SecondOrder::default());
    note(loss.expect("finite"), workspace);
    bits
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    // 36 tiles in 16 parts, and one tile in one.
    for shape in [(100, 100, &[9, 1, 30, 5][..]), (7, 8, &[4, 4][..])] {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.expect("threads");
            pool.install(|| bits(&mut Workspace::new(), shape))
        };
        let one = on(1);
        for threads in [2, 8, 8] {
            assert!(on(threads) == one, "{threads} threads, {shape:?}");
        }
    }
}

#[test]
fn what_a_workspace_did_before_leaves_no_trace() {
    let mut used = Workspace::new();
    for shape in SHAPES.into_iter().chain(SHAPES.into_iter().rev()) {
        assert!(
            bits(&mut used, shape) == bits(&mut Workspace::new(), shape),
            "{shape:?}"
        );
    }
}

#[test]
fn a_sample_may_be_zero_and_members_may_coincide() {
    let (rows, inputs) = (6, 11);
    let network = random_network::<f64>(rows, inputs, 8);
    let one = random_samples::<f64>(inputs, &[1], 9);
    let samples = [
        &one[..],
        &one,
        &vec![0.0; inputs],
        &one,
        &vec![0.0; 2 * inputs],
    ]
    .concat();
    let mut workspace = Workspace::new();
    for objective in objectives() {
        let loss = workspace
            .loss_and_gradient(&network, &samples, &[2, 2, 2], &objective)
            .expect("finite");
        // Two that coincide, one of unit length with zero, and two zeros.
        assert!((loss.invariance - 1.0 / 3.0).abs() < 1e-15, "{loss:?}");
        assert!(gradient_of(&workspace).iter().all(|g| g.is_finite()));
        // None of these distances changes with W, so the gradient is that of the reconstruction.
        let alone = gradient_of(&workspace);
        workspace
            .loss_and_gradient(&network, &samples, &[1; 6], &objective)
            .expect("finite");
        assert!(relative(alone, gradient_of(&workspace)) < 1e-14);
    }
    let loss = workspace.second_order(
        &network,
        &vec![0.0; 3 * inputs],
        &[3],
        &SecondOrder::default(),
    );
    assert_eq!(loss.expect("finite").invariance, 0.0);
    assert!(gradient_of(&workspace).iter().all(|g| g.is_finite()));
}

/// β̄ and hence the invariance does not depend on the magnitude of samples, to the last bit for powers of two.
#[test]
fn samples_of_any_magnitude_have_the_same_invariance() {
    let (rows, inputs, orbits) = (9, 12, [3, 2]);
    let network = random_network::<f32>(rows, inputs, 10);
    let samples = random_samples::<f32>(inputs, &orbits, 11);
    let mut workspace = Workspace::new();
    let objective = Objective {
        gamma: 0.0,
        ..Objective::default()
    };
    let mut step = |scale: f32| {
        let samples: Vec<f32> = samples.iter().map(|x| x * scale).collect();
        let loss = workspace.loss_and_gradient(&network, &samples, &orbits, &objective);
        (loss.expect("finite").invariance, gradient_of(&workspace))
    };
    let (loss, gradient) = step(1.0);
    for exponent in [-100, -20, 3, 60] {
        let (scaled, its) = step(2f32.powi(exponent));
        assert_eq!(scaled, loss, "2^{exponent}");
        assert_eq!(its, gradient, "2^{exponent}");
    }
}

#[test]
fn a_batch_that_does_not_fit_is_refused() {
    let network = random_network::<f64>(2, 3, 12);
    let mut workspace = Workspace::new();
    let mut refusal = |samples: &[f64], orbits: &[usize]| {
        let loss = workspace.loss(&network, samples, orbits, &Objective::default());
        loss.expect_err("does not fit").to_string()
    };
    assert!(refusal(&[], &[]).contains("0 numbers are not samples of 3"));
    assert!(refusal(&[1.0; 7], &[2]).contains("7 numbers are not samples of 3"));
    assert!(refusal(&[1.0; 6], &[1]).contains("1 members, but there are 2 samples"));
    assert!(refusal(&[1.0, 1.0, f64::NAN], &[1]).contains("sample 0 of the batch"));
}
