//! A finite group from few orbits, commutative or not: members of an orbit are matched input by input.
//!
//! A pair (y, y′) of an orbit is related by some element g, so the permutation that sorts y as y′ is sorted is g itself where no
//! noise changes places. From such a start P is refined: for every member y the nearest y′ to P·y is found in its orbit, and
//! over the pairs that lie closest
//!
//! > P ← argmax_P Σ ⟨P·y, y′⟩,
//!
//! an assignment problem, until nothing changes. Fixpoints that take members to members in several orbits, far more often than
//! chance would, generate the group. How near is near, and how often is often, is read off the data. In the end the group must
//! explain the pairs within orbits, and every element must be the best for its share of them. What fails is refused: no group is
//! returned that the data does not show. Of fewer than eight inputs all permutations are compared instead (`few`).

mod few;
mod matching;
mod refusal;

pub use refusal::NoPermutations;

use crate::data::orbits::Orbits;
use crate::group::{Action, Permutation};
use crate::numeric::random::{Purpose, stream};
use matching::{Matches, Members, Parts, column_twins};
use rand::RngExt;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// More inputs are left to the other phases: an assignment of n inputs takes up to n³ steps.
pub const MOST_INPUTS: usize = 1024;
/// Starts that are tried in all.
const MOST_STARTS: usize = 300;
/// Starts that are refined at a time.
const BATCH: usize = 8;
/// Starts without a fixpoint of small residual after which the motion is taken not to be a permutation.
const PATIENCE: usize = 96;
/// Batches that add nothing to the group before the search ends.
const IDLE_BATCHES: usize = 4;
/// The largest residual of matched pairs, as a share of a signal's square: two unrelated signals have 2, noise of 30 % 0.18.
const MOST_RESIDUAL: f64 = 0.2;
/// Members whose images are looked for to count an element's hits.
const SOURCES: usize = 192;
/// Members whose pairs are explained in the end.
const PAIR_SOURCES: usize = 96;
/// The search ends when so many pairs are explained.
const ALL_EXPLAINED: f64 = 0.97;
/// A group explains at least so many pairs, since some members may be strangers.
const LEAST_EXPLAINED: f64 = 0.6;
/// Of fewer members than this, strangers cannot be told from the cosets of a subgroup: then so many pairs.
const FEW_MEMBERS: usize = 96;
const LEAST_OF_FEW: f64 = 0.75;
/// Members that do not move at all are related by anything that hardly moves them: an element moves signals by so many times
/// what counts as near, on average, and at least so many pairs are as far apart as that.
const LEAST_MOVE: f64 = 2.0;
const LEAST_MOVED: f64 = 0.1;
/// A subgroup leaves members in several cosets, none of which it takes to another. Strangers are alone: no more members than
/// this share may be in company outside the largest part of their orbit.
const MOST_APART: f64 = 0.05;
/// Unless there are so many members of an orbit, so large a share of all is in the largest parts, and nearly all pairs in these are
/// related: a subgroup of half of the elements leaves less than two thirds of eight members in one part. The rest are strangers, or
/// mislabelled, one in four at most.
const MANY_OF_AN_ORBIT: usize = 8;
const LEAST_LARGEST: f64 = 0.72;
const LEAST_WITHIN: f64 = 0.9;
const LEAST_OF_CLEAR: f64 = 0.5;

/// A group of permutations that moves the data.
#[derive(Debug, Clone, PartialEq)]
pub struct Permuted {
    /// The group, as it moves the inputs.
    pub action: Action,
    /// ‖g·y − y′‖² / ‖y‖² of matched pairs, the median: twice the square of the noise.
    pub residual: f64,
    /// The share of pairs within orbits that some element relates.
    pub explained: f64,
    /// Starts that were refined.
    pub starts: usize,
}

impl Permuted {
    /// The same on the inputs of `support` among `inputs` in all; the others stay where they are.
    pub(super) fn among(self, support: &[usize], inputs: usize) -> Self {
        Permuted {
            action: self.action.among(support, inputs),
            ..self
        }
    }
}

/// A fixpoint of refinement.
struct Candidate {
    permutation: Permutation,
    matches: Matches,
}

/// How near is near.
#[derive(Clone, Copy)]
struct Thresholds {
    residual: f64,
    /// Pairs nearer than this are related.
    near: f64,
    /// The share of members that a true element takes to another, at best.
    most_hits: f64,
    /// The share that anything would.
    chance: f64,
}

/// The group of permutations behind `orbits`; `seed` chooses the pairs to begin with.
///
/// ```
/// use bispectral_learn::Orbits;
/// use bispectral_learn::learn::permutations::permutations;
///
/// let orbits = Orbits::of_group(&"Z4xZ2".parse()?, 3, 0);
/// let found = permutations(&orbits, 0)?;
/// assert_eq!((found.action.order(), found.explained), (8, 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Why the data shows no such group.
pub fn permutations(orbits: &Orbits, seed: u64) -> Result<Permuted, NoPermutations> {
    let members = Members::of(orbits)?;
    let mut search = Search::new(&members);
    let found = if members.inputs() <= few::MOST_INPUTS {
        let (action, residual) = few::group(&members)?;
        search.explained(action, residual).0
    } else {
        search.found(&mut stream(seed, Purpose::Permutations))?
    };
    found.check(&members)?;
    if let Some(inputs) = column_twins(&members, found.residual) {
        return Err(NoPermutations::Twins { inputs });
    }
    Ok(Permuted {
        action: found.action,
        residual: found.residual,
        explained: found.explained,
        starts: search.tried,
    })
}

/// Of pairs whose median is `residual`, nearly all are nearer than this.
fn near(residual: f64, inputs: usize) -> f64 {
    let spread = (2.0 / inputs as f64).sqrt();
    (2.5 * residual * (1.0 + 2.0 * spread) + 1e-9).min(0.5)
}

/// What was found so far, and what it explains.
struct Found {
    action: Action,
    residual: f64,
    explained: f64,
    /// The share of pairs across orbits that it explains as well.
    across: f64,
    /// The share of pairs that are far apart where nothing is moved.
    moved: f64,
    /// Into which parts orbits fall.
    parts: Parts,
    /// Pairs within orbits that no element relates: orbit and two members.
    unexplained: Vec<[usize; 3]>,
}

impl Found {
    fn check(&self, members: &Members) -> Result<(), NoPermutations> {
        let (all, orbits) = (members.all(), members.orbits());
        let least = if self.action.degree() <= few::MOST_INPUTS {
            few::LEAST_EXPLAINED
        } else if all < FEW_MEMBERS {
            LEAST_OF_FEW
        } else {
            LEAST_EXPLAINED
        };
        let least = least.max(1.5 * self.across);
        if self.moved < LEAST_MOVED {
            return Err(NoPermutations::Still { moved: self.moved });
        }
        // Of many members, most in one part in which all are related: the others do not belong to their orbits.
        let is_clear = all >= FEW_MEMBERS
            && all >= MANY_OF_AN_ORBIT * orbits
            && self.parts.largest >= LEAST_LARGEST
            && self.parts.explained >= LEAST_WITHIN;
        if self.parts.apart > MOST_APART && !is_clear {
            return Err(NoPermutations::Cosets {
                order: self.action.order(),
                apart: self.parts.apart,
            });
        }
        let least = if is_clear {
            LEAST_OF_CLEAR.max(1.5 * self.across)
        } else {
            least
        };
        if self.explained < least {
            return Err(NoPermutations::Unexplained {
                order: self.action.order(),
                explained: self.explained,
                least,
            });
        }
        Ok(())
    }
}

struct Search<'a> {
    members: &'a Members,
    candidates: Vec<Candidate>,
    tried: usize,
}

impl<'a> Search<'a> {
    fn new(members: &'a Members) -> Self {
        Search {
            members,
            candidates: Vec::new(),
            tried: 0,
        }
    }

    fn found(&mut self, random: &mut ChaCha8Rng) -> Result<Found, NoPermutations> {
        let mut idle = 0;
        let mut starts = self.random_pairs(random, BATCH);
        let mut last = Err(NoPermutations::Unrelated { starts: 0 });
        while !starts.is_empty() {
            let order = last
                .as_ref()
                .map_or(1, |found: &Found| found.action.order());
            self.refine(&starts);
            last = self.group();
            if self.hopeless() {
                break;
            }
            let grown = last
                .as_ref()
                .is_ok_and(|found| found.action.order() > order);
            idle = if grown { 0 } else { idle + 1 };
            starts = match &last {
                Ok(found) if found.explained >= ALL_EXPLAINED => Vec::new(),
                Ok(_) if idle >= IDLE_BATCHES => Vec::new(),
                _ if self.tried >= MOST_STARTS => Vec::new(),
                Ok(found) => self.unexplained(found, random),
                Err(_) => self.random_pairs(random, BATCH),
            };
        }
        last
    }

    fn random_pairs(&self, random: &mut ChaCha8Rng, count: usize) -> Vec<[usize; 3]> {
        let orbits = self.members.orbits();
        let draw = |k: usize| {
            let orbit = (self.tried + k) % orbits;
            let pair = index::sample(random, self.members.count(orbit), 2);
            [orbit, pair.index(0), pair.index(1)]
        };
        (0..count).map(draw).collect()
    }

    /// Pairs that are to be explained by new elements.
    fn unexplained(&self, found: &Found, random: &mut ChaCha8Rng) -> Vec<[usize; 3]> {
        let all = &found.unexplained;
        (0..BATCH.min(all.len()))
            .map(|_| all[random.random_range(0..all.len())])
            .collect()
    }

    fn refine(&mut self, starts: &[[usize; 3]]) {
        let members = self.members;
        let tried = self.tried;
        let fixpoints: Vec<Option<Candidate>> = (starts.par_iter().enumerate())
            .map(|(k, &[orbit, from, to])| {
                let start = members.start(orbit, from, to, tried + k);
                let (permutation, matches) = members.refined(start)?;
                (!permutation.is_identity()).then_some(Candidate {
                    permutation,
                    matches,
                })
            })
            .collect();
        self.tried += starts.len();
        for candidate in fixpoints.into_iter().flatten() {
            let known = |known: &Candidate| known.permutation == candidate.permutation;
            if !self.candidates.iter().any(known) {
                self.candidates.push(candidate);
            }
        }
    }

    /// Nothing that was tried matches: rotation on a grid, mixtures, unrelated signals.
    fn hopeless(&self) -> bool {
        self.tried >= PATIENCE
            && self.thresholds().is_err()
            && (self.tried >= 3 * PATIENCE || !self.members.tied())
    }

    /// How near and how often, from the eight best candidates.
    fn thresholds(&self) -> Result<Thresholds, NoPermutations> {
        let members = self.members;
        let mut best: Vec<&Candidate> = self.candidates.iter().collect();
        best.sort_by(|a, b| {
            a.matches
                .quantile(0.08)
                .total_cmp(&b.matches.quantile(0.08))
        });
        best.truncate(8);
        let Some(first) = best.first() else {
            return Err(NoPermutations::Unrelated { starts: self.tried });
        };
        let least = first.matches.quantile(0.08);
        let below = 8.0 * least + 1e-10;
        let mut close: Vec<f64> = best
            .iter()
            .flat_map(|candidate| candidate.matches.distances())
            .filter(|&d| d <= below)
            .collect();
        let residual = median(&mut close);
        if residual > MOST_RESIDUAL {
            return Err(NoPermutations::Far { residual });
        }
        let near = near(residual, members.inputs());
        let mut hits: Vec<f64> = best
            .iter()
            .map(|candidate| candidate.matches.hits(near))
            .collect();
        hits.sort_by(f64::total_cmp);
        let most_hits = hits[(hits.len() - 1) * 3 / 4];
        let against_others: Vec<f64> = best
            .par_iter()
            .map(|candidate| members.hits_across(&candidate.permutation, near))
            .collect();
        let mut chance = against_others.into_iter().fold(0.0, f64::max);
        let random = members.random_permutations();
        let hits: Vec<f64> = random
            .par_iter()
            .map(|permutation| members.matched(permutation, SOURCES).hits(near))
            .collect();
        chance = hits.into_iter().fold(chance, f64::max);
        if most_hits < 2.0 * chance + 0.03 {
            return Err(NoPermutations::Chance {
                hits: most_hits,
                chance,
            });
        }
        Ok(Thresholds {
            residual,
            near,
            most_hits,
            chance,
        })
    }

    /// What the candidates generate, as far as the data bears it out.
    fn group(&self) -> Result<Found, NoPermutations> {
        let thresholds = self.thresholds()?;
        let Thresholds {
            residual,
            near,
            most_hits,
            chance,
        } = thresholds;
        let members = self.members;
        let least = (0.3 * most_hits).max(1.5 * chance);
        let orbits = (members.orbits() as f64 * 0.15).ceil().max(2.0) as usize;
        let mut ranked: Vec<(f64, &Candidate)> = self
            .candidates
            .iter()
            .map(|candidate| (candidate.matches.hits(near), candidate))
            .filter(|(hits, candidate)| {
                *hits >= least
                    && candidate.matches.orbits_hit(near) >= orbits
                    && members.moves(&candidate.permutation) > LEAST_MOVE * near
            })
            .collect();
        ranked.sort_by(|a, b| {
            let by_hits = b.0.total_cmp(&a.0);
            by_hits.then_with(|| a.1.permutation.cmp(&b.1.permutation))
        });
        let most = (4.0 * members.most_members() as f64 / most_hits).ceil() as usize;
        let most = most.max(24).min(matching::most_elements(members.inputs()));
        let mut action = Action::trivial(members.inputs());
        for (_, candidate) in ranked {
            if action.contains(&candidate.permutation) {
                continue;
            }
            let Some(extended) = action.extended(&candidate.permutation, most) else {
                continue;
            };
            let new = &extended.elements()[action.order()..];
            if self.borne_out(new, near, 0.5 * least, 0.5 * most_hits) {
                action = extended;
            }
        }
        if action.order() == 1 {
            return Err(NoPermutations::NotClosed {
                candidates: self.candidates.len(),
            });
        }
        Ok(self.explained_by_winners(action, residual))
    }

    /// Whether every one of `elements` takes members to members in two orbits or more, and as often as it should on average.
    fn borne_out(&self, elements: &[Permutation], near: f64, least: f64, mean: f64) -> bool {
        let mut total = 0.0;
        // A wrong generator makes thousands of wrong elements: the first few tell.
        for some in elements.chunks(16) {
            let hits: Vec<Option<f64>> = some
                .par_iter()
                .map(|element| {
                    let matches = self.members.matched(element, SOURCES);
                    let hits = matches.hits(near);
                    let moves = self.members.moves(element) > LEAST_MOVE * near;
                    (moves && hits >= least && matches.orbits_hit(near) >= 2).then_some(hits)
                })
                .collect();
            for hits in hits {
                let Some(hits) = hits else { return false };
                total += hits;
            }
        }
        total >= mean * elements.len() as f64
    }

    /// What the group explains without the elements that are never the best for a pair.
    fn explained_by_winners(&self, action: Action, residual: f64) -> Found {
        let (found, wins) = self.explained(action, residual);
        let most = wins.iter().copied().max().unwrap_or(0);
        let mut winners: Vec<f64> = (wins.iter())
            .filter(|&&wins| 2 * wins >= most)
            .map(|&wins| f64::from(wins))
            .collect();
        let least = 0.4 * median(&mut winners);
        let keep: Vec<bool> = (wins.iter().enumerate())
            .map(|(g, &wins)| g == 0 || f64::from(wins) >= least)
            .collect();
        if most > 0 && keep.contains(&false) {
            let subgroup = (found.action.subgroup(&keep)).filter(|subgroup| subgroup.order() > 1);
            if let Some(subgroup) = subgroup {
                return self.explained_by_winners(subgroup, residual);
            }
        }
        found
    }

    /// Which pairs the group explains, and for how many each element is the best by far.
    fn explained(&self, action: Action, residual: f64) -> (Found, Vec<u32>) {
        let members = self.members;
        // Products of matrices in f32 leave so much of what should be zero.
        let near = near(residual, members.inputs()).max(2e-5);
        let pairs = members.pairs(&action, PAIR_SOURCES, false);
        let mut wins = vec![0_u32; action.order()];
        for pair in &pairs {
            if pair.best < near && pair.second - pair.best > 0.2 * near {
                wins[pair.element] += 1;
            }
        }
        let unexplained: Vec<[usize; 3]> = (pairs.iter())
            .filter(|pair| pair.best >= near)
            .map(|pair| pair.members)
            .collect();
        let share = |count: usize, all: usize| count as f64 / all.max(1) as f64;
        let across = members.pairs(&action, PAIR_SOURCES / 2, true);
        let across_near = across.iter().filter(|pair| pair.best < near).count();
        let found = Found {
            action,
            residual,
            explained: share(pairs.len() - unexplained.len(), pairs.len()),
            across: share(across_near, across.len()),
            moved: share(
                pairs
                    .iter()
                    .filter(|pair| pair.still >= LEAST_MOVE * near)
                    .count(),
                pairs.len(),
            ),
            parts: members.parts(&pairs, near),
            unexplained,
        };
        (found, wins)
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
