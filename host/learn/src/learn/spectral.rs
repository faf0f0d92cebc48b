//! The irreps without a gradient: they are the common eigenvectors of matrices that the data gives away.
//!
//! For an orbit of y under permutations, S = mean(y yᵀ) and T = mean(y (y∘y)ᵀ) commute with all of them, since taking
//! squares one by one commutes with every permutation. A commutative group leaves no choice then: each Hermitian
//! H = Σ_o a_o S_o + i b_o (T_o − T_oᵀ), with random a and b, is diagonal in the characters. The second order alone
//! has χ and its conjugate in one eigenspace; the third takes them apart, so that eigenvectors are characters.
//!
//! One H suffices where orbits are whole. Where members are missing or noisy, each H is off by a little, and what one
//! leaves close together is mixed. No pair of characters is close in all of them: the unitary U that maximises
//! Σ_k Σ_i (u_i† H_k u_i)², the best common basis, averages the errors. It is found by the power method for several
//! matrices: U ← the unitary matrix nearest to (Σ_k (u_i† H_k u_i) H_k u_i)_i.

use crate::data::orbits::Orbits;
use crate::numeric::random::{Purpose, stream};
use crate::numeric::whitening::zca;
use faer::linalg::matmul::matmul;
use faer::traits::Conjugate;
use faer::{Accum, Mat, MatRef, Par, Side, c64};
use num_complex::Complex64;
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;

/// More inputs than this would need gigabytes: MATRICES · N² complex doubles.
pub const MOST_INPUTS: usize = 1024;
/// How many H there are. With these, 80 % of each orbit and 5 % noise give the 256 irreps of 16×16 translation a mean overlap
/// of 0.996 with the learned rows.
const MATRICES: usize = 48;
/// Orbits that are looked at, evenly spread.
const MOST_ORBITS: usize = 256;
/// Members of an orbit that are looked at: the first.
const MOST_MEMBERS: usize = 4096;
/// Orbits whose S and T are held at a time.
const ORBITS_AT_A_TIME: usize = 8;
/// Columns of U that one thread works on at a time.
const COLUMNS: usize = 64;
/// Some of U is added to where it is pulled, in units of the mean pull: rows that no orbit excites stay where they are
/// instead of being lost, and matrices with negative eigenvalues do not make it swing.
const STAY: f64 = 0.1;
/// Newton's and Schulz's iteration doubles the digits of a nearly unitary matrix, and brings a singular value of
/// 1e-6 to one in about as many rounds.
const ROUNDS: usize = 40;
/// The mean of ‖x_i† X − e_i‖² below which X is unitary: what it is before the round that ends it is squared by that.
const UNITARY: f64 = 1e-16;

/// The matrices of some orbits.
#[derive(Debug)]
pub struct Spectral {
    matrices: Vec<Mat<c64>>,
    inputs: usize,
}

impl Spectral {
    /// From every member, brought to unit length, and before that whitened where `whiten` says so; `seed` draws a
    /// and b.
    #[must_use]
    pub fn of(orbits: &Orbits, whiten: bool, seed: u64) -> Self {
        let inputs = orbits.inputs();
        let zca = whiten.then(|| zca(orbits.covariance()));
        let mut random = stream(seed, Purpose::Spectral);
        let mut matrices = vec![Mat::<c64>::zeros(inputs, inputs); MATRICES];
        let count = orbits.len().min(MOST_ORBITS);
        let chosen: Vec<usize> = (0..count).map(|k| k * orbits.len() / count).collect();
        for chosen in chosen.chunks(ORBITS_AT_A_TIME) {
            let moments: Vec<[Mat<f64>; 2]> = chosen
                .par_iter()
                .map(|&orbit| moments(orbits, orbit, zca.as_ref()))
                .collect();
            let weights: Vec<Vec<[f64; 2]>> = matrices
                .iter()
                .map(|_| {
                    let mut draw = || [(); 2].map(|()| random.sample(StandardNormal));
                    chosen.iter().map(|_| draw()).collect()
                })
                .collect();
            matrices
                .par_iter_mut()
                .zip(&weights)
                .for_each(|(matrix, weights)| add(matrix, &moments, weights));
        }
        matrices.par_iter_mut().for_each(|matrix| {
            let length = matrix.norm_l2();
            if length > 0.0 {
                *matrix *= faer::Scale(c64::new(1.0 / length, 0.0));
            }
        });
        Spectral { matrices, inputs }
    }

    /// The eigenvectors of the first H as rows, those with the largest eigenvalues first: all there is to do for
    /// whole orbits.
    ///
    /// # Panics
    /// More rows than inputs.
    #[must_use]
    pub fn start(&self, rows: usize) -> Vec<Complex64> {
        let eigen = self.matrices[0]
            .self_adjoint_eigen(Side::Lower)
            .expect("a Hermitian matrix of finite numbers has eigenvectors");
        let (vectors, values) = (eigen.U(), eigen.S().column_vector());
        let mut order: Vec<usize> = (0..self.inputs).collect();
        order.sort_by(|&a, &b| values[b].re.abs().total_cmp(&values[a].re.abs()));
        let column = |&k: &usize| (0..self.inputs).map(move |n| vectors[(n, k)].conj());
        order[..rows].iter().flat_map(column).collect()
    }

    /// One round of the power method on orthonormal rows `w`, R ≤ N of them.
    ///
    /// Returns the share of the matrices that W did not make diagonal: 0 for the characters, near 1 for random rows.
    ///
    /// # Panics
    /// `w` is not whole rows.
    pub fn improve(&self, w: &mut [Complex64]) -> f64 {
        let inputs = self.inputs;
        let rows = w.len() / inputs;
        assert_eq!(w.len(), rows * inputs, "W is whole rows");
        let u = Mat::from_fn(inputs, rows, |n, i| w[i * inputs + n].conj());
        let mut energies = [0.0; 2];
        let pulled = by_columns(
            u.as_ref(),
            |_, u| self.pull(u),
            |pulled| {
                energies = [0, 1].map(|k| energies[k] + pulled[k]);
            },
        );
        let stay = c64::new(STAY * energies[0] / rows.max(1) as f64, 0.0);
        let u = nearest_unitary(pulled + u * faer::Scale(stay));
        for (i, row) in w.chunks_exact_mut(inputs).enumerate() {
            let places = row.iter_mut().enumerate();
            places.for_each(|(n, w)| *w = u[(n, i)].conj());
        }
        let [diagonal, all] = energies;
        if all > 0.0 { 1.0 - diagonal / all } else { 0.0 }
    }

    /// Σ_k d_ik H_k u_i with d_ik = u_i† H_k u_i; and Σ d², Σ ‖H_k u_i‖².
    fn pull(&self, u: MatRef<'_, c64>) -> (Mat<c64>, [f64; 2]) {
        let mut to = Mat::<c64>::zeros(u.nrows(), u.ncols());
        let [mut diagonal, mut all] = [0.0; 2];
        for matrix in &self.matrices {
            let turned = product(matrix.as_ref(), u);
            for i in 0..u.ncols() {
                let (u, h) = (u.col(i), turned.col(i));
                let terms = u.iter().zip(h.iter());
                let d: f64 = terms.map(|(u, h)| u.re * h.re + u.im * h.im).sum();
                diagonal += d * d;
                all += h.squared_norm_l2();
                let to = to.col_mut(i).iter_mut();
                to.zip(h.iter()).for_each(|(to, h)| *to += h * d);
            }
        }
        (to, [diagonal, all])
    }
}

/// What `each` makes of some columns at a time, with the number of the first, side by side again; `rest` takes what
/// else it returns, in order, so that no sum depends on the number of threads.
fn by_columns<T: Send>(
    u: MatRef<'_, c64>,
    each: impl Fn(usize, MatRef<'_, c64>) -> (Mat<c64>, T) + Sync,
    mut rest: impl FnMut(T),
) -> Mat<c64> {
    let firsts: Vec<usize> = (0..u.ncols()).step_by(COLUMNS).collect();
    let parts: Vec<(Mat<c64>, T)> = firsts
        .par_iter()
        .map(|&first| {
            let count = COLUMNS.min(u.ncols() - first);
            each(first, u.subcols(first, count))
        })
        .collect();
    let mut whole = Mat::zeros(u.nrows(), u.ncols());
    for (first, (part, other)) in firsts.into_iter().zip(parts) {
        whole
            .subcols_mut(first, part.ncols())
            .copy_from(part.as_ref());
        rest(other);
    }
    whole
}

/// N·mean(y yᵀ) and N^(3/2)·mean(y (y∘y)ᵀ) of one orbit.
fn moments(orbits: &Orbits, orbit: usize, zca: Option<&Mat<f64>>) -> [Mat<f64>; 2] {
    let (inputs, members) = (orbits.inputs(), orbits.members(orbit).min(MOST_MEMBERS));
    let mut raw = Mat::<f64>::zeros(inputs, members);
    let mut sample = vec![0.0_f32; inputs];
    for member in 0..members {
        orbits.write_member(orbit, member, &mut sample);
        let to = raw.col_mut(member).iter_mut();
        to.zip(&sample).for_each(|(to, x)| *to = f64::from(*x));
    }
    let mut y = match zca {
        Some(zca) => zca * raw,
        None => raw,
    };
    for y in y.col_iter_mut() {
        let length = y.norm_l2();
        if length > 0.0 {
            y.iter_mut().for_each(|y| *y /= length);
        }
    }
    let root = (inputs as f64).sqrt();
    let squares = Mat::from_fn(inputs, members, |n, m| root * y[(n, m)] * y[(n, m)]);
    let scale = faer::Scale(inputs as f64 / members.max(1) as f64);
    [
        (&y * y.transpose()) * scale,
        (&y * squares.transpose()) * scale,
    ]
}

/// H += Σ_o a_o S_o + i b_o (T_o − T_oᵀ)
fn add(matrix: &mut Mat<c64>, moments: &[[Mat<f64>; 2]], weights: &[[f64; 2]]) {
    for ([s, t], [a, b]) in moments.iter().zip(weights) {
        for column in 0..matrix.ncols() {
            let to = matrix.col_mut(column).iter_mut();
            let (s, t, transposed) = (s.col(column), t.col(column), t.row(column));
            let terms = s.iter().zip(t.iter().zip(transposed.iter()));
            for (to, (s, (t, transposed))) in to.zip(terms) {
                *to += c64::new(a * s, b * (t - transposed));
            }
        }
    }
}

/// G (G†G)^(−1/2) by Newton's and Schulz's iteration, X ← X (3 − X†X)/2.
fn nearest_unitary(g: Mat<c64>) -> Mat<c64> {
    // No singular value is above the root of the largest sum of moduli in a column of X†X.
    let mut bound = 0.0_f64;
    let largest = |part: MatRef<'_, c64>| {
        let gram = product(g.adjoint(), part);
        let columns = gram.col_iter();
        columns.map(|g| g.norm_l1()).fold(0.0, f64::max)
    };
    by_columns(
        g.as_ref(),
        |_, part| (part.to_owned(), largest(part)),
        |sum| {
            bound = bound.max(sum);
        },
    );
    let scale = if bound > 0.0 { 1.0 / bound.sqrt() } else { 1.0 };
    let mut x = g * faer::Scale(c64::new(scale, 0.0));
    for _ in 0..ROUNDS {
        let mut excess = 0.0;
        x = by_columns(
            x.as_ref(),
            |first, part| {
                let mut gram = product(x.adjoint(), part);
                let cubed = product(x.as_ref(), gram.as_ref());
                let next = Mat::from_fn(part.nrows(), part.ncols(), |n, i| {
                    part[(n, i)] * 1.5 - cubed[(n, i)] * 0.5
                });
                (0..part.ncols()).for_each(|i| gram[(first + i, i)] -= 1.0);
                (next, gram.squared_norm_l2())
            },
            |part| excess += part,
        );
        if excess < UNITARY * x.ncols() as f64 {
            break;
        }
    }
    x
}

/// On this thread alone: how it splits its sums then does not depend on how many threads there are.
fn product<T: Conjugate<Canonical = c64>>(lhs: MatRef<'_, T>, rhs: MatRef<'_, c64>) -> Mat<c64> {
    let mut to = Mat::zeros(lhs.nrows(), rhs.ncols());
    matmul(to.as_mut(), Accum::Replace, lhs, rhs, c64::ONE, Par::Seq);
    to
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::irreps::{Irreps, compare};
    use crate::data::group::Group;
    use crate::data::orbits::Split;
    use ndarray::Array2;
    use num_complex::Complex32;

    fn irreps(w: &[Complex64], group: &Group) -> Irreps {
        let w = w.iter().map(|w| Complex32::new(w.re as f32, w.im as f32));
        let shape = (w.len() / group.order(), group.order());
        let w = Array2::from_shape_vec(shape, w.collect()).unwrap();
        compare(&w.view(), group)
    }

    #[test]
    fn whole_orbits_need_one_matrix() {
        for name in [
            "Z1",
            "Z2",
            "Z3",
            "Z12",
            "Z4xZ2",
            "Z2xZ2xZ2",
            "Z3xZ3",
            "Z2xZ2xZ2xZ2",
        ] {
            let group: Group = name.parse().unwrap();
            let orbits = Orbits::of_group(&group, 30, 5);
            let spectral = Spectral::of(&orbits, true, 1);
            let found = irreps(&spectral.start(group.order()), &group);
            assert_eq!(found.exact, group.order(), "{name}: {found:?}");
            assert!(found.least_overlap > 1.0 - 1e-9, "{name}: {found:?}");
        }
    }

    #[test]
    fn many_matrices_make_up_for_members_that_are_missing_and_noise() {
        for name in ["Z20", "Z2xZ2xZ2xZ2", "Z6xZ3"] {
            let group: Group = name.parse().unwrap();
            let orbits = Orbits::of_group(&group, 100, 5).noisy(0.05, 2);
            let (orbits, _) = orbits.split(Split::Transforms, 0.2, 0).unwrap();
            let spectral = Spectral::of(&orbits, true, 1);
            let mut w = spectral.start(group.order());
            let first = irreps(&w, &group);
            let off: Vec<f64> = (0..40).map(|_| spectral.improve(&mut w)).collect();
            let last = irreps(&w, &group);
            assert!(first.mean_overlap < 0.95, "{name}: {first:?}");
            assert_eq!(last.distinct, group.order(), "{name}: {last:?}");
            assert!(last.least_overlap > 0.95, "{name}: {last:?}");
            assert!(off[39] < off[0], "{name}: {off:?}");
        }
    }

    #[test]
    fn rows_stay_orthonormal_however_many_there_are() {
        let orbits = Orbits::of_group(&"Z9".parse().unwrap(), 20, 5).noisy(0.3, 2);
        let spectral = Spectral::of(&orbits, true, 1);
        for rows in [1, 4, 9] {
            let mut w = spectral.start(rows);
            for _ in 0..5 {
                spectral.improve(&mut w);
            }
            for i in 0..rows {
                for j in 0..rows {
                    let terms = w[9 * i..][..9].iter().zip(&w[9 * j..][..9]);
                    let inner: Complex64 = terms.map(|(a, b)| a * b.conj()).sum();
                    let wanted = f64::from(u8::from(i == j));
                    assert!(
                        (inner - wanted).norm() < 1e-9,
                        "{i}, {j} of {rows}: {inner}"
                    );
                }
            }
        }
    }

    #[test]
    fn directions_that_no_signal_has_stay_orthonormal_and_finite() {
        // The mean of every signal is zero, and so is the highest frequency.
        let wave = |k: usize, n: usize| (0.7 * (k * n) as f64 + 0.3 * k as f64).sin() as f32;
        let mut samples = Array2::from_shape_fn((20, 8), |(k, n)| wave(k + 1, n));
        for mut row in samples.rows_mut() {
            for parity in [1.0, -1.0] {
                let sign = |n: usize| if n.is_multiple_of(2) { 1.0 } else { parity };
                let mean = row
                    .iter()
                    .enumerate()
                    .map(|(n, x)| sign(n) * x)
                    .sum::<f32>()
                    / 8.0;
                row.iter_mut()
                    .enumerate()
                    .for_each(|(n, x)| *x -= sign(n) * mean);
            }
        }
        let orbits = Orbits::transformed(samples, crate::data::orbits::Transform::Translate1d);
        let spectral = Spectral::of(&orbits.unwrap(), true, 1);
        let mut w = spectral.start(8);
        let off = spectral.improve(&mut w);
        assert!(off < 1e-6 && w.iter().all(|w| w.is_finite()), "{off}");
        let found = irreps(&w, &"Z8".parse().unwrap());
        assert!(found.exact >= 6, "{found:?}");
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let orbits = Orbits::of_group(&"Z40".parse().unwrap(), 20, 5).noisy(0.1, 2);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.unwrap().install(|| {
                let spectral = Spectral::of(&orbits, true, 1);
                let mut w = spectral.start(40);
                let off = spectral.improve(&mut w);
                (w, off)
            })
        };
        assert!(with(1) == with(3));
    }
}
