//! Members of orbits, and which is nearest to which once a permutation has moved it.

use super::NoPermutations;
use crate::data::orbits::Orbits;
use crate::group::{Action, Permutation};
use crate::numeric::assignment::{assign, assign_greedily};
use crate::numeric::matrix::{matrix, matrix_mut, multiply, multiply_add};
use crate::numeric::random::{Purpose, stream};
use rand::seq::SliceRandom;
use rayon::prelude::*;

/// Orbits that are looked at, evenly spread.
const MOST_ORBITS: usize = 256;
/// Members of an orbit that are looked at, and of all orbits together.
const MOST_MEMBERS: usize = 1024;
const MOST_IN_ALL: usize = 4096;
/// Members that a refinement matches.
const REFINED: usize = 768;
const ROUNDS: usize = 8;
/// From so many inputs on, refinement goes by greedy assignments, and by exact ones only where these change nothing any more.
const MANY_INPUTS: usize = 128;
/// And those are given up of which so few members have come near, as a share of a signal's square.
const HOPELESS: f64 = 1.0;
/// The memory that permutations of a group may take, in inputs.
const MOST_IMAGES: usize = 1 << 24;
/// Noise changes the ranks of inputs: from this start on, every other one first averages values over so large a share of ranks to
/// either side, so that what a start says of each input is wrong, but right on average.
const BLURRED_FROM: usize = 32;
const BLURRED: usize = 8;
/// Sorting tells nothing of inputs that are equal: where so many neighbours are, other starts are tried, too.
const TIED: f64 = 0.2;

/// No more elements than this are generated.
pub(super) fn most_elements(inputs: usize) -> usize {
    (MOST_IMAGES / inputs.max(1)).min(bispectral_core::format::MAX_DIMENSION.into())
}

/// The members of one orbit, without the mean of all data.
struct Orbit {
    /// Row after row.
    y: Vec<f32>,
    /// ‖y‖²/2 of each.
    halves: Vec<f32>,
    /// The mean of ‖y‖².
    scale: f64,
    /// The mean of every input over the members, and that of its square.
    means: [Vec<f32>; 2],
}

impl Orbit {
    fn count(&self) -> usize {
        self.halves.len()
    }
}

/// Members of some orbits.
pub(super) struct Members {
    inputs: usize,
    /// The mean that was subtracted.
    mean: f64,
    orbits: Vec<Orbit>,
    tied: bool,
}

/// What members were nearest to where a permutation took others.
pub(super) struct Matches {
    /// Orbit, source, its match, and the squared distance as a share of ‖y‖².
    found: Vec<(usize, usize, usize, f64)>,
    sorted: Vec<f64>,
}

/// Where refinement begins.
pub(super) struct Start {
    permutation: Permutation,
    /// Inputs by their ranks, over which values are averaged before the first matches.
    blurred: Option<Vec<u16>>,
}

/// Two members, and the elements that take the one nearest to the other.
pub(super) struct Pair {
    pub(super) members: [usize; 3],
    pub(super) element: usize,
    pub(super) best: f64,
    pub(super) second: f64,
    /// The distance where nothing is moved.
    pub(super) still: f64,
}

/// Into which parts a group divides orbits.
pub(super) struct Parts {
    /// The share of members that are related to others, but not to the largest part of their orbit.
    pub(super) apart: f64,
    /// The share of members in the largest parts of their orbits.
    pub(super) largest: f64,
    /// The share of pairs in these that are related.
    pub(super) explained: f64,
}

impl Matches {
    fn new(found: Vec<(usize, usize, usize, f64)>) -> Self {
        let mut sorted: Vec<f64> = found.iter().map(|found| found.3).collect();
        sorted.sort_by(f64::total_cmp);
        Matches { found, sorted }
    }

    pub(super) fn quantile(&self, share: f64) -> f64 {
        let place = (share * self.sorted.len().saturating_sub(1) as f64) as usize;
        self.sorted.get(place).copied().unwrap_or(f64::INFINITY)
    }

    pub(super) fn distances(&self) -> impl Iterator<Item = f64> + '_ {
        self.sorted.iter().copied()
    }

    pub(super) fn hits(&self, near: f64) -> f64 {
        let hits = self.sorted.partition_point(|&d| d < near);
        hits as f64 / self.sorted.len().max(1) as f64
    }

    pub(super) fn orbits_hit(&self, near: f64) -> usize {
        let mut orbits: Vec<usize> = (self.found.iter())
            .filter(|found| found.3 < near)
            .map(|found| found.0)
            .collect();
        orbits.dedup();
        orbits.len()
    }
}

impl Members {
    pub(super) fn of(orbits: &Orbits) -> Result<Self, NoPermutations> {
        let inputs = orbits.inputs();
        if inputs > super::MOST_INPUTS {
            return Err(NoPermutations::Inputs { inputs });
        }
        if inputs < 2 || orbits.len() < 2 {
            return Err(NoPermutations::TooFew);
        }
        let count = orbits.len().min(MOST_ORBITS);
        let members = |orbit: usize| orbits.members(orbit).min(MOST_MEMBERS);
        let mut chosen: Vec<usize> = (0..count).map(|k| k * orbits.len() / count).collect();
        let all: usize = chosen.iter().map(|&orbit| members(orbit)).sum();
        if all > MOST_IN_ALL {
            let kept = (count * MOST_IN_ALL / all).max(2);
            chosen = (0..kept).map(|k| chosen[k * count / kept]).collect();
        }
        let mut data: Vec<Vec<f32>> = (chosen.par_iter())
            .map(|&orbit| {
                let (all, kept) = (orbits.members(orbit), members(orbit));
                let mut y = vec![0.0; kept * inputs];
                for (k, y) in y.chunks_exact_mut(inputs).enumerate() {
                    orbits.write_member(orbit, k * all / kept, y);
                }
                y
            })
            .collect();
        let sum: f64 = data.iter().flatten().map(|&y| f64::from(y)).sum();
        let mean = sum / data.iter().map(Vec::len).sum::<usize>().max(1) as f64;
        for y in data.iter_mut().flatten() {
            *y = (f64::from(*y) - mean) as f32;
        }
        let tied = tied(&data, inputs) > TIED;
        let mut orbits: Vec<Orbit> = data.into_iter().map(|y| orbit(y, inputs)).collect();
        if orbits
            .iter()
            .any(|orbit| orbit.count() < 2 || !orbit.scale.is_normal())
        {
            return Err(NoPermutations::TooFew);
        }
        if inputs <= super::few::MOST_INPUTS {
            // Signals of few inputs vary much in length, and noise does not.
            let mean = orbits.iter().map(|orbit| orbit.scale).sum::<f64>() / orbits.len() as f64;
            orbits.iter_mut().for_each(|orbit| orbit.scale = mean);
        }
        Ok(Members {
            inputs,
            mean,
            orbits,
            tied,
        })
    }

    pub(super) fn inputs(&self) -> usize {
        self.inputs
    }

    pub(super) fn orbits(&self) -> usize {
        self.orbits.len()
    }

    pub(super) fn count(&self, orbit: usize) -> usize {
        self.orbits[orbit].count()
    }

    pub(super) fn most_members(&self) -> usize {
        self.orbits.iter().map(Orbit::count).max().unwrap_or(0)
    }

    pub(super) fn all(&self) -> usize {
        self.orbits.iter().map(Orbit::count).sum()
    }

    /// The parts of orbits that `pairs` nearer than `near` join.
    pub(super) fn parts(&self, pairs: &[Pair], near: f64) -> Parts {
        let mut parts: Vec<Vec<usize>> = (self.orbits.iter())
            .map(|orbit| (0..orbit.count()).collect())
            .collect();
        let root = |part: &[usize], mut member: usize| {
            while part[member] != member {
                member = part[member];
            }
            member
        };
        for pair in pairs.iter().filter(|pair| pair.best < near) {
            let [orbit, a, b] = pair.members;
            let part = &mut parts[orbit];
            let (a, b) = (root(part, a), root(part, b));
            part[a.max(b)] = a.min(b);
        }
        let (mut apart, mut largest) = (0, 0);
        let mut is_main: Vec<Vec<bool>> = Vec::new();
        for part in &parts {
            let roots: Vec<usize> = (0..part.len()).map(|member| root(part, member)).collect();
            let mut sizes = vec![0; part.len()];
            roots.iter().for_each(|&root| sizes[root] += 1);
            let most = sizes.iter().copied().max().unwrap_or(0);
            let main = sizes.iter().position(|&size| size == most);
            let in_company: usize = sizes.iter().filter(|size| **size > 1).sum();
            apart += in_company.saturating_sub(most);
            largest += most;
            is_main.push(roots.iter().map(|&root| Some(root) == main).collect());
        }
        let inside = |pair: &&Pair| {
            let [orbit, a, b] = pair.members;
            is_main[orbit][a] && is_main[orbit][b]
        };
        let related = pairs.iter().filter(inside);
        let (count, all) = related.fold((0, 0), |(count, all), pair| {
            (count + usize::from(pair.best < near), all + 1)
        });
        let share = |count: usize, all: usize| count as f64 / all.max(1) as f64;
        Parts {
            apart: share(apart, self.all()),
            largest: share(largest, self.all()),
            explained: share(count, all),
        }
    }

    pub(super) fn tied(&self) -> bool {
        self.tied
    }

    /// The square of a member's length as it was.
    pub(super) fn length(&self, y: &[f32]) -> f64 {
        y.iter().map(|&y| (f64::from(y) + self.mean).powi(2)).sum()
    }

    /// The mean of ‖y‖² over an orbit.
    pub(super) fn scale(&self, orbit: usize) -> f64 {
        self.orbits[orbit].scale
    }

    pub(super) fn row(&self, orbit: usize, member: usize) -> &[f32] {
        &self.orbits[orbit].y[member * self.inputs..][..self.inputs]
    }

    /// A permutation that takes one member near the other: by sorting both, or, where values are equal, with what the group
    /// leaves unchanged at every input.
    pub(super) fn start(&self, orbit: usize, from: usize, to: usize, number: usize) -> Start {
        let (a, b) = (self.row(orbit, from), self.row(orbit, to));
        if self.tied && number % 2 == 1 {
            return Start {
                permutation: self.start_from_means(orbit, a, b),
                blurred: None,
            };
        }
        let sorted = |y: &[f32]| {
            let mut order: Vec<u16> = (0..y.len() as u16).collect();
            order.sort_by(|&i, &j| y[usize::from(i)].total_cmp(&y[usize::from(j)]));
            order
        };
        let mut images = vec![0; self.inputs];
        let ranks = sorted(a);
        for (&from, to) in ranks.iter().zip(sorted(b)) {
            images[usize::from(from)] = to;
        }
        Start {
            permutation: Permutation::new(images).expect("both are sorted"),
            blurred: (number >= BLURRED_FROM && number % 2 == 1).then_some(ranks),
        }
    }

    /// Means of an input over the members of an orbit are those of its image: with them, equal values are told apart.
    fn start_from_means(&self, orbit: usize, a: &[f32], b: &[f32]) -> Permutation {
        let n = self.inputs;
        let most = 24.min(self.orbits.len());
        let chosen = (0..most).map(|k| &self.orbits[(orbit + k) % self.orbits.len()]);
        let mut features: Vec<[&[f32]; 2]> = vec![[a, b]; 2];
        for orbit in chosen {
            features.extend(orbit.means.iter().map(|mean| [&mean[..]; 2]));
        }
        let mut gain = vec![0.0; n * n];
        for [from, to] in features {
            let square: f32 = from.iter().map(|x| x * x).sum();
            let weight = n as f32 / square.max(f32::MIN_POSITIVE);
            for (row, &x) in gain.chunks_exact_mut(n).zip(from) {
                for (gain, &y) in row.iter_mut().zip(to) {
                    *gain -= weight * (x - y) * (x - y);
                }
            }
        }
        permutation(&assign(&gain, n))
    }

    /// Matches of some members of every orbit with members of the same.
    pub(super) fn matched(&self, permutation: &Permutation, sources: usize) -> Matches {
        let found = (0..self.orbits.len()).flat_map(|orbit| {
            let rows = self.spread(orbit, sources);
            self.nearest(permutation, orbit, &rows, orbit)
        });
        Matches::new(found.collect())
    }

    /// The same of members whose values are averaged over neighbours in `ranks` before they are moved.
    fn matched_blurred(&self, permutation: &Permutation, ranks: &[u16], sources: usize) -> Matches {
        let n = self.inputs;
        let reach = n / BLURRED;
        let found = (0..self.orbits.len()).flat_map(|orbit| {
            let rows = self.spread(orbit, sources);
            let mut moved = vec![0.0; rows.len() * n];
            let mut blurred = vec![0.0; n];
            for (moved, &row) in moved.chunks_exact_mut(n).zip(&rows) {
                let y = self.row(orbit, row);
                for (rank, &at) in ranks.iter().enumerate() {
                    let window = &ranks[rank.saturating_sub(reach)..n.min(rank + reach + 1)];
                    let sum: f32 = window.iter().map(|&at| y[usize::from(at)]).sum();
                    blurred[usize::from(at)] = sum / window.len() as f32;
                }
                permutation.write_moved(&blurred, moved);
            }
            self.nearest_to(&moved, orbit, &rows, orbit)
        });
        Matches::new(found.collect())
    }

    /// The share of members that a permutation takes next to a member of another orbit.
    pub(super) fn hits_across(&self, permutation: &Permutation, near: f64) -> f64 {
        let count = self.orbits.len();
        let found = (0..count).flat_map(|orbit| {
            let rows = self.spread(orbit, super::SOURCES / 2);
            self.nearest(permutation, orbit, &rows, (orbit + 1) % count)
        });
        Matches::new(found.collect()).hits(near)
    }

    /// How far a permutation moves members, as a share of ‖y‖², on average over some.
    pub(super) fn moves(&self, permutation: &Permutation) -> f64 {
        let (mut sum, mut count) = (0.0, 0);
        for (orbit, scale) in self.orbits.iter().map(|orbit| orbit.scale).enumerate() {
            for row in self.spread(orbit, 32) {
                let y = self.row(orbit, row);
                let images = permutation.images().iter().zip(y);
                let squares = images
                    .map(|(&to, &y)| f64::from(self.row(orbit, row)[usize::from(to)] - y).powi(2));
                sum += squares.sum::<f64>() / scale;
                count += 1;
            }
        }
        sum / f64::from(count.max(1))
    }

    /// Members of an orbit, evenly spread, so that there are about `sources` in all and at least two of each orbit.
    fn spread(&self, orbit: usize, sources: usize) -> Vec<usize> {
        let all = self.orbits[orbit].count();
        let kept = (sources / self.orbits.len()).clamp(2, all.max(2)).min(all);
        (0..kept).map(|k| k * all / kept).collect()
    }

    /// For each of `rows` of `orbit`, the member of `among` nearest to where it is taken, itself left out.
    fn nearest(
        &self,
        permutation: &Permutation,
        orbit: usize,
        rows: &[usize],
        among: usize,
    ) -> Vec<(usize, usize, usize, f64)> {
        let n = self.inputs;
        let mut moved = vec![0.0; rows.len() * n];
        for (moved, &row) in moved.chunks_exact_mut(n).zip(rows) {
            permutation.write_moved(self.row(orbit, row), moved);
        }
        self.nearest_to(&moved, orbit, rows, among)
    }

    /// The same where they are taken to `moved`, row after row.
    fn nearest_to(
        &self,
        moved: &[f32],
        orbit: usize,
        rows: &[usize],
        among: usize,
    ) -> Vec<(usize, usize, usize, f64)> {
        let n = self.inputs;
        let target = &self.orbits[among];
        let count = target.count();
        let products = products(moved, &target.y, n);
        let nearest = |(k, &row): (usize, &usize)| {
            let mut best = (f32::NEG_INFINITY, 0);
            for (to, product) in products[k * count..][..count].iter().enumerate() {
                let score = product - target.halves[to];
                if score > best.0 && (among != orbit || to != row) {
                    best = (score, to);
                }
            }
            let moved = &moved[k * n..][..n];
            let distance = squared_distance(moved, self.row(among, best.1));
            (orbit, row, best.1, distance / target.scale)
        };
        rows.iter().enumerate().map(nearest).collect()
    }

    /// The fixpoint that refinement leads to from `start`, and its matches.
    pub(super) fn refined(&self, start: Start) -> Option<(Permutation, Matches)> {
        let mut current = start.permutation;
        let mut blurred = start.blurred;
        for round in 0..ROUNDS {
            let matches = match blurred.take() {
                Some(ranks) => self.matched_blurred(&current, &ranks, REFINED),
                None => self.matched(&current, REFINED),
            };
            let count = matches.found.len();
            let limit = if round < 2 {
                let kept = (count / 4).max(8).min(count);
                matches.sorted[kept - 1]
            } else {
                let (half, tenth) = (matches.quantile(0.5), matches.quantile(0.1));
                (0.5 * half).max(1.5 * tenth)
            };
            // Nothing is nearer than what is exact.
            if matches.quantile(0.1) == 0.0 && (round > 0 || matches.hits(1e-12) >= 0.25) {
                return Some((current, matches));
            }
            let many = self.inputs >= MANY_INPUTS;
            if many && round >= 2 && matches.quantile(0.08) > HOPELESS {
                return None;
            }
            let gain = self.gain(&matches, limit, &current);
            let next = if !many {
                permutation(&assign(&gain, self.inputs))
            } else {
                let greedy = permutation(&assign_greedily(&gain, self.inputs));
                if greedy != current {
                    greedy
                } else if matches.quantile(0.08) > super::MOST_RESIDUAL {
                    return None;
                } else {
                    permutation(&assign(&gain, self.inputs))
                }
            };
            if next == current {
                return Some((current, matches));
            }
            current = next;
        }
        None
    }

    /// Σ y_n y′_m − y′_m²/2 over the matches up to `limit`, for every input n and image m: the largest of a row is the nearest.
    /// Where two permutations are as good, `current` is a little better.
    fn gain(&self, matches: &Matches, limit: f64, current: &Permutation) -> Vec<f32> {
        let n = self.inputs;
        let mut gain = vec![0.0; n * n];
        let mut halves = vec![0.0; n];
        let kept: Vec<_> = matches
            .found
            .iter()
            .filter(|found| found.3 <= limit)
            .collect();
        for some in kept.chunks(64) {
            let (mut from, mut to) = (Vec::new(), Vec::new());
            for &&(orbit, source, matched, _) in some {
                let weight = (1.0 / self.orbits[orbit].scale) as f32;
                from.extend(self.row(orbit, source).iter().map(|y| y * weight));
                to.extend_from_slice(self.row(orbit, matched));
                for (half, y) in halves.iter_mut().zip(self.row(orbit, matched)) {
                    *half += 0.5 * weight * y * y;
                }
            }
            multiply_add(
                matrix_mut(&mut gain, n, n, n),
                matrix(&from, some.len(), n, n).transpose(),
                matrix(&to, some.len(), n, n),
                1.0,
            );
        }
        let most = gain.iter().fold(0.0_f32, |most, gain| most.max(gain.abs()));
        for (row, &image) in gain.chunks_exact_mut(n).zip(current.images()) {
            row[usize::from(image)] += 1e-6 * most;
            for (gain, half) in row.iter_mut().zip(&halves) {
                *gain -= half;
            }
        }
        gain
    }

    /// Pairs of members, within orbits or `across` neighbouring ones, each with the elements that relate them best.
    pub(super) fn pairs(&self, action: &Action, sources: usize, across: bool) -> Vec<Pair> {
        let n = self.inputs;
        let count = self.orbits.len();
        let tasks: Vec<(usize, Vec<usize>)> = (0..count)
            .map(|orbit| (orbit, self.spread(orbit, sources)))
            .collect();
        let of_orbit = |(orbit, rows): &(usize, Vec<usize>)| {
            let among = if across { (orbit + 1) % count } else { *orbit };
            let target = &self.orbits[among];
            let members = target.count();
            let mut pairs: Vec<Pair> = (rows.iter())
                .flat_map(|&row| {
                    (0..members).map(move |to| Pair {
                        members: [*orbit, row, to],
                        element: 0,
                        best: f64::INFINITY,
                        second: f64::INFINITY,
                        still: f64::INFINITY,
                    })
                })
                .collect();
            let halves: Vec<f32> = (rows.iter())
                .map(|&row| self.orbits[*orbit].halves[row])
                .collect();
            let mut moved = vec![0.0; rows.len() * n];
            for (number, element) in action.elements().iter().enumerate() {
                for (moved, &row) in moved.chunks_exact_mut(n).zip(rows) {
                    element.write_moved(self.row(*orbit, row), moved);
                }
                let products = products(&moved, &target.y, n);
                for (k, (pair, product)) in pairs.iter_mut().zip(products).enumerate() {
                    let half = halves[k / members] + target.halves[k % members] - product;
                    let distance = 2.0 * f64::from(half) / target.scale;
                    if number == 0 {
                        pair.still = distance;
                    }
                    if distance < pair.best {
                        (pair.second, pair.best, pair.element) = (pair.best, distance, number);
                    } else if distance < pair.second {
                        pair.second = distance;
                    }
                }
            }
            pairs.retain(|pair| across || pair.members[1] != pair.members[2]);
            pairs
        };
        tasks.par_iter().flat_map_iter(of_orbit).collect()
    }

    /// Some that have nothing to do with the data.
    pub(super) fn random_permutations(&self) -> Vec<Permutation> {
        let mut random = stream(0, Purpose::Permutations);
        (0..4)
            .map(|_| {
                let mut images: Vec<u16> = (0..self.inputs as u16).collect();
                images.shuffle(&mut random);
                Permutation::new(images).expect("shuffled")
            })
            .collect()
    }
}

/// Two inputs that are as alike in all members as noise of this residual allows: they could change places unnoticed.
///
/// With normal noise of variance σ² on each input, exchanging n and m is decided by D = Σ (y_n − y_m)², which noise alone makes
/// 2σ² S ± √8S σ²; beyond that, 64 σ² leave a chance of error of Q(√8) < 3e-3 for the worst pair, and less for all others.
pub(super) fn column_twins(members: &Members, residual: f64) -> Option<[usize; 2]> {
    let n = members.inputs;
    let mut gram = vec![0.0; n * n];
    let mut samples = 0;
    for orbit in &members.orbits {
        let (rows, weight) = (orbit.count(), (1.0 / orbit.scale) as f32);
        multiply_add(
            matrix_mut(&mut gram, n, n, n),
            matrix(&orbit.y, rows, n, n).transpose(),
            matrix(&orbit.y, rows, n, n),
            weight,
        );
        samples += rows;
    }
    let variance = residual / (2.0 * n as f64);
    let count = samples as f64;
    let noise = variance * (2.0 * count + 64.0 + 12.0 * count.sqrt());
    let gram = |i: usize, j: usize| f64::from(gram[i * n + j]);
    // Rounding of the products in f32.
    let least = |i: usize, j: usize| noise.max(1e-5 * (gram(i, i) + gram(j, j))).max(1e-12);
    (0..n).find_map(|i| {
        let twin = (0..i).find(|&j| gram(i, i) + gram(j, j) - 2.0 * gram(i, j) <= least(i, j))?;
        Some([twin, i])
    })
}

fn orbit(y: Vec<f32>, inputs: usize) -> Orbit {
    let square = |row: &[f32]| row.iter().map(|&y| f64::from(y).powi(2)).sum::<f64>();
    let squares: Vec<f64> = y.chunks_exact(inputs).map(square).collect();
    let count = squares.len().max(1) as f64;
    let mut means = [vec![0.0; inputs], vec![0.0; inputs]];
    for row in y.chunks_exact(inputs) {
        for (n, &y) in row.iter().enumerate() {
            means[0][n] += y / count as f32;
            means[1][n] += y * y / count as f32;
        }
    }
    Orbit {
        halves: squares.iter().map(|square| (0.5 * square) as f32).collect(),
        scale: squares.iter().sum::<f64>() / count,
        means,
        y,
    }
}

/// The share of neighbours that are equal when members are sorted.
fn tied(data: &[Vec<f32>], inputs: usize) -> f64 {
    let (mut equal, mut all) = (0, 0);
    for y in data.iter().flat_map(|y| y.chunks_exact(inputs).take(2)) {
        let mut y = y.to_vec();
        y.sort_by(f32::total_cmp);
        equal += y.windows(2).filter(|pair| pair[0] == pair[1]).count();
        all += inputs - 1;
    }
    equal as f64 / all.max(1) as f64
}

/// Each of one list times each of the other.
fn products(rows: &[f32], columns: &[f32], inputs: usize) -> Vec<f32> {
    let (m, n) = (rows.len() / inputs, columns.len() / inputs);
    let mut products = vec![0.0; m * n];
    multiply(
        matrix_mut(&mut products, m, n, n),
        matrix(rows, m, inputs, inputs),
        matrix(columns, n, inputs, inputs).transpose(),
        1.0,
    );
    products
}

fn squared_distance(a: &[f32], b: &[f32]) -> f64 {
    let terms = a.iter().zip(b).map(|(&a, &b)| f64::from(a - b).powi(2));
    terms.sum()
}

fn permutation(columns: &[usize]) -> Permutation {
    let images = columns.iter().map(|&column| column as u16);
    Permutation::new(images.collect()).expect("an assignment is one")
}
