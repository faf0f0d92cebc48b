//! Invariants of many signals under a commutative group: of models that store no W (`cyclic`, `fft`), by one product of
//! matrices for the coefficients of all signals of a block.
//!
//! A real signal has z_−k = conj z_k, so of two conjugate characters one is computed. Each z_ij is a times the coefficient of
//! the character k_i + k_j, and the a of all terms is lost in β̄.

use super::batch::{Floor, LANES, terms};
use crate::numeric::matrix::{matrix, matrix_mut, multiply};
use bispectral_core::format::{Structure, Weights};
use bispectral_core::{Complex32, Model};
use pulp::Arch;

/// The most elements of a group: with twice as many the core's transform of one signal after the other is as fast.
const MOST_ELEMENTS: usize = 1024;

/// A group, the characters of a model's rows, and its pairs.
#[derive(Debug, Clone)]
pub(super) struct Characters {
    inputs: usize,
    /// Real parts and then imaginary parts of the characters that are computed, for one input after the other.
    w: Vec<f32>,
    computed: usize,
    /// Which of those the coefficient at each place of the table is, and whether it is the conjugate (−1) or itself (1). The
    /// table has every coordinate along the last factor twice, one turn behind the other.
    table: Vec<(u32, f32)>,
    /// How many rows have each computed character, or its conjugate.
    rows: Vec<f32>,
    runs: Vec<Run>,
    pairs: usize,
    /// a.
    amplitude: f32,
    floor: Floor,
}

/// Pairs that follow one another, whose second characters do, and the sums of both: places in the table.
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
    x: Vec<f32>,
    z: Vec<f32>,
    /// Real and imaginary parts of the table.
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
        let inputs: Vec<usize> = elements.iter().map(usize::from).collect();
        let roots: Vec<f32> = roots.iter().collect();
        let (re, im) = roots.split_at(roots.len() / 2);

        let mut runs: Vec<Run> = Vec::new();
        let mut pairs = 0;
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
            pairs += 1;
        }

        // Of conjugate characters the smaller number is computed.
        let of_pair = |k: usize| k.min(group.negative(k));
        let computed: Vec<usize> = (0..group.order).filter(|&k| of_pair(k) == k).collect();
        let at = |k: usize| computed.partition_point(|&other| other < of_pair(k));
        let mut count = vec![0.0; computed.len()];
        rows.iter().for_each(|&row| count[at(row)] += 1.0);
        let doubled = (0..2 * group.order).map(|place| {
            let (outer, inner) = (place / (2 * group.last), place % (2 * group.last));
            let k = outer * group.last + inner % group.last;
            let sign = if of_pair(k) == k { 1.0 } else { -1.0 };
            (at(k) as u32, sign)
        });
        let table = doubled.collect();
        let exponent = re.len();
        let mut w = Vec::with_capacity(2 * inputs.len() * computed.len());
        for &g in &inputs {
            let root = |&k: &usize| -> usize {
                let (mut k, mut g, mut root) = (k, g, 0);
                for &m in group.factors.iter().rev() {
                    root += (k % m) * (g % m) % m * (exponent / m);
                    (k, g) = (k / m, g / m);
                }
                root % exponent
            };
            w.extend(computed.iter().map(|k| re[root(k)]));
            w.extend(computed.iter().map(|k| im[root(k)]));
        }
        let modulus = re.iter().zip(im).map(|(re, im)| re * re + im * im);
        Some(Characters {
            inputs: inputs.len(),
            w,
            computed: computed.len(),
            table,
            rows: count,
            runs,
            pairs,
            amplitude: re[0],
            floor: Floor::new(model, modulus.fold(0.0, f32::max)),
        })
    }

    /// β̄ of each of `samples`, one sample behind the other. Those that are out of range, or near what rounding alone can
    /// make, are left not finite: the core decides on them.
    pub(super) fn compute(&self, samples: &[f32], room: &mut Room, out: &mut [Complex32]) {
        let (inputs, count) = (self.inputs, samples.len() / self.inputs);
        let width = 2 * self.computed;
        room.x.clear();
        room.z.resize(count * width, 0.0);
        for part in &mut room.table {
            part.resize(self.table.len(), 0.0);
        }
        Arch::new().dispatch(|| {
            for sample in samples.chunks_exact(inputs) {
                // β is of the third degree: scaled first, so that it stays in range.
                let factor = 1.0 / largest(sample);
                room.x.extend(sample.iter().map(|x| x * factor));
            }
        });
        // As the transposed product, whose factors and result then all lie column after column.
        let x = matrix(&room.x, count, inputs, inputs);
        let w = matrix(&self.w, inputs, width, width);
        multiply(matrix_mut(&mut room.z, count, width, width), x, w, 1.0);
        let [re, im] = &mut room.table;
        Arch::new().dispatch(|| {
            let samples = room.x.chunks_exact(inputs).zip(room.z.chunks_exact(width));
            for ((sample, z), out) in samples.zip(out.chunks_exact_mut(self.pairs)) {
                self.of_sample(sample, z, [re, im], out);
            }
        });
    }

    /// β̄ of a sample whose computed coefficients are `z`.
    #[inline(always)]
    fn of_sample(&self, x: &[f32], z: &[f32], [re, im]: [&mut [f32]; 2], out: &mut [Complex32]) {
        let (z_re, z_im) = z.split_at(self.computed);
        // One length, so that one check serves both parts.
        let im = &mut im[..re.len()];
        for ((re, im), &(at, sign)) in re.iter_mut().zip(im.iter_mut()).zip(&self.table) {
            (*re, *im) = (z_re[at as usize], sign * z_im[at as usize]);
        }
        let (mut squares, mut rest) = (0.0, &mut *out);
        for run in &self.runs {
            let [first, second, sum, len] =
                [run.first, run.second, run.sum, run.len].map(|number| number as usize);
            let (to, behind) = rest.split_at_mut(len);
            if let [to] = to {
                let [a, b, s] =
                    [first, second, sum].map(|place| Complex32::new(re[place], im[place]));
                *to = a * b * s.conj();
                squares += to.norm_sqr();
                rest = behind;
                continue;
            }
            let z_j = [&re[second..][..len], &im[second..][..len]];
            let s = [&re[sum..][..len], &im[sum..][..len]];
            squares += terms((re[first], im[first]), z_j, s, to);
            rest = behind;
        }
        let power = |(re, im): (&f32, &f32)| re * re + im * im;
        let powers = z_re.iter().zip(z_im).map(power);
        let coefficients: f32 = powers
            .zip(&self.rows)
            .map(|(power, rows)| rows * power)
            .sum();
        let samples = x.iter().map(|x| x * x).sum();
        // The length with its a, as the core has it.
        let length = self.amplitude * squares.sqrt();
        let divisor = self.floor.divisor(length, samples, coefficients);
        let factor = self.amplitude / divisor;
        out.iter_mut().for_each(|term| *term *= factor);
    }
}

/// The largest |x|.
#[inline(always)]
fn largest(sample: &[f32]) -> f32 {
    let larger = |largest: f32, x: f32| if x > largest { x } else { largest };
    let (parts, rest) = sample.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
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
