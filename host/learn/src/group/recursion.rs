//! From a few coefficients to all: the order in which terms T(a, b, c) give one coefficient after another.
//!
//! Where two factors of a term are known, it gives the third. Coefficients that no term reaches are *free*: they begin a
//! recursion, and all others are a known number times powers of these. Terms that a recursion has no need of close loops, which
//! is what can be known of the free ones.
//!
//! Each coefficient is reached on the cheapest way (Knuth's generalisation of Dijkstra's algorithm): the cost of a term is
//! the variance of its logarithm, that of a coefficient the sum of all that it was made from.

use super::triples::{Classes, Coefficient, Triple};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A coefficient that a term gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    /// The number of the term.
    pub(crate) term: usize,
    /// The place among its factors.
    pub(crate) place: usize,
}

/// An order to find the coefficients in.
#[derive(Debug, Clone)]
pub(crate) struct Recursion {
    /// Classes that no term gives.
    pub(crate) free: Vec<usize>,
    /// One for every other class.
    pub(crate) steps: Vec<Step>,
    /// What is left to say something of the free ones, the surest first, with its cost.
    pub(crate) closings: Vec<(Closing, f64)>,
    /// What costs more may be noise alone.
    pub(crate) dearest: f64,
}

/// What closes a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closing {
    /// A term all of whose factors are reached without it.
    Term(usize),
    /// A class whose coefficient is real: twice its phase is none.
    Real(usize),
}

/// Terms by their factors, and where each class occurs.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    pub(crate) factors: Vec<[Coefficient; 3]>,
    of_class: Vec<Vec<u32>>,
}

/// Powers of the free coefficients: of moduli, and of phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Modulus,
    Phase,
}

/// For every class the power of each free coefficient; `None` where it has grown past 128 bits.
pub(crate) type Powers = Vec<Option<Vec<i128>>>;

/// A cost that can be sorted.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cost(f64);

impl Eq for Cost {}

impl PartialOrd for Cost {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cost {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Terms {
    pub(crate) fn new(classes: &Classes, triples: &[Triple]) -> Self {
        let factors: Vec<_> = triples.iter().map(|&t| classes.factors(t)).collect();
        let mut of_class = vec![Vec::new(); classes.count()];
        for (term, factors) in (0..).zip(&factors) {
            for (place, factor) in factors.iter().enumerate() {
                if !factors[..place].iter().any(|f| f.class == factor.class) {
                    of_class[factor.class].push(term);
                }
            }
        }
        Terms { factors, of_class }
    }

    /// The factors of every term that `class` is in.
    pub(crate) fn of_class(&self, class: usize) -> impl Iterator<Item = &[Coefficient; 3]> {
        let terms = self.of_class[class].iter();
        terms.map(|&term| &self.factors[term as usize])
    }

    /// Of all three factors of a term.
    fn total(&self, term: usize, cost: &[f64]) -> f64 {
        self.factors[term].iter().map(|f| cost[f.class]).sum()
    }

    /// The only factor of a term that is not reached, where it occurs once.
    fn missing(&self, term: usize, reached: &[bool]) -> Option<usize> {
        let factors = &self.factors[term];
        let mut missing = (0..3).filter(|&place| !reached[factors[place].class]);
        let place = missing.next()?;
        missing.next().is_none().then_some(place)
    }
}

impl Recursion {
    /// Reaches every class of `wanted` by terms of these costs. Where none of at most `dearest` leads on, the next of
    /// `wanted` is free; terms beyond that close loops, those of infinite cost are not there.
    pub(crate) fn new(
        classes: &Classes,
        terms: &Terms,
        (costs, dearest): (&[f64], f64),
        wanted: &[usize],
    ) -> Self {
        let mut recursion = Recursion {
            free: Vec::new(),
            steps: Vec::new(),
            closings: Vec::new(),
            dearest,
        };
        let mut cost = vec![f64::INFINITY; terms.of_class.len()];
        let mut reached = vec![false; cost.len()];
        let mut queue = BinaryHeap::new();
        for &class in wanted {
            if reached[class] {
                continue;
            }
            recursion.free.push(class);
            (reached[class], cost[class]) = (true, 0.0);
            let mut from = class;
            loop {
                for &term in &terms.of_class[from] {
                    let term = term as usize;
                    let missing = terms.missing(term, &reached);
                    if let (Some(place), true) = (missing, costs[term] <= dearest) {
                        let others = (0..3).filter(|&other| other != place);
                        let others = others.map(|other| cost[terms.factors[term][other].class]);
                        let sum = others.sum::<f64>() + costs[term];
                        queue.push(Reverse((Cost(sum), term, place)));
                    }
                }
                // An entry may be of a class that was reached on a cheaper way meanwhile.
                let next = std::iter::from_fn(|| queue.pop()).find(|&Reverse((_, term, place))| {
                    let found: Coefficient = terms.factors[term][place];
                    !reached[found.class]
                });
                let Some(Reverse((Cost(sum), term, place))) = next else {
                    break;
                };
                from = terms.factors[term][place].class;
                (reached[from], cost[from]) = (true, sum);
                recursion.steps.push(Step { term, place });
            }
        }
        recursion.close(classes, terms, costs, &cost);
        recursion
    }

    fn close(&mut self, classes: &Classes, terms: &Terms, costs: &[f64], cost: &[f64]) {
        let mut is_step = vec![false; costs.len()];
        self.steps.iter().for_each(|step| is_step[step.term] = true);
        let left = (0..costs.len()).filter(|&term| !is_step[term]);
        let left = left.map(|term| (Closing::Term(term), terms.total(term, cost) + costs[term]));
        let real = (0..classes.count()).filter(|&class| classes.is_real(class));
        let real = real.map(|class| (Closing::Real(class), 2.0 * cost[class]));
        let closings = real.chain(left).filter(|(_, cost)| cost.is_finite());
        self.closings = closings.collect();
        self.closings.sort_by(|a, b| a.1.total_cmp(&b.1));
    }

    /// Every class as powers of the free ones.
    pub(crate) fn powers(&self, terms: &Terms, part: Part) -> Powers {
        let mut powers: Powers = vec![None; terms.of_class.len()];
        for (at, &class) in self.free.iter().enumerate() {
            let mut unit = vec![0; self.free.len()];
            unit[at] = 1;
            powers[class] = Some(unit);
        }
        for &Step { term, place } in &self.steps {
            // T(a, b, c) = 1 has f(c) = 1 / f(a) f(b).
            let found = terms.factors[term][place];
            let sign = -part.sign(found);
            let others = (0..3).filter(|&other| other != place);
            powers[found.class] = self.sum(terms, part, term, others, sign, &powers);
        }
        powers
    }

    /// The powers of the free coefficients in a closing. Where they are past 128 bits, or it says nothing: none.
    pub(crate) fn equation(
        &self,
        terms: &Terms,
        part: Part,
        closing: Closing,
        powers: &Powers,
    ) -> Option<Vec<i128>> {
        match closing {
            Closing::Term(term) => self.sum(terms, part, term, 0..3, 1, powers),
            Closing::Real(_) if part == Part::Modulus => None,
            Closing::Real(class) => {
                let powers = powers[class].as_ref()?;
                powers.iter().map(|power| power.checked_mul(2)).collect()
            }
        }
    }

    fn sum(
        &self,
        terms: &Terms,
        part: Part,
        term: usize,
        places: impl Iterator<Item = usize>,
        sign: i128,
        powers: &Powers,
    ) -> Option<Vec<i128>> {
        let mut sum = vec![0_i128; self.free.len()];
        for factor in places.map(|place| terms.factors[term][place]) {
            for (sum, power) in sum.iter_mut().zip(powers[factor.class].as_ref()?) {
                *sum = sum.checked_add(power.checked_mul(sign * part.sign(factor))?)?;
            }
        }
        Some(sum)
    }
}

impl Part {
    /// What a factor counts for.
    pub(crate) fn sign(self, factor: Coefficient) -> i128 {
        if self == Part::Phase && factor.conjugate {
            -1
        } else {
            1
        }
    }
}
