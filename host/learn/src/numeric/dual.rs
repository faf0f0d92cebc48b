//! The dual of a basis: (U Uᵀ)⁻¹ U, by which x = Σ_k (U x)_k dual_k of everything that the rows of U span.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use ndarray::Array2;

/// The dual of these rows; `None` where they depend on each other.
#[must_use]
pub fn dual(rows: &Array2<f64>) -> Option<Array2<f64>> {
    let u = Mat::from_fn(rows.nrows(), rows.ncols(), |row, n| rows[(row, n)]);
    let dual = (&u * u.transpose()).llt(Side::Lower).ok()?.solve(&u);
    Some(Array2::from_shape_fn(rows.raw_dim(), |at| dual[at]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn a_vector_is_the_sum_of_its_coefficients_times_the_dual() {
        let rows = array![[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]];
        let dual = dual(&rows).unwrap();
        let x = rows.t().dot(&array![2.0, -1.0]);
        let rebuilt = dual.t().dot(&rows.dot(&x));
        assert!((rebuilt - x).iter().all(|off| off.abs() < 1e-12));
        assert_eq!(super::dual(&array![[1.0, 2.0], [2.0, 4.0]]), None);
    }
}
