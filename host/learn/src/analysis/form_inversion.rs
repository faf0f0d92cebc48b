//! A signal from the invariants of couplings: u with form(u) = t and ‖u‖ = 1, by least squares from random starts.
//!
//! What a start knows already is put in: forms of order one are coefficients, and the squares of blocks are their lengths; only
//! the directions are drawn. From there Levenberg's and Marquardt's steps go down Σ (form(u) − t)², and a start that ends in
//! a valley above zero is followed by another. Where there are forms of fourth order, every other start is made block by block.

use crate::group::couplings::{Couplings, Term, blocks};
use crate::numeric::dual::dual;
use crate::numeric::least_squares::{Minimum, least_squares};
use crate::numeric::random::{Purpose, stream_at};
use ndarray::{Array1, Axis};
use rand::RngExt;
use rand_distr::StandardNormal;

/// Steps from one start.
const STEPS: usize = 200;
/// Draws of a block whose partners are known.
const DRAWS: usize = 4;
/// Σ (form(u) − t)² of what is called inverted: f64 arrives near 1e-30.
const SOLVED: f64 = 1e-20;

/// What came of an inversion.
#[derive(Debug, Clone, PartialEq)]
pub struct FormInversion {
    /// A signal, its z of unit length: of all that have it, the shortest.
    pub signal: Vec<f64>,
    /// Σ (form − t)² that it leaves.
    pub residual: f64,
    /// Starts that it took.
    pub starts: usize,
}

impl FormInversion {
    /// Whether the signal has the invariants it was asked to have.
    #[must_use]
    pub fn is_solved(&self) -> bool {
        self.residual <= SOLVED
    }
}

/// A signal with the invariants `target`, one a term, from at most `starts` starts; the best one where none is exact.
///
/// # Panics
/// `target` has not one number a term.
#[must_use]
pub fn invert_forms(
    couplings: &Couplings,
    target: &[f64],
    starts: usize,
    seed: u64,
) -> FormInversion {
    invert_forms_within(couplings, target, starts, seed, SOLVED)
}

/// As [`invert_forms`], of invariants that are rounded: the first start that leaves no more than `solved` is the answer.
///
/// # Panics
/// `target` has not one number a term.
#[must_use]
pub fn invert_forms_within(
    couplings: &Couplings,
    target: &[f64],
    starts: usize,
    seed: u64,
    solved: f64,
) -> FormInversion {
    assert_eq!(target.len(), couplings.terms().len());
    let lengths = Lengths::of(couplings, target);
    let residuals = |u: &[f64]| {
        let forms = couplings.forms(u);
        forms.iter().zip(target).map(|(form, t)| form - t).collect()
    };
    let basis = dual(couplings.basis());
    let basis = basis.as_ref().unwrap_or(couplings.basis());
    let mut best = FormInversion {
        signal: vec![0.0; couplings.inputs()],
        residual: f64::INFINITY,
        starts: 0,
    };
    let mut order = couplings.orders();
    let marching = order.any(|order| order == 4).then(|| Blocks::of(couplings));
    for number in 0..starts.max(1) {
        let mut start = lengths.start(seed, number as u64);
        if let Some(blocks) = marching.as_ref().filter(|_| number % 2 == 0) {
            let seed = seed ^ (number as u64) << 32;
            start = blocks.march(couplings, target, &lengths, &start, seed);
        }
        let found = least_squares(start, SOLVED * 1e-6, STEPS, residuals, |u| {
            couplings.forms_jacobian(u)
        });
        if found.residual < best.residual {
            let u = Array1::from(found.at);
            best.signal = u.dot(basis).to_vec();
            best.residual = found.residual;
        }
        best.starts = number + 1;
        if best.residual <= solved {
            break;
        }
    }
    best
}

/// The blocks of a signal, small ones first, one of which is found after the other: forms of third order are linear in a block whose
/// partners are known.
struct Blocks {
    /// Where each begins, and its rows.
    spans: Vec<(usize, usize)>,
    /// The last block of each term.
    last: Vec<usize>,
}

impl Blocks {
    fn of(couplings: &Couplings) -> Self {
        let spans = blocks(couplings);
        let place = |at: &usize| spans.iter().position(|span| span.0 == *at).unwrap_or(0);
        let last = |term: &Term| term.offsets.iter().map(place).max().unwrap_or(0);
        Blocks {
            last: couplings.terms().iter().map(last).collect(),
            spans,
        }
    }

    /// A start, as far as blocks could be found: the terms of the first of them are solved for, with a few draws of the next one, and
    /// so on.
    fn march(
        &self,
        couplings: &Couplings,
        target: &[f64],
        lengths: &Lengths,
        start: &[f64],
        seed: u64,
    ) -> Vec<f64> {
        let mut known = vec![0.0; start.len()];
        let mut rows: Vec<usize> = Vec::new();
        for (stage, &(at, count)) in self.spans.iter().enumerate() {
            let block = at..at + count;
            rows.extend(block.clone());
            let terms: Vec<usize> = (0..target.len())
                .filter(|&term| self.last[term] <= stage)
                .collect();
            let mut best: Option<Minimum> = None;
            let linear = self.linear(couplings, target, &known, stage);
            for draw in 0..DRAWS {
                let drawn = lengths.start(seed, (stage * DRAWS + draw) as u64);
                let drawn = match &linear {
                    Some(linear) if draw == 0 => linear,
                    _ => &drawn[block.clone()],
                };
                known[block.clone()].copy_from_slice(drawn);
                let Some(found) = solved_for(couplings, target, &terms, &rows, &known) else {
                    break;
                };
                let is_better = |best: &Minimum| found.residual < best.residual;
                if best.as_ref().is_none_or(is_better) {
                    best = Some(found);
                }
                if best.as_ref().is_some_and(|best| best.residual <= SOLVED) {
                    break;
                }
            }
            match best {
                Some(best) => rows
                    .iter()
                    .zip(best.at)
                    .for_each(|(&row, z)| known[row] = z),
                None => known[block.clone()].copy_from_slice(&start[block]),
            }
        }
        known
    }

    /// The block of this stage by the terms that are linear in it, where these are enough. It is zero in `known`.
    fn linear(
        &self,
        couplings: &Couplings,
        target: &[f64],
        known: &[f64],
        stage: usize,
    ) -> Option<Vec<f64>> {
        let (at, count) = self.spans[stage];
        let is_linear = |&term: &usize| {
            let own = couplings.terms()[term].offsets.iter();
            self.last[term] == stage && own.filter(|&&offset| offset == at).count() == 1
        };
        let terms: Vec<usize> = (0..target.len()).filter(is_linear).collect();
        let rows: Vec<usize> = (at..at + count).collect();
        let enough = terms.len() >= count;
        let found = enough.then(|| solved_for(couplings, target, &terms, &rows, known))?;
        found.map(|found| found.at)
    }
}

/// These rows of z by these terms, from where they are in `known`, as the other rows are and stay; `None` where there are no terms.
fn solved_for(
    couplings: &Couplings,
    target: &[f64],
    terms: &[usize],
    rows: &[usize],
    known: &[f64],
) -> Option<Minimum> {
    let chosen = couplings.select(terms).ok()?;
    let whole = |part: &[f64]| {
        let mut z = known.to_vec();
        rows.iter()
            .zip(part)
            .for_each(|(&row, part)| z[row] = *part);
        z
    };
    let residuals = |part: &[f64]| {
        let forms = chosen.forms(&whole(part)).into_iter();
        let pairs = forms.zip(terms);
        pairs.map(|(form, &term)| form - target[term]).collect()
    };
    let jacobian = |part: &[f64]| chosen.forms_jacobian(&whole(part)).select(Axis(1), rows);
    let from = rows.iter().map(|&row| known[row]).collect();
    Some(least_squares(
        from,
        SOLVED * 1e-6,
        STEPS,
        residuals,
        jacobian,
    ))
}

/// What the invariants tell at once.
struct Lengths {
    rows: usize,
    /// Coefficients that are invariants themselves.
    known: Vec<(usize, f64)>,
    /// Where a block begins, its rows, and its length.
    blocks: Vec<(usize, usize, f64)>,
}

impl Lengths {
    fn of(couplings: &Couplings, target: &[f64]) -> Self {
        let (mut known, mut blocks) = (Vec::new(), Vec::new());
        for (term, &t) in couplings.terms().iter().zip(target) {
            let tensor = &couplings.tensors()[term.tensor];
            let offset = term.offsets[0];
            let Some(value) = tensor.entries().first().map(|entry| entry.value) else {
                continue;
            };
            let diagonal = |entry: &crate::group::couplings::Entry| {
                let index = entry.index();
                index[0] == index[1] && entry.value == value
            };
            if tensor.order() == 1 && tensor.dims() == [1] {
                known.push((offset, t / value));
            } else if tensor.order() == 2
                && term.offsets[1] == offset
                && tensor.entries().len() == tensor.dims()[0]
                && tensor.entries().iter().all(diagonal)
            {
                blocks.push((offset, tensor.dims()[0], (t / value).max(0.0).sqrt()));
            }
        }
        Lengths {
            rows: couplings.rows(),
            known,
            blocks,
        }
    }

    fn start(&self, seed: u64, number: u64) -> Vec<f64> {
        let mut random = stream_at(seed, Purpose::Starts, [number, 0]);
        let scale = 1.0 / (self.rows as f64).sqrt();
        let mut u: Vec<f64> = (0..self.rows)
            .map(|_| scale * random.sample::<f64, _>(StandardNormal))
            .collect();
        for &(offset, rows, length) in &self.blocks {
            let block = &mut u[offset..offset + rows];
            let drawn = block.iter().map(|x| x * x).sum::<f64>().sqrt();
            block
                .iter_mut()
                .for_each(|x| *x *= length / drawn.max(f64::MIN_POSITIVE));
        }
        for &(at, value) in &self.known {
            u[at] = value;
        }
        u
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::{Action, couplings_of, known_action};

    /// The distance of the inverted signal from the orbit, both of unit length.
    fn distance(action: &Action, x: &[f64], found: &[f64]) -> f64 {
        let unit = |x: &[f64]| {
            let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            x.iter().map(|x| x / length).collect::<Vec<f64>>()
        };
        let (x, found) = (unit(x), unit(found));
        let from = |moved: Vec<f64>| {
            moved
                .iter()
                .zip(&found)
                .map(|(a, b)| (a - b).powi(2))
                .sum::<f64>()
        };
        let distances = action
            .elements()
            .iter()
            .map(|element| from(element.moved(&x)));
        distances.fold(f64::INFINITY, f64::min).sqrt()
    }

    #[test]
    fn signals_come_back_from_their_invariants_up_to_the_group() {
        for name in ["S3", "D4", "Q8", "D8", "A4", "S4", "Z7⋊Z3", "Dic6"] {
            let action = known_action(name, None).unwrap();
            let couplings = couplings_of(&action, 0).unwrap();
            let begun = std::time::Instant::now();
            let (mut solved, mut inside, mut starts) = (0, 0, 0);
            for seed in 0..20 {
                let mut random = stream_at(seed, Purpose::Exemplars, [7, 7]);
                let x: Vec<f64> = (0..action.degree())
                    .map(|_| random.sample(StandardNormal))
                    .collect();
                let target = couplings.invariants(&x).unwrap();
                let found = invert_forms(&couplings, &target, 100, seed);
                solved += usize::from(found.is_solved());
                inside += usize::from(distance(&action, &x, &found.signal) < 1e-6);
                starts += found.starts;
            }
            println!(
                "{name}: {solved} solved, {inside} in the orbit, {starts} starts, {:?} each",
                begun.elapsed() / 20
            );
            assert_eq!((solved, inside), (20, 20), "{name}");
        }
    }
}
