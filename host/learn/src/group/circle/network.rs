//! The invariants of a batch and what is minimised, with its gradient in U and in the weights of the forms, by hand.
//!
//! y = U x / ‖U x‖, a row or two of U a plane: z = y_p, or y_p + i y_{p+1}. Invariants are the real and imaginary parts of
//! w z̄_a z_b and w z_a z_b z̄_c, with one weight w for each kind of term, and the power of the rows behind the planes. With f̄ the
//! invariants of a sample, centred and of unit length,
//!
//! > L = mean ‖f̄_i − f̄_j‖ within orbits + κ max(0, t − mean ‖f̄_i − f̄_j‖ between orbits)² + γ mean_k ‖u_k − u⁰_k‖² / ‖u⁰_k‖².
//!
//! The first is the published measure. Orbits that come nearer than t are driven apart, and rows stay near where they were
//! found, so that nothing is forgotten which only turns less well.

use super::terms::Terms;
use crate::numeric::Real;
use crate::numeric::matrix::{matrix, matrix_mut, multiply};
use num_complex::Complex;
use num_traits::Float;

/// The kinds of terms, each with a weight: products of two and of three, by how many of their planes have order zero.
const KINDS: usize = 9;
/// The power of the rows behind the planes.
const POWER: usize = 8;
/// Distances below this have no direction.
const NEAR: f64 = 1e-6;

/// What is minimised beside distances within orbits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Separation {
    /// κ
    pub kappa: f64,
    /// t
    pub apart: f64,
    /// γ
    pub anchor: f64,
}

/// A loss and what it is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loss {
    /// L
    pub total: f64,
    /// The mean distance within orbits.
    pub within: f64,
    /// And between orbits.
    pub between: f64,
}

/// Samples of several orbits, those of one orbit side by side.
#[derive(Debug, Clone)]
pub struct Batch<T> {
    /// One behind the other.
    pub samples: Vec<T>,
    /// How many there are of each orbit.
    pub sizes: Vec<usize>,
}

/// U, the terms and the weights of their kinds.
#[derive(Debug, Clone)]
pub struct Network<T> {
    inputs: usize,
    /// Where the rows of each plane begin, and how many there are.
    planes: Vec<(usize, usize)>,
    /// R × N.
    basis: Vec<T>,
    terms: Terms,
    weights: [T; KINDS],
}

/// A term ready to be computed: its kind, its planes, and whether it has an imaginary part.
#[derive(Debug, Clone, Copy)]
struct Product {
    kind: usize,
    planes: [usize; 3],
    triple: bool,
    imaginary: bool,
}

/// The gradient of a loss.
#[derive(Debug, Clone)]
pub struct Gradient<T> {
    /// In U.
    pub basis: Vec<T>,
    /// In the weights.
    pub weights: [T; KINDS],
}

/// z of one sample.
type Z<T> = Vec<Complex<T>>;

impl<T: Real> Network<T> {
    /// Planes of these numbers of rows (one of order zero, two of others), then rows whose power counts.
    ///
    /// # Panics
    /// The basis has another length, or a term names a plane there is not.
    #[must_use]
    pub fn new(inputs: usize, rows: &[usize], basis: Vec<T>, terms: Terms) -> Self {
        let mut begin = 0;
        let planes: Vec<(usize, usize)> = rows
            .iter()
            .map(|&count| {
                begin += count;
                (begin - count, count)
            })
            .collect();
        assert!(
            basis.len().is_multiple_of(inputs) && basis.len() >= begin * inputs,
            "whole rows"
        );
        let named = terms
            .pairs
            .iter()
            .flatten()
            .chain(terms.triples.iter().flatten());
        assert!(
            named.copied().all(|plane| plane < planes.len()),
            "planes of terms"
        );
        Network {
            inputs,
            planes,
            basis,
            terms,
            weights: [T::rounded(1.0); KINDS],
        }
    }

    /// The same in another precision.
    #[must_use]
    pub fn rounded<U: Real>(&self) -> Network<U> {
        Network {
            inputs: self.inputs,
            planes: self.planes.clone(),
            basis: self.basis.iter().map(|u| U::rounded(u.wide())).collect(),
            terms: self.terms.clone(),
            weights: self.weights.map(|w| U::rounded(w.wide())),
        }
    }

    /// N
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// R
    #[must_use]
    pub fn rows(&self) -> usize {
        self.basis.len() / self.inputs
    }

    /// Where the rows of each plane begin, and how many there are.
    #[must_use]
    pub fn planes(&self) -> &[(usize, usize)] {
        &self.planes
    }

    /// The rows of U, one behind the other.
    #[must_use]
    pub fn basis(&self) -> &[T] {
        &self.basis
    }

    /// To be changed.
    pub fn basis_mut(&mut self) -> &mut [T] {
        &mut self.basis
    }

    /// The products.
    #[must_use]
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The weight of each kind of term.
    #[must_use]
    pub fn weights(&self) -> &[T; KINDS] {
        &self.weights
    }

    /// To be changed.
    pub fn weights_mut(&mut self) -> &mut [T; KINDS] {
        &mut self.weights
    }

    /// The weight of a product of two.
    #[must_use]
    pub fn weight_of_pair(&self, pair: [usize; 2]) -> T {
        self.weights[self.pair(pair).kind]
    }

    /// The weight of a product of three.
    #[must_use]
    pub fn weight_of_triple(&self, triple: [usize; 3]) -> T {
        self.weights[self.triple(triple).kind]
    }

    /// The weight of the power of the rows behind the planes.
    #[must_use]
    pub fn weight_of_power(&self) -> T {
        self.weights[POWER]
    }

    fn is_real(&self, plane: usize) -> bool {
        self.planes[plane].1 == 1
    }

    fn pair(&self, [a, b]: [usize; 2]) -> Product {
        let real = self.is_real(a);
        Product {
            kind: 2 * usize::from(real) + usize::from(a == b),
            planes: [a, b, 0],
            triple: false,
            imaginary: !real && a != b,
        }
    }

    fn triple(&self, planes: [usize; 3]) -> Product {
        let real = planes.iter().filter(|&&plane| self.is_real(plane)).count();
        Product {
            kind: 4 + real,
            planes,
            triple: true,
            imaginary: real < 3,
        }
    }

    fn products(&self) -> Vec<Product> {
        let pairs = self.terms.pairs.iter().map(|&pair| self.pair(pair));
        let triples = self.terms.triples.iter().map(|&triple| self.triple(triple));
        pairs.chain(triples).collect()
    }

    /// How many real invariants there are.
    #[must_use]
    pub fn features(&self) -> usize {
        let products = self.products().into_iter();
        let numbers = products.map(|product| 1 + usize::from(product.imaginary));
        numbers.sum::<usize>() + usize::from(self.has_rest())
    }

    fn behind(&self) -> usize {
        self.planes.last().map_or(0, |(begin, rows)| begin + rows)
    }

    fn has_rest(&self) -> bool {
        self.behind() < self.rows()
    }

    /// y of all samples, and ‖U x‖ of each.
    fn coefficients(&self, samples: &[T]) -> (Vec<T>, Vec<T>) {
        let (count, rows) = (samples.len() / self.inputs, self.rows());
        let mut y = vec![T::zero(); count * rows];
        multiply(
            matrix_mut(&mut y, count, rows, rows),
            matrix(samples, count, self.inputs, self.inputs),
            matrix(&self.basis, rows, self.inputs, self.inputs).transpose(),
            T::rounded(1.0),
        );
        let norms: Vec<T> = y
            .chunks_exact_mut(rows)
            .map(|y| {
                let norm = Float::sqrt(y.iter().map(|&y| y * y).sum::<T>());
                y.iter_mut().for_each(|y| *y /= norm);
                norm
            })
            .collect();
        (y, norms)
    }

    fn complex(&self, y: &[T]) -> Z<T> {
        let z = |&(begin, rows): &(usize, usize)| {
            let imaginary = if rows == 2 { y[begin + 1] } else { T::zero() };
            Complex::new(y[begin], imaginary)
        };
        self.planes.iter().map(z).collect()
    }

    /// The invariants of each sample, one behind the other.
    ///
    /// # Panics
    /// There is no whole number of samples.
    #[must_use]
    pub fn invariants(&self, samples: &[T]) -> Vec<T> {
        assert!(samples.len().is_multiple_of(self.inputs), "whole samples");
        let products = self.products();
        let (y, _) = self.coefficients(samples);
        let mut out = Vec::with_capacity(samples.len() / self.inputs * self.features());
        for y in y.chunks_exact(self.rows()) {
            self.push_invariants(&products, y, &mut out);
        }
        out
    }

    fn push_invariants(&self, products: &[Product], y: &[T], out: &mut Vec<T>) {
        let z = self.complex(y);
        for product in products {
            let [a, b, c] = product.planes;
            let value = if product.triple {
                z[a] * z[b] * z[c].conj()
            } else {
                z[a].conj() * z[b]
            };
            let weight = self.weights[product.kind];
            out.push(weight * value.re);
            if product.imaginary {
                out.push(weight * value.im);
            }
        }
        if self.has_rest() {
            let power = y[self.behind()..].iter().map(|&y| y * y).sum::<T>();
            out.push(self.weights[POWER] * power);
        }
    }

    /// L and its gradient; `anchors` are the rows u⁰.
    ///
    /// # Panics
    /// The batch has not the samples that its sizes say, or there are not as many anchors as rows.
    #[must_use]
    pub fn gradient(
        &self,
        batch: &Batch<T>,
        anchors: &[T],
        separation: &Separation,
    ) -> (Loss, Gradient<T>) {
        let count = batch.sizes.iter().sum::<usize>();
        assert_eq!(
            batch.samples.len(),
            count * self.inputs,
            "samples of the batch"
        );
        assert_eq!(anchors.len(), self.basis.len(), "anchors");
        let (products, rows, features) = (self.products(), self.rows(), self.features());
        let (y, norms) = self.coefficients(&batch.samples);
        let mut f = Vec::with_capacity(count * features);
        for y in y.chunks_exact(rows) {
            self.push_invariants(&products, y, &mut f);
        }
        let (mut loss, slopes) = distances(&f, &batch.sizes, features, separation);
        let mut weights = [T::zero(); KINDS];
        let mut by_y = vec![T::zero(); count * rows];
        let samples = y
            .chunks_exact(rows)
            .zip(&norms)
            .zip(slopes.chunks_exact(features));
        for (((y, &norm), slopes), out) in samples.zip(by_y.chunks_exact_mut(rows)) {
            self.backwards(&products, y, slopes, out, &mut weights);
            // y has unit length: what is along it changes nothing.
            let along = y.iter().zip(&*out).map(|(&y, &g)| y * g).sum::<T>();
            let both = out.iter_mut().zip(y);
            both.for_each(|(g, &y)| *g = (*g - along * y) / norm);
        }
        let mut basis = vec![T::zero(); self.basis.len()];
        multiply(
            matrix_mut(&mut basis, rows, self.inputs, self.inputs),
            matrix(&by_y, count, rows, rows).transpose(),
            matrix(&batch.samples, count, self.inputs, self.inputs),
            T::rounded(1.0),
        );
        loss.total += self.anchored(anchors, separation.anchor, &mut basis);
        (loss, Gradient { basis, weights })
    }

    /// Adds ∂L/∂y of one sample to `out`, and ∂L/∂w to `weights`, for ∂L/∂f in `slopes`.
    fn backwards(
        &self,
        products: &[Product],
        y: &[T],
        slopes: &[T],
        out: &mut [T],
        weights: &mut [T; KINDS],
    ) {
        let z = self.complex(y);
        // ∂L/∂Re z + i ∂L/∂Im z.
        let mut by_z = vec![Complex::new(T::zero(), T::zero()); z.len()];
        let mut slopes = slopes.iter().copied();
        let mut next = || slopes.next().unwrap_or_default();
        for product in products {
            let slope = Complex::new(next(), if product.imaginary { next() } else { T::zero() });
            let ([a, b, c], weight) = (product.planes, self.weights[product.kind]);
            // Of g with real part Re(s̄ f): ∂ of f = p q is s p̄ for q, and s̄ p for the q of f = p q̄.
            let value = if product.triple {
                let both = z[a] * z[b];
                let s = slope * z[c];
                by_z[a] += (s * z[b].conj()).scale(weight);
                by_z[b] += (s * z[a].conj()).scale(weight);
                by_z[c] += (slope.conj() * both).scale(weight);
                both * z[c].conj()
            } else {
                by_z[b] += (slope * z[a]).scale(weight);
                by_z[a] += (slope.conj() * z[b]).scale(weight);
                z[a].conj() * z[b]
            };
            weights[product.kind] += slope.re * value.re + slope.im * value.im;
        }
        for (&(begin, rows), by_z) in self.planes.iter().zip(&by_z) {
            out[begin] += by_z.re;
            if rows == 2 {
                out[begin + 1] += by_z.im;
            }
        }
        if self.has_rest() {
            let slope = next();
            let behind = self.behind();
            let mut power = T::zero();
            for (out, &y) in out[behind..].iter_mut().zip(&y[behind..]) {
                *out += T::rounded(2.0) * slope * self.weights[POWER] * y;
                power += y * y;
            }
            weights[POWER] += slope * power;
        }
    }

    /// γ mean ‖u − u⁰‖² / ‖u⁰‖², with its gradient added.
    fn anchored(&self, anchors: &[T], gamma: f64, gradient: &mut [T]) -> f64 {
        let factor = gamma / self.rows() as f64;
        let rows = self
            .basis
            .chunks_exact(self.inputs)
            .zip(anchors.chunks_exact(self.inputs));
        let mut sum = 0.0;
        for ((row, anchor), gradient) in rows.zip(gradient.chunks_exact_mut(self.inputs)) {
            let size = anchor.iter().map(|&a| a * a).sum::<T>().wide();
            let scale = T::rounded(2.0 * factor / size);
            for ((&u, &a), g) in row.iter().zip(anchor).zip(gradient) {
                sum += factor * (u - a).wide().powi(2) / size;
                *g += scale * (u - a);
            }
        }
        sum
    }
}

/// Mean distances of centred invariants of unit length, and the gradient of the loss in the invariants.
fn distances<T: Real>(
    f: &[T],
    sizes: &[usize],
    features: usize,
    separation: &Separation,
) -> (Loss, Vec<T>) {
    let count = f.len() / features;
    let mut units = f.to_vec();
    let lengths: Vec<T> = units
        .chunks_exact_mut(features)
        .map(|f| {
            let mean = f.iter().copied().sum::<T>() / T::rounded(features as f64);
            f.iter_mut().for_each(|f| *f -= mean);
            let length = Float::sqrt(f.iter().map(|&f| f * f).sum::<T>());
            f.iter_mut().for_each(|f| *f /= length);
            length
        })
        .collect();
    let mut gram = vec![T::zero(); count * count];
    let unit = matrix(&units, count, features, features);
    multiply(
        matrix_mut(&mut gram, count, count, count),
        unit,
        unit.transpose(),
        T::rounded(1.0),
    );
    let orbits: Vec<usize> = (sizes.iter().enumerate())
        .flat_map(|(orbit, &size)| std::iter::repeat_n(orbit, size))
        .collect();
    let mut sums = [(0.0, 0.0); 2];
    for i in 0..count {
        for j in (0..count).filter(|&j| j != i) {
            let distance = apart(gram[i * count + j]);
            let sum = &mut sums[usize::from(orbits[i] != orbits[j])];
            *sum = (sum.0 + distance, sum.1 + 1.0);
        }
    }
    let [within, between] = sums.map(|(sum, pairs)| if pairs > 0.0 { sum / pairs } else { 0.0 });
    let short = (separation.apart - between).max(0.0);
    let total = within + separation.kappa * short * short;
    // ∂L/∂g_ij, of d = √(2 − 2g): −1/d.
    let by_distance = [
        1.0 / sums[0].1.max(1.0),
        -2.0 * separation.kappa * short / sums[1].1.max(1.0),
    ];
    for i in 0..count {
        for j in 0..count {
            let g = &mut gram[i * count + j];
            let slope = by_distance[usize::from(orbits[i] != orbits[j])] / apart(*g).max(NEAR);
            // Twice, as g_ij and g_ji are both products of unit i.
            *g = T::rounded(if i == j { 0.0 } else { -2.0 * slope });
        }
    }
    let mut slopes = vec![T::zero(); f.len()];
    multiply(
        matrix_mut(&mut slopes, count, features, features),
        matrix(&gram, count, count, count),
        unit,
        T::rounded(1.0),
    );
    let rows = slopes
        .chunks_exact_mut(features)
        .zip(units.chunks_exact(features));
    for ((slopes, unit), length) in rows.zip(lengths) {
        let along = slopes.iter().zip(unit).map(|(&s, &u)| s * u).sum::<T>();
        slopes
            .iter_mut()
            .zip(unit)
            .for_each(|(s, &u)| *s = (*s - along * u) / length);
        let mean = slopes.iter().copied().sum::<T>() / T::rounded(features as f64);
        slopes.iter_mut().for_each(|s| *s -= mean);
    }
    let loss = Loss {
        total,
        within,
        between,
    };
    (loss, slopes)
}

/// √(2 − 2g) of the product g of two unit vectors.
fn apart<T: Real>(product: T) -> f64 {
    (2.0 - 2.0 * product.wide()).max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::random::{Purpose, stream};
    use rand::RngExt;
    use rand_distr::StandardNormal;

    const INPUTS: usize = 11;

    /// Two planes of order zero, one each of 1, 1, 2 and 3, and two rows behind them.
    fn network() -> Network<f64> {
        let mut random = stream(3, Purpose::Couplings);
        let basis = (0..12 * INPUTS)
            .map(|_| random.sample(StandardNormal))
            .collect();
        let terms = Terms {
            pairs: vec![[0, 0], [0, 1], [2, 2], [2, 3], [4, 4]],
            triples: vec![[2, 2, 4], [0, 2, 3], [3, 4, 5], [2, 3, 4], [0, 0, 1]],
            possible: 10,
        };
        let mut network = Network::new(INPUTS, &[1, 1, 2, 2, 2, 2], basis, terms);
        for (k, weight) in network.weights_mut().iter_mut().enumerate() {
            *weight = 0.5 + 0.25 * k as f64;
        }
        network
    }

    fn batch() -> Batch<f64> {
        let mut random = stream(4, Purpose::Couplings);
        let samples = (0..7 * INPUTS)
            .map(|_| random.sample(StandardNormal))
            .collect();
        Batch {
            samples,
            sizes: vec![3, 2, 2],
        }
    }

    const SEPARATION: Separation = Separation {
        kappa: 3.0,
        apart: 1.6,
        anchor: 0.3,
    };

    #[test]
    fn the_gradient_is_the_limit_of_differences_in_u_and_in_the_forms() {
        let (network, batch) = (network(), batch());
        let anchors: Vec<f64> = network.basis().iter().map(|u| 0.9 * u + 0.1).collect();
        let loss = |network: &Network<f64>| network.gradient(&batch, &anchors, &SEPARATION).0.total;
        let (_, gradient) = network.gradient(&batch, &anchors, &SEPARATION);
        let step = 1e-6;
        for at in 0..network.basis().len() {
            let moved = |by: f64| {
                let mut network = network.clone();
                network.basis_mut()[at] += by;
                loss(&network)
            };
            let difference = (moved(step) - moved(-step)) / (2.0 * step);
            // Rounding of 1e-16/1e-6 and third derivatives of up to 100, times step².
            assert!(
                (difference - gradient.basis[at]).abs() < 1e-8,
                "{at}: {difference}"
            );
        }
        for at in 0..KINDS {
            let moved = |by: f64| {
                let mut network = network.clone();
                network.weights_mut()[at] += by;
                loss(&network)
            };
            let difference = (moved(step) - moved(-step)) / (2.0 * step);
            assert!(
                (difference - gradient.weights[at]).abs() < 1e-8,
                "weight {at}: {difference}"
            );
        }
    }

    #[test]
    fn single_precision_has_the_same_gradient() {
        let (network, batch) = (network(), batch());
        let anchors: Vec<f64> = network.basis().iter().map(|u| 0.9 * u).collect();
        let narrow = |values: &[f64]| values.iter().map(|&x| x as f32).collect::<Vec<f32>>();
        let single = Batch {
            samples: narrow(&batch.samples),
            sizes: batch.sizes.clone(),
        };
        let (loss, gradient) = network.gradient(&batch, &anchors, &SEPARATION);
        let (rounded, single) =
            network
                .rounded::<f32>()
                .gradient(&single, &narrow(&anchors), &SEPARATION);
        // Sums of some tens of numbers of about one, each rounded to 6e-8.
        assert!((loss.total - rounded.total).abs() < 1e-5);
        for (a, b) in gradient.basis.iter().zip(&single.basis) {
            assert!((a - f64::from(*b)).abs() < 1e-5, "{a} {b}");
        }
        for (a, b) in gradient.weights.iter().zip(&single.weights) {
            assert!((a - f64::from(*b)).abs() < 1e-5, "{a} {b}");
        }
    }

    #[test]
    fn what_turns_each_plane_by_its_order_changes_no_invariant() {
        let orders = [0, 0, 1, 1, 2, 3];
        let network = network();
        let mut identity = network.clone();
        // y = x: the first twelve inputs are the coefficients.
        identity.inputs = 12;
        identity.basis = (0..144)
            .map(|at| f64::from(u8::from(at / 12 == at % 12)))
            .collect();
        let x: Vec<f64> = (0..12).map(|k| (f64::from(k) * 1.7).sin()).collect();
        let mut turned = x.clone();
        for (&(begin, rows), order) in identity.planes.iter().zip(orders) {
            if rows == 2 {
                let (sin, cos) = (0.4 * f64::from(order)).sin_cos();
                turned[begin] = cos * x[begin] - sin * x[begin + 1];
                turned[begin + 1] = sin * x[begin] + cos * x[begin + 1];
            }
        }
        let (a, b) = (identity.invariants(&x), identity.invariants(&turned));
        // [0, 0, 1] couples three planes of order zero.
        for (a, b) in a.iter().zip(&b) {
            assert!((a - b).abs() < 1e-15, "{a} {b}");
        }
        turned[4] += 0.1;
        let changed = identity.invariants(&turned);
        assert!(a.iter().zip(&changed).any(|(a, b)| (a - b).abs() > 1e-3));
    }
}
