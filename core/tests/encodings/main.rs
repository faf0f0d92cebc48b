//! Encodings f16 and i8: what a model of either computes, for any weights and signals, and what is refused. Beside them
//! products that are combined of z, in every encoding.

#[path = "../by_hand/mod.rs"]
mod by_hand;
mod combined;
mod small;

use bispectral_core::{Complex32, Error, Model, pair_count, scratch_len};
use by_hand::{Fields, both};
use num_complex::Complex64;
use proptest::prelude::*;

/// A model of any encoding without a name.
pub(crate) fn fields(
    inputs: usize,
    rows: usize,
    encoding: (u8, Vec<u8>),
    weights: Vec<u8>,
) -> Fields {
    let mut fields = Fields {
        inputs: inputs as u16,
        rows: rows as u16,
        name: vec![],
        group: vec![],
        weights,
        ..Fields::z4()
    };
    fields.sections[0] = encoding;
    fields
}

/// q and the scale of each row.
#[derive(Debug, Clone)]
pub(crate) struct Integers {
    pub(crate) inputs: usize,
    pub(crate) scales: Vec<f32>,
    pub(crate) q: Vec<i8>,
}

impl Integers {
    pub(crate) fn fields(&self) -> Fields {
        let scales = self.scales.iter().flat_map(|s| s.to_le_bytes()).collect();
        let weights = self.q.iter().map(|q| *q as u8).collect();
        fields(self.inputs, self.scales.len(), (2, scales), weights)
    }

    fn q(&self, row: usize, n: usize) -> (i64, i64) {
        let at = 2 * row * self.inputs + n;
        (self.q[at].into(), self.q[at + self.inputs].into())
    }

    fn weight(&self, row: usize, n: usize) -> Complex64 {
        let (re, im) = self.q(row, n);
        Complex64::new(re as f64, im as f64) * f64::from(self.scales[row])
    }
}

pub(crate) fn invariants(bytes: &[u8], x: &[f32]) -> Result<Vec<Complex32>, Error> {
    let model = Model::from_bytes(bytes).unwrap();
    let mut out = vec![Complex32::ZERO; model.pairs()];
    model.invariants(x, &mut vec![0.0; model.scratch_len()], &mut out)?;
    Ok(out)
}

pub(crate) fn coefficients(bytes: &[u8], x: &[f32]) -> Vec<Complex32> {
    let model = Model::from_bytes(bytes).unwrap();
    let mut out = vec![Complex32::ZERO; model.rows()];
    let mut scratch = vec![0.0; model.scratch_len()];
    model.coefficients(x, &mut scratch, &mut out).unwrap();
    out
}

pub(crate) fn bits(values: &[Complex32]) -> Vec<[u32; 2]> {
    let pair = |z: &Complex32| [z.re.to_bits(), z.im.to_bits()];
    values.iter().map(pair).collect()
}

/// Any finite binary16.
fn half() -> impl Strategy<Value = u16> {
    any::<u16>().prop_filter("finite", |half| half & 0x7c00 != 0x7c00)
}

fn sample() -> impl Strategy<Value = f32> {
    prop_oneof![1 => Just(0.0), 4 => -1.0_f32..1.0]
}

fn halves() -> impl Strategy<Value = (Vec<u16>, Vec<f32>)> {
    (1..=19_usize, 1..=4_usize)
        .prop_flat_map(|(n, rows)| {
            let weights = prop::collection::vec(half(), 2 * n * rows);
            (weights, prop::collection::vec(sample(), n))
        })
        .prop_filter("zero", |(w, x)| {
            w.iter().any(|w| w & 0x7fff != 0) && x.iter().any(|x| *x != 0.0)
        })
}

fn integers() -> impl Strategy<Value = (Integers, Vec<f32>)> {
    let scale = (-20..20, 1.0_f32..2.0).prop_map(|(k, m)| m * 2_f32.powi(k));
    (1..=40_usize, prop::collection::vec(scale, 1..=4))
        .prop_flat_map(|(inputs, scales)| {
            let q = prop::collection::vec(-127..=127_i8, 2 * inputs * scales.len());
            let integers = q.prop_map(move |q| Integers {
                inputs,
                scales: scales.clone(),
                q,
            });
            (integers, prop::collection::vec(sample(), inputs))
        })
        .prop_filter("zero", |(w, x)| {
            w.q.iter().any(|q| *q != 0) && x.iter().any(|x| *x != 0.0)
        })
}

/// floor(log2 max|v|).
fn exponent(values: impl Iterator<Item = f64>) -> i32 {
    let largest = values.fold(0.0_f64, |largest, value| largest.max(value.abs()));
    (largest.to_bits() >> 52) as i32 - 1023
}

/// X and s by the words of the documentation, and what one step of X is worth.
fn whole(x: &[f32]) -> (Vec<i64>, u32, f64) {
    let terms = x.len().next_power_of_two().ilog2();
    let (b_x, b_v) = (15.min(24 - terms), 15.min(23 - terms));
    let step = f64::from(exponent(x.iter().map(|x| f64::from(*x))) + 1 - b_x as i32).exp2();
    let largest = (1 << b_x) - 1;
    let round = |x: &f32| ((f64::from(*x) / step).round() as i64).clamp(-largest, largest);
    (x.iter().map(round).collect(), 7 + b_x - b_v, step)
}

proptest! {
    #[test]
    fn a_model_of_halves_is_the_f32_model_of_the_same_weights_bit_for_bit((weights, x) in halves()) {
        let rows = weights.len() / 2 / x.len();
        let bytes = weights.iter().flat_map(|w| w.to_le_bytes()).collect();
        let halves = fields(x.len(), rows, (1, vec![]), bytes).encode();
        let (model, decoded) = both(&halves).unwrap();
        prop_assert_eq!(model.scratch_len(), scratch_len(x.len(), rows));
        let planes = |row: &[Complex32]| -> Vec<f32> {
            row.iter().map(|w| w.re).chain(row.iter().map(|w| w.im)).collect()
        };
        let floats = decoded.weights.chunks(x.len()).flat_map(planes);
        let floats = floats.flat_map(f32::to_le_bytes).collect();
        let floats = fields(x.len(), rows, (0, vec![]), floats).encode();
        prop_assert_eq!(bits(&coefficients(&halves, &x)), bits(&coefficients(&floats, &x)));
        let expected = invariants(&floats, &x).map(|found| bits(&found));
        // At every alignment.
        let mut room = vec![0; halves.len() + 4];
        for offset in 0..4 {
            room[offset..][..halves.len()].copy_from_slice(&halves);
            let found = invariants(&room[offset..][..halves.len()], &x);
            prop_assert_eq!(found.map(|found| bits(&found)), expected.clone());
        }
    }

    #[test]
    fn integers_follow_the_documented_arithmetic_bit_for_bit((w, x) in integers()) {
        let bytes = w.fields().encode();
        let (samples, shift, _) = whole(&x);
        let rows = w.scales.len();
        let e_w = exponent((0..rows * w.inputs).flat_map(|at| {
            let weight = w.weight(at / w.inputs, at % w.inputs);
            [f64::from(weight.re as f32), f64::from(weight.im as f32)]
        }));
        let b_x = 15.min(24 - w.inputs.next_power_of_two().ilog2()) as i32;
        let scaled = |re: i64, im: i64, factor: f32| {
            Complex32::new(re as i32 as f32 * factor, im as i32 as f32 * factor)
        };
        let z = |i: usize| {
            let sum = |part: fn((i64, i64)) -> i64| -> i64 {
                (0..w.inputs).map(|n| part(w.q(i, n)) * samples[n]).sum()
            };
            scaled(sum(|q| q.0), sum(|q| q.1), w.scales[i] * 2_f32.powi(1 - b_x - e_w))
        };
        let product = |i: usize, j: usize| {
            let down = |p: i64| (p + (1 << (shift - 1))) >> shift;
            let terms = (0..w.inputs).map(|n| {
                let ((a, b), (c, d)) = (w.q(i, n), w.q(j, n));
                let (v_re, v_im) = (down(a * samples[n]), down(b * samples[n]));
                (v_re * c - v_im * d, v_re * d + v_im * c)
            });
            let (re, im) = terms.fold((0, 0), |sum, term| (sum.0 + term.0, sum.1 + term.1));
            let factor = w.scales[i] * 2_f32.powi(1 - b_x + shift as i32 - e_w);
            scaled(re, im, factor * (w.scales[j] * 2_f32.powi(-e_w)))
        };
        let model = Model::from_bytes(&bytes).unwrap();
        let mut scratch = vec![0.0; model.scratch_len()];
        let mut squares = 0.0;
        let result = model.stream(&x, &mut scratch, |i, j, term| {
            squares += f64::from(term.re).powi(2) + f64::from(term.im).powi(2);
            let (a, b, s) = (z(i), z(j), product(i, j));
            let (re, im) = (a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
            let expected = Complex32::new(re * s.re + im * s.im, im * s.re - re * s.im);
            assert_eq!(bits(&[term]), bits(&[expected]), "β {i} {j}");
        });
        // Of terms below the least norm there is none; the norm itself is rounded a few times. Larger ones have none where
        // rounding alone could make them: tests/accuracy.rs holds that to the floor.
        let norm = squares.sqrt() * 2_f64.powi(100);
        match result {
            Ok(_) => prop_assert!(norm > 1.0 - 1e-6, "{norm}"),
            Err(error) => prop_assert_eq!(error, Error::ZeroBispectrum),
        }
    }

    #[test]
    fn coefficients_of_integers_are_within_one_step_of_the_signal((w, x) in integers()) {
        let (_, _, step) = whole(&x);
        for (i, z) in coefficients(&w.fields().encode(), &x).iter().enumerate() {
            let exact: Complex64 = (0..w.inputs).map(|n| w.weight(i, n) * f64::from(x[n])).sum();
            let length: f64 = (0..w.inputs).map(|n| w.weight(i, n).l1_norm()).sum();
            // A sample is off by half a step, one where it was cut off at the largest; z by three roundings.
            let bound = length * step + 3.0 * f64::from(f32::EPSILON) * exact.l1_norm();
            let found = Complex64::new(z.re.into(), z.im.into());
            prop_assert!((found - exact).l1_norm() <= bound, "{found} {exact} {bound:e}");
        }
    }

    #[test]
    fn a_signal_times_a_power_of_two_has_the_same_bits((w, x) in integers(), k in -100..100) {
        // A multiple of 2^-12 stays one at every power of two here.
        let x: Vec<f32> = x.iter().map(|x| (x * 4096.0).round() / 4096.0).collect();
        prop_assume!(x.iter().any(|x| *x != 0.0));
        let bytes = w.fields().encode();
        let moved: Vec<f32> = x.iter().map(|x| x * 2_f32.powi(k)).collect();
        let [a, b] = [&x, &moved].map(|x| invariants(&bytes, x).map(|found| bits(&found)));
        prop_assert_eq!(a, b);
    }

    #[test]
    fn any_signal_has_finite_invariants_or_the_right_error(
        (w, _) in integers(),
        signal in prop::collection::vec(any::<u32>(), 40),
    ) {
        let x: Vec<f32> = signal[..w.inputs].iter().map(|bits| f32::from_bits(*bits)).collect();
        match invariants(&w.fields().encode(), &x) {
            Ok(found) => {
                let squares: f64 = found.iter().map(|b| f64::from(b.norm_sqr())).sum();
                prop_assert!((squares - 1.0).abs() < 1e-6, "{}", squares);
            }
            Err(Error::NonFiniteInput { index }) => {
                prop_assert_eq!(x.iter().position(|x| !x.is_finite()), Some(index as usize));
            }
            Err(Error::ZeroInput) => prop_assert!(x.iter().all(|x| *x == 0.0)),
            Err(error) => prop_assert_eq!(error, Error::ZeroBispectrum),
        }
    }
}

#[test]
fn whole_numbers_change_invariants_by_less_than_their_rounding() {
    // The characters of Z_n that real signals need, and the f32 model of the same weights.
    for (n, largest) in [(16, 1e-4), (64, 1e-4), (256, 1e-4), (1024, 4e-4)] {
        let rows = 9;
        let angle = |at: usize| std::f64::consts::TAU * ((at / n) * (at % n) % n) as f64 / n as f64;
        let parts = |row: usize, part: fn(f64) -> f64| {
            (0..n).map(move |at| (part(angle(row * n + at)) * 127.0).round() as i8)
        };
        let q = (0..rows).flat_map(|row| parts(row, f64::cos).chain(parts(row, f64::sin)));
        let w = Integers {
            inputs: n,
            scales: vec![1.0 / 128.0; rows],
            q: q.collect(),
        };
        let floats =
            w.q.iter()
                .flat_map(|q| (f32::from(*q) / 128.0).to_le_bytes());
        let floats = fields(n, rows, (0, vec![]), floats.collect()).encode();
        let mut worst = 0.0_f32;
        for signal in 0..20 {
            let sample =
                |at: usize| ((at * at * 31 + at * (17 + signal) + 5) % 1009) as f32 / 509.0 - 1.0;
            let x: Vec<f32> = (0..n).map(sample).collect();
            let [a, b] =
                [&w.fields().encode(), &floats].map(|bytes| invariants(bytes, &x).unwrap());
            let squares: f32 = a.iter().zip(&b).map(|(a, b)| (a - b).norm_sqr()).sum();
            worst = worst.max(squares.sqrt());
        }
        println!("{n} inputs: ‖β̄ of i8 − β̄ of f32‖ ≤ {worst:.1e}");
        assert!(worst < largest, "{n}: {worst:e}");
    }
}

#[test]
fn scratch_of_integers_is_never_longer_than_that_of_floats() {
    for inputs in 1..20 {
        let w = Integers {
            inputs,
            scales: vec![1.0; 3],
            q: vec![1; 6 * inputs],
        };
        let bytes = w.fields().encode();
        let model = Model::from_bytes(&bytes).unwrap();
        assert_eq!(model.scratch_len(), (3 * inputs).div_ceil(2) + 6);
        assert!(model.scratch_len() <= scratch_len(inputs, 3));
        assert!(model.is_aligned());
        assert_eq!(model.pairs(), pair_count(3));
    }
}
