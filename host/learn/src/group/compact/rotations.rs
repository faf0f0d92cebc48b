//! Rotations of space: the basis in which a learned group is SO(3) exactly.
//!
//! 1. What small irreps couple has a [Lie algebra](super::generators). Where that is so(3), a basis with [X₁, X₂] = X₃ turns each of
//!    these blocks to the coordinates of spherical harmonics: R with X_k R = R J_k.
//! 2. In them the rotation g between two members of an orbit is known: the one for which w(y) = D(g) w(y₀).
//! 3. Every block U of degree l, coupled or not, then follows from D(g) U y₀ = U y, by alternating: c = mean of D(g)ᵀ U y over an
//!    orbit's members, and U the regression of D(g) c on y. What of other irreps is in U averages to zero over members and
//!    orbits, so that a few rounds leave nothing but the rounding of samples.
//!
//! A degree's coordinates are known then, and its couplings with others are Wigner's 3j symbols, of any size.

use super::blocks::nearest_orthogonal;
use super::commutant::symmetric_eigen;
use super::forms::Coefficients;
use super::generators::smallest;
use super::solve::{Compact, Irrep};
use crate::limits::interruption;
use crate::numeric::alignment::{Pair, improved, random_rotations};
use crate::numeric::harmonics::Degree;
use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use rayon::prelude::*;

/// The mean square that the third generator may leave of each equation: blocks of many degrees are less exact than others.
const MOST_RESIDUE: f64 = 0.2;
/// The least share of a commutator of generators that is the third one.
const LEAST_CLOSED: f64 = 0.5;
/// Members of an orbit, and orbits for each row of the basis, that the basis is fitted to.
const MEMBERS: usize = 40;
const ORBITS: usize = 1;
const LEAST_ORBITS: usize = 60;
/// Rotations that are tried between two members, of which so many are improved.
const TRIED: usize = 1500;
const IMPROVED: usize = 4;
/// Degrees above this tell no more of a rotation than those below.
const HIGHEST: usize = 6;
/// Rounds of rotations and basis at most, and of the basis alone in the first of them and the others.
const ROUNDS: usize = 40;
const FIRST: usize = 16;
const OTHERS: usize = 2;
/// Rounds in which rotations are searched for anew: where blocks were less exact, some were found at the wrong place.
const SEARCHED: usize = 4;
/// A round that leaves more than this share of what is unexplained is the last.
const SMALL_GAIN: f64 = 0.9;
/// A member counts where its residue is below so many times the median: a few rotations are found at the wrong place, where a
/// function is nearly symmetric, and one of a thousand keeps a basis from being exact.
const OUTLYING: f64 = 16.0;
/// The share of members whose rotation must be trusted.
const LEAST_TRUSTED: f64 = 0.8;
/// The share of a block's square that no rotation may explain.
const UNEXPLAINED: f64 = 0.2;

/// A basis of harmonics.
pub(super) struct Rotations {
    /// U, in coordinates of samples.
    pub(super) rows: Mat<f64>,
    /// Of each irrep.
    pub(super) degrees: Vec<usize>,
}

/// One copy of an irrep in the basis.
struct Block {
    first: usize,
    /// Its place among the degrees.
    irrep: usize,
}

/// Whether irreps have the dimensions of rotations': odd ones, and one irrep of each.
pub(super) fn may_be_rotations(irreps: &[Irrep]) -> bool {
    let mut dimensions: Vec<usize> = irreps.iter().map(|irrep| irrep.dimension).collect();
    dimensions.sort_unstable();
    dimensions.dedup();
    let possible = |irrep: &Irrep| {
        !irrep.dimension.is_multiple_of(2) && irrep.trivial == (irrep.dimension == 1)
    };
    dimensions.len() == irreps.len() && irreps.iter().all(possible)
}

/// The basis in which these blocks are those of rotations, if they are; `small` has what couples few of them.
pub(super) fn rotations(
    rows: &Mat<f64>,
    small: &Compact,
    seen: &Coefficients,
) -> Option<Rotations> {
    let irreps = &small.irreps;
    let degrees: Vec<usize> = irreps.iter().map(|irrep| irrep.dimension / 2).collect();
    let (coupled, turns) = turns(small, &degrees)?;
    let blocks: Vec<Block> = (irreps.iter().enumerate())
        .flat_map(|(irrep, found)| {
            found
                .copies
                .iter()
                .map(move |&first| Block { first, irrep })
        })
        .collect();
    let mut fit = Fit::new(degrees.clone(), blocks, seen)?;
    // Coupled blocks in coordinates of harmonics, others as they are.
    for block in &fit.blocks {
        if let Some(turn) = &turns[block.irrep] {
            let d = turn.nrows();
            let to = fit.change.submatrix_mut(block.first, block.first, d, d);
            { to }.copy_from(turn.transpose());
        }
    }
    fit.find_rotations(&coupled);
    let mut before = f64::INFINITY;
    for round in 0..ROUNDS {
        (0..if round == 0 { FIRST } else { OTHERS }).for_each(|_| fit.regress());
        let shares = fit.unexplained();
        let worst = shares.iter().copied().fold(0.0, f64::max);
        if round > SEARCHED && worst > SMALL_GAIN * before {
            break;
        }
        before = worst;
        let explained: Vec<bool> = shares.iter().map(|&share| share < UNEXPLAINED).collect();
        if round < SEARCHED {
            fit.find_rotations(&explained);
        } else {
            fit.improve_rotations(&explained);
        }
        fit.judge();
    }
    fit.regress();
    let worst = fit.unexplained().into_iter().fold(0.0, f64::max);
    (worst < UNEXPLAINED && fit.trust() > LEAST_TRUSTED).then(|| Rotations {
        rows: &fit.change * rows,
        degrees,
    })
}

/// The rotation of a block from harmonics, of each irrep that is coupled.
type Turns = Vec<Option<Mat<f64>>>;

/// Which irreps are coupled, and for each of these the rotation of its block from harmonics.
fn turns(small: &Compact, degrees: &[usize]) -> Option<(Vec<bool>, Turns)> {
    let found = smallest(small, 3)?;
    if found.generators.len() < 3 || found.residues[2] > MOST_RESIDUE {
        return None;
    }
    let inner = |x: &[Mat<f64>], y: &[Mat<f64>]| -> f64 {
        let parts = x.iter().zip(y);
        parts
            .map(|(x, y)| {
                let columns = x.col_iter().zip(y.col_iter());
                columns.map(|(x, y)| x.transpose() * y).sum::<f64>()
            })
            .sum()
    };
    let coupled = found.coupled;
    let size: f64 = (degrees.iter().zip(&coupled))
        .filter(|(_, coupled)| **coupled)
        .map(|(&l, _)| (l * (l + 1) * (2 * l + 1)) as f64 / 3.0)
        .sum();
    let gram = Mat::from_fn(3, 3, |i, j| {
        inner(&found.generators[i], &found.generators[j])
    });
    let (values, vectors) = symmetric_eigen(&gram)?;
    if values[2] <= 0.0 {
        return None;
    }
    let combined = |k: usize, sign: f64| -> Vec<Mat<f64>> {
        (0..degrees.len())
            .map(|irrep| {
                let d = 2 * degrees[irrep] + 1;
                let mut sum = Mat::zeros(d, d);
                for (i, generator) in found.generators.iter().enumerate() {
                    let scale = sign * vectors[(i, k)] * (size / values[k]).sqrt();
                    sum += &generator[irrep] * faer::Scale(scale);
                }
                sum
            })
            .collect()
    };
    let mut x = [0, 1, 2].map(|k| combined(k, 1.0));
    let commutator: Vec<Mat<f64>> = (x[0].iter().zip(&x[1]))
        .map(|(x, y)| x * y - y * x)
        .collect();
    let closed = inner(&commutator, &x[2]) / size;
    if closed.abs() < LEAST_CLOSED {
        return None;
    }
    if closed < 0.0 {
        x = [0, 1, 2].map(|k| combined(k, -1.0));
    }
    let turns = degrees.iter().enumerate().map(|(irrep, &l)| {
        if !coupled[irrep] {
            return Some(None);
        }
        let d = 2 * l + 1;
        let generators = Degree::new(l).generators();
        let mut normal = Mat::<f64>::zeros(d * d, d * d);
        for (x, j) in x.iter().zip(&generators) {
            // vec(X R − R J), columns one behind the other.
            let map = Mat::from_fn(d * d, d * d, |to, from| {
                let ([p, q], [r, s]) = ([to % d, to / d], [from % d, from / d]);
                let left = if q == s { x[irrep][(p, r)] } else { 0.0 };
                let right = if p == r { j[(s, q)] } else { 0.0 };
                left - right
            });
            normal += map.transpose() * &map;
        }
        let (_, vectors) = symmetric_eigen(&normal)?;
        let turn = Mat::from_fn(d, d, |p, q| vectors[(p + d * q, d * d - 1)]);
        nearest_orthogonal(&turn).map(Some)
    });
    let turns: Option<Vec<_>> = turns.collect();
    Some((coupled, turns?))
}

/// A basis that is fitted to orbits.
struct Fit {
    degrees: Vec<Degree>,
    blocks: Vec<Block>,
    /// Coefficients in the basis as it was, orbit by orbit: one column a member.
    orbits: Vec<Mat<f64>>,
    /// The inverse of Σ z zᵀ, by its factor.
    gram: faer::linalg::solvers::Llt<f64>,
    /// From the basis as it was to the fitted one.
    change: Mat<f64>,
    /// The rotation of each member of each orbit, as angles.
    rotations: Vec<Vec<[f64; 3]>>,
    /// What each orbit's members are rotated from.
    origins: Vec<Vec<f64>>,
    /// Whether the rotation of each member is trusted.
    trusted: Vec<Vec<bool>>,
    /// The orbits, with zeros for members that are not.
    counted: Vec<Mat<f64>>,
}

impl Fit {
    fn new(degrees: Vec<usize>, blocks: Vec<Block>, seen: &Coefficients) -> Option<Self> {
        let k = seen.orbits.first()?.nrows();
        let members = seen.members().min(MEMBERS);
        let count = (ORBITS * k).max(LEAST_ORBITS).min(seen.orbits.len());
        let orbits: Vec<Mat<f64>> = (seen.orbits[seen.orbits.len() - count..].iter())
            .map(|orbit| orbit.subcols(0, members).to_owned())
            .collect();
        let mut gram = Mat::<f64>::zeros(k, k);
        for orbit in &orbits {
            gram += orbit * orbit.transpose();
        }
        Some(Fit {
            degrees: degrees.into_iter().map(Degree::new).collect(),
            blocks,
            gram: gram.llt(Side::Lower).ok()?,
            change: Mat::identity(k, k),
            rotations: vec![vec![[0.0; 3]; members]; orbits.len()],
            trusted: vec![vec![true; members]; orbits.len()],
            origins: Vec::new(),
            counted: orbits.clone(),
            orbits,
        })
    }

    fn fitted(&self) -> Vec<Mat<f64>> {
        self.orbits
            .iter()
            .map(|orbit| &self.change * orbit)
            .collect()
    }

    /// Blocks of these irreps that tell one rotation from another.
    fn telling(&self, of: &[bool]) -> Vec<&Block> {
        let tells = |block: &&Block| {
            let l = self.degrees[block.irrep].degree();
            of[block.irrep] && (1..=HIGHEST).contains(&l)
        };
        self.blocks.iter().filter(tells).collect()
    }

    fn part<'v>(&self, block: &Block, vector: &'v [f64]) -> &'v [f64] {
        &vector[block.first..][..2 * self.degrees[block.irrep].degree() + 1]
    }

    /// The rotation of each member from what it is rotated from, at first the first member, by trying many.
    fn find_rotations(&mut self, coupled: &[bool]) {
        let tried = random_rotations(TRIED, 0);
        let blocks = self.telling(coupled);
        let fitted = self.fitted();
        let found: Vec<Vec<[f64; 3]>> = fitted
            .par_iter()
            .enumerate()
            .map(|(number, orbit)| {
                let origin =
                    (self.origins.get(number)).map_or_else(|| column(orbit, 0), Clone::clone);
                let moved: Vec<Vec<f64>> = (tried.iter())
                    .map(|&angles| self.moved(&blocks, angles, &origin))
                    .collect();
                (0..orbit.ncols())
                    .map(|member| {
                        interruption::check();
                        let z = column(orbit, member);
                        let parts: Vec<f64> = blocks
                            .iter()
                            .flat_map(|b| self.part(b, &z))
                            .copied()
                            .collect();
                        let mut scores: Vec<(f64, usize)> = (moved.iter().enumerate())
                            .map(|(at, moved)| {
                                (moved.iter().zip(&parts).map(|(a, b)| a * b).sum(), at)
                            })
                            .collect();
                        scores.select_nth_unstable_by(IMPROVED, |a, b| b.0.total_cmp(&a.0));
                        let improved = scores[..IMPROVED]
                            .iter()
                            .map(|&(_, at)| improved(&self.pairs(&blocks, &origin, &z), tried[at]));
                        improved
                            .min_by(|a, b| a.1.total_cmp(&b.1))
                            .map_or([0.0; 3], |best| best.0)
                    })
                    .collect()
            })
            .collect();
        self.rotations = found;
        self.origins = self.means(&fitted);
    }

    fn improve_rotations(&mut self, of: &[bool]) {
        let blocks = self.telling(of);
        let fitted = self.fitted();
        let found = (fitted.par_iter().zip(&self.rotations).zip(&self.origins))
            .map(|((orbit, rotations), origin)| {
                let members = rotations.iter().enumerate();
                members
                    .map(|(at, &angles)| {
                        let z = column(orbit, at);
                        improved(&self.pairs(&blocks, origin, &z), angles).0
                    })
                    .collect()
            })
            .collect();
        self.rotations = found;
        self.origins = self.means(&fitted);
    }

    fn moved(&self, blocks: &[&Block], angles: [f64; 3], origin: &[f64]) -> Vec<f64> {
        let moved = |block: &&Block| {
            let degree = &self.degrees[block.irrep];
            degree.rotated(angles, self.part(block, origin))
        };
        blocks.iter().flat_map(moved).collect()
    }

    fn pairs<'a>(&'a self, blocks: &[&Block], origin: &'a [f64], z: &'a [f64]) -> Vec<Pair<'a>> {
        let pair = |block: &&Block| Pair {
            degree: &self.degrees[block.irrep],
            from: self.part(block, origin),
            to: self.part(block, z),
        };
        blocks.iter().map(pair).collect()
    }

    /// The mean of D(g)ᵀ U y over each orbit.
    fn means(&self, fitted: &[Mat<f64>]) -> Vec<Vec<f64>> {
        let mean = |number: usize| {
            let (orbit, trusted) = (&fitted[number], &self.trusted[number]);
            let rotations = &self.rotations[number];
            let mut sum = vec![0.0; orbit.nrows()];
            for (at, &[alpha, beta, gamma]) in rotations.iter().enumerate() {
                if !trusted[at] {
                    continue;
                }
                let z = column(orbit, at);
                for block in &self.blocks {
                    let back = self.degrees[block.irrep]
                        .rotated([-gamma, -beta, -alpha], self.part(block, &z));
                    let sum = &mut sum[block.first..];
                    sum.iter_mut().zip(back).for_each(|(sum, x)| *sum += x);
                }
            }
            let count = trusted.iter().filter(|trusted| **trusted).count().max(1) as f64;
            sum.iter().map(|sum| sum / count).collect()
        };
        (0..fitted.len()).into_par_iter().map(mean).collect()
    }

    /// Where each orbit's members should be.
    fn targets(&self, origins: &[Vec<f64>]) -> Vec<Mat<f64>> {
        let target = |(origin, rotations): (&Vec<f64>, &Vec<[f64; 3]>)| {
            let mut out = Mat::zeros(origin.len(), rotations.len());
            for (at, &angles) in rotations.iter().enumerate() {
                for block in &self.blocks {
                    let degree = &self.degrees[block.irrep];
                    let moved = degree.rotated(angles, self.part(block, origin));
                    for (k, x) in moved.into_iter().enumerate() {
                        out[(block.first + k, at)] = x;
                    }
                }
            }
            out
        };
        origins
            .par_iter()
            .zip(&self.rotations)
            .map(target)
            .collect()
    }

    /// One regression of what members should be on what they are; each block has a mean square of one a row then.
    fn regress(&mut self) {
        let targets = self.targets(&self.means(&self.fitted()));
        let k = self.change.nrows();
        let mut products = Mat::<f64>::zeros(k, k);
        for (target, orbit) in targets.iter().zip(&self.counted) {
            products += orbit * target.transpose();
        }
        self.change = self.gram.solve(&products).transpose().to_owned();
        let fitted = self.fitted();
        let samples = fitted.iter().map(Mat::ncols).sum::<usize>() as f64;
        for block in &self.blocks {
            let d = 2 * self.degrees[block.irrep].degree() + 1;
            let squares = fitted
                .iter()
                .map(|orbit| orbit.subrows(block.first, d).squared_norm_l2());
            let mean = squares.sum::<f64>() / samples / d as f64;
            if mean > 0.0 {
                let scale = 1.0 / mean.sqrt();
                for row in block.first..block.first + d {
                    self.change
                        .row_mut(row)
                        .iter_mut()
                        .for_each(|x| *x *= scale);
                }
            }
        }
        self.origins = self.means(&self.fitted());
    }

    /// Which rotations are trusted: those that leave little more than most do.
    fn judge(&mut self) {
        let fitted = self.fitted();
        let targets = self.targets(&self.origins);
        let mut shares = Vec::new();
        for (orbit, target) in fitted.iter().zip(&targets) {
            for (z, target) in orbit.col_iter().zip(target.col_iter()) {
                let left = (z - target).squared_norm_l2();
                shares.push(left / z.squared_norm_l2().max(f64::MIN_POSITIVE));
            }
        }
        let mut sorted = shares.clone();
        sorted.sort_by(f64::total_cmp);
        let most = OUTLYING * sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
        let mut shares = shares.into_iter();
        for trusted in self.trusted.iter_mut().flatten() {
            *trusted = shares.next().is_some_and(|share| share <= most);
        }
        let k = self.change.nrows();
        let mut gram = Mat::<f64>::zeros(k, k);
        for ((counted, orbit), trusted) in
            (self.counted.iter_mut().zip(&self.orbits)).zip(&self.trusted)
        {
            *counted = Mat::from_fn(k, orbit.ncols(), |row, at| {
                if trusted[at] { orbit[(row, at)] } else { 0.0 }
            });
            gram += &*counted * counted.transpose();
        }
        if let Ok(gram) = gram.llt(Side::Lower) {
            self.gram = gram;
        }
    }

    /// The share of members whose rotation is trusted.
    fn trust(&self) -> f64 {
        let all = self.trusted.iter().flatten();
        let trusted = all.clone().filter(|trusted| **trusted).count();
        trusted as f64 / all.count().max(1) as f64
    }

    /// Of each irrep the share of its square that the rotations do not explain.
    fn unexplained(&self) -> Vec<f64> {
        let fitted = self.fitted();
        let targets = self.targets(&self.origins);
        let mut shares = vec![0.0_f64; self.degrees.len()];
        for block in &self.blocks {
            let d = 2 * self.degrees[block.irrep].degree() + 1;
            let [mut left, mut whole] = [0.0; 2];
            for ((orbit, target), trusted) in fitted.iter().zip(&targets).zip(&self.trusted) {
                for at in (0..orbit.ncols()).filter(|&at| trusted[at]) {
                    let [z, target] =
                        [orbit, target].map(|all| all.col(at).subrows(block.first, d));
                    left += (z - target).squared_norm_l2();
                    whole += z.squared_norm_l2();
                }
            }
            shares[block.irrep] = shares[block.irrep].max(left / whole.max(f64::MIN_POSITIVE));
        }
        shares
    }
}

fn column(matrix: &Mat<f64>, at: usize) -> Vec<f64> {
    matrix.col(at).iter().copied().collect()
}

#[cfg(test)]
mod tests {
    use crate::data::representation::{functions_on_sphere, orthogonal};
    use crate::group::compact::{Compact, Moments, Name};
    use crate::numeric::harmonics::invariant_form;

    #[test]
    fn blocks_of_rotations_are_harmonics_and_their_couplings_wigners() {
        let mixing = orthogonal(16, 7);
        let orbits = functions_on_sphere(3, &mixing, 200, 40, 1).unwrap();
        let moments = Moments::of(&orbits).unwrap();
        let found = Compact::of(&moments, 0).unwrap();
        let Name::Rotations { degrees } = found.name() else {
            panic!("{}", found.name())
        };
        let mut sorted = degrees.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3]);
        // What changes on orbits that were not fitted to: 6e-15 is seen, the square of the rounding of samples.
        let worst = found.forms().iter().map(|form| form.lambda);
        assert!(worst.fold(1.0, f64::min) > 1.0 - 1e-12);
        let third = found.forms().iter().filter(|form| form.irreps.len() == 3);
        assert_eq!(third.count(), 4);
        let place = |l: usize| degrees.iter().position(|&d| d == l).unwrap();
        for triple in [[1, 1, 2], [2, 2, 2], [1, 2, 3], [2, 3, 3]] {
            // From products of coefficients alone.
            let forms = found.forms_of(&moments, triple.map(place)).unwrap();
            assert_eq!(forms.len(), 1, "{triple:?}");
            let exact = invariant_form(triple).unwrap();
            let product: f64 = forms[0].1.iter().zip(&exact).map(|(a, b)| a * b).sum();
            assert!(1.0 - product.abs() < 1e-12, "{triple:?}: {product}");
        }
        let none = found.forms_of(&moments, [1, 1, 3].map(place));
        assert!(none.unwrap().is_empty());
    }
}
