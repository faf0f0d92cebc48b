//! Whether invariants help: the same labelled signals classified by what people use today and by features of a model.
//!
//! Signals are centred and of unit length for all methods. 1-NN takes the class of the nearest training sample: of signals as
//! they are, of |z|², of |z|, of signals under the best of all N cyclic shifts (brute force), of β̄, and of features of degree
//! one. Max filtering is ridge regression of the largest products with training signals. `chain` is the classifier that a device runs. Draws differ in where signals begin, in noise and in the split; all
//! methods see the same draws, so that differences between them are paired.

use super::chain::Chain;
use super::device;
use super::harmonics::{Harmonics, features};
use super::neighbours::{left_out, nearest};
use super::ridge::Ridge;
use crate::analysis::fit::Limits;
use crate::limits::interruption;
use crate::numeric::matrix::{matrix, matrix_mut, multiply};
use crate::numeric::random::{Purpose, stream_at};
use crate::{Error, Result};
use bispectral_core::Model;
use bispectral_core::format::Head;
use ndarray::{Array2, Axis};
use rand::RngExt;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::Serialize;
use std::time::Instant;

/// Harmonics and weights of the phases that are tried on training samples; the first is taken unless another is better there by
/// more than one standard error.
const NEIGHBOUR_CHOICES: [(usize, f32); 8] = [
    (16, 0.5),
    (8, 0.5),
    (32, 0.5),
    (16, 0.25),
    (32, 0.25),
    (16, 0.1),
    (32, 0.1),
    (16, 1.0),
];
/// Harmonics of β̄ in the table.
const BISPECTRUM_ROWS: usize = 16;
/// Templates of max filtering at most.
const MOST_TEMPLATES: usize = 256;

/// What is done to the signals before they are compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Disturbance {
    /// Each signal begins at a random place of its period.
    pub shift: bool,
    /// Gaussian noise, as a share of each signal's deviation.
    pub noise: f64,
    /// A signal is a window of so much of its period.
    pub window: f64,
    /// The speed of each signal differs by up to this share, and so does its window.
    pub speed: f64,
}

/// Labelled signals.
#[derive(Debug, Clone)]
pub struct Labelled {
    /// One a row.
    pub signals: Array2<f32>,
    /// The class of each, from 0.
    pub classes: Vec<usize>,
}

/// How a method did.
#[derive(Debug, Clone, Serialize)]
pub struct Line {
    /// What it is called.
    pub method: &'static str,
    /// Right of the test samples: the mean over draws.
    pub accuracy: f64,
    /// Its standard error over draws.
    pub error: f64,
    /// How much better than brute force, and the standard error of that: paired over draws.
    pub over_brute_force: [f64; 2],
    /// The same over |z|.
    pub over_magnitudes: [f64; 2],
    /// To classify one signal, microseconds.
    pub microseconds: f64,
    /// What must be kept to classify: training samples as the method has them, or the model.
    pub bytes: usize,
    /// Right in each draw.
    pub draws: Vec<f64>,
}

/// What a method says of one draw.
struct Answer {
    accuracy: f64,
    seconds: f64,
    bytes: usize,
}

const METHODS: [&str; 10] = [
    "signal, 1-NN",
    "power spectrum, 1-NN",
    "|z|, 1-NN",
    "brute force over shifts, 1-NN",
    "max filtering, ridge",
    "bispectrum, 1-NN",
    "degree one, 1-NN",
    "degree one selective, 1-NN",
    "degree one, chain",
    "degree one, chain, smallest",
];

/// The table: `test` is what is classified, or a share of the training samples that is held out anew in each draw.
///
/// # Errors
/// Too few signals, or one that is constant or has no features.
pub fn compare(
    training: &Labelled,
    test: Option<&Labelled>,
    disturbance: Disturbance,
    draws: usize,
    held_out: f64,
    seed: u64,
    observe: &mut dyn FnMut(usize),
) -> Result<Vec<Line>> {
    let labels = |set: &Labelled| set.classes.iter().max().map_or(0, |most| most + 1);
    let classes = labels(training).max(test.map_or(0, labels));
    let mut answers: Vec<Vec<Answer>> = Vec::new();
    for draw in 0..draws {
        let (training, test) = match test {
            Some(test) => (training.clone(), test.clone()),
            None => training.split(held_out, seed, draw)?,
        };
        let training = training.disturbed(disturbance, seed, [draw as u64, 1])?;
        let test = test.disturbed(disturbance, seed, [draw as u64, 2])?;
        answers.push(one_draw(&training, &test, classes, seed)?);
        observe(draw + 1);
    }
    Ok(lines(&answers))
}

fn one_draw(
    training: &Labelled,
    test: &Labelled,
    classes: usize,
    seed: u64,
) -> Result<Vec<Answer>> {
    let neighbours = |of: &dyn Fn(&Labelled) -> Result<Array2<f32>>| -> Result<Answer> {
        let known = of(training)?;
        let begun = Instant::now();
        let found = nearest(&known, &of(test)?);
        Ok(test.judge(&found, &training.classes, begun, 4 * known.len()))
    };
    let n = training.signals.ncols();
    let magnitudes = Harmonics::new(n, n / 2).model(Head::None)?;
    let spectrum = |set: &Labelled, power: bool| spectrum(&magnitudes, &set.signals, power);
    let begun = Instant::now();
    let shifted = nearest_shifted(&correlations(&training.signals, &test.signals));
    let brute = test.judge(
        &shifted,
        &training.classes,
        begun,
        4 * training.signals.len(),
    );
    let [full, selective] = [false, true].map(|selective| chosen(training, selective));
    let (full, selective) = (full?.model(Head::None)?, selective?.model(Head::None)?);
    let bispectrum = Harmonics::new(n, BISPECTRUM_ROWS).model(Head::None)?;
    let best = Chain::best(training.signals.view(), &training.classes, classes, seed)?;
    let (smallest, _) = Chain::choose(
        training.signals.view(),
        &training.classes,
        classes,
        &Limits::default(),
        seed,
    )?;
    Ok(vec![
        neighbours(&|set| Ok(set.signals.clone()))?,
        neighbours(&|set| spectrum(set, true))?,
        neighbours(&|set| spectrum(set, false))?,
        brute,
        max_filtering(training, test, classes),
        neighbours(&|set| invariants(&bispectrum, &set.signals))?,
        neighbours(&|set| features(&full, set.signals.view()))?,
        neighbours(&|set| features(&selective, set.signals.view()))?,
        test.classified(&best)?,
        test.classified(&smallest)?,
    ])
}

/// The harmonics and the weight that suit training samples.
fn chosen(training: &Labelled, selective: bool) -> Result<Harmonics> {
    let count = training.classes.len() as f64;
    let mut best: Option<(f64, Harmonics)> = None;
    for (rows, weight) in NEIGHBOUR_CHOICES {
        let harmonics = Harmonics {
            selective,
            ..Harmonics::new(training.signals.ncols(), rows)
        };
        let harmonics = harmonics.weighing(weight, training.signals.view())?;
        let found = features(&harmonics.model(Head::None)?, training.signals.view())?;
        let right = left_out(&found, &training.classes);
        let error = (right * (1.0 - right) / count).sqrt();
        if best.as_ref().is_none_or(|(most, _)| right > most + error) {
            best = Some((right, harmonics));
        }
    }
    Ok(best.expect("there are choices").1)
}

/// The largest product of each sample, under any cyclic shift, with each known one.
fn correlations(known: &Array2<f32>, samples: &Array2<f32>) -> Array2<f32> {
    let (count, n) = known.dim();
    let known = known.as_slice().expect("in one piece");
    let rows: Vec<Vec<f32>> = samples.rows().into_iter().map(|row| row.to_vec()).collect();
    let largest: Vec<Vec<f32>> = rows
        .par_iter()
        .map(|x| {
            let shifts: Vec<f32> = (0..n)
                .flat_map(|by| (0..n).map(move |k| x[(k + by) % n]))
                .collect();
            let mut products = vec![0.0; n * count];
            let of_known = matrix(known, count, n, n).transpose();
            multiply(
                matrix_mut(&mut products, n, count, count),
                matrix(&shifts, n, n, n),
                of_known,
                1.0,
            );
            let of = |place: usize| products[place..].iter().step_by(count).copied();
            (0..count)
                .map(|place| of(place).fold(f32::NEG_INFINITY, f32::max))
                .collect()
        })
        .collect();
    Array2::from_shape_vec((samples.nrows(), count), largest.concat())
        .expect("one row a sample, one column a known one")
}

/// The known sample with the largest product with any shift of each.
fn nearest_shifted(correlations: &Array2<f32>) -> Vec<usize> {
    let largest = |row: ndarray::ArrayView1<'_, f32>| {
        let numbered = row.iter().enumerate();
        numbered
            .max_by(|a, b| a.1.total_cmp(b.1))
            .map_or(0, |(at, _)| at)
    };
    correlations.rows().into_iter().map(largest).collect()
}

/// Max filtering: the largest products with templates are features, of which ridge regression makes classes. Templates are training
/// samples; each is as like itself as the most like of the others, so that training samples look as others do.
fn max_filtering(training: &Labelled, test: &Labelled, classes: usize) -> Answer {
    let count = training.classes.len();
    let kept = MOST_TEMPLATES.min(count);
    let places: Vec<usize> = (0..kept).map(|at| at * count / kept).collect();
    let templates = training.signals.select(Axis(0), &places);
    let mut found = correlations(&templates, &training.signals);
    for (column, &row) in places.iter().enumerate() {
        let others = (0..kept).filter(|other| *other != column);
        let most = others.map(|other| found[(row, other)]);
        found[(row, column)] = most.fold(f32::NEG_INFINITY, f32::max).max(-1.0);
    }
    let ridge = Ridge::fit(found.view(), &training.classes, classes);
    let begun = Instant::now();
    let scores = correlations(&templates, &test.signals).dot(&ridge.weights.t());
    let right = scores.rows().into_iter().zip(&test.classes);
    let right = right.filter(|(row, class)| {
        let scored = row.iter().zip(&ridge.biases).map(|(a, b)| a + b);
        let best = scored.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        best.is_some_and(|(found, _)| found == **class)
    });
    let bytes = 4 * (templates.len() + ridge.weights.len() + classes);
    test.answer(right.count(), begun, bytes)
}

/// The class of the nearest power spectrum among known signals, of each of others.
///
/// # Errors
/// A signal has no harmonics.
pub fn taken_by_power_spectrum(known: &Labelled, others: &Labelled) -> Result<Vec<usize>> {
    let n = known.signals.ncols();
    let magnitudes = Harmonics::new(n, n / 2).model(Head::None)?;
    let of = |set: &Labelled| spectrum(&magnitudes, &set.signals, true);
    if others.classes.is_empty() {
        return Ok(Vec::new());
    }
    let found = nearest(&of(known)?, &of(others)?);
    Ok(found.into_iter().map(|at| known.classes[at]).collect())
}

/// |z| or |z|² of all harmonics.
fn spectrum(bytes: &[u8], signals: &Array2<f32>, power: bool) -> Result<Array2<f32>> {
    let all = features(bytes, signals.view())?;
    let rows = signals.ncols() / 2;
    let part = all.view().split_at(Axis(1), rows).0.to_owned();
    Ok(if power { part.mapv(|m| m * m) } else { part })
}

/// β̄ as real numbers; zeros for a signal that has none, of which this method can say nothing.
fn invariants(bytes: &[u8], signals: &Array2<f32>) -> Result<Array2<f32>> {
    let model =
        Model::from_bytes(bytes).map_err(|error| Error::model("the model".as_ref(), error))?;
    let mut all = Array2::zeros((signals.nrows(), 2 * model.pairs()));
    for ((at, x), mut out) in signals.rows().into_iter().enumerate().zip(all.rows_mut()) {
        interruption::check();
        let found = match model.invariants_vec(&x.to_vec()) {
            Err(bispectral_core::Error::ZeroBispectrum) => continue,
            found => found.map_err(|error| {
                let what = error.to_string();
                Error::new(format!("sample {at}"), what, "leave the sample out")
            })?,
        };
        let parts = found.iter().flat_map(|term| [term.re, term.im]);
        out.iter_mut()
            .zip(parts)
            .for_each(|(out, part)| *out = part);
    }
    Ok(all)
}

impl Labelled {
    fn judge(&self, nearest: &[usize], known: &[usize], begun: Instant, bytes: usize) -> Answer {
        let pairs = nearest.iter().zip(&self.classes);
        let right = pairs.filter(|(at, class)| known[**at] == **class).count();
        self.answer(right, begun, bytes)
    }

    fn answer(&self, right: usize, begun: Instant, bytes: usize) -> Answer {
        let count = self.classes.len() as f64;
        Answer {
            accuracy: right as f64 / count,
            seconds: begun.elapsed().as_secs_f64() / count,
            bytes,
        }
    }

    fn classified(&self, chain: &Chain) -> Result<Answer> {
        let begun = Instant::now();
        let model = Model::from_bytes(&chain.bytes)
            .map_err(|error| Error::model("the model".as_ref(), error))?;
        let found = device::classify(&model, self.signals.view())?;
        let pairs = found.iter().zip(&self.classes);
        let right = pairs.filter(|(f, c)| usize::from(**f) == **c).count();
        Ok(self.answer(right, begun, chain.bytes.len()))
    }

    /// What is left to train on, and a share that is held out, of every class.
    fn split(&self, held_out: f64, seed: u64, draw: usize) -> Result<(Self, Self)> {
        let mut random = stream_at(seed, Purpose::Split, [draw as u64, 0]);
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        for class in 0..=self.classes.iter().copied().max().unwrap_or(0) {
            let all = self.classes.iter().enumerate();
            let mut places: Vec<usize> = all
                .filter(|(_, c)| **c == class)
                .map(|(at, _)| at)
                .collect();
            places.shuffle(&mut random);
            let out = ((places.len() as f64 * held_out).round() as usize)
                .min(places.len().saturating_sub(1));
            outside.extend_from_slice(&places[..out]);
            inside.extend_from_slice(&places[out..]);
        }
        if outside.is_empty() {
            let what = format!("{} samples leave none to hold out", self.classes.len());
            return Err(Error::new(
                "the data",
                what,
                "give more samples of each class",
            ));
        }
        let select = |places: &[usize]| Labelled {
            signals: self.signals.select(Axis(0), places),
            classes: places.iter().map(|&at| self.classes[at]).collect(),
        };
        Ok((select(&inside), select(&outside)))
    }

    /// Disturbed, centred and of unit length.
    fn disturbed(&self, by: Disturbance, seed: u64, place: [u64; 2]) -> Result<Self> {
        let mut random = stream_at(seed, Purpose::Noise, place);
        let mut signals = self.signals.clone();
        let n = signals.ncols();
        for (at, mut row) in signals.rows_mut().into_iter().enumerate() {
            let x: Vec<f64> = row.iter().map(|x| f64::from(*x)).collect();
            let mean = x.iter().sum::<f64>() / n as f64;
            let deviation = (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
            let start = if by.shift {
                random.random_range(0..n)
            } else {
                0
            };
            let step = by.window * (1.0 + by.speed * (2.0 * random.random::<f64>() - 1.0));
            let moved: Vec<f64> = (0..n)
                .map(|k| {
                    let t = start as f64 + k as f64 * step;
                    let (whole, rest) = (t.floor() as usize, t - t.floor());
                    let value = x[whole % n] * (1.0 - rest) + x[(whole + 1) % n] * rest;
                    value + by.noise * deviation * gaussian(&mut random)
                })
                .collect();
            let mean = moved.iter().sum::<f64>() / n as f64;
            let length = moved.iter().map(|x| (x - mean).powi(2)).sum::<f64>().sqrt();
            // Less is the rounding of the mean.
            if length <= 1e-6 * moved.iter().fold(0.0, |most: f64, x| most.max(x.abs())) {
                let what = "the signal is constant";
                return Err(Error::new(
                    format!("sample {at}"),
                    what,
                    "leave the sample out",
                ));
            }
            row.iter_mut()
                .zip(&moved)
                .for_each(|(to, x)| *to = ((x - mean) / length) as f32);
        }
        Ok(Labelled {
            signals,
            classes: self.classes.clone(),
        })
    }
}

/// Box and Muller's.
fn gaussian(random: &mut impl rand::Rng) -> f64 {
    let (a, b) = (random.random::<f64>().max(1e-300), random.random::<f64>());
    (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

/// The mean, and its standard error.
fn mean_and_error(values: &[f64]) -> [f64; 2] {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let square = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
    let error = if count > 1.0 {
        (square / (count - 1.0) / count).sqrt()
    } else {
        0.0
    };
    [mean, error]
}

fn lines(answers: &[Vec<Answer>]) -> Vec<Line> {
    let of =
        |method: usize| -> Vec<f64> { answers.iter().map(|draw| draw[method].accuracy).collect() };
    let difference = |method: usize, rival: usize| {
        let pairs: Vec<f64> = of(method)
            .iter()
            .zip(of(rival))
            .map(|(a, b)| a - b)
            .collect();
        mean_and_error(&pairs)
    };
    let line = |(at, method): (usize, &&'static str)| {
        let [accuracy, error] = mean_and_error(&of(at));
        let seconds =
            answers.iter().map(|draw| draw[at].seconds).sum::<f64>() / answers.len() as f64;
        Line {
            method,
            accuracy,
            error,
            over_brute_force: difference(at, 3),
            over_magnitudes: difference(at, 2),
            microseconds: 1e6 * seconds,
            bytes: answers.iter().map(|draw| draw[at].bytes).max().unwrap_or(0),
            draws: of(at),
        }
    };
    METHODS.iter().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three shapes; the first two have the same power spectrum.
    fn shapes(count: usize) -> Labelled {
        let mut random = stream_at(5, Purpose::Noise, [9, 9]);
        let classes: Vec<usize> = (0..count).map(|s| s % 3).collect();
        let signals = Array2::from_shape_fn((count, 32), |(s, n)| {
            let t = n as f32 * std::f32::consts::TAU / 32.0;
            let phase = [0.0, 1.5, 0.0][classes[s]];
            let third = [0.0, 0.0, 0.5][classes[s]];
            t.sin()
                + 0.6 * (2.0 * t + phase).sin()
                + third * (3.0 * t).sin()
                + 0.05 * random.random::<f32>()
        });
        Labelled { signals, classes }
    }

    #[test]
    fn signals_without_a_third_order_are_compared_too() {
        // Odd harmonics on an even cycle; the sizes differ.
        let classes: Vec<usize> = (0..60).map(|s| s % 2).collect();
        let signals = Array2::from_shape_fn((60, 32), |(s, n)| {
            let t = (n as f32 + (s % 7) as f32) * std::f32::consts::TAU / 32.0;
            t.sin() + [0.3, 0.6][classes[s]] * (3.0 * t).sin()
        });
        let disturbance = Disturbance {
            shift: true,
            noise: 0.0,
            window: 1.0,
            speed: 0.0,
        };
        let signals = Labelled { signals, classes };
        let table = compare(&signals, None, disturbance, 1, 0.4, 1, &mut |_| {}).unwrap();
        // |z| knows them; β̄ has no direction.
        assert!(table[2].accuracy > 0.99 && table[5].accuracy < 0.8);
    }

    #[test]
    fn shifted_signals_are_told_apart_by_invariants_and_not_as_they_are() {
        let disturbance = Disturbance {
            shift: true,
            noise: 0.05,
            window: 1.0,
            speed: 0.0,
        };
        let mut seen = 0;
        let table = compare(&shapes(90), None, disturbance, 3, 0.4, 1, &mut |done| {
            seen = done
        })
        .unwrap();
        assert_eq!((table.len(), seen), (METHODS.len(), 3));
        let accuracy = |at: usize| table[at].accuracy;
        assert!(accuracy(2) < 0.9, "magnitudes: {}", accuracy(2));
        for line in &table[3..] {
            assert!(line.accuracy > 0.97, "{}: {}", line.method, line.accuracy);
        }
        assert!(table[6].over_magnitudes[0] > 0.05);
        assert!(table[9].bytes < 4096);
    }

    #[test]
    fn brute_force_finds_a_shifted_copy() {
        let set = shapes(6)
            .disturbed(
                Disturbance {
                    shift: false,
                    noise: 0.0,
                    window: 1.0,
                    speed: 0.0,
                },
                0,
                [0, 0],
            )
            .unwrap();
        let moved = Array2::from_shape_fn((6, 32), |(s, n)| set.signals[(s, (n + 5 * s) % 32)]);
        let found = nearest_shifted(&correlations(&set.signals, &moved));
        assert_eq!(found, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_constant_signal_is_named() {
        let mut set = shapes(9);
        set.signals.row_mut(4).fill(2.5);
        let disturbance = Disturbance {
            shift: true,
            noise: 0.0,
            window: 1.0,
            speed: 0.0,
        };
        let error =
            compare(&set, Some(&shapes(3)), disturbance, 1, 0.3, 0, &mut |_| {}).unwrap_err();
        assert!(error.to_string().contains("constant"), "{error}");
    }

    #[test]
    fn a_window_of_less_than_a_period_is_cut_from_the_signal() {
        let set = Labelled {
            signals: Array2::from_shape_fn((1, 40), |(_, n)| {
                (n as f32 * std::f32::consts::TAU / 40.0).sin()
            }),
            classes: vec![0],
        };
        let disturbance = Disturbance {
            shift: false,
            noise: 0.0,
            window: 0.5,
            speed: 0.0,
        };
        let half = set.disturbed(disturbance, 0, [0, 0]).unwrap();
        // Half a sine has its largest value in the middle.
        let row = half.signals.row(0);
        let most = row
            .iter()
            .enumerate()
            .max_by(|a, b| a.1.total_cmp(b.1))
            .unwrap()
            .0;
        assert!((19..=21).contains(&most), "{most}");
    }
}
