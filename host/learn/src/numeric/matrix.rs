//! Slices as matrices, and their product. Every matrix here lies row after row, `stride` numbers apart.

use super::Real;
use crate::limits::interruption;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// The first `columns` of `rows` rows.
pub(crate) fn matrix<T>(slice: &[T], rows: usize, columns: usize, stride: usize) -> MatRef<'_, T> {
    MatRef::from_column_major_slice_with_stride(slice, columns, rows, stride).transpose()
}

/// [`matrix`], to be written.
pub(crate) fn matrix_mut<T>(
    slice: &mut [T],
    rows: usize,
    columns: usize,
    stride: usize,
) -> MatMut<'_, T> {
    // Not `from_row_major_slice_with_stride_mut`, which in faer 0.24.4 makes a column-major matrix.
    MatMut::from_column_major_slice_with_stride_mut(slice, columns, rows, stride).transpose_mut()
}

/// to ← α·lhs·rhs.
pub(crate) fn multiply<T: Real>(
    to: MatMut<'_, T>,
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
    alpha: T,
) {
    interruption::check();
    // On this thread alone: how it splits its sums then does not depend on how many threads there are.
    matmul(to, Accum::Replace, lhs, rhs, alpha, Par::Seq);
}

/// to ← to + α·lhs·rhs.
pub(crate) fn multiply_add<T: Real>(
    to: MatMut<'_, T>,
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
    alpha: T,
) {
    interruption::check();
    matmul(to, Accum::Add, lhs, rhs, alpha, Par::Seq);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of up to 40 products of small integers are exact in f32 in any order.
    #[test]
    fn products_are_right_whatever_the_strides() {
        let numbers = |len: usize| (0..len).map(|k| (k % 11) as f32 - 5.0).collect::<Vec<_>>();
        for (m, n, k) in [
            (1, 1, 1),
            (1, 9, 2),
            (7, 1, 40),
            (32, 5, 3),
            (100, 33, 40),
            (64, 64, 17),
        ] {
            let (lhs, rhs) = (numbers(m * (k + 2)), numbers(n * (k + 3)));
            let mut to = vec![9.0; m * (n + 1)];
            let (a, b) = (
                matrix(&lhs, m, k, k + 2),
                matrix(&rhs, n, k, k + 3).transpose(),
            );
            multiply(matrix_mut(&mut to, m, n, n + 1), a, b, 1.0);
            multiply_add(matrix_mut(&mut to, m, n, n + 1), a, b, 2.0);
            for (i, row) in to.chunks_exact(n + 1).enumerate() {
                for (j, found) in row[..n].iter().enumerate() {
                    let terms = (0..k).map(|l| lhs[i * (k + 2) + l] * rhs[j * (k + 3) + l]);
                    assert_eq!(*found, 3.0 * terms.sum::<f32>(), "{m}×{n}×{k} at {i}, {j}");
                }
                assert_eq!(row[n], 9.0, "{m}×{n}×{k} overran row {i}");
            }
        }
    }
}
