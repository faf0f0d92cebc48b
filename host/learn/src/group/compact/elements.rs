//! The elements of a finite group behind a mixing: the orthogonal matrices of blocks that leave all forms as they are and by
//! which members of orbits differ, their Cayley table, and its name.
//!
//! 1. From random orthogonal blocks R_a, Gauss's and Newton's steps to (R_a ⊗ R_b ⊗ R_c) t = t for every form t. What has no
//!    residue there is an element; products of elements are others.
//! 2. Members of orbits differ by z = R(g) z₀: elements that never occur are none, and all others must be closed.
//! 3. Products make a table. With it, R(g) ← mean_h R(gh) R(h)ᵀ removes the forms' errors: the R are a representation then.
//! 4. As for [rotations](super::rotations), U is fitted to c = mean of R(g)ᵀ U y over an orbit's members, U the regression of R(g) c on y.
//!    What averages over the group leave as it is are its forms, exactly.

use super::blocks::nearest_orthogonal;
use super::commutant::symmetric_eigen;
use super::forms::Coefficients;
use super::solve::{Compact, Irrep};
use crate::group::{Cayley, group_name};
use crate::limits::interruption;
use crate::numeric::random::{Purpose, stream};
use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

/// The most elements that are looked for.
const MOST_ELEMENTS: usize = 120;
/// The largest irrep: forms of larger ones have too many numbers for so many starts.
const MOST_DIMENSION: usize = 6;
/// Random starts, and steps from each.
const STARTS: usize = 400;
const STEPS: usize = 40;
/// The share of a form's square that an element may change: forms of some members of each orbit have errors.
const MOST_CHANGE: f64 = 0.25;
/// Elements nearer than this share of the dimension are one.
const SAME: f64 = 0.25;
/// Elements between members nearer than such a share of the dimension are one, where their mean distance is less than
/// [`MOST_SPREAD`] of it: those of a continuous group would fill a third. Without noise and with some.
const NEAR: [f64; 3] = [1e-3, 1e-2, 0.06];
const MOST_SPREAD: f64 = 0.125;
/// Members of an orbit, and pairs in all, whose elements are compared, and the share that few elements must explain.
const MEMBERS: usize = 12;
const PAIRS: usize = 2400;
const LEAST_EXPLAINED: f64 = 0.8;
/// Members that differ from the first of their orbit by less than this share of their square are explained.
const UNEXPLAINED: f64 = 0.2;
/// An element that occurs less often than this share of the one that occurs most is none.
const LEAST_OFTEN: f64 = 0.1;
/// Members for each element, at least.
const LEAST_MEMBERS: usize = 8;
/// Rounds of averages over the group, and of the basis at most: orbits of two members halve what is wrong in two rounds.
const AVERAGES: usize = 6;
const ROUNDS: usize = 60;
/// A round that leaves more than this share of what is unexplained is the last.
const SMALL_GAIN: f64 = 0.98;
/// Orbits, at most, that the basis is fitted to.
const ORBITS: usize = 1500;

/// What exchanging irreps adds to the eigenvalue of a form: far less than what tells forms from others.
const EXCHANGE: f64 = 0.01;

/// What was found.
pub(super) struct Elements {
    /// U, in coordinates of samples.
    pub(super) rows: Mat<f64>,
    pub(super) name: String,
    pub(super) order: usize,
    /// Of each element the matrix of every irrep.
    pub(super) matrices: Vec<Vec<Mat<f64>>>,
}

/// One form, dense and of length 1.
struct Form {
    irreps: Vec<usize>,
    dims: Vec<usize>,
    values: Vec<f64>,
}

/// The elements by which members of orbits differ, where they are few: in every irrep with as many copies as dimensions,
/// R = Z Z₀ᵀ (Z₀ Z₀ᵀ)⁻¹ with a column of Z for each copy. `None` where an irrep has fewer copies, or members differ by ever
/// more elements: the group is continuous.
pub(super) fn between_members(irreps: &[Irrep], seen: &Coefficients) -> Option<Vec<Vec<Mat<f64>>>> {
    let known = |irrep: &Irrep| irrep.copies.len() >= irrep.dimension;
    if !irreps.iter().all(known) {
        return None;
    }
    let mut all: Vec<Vec<Mat<f64>>> = Vec::new();
    for orbit in seen
        .orbits
        .iter()
        .take(PAIRS / seen.members().clamp(2, MEMBERS))
    {
        let block = |irrep: &Irrep, m: usize| {
            let (d, count) = (irrep.dimension, irrep.copies.len());
            Mat::from_fn(d, count, |row, copy| orbit[(irrep.copies[copy] + row, m)])
        };
        for member in 1..orbit.ncols().min(MEMBERS) {
            let between =
                |irrep| nearest_orthogonal(&(block(irrep, member) * block(irrep, 0).transpose()));
            all.push(irreps.iter().map(between).collect::<Option<_>>()?);
        }
    }
    NEAR.into_iter().find_map(|near| few(&all, near))
}

/// The few that come again and again, and have nothing around them; `None` where others come, too.
fn few(all: &[Vec<Mat<f64>>], near: f64) -> Option<Vec<Vec<Mat<f64>>>> {
    let mut found: Vec<(&Vec<Mat<f64>>, usize, f64)> = Vec::new();
    for element in all {
        let at = found.iter_mut().find_map(|place| {
            let distance = distance(place.0, element);
            (distance < near).then_some((place, distance))
        });
        match at {
            Some((place, distance)) => (place.1, place.2) = (place.1 + 1, place.2 + distance),
            None => found.push((element, 1, 0.0)),
        }
        if found.len() > 4 * MOST_ELEMENTS {
            return None;
        }
    }
    let least = LEAST_OFTEN * found.iter().map(|place| place.1).max()? as f64;
    found.retain(|place| place.1 > 1 && place.1 as f64 > least);
    let explained: usize = found.iter().map(|place| place.1).sum();
    let spread = found.iter().map(|place| place.2).sum::<f64>() / explained.max(1) as f64;
    let enough = all.len() >= LEAST_MEMBERS * found.len();
    let few = explained as f64 >= LEAST_EXPLAINED * all.len() as f64 && spread < near * MOST_SPREAD;
    (enough && few).then(|| found.into_iter().map(|place| place.0.clone()).collect())
}

/// The elements of the group, if it has a name that can be proven: those `between` members and their products, or what the
/// forms allow.
pub(super) fn elements(
    compact: &Compact,
    between: Option<Vec<Vec<Mat<f64>>>>,
    seen: &Coefficients,
    rows: &Mat<f64>,
) -> Option<Elements> {
    let irreps = &compact.irreps;
    if irreps.iter().any(|irrep| irrep.dimension > MOST_DIMENSION) {
        return None;
    }
    let forms = dense(compact);
    let mut found: Vec<Vec<Mat<f64>>> = Vec::new();
    if let Some(between) = between {
        add(&mut found, Some(identity(irreps)))?;
        for element in between {
            add(&mut found, Some(element))?;
        }
    } else {
        let mut random = stream(0, Purpose::Spectral);
        for _ in 0..STARTS {
            let start = irreps.iter().map(|irrep| start(irrep, &mut random));
            let element = improved(&forms, start.collect());
            add(&mut found, element)?;
        }
    }
    let mut next = 0;
    while next < found.len() {
        for other in 0..=next {
            for (a, b) in [(next, other), (other, next)] {
                let product = found[a].iter().zip(&found[b]).map(|(a, b)| a * b).collect();
                add(&mut found, improved(&forms, product))?;
            }
        }
        next += 1;
    }
    let found = occurring(found, irreps, seen)?;
    let (found, table) = representation(found)?;
    let name = group_name(&table);
    if !name.proven {
        return None;
    }
    let change = fitted(&found, irreps, seen)?;
    Some(Elements {
        rows: change * rows,
        name: name.name,
        order: found.len(),
        matrices: found,
    })
}

fn dense(compact: &Compact) -> Vec<Form> {
    let several = compact.forms.iter().filter(|form| form.irreps.len() > 1);
    let dense = several.map(|form| {
        let tensor = &compact.couplings.tensors()[form.tensor];
        let dims = tensor.dims().to_vec();
        let mut values = vec![0.0; dims.iter().product()];
        for entry in tensor.entries() {
            let index = entry.index();
            let at = (0..dims.len()).fold(0, |at, k| at * dims[k] + usize::from(index[k]));
            values[at] = entry.value;
        }
        let length = values.iter().map(|x| x * x).sum::<f64>().sqrt();
        values.iter_mut().for_each(|x| *x /= length);
        Form {
            irreps: form.irreps.clone(),
            dims,
            values,
        }
    });
    dense.collect()
}

/// A random orthogonal matrix, of either determinant.
fn start(irrep: &Irrep, random: &mut ChaCha8Rng) -> Mat<f64> {
    let d = irrep.dimension;
    if irrep.trivial {
        return Mat::identity(1, 1);
    }
    let gaussian = Mat::from_fn(d, d, |_, _| random.sample::<f64, _>(StandardNormal));
    let mut q = gaussian.qr().compute_thin_Q();
    for column in q.col_iter_mut() {
        if random.random::<bool>() {
            column.iter_mut().for_each(|x| *x = -*x);
        }
    }
    q
}

fn identity(irreps: &[Irrep]) -> Vec<Mat<f64>> {
    let identity = |irrep: &Irrep| Mat::identity(irrep.dimension, irrep.dimension);
    irreps.iter().map(identity).collect()
}

/// Adds an element that is new; `None` where there are too many.
fn add(found: &mut Vec<Vec<Mat<f64>>>, element: Option<Vec<Mat<f64>>>) -> Option<()> {
    let Some(element) = element else {
        return Some(());
    };
    if found.iter().any(|other| distance(other, &element) < SAME) {
        return Some(());
    }
    found.push(element);
    (found.len() <= MOST_ELEMENTS).then_some(())
}

/// The largest share of an irrep's dimension by which two elements differ.
fn distance(a: &[Mat<f64>], b: &[Mat<f64>]) -> f64 {
    let of = |(a, b): (&Mat<f64>, &Mat<f64>)| (a - b).squared_norm_l2() / a.nrows() as f64;
    a.iter().zip(b).map(of).fold(0.0, f64::max)
}

/// The tensor with a matrix at one of its indices.
fn contracted(values: &[f64], dims: &[usize], slot: usize, matrix: &Mat<f64>) -> Vec<f64> {
    let stride: usize = dims[slot + 1..].iter().product();
    let d = dims[slot];
    let mut out = vec![0.0; values.len()];
    for (at, &value) in values.iter().enumerate() {
        if value == 0.0 {
            continue;
        }
        let index = at / stride % d;
        let first = at - index * stride;
        for row in 0..d {
            out[first + row * stride] += matrix[(row, index)] * value;
        }
    }
    out
}

fn moved(form: &Form, element: &[Mat<f64>]) -> Vec<f64> {
    let slots = form.irreps.iter().enumerate();
    slots.fold(form.values.clone(), |values, (slot, &irrep)| {
        contracted(&values, &form.dims, slot, &element[irrep])
    })
}

/// Steps to an element that leaves all forms as they are; `None` where they lead to none.
fn improved(forms: &[Form], mut element: Vec<Mat<f64>>) -> Option<Vec<Mat<f64>>> {
    let places: Vec<(usize, usize, usize)> = (element.iter().enumerate())
        .flat_map(|(irrep, matrix)| {
            let d = matrix.nrows();
            (0..d).flat_map(move |q| (0..q).map(move |p| (irrep, p, q)))
        })
        .collect();
    let changes = |element: &[Mat<f64>]| -> Vec<f64> {
        let change = |form: &Form| {
            let moved = moved(form, element);
            let squares = moved.iter().zip(&form.values).map(|(a, b)| (a - b).powi(2));
            squares.sum::<f64>()
        };
        forms.iter().map(change).collect()
    };
    let mut loss = changes(&element).iter().sum::<f64>();
    let mut damping = 1e-2;
    for _ in 0..STEPS {
        interruption::check();
        let n = places.len();
        let mut normal = Mat::<f64>::zeros(n, n);
        let mut slope = Mat::<f64>::zeros(n, 1);
        for form in forms {
            let here = moved(form, &element);
            let concerned: Vec<usize> = (0..n)
                .filter(|&k| form.irreps.contains(&places[k].0))
                .collect();
            let mut columns = Vec::new();
            for &k in &concerned {
                let (irrep, p, q) = places[k];
                let mut column = vec![0.0; here.len()];
                for slot in (0..form.irreps.len()).filter(|&slot| form.irreps[slot] == irrep) {
                    let stride: usize = form.dims[slot + 1..].iter().product();
                    for (at, &value) in here.iter().enumerate() {
                        // E_pq − E_qp.
                        match at / stride % form.dims[slot] {
                            index if index == q => column[at - (q - p) * stride] += value,
                            index if index == p => column[at + (q - p) * stride] -= value,
                            _ => {}
                        }
                    }
                }
                columns.push(column);
            }
            for (i, &k) in concerned.iter().enumerate() {
                let residues = form.values.iter().zip(&here).map(|(t, here)| t - here);
                slope[(k, 0)] += columns[i]
                    .iter()
                    .zip(residues)
                    .map(|(c, r)| c * r)
                    .sum::<f64>();
                for (j, &l) in concerned.iter().enumerate() {
                    let terms = columns[i].iter().zip(&columns[j]);
                    normal[(k, l)] += terms.map(|(a, b)| a * b).sum::<f64>();
                }
            }
        }
        if n == 0 || slope.norm_l2() < 1e-10 {
            break;
        }
        let mut damped = normal.clone();
        (0..n).for_each(|k| damped[(k, k)] += damping);
        let step = damped.llt(Side::Lower).ok()?.solve(&slope);
        let mut turns: Vec<Mat<f64>> = (element.iter())
            .map(|matrix| Mat::identity(matrix.nrows(), matrix.nrows()))
            .collect();
        for (k, &(irrep, p, q)) in places.iter().enumerate() {
            turns[irrep][(p, q)] += step[(k, 0)];
            turns[irrep][(q, p)] -= step[(k, 0)];
        }
        let next: Option<Vec<Mat<f64>>> = turns
            .iter()
            .zip(&element)
            .map(|(turn, matrix)| nearest_orthogonal(&(turn * matrix)))
            .collect();
        let next = next?;
        let after = changes(&next).iter().sum::<f64>();
        if after < loss {
            let gain = loss - after;
            (element, loss) = (next, after);
            damping = (damping / 5.0_f64).max(1e-9);
            if gain < 1e-12 {
                break;
            }
        } else {
            damping *= 8.0;
            if damping > 1e3 {
                break;
            }
        }
    }
    let worst = changes(&element).into_iter().fold(0.0, f64::max);
    (worst < MOST_CHANGE).then_some(element)
}

/// R z of all copies.
fn acted(element: &[Mat<f64>], irreps: &[Irrep], z: &[f64], transposed: bool) -> Vec<f64> {
    let mut out = vec![0.0; z.len()];
    for (matrix, irrep) in element.iter().zip(irreps) {
        for &first in &irrep.copies {
            for row in 0..irrep.dimension {
                for column in 0..irrep.dimension {
                    let at = if transposed {
                        (column, row)
                    } else {
                        (row, column)
                    };
                    out[first + row] += matrix[at] * z[first + column];
                }
            }
        }
    }
    out
}

fn column(matrix: &Mat<f64>, at: usize) -> Vec<f64> {
    matrix.col(at).iter().copied().collect()
}

/// The element by which a member differs from the origin of its orbit, and the square of what is left.
fn nearest(found: &[Vec<Mat<f64>>], irreps: &[Irrep], origin: &[f64], z: &[f64]) -> (usize, f64) {
    let square = |element: &Vec<Mat<f64>>| {
        let there = acted(element, irreps, origin, false);
        there
            .iter()
            .zip(z)
            .map(|(a, b)| (a - b).powi(2))
            .sum::<f64>()
    };
    let squares = found.iter().map(square).enumerate();
    squares
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap_or((0, f64::INFINITY))
}

/// The elements by which members of orbits differ.
fn occurring(
    found: Vec<Vec<Mat<f64>>>,
    irreps: &[Irrep],
    seen: &Coefficients,
) -> Option<Vec<Vec<Mat<f64>>>> {
    let mut counts = vec![0_usize; found.len()];
    let [mut left, mut whole] = [0.0; 2];
    for orbit in seen.orbits.iter().take(ORBITS) {
        let origin = column(orbit, 0);
        for member in 1..orbit.ncols() {
            let z = column(orbit, member);
            let (element, square) = nearest(&found, irreps, &origin, &z);
            counts[element] += 1;
            left += square;
            whole += z.iter().map(|z| z * z).sum::<f64>();
        }
    }
    let (all, most) = (counts.iter().sum::<usize>(), counts.iter().max()?);
    if left > UNEXPLAINED * whole || all < LEAST_MEMBERS * found.len() {
        return None;
    }
    let least = LEAST_OFTEN * *most as f64;
    let identity = identity(irreps);
    let kept = found
        .into_iter()
        .zip(counts)
        .filter(|(element, count)| *count as f64 > least || distance(element, &identity) < SAME);
    Some(kept.map(|(element, _)| element).collect())
}

/// The table of these elements, and their matrices as a representation of it.
fn representation(mut found: Vec<Vec<Mat<f64>>>) -> Option<(Vec<Vec<Mat<f64>>>, Cayley)> {
    let order = found.len();
    let mut products = Vec::with_capacity(order * order);
    for a in &found {
        for b in &found {
            let product: Vec<Mat<f64>> = a.iter().zip(b).map(|(a, b)| a * b).collect();
            let number = found.iter().position(|c| distance(c, &product) < SAME)?;
            products.push(number as u16);
        }
    }
    for row in products.chunks_exact(order) {
        let mut seen = row.to_vec();
        seen.sort_unstable();
        seen.dedup();
        if seen.len() < order {
            return None;
        }
    }
    for _ in 0..AVERAGES {
        let mut next = Vec::with_capacity(order);
        for g in 0..order {
            let mut sums: Vec<Mat<f64>> = found[g]
                .iter()
                .map(|m| Mat::zeros(m.nrows(), m.nrows()))
                .collect();
            for h in 0..order {
                let product = usize::from(products[g * order + h]);
                for (irrep, sum) in sums.iter_mut().enumerate() {
                    *sum += &found[product][irrep] * found[h][irrep].transpose();
                }
            }
            let orthogonal: Option<Vec<Mat<f64>>> = sums.iter().map(nearest_orthogonal).collect();
            next.push(orthogonal?);
        }
        found = next;
    }
    let table = Cayley::new(order, products).ok()?;
    Some((found, table))
}

/// The basis in which members differ by these elements, from the one before.
fn fitted(found: &[Vec<Mat<f64>>], irreps: &[Irrep], seen: &Coefficients) -> Option<Mat<f64>> {
    let k = seen.orbits.first()?.nrows();
    let orbits = &seen.orbits[seen.orbits.len() - seen.orbits.len().min(ORBITS)..];
    let mut gram = Mat::<f64>::zeros(k, k);
    for orbit in orbits {
        gram += orbit * orbit.transpose();
    }
    let gram = gram.llt(Side::Lower).ok()?;
    let mut change = Mat::<f64>::identity(k, k);
    let mut before = f64::INFINITY;
    for _ in 0..ROUNDS {
        let mut products = Mat::<f64>::zeros(k, k);
        let [mut left, mut whole] = [0.0; 2];
        for orbit in orbits {
            let z = &change * orbit;
            let first = column(&z, 0);
            let mut origin = vec![0.0; k];
            let mut which = Vec::new();
            for member in 0..z.ncols() {
                let z = column(&z, member);
                let element = nearest(found, irreps, &first, &z).0;
                let back = acted(&found[element], irreps, &z, true);
                origin
                    .iter_mut()
                    .zip(back)
                    .for_each(|(sum, x)| *sum += x / orbit.ncols() as f64);
                which.push(element);
            }
            let mut targets = Mat::<f64>::zeros(k, which.len());
            for (member, &element) in which.iter().enumerate() {
                let target = acted(&found[element], irreps, &origin, false);
                for (row, x) in target.into_iter().enumerate() {
                    targets[(row, member)] = x;
                }
            }
            left += (&z - &targets).squared_norm_l2();
            whole += z.squared_norm_l2();
            products += orbit * targets.transpose();
        }
        if left > UNEXPLAINED * whole {
            return None;
        }
        change = gram.solve(&products).transpose().to_owned();
        // Less than rounding leaves is nothing.
        if left > SMALL_GAIN * before || left < 1e-13 * whole {
            break;
        }
        before = left;
    }
    Some(change)
}

/// Antisymmetric orthogonal matrices that commute with an irrep: 1 of complex, 3 of quaternionic type.
pub(super) fn structures(matrices: &[Vec<Mat<f64>>], irrep: usize) -> Vec<Mat<f64>> {
    let d = matrices[0][irrep].nrows();
    let mut found: Vec<Mat<f64>> = Vec::new();
    for (p, q) in (0..d).flat_map(|q| (0..q).map(move |p| (p, q))) {
        let mut mean = Mat::<f64>::zeros(d, d);
        for element in matrices {
            let (a, b) = (element[irrep].col(p), element[irrep].col(q));
            mean += a * b.transpose() - b * a.transpose();
        }
        mean *= faer::Scale(1.0 / matrices.len() as f64);
        for other in &found {
            let columns = mean.col_iter().zip(other.col_iter());
            let share = columns.map(|(a, b)| a.transpose() * b).sum::<f64>() / d as f64;
            mean -= other * faer::Scale(share);
        }
        let length = (mean.squared_norm_l2() / d as f64).sqrt();
        if length > 1e-6 {
            found.push(mean * faer::Scale(1.0 / length));
        }
    }
    found
}

/// The forms of three irreps that all elements leave as they are, orthonormal; of the same irreps, symmetric ones apart from others.
pub(super) fn invariant_forms(
    matrices: &[Vec<Mat<f64>>],
    irreps: [usize; 3],
) -> Option<Vec<Vec<f64>>> {
    let dims = irreps.map(|irrep| matrices[0][irrep].nrows());
    let size: usize = dims.iter().product();
    let mut mean = Mat::<f64>::zeros(size, size);
    let index = |at: usize| [at / dims[2] / dims[1], at / dims[2] % dims[1], at % dims[2]];
    for element in matrices {
        for column in 0..size {
            let from = index(column);
            for row in 0..size {
                let to = index(row);
                let entry = (0..3).map(|k| element[irreps[k]][(to[k], from[k])]);
                mean[(row, column)] += entry.product::<f64>() / matrices.len() as f64;
            }
        }
    }
    let pairs = [(0, 1), (1, 2), (0, 2)];
    for (a, b) in pairs.into_iter().filter(|&(a, b)| irreps[a] == irreps[b]) {
        for from in 0..size {
            let mut to = index(from);
            to.swap(a, b);
            mean[((to[0] * dims[1] + to[1]) * dims[2] + to[2], from)] += EXCHANGE;
        }
    }
    let (values, vectors) = symmetric_eigen(&mean)?;
    let count = values.iter().take_while(|&&value| value > 0.5).count();
    let form = |k: usize| (0..size).map(|at| vectors[(at, k)]).collect();
    Some((0..count).map(form).collect())
}
