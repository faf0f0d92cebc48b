//! z, β and β̄ in f64, each with the disc in which a correct f32 evaluation must lie.
//!
//! The radii are the running error analysis of the documented order of summation (Higham, *Accuracy and Stability of
//! Numerical Algorithms*, §3.1): n roundings of u = 2^-24 in a row are one relative error of at most γ_n = nu/(1−nu).
//! Everything is computed for the scaled signal 2^-(E_x+E_w) x, as the crate does, with E_x and E_w the exponents of the
//! largest sample and weight, so that what is lost below the smallest normal f32 is known too: see [`UNDERFLOW`].

use bispectral_core::pairs;
use num_complex::Complex64;

/// Partial sums of a sum over the inputs.
const LANES: usize = 8;

/// Half a unit in the last place of an f32 between 1 and 2.
const U: f64 = 1.0 / (1 << 24) as f64;

/// What underflow takes from z_i or z_ij of a scaled signal, for each of the N terms.
///
/// Scaling x rounds twice by 2^-150 at most, which weights below 2^(E_w+1) ≤ 2^61 enlarge, and every product adds
/// 2^-150. For one of the four products of a term of z_ij that is 2^(E_w−147) + 2^(E_w−149) + 2^-148, at most 2^-86.
const UNDERFLOW: f64 = 1.0 / (1_u128 << 84) as f64;

/// Two roundings of every component in each of two complex products: 4√2 u, and the second order.
const TRIPLE: f64 = 6.0 * U;

/// Squares, compensated sum, root, reciprocal and product, 2 + 2 (halved by the root) + 1 + 1 + 1, and the second order.
const NORMALISE: f64 = 6.0 * U;

/// The crate gives no direction to a bispectrum of the scaled signal that is shorter than this.
const LEAST_NORM: f64 = 1.0 / (1_u128 << 100) as f64;

/// Roundings of the floor: sums of squares of up to 64 samples, and few operations more.
const FLOOR: f64 = 80.0 * U;

/// The smallest step of f32.
const SUBNORMAL: f64 = f32::from_bits(1) as f64;

/// How many roundings brought W and x from the numbers given here to the f32 the crate computes with;
/// by default none, where they are f32 already.
#[derive(Clone, Copy, Default)]
pub(crate) struct Rounded {
    pub(crate) weights: u32,
    pub(crate) signal: u32,
}

/// Where an f32 evaluation of a number must lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Disc {
    pub(crate) centre: Complex64,
    pub(crate) radius: f64,
}

impl Disc {
    /// Whether the disc has the number in it; it never has a NaN.
    pub(crate) fn holds(&self, re: f32, im: f32) -> bool {
        let found = Complex64::new(re.into(), im.into());
        magnitude(found - self.centre) <= self.radius
    }

    /// The disc of numbers multiplied by 2^exponent and rounded to f32.
    fn restored(self, exponent: i32) -> Disc {
        let factor = f64::from(exponent).exp2();
        Disc {
            centre: self.centre * factor,
            // Four factors of a power of two, each of which may round a subnormal by half a step, in two components.
            radius: self.radius * factor + 6.0 * SUBNORMAL,
        }
    }
}

/// z, β and β̄ of one signal.
pub(crate) struct Evaluation {
    pub(crate) coefficients: Vec<Disc>,
    pub(crate) bispectrum: Vec<Disc>,
    pub(crate) invariants: Vec<Disc>,
    /// ‖β‖₂ of the scaled signal.
    norm: f64,
    /// The largest ‖δβ‖₂ an f32 evaluation of the scaled signal may have.
    error: f64,
    /// Between these is the ‖β‖₂ below which there is no direction.
    floor: [f64; 2],
}

/// Evaluates the equations for W, row after row, and x; neither may be zero.
pub(crate) fn evaluate(weights: &[Complex64], x: &[f64], rounded: Rounded) -> Evaluation {
    let (n, rows) = (x.len(), weights.len() / x.len());
    let e_x = exponent(x.iter().copied());
    let e_w = exponent(weights.iter().flat_map(|w| [w.re, w.im]));
    let scaled: Vec<f64> = (x.iter())
        .map(|x| x * f64::from(-e_x - e_w).exp2())
        .collect();
    let row = |i: usize| &weights[i * n..(i + 1) * n];

    let lost = n as f64 * UNDERFLOW;
    // Additions a term goes through: those of its lane, and three for the lanes.
    let lane = n.div_ceil(LANES) as u32;
    let z_gamma = gamma(rounded.weights + rounded.signal + 1 + lane + 3);
    let s_gamma = gamma(2 * rounded.weights + rounded.signal + 2 + 2 * lane + 3);

    let z: Vec<Disc> = (0..rows)
        .map(|i| {
            let terms = || row(i).iter().zip(&scaled);
            Disc {
                centre: terms().map(|(w, x)| w * x).sum(),
                radius: z_gamma * terms().map(|(w, x)| w.l1_norm() * x.abs()).sum::<f64>() + lost,
            }
        })
        .collect();
    let product = |i: usize, j: usize| {
        let terms = || row(i).iter().zip(row(j)).zip(&scaled);
        let size =
            |((a, b), x): ((&Complex64, &Complex64), &f64)| a.l1_norm() * b.l1_norm() * x.abs();
        let rescale = f64::from(-e_w).exp2();
        Disc {
            centre: terms().map(|((a, b), x)| a * b * x).sum::<Complex64>() * rescale,
            radius: s_gamma * terms().map(size).sum::<f64>() * rescale + lost,
        }
    };
    let beta: Vec<Disc> = pairs(rows)
        .map(|(i, j)| triple(z[i], z[j], product(i, j)))
        .collect();

    let near = |disc: &Disc| (magnitude(disc.centre) - disc.radius).max(0.0);
    let far = |disc: &Disc| magnitude(disc.centre) + disc.radius;
    let samples = length(scaled.iter().map(|x| x * f64::from(e_w).exp2()));
    let largest = weights.iter().map(|w| magnitude(*w)).fold(0.0, f64::max);
    let modulus = largest * f64::from(-e_w).exp2();
    let floor = |energy: f64| floor(n, rows, modulus, samples, energy);
    let norm = length(beta.iter().map(|b| magnitude(b.centre)));
    let error = length(beta.iter().map(|b| b.radius));
    Evaluation {
        invariants: beta.iter().map(|b| normalised(*b, norm, error)).collect(),
        coefficients: z.iter().map(|z| z.restored(e_x + e_w)).collect(),
        bispectrum: (beta.iter())
            .map(|b| b.restored(3 * e_x + 4 * e_w))
            .collect(),
        norm,
        error,
        floor: [
            floor(length(z.iter().map(near))) * (1.0 - FLOOR),
            floor(length(z.iter().map(far))) * (1.0 + FLOOR),
        ],
    }
}

/// `docs/numerics.md`: the floor of a model of N inputs and R rows, the largest |W_in| of which is m, for a signal of
/// length ‖x‖ whose coefficients have the length √S; the weights and samples are scaled.
fn floor(inputs: usize, rows: usize, modulus: f64, samples: f64, coefficients: f64) -> f64 {
    let precision = (inputs + 8) as f64 * 2_f64.powi(-23);
    let products = inputs.max(rows) as f64 * (modulus * samples).powi(2);
    let pairs = coefficients * (2.0 * coefficients.powi(2) + products).sqrt();
    4.0 * precision * modulus.powi(2) * samples * pairs
}

impl Evaluation {
    /// Whether the invariants, whose norm is 1, are known well enough for a comparison to say something. They are not
    /// where the terms of z or β cancel.
    pub(crate) fn is_well_conditioned(&self) -> bool {
        self.invariants.iter().all(|disc| disc.radius < 1e-3)
    }

    /// Whether an f32 evaluation may find a direction, or none: β with its error is not below the floor, or not above.
    pub(crate) fn permits(&self, direction: bool) -> bool {
        let [lowest, highest] = self.floor;
        if direction {
            self.norm + self.error >= lowest
        } else {
            self.norm - self.error <= highest.max(2.0 * LEAST_NORM)
        }
    }
}

/// (z_i + δ_i)(z_j + δ_j)(z_ij + δ_ij)(1 + ε) is farthest from z_i z_j z_ij where all errors point the same way.
fn triple(z_i: Disc, z_j: Disc, s: Disc) -> Disc {
    let far = |disc: Disc| magnitude(disc.centre) + disc.radius;
    let centre = z_i.centre * z_j.centre * s.centre.conj();
    let farthest = far(z_i) * far(z_j) * far(s) * (1.0 + TRIPLE);
    let exact = magnitude(z_i.centre) * magnitude(z_j.centre) * magnitude(s.centre);
    Disc {
        centre,
        radius: farthest - exact + 8.0 * SUBNORMAL * (far(s) + 1.0),
    }
}

/// β_ij/‖β‖ where β is known to `error`: with ρ = error/‖β‖, r_ij/(‖β‖(1−ρ)) + |β̄_ij| ρ/(1−ρ), and the roundings.
fn normalised(beta: Disc, norm: f64, error: f64) -> Disc {
    let rho = error / norm;
    if rho.is_nan() || rho > 0.5 {
        return Disc {
            centre: Complex64::ZERO,
            radius: f64::INFINITY,
        };
    }
    let centre = beta.centre / norm;
    let radius = (beta.radius / norm + magnitude(centre) * rho) / (1.0 - rho);
    Disc {
        centre,
        radius: radius + (magnitude(centre) + radius) * NORMALISE + 2.0 * SUBNORMAL,
    }
}

fn gamma(roundings: u32) -> f64 {
    let n = f64::from(roundings) * U;
    n / (1.0 - n)
}

fn magnitude(z: Complex64) -> f64 {
    z.re.hypot(z.im)
}

fn length(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

/// floor(log2 max|v|).
fn exponent(values: impl Iterator<Item = f64>) -> i32 {
    let largest = values.fold(0.0_f64, |largest, value| largest.max(value.abs()));
    (largest.to_bits() >> 52) as i32 - 1023
}
