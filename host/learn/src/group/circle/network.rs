//! The invariants of samples and what is minimised, with its gradient in the weights of the forms, by hand.
//!
//! y = U x / ‖U x‖, a row or two of U a plane: z = y_p, or y_p + i y_{p+1}. Invariants are the real and imaginary parts of
//! w z̄_a z_b and w z_a z_b z̄_c, each with a weight w of its own, and the power of the rows behind the planes. With f̄ the
//! invariants of a sample, centred and of unit length,
//!
//! > L = mean ‖f̄_i − f̄_j‖ within orbits + κ max(0, t − mean ‖f̄_i − f̄_j‖ between orbits)².
//!
//! The first is the published measure. Orbits that come nearer than t are driven apart. U stays as it was found: no other planes
//! turn better, and gradients in U were seen to gain nothing on other photographs.

use super::terms::Terms;
use crate::numeric::Real;
use crate::numeric::matrix::{matrix, matrix_mut, multiply};
use num_complex::Complex;
use num_traits::Float;

/// Distances below this have no direction.
const NEAR: f64 = 1e-6;

/// What is minimised beside distances within orbits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Separation {
    /// κ
    pub kappa: f64,
    /// t
    pub apart: f64,
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

/// U, the terms and their weights.
#[derive(Debug, Clone)]
pub struct Network<T> {
    inputs: usize,
    /// Where the rows of each plane begin, and how many there are.
    planes: Vec<(usize, usize)>,
    /// R × N.
    basis: Vec<T>,
    terms: Terms,
    weights: Vec<T>,
}

/// A term ready to be computed: its planes, and whether it has an imaginary part.
#[derive(Debug, Clone, Copy)]
struct Product {
    planes: [usize; 3],
    triple: bool,
    imaginary: bool,
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
            weights: vec![T::rounded(1.0); terms.pairs.len() + terms.triples.len() + 1],
            terms,
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
            weights: self.weights.iter().map(|w| U::rounded(w.wide())).collect(),
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

    /// The products.
    #[must_use]
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The weights of the products of two, of those of three, and of the power of the rows behind the planes.
    #[must_use]
    pub fn weights(&self) -> &[T] {
        &self.weights
    }

    /// To be changed.
    pub fn weights_mut(&mut self) -> &mut [T] {
        &mut self.weights
    }

    fn is_real(&self, plane: usize) -> bool {
        self.planes[plane].1 == 1
    }

    fn pair(&self, [a, b]: [usize; 2]) -> Product {
        let real = self.is_real(a);
        Product {
            planes: [a, b, 0],
            triple: false,
            imaginary: !real && a != b,
        }
    }

    fn triple(&self, planes: [usize; 3]) -> Product {
        Product {
            planes,
            triple: true,
            imaginary: !planes.iter().all(|&plane| self.is_real(plane)),
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

    /// y of all samples.
    fn coefficients(&self, samples: &[T]) -> Vec<T> {
        let (count, rows) = (samples.len() / self.inputs, self.rows());
        let mut y = vec![T::zero(); count * rows];
        multiply(
            matrix_mut(&mut y, count, rows, rows),
            matrix(samples, count, self.inputs, self.inputs),
            matrix(&self.basis, rows, self.inputs, self.inputs).transpose(),
            T::rounded(1.0),
        );
        for y in y.chunks_exact_mut(rows) {
            let norm = Float::sqrt(y.iter().map(|&y| y * y).sum::<T>());
            y.iter_mut().for_each(|y| *y /= norm);
        }
        y
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
        self.weighed(self.products_of(samples))
    }

    /// The same with all weights one.
    ///
    /// # Panics
    /// As there.
    #[must_use]
    pub fn products_of(&self, samples: &[T]) -> Vec<T> {
        assert!(samples.len().is_multiple_of(self.inputs), "whole samples");
        let products = self.products();
        let y = self.coefficients(samples);
        let mut out = Vec::with_capacity(samples.len() / self.inputs * self.features());
        for y in y.chunks_exact(self.rows()) {
            let z = self.complex(y);
            for product in &products {
                let [a, b, c] = product.planes;
                let value = if product.triple {
                    z[a] * z[b] * z[c].conj()
                } else {
                    z[a].conj() * z[b]
                };
                out.push(value.re);
                if product.imaginary {
                    out.push(value.im);
                }
            }
            if self.has_rest() {
                out.push(y[self.behind()..].iter().map(|&y| y * y).sum::<T>());
            }
        }
        out
    }

    /// Which weight each invariant has.
    fn numbers(&self) -> Vec<usize> {
        let products = self.products().into_iter().enumerate();
        let numbers = products
            .flat_map(|(k, product)| std::iter::repeat_n(k, 1 + usize::from(product.imaginary)));
        let last = self.has_rest().then_some(self.weights.len() - 1);
        numbers.chain(last).collect()
    }

    fn weighed(&self, mut products: Vec<T>) -> Vec<T> {
        let numbers = self.numbers();
        for products in products.chunks_exact_mut(numbers.len()) {
            let all = products.iter_mut().zip(&numbers);
            all.for_each(|(product, &k)| *product *= self.weights[k]);
        }
        products
    }

    /// L and its gradient in the weights, of samples with these products (see [`products_of`](Self::products_of)): `sizes` of each
    /// orbit, side by side.
    ///
    /// # Panics
    /// There are not as many samples as the sizes say.
    #[must_use]
    pub fn gradient(
        &self,
        products: &[T],
        sizes: &[usize],
        separation: &Separation,
    ) -> (Loss, Vec<T>) {
        let numbers = self.numbers();
        let count = sizes.iter().sum::<usize>();
        assert_eq!(products.len(), count * numbers.len(), "products");
        let f = self.weighed(products.to_vec());
        let (loss, slopes) = distances(&f, sizes, numbers.len(), separation);
        let mut gradient = vec![T::zero(); self.weights.len()];
        let samples = slopes
            .chunks_exact(numbers.len())
            .zip(products.chunks_exact(numbers.len()));
        for (slopes, products) in samples {
            for ((&slope, &product), &k) in slopes.iter().zip(products).zip(&numbers) {
                gradient[k] += slope * product;
            }
        }
        (loss, gradient)
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

    /// Products of seven samples of three orbits.
    fn products(network: &Network<f64>) -> Vec<f64> {
        let mut random = stream(4, Purpose::Couplings);
        let samples: Vec<f64> = (0..7 * INPUTS)
            .map(|_| random.sample(StandardNormal))
            .collect();
        network.products_of(&samples)
    }

    const SIZES: [usize; 3] = [3, 2, 2];
    const SEPARATION: Separation = Separation {
        kappa: 3.0,
        apart: 1.6,
    };

    #[test]
    fn the_gradient_is_the_limit_of_differences() {
        let network = network();
        let products = products(&network);
        let (_, gradient) = network.gradient(&products, &SIZES, &SEPARATION);
        let step = 1e-6;
        for (at, slope) in gradient.into_iter().enumerate() {
            let moved = |by: f64| {
                let mut network = network.clone();
                network.weights_mut()[at] += by;
                network.gradient(&products, &SIZES, &SEPARATION).0.total
            };
            let difference = (moved(step) - moved(-step)) / (2.0 * step);
            // Rounding of 1e-16/1e-6 and third derivatives of up to 100, times step².
            assert!((difference - slope).abs() < 1e-8, "{at}: {difference}");
        }
    }

    #[test]
    fn single_precision_has_the_same_gradient() {
        let network = network();
        let products = products(&network);
        let single: Vec<f32> = products.iter().map(|&x| x as f32).collect();
        let (loss, gradient) = network.gradient(&products, &SIZES, &SEPARATION);
        let (rounded, single) = network
            .rounded::<f32>()
            .gradient(&single, &SIZES, &SEPARATION);
        // Sums of some tens of numbers of about one, each rounded to 6e-8.
        assert!((loss.total - rounded.total).abs() < 1e-5);
        for (a, b) in gradient.iter().zip(&single) {
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
