//! Invariants of many signals at once, by products of matrices.
//!
//! The core takes one signal after the other, as a device does. Here a row of W meets all rows it is paired with and all
//! signals of a block in one product, over the inputs that W sees at all: the same sums in another order.

use crate::model::file::weights;
use crate::numeric::matrix::{matrix, matrix_mut, multiply};
use bispectral_core::format::Structure;
use bispectral_core::{Complex32, Model};

/// Terms that are added up before their sums are.
const PART: usize = 256;
/// ‖β‖ of a signal whose largest number is one, at least.
const LEAST: f32 = 1e-12;

/// W of a model that is stored as it is, and its pairs.
#[derive(Debug, Clone)]
pub(super) struct Batch {
    /// Inputs that some row sees.
    seen: Vec<usize>,
    /// Real and imaginary parts of the rows there, row after row.
    re: Vec<f32>,
    im: Vec<f32>,
    rows: usize,
    /// For each row that is the first of pairs, the second ones, in their order.
    pairs: Vec<(usize, Vec<usize>)>,
}

/// What one thread computes in.
#[derive(Debug, Default)]
pub(super) struct Room {
    x: Vec<f32>,
    z: [Vec<f32>; 2],
    products: Vec<f32>,
    responses: Vec<f32>,
}

impl Batch {
    /// None where the model is of another kind.
    pub(super) fn new(model: &Model<'_>) -> Option<Self> {
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
        Some(Batch {
            re: part(|w| w.re),
            im: part(|w| w.im),
            seen,
            rows,
            pairs,
        })
    }

    /// β̄ of each of `samples` of `inputs` numbers: real parts and then imaginary parts, one sample behind the other.
    /// Those that are out of range are left not finite.
    pub(super) fn compute(&self, samples: &[f32], inputs: usize, room: &mut Room, out: &mut [f32]) {
        let (rows, seen) = (self.rows, self.seen.len());
        let pairs: usize = self.pairs.iter().map(|(_, seconds)| seconds.len()).sum();
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
            let products = matrix(&room.products, 2 * behind, seen, seen).transpose();
            let to = matrix_mut(&mut room.responses, count, 2 * behind, 2 * behind);
            multiply(to, x, products, 1.0);
            let responses = room.responses.chunks_exact(2 * behind);
            let [z_re, z_im] = [&room.z[0], &room.z[1]].map(|z| z.chunks_exact(rows));
            let samples = out.chunks_exact_mut(2 * pairs).zip(responses);
            for ((out, responses), (z_re, z_im)) in samples.zip(z_re.zip(z_im)) {
                let (re, im) = out.split_at_mut(pairs);
                let (p_re, p_im) = responses.split_at(behind);
                let (a, b) = (z_re[*i], z_im[*i]);
                let terms = re[first..].iter_mut().zip(&mut im[first..]);
                let z = seconds.iter().map(|&j| (z_re[j], z_im[j]));
                for (((re, im), (c, d)), (p, q)) in terms.zip(z).zip(p_re.iter().zip(p_im)) {
                    let (both_re, both_im) = (a * c - b * d, a * d + b * c);
                    *re = both_re * p + both_im * q;
                    *im = both_im * p - both_re * q;
                }
            }
            first += behind;
        }
        for out in out.chunks_exact_mut(2 * pairs) {
            let part = |part: &[f32]| part.iter().map(|b| b * b).sum::<f32>();
            let length = out.chunks(PART).map(part).sum::<f32>().sqrt();
            // Smaller ones would have lost digits.
            let divisor = if length > LEAST { length } else { f32::NAN };
            out.iter_mut().for_each(|b| *b /= divisor);
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
