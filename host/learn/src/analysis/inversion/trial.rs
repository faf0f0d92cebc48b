//! How well inversion does: random signals on a group, their invariants by `bispectral-core`, noise, and back.

use super::Inverter;
use crate::analysis::orbit::Motions;
use crate::data::group::Group;
use crate::group::identify::{Identification, identify};
use crate::group::{least, selective};
use crate::model::file::encode_array;
use crate::numeric::random::{Purpose, stream_at};
use crate::{Error, Result};
use bispectral_core::{Complex32, Model, pair_index, pairs};
use ndarray::Array2;
use num_complex::Complex64;
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use std::fmt;

/// Which invariants there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairs {
    /// The triangle.
    Full,
    /// [`selective`] with so many paths.
    Selective(usize),
    /// [`least`].
    Least,
}

/// A group's exact characters as a model, and some of its invariants.
#[derive(Debug)]
pub struct Trial {
    pub(super) found: Identification,
    pub(super) pairs: Vec<(usize, usize)>,
    pub(super) inverter: Inverter,
    bytes: Vec<u8>,
    motions: Motions,
}

impl Trial {
    /// Of `group` with these of its invariants.
    ///
    /// # Errors
    /// The group is too large to recognise.
    pub fn new(group: &Group, pairs: Pairs) -> Result<Self> {
        let refused = |what: String| Error::new(group.to_string(), what, "take a smaller group");
        let w = group.characters();
        let w: Array2<Complex32> = w.mapv(|w| Complex32::new(w.re as f32, w.im as f32));
        let found = identify(&w.view()).map_err(|refusal| refused(refusal.to_string()))?;
        let pairs = pairs.of(&found);
        Ok(Trial {
            bytes: encode_array(&w.view(), "", None).map_err(|error| refused(error.to_string()))?,
            inverter: Inverter::new(&w.view(), &found, &pairs)?,
            motions: Motions::of_group(&found),
            found,
            pairs,
        })
    }

    /// How many invariants there are.
    #[must_use]
    pub fn invariants(&self) -> usize {
        self.pairs.len()
    }

    /// How far each of `count` random signals is from its orbit after inversion, as a share of it, sorted: with noise
    /// of this length on invariants of unit length.
    ///
    /// # Errors
    /// The core refuses a signal.
    pub fn errors(&self, count: usize, noise: f64, seed: u64) -> Result<Vec<f64>> {
        let each = (0..count as u64).into_par_iter();
        let each = each.map(|at| self.error(&self.signal(at, seed), noise, [seed, at]));
        let mut errors = each.collect::<Result<Vec<f64>>>()?;
        errors.sort_by(f64::total_cmp);
        Ok(errors)
    }

    /// Independent normal values.
    pub(super) fn signal(&self, at: u64, seed: u64) -> Vec<f32> {
        let mut random = stream_at(seed, Purpose::Exemplars, [at, 0]);
        let value = |_| random.sample::<f32, _>(StandardNormal);
        (0..self.found.positions.len()).map(value).collect()
    }

    fn error(&self, x: &[f32], noise: f64, [seed, at]: [u64; 2]) -> Result<f64> {
        let mut y = self.measure(x)?;
        let norm = y.iter().map(|y| y.norm_sqr()).sum::<f64>().sqrt();
        let deviation = noise * norm / (2.0 * y.len() as f64).sqrt();
        let mut random = stream_at(seed, Purpose::Noise, [at, 0]);
        for y in &mut y {
            let mut part = || deviation * random.sample::<f64, _>(StandardNormal);
            *y += Complex64::new(part(), part());
        }
        let inverted = self.inverter.invert(&y);
        let signal = inverted.map_or_else(|| vec![0.0; x.len()], |inverted| inverted.signal);
        Ok(self.distance(&signal, x))
    }

    /// β of the chosen pairs, by the device's code.
    pub(super) fn measure(&self, x: &[f32]) -> Result<Vec<Complex64>> {
        let refused = |error: bispectral_core::Error| {
            Error::new("a random signal", error.to_string(), "draw another one")
        };
        let model = Model::from_bytes(&self.bytes).map_err(refused)?;
        let mut all = vec![Complex32::ZERO; model.pairs()];
        let mut scratch = vec![0.0; model.scratch_len()];
        model
            .bispectrum(x, &mut scratch, &mut all)
            .map_err(refused)?;
        let at = |&(i, j): &(usize, usize)| all[pair_index(model.rows(), i, j).unwrap_or(0)];
        let chosen = self.pairs.iter().map(at);
        Ok(chosen
            .map(|y| Complex64::new(y.re.into(), y.im.into()))
            .collect())
    }

    /// From the orbit of `x`, as a share of x.
    pub(super) fn distance(&self, signal: &[f64], x: &[f32]) -> f64 {
        let signal: Vec<f32> = signal.iter().map(|&x| x as f32).collect();
        self.motions.nearest(&signal, x).distance
    }
}

impl Pairs {
    fn of(self, found: &Identification) -> Vec<(usize, usize)> {
        match self {
            Pairs::Full => pairs(found.characters.len()).collect(),
            Pairs::Selective(paths) => selective(found, paths),
            Pairs::Least => least(found),
        }
    }
}

impl fmt::Display for Pairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pairs::Full => f.write_str("full"),
            Pairs::Selective(1) => f.write_str("selective"),
            Pairs::Selective(paths) => write!(f, "selective:{paths}"),
            Pairs::Least => f.write_str("least"),
        }
    }
}
