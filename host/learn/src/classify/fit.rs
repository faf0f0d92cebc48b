//! How a perceptron is trained: batches in random order, Adam, a rate that falls on plateaus of the loss.
//!
//! A batch is cut into a fixed number of parts, whose gradients are added in their order: the same seed gives the same
//! bits with any number of threads.

use super::gradient::{Targets, Workspace};
use super::mlp::Mlp;
use super::outputs::{Labelled, evaluate};
use super::protocol::{Protocol, RateSchedule};
use crate::limits::interruption;
use crate::numeric::adam::Adam;
use crate::numeric::random::{Purpose, stream_at};
use crate::{Error, Result};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Parts of a batch, each for one thread.
const PARTS: usize = 4;

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
    /// Trains on `training`, and keeps the weights that do best on `held_out`. `observe` hears of every epoch.
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
        observe: &mut dyn FnMut(&Epoch),
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
            observe(&epochs[epoch - 1]);
            if fit.rate < self.least_rate && self.schedule == RateSchedule::Plateau {
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
        let place = [epoch as u64, 0];
        order.shuffle(&mut stream_at(self.seed, Purpose::Classifier, place));
        let batches: Vec<&[usize]> = order.chunks(self.protocol.batch).collect();
        let mut sum = 0.0;
        for looked in batches.chunks(batches.len().div_ceil(self.protocol.looks)) {
            let mut part = 0.0;
            for batch in looked {
                self.lower(count);
                part += self.step(batch);
            }
            self.look(part / looked.len() as f64);
            sum += part;
        }
        let loss = sum / batches.len() as f64;
        if !loss.is_finite() {
            let what = "the loss is not finite any more";
            return Err(Error::new("training", what, "lower the rate"));
        }
        let (held_out_loss, held_out_accuracy) = self.keep_best();
        Ok(Epoch {
            epoch,
            rate: self.rate,
            loss,
            held_out_loss,
            held_out_accuracy,
        })
    }

    /// One step against the gradient of a batch; returns its loss.
    fn step(&mut self, batch: &[usize]) -> f64 {
        interruption::check();
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

    /// The rate of the next step along the cosine, with so many samples an epoch.
    fn lower(&mut self, samples: usize) {
        if self.protocol.schedule == RateSchedule::Cosine {
            let steps = samples.div_ceil(self.protocol.batch) * self.protocol.epochs;
            let done = self.step as f64 / steps as f64;
            self.rate = 0.5 * self.protocol.rate * (1.0 + libm::cos(PI * done));
        }
    }

    /// Lowers the rate on a plateau of the loss.
    fn look(&mut self, loss: f64) {
        if loss < self.lowest {
            (self.lowest, self.waited) = (loss, 0);
            return;
        }
        self.waited += 1;
        if self.waited >= self.protocol.patience && self.protocol.schedule == RateSchedule::Plateau
        {
            self.waited = 0;
            self.rate *= self.protocol.factor;
        }
    }

    /// Loss and accuracy of the held-out samples; keeps the weights where they are the best so far.
    fn keep_best(&mut self) -> (f64, f64) {
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
        (loss, accuracy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::random::stream;
    use ndarray::Array2;
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
            schedule: RateSchedule::Cosine,
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
                schedule: RateSchedule::Plateau,
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
            schedule: RateSchedule::Plateau,
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
}
