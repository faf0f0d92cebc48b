//! z, β and β̄ of a batch, for a look at a network while it trains. What is exported answers through `bispectral-core`.

use super::batch::{Magnitude, power_of_two};
use super::forward::coefficient_pairs;
use super::invariance::{Normaliser, normalise};
use super::pairs::pair_count;
use super::planar::{Planar, PlanarBuffer};
use super::weights::Network;
use super::workspace::{Workspace, rows};
use crate::Result;
use crate::numeric::{LANES, Real};
use ndarray::Array2;
use num_complex::Complex;
use pulp::Scalar;
use rayon::prelude::*;

impl<T: Real> Workspace<T> {
    /// z = W x of `samples` (N numbers each): one row a sample.
    ///
    /// # Errors
    /// `samples` do not fit the network, or one of them is not finite.
    pub fn coefficients(
        &mut self,
        network: &Network<T>,
        samples: &[T],
    ) -> Result<Array2<Complex<T>>> {
        self.load(network, samples, Magnitude::Each)?;
        self.batch
            .transform(rows(&self.w, network.rows(), network.inputs()));
        let signals = self.batch.signals();
        let shape = (self.batch.samples, network.rows());
        Ok(Array2::from_shape_fn(shape, |(b, i)| {
            signals.coefficients(b).at(i) * power_of_two::<T>(self.batch.exponents[b])
        }))
    }

    /// β of `samples`, one row a sample, pairs (0,0), (0,1), …, (0,R−1), (1,1), ….
    ///
    /// # Errors
    /// As [`Workspace::coefficients`].
    pub fn bispectra(&mut self, network: &Network<T>, samples: &[T]) -> Result<Array2<Complex<T>>> {
        self.load(network, samples, Magnitude::Each)?;
        self.forward(false, 1);
        let as_it_is = Normaliser {
            mean: Complex::new(T::zero(), T::zero()),
            scale: T::one(),
        };
        let mut terms = self.terms(network.rows(), |_| as_it_is);
        for (mut terms, &e) in terms.outer_iter_mut().zip(&self.batch.exponents) {
            // One after the other: 2^3e alone may be infinite where β is zero.
            let power = power_of_two::<T>(e);
            terms.mapv_inplace(|beta| beta * power * power * power);
        }
        Ok(terms)
    }

    /// β̄ of `samples`, in the order of [`Workspace::bispectra`]; with `centre`, of β less its mean over the pairs.
    ///
    /// # Errors
    /// As [`Workspace::coefficients`].
    pub fn invariants(
        &mut self,
        network: &Network<T>,
        samples: &[T],
        centre: bool,
    ) -> Result<Array2<Complex<T>>> {
        self.load(network, samples, Magnitude::Each)?;
        self.forward(centre, 1);
        Ok(self.terms(network.rows(), |b| self.normalisers[b]))
    }

    /// (β − mean) · scale of every sample.
    fn terms(
        &self,
        rows: usize,
        normaliser: impl Fn(usize) -> Normaliser<T> + Sync,
    ) -> Array2<Complex<T>> {
        let samples = self.batch.samples;
        let zero = Complex::new(T::zero(), T::zero());
        let mut terms = Array2::from_elem((samples, pair_count(rows)), zero);
        let signals = self.batch.signals();
        let lines = terms.outer_iter_mut().enumerate().par_bridge();
        lines.for_each(|(b, mut line)| {
            let mut zeta = PlanarBuffer::default();
            let mut u = Vec::new();
            for (tile, products) in self.parts.iter().flat_map(|part| part.tiles(samples)) {
                let width = tile.padded();
                zeta.resize(width + LANES);
                u.resize(2 * width, T::zero());
                coefficient_pairs(
                    Scalar::new(),
                    tile,
                    signals.coefficients(b),
                    &mut zeta.view_mut(),
                );
                let zeta = zeta.view().range(0, width);
                let s = Planar::of_row(&products[b * 2 * width..(b + 1) * 2 * width]);
                normalise(Scalar::new(), tile, zeta, s, normaliser(b), &mut u);
                let u = Planar::of_row(&u);
                for k in 0..tile.pairs {
                    line[tile.place + k] = u.at(k);
                }
            }
        });
        terms
    }
}
