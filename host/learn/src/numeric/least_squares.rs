//! Nonlinear least squares by Levenberg and Marquardt: (JᵀJ + λ D) δ = −Jᵀr, with λ lowered where the step is good.

use ndarray::{Array1, Array2};

/// What came of a minimisation.
#[derive(Debug, Clone, PartialEq)]
pub struct Minimum {
    /// Where it ended.
    pub at: Vec<f64>,
    /// ‖r‖² there.
    pub residual: f64,
    /// Steps that were tried.
    pub steps: usize,
}

/// Goes down ‖r(x)‖² from `start`, until it is below `tolerance`, no step helps, or `most` steps were tried. `of` gives the
/// residuals, and their Jacobian where that is asked for.
pub fn least_squares(
    start: Vec<f64>,
    tolerance: f64,
    most: usize,
    residuals: impl Fn(&[f64]) -> Vec<f64>,
    jacobian: impl Fn(&[f64]) -> Array2<f64>,
) -> Minimum {
    let square = |r: &[f64]| r.iter().map(|r| r * r).sum::<f64>();
    let mut at = start;
    let mut r = residuals(&at);
    let mut value = square(&r);
    let mut damping = 1e-2;
    let mut steps = 0;
    while steps < most && value > tolerance && value.is_finite() {
        let j = jacobian(&at);
        let gradient = j.t().dot(&Array1::from(r.clone()));
        let normal = j.t().dot(&j);
        let mean = normal.diag().sum() / normal.nrows().max(1) as f64;
        let mut improved = false;
        while steps < most {
            steps += 1;
            let mut damped = normal.clone();
            for k in 0..damped.nrows() {
                damped[(k, k)] += damping * (normal[(k, k)] + 1e-3 * mean);
            }
            let step = cholesky_solve(damped, gradient.to_vec());
            let Some(step) = step else {
                damping *= 10.0;
                if damping > 1e12 {
                    break;
                }
                continue;
            };
            let next: Vec<f64> = at.iter().zip(&step).map(|(x, step)| x - step).collect();
            let next_r = residuals(&next);
            let next_value = square(&next_r);
            if next_value < value {
                let little = value - next_value < 1e-9 * value;
                (at, r, value) = (next, next_r, next_value);
                damping = (damping * 0.2).max(1e-14);
                // Creeping along a valley that does not end at zero.
                improved = !little || value < 1e-6;
                break;
            }
            damping *= 4.0;
            if damping > 1e12 {
                break;
            }
        }
        if !improved {
            break;
        }
    }
    Minimum {
        at,
        residual: value,
        steps,
    }
}

/// A⁻¹ b for a symmetric positive definite A; `None` where it is not.
fn cholesky_solve(mut a: Array2<f64>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = b.len();
    let a = a.as_slice_mut()?;
    for j in 0..n {
        for i in j..n {
            let (row_i, row_j) = (&a[i * n..i * n + j], &a[j * n..j * n + j]);
            let dot: f64 = row_i.iter().zip(row_j).map(|(x, y)| x * y).sum();
            let rest = a[i * n + j] - dot;
            a[i * n + j] = if i == j {
                if rest <= 0.0 || !rest.is_finite() {
                    return None;
                }
                rest.sqrt()
            } else {
                rest / a[j * n + j]
            };
        }
    }
    for i in 0..n {
        let dot: f64 = a[i * n..i * n + i].iter().zip(&b).map(|(x, y)| x * y).sum();
        b[i] = (b[i] - dot) / a[i * n + i];
    }
    for i in (0..n).rev() {
        let dot: f64 = (i + 1..n).map(|k| a[k * n + i] * b[k]).sum();
        b[i] = (b[i] - dot) / a[i * n + i];
    }
    Some(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_valley_of_rosenbrock_is_followed_to_its_end() {
        let residuals = |x: &[f64]| vec![10.0 * (x[1] - x[0] * x[0]), 1.0 - x[0]];
        let jacobian = |x: &[f64]| ndarray::array![[-20.0 * x[0], 10.0], [-1.0, 0.0]];
        let found = least_squares(vec![-1.2, 1.0], 1e-24, 200, residuals, jacobian);
        assert!(
            found.residual < 1e-24 && (found.at[0] - 1.0).abs() < 1e-9,
            "{found:?}"
        );
    }

    #[test]
    fn a_linear_system_is_solved() {
        let matrix = ndarray::array![[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]];
        let found = cholesky_solve(matrix.clone(), vec![1.0, 2.0, 3.0]).unwrap();
        let product = matrix.dot(&Array1::from(found)).to_vec();
        assert!(
            product
                .iter()
                .zip([1.0, 2.0, 3.0])
                .all(|(a, b)| (a - b).abs() < 1e-12)
        );
        assert_eq!(cholesky_solve(ndarray::array![[-1.0]], vec![1.0]), None);
    }
}
