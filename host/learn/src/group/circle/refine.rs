//! The weight of each form by gradient: where invariants change least along orbits, and orbits stay apart.

use super::network::{Loss, Network, Separation};
use super::terms::{Choice, Terms};
use super::{Circle, Plane};
use crate::data::orbits::Orbits;
use crate::group::couplings::{Couplings, CouplingsError, Entry, Tensor, Term};
use crate::numeric::random::{Purpose, stream};
use ndarray::Array2;
use rand::RngExt;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::ops::Div;

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
/// What a product of three counts at first.
const TRIPLES: f64 = 6.0;
/// Weights are rounded to powers of two with this fraction: forms of one weight share a tensor.
const OCTAVE: f32 = 2.0;

/// Where a refinement begins, and how far it goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Refinement {
    /// Which terms.
    pub choice: Choice,
    /// Coefficients of a plane have a size of λ amplitude^`fall`, the largest amplitude being one, and so many of them the
    /// products that are chosen. One is the size that they have in the image.
    pub fall: f64,
    /// Which share of its first weight a term keeps at least: where none does, what the grid disturbs is hardly seen, and signals
    /// that differ in it share the invariants.
    pub kept: f64,
    /// What is minimised.
    pub separation: Separation,
    /// Steps; none leaves the closed form as it is.
    pub steps: usize,
    /// The length of the first step of a weight, as a share of it; it falls to zero with a cosine.
    pub rate: f64,
    /// Of batches.
    pub seed: u64,
}

/// The network of a circle, its weights learned on `orbits`; `observe` is told of every step.
pub fn refine(
    circle: &Circle,
    orbits: &Orbits,
    refinement: &Refinement,
    mut observe: impl FnMut(usize, Loss),
) -> Network<f32> {
    let mut network = start(circle, orbits.inputs(), refinement).rounded::<f32>();
    let least: Vec<f32> = (network.weights().iter())
        .map(|&w| w * refinement.kept as f32)
        .collect();
    let all: Vec<Vec<f32>> = (0..orbits.len())
        .into_par_iter()
        .map(|orbit| network.products_of(&members(orbits, orbit, orbits.members(orbit))))
        .collect();
    let features = network.features();
    let mut steps = Steps::new(network.weights().len());
    let mut random = stream(refinement.seed, Purpose::Couplings);
    for step in 0..refinement.steps {
        let (products, sizes) = drawn(&all, features, &mut random);
        let (loss, gradient) = network.gradient(&products, &sizes, &refinement.separation);
        let share = step as f64 / refinement.steps as f64;
        let rate = refinement.rate * 0.5 * (1.0 + (PI * share).cos());
        steps.take(network.weights_mut(), &gradient, rate);
        let kept = network.weights_mut().iter_mut().zip(&least);
        kept.for_each(|(weight, &least)| *weight = weight.max(least));
        observe(step, loss);
    }
    let factor = 1.0 / mean_length(&network, orbits);
    network.weights_mut().iter_mut().for_each(|w| {
        *w = ((*w * factor as f32).log2() * OCTAVE)
            .round()
            .div(OCTAVE)
            .exp2()
    });
    network
}

/// U of a circle, with the sizes that are asked for, and the terms.
fn start(circle: &Circle, inputs: usize, refinement: &Refinement) -> Network<f64> {
    let planes = circle.planes();
    let largest = planes.iter().map(Plane::amplitude).fold(0.0, f64::max);
    let size = |plane: &Plane| plane.lambda * (plane.amplitude() / largest).powf(refinement.fall);
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
    let pairs = network.terms().pairs.iter();
    let pairs = pairs.map(|[a, b]| if a == b { SQUARES } else { 1.0 });
    let triples = network.terms().triples.iter().map(|_| TRIPLES);
    let weights: Vec<f64> = pairs.chain(triples).chain([1.0]).collect();
    network.weights_mut().copy_from_slice(&weights);
    network
}

/// The mean length of the invariants of a sample.
fn mean_length(network: &Network<f32>, orbits: &Orbits) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for orbit in 0..orbits.len() {
        let f = network.invariants(&members(orbits, orbit, MEASURED));
        for f in f.chunks_exact(network.features()) {
            sum += f.iter().map(|&f| f64::from(f).powi(2)).sum::<f64>().sqrt();
            count += 1.0;
        }
    }
    sum / count
}

/// At most so many members of an orbit, one behind the other.
fn members(orbits: &Orbits, orbit: usize, most: usize) -> Vec<f32> {
    let inputs = orbits.inputs();
    let mut samples = vec![0.0; orbits.members(orbit).min(most) * inputs];
    for (member, sample) in samples.chunks_exact_mut(inputs).enumerate() {
        orbits.write_member(orbit, member, sample);
    }
    samples
}

/// The products of some members of some orbits, and how many members there are of each.
fn drawn(all: &[Vec<f32>], features: usize, random: &mut ChaCha8Rng) -> (Vec<f32>, Vec<usize>) {
    let (mut products, mut sizes) = (Vec::new(), Vec::new());
    for orbit in index::sample(random, all.len(), ORBITS.min(all.len())) {
        let members = all[orbit].len() / features;
        let count = MEMBERS.min(members);
        for member in index::sample(random, members, count) {
            products.extend(&all[orbit][member * features..][..features]);
        }
        sizes.push(count);
    }
    // Draws of the next batch do not depend on how many members these had.
    let _: u64 = random.random();
    (products, sizes)
}

/// Adam in the logarithm of each weight, which keeps its sign.
struct Steps {
    taken: i32,
    means: Vec<[f64; 2]>,
}

impl Steps {
    fn new(weights: usize) -> Self {
        Steps {
            taken: 0,
            means: vec![[0.0; 2]; weights],
        }
    }

    fn take(&mut self, weights: &mut [f32], gradient: &[f32], rate: f64) {
        self.taken += 1;
        let unbias = [MEAN, SQUARE].map(|decay| 1.0 / (1.0 - decay.powi(self.taken)));
        for ((weight, &g), [mean, square]) in weights.iter_mut().zip(gradient).zip(&mut self.means)
        {
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
        let Terms { pairs, triples, .. } = self.terms();
        let pairs = pairs.iter().map(|pair| &pair[..]);
        let products = pairs.chain(triples.iter().map(|triple| &triple[..]));
        for (planes, &weight) in products.zip(self.weights()) {
            forms.product(self, planes, f64::from(weight))?;
        }
        let behind = self.planes().last().map_or(0, |(begin, rows)| begin + rows);
        if behind < self.rows() {
            let weight = self.weights().last().copied().unwrap_or_default();
            forms.power(behind, self.rows() - behind, weight.into())?;
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
