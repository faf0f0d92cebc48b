//! The angular order of a row: what it turns by when an image is rotated.
//!
//! A row that sees rotation by θ as multiplication by e^{imθ} has c(θ) = ⟨W_i R_θ, W_i⟩ ∝ e^{imθ}. In general
//! c(θ) = Σ_m p_m e^{imθ}, where p_m is how much of the row has order m: its angular spectrum, from the same rotation of
//! pixels that moves the images.

use bispectral_learn::data::rotate::{DEGREES, Rotation};
use ndarray::ArrayView2;
use num_complex::{Complex32, Complex64};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// Every so many degrees is enough for orders up to 30, and whole for the quarter turns of the grid.
const STEP: usize = 4;
const ANGLES: usize = DEGREES / STEP;
const HIGHEST: i32 = 30;
/// A row with at least this share of its spectrum at one order is pure; interpolation on a grid of 16 × 16 leaves 0.9 of
/// a ring of order five.
pub const PURE: f64 = 0.8;

/// A row's main order, and how much of its spectrum that is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// m
    pub order: i32,
    /// p_m / Σ |p|, between 0 and 1.
    pub purity: f64,
}

/// Whether the products of rows have the orders that a group's would have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Products {
    /// Pairs of pure rows, each row with itself among them.
    pub pairs: usize,
    /// Those whose product has the order m_i + m_j.
    pub additive: usize,
}

/// The rotations by which orders are measured, for images of `size` × `size` pixels.
#[derive(Debug)]
pub struct Angular {
    rotations: Vec<Rotation>,
    size: usize,
}

impl Angular {
    /// # Panics
    /// `size` is less than 2 or more than 65,535.
    #[must_use]
    pub fn new(size: usize) -> Self {
        let angles = (0..ANGLES).map(|k| Rotation::in_disk(size, k * STEP));
        Angular {
            rotations: angles.collect(),
            size,
        }
    }

    /// The order of every row.
    ///
    /// # Panics
    /// Rows are not of size × size pixels.
    #[must_use]
    pub fn orders(&self, w: &ArrayView2<'_, Complex32>) -> Vec<Order> {
        assert_eq!(w.ncols(), self.size * self.size, "pixels");
        let rows: Vec<_> = w.rows().into_iter().collect();
        rows.par_iter()
            .map(|row| self.order(&row.to_vec()))
            .collect()
    }

    /// Where the products of pure rows land.
    ///
    /// # Panics
    /// Rows are not of size × size pixels, or there are not as many orders.
    #[must_use]
    pub fn products(&self, w: &ArrayView2<'_, Complex32>, orders: &[Order]) -> Products {
        assert_eq!(w.nrows(), orders.len(), "an order for every row");
        let pure: Vec<usize> = (0..orders.len())
            .filter(|&row| orders[row].purity >= PURE)
            .collect();
        let pairs: Vec<(usize, usize)> = pure
            .iter()
            .flat_map(|&i| pure.iter().filter(move |&&j| i <= j).map(move |&j| (i, j)))
            .collect();
        let additive = pairs.par_iter().filter(|&&(i, j)| {
            let rows = w.row(i).into_iter().zip(w.row(j));
            let product: Vec<Complex32> = rows.map(|(a, b)| a * b).collect();
            self.order(&product).order == orders[i].order + orders[j].order
        });
        Products {
            additive: additive.count(),
            pairs: pairs.len(),
        }
    }

    fn order(&self, row: &[Complex32]) -> Order {
        let part = |of: fn(&Complex32) -> f32| row.iter().map(of).collect::<Vec<f32>>();
        let parts = [part(|w| w.re), part(|w| w.im)];
        let mut turned = [vec![0.0; row.len()], vec![0.0; row.len()]];
        // ⟨W_i R_θ, W_i⟩ = Σ_n W_i(n) (R_θ conj W_i)(n): the rotation of pixels applied to the conjugate.
        let c: Vec<Complex64> = self
            .rotations
            .iter()
            .map(|rotation| {
                for (part, turned) in parts.iter().zip(&mut turned) {
                    rotation.apply(part, turned);
                }
                let conjugates = turned[0].iter().zip(&turned[1]);
                let terms = row.iter().zip(conjugates).map(|(w, (&re, &im))| {
                    Complex64::new(w.re.into(), w.im.into())
                        * Complex64::new(re.into(), -f64::from(im))
                });
                terms.sum()
            })
            .collect();
        let spectrum = (-HIGHEST..=HIGHEST).map(|m| {
            let terms = c.iter().enumerate().map(|(k, c)| {
                let angle = -TAU * f64::from(m) * k as f64 / ANGLES as f64;
                (c * Complex64::from_polar(1.0, angle)).re
            });
            (m, terms.sum::<f64>() / ANGLES as f64)
        });
        let spectrum: Vec<(i32, f64)> = spectrum.collect();
        let all: f64 = spectrum.iter().map(|(_, p)| p.abs()).sum();
        let most = spectrum.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let (order, p) = most.copied().unwrap_or_default();
        Order {
            order,
            purity: if all > 0.0 { p / all } else { 0.0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    /// e^{imφ} on a smooth ring, φ counter-clockwise from the right.
    fn harmonic(size: usize, m: i32) -> Vec<Complex32> {
        let centre = (size as f64 - 1.0) / 2.0;
        (0..size * size)
            .map(|n| {
                let (v, h) = ((n / size) as f64 - centre, (n % size) as f64 - centre);
                let (r, phi) = (v.hypot(h) / centre, (-v).atan2(h));
                let ring = (-((r - 0.6) / 0.2).powi(2)).exp();
                let w = Complex64::from_polar(ring, f64::from(m) * phi);
                Complex32::new(w.re as f32, w.im as f32)
            })
            .collect()
    }

    #[test]
    fn a_disk_harmonic_has_its_order_and_so_have_products() {
        let angular = Angular::new(16);
        let orders = [0, 1, -2, 3, -5];
        let rows = orders.iter().flat_map(|&m| harmonic(16, m)).collect();
        let w = Array2::from_shape_vec((5, 256), rows).unwrap();
        let found = angular.orders(&w.view());
        for (found, order) in found.iter().zip(orders) {
            // z(R_θ x) for a counter-clockwise turn: the row e^{imφ} sees x turned back, which is e^{imθ}.
            assert_eq!(found.order, order, "{found:?}");
            assert!(found.purity > PURE, "{found:?}");
        }
        let products = angular.products(&w.view(), &found);
        assert_eq!((products.pairs, products.additive), (15, 15));
    }

    #[test]
    fn a_mixture_is_not_pure() {
        let both = harmonic(16, 2)
            .iter()
            .zip(harmonic(16, 5))
            .map(|(a, b)| a + b)
            .collect();
        let w = Array2::from_shape_vec((1, 256), both).unwrap();
        let found = Angular::new(16).orders(&w.view());
        assert!((0.3..0.7).contains(&found[0].purity), "{found:?}");
        assert_eq!(Angular::new(16).products(&w.view(), &found).pairs, 0);
    }
}
