//! A step: forward, loss and gradient of a batch, in buffers that the next step uses again.

use super::batch::{Batch, Magnitude};
use super::forward::{Moments, Rows};
use super::gradient::Pull;
use super::invariance::{Distances, Normaliser};
use super::objective::{Loss, Objective};
use super::pairs::{pair_count, parts, tiles};
use super::part::Part;
use super::planar::PlanarBuffer;
use super::reconstruction::Residual;
use super::second_order::Powers;
use super::weights::{Gradient, Network};
use crate::numeric::matrix::{matrix, matrix_mut, multiply};
use crate::numeric::{Real, padded};
use crate::{Error, Result};
use rayon::prelude::*;

/// Rows of W whose gradient one task puts together.
pub(super) const ROWS: usize = 32;

/// The buffers of a step. Its results stay until the next one.
///
/// For N = R = 256 and 100 samples in f32 these are 40 MB, of which z_ij is 26: P and ∂L/∂P are never whole.
#[derive(Debug, Default)]
pub struct Workspace<T> {
    rows: usize,
    inputs: usize,
    /// W, its rows padded with zeros.
    pub(super) w: PlanarBuffer<T>,
    pub(super) batch: Batch<T>,
    pub(super) parts: Vec<Part<T>>,
    pub(super) normalisers: Vec<Normaliser<T>>,
    squares: Vec<f64>,
    pull: Pull<T>,
    residual: Residual<T>,
    /// ∂L/∂z, laid out as z.
    pub(super) z_gradient: PlanarBuffer<T>,
    /// ∂L/∂W, R×N.
    pub(super) gradient: PlanarBuffer<T>,
    pub(super) powers: Powers<T>,
}

impl<T: Real> Workspace<T> {
    /// Without any memory yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The gradient of the last step that had one.
    #[must_use]
    pub fn gradient(&self) -> Gradient<'_, T> {
        Gradient {
            re: &self.gradient.re,
            im: &self.gradient.im,
        }
    }

    /// The loss of `samples` (N numbers each), of which the first `orbits[0]` are members of one orbit, the next
    /// `orbits[1]` of another, and so on; and its gradient, for [`Workspace::gradient`].
    ///
    /// An orbit with one member has no pair and counts for the reconstruction alone. Where no orbit has a pair the
    /// invariance is zero. A sample whose β is zero has β̄ = 0 and no gradient by way of it; members that coincide do
    /// not pull at each other. Rows of W should be of about unit length, as [`Network::normalise_rows`] leaves them.
    ///
    /// # Errors
    /// `samples` do not fit the network or `orbits`, or one of them is not finite.
    pub fn loss_and_gradient(
        &mut self,
        network: &Network<T>,
        samples: &[T],
        orbits: &[usize],
        objective: &Objective,
    ) -> Result<Loss> {
        let loss = self.loss(network, samples, orbits, objective)?;
        let distances = Distances {
            distance: objective.distance,
            sizes: orbits,
        };
        self.pull.set(distances, &self.squares, &self.normalisers);
        let (rows, signals) = (rows(&self.w, self.rows, self.inputs), self.batch.signals());
        let (normalisers, pull) = (&self.normalisers, &self.pull);
        self.parts
            .par_iter_mut()
            .for_each(|part| part.gradient(rows, signals, normalisers, pull, distances));
        self.collect_coefficients();
        self.collect_rows();
        Ok(loss)
    }

    /// The loss alone.
    ///
    /// # Errors
    /// As [`Workspace::loss_and_gradient`].
    pub fn loss(
        &mut self,
        network: &Network<T>,
        samples: &[T],
        orbits: &[usize],
        objective: &Objective,
    ) -> Result<Loss> {
        check_orbits(network, samples, orbits)?;
        self.load(network, samples, Magnitude::Each)?;
        let members = orbits.iter().copied().max().unwrap_or(0);
        self.forward(objective.centre, members);

        let distances = Distances {
            distance: objective.distance,
            sizes: orbits,
        };
        let (signals, normalisers) = (self.batch.signals(), &self.normalisers);
        self.parts
            .par_iter_mut()
            .for_each(|part| part.distances(signals, normalisers, distances));
        self.squares.clear();
        self.squares.resize(distances.count(), 0.0);
        for part in &self.parts {
            for (sum, square) in self.squares.iter_mut().zip(&part.squares) {
                *sum += square;
            }
        }
        let invariance = distances.mean(&self.squares);

        let reconstruction = self.residual.set(
            &self.batch,
            rows(&self.w, self.rows, self.inputs),
            (objective.reconstruction, objective.gamma),
            &mut self.z_gradient,
        );
        Ok(Loss {
            invariance,
            reconstruction,
            total: invariance + objective.gamma * reconstruction,
        })
    }

    /// Takes W and the samples over and cuts the pairs into parts.
    pub(super) fn load(
        &mut self,
        network: &Network<T>,
        samples: &[T],
        magnitude: Magnitude,
    ) -> Result<()> {
        let (rows, inputs) = (network.rows(), network.inputs());
        check_samples(rows, inputs, samples.len())?;
        self.batch.load(samples, inputs, rows, magnitude)?;
        let stride = padded(inputs);
        self.w.zeros(rows * stride);
        for (to, from) in [
            (&mut self.w.re, network.re()),
            (&mut self.w.im, network.im()),
        ] {
            for (to, from) in to.chunks_exact_mut(stride).zip(from.chunks_exact(inputs)) {
                to[..inputs].copy_from_slice(from);
            }
        }
        if (self.rows, self.inputs) != (rows, inputs) {
            (self.rows, self.inputs) = (rows, inputs);
            let tiles = tiles(rows, inputs);
            self.parts
                .resize_with(parts(tiles.len()).count(), Part::default);
            for (part, range) in self.parts.iter_mut().zip(parts(tiles.len())) {
                part.set_tiles(&tiles[range]);
            }
        }
        Ok(())
    }

    /// z, z_ij, and what makes β̄ of β.
    pub(super) fn forward(&mut self, centre: bool, members: usize) {
        let rows = rows(&self.w, self.rows, self.inputs);
        self.batch.transform(rows);
        let signals = self.batch.signals();
        self.parts
            .par_iter_mut()
            .for_each(|part| part.forward(rows, signals, members));
        let pairs = pair_count(self.rows);
        self.normalisers.clear();
        for sample in 0..self.batch.samples {
            let mut sum = Moments::default();
            self.parts
                .iter()
                .for_each(|part| sum.add(part.moments[sample]));
            self.normalisers.push(Normaliser::new(sum, pairs, centre));
        }
    }

    /// ∂L/∂z of the parts, onto that of the reconstruction.
    pub(super) fn collect_coefficients(&mut self) {
        let parts = &self.parts;
        let stride = self.batch.stride;
        let samples = self.z_gradient.re.par_chunks_mut(stride);
        let samples = samples.zip(self.z_gradient.im.par_chunks_mut(stride));
        samples.enumerate().for_each(|(b, (re, im))| {
            for part in parts {
                add(re, &part.z.re[b * stride..]);
                add(im, &part.z.im[b * stride..]);
            }
        });
    }

    /// ∂L/∂W: of the parts, of the reconstruction, and Σ_b (∂L/∂z)_b x_b.
    fn collect_rows(&mut self) {
        let (inputs, stride) = (self.inputs, padded(self.inputs));
        self.gradient.resize(self.rows * inputs);
        let (parts, batch, residual) = (&self.parts, &self.batch, &self.residual);
        let of = |z| matrix(z, batch.samples, self.rows, batch.stride).transpose();
        let (z_re, z_im) = (of(&self.z_gradient.re), of(&self.z_gradient.im));
        let x = batch.signals().x;
        let blocks = self.gradient.re.par_chunks_mut(ROWS * inputs);
        let blocks = blocks.zip(self.gradient.im.par_chunks_mut(ROWS * inputs));
        blocks.enumerate().for_each(|(block, (re, im))| {
            let first = block * ROWS;
            let rows = re.len() / inputs;
            for (to, z) in [(&mut *re, z_re), (&mut *im, z_im)] {
                let to = matrix_mut(to, rows, inputs, inputs);
                multiply(to, z.subrows(first, rows), x, T::one());
            }
            residual.add_to_rows(batch, first, re, im);
            let lines = re.chunks_exact_mut(inputs).zip(im.chunks_exact_mut(inputs));
            for (i, (re, im)) in (first..).zip(lines) {
                for part in parts.iter().filter(|part| part.first_row() <= i) {
                    let at = (i - part.first_row()) * stride;
                    add(re, &part.w.re[at..]);
                    add(im, &part.w.im[at..]);
                }
            }
        });
    }
}

/// The padded W as rows.
pub(super) fn rows<T: Real>(w: &PlanarBuffer<T>, count: usize, inputs: usize) -> Rows<'_, T> {
    Rows {
        w: w.view(),
        count,
        inputs,
        stride: padded(inputs),
    }
}

pub(super) fn add<T: Real>(to: &mut [T], from: &[T]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += *from;
    }
}

fn check_samples(rows: usize, inputs: usize, len: usize) -> Result<()> {
    let wrong = |what: String, remedy: &str| Err(Error::new("the batch", what, remedy));
    if rows == 0 || inputs == 0 {
        return wrong(
            format!("the network has {rows} rows and {inputs} inputs"),
            "it needs one or more of both",
        );
    }
    if len == 0 || !len.is_multiple_of(inputs) {
        return wrong(
            format!("{len} numbers are not samples of {inputs}"),
            "give one or more whole samples",
        );
    }
    Ok(())
}

pub(super) fn check_orbits<T: Real>(
    network: &Network<T>,
    samples: &[T],
    orbits: &[usize],
) -> Result<()> {
    let members: usize = orbits.iter().sum();
    let samples = samples.len() / network.inputs().max(1);
    if members != samples {
        return Err(Error::new(
            "the batch",
            format!("its orbits have {members} members, but there are {samples} samples"),
            "count every sample in one orbit",
        ));
    }
    Ok(())
}
