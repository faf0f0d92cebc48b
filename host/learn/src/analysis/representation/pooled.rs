//! What a conventional network pools: v_k = mean over positions of ReLU((F_k ∗ x)(position))², with small random filters
//! F_k that wrap around the edges.
//!
//! Invariant under cyclic translation, and without a word on where its filters responded. The mean of squares, because
//! a descent gets stuck at the kinks of the largest response (3e-2 from its targets) and of the plain mean (1e-3).

use super::{Representation, normalise, pull};
use crate::numeric::matrix::{matrix, matrix_mut, multiply};
use crate::numeric::random::{Purpose, stream};
use crate::{Error, Result};
use ndarray::{Array2, ArrayView2};
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;

/// Pixels along the side of a filter.
const SIDE: usize = 5;

/// The mean responses of random filters, at unit length.
#[derive(Debug)]
pub struct Pooled {
    filters: Filters,
    targets: Array2<f32>,
}

#[derive(Debug)]
struct Filters {
    inputs: usize,
    count: usize,
    taps: usize,
    weights: Vec<f32>,
    /// For every position, the pixels below a filter.
    windows: Vec<usize>,
}

impl Pooled {
    /// `count` filters for images of `shape` (height, width); the pooled responses to the images in the rows of
    /// `targets` are to be had.
    ///
    /// # Errors
    /// The images are not of this shape.
    pub fn of_signals(
        shape: (usize, usize),
        count: usize,
        seed: u64,
        targets: &ArrayView2<'_, f32>,
    ) -> Result<Self> {
        let (height, width) = shape;
        if height.checked_mul(width) != Some(targets.ncols()) || targets.ncols() == 0 {
            let what = format!(
                "{} numbers are no images of {height} × {width}",
                targets.ncols()
            );
            let remedy = "give their height and width";
            return Err(Error::new("the targets", what, remedy));
        }
        let filters = Filters::random(shape, count, seed);
        let mut pooled = Array2::zeros((targets.nrows(), count));
        for (mut to, image) in pooled.rows_mut().into_iter().zip(targets.rows()) {
            let mut v = filters.pool(&filters.respond(&image.to_vec()));
            normalise(&mut v);
            to.iter_mut().zip(v).for_each(|(to, v)| *to = v);
        }
        Ok(Pooled {
            filters,
            targets: pooled,
        })
    }
}

impl Filters {
    fn random((height, width): (usize, usize), count: usize, seed: u64) -> Self {
        let inputs = height * width;
        let (down, right) = (SIDE.min(height), SIDE.min(width));
        let taps = down * right;
        let windows = (0..inputs).flat_map(|position| {
            (0..taps).map(move |tap| {
                let row = (position / width + tap / right) % height;
                let column = (position % width + tap % right) % width;
                row * width + column
            })
        });
        let mut random = stream(seed, Purpose::Filters);
        let weights = (0..count * taps).map(|_| random.sample(StandardNormal));
        Filters {
            inputs,
            count,
            taps,
            weights: weights.collect(),
            windows: windows.collect(),
        }
    }

    /// The response of every filter at every position, one row a position.
    fn respond(&self, image: &[f32]) -> Vec<f32> {
        let seen: Vec<f32> = self.windows.iter().map(|&pixel| image[pixel]).collect();
        let mut responses = vec![0.0; self.inputs * self.count];
        multiply(
            matrix_mut(&mut responses, self.inputs, self.count, self.count),
            matrix(&seen, self.inputs, self.taps, self.taps),
            matrix(&self.weights, self.count, self.taps, self.taps).transpose(),
            1.0,
        );
        responses
    }

    /// v.
    fn pool(&self, responses: &[f32]) -> Vec<f32> {
        let mut v = vec![0.0; self.count];
        for responses in responses.chunks_exact(self.count) {
            for (v, response) in v.iter_mut().zip(responses) {
                *v += response.max(0.0) * response.max(0.0);
            }
        }
        let share = 1.0 / self.inputs as f32;
        v.iter_mut().for_each(|v| *v *= share);
        v
    }

    fn approach(&self, image: &[f32], target: &[f32], gradient: &mut [f32]) -> f64 {
        let mut responses = self.respond(image);
        let mut v = self.pool(&responses);
        let length = normalise(&mut v);
        let square = pull(&mut v, length, target);
        let share = 1.0 / self.inputs as f32;
        for responses in responses.chunks_exact_mut(self.count) {
            for (response, slope) in responses.iter_mut().zip(&v) {
                *response = 2.0 * share * slope * response.max(0.0);
            }
        }
        let mut seen = vec![0.0; self.inputs * self.taps];
        multiply(
            matrix_mut(&mut seen, self.inputs, self.taps, self.taps),
            matrix(&responses, self.inputs, self.count, self.count),
            matrix(&self.weights, self.count, self.taps, self.taps),
            1.0,
        );
        gradient.fill(0.0);
        for (&pixel, slope) in self.windows.iter().zip(seen) {
            gradient[pixel] += slope;
        }
        square
    }
}

impl Representation for Pooled {
    fn inputs(&self) -> usize {
        self.filters.inputs
    }

    fn features(&self) -> usize {
        self.filters.count
    }

    fn targets(&self) -> usize {
        self.targets.nrows()
    }

    fn approach(
        &mut self,
        signals: &[f32],
        which: &[usize],
        gradient: &mut [f32],
    ) -> Result<Vec<f64>> {
        let inputs = self.filters.inputs;
        let each = signals.par_chunks_exact(inputs).zip(which);
        let each = each.zip(gradient.par_chunks_exact_mut(inputs));
        let squares = each.map(|((image, &target), gradient)| {
            let target = self.targets.row(target).to_vec();
            self.filters.approach(image, &target, gradient)
        });
        Ok(squares.collect())
    }
}
