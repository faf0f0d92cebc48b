//! The distinct terms of a real signal's bispectrum: T(a, b, c) = f(a) f(b) f(c) with a + b + c = 0.
//!
//! With f(a) the coefficient of the character a, β_ij = z_i z_j conj(z_ij) is T(a, b, −(a + b)) where i and j are the
//! rows of a and b. The order of a, b and c does not matter, and f(−a) = conj f(a) for a real signal: up to six pairs
//! are one term, and what is unknown is one coefficient for each class {a, −a}.

use crate::data::group::Group;

/// The classes {a, −a} of a group's characters.
#[derive(Debug, Clone)]
pub(crate) struct Classes {
    group: Group,
    /// Of every character.
    of: Vec<Coefficient>,
    /// One character of every class.
    representatives: Vec<usize>,
    real: Vec<bool>,
}

/// Where the coefficient of a character is had: that of a class, or its conjugate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Coefficient {
    /// The number of the class.
    pub(crate) class: usize,
    /// Whether it is the conjugate.
    pub(crate) conjugate: bool,
}

/// A term of the bispectrum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Triple {
    characters: [usize; 3],
}

impl Classes {
    /// The classes of `group`, in the order of their lowest characters; the first is the trivial one.
    #[must_use]
    pub(crate) fn of(group: &Group) -> Self {
        let order = group.order();
        let unset = Coefficient {
            class: 0,
            conjugate: false,
        };
        let (mut of, mut representatives, mut real) = (vec![unset; order], Vec::new(), Vec::new());
        for a in 0..order {
            let opposite = group.negate(a);
            if opposite < a {
                let class = of[opposite].class;
                of[a] = Coefficient {
                    class,
                    conjugate: true,
                };
            } else {
                of[a].class = representatives.len();
                representatives.push(a);
                real.push(opposite == a);
            }
        }
        Classes {
            group: group.clone(),
            of,
            representatives,
            real,
        }
    }

    /// How many there are: n/2 + 1 for a cyclic group of even order n, n for Z2xZ2x….
    #[must_use]
    pub(crate) fn count(&self) -> usize {
        self.representatives.len()
    }

    /// The group.
    #[must_use]
    pub(crate) fn group(&self) -> &Group {
        &self.group
    }

    /// Where the coefficient of `character` is had.
    #[must_use]
    pub(crate) fn coefficient(&self, character: usize) -> Coefficient {
        self.of[character]
    }

    /// The lowest character of `class`.
    #[must_use]
    pub(crate) fn character(&self, class: usize) -> usize {
        self.representatives[class]
    }

    /// Whether the coefficient of `class` is real: a = −a.
    #[must_use]
    pub(crate) fn is_real(&self, class: usize) -> bool {
        self.real[class]
    }

    /// T(a, b, −(a+b)), and whether it is the conjugate of what that triple stands for.
    #[must_use]
    pub(crate) fn triple(&self, a: usize, b: usize) -> (Triple, bool) {
        let group = &self.group;
        let mut characters = [a, b, group.negate(group.add(a, b))];
        let mut opposite = characters.map(|a| group.negate(a));
        characters.sort_unstable();
        opposite.sort_unstable();
        let conjugate = opposite < characters;
        let characters = characters.min(opposite);
        (Triple { characters }, conjugate)
    }

    /// The three factors of a term.
    #[must_use]
    pub(crate) fn factors(&self, triple: Triple) -> [Coefficient; 3] {
        triple.characters.map(|a| self.of[a])
    }

    /// Every term, sorted: about n²/12.
    #[must_use]
    pub(crate) fn triples(&self) -> Vec<Triple> {
        let order = self.group.order();
        let mut triples: Vec<Triple> = (0..order)
            .flat_map(|a| (a..order).map(move |b| (a, b)))
            .map(|(a, b)| self.triple(a, b).0)
            .collect();
        triples.sort_unstable();
        triples.dedup();
        triples
    }

    /// How many characters are products of those in the classes `present`: the translates of a signal that has these
    /// coefficients alone.
    #[must_use]
    pub(crate) fn generated(&self, present: &[bool]) -> u64 {
        let mut reached = vec![false; self.group.order()];
        reached[0] = true;
        let mut members = vec![0];
        for class in (0..self.count()).filter(|&class| present[class]) {
            let a = self.character(class);
            if reached[a] {
                continue;
            }
            // The cosets of what is generated so far, until a multiple of a is in it.
            let (mut multiple, subgroup) = (a, members.clone());
            while !reached[multiple] {
                for &member in &subgroup {
                    let sum = self.group.add(member, multiple);
                    reached[sum] = true;
                    members.push(sum);
                }
                multiple = self.group.add(multiple, a);
            }
        }
        members.len() as u64
    }
}

impl Triple {
    /// The three characters.
    #[must_use]
    pub(crate) fn characters(self) -> [usize; 3] {
        self.characters
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{group, groups};
    use super::*;
    use num_complex::Complex64;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// f(a) for a random real signal, by its definition.
    fn spectrum(group: &Group, seed: u64) -> Vec<Complex64> {
        let characters = group.characters();
        let value = |n: usize| ((seed % 1000 + 7) as f64 * (n as f64 + 0.3).sqrt()).sin();
        let signal = Vec::from_iter((0..group.order()).map(value));
        let row = |a| characters.row(a).into_iter().zip(&signal);
        (0..group.order())
            .map(|a| row(a).map(|(w, x)| w * x).sum())
            .collect()
    }

    proptest! {
        #[test]
        fn a_term_is_the_product_of_its_factors(group in groups(), seed: u64, a: usize, b: usize) {
            let (a, b) = (a % group.order(), b % group.order());
            let f = spectrum(&group, seed);
            let classes = Classes::of(&group);
            let (triple, conjugate) = classes.triple(a, b);
            let factor = |Coefficient { class, conjugate }| {
                let f = f[classes.character(class)];
                if conjugate { f.conj() } else { f }
            };
            let product: Complex64 = classes.factors(triple).map(factor).iter().product();
            let product = if conjugate { product.conj() } else { product };
            let beta = f[a] * f[b] * f[group.add(a, b)].conj();
            prop_assert!((product - beta).norm() < 1e-12 * (1.0 + beta.norm()));
        }

        #[test]
        fn classes_hold_every_character_once(group in groups()) {
            let classes = Classes::of(&group);
            let mut sizes = vec![0; classes.count()];
            for a in 0..group.order() {
                let Coefficient { class, conjugate } = classes.coefficient(a);
                let representative = if conjugate { group.negate(a) } else { a };
                prop_assert_eq!(classes.character(class), representative);
                sizes[class] += 1;
            }
            for (class, size) in sizes.into_iter().enumerate() {
                prop_assert_eq!(size, if classes.is_real(class) { 1 } else { 2 });
            }
        }

        #[test]
        fn what_is_generated_is_closed(group in groups(), chosen in prop::collection::vec(any::<prop::sample::Index>(), 0..4)) {
            let classes = Classes::of(&group);
            let mut present = vec![false; classes.count()];
            chosen.iter().for_each(|index| present[index.index(classes.count())] = true);
            let mut closed = BTreeSet::from([0]);
            loop {
                let next: BTreeSet<usize> = closed
                    .iter()
                    .flat_map(|&a| (0..group.order()).filter(|&b| present[classes.coefficient(b).class]).map(move |b| (a, b)))
                    .map(|(a, b)| group.add(a, b))
                    .chain(closed.iter().copied())
                    .collect();
                if next == closed {
                    break;
                }
                closed = next;
            }
            prop_assert_eq!(classes.generated(&present), closed.len() as u64);
        }
    }

    #[test]
    fn six_pairs_are_one_term() {
        let classes = Classes::of(&group("Z16xZ16"));
        assert_eq!(classes.count(), 130);
        let terms = classes.triples().len();
        assert!((5_500..6_000).contains(&terms), "{terms}");
    }
}
