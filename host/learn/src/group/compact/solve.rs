//! From moments to couplings: commutant, blocks, forms of order one, two and three.

use super::blocks::{self, Blocks};
use super::commutant::Commutant;
use super::elements::{Elements, between_members, elements, invariant_forms, structures};
use super::forms::{CLEAR, Coefficients};
use super::moments::Moments;
use super::name::Name;
use super::quadratic::Quadratic;
use super::refine;
use super::rotations::{Rotations, may_be_rotations, rotations};
use crate::group::contraction::{Covariant, Span};
use crate::group::couplings::{Couplings, CouplingsError, Entry, Tensor, Term};
use crate::numeric::harmonics::invariant_form;
use crate::numeric::random::{Purpose, stream};
use faer::Mat;
use ndarray::Array2;
use std::fmt;

/// The most products of one triple of irreps whose invariant forms are solved for.
const MOST_PRODUCTS: usize = 800;
/// As many where it is not known yet whether they are irreps of rotations: of degrees 1 to 4 enough are coupled.
const FEW_PRODUCTS: usize = 250;
/// Orbits and members on which forms that are known are tested.
const TESTED_ORBITS: usize = 40;
const TESTED_MEMBERS: usize = 40;
/// The most tuples of copies from which the forms of one triple of irreps are found.
const MOST_TUPLES: usize = 6;
/// How many times as much as one of order two a form of order three may change, where those of order two are known by themselves;
/// and what it must reach at most.
const TIMES: f64 = 6.0;
const CLEARLY: f64 = 0.999;
/// A deviation of blocks from whole numbers below this is only an error.
const RIGHT: f64 = 0.12;
/// Eigenvalues that may count beyond the largest fall, as a share of the last before it: errors were seen at a hundredth.
const SMALLEST: f64 = 0.1;
/// Steps of the refinement, at most.
const REFINEMENTS: usize = 5;
const FIRST_DAMPING: f64 = 1e-3;
/// A step that leaves more than this share of the loss is the last.
const SMALL_GAIN: f64 = 0.97;
/// The λ that a square of a block must reach where no form of third order bears it out.
const ALONE: f64 = 0.8;
/// Forms that change by less are exact.
const EXACT: f64 = 1e-9;
/// The most terms: beyond, what is left out is listed.
const MOST_TERMS: usize = 20_000;
/// Numbers of a tensor below this share of its largest are rounding.
const ROUNDING: f64 = 1e-12;

/// What was learned of a group that acts linearly: a basis of blocks, and the couplings between them.
#[derive(Debug, Clone)]
pub struct Compact {
    pub(super) couplings: Couplings,
    pub(super) irreps: Vec<Irrep>,
    pub(super) forms: Vec<Form>,
    pub(super) commutant: Evidence,
    pub(super) left_out: Vec<LeftOut>,
    /// Where the basis is that of a group, exactly.
    pub(super) proven: Option<Name>,
}

/// An irrep that moves the signals.
#[derive(Debug, Clone, PartialEq)]
pub struct Irrep {
    /// Its dimension over the real numbers.
    pub dimension: usize,
    /// The first row of each of its copies in the basis.
    pub copies: Vec<usize>,
    /// Whether every element leaves it as it is.
    pub trivial: bool,
}

/// An invariant form of irreps: one tensor for all of their copies.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    /// The irreps it couples, by their numbers.
    pub irreps: Vec<usize>,
    /// The share of its square that does not change along orbits: near 1.
    pub lambda: f64,
    /// Its number among the tensors of the couplings.
    pub tensor: usize,
}

/// How surely the commutant's dimension is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// The dimension of its symmetric part.
    pub dimension: usize,
    /// The smallest eigenvalue that counts, as a share of the identity's; 1 where there is only the identity.
    pub last: f64,
    /// The largest that does not.
    pub next: f64,
    /// The mean difference between blocks' energies and whole numbers.
    pub deviation: f64,
    /// The least λ of a form of order three that counts.
    pub clear: f64,
}

/// What was not clear, and is not in the model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum LeftOut {
    /// A block whose square changes along orbits: nothing but noise.
    Noise {
        /// Its dimension.
        dimension: usize,
        /// The λ of its square.
        lambda: f64,
    },
    /// A form that is neither invariant nor not.
    Unclear {
        /// The irreps that it couples.
        irreps: Vec<usize>,
        /// Its λ where it was found.
        lambda: f64,
        /// Its λ on other orbits.
        held_out: f64,
    },
    /// Irreps with too many products to solve for, or too few samples for so many.
    Products {
        /// The irreps.
        irreps: Vec<usize>,
        /// How many products.
        products: usize,
    },
}

/// Why no group was learned.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum NoGroup {
    /// Too few orbits or members to compare.
    TooFew,
    /// What the moments of orbits have in common is not what commutes with a group.
    NoBlocks {
        /// The dimensions that were tried.
        tried: Vec<usize>,
    },
    /// Nothing moves: members of an orbit are one signal, but for noise.
    Still,
    /// Nothing but the length of signals, or not even that, stays the same along orbits.
    NoInvariants,
    /// The forms make no couplings.
    Couplings(CouplingsError),
}

impl fmt::Display for NoGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoGroup::TooFew => write!(f, "there are too few orbits or members to compare"),
            NoGroup::NoBlocks { tried } => write!(
                f,
                "what the second moments of orbits share is not what commutes with a group (dimensions tried: {tried:?})"
            ),
            NoGroup::Still => write!(f, "members of an orbit are the same but for noise"),
            NoGroup::NoInvariants => write!(f, "nothing stays the same along orbits"),
            NoGroup::Couplings(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for NoGroup {}

impl Compact {
    /// The group that moves the orbits of these moments; `seed` draws what is random.
    ///
    /// # Errors
    /// Why no group was found.
    ///
    /// ```
    /// use bispectral_learn::data::representation::{Representation, orthogonal};
    /// use bispectral_learn::group::compact::{Compact, Moments};
    ///
    /// // Rotations of a plane by orders 0, 1 and 2, in hidden coordinates.
    /// let orbits = Representation::so2(&[0, 1, 2]).orbits(60, 80, &orthogonal(5, 1), 0)?;
    /// let found = Compact::of(&Moments::of(&orbits)?, 0)?;
    /// assert_eq!(found.dimensions(), [1, 2, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(moments: &Moments, seed: u64) -> Result<Self, NoGroup> {
        let mut random = stream(seed, Purpose::Spectral);
        let exact = Quadratic::of(moments).and_then(|exact| {
            let n = exact.whitening.nrows();
            let blocks = blocks::find(&exact.elements, n, &mut stream(seed, Purpose::Spectral))?;
            Some((exact, blocks))
        });
        if let Some((exact, blocks)) = exact {
            let evidence = Evidence {
                dimension: exact.elements.len() + 1,
                last: exact.last,
                next: exact.next,
                deviation: blocks.deviation,
                clear: (1.0 - TIMES * (1.0 - exact.last)).clamp(CLEAR, CLEARLY),
            };
            if let Ok(found) = couple(moments, &exact.whitening, &blocks, evidence) {
                return Ok(found);
            }
        }
        let commutant = Commutant::of(moments, &mut random).ok_or(NoGroup::TooFew)?;
        let n = commutant.whitening.nrows();
        let candidates = commutant.candidates();
        let mut refused = NoGroup::NoBlocks {
            tried: candidates.iter().map(|k| k + 1).collect(),
        };
        let mut possible: Vec<(usize, Blocks)> = Vec::new();
        for &count in &candidates {
            let bases = [&commutant.elements, &commutant.plain];
            let found = bases.map(|basis| blocks::find(&basis[..count], n, &mut random));
            let found = found.into_iter().flatten();
            let best = found.min_by(|a, b| a.deviation.total_cmp(&b.deviation));
            possible.extend(best.map(|found| (count, found)));
        }
        // Of dimensions whose count is right, a larger one has seen more: a smaller one may have two irreps for one. The sort is
        // stable: among all others the one where eigenvalues fall most stays first.
        let last = |count: usize| commutant.values.get(count.wrapping_sub(1)).copied();
        let least = SMALLEST
            * candidates
                .first()
                .and_then(|&first| last(first))
                .unwrap_or(0.0);
        let right = |(count, found): &(usize, Blocks)| {
            let clear = found.deviation < RIGHT && last(*count).is_some_and(|last| last > least);
            std::cmp::Reverse(if clear { *count } else { 0 })
        };
        possible.sort_by_key(right);
        for (count, found) in possible {
            let value = |k: usize| commutant.values.get(k).copied().unwrap_or(0.0);
            let evidence = Evidence {
                dimension: count + 1,
                last: if count == 0 { 1.0 } else { value(count - 1) },
                next: value(count),
                deviation: found.deviation,
                clear: CLEAR,
            };
            match couple(moments, &commutant.whitening, &found, evidence) {
                Ok(compact) => return Ok(compact),
                Err(why) => refused = why,
            }
        }
        Err(refused)
    }

    /// The basis and the forms.
    #[must_use]
    pub fn couplings(&self) -> &Couplings {
        &self.couplings
    }

    /// The irreps, in the order of their blocks.
    #[must_use]
    pub fn irreps(&self) -> &[Irrep] {
        &self.irreps
    }

    /// The forms, in the order of their tensors.
    #[must_use]
    pub fn forms(&self) -> &[Form] {
        &self.forms
    }

    /// How surely the commutant is known.
    #[must_use]
    pub fn commutant(&self) -> Evidence {
        self.commutant
    }

    /// What was not clear.
    #[must_use]
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The invariant forms of three irreps as orbits alone show them, whatever else is known: λ, and the numbers, the last index
    /// fastest, of length 1. `None` where they have too many products for that, or there are too few samples.
    #[must_use]
    pub fn forms_of(&self, moments: &Moments, irreps: [usize; 3]) -> Option<Vec<(f64, Vec<f64>)>> {
        let dims = irreps.map(|irrep| self.irreps[irrep].dimension);
        if dims.iter().product::<usize>() > MOST_PRODUCTS {
            return None;
        }
        let rows = self.basis();
        let from = tuples(irreps, &self.irreps);
        let z = Coefficients::of(moments.members(), &rows);
        let found = z.solve(&dims, &from[..from.len().min(MOST_TUPLES)])?;
        let clear = found
            .into_iter()
            .filter(|form| form.lambda >= CLEAR && form.held_out >= CLEAR);
        Some(
            clear
                .map(|form| (form.lambda.min(form.held_out), form.vector))
                .collect(),
        )
    }

    fn basis(&self) -> Mat<f64> {
        let basis = self.couplings.basis();
        Mat::from_fn(basis.nrows(), basis.ncols(), |at, n| basis[(at, n)])
    }

    /// What moves as a block does though its form of order three is none of the couplings: of rotations of space, what degree l makes
    /// with an odd degree vanishes as a form of a single z_l. Two of these are a form of fourth order.
    #[must_use]
    pub fn covariants(&self) -> Vec<Covariant> {
        let Some(Name::Rotations { degrees }) = &self.proven else {
            return Vec::new();
        };
        let span = |irrep: &Irrep| (irrep.copies[0], irrep.dimension);
        let blocks: Vec<(usize, Span)> = degrees
            .iter()
            .copied()
            .zip(self.irreps.iter().map(span))
            .collect();
        let odd = blocks.iter().filter(|(degree, _)| degree % 2 == 1);
        odd.flat_map(|&(odd, of)| {
            blocks.iter().filter_map(move |&(degree, like)| {
                let tensor = invariant_form([odd, degree, degree])?;
                Some(Covariant::new([of, like], like, &tensor))
            })
        })
        .collect()
    }

    /// The dimension of every block, in the order of the basis.
    #[must_use]
    pub fn dimensions(&self) -> Vec<usize> {
        let blocks = (self.irreps.iter())
            .flat_map(|irrep| irrep.copies.iter().map(|&first| (first, irrep.dimension)));
        let mut blocks: Vec<(usize, usize)> = blocks.collect();
        blocks.sort_unstable();
        blocks.into_iter().map(|(_, dimension)| dimension).collect()
    }
}

/// Forms as they are found.
#[derive(Default)]
struct Found {
    tensors: Vec<Tensor>,
    terms: Vec<Term>,
    forms: Vec<Form>,
    left_out: Vec<LeftOut>,
}

impl Found {
    fn add(
        &mut self,
        irreps: &[usize],
        lambda: f64,
        tensor: Tensor,
        tuples: impl Iterator<Item = Vec<usize>>,
    ) {
        let number = self.tensors.len();
        self.tensors.push(tensor);
        self.forms.push(Form {
            irreps: irreps.to_vec(),
            lambda,
            tensor: number,
        });
        let terms = tuples.map(|offsets| Term {
            tensor: number,
            offsets,
        });
        self.terms.extend(terms);
    }

    /// What every element leaves as it is.
    fn add_first(&mut self, number: usize, irrep: &Irrep, z: &Coefficients) -> Result<(), NoGroup> {
        let row = irrep.copies[0];
        let lambda = z.lambda(false, |z, m| z[(row, m)]);
        let tuples = irrep.copies.iter().map(|&copy| vec![copy]);
        self.add(&[number], lambda, tensor(&[1], &[1.0])?, tuples);
        Ok(())
    }

    /// A form that is known, unless orbits contradict it.
    fn add_third(
        &mut self,
        numbers: [usize; 3],
        tensor: Tensor,
        from: &[Vec<usize>],
        z: &Coefficients,
    ) {
        let terms = distinct(numbers, from).into_iter();
        let terms: Vec<Vec<usize>> = terms.filter(|tuple| !vanishes(&tensor, tuple)).collect();
        let Some(first) = terms.first() else { return };
        let lambda = z.lambda(false, |z, m| {
            let product = |entry: &Entry| {
                let rows = first.iter().zip(entry.index());
                let values = rows.map(|(first, k)| z[(first + usize::from(k), m)]);
                values.product::<f64>()
            };
            let entries = tensor.entries().iter();
            entries.map(|entry| entry.value * product(entry)).sum()
        });
        if lambda < CLEAR {
            self.left_out.push(LeftOut::Unclear {
                irreps: numbers.to_vec(),
                lambda,
                held_out: lambda,
            });
        } else if self.terms.len() + terms.len() > MOST_TERMS {
            self.left_out.push(LeftOut::Products {
                irreps: numbers.to_vec(),
                products: tensor.dims().iter().product(),
            });
        } else {
            self.add(&numbers, lambda, tensor, terms.into_iter());
        }
    }

    fn compact(
        self,
        rows: Mat<f64>,
        irreps: Vec<Irrep>,
        commutant: Evidence,
        proven: Option<Name>,
    ) -> Result<Compact, NoGroup> {
        let basis = Array2::from_shape_fn((rows.nrows(), rows.ncols()), |at| rows[at]);
        let couplings = Couplings::new(basis, self.tensors, self.terms);
        Ok(Compact {
            couplings: couplings.map_err(NoGroup::Couplings)?,
            irreps,
            forms: self.forms,
            commutant,
            left_out: self.left_out,
            proven,
        })
    }
}

fn couple(
    moments: &Moments,
    whitening: &Mat<f64>,
    blocks: &Blocks,
    commutant: Evidence,
) -> Result<Compact, NoGroup> {
    // All blocks first, to see which are more than noise.
    let mut found = Found::default();
    let (rows, firsts) = stacked(blocks, whitening, |_| true);
    let all = Coefficients::of(moments.members(), &rows);
    if all.members() < 2 || all.orbits.len() < 2 {
        return Err(NoGroup::TooFew);
    }
    let mut trivial = vec![false; blocks.classes.len()];
    let mut kept = vec![true; blocks.blocks.len()];
    for (number, class) in blocks.classes.iter().enumerate() {
        let first = |copy: &usize| firsts[*copy];
        if class.dimension == 1 {
            let means = class.copies.iter().map(first);
            let lambda = means.map(|row| all.lambda(false, |z, m| z[(row, m)]));
            trivial[number] = lambda.fold(f64::INFINITY, f64::min) > 0.5;
        }
        if trivial[number] {
            continue;
        }
        for &copy in &class.copies {
            let rows = firsts[copy]..firsts[copy] + class.dimension;
            let lambda = all.lambda(true, |z, m| {
                rows.clone().map(|row| z[(row, m)].powi(2)).sum()
            });
            if lambda < 0.5 {
                kept[copy] = false;
                found.left_out.push(LeftOut::Noise {
                    dimension: class.dimension,
                    lambda,
                });
            }
        }
    }
    let (rows, firsts) = stacked(blocks, whitening, |block| kept[block]);
    if rows.nrows() == 0 {
        return Err(NoGroup::NoInvariants);
    }
    // Irreps without the copies that are noise, numbered anew.
    let mut irreps = Vec::new();
    let mut structures = Vec::new();
    for (class, trivial) in blocks.classes.iter().zip(trivial) {
        let copies = class.copies.iter().filter(|&&copy| kept[copy]);
        let copies: Vec<usize> = copies.map(|&copy| firsts[copy]).collect();
        if !copies.is_empty() {
            irreps.push(Irrep {
                dimension: class.dimension,
                copies,
                trivial,
            });
            structures.push(class.structures.clone());
        }
    }
    if may_be_rotations(&irreps) {
        let small = solve(
            rows.clone(),
            irreps.clone(),
            &structures,
            moments,
            commutant,
            found.left_out.clone(),
            FEW_PRODUCTS,
        );
        let seen = Coefficients::of(moments.members(), &rows);
        if let Ok(small) = small
            && let Some(basis) = rotations(&rows, &small, &seen)
        {
            return harmonic(basis, irreps, moments, commutant, found.left_out);
        }
    }
    let compact = solve(
        rows,
        irreps,
        &structures,
        moments,
        commutant,
        found.left_out,
        MOST_PRODUCTS,
    )?;
    let compact = refined(compact, &structures, moments);
    let basis = compact.basis();
    let seen = Coefficients::of(moments.members(), &basis);
    let between = between_members(&compact.irreps, &seen);
    let finite = between.is_some() || matches!(compact.name(), Name::Finite { .. });
    if finite && let Some(found) = elements(&compact, between, &seen, &basis) {
        if found.order == 1 {
            return Err(NoGroup::Still);
        }
        return of_elements(&compact, found, moments);
    }
    Ok(compact)
}

/// The couplings of a finite group of which every element is known.
fn of_elements(
    learned: &Compact,
    elements: Elements,
    moments: &Moments,
) -> Result<Compact, NoGroup> {
    let irreps = &learned.irreps;
    let is_noise = |left_out: &&LeftOut| matches!(left_out, LeftOut::Noise { .. });
    let mut found = Found {
        left_out: learned.left_out.iter().filter(is_noise).cloned().collect(),
        ..Found::default()
    };
    let rows = rescaled(elements.rows, irreps, moments);
    let z = tested(moments, &rows);
    for (number, irrep) in irreps.iter().enumerate() {
        if irrep.trivial {
            found.add_first(number, irrep, &z)?;
        } else {
            let structures = structures(&elements.matrices, number);
            second_order(number, irrep, &structures, &z, &mut found)?;
        }
    }
    for numbers in triples(irreps) {
        let from = tuples(numbers, irreps);
        let forms = invariant_forms(&elements.matrices, numbers).unwrap_or_default();
        let dims = numbers.map(|number| irreps[number].dimension);
        for vector in z.visible(&dims, &from[..from.len().min(MOST_TUPLES)], &forms) {
            let largest = vector
                .iter()
                .fold(0.0_f64, |largest, x| largest.max(x.abs()));
            let clean = |x: &f64| if x.abs() > EXACT * largest { *x } else { 0.0 };
            let tensor = tensor(&dims, &vector.iter().map(clean).collect::<Vec<f64>>())?;
            found.add_third(numbers, tensor, &from, &z);
        }
    }
    let name = Name::Known {
        name: elements.name,
        order: elements.order,
        blocks: learned.dimensions(),
    };
    found.compact(rows, irreps.clone(), learned.commutant, Some(name))
}

/// Members of the first orbits, on which forms that are known are tested.
fn tested(moments: &Moments, rows: &Mat<f64>) -> Coefficients {
    let most = TESTED_MEMBERS * rows.ncols();
    let orbits = moments.members().take(TESTED_ORBITS);
    Coefficients::of(orbits.map(|orbit| &orbit[..orbit.len().min(most)]), rows)
}

/// Irreps that move, three at a time.
fn triples(irreps: &[Irrep]) -> Vec<[usize; 3]> {
    let moving: Vec<usize> = (0..irreps.len()).filter(|&k| !irreps[k].trivial).collect();
    let mut all = Vec::new();
    for (i, &a) in moving.iter().enumerate() {
        for (j, &b) in moving.iter().enumerate().skip(i) {
            all.extend(moving[j..].iter().map(|&c| [a, b, c]));
        }
    }
    all
}

/// The couplings of rotations in a basis of harmonics, each tested on orbits that the basis was not fitted to.
fn harmonic(
    basis: Rotations,
    irreps: Vec<Irrep>,
    moments: &Moments,
    commutant: Evidence,
    left_out: Vec<LeftOut>,
) -> Result<Compact, NoGroup> {
    let Rotations { rows, degrees } = basis;
    let mut found = Found {
        left_out,
        ..Found::default()
    };
    let z = tested(moments, &rows);
    for (number, irrep) in irreps.iter().enumerate() {
        if irrep.trivial {
            found.add_first(number, irrep, &z)?;
        } else {
            second_order(number, irrep, &[], &z, &mut found)?;
        }
    }
    for numbers in triples(&irreps) {
        let Some(values) = invariant_form(numbers.map(|k| degrees[k])) else {
            continue;
        };
        let tensor = tensor(&numbers.map(|k| irreps[k].dimension), &values)?;
        found.add_third(numbers, tensor, &tuples(numbers, &irreps), &z);
    }
    found.compact(rows, irreps, commutant, Some(Name::Rotations { degrees }))
}

/// Whether coefficients of an irrep say more about the orbit than their square, which noise disturbs twice: what moves has a square
/// that stays.
fn is_still(irrep: &Irrep, z: &Coefficients) -> bool {
    let of_copy = |&first: &usize| {
        let rows = first..first + irrep.dimension;
        let coefficients = rows.clone().map(|row| z.lambda(true, |z, m| z[(row, m)]));
        let mean = coefficients.sum::<f64>() / irrep.dimension as f64;
        let square = z.lambda(true, |z, m| {
            rows.clone().map(|row| z[(row, m)].powi(2)).sum()
        });
        mean >= square
    };
    irrep.trivial || irrep.copies.iter().all(of_copy)
}

/// The couplings in a given basis of blocks.
fn solve(
    rows: Mat<f64>,
    irreps: Vec<Irrep>,
    structures: &[Vec<Mat<f64>>],
    moments: &Moments,
    commutant: Evidence,
    left_out: Vec<LeftOut>,
    most_products: usize,
) -> Result<Compact, NoGroup> {
    let mut found = Found {
        left_out,
        ..Found::default()
    };
    let z = Coefficients::of(moments.members(), &rows);
    for (number, irrep) in irreps.iter().enumerate() {
        if irrep.trivial {
            found.add_first(number, irrep, &z)?;
        }
    }
    for (number, irrep) in irreps
        .iter()
        .enumerate()
        .filter(|(_, irrep)| !irrep.trivial)
    {
        second_order(number, irrep, &structures[number], &z, &mut found)?;
    }
    if irreps.iter().all(|irrep| is_still(irrep, &z)) {
        return Err(NoGroup::Still);
    }
    for numbers in triples(&irreps) {
        third_order(
            numbers,
            &irreps,
            &z,
            most_products,
            commutant.clear,
            &mut found,
        )?;
    }
    // Of few samples clouds of different widths have squares that differ from orbit to orbit, too; nothing else of a group.
    let third = |form: &Form| form.irreps.len() == 3;
    if !found
        .forms
        .iter()
        .any(|form| third(form) || form.lambda > ALONE)
    {
        return Err(NoGroup::NoInvariants);
    }
    let copies = irreps.iter().any(|irrep| irrep.copies.len() > 1);
    let third = found.forms.iter().any(|form| form.irreps.len() == 3);
    if found.terms.is_empty() || !(irreps.len() > 1 || copies || third || rows.nrows() == 1) {
        return Err(NoGroup::NoInvariants);
    }
    found.compact(rows, irreps, commutant, None)
}

/// Each block at the size that whitening gives it, a mean square of one a row: the loss does not see sizes of blocks.
fn rescaled(mut basis: Mat<f64>, irreps: &[Irrep], moments: &Moments) -> Mat<f64> {
    let z = Coefficients::of(moments.members(), &basis);
    let samples = (z.orbits.len() * z.members()) as f64;
    for irrep in irreps {
        for &first in &irrep.copies {
            let rows = first..first + irrep.dimension;
            let block = |orbit: &Mat<f64>| orbit.subrows(first, irrep.dimension).squared_norm_l2();
            let squares = z.orbits.iter().map(block);
            let mean = squares.sum::<f64>() / samples / irrep.dimension as f64;
            if mean > 0.0 {
                for row in rows {
                    basis
                        .row_mut(row)
                        .iter_mut()
                        .for_each(|u| *u /= mean.sqrt());
                }
            }
        }
    }
    basis
}

/// A basis in which the forms change less along orbits, where there is one.
fn refined(found: Compact, structures: &[Vec<Mat<f64>>], moments: &Moments) -> Compact {
    let rows = found.couplings.rows();
    // Copies of an irrep would become one: that which noise disturbs least.
    let copies = found
        .irreps
        .iter()
        .any(|irrep| !irrep.trivial && irrep.copies.len() > 1);
    if copies || rows * rows > refine::MOST_UNKNOWNS {
        return found;
    }
    // What was left out as noise stays so; the forms are judged again.
    let is_noise = |left_out: &&LeftOut| matches!(left_out, LeftOut::Noise { .. });
    let noise: Vec<LeftOut> = found.left_out.iter().filter(is_noise).cloned().collect();
    let mut best = found;
    let mut z = Coefficients::of(moments.members(), &best.basis());
    let mut step = refine::step(&best.couplings, &z, true);
    let mut damping = FIRST_DAMPING;
    for _ in 0..REFINEMENTS {
        if step.loss < EXACT {
            break;
        }
        let Some(change) = refine::change(&step, rows, damping) else {
            break;
        };
        let next = solve(
            rescaled(change * best.basis(), &best.irreps, moments),
            best.irreps.clone(),
            structures,
            moments,
            best.commutant,
            noise.clone(),
            MOST_PRODUCTS,
        );
        damping *= 10.0;
        // As many forms as before: a basis that loses one has less to change.
        let Ok(next) = next else { continue };
        if next.forms.len() != best.forms.len() || next.couplings.terms() != best.couplings.terms()
        {
            continue;
        }
        z = Coefficients::of(moments.members(), &next.basis());
        let after = refine::step(&next.couplings, &z, true);
        if after.loss < step.loss {
            let gain = after.loss / step.loss;
            (best, step) = (next, after);
            damping /= 100.0;
            if gain > SMALL_GAIN {
                break;
            }
        }
    }
    best
}

/// The rows of some blocks, in coordinates of the samples, and where each begins.
fn stacked(
    blocks: &Blocks,
    whitening: &Mat<f64>,
    kept: impl Fn(usize) -> bool,
) -> (Mat<f64>, Vec<usize>) {
    let (mut firsts, mut rows) = (Vec::new(), Vec::new());
    for (number, block) in blocks.blocks.iter().enumerate() {
        firsts.push(rows.len());
        if kept(number) {
            rows.extend((0..block.vectors.ncols()).map(|k| (number, k)));
        }
    }
    let n = whitening.nrows();
    let basis = Mat::from_fn(rows.len(), n, |row, at| {
        let (block, k) = rows[row];
        blocks.blocks[block].vectors[(at, k)]
    });
    (basis * whitening, firsts)
}

/// Scalar products of copies, and what else commutes with the irrep.
fn second_order(
    number: usize,
    irrep: &Irrep,
    structures: &[Mat<f64>],
    z: &Coefficients,
    found: &mut Found,
) -> Result<(), NoGroup> {
    let d = irrep.dimension;
    let pairs = |same: bool| {
        let copies = &irrep.copies;
        let pairs = (0..copies.len()).flat_map(move |i| (i..copies.len()).map(move |j| (i, j)));
        pairs
            .filter(move |(i, j)| same || i != j)
            .map(move |(i, j)| vec![copies[i], copies[j]])
    };
    let identity = Mat::<f64>::identity(d, d);
    for (k, matrix) in std::iter::once(&identity).chain(structures).enumerate() {
        let values: Vec<f64> = (0..d * d).map(|at| matrix[(at / d, at % d)]).collect();
        let tuples: Vec<Vec<usize>> = pairs(k == 0).collect();
        let Some(first) = tuples.first() else {
            continue;
        };
        let form = |z: &Mat<f64>, m: usize| {
            let product = |at: usize| z[(first[0] + at / d, m)] * z[(first[1] + at % d, m)];
            (0..d * d).map(|at| values[at] * product(at)).sum::<f64>()
        };
        let lambda = z.lambda(true, form);
        if lambda < 0.5 {
            found.left_out.push(LeftOut::Unclear {
                irreps: vec![number; 2],
                lambda,
                held_out: lambda,
            });
            continue;
        }
        found.add(
            &[number; 2],
            lambda,
            tensor(&[d, d], &values)?,
            tuples.into_iter(),
        );
    }
    Ok(())
}

fn third_order(
    numbers: [usize; 3],
    irreps: &[Irrep],
    z: &Coefficients,
    most_products: usize,
    clear: f64,
    found: &mut Found,
) -> Result<(), NoGroup> {
    let dims = numbers.map(|number| irreps[number].dimension);
    let products: usize = dims.iter().product();
    let from = tuples(numbers, irreps);
    let solutions = (products <= most_products)
        .then(|| z.solve(&dims, &from[..from.len().min(MOST_TUPLES)]))
        .flatten();
    let Some(solutions) = solutions else {
        found.left_out.push(LeftOut::Products {
            irreps: numbers.to_vec(),
            products,
        });
        return Ok(());
    };
    for solution in solutions {
        if solution.lambda < clear || solution.held_out < clear {
            // What seems half invariant where it was found and not at all elsewhere is chance.
            if solution.held_out > super::forms::UNCLEAR {
                found.left_out.push(LeftOut::Unclear {
                    irreps: numbers.to_vec(),
                    lambda: solution.lambda,
                    held_out: solution.held_out,
                });
            }
            continue;
        }
        if found.terms.len() + from.len() > MOST_TERMS {
            found.left_out.push(LeftOut::Products {
                irreps: numbers.to_vec(),
                products,
            });
            break;
        }
        let tensor = tensor(&dims, &solution.vector)?;
        let nonzero = |tuple: &&Vec<usize>| !vanishes(&tensor, tuple);
        let terms: Vec<Vec<usize>> = distinct(numbers, &from)
            .iter()
            .filter(nonzero)
            .cloned()
            .collect();
        let lambda = solution.lambda.min(solution.held_out);
        found.add(&numbers, lambda, tensor, terms.into_iter());
    }
    Ok(())
}

/// Copies of three irreps: of one irrep, different copies before the same ones, and in every order.
fn tuples(numbers: [usize; 3], irreps: &[Irrep]) -> Vec<Vec<usize>> {
    let mut all = Vec::new();
    for &a in &irreps[numbers[0]].copies {
        for &b in &irreps[numbers[1]].copies {
            for &c in &irreps[numbers[2]].copies {
                all.push(vec![a, b, c]);
            }
        }
    }
    let same = |tuple: &Vec<usize>| {
        let [a, b, c] = [tuple[0], tuple[1], tuple[2]];
        usize::from(a == b) + usize::from(b == c) + usize::from(a == c)
    };
    all.sort_by_key(same);
    all
}

/// One order of copies of each irrep: another one's forms are linear combinations of its own.
fn distinct(numbers: [usize; 3], tuples: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let ordered = |tuple: &&Vec<usize>| {
        (0..2).all(|k| numbers[k] != numbers[k + 1] || tuple[k] <= tuple[k + 1])
    };
    tuples.iter().filter(ordered).cloned().collect()
}

/// Whether a form is zero because a block stands in it twice.
fn vanishes(tensor: &Tensor, tuple: &[usize]) -> bool {
    let mut sums: std::collections::BTreeMap<Vec<usize>, f64> = Default::default();
    for entry in tensor.entries() {
        let index = entry.index();
        let mut rows: Vec<usize> = (0..tensor.order())
            .map(|k| tuple[k] + usize::from(index[k]))
            .collect();
        rows.sort_unstable();
        *sums.entry(rows).or_default() += entry.value;
    }
    let square: f64 = sums.values().map(|sum| sum * sum).sum();
    let whole: f64 = tensor.entries().iter().map(|e| e.value * e.value).sum();
    // Learned tensors are antisymmetric up to their errors.
    square < 0.05 * whole
}

fn tensor(dims: &[usize], values: &[f64]) -> Result<Tensor, NoGroup> {
    let largest = values
        .iter()
        .fold(0.0_f64, |largest, v| largest.max(v.abs()));
    let entries = values
        .iter()
        .enumerate()
        .filter(|(_, v)| v.abs() > ROUNDING * largest);
    let entries = entries.map(|(number, &value)| {
        let mut rest = number;
        let mut index = vec![0; dims.len()];
        for (index, dim) in index.iter_mut().zip(dims).rev() {
            (*index, rest) = (rest % dim, rest / dim);
        }
        Entry::new(&index, value)
    });
    let entries: Result<Vec<Entry>, _> = entries.collect();
    entries
        .and_then(|entries| Tensor::new(dims, entries))
        .map_err(NoGroup::Couplings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::orbits::Orbits;
    use crate::data::representation::{Representation, orthogonal};
    use crate::group::compact::samples::{finite, none};
    use rand::RngExt;
    use rand_distr::StandardNormal;

    fn learn(orbits: &Orbits) -> Result<Compact, NoGroup> {
        Compact::of(&Moments::of(orbits).unwrap(), 0)
    }

    /// The mean distance between unit vectors of invariants, of members of one orbit and of different ones.
    fn distances(found: &Compact, orbits: &Orbits) -> [f64; 2] {
        let unit = |orbit: usize, member: usize| {
            let mut x = vec![0.0_f32; orbits.inputs()];
            orbits.write_member(orbit, member, &mut x);
            let x: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
            let t = found.couplings().invariants(&x).unwrap();
            let length = t.iter().map(|t| t * t).sum::<f64>().sqrt();
            t.iter().map(|t| t / length).collect::<Vec<f64>>()
        };
        let distance = |a: Vec<f64>, b: Vec<f64>| {
            let squares = a.iter().zip(&b).map(|(a, b)| (a - b).powi(2));
            squares.sum::<f64>().sqrt()
        };
        let count = orbits.len();
        let mean = |apart: usize| {
            let of = |orbit| distance(unit(orbit, 0), unit((orbit + apart) % count, 1));
            (0..count).map(of).sum::<f64>() / count as f64
        };
        [mean(0), mean(1)]
    }

    /// What is left of samples that were rounded to 2^-24: largest share seen 6e-8.
    const ROUNDED: f64 = 1e-6;

    /// The name, the group, the blocks, the forms of order three beside products with the trivial irrep, and the commutant's dimension.
    struct Expected<'a>(&'a str, Representation, &'a [usize], usize, usize);

    fn groups() -> Vec<Expected<'static>> {
        let torus = [[0, 0], [1, 0], [0, 1], [1, 1], [1, -1], [2, 1]].map(|order| order.to_vec());
        let signs = [
            (0, false),
            (0, true),
            (1, false),
            (1, true),
            (2, false),
            (2, true),
        ];
        vec![
            // (1,1,2), (1,2,3), (1,3,4), (2,2,4), each with a real and an imaginary part.
            Expected(
                "SO(2)",
                Representation::so2(&[0, 1, 2, 3, 4]),
                &[1, 2, 2, 2, 2],
                8,
                5,
            ),
            Expected(
                "SO(2)",
                Representation::so2(&[0, 1, 1, 2]),
                &[1, 2, 2, 2],
                2,
                6,
            ),
            Expected(
                "O(2)",
                Representation::o2(&[0, 1, 2, 3, 4]),
                &[1, 2, 2, 2, 2],
                4,
                5,
            ),
            // 10 + 01 = 11, 1−1 + 01 = 10, 10 + 11 = 21.
            Expected(
                "T2",
                Representation::torus(&torus),
                &[1, 2, 2, 2, 2, 2],
                6,
                6,
            ),
            // (1,1,2), (1,2,3), (2,2,2), (2,3,3); the others are antisymmetric.
            Expected(
                "SO(3)",
                Representation::so3(&[0, 1, 2, 3]),
                &[1, 3, 5, 7],
                4,
                4,
            ),
            // (s; m, ms) twice each for m = 1, 2, and (1,1,2), (1s,1s,2), (1,1s,2s) twice each.
            Expected(
                "SO(2)xZ2",
                Representation::so2_and_sign(&signs),
                &[1, 1, 2, 2, 2, 2],
                10,
                6,
            ),
            Expected("Z8", finite("Z8"), &[1, 1, 2, 2, 2], 10, 5),
            Expected("S3", finite("S3"), &[1, 1, 2, 2], 2, 5),
            Expected("D4", finite("D4"), &[1, 1, 1, 1, 2, 2], 4, 7),
            Expected("Q8", finite("Q8"), &[1, 1, 1, 1, 4], 10, 5),
            Expected("A4", finite("A4"), &[1, 2, 3, 3, 3], 6, 8),
            Expected("S4", finite("S4"), &[1, 1, 2, 2, 3, 3, 3, 3, 3, 3], 10, 17),
        ]
    }

    fn check(expected: &Expected<'_>, orbits: &Orbits, within: f64, setting: &str) {
        let Expected(name, group, blocks, forms, dimension) = expected;
        let found = learn(orbits).unwrap_or_else(|why| panic!("{name} {setting}: {why}"));
        let third = found.forms().iter().filter(|form| form.irreps.len() == 3);
        assert_eq!(found.name().to_string(), *name, "{setting}: {blocks:?}");
        assert_eq!(&found.dimensions(), blocks, "{name} {setting}");
        assert_eq!(found.commutant().dimension, *dimension, "{name} {setting}");
        assert_eq!(
            third.count(),
            *forms,
            "{name} {setting}: {:?}",
            found.forms()
        );
        let mixing = orthogonal(group.dimension(), 7);
        let others = group.orbits(40, 2, &mixing, 99).unwrap();
        let [inside, outside] = distances(&found, &others);
        assert!(inside < within, "{name} {setting}: {inside} within");
        assert!(outside > 0.5, "{name} {setting}: {outside} between");
    }

    #[test]
    fn groups_behind_a_mixing_are_learned_from_whole_orbits() {
        for expected in groups() {
            let group = &expected.1;
            let mixing = orthogonal(group.dimension(), 7);
            let orbits = group
                .orbits(200, group.order().unwrap_or(100), &mixing, 1)
                .unwrap();
            check(&expected, &orbits, ROUNDED, "whole");
        }
    }

    #[test]
    fn members_that_are_missing_and_noise_leave_the_blocks_and_forms_as_they_are() {
        for expected in groups() {
            let group = &expected.1;
            let mixing = orthogonal(group.dimension(), 7);
            let (orbits, members) = match group.order() {
                Some(order) => (400, (order as f64 * 0.6).ceil() as usize),
                None => (300, 60),
            };
            let partial = group.orbits(orbits, members, &mixing, 1).unwrap();
            check(&expected, &partial, ROUNDED, "partial");
            check(&expected, &partial.noisy(0.05, 3), 0.03, "noisy");
        }
    }

    #[test]
    fn a_fifth_of_each_orbit_is_enough() {
        for expected in groups() {
            let group = &expected.1;
            let Some(order) = group.order() else { continue };
            let members = order.div_ceil(5).max(2);
            let mixing = orthogonal(group.dimension(), 7);
            let partial = group.orbits(200 * order, members, &mixing, 1).unwrap();
            check(&expected, &partial, ROUNDED, "a fifth");
        }
    }

    #[test]
    fn data_without_a_symmetry_has_none() {
        for kind in 0..5 {
            for inputs in [6, 9] {
                for size in [[150, 40], [150, 2], [2400, 2], [2400, 4]] {
                    for seed in 3..15 {
                        let found = learn(&none(kind, inputs, size, seed));
                        let found = found.map(|found| (found.name(), found.dimensions()));
                        assert!(
                            found.is_err(),
                            "kind {kind}, {inputs} inputs, {size:?}, seed {seed}: {found:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn directions_of_noise_alone_are_left_out() {
        // Functions of degrees 0 to 2 at 12 inputs: three directions have nothing but noise.
        let group = Representation::so3(&[0, 1, 2]);
        let mixing = orthogonal(12, 7).subcols(0, 9).to_owned();
        let orbits = group.orbits(300, 80, &mixing, 1).unwrap();
        let mut random = stream(3, Purpose::Noise);
        let mut samples = Array2::<f32>::zeros((300 * 80, 12));
        for (row, mut sample) in samples.rows_mut().into_iter().enumerate() {
            orbits.write_member(row / 80, row % 80, sample.as_slice_mut().unwrap());
            sample.mapv_inplace(|x| x + 0.05 * random.sample::<f32, _>(StandardNormal));
        }
        let labels: Vec<i64> = (0..300 * 80).map(|row| row / 80).collect();
        let found = learn(&Orbits::labelled(samples, &labels).unwrap()).unwrap();
        assert_eq!(found.dimensions(), [1, 3, 5]);
        let noise = |left_out: &LeftOut| matches!(left_out, LeftOut::Noise { dimension: 3, .. });
        assert!(found.left_out().iter().any(noise), "{:?}", found.left_out());
    }

    #[test]
    fn the_same_moments_give_the_same_bits() {
        let group = Representation::o2(&[0, 1, 2]);
        let orbits = group.orbits(60, 40, &orthogonal(5, 7), 1).unwrap();
        let [one, other] = [0, 1].map(|_| learn(&orbits).unwrap());
        assert_eq!(one.couplings(), other.couplings());
    }
}
