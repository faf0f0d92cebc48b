//! The selective bispectrum: few of the n(n+1)/2 invariants of a group of order n, and nothing lost.
//!
//! A recursion from generators of the group gives every coefficient by one term from those before it (Kondor 2008 for
//! cyclic groups, Mataigne et al. 2024 for all); terms that close loops pin the generators themselves. Real signals have
//! f(−a) = conj f(a), so about one term for each class {a, −a} is the least: 130 for Z16xZ16, where the triangle has
//! 32,896. Terms up to n then reach coefficients a second time, which costs little and keeps noise from adding up.
//! The trivial character is reached last, since signals without a mean are common; only on Z2, Z4 and Z2xZ2 are they
//! not determined by any invariants.
//!
//! Where a coefficient on the way is zero, a recursion ends there. K recursions from different generators, by different terms
//! wherever the group has enough of them, give every coefficient in K ways, and from K = 2 on any one coefficient may
//! be zero.

use super::determination::{Determination, needed};
use super::identify::Identification;
use super::recursion::{Recursion, Terms};
use super::triples::{Classes, Triple};
use num_complex::Complex64;

/// What a term costs that needs the mean of a signal: more than any recursion without it.
const OF_MEAN: f64 = 1e6;
/// What a term costs that another recursion took: more than a detour.
const TAKEN: f64 = 1e3;
/// What a term costs that is there already, where as few as possible are to be added.
const THERE: f64 = 1e-3;
/// Recursions from which room is filled: the second has nearly as many terms as there is room for.
const FILLING: usize = 3;
/// A coefficient below this part of the largest is as good as zero: f32 leaves its phase few digits.
pub const NEARLY_ZERO: f64 = 1e-4;

/// Pairs (i, j) of rows, sorted as in the triangle, whose invariants determine a generic signal: no more than the group
/// has elements for one path, otherwise those by which every coefficient is reached in `paths` ways, where the group
/// has as many.
///
/// ```
/// use bispectral_learn::group::{identify::identify, selective};
/// # use bispectral_learn::data::group::Group;
/// # use num_complex::Complex32;
/// let w = "Z8".parse::<Group>()?.characters();
/// let w = w.mapv(|w| Complex32::new(w.re as f32, w.im as f32));
/// let found = identify(&w.view()).unwrap();
/// assert_eq!(selective(&found, 1).len(), 8);
/// # Ok::<(), bispectral_learn::Error>(())
/// ```
#[must_use]
pub fn selective(found: &Identification, paths: usize) -> Vec<(usize, usize)> {
    let mut selection = Selection::new(found);
    selection.first();
    if paths <= 1 {
        selection.fill(found.group.order());
    } else {
        // A recursion takes a term at least, so that no more of them can be new.
        for path in 1..paths.min(selection.triples.len()) {
            let terms = selection.recursion(path);
            selection.take(&terms);
        }
        (0..selection.classes.count()).for_each(|class| selection.survive(class));
    }
    selection.pairs(found)
}

/// As few pairs as determine a generic signal, whatever noise does to it: without any of them, something is left open.
#[must_use]
pub fn least(found: &Identification) -> Vec<(usize, usize)> {
    let mut selection = Selection::new(found);
    selection.first();
    selection.pairs(found)
}

/// What the invariants of `pairs` tell of the signal with the coefficients `z`, one a row of W.
#[must_use]
pub fn determination(
    found: &Identification,
    pairs: &[(usize, usize)],
    z: &[Complex64],
) -> Determination {
    let classes = Classes::of(&found.group);
    let mut triples: Vec<Triple> = pairs
        .iter()
        .map(|&(i, j)| classes.triple(found.characters[i], found.characters[j]).0)
        .collect();
    triples.sort_unstable();
    triples.dedup();
    let terms = Terms::new(&classes, &triples);
    let mut moduli = vec![0.0; classes.count()];
    for (&character, z) in found.characters.iter().zip(z) {
        moduli[classes.coefficient(character).class] = z.norm();
    }
    Determination::of(&classes, &terms, &present(&moduli))
}

/// Which coefficients are not nearly zero.
pub(crate) fn present(moduli: &[f64]) -> Vec<bool> {
    let largest = moduli.iter().copied().fold(0.0, f64::max);
    moduli.iter().map(|&m| m > NEARLY_ZERO * largest).collect()
}

/// The first of the pairs of rows that have this term.
fn pair(found: &Identification, triple: Triple) -> (usize, usize) {
    let row = |character: usize| found.characters.iter().position(|&k| k == character);
    let [a, b, c] = triple.characters();
    let opposite = |(a, b)| (found.group.negate(a), found.group.negate(b));
    let pairs = [(a, b), (a, c), (b, c)];
    let pairs = pairs.into_iter().chain(pairs.map(opposite));
    let rows = pairs.filter_map(|(a, b)| Some((row(a)?, row(b)?)));
    rows.map(|(i, j)| (i.min(j), i.max(j)))
        .min()
        .unwrap_or_default()
}

/// Terms that are taken so far.
struct Selection {
    classes: Classes,
    triples: Vec<Triple>,
    terms: Terms,
    taken: Vec<bool>,
    /// Classes in the order in which they begin recursions.
    preference: Vec<usize>,
}

impl Selection {
    fn new(found: &Identification) -> Self {
        let classes = Classes::of(&found.group);
        let triples = classes.triples();
        Selection {
            terms: Terms::new(&classes, &triples),
            taken: vec![false; triples.len()],
            preference: preference(&classes, found),
            triples,
            classes,
        }
    }

    /// What one recursion needs, and no more.
    fn first(&mut self) {
        let terms = self.recursion(0);
        self.take(&terms);
        let without_mean = self.is_complete(Some(0));
        for term in terms {
            self.taken[term] = false;
            let enough = self.is_complete(None) && (!without_mean || self.is_complete(Some(0)));
            self.taken[term] = !enough;
        }
    }

    /// What further recursions would take, up to `most` terms.
    fn fill(&mut self, most: usize) {
        for path in 1..=FILLING {
            let count = self.taken.iter().filter(|taken| **taken).count();
            let mut terms = self.recursion(path);
            terms.retain(|&term| !self.taken[term]);
            // There is one way to the mean so far, and none around the coefficient on it.
            terms.sort_by_key(|&term| !self.has(term, 0));
            terms.truncate(most.saturating_sub(count));
            self.take(&terms);
        }
    }

    /// What is missing where the coefficient of `zero` is zero.
    fn survive(&mut self, zero: usize) {
        if self.is_complete(Some(zero)) {
            return;
        }
        let cost = |term: usize| match (self.has(term, zero), self.taken[term]) {
            (true, _) => f64::INFINITY,
            (_, true) => THERE,
            _ if self.has(term, 0) => OF_MEAN,
            _ => 1.0,
        };
        let wanted: Vec<usize> = self
            .preference
            .iter()
            .copied()
            .filter(|&c| c != zero)
            .collect();
        let terms = self.needed(cost, &wanted, &self.taken);
        self.take(&terms);
    }

    /// The terms of one more recursion; the trivial character begins none unless it must.
    fn recursion(&self, path: usize) -> Vec<usize> {
        let cost = |term: usize| match (self.has(term, 0), self.taken[term]) {
            (true, taken) => OF_MEAN * if taken { TAKEN } else { 1.0 },
            (_, true) => TAKEN,
            _ => 1.0,
        };
        let mut wanted = self.preference.clone();
        let beginnings = wanted.len().div_ceil(2);
        wanted[..beginnings].rotate_left(path % beginnings.max(1));
        wanted.retain(|&class| class != 0);
        wanted.push(0);
        self.needed(cost, &wanted, &vec![false; self.taken.len()])
    }

    fn needed(&self, cost: impl Fn(usize) -> f64, wanted: &[usize], there: &[bool]) -> Vec<usize> {
        let costs: Vec<f64> = (0..self.taken.len()).map(cost).collect();
        let mut present = vec![false; self.classes.count()];
        wanted.iter().for_each(|&class| present[class] = true);
        let recursion = Recursion::new(&self.classes, &self.terms, (&costs, f64::MAX), wanted);
        needed(
            &self.terms,
            &recursion,
            self.classes.generated(&present),
            there,
        )
    }

    fn take(&mut self, terms: &[usize]) {
        terms.iter().for_each(|&term| self.taken[term] = true);
    }

    fn has(&self, term: usize, class: usize) -> bool {
        self.terms.factors[term].iter().any(|f| f.class == class)
    }

    /// Whether what is taken determines a signal with this coefficient zero, or none.
    fn is_complete(&self, zero: Option<usize>) -> bool {
        let taken = self
            .taken
            .iter()
            .zip(&self.triples)
            .filter(|(taken, _)| **taken);
        let triples: Vec<Triple> = taken.map(|(_, triple)| *triple).collect();
        let mut present = vec![true; self.classes.count()];
        zero.into_iter().for_each(|class| present[class] = false);
        let terms = Terms::new(&self.classes, &triples);
        Determination::of(&self.classes, &terms, &present).is_complete()
    }

    fn pairs(&self, found: &Identification) -> Vec<(usize, usize)> {
        let taken = self
            .taken
            .iter()
            .zip(&self.triples)
            .filter(|(taken, _)| **taken);
        let mut pairs: Vec<_> = taken.map(|(_, triple)| pair(found, *triple)).collect();
        pairs.sort_unstable();
        pairs
    }
}

/// Generators of the group first, then classes of the highest order.
fn preference(classes: &Classes, found: &Identification) -> Vec<usize> {
    let group = classes.group();
    let class_of = |&row: &usize| classes.coefficient(found.characters[row]).class;
    let generators: Vec<usize> = found.generators.iter().map(class_of).collect();
    let order = |class: usize| {
        let a = classes.character(class);
        let multiples = std::iter::successors(Some(a), |&sum| Some(group.add(sum, a)));
        1 + multiples.take_while(|&multiple| multiple != 0).count()
    };
    let mut preference: Vec<usize> = (0..classes.count()).collect();
    preference.sort_by_cached_key(|&class| {
        let generator = generators.iter().position(|&g| g == class);
        let generator = generator.unwrap_or(generators.len());
        (generator, std::cmp::Reverse(order(class)))
    });
    preference
}

#[cfg(test)]
mod tests {
    use super::super::identify::identify;
    use super::super::samples::groups;
    use super::*;
    use crate::data::group::Group;
    use bispectral_core::{Complex32, pairs};
    use proptest::prelude::*;

    fn identified(group: &Group) -> Identification {
        let w = group.characters();
        let w = w.mapv(|w| Complex32::new(w.re as f32, w.im as f32));
        identify(&w.view()).unwrap()
    }

    /// Coefficients of modulus one but for these characters and their opposites.
    fn with_zeros(found: &Identification, zeros: &[usize]) -> Vec<Complex64> {
        let is_zero = |k: &usize| zeros.contains(k) || zeros.contains(&found.group.negate(*k));
        let one = |k: &usize| {
            if is_zero(k) {
                Complex64::ZERO
            } else {
                Complex64::ONE
            }
        };
        found.characters.iter().map(one).collect()
    }

    fn is_complete(found: &Identification, pairs: &[(usize, usize)], zeros: &[usize]) -> bool {
        determination(found, pairs, &with_zeros(found, zeros)).is_complete()
    }

    fn triangle(found: &Identification) -> Vec<(usize, usize)> {
        pairs(found.group.order()).collect()
    }

    proptest! {
        #[test]
        fn a_selection_determines_generic_signals_with_no_more_than_n_pairs(group in groups()) {
            let found = identified(&group);
            for pairs in [least(&found), selective(&found, 1)] {
                prop_assert!(pairs.len() <= group.order(), "{} {}", group, pairs.len());
                prop_assert!(pairs.is_sorted() && pairs.iter().all(|(i, j)| i <= j));
                prop_assert!(is_complete(&found, &pairs, &[]), "{}", group);
            }
        }

        #[test]
        fn every_pair_of_the_least_selection_counts(group in groups(), at: prop::sample::Index) {
            prop_assume!(group.order() <= 64);
            let found = identified(&group);
            let mut pairs = least(&found);
            pairs.remove(at.index(pairs.len()));
            prop_assert!(!is_complete(&found, &pairs, &[]), "{} {:?}", group, pairs);
        }

        #[test]
        fn signals_without_a_mean_are_determined_wherever_they_are_by_the_triangle(group in groups()) {
            prop_assume!(group.order() <= 64);
            let found = identified(&group);
            prop_assert_eq!(
                is_complete(&found, &least(&found), &[0]),
                is_complete(&found, &triangle(&found), &[0]),
            );
        }

        #[test]
        fn with_two_paths_any_coefficient_may_be_zero(group in groups(), zero: prop::sample::Index) {
            prop_assume!(group.order() <= 64);
            let found = identified(&group);
            let zero = [zero.index(group.order())];
            prop_assert_eq!(
                is_complete(&found, &selective(&found, 2), &zero),
                is_complete(&found, &triangle(&found), &zero),
            );
        }
    }

    #[test]
    fn half_of_the_characters_need_a_term_each() {
        for (name, fewest, one, triangle) in [
            ("Z8", 5, 8, 36),
            ("Z4xZ2", 6, 8, 36),
            ("Z2xZ2xZ2", 8, 8, 36),
            ("Z16xZ16", 130, 256, 32_896),
        ] {
            let found = identified(&name.parse().unwrap());
            assert_eq!(least(&found).len(), fewest, "{name}");
            assert_eq!(selective(&found, 1).len(), one, "{name}");
            let all = selective(&found, 3).len();
            assert!((one..=triangle).contains(&all), "{name} {all}");
        }
    }

    #[test]
    fn what_the_triangle_itself_cannot_tell_is_said() {
        // f(1)² f(2) is all there is of a signal on Z4 without a mean.
        let found = identified(&"Z4".parse().unwrap());
        let open = determination(&found, &triangle(&found), &with_zeros(&found, &[0]));
        assert_eq!((open.moduli, open.phases), (1, 0));
        assert_eq!(
            open.to_string(),
            "the coefficients of characters 0 are zero, and what is left leaves open: moduli 1"
        );
        // A single wave has no phase to speak of, and its modulus is no term's.
        let found = identified(&"Z8".parse().unwrap());
        let alone = determination(
            &found,
            &triangle(&found),
            &with_zeros(&found, &[0, 2, 3, 4]),
        );
        assert_eq!((alone.moduli, alone.phases), (1, 1));
        // f(3) f(1) f(4) = 0 does not say which; f(1)² f(2) = 0 does.
        assert_eq!((alone.zero, alone.unseen), (vec![0, 2, 3, 4], vec![3, 4]));
        let even = determination(&found, &triangle(&found), &with_zeros(&found, &[1, 3]));
        assert!(even.is_complete());
    }
}
