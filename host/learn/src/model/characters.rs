//! Invariants of many signals under a commutative group: of models that store no W (`cyclic`, `fft`), by a transform of 32 signals
//! side by side for their coefficients.
//!
//! Each z_ij is a times the coefficient of the character k_i + k_j, and the a of all terms is lost in β̄. Terms are computed for one
//! signal after the other where their second rows follow one another in long runs, and else for signals side by side.

#![allow(
    clippy::needless_range_loop,
    reason = "lanes of several arrays are taken at once"
)]

use super::batch::{Floor, LANES as SUMS, terms};
use super::transform::{LANES, Lanes, Planes, Transform};
use bispectral_core::format::{Structure, Weights};
use bispectral_core::{Complex32, Model};
use pulp::Arch;

/// The most elements of a group: what signals are transformed in then has 256 KiB, half of a small second-level cache.
const MOST_ELEMENTS: usize = 1024;
/// Pairs of a run, on average, from which on runs of one signal are faster than pairs of signals side by side.
const LONG: usize = 8;

/// A group, the characters of a model's rows, and its pairs.
#[derive(Debug, Clone)]
pub(super) struct Characters {
    /// The element of each input.
    elements: Vec<usize>,
    transform: Transform,
    /// The element −k of each k, and how many rows have k.
    negatives: Vec<usize>,
    rows: Vec<f32>,
    /// The last factor.
    last: usize,
    terms: Terms,
    pairs: usize,
    /// a.
    amplitude: f32,
    floor: Floor,
}

/// In which order terms are computed.
#[derive(Debug, Clone)]
enum Terms {
    /// Places in a table that has every coordinate along the last factor twice, one turn behind the other.
    Runs(Vec<Run>),
    /// Elements k_i, k_j and k_i + k_j of each pair.
    Each(Vec<[u32; 3]>),
}

/// Pairs that follow one another, whose second characters do, and the sums of both.
#[derive(Debug, Clone, Copy)]
struct Run {
    first: u32,
    second: u32,
    sum: u32,
    len: u32,
}

/// What one thread computes in.
#[derive(Debug, Default)]
pub(super) struct Room {
    z: Planes,
    other: Planes,
    /// Coefficients of half of the signals.
    half: Planes,
    /// Terms of those.
    terms: Vec<[Lanes; 2]>,
    /// Real and imaginary parts of the table of one signal.
    table: [Vec<f32>; 2],
}

/// Elements of a product of cyclic groups, the last factor fastest.
struct Elements {
    factors: Vec<usize>,
    order: usize,
    last: usize,
}

impl Elements {
    fn of(factors: impl Iterator<Item = u16>) -> Self {
        let factors: Vec<usize> = factors.map(|factor| usize::from(factor).max(1)).collect();
        Elements {
            order: factors.iter().product(),
            last: factors.last().copied().unwrap_or(1),
            factors,
        }
    }

    fn combined(&self, a: usize, b: usize, each: impl Fn(usize, usize, usize) -> usize) -> usize {
        let (mut a, mut b, mut result, mut stride) = (a, b, 0, 1);
        for &factor in self.factors.iter().rev() {
            result += stride * each(a % factor, b % factor, factor);
            (a, b, stride) = (a / factor, b / factor, stride * factor);
        }
        result
    }

    fn sum(&self, a: usize, b: usize) -> usize {
        self.combined(a, b, |a, b, factor| (a + b) % factor)
    }

    fn negative(&self, a: usize) -> usize {
        self.combined(a, 0, |a, _, factor| (factor - a) % factor)
    }

    /// The place of an element in a table that has every coordinate along the last factor twice.
    fn place(&self, element: usize) -> usize {
        element / self.last * 2 * self.last + element % self.last
    }

    /// Where the sum of two elements stands there, where the last coordinate is not taken modulo its factor.
    fn place_of_sum(&self, a: usize, b: usize) -> usize {
        let outer = self.sum(a / self.last * self.last, b / self.last * self.last);
        self.place(outer) + a % self.last + b % self.last
    }
}

impl Characters {
    /// None where the model is of another kind, or the group so large that a transform is faster.
    pub(super) fn new(model: &Model<'_>) -> Option<Self> {
        let parts = model.parts();
        let (
            Structure::Cyclic {
                factors,
                characters,
                elements,
                ..
            },
            Weights::F32(roots),
        ) = (parts.structure, parts.weights)
        else {
            return None;
        };
        let group = Elements::of(factors.iter());
        if group.order > MOST_ELEMENTS {
            return None;
        }
        let rows: Vec<usize> = characters.iter().map(usize::from).collect();
        let roots: Vec<f32> = roots.iter().collect();
        let (re, im) = roots.split_at(roots.len() / 2);
        let (amplitude, exponent) = (re[0], re.len());
        let root = |m: usize, k: usize| {
            let at = k * (exponent / m);
            [re[at] / amplitude, im[at] / amplitude]
        };
        let mut count = vec![0.0; group.order];
        rows.iter().for_each(|&row| count[row] += 1.0);
        let modulus = re.iter().zip(im).map(|(re, im)| re * re + im * im);
        let runs = runs(model, &group, &rows);
        let terms = if model.pairs() < LONG * runs.len() {
            let element = |(i, j): (usize, usize)| {
                let sum = group.sum(rows[i], rows[j]);
                [rows[i], rows[j], sum].map(|element| element as u32)
            };
            Terms::Each(model.pair_list().map(element).collect())
        } else {
            Terms::Runs(runs)
        };
        Some(Characters {
            elements: elements.iter().map(usize::from).collect(),
            transform: Transform::new(&group.factors, root),
            negatives: (0..group.order).map(|k| group.negative(k)).collect(),
            rows: count,
            last: group.last,
            terms,
            pairs: model.pairs(),
            amplitude,
            floor: Floor::new(model, modulus.fold(0.0, f32::max)),
        })
    }

    /// β̄ of each of `samples`, one sample behind the other. Those that are out of range, or near what rounding alone can
    /// make, are left not finite: the core decides on them.
    pub(super) fn compute(&self, samples: &[f32], room: &mut Room, out: &mut [Complex32]) {
        let samples = samples.chunks(2 * LANES * self.elements.len());
        let results = out.chunks_mut(2 * LANES * self.pairs);
        for (samples, out) in samples.zip(results) {
            Arch::new().dispatch(|| self.of_some(samples, room, out));
        }
    }

    /// Of as many as are transformed side by side.
    #[inline(always)]
    fn of_some(&self, samples: &[f32], room: &mut Room, out: &mut [Complex32]) {
        let order = self.negatives.len();
        for part in &mut room.z {
            part.clear();
            part.resize(order, [0.0; LANES]);
        }
        for (at, sample) in samples.chunks_exact(self.elements.len()).enumerate() {
            // β is of the third degree: scaled first, so that it stays in range, and to one length, so that no signal is lost in
            // the rounding of the one beside it.
            let scale = self.amplitude / length(sample);
            let scale = if scale.is_finite() { scale } else { 0.0 };
            let part = &mut room.z[at / LANES];
            for (x, &element) in sample.iter().zip(&self.elements) {
                part[element][at % LANES] += scale * x;
            }
        }
        self.transform.apply(&mut room.z, &mut room.other);
        for (half, out) in out.chunks_mut(LANES * self.pairs).enumerate() {
            self.part(&room.z, half, &mut room.half);
            match &self.terms {
                Terms::Each(pairs) => self.side_by_side(pairs, &room.half, &mut room.terms, out),
                Terms::Runs(runs) => {
                    for (lane, out) in out.chunks_exact_mut(self.pairs).enumerate() {
                        self.of_sample(runs, &room.half, lane, &mut room.table, out);
                    }
                }
            }
        }
    }

    /// The coefficients of the signals that were real parts (`half` 0) or imaginary parts (1).
    #[inline(always)]
    fn part(&self, [z_re, z_im]: &Planes, half: usize, [re, im]: &mut Planes) {
        re.resize(z_re.len(), [0.0; LANES]);
        im.resize(z_re.len(), [0.0; LANES]);
        let parts = re.iter_mut().zip(im);
        for ((re, im), (k, &negative)) in parts.zip(self.negatives.iter().enumerate()) {
            let ([a, b], [c, d]) = ([&z_re[k], &z_im[k]], [&z_re[negative], &z_im[negative]]);
            for lane in 0..LANES {
                let [a, b, c, d] = [a[lane], b[lane], c[lane], d[lane]];
                (re[lane], im[lane]) = match half {
                    0 => (0.5 * (a + c), 0.5 * (b - d)),
                    _ => (0.5 * (b + d), 0.5 * (c - a)),
                };
            }
        }
    }

    /// β̄ of signals whose coefficients are `z`, pair after pair.
    #[inline(always)]
    fn side_by_side(
        &self,
        pairs: &[[u32; 3]],
        [re, im]: &Planes,
        terms: &mut Vec<[Lanes; 2]>,
        out: &mut [Complex32],
    ) {
        let (mut squares, mut coefficients) = ([0.0; LANES], [0.0; LANES]);
        for ((re, im), rows) in re.iter().zip(im).zip(&self.rows) {
            for lane in 0..LANES {
                coefficients[lane] += rows * (re[lane] * re[lane] + im[lane] * im[lane]);
            }
        }
        terms.resize(pairs.len(), [[0.0; LANES]; 2]);
        for (to, places) in terms.iter_mut().zip(pairs) {
            let [i, j, sum] = places.map(|place| place as usize);
            let [to_re, to_im] = to;
            for lane in 0..LANES {
                let (a, b) = (re[i][lane], im[i][lane]);
                let (c, d) = (re[j][lane], im[j][lane]);
                let (p, q) = (re[sum][lane], im[sum][lane]);
                let (both_re, both_im) = (a * c - b * d, a * d + b * c);
                to_re[lane] = both_re * p + both_im * q;
                to_im[lane] = both_im * p - both_re * q;
                squares[lane] += to_re[lane] * to_re[lane] + to_im[lane] * to_im[lane];
            }
        }
        for (lane, out) in out.chunks_exact_mut(self.pairs).enumerate() {
            let factor = self.factor(squares[lane], coefficients[lane]);
            for (to, [re, im]) in out.iter_mut().zip(&*terms) {
                *to = Complex32::new(factor * re[lane], factor * im[lane]);
            }
        }
    }

    /// β̄ of one signal of those whose coefficients are `z`, run after run.
    #[inline(always)]
    fn of_sample(
        &self,
        runs: &[Run],
        [z_re, z_im]: &Planes,
        lane: usize,
        [re, im]: &mut [Vec<f32>; 2],
        out: &mut [Complex32],
    ) {
        re.clear();
        im.clear();
        let mut coefficients = 0.0;
        let z = z_re.chunks(self.last).zip(z_im.chunks(self.last));
        for ((z_re, z_im), rows) in z.zip(self.rows.chunks(self.last)) {
            let first = re.len();
            re.extend(z_re.iter().map(|lanes| lanes[lane]));
            im.extend(z_im.iter().map(|lanes| lanes[lane]));
            let powers = re[first..].iter().zip(&im[first..]).zip(rows);
            coefficients += powers
                .map(|((re, im), rows)| rows * (re * re + im * im))
                .sum::<f32>();
            re.extend_from_within(first..);
            im.extend_from_within(first..);
        }
        let (mut squares, mut rest) = (0.0, &mut *out);
        for run in runs {
            let [first, second, sum, len] =
                [run.first, run.second, run.sum, run.len].map(|number| number as usize);
            let (to, behind) = rest.split_at_mut(len);
            let z_j = [&re[second..][..len], &im[second..][..len]];
            let s = [&re[sum..][..len], &im[sum..][..len]];
            squares += terms((re[first], im[first]), z_j, s, to);
            rest = behind;
        }
        let factor = self.factor(squares, coefficients);
        out.iter_mut().for_each(|term| *term *= factor);
    }

    /// What to multiply β by, of a signal of length one.
    fn factor(&self, squares: f32, coefficients: f32) -> f32 {
        // The length with its a, as the core has it.
        let length = self.amplitude * squares.sqrt();
        self.amplitude / self.floor.divisor(length, 1.0, coefficients)
    }
}

/// Runs of a model's pairs.
fn runs(model: &Model<'_>, group: &Elements, rows: &[usize]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut last = None;
    for (i, j) in model.pair_list() {
        let second = group.place(rows[j]) as u32;
        let sum = group.place_of_sum(rows[i], rows[j]) as u32;
        match runs.last_mut() {
            Some(run)
                if last == Some(i)
                    && run.second + run.len == second
                    && run.sum + run.len == sum =>
            {
                run.len += 1;
            }
            _ => runs.push(Run {
                first: group.place(rows[i]) as u32,
                second,
                sum,
                len: 1,
            }),
        }
        last = Some(i);
    }
    runs
}

/// ‖x‖, of numbers of any size.
#[inline(always)]
fn length(sample: &[f32]) -> f32 {
    let largest = largest(sample);
    let factor = 1.0 / largest;
    let (parts, rest) = sample.as_chunks::<SUMS>();
    let mut lanes = [0.0_f32; SUMS];
    for part in parts {
        for (lane, x) in lanes.iter_mut().zip(part) {
            *lane += (factor * x) * (factor * x);
        }
    }
    let rest = rest.iter().map(|x| (factor * x) * (factor * x));
    largest * lanes.into_iter().chain(rest).sum::<f32>().sqrt()
}

/// The largest |x|.
#[inline(always)]
fn largest(sample: &[f32]) -> f32 {
    let larger = |largest: f32, x: f32| if x > largest { x } else { largest };
    let (parts, rest) = sample.as_chunks::<SUMS>();
    let mut lanes = [0.0; SUMS];
    for part in parts {
        for (lane, x) in lanes.iter_mut().zip(part) {
            *lane = larger(*lane, x.abs());
        }
    }
    let rest = rest.iter().map(|x| x.abs());
    lanes.into_iter().chain(rest).fold(0.0, larger)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::group::Group;
    use crate::model::file::ModelBytes;
    use crate::model::form::{self, Encoding, Form, Source};
    use crate::numeric::random::{Purpose, stream};
    use rand::RngExt;

    fn model(
        group: &str,
        structure: form::Structure,
        pairs: Option<Vec<(usize, usize)>>,
    ) -> Vec<u8> {
        let w = group.parse::<Group>().unwrap().characters();
        let w = w.mapv(|w| Complex32::new(w.re as f32, w.im as f32));
        let dense = ModelBytes::of(&w.view(), group, Some(group)).unwrap();
        let form = Form {
            encoding: Encoding::F32,
            structure,
            pairs,
        };
        let view = dense.view();
        Source::new(group.as_ref(), &view)
            .form(&form, None)
            .unwrap()
    }

    fn check(bytes: &[u8]) {
        let model = Model::from_bytes(bytes).unwrap();
        let characters = Characters::new(&model).unwrap();
        let (inputs, pairs) = (model.inputs(), model.pairs());
        let mut random = stream(1, Purpose::Classifier);
        let mut samples: Vec<f32> = (0..5 * inputs)
            .map(|_| 2.0 * random.random::<f32>() - 1.0)
            .collect();
        samples[inputs..2 * inputs]
            .iter_mut()
            .for_each(|x| *x *= 1e30);
        samples[2 * inputs..3 * inputs].fill(0.0);
        let mut found = vec![Complex32::ZERO; 5 * pairs];
        characters.compute(&samples, &mut Room::default(), &mut found);
        for (at, (x, found)) in samples.chunks(inputs).zip(found.chunks(pairs)).enumerate() {
            if at == 2 {
                assert!(found.iter().all(|term| !term.is_finite()));
                continue;
            }
            let expected = model.invariants_vec(x).unwrap();
            for (k, (found, expected)) in found.iter().zip(&expected).enumerate() {
                // Sums of at most 64 products in another order, of terms of at most one.
                let off = (found - expected).norm();
                assert!(
                    off < 2e-6,
                    "{:?}: sample {at}, term {k}: off by {off}",
                    model.group()
                );
            }
        }
    }

    #[test]
    fn they_are_those_of_the_core_and_what_is_out_of_range_is_left_to_it() {
        use bispectral_core::format::Transform::{Fft, Sums};
        use form::Structure::Cyclic;
        for group in [
            "Z1", "Z2", "Z7", "Z16", "Z64", "Z4xZ4", "Z2xZ3xZ5", "Z2xZ2xZ2",
        ] {
            check(&model(group, Cyclic(Sums), None));
        }
        check(&model("Z8xZ8", Cyclic(Fft), None));
        let listed = vec![(0, 0), (0, 2), (1, 5), (1, 6), (3, 3), (5, 15)];
        check(&model("Z4xZ4", Cyclic(Fft), Some(listed)));
    }
}
