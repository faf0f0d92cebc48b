//! Invariants of many signals at once, by products of matrices.
//!
//! The core takes one signal after the other, as a device does. Here a row of W meets all rows it is paired with and all
//! signals of a block in one product, over the inputs that W sees at all: the same sums in another order.

use super::file::weights;
use crate::numeric::matrix::{matrix, matrix_mut, multiply};
use bispectral_core::format::{Structure, Weights};
use bispectral_core::{Complex32, Model};
use pulp::Arch;
use std::ops::Range;

/// Terms that are added up before their sums are.
const PART: usize = 256;
/// Sums of squares of their own, so that they are added side by side: a vector of AVX-512.
pub(super) const LANES: usize = 16;
/// Second rows whose products with a first one are formed at a time: 64 of 256 inputs are 128 KiB, and z_ij of a block of 128
/// signals as many again, so that both stay in a second-level cache of 512 KiB.
const TILE: usize = 64;
/// Above so many times the floor of the core (`docs/numerics.md`) no other order of summation changes what the core decides.
const CLEAR: f32 = 4.0;

/// What rounding alone can make of a bispectrum: the floor of the core, for many signals.
#[derive(Debug, Clone, Copy)]
pub(super) struct Floor {
    /// The largest |W_in|².
    modulus: f32,
    /// The larger of N and R.
    dimension: f32,
    /// 4 e.
    precision: f32,
    /// The least Λ².
    least: f32,
}

impl Floor {
    pub(super) fn new(model: &Model<'_>, modulus: f32) -> Self {
        let inputs = model.inputs();
        let (precision, least) = match model.parts().weights {
            Weights::I8 { .. } => {
                let bits = 15.min(24 - inputs.next_power_of_two().ilog2() as i32);
                (10.0 * 2_f32.powi(1 - bits), inputs as f32)
            }
            _ => (4.0 * (inputs + 8) as f32 * 2_f32.powi(-23), 0.0),
        };
        Floor {
            modulus,
            dimension: inputs.max(model.rows()) as f32,
            precision,
            least,
        }
    }

    /// What to divide β of this length by; not a number where the core decides. `samples` is ‖x‖² of a signal whose largest
    /// number is one, `coefficients` Σ|z|².
    pub(super) fn divisor(&self, length: f32, samples: f32, coefficients: f32) -> f32 {
        let products = self.dimension * self.modulus * samples;
        let pairs = coefficients * (2.0 * coefficients + products);
        let floor = self.precision * self.modulus * (samples.max(self.least) * pairs).sqrt();
        if length > CLEAR * floor && length.is_finite() {
            length
        } else {
            f32::NAN
        }
    }
}

/// W of a model that is stored as it is, and its pairs.
#[derive(Debug, Clone)]
pub(crate) struct Batch {
    /// Inputs that some row sees.
    seen: Vec<usize>,
    /// Real and imaginary parts of the rows there, row after row.
    re: Vec<f32>,
    im: Vec<f32>,
    rows: usize,
    /// The same parts, column after column.
    columns: [Vec<f32>; 2],
    floor: Floor,
    /// For each row that is the first of pairs, the second ones, in their order.
    pairs: Vec<(usize, Vec<usize>)>,
}

/// What one thread computes in.
#[derive(Debug, Default)]
pub(crate) struct Room {
    x: Vec<f32>,
    z: [Vec<f32>; 2],
    products: Vec<f32>,
    responses: Vec<f32>,
}

impl Room {
    /// Real and imaginary parts of z of a sample.
    fn coefficients(&self, rows: usize, sample: usize) -> [&[f32]; 2] {
        [&self.z[0], &self.z[1]].map(|z| &z[sample * rows..][..rows])
    }

    /// Real and imaginary parts of z_i z_j conj(z_ij) of a sample, for each j of `seconds`.
    fn terms<'a>(
        &'a self,
        rows: usize,
        sample: usize,
        i: usize,
        seconds: &'a [usize],
    ) -> impl Iterator<Item = (f32, f32)> + 'a {
        let behind = seconds.len();
        let responses = &self.responses[sample * 2 * behind..][..2 * behind];
        let (p_re, p_im) = responses.split_at(behind);
        let [z_re, z_im] = self.coefficients(rows, sample);
        let (a, b) = (z_re[i], z_im[i]);
        let z = seconds.iter().map(|&j| (z_re[j], z_im[j]));
        z.zip(p_re.iter().zip(p_im)).map(move |((c, d), (p, q))| {
            let (both_re, both_im) = (a * c - b * d, a * d + b * c);
            (both_re * p + both_im * q, both_im * p - both_re * q)
        })
    }
}

impl Batch {
    /// None where the model is of another kind.
    pub(crate) fn new(model: &Model<'_>) -> Option<Self> {
        let rows = model.rows();
        if !matches!(model.parts().structure, Structure::Dense) {
            return None;
        }
        let mut pairs: Vec<(usize, Vec<usize>)> = Vec::new();
        for (i, j) in model.pair_list() {
            match pairs.last_mut() {
                Some((first, seconds)) if *first == i => seconds.push(j),
                _ => pairs.push((i, vec![j])),
            }
        }
        let w = weights(model);
        let seen = (0..model.inputs())
            .filter(|&input| {
                w.column(input)
                    .iter()
                    .any(|weight| *weight != Complex32::ZERO)
            })
            .collect::<Vec<_>>();
        let part = |part: fn(&Complex32) -> f32| -> Vec<f32> {
            let row = |row: usize| seen.iter().map(move |&input| (row, input));
            let places = (0..rows).flat_map(row);
            places.map(|place| part(&w[place])).collect()
        };
        let column = |part: fn(&Complex32) -> f32| -> Vec<f32> {
            let of = seen.iter().flat_map(|&input| w.column(input));
            of.map(part).collect()
        };
        let modulus = w.iter().map(|w| w.norm_sqr()).fold(0.0, f32::max);
        Some(Batch {
            floor: Floor::new(model, modulus),
            re: part(|w| w.re),
            im: part(|w| w.im),
            columns: [column(|w| w.re), column(|w| w.im)],
            seen,
            rows,
            pairs,
        })
    }

    /// Invariants of one signal.
    fn width(&self) -> usize {
        self.pairs.iter().map(|(_, seconds)| seconds.len()).sum()
    }

    /// β̄ of each of `samples` of `inputs` numbers: real parts and then imaginary parts, one sample behind the other.
    /// Those that are out of range, or near what rounding alone can make, are left not finite: the core decides on them.
    pub(crate) fn compute(&self, samples: &[f32], inputs: usize, room: &mut Room, out: &mut [f32]) {
        let pairs = self.width();
        self.terms(samples, inputs, room, |room, first, (i, seconds)| {
            let rows = out.chunks_exact_mut(2 * pairs).enumerate();
            rows.for_each(|(sample, out)| {
                let (re, im) = out.split_at_mut(pairs);
                let to = re[first..].iter_mut().zip(&mut im[first..]);
                let terms = room.terms(self.rows, sample, i, seconds);
                to.zip(terms)
                    .for_each(|((re, im), (a, b))| (*re, *im) = (a, b));
            });
        });
        let samples = samples.chunks_exact(inputs).enumerate();
        for (out, (at, sample)) in out.chunks_exact_mut(2 * pairs).zip(samples) {
            let part = |part: &[f32]| part.iter().map(|b| b * b).sum::<f32>();
            let length = out.chunks(PART).map(part).sum::<f32>().sqrt();
            let divisor = self.divisor(length, sample, room.coefficients(self.rows, at));
            out.iter_mut().for_each(|b| *b /= divisor);
        }
    }

    /// What to divide β of this length by; not a number where the core decides.
    fn divisor(&self, length: f32, sample: &[f32], [z_re, z_im]: [&[f32]; 2]) -> f32 {
        let seen = self.seen.iter().map(|&input| sample[input].abs());
        let largest = seen.fold(0.0, f32::max);
        let samples = sample.iter().map(|x| (x / largest).powi(2)).sum();
        let coefficients = z_re.iter().chain(z_im).map(|z| z * z).sum();
        self.floor.divisor(length, samples, coefficients)
    }

    /// As [`compute`](Self::compute), as complex numbers, tile after tile of z_ij.
    pub(crate) fn compute_complex(
        &self,
        samples: &[f32],
        inputs: usize,
        room: &mut Room,
        out: &mut [Complex32],
    ) {
        let (pairs, seen) = (self.width(), self.seen.len());
        let count = samples.len() / inputs;
        self.coefficients(samples, inputs, room);
        let mut squares = vec![0.0_f32; count];
        let mut first = 0;
        for (i, seconds) in &self.pairs {
            for seconds in seconds.chunks(TILE) {
                let width = 2 * seconds.len();
                room.products.resize(seen * width, 0.0);
                room.responses.resize(count * width, 0.0);
                let [re, im] = &self.columns;
                Arch::new().dispatch(|| {
                    let columns = re.chunks_exact(self.rows).zip(im.chunks_exact(self.rows));
                    let products = room.products.chunks_exact_mut(width);
                    for (to, (re, im)) in products.zip(columns) {
                        products_of_rows(*i, seconds, [re, im], to);
                    }
                });
                // As the transposed product, whose factors and result then all lie column after column.
                let products = matrix(&room.products, seen, width, width);
                let x = matrix(&room.x, count, seen, seen);
                let to = matrix_mut(&mut room.responses, count, width, width);
                multiply(to, x, products, 1.0);
                Arch::new().dispatch(|| {
                    let responses = room.responses.chunks_exact(width);
                    let rows = out.chunks_exact_mut(pairs).zip(responses).enumerate();
                    for (sample, (out, responses)) in rows {
                        let z = room.coefficients(self.rows, sample);
                        let out = &mut out[first..][..seconds.len()];
                        squares[sample] += terms_of(*i, seconds, z, responses, out);
                    }
                });
                first += seconds.len();
            }
        }
        Arch::new().dispatch(|| {
            let samples = samples.chunks_exact(inputs).zip(&squares).enumerate();
            for (out, (at, (sample, squares))) in out.chunks_exact_mut(pairs).zip(samples) {
                let z = room.coefficients(self.rows, at);
                let factor = 1.0 / self.divisor(squares.sqrt(), sample, z);
                out.iter_mut().for_each(|term| *term *= factor);
            }
        });
    }

    /// The samples that W sees, scaled, and z of each.
    fn coefficients(&self, samples: &[f32], inputs: usize, room: &mut Room) {
        let (rows, seen) = (self.rows, self.seen.len());
        let count = samples.len() / inputs;
        room.x.clear();
        for sample in samples.chunks_exact(inputs) {
            // β is of the third degree: scaled first, so that it stays in range.
            let values = self.seen.iter().map(|&input| sample[input]);
            let largest = values.clone().fold(0.0_f32, |most, x| most.max(x.abs()));
            room.x.extend(values.map(|x| x / largest));
        }
        let x = matrix(&room.x, count, seen, seen);
        for (z, part) in room.z.iter_mut().zip([&self.re, &self.im]) {
            z.resize(count * rows, 0.0);
            let w = matrix(part, rows, seen, seen).transpose();
            multiply(matrix_mut(z, count, rows, rows), x, w, 1.0);
        }
    }

    /// Computes z_ij of all samples for one i after the other, and hands them to `each` with the place of the first.
    fn terms(
        &self,
        samples: &[f32],
        inputs: usize,
        room: &mut Room,
        mut each: impl FnMut(&Room, usize, (usize, &[usize])),
    ) {
        let seen = self.seen.len();
        let count = samples.len() / inputs;
        self.coefficients(samples, inputs, room);
        let mut first = 0;
        for (i, seconds) in &self.pairs {
            let behind = seconds.len();
            self.multiply_rows(*i, seconds, &mut room.products);
            room.responses.resize(count * 2 * behind, 0.0);
            let x = matrix(&room.x, count, seen, seen);
            let products = matrix(&room.products, 2 * behind, seen, seen).transpose();
            let to = matrix_mut(&mut room.responses, count, 2 * behind, 2 * behind);
            multiply(to, x, products, 1.0);
            each(room, first, (*i, seconds));
            first += behind;
        }
    }

    /// W_i ⊙ W_j for all of `seconds`: their real parts, then their imaginary parts.
    fn multiply_rows(&self, i: usize, seconds: &[usize], products: &mut Vec<f32>) {
        let seen = self.seen.len();
        let parts = |row: usize| [&self.re, &self.im].map(|part| &part[row * seen..][..seen]);
        let [a, b] = parts(i);
        products.clear();
        for [c, d] in seconds.iter().map(|&j| parts(j)) {
            products.extend((0..seen).map(|k| a[k] * c[k] - b[k] * d[k]));
        }
        for [c, d] in seconds.iter().map(|&j| parts(j)) {
            products.extend((0..seen).map(|k| a[k] * d[k] + b[k] * c[k]));
        }
    }
}

/// W_in W_jn of one input n for all j of `seconds`: their real parts, then their imaginary parts. `column` is column n of W.
#[inline(always)]
fn products_of_rows(i: usize, seconds: &[usize], column: [&[f32]; 2], to: &mut [f32]) {
    let (a, b) = (column[0][i], column[1][i]);
    let (to_re, to_im) = to.split_at_mut(seconds.len());
    let product = |to_re: &mut f32, to_im: &mut f32, c: f32, d: f32| {
        (*to_re, *to_im) = (a * c - b * d, a * d + b * c);
    };
    match run(seconds) {
        Some(run) => {
            let [c, d] = column.map(|part| &part[run.clone()]);
            let to = to_re.iter_mut().zip(to_im);
            to.zip(c.iter().zip(d))
                .for_each(|((re, im), (c, d))| product(re, im, *c, *d));
        }
        None => {
            for ((re, im), &j) in to_re.iter_mut().zip(to_im).zip(seconds) {
                product(re, im, column[0][j], column[1][j]);
            }
        }
    }
}

/// z_i z_j conj(z_ij) of one sample for all j of `seconds`, and the sum of their squares.
#[inline(always)]
fn terms_of(
    i: usize,
    seconds: &[usize],
    [z_re, z_im]: [&[f32]; 2],
    responses: &[f32],
    out: &mut [Complex32],
) -> f32 {
    let z_i = (z_re[i], z_im[i]);
    let (p, q) = responses.split_at(seconds.len());
    match run(seconds) {
        Some(run) => terms(z_i, [&z_re[run.clone()], &z_im[run]], [p, q], out),
        None => {
            let mut z = [[0.0; TILE]; 2];
            let [c, d] = &mut z;
            for ((c, d), &j) in c.iter_mut().zip(d).zip(seconds) {
                (*c, *d) = (z_re[j], z_im[j]);
            }
            let [c, d] = &z;
            terms(z_i, [&c[..seconds.len()], &d[..seconds.len()]], [p, q], out)
        }
    }
}

/// The rows, where they follow one another.
#[inline(always)]
fn run(rows: &[usize]) -> Option<Range<usize>> {
    let (first, last) = (*rows.first()?, *rows.last()?);
    (last - first == rows.len() - 1).then_some(first..last + 1)
}

/// z_i z_j conj(s) for many z_j and s, and the sum of their squares: |z_i|² Σ |z_j|² |s|².
#[inline(always)]
pub(super) fn terms(
    (a, b): (f32, f32),
    [c, d]: [&[f32]; 2],
    [p, q]: [&[f32]; 2],
    out: &mut [Complex32],
) -> f32 {
    let term = |c: f32, d: f32, p: f32, q: f32| {
        let (re, im) = (a * c - b * d, a * d + b * c);
        Complex32::new(re * p + im * q, im * p - re * q)
    };
    let add = |sum: &mut f32, c: f32, d: f32, p: f32, q: f32| {
        *sum += (c * c + d * d) * (p * p + q * q);
    };
    let factors = c.iter().zip(d).zip(p.iter().zip(q));
    if out.len() < LANES {
        // What whole vectors begin with and end with would cost more.
        let mut squares = 0.0;
        for (to, ((c, d), (p, q))) in out.iter_mut().zip(factors) {
            *to = term(*c, *d, *p, *q);
            add(&mut squares, *c, *d, *p, *q);
        }
        return (a * a + b * b) * squares;
    }
    for (to, ((c, d), (p, q))) in out.iter_mut().zip(factors) {
        *to = term(*c, *d, *p, *q);
    }
    let mut squares = [0.0_f32; LANES];
    let [(c, c_rest), (d, d_rest), (p, p_rest), (q, q_rest)] =
        [c, d, p, q].map(|part| part.as_chunks::<LANES>());
    for ((c, d), (p, q)) in c.iter().zip(d).zip(p.iter().zip(q)) {
        for (lane, sum) in squares.iter_mut().enumerate() {
            add(sum, c[lane], d[lane], p[lane], q[lane]);
        }
    }
    let rest = c_rest.iter().zip(d_rest).zip(p_rest.iter().zip(q_rest));
    for (sum, ((c, d), (p, q))) in squares.iter_mut().zip(rest) {
        add(sum, *c, *d, *p, *q);
    }
    (a * a + b * b) * squares.iter().sum::<f32>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::file::encode_array;
    use crate::model::form::{self, Encoding, Form, Source};
    use crate::numeric::random::{Purpose, stream};
    use ndarray::Array2;
    use rand::RngExt;

    #[test]
    fn they_are_those_of_the_core_and_what_is_out_of_range_is_left_to_it() {
        let mut random = stream(0, Purpose::Classifier);
        let mut number = || 2.0 * random.random::<f32>() - 1.0;
        let mut w = Array2::from_shape_simple_fn((9, 24), || Complex32::new(number(), number()));
        w.column_mut(3).fill(Complex32::ZERO);
        let bytes = encode_array(&w.view(), "random", None).unwrap();
        let model = Model::from_bytes(&bytes).unwrap();
        let batch = Batch::new(&model).unwrap();
        assert_eq!(batch.seen.len(), 23);
        let mut samples: Vec<f32> = (0..7 * 24).map(|_| number()).collect();
        samples[24..48].iter_mut().for_each(|x| *x *= 1e30);
        samples[48..72].fill(0.0);
        let mut found = vec![0.0; 7 * 90];
        batch.compute(&samples, 24, &mut Room::default(), &mut found);
        let mut complex = vec![Complex32::ZERO; 7 * 45];
        batch.compute_complex(&samples, 24, &mut Room::default(), &mut complex);
        for (planar, complex) in found.chunks(90).zip(complex.chunks(45)) {
            for (k, complex) in complex.iter().enumerate() {
                let off = (planar[k] - complex.re).hypot(planar[45 + k] - complex.im);
                assert!(off < 1e-6 || off.is_nan() && !complex.is_finite(), "{off}");
            }
        }
        for (at, (x, found)) in samples.chunks(24).zip(found.chunks(90)).enumerate() {
            if at == 2 {
                assert!(found.iter().all(|b| !b.is_finite()));
                continue;
            }
            let expected = model.invariants_vec(x).unwrap();
            for (k, term) in expected.iter().enumerate() {
                // Sums of 24 products in another order, of terms of at most one.
                let off = (found[k] - term.re).hypot(found[45 + k] - term.im);
                assert!(off < 2e-6, "sample {at}, term {k}: off by {off}");
            }
        }
    }

    #[test]
    fn more_rows_than_a_tile_has_change_nothing() {
        let mut random = stream(3, Purpose::Classifier);
        let mut number = || 2.0 * random.random::<f32>() - 1.0;
        let rows = 2 * TILE + 5;
        let w = Array2::from_shape_simple_fn((rows, 11), || Complex32::new(number(), number()));
        let bytes = encode_array(&w.view(), "wide", None).unwrap();
        let model = Model::from_bytes(&bytes).unwrap();
        let samples: Vec<f32> = (0..9 * 11).map(|_| number()).collect();
        let mut found = vec![Complex32::ZERO; 9 * model.pairs()];
        let batch = Batch::new(&model).unwrap();
        batch.compute_complex(&samples, 11, &mut Room::default(), &mut found);
        for (x, found) in samples.chunks(11).zip(found.chunks(model.pairs())) {
            let expected = model.invariants_vec(x).unwrap();
            for (k, (found, expected)) in found.iter().zip(&expected).enumerate() {
                // Sums of 11 products in another order, of terms of at most one.
                assert!(
                    (found - expected).norm() < 1e-6,
                    "term {k}: {found} {expected}"
                );
            }
        }
    }

    #[test]
    fn listed_pairs_are_those_of_the_core() {
        let bytes = include_bytes!("../../tests/z4.bsn");
        let model = Model::from_bytes(bytes).unwrap();
        let form = Form {
            encoding: Encoding::F32,
            structure: form::Structure::Dense,
            pairs: Some(vec![(0, 0), (0, 2), (1, 2)]),
        };
        let listed = Source::new("z4".as_ref(), &model)
            .form(&form, None)
            .unwrap();
        let listed = Model::from_bytes(&listed).unwrap();
        let x = [3.0, 1.0, 0.0, -1.0];
        let expected = listed.invariants_vec(&x).unwrap();
        let mut found = [0.0; 6];
        let batch = Batch::new(&listed).unwrap();
        batch.compute(&x, 4, &mut Room::default(), &mut found);
        let mut complex = [Complex32::ZERO; 3];
        batch.compute_complex(&x, 4, &mut Room::default(), &mut complex);
        for (k, term) in expected.iter().enumerate() {
            let off = (found[k] - term.re).hypot(found[3 + k] - term.im);
            assert!(off < 1e-6, "term {k}: off by {off}");
            assert!(
                (complex[k] - term).norm() < 1e-6,
                "term {k}: {}",
                complex[k]
            );
        }
    }
}
