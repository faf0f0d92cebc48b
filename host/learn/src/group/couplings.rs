//! Couplings: a linear map to blocks on which irreps act, and invariant forms of few of those blocks.
//!
//! With z = U x, U real, K × N, its rows one copy of an irrep behind the other, and tensors c of order 1 to 4, the invariants
//! are
//!
//! > t(x) = Σ c_{abc} z_{p+a} z_{q+b} z_{r+c} / ‖z‖ᵒ,
//!
//! with o the order of the tensor and p, q, r where its blocks begin. One tensor serves all copies of its irreps. Dividing by
//! the norm of z makes them of one size and independent of the scale of x; only z = 0 has none.
//!
//! The forms of order two are Gram matrices of the copies of an irrep, those of order three a bispectrum (its tensors are
//! Clebsch–Gordan coefficients), and a commutative group's bispectrum is the case of blocks of one and two rows.

use crate::Error;
use ndarray::{Array1, Array2, ArrayView1};
use std::fmt;

/// The highest order of a tensor.
pub const MOST_ORDER: usize = 4;
/// The most inputs, and the most rows of the basis: those of a model file.
pub const MOST_DIMENSION: usize = bispectral_core::format::MAX_DIMENSION as usize;

/// A sparse tensor: a form of as many blocks as it has indices.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    dims: Vec<usize>,
    /// In the lexicographic order of their indices.
    entries: Vec<Entry>,
}

/// One number of a tensor that is not zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// Relative to where each block begins; zeros behind the tensor's order.
    index: [u16; MOST_ORDER],
    /// c.
    pub value: f64,
}

impl Entry {
    /// c at this index.
    ///
    /// # Errors
    /// An index of no or more than [`MOST_ORDER`] numbers, or one past [`MOST_DIMENSION`].
    pub fn new(index: &[usize], value: f64) -> Result<Self, CouplingsError> {
        if !(1..=MOST_ORDER).contains(&index.len()) {
            return Err(CouplingsError::Order { order: index.len() });
        }
        let mut padded = [0; MOST_ORDER];
        for (padded, &index) in padded.iter_mut().zip(index) {
            if index >= MOST_DIMENSION {
                return Err(CouplingsError::Size { found: index });
            }
            *padded = index as u16;
        }
        Ok(Entry {
            index: padded,
            value,
        })
    }

    /// The index as it is stored: one number an index of the tensor, zeros behind them.
    #[must_use]
    pub fn index(&self) -> [u16; MOST_ORDER] {
        self.index
    }
}

impl Tensor {
    /// A tensor of these dimensions, 1 to [`MOST_ORDER`] of them; entries that are not listed are zero.
    ///
    /// # Errors
    /// An order or a dimension out of range, no entry but zeros, an index outside the tensor or listed twice, a value that is
    /// not finite.
    ///
    /// ```
    /// use bispectral_learn::group::couplings::{Entry, Tensor};
    ///
    /// // The scalar product of two blocks of two.
    /// let product = Tensor::new(&[2, 2], vec![Entry::new(&[0, 0], 1.0)?, Entry::new(&[1, 1], 1.0)?])?;
    /// assert_eq!((product.order(), product.entries().len()), (2, 2));
    /// # Ok::<(), bispectral_learn::group::couplings::CouplingsError>(())
    /// ```
    pub fn new(dims: &[usize], mut entries: Vec<Entry>) -> Result<Self, CouplingsError> {
        if !(1..=MOST_ORDER).contains(&dims.len()) {
            return Err(CouplingsError::Order { order: dims.len() });
        }
        if let Some(&found) = dims.iter().find(|dim| !(1..=MOST_DIMENSION).contains(dim)) {
            return Err(CouplingsError::Size { found });
        }
        for entry in &entries {
            let index = entry.index.map(usize::from);
            let within = (0..MOST_ORDER).all(|k| index[k] < dims.get(k).copied().unwrap_or(1));
            if !within {
                return Err(CouplingsError::Index {
                    index: index[..dims.len()].to_vec(),
                    dims: dims.to_vec(),
                });
            }
            if !entry.value.is_finite() {
                return Err(CouplingsError::NonFinite { what: "a tensor" });
            }
        }
        entries.retain(|entry| entry.value != 0.0);
        entries.sort_by_key(|entry| entry.index);
        if let Some(twice) = entries
            .windows(2)
            .find(|pair| pair[0].index == pair[1].index)
        {
            return Err(CouplingsError::Twice {
                index: twice[0].index.map(usize::from)[..dims.len()].to_vec(),
            });
        }
        if entries.is_empty() {
            return Err(CouplingsError::Zero { what: "a tensor" });
        }
        Ok(Tensor {
            dims: dims.to_vec(),
            entries,
        })
    }

    /// A tensor from all of its numbers, the last index fastest; those of magnitude at most `threshold` count as zero.
    ///
    /// # Errors
    /// As [`new`](Self::new), and where there are not as many values as the dimensions call for.
    pub fn dense(dims: &[usize], values: &[f64], threshold: f64) -> Result<Self, CouplingsError> {
        if !(1..=MOST_ORDER).contains(&dims.len()) {
            return Err(CouplingsError::Order { order: dims.len() });
        }
        let needed = dims.iter().try_fold(1_usize, |all, &d| all.checked_mul(d));
        if needed != Some(values.len()) {
            return Err(CouplingsError::Length {
                what: "values of a tensor",
                needed: needed.unwrap_or(usize::MAX),
                found: values.len(),
            });
        }
        let mut entries = Vec::new();
        for (number, &value) in values.iter().enumerate() {
            if value.is_finite() && value.abs() <= threshold {
                continue;
            }
            let mut index = [0; MOST_ORDER];
            let mut rest = number;
            for (index, dim) in index.iter_mut().zip(dims).rev() {
                (*index, rest) = (rest % dim, rest / dim);
            }
            entries.push(Entry::new(&index[..dims.len()], value)?);
        }
        Tensor::new(dims, entries)
    }

    /// How many blocks it couples.
    #[must_use]
    pub fn order(&self) -> usize {
        self.dims.len()
    }

    /// The rows of each block.
    #[must_use]
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// What is not zero, in the lexicographic order of the indices.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Σ c Π z over blocks that begin at `offsets`.
    fn form(&self, offsets: &[usize], z: &[f64]) -> f64 {
        let z = |entry: &Entry, k: usize| z[offsets[k] + usize::from(entry.index[k])];
        let product = |entry: &Entry| (0..self.order()).map(|k| z(entry, k)).product::<f64>();
        (self.entries.iter())
            .map(|entry| entry.value * product(entry))
            .sum()
    }

    /// Adds `factor` times the gradient of the form to `out`, which has one element a row of z.
    pub(super) fn add_gradient(&self, offsets: &[usize], z: &[f64], factor: f64, out: &mut [f64]) {
        for entry in &self.entries {
            let at = |k: usize| offsets[k] + usize::from(entry.index[k]);
            for k in 0..self.order() {
                let others = (0..self.order()).filter(|&l| l != k);
                let product: f64 = others.map(|l| z[at(l)]).product();
                out[at(k)] += factor * entry.value * product;
            }
        }
    }
}

/// One invariant: a tensor, and where each of its blocks begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// Its number among the tensors.
    pub tensor: usize,
    /// The first row of each block.
    pub offsets: Vec<usize>,
}

/// A basis of blocks and the invariant forms in it: z = U x, t = form(z / ‖z‖).
///
/// ```
/// use bispectral_learn::group::couplings::{Couplings, Entry, Tensor, Term};
/// use bispectral_learn::ndarray::array;
///
/// // Two numbers that may change places: their sum, and their difference squared.
/// let sum = Tensor::new(&[1], vec![Entry::new(&[0], 1.0)?])?;
/// let square = Tensor::new(&[1, 1], vec![Entry::new(&[0, 0], 1.0)?])?;
/// let terms = vec![Term { tensor: 0, offsets: vec![0] }, Term { tensor: 1, offsets: vec![1, 1] }];
/// let couplings = Couplings::new(array![[1.0, 1.0], [1.0, -1.0]], vec![sum, square], terms)?;
///
/// let t = couplings.invariants(&[3.0, 1.0])?;
/// assert_eq!(t, couplings.invariants(&[1.0, 3.0])?);
/// assert!((t[0] - 4.0 / 20_f64.sqrt()).abs() < 1e-15 && (t[1] - 4.0 / 20.0).abs() < 1e-15);
/// # Ok::<(), bispectral_learn::group::couplings::CouplingsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Couplings {
    basis: Array2<f64>,
    tensors: Vec<Tensor>,
    terms: Vec<Term>,
    selective: Option<usize>,
}

impl Couplings {
    /// The basis U, K × N, the tensors, and the terms in the order of the invariants.
    ///
    /// # Errors
    /// Dimensions out of range, a number of U that is not finite, a U of zeros, no term, a term whose tensor there is not,
    /// with another number of blocks than its tensor, or with a block that leaves the basis.
    pub fn new(
        basis: Array2<f64>,
        tensors: Vec<Tensor>,
        terms: Vec<Term>,
    ) -> Result<Self, CouplingsError> {
        let (rows, inputs) = basis.dim();
        for found in [rows, inputs] {
            if !(1..=MOST_DIMENSION).contains(&found) {
                return Err(CouplingsError::Size { found });
            }
        }
        if !basis.iter().all(|u| u.is_finite()) {
            return Err(CouplingsError::NonFinite { what: "the basis" });
        }
        if basis.iter().all(|&u| u == 0.0) {
            return Err(CouplingsError::Zero { what: "the basis" });
        }
        if terms.is_empty() {
            return Err(CouplingsError::Zero {
                what: "the list of terms",
            });
        }
        for (number, term) in terms.iter().enumerate() {
            let refused = CouplingsError::Term { number };
            let Some(tensor) = tensors.get(term.tensor) else {
                return Err(refused);
            };
            let inside = |(&offset, &dim): (&usize, &usize)| {
                offset.checked_add(dim).is_some_and(|end| end <= rows)
            };
            let whole = term.offsets.len() == tensor.order();
            if !(whole && term.offsets.iter().zip(tensor.dims()).all(inside)) {
                return Err(refused);
            }
        }
        Ok(Couplings {
            basis,
            tensors,
            terms,
            selective: None,
        })
    }

    /// The same where the first `count` terms alone tell the orbits apart: a selective set stands in front of the others.
    ///
    /// # Errors
    /// Where there are not as many terms, or none.
    pub fn with_selective(self, count: usize) -> Result<Self, CouplingsError> {
        if !(1..=self.terms.len()).contains(&count) {
            return Err(CouplingsError::Length {
                what: "terms of a selective set",
                needed: self.terms.len(),
                found: count,
            });
        }
        Ok(Couplings {
            selective: Some(count),
            ..self
        })
    }

    /// How many terms, from the first, alone tell the orbits apart; `None` where that is not known.
    #[must_use]
    pub fn selective(&self) -> Option<usize> {
        self.selective
    }

    /// The first `count` terms and the tensors they need.
    ///
    /// # Errors
    /// Where there are not as many terms, or none.
    pub fn first(&self, count: usize) -> Result<Self, CouplingsError> {
        let numbers: Vec<usize> = (0..count.min(self.terms.len() + 1)).collect();
        self.select(&numbers)
    }

    /// These terms, in this order, and the tensors they need.
    ///
    /// # Errors
    /// Where there are none, or not so many that one is among them.
    pub fn select(&self, numbers: &[usize]) -> Result<Self, CouplingsError> {
        let mut chosen: Vec<&Term> = Vec::new();
        for &number in numbers {
            chosen.push(
                self.terms
                    .get(number)
                    .ok_or(CouplingsError::Term { number })?,
            );
        }
        if chosen.is_empty() {
            return Err(CouplingsError::Zero {
                what: "the list of terms",
            });
        }
        let mut kept: Vec<usize> = chosen.iter().map(|term| term.tensor).collect();
        kept.sort_unstable();
        kept.dedup();
        let number = |tensor: usize| kept.binary_search(&tensor).unwrap_or_default();
        let terms = chosen.iter().map(|term| Term {
            tensor: number(term.tensor),
            offsets: term.offsets.clone(),
        });
        let whole = |&count: &usize| (0..count).all(|at| numbers.get(at) == Some(&at));
        Ok(Couplings {
            basis: self.basis.clone(),
            tensors: kept.iter().map(|&k| self.tensors[k].clone()).collect(),
            terms: terms.collect(),
            selective: self.selective.filter(whole),
        })
    }

    /// The same with the term `number` of `other`, which has the same basis, before the term `at`; the selective set, where that is
    /// known, is then one term longer.
    ///
    /// # Errors
    /// The basis has other dimensions, or there are not as many terms.
    pub fn with_term_of(
        &self,
        other: &Self,
        number: usize,
        at: usize,
    ) -> Result<Self, CouplingsError> {
        let Some(term) = other.terms.get(number).filter(|_| at <= self.terms.len()) else {
            return Err(CouplingsError::Term { number });
        };
        let (mut tensors, mut terms) = (self.tensors.clone(), self.terms.clone());
        let offsets = term.offsets.clone();
        let tensor = tensors.len();
        tensors.push(other.tensors[term.tensor].clone());
        terms.insert(at, Term { tensor, offsets });
        let all = Couplings::new(self.basis.clone(), tensors, terms)?;
        match self.selective {
            Some(count) => all.with_selective(count + 1),
            None => Ok(all),
        }
    }

    /// The same for signals of `inputs` samples, of which those of `support` are this one's and the others do not count.
    ///
    /// # Errors
    /// Too many inputs, or `support` has not one number below `inputs` for every input of this.
    pub fn among(&self, support: &[usize], inputs: usize) -> Result<Self, CouplingsError> {
        let mut basis = Array2::zeros((self.rows(), inputs));
        if support.len() != self.inputs() || support.iter().any(|&n| n >= inputs) {
            return Err(CouplingsError::Length {
                what: "inputs",
                needed: self.inputs(),
                found: support.len(),
            });
        }
        for (column, &input) in self.basis.columns().into_iter().zip(support) {
            basis.column_mut(input).assign(&column);
        }
        let all = Couplings::new(basis, self.tensors.clone(), self.terms.clone())?;
        Ok(Couplings {
            selective: self.selective,
            ..all
        })
    }

    /// The same basis with other tensors of the same shapes, and the terms in another order.
    pub(crate) fn with_terms(&self, tensors: Vec<Tensor>, terms: Vec<Term>) -> Self {
        Couplings {
            basis: self.basis.clone(),
            tensors,
            terms,
            selective: self.selective,
        }
    }

    /// N: the samples of a signal.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.basis.ncols()
    }

    /// K: the rows of the basis.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.basis.nrows()
    }

    /// U.
    #[must_use]
    pub fn basis(&self) -> &Array2<f64> {
        &self.basis
    }

    /// The tensors, each stored once.
    #[must_use]
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// The terms, in the order of the invariants.
    #[must_use]
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The order of every invariant, in their order.
    pub fn orders(&self) -> impl Iterator<Item = usize> + '_ {
        let tensors = &self.tensors;
        self.terms.iter().map(|term| tensors[term.tensor].order())
    }

    /// z = U x.
    ///
    /// # Errors
    /// A signal of another length, or not finite.
    pub fn coefficients(&self, x: &[f64]) -> Result<Vec<f64>, CouplingsError> {
        if x.len() != self.inputs() {
            return Err(CouplingsError::Length {
                what: "samples of a signal",
                needed: self.inputs(),
                found: x.len(),
            });
        }
        if !x.iter().all(|x| x.is_finite()) {
            return Err(CouplingsError::NonFinite { what: "the signal" });
        }
        Ok(self.basis.dot(&ArrayView1::from(x)).to_vec())
    }

    /// The forms at z as it is, not divided by its norm: Σ c Π z, one a term. `z` has K numbers.
    ///
    /// # Panics
    /// Where `z` has fewer.
    #[must_use]
    pub fn forms(&self, z: &[f64]) -> Vec<f64> {
        (self.terms.iter())
            .map(|term| self.tensors[term.tensor].form(&term.offsets, z))
            .collect()
    }

    /// The derivatives of [`forms`](Self::forms): one row a term, one column a number of z.
    ///
    /// # Panics
    /// Where `z` has fewer than K numbers.
    #[must_use]
    pub fn forms_jacobian(&self, z: &[f64]) -> Array2<f64> {
        let mut out = Array2::zeros((self.terms.len(), self.rows()));
        for (term, mut row) in self.terms.iter().zip(out.rows_mut()) {
            if let Some(row) = row.as_slice_mut() {
                self.tensors[term.tensor].add_gradient(&term.offsets, z, 1.0, row);
            }
        }
        out
    }

    /// t(x), one a term.
    ///
    /// # Errors
    /// A signal of another length, or not finite; z = 0 ([`CouplingsError::Zero`]).
    pub fn invariants(&self, x: &[f64]) -> Result<Vec<f64>, CouplingsError> {
        let (direction, _) = self.direction(x)?;
        Ok(self.forms(&direction))
    }

    /// ∂t/∂x: one row a term, one column a sample.
    ///
    /// With u = z / ‖z‖ and a form f of order o, t = f(u), and by Euler's theorem ∂t/∂z = (∇f(u) − o f(u) u) / ‖z‖.
    ///
    /// # Errors
    /// As [`invariants`](Self::invariants).
    pub fn jacobian(&self, x: &[f64]) -> Result<Array2<f64>, CouplingsError> {
        let (u, norm) = self.direction(x)?;
        let mut by_z = self.forms_jacobian(&u);
        let forms = self.forms(&u);
        for ((mut row, form), order) in by_z.rows_mut().into_iter().zip(forms).zip(self.orders()) {
            for (derivative, u) in row.iter_mut().zip(&u) {
                *derivative = (*derivative - order as f64 * form * u) / norm;
            }
        }
        Ok(by_z.dot(&self.basis))
    }

    /// Σ_t w_t ∂t/∂x for `weights` w, one a term: the [Jacobian](Self::jacobian) is not formed.
    ///
    /// # Errors
    /// As [`invariants`](Self::invariants), and where there is not one weight a term.
    pub fn gradient(&self, x: &[f64], weights: &[f64]) -> Result<Vec<f64>, CouplingsError> {
        if weights.len() != self.terms.len() {
            return Err(CouplingsError::Length {
                what: "weights of terms",
                needed: self.terms.len(),
                found: weights.len(),
            });
        }
        let (u, norm) = self.direction(x)?;
        let mut by_z = vec![0.0; self.rows()];
        let mut radial = 0.0;
        for (term, &weight) in self.terms.iter().zip(weights) {
            let tensor = &self.tensors[term.tensor];
            tensor.add_gradient(&term.offsets, &u, weight, &mut by_z);
            radial += weight * tensor.order() as f64 * tensor.form(&term.offsets, &u);
        }
        for (derivative, u) in by_z.iter_mut().zip(&u) {
            *derivative = (*derivative - radial * u) / norm;
        }
        Ok(Array1::from(by_z).dot(&self.basis).to_vec())
    }

    /// z / ‖z‖ and ‖z‖.
    fn direction(&self, x: &[f64]) -> Result<(Vec<f64>, f64), CouplingsError> {
        let mut z = self.coefficients(x)?;
        let largest = z.iter().fold(0.0_f64, |largest, z| largest.max(z.abs()));
        if largest == 0.0 {
            return Err(CouplingsError::Zero { what: "U x" });
        }
        // Of numbers near 1, so that squares neither vanish nor overflow.
        let squares: f64 = z.iter().map(|z| (z / largest).powi(2)).sum();
        let norm = largest * squares.sqrt();
        if !norm.is_finite() {
            return Err(CouplingsError::NonFinite { what: "U x" });
        }
        for z in &mut z {
            *z = *z / largest / squares.sqrt();
        }
        Ok((z, norm))
    }
}

/// Where each block that terms have begins, and its rows: small ones first.
pub(crate) fn blocks(couplings: &Couplings) -> Vec<(usize, usize)> {
    let of = |term: &Term| {
        let dims = couplings.tensors()[term.tensor].dims().to_vec();
        term.offsets.clone().into_iter().zip(dims)
    };
    let mut blocks: Vec<(usize, usize)> = couplings.terms().iter().flat_map(of).collect();
    blocks.sort_unstable_by_key(|&(at, rows)| (rows, at));
    blocks.dedup();
    blocks
}

/// Why something is no couplings, or a signal has no invariants.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CouplingsError {
    /// A tensor of an order there is not.
    Order {
        /// How many indices it has.
        order: usize,
    },
    /// A dimension that is zero or too large.
    Size {
        /// The dimension.
        found: usize,
    },
    /// An entry outside its tensor.
    Index {
        /// Where it is.
        index: Vec<usize>,
        /// The dimensions of the tensor.
        dims: Vec<usize>,
    },
    /// An entry that is listed twice.
    Twice {
        /// Where it is.
        index: Vec<usize>,
    },
    /// A term whose tensor there is not, or whose blocks are not those of its tensor.
    Term {
        /// Its number.
        number: usize,
    },
    /// A list of another length.
    Length {
        /// Of what.
        what: &'static str,
        /// How many are needed.
        needed: usize,
        /// How many there are.
        found: usize,
    },
    /// A number that is infinite or no number.
    NonFinite {
        /// Where.
        what: &'static str,
    },
    /// Nothing but zeros, or nothing at all.
    Zero {
        /// What.
        what: &'static str,
    },
}

impl fmt::Display for CouplingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CouplingsError::Order { order } => {
                write!(
                    f,
                    "a tensor has {order} indices, and may have 1 to {MOST_ORDER}"
                )
            }
            CouplingsError::Size { found } => {
                write!(
                    f,
                    "a dimension is {found}, and may be 1 to {MOST_DIMENSION}"
                )
            }
            CouplingsError::Index { index, dims } => {
                write!(f, "an entry at {index:?} is outside its tensor of {dims:?}")
            }
            CouplingsError::Twice { index } => {
                write!(f, "the entry at {index:?} of a tensor is listed twice")
            }
            CouplingsError::Term { number } => {
                write!(
                    f,
                    "term {number} has no tensor, or blocks that are not its tensor's"
                )
            }
            CouplingsError::Length {
                what,
                needed,
                found,
            } => write!(f, "there are {found} {what} instead of {needed}"),
            CouplingsError::NonFinite { what } => write!(f, "{what} is not finite"),
            CouplingsError::Zero { what } => write!(f, "{what} is zero or empty"),
        }
    }
}

impl std::error::Error for CouplingsError {}

impl From<CouplingsError> for Error {
    fn from(error: CouplingsError) -> Self {
        Error::new("couplings", error.to_string(), "compute them again")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};
    use proptest::prelude::*;

    fn tensor(dims: &[usize], entries: &[(&[usize], f64)]) -> Tensor {
        let entries = entries
            .iter()
            .map(|(index, value)| Entry::new(index, *value).unwrap());
        Tensor::new(dims, entries.collect()).unwrap()
    }

    fn term(tensor: usize, offsets: &[usize]) -> Term {
        Term {
            tensor,
            offsets: offsets.to_vec(),
        }
    }

    /// S3 on three points: the sum, and the plane of those without one. Its forms: mean, |z|², the cubic Re z³.
    fn three_points() -> Couplings {
        let (h, s) = (0.5_f64, 0.75_f64.sqrt());
        let basis = array![[1.0, 1.0, 1.0], [1.0, -h, -h], [0.0, s, -s]];
        let one = tensor(&[1], &[(&[0], 1.0)]);
        let gram = tensor(&[2, 2], &[(&[0, 0], 1.0), (&[1, 1], 1.0)]);
        let cubic = tensor(
            &[2, 2, 2],
            &[
                (&[0, 0, 0], 1.0),
                (&[0, 1, 1], -1.0),
                (&[1, 0, 1], -1.0),
                (&[1, 1, 0], -1.0),
            ],
        );
        let fourth = tensor(&[1, 2, 2, 1], &[(&[0, 0, 0, 0], 1.0), (&[0, 1, 1, 0], 1.0)]);
        let terms = vec![
            term(0, &[0]),
            term(1, &[1, 1]),
            term(2, &[1, 1, 1]),
            term(3, &[0, 1, 1, 0]),
        ];
        Couplings::new(basis, vec![one, gram, cubic, fourth], terms).unwrap()
    }

    fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance)
    }

    fn signals() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(-1.0_f64..1.0, 3)
            .prop_filter("near zero", |x| x.iter().map(|x| x * x).sum::<f64>() > 1e-2)
    }

    proptest! {
        #[test]
        fn moved_and_scaled_signals_share_their_invariants(
            x in signals(),
            scale in 1e-6_f64..1e6,
            order in Just(vec![0, 1, 2]).prop_shuffle(),
        ) {
            let couplings = three_points();
            let moved: Vec<f64> = order.iter().map(|&n: &usize| scale * x[n]).collect();
            let (t, moved) = (couplings.invariants(&x)?, couplings.invariants(&moved)?);
            prop_assert!(close(&t, &moved, 1e-13), "{t:?} {moved:?}");
        }

        #[test]
        fn the_jacobian_is_the_limit_of_differences(x in signals(), w in prop::collection::vec(-1.0_f64..1.0, 4)) {
            let couplings = three_points();
            let jacobian = couplings.jacobian(&x)?;
            let step = 1e-6;
            for n in 0..3 {
                let at = |by: f64| {
                    let mut x = x.clone();
                    x[n] += by;
                    couplings.invariants(&x)
                };
                let (above, below) = (at(step)?, at(-step)?);
                let differences: Vec<f64> =
                    above.iter().zip(&below).map(|(a, b)| (a - b) / (2.0 * step)).collect();
                // Signals of norm 0.1 and more: third derivatives up to 1e3, times step²/6.
                prop_assert!(close(&jacobian.column(n).to_vec(), &differences, 1e-6));
            }
            let product = ndarray::Array1::from(w.clone()).dot(&jacobian).to_vec();
            prop_assert!(close(&couplings.gradient(&x, &w)?, &product, 1e-12));
        }
    }

    #[test]
    fn different_signals_have_different_invariants() {
        let couplings = three_points();
        let t = couplings.invariants(&[0.0, 1.0, 2.0]).unwrap();
        let other = couplings.invariants(&[0.0, 1.5, 2.0]).unwrap();
        assert!(!close(&t, &other, 1e-3), "{t:?} {other:?}");
    }

    #[test]
    fn a_signal_without_coefficients_is_refused_and_one_of_any_size_is_not() {
        let couplings = three_points();
        assert_eq!(
            couplings.invariants(&[0.0; 3]),
            Err(CouplingsError::Zero { what: "U x" })
        );
        assert!(couplings.invariants(&[f64::NAN, 0.0, 0.0]).is_err());
        assert!(couplings.invariants(&[0.0; 2]).is_err());
        let t = couplings.invariants(&[0.3, 0.1, 0.2]).unwrap();
        for scale in [1e-300, 1e300] {
            let x = [0.3 * scale, 0.1 * scale, 0.2 * scale];
            assert!(close(&couplings.invariants(&x).unwrap(), &t, 1e-13));
        }
    }

    #[test]
    fn the_first_terms_are_the_same_with_the_tensors_they_need() {
        let couplings = three_points().with_selective(3).unwrap();
        let x = [0.3, 0.1, 0.2];
        let first = couplings.first(2).unwrap();
        assert_eq!(first.tensors().len(), 2);
        assert_eq!(
            first.invariants(&x).unwrap(),
            couplings.invariants(&x).unwrap()[..2]
        );
        assert_eq!(
            (couplings.first(3).unwrap().selective(), first.selective()),
            (Some(3), None)
        );
        assert!(couplings.first(0).is_err() && couplings.first(5).is_err());
        assert!(three_points().with_selective(5).is_err());
    }

    #[test]
    fn a_dense_tensor_is_its_entries() {
        let dense = Tensor::dense(&[2, 2], &[0.0, 1e-17, -1.0, 2.0], 1e-12).unwrap();
        assert_eq!(dense, tensor(&[2, 2], &[(&[1, 0], -1.0), (&[1, 1], 2.0)]));
        assert!(Tensor::dense(&[2, 2], &[1.0; 3], 0.0).is_err());
        assert!(Tensor::dense(&[2], &[f64::NAN, 1.0], 1.0).is_err());
    }

    #[test]
    fn what_cannot_be_evaluated_is_refused() {
        let entry = |index: &[usize], value| Entry::new(index, value).unwrap();
        assert!(Entry::new(&[], 1.0).is_err() && Entry::new(&[0; 5], 1.0).is_err());
        assert!(Entry::new(&[MOST_DIMENSION], 1.0).is_err());
        assert!(Tensor::new(&[], vec![]).is_err());
        assert!(Tensor::new(&[0], vec![]).is_err());
        assert!(Tensor::new(&[2], vec![entry(&[0], 0.0)]).is_err());
        assert!(Tensor::new(&[2], vec![entry(&[2], 1.0)]).is_err());
        assert!(Tensor::new(&[2], vec![entry(&[0, 1], 1.0)]).is_err());
        assert!(Tensor::new(&[2], vec![entry(&[0], f64::INFINITY)]).is_err());
        assert!(Tensor::new(&[2], vec![entry(&[1], 1.0), entry(&[1], 2.0)]).is_err());

        let make = |basis, terms| Couplings::new(basis, vec![tensor(&[2], &[(&[0], 1.0)])], terms);
        let basis = array![[1.0], [2.0], [3.0]];
        assert!(make(basis.clone(), vec![term(0, &[1])]).is_ok());
        for offsets in [&[2][..], &[usize::MAX], &[], &[0, 0]] {
            let refused = make(basis.clone(), vec![term(0, &[1]), term(0, offsets)]);
            assert_eq!(refused, Err(CouplingsError::Term { number: 1 }));
        }
        assert!(make(basis.clone(), vec![term(1, &[1])]).is_err());
        assert!(make(basis, vec![]).is_err());
        assert!(make(array![[0.0], [0.0]], vec![term(0, &[0])]).is_err());
        assert!(make(array![[f64::NAN], [0.0]], vec![term(0, &[0])]).is_err());
        assert!(make(Array2::zeros((2, 0)), vec![term(0, &[0])]).is_err());
        assert!(make(Array2::ones((MOST_DIMENSION + 1, 1)), vec![term(0, &[0])]).is_err());
    }
}
