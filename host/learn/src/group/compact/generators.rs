//! The Lie algebra that leaves all forms as they are: directions in which a continuous group moves.
//!
//! X = ⊕ X_a, one antisymmetric matrix an irrep, generates symmetries of a form t of irreps a, b, c where
//!
//! > (X_a ⊗ 1 ⊗ 1 + 1 ⊗ X_b ⊗ 1 + 1 ⊗ 1 ⊗ X_c) t = 0.
//!
//! These are linear equations in X, many more than unknowns, so that errors of the forms average out. The group's dimension is
//! that of their solutions: 0 for a finite group, 1 for SO(2) and O(2), 3 for SO(3).

use super::commutant::symmetric_eigen;
use super::solve::Compact;
use crate::group::couplings::Tensor;
use faer::Mat;

/// The mean square that a generator may leave of each equation, relative to what a random X leaves: errors of forms are squared
/// here.
const MOST_RESIDUE: f64 = 0.06;
/// More unknowns than this are not solved for.
const MOST_UNKNOWNS: usize = 1200;

/// A basis of the generators: for each, one antisymmetric matrix an irrep; none where no form couples the irrep.
#[derive(Debug, Clone)]
pub(super) struct Generators {
    pub(super) generators: Vec<Vec<Mat<f64>>>,
}

/// The directions that change the forms least, from the least.
pub(super) struct Smallest {
    pub(super) generators: Vec<Vec<Mat<f64>>>,
    /// The mean square that each leaves of the equations, relative to what a random X leaves.
    pub(super) residues: Vec<f64>,
    /// The irreps that a form of order three couples; of the others nothing is known.
    pub(super) coupled: Vec<bool>,
}

/// The generators of a learned group; `None` where there are too many unknowns, or irreps that no form of order three couples.
pub(super) fn generators(compact: &Compact) -> Option<Generators> {
    let found = smallest(compact, usize::MAX)?;
    let loose = |(irrep, coupled): (&super::solve::Irrep, &bool)| irrep.dimension > 1 && !coupled;
    if compact.irreps.iter().zip(&found.coupled).any(loose) {
        return None;
    }
    let count = found
        .residues
        .iter()
        .take_while(|&&residue| residue <= MOST_RESIDUE);
    let mut generators = found.generators;
    let count = count.count();
    generators.truncate(count);
    Some(Generators { generators })
}

/// Up to `most` directions that change the forms of coupled irreps least; `None` where there are too many unknowns, or none.
pub(super) fn smallest(compact: &Compact, most: usize) -> Option<Smallest> {
    let irreps = &compact.irreps;
    let mut coupled = vec![false; irreps.len()];
    for form in compact.forms.iter().filter(|form| form.irreps.len() == 3) {
        form.irreps.iter().for_each(|&irrep| coupled[irrep] = true);
    }
    let mut unknowns = Vec::new();
    let known = irreps
        .iter()
        .enumerate()
        .filter(|&(irrep, _)| coupled[irrep]);
    for (number, irrep) in known {
        let d = irrep.dimension;
        let places = (0..d).flat_map(|q| (0..q).map(move |p| (p, q)));
        unknowns.extend(places.map(|(p, q)| (number, p, q)));
    }
    if unknowns.is_empty() || unknowns.len() > MOST_UNKNOWNS {
        return None;
    }
    let mut normal = Mat::<f64>::zeros(unknowns.len(), unknowns.len());
    // What each unknown changes at single indices: together these may cancel, where it is a generator by itself.
    let mut apart = vec![0.0; unknowns.len()];
    for form in compact.forms.iter().filter(|form| form.irreps.len() >= 2) {
        let tensor = &compact.couplings.tensors()[form.tensor];
        let concerned: Vec<usize> = (0..unknowns.len())
            .filter(|&k| form.irreps.contains(&unknowns[k].0))
            .collect();
        let size: usize = tensor.dims().iter().product();
        let square: f64 = tensor.entries().iter().map(|e| e.value * e.value).sum();
        let mut changes = Mat::<f64>::zeros(size, concerned.len());
        for (column, &k) in concerned.iter().enumerate() {
            let (irrep, p, q) = unknowns[k];
            for slot in (0..form.irreps.len()).filter(|&slot| form.irreps[slot] == irrep) {
                add_change(tensor, slot, p, q, 1.0 / square.sqrt(), |row, by| {
                    changes[(row, column)] += by;
                    apart[k] += by * by;
                });
            }
        }
        let gram = changes.transpose() * &changes;
        for (i, &k) in concerned.iter().enumerate() {
            for (j, &l) in concerned.iter().enumerate() {
                normal[(k, l)] += gram[(i, j)];
            }
        }
    }
    let scales: Vec<f64> = (apart.iter())
        .map(|square| 1.0 / square.max(f64::MIN_POSITIVE).sqrt())
        .collect();
    let scaled = Mat::from_fn(unknowns.len(), unknowns.len(), |k, l| {
        scales[k] * scales[l] * normal[(k, l)]
    });
    let (values, vectors) = symmetric_eigen(&scaled)?;
    let (mut generators, mut residues) = (Vec::new(), Vec::new());
    for column in (0..unknowns.len()).rev().take(most) {
        residues.push(values[column]);
        let mut blocks: Vec<Mat<f64>> = (irreps.iter())
            .map(|irrep| Mat::zeros(irrep.dimension, irrep.dimension))
            .collect();
        for (k, &(irrep, p, q)) in unknowns.iter().enumerate() {
            let value = scales[k] * vectors[(k, column)];
            blocks[irrep][(p, q)] = value;
            blocks[irrep][(q, p)] = -value;
        }
        generators.push(blocks);
    }
    Some(Smallest {
        generators,
        residues,
        coupled,
    })
}

/// The change of a tensor by E_pq − E_qp at one of its indices.
fn add_change(
    tensor: &Tensor,
    slot: usize,
    p: usize,
    q: usize,
    scale: f64,
    mut add: impl FnMut(usize, f64),
) {
    let dims = tensor.dims();
    for entry in tensor.entries() {
        let mut index = entry.index().map(usize::from);
        let (to, sign) = match index[slot] {
            at if at == q => (p, 1.0),
            at if at == p => (q, -1.0),
            _ => continue,
        };
        index[slot] = to;
        let row = (0..dims.len()).fold(0, |row, k| row * dims[k] + index[k]);
        add(row, sign * scale * entry.value);
    }
}

impl Generators {
    /// Whether all commute.
    pub(super) fn commute(&self) -> bool {
        let norm = |blocks: &[Mat<f64>]| blocks.iter().map(|b| b.squared_norm_l2()).sum::<f64>();
        let pairs = (0..self.generators.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        pairs.into_iter().all(|(a, b)| {
            let (x, y) = (&self.generators[a], &self.generators[b]);
            let commutators = x.iter().zip(y).map(|(x, y)| x * y - y * x);
            let commutator = norm(&commutators.collect::<Vec<_>>());
            commutator < 0.05 * norm(x) * norm(y) / self.dimension_of(x)
        })
    }

    fn dimension_of(&self, blocks: &[Mat<f64>]) -> f64 {
        blocks.iter().map(|b| b.nrows() as f64).sum()
    }
}
