//! Forms of fourth order from those of third, in any basis and for any group: no element of it is needed.
//!
//! Where a group moves the block z_l of an invariant form f, it moves the gradient ∇_l f, quadratic in the blocks that are left, in the
//! same way: a covariant. So does it with that of another form g, and
//!
//! > F(z) = ⟨∇_l f(z), ∇_l g(z)⟩
//!
//! does not change. Of one copy of each degree of rotations of space, forms of up to third order are fewer than the numbers
//! in which orbits differ; these are what is missing.

use super::couplings::{Couplings, CouplingsError, Entry, Tensor, Term};
use super::rank::Rank;
use ndarray::Array1;
use std::collections::BTreeMap;

/// Forms of more products of coefficients are not looked at.
const MOST_PRODUCTS: usize = 4000;
/// The most pairs of covariants, those of few products first.
const MOST_PAIRS: usize = 20_000;
/// Numbers of a tensor below this share of its largest are rounding.
const ROUNDING: f64 = 1e-12;

/// Where a block begins, and its rows.
pub type Span = (usize, usize);

/// A product of two coefficients and a number.
type Product = ([usize; 2], f64);

/// What is quadratic in two blocks and moves as a third does.
#[derive(Debug, Clone, PartialEq)]
pub struct Covariant {
    /// As which block it moves.
    pub like: Span,
    /// The blocks it is made of.
    pub of: [Span; 2],
    /// Of each row a sum of products.
    rows: Vec<Vec<Product>>,
}

impl Covariant {
    /// Σ c_{ijm} z_i z_j, one number a row m of the block `like`, of an invariant tensor of the blocks `of` and `like`; the last index is
    /// the fastest.
    #[must_use]
    pub fn new(of: [Span; 2], like: Span, tensor: &[f64]) -> Self {
        let mut rows = vec![Vec::new(); like.1];
        for (number, &value) in tensor
            .iter()
            .enumerate()
            .filter(|(_, value)| **value != 0.0)
        {
            let (row, rest) = (number % like.1, number / like.1);
            let product = [of[0].0 + rest / of[1].1, of[1].0 + rest % of[1].1];
            rows[row].push((product, value));
        }
        Covariant { like, of, rows }
    }

    /// The gradient of a term of order three by a block of its.
    fn gradient(couplings: &Couplings, term: &Term, slot: usize) -> Self {
        let tensor = &couplings.tensors()[term.tensor];
        let span = |k: usize| (term.offsets[k], tensor.dims()[k]);
        let like = span(slot);
        let mut rows = vec![Vec::new(); like.1];
        for entry in tensor.entries() {
            let row = |k: usize| term.offsets[k] + usize::from(entry.index()[k]);
            for k in (0..3).filter(|&k| term.offsets[k] == like.0) {
                let product = [row((k + 1) % 3), row((k + 2) % 3)];
                rows[row(k) - like.0].push((product, entry.value));
            }
        }
        let of = [span((slot + 1) % 3), span((slot + 2) % 3)];
        Covariant { like, of, rows }
    }

    /// The same of blocks that begin elsewhere; `None` where one of them is nowhere.
    pub fn moved(&self, to: impl Fn(Span) -> Option<Span>) -> Option<Self> {
        let [like, a, b] = [to(self.like)?, to(self.of[0])?, to(self.of[1])?];
        let moved = |(rows, value): &Product| {
            let row = |k: usize, to: Span| to.0 + rows[k] - self.of[k].0;
            ([row(0, a), row(1, b)], *value)
        };
        let rows = self.rows.iter();
        Some(Covariant {
            like,
            of: [a, b],
            rows: rows.map(|row| row.iter().map(moved).collect()).collect(),
        })
    }

    fn at(&self, z: &[f64]) -> Vec<f64> {
        let product = |([a, b], value): &Product| value * z[*a] * z[*b];
        let row = |row: &Vec<Product>| row.iter().map(product).sum();
        self.rows.iter().map(row).collect()
    }

    fn size(&self) -> usize {
        self.of[0].1 * self.of[1].1
    }
}

/// The forms of fourth order that pairs of covariants are.
#[derive(Debug)]
pub struct Contractions<'a> {
    of: &'a Couplings,
    covariants: Vec<Covariant>,
    /// Two that move alike; those of few products first.
    pairs: Vec<[usize; 2]>,
}

impl<'a> Contractions<'a> {
    /// Of the terms of order three of `couplings`, and of other covariants: what vanishes as a form of a single copy of each irrep is
    /// none of the terms. The blocks have to be orthonormal: Σ z² over each is an invariant.
    #[must_use]
    pub fn of(couplings: &'a Couplings, others: Vec<Covariant>) -> Self {
        let mut covariants = others;
        for (term, order) in couplings.terms().iter().zip(couplings.orders()) {
            let first = |slot: usize| !term.offsets[..slot].contains(&term.offsets[slot]);
            for slot in (0..3).filter(|&slot| order == 3 && first(slot)) {
                covariants.push(Covariant::gradient(couplings, term, slot));
            }
        }
        let mut of_block: BTreeMap<Span, Vec<usize>> = BTreeMap::new();
        for (number, covariant) in covariants.iter().enumerate() {
            of_block.entry(covariant.like).or_default().push(number);
        }
        let products = |pair: &[usize; 2]| covariants[pair[0]].size() * covariants[pair[1]].size();
        let mut pairs: Vec<[usize; 2]> = of_block
            .values()
            .flat_map(|same| {
                let of = |(k, &f): (usize, &usize)| same[k..].iter().map(move |&g| [f, g]);
                same.iter().enumerate().flat_map(of).collect::<Vec<_>>()
            })
            .filter(|pair| products(pair) <= MOST_PRODUCTS)
            .collect();
        pairs.sort_by_key(products);
        pairs.truncate(MOST_PAIRS);
        Contractions {
            of: couplings,
            covariants,
            pairs,
        }
    }

    /// How many there are; most depend on others.
    #[must_use]
    pub fn count(&self) -> usize {
        self.pairs.len()
    }

    fn pair(&self, number: usize) -> [&Covariant; 2] {
        self.pairs[number].map(|covariant| &self.covariants[covariant])
    }

    /// The blocks that a form is made of, ascending.
    fn blocks(&self, number: usize) -> [Span; 4] {
        let [f, g] = self.pair(number);
        let mut blocks = [f.of[0], f.of[1], g.of[0], g.of[1]];
        blocks.sort_unstable();
        blocks
    }

    /// F(z).
    #[must_use]
    pub fn value(&self, number: usize, z: &[f64]) -> f64 {
        let [f, g] = self.pair(number).map(|covariant| covariant.at(z));
        f.iter().zip(&g).map(|(f, g)| f * g).sum()
    }

    /// ∇F.
    fn gradient(&self, number: usize, z: &[f64]) -> Array1<f64> {
        let [f, g] = self.pair(number);
        let mut out = Array1::zeros(z.len());
        for (covariant, by) in [(f, g.at(z)), (g, f.at(z))] {
            for (row, by) in covariant.rows.iter().zip(by) {
                for ([a, b], value) in row {
                    out[*a] += value * by * z[*b];
                    out[*b] += value * by * z[*a];
                }
            }
        }
        out
    }

    /// F as a sum of products of four coefficients: the tensor, and where its blocks begin. `None` where it vanishes, or where blocks
    /// overlap.
    fn form(&self, number: usize) -> Option<(Tensor, Vec<usize>)> {
        let [f, g] = self.pair(number);
        let mut sums: BTreeMap<[usize; 4], f64> = BTreeMap::new();
        for (left, right) in f.rows.iter().zip(&g.rows) {
            for ([a, b], left) in left {
                for ([c, d], right) in right {
                    let mut rows = [*a, *b, *c, *d];
                    rows.sort_unstable();
                    *sums.entry(rows).or_default() += left * right;
                }
            }
        }
        let largest = sums.values().fold(0.0_f64, |most, x| most.max(x.abs()));
        sums.retain(|_, value| value.abs() > ROUNDING * largest);
        // Sorted rows of a product lie in sorted blocks.
        let blocks = self.blocks(number);
        let entry = |(rows, value): ([usize; 4], f64)| -> Option<Entry> {
            let places = rows.iter().zip(&blocks);
            let index: Option<Vec<usize>> = places
                .map(|(row, block)| row.checked_sub(block.0))
                .collect();
            Entry::new(&index?, value / largest).ok()
        };
        let entries: Option<Vec<Entry>> = sums.into_iter().map(entry).collect();
        let tensor = Tensor::new(&blocks.map(|block| block.1), entries?).ok()?;
        Some((tensor, blocks.map(|block| block.0).to_vec()))
    }

    /// The couplings with these forms behind the others.
    ///
    /// # Errors
    /// None that forms of sound couplings could have.
    pub fn with(&self, numbers: &[usize]) -> Result<Couplings, CouplingsError> {
        let (mut tensors, mut terms) = (self.of.tensors().to_vec(), self.of.terms().to_vec());
        for (tensor, offsets) in numbers.iter().filter_map(|&number| self.form(number)) {
            // Copies of one irrep share a tensor.
            let known = tensors.iter().position(|known| *known == tensor);
            let number = known.unwrap_or_else(|| {
                tensors.push(tensor);
                tensors.len() - 1
            });
            terms.push(Term {
                tensor: number,
                offsets,
            });
        }
        Couplings::new(self.of.basis().clone(), tensors, terms)
    }

    /// Those that tell what neither terms of lower order nor smaller ones do, near a signal with the coefficients z. Blocks come one by
    /// one, small ones first, so that those before determine each other without those behind: forms are taken that raise the rank of
    /// the derivatives, or that of the forms linear in the block, until these determine it by themselves where they can.
    #[must_use]
    pub fn independent(&self, z: &[f64]) -> Vec<usize> {
        let order = super::couplings::blocks(self.of);
        let place = |at: usize| order.iter().position(|block| block.0 == at).unwrap_or(0);
        // The last block of a form, and whether it is linear in it.
        let last_of = |offsets: &[usize]| {
            let last = offsets.iter().map(|&at| place(at)).max().unwrap_or(0);
            let times = offsets.iter().filter(|&&at| place(at) == last).count();
            (last, times == 1)
        };
        let terms = self.of.terms().iter().map(|term| last_of(&term.offsets));
        let terms: Vec<(usize, bool)> = terms.collect();
        let pairs = (0..self.pairs.len()).map(|number| last_of(&self.blocks(number).map(|b| b.0)));
        let pairs: Vec<(usize, bool)> = pairs.collect();
        let jacobian = self.of.forms_jacobian(z);
        let mut chosen = Vec::new();
        let mut rank = Rank::default();
        for (last, &(at, rows)) in order.iter().enumerate() {
            let mut linear = Rank::default();
            let mut grows = |gradient: Array1<f64>, is_linear: bool| {
                let of_block = gradient.iter().skip(at).take(rows).copied().collect();
                let alone = is_linear && linear.count() < rows && linear.add(of_block);
                rank.add(gradient) || alone
            };
            for (row, &(of, is_linear)) in jacobian.rows().into_iter().zip(&terms) {
                if of == last {
                    grows(row.to_owned(), is_linear);
                }
            }
            for (number, &(of, is_linear)) in pairs.iter().enumerate() {
                if of == last && grows(self.gradient(number, z), is_linear) {
                    chosen.push(number);
                }
            }
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::representation::{Representation, orthogonal};
    use crate::group::compact::{Compact, Moments};

    fn unit(z: Vec<f64>) -> Vec<f64> {
        let length = z.iter().map(|z| z * z).sum::<f64>().sqrt();
        z.into_iter().map(|z| z / length).collect()
    }

    #[test]
    fn forms_of_fourth_order_do_not_change_and_determine_a_signal() {
        let group = Representation::so3(&[0, 1, 2, 3]);
        let mixing = orthogonal(group.dimension(), 7);
        let orbits = |count, members, seed| group.orbits(count, members, &mixing, seed).unwrap();
        let found = Compact::of(&Moments::of(&orbits(200, 6, 1)).unwrap(), 0).unwrap();
        let contractions = Contractions::of(found.couplings(), found.covariants());
        // Two members of an orbit that was not learned from, in single precision.
        let others = orbits(2, 2, 9);
        let member = |m: usize| {
            let mut x = vec![0.0_f32; group.dimension()];
            others.write_member(0, m, &mut x);
            let x: Vec<f64> = x.into_iter().map(f64::from).collect();
            unit(found.couplings().coefficients(&x).unwrap())
        };
        let (here, there) = (member(0), member(1));
        let step = 1e-5;
        for number in 0..contractions.count() {
            let value = contractions.value(number, &here);
            let moved = contractions.value(number, &there);
            assert!((value - moved).abs() < 1e-6, "{number}: {value} {moved}");
            let gradient = contractions.gradient(number, &here);
            for (row, derivative) in gradient.iter().enumerate() {
                let at = |by: f64| {
                    let mut z = here.clone();
                    z[row] += by;
                    contractions.value(number, &z)
                };
                let difference = (at(step) - at(-step)) / (2.0 * step);
                assert!((difference - derivative).abs() < 1e-8, "{number}, {row}");
            }
            // Up to a factor, and none that vanishes joins.
            let all = contractions.with(&[number]).unwrap();
            if all.terms().len() > found.couplings().terms().len() {
                let last = |z: &[f64]| *all.forms(z).last().unwrap();
                let other = unit((0..here.len()).map(|k| ((k * k) as f64).sin()).collect());
                let [a, b] = [
                    last(&here) * contractions.value(number, &other),
                    last(&other) * value,
                ];
                assert!((a - b).abs() < 1e-12, "{number}: {a} {b}");
            }
        }
        // 16 numbers less three angles.
        let all = contractions.with(&contractions.independent(&here)).unwrap();
        let mut rank = Rank::default();
        let jacobian = all.forms_jacobian(&here);
        jacobian.rows().into_iter().for_each(|row| {
            rank.add(row.to_owned());
        });
        assert_eq!(rank.count(), 13);
    }
}
