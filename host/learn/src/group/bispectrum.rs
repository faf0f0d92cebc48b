//! From a group and how it moves inputs to its invariants: a basis of blocks, and forms of orders one to four in them.
//!
//! **Blocks.** The inputs of one orbit are g·p for a point p. Every w with ρ(s) w = w for the s that fix p gives a block
//! B(g·p) = ρ(g) w, with P(g) B = B ρ(g): z = Bᵀ x moves as z → ρ(g) z. Such w that differ by what commutes with ρ give one and
//! the same block.
//!
//! **Forms.** T = mean_g (ρ_i ⊗ ρ_j ⊗ ρ_k)(g) X is invariant for every X: Clebsch–Gordan coefficients. There are
//! ⟨χ_i χ_j χ_k, 1⟩ independent ones; X runs through the unit tensors, which leaves many zeros.
//!
//! **Selective.** The means, then the scalar products of blocks with a few of reference, d for an irrep of dimension d, then
//! forms of order three of references, the smallest first, until the Jacobian has full rank at random signals: then the
//! invariants tell apart all signals near each other, up to the group.

use super::couplings::{Couplings, CouplingsError, Entry, Tensor, Term};
use super::irreps::ROUNDING;
use super::rank::Rank;
use super::{Action, Irrep, real_irreps};
use crate::numeric::random::{Purpose, stream};
use ndarray::{Array1, Array2};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use std::collections::HashMap;

/// More terms than this are not listed: then the selective set is all there is.
const MOST_TERMS: usize = 4096;
/// Values that tables are made of are rounded to so many.
const LEAST_ENTRY: f64 = 1e-10;

/// One copy of an irrep among the inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// The number of its irrep.
    pub irrep: usize,
    /// Its first row in the basis.
    pub offset: usize,
}

/// The basis of an action: orthonormal rows, one block behind the other.
#[derive(Debug, Clone)]
pub struct Blocks {
    /// The irreps of the group, whether or not there are blocks of them.
    pub irreps: Vec<Irrep>,
    /// In the order of their irreps.
    pub blocks: Vec<Block>,
    /// N × N, orthogonal.
    pub basis: Array2<f64>,
}

impl Blocks {
    /// Of an action; `None` where its group is too large for a table.
    ///
    /// ```
    /// use bispectral_learn::group::{Blocks, known_action};
    ///
    /// let blocks = Blocks::of(&known_action("O", Some(6))?).unwrap();
    /// let dimensions: Vec<usize> = blocks.blocks.iter().map(|b| blocks.irreps[b.irrep].dimension).collect();
    /// assert_eq!(dimensions, [1, 2, 3]);
    /// # Ok::<(), bispectral_learn::Error>(())
    /// ```
    #[must_use]
    pub fn of(action: &Action) -> Option<Self> {
        let irreps = real_irreps(&action.table())?;
        let n = action.degree();
        let orbits = action.orbits();
        let mut basis = Array2::zeros((n, n));
        let mut blocks = Vec::new();
        let mut row = 0;
        for (number, irrep) in irreps.iter().enumerate() {
            let commutant = commutant(irrep);
            for orbit in &orbits {
                for w in fixed_vectors(action, irrep, &commutant, orbit[0]) {
                    let d = irrep.dimension;
                    if row + d > n {
                        return None;
                    }
                    let mut counts = 0.0;
                    for (element, matrix) in action.elements().iter().zip(&irrep.matrices) {
                        let moved = matrix.dot(&w);
                        let input = element.image(orbit[0]);
                        for (a, moved) in moved.iter().enumerate() {
                            basis[(row + a, input)] += moved;
                        }
                        counts += 1.0;
                    }
                    // Σ_g ρ(g) w wᵀ ρ(g)ᵀ = |G| ‖w‖²/d, each input being reached |G|/|orbit| times.
                    let length = counts / (orbit.len() as f64 * d as f64).sqrt();
                    for a in 0..d {
                        let mut row = basis.row_mut(row + a);
                        row.mapv_inplace(|x| x / length);
                    }
                    blocks.push(Block {
                        irrep: number,
                        offset: row,
                    });
                    row += d;
                }
            }
        }
        (row == n).then_some(Blocks {
            irreps,
            blocks,
            basis,
        })
    }

    fn irrep(&self, block: Block) -> &Irrep {
        &self.irreps[block.irrep]
    }
}

/// An orthonormal basis of what commutes with every matrix of the irrep: 1, 2 or 4 matrices.
fn commutant(irrep: &Irrep) -> Vec<Array2<f64>> {
    let d = irrep.dimension;
    let mut found: Vec<Array2<f64>> = vec![Array2::eye(d) / (d as f64).sqrt()];
    for unit in 0..d * d {
        if found.len() == irrep.commutant {
            break;
        }
        let mut x = Array2::zeros((d, d));
        x[(unit / d, unit % d)] = 1.0;
        let mut mean = Array2::<f64>::zeros((d, d));
        for matrix in &irrep.matrices {
            mean = mean + matrix.dot(&x).dot(&matrix.t());
        }
        mean /= irrep.matrices.len() as f64;
        for known in &found {
            let inner = (&mean * known).sum();
            mean = mean - known * inner;
        }
        let length = (&mean * &mean).sum().sqrt();
        if length > 1e-6 {
            found.push(mean / length);
        }
    }
    found
}

/// Orthonormal w that the elements which fix `point` leave as they are, one for each block.
fn fixed_vectors(
    action: &Action,
    irrep: &Irrep,
    commutant: &[Array2<f64>],
    point: usize,
) -> Vec<Array1<f64>> {
    let d = irrep.dimension;
    let mut mean = Array2::<f64>::zeros((d, d));
    let mut count = 0.0;
    for (element, matrix) in action.elements().iter().zip(&irrep.matrices) {
        if element.image(point) == point {
            mean += matrix;
            count += 1.0;
        }
    }
    mean /= count;
    // Its columns span them. What the commutant makes of those chosen is left out.
    let (mut chosen, mut spanned): (Vec<Array1<f64>>, Vec<Array1<f64>>) = (Vec::new(), Vec::new());
    for column in mean.columns() {
        let mut w = column.to_owned();
        for _ in 0..2 {
            for known in &spanned {
                let inner = known.dot(&w);
                w = w - known * inner;
            }
        }
        let length = w.dot(&w).sqrt();
        if length < 1e-6 {
            continue;
        }
        w /= length;
        for matrix in commutant {
            let mut image = matrix.dot(&w);
            for known in &spanned {
                let inner = known.dot(&image);
                image = image - known * inner;
            }
            let length = image.dot(&image).sqrt();
            if length > 1e-6 {
                spanned.push(image / length);
            }
        }
        chosen.push(w);
    }
    chosen
}

/// Independent invariant forms of blocks of these irreps, `same` telling which blocks are one and the same.
fn invariant_tensors(irreps: &[&Irrep], same: &[usize]) -> Vec<Tensor> {
    let dims: Vec<usize> = irreps.iter().map(|irrep| irrep.dimension).collect();
    let size: usize = dims.iter().product();
    let elements = irreps[0].matrices.len();
    let count: f64 = (0..elements)
        .map(|g| {
            irreps
                .iter()
                .map(|irrep| irrep.character[g])
                .product::<f64>()
        })
        .sum();
    let most = (count / elements as f64).round() as usize;
    let mut found: Vec<Vec<f64>> = Vec::new();
    for unit in 0..size {
        if found.len() >= most {
            break;
        }
        let at = indices(unit, &dims);
        let mut mean = vec![0.0; size];
        for g in 0..elements {
            add_outer(irreps, g, &at, &mut mean);
        }
        mean.iter_mut().for_each(|x| *x /= elements as f64);
        let mut form = symmetric(&mean, &dims, same);
        for known in &found {
            let inner: f64 = known.iter().zip(&form).map(|(a, b)| a * b).sum();
            form.iter_mut()
                .zip(known)
                .for_each(|(x, known)| *x -= inner * known);
        }
        let length = form.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 1e-6 {
            form.iter_mut().for_each(|x| *x /= length);
            found.push(form);
        }
    }
    let tensors = found.iter().filter_map(|form| tensor(form, &dims, same));
    tensors.collect()
}

fn indices(mut number: usize, dims: &[usize]) -> Vec<usize> {
    let mut index = vec![0; dims.len()];
    for (index, dim) in index.iter_mut().zip(dims).rev() {
        (*index, number) = (number % dim, number / dim);
    }
    index
}

/// Adds the outer product of the columns `at` of the irreps' matrices of g.
fn add_outer(irreps: &[&Irrep], g: usize, at: &[usize], to: &mut [f64]) {
    let mut outer = vec![1.0];
    for (irrep, &column) in irreps.iter().zip(at) {
        let column = irrep.matrices[g].column(column);
        outer = outer
            .iter()
            .flat_map(|&x| column.iter().map(move |&y| x * y))
            .collect();
    }
    to.iter_mut().zip(outer).for_each(|(to, x)| *to += x);
}

/// The part that counts where blocks are the same: the mean over all their exchanges.
fn symmetric(form: &[f64], dims: &[usize], same: &[usize]) -> Vec<f64> {
    let mut sums: HashMap<Vec<usize>, (f64, f64)> = HashMap::new();
    for (number, &value) in form.iter().enumerate() {
        let sum = sums
            .entry(canonical(&indices(number, dims), same))
            .or_default();
        *sum = (sum.0 + value, sum.1 + 1.0);
    }
    (0..form.len())
        .map(|number| {
            let (sum, count) = sums[&canonical(&indices(number, dims), same)];
            sum / count
        })
        .collect()
}

/// The indices of blocks that are the same, sorted.
fn canonical(index: &[usize], same: &[usize]) -> Vec<usize> {
    let mut canonical = index.to_vec();
    for kind in same {
        let places: Vec<usize> = (0..same.len()).filter(|&k| same[k] == *kind).collect();
        let mut values: Vec<usize> = places.iter().map(|&place| index[place]).collect();
        values.sort_unstable();
        for (place, value) in places.into_iter().zip(values) {
            canonical[place] = value;
        }
    }
    canonical
}

/// With what is one product of coefficients added up, the largest entry one.
fn tensor(form: &[f64], dims: &[usize], same: &[usize]) -> Option<Tensor> {
    let mut sums: std::collections::BTreeMap<Vec<usize>, f64> = std::collections::BTreeMap::new();
    for (number, &value) in form.iter().enumerate() {
        *sums
            .entry(canonical(&indices(number, dims), same))
            .or_default() += value;
    }
    let largest = sums.values().fold(0.0_f64, |most, x| most.max(x.abs()));
    let sign = sums.values().find(|x| x.abs() > 1e-6 * largest)?.signum();
    let entries: Result<Vec<Entry>, CouplingsError> = sums
        .iter()
        .map(|(index, &value)| (index, value * sign / largest))
        .filter(|(_, value)| value.abs() > LEAST_ENTRY.max(ROUNDING))
        .map(|(index, value)| {
            let simple = [1.0, -1.0, 0.5, -0.5]
                .into_iter()
                .find(|s| (s - value).abs() < ROUNDING);
            Entry::new(index, simple.unwrap_or(value))
        })
        .collect();
    Tensor::new(dims, entries.ok()?).ok()
}

/// Terms are made of tensors that are shared: one for all blocks of the same irreps.
struct Terms<'a> {
    blocks: &'a Blocks,
    tensors: Vec<Tensor>,
    known: HashMap<(Vec<usize>, Vec<usize>), Vec<usize>>,
}

impl Terms<'_> {
    /// The independent forms of these blocks, which are in ascending order.
    fn of(&mut self, blocks: &[Block]) -> Vec<Term> {
        let irreps: Vec<usize> = blocks.iter().map(|block| block.irrep).collect();
        let first = |block: &Block| blocks.iter().position(|other| other == block).unwrap_or(0);
        let same: Vec<usize> = blocks.iter().map(first).collect();
        let numbers = match self.known.get(&(irreps.clone(), same.clone())) {
            Some(numbers) => numbers.clone(),
            None => {
                let of: Vec<&Irrep> = blocks
                    .iter()
                    .map(|&block| self.blocks.irrep(block))
                    .collect();
                let tensors = invariant_tensors(&of, &same);
                let from = self.tensors.len();
                self.tensors.extend(tensors);
                let numbers: Vec<usize> = (from..self.tensors.len()).collect();
                self.known.insert((irreps, same), numbers.clone());
                numbers
            }
        };
        let offsets: Vec<usize> = blocks.iter().map(|block| block.offset).collect();
        let term = |tensor| Term {
            tensor,
            offsets: offsets.clone(),
        };
        numbers.into_iter().map(term).collect()
    }
}

/// The invariants of `action`: a selective set in front, and behind it every other form of up to order three where these are
/// not too many.
///
/// ```
/// use bispectral_learn::group::{couplings_of, known_action};
///
/// let action = known_action("S3", None)?;
/// let couplings = couplings_of(&action, 0)?;
/// let x = [0.3, -1.0, 0.7, 2.0, 0.1, -0.4];
/// let moved = action.elements()[3].moved(&x);
/// let pairs = couplings.invariants(&x)?.into_iter().zip(couplings.invariants(&moved)?);
/// assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-12));
/// # Ok::<(), bispectral_learn::Error>(())
/// ```
///
/// # Errors
/// The group is too large.
pub fn couplings_of(action: &Action, seed: u64) -> Result<Couplings, CouplingsError> {
    let too_large = || CouplingsError::Size {
        found: action.order(),
    };
    let blocks = Blocks::of(action).ok_or_else(too_large)?;
    let mut terms = Terms {
        blocks: &blocks,
        tensors: Vec::new(),
        known: HashMap::new(),
    };
    let (selective, others) = selective(&mut terms, seed);
    let count = selective.len();
    let all = [selective, others].concat();
    Couplings::new(blocks.basis.clone(), terms.tensors, all)?.with_selective(count)
}

/// The invariant forms of order four of the blocks of reference, in the basis of [`couplings_of`]: what products of forms of lower
/// orders cannot tell apart, one of these may.
///
/// # Errors
/// The group is too large, or there is no such form.
pub fn forms_of_order_four(action: &Action) -> Result<Couplings, CouplingsError> {
    let too_large = || CouplingsError::Size {
        found: action.order(),
    };
    let blocks = Blocks::of(action).ok_or_else(too_large)?;
    let mut terms = Terms {
        blocks: &blocks,
        tensors: Vec::new(),
        known: HashMap::new(),
    };
    let chosen: Vec<Block> = (references(&blocks).into_iter())
        .filter(|&block| !blocks.irrep(block).is_trivial())
        .collect();
    let mut all = Vec::new();
    for (i, &a) in chosen.iter().enumerate() {
        for (j, &b) in chosen.iter().enumerate().skip(i) {
            for (k, &c) in chosen.iter().enumerate().skip(j) {
                for &d in &chosen[k..] {
                    all.extend(terms.of(&[a, b, c, d]));
                }
            }
        }
    }
    Couplings::new(blocks.basis.clone(), terms.tensors, all)
}

/// The terms of the selective set, and the others where there are not too many.
fn selective(terms: &mut Terms<'_>, seed: u64) -> (Vec<Term>, Vec<Term>) {
    let blocks = &terms.blocks.blocks;
    let references = references(terms.blocks);
    let mut rank = Derivatives::new(&terms.blocks.basis, seed);
    let (mut chosen, mut left) = (Vec::new(), Vec::new());
    for &block in blocks {
        if terms.blocks.irrep(block).is_trivial() {
            chosen.extend(terms.of(&[block]));
        }
    }
    for (k, &a) in blocks.iter().enumerate() {
        for &b in &blocks[k..] {
            let trivial = terms.blocks.irrep(a).is_trivial();
            if a.irrep != b.irrep || trivial {
                continue;
            }
            let wanted = references.contains(&a) || references.contains(&b);
            if wanted || left.len() < MOST_TERMS {
                let pair = terms.of(&[a, b]);
                if wanted { &mut chosen } else { &mut left }.extend(pair);
            }
        }
    }
    for term in &chosen {
        rank.add(&terms.tensors[term.tensor], term);
    }
    let mut candidates: Vec<Term> = Vec::new();
    let important: Vec<Block> = (references.iter().copied())
        .filter(|&block| !terms.blocks.irrep(block).is_trivial())
        .collect();
    for (i, &a) in important.iter().enumerate() {
        for (j, &b) in important.iter().enumerate().skip(i) {
            for &c in &important[j..] {
                candidates.extend(terms.of(&[a, b, c]));
            }
        }
    }
    candidates.sort_by_key(|term| terms.tensors[term.tensor].entries().len());
    let mut third = Vec::new();
    for term in candidates {
        if !rank.is_full() && rank.add(&terms.tensors[term.tensor], &term) {
            third.push(term);
        } else {
            left.push(term);
        }
    }
    chosen.extend(third);
    let others = if left.len() <= MOST_TERMS {
        left
    } else {
        Vec::new()
    };
    (chosen, others)
}

/// As many blocks of every irrep as its matrices have rows: generic ones span its space.
fn references(blocks: &Blocks) -> Vec<Block> {
    let mut counts = HashMap::new();
    let mut chosen = Vec::new();
    for &block in &blocks.blocks {
        let count = counts.entry(block.irrep).or_insert(0);
        if *count < blocks.irrep(block).dimension {
            chosen.push(block);
        }
        *count += 1;
    }
    chosen
}

/// The rank of the forms' derivatives at a random signal.
struct Derivatives {
    z: Vec<f64>,
    rank: Rank,
}

impl Derivatives {
    fn new(basis: &Array2<f64>, seed: u64) -> Self {
        let mut random: ChaCha8Rng = stream(seed, Purpose::Couplings);
        let z = (0..basis.nrows())
            .map(|_| random.sample(StandardNormal))
            .collect();
        Derivatives {
            z,
            rank: Rank::default(),
        }
    }

    fn is_full(&self) -> bool {
        self.rank.count() == self.z.len()
    }

    /// Whether the rank grows.
    fn add(&mut self, tensor: &Tensor, term: &Term) -> bool {
        let mut gradient = vec![0.0; self.z.len()];
        tensor.add_gradient(&term.offsets, &self.z, 1.0, &mut gradient);
        self.rank.add(Array1::from(gradient))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{groups_of_order, known_action};
    use super::*;

    fn signal(n: usize, seed: u64) -> Vec<f64> {
        let mut random = stream(seed, Purpose::Starts);
        (0..n).map(|_| random.sample(StandardNormal)).collect()
    }

    #[test]
    fn the_basis_is_orthonormal_and_the_forms_do_not_change() {
        let regular = (2..=24).flat_map(groups_of_order).map(|name| (name, None));
        let others = [
            ("D4", 64),
            ("D6", 19),
            ("O", 6),
            ("O", 8),
            ("O", 12),
            ("A4", 4),
            ("Q8", 16),
            ("A5", 60),
            ("D16", 16),
            ("Z8", 24),
        ];
        let others = others.map(|(name, inputs)| (name.to_owned(), Some(inputs)));
        for (name, inputs) in regular.chain(others) {
            let action = known_action(&name, inputs).unwrap();
            let couplings = couplings_of(&action, 0).unwrap();
            let n = action.degree();
            let product = couplings.basis().dot(&couplings.basis().t());
            let off = (&product - &Array2::<f64>::eye(n))
                .iter()
                .fold(0.0_f64, |m, x| m.max(x.abs()));
            assert!(off < 1e-9, "{name}: {off}");
            let x = signal(n, 1);
            let t = couplings.invariants(&x).unwrap();
            for element in action.elements().iter().step_by(5) {
                let moved = couplings.invariants(&element.moved(&x)).unwrap();
                let off = t
                    .iter()
                    .zip(&moved)
                    .map(|(a, b)| (a - b).abs())
                    .fold(0.0, f64::max);
                assert!(off < 1e-9, "{name}: {off}");
            }
            let other = couplings.invariants(&signal(n, 2)).unwrap();
            assert!(
                t.iter().zip(&other).any(|(a, b)| (a - b).abs() > 1e-3),
                "{name}"
            );
        }
    }

    #[test]
    fn the_selective_set_has_full_rank() {
        for (name, inputs) in [
            ("S3", None),
            ("D4", None),
            ("Q8", None),
            ("A4", None),
            ("S4", None),
            ("Dic6", None),
            ("D4", Some(64)),
            ("A5", None),
        ] {
            let action = known_action(name, inputs).unwrap();
            let couplings = couplings_of(&action, 0).unwrap();
            let count = couplings.selective().unwrap();
            let selective = couplings.first(count).unwrap();
            let z = signal(action.degree(), 3);
            let jacobian = selective.forms_jacobian(&z);
            let mut rows: Vec<Array1<f64>> = Vec::new();
            for row in jacobian.rows() {
                let whole = row.dot(&row).sqrt();
                let mut row = row.to_owned();
                for known in rows.iter().chain(&rows.clone()) {
                    let inner = known.dot(&row);
                    row = row - known * inner;
                }
                let length = row.dot(&row).sqrt();
                if length > 1e-7 * whole.max(1e-9) {
                    rows.push(row / length);
                }
            }
            println!(
                "{name} {inputs:?}: {count} selective of {}, {} multiply-adds",
                couplings.terms().len(),
                selective
                    .terms()
                    .iter()
                    .map(|t| selective.tensors()[t.tensor].entries().len()
                        * selective.tensors()[t.tensor].order())
                    .sum::<usize>()
            );
            assert_eq!(rows.len(), action.degree(), "{name}");
        }
    }
}
