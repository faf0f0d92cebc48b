//! The real irreducible representations of a finite group, from its exact table: no noise of data enters.
//!
//! With random c that do not tell g from g⁻¹, H[x, y] = c[x⁻¹y] is symmetric and commutes with the group's own action
//! L(g) e_x = e_gx. Each of its eigenspaces U is irreducible, and ρ(g) = Uᵀ L(g) U. One irrep a character is kept. By Schur's
//! lemma ⟨χ, χ⟩ is the dimension of what commutes with ρ: 1 (real numbers), 2 (complex) or 4 (quaternions); and
//! Σ d²/⟨χ, χ⟩ = |G| proves that none is missing.

use super::{Cayley, Structure};
use crate::numeric::random::{Purpose, stream};
use faer::{Mat, Side};
use ndarray::Array2;
use rand::RngExt;
use rand_distr::StandardNormal;

/// Eigenvalues nearer than this share of the largest are one; the gaps between random ones are near 1/n².
const EQUAL: f64 = 1e-9;
/// Of numbers that are exactly zero, rounding leaves no more.
pub(super) const ROUNDING: f64 = 1e-9;
/// Bases that are tried to make the matrices of an irrep sparse.
const MOST_BASES: usize = 24;

/// A real irreducible representation by orthogonal matrices.
#[derive(Debug, Clone)]
pub struct Irrep {
    /// Rows of its matrices.
    pub dimension: usize,
    /// The dimension of what commutes with it: 1, 2 or 4.
    pub commutant: usize,
    /// The trace of every element's matrix.
    pub character: Vec<f64>,
    /// The matrix of every element.
    pub matrices: Vec<Array2<f64>>,
}

impl Irrep {
    /// Whether every element does nothing.
    #[must_use]
    pub fn is_trivial(&self) -> bool {
        self.dimension == 1 && self.character.iter().all(|&x| (x - 1.0).abs() < 0.5)
    }
}

/// All real irreps of the group of `table`, the trivial one first, then by dimension; `None` where it is no group's.
///
/// ```
/// use bispectral_learn::group::{group_table, real_irreps};
///
/// let irreps = real_irreps(&group_table("S4")?).unwrap();
/// let dimensions: Vec<usize> = irreps.iter().map(|irrep| irrep.dimension).collect();
/// assert_eq!(dimensions, [1, 1, 2, 3, 3]);
/// # Ok::<(), bispectral_learn::Error>(())
/// ```
#[must_use]
pub fn real_irreps(table: &Cayley) -> Option<Vec<Irrep>> {
    let structure = Structure::of(table).ok()?;
    // Chance that two random eigenvalues agree is nil, but a proof is asked for all the same.
    (0..4).find_map(|seed| with_seed(table, &structure, seed))
}

fn with_seed(table: &Cayley, structure: &Structure, seed: u64) -> Option<Vec<Irrep>> {
    let n = table.order();
    let inverses = structure.inverses();
    let mut random = stream(seed, Purpose::Couplings);
    let drawn: Vec<f64> = (0..n).map(|_| random.sample(StandardNormal)).collect();
    let c: Vec<f64> = (0..n).map(|g| drawn[g] + drawn[inverses[g]]).collect();
    let h = Mat::from_fn(n, n, |x, y| c[table.product(inverses[x], y)]);
    let eigen = h.self_adjoint_eigen(Side::Lower).ok()?;
    let values: Vec<f64> = eigen.S().column_vector().iter().copied().collect();
    let scale = values
        .iter()
        .fold(0.0_f64, |most, value| most.max(value.abs()));
    let mut found: Vec<Irrep> = Vec::new();
    let mut start = 0;
    while start < n {
        let within = |&end: &usize| end == n || values[end] - values[end - 1] > EQUAL * scale;
        let end = (start + 1..=n).find(within)?;
        let basis = Array2::from_shape_fn((n, end - start), |(x, a)| eigen.U()[(x, start + a)]);
        start = end;
        let character = character(table, structure, &basis);
        let same = |irrep: &Irrep| {
            let pairs = irrep.character.iter().zip(&character);
            pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) < 1e-6
        };
        if found.iter().any(same) {
            continue;
        }
        let norm = character.iter().map(|x| x * x).sum::<f64>() / n as f64;
        let commutant = norm.round();
        if (norm - commutant).abs() > 1e-6 || ![1.0, 2.0, 4.0].contains(&commutant) {
            return None;
        }
        let matrices = (0..n).map(|g| matrix(table, &basis, g)).collect();
        found.push(Irrep {
            dimension: basis.ncols(),
            commutant: commutant as usize,
            character,
            matrices,
        });
    }
    let squares = found
        .iter()
        .map(|irrep| irrep.dimension.pow(2) as f64 / irrep.commutant as f64);
    if squares.sum::<f64>() != n as f64 {
        return None;
    }
    for irrep in &mut found {
        make_sparse(irrep, table, structure);
    }
    // A fixed order: the characters tell irreps apart.
    found.sort_by(|a, b| {
        let by_size = (!a.is_trivial(), a.dimension).cmp(&(!b.is_trivial(), b.dimension));
        let rounded = |irrep: &Irrep| -> Vec<i64> {
            irrep
                .character
                .iter()
                .map(|x| (x * 1e6).round() as i64)
                .collect()
        };
        by_size.then_with(|| rounded(b).cmp(&rounded(a)))
    });
    Some(found)
}

/// The trace of Uᵀ L(g) U, computed once a class.
fn character(table: &Cayley, structure: &Structure, basis: &Array2<f64>) -> Vec<f64> {
    let of_class: Vec<f64> = (structure.classes().iter())
        .map(|class| {
            let rows = basis.rows().into_iter().enumerate();
            rows.map(|(x, row)| row.dot(&basis.row(table.product(class[0], x))))
                .sum()
        })
        .collect();
    structure
        .class_of()
        .iter()
        .map(|&class| of_class[class])
        .collect()
}

/// Uᵀ L(g) U.
fn matrix(table: &Cayley, basis: &Array2<f64>, g: usize) -> Array2<f64> {
    let order: Vec<usize> = (0..basis.nrows()).map(|x| table.product(g, x)).collect();
    basis.select(ndarray::Axis(0), &order).t().dot(basis)
}

/// Turns the basis so that elements which commute are diagonal, as far as real matrices can be: most others then have many
/// zeros, and so have the couplings. Of some choices of commuting elements the one with the fewest numbers that are not zero.
fn make_sparse(irrep: &mut Irrep, table: &Cayley, structure: &Structure) {
    let d = irrep.dimension;
    if d == 1 {
        return;
    }
    let count = |matrices: &[Array2<f64>]| -> usize {
        let entries = matrices.iter().flatten();
        entries.filter(|x| x.abs() > ROUNDING).count()
    };
    let mut best = (count(&irrep.matrices), None);
    let classes = structure.classes().iter().skip(1);
    let mut seeds: Vec<usize> = classes
        .flat_map(|class| class.iter().take(2).copied())
        .collect();
    seeds.sort_by_key(|&g| (structure.orders()[g] != 2, structure.orders()[g]));
    seeds.truncate(MOST_BASES);
    for seed in seeds {
        let basis = common_eigenvectors(irrep, table, structure, seed);
        let turned: Vec<Array2<f64>> = (irrep.matrices.iter())
            .map(|matrix| basis.t().dot(matrix).dot(&basis))
            .collect();
        let size = count(&turned);
        if size < best.0 {
            best = (size, Some(turned));
        }
    }
    if let Some(matrices) = best.1 {
        irrep.matrices = matrices;
    }
    for x in irrep.matrices.iter_mut().flatten() {
        // What is nearly a simple number is that number.
        let simple = [0.0, 1.0, -1.0, 0.5, -0.5]
            .into_iter()
            .find(|s| (s - *x).abs() < ROUNDING);
        *x = simple.unwrap_or(*x);
    }
}

/// Eigenvectors of ρ(g) + ρ(g)ᵀ for `seed` and elements that commute with it and each other, those of order two first.
fn common_eigenvectors(
    irrep: &Irrep,
    table: &Cayley,
    structure: &Structure,
    seed: usize,
) -> Array2<f64> {
    let d = irrep.dimension;
    let commute = |a: usize, b: usize| table.product(a, b) == table.product(b, a);
    let mut chosen = vec![seed];
    let mut others: Vec<usize> = (0..table.order()).collect();
    others.sort_by_key(|&g| (structure.orders()[g] != 2, g));
    for g in others {
        if chosen.iter().all(|&h| commute(g, h)) && !chosen.contains(&g) {
            chosen.push(g);
        }
    }
    let mut sum = Array2::<f64>::zeros((d, d));
    for (k, &g) in chosen.iter().enumerate() {
        // Weights of which no few add up to each other; later ones only split what earlier ones leave.
        let weight = (0.7_f64).powi(k as i32) * (1.0 + 0.1 * (k as f64).sin());
        sum = sum + (&irrep.matrices[g] + &irrep.matrices[g].t()) * weight;
    }
    let h = Mat::from_fn(d, d, |a, b| 0.5 * (sum[(a, b)] + sum[(b, a)]));
    match h.self_adjoint_eigen(Side::Lower) {
        Ok(eigen) => Array2::from_shape_fn((d, d), |(a, b)| eigen.U()[(a, b)]),
        Err(_) => Array2::eye(d),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{group_table, groups_of_order};
    use super::*;

    #[test]
    fn every_group_of_up_to_31_elements_has_all_its_irreps() {
        for name in (1..=31)
            .flat_map(groups_of_order)
            .chain(["A5".into(), "S3xS3".into()])
        {
            let table = group_table(&name).unwrap();
            let irreps = real_irreps(&table).unwrap_or_else(|| panic!("{name}"));
            assert!(irreps[0].is_trivial(), "{name}");
            for irrep in &irreps {
                for a in (0..table.order()).step_by(3) {
                    for b in 0..table.order() {
                        let product = irrep.matrices[a].dot(&irrep.matrices[b]);
                        let expected = &irrep.matrices[table.product(a, b)];
                        let off = (&product - expected)
                            .iter()
                            .fold(0.0_f64, |m, x| m.max(x.abs()));
                        assert!(off < 1e-8, "{name}: {off}");
                    }
                }
            }
        }
    }

    #[test]
    fn quaternions_and_cycles_have_their_kinds() {
        let kinds = |name: &str| -> Vec<(usize, usize)> {
            let irreps = real_irreps(&group_table(name).unwrap()).unwrap();
            irreps
                .iter()
                .map(|irrep| (irrep.dimension, irrep.commutant))
                .collect()
        };
        assert_eq!(kinds("Q8"), [(1, 1), (1, 1), (1, 1), (1, 1), (4, 4)]);
        assert_eq!(kinds("Z5"), [(1, 1), (2, 2), (2, 2)]);
        assert_eq!(kinds("A4"), [(1, 1), (2, 2), (3, 1)]);
    }
}
