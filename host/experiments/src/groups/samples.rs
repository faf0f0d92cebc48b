//! Samples with the number of their orbit: random signals moved by a group, and sets that no group of permutations moves.

use bispectral_learn::data::orbits::Orbits;
use bispectral_learn::group::{Action, Permutation};
use bispectral_learn::ndarray::Array2;
use bispectral_learn::numeric::random::{Purpose, stream_at};
use bispectral_learn::{Error, Result};
use rand::seq::{SliceRandom, index};
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

/// Samples that are drawn one after the other from one stream.
struct Samples<R> {
    random: R,
    inputs: usize,
    values: Vec<f32>,
    labels: Vec<i64>,
}

fn samples(inputs: usize, seed: u64, place: u64) -> Samples<impl Rng> {
    Samples {
        random: stream_at(seed, Purpose::Exemplars, [place, inputs as u64]),
        inputs,
        values: Vec::new(),
        labels: Vec::new(),
    }
}

impl<R: Rng> Samples<R> {
    fn signal(&mut self) -> Vec<f64> {
        let random = &mut self.random;
        (0..self.inputs)
            .map(|_| random.sample(StandardNormal))
            .collect()
    }

    /// Adds a member with normal noise of this deviation; signals have deviation one.
    fn add(&mut self, label: usize, x: &[f64], noise: f64) {
        for &x in x {
            let noise = noise * self.random.sample::<f64, _>(StandardNormal);
            self.values.push((x + noise) as f32);
        }
        self.labels.push(label as i64);
    }

    fn orbits(self) -> Result<Orbits> {
        let shape = (self.labels.len(), self.inputs);
        let samples = Array2::from_shape_vec(shape, self.values)
            .map_err(|error| Error::new("samples", error.to_string(), "take other sizes"))?;
        Ok(Orbits::labelled(samples, &self.labels)?)
    }
}

/// How much of a group's orbits there is to learn from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting {
    pub(super) name: &'static str,
    pub(super) orbits: usize,
    /// The share of each orbit's members.
    pub(super) share: f64,
    /// The deviation of noise, as a share of a signal's.
    pub(super) noise: f64,
    /// The share of members that are signals of no orbit.
    pub(super) strangers: f64,
    /// The share of members that belong to another orbit.
    pub(super) mislabelled: f64,
}

/// Three whole orbits.
const WHOLE: Setting = Setting {
    name: "whole",
    orbits: 3,
    share: 1.0,
    noise: 0.0,
    strangers: 0.0,
    mislabelled: 0.0,
};

/// The setting of whole orbits with much noise.
pub(super) const NOISY: &str = "noisy";

/// Three whole orbits without noise; fewer members of more orbits, with noise; and much noise.
pub(super) const SETTINGS: [Setting; 4] = [
    WHOLE,
    Setting {
        name: "70 %",
        orbits: 8,
        share: 0.7,
        noise: 0.05,
        ..WHOLE
    },
    Setting {
        name: "50 %",
        orbits: 12,
        share: 0.5,
        noise: 0.05,
        ..WHOLE
    },
    Setting {
        name: NOISY,
        orbits: 24,
        noise: 0.1,
        ..WHOLE
    },
];

/// Members that do not belong to their orbit, and more noise.
pub(super) const ROUGH: [Setting; 6] = [
    Setting {
        name: "10 % strangers",
        strangers: 0.1,
        ..SLIGHT_NOISE
    },
    Setting {
        name: "20 % strangers",
        strangers: 0.2,
        ..SLIGHT_NOISE
    },
    Setting {
        name: "10 % mislabelled",
        mislabelled: 0.1,
        ..SLIGHT_NOISE
    },
    Setting {
        name: "20 % mislabelled",
        mislabelled: 0.2,
        ..SLIGHT_NOISE
    },
    Setting {
        name: "20 % noise",
        noise: 0.2,
        ..SLIGHT_NOISE
    },
    Setting {
        name: "30 % noise",
        noise: 0.3,
        ..SLIGHT_NOISE
    },
];

const SLIGHT_NOISE: Setting = Setting {
    orbits: 24,
    noise: 0.05,
    ..WHOLE
};

/// Random signals, each moved by random elements of `action`, two at least.
pub(super) fn moved(action: &Action, setting: Setting, seed: u64) -> Result<Orbits> {
    let mut samples = samples(action.degree(), seed, 0);
    let order = action.order();
    let kept = ((setting.share * order as f64).round() as usize).clamp(2.min(order), order);
    let count = |share: f64| (share * kept as f64).round() as usize;
    let (strangers, mislabelled) = (count(setting.strangers), count(setting.mislabelled));
    let signals: Vec<Vec<f64>> = (0..setting.orbits).map(|_| samples.signal()).collect();
    for (label, x) in signals.iter().enumerate() {
        let chosen = index::sample(&mut samples.random, order, kept);
        for (k, g) in chosen.into_iter().enumerate() {
            let element = &action.elements()[g];
            let x = if k < strangers {
                samples.signal()
            } else if k < strangers + mislabelled {
                let other = samples.random.random_range(1..signals.len());
                element.moved(&signals[(label + other) % signals.len()])
            } else {
                element.moved(x)
            };
            samples.add(label, &x, setting.noise);
        }
    }
    samples.orbits()
}

/// What is no group of permutations, or shows none.
#[derive(Debug, Clone, Copy)]
pub(super) enum Set {
    Unrelated,
    Shuffled,
    Mixed,
    Interpolated,
    Still,
}

impl Set {
    /// Those in which there is no group at all.
    pub(super) const ALL: [Set; 5] = [
        Set::Unrelated,
        Set::Shuffled,
        Set::Mixed,
        Set::Interpolated,
        Set::Still,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Set::Unrelated => "unrelated signals",
            Set::Shuffled => "other permutations in every orbit",
            Set::Mixed => "shifts behind a mixing matrix",
            Set::Interpolated => "shifts by fractions of a sample",
            Set::Still => "one signal and noise",
        }
    }

    pub(super) fn orbits(self, seed: u64) -> Result<Orbits> {
        match self {
            Set::Unrelated => {
                let mut samples = samples(8 + seed as usize % 24, seed, 1);
                for label in 0..60 {
                    let x = samples.signal();
                    samples.add(label / 10, &x, 0.0);
                }
                samples.orbits()
            }
            Set::Shuffled => {
                let inputs = 6 + seed as usize % 24;
                let mut samples = samples(inputs, seed, 2);
                for label in 0..6 {
                    let x = samples.signal();
                    for _ in 0..8 {
                        let mut images: Vec<u16> = (0..inputs as u16).collect();
                        images.shuffle(&mut samples.random);
                        let shuffle = Permutation::new(images).expect("shuffled");
                        samples.add(label, &shuffle.moved(&x), 0.0);
                    }
                }
                samples.orbits()
            }
            Set::Mixed => {
                let mut samples = samples(12, seed, 3);
                let mixture: Vec<Vec<f64>> = (0..12).map(|_| samples.signal()).collect();
                for label in 0..8 {
                    let x = samples.signal();
                    for shift in 0..12 {
                        let mix = |row: &Vec<f64>| -> f64 {
                            let moved = (0..12).map(|n| x[(n + shift) % 12]);
                            row.iter().zip(moved).map(|(w, x)| w * x).sum()
                        };
                        let mixed: Vec<f64> = mixture.iter().map(mix).collect();
                        samples.add(label, &mixed, 0.0);
                    }
                }
                samples.orbits()
            }
            Set::Interpolated => {
                let mut samples = samples(16, seed, 4);
                for label in 0..8 {
                    let x = samples.signal();
                    for _ in 0..12 {
                        let shift: f64 = samples.random.random_range(0.0..16.0);
                        let (whole, part) = (shift as usize, shift.fract());
                        let at = |n: usize| {
                            (1.0 - part) * x[(n + whole) % 16] + part * x[(n + whole + 1) % 16]
                        };
                        let moved: Vec<f64> = (0..16).map(at).collect();
                        samples.add(label, &moved, 0.0);
                    }
                }
                samples.orbits()
            }
            Set::Still => {
                let mut samples = samples(10, seed, 5);
                for label in 0..6 {
                    let x = samples.signal();
                    for _ in 0..8 {
                        samples.add(label, &x, 0.3);
                    }
                }
                samples.orbits()
            }
        }
    }
}

/// Binary images of this density under quarter turns and mirrors, 24 orbits of them; none where one of them is of one value.
pub(super) fn binary(action: &Action, density: f64, seed: u64) -> Result<Option<Orbits>> {
    let mut samples = samples(action.degree(), seed, 6);
    for label in 0..24 {
        let random = &mut samples.random;
        let x: Vec<f64> = (0..action.degree())
            .map(|_| f64::from(u8::from(random.random_bool(density))))
            .collect();
        if x.iter().all(|value| *value == x[0]) {
            return Ok(None);
        }
        for element in action.elements() {
            samples.add(label, &element.moved(&x), 0.0);
        }
    }
    samples.orbits().map(Some)
}
