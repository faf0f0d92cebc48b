//! Few inputs: nothing is searched, every permutation of them is compared with every pair of members (y, y′), as a mixture
//!
//! > p(y′ | y) = w₀ N(y′; 0, v) + Σ_P w_P N(y′; P·y, s²)
//!
//! of which the most likely weights and s² are found by expectation and maximisation. Permutations of few inputs are near each
//! other, so that a nearest member says little; all pairs together say it. The group is the permutations that have weight, where
//! these are closed and those that are not among them have far less.

use super::matching::Members;
use super::{NoPermutations, median};
use crate::group::{Action, Permutation};
use std::collections::HashSet;

/// So many inputs have 5040 permutations.
pub(super) const MOST_INPUTS: usize = 7;
/// Of few inputs, much is explained by chance: so many pairs must be.
pub(super) const LEAST_EXPLAINED: f64 = 0.85;
/// Distances of pairs that are kept, of all permutations.
const MOST_DISTANCES: usize = 1 << 22;
const MOST_PAIRS: usize = 2048;
const ROUNDS: usize = 60;
/// After the first rounds, so many permutations stay at most.
const FIRST_ROUNDS: usize = 2;
const MOST_KEPT: usize = 720;
/// exp(−x) is nothing beyond this.
const NOTHING: f64 = 40.0;
/// Weights that change by less than this, as a share of the largest, are there.
const CHANGE: f64 = 1e-4;
/// Permutations of less weight than this share of the largest are left out.
const NO_WEIGHT: f64 = 1e-3;
/// s² is no less than this share of v: the rounding of f32.
const LEAST_VARIANCE: f64 = 1e-10;
/// An element's weight is so many times that of any permutation outside of the group, and what is next to nothing.
const GAP: f64 = 3.0;
/// In pairs.
const LEAST_WEIGHT: f64 = 0.6;
/// And at least this share of the elements has weight: few pairs may leave some of them out.
const SEEN: f64 = 0.66;
/// What is left of pairs is looked at where it is more than this share of a signal's square.
const NO_NOISE: f64 = 1e-3;
/// How far the covariance of noise is from the identity, at most: so much, and what chance does to M samples. Of 540 sets that
/// groups moved, one was 11.5/M off; shifts by fractions of an input make it 0.25 and more, whatever M is.
const UNEVEN: f64 = 0.02;
const CHANCE: f64 = 13.0;
/// Fractions of an input keep the mean: noise without one is 1/(n − 1) off. Where chance may do more than this share of that, they
/// cannot be told apart, nor where signals were centred or brought to one length, which varies less than this: then pairs may leave
/// no more than so much.
const POWERLESS: f64 = 0.9;
const ONE_LENGTH: f64 = 0.25;
const MOST_UNCHECKED: f64 = 0.02;

/// The pairs, and how far every permutation leaves one member from the other.
struct Pairs {
    members: Vec<[usize; 3]>,
    /// ‖P·y − y′‖², pair after pair.
    distances: Vec<f32>,
    /// ‖y′‖²
    squares: Vec<f64>,
}

/// The group, and what it leaves of pairs, the median.
pub(super) fn group(members: &Members) -> Result<(Action, f64), NoPermutations> {
    let n = members.inputs();
    // Fewer pairs than two whole orbits have may all show one subgroup by chance.
    if members.all() - members.orbits() < 2 * (n - 1) {
        return Err(NoPermutations::TooFew);
    }
    let all = all_permutations(n);
    let pairs = Pairs::of(members, &all);
    let weights = pairs.weights(n, all.len());
    let action =
        closed(&all, &weights, pairs.members.len()).ok_or_else(|| NoPermutations::NotClosed {
            candidates: weights.iter().filter(|w| **w > 0.0).count(),
        })?;
    let elements: Vec<usize> = (0..all.len())
        .filter(|&p| action.contains(&all[p]))
        .collect();
    let nearest = |pair: usize| {
        let row = &pairs.distances[pair * all.len()..][..all.len()];
        let scale = members.scale(pairs.members[pair][0]);
        let least = elements.iter().map(|&p| f64::from(row[p]));
        least.fold(f64::INFINITY, f64::min) / scale
    };
    let mut distances: Vec<f64> = (0..pairs.members.len()).map(nearest).collect();
    let residual = median(&mut distances);
    if residual > super::MOST_RESIDUAL {
        return Err(NoPermutations::Far { residual });
    }
    if residual > NO_NOISE {
        pairs.check(members, &action, residual)?;
    }
    Ok((action, residual))
}

/// The permutations of most weight, where they are a group and outweigh all others; the clearest where several are.
fn closed(all: &[Permutation], weights: &[f64], pairs: usize) -> Option<Action> {
    let weight = |p: &usize| weights[*p];
    let mut order: Vec<usize> = (0..all.len())
        .filter(|&p| weights[p] > 0.0 && !all[p].is_identity())
        .collect();
    order.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    let mut best: Option<(f64, Action)> = None;
    for count in 1..=order.len() {
        let next = order
            .get(count)
            .map_or(0.0, weight)
            .max(LEAST_WEIGHT / pairs as f64);
        let gap = weight(&order[count - 1]) / next;
        if gap < best.as_ref().map_or(GAP, |best| best.0) {
            continue;
        }
        let elements: Vec<Permutation> = order[..count].iter().map(|&p| all[p].clone()).collect();
        let most = (count as f64 / SEEN) as usize + 1;
        if let Some(action) = Action::generated(&elements, most) {
            best = Some((gap, action));
        }
    }
    best.map(|best| best.1)
}

impl Pairs {
    /// Whether what the group leaves of pairs is noise. Signals that are moved by fractions of an input leave what is like the
    /// signals, the same in some directions and nothing in others; the covariance of noise is a multiple of the identity.
    fn check(
        &self,
        members: &Members,
        action: &Action,
        residual: f64,
    ) -> Result<(), NoPermutations> {
        let n = members.inputs();
        let near = super::near(residual, n) * members.scale(0);
        let square = |y: &[f32]| y.iter().map(|&y| f64::from(y).powi(2)).sum::<f64>();
        let mut covariance = vec![0.0; n * n];
        let mut sources = HashSet::new();
        let mut sums = [0.0; 3];
        for &[orbit, from, to] in &self.members {
            let (a, b) = (members.row(orbit, from), members.row(orbit, to));
            let left = action.elements().iter().map(|element| {
                let moved = element.moved(a);
                moved.iter().zip(b).map(|(a, b)| a - b).collect()
            });
            let left: Option<Vec<f32>> =
                left.min_by(|a: &Vec<f32>, b: &Vec<f32>| square(a).total_cmp(&square(b)));
            let left = left.unwrap_or_default();
            let length = members.length(a);
            sums[0] += length;
            sums[1] += a.iter().map(|&y| f64::from(y)).sum::<f64>().powi(2);
            sums[2] += length * length;
            if square(&left) > near {
                continue;
            }
            sources.insert((orbit, from));
            for (row, x) in covariance.chunks_exact_mut(n).zip(&left) {
                for (cell, y) in row.iter_mut().zip(&left) {
                    *cell += f64::from(x * y);
                }
            }
        }
        // Signals without a mean have noise without one.
        let centred = sums[1] < 1e-6 * sums[0];
        let directions = if centred { n - 1 } else { n } as f64;
        let covariance = averaged(&covariance, action);
        let trace: f64 = covariance.iter().step_by(n + 1).sum();
        let off = |(k, cell): (usize, &f64)| {
            let identity = f64::from(u8::from(k % (n + 1) == 0));
            let mean = if centred { 1.0 / n as f64 } else { 0.0 };
            (cell * directions / trace - identity + mean).powi(2)
        };
        let uneven = covariance.iter().enumerate().map(off).sum::<f64>() / directions;
        let most = UNEVEN + CHANCE / sources.len().max(1) as f64;
        if uneven > most {
            return Err(NoPermutations::Distorted { uneven, most });
        }
        let mean = sums[0] / self.members.len() as f64;
        let spread = sums[2] / self.members.len() as f64 - mean * mean;
        let normalised = centred || spread < ONE_LENGTH * ONE_LENGTH * mean * mean;
        if (normalised || most > POWERLESS / (n - 1) as f64) && residual > MOST_UNCHECKED {
            return Err(NoPermutations::Far { residual });
        }
        Ok(())
    }

    fn of(members: &Members, all: &[Permutation]) -> Self {
        let every: Vec<[usize; 3]> = (0..members.orbits())
            .flat_map(|orbit| {
                let count = members.count(orbit);
                (0..count * count).map(move |k| [orbit, k / count, k % count])
            })
            .filter(|[_, a, b]| a != b)
            .collect();
        let most = MOST_PAIRS.min(MOST_DISTANCES / all.len());
        let kept = every.len().min(most);
        let chosen: Vec<[usize; 3]> = (0..kept).map(|k| every[k * every.len() / kept]).collect();
        let mut distances = Vec::with_capacity(kept * all.len());
        let mut squares = Vec::with_capacity(kept);
        for &[orbit, from, to] in &chosen {
            let (a, b) = (members.row(orbit, from), members.row(orbit, to));
            let square = |y: &[f32]| y.iter().map(|&y| f64::from(y).powi(2)).sum::<f64>();
            squares.push(square(b));
            distances.extend(all.iter().map(|permutation| {
                let images = permutation.images().iter().zip(a);
                images
                    .map(|(&to, &y)| (b[usize::from(to)] - y).powi(2))
                    .sum::<f32>()
            }));
        }
        Pairs {
            members: chosen,
            distances,
            squares,
        }
    }

    /// The most likely weight of every permutation.
    fn weights(&self, inputs: usize, permutations: usize) -> Vec<f64> {
        let n = inputs as f64;
        let count = self.members.len() as f64;
        let v = self.squares.iter().sum::<f64>() / (n * count);
        let least = |row: &[f32]| row.iter().copied().fold(f32::INFINITY, f32::min);
        let rows = || self.distances.chunks_exact(permutations);
        let nearest: f64 = rows().map(|row| f64::from(least(row))).sum();
        let mut variance = (nearest / (n * count)).max(LEAST_VARIANCE * v);
        let mut kept: Vec<usize> = (0..permutations).collect();
        let mut weights = vec![1.0 / permutations as f64; permutations];
        let mut background = 0.5;
        let mut shares = Vec::new();
        for round in 0..ROUNDS {
            let mut sums = vec![0.0; kept.len()];
            let (mut outside, mut squares) = (0.0, 0.0);
            // The density of the background by that of a permutation that leaves nothing.
            let ratio = (variance / v).powf(0.5 * n);
            for (row, square) in rows().zip(&self.squares) {
                let unrelated = background * ratio * (-0.5 * square / v).exp();
                // Without it both could vanish.
                let base = kept.iter().map(|&p| row[p]).fold(f32::INFINITY, f32::min);
                let base = f64::from(base).min(NOTHING * variance);
                let unrelated = unrelated * (0.5 * base / variance).exp();
                shares.clear();
                shares.extend(kept.iter().map(|&p| {
                    let off = 0.5 * (f64::from(row[p]) - base) / variance;
                    if off > NOTHING {
                        0.0
                    } else {
                        weights[p] * (-off).exp()
                    }
                }));
                let total = unrelated + shares.iter().sum::<f64>();
                if total <= 0.0 {
                    outside += 1.0;
                    continue;
                }
                outside += unrelated / total;
                for ((sum, share), &p) in sums.iter_mut().zip(&shares).zip(&kept) {
                    *sum += share / total;
                    squares += share / total * f64::from(row[p]);
                }
            }
            let inside = (count - outside).max(f64::MIN_POSITIVE);
            variance = (squares / (n * inside)).max(LEAST_VARIANCE * v);
            background = outside / count;
            let most = sums.iter().copied().fold(0.0, f64::max) / count;
            let mut change = 0.0_f64;
            for (&p, sum) in kept.iter().zip(&sums) {
                let weight = sum / count;
                change = change.max((weight - weights[p]).abs());
                weights[p] = if weight < NO_WEIGHT * most {
                    0.0
                } else {
                    weight
                };
            }
            if round == FIRST_ROUNDS && kept.len() > MOST_KEPT {
                kept.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
                kept.drain(MOST_KEPT..).for_each(|p| weights[p] = 0.0);
            }
            kept.retain(|&p| weights[p] > 0.0);
            if change < CHANGE * most {
                break;
            }
        }
        weights
    }
}

/// The mean of g·C·gᵀ, which of noise is C up to chance, and chance does less to it.
fn averaged(covariance: &[f64], action: &Action) -> Vec<f64> {
    let n = action.degree();
    let mut mean = vec![0.0; n * n];
    for element in action.elements() {
        for (k, cell) in covariance.iter().enumerate() {
            mean[element.image(k / n) * n + element.image(k % n)] += cell / action.order() as f64;
        }
    }
    mean
}

/// Every permutation, in lexicographic order.
fn all_permutations(degree: usize) -> Vec<Permutation> {
    let mut all: Vec<Vec<u16>> = vec![Vec::new()];
    for _ in 0..degree {
        let longer = |images: &Vec<u16>| {
            let free = (0..degree as u16).filter(|image| !images.contains(image));
            let longer = free.map(|image| [&images[..], &[image]].concat());
            longer.collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    let permutations = all.into_iter().map(Permutation::new);
    permutations
        .map(|p| p.expect("all images differ"))
        .collect()
}
