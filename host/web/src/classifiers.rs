//! The classifiers that the page shows, learned when the page is built: a device's whole chain from samples to a class.
//!
//! Turns go through harmonics, a hidden layer and ridge regression; drawings through the bispectrum of low frequencies, principal
//! components and a perceptron, folded into one. Both are learned from variants of the page's examples.

use crate::drawing::{ANGLES, Line, PEN, RINGS, SIDE, digits, polar, raster};
use crate::turns;
use bispectral_core::Model;
use bispectral_core::format::Transform;
use bispectral_learn::classify::chain::{Chain, Size};
use bispectral_learn::classify::device::Encoding as Weights;
use bispectral_learn::classify::prepared::{Prepared, Recipe};
use bispectral_learn::classify::protocol::{Protocol, RateSchedule};
use bispectral_learn::classify::samples::Samples;
use bispectral_learn::data::group::Group;
use bispectral_learn::model::file::encode_array;
use bispectral_learn::model::form::{Encoding, Form, Source, Structure};
use bispectral_learn::{Error, Result};
use ndarray::Array2;
use num_complex::Complex32;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::f32::consts::TAU;
use std::path::Path;

/// Variants of an example to learn from, and to test with.
const VARIANTS: usize = 150;
/// Frequencies up to this one, in each direction, whose bispectrum a drawing's class is read from: an outline has no higher
/// ones that a hand would draw alike twice.
const HIGHEST: usize = 2;

/// What is classified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One turn of a machine, which begins anywhere.
    Turn,
    /// A digit on the square grid, shifted.
    Shifted,
    /// A digit on the polar grid, turned.
    Turned,
}

/// All of them, in the order in which the page knows them.
pub const KINDS: [Kind; 3] = [Kind::Turn, Kind::Shifted, Kind::Turned];

impl Kind {
    /// What an example's class is called. Turned, a six is a nine.
    #[must_use]
    pub fn classes(self) -> Vec<String> {
        match self {
            Kind::Turn => turns::NAMES.map(String::from).to_vec(),
            Kind::Shifted => (0..10).map(|digit| digit.to_string()).collect(),
            Kind::Turned => (0..9)
                .map(|digit| {
                    if digit == 6 {
                        "6 or 9".into()
                    } else {
                        digit.to_string()
                    }
                })
                .collect(),
        }
    }

    /// The group whose motions leave the class as it is.
    #[must_use]
    pub fn group(self) -> &'static str {
        match self {
            Kind::Turn => "Z64",
            Kind::Shifted => "Z16xZ16",
            Kind::Turned => "Z32xZ8",
        }
    }

    /// Instructions that a Cortex-M4F takes for one signal of [`classifier`], counted by QEMU: a test counts them again.
    #[must_use]
    pub fn counted_instructions(self) -> u64 {
        match self {
            Kind::Turn => 85_740,
            Kind::Shifted => 304_864,
            Kind::Turned => 301_836,
        }
    }

    /// `count` variants of each class's examples, moved at random, and the class of each.
    #[must_use]
    pub fn variants(self, count: usize, seed: u64) -> Samples {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (mut samples, mut labels) = (Vec::new(), Vec::new());
        let examples = match self {
            Kind::Turn => turns::NAMES.len(),
            Kind::Shifted | Kind::Turned => 10,
        };
        let digits = digits();
        for k in 0..count * examples {
            let example = k % examples;
            let sample = match self {
                Kind::Turn => noisy(example, &mut random),
                Kind::Shifted => {
                    let (lines, pen) = by_hand(&digits[example], &mut random);
                    shifted(&raster(&lines, pen), &mut random)
                }
                Kind::Turned => {
                    let (lines, pen) = by_hand(&digits[example], &mut random);
                    polar(&lines, pen, TAU * random.random::<f32>())
                }
            };
            samples.extend(sample);
            let turned_nine = self == Kind::Turned && example == 9;
            labels.push(if turned_nine { 6 } else { example as i64 });
        }
        let inputs = samples.len() / labels.len();
        let samples = Array2::from_shape_vec((labels.len(), inputs), samples);
        Samples {
            samples: samples.expect("rows of one length"),
            labels,
            views: 1,
        }
    }
}

fn around_zero(random: &mut ChaCha8Rng, most: f32) -> f32 {
    most * (2.0 * random.random::<f32>() - 1.0)
}

/// An example with other harmonics and noise, from anywhere on.
fn noisy(example: usize, random: &mut ChaCha8Rng) -> Vec<f32> {
    let x = turns::example(example);
    let size = (x.iter().map(|x| x * x).sum::<f32>() / x.len() as f32).sqrt();
    let start = random.random_range(0..x.len());
    let strength = 1.0 + around_zero(random, 0.3);
    let [low, phase] = [
        around_zero(random, 0.2 * size),
        TAU * random.random::<f32>(),
    ];
    let sample = |n: usize| {
        let wave = low * (TAU * n as f32 / x.len() as f32 + phase).cos();
        let noise = around_zero(random, 0.15 * size);
        strength * x[(n + start) % x.len()] + wave + noise
    };
    (0..x.len()).map(sample).collect()
}

/// A digit as another hand draws it: larger or smaller, slanted, bent, with another pen.
fn by_hand(lines: &[Line], random: &mut ChaCha8Rng) -> (Vec<Line>, f32) {
    let scale = [(); 2].map(|()| 0.95 + around_zero(random, 0.2));
    let [slant, lean] = [around_zero(random, 0.2), around_zero(random, 0.12)];
    let away = [(); 2].map(|()| around_zero(random, 0.03));
    let bend = [(); 4].map(|()| around_zero(random, 0.035));
    let drawn = |&[x, y]: &[f32; 2]| {
        let [x, y] = [(x - 0.5) * scale[0], (y - 0.5) * scale[1]];
        let [x, y] = [x + slant * y, y + lean * x];
        let wave = [
            (TAU * (y + bend[2] * 8.0)).sin(),
            (TAU * (x + bend[3] * 8.0)).sin(),
        ];
        [
            0.5 + x + away[0] + bend[0] * wave[0],
            0.5 + y + away[1] + bend[1] * wave[1],
        ]
    };
    let lines = lines.iter().map(|line| line.iter().map(drawn).collect());
    let lines = lines.collect();
    (lines, PEN * (1.0 + around_zero(random, 0.3)))
}

fn shifted(pixels: &[f32], random: &mut ChaCha8Rng) -> Vec<f32> {
    let [down, right] = [(); 2].map(|()| random.random_range(0..SIDE));
    let pixel = |k: usize| pixels[(k / SIDE + down) % SIDE * SIDE + (k % SIDE + right) % SIDE];
    (0..pixels.len()).map(pixel).collect()
}

/// The model that ends in a classifier, as a device runs it.
///
/// # Errors
/// The examples cannot be learned from.
pub fn classifier(kind: Kind) -> Result<Vec<u8>> {
    let training = kind.variants(VARIANTS, 1);
    let classes = kind.classes().len();
    if kind == Kind::Turn {
        let size = Size {
            harmonics: 16,
            selective: false,
            hidden: 16,
            ..Size::default()
        };
        let labels: Vec<usize> = training
            .labels
            .iter()
            .map(|&label| label as usize)
            .collect();
        return Ok(Chain::fit(size, training.samples.view(), &labels, classes, 1)?.bytes);
    }
    let bytes = low_frequencies(kind)?;
    let model = Model::from_bytes(&bytes).map_err(core_error)?;
    let recipe = Recipe {
        components: 40,
        exponent: 1.0,
        protocol: Protocol {
            hidden: vec![32],
            epochs: 40,
            rate: 0.01,
            schedule: RateSchedule::Cosine,
            noise: 0.1,
            decay: 0.01,
            ..Protocol::default()
        },
        ..Recipe::default()
    };
    let prepared = Prepared::new(model, &training, &[], &recipe, 1, &mut |_| {})?;
    let (classifier, _) = prepared.train(&recipe.protocol, 1, &mut |_| {})?;
    classifier.folded()?.behind(&model, Weights::I8)
}

fn core_error(error: bispectral_core::Error) -> Error {
    Error::model("the model".as_ref(), error)
}

/// The bispectrum of a group of two factors at its low frequencies, by FFT.
fn low_frequencies(kind: Kind) -> Result<Vec<u8>> {
    let group: Group = kind.group().parse()?;
    let scale = (group.order() as f64).sqrt().recip();
    let w = group.characters();
    let w = w.mapv(|w| Complex32::new((w.re * scale) as f32, (w.im * scale) as f32));
    let dense = encode_array(&w.view(), "", Some(kind.group())).map_err(core_error)?;
    let model = Model::from_bytes(&dense).map_err(core_error)?;
    let factors = if kind == Kind::Turned {
        [ANGLES, RINGS]
    } else {
        [SIDE, SIDE]
    };
    let low = |frequency: usize, of: usize| frequency.min(of - frequency) <= HIGHEST;
    let low_row = |row: usize| {
        let [a, b] = [row / factors[1], row % factors[1]];
        low(a, factors[0]) && low(b, factors[1])
    };
    let rows: Vec<usize> = (0..group.order()).filter(|&row| low_row(row)).collect();
    let pairs = rows.iter().flat_map(|&i| rows.iter().map(move |&j| (i, j)));
    let form = Form {
        encoding: Encoding::F32,
        structure: Structure::Cyclic(Transform::Fft),
        pairs: Some(pairs.filter(|(i, j)| i <= j).collect()),
    };
    Source::new(Path::new("model"), &model).form(&form, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bispectral_learn::classify::device::classify;

    #[test]
    fn variants_that_were_not_learned_from_are_classified() {
        for kind in KINDS {
            let bytes = classifier(kind).unwrap();
            let model = Model::from_bytes(&bytes).unwrap();
            let test = kind.variants(40, 2);
            let found = classify(&model, test.samples.view()).unwrap();
            let right = found
                .iter()
                .zip(&test.labels)
                .filter(|(found, label)| i64::from(**found) == **label);
            let share = right.count() as f64 / test.labels.len() as f64;
            println!(
                "{kind:?}: {share:.3}, {} bytes, {} pairs",
                bytes.len(),
                model.pairs()
            );
            assert!(share > 0.9, "{kind:?}: {share}");
        }
    }
}
