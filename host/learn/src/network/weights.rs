//! W ∈ C^{R×N}, real and imaginary parts apart.

use crate::numeric::Real;
use ndarray::{Array2, ArrayView2};
use num_complex::Complex;

/// The weights of a bispectral network: R rows of N complex numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Network<T> {
    rows: usize,
    inputs: usize,
    re: Vec<T>,
    im: Vec<T>,
}

/// ∂L/∂Re W and ∂L/∂Im W, row after row.
#[derive(Debug, Clone, Copy)]
pub struct Gradient<'a, T> {
    /// R·N derivatives by the real parts.
    pub re: &'a [T],
    /// R·N derivatives by the imaginary parts.
    pub im: &'a [T],
}

impl<T: Real> Network<T> {
    /// From a complex matrix, one row an irrep.
    #[must_use]
    pub fn from_array(w: &ArrayView2<'_, Complex<T>>) -> Self {
        Network {
            rows: w.nrows(),
            inputs: w.ncols(),
            re: w.iter().map(|w| w.re).collect(),
            im: w.iter().map(|w| w.im).collect(),
        }
    }

    /// As a complex matrix.
    #[must_use]
    pub fn to_array(&self) -> Array2<Complex<T>> {
        Array2::from_shape_fn((self.rows, self.inputs), |(i, n)| {
            let place = i * self.inputs + n;
            Complex::new(self.re[place], self.im[place])
        })
    }

    /// R.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// N.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Re W, row after row.
    #[must_use]
    pub fn re(&self) -> &[T] {
        &self.re
    }

    /// Im W, row after row.
    #[must_use]
    pub fn im(&self) -> &[T] {
        &self.im
    }

    /// Re W and Im W, to be changed.
    pub fn parts_mut(&mut self) -> (&mut [T], &mut [T]) {
        (&mut self.re, &mut self.im)
    }

    /// Brings every row to unit length. A row of zeros stays one.
    pub fn normalise_rows(&mut self) {
        let inputs = self.inputs.max(1);
        let rows = self.re.chunks_exact_mut(inputs);
        for (re, im) in rows.zip(self.im.chunks_exact_mut(inputs)) {
            // In doubles, where no square of an f32 overflows.
            let square = |w: &T| w.wide() * w.wide();
            let length = re.iter().chain(&*im).map(square).sum::<f64>().sqrt();
            if length > 0.0 {
                let scale = T::rounded(1.0 / length);
                re.iter_mut().chain(im).for_each(|w| *w *= scale);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::{Complex32, Complex64};

    #[test]
    fn an_array_comes_back_as_it_was() {
        let w = Array2::from_shape_fn((3, 5), |(i, n)| Complex64::new(i as f64, -(n as f64)));
        assert_eq!(Network::from_array(&w.view()).to_array(), w);
        let turned = w.t();
        assert_eq!(Network::from_array(&turned).to_array(), turned);
    }

    #[test]
    fn rows_have_unit_length_and_zeros_stay_zeros() {
        let w = ndarray::array![
            [Complex32::new(3.0, 0.0), Complex32::new(0.0, -4.0)],
            [Complex32::ZERO, Complex32::ZERO],
            [Complex32::new(1e30, 1e30), Complex32::new(-1e30, 1e30)],
        ];
        let mut network = Network::from_array(&w.view());
        network.normalise_rows();
        let w = network.to_array();
        assert_eq!(w[(0, 0)], Complex32::new(0.6, 0.0));
        assert_eq!(w[(0, 1)], Complex32::new(0.0, -0.8));
        assert_eq!(w[(1, 0)], Complex32::ZERO);
        assert_eq!(w[(2, 1)], Complex32::new(-0.5, 0.5));
    }
}
