//! Blocks: a basis in which every element of the commutant is made of multiples of one matrix a pair of blocks.
//!
//! A random element of the commutant has one eigenvalue a copy of an irrep. Eigenvectors v of one copy have the same numbers
//! vᵀ C_k v for every C_k of an orthonormal basis of the commutant's symmetric part, by which they are clustered. Which cut of
//! the clustering is right is counted: with V_a the vectors of a cluster,
//!
//! > E_ab = Σ_k ‖V_aᵀ C_k V_b‖²
//!
//! is 1 for a = b where the cluster is one copy of an irrep, and half of the dimension of Hom(a, b) otherwise: ½ for two copies
//! of an irrep of real type, 1 of complex, 2 of quaternionic type, 0 for different irreps. All of it adds up to the commutant's
//! dimension. A wrong dimension or cut has other numbers.

use super::commutant::symmetric_eigen;
use crate::limits::interruption;
use faer::{Mat, MatRef};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

/// Random elements that are tried.
const ATTEMPTS: usize = 6;
/// How often the blocks' own projections take the place of the random element.
const REFINEMENTS: usize = 4;
/// Where all cuts of random elements differ by more than this, all elements are made diagonal together, by so many sweeps.
const JOINT_FROM: f64 = 0.04;
const SWEEPS: usize = 12;
/// Rotations by less than this end the sweeps.
const LEAST_ROTATION: f64 = 1e-7;
/// The mean difference between E and what it should be, for each dimension of the commutant, from which on blocks are refused.
const MOST_DEVIATION: f64 = 0.2;

/// One copy of an irrep.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// n × d, orthonormal columns; those of copies of an irrep are moved by the same matrices.
    pub(super) vectors: Mat<f64>,
}

/// An irrep.
#[derive(Debug, Clone)]
pub(super) struct Class {
    pub(super) dimension: usize,
    /// Its copies among the blocks.
    pub(super) copies: Vec<usize>,
    /// Orthogonal matrices beside 1 that commute with it, where several copies show them: 1 of complex, 3 of quaternionic type.
    pub(super) structures: Vec<Mat<f64>>,
}

/// A basis of blocks.
#[derive(Debug, Clone)]
pub(super) struct Blocks {
    pub(super) blocks: Vec<Block>,
    pub(super) classes: Vec<Class>,
    /// The mean difference between E and what it should be.
    pub(super) deviation: f64,
}

/// Blocks of the commutant that these orthonormal matrices and the identity span, if they are one.
pub(super) fn find(elements: &[Mat<f64>], n: usize, random: &mut ChaCha8Rng) -> Option<Blocks> {
    let mut all = vec![Mat::<f64>::identity(n, n) * faer::Scale(1.0 / (n as f64).sqrt())];
    for element in elements {
        // Orthonormal to the identity, too.
        let mut element = element.clone();
        let trace = (0..n).map(|k| element[(k, k)]).sum::<f64>() / n as f64;
        (0..n).for_each(|k| element[(k, k)] -= trace);
        let length = element.norm_l2();
        if length < 1e-6 {
            return None;
        }
        all.push(element * faer::Scale(1.0 / length));
    }
    let mut best: Option<Cut> = None;
    for _ in 0..ATTEMPTS {
        let mut sum = Mat::<f64>::zeros(n, n);
        for element in &all {
            sum += element * faer::Scale(random.sample::<f64, _>(StandardNormal));
        }
        let Some(mut cut) = clustered(&all, &sum) else {
            continue;
        };
        for _ in 0..REFINEMENTS {
            match refined(&all, &cut) {
                Some(next) if next.deviation < cut.deviation => cut = next,
                _ => break,
            }
        }
        if best
            .as_ref()
            .is_none_or(|best| cut.deviation < best.deviation)
        {
            best = Some(cut);
        }
    }
    // A single element tells irreps apart less well than all of them do, where there is one copy of each: with several no basis
    // makes all elements diagonal, and the nearest to it is no basis of blocks.
    if best.as_ref().is_none_or(|best| best.deviation > JOINT_FROM)
        && let Some(cut) = joint(&all, random)
        && cut.clusters.len() == all.len()
        && best
            .as_ref()
            .is_none_or(|best| cut.deviation < best.deviation)
    {
        best = Some(cut);
    }
    let cut = best.filter(|cut| cut.deviation < MOST_DEVIATION)?;
    aligned(&all, &cut)
}

/// Eigenvectors, the cluster of each, and how far E is from whole numbers.
#[derive(Debug, Clone)]
struct Cut {
    vectors: Mat<f64>,
    /// The columns of each cluster.
    clusters: Vec<Vec<usize>>,
    deviation: f64,
}

/// The cut of vectors that make all elements as diagonal as can be, by Jacobi's rotations (Cardoso and Souloumiac, 1996).
fn joint(all: &[Mat<f64>], random: &mut ChaCha8Rng) -> Option<Cut> {
    let n = all.first()?.nrows();
    let mut sum = Mat::<f64>::zeros(n, n);
    for element in all {
        sum += element * faer::Scale(random.sample::<f64, _>(StandardNormal));
    }
    let (_, mut vectors) = symmetric_eigen(&sum)?;
    let mut turned: Vec<Mat<f64>> = (all.iter().skip(1))
        .map(|element| vectors.transpose() * element * &vectors)
        .collect();
    for _ in 0..SWEEPS {
        let mut largest = 0.0_f64;
        for j in 1..n {
            interruption::check();
            for i in 0..j {
                let [mut on, mut off] = [0.0; 2];
                for matrix in &turned {
                    let (a, b) = (matrix[(i, i)] - matrix[(j, j)], 2.0 * matrix[(i, j)]);
                    on += a * a - b * b;
                    off += 2.0 * a * b;
                }
                let angle = 0.5 * off.atan2(on + on.hypot(off));
                let (sin, cos) = angle.sin_cos();
                if sin.abs() < LEAST_ROTATION {
                    continue;
                }
                largest = largest.max(sin.abs());
                for matrix in &mut turned {
                    rotate_columns(matrix, i, j, cos, sin);
                    for column in matrix.col_iter_mut() {
                        let Some(cells) = column.try_as_col_major_mut() else {
                            continue;
                        };
                        let cells = cells.as_slice_mut();
                        let (x, y) = (cells[i], cells[j]);
                        cells[i] = cos * x + sin * y;
                        cells[j] = cos * y - sin * x;
                    }
                }
                rotate_columns(&mut vectors, i, j, cos, sin);
            }
        }
        if largest < LEAST_ROTATION {
            break;
        }
    }
    cut(all, vectors)
}

fn rotate_columns(matrix: &mut Mat<f64>, i: usize, j: usize, cos: f64, sin: f64) {
    for row in 0..matrix.nrows() {
        let (x, y) = (matrix[(row, i)], matrix[(row, j)]);
        matrix[(row, i)] = cos * x + sin * y;
        matrix[(row, j)] = cos * y - sin * x;
    }
}

/// The cut of eigenvectors of `element` whose count is nearest to what it should be.
fn clustered(all: &[Mat<f64>], element: &Mat<f64>) -> Option<Cut> {
    let (_, vectors) = symmetric_eigen(element)?;
    cut(all, vectors)
}

/// The cut of these vectors whose count is nearest to what it should be.
fn cut(all: &[Mat<f64>], vectors: Mat<f64>) -> Option<Cut> {
    let n = vectors.ncols();
    let (squares, forms) = forms(all, &vectors);
    let mut clusters: Vec<(Vec<usize>, Vec<f64>)> = (0..n)
        .map(|i| (vec![i], forms.iter().map(|forms| forms[i]).collect()))
        .collect();
    let mut best: Option<(f64, Vec<Vec<usize>>)> = None;
    loop {
        let members: Vec<Vec<usize>> = clusters.iter().map(|c| c.0.clone()).collect();
        if members.len() <= all.len()
            && let Some(deviation) = deviation(&squares, &members, all.len())
            && best.as_ref().is_none_or(|best| deviation < best.0)
        {
            best = Some((deviation, members));
        }
        if clusters.len() == 1 {
            break;
        }
        // Ward's criterion.
        let (mut nearest, mut pair) = (f64::INFINITY, (0, 1));
        for b in 1..clusters.len() {
            for a in 0..b {
                let (one, other) = (&clusters[a], &clusters[b]);
                let (p, q) = (one.0.len() as f64, other.0.len() as f64);
                let terms = one.1.iter().zip(&other.1);
                let square: f64 = terms.map(|(x, y)| (x - y).powi(2)).sum();
                let cost = p * q / (p + q) * square;
                if cost < nearest {
                    (nearest, pair) = (cost, (a, b));
                }
            }
        }
        let (mut members, centre) = clusters.swap_remove(pair.1);
        let into = &mut clusters[pair.0];
        let (p, q) = (into.0.len() as f64, members.len() as f64);
        for (to, x) in into.1.iter_mut().zip(&centre) {
            *to = (p * *to + q * x) / (p + q);
        }
        into.0.append(&mut members);
    }
    let (deviation, clusters) = best?;
    Some(Cut {
        vectors,
        clusters,
        deviation,
    })
}

/// Σ_k (v_iᵀ C_k v_j)², and v_iᵀ C_k v_i for every k.
fn forms(all: &[Mat<f64>], vectors: &Mat<f64>) -> (Mat<f64>, Vec<Vec<f64>>) {
    let n = vectors.ncols();
    let mut squares = Mat::<f64>::zeros(n, n);
    let mut forms = Vec::new();
    for element in all {
        let turned = vectors.transpose() * element * vectors;
        for column in 0..n {
            for row in 0..n {
                squares[(row, column)] += turned[(row, column)].powi(2);
            }
        }
        forms.push((0..n).map(|k| turned[(k, k)]).collect());
    }
    (squares, forms)
}

/// How far E is from whole numbers, for each dimension; `None` where they do not add up to the commutant's dimension.
fn deviation(squares: &Mat<f64>, clusters: &[Vec<usize>], dimension: usize) -> Option<f64> {
    let mut count = clusters.len();
    let mut sum = 0.0;
    for (b, other) in clusters.iter().enumerate() {
        for (a, one) in clusters[..=b].iter().enumerate() {
            let energy = energy(squares, one, other);
            if a == b {
                sum += (energy - 1.0).abs();
                continue;
            }
            let hom = homs(2.0 * energy, one.len(), other.len());
            count += hom;
            sum += (2.0 * energy - hom as f64).abs();
        }
    }
    (count == dimension).then(|| sum / dimension as f64)
}

fn energy(squares: &Mat<f64>, one: &[usize], other: &[usize]) -> f64 {
    let pairs = one.iter().flat_map(|&i| other.iter().map(move |&j| (i, j)));
    pairs.map(|at| squares[at]).sum()
}

/// The dimension of Hom that is nearest to `found`.
fn homs(found: f64, one: usize, other: usize) -> usize {
    let possible: &[usize] = match one {
        _ if one != other => &[0],
        _ if one.is_multiple_of(4) => &[0, 1, 2, 4],
        _ if one.is_multiple_of(2) => &[0, 1, 2],
        _ => &[0, 1],
    };
    let off = |hom: &usize| (found - *hom as f64).abs();
    let nearest = possible.iter().min_by(|a, b| off(a).total_cmp(&off(b)));
    nearest.copied().unwrap_or(0)
}

/// The eigenvectors of Σ_a a P_a, with P_a what of the projection onto cluster a lies in the commutant: no two eigenvalues are
/// near each other by chance.
fn refined(all: &[Mat<f64>], cut: &Cut) -> Option<Cut> {
    let n = cut.vectors.nrows();
    let mut sum = Mat::<f64>::zeros(n, n);
    for element in all {
        let mut weight = 0.0;
        for (number, cluster) in cut.clusters.iter().enumerate() {
            let forms = cluster.iter().map(|&i| {
                let v = cut.vectors.col(i);
                v.transpose() * element * v
            });
            weight += (number + 1) as f64 * forms.sum::<f64>();
        }
        sum += element * faer::Scale(weight);
    }
    let (_, vectors) = symmetric_eigen(&sum)?;
    let mut clusters = Vec::new();
    let mut first = n;
    // The largest eigenvalues come first.
    for cluster in &cut.clusters {
        first -= cluster.len();
        clusters.push((first..first + cluster.len()).collect());
    }
    let (squares, _) = forms(all, &vectors);
    let deviation = deviation(&squares, &clusters, all.len())?;
    Some(Cut {
        vectors,
        clusters,
        deviation,
    })
}

/// Copies of an irrep in bases that are moved by the same matrices.
fn aligned(all: &[Mat<f64>], cut: &Cut) -> Option<Blocks> {
    let n = cut.vectors.nrows();
    let (squares, _) = forms(all, &cut.vectors);
    let mut order: Vec<&Vec<usize>> = cut.clusters.iter().collect();
    order.sort_by_key(|cluster| (cluster.len(), cluster.iter().min().copied()));
    let mut blocks: Vec<Block> = Vec::new();
    let mut classes: Vec<(Class, &Vec<usize>)> = Vec::new();
    for cluster in order {
        let d = cluster.len();
        let mut vectors = Mat::from_fn(n, d, |row, k| cut.vectors[(row, cluster[k])]);
        let hom = |first: &Vec<usize>| homs(2.0 * energy(&squares, first, cluster), first.len(), d);
        let found = classes.iter().position(|(_, first)| hom(first) > 0);
        let class = match found {
            None => {
                classes.push((
                    Class {
                        dimension: d,
                        copies: Vec::new(),
                        structures: Vec::new(),
                    },
                    cluster,
                ));
                classes.len() - 1
            }
            Some(class) => {
                let (known, first) = &mut classes[class];
                let to = &blocks[known.copies[0]].vectors;
                let mut turns = homomorphisms(all, to.as_ref(), vectors.as_ref(), hom(first))?;
                let turn = turns.remove(0);
                vectors = &vectors * turn.transpose();
                if known.structures.len() < turns.len() {
                    let structures = turns.into_iter().map(|other| other * turn.transpose());
                    known.structures = structures.collect();
                }
                class
            }
        };
        classes[class].0.copies.push(blocks.len());
        blocks.push(Block { vectors });
    }
    Some(Blocks {
        blocks,
        classes: classes.into_iter().map(|(class, _)| class).collect(),
        deviation: cut.deviation,
    })
}

/// Orthogonal matrices R that span what V_aᵀ C V_b can be, `count` of them, each with Rᵀ of the first skew but for itself.
fn homomorphisms(
    all: &[Mat<f64>],
    a: MatRef<'_, f64>,
    b: MatRef<'_, f64>,
    count: usize,
) -> Option<Vec<Mat<f64>>> {
    let (rows, columns) = (a.ncols(), b.ncols());
    let mut gram = Mat::<f64>::zeros(rows * columns, rows * columns);
    for c in all {
        let between = a.transpose() * c * b;
        let numbers = Mat::from_fn(rows * columns, 1, |at, _| between[(at % rows, at / rows)]);
        gram += &numbers * numbers.transpose();
    }
    let (_, vectors) = symmetric_eigen(&gram)?;
    let matrix = |k: usize| {
        Mat::from_fn(rows, columns, |row, column| {
            vectors[(row + rows * column, k)]
        })
    };
    (0..count).map(|k| nearest_orthogonal(&matrix(k))).collect()
}

/// U Vᵀ of M = U Σ Vᵀ.
pub(super) fn nearest_orthogonal(matrix: &Mat<f64>) -> Option<Mat<f64>> {
    let svd = matrix.thin_svd().ok()?;
    Some(svd.U() * svd.V().transpose())
}
