//! Both objectives as their equations say them, one number after the other.

use super::random::{SHAPES, objectives, random_network, random_samples};
use super::relative;
use bispectral_learn::network::{
    Distance, Loss, Network, Objective, Reconstruction, SecondOrder, Workspace,
};
use num_complex::Complex;

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

/// Doubles summed in another order: they were seen to differ by 2e-15.
const TOLERANCE: f64 = 1e-13;

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
                    error < TOLERANCE,
                    "{rows}×{inputs} {orbits:?} {objective:?}: {error:.1e}"
                );
            }
        }
    }
}

/// V_i/S_i and ‖WW† − I‖² as the equations say them.
pub(crate) fn second_order_by_definition(
    network: &Network<f64>,
    samples: &[f64],
    orbits: &[usize],
) -> Loss {
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
fn the_second_order_objective_is_what_its_equation_says() {
    let mut workspace = Workspace::new();
    for (rows, inputs, orbits) in SHAPES {
        let network = random_network(rows, inputs, 4);
        let samples = random_samples::<f64>(inputs, orbits, 5);
        let expected = second_order_by_definition(&network, &samples, orbits);
        let found = workspace
            .second_order(&network, &samples, orbits, &SecondOrder::default())
            .expect("finite");
        let error = relative(
            [found.invariance, found.reconstruction, found.total],
            [expected.invariance, expected.reconstruction, expected.total],
        );
        assert!(error < TOLERANCE, "{rows}×{inputs}: {error:.1e}");
    }
}
