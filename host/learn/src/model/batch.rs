//! Invariants of many signals at once, by products of matrices.
//!
//! The core takes one signal after the other, as a device does. Here a row of W meets all rows it is paired with and all
//! signals of a block in one product, over the inputs that W sees at all: the same sums in another order.

use super::file::weights;
use crate::numeric::matrix::{matrix, matrix_mut, multiply};
use bispectral_core::format::{Structure, Weights};
use bispectral_core::{Complex32, Model};

/// Terms that are added up before their sums are.
const PART: usize = 256;
/// Sums of squares of their own, so that they are added side by side.
const LANES: usize = 8;
/// Above so many times the floor of the core (`docs/numerics.md`) no other order of summation changes what the core decides.
const CLEAR: f32 = 4.0;

/// W of a model that is stored as it is, and its pairs.
#[derive(Debug, Clone)]
pub(crate) struct Batch {
    /// Inputs that some row sees.
    seen: Vec<usize>,
    /// Real and imaginary parts of the rows there, row after row.
    re: Vec<f32>,
    im: Vec<f32>,
    rows: usize,
    /// The largest |W_in|².
    modulus: f32,
    /// The larger of N and R.
    dimension: f32,
    /// 4 e, and the least Λ².
    errors: (f32, f32),
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
        let inputs = model.inputs();
        let errors = match model.parts().weights {
            Weights::I8 { .. } => {
                let bits = 15.min(24 - inputs.next_power_of_two().ilog2() as i32);
                (10.0 * 2_f32.powi(1 - bits), inputs as f32)
            }
            _ => (4.0 * (inputs + 8) as f32 * 2_f32.powi(-23), 0.0),
        };
        Some(Batch {
            modulus: w.iter().map(|w| w.norm_sqr()).fold(0.0, f32::max),
            dimension: inputs.max(rows) as f32,
            errors,
            re: part(|w| w.re),
            im: part(|w| w.im),
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
            let clear = length > CLEAR * self.floor(sample, room.coefficients(self.rows, at));
            let divisor = if clear { length } else { f32::NAN };
            out.iter_mut().for_each(|b| *b /= divisor);
        }
    }

    /// The floor of a sample whose largest number that W sees was made one, and whose coefficients these are.
    fn floor(&self, sample: &[f32], [z_re, z_im]: [&[f32]; 2]) -> f32 {
        let seen = self.seen.iter().map(|&input| sample[input].abs());
        let largest = seen.fold(0.0, f32::max);
        let samples: f32 = sample.iter().map(|x| (x / largest).powi(2)).sum();
        let coefficients: f32 = z_re.iter().chain(z_im).map(|z| z * z).sum();
        let products = self.dimension * self.modulus * samples;
        let pairs = coefficients * (2.0 * coefficients + products);
        let (precision, least) = self.errors;
        precision * self.modulus * (samples.max(least) * pairs).sqrt()
    }

    /// As [`compute`](Self::compute), as complex numbers.
    pub(crate) fn compute_complex(
        &self,
        samples: &[f32],
        inputs: usize,
        room: &mut Room,
        out: &mut [Complex32],
    ) {
        let pairs = self.width();
        let mut squares = vec![[0.0_f32; LANES]; samples.len() / inputs];
        self.terms(samples, inputs, room, |room, first, (i, seconds)| {
            let rows = out.chunks_exact_mut(pairs).zip(&mut squares).enumerate();
            rows.for_each(|(sample, (out, squares))| {
                let terms = room.terms(self.rows, sample, i, seconds);
                let to = out[first..].iter_mut();
                to.zip(terms)
                    .for_each(|(to, (a, b))| *to = Complex32::new(a, b));
                // While they are still at hand.
                for terms in out[first..][..seconds.len()].chunks(LANES) {
                    let lanes = squares.iter_mut().zip(terms);
                    lanes.for_each(|(lane, term)| *lane += term.re * term.re + term.im * term.im);
                }
            });
        });
        let samples = samples.chunks_exact(inputs).zip(squares).enumerate();
        for (out, (at, (sample, squares))) in out.chunks_exact_mut(pairs).zip(samples) {
            let length = squares.iter().sum::<f32>().sqrt();
            let clear = length > CLEAR * self.floor(sample, room.coefficients(self.rows, at));
            let factor = if clear { 1.0 / length } else { f32::NAN };
            out.iter_mut().for_each(|term| *term *= factor);
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
        for (k, term) in expected.iter().enumerate() {
            let off = (found[k] - term.re).hypot(found[3 + k] - term.im);
            assert!(off < 1e-6, "term {k}: off by {off}");
        }
    }
}
