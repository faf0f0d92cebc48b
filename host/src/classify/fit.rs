//! How a perceptron is trained: batches in random order, Adam, a rate that falls on plateaus of the held-out loss.
//!
//! A batch is cut into a fixed number of parts, whose gradients are added in their order: the same seed gives the same
//! bits with any number of threads.

use super::mlp::{Mlp, Targets, Workspace};
use crate::data::random::{Purpose, stream_at};
use crate::train::adam::Adam;
use crate::{Error, Result};
use clap::ValueEnum;
use ndarray::{Array2, Axis};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Parts of a batch, each for one thread.
const PARTS: usize = 4;
/// Samples that are classified at a time.
const BLOCK: usize = 512;

/// The course of the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Course {
    /// It is multiplied by `factor` where the held-out loss has not fallen for `patience` looks: the paper's.
    Plateau,
    /// From `rate` to zero along half a cosine.
    Cosine,
}

/// Everything that is chosen about training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Protocol {
    /// Numbers of the hidden layers.
    pub hidden: Vec<usize>,
    /// How often every sample is seen, at most.
    pub epochs: usize,
    /// Samples of a step.
    pub batch: usize,
    /// The first rate.
    pub rate: f64,
    /// How it falls.
    pub course: Course,
    /// By what the rate is multiplied on a plateau.
    pub factor: f64,
    /// Looks at the held-out samples without a lower loss that make a plateau.
    pub patience: usize,
    /// Looks in an epoch.
    pub looks: usize,
    /// Where the rate would be lower, training ends.
    pub least_rate: f64,
    /// The share of hidden numbers that are dropped in a step.
    pub dropout: f32,
    /// The deviation of noise on the inputs.
    pub noise: f32,
    /// By what weights shrink in a step, for each unit of the rate.
    pub decay: f64,
    /// The share of the target that is spread evenly over all classes.
    pub smoothing: f32,
    /// The weights that count are a running mean with this decay a step; 0 for the weights themselves.
    pub average: f32,
}

/// The paper's: 128-128-64-32, Adam at 0.002, × 0.95 on plateaus of 30 down to 5e-5, nothing against overfitting.
impl Default for Protocol {
    fn default() -> Self {
        Protocol {
            hidden: vec![128, 128, 64, 32],
            epochs: 100,
            batch: 128,
            rate: 0.002,
            course: Course::Plateau,
            factor: 0.95,
            patience: 30,
            looks: 20,
            least_rate: 5e-5,
            dropout: 0.0,
            noise: 0.0,
            decay: 0.0,
            smoothing: 0.0,
            average: 0.0,
        }
    }
}

/// Inputs of a perceptron, a row each, and the class of each.
#[derive(Debug, Clone, Copy)]
pub struct Labelled<'a> {
    /// One a row.
    pub inputs: &'a Array2<f32>,
    /// One a row.
    pub classes: &'a [u8],
}

/// How training stood at the end of an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// Counted from one.
    pub epoch: usize,
    /// Of its last step.
    pub rate: f64,
    /// The mean loss of its steps.
    pub loss: f64,
    /// The mean loss of the held-out samples.
    pub held_out_loss: f64,
    /// The share of the held-out samples that are classified as what they are.
    pub held_out_accuracy: f64,
}

impl Protocol {
    /// # Errors
    /// What cannot be trained with, by name.
    pub fn check(&self) -> Result<()> {
        let share = |value: f32| (0.0..1.0).contains(&value);
        let positive = |value: f64| value.is_finite() && value > 0.0;
        let wrong = [
            ("epochs", self.epochs == 0, "at least 1"),
            ("batch", self.batch == 0, "at least 1"),
            ("rate", !positive(self.rate), "a positive number"),
            (
                "factor",
                !(positive(self.factor) && self.factor < 1.0),
                "between 0 and 1",
            ),
            ("patience", self.patience == 0, "at least 1"),
            ("looks", self.looks == 0, "at least 1"),
            (
                "least_rate",
                !positive(self.least_rate),
                "a positive number",
            ),
            ("dropout", !share(self.dropout), "from 0 to less than 1"),
            (
                "noise",
                !(self.noise.is_finite() && self.noise >= 0.0),
                "not negative",
            ),
            (
                "decay",
                !(self.decay.is_finite() && self.decay >= 0.0),
                "not negative",
            ),
            ("smoothing", !share(self.smoothing), "from 0 to less than 1"),
            ("average", !share(self.average), "from 0 to less than 1"),
        ];
        match wrong.iter().find(|(_, is_wrong, _)| *is_wrong) {
            Some((name, _, range)) => Err(Error::new(*name, "out of its range", *range)),
            None => Ok(()),
        }
    }

    /// Trains on `training`, and keeps the weights that do best on `held_out`. `told` hears of every epoch.
    ///
    /// # Errors
    /// The protocol is out of range, or training diverges.
    ///
    /// # Panics
    /// There are no samples, or not as many classes as samples.
    pub fn train<'a>(
        &'a self,
        training: Labelled<'a>,
        held_out: Labelled<'a>,
        classes: usize,
        seed: u64,
        told: &mut dyn FnMut(&Epoch),
    ) -> Result<(Mlp, Vec<Epoch>)> {
        self.check()?;
        let inputs = training.inputs.ncols();
        let sizes: Vec<usize> = [inputs]
            .into_iter()
            .chain(self.hidden.iter().copied())
            .chain([classes])
            .collect();
        let mut random = stream_at(seed, Purpose::Classifier, [0, 0]);
        let mlp = Mlp::random(&sizes, &mut random)?;
        let mut fit = Fit {
            protocol: self,
            training,
            held_out,
            seed,
            adam: Adam::new(mlp.parameters().len()),
            averaged: mlp.clone(),
            best: (mlp.clone(), f64::NEG_INFINITY, f64::INFINITY),
            mlp,
            parts: (0..PARTS).map(|_| Part::default()).collect(),
            gradient: Vec::new(),
            rate: self.rate,
            lowest: f64::INFINITY,
            waited: 0,
            step: 0,
        };
        let mut epochs = Vec::new();
        for epoch in 1..=self.epochs {
            epochs.push(fit.epoch(epoch)?);
            told(&epochs[epoch - 1]);
            if fit.rate < self.least_rate && self.course == Course::Plateau {
                break;
            }
        }
        Ok((fit.best.0, epochs))
    }
}

/// What one thread computes in.
#[derive(Default)]
struct Part {
    workspace: Workspace,
    samples: Vec<f32>,
    classes: Vec<u8>,
    loss: f64,
}

/// Training under way.
struct Fit<'a> {
    protocol: &'a Protocol,
    training: Labelled<'a>,
    held_out: Labelled<'a>,
    seed: u64,
    mlp: Mlp,
    averaged: Mlp,
    /// The best so far, its accuracy and its loss.
    best: (Mlp, f64, f64),
    adam: Adam,
    parts: Vec<Part>,
    gradient: Vec<f32>,
    rate: f64,
    lowest: f64,
    waited: usize,
    step: u64,
}

impl Fit<'_> {
    fn epoch(&mut self, epoch: usize) -> Result<Epoch> {
        let count = self.training.inputs.nrows();
        let mut order: Vec<usize> = (0..count).collect();
        order.shuffle(&mut stream_at(
            self.seed,
            Purpose::Classifier,
            [epoch as u64, 0],
        ));
        let batches: Vec<&[usize]> = order.chunks(self.protocol.batch).collect();
        let (mut sum, mut look) = (0.0, (f64::INFINITY, 0.0));
        for (at, batch) in batches.iter().enumerate() {
            if self.protocol.course == Course::Cosine {
                let done = (epoch - 1) as f64 + at as f64 / batches.len() as f64;
                self.rate = 0.5
                    * self.protocol.rate
                    * (1.0 + libm::cos(PI * done / self.protocol.epochs as f64));
            }
            sum += self.step(batch);
            let looks = |batches_done: usize| batches_done * self.protocol.looks / batches.len();
            let is_last = at + 1 == batches.len();
            if is_last || (looks(at + 1) > looks(at) && self.protocol.course == Course::Plateau) {
                look = self.look();
            }
        }
        let loss = sum / batches.len() as f64;
        if !loss.is_finite() {
            return Err(Error::new(
                "training",
                "the loss is not finite any more",
                "lower the rate",
            ));
        }
        Ok(Epoch {
            epoch,
            rate: self.rate,
            loss,
            held_out_loss: look.0,
            held_out_accuracy: look.1,
        })
    }

    /// One step against the gradient of a batch; returns its loss.
    fn step(&mut self, batch: &[usize]) -> f64 {
        self.step += 1;
        let Fit {
            protocol,
            training,
            seed,
            step,
            mlp,
            ..
        } = self;
        let share = batch.len().div_ceil(PARTS);
        let used = batch.len().div_ceil(share);
        self.parts[..used]
            .par_iter_mut()
            .zip(batch.par_chunks(share))
            .enumerate()
            .for_each(|(at, (part, chosen))| {
                let mut random = stream_at(*seed, Purpose::Classifier, [*step, at as u64 + 1]);
                part.samples.clear();
                part.classes.clear();
                for &sample in chosen {
                    part.samples.extend(training.inputs.row(sample));
                    part.classes.push(training.classes[sample]);
                }
                if protocol.noise > 0.0 {
                    for value in &mut part.samples {
                        *value += protocol.noise * random.sample::<f32, _>(StandardNormal);
                    }
                }
                let targets = Targets {
                    classes: &part.classes,
                    smoothing: protocol.smoothing,
                };
                part.loss = part.workspace.loss_and_gradient(
                    mlp,
                    &part.samples,
                    targets,
                    protocol.dropout,
                    &mut random,
                );
            });
        self.gradient.clear();
        self.gradient.resize(self.mlp.parameters().len(), 0.0);
        let mut loss = 0.0;
        for part in &self.parts[..used] {
            let weight = part.classes.len() as f32 / batch.len() as f32;
            loss += part.loss * f64::from(weight);
            let parts = self.gradient.iter_mut().zip(part.workspace.gradient());
            parts.for_each(|(sum, part)| *sum += weight * part);
        }
        let kept = (1.0 - self.rate * self.protocol.decay) as f32;
        if kept < 1.0 {
            self.mlp
                .parameters_mut()
                .iter_mut()
                .for_each(|parameter| *parameter *= kept);
        }
        self.adam.update(
            self.mlp.parameters_mut().iter_mut(),
            self.gradient.iter(),
            self.rate,
        );
        self.follow();
        loss
    }

    /// Moves the averaged weights towards the present ones; early on, they are a mean of all there were.
    fn follow(&mut self) {
        if self.protocol.average == 0.0 {
            return;
        }
        let step = self.step as f32;
        let towards = 1.0 - self.protocol.average.min(step / (step + 10.0));
        let pairs = self
            .averaged
            .parameters_mut()
            .iter_mut()
            .zip(self.mlp.parameters());
        pairs.for_each(|(mean, now)| *mean += towards * (now - *mean));
    }

    /// Loss and accuracy of the held-out samples; keeps the best weights and lowers the rate on a plateau.
    fn look(&mut self) -> (f64, f64) {
        let now = if self.protocol.average == 0.0 {
            &self.mlp
        } else {
            &self.averaged
        };
        let (loss, accuracy) = evaluate(now, self.held_out);
        let (_, best, of_loss) = self.best;
        if accuracy > best || (accuracy == best && loss < of_loss) {
            self.best = (now.clone(), accuracy, loss);
        }
        if loss < self.lowest {
            (self.lowest, self.waited) = (loss, 0);
        } else {
            self.waited += 1;
            if self.waited >= self.protocol.patience && self.protocol.course == Course::Plateau {
                self.waited = 0;
                self.rate *= self.protocol.factor;
            }
        }
        (loss, accuracy)
    }
}

/// a_L of every row of `inputs`, one behind the other.
#[must_use]
pub fn outputs(mlp: &Mlp, inputs: &Array2<f32>) -> Vec<f32> {
    let blocks: Vec<_> = inputs.axis_chunks_iter(Axis(0), BLOCK).collect();
    let outputs: Vec<Vec<f32>> = blocks
        .into_par_iter()
        .map_init(Workspace::default, |workspace, block| {
            let samples: Vec<f32> = block.iter().copied().collect();
            workspace.outputs(mlp, &samples).to_vec()
        })
        .collect();
    outputs.concat()
}

/// The place of the largest output, the first of equals.
#[must_use]
pub fn class_of(outputs: &[f32]) -> u8 {
    let largest = outputs.iter().enumerate().fold(
        (0, f32::NEG_INFINITY),
        |(best, most), (class, &output)| {
            if output > most {
                (class, output)
            } else {
                (best, most)
            }
        },
    );
    largest.0 as u8
}

/// Mean loss, and the share of samples that are classified as what they are.
#[must_use]
pub fn evaluate(mlp: &Mlp, samples: Labelled<'_>) -> (f64, f64) {
    let outputs = outputs(mlp, samples.inputs);
    let (mut loss, mut right) = (0.0, 0);
    for (outputs, &class) in outputs.chunks_exact(mlp.classes()).zip(samples.classes) {
        let largest = outputs.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f32 = outputs.iter().map(|a| libm::expf(a - largest)).sum();
        loss += f64::from(largest + libm::logf(sum) - outputs[usize::from(class)]);
        right += usize::from(class_of(outputs) == class);
    }
    let count = samples.classes.len().max(1) as f64;
    (loss / count, right as f64 / count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::random::stream;
    use rayon::ThreadPoolBuilder;

    /// Points of the plane in two classes, inside a circle and outside: no line parts them.
    fn circle(seed: u64, count: usize) -> (Array2<f32>, Vec<u8>) {
        let mut random = stream(seed, Purpose::Classifier);
        let points = Array2::from_shape_fn((count, 2), |_| 2.0 * random.random::<f32>() - 1.0);
        let is_inside = |row: ndarray::ArrayView1<'_, f32>| u8::from(row.dot(&row) < 0.6);
        let classes = points.rows().into_iter().map(is_inside).collect();
        (points, classes)
    }

    fn protocol() -> Protocol {
        Protocol {
            hidden: vec![16, 8],
            epochs: 30,
            batch: 32,
            rate: 0.01,
            course: Course::Cosine,
            ..Protocol::default()
        }
    }

    fn trained(protocol: &Protocol, seed: u64) -> (Mlp, Vec<Epoch>) {
        let ((inputs, classes), (held, held_classes)) = (circle(0, 600), circle(1, 200));
        let training = Labelled {
            inputs: &inputs,
            classes: &classes,
        };
        let held_out = Labelled {
            inputs: &held,
            classes: &held_classes,
        };
        protocol
            .train(training, held_out, 2, seed, &mut |_| {})
            .unwrap()
    }

    #[test]
    fn a_circle_is_learned() {
        let (points, classes) = circle(2, 1000);
        for changed in [
            protocol(),
            Protocol {
                course: Course::Plateau,
                ..protocol()
            },
            Protocol {
                average: 0.98,
                smoothing: 0.1,
                decay: 0.01,
                noise: 0.01,
                ..protocol()
            },
        ] {
            let (mlp, epochs) = trained(&changed, 0);
            let (_, accuracy) = evaluate(
                &mlp,
                Labelled {
                    inputs: &points,
                    classes: &classes,
                },
            );
            assert!(accuracy > 0.95, "{accuracy} with {changed:?}");
            assert!(epochs.last().unwrap().loss < epochs[0].loss);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_bits_with_any_number_of_threads() {
        let protocol = Protocol {
            epochs: 3,
            dropout: 0.2,
            noise: 0.1,
            average: 0.9,
            ..protocol()
        };
        let with = |threads, seed| {
            let pool = ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| trained(&protocol, seed))
        };
        let one = with(1, 7);
        assert_eq!(one, with(3, 7));
        assert_ne!(one.0, with(1, 8).0);
    }

    #[test]
    fn a_plateau_lowers_the_rate_and_the_lowest_rate_ends_training() {
        let still = Protocol {
            course: Course::Plateau,
            rate: 1e-12,
            least_rate: 0.9e-12,
            patience: 2,
            looks: 1,
            ..protocol()
        };
        let (_, epochs) = trained(&still, 0);
        let rates: Vec<f64> = epochs.iter().map(|epoch| epoch.rate).collect();
        assert!(
            epochs.len() < 30 && *rates.last().unwrap() < 0.9e-12,
            "{rates:?}"
        );
        assert!(
            (rates[rates.len() - 1] / rates[rates.len() - 2] - 0.95).abs() < 1e-9,
            "{rates:?}"
        );
    }

    #[test]
    fn what_cannot_be_trained_with_is_refused_by_name() {
        for (wrong, name) in [
            (
                Protocol {
                    epochs: 0,
                    ..protocol()
                },
                "epochs",
            ),
            (
                Protocol {
                    batch: 0,
                    ..protocol()
                },
                "batch",
            ),
            (
                Protocol {
                    rate: f64::NAN,
                    ..protocol()
                },
                "rate",
            ),
            (
                Protocol {
                    dropout: 1.0,
                    ..protocol()
                },
                "dropout",
            ),
            (
                Protocol {
                    average: -0.1,
                    ..protocol()
                },
                "average",
            ),
            (
                Protocol {
                    factor: 1.0,
                    ..protocol()
                },
                "factor",
            ),
        ] {
            let line = wrong.check().unwrap_err().to_string();
            assert!(line.starts_with(&format!("{name}: ")), "{line}");
        }
    }
}
