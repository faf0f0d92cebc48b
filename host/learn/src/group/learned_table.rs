//! The Cayley table that W implies (the paper's Algorithm 1): row i times row j is the row most like W_i ⊙ W_j.

use super::Cayley;
use crate::limits::interruption;
use crate::numeric::matrix::{matrix, matrix_mut, multiply};
use crate::{Error, Result};
use ndarray::ArrayView2;
use num_complex::Complex32;
use rayon::prelude::*;

/// A table takes R³N multiplications; for so many rows that is half a minute on two cores.
pub const MOST_ROWS: usize = 1024;

/// Rows of the table's upper triangle that are multiplied at a time.
const ROWS: usize = 64;

/// A Cayley table with how sure each cell is.
#[derive(Debug, Clone, PartialEq)]
pub struct LearnedTable {
    table: Cayley,
    confidence: Vec<f32>,
}

impl LearnedTable {
    /// The cell (i, j) holds k* = argmax_k |⟨W_i ⊙ W_j, W_k⟩|, the lowest of equals.
    ///
    /// ```
    /// use bispectral_learn::{data::group::Group, group::{Cayley, LearnedTable}};
    /// use num_complex::Complex32;
    ///
    /// let group: Group = "Z4xZ2".parse()?;
    /// let w = group.characters().mapv(|w| Complex32::new(w.re as f32, w.im as f32));
    /// let learned = LearnedTable::of(&w.view())?;
    /// assert_eq!(*learned.table(), Cayley::of(&group));
    /// assert!(learned.confidence(3, 5) > 0.9999);
    /// # Ok::<(), bispectral_learn::Error>(())
    /// ```
    ///
    /// # Errors
    /// W is empty or has too many rows, or a number in it is not finite.
    pub fn of(w: &ArrayView2<'_, Complex32>) -> Result<Self> {
        let (rows, inputs) = w.dim();
        if rows == 0 || inputs == 0 || rows > MOST_ROWS {
            return Err(Error::new(
                "W",
                format!("{rows} rows of {inputs} numbers have no table"),
                format!("take between 1 and {MOST_ROWS} rows"),
            ));
        }
        if let Some(((row, input), _)) = w.indexed_iter().find(|(_, w)| !w.is_finite()) {
            return Err(Error::new(
                "W",
                format!("row {row}, input {input} is not finite"),
                "train again, or import another W",
            ));
        }
        let w = unit_rows(w);
        let mut cells = vec![(0_u16, 0.0_f32); rows * rows];
        cells
            .par_chunks_mut(rows)
            .enumerate()
            .for_each(|(i, cells)| {
                interruption::check();
                products_with(&w, inputs, i, cells);
            });
        for i in 0..rows {
            for j in 0..i {
                cells[i * rows + j] = cells[j * rows + i];
            }
        }
        let (products, confidence) = cells.into_iter().unzip();
        Ok(LearnedTable {
            table: Cayley::new(rows, products)?,
            confidence,
        })
    }

    /// The table.
    #[must_use]
    pub fn table(&self) -> &Cayley {
        &self.table
    }

    /// |⟨W_i ⊙ W_j, W_k⟩| / ‖W_i ⊙ W_j‖ for the k of the cell: 1 where the product is that row up to a factor.
    ///
    /// # Panics
    /// There is no such cell.
    #[must_use]
    pub fn confidence(&self, i: usize, j: usize) -> f32 {
        self.confidence[i * self.table.order() + j]
    }

    /// The confidence of every cell, row after row.
    #[must_use]
    pub fn confidences(&self) -> &[f32] {
        &self.confidence
    }
}

/// [Re W_k, Im W_k] at unit length, row after row; a row of zeros stays one.
fn unit_rows(w: &ArrayView2<'_, Complex32>) -> Vec<f32> {
    let mut rows = Vec::with_capacity(2 * w.len());
    for row in w.rows() {
        // In doubles, where no square of an f32 overflows.
        let square = |w: &Complex32| f64::from(w.re).powi(2) + f64::from(w.im).powi(2);
        let length = row.iter().map(square).sum::<f64>().sqrt();
        let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
        let scaled = |part: f32| (f64::from(part) * scale) as f32;
        rows.extend(row.iter().map(|w| scaled(w.re)));
        rows.extend(row.iter().map(|w| scaled(w.im)));
    }
    rows
}

/// Cells (i, i) … (i, R − 1).
fn products_with(w: &[f32], inputs: usize, i: usize, cells: &mut [(u16, f32)]) {
    let (rows, stride) = (cells.len(), 2 * inputs);
    let row = |k: usize| w[k * stride..][..stride].split_at(inputs);
    let all = matrix(w, rows, stride, stride).transpose();
    let (i_re, i_im) = row(i);
    let firsts: Vec<usize> = (i..rows).step_by(ROWS).collect();
    for first in firsts {
        let count = ROWS.min(rows - first);
        // ⟨P, W_k⟩ = Σ P·conj(W_k): its real part is [Re P, Im P]·[Re W, Im W], its imaginary part [Im P, −Re P]·…
        let mut products = vec![0.0; 2 * count * stride];
        let (real, imaginary) = products.split_at_mut(count * stride);
        let mut lengths = Vec::with_capacity(count);
        let lines = real
            .chunks_exact_mut(stride)
            .zip(imaginary.chunks_exact_mut(stride));
        for (j, (real, imaginary)) in (first..).zip(lines) {
            let (j_re, j_im) = row(j);
            let mut length = 0.0;
            for n in 0..inputs {
                let product = Complex32::new(i_re[n], i_im[n]) * Complex32::new(j_re[n], j_im[n]);
                (real[n], real[inputs + n]) = (product.re, product.im);
                (imaginary[n], imaginary[inputs + n]) = (product.im, -product.re);
                length += product.norm_sqr();
            }
            lengths.push(length.sqrt());
        }
        let mut inner = vec![0.0; 2 * count * rows];
        let to = matrix_mut(&mut inner, 2 * count, rows, rows);
        multiply(to, matrix(&products, 2 * count, stride, stride), all, 1.0);
        let (real, imaginary) = inner.split_at(count * rows);
        let lines = real.chunks_exact(rows).zip(imaginary.chunks_exact(rows));
        for ((cell, (re, im)), length) in cells[first..].iter_mut().zip(lines).zip(lengths) {
            *cell = best(re, im, length);
        }
    }
}

/// The k of the largest modulus, and that in units of `length`.
fn best(re: &[f32], im: &[f32], length: f32) -> (u16, f32) {
    let mut best = (0, 0.0);
    for (k, (re, im)) in (0..).zip(re.iter().zip(im)) {
        let square = re * re + im * im;
        if square > best.1 {
            best = (k, square);
        }
    }
    let confidence = if length > 0.0 {
        best.1.sqrt() / length
    } else {
        0.0
    };
    (best.0, confidence.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex64;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn random(rows: usize, inputs: usize, seed: u64) -> ndarray::Array2<Complex32> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut number = || random.random_range(-1.0..1.0);
        ndarray::Array2::from_shape_simple_fn((rows, inputs), || Complex32::new(number(), number()))
    }

    /// In doubles, one number after the other.
    fn overlaps(w: &ndarray::Array2<Complex32>, i: usize, j: usize) -> Vec<f64> {
        let wide = |w: Complex32| Complex64::new(w.re.into(), w.im.into());
        let of = |k: usize| w.row(k).into_iter().map(|w| wide(*w)).collect::<Vec<_>>();
        let length = |x: &[Complex64]| x.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt();
        let product: Vec<Complex64> = of(i).iter().zip(of(j)).map(|(a, b)| a * b).collect();
        (0..w.nrows())
            .map(|k| {
                let row = of(k);
                let inner: Complex64 = product.iter().zip(&row).map(|(p, w)| p * w.conj()).sum();
                inner.norm() / (length(&product) * length(&row))
            })
            .collect()
    }

    #[test]
    fn every_cell_is_the_row_most_like_the_product() {
        // More rows than a block holds, and a block's remainder.
        for (rows, inputs) in [(1, 1), (5, 3), (70, 9), (3, 40)] {
            let w = random(rows, inputs, 4);
            let learned = LearnedTable::of(&w.view()).unwrap();
            for (i, j) in (0..rows).flat_map(|i| (0..rows).map(move |j| (i, j))) {
                let overlaps = overlaps(&w, i, j);
                let (k, found) = (learned.table().product(i, j), learned.confidence(i, j));
                let most = overlaps.iter().copied().fold(0.0, f64::max);
                // Sums of up to 80 products in f32.
                assert!((overlaps[k] - most).abs() < 1e-5, "{i}, {j}");
                assert!((f64::from(found) - most).abs() < 1e-5, "{i}, {j}: {found}");
            }
        }
    }

    #[test]
    fn the_length_of_rows_does_not_matter_and_zeros_are_not_sure() {
        let mut w = random(6, 8, 1);
        let table = LearnedTable::of(&w.view()).unwrap();
        w.row_mut(2).mapv_inplace(|w| w * 1e30);
        w.row_mut(3).mapv_inplace(|w| w * 1e-30);
        assert_eq!(LearnedTable::of(&w.view()).unwrap().table(), table.table());
        w.row_mut(4).fill(Complex32::ZERO);
        assert_eq!(LearnedTable::of(&w.view()).unwrap().confidence(4, 1), 0.0);
    }

    #[test]
    fn what_has_no_table_is_refused_in_one_line() {
        let mut w = random(2, 3, 0);
        w[(1, 2)].im = f32::NAN;
        let line = LearnedTable::of(&w.view()).unwrap_err().to_string();
        assert!(
            line.starts_with("W: row 1, input 2 is not finite: "),
            "{line}"
        );
        for (rows, inputs) in [(0, 3), (3, 0), (MOST_ROWS + 1, 1)] {
            let w = ndarray::Array2::zeros((rows, inputs));
            assert!(LearnedTable::of(&w.view()).is_err(), "{rows} by {inputs}");
        }
    }
}
