//! Invariant forms: which linear combinations of z_a ⊗ z_b ⊗ z_c do not change along orbits?
//!
//! For a vector t(x) of products, with T the mean of t(x) t(x′)ᵀ over pairs of different members of an orbit and Q that of
//! t(x) t(x)ᵀ over members, the solutions of
//!
//! > T v = λ Q v
//!
//! with λ near 1 are the invariants, and there is nothing between them and λ near 0: without noise, an orbit's mean of what is
//! no invariant vanishes.

use super::commutant::symmetric_eigen;
use faer::{Mat, Side};

/// What a form must reach, on the orbits it was found from and on others.
pub(super) const CLEAR: f64 = 0.6;
/// What all others must stay below; between the two it is not clear what they are.
pub(super) const UNCLEAR: f64 = 0.35;
/// Added to Q, as a share of its mean diagonal: products that do not vary (antisymmetric ones of one block) are no forms.
const RIDGE: f64 = 1e-9;
/// A form below this share of the mean square is zero, or a combination of others.
const VISIBLE: f64 = 1e-6;
/// Samples for each unknown of a form: fewer, and something seems to be invariant by chance.
const SAMPLES: usize = 12;
/// Samples that are enough for any form.
const ENOUGH: usize = 6000;

/// Coefficients of the members of orbits: n rows, one column a member, all of as many members.
#[derive(Debug)]
pub(super) struct Coefficients {
    pub(super) orbits: Vec<Mat<f64>>,
}

/// A solution.
#[derive(Debug, Clone)]
pub(super) struct Solution {
    /// On the orbits it was found from.
    pub(super) lambda: f64,
    /// On others.
    pub(super) held_out: f64,
    /// Of length 1.
    pub(super) vector: Vec<f64>,
}

impl Coefficients {
    /// Of samples, orbit by orbit; where orbits have different numbers of members, three quarters have enough.
    pub(super) fn of<'a>(members: impl Iterator<Item = &'a [f32]>, basis: &Mat<f64>) -> Self {
        let inputs = basis.ncols();
        let orbits: Vec<&[f32]> = members.filter(|orbit| orbit.len() >= 2 * inputs).collect();
        let mut counts: Vec<usize> = orbits.iter().map(|orbit| orbit.len() / inputs).collect();
        counts.sort_unstable();
        let count = counts.get(counts.len() / 4).copied().unwrap_or(0);
        let orbits = orbits
            .into_iter()
            .filter(|orbit| orbit.len() / inputs >= count)
            .map(|orbit| {
                let x = Mat::from_fn(inputs, count, |n, m| f64::from(orbit[m * inputs + n]));
                basis * x
            })
            .collect();
        Coefficients { orbits }
    }

    pub(super) fn members(&self) -> usize {
        self.orbits.first().map_or(0, Mat::ncols)
    }

    /// λ of one form, from its values; `centre` subtracts the mean of all.
    pub(super) fn lambda(&self, centre: bool, form: impl Fn(&Mat<f64>, usize) -> f64) -> f64 {
        let [mut between, mut total, mut mean] = [0.0; 3];
        let count = self.members() as f64;
        for orbit in &self.orbits {
            let values: Vec<f64> = (0..orbit.ncols()).map(|m| form(orbit, m)).collect();
            let sum: f64 = values.iter().sum();
            let squares: f64 = values.iter().map(|value| value * value).sum();
            between += (sum * sum - squares) / (count * (count - 1.0));
            total += squares / count;
            mean += sum / count;
        }
        let orbits = self.orbits.len().max(1) as f64;
        let mean = if centre { (mean / orbits).powi(2) } else { 0.0 };
        let (between, total) = (between / orbits - mean, total / orbits - mean);
        if total > 1e-12 * mean.max(f64::MIN_POSITIVE) {
            between / total
        } else {
            1.0
        }
    }

    /// The forms of products of rows: `tuples` lists the first rows of the blocks, whose `dims` all tuples share; all are
    /// solved for together. The largest λ first, down to [`UNCLEAR`]. `None` where there are too few samples.
    pub(super) fn solve(&self, dims: &[usize], tuples: &[Vec<usize>]) -> Option<Vec<Solution>> {
        let size: usize = dims.iter().product();
        let (members, all) = (self.members(), self.orbits.len());
        let needed = (SAMPLES * size).max(ENOUGH).div_ceil(members.max(1));
        let held_out = all / 4;
        let training = all - held_out;
        if members < 2 || held_out == 0 || training * members * tuples.len() < 3 * size {
            return None;
        }
        let used = needed
            .div_ceil(tuples.len())
            .clamp(training.min(64), training);
        let (t, mut q) = self.scatter(dims, tuples, &self.orbits[held_out..held_out + used]);
        let ridge = RIDGE * q.diagonal().column_vector().iter().sum::<f64>() / size as f64;
        (0..size).for_each(|k| q[(k, k)] += ridge);
        // L⁻¹ T L⁻ᵀ.
        let factor = q.llt(Side::Lower).ok()?;
        let lower = factor.L();
        let mut half = t;
        lower.solve_lower_triangular_in_place(half.as_mut());
        let mut whole = half.transpose().to_owned();
        lower.solve_lower_triangular_in_place(whole.as_mut());
        let (values, vectors) = symmetric_eigen(&whole)?;
        let mut solutions = Vec::new();
        for (k, &lambda) in values.iter().enumerate() {
            if lambda < UNCLEAR {
                break;
            }
            let mut v = vectors.col(k).as_mat().to_owned();
            lower
                .transpose()
                .solve_upper_triangular_in_place(v.as_mut());
            let length = v.norm_l2();
            let vector: Vec<f64> = (0..size).map(|at| v[(at, 0)] / length).collect();
            let held_out = self.lambda_of(dims, tuples, &self.orbits[..held_out], &vector);
            solutions.push(Solution {
                lambda,
                held_out,
                vector,
            });
        }
        Some(solutions)
    }

    /// Of these forms those that say on these tuples what no other before them says.
    pub(super) fn visible(
        &self,
        dims: &[usize],
        tuples: &[Vec<usize>],
        forms: &[Vec<f64>],
    ) -> Vec<Vec<f64>> {
        let count = forms.len();
        let all = Mat::from_fn(count, dims.iter().product(), |form, at| forms[form][at]);
        let mut gram = Mat::<f64>::zeros(count, count);
        for orbit in &self.orbits {
            for tuple in tuples {
                let values = &all * products(dims, tuple, orbit);
                gram += &values * values.transpose();
            }
        }
        let mean = (0..count).map(|k| gram[(k, k)]).sum::<f64>() / count.max(1) as f64;
        let mut kept: Vec<Vec<f64>> = Vec::new();
        let mut left = gram;
        for (k, form) in forms.iter().enumerate() {
            let own = left[(k, k)];
            if own > VISIBLE * mean {
                kept.push(form.clone());
                // What the others have in common with it is said.
                let column: Vec<f64> = (0..count).map(|row| left[(row, k)]).collect();
                for a in 0..count {
                    for b in 0..count {
                        left[(a, b)] -= column[a] * column[b] / own;
                    }
                }
            }
        }
        kept
    }

    /// T and Q.
    fn scatter(
        &self,
        dims: &[usize],
        tuples: &[Vec<usize>],
        orbits: &[Mat<f64>],
    ) -> (Mat<f64>, Mat<f64>) {
        let size: usize = dims.iter().product();
        let count = self.members() as f64;
        let mut sums = Vec::new();
        let mut q = Mat::<f64>::zeros(size, size);
        for orbit in orbits {
            for tuple in tuples {
                let products = products(dims, tuple, orbit);
                let sum: Vec<f64> = (0..size)
                    .map(|row| products.row(row).iter().sum())
                    .collect();
                sums.push(sum);
                q += &products * products.transpose();
            }
        }
        let sums = Mat::from_fn(size, sums.len(), |row, column| sums[column][row]);
        let t = (&sums * sums.transpose() - &q) * faer::Scale(1.0 / (count * (count - 1.0)));
        (t, q * faer::Scale(1.0 / count))
    }

    /// λ of a form over several tuples of blocks.
    pub(super) fn lambda_of(
        &self,
        dims: &[usize],
        tuples: &[Vec<usize>],
        orbits: &[Mat<f64>],
        vector: &[f64],
    ) -> f64 {
        let count = self.members() as f64;
        let [mut between, mut total] = [0.0; 2];
        let v = Mat::from_fn(1, vector.len(), |_, at| vector[at]);
        for orbit in orbits {
            for tuple in tuples {
                let values = &v * products(dims, tuple, orbit);
                let sum: f64 = values.row(0).iter().sum();
                let squares: f64 = values.row(0).iter().map(|value| value * value).sum();
                between += (sum * sum - squares) / (count * (count - 1.0));
                total += squares / count;
            }
        }
        if total > 0.0 { between / total } else { 0.0 }
    }
}

/// z_a ⊗ z_b ⊗ …, one column a member, the last index fastest.
fn products(dims: &[usize], tuple: &[usize], orbit: &Mat<f64>) -> Mat<f64> {
    let size: usize = dims.iter().product();
    let mut out = Mat::zeros(size, orbit.ncols());
    let mut so_far = Vec::with_capacity(size);
    let mut next = Vec::with_capacity(size);
    for (m, out) in out.col_iter_mut().enumerate() {
        so_far.clear();
        so_far.push(1.0);
        for (&dim, &first) in dims.iter().zip(tuple) {
            next.clear();
            for value in &so_far {
                next.extend((first..first + dim).map(|row| value * orbit[(row, m)]));
            }
            std::mem::swap(&mut so_far, &mut next);
        }
        out.iter_mut().zip(&so_far).for_each(|(to, x)| *to = *x);
    }
    out
}
