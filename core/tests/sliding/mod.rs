//! Streams of samples, cyclic models, and how far a sliding window is from the whole transform.

use bispectral_core::format::{Parts, Structure, Transform, Weights};
use bispectral_core::{Model, Sliding};
use std::f64::consts::TAU;

/// A transform, and whether in whole numbers.
pub(crate) type Form = (Transform, bool);

pub(crate) const FORMS: [Form; 4] = [
    (Transform::Sums, false),
    (Transform::Fft, false),
    (Transform::Sums, true),
    (Transform::Fft, true),
];

/// What a converter gives of something that turns, wanders and is noisy.
pub(crate) struct Stream {
    state: u64,
    time: f64,
}

impl Stream {
    pub(crate) fn new(seed: u64) -> Self {
        Stream {
            state: seed,
            time: 0.0,
        }
    }

    pub(crate) fn next(&mut self) -> i16 {
        self.state = (self.state)
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let noise = (self.state >> 40) as f64 / (1 << 24) as f64 - 0.5;
        self.time += 1.0;
        let angle = TAU * self.time / 64.3;
        let wandering = 9000.0 * (self.time / 5000.0).sin();
        (wandering + 12_000.0 * angle.sin() + 5000.0 * (2.0 * angle).cos() + 4000.0 * noise) as i16
    }
}

fn written(
    (transform, whole): Form,
    factors: &[u16],
    characters: &[u16],
    elements: &[u16],
) -> Vec<u8> {
    let exponent = factors.iter().fold(1, |e, &m| {
        (1..)
            .map(|k| k * e)
            .find(|k| k % usize::from(m) == 0)
            .unwrap()
    });
    let amplitude = 1.0 / (elements.len() as f32).sqrt();
    let angle = |t: usize| -TAU * t as f64 / exponent as f64;
    let roots: Vec<f64> = (0..exponent)
        .map(|t| angle(t).cos())
        .chain((0..exponent).map(|t| angle(t).sin()))
        .collect();
    let floats: Vec<f32> = (roots.iter())
        .map(|root| (f64::from(amplitude) * root) as f32)
        .collect();
    let integers: Vec<i32> = (roots.iter())
        .map(|root| (root * f64::from(1 << 30)).round() as i32)
        .collect();
    let parts = Parts {
        inputs: elements.len() as u16,
        rows: characters.len() as u16,
        structure: Structure::Cyclic {
            transform,
            factors: factors.into(),
            characters: characters.into(),
            elements: elements.into(),
        },
        weights: match whole {
            true => Weights::I32 {
                roots: (&integers[..]).into(),
                amplitude,
            },
            false => Weights::F32((&floats[..]).into()),
        },
        ..Parts::default()
    };
    let mut bytes = vec![0; parts.encoded_len().unwrap()];
    parts.write(&mut bytes).unwrap();
    bytes
}

/// All characters of Z_n, one input a time.
pub(crate) fn model(form: Form, n: u16) -> Vec<u8> {
    let numbers: Vec<u16> = (0..n).collect();
    written(form, &[n], &numbers, &numbers)
}

/// Characters 1 to `rows`.
#[allow(dead_code)]
pub(crate) fn harmonics(n: u16, rows: u16) -> Vec<u8> {
    let (characters, elements): (Vec<u16>, Vec<u16>) = ((1..=rows).collect(), (0..n).collect());
    written(FORMS[3], &[n], &characters, &elements)
}

/// Inputs that are no consecutive times.
#[allow(dead_code)]
pub(crate) fn shuffled() -> Vec<u8> {
    let numbers: Vec<u16> = (0..8).collect();
    written(FORMS[0], &[8], &numbers, &[0, 1, 2, 4, 3, 5, 6, 7])
}

/// Z12 as Z3 × Z4: input n stands at (n mod 3, n mod 4).
#[allow(dead_code)]
pub(crate) fn product() -> Vec<u8> {
    let numbers: Vec<u16> = (0..12).collect();
    let elements: Vec<u16> = (0..12).map(|n| n % 3 * 4 + n % 4).collect();
    written(FORMS[1], &[3, 4], &numbers, &elements)
}

/// The largest ‖difference‖ between the features of a sliding window and those of the whole transform of the same samples, looked
/// at every `hop` samples of so many.
pub(crate) fn distance(model: Model<'_>, stream: &mut Stream, samples: usize, hop: usize) -> f64 {
    let inputs = model.inputs();
    let mut window = Sliding::<i16, 1024, 513>::new(model).unwrap();
    let mut scratch = vec![0.0; model.scratch_len()];
    let (mut a, mut b) = (
        vec![0.0; model.feature_count()],
        vec![0.0; model.feature_count()],
    );
    let (mut last, mut worst) = (Vec::new(), 0.0_f64);
    let mut taken = 0;
    while taken < samples {
        let hopped: Vec<i16> = (0..hop).map(|_| stream.next()).collect();
        window.extend(&hopped).unwrap();
        last.extend(hopped);
        taken += hop;
        if last.len() >= inputs {
            last.drain(..last.len() - inputs);
            window.features(&mut scratch, &mut a).unwrap();
            model.features(&last[..], &mut scratch, &mut b).unwrap();
            let squares = a.iter().zip(&b).map(|(a, b)| f64::from(a - b).powi(2));
            worst = worst.max(squares.sum::<f64>().sqrt());
        }
    }
    worst
}
