//! The group of functions on a sphere: how it is learned, how far from harmonics and Wigner's symbols it is, and signals from their
//! invariants.

use super::moments;
use crate::compact::distances;
use bispectral_learn::Result;
use bispectral_learn::analysis::certification::completed;
use bispectral_learn::analysis::form_inversion::invert_forms;
use bispectral_learn::data::orbits::Orbits;
use bispectral_learn::data::representation::{functions_on_sphere, orthogonal, sampled};
use bispectral_learn::group::Couplings;
use bispectral_learn::group::compact::{Compact, Moments, Name};
use bispectral_learn::group::contraction::Span;
use bispectral_learn::ndarray::Array2;
use bispectral_learn::numeric::alignment::{Pair, aligned};
use bispectral_learn::numeric::harmonics::{Degree, invariant_form, spread};
use bispectral_learn::numeric::random::{Purpose, stream_at};
use rand::RngExt;
use rand_distr::StandardNormal;
use serde::Serialize;
use std::time::Instant;

/// Orbits that were not learned from, for distances.
const OTHERS: usize = 60;
/// Triples of irreps whose forms are solved for from data alone: of so many products at most.
const MOST_PRODUCTS: usize = 250;
/// Rotations that are tried to bring signals or blocks together.
const TRIED: usize = 2000;
/// Random starts of an inversion.
const STARTS: usize = 10;
/// An inverted signal is in the orbit where it is nearer than this share of its length.
const IN_ORBIT: f64 = 1e-3;
/// Blocks and couplings are right where they are nearer than this to what they should be: rounding of samples, 1.5e-8 for degrees
/// 0 to 8.
const RIGHT: f64 = 1e-6;

/// Functions on a sphere, and how they are seen.
#[derive(Debug, Clone)]
pub(super) struct Case {
    /// The highest degree.
    pub(super) degree: usize,
    pub(super) points: usize,
    /// Whether a random orthogonal matrix mixes the inputs.
    pub(super) mixed: bool,
    pub(super) orbits: usize,
    pub(super) members: usize,
    pub(super) noise: f64,
    /// Whether it has to be learned.
    pub(super) needed: bool,
}

/// What came of one case.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) what: String,
    pub(super) degree: usize,
    pub(super) points: usize,
    pub(super) mixed: bool,
    pub(super) noise: f64,
    pub(super) orbits: usize,
    pub(super) members: usize,
    /// The name, or why there is none.
    pub(super) found: String,
    pub(super) blocks: Vec<usize>,
    /// The relative distance of the learned blocks from real spherical harmonics, up to one rotation and a factor for each.
    pub(super) harmonics: f64,
    /// Couplings of order three.
    pub(super) forms: usize,
    /// As many as the group has.
    pub(super) expected: usize,
    /// Triples of irreps whose forms were also solved for from data alone, and how many of these have exactly those there are.
    pub(super) solved: [usize; 2],
    /// The largest distance of such a form from Wigner's symbols, both of length 1.
    pub(super) wigner: f64,
    /// The least share of a form's square that does not change on orbits that were not learned from.
    pub(super) lambda: f64,
    pub(super) within: f64,
    pub(super) between: f64,
    pub(super) seconds: f64,
    pub(super) needed: bool,
    pub(super) right: bool,
}

/// What came of inverting invariants.
#[derive(Debug, Serialize)]
pub(super) struct Inverted {
    pub(super) degree: usize,
    pub(super) invariants: usize,
    /// Those of them that are of fourth order.
    pub(super) fourth: usize,
    pub(super) signals: usize,
    /// Signals with exactly the invariants that were asked for.
    pub(super) solved: usize,
    /// Of these, in the orbit.
    pub(super) inside: usize,
    /// Of those in the orbit, the median relative distance from it.
    pub(super) median: f64,
    /// Random starts a signal, on average.
    pub(super) starts: f64,
}

pub(super) fn cases(quick: bool) -> Vec<Case> {
    let case = |degree, points, orbits| Case {
        degree,
        points,
        mixed: false,
        orbits,
        members: if quick { 40 } else { 60 },
        noise: 0.0,
        needed: true,
    };
    if quick {
        let first = case(3, 40, 200);
        let mixed = Case {
            mixed: true,
            ..first.clone()
        };
        return vec![first, mixed];
    }
    let first = case(8, 128, 600);
    let mixed = Case {
        mixed: true,
        ..first.clone()
    };
    // As many inputs as coefficients: noise has no directions of its own.
    let noisy = Case {
        points: 81,
        mixed: true,
        noise: 0.05,
        needed: false,
        ..first.clone()
    };
    let mut cases = vec![first.clone(), mixed, noisy];
    cases.extend([150, 300].map(|orbits| Case {
        orbits,
        needed: false,
        ..first.clone()
    }));
    cases
}

impl Case {
    pub(super) fn words(&self) -> String {
        let mixed = if self.mixed { ", mixed" } else { "" };
        let noise = match self.noise {
            0.0 => String::new(),
            noise => format!(", {:.0} % noise", 100.0 * noise),
        };
        format!(
            "degrees 0–{} at {} points{mixed}{noise}",
            self.degree, self.points
        )
    }

    pub(super) fn degrees(&self) -> Vec<usize> {
        (0..=self.degree).collect()
    }

    /// Random functions, rotated.
    pub(super) fn orbits(&self, orbits: usize, members: usize, seed: u64) -> Result<Orbits> {
        let samples = sampled(self.degree, &spread(self.points));
        let mixing = if self.mixed {
            orthogonal(self.points, 7) * samples
        } else {
            samples
        };
        Ok(functions_on_sphere(
            self.degree,
            &mixing,
            orbits,
            members,
            seed,
        )?)
    }

    /// What U makes of coefficients of harmonics: K × (L + 1)².
    fn in_harmonics(&self, found: &Compact) -> Array2<f64> {
        let samples = sampled(self.degree, &spread(self.points));
        let mixing = if self.mixed {
            orthogonal(self.points, 7) * samples
        } else {
            samples
        };
        let mixing = Array2::from_shape_fn((mixing.nrows(), mixing.ncols()), |at| mixing[at]);
        found.couplings().basis().dot(&mixing)
    }
}

/// Learns the group of a case, and compares it with that of the sphere.
pub(super) fn learn(case: &Case, seed: u64) -> Result<(Row, Option<Compact>)> {
    let seen = moments(case, seed)?;
    let begun = Instant::now();
    let found = Compact::of(&seen, seed);
    let seconds = begun.elapsed().as_secs_f64();
    let mut row = Row {
        what: case.words(),
        degree: case.degree,
        points: case.points,
        mixed: case.mixed,
        noise: case.noise,
        orbits: case.orbits,
        members: case.members,
        found: String::new(),
        blocks: Vec::new(),
        harmonics: f64::NAN,
        forms: 0,
        expected: expected(&case.degrees()).len(),
        solved: [0; 2],
        wigner: 0.0,
        lambda: 0.0,
        within: 0.0,
        between: 0.0,
        seconds,
        needed: case.needed,
        right: false,
    };
    let found = match found {
        Ok(found) => found,
        Err(why) => {
            row.found = why.to_string();
            return Ok((row, None));
        }
    };
    let third = found.forms().iter().filter(|form| form.irreps.len() == 3);
    row.found = found.name().to_string();
    row.blocks = found.dimensions();
    row.forms = third.clone().count();
    row.lambda = third.map(|form| form.lambda).fold(1.0, f64::min);
    let others = case.orbits(OTHERS, 2, seed ^ 0x5eed_0000)?;
    [row.within, row.between] = distances(&found, &others)?;
    let Name::Rotations { degrees } = found.name() else {
        return Ok((row, None));
    };
    row.harmonics = from_harmonics(case, &found, &degrees).0;
    (row.solved, row.wigner) = from_wigner(&found, &seen, &degrees);
    row.right = {
        let mut sorted = degrees.clone();
        sorted.sort_unstable();
        sorted == case.degrees()
            && row.forms == row.expected
            && row.solved[0] == row.solved[1]
            && row.harmonics < RIGHT
            && row.wigner < RIGHT
    };
    Ok((row, Some(found)))
}

/// The couplings that there are of functions with one copy of each degree: antisymmetric ones of one degree vanish.
fn expected(degrees: &[usize]) -> Vec<[usize; 3]> {
    let mut all = Vec::new();
    for &a in degrees.iter().filter(|&&l| l > 0) {
        for b in a..=*degrees.iter().max().unwrap_or(&0) {
            for c in b..=(a + b).min(*degrees.iter().max().unwrap_or(&0)) {
                if (a + b + c).is_multiple_of(2) || (a != b && b != c) {
                    all.push([a, b, c]);
                }
            }
        }
    }
    all
}

/// Rows of a block.
type Rows = Vec<Vec<f64>>;

/// How far the blocks are from harmonics that were rotated and multiplied by a factor each, and the rotation.
pub(super) fn from_harmonics(case: &Case, found: &Compact, degrees: &[usize]) -> (f64, [f64; 3]) {
    let in_harmonics = case.in_harmonics(found);
    // Of every block the columns of its own degree, at length 1 and with a positive determinant.
    let mut blocks: Vec<(Degree, Rows, Rows)> = Vec::new();
    let [mut elsewhere, mut whole] = [0.0; 2];
    for (irrep, &l) in found.irreps().iter().zip(degrees) {
        let (first, d) = (irrep.copies[0], irrep.dimension);
        let rows = first..first + d;
        let own = l * l..(l + 1) * (l + 1);
        let square = |columns: std::ops::Range<usize>| -> f64 {
            let cells = rows
                .clone()
                .flat_map(|row| columns.clone().map(move |c| (row, c)));
            cells.map(|at| in_harmonics[at].powi(2)).sum()
        };
        let (all, own_square) = (square(0..in_harmonics.ncols()), square(own.clone()));
        elsewhere += d as f64 * (all - own_square) / all;
        whole += d as f64;
        let scale = (own_square / d as f64).sqrt();
        let column = |at: usize| -> Vec<f64> {
            rows.clone()
                .map(|row| in_harmonics[(row, at)] / scale)
                .collect()
        };
        let mut to: Vec<Vec<f64>> = own.map(column).collect();
        if determinant(to.clone()) < 0.0 {
            to.iter_mut().flatten().for_each(|x| *x = -*x);
        }
        let from = (0..d).map(|k| (0..d).map(|row| f64::from(u8::from(row == k))).collect());
        blocks.push((Degree::new(l), from.collect(), to));
    }
    let pairs: Vec<Pair<'_>> = blocks
        .iter()
        .flat_map(|(degree, from, to)| {
            let columns = from.iter().zip(to);
            columns.map(move |(from, to)| Pair { degree, from, to })
        })
        .collect();
    let (angles, left) = aligned(&pairs, TRIED);
    (((left + elsewhere) / whole).sqrt(), angles)
}

/// By elimination.
fn determinant(mut rows: Vec<Vec<f64>>) -> f64 {
    let n = rows.len();
    let mut product = 1.0;
    for k in 0..n {
        let largest = |a: &usize, b: &usize| rows[*a][k].abs().total_cmp(&rows[*b][k].abs());
        let Some(pivot) = (k..n).max_by(largest) else {
            break;
        };
        if pivot != k {
            rows.swap(pivot, k);
            product = -product;
        }
        let first = rows[k].clone();
        product *= first[k];
        for row in &mut rows[k + 1..] {
            let times = row[k] / first[k];
            row.iter_mut()
                .zip(&first)
                .for_each(|(x, first)| *x -= times * first);
        }
    }
    product
}

/// Of triples of irreps whose forms were solved for from data alone how many there are and how many have the right number
/// of forms, and the largest distance of a form from Wigner's symbols.
fn from_wigner(found: &Compact, seen: &Moments, degrees: &[usize]) -> ([usize; 2], f64) {
    let (mut counts, mut worst) = ([0, 0], 0.0_f64);
    let all = expected(&(0..=degrees.iter().copied().max().unwrap_or(0)).collect::<Vec<_>>());
    let moving: Vec<usize> = (0..degrees.len()).filter(|&k| degrees[k] > 0).collect();
    for (i, &a) in moving.iter().enumerate() {
        for (j, &b) in moving.iter().enumerate().skip(i) {
            for &c in &moving[j..] {
                let irreps = [a, b, c];
                let triple = irreps.map(|k| degrees[k]);
                if triple.iter().map(|l| 2 * l + 1).product::<usize>() > MOST_PRODUCTS {
                    continue;
                }
                let Some(forms) = found.forms_of(seen, irreps) else {
                    continue;
                };
                let mut sorted = triple;
                sorted.sort_unstable();
                let exists = all.contains(&sorted);
                counts[0] += 1;
                counts[1] += usize::from(forms.len() == usize::from(exists));
                if let (Some(exact), [(_, form)]) = (invariant_form(triple), &forms[..]) {
                    // What is seen of a form in which a degree stands twice is its symmetric part.
                    let exact = symmetric(triple, &exact);
                    let form = symmetric(triple, form);
                    let product: f64 = form.iter().zip(&exact).map(|(a, b)| a * b).sum();
                    let distance = (form.iter().zip(&exact))
                        .map(|(a, b)| (a - product.signum() * b).powi(2))
                        .sum::<f64>()
                        .sqrt();
                    worst = worst.max(distance);
                }
            }
        }
    }
    (counts, worst)
}

/// The mean of a form over exchanges of equal degrees, of length 1.
fn symmetric(degrees: [usize; 3], form: &[f64]) -> Vec<f64> {
    let dims = degrees.map(|l| 2 * l + 1);
    let mut orders: Vec<[usize; 3]> = vec![
        [0, 1, 2],
        [1, 0, 2],
        [0, 2, 1],
        [2, 1, 0],
        [1, 2, 0],
        [2, 0, 1],
    ];
    orders.retain(|order| (0..3).all(|k| degrees[order[k]] == degrees[k]));
    let mut out = vec![0.0; form.len()];
    for (at, out) in out.iter_mut().enumerate() {
        let index = [at / dims[2] / dims[1], at / dims[2] % dims[1], at % dims[2]];
        for order in &orders {
            let [i, j, k] = order.map(|slot| index[slot]);
            *out += form[(i * dims[1] + j) * dims[2] + k];
        }
    }
    let length = out.iter().map(|x| x * x).sum::<f64>().sqrt();
    out.iter().map(|x| x / length).collect()
}

/// Random signals from their invariants, by the couplings of degrees up to each but the lowest.
pub(super) fn invert(found: &Compact, count: usize, seed: u64) -> Result<Vec<Inverted>> {
    let Name::Rotations { degrees } = found.name() else {
        return Ok(Vec::new());
    };
    let highest = degrees.iter().copied().max().unwrap_or(0);
    let tested: Vec<usize> = if highest > 4 {
        (4..=highest).step_by(2).collect()
    } else {
        vec![highest]
    };
    let mut inverted = Vec::new();
    for most in tested {
        inverted.extend(invert_up_to(found, &degrees, most, count, seed)?);
    }
    Ok(inverted)
}

fn invert_up_to(
    found: &Compact,
    degrees: &[usize],
    most: usize,
    count: usize,
    seed: u64,
) -> Result<[Inverted; 2]> {
    // The rows of these degrees, one behind the other, as coefficients themselves.
    let kept: Vec<usize> = (0..degrees.len()).filter(|&k| degrees[k] <= most).collect();
    let mut places = vec![None; found.couplings().rows()];
    let mut parts = Vec::new();
    let mut rows = 0;
    for &irrep in &kept {
        let of = &found.irreps()[irrep];
        (0..of.dimension).for_each(|k| places[of.copies[0] + k] = Some(rows + k));
        parts.push((Degree::new(degrees[irrep]), rows..rows + of.dimension));
        rows += of.dimension;
    }
    let mut terms = Vec::new();
    for term in found.couplings().terms() {
        let offsets: Option<Vec<usize>> = term.offsets.iter().map(|&at| places[at]).collect();
        if let Some(offsets) = offsets {
            terms.push(bispectral_learn::group::couplings::Term {
                tensor: term.tensor,
                offsets,
            });
        }
    }
    let tensors = found.couplings().tensors().to_vec();
    let couplings = Couplings::new(Array2::eye(rows), tensors, terms)?;
    // What moves as a block that is kept, of blocks that are kept.
    let place = |span: Span| Some((places[span.0]?, span.1));
    let covariants = found.covariants().into_iter();
    let covariants = covariants
        .filter_map(|covariant| covariant.moved(place))
        .collect();
    // Signals that the forms of fourth order were not chosen with.
    let completed = completed(&couplings, covariants, count, seed ^ 0x5eed_0000)?;
    let invert = |couplings: &Couplings| invert_by(couplings, &parts, most, count, seed);
    Ok([invert(&couplings)?, invert(&completed)?])
}

/// Random signals of these blocks from their invariants.
fn invert_by(
    couplings: &Couplings,
    parts: &[(Degree, std::ops::Range<usize>)],
    most: usize,
    count: usize,
    seed: u64,
) -> Result<Inverted> {
    let rows = couplings.rows();
    let mut inverted = Inverted {
        degree: most,
        invariants: couplings.terms().len(),
        fourth: couplings.orders().filter(|&order| order == 4).count(),
        signals: count,
        solved: 0,
        inside: 0,
        median: f64::NAN,
        starts: 0.0,
    };
    let mut distances = Vec::new();
    for number in 0..count {
        let mut random = stream_at(seed, Purpose::Couplings, [number as u64, most as u64]);
        let mut x: Vec<f64> = (0..rows).map(|_| random.sample(StandardNormal)).collect();
        let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        x.iter_mut().for_each(|x| *x /= length);
        let back = invert_forms(
            couplings,
            &couplings.invariants(&x)?,
            STARTS,
            seed ^ number as u64,
        );
        inverted.starts += back.starts as f64 / count as f64;
        if !back.is_solved() {
            continue;
        }
        inverted.solved += 1;
        let pairs: Vec<Pair<'_>> = (parts.iter())
            .map(|(degree, rows)| Pair {
                degree,
                from: &x[rows.clone()],
                to: &back.signal[rows.clone()],
            })
            .collect();
        let distance = aligned(&pairs, TRIED).1.sqrt();
        if distance < IN_ORBIT {
            inverted.inside += 1;
            distances.push(distance);
        }
    }
    distances.sort_by(f64::total_cmp);
    inverted.median = distances
        .get(distances.len() / 2)
        .copied()
        .unwrap_or(f64::NAN);
    Ok(inverted)
}

impl Inverted {
    /// The median distance from the orbit, where a signal is in it.
    pub(super) fn distance(&self) -> String {
        if self.median.is_finite() {
            format!("{:.1e}", self.median)
        } else {
            "—".into()
        }
    }

    pub(super) fn words(&self) -> String {
        format!(
            "inversion, degrees 0–{}: of {} signals {} have the {} invariants ({} of fourth order) of the target and {} are in its orbit (median distance {}), {:.1} starts each",
            self.degree,
            self.signals,
            self.solved,
            self.invariants,
            self.fourth,
            self.inside,
            self.distance(),
            self.starts
        )
    }
}

impl Row {
    pub(super) fn cells(&self) -> [String; 10] {
        let share = |x: f64| {
            if x.is_finite() {
                format!("{x:.1e}")
            } else {
                "—".into()
            }
        };
        [
            self.what.clone(),
            format!("{} × {}", self.orbits, self.members),
            self.found.clone(),
            share(self.harmonics),
            format!("{} of {}", self.forms, self.expected),
            match self.solved {
                [0, _] => "—".into(),
                [all, right] => format!("{} ({right} of {all})", share(self.wigner)),
            },
            // Of no form there is no λ.
            share(if self.forms > 0 {
                1.0 - self.lambda
            } else {
                f64::NAN
            }),
            share(self.within),
            format!("{:.2}", self.between),
            format!("{:.1}", self.seconds),
        ]
    }
}
