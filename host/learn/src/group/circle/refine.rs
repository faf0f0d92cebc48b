//! U and the weights of the forms by gradient: where invariants change least along orbits, and orbits stay apart.

use super::network::{Batch, Gradient, Loss, Network, Separation};
use super::terms::{Choice, Terms};
use super::{Circle, Plane};
use crate::data::orbits::Orbits;
use crate::group::couplings::{Couplings, CouplingsError, Entry, Tensor, Term};
use crate::numeric::random::{Purpose, stream};
use ndarray::Array2;
use rand::RngExt;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Adam's means of a gradient and of its square: the second is short, as there are few thousand steps.
const MEAN: f64 = 0.9;
const SQUARE: f64 = 0.99;
const FLOOR: f64 = 1e-30;
/// Orbits of a batch, and members of each.
const ORBITS: usize = 10;
const MEMBERS: usize = 10;
/// Members of orbits by which the invariants are brought to a mean length of one.
const MEASURED: usize = 10;
/// What the square of one coefficient counts at first, beside a product of two: sizes are alike in all images.
const SQUARES: f64 = 0.2;

/// Where a refinement begins, and how far it goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Refinement {
    /// Which terms.
    pub choice: Choice,
    /// Coefficients of a plane begin with a size of λ (amplitude^`fall` + `floor` · amplitude), the largest amplitude being one:
    /// strong planes, which interpolation disturbs least, count most, and the others as much as they have of the image.
    pub fall: f64,
    /// See there.
    pub floor: f64,
    /// What products of three count at first, beside products of two.
    pub triples: f64,
    /// What is minimised.
    pub separation: Separation,
    /// Planes with a smaller λ stay as they were found.
    pub least: f64,
    /// Steps; none leaves the closed form as it is.
    pub steps: usize,
    /// The length of the first step of a row, as a share of the row; it falls to zero with a cosine.
    pub rate: f64,
    /// Of batches.
    pub seed: u64,
}

/// The network of a circle, refined on `orbits`; `observe` is told of every step.
pub fn refine(
    circle: &Circle,
    orbits: &Orbits,
    refinement: &Refinement,
    mut observe: impl FnMut(usize, Loss),
) -> Network<f32> {
    let mut network = start(circle, orbits.inputs(), refinement).rounded::<f32>();
    let anchors = network.basis().to_vec();
    let turning = circle
        .planes()
        .iter()
        .map(|plane| plane.lambda >= refinement.least);
    let moving: Vec<bool> = (turning.zip(network.planes()))
        .flat_map(|(turning, &(_, rows))| std::iter::repeat_n(turning, rows))
        .collect();
    let mut steps = Steps::new(&network);
    let mut random = stream(refinement.seed, Purpose::Couplings);
    for step in 0..refinement.steps {
        let batch = drawn(orbits, &mut random);
        let (loss, gradient) = network.gradient(&batch, &anchors, &refinement.separation);
        let share = step as f64 / refinement.steps as f64;
        let rate = refinement.rate * 0.5 * (1.0 + (PI * share).cos());
        steps.take(&mut network, &anchors, &gradient, (rate, &moving));
        observe(step, loss);
    }
    let factor = 1.0 / mean_length(&network, orbits);
    network
        .weights_mut()
        .iter_mut()
        .for_each(|w| *w *= factor as f32);
    network
}

/// U of a circle, with the sizes that are asked for, and the terms.
fn start(circle: &Circle, inputs: usize, refinement: &Refinement) -> Network<f64> {
    let planes = circle.planes();
    let largest = planes.iter().map(Plane::amplitude).fold(0.0, f64::max);
    let size = |plane: &Plane| {
        let amplitude = plane.amplitude() / largest;
        plane.lambda * (amplitude.powf(refinement.fall) + refinement.floor * amplitude)
    };
    let sizes: Vec<f64> = planes.iter().map(size).collect();
    let terms = Terms::choose(planes, &sizes, &refinement.choice);
    let (mut basis, mut rows) = (Vec::new(), Vec::new());
    for (plane, size) in planes.iter().zip(&sizes) {
        basis.extend(plane.row.iter().map(|u| u.re * size));
        if plane.order > 0 {
            basis.extend(plane.row.iter().map(|u| u.im * size));
        }
        rows.push(1 + usize::from(plane.order > 0));
    }
    // Rows of the rest are as short as the shortest plane's.
    let lengths = planes.iter().zip(&sizes);
    let rest = lengths
        .map(|(plane, size)| size / plane.amplitude())
        .fold(1.0, f64::min);
    basis.extend(circle.rest().iter().map(|u| u * rest));
    let mut network = Network::new(inputs, &rows, basis, terms);
    let (squares, triples) = (SQUARES, refinement.triples);
    *network.weights_mut() = [
        1.0, squares, 1.0, squares, triples, triples, triples, triples, 1.0,
    ];
    network
}

/// The mean length of the invariants of a sample.
fn mean_length(network: &Network<f32>, orbits: &Orbits) -> f64 {
    let mut sample = vec![0.0; orbits.inputs()];
    let (mut sum, mut count) = (0.0, 0.0);
    for orbit in 0..orbits.len() {
        for member in 0..orbits.members(orbit).min(MEASURED) {
            orbits.write_member(orbit, member, &mut sample);
            let squares = network
                .invariants(&sample)
                .into_iter()
                .map(|f| f64::from(f).powi(2));
            sum += squares.sum::<f64>().sqrt();
            count += 1.0;
        }
    }
    sum / count
}

/// Some members of some orbits.
fn drawn(orbits: &Orbits, random: &mut ChaCha8Rng) -> Batch<f32> {
    let inputs = orbits.inputs();
    let chosen = index::sample(random, orbits.len(), ORBITS.min(orbits.len()));
    let (mut samples, mut sizes) = (Vec::new(), Vec::new());
    for orbit in chosen {
        let members = orbits.members(orbit);
        let count = MEMBERS.min(members);
        for member in index::sample(random, members, count) {
            let begin = samples.len();
            samples.resize(begin + inputs, 0.0);
            orbits.write_member(orbit, member, &mut samples[begin..]);
        }
        sizes.push(count);
    }
    // Draws of the next batch do not depend on how many members these had.
    let _: u64 = random.random();
    Batch { samples, sizes }
}

/// Adam, with a rate that is a share of each row, and one mean square a row: rows keep their directions in what they see.
struct Steps {
    taken: i32,
    mean: Vec<f64>,
    squares: Vec<f64>,
    weights: Vec<[f64; 2]>,
}

impl Steps {
    fn new(network: &Network<f32>) -> Self {
        Steps {
            taken: 0,
            mean: vec![0.0; network.basis().len()],
            squares: vec![0.0; network.rows()],
            weights: vec![[0.0; 2]; network.weights().len()],
        }
    }

    fn take(
        &mut self,
        network: &mut Network<f32>,
        anchors: &[f32],
        gradient: &Gradient<f32>,
        (rate, moving): (f64, &[bool]),
    ) {
        self.taken += 1;
        let inputs = network.inputs();
        let unbias = [MEAN, SQUARE].map(|decay| 1.0 / (1.0 - decay.powi(self.taken)));
        let gradients = gradient
            .basis
            .chunks_exact(inputs)
            .zip(self.mean.chunks_exact_mut(inputs));
        let rows = network
            .basis_mut()
            .chunks_exact_mut(inputs)
            .zip(anchors.chunks_exact(inputs));
        // Rows behind the planes have no entry, and stay.
        let all = rows.zip(gradients).zip(&mut self.squares).zip(moving);
        for ((((row, anchor), (gradient, mean)), square), _) in all.filter(|row| *row.1) {
            let size = anchor
                .iter()
                .map(|&a| f64::from(a).powi(2))
                .sum::<f64>()
                .sqrt();
            let power = gradient.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>();
            *square = SQUARE * *square + (1.0 - SQUARE) * power;
            let scale = rate * size * unbias[0] / ((*square * unbias[1]).sqrt() + FLOOR);
            for ((u, &g), mean) in row.iter_mut().zip(gradient).zip(mean) {
                *mean = MEAN * *mean + (1.0 - MEAN) * f64::from(g);
                *u -= (scale * *mean) as f32;
            }
        }
        let weights = network.weights_mut().iter_mut().zip(&gradient.weights);
        for ((weight, &g), [mean, square]) in weights.zip(&mut self.weights) {
            // Of the logarithm: a weight keeps its sign.
            let g = f64::from(g * *weight);
            *mean = MEAN * *mean + (1.0 - MEAN) * g;
            *square = SQUARE * *square + (1.0 - SQUARE) * g * g;
            let step = rate * *mean * unbias[0] / ((*square * unbias[1]).sqrt() + FLOOR);
            *weight *= (-step).exp() as f32;
        }
    }
}

impl Network<f32> {
    /// The same as couplings.
    ///
    /// # Errors
    /// More terms or rows than couplings may have.
    pub fn couplings(&self) -> Result<Couplings, CouplingsError> {
        let inputs = self.inputs();
        let basis = Array2::from_shape_fn((self.rows(), inputs), |(row, n)| {
            f64::from(self.basis()[row * inputs + n])
        });
        let mut forms = Forms::default();
        for &pair in &self.terms().pairs {
            forms.product(self, &pair, f64::from(self.weight_of_pair(pair)))?;
        }
        for &triple in &self.terms().triples {
            forms.product(self, &triple, f64::from(self.weight_of_triple(triple)))?;
        }
        let behind = self.planes().last().map_or(0, |(begin, rows)| begin + rows);
        if behind < self.rows() {
            let weight = f64::from(self.weight_of_power());
            forms.power(behind, self.rows() - behind, weight)?;
        }
        Couplings::new(basis, forms.tensors, forms.terms)
    }
}

/// Tensors, each once, and the terms that name them.
#[derive(Default)]
struct Forms {
    tensors: Vec<Tensor>,
    terms: Vec<Term>,
    numbers: BTreeMap<(Vec<usize>, u64, bool), usize>,
}

impl Forms {
    /// The real part of a product of two (z̄_a z_b) or three (z_a z_b z̄_c) coefficients, and the imaginary part where there is one.
    fn product(
        &mut self,
        network: &Network<f32>,
        planes: &[usize],
        weight: f64,
    ) -> Result<(), CouplingsError> {
        let blocks: Vec<(usize, usize)> = planes.iter().map(|&k| network.planes()[k]).collect();
        let dims: Vec<usize> = blocks.iter().map(|block| block.1).collect();
        let offsets: Vec<usize> = blocks.iter().map(|block| block.0).collect();
        let conjugate = if planes.len() == 2 { 0 } else { 2 };
        let has_imaginary = dims.contains(&2) && !(planes.len() == 2 && planes[0] == planes[1]);
        for imaginary in [false, true] {
            if imaginary && !has_imaginary {
                continue;
            }
            let key = (dims.clone(), weight.to_bits(), imaginary);
            let tensor = match self.numbers.get(&key) {
                Some(&tensor) => tensor,
                None => {
                    self.tensors
                        .push(product(&dims, conjugate, imaginary, weight)?);
                    self.numbers.insert(key, self.tensors.len() - 1);
                    self.tensors.len() - 1
                }
            };
            self.terms.push(Term {
                tensor,
                offsets: offsets.clone(),
            });
        }
        Ok(())
    }

    /// The sum of the squares of some rows.
    fn power(&mut self, begin: usize, rows: usize, weight: f64) -> Result<(), CouplingsError> {
        let entries = (0..rows).map(|k| Entry::new(&[k, k], weight));
        let entries = entries.collect::<Result<Vec<_>, _>>()?;
        self.tensors.push(Tensor::new(&[rows, rows], entries)?);
        self.terms.push(Term {
            tensor: self.tensors.len() - 1,
            offsets: vec![begin, begin],
        });
        Ok(())
    }
}

/// Re or Im of Π z, the factor `conjugate` conjugated, with z real or z = y₀ + i y₁.
fn product(
    dims: &[usize],
    conjugate: usize,
    imaginary: bool,
    weight: f64,
) -> Result<Tensor, CouplingsError> {
    let mut entries = Vec::new();
    for number in 0..dims.iter().product::<usize>() {
        let mut rest = number;
        let mut index = vec![0; dims.len()];
        for (index, dim) in index.iter_mut().zip(dims).rev() {
            (*index, rest) = (rest % dim, rest / dim);
        }
        // i^ones, with −i for the conjugate.
        let ones = index.iter().sum::<usize>();
        let sign = if index[conjugate] == 1 { -1.0 } else { 1.0 };
        let sign = sign * if ones / 2 % 2 == 1 { -1.0 } else { 1.0 };
        if (ones % 2 == 1) == imaginary {
            entries.push(Entry::new(&index, sign * weight)?);
        }
    }
    Tensor::new(dims, entries)
}
