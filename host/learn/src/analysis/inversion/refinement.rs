//! All terms at once: Levenberg's and Marquardt's method on Σ w |f(a) f(b) f(c) − T|², its steps by conjugate gradients.
//!
//! A step changes a term by Σ q δ, with q the product of the other two factors; the sum of w|q|² is each coefficient's
//! preconditioner and damping. The weight w is one over the variance of a term: of noise on invariants, as large as
//! the first solution leaves it, and of coefficients rounded to f32, which is Σ |q|² times that of rounding.

use super::Target;
use crate::group::triples::Coefficient;
use crate::limits::interruption;
use num_complex::Complex64;

/// Steps of the outer method at most; a good start needs three.
const STEPS: usize = 40;
/// Steps of conjugate gradients for one of them at most.
const INNER: usize = 200;
/// They end where the residual of the linear equations has become this small.
const INNER_ACCURACY: f64 = 1e-4;
/// Steps that gain less than this part of what is left change no digit that counts.
const GAIN: f64 = 1e-6;
/// Squares of what is left, relative to the terms: nothing below is more than rounding of f64.
const NOTHING: f64 = 1e-28;
/// Of f32 at one, twice: sums of a few hundred terms were seen to be off by no more.
const ROUNDING: f64 = 1.2e-7;
/// Less than any variance that counts.
const LEAST_VARIANCE: f64 = 1e-40;
const FIRST_DAMPING: f64 = 1e-6;
const LEAST_DAMPING: f64 = 1e-14;
const MOST_DAMPING: f64 = 1e6;
/// By which damping changes.
const DAMPING_STEP: f64 = 10.0;

/// For every term, what it changes with each of its factors.
type Slopes = Vec<[Complex64; 3]>;

/// A target and how much each of its terms weighs.
struct Weighed<'a> {
    target: &'a Target<'a>,
    weights: Vec<f64>,
}

impl Target<'_> {
    /// Improves `f` until nothing is gained; what is then left of the terms, relative to them.
    pub(super) fn refine(&self, f: &mut Vec<Complex64>) -> f64 {
        Weighed::new(self, f).refine(f);
        let weights = &self.inverter.weights;
        let all = squares(weights, &self.values).max(f64::MIN_POSITIVE);
        (squares(weights, &self.left(f)) / all).sqrt()
    }

    /// T − f(a) f(b) f(c).
    fn left(&self, f: &[Complex64]) -> Vec<Complex64> {
        let terms = self.values.iter().zip(&self.inverter.terms.factors);
        terms
            .map(|(value, &[a, b, c])| value - of(f, a) * of(f, b) * of(f, c))
            .collect()
    }

    fn slopes(&self, f: &[Complex64]) -> Slopes {
        let terms = self.inverter.terms.factors.iter();
        terms
            .map(|factors| {
                let [a, b, c] = factors.map(|factor| of(f, factor));
                [b * c, a * c, a * b]
            })
            .collect()
    }
}

/// Σ w |…|².
fn squares(weights: &[f64], values: &[Complex64]) -> f64 {
    let terms = values.iter().zip(weights);
    terms.map(|(value, weight)| weight * value.norm_sqr()).sum()
}

impl<'a> Weighed<'a> {
    /// As sure as each term is where `f` is nearly right.
    fn new(target: &'a Target<'a>, f: &[Complex64]) -> Self {
        let weights = &target.inverter.weights;
        let noise = squares(weights, &target.left(f)) / weights.len() as f64;
        let slopes = target.slopes(f);
        let variances = weights.iter().zip(&slopes).map(|(weight, slopes)| {
            let slope: f64 = slopes.iter().map(|q| q.norm_sqr()).sum();
            noise / weight + ROUNDING * ROUNDING * slope + LEAST_VARIANCE
        });
        let weights = variances.map(|v| if v.is_finite() { 1.0 / v } else { 0.0 });
        Weighed {
            weights: weights.collect(),
            target,
        }
    }

    fn refine(&self, f: &mut Vec<Complex64>) {
        let all = squares(&self.weights, &self.target.values);
        let mut left = self.target.left(f);
        let mut rest = squares(&self.weights, &left);
        let mut damping = FIRST_DAMPING;
        for _ in 0..STEPS {
            interruption::check();
            if rest <= NOTHING * all || !rest.is_finite() || damping > MOST_DAMPING {
                break;
            }
            let slopes = self.target.slopes(f);
            let step = self.step(&slopes, &left, damping);
            let next: Vec<Complex64> = f.iter().zip(&step).map(|(f, step)| f + step).collect();
            let next_left = self.target.left(&next);
            let next_rest = squares(&self.weights, &next_left);
            if next_rest < rest {
                let gain = 1.0 - next_rest / rest;
                (*f, left, rest) = (next, next_left, next_rest);
                damping = (damping / DAMPING_STEP).max(LEAST_DAMPING);
                if gain < GAIN {
                    break;
                }
            } else {
                damping *= DAMPING_STEP;
            }
        }
    }

    /// (JᵀwJ + damping · D) δ = Jᵀw left, by conjugate gradients preconditioned with D.
    fn step(&self, slopes: &Slopes, left: &[Complex64], damping: f64) -> Vec<Complex64> {
        let diagonal = self.diagonal(slopes);
        let scaled = |r: &[Complex64]| -> Vec<Complex64> {
            let pairs = r.iter().zip(&diagonal);
            pairs
                .map(|(r, &d)| if d > 0.0 { r / d } else { Complex64::ZERO })
                .collect()
        };
        let mut residual = self.transposed(slopes, left);
        let mut step = vec![Complex64::ZERO; residual.len()];
        let mut direction = scaled(&residual);
        let mut product = inner(&residual, &direction);
        let enough = product * INNER_ACCURACY * INNER_ACCURACY;
        for _ in 0..INNER {
            if product <= enough || !product.is_finite() {
                break;
            }
            let changes = self.changes(slopes, &direction);
            let mut image = self.transposed(slopes, &changes);
            for ((image, direction), d) in image.iter_mut().zip(&direction).zip(&diagonal) {
                *image += damping * d * direction;
            }
            let length = product / inner(&direction, &image);
            if !length.is_finite() {
                break;
            }
            add(&mut step, length, &direction);
            add(&mut residual, -length, &image);
            let next = scaled(&residual);
            let next_product = inner(&residual, &next);
            let momentum = next_product / product;
            for (direction, next) in direction.iter_mut().zip(next) {
                *direction = next + momentum * *direction;
            }
            product = next_product;
        }
        step
    }

    /// J δ: how each term changes.
    fn changes(&self, slopes: &Slopes, step: &[Complex64]) -> Vec<Complex64> {
        let terms = self.target.inverter.terms.factors.iter().zip(slopes);
        terms
            .map(|(factors, slopes)| {
                let changes = factors.iter().zip(slopes);
                changes.map(|(&factor, q)| q * of(step, factor)).sum()
            })
            .collect()
    }

    /// Jᵀw v, with no imaginary part where a coefficient is real.
    fn transposed(&self, slopes: &Slopes, values: &[Complex64]) -> Vec<Complex64> {
        let classes = &self.target.inverter.classes;
        let mut sums = vec![Complex64::ZERO; classes.count()];
        let terms = self.target.inverter.terms.factors.iter().zip(slopes);
        let values = values.iter().zip(&self.weights);
        for ((factors, slopes), (value, weight)) in terms.zip(values) {
            let value = value * weight;
            for (factor, q) in factors.iter().zip(slopes) {
                let change = q.conj() * value;
                sums[factor.class] += if factor.conjugate {
                    change.conj()
                } else {
                    change
                };
            }
        }
        for (class, sum) in sums.iter_mut().enumerate() {
            if classes.is_real(class) {
                sum.im = 0.0;
            }
        }
        sums
    }

    fn diagonal(&self, slopes: &Slopes) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.target.inverter.classes.count()];
        let terms = self.target.inverter.terms.factors.iter().zip(slopes);
        for ((factors, slopes), weight) in terms.zip(&self.weights) {
            for (factor, q) in factors.iter().zip(slopes) {
                diagonal[factor.class] += weight * q.norm_sqr();
            }
        }
        diagonal
    }
}

/// The coefficient of a factor.
fn of(f: &[Complex64], factor: Coefficient) -> Complex64 {
    let f = f[factor.class];
    if factor.conjugate { f.conj() } else { f }
}

fn inner(a: &[Complex64], b: &[Complex64]) -> f64 {
    let terms = a.iter().zip(b);
    terms.map(|(a, b)| a.re * b.re + a.im * b.im).sum()
}

fn add(to: &mut [Complex64], factor: f64, values: &[Complex64]) {
    to.iter_mut()
        .zip(values)
        .for_each(|(to, v)| *to += factor * v);
}
