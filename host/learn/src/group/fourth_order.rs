//! Invariants of a commutative group up to the fourth order, for signals whose third order vanishes.
//!
//! With z_a = Σ_n χ_a(g_n) x_n, a product z_a z_b … of characters with a + b + … = 0 does not change when the signal is moved. Odd
//! harmonics on an even cycle (mains current, a balanced motor) have none of order three, since the sum of three odd numbers
//! is odd; z_1 z_1 z_1 conj(z_3) is one of order four. The forms are the real and the imaginary parts of such products in
//! blocks (Re z_a, Im z_a), one block for a and −a.
//!
//! Left out is what says nothing new: products with the trivial character, and those with both a and −a, which are |z_a|²
//! times another. Of the others those are taken first whose factors but the two of the highest frequencies have low ones:
//! they link all coefficients, high ones to their neighbours.

use super::couplings::{Couplings, CouplingsError, Entry, Tensor, Term};
use super::identify::Identification;
use crate::data::group::Group;
use ndarray::Array2;
use num_complex::Complex64;
use std::collections::HashMap;

/// Groups of more elements have more products than can be looked through.
pub(super) const MOST_ELEMENTS: usize = 256;
/// Terms of order three, and of all orders, at most.
const MOST_THIRD: usize = 1024;
const MOST_TERMS: usize = 4096;

/// The invariants of orders one to four of the group whose characters were identified.
///
/// ```
/// use bispectral_learn::group::identify::characters;
/// use bispectral_learn::group::{fourth_order, known_action};
///
/// let group = characters(&known_action("Z8", None)?).unwrap();
/// let couplings = fourth_order(&group)?;
/// // The first and the third harmonic: no third order, and a phase between them that the fourth has.
/// let signal = |shift: f64, phase: f64| -> Vec<f64> {
///     let angle = |t: usize| (t as f64 + shift) * std::f64::consts::TAU / 8.0;
///     (0..8).map(|t| angle(t).cos() + (3.0 * angle(t) + phase).cos()).collect()
/// };
/// let [here, there, other] = [(0.0, 0.0), (3.0, 0.0), (0.0, 1.0)].map(|(shift, phase)| signal(shift, phase));
/// let distance = |a: &[f64], b: &[f64]| -> Result<f64, Box<dyn std::error::Error>> {
///     let pairs = couplings.invariants(a)?.into_iter().zip(couplings.invariants(b)?);
///     Ok(pairs.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt())
/// };
/// assert!(distance(&here, &there)? < 1e-12 && distance(&here, &other)? > 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A group of one element, or of more than 256.
pub fn fourth_order(found: &Identification) -> Result<Couplings, CouplingsError> {
    let group = &found.group;
    if !(2..=MOST_ELEMENTS).contains(&group.order()) {
        return Err(CouplingsError::Size {
            found: group.order(),
        });
    }
    let blocks = Blocks::of(group);
    let mut forms = Forms::default();
    forms.add(&blocks, &[0], Part::Real)?;
    for a in blocks.representatives().filter(|&a| a != 0) {
        forms.add(&blocks, &[a, group.negate(a)], Part::Real)?;
    }
    for (order, most) in [(3, MOST_THIRD), (4, MOST_TERMS)] {
        for product in products(group, &blocks, order) {
            if forms.terms.len() + 2 > most {
                break;
            }
            forms.add(&blocks, &product, Part::Real)?;
            if product.iter().any(|&a| !blocks.is_real(a)) {
                forms.add(&blocks, &product, Part::Imaginary)?;
            }
        }
    }
    Couplings::new(blocks.basis(found), forms.tensors, forms.terms)
}

/// Where the coefficients stand: (Re z_a, Im z_a) of a and of −a, one row of characters that are real.
struct Blocks<'a> {
    group: &'a Group,
    /// Of every character: its first row, whether it is the conjugate of what stands there, and its frequency.
    offsets: Vec<usize>,
    conjugate: Vec<bool>,
    frequencies: Vec<usize>,
    rows: usize,
}

impl<'a> Blocks<'a> {
    fn of(group: &'a Group) -> Self {
        let order = group.order();
        let (mut offsets, mut conjugate) = (vec![0; order], vec![false; order]);
        let mut rows = 0;
        for a in 0..order {
            let opposite = group.negate(a);
            if opposite < a {
                offsets[a] = offsets[opposite];
                conjugate[a] = true;
            } else {
                offsets[a] = rows;
                rows += if opposite == a { 1 } else { 2 };
            }
        }
        Blocks {
            group,
            offsets,
            conjugate,
            frequencies: (0..order).map(|a| frequency(group, a)).collect(),
            rows,
        }
    }

    fn representatives(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.group.order()).filter(|&a| !self.conjugate[a])
    }

    fn is_real(&self, a: usize) -> bool {
        self.group.negate(a) == a
    }

    /// Orthonormal where the inputs are the group's elements.
    fn basis(&self, found: &Identification) -> Array2<f64> {
        let characters = self.group.characters();
        let mut basis = Array2::zeros((self.rows, found.positions.len()));
        for a in self.representatives() {
            let scale = if self.is_real(a) { 1.0 } else { 2_f64.sqrt() };
            for (input, &element) in found.positions.iter().enumerate() {
                let w = characters[(a, element)] * scale;
                basis[(self.offsets[a], input)] = w.re;
                if !self.is_real(a) {
                    basis[(self.offsets[a] + 1, input)] = w.im;
                }
            }
        }
        basis
    }
}

/// How far a character is from the trivial one, over the factors of the group.
fn frequency(group: &Group, a: usize) -> usize {
    let coordinates = group.element(a);
    let factors = group.factors().iter().zip(coordinates);
    factors.map(|(&n, k)| k.min(n - k)).sum()
}

/// The characters whose product is trivial, up to their order and to conjugation; those that link neighbours first.
fn products(group: &Group, blocks: &Blocks<'_>, order: usize) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    let mut chosen = Vec::with_capacity(order);
    extend(group, order, 0, &mut chosen, &mut found);
    let key = |product: &Vec<usize>| {
        let mut frequencies: Vec<usize> = product.iter().map(|&a| blocks.frequencies[a]).collect();
        frequencies.sort_unstable();
        let links: usize = frequencies[..order - 2].iter().sum();
        (links, frequencies.iter().sum::<usize>())
    };
    found.sort_by_cached_key(|product| (key(product), product.clone()));
    found
}

/// Ascending characters behind `chosen` whose sum, `sum` among it, is zero once there are `order` of them.
fn extend(
    group: &Group,
    order: usize,
    sum: usize,
    chosen: &mut Vec<usize>,
    found: &mut Vec<Vec<usize>>,
) {
    let least = chosen.last().copied().unwrap_or(1);
    let new = |chosen: &[usize], a: usize| a >= least && !chosen.contains(&group.negate(a));
    if chosen.len() + 1 == order {
        let last = group.negate(sum);
        if last == 0 || !new(chosen, last) {
            return;
        }
        chosen.push(last);
        let mut opposite: Vec<usize> = chosen.iter().map(|&a| group.negate(a)).collect();
        opposite.sort_unstable();
        if *chosen <= opposite {
            found.push(chosen.clone());
        }
        chosen.pop();
        return;
    }
    for a in least..group.order() {
        if new(chosen, a) {
            chosen.push(a);
            extend(group, order, group.add(sum, a), chosen, found);
            chosen.pop();
        }
    }
}

/// Which part of a product of coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Real,
    Imaginary,
}

/// Which factors of a product are conjugates, and which are one row, real.
type Shape = (Vec<bool>, Vec<usize>, Part);

/// Terms, and the tensors they share.
#[derive(Default)]
struct Forms {
    tensors: Vec<Tensor>,
    terms: Vec<Term>,
    numbers: HashMap<Shape, usize>,
}

impl Forms {
    fn add(
        &mut self,
        blocks: &Blocks<'_>,
        product: &[usize],
        part: Part,
    ) -> Result<(), CouplingsError> {
        let conjugate: Vec<bool> = product.iter().map(|&a| blocks.conjugate[a]).collect();
        let rows = |&a: &usize| if blocks.is_real(a) { 1 } else { 2 };
        let dims: Vec<usize> = product.iter().map(rows).collect();
        let shape = (conjugate, dims, part);
        let tensor = match self.numbers.get(&shape) {
            Some(&number) => number,
            None => {
                self.tensors.push(tensor(&shape)?);
                self.numbers.insert(shape, self.tensors.len() - 1);
                self.tensors.len() - 1
            }
        };
        self.terms.push(Term {
            tensor,
            offsets: product.iter().map(|&a| blocks.offsets[a]).collect(),
        });
        Ok(())
    }
}

/// The part of Π (u_k ± i v_k), written out.
fn tensor((conjugate, dims, part): &Shape) -> Result<Tensor, CouplingsError> {
    let mut entries = Vec::new();
    for number in 0..dims.iter().product() {
        let (mut index, mut rest) = (vec![0; dims.len()], number);
        let mut value = Complex64::ONE;
        for (k, &dim) in dims.iter().enumerate() {
            (index[k], rest) = (rest % dim, rest / dim);
            value *= match (index[k], conjugate[k]) {
                (0, _) => Complex64::ONE,
                (_, false) => Complex64::I,
                (_, true) => -Complex64::I,
            };
        }
        let value = match part {
            Part::Real => value.re,
            Part::Imaginary => value.im,
        };
        entries.push(Entry::new(&index, value)?);
    }
    Tensor::new(dims, entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::identify::characters;
    use crate::group::known_action;
    use proptest::prelude::*;
    use std::f64::consts::TAU;

    fn couplings(name: &str) -> Couplings {
        let action = known_action(name, None).unwrap();
        fourth_order(&characters(&action).unwrap()).unwrap()
    }

    fn distance(a: &[f64], b: &[f64]) -> f64 {
        let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
        squares.sum::<f64>().sqrt()
    }

    proptest! {
        #[test]
        fn moved_signals_share_their_invariants(
            name in prop::sample::select(vec!["Z2", "Z3", "Z8", "Z4xZ2", "Z2xZ2xZ2", "Z3xZ3", "Z15"]),
            seed in any::<u64>(),
        ) {
            let action = known_action(name, None).unwrap();
            let couplings = couplings(name);
            let value = |n: usize| (((n as u64 + 1).wrapping_mul(seed | 1) >> 40) as f64) / 1e7 - 0.8;
            let x: Vec<f64> = (0..action.degree()).map(value).collect();
            let t = couplings.invariants(&x).unwrap();
            for element in action.elements() {
                let x: Vec<f32> = x.iter().map(|&x| x as f32).collect();
                let exact = couplings.invariants(&x.iter().map(|&x| x.into()).collect::<Vec<_>>()).unwrap();
                let moved: Vec<f64> = element.moved(&x).into_iter().map(Into::into).collect();
                prop_assert!(distance(&exact, &couplings.invariants(&moved).unwrap()) < 1e-12);
            }
            prop_assert!(t.iter().all(|t| t.is_finite()));
        }
    }

    /// Harmonics 1, 5, 7 and 11 of 32, as a three-phase rectifier draws: no chain of neighbours links them, and no third order.
    #[test]
    fn odd_harmonics_with_gaps_are_told_apart_by_their_phases() {
        let couplings = couplings("Z32");
        let signal = |phase: f64, by: f64| -> Vec<f64> {
            let harmonics = [
                (1.0, 1.0, 0.0),
                (5.0, 0.2, phase),
                (7.0, 0.14, 0.5),
                (11.0, 0.09, 1.0),
            ];
            let at = |t: f64| harmonics.map(|(k, size, phase)| size * (k * t + phase).cos());
            (0..32)
                .map(|t| at((f64::from(t) + by) * TAU / 32.0).iter().sum())
                .collect()
        };
        let t = |phase, by| couplings.invariants(&signal(phase, by)).unwrap();
        assert!(distance(&t(0.0, 0.0), &t(0.0, 9.0)) < 1e-12);
        // |z| is the same: 0.2 · 0.14 of the energy is in the term that tells them apart.
        assert!(distance(&t(0.0, 0.0), &t(2.0, 0.0)) > 1e-2);
        let third = couplings
            .orders()
            .zip(t(0.0, 0.0))
            .filter(|&(order, _)| order == 3);
        assert!(third.map(|(_, t)| t.abs()).fold(0.0, f64::max) < 1e-12);
    }

    #[test]
    fn products_are_all_that_say_something_new() {
        // a + b + c + d = 0 in Z5 without 0 and without a, −a: {1,1,1,2} and {2,2,2,4}, and their conjugates {4,4,4,3}, {3,3,3,1}.
        let group: Group = "Z5".parse().unwrap();
        let blocks = Blocks::of(&group);
        assert_eq!(
            products(&group, &blocks, 4),
            [vec![1, 1, 1, 2], vec![1, 3, 3, 3]]
        );
        assert_eq!(products(&group, &blocks, 3), [vec![1, 1, 3], vec![1, 2, 2]]);
    }

    #[test]
    fn large_groups_are_limited_or_refused() {
        let z128 = couplings("Z128");
        assert!(z128.terms().len() <= MOST_TERMS && z128.orders().any(|order| order == 4));
        let action = known_action("Z257", None).unwrap();
        let refused = fourth_order(&characters(&action).unwrap());
        assert_eq!(refused, Err(CouplingsError::Size { found: 257 }));
    }
}
