//! The rows that products are made of, and which of them to take: orthogonal least squares (Chen, Billings and Luo 1989).
//!
//! The rows are taken one by one, each time that one which leaves the least error together with those taken before,
//! whose coefficients are then solved for anew.

use super::Products;
use crate::numeric::whitening::square_root;
use bispectral_core::Complex32;
use bispectral_core::format::Row;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par, c64};

/// A row that has less than this share of itself outside the rows taken already is none: its coefficient would be
/// large and cancel theirs, and all coefficients share one scale.
const LEAST_OUTSIDE: f64 = 1e-3;

/// One row of the device in one product.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Term {
    pub(super) row: Row,
    pub(super) value: c64,
}

/// The stored rows and their conjugates behind C^½, and their inner products.
pub(super) struct Dictionary {
    root: Option<Mat<f64>>,
    /// N × 2S: a column each, first the stored rows, then the conjugates.
    rows: Mat<c64>,
    /// ⟨a, b⟩ = Σ_n a_n conj(b_n), in column b.
    gram: Mat<c64>,
}

impl Dictionary {
    pub(super) fn new(products: &Products<'_>) -> Self {
        let (stored, inputs) = products.stored.dim();
        let root = products
            .signals
            .map(|signals| square_root(signals.covariance()));
        let mut dictionary = Dictionary {
            root,
            rows: Mat::new(),
            gram: Mat::new(),
        };
        dictionary.rows = dictionary.seen(Mat::from_fn(inputs, 2 * stored, |n, a| {
            let w = double(products.stored[(a % stored, n)]);
            if a < stored { w } else { w.conj() }
        }));
        // Column b of this is Σ_n conj(a_n) b_n for all a: the conjugate of ⟨a, b⟩.
        let rows = dictionary.rows.as_ref();
        let conjugate = adjoint_times(rows, rows);
        dictionary.gram = Mat::from_fn(2 * stored, 2 * stored, |a, b| conjugate[(a, b)].conj());
        dictionary
    }

    pub(super) fn len(&self) -> usize {
        self.rows.ncols()
    }

    /// Columns as signals see them: C^½ times each.
    pub(super) fn seen(&self, columns: Mat<c64>) -> Mat<c64> {
        let Some(root) = &self.root else {
            return columns;
        };
        let (inputs, count) = (columns.nrows(), columns.ncols());
        let part = |of: fn(&c64) -> f64| Mat::from_fn(inputs, count, |n, k| of(&columns[(n, k)]));
        let (re, im) = (part(|w| w.re), part(|w| w.im));
        let mut seen = [Mat::<f64>::zeros(inputs, count), Mat::zeros(inputs, count)];
        for (seen, part) in seen.iter_mut().zip([re, im]) {
            matmul(seen.as_mut(), Accum::Replace, root, part, 1.0, Par::Seq);
        }
        Mat::from_fn(inputs, count, |n, k| {
            c64::new(seen[0][(n, k)], seen[1][(n, k)])
        })
    }

    /// ⟨t, a⟩ of every row a with every column t.
    pub(super) fn correlations(&self, columns: &Mat<c64>) -> Mat<c64> {
        adjoint_times(self.rows.as_ref(), columns.as_ref())
    }

    /// Up to `most` terms and the error they leave, for a product t of which ⟨t, a⟩ are the `correlations`.
    pub(super) fn choose(
        &self,
        mut correlations: Vec<c64>,
        power: f64,
        most: u8,
    ) -> (Vec<Term>, f64) {
        let len = self.len();
        let whole: Vec<f64> = (0..len).map(|a| self.gram[(a, a)].re).collect();
        // What is left of each row outside of those taken: its square, and its share in each direction taken.
        let mut outside = whole.clone();
        let mut taken: Vec<usize> = Vec::new();
        let mut directions: Vec<Vec<c64>> = Vec::new();
        let mut shares: Vec<c64> = Vec::new();
        let mut rest = power;
        while taken.len() < most.into() {
            let gain = |a: usize| correlations[a].norm_sqr() / outside[a];
            let best = (0..len)
                .filter(|&a| outside[a] > LEAST_OUTSIDE * whole[a])
                .max_by(|&a, &b| gain(a).total_cmp(&gain(b)));
            let Some(best) = best.filter(|&best| gain(best) > f64::EPSILON * power) else {
                break;
            };
            let length = outside[best].sqrt();
            let share = correlations[best] / length;
            let direction: Vec<c64> = (0..len)
                .map(|a| {
                    let inside = directions.iter().map(|q| q[a] * q[best].conj());
                    (self.gram[(a, best)] - inside.sum::<c64>()) / length
                })
                .collect();
            for (a, q) in direction.iter().enumerate() {
                correlations[a] -= share * q.conj();
                outside[a] -= q.norm_sqr();
            }
            rest -= share.norm_sqr();
            taken.push(best);
            directions.push(direction);
            shares.push(share);
        }
        (self.solved(&taken, &directions, shares), rest.max(0.0))
    }

    /// The coefficients of the rows taken: row s is Σ_r≤s directions[r][s] q_r, so the system is triangular.
    fn solved(&self, taken: &[usize], directions: &[Vec<c64>], mut shares: Vec<c64>) -> Vec<Term> {
        for s in (0..taken.len()).rev() {
            shares[s] /= directions[s][taken[s]];
            for r in 0..s {
                let value = shares[s];
                shares[r] -= value * directions[r][taken[s]];
            }
        }
        let stored = self.len() / 2;
        let term = |(&a, value): (&usize, c64)| Term {
            row: Row {
                stored: (a % stored) as u16,
                conjugated: a >= stored,
            },
            value,
        };
        taken.iter().zip(shares).map(term).collect()
    }
}

pub(super) fn double(w: Complex32) -> c64 {
    c64::new(w.re.into(), w.im.into())
}

/// lhs† rhs.
fn adjoint_times(lhs: MatRef<'_, c64>, rhs: MatRef<'_, c64>) -> Mat<c64> {
    let mut to = Mat::zeros(lhs.ncols(), rhs.ncols());
    let lhs = lhs.adjoint();
    matmul(to.as_mut(), Accum::Replace, lhs, rhs, c64::ONE, Par::Seq);
    to
}
