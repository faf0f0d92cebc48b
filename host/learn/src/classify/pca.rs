//! Principal components of complex features that do not fit into memory.
//!
//! The features of some samples span a space that holds nearly all of the others; in it, every sample is a short vector,
//! whose covariance has the components as eigenvectors (Rayleigh and Ritz):
//!
//! > F F† = U Λ U†,  V = Λ^(−1/2) U† F,  c = f V†,  E[(c − c̄)†(c − c̄)] = Q M Q†,  p = (c − c̄) Q
//!
//! Features are computed twice for the samples that span, and once for the others. A complex row is its real parts and
//! then its imaginary parts; with s = (Im, −Re) of a row, Re f g† = f·g and Im f g† = s·g.

use super::features::{BLOCK, Features};
use super::products::{combine, covariance, gram, hermitian, swap};
use crate::numeric::matrix::{matrix, matrix_mut, multiply};
use crate::{Error, Result};
use faer::c64;
use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Samples whose features span the space.
const SPANNING: usize = 1024;
/// The space has this many dimensions for each component that is wanted: its last ones are the least certain.
const OVERSAMPLING: f64 = 1.25;
/// Blocks of samples between two words of progress.
const BLOCKS: usize = 16;
/// An affine map from complex features to principal components: p_k = Σ_j f_j conj(v_kj) − o_k.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Projection {
    /// v: real parts and then imaginary parts, row after row.
    rows: Vec<f32>,
    /// o: real parts, then imaginary parts.
    offset: Vec<f32>,
}

/// What the components of some samples are like.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The map.
    pub projection: Projection,
    /// The components of the samples, a row each: real parts, then imaginary parts.
    pub coordinates: Array2<f32>,
    /// The share of the features' mean square that the components and the mean hold.
    pub held: f64,
}

impl Projection {
    /// The `components` of the features of `samples` with the largest variance, or as many as there are. `observe` hears
    /// how many samples are done.
    ///
    /// # Errors
    /// A sample has no features.
    pub fn fit(
        features: &Features<'_>,
        samples: ArrayView2<'_, f32>,
        components: usize,
        observe: &mut dyn FnMut(usize),
    ) -> Result<Fitted> {
        let space = Self::spanned(features, samples, components)?;
        let (coordinates, square) = space.project(features, samples, observe)?;
        let (projection, coordinates) =
            space.rotated(&coordinates, components).ok_or_else(|| {
                let what = "all of them have the same features";
                Error::new("samples", what, "give samples of things that differ")
            })?;
        let sum = |numbers: &[f32]| numbers.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>();
        let rows: Vec<f64> = coordinates
            .axis_iter(Axis(0))
            .map(|row| sum(&row.to_vec()))
            .collect();
        let held = rows.iter().sum::<f64>() / samples.nrows() as f64 + sum(&projection.offset);
        Ok(Fitted {
            projection,
            coordinates,
            // Sums of f32 may exceed the whole by their rounding.
            held: (held / square).min(1.0),
        })
    }

    /// How many components there are.
    #[must_use]
    pub fn components(&self) -> usize {
        self.offset.len() / 2
    }

    /// Whether it takes features of this many real numbers.
    #[must_use]
    pub fn takes(&self, width: usize) -> bool {
        width > 0
            && self.components() > 0
            && self.rows.len() == self.components().saturating_mul(width)
    }

    /// v, row after row, and the numbers of a row: real parts, then imaginary parts.
    #[must_use]
    pub fn rows(&self) -> (&[f32], usize) {
        (&self.rows, self.rows.len() / self.components())
    }

    /// o: real parts, then imaginary parts.
    #[must_use]
    pub fn offset(&self) -> &[f32] {
        &self.offset
    }

    /// The components of every sample, a row each: real parts, then imaginary parts.
    ///
    /// # Errors
    /// A sample has no features.
    pub fn apply(
        &self,
        features: &Features<'_>,
        samples: ArrayView2<'_, f32>,
        observe: &mut dyn FnMut(usize),
    ) -> Result<Array2<f32>> {
        let (mut coordinates, _) = self.project(features, samples, observe)?;
        for mut row in coordinates.rows_mut() {
            row.iter_mut()
                .zip(&self.offset)
                .for_each(|(c, offset)| *c -= offset);
        }
        Ok(coordinates)
    }

    /// An orthonormal base of what some of the samples span, its most important directions first.
    fn spanned(
        features: &Features<'_>,
        samples: ArrayView2<'_, f32>,
        components: usize,
    ) -> Result<Self> {
        let width = features.width();
        let count = samples.nrows().min(SPANNING);
        let chosen: Vec<usize> = (0..count).map(|k| k * samples.nrows() / count).collect();
        let rows = features.of(samples.select(Axis(0), &chosen).view())?;
        let rows = rows.into_raw_vec_and_offset().0;
        let swapped = swap(&rows, width);
        let eigen = hermitian(&gram(&rows, &swapped, width), count);
        let wanted = (components as f64 * OVERSAMPLING) as usize;
        let kept: Vec<usize> = eigen.largest(wanted.min(width / 2));
        // Λ^(−1/2) U†
        let vectors = &eigen.vectors;
        let scaled = |part: fn(c64) -> f64| -> Vec<f32> {
            let row = |&k: &usize| {
                let length = eigen.values[k].sqrt();
                (0..count).map(move |a| (part(vectors[(a, k)].conj()) / length) as f32)
            };
            kept.iter().flat_map(row).collect()
        };
        Ok(Projection {
            rows: combine(
                [&scaled(|u| u.re), &scaled(|u| u.im)],
                [&rows, &swapped],
                width,
            ),
            offset: vec![0.0; 2 * kept.len()],
        })
    }

    /// f V† of every sample, and the mean of ‖f‖².
    fn project(
        &self,
        features: &Features<'_>,
        samples: ArrayView2<'_, f32>,
        observe: &mut dyn FnMut(usize),
    ) -> Result<(Array2<f32>, f64)> {
        let (width, count) = (features.width(), self.components());
        let base = matrix(&self.rows, count, width, width).transpose();
        let inputs = samples.ncols();
        let total = samples.nrows();
        let samples = samples.as_standard_layout();
        let samples = samples.as_slice().expect("it lies in one piece");
        let block = |first: usize, samples: &[f32], out: &mut [f32]| -> Result<f64> {
            let rows = samples.len() / inputs;
            let mut stacked = vec![0.0; rows * width];
            features.compute(samples, first, &mut stacked)?;
            let square: f64 = stacked.iter().map(|&f| f64::from(f * f)).sum();
            // The features and, below, the swapped ones: real parts and imaginary parts from one product.
            stacked.extend(swap(&stacked, width));
            let mut products = vec![0.0; 2 * rows * count];
            let stacked = matrix(&stacked, 2 * rows, width, width);
            multiply(
                matrix_mut(&mut products, 2 * rows, count, count),
                stacked,
                base,
                1.0,
            );
            let (re, im) = products.split_at(rows * count);
            let parts = re.chunks_exact(count).zip(im.chunks_exact(count));
            for (out, (re, im)) in out.chunks_exact_mut(2 * count).zip(parts) {
                out[..count].copy_from_slice(re);
                out[count..].copy_from_slice(im);
            }
            Ok(square)
        };
        let mut coordinates = Array2::zeros((total, 2 * count));
        let all = coordinates.as_slice_mut().expect("it lies in one piece");
        let mut square = 0.0;
        for (at, out) in all.chunks_mut(BLOCKS * BLOCK * 2 * count).enumerate() {
            let first = at * BLOCKS * BLOCK;
            let squares: Vec<Result<f64>> = out
                .par_chunks_mut(BLOCK * 2 * count)
                .enumerate()
                .map(|(at, out)| {
                    let first = first + at * BLOCK;
                    let end = total.min(first + BLOCK);
                    block(first, &samples[first * inputs..end * inputs], out)
                })
                .collect();
            square += squares.into_iter().sum::<Result<f64>>()?;
            observe(total.min(first + BLOCKS * BLOCK));
        }
        Ok((coordinates, square / total as f64))
    }

    /// The principal axes of `coordinates` in this base, and the coordinates along them; `None` where all are the same.
    fn rotated(&self, coordinates: &Array2<f32>, components: usize) -> Option<(Self, Array2<f32>)> {
        let (samples, count) = (coordinates.nrows(), self.components());
        let mean: Vec<f64> = coordinates
            .axis_iter(Axis(1))
            .map(|column| column.iter().map(|&c| f64::from(c)).sum::<f64>() / samples as f64)
            .collect();
        let eigen = hermitian(&covariance(coordinates, &mean), count);
        let kept = eigen.largest(components);
        if kept.is_empty() {
            return None;
        }
        let q = |l: usize, k: usize| eigen.vectors[(l, kept[k])];
        // p = (c − c̄) Q as one real product of (Re c, Im c).
        let wide = 2 * kept.len();
        let mut turn = vec![0.0; 2 * count * wide];
        for (l, row) in turn.chunks_exact_mut(wide).enumerate() {
            for (k, number) in row.iter_mut().enumerate() {
                let q = q(l % count, k % kept.len());
                *number = match (l < count, k < kept.len()) {
                    (true, true) | (false, false) => q.re,
                    (true, false) => q.im,
                    (false, true) => -q.im,
                } as f32;
            }
        }
        let turn = matrix(&turn, 2 * count, wide, wide);
        let mut turned = Array2::zeros((samples, wide));
        let out = turned.as_slice_mut().expect("it lies in one piece");
        let from = coordinates.as_slice().expect("it lies in one piece");
        out.par_chunks_mut(BLOCK * wide)
            .zip(from.par_chunks(BLOCK * 2 * count))
            .for_each(|(out, from)| {
                let centred = from.chunks_exact(2 * count).flat_map(|row| {
                    let centre = |(c, mean): (&f32, &f64)| (f64::from(*c) - mean) as f32;
                    row.iter().zip(&mean).map(centre)
                });
                let centred: Vec<f32> = centred.collect();
                let rows = out.len() / wide;
                let centred = matrix(&centred, rows, 2 * count, 2 * count);
                multiply(matrix_mut(out, rows, wide, wide), centred, turn, 1.0);
            });
        let mean_along = |k: usize| {
            let terms = (0..count).map(|l| c64::new(mean[l], mean[count + l]) * q(l, k));
            terms.fold(c64::new(0.0, 0.0), |sum, term| sum + term)
        };
        let means: Vec<c64> = (0..kept.len()).map(mean_along).collect();
        let offset = means.iter().map(|m| m.re as f32);
        // v'_k = Σ_l conj(q_lk) v_l
        let adjoint = |part: fn(c64) -> f64| -> Vec<f32> {
            let row = |k: usize| (0..count).map(move |l| part(q(l, k).conj()) as f32);
            (0..kept.len()).flat_map(row).collect()
        };
        let width = self.rows.len() / count;
        let swapped = swap(&self.rows, width);
        let projection = Projection {
            rows: combine(
                [&adjoint(|q| q.re), &adjoint(|q| q.im)],
                [&self.rows, &swapped],
                width,
            ),
            offset: offset.chain(means.iter().map(|m| m.im as f32)).collect(),
        };
        Some((projection, turned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::features::Kind;
    use crate::model::file::encode_array;
    use crate::numeric::random::{Purpose, stream};
    use bispectral_core::{Complex32, Model};
    use faer::Mat;
    use rand::RngExt;

    /// A random model of 6 inputs and 4 rows, and random signals.
    fn example(count: usize) -> (Vec<u8>, Array2<f32>) {
        let mut random = stream(0, Purpose::Classifier);
        let mut number = || 2.0 * random.random::<f32>() - 1.0;
        let w = Array2::from_shape_simple_fn((4, 6), || Complex32::new(number(), number()));
        let bytes = encode_array(&w.view(), "random", None).unwrap();
        (bytes, Array2::from_shape_simple_fn((count, 6), number))
    }

    fn features(bytes: &[u8]) -> Features<'_> {
        Features {
            model: Model::from_bytes(bytes).unwrap(),
            kind: Kind::Invariants,
            exponent: 1.0,
            views: 1,
        }
    }

    #[test]
    fn samples_that_are_all_the_same_have_no_components() {
        let w = ndarray::array![[Complex32::new(1.0, 0.0)]];
        let bytes = encode_array(&w.view(), "one", None).unwrap();
        let samples = Array2::from_shape_fn((10, 1), |(row, _)| 1.0 + row as f32);
        let fitted = Projection::fit(&features(&bytes), samples.view(), 3, &mut |_| {});
        let line = fitted.unwrap_err().to_string();
        assert!(
            line.starts_with("samples: all of them have the same features: "),
            "{line}"
        );
    }

    /// Means of p_k conj(p_l).
    fn correlations(coordinates: &Array2<f32>) -> Mat<c64> {
        let count = coordinates.ncols() / 2;
        let part = |row: usize, k: usize| {
            let [re, im] = [k, count + k].map(|at| f64::from(coordinates[(row, at)]));
            c64::new(re, im)
        };
        Mat::from_fn(count, count, |k, l| {
            let terms = (0..coordinates.nrows()).map(|row| part(row, k) * part(row, l).conj());
            terms.fold(c64::new(0.0, 0.0), |sum, term| sum + term) / coordinates.nrows() as f64
        })
    }

    #[test]
    fn all_components_hold_all_there_is() {
        let (bytes, samples) = example(400);
        let fitted = Projection::fit(&features(&bytes), samples.view(), 10, &mut |_| {}).unwrap();
        assert_eq!(fitted.projection.components(), 10);
        assert!((fitted.held - 1.0).abs() < 1e-5, "{}", fitted.held);
    }

    #[test]
    fn components_are_uncorrelated_and_the_largest_come_first() {
        let (bytes, samples) = example(400);
        let fitted = Projection::fit(&features(&bytes), samples.view(), 10, &mut |_| {}).unwrap();
        let found = correlations(&fitted.coordinates);
        for k in 0..10 {
            for l in 0..k {
                // f32 coordinates of variances below one.
                assert!(found[(k, l)].norm() < 1e-6, "{k}, {l}: {}", found[(k, l)]);
                assert!(found[(k, k)].re <= found[(l, l)].re);
            }
        }
        assert!(found[(9, 9)].re > 1e-5, "ten dimensions are excited");
    }

    /// The error of ten features from a few components, computed by hand, is what the others hold.
    #[test]
    fn fewer_components_are_the_first_of_all() {
        let (bytes, samples) = example(400);
        let fit = |components| {
            Projection::fit(&features(&bytes), samples.view(), components, &mut |_| {}).unwrap()
        };
        let (all, some) = (fit(10), fit(8));
        let [of_all, of_some] = [&all, &some].map(|fitted| correlations(&fitted.coordinates));
        for k in 0..8 {
            let (all, some) = (of_all[(k, k)].re, of_some[(k, k)].re);
            assert!(
                (all - some).abs() < 1e-5 * of_all[(0, 0)].re,
                "{k}: {all}, {some}"
            );
        }
        assert!(some.held < all.held && some.held > 0.8, "{}", some.held);
    }

    #[test]
    fn applied_to_the_same_samples_it_gives_the_same_coordinates() {
        let (bytes, samples) = example(300);
        let features = features(&bytes);
        let fitted = Projection::fit(&features, samples.view(), 6, &mut |_| {}).unwrap();
        let mut done = Vec::new();
        let applied = fitted
            .projection
            .apply(&features, samples.view(), &mut |d| done.push(d))
            .unwrap();
        assert_eq!(done, [300]);
        for (a, b) in applied.iter().zip(&fitted.coordinates) {
            // f32 sums of ten features of at most one.
            assert!((a - b).abs() < 1e-5, "{a} {b}");
        }
    }

    #[test]
    fn fewer_samples_than_components_give_as_many_as_there_are() {
        let (bytes, samples) = example(3);
        let fitted = Projection::fit(&features(&bytes), samples.view(), 10, &mut |_| {}).unwrap();
        assert!((1..=3).contains(&fitted.projection.components()));
        assert!(fitted.projection.takes(20) && !fitted.projection.takes(18));
    }
}
