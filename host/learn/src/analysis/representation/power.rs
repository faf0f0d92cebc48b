//! The power spectrum |z|² of a W, at unit length: invariant, but it has forgotten how the irreps stand to each other.

use super::{Representation, normalise, pull};
use crate::numeric::matrix::{matrix, matrix_mut, multiply};
use crate::{Error, Result};
use ndarray::{Array2, ArrayView2};
use num_complex::Complex32;
use rayon::prelude::*;

/// Signals that one task works on.
const BLOCK: usize = 25;

/// The normalised power spectrum.
#[derive(Debug)]
pub struct Power {
    rows: usize,
    inputs: usize,
    /// Re W, then Im W: 2R rows of N.
    w: Vec<f32>,
    targets: Array2<f32>,
}

impl Power {
    /// Those of the signals in the rows of `targets` are to be had.
    ///
    /// # Errors
    /// The signals do not fit W.
    pub fn of_signals(
        w: &ArrayView2<'_, Complex32>,
        targets: &ArrayView2<'_, f32>,
    ) -> Result<Self> {
        let (rows, inputs) = w.dim();
        if targets.ncols() != inputs {
            return Err(Error::new(
                "the targets",
                format!("{} numbers where W has {inputs} inputs", targets.ncols()),
                "take signals of W's length",
            ));
        }
        let parts = w.iter().map(|w| w.re).chain(w.iter().map(|w| w.im));
        let mut power = Power {
            rows,
            inputs,
            w: parts.collect(),
            targets: Array2::zeros((targets.nrows(), rows)),
        };
        let signals: Vec<f32> = targets.iter().copied().collect();
        let z = power.coefficients(&signals);
        for (mut target, z) in power.targets.rows_mut().into_iter().zip(z.chunks(2 * rows)) {
            let mut p = powers(z);
            normalise(&mut p);
            target.iter_mut().zip(p).for_each(|(to, p)| *to = p);
        }
        Ok(power)
    }

    /// z of each signal, real parts, then imaginary ones.
    fn coefficients(&self, signals: &[f32]) -> Vec<f32> {
        let (samples, height) = (signals.len() / self.inputs, 2 * self.rows);
        let mut z = vec![0.0; samples * height];
        multiply(
            matrix_mut(&mut z, samples, height, height),
            matrix(signals, samples, self.inputs, self.inputs),
            matrix(&self.w, height, self.inputs, self.inputs).transpose(),
            1.0,
        );
        z
    }

    fn approach_block(&self, signals: &[f32], which: &[usize], gradient: &mut [f32]) -> Vec<f64> {
        let height = 2 * self.rows;
        let mut z = self.coefficients(signals);
        let squares = z.chunks_exact_mut(height).zip(which).map(|(z, &target)| {
            let mut u = powers(z);
            let length = normalise(&mut u);
            let target = self.targets.row(target);
            let square = pull(
                &mut u,
                length,
                target.as_slice().expect("rows lie in one piece"),
            );
            // p = |z|², so ∂p/∂z = 2z.
            let (re, im) = z.split_at_mut(self.rows);
            for ((re, im), slope) in re.iter_mut().zip(im).zip(u) {
                (*re, *im) = (2.0 * slope * *re, 2.0 * slope * *im);
            }
            square
        });
        let squares = squares.collect();
        multiply(
            matrix_mut(gradient, which.len(), self.inputs, self.inputs),
            matrix(&z, which.len(), height, height),
            matrix(&self.w, height, self.inputs, self.inputs),
            1.0,
        );
        squares
    }
}

/// |z|² of [real | imaginary].
fn powers(z: &[f32]) -> Vec<f32> {
    let (re, im) = z.split_at(z.len() / 2);
    re.iter()
        .zip(im)
        .map(|(re, im)| re * re + im * im)
        .collect()
}

impl Representation for Power {
    fn inputs(&self) -> usize {
        self.inputs
    }

    fn features(&self) -> usize {
        self.rows
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
        let blocks = signals.par_chunks(BLOCK * self.inputs);
        let blocks = blocks
            .zip(which.par_chunks(BLOCK))
            .zip(gradient.par_chunks_mut(BLOCK * self.inputs));
        let squares: Vec<Vec<f64>> = blocks
            .map(|((signals, which), gradient)| self.approach_block(signals, which, gradient))
            .collect();
        Ok(squares.concat())
    }
}
