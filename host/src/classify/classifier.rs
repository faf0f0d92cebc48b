//! A trained classifier: features, principal components, a scaling, a perceptron; and its file.

use super::device::Folded;
use super::features::{Features, Kind};
use super::fit::{Epoch, Labelled, Protocol, class_of, evaluate, outputs};
use super::mlp::Mlp;
use super::pca::Projection;
use super::scaling::Scaling;
use crate::data::random::{Purpose, stream};
use crate::export::sealed::Sealed;
use crate::{Error, Result};
use bispectral_core::Model;
use ndarray::{Array2, ArrayView2, Axis};
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use std::path::Path;

const FILE: Sealed = Sealed {
    magic: *b"BSK\0",
    version: 1,
    what: "a classifier",
    named: "name the folder that `bispectral classify train` wrote",
    damaged: "train it again with --force",
};
/// Classes are counted in a byte.
const MOST_CLASSES: usize = 256;

/// Everything that is chosen about a classifier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// What is computed of a signal.
    pub features: Kind,
    /// γ, by which the magnitudes of invariants are brought closer; 1 leaves them.
    pub exponent: f32,
    /// Complex principal components of invariants.
    pub components: usize,
    /// The share of the samples that are held out.
    pub held_out: f64,
    /// How the perceptron is trained.
    pub protocol: Protocol,
}

/// The paper's.
impl Default for Recipe {
    fn default() -> Self {
        Recipe {
            features: Kind::Invariants,
            exponent: 1.0,
            components: 500,
            held_out: 0.1,
            protocol: Protocol::default(),
        }
    }
}

/// What turns signals of one model into classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Classifier {
    front: Front,
    mlp: Mlp,
    /// What each class is called in the user's data.
    labels: Vec<i64>,
}

/// What turns a signal into the inputs of a perceptron.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Front {
    features: Kind,
    exponent: f32,
    /// Of complex features.
    projection: Option<Projection>,
    scaling: Scaling,
}

/// Samples that are ready for perceptrons to be trained on.
#[derive(Debug, Clone)]
pub struct Prepared {
    front: Front,
    labels: Vec<i64>,
    held: f64,
    training: (Array2<f32>, Vec<u8>),
    held_out: (Array2<f32>, Vec<u8>),
}

/// How training went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trained {
    /// Samples that were trained on.
    pub training: usize,
    /// Samples that were held out.
    pub held_out: usize,
    /// Numbers that go into the perceptron.
    pub inputs: usize,
    /// Its weights and biases.
    pub parameters: usize,
    /// The share of the features' mean square that components and mean hold; 1 without components.
    pub held: f64,
    /// The share of the held-out samples that are classified as what they are.
    pub accuracy: f64,
    /// One after the other.
    pub epochs: Vec<Epoch>,
}

/// What is going on.
#[derive(Debug, Clone, Copy)]
pub enum Stage<'a> {
    /// So many of all samples have features.
    Features(usize),
    /// An epoch is over.
    Epoch(&'a Epoch),
}

/// Samples, one a row, and the label of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    /// One a row.
    pub samples: Array2<f32>,
    /// One a row.
    pub labels: Vec<i64>,
}

impl Samples {
    /// Those at the given places, in that order.
    #[must_use]
    pub fn select(&self, places: &[usize]) -> Self {
        Samples {
            samples: self.samples.select(Axis(0), places),
            labels: places.iter().map(|&place| self.labels[place]).collect(),
        }
    }

    /// The places of those to train on, and of the share that is held out, by chance.
    ///
    /// # Errors
    /// Nothing is left to train on.
    pub fn split(&self, held_out: f64, seed: u64) -> Result<[Vec<usize>; 2]> {
        let mut order: Vec<usize> = (0..self.labels.len()).collect();
        order.shuffle(&mut stream(seed, Purpose::Split));
        let (held_out, training) = order.split_at((order.len() as f64 * held_out).ceil() as usize);
        if training.is_empty() {
            let what = "no sample is left to train on";
            return Err(Error::new("the data", what, "give more samples"));
        }
        Ok([training, held_out].map(<[usize]>::to_vec))
    }

    fn check(&self, subject: &str, model: &Model<'_>) -> Result<()> {
        let (count, length) = self.samples.dim();
        if count != self.labels.len() {
            let what = format!("{} labels for {count} samples", self.labels.len());
            return Err(Error::new(subject, what, "give one label a sample"));
        }
        if length != model.inputs() {
            let what = format!(
                "samples of {length} values, the model has {} inputs",
                model.inputs()
            );
            return Err(Error::new(
                subject,
                what,
                "take the data the model was made for",
            ));
        }
        Ok(())
    }
}

impl Prepared {
    /// Splits `data` by chance, and computes features and components of all. `copies` are the same samples, changed
    /// in ways that do not change what they are: those of samples that are not held out are trained on, too.
    ///
    /// # Errors
    /// There are too few samples or classes or too many, or a sample has no features.
    pub fn new(
        model: Model<'_>,
        data: &Samples,
        copies: &[Array2<f32>],
        recipe: &Recipe,
        seed: u64,
        told: &mut dyn FnMut(Stage<'_>),
    ) -> Result<Self> {
        data.check("the data", &model)?;
        recipe.check()?;
        let labels = classes(&data.labels)?;
        let [kept, rest] = data.split(recipe.held_out, seed)?;
        let [training, held_out] = [&kept, &rest].map(|places| data.select(places));
        let features = Features {
            model,
            kind: recipe.features,
            exponent: recipe.exponent,
        };
        let (mut projection, mut held) = (None, 1.0);
        let mut inputs = match recipe.features {
            Kind::Invariants => {
                let told = &mut |done| told(Stage::Features(done));
                let samples = training.samples.view();
                let fitted = Projection::fit(&features, samples, recipe.components, told)?;
                (projection, held) = (Some(fitted.projection), fitted.held);
                fitted.coordinates
            }
            Kind::Power | Kind::Signal => features.of(training.samples.view())?,
        };
        let front = Front {
            features: recipe.features,
            exponent: recipe.exponent,
            projection,
            scaling: Scaling::of(&inputs),
        };
        front.scaling.apply(&mut inputs);
        let done = training.labels.len();
        let told = &mut |more| told(Stage::Features(done + more));
        let held_out_inputs = front.inputs(model, held_out.samples.view(), told)?;
        let mut classes = places(&labels, &training.labels)?;
        for copy in copies {
            let copy = copy.select(Axis(0), &kept);
            let more = front.inputs(model, copy.view(), &mut |_| {})?;
            inputs.append(Axis(0), more.view()).expect("as many inputs");
            classes.extend_from_within(..kept.len());
        }
        Ok(Prepared {
            training: (inputs, classes),
            held_out: (held_out_inputs, places(&labels, &held_out.labels)?),
            front,
            labels,
            held,
        })
    }

    /// Trains a perceptron.
    ///
    /// # Errors
    /// The protocol is out of range, or training diverges.
    pub fn train(
        &self,
        protocol: &Protocol,
        seed: u64,
        told: &mut dyn FnMut(Stage<'_>),
    ) -> Result<(Classifier, Trained)> {
        let labelled = |(inputs, classes)| Labelled { inputs, classes };
        let [training, held_out] = [&self.training, &self.held_out].map(|(i, c)| labelled((i, c)));
        let told = &mut |epoch: &Epoch| told(Stage::Epoch(epoch));
        let (mlp, epochs) = protocol.train(training, held_out, self.labels.len(), seed, told)?;
        let trained = Trained {
            training: training.classes.len(),
            held_out: held_out.classes.len(),
            inputs: mlp.inputs(),
            parameters: mlp.parameters().len(),
            held: self.held,
            accuracy: evaluate(&mlp, held_out).1,
            epochs,
        };
        let classifier = Classifier {
            front: self.front.clone(),
            mlp,
            labels: self.labels.clone(),
        };
        Ok((classifier, trained))
    }
}

impl Classifier {
    /// Trains on a part of `data` and holds out the rest, by chance.
    ///
    /// # Errors
    /// Those of [`Prepared::new`] and [`Prepared::train`].
    pub fn train(
        model: Model<'_>,
        data: &Samples,
        recipe: &Recipe,
        seed: u64,
        told: &mut dyn FnMut(Stage<'_>),
    ) -> Result<(Self, Trained)> {
        recipe.protocol.check()?;
        let prepared = Prepared::new(model, data, &[], recipe, seed, told)?;
        prepared.train(&recipe.protocol, seed, told)
    }

    /// The place among [`labels`](Self::labels) of what each sample is taken for.
    ///
    /// # Errors
    /// The samples are of another length than the model's inputs, the classifier is of another model, or a sample has
    /// no features.
    pub fn classify(
        &self,
        model: Model<'_>,
        samples: ArrayView2<'_, f32>,
        told: &mut dyn FnMut(usize),
    ) -> Result<Vec<u8>> {
        let outputs = outputs(&self.mlp, &self.front.inputs(model, samples, told)?);
        Ok(outputs
            .chunks_exact(self.mlp.classes())
            .map(class_of)
            .collect())
    }

    /// The same as one perceptron of invariants, for a device.
    ///
    /// # Errors
    /// It classifies something else, or invariants whose magnitudes were changed.
    pub fn folded(&self) -> Result<Folded> {
        let Front {
            projection,
            scaling,
            exponent,
            ..
        } = &self.front;
        match projection {
            Some(projection) if *exponent == 1.0 => Ok(Folded::new(projection, scaling, &self.mlp)),
            _ => Err(Error::new(
                "the classifier",
                "its inputs are not the invariants as a device computes them",
                "train it with --features invariants and without --exponent",
            )),
        }
    }

    /// What each class is called.
    #[must_use]
    pub fn labels(&self) -> &[i64] {
        &self.labels
    }

    /// The place of each label among [`labels`](Self::labels).
    ///
    /// # Errors
    /// A label that was not trained on.
    pub fn classes_of(&self, labels: &[i64]) -> Result<Vec<u8>> {
        places(&self.labels, labels)
    }

    /// Replaces the file at `path`.
    ///
    /// # Errors
    /// It cannot be written; the old file then stays.
    pub fn write(&self, path: &Path) -> Result<()> {
        FILE.write(path, self)
    }

    /// Reads and checks the file at `path`.
    ///
    /// # Errors
    /// One line: no such file, damaged, another version, or not a classifier.
    pub fn read(path: &Path) -> Result<Self> {
        let classifier: Classifier = FILE.read(path)?;
        let Classifier { front, mlp, labels } = &classifier;
        let ascending = labels.windows(2).all(|pair| pair[0] < pair[1]);
        if front.scaling.mean.len() != mlp.inputs() || labels.len() != mlp.classes() || !ascending {
            let what = "its lengths do not fit each other";
            return Err(Error::file(path, what, FILE.damaged));
        }
        Ok(classifier)
    }
}

impl Front {
    /// What goes into the perceptron.
    fn inputs(
        &self,
        model: Model<'_>,
        samples: ArrayView2<'_, f32>,
        told: &mut dyn FnMut(usize),
    ) -> Result<Array2<f32>> {
        let features = Features {
            model,
            kind: self.features,
            exponent: self.exponent,
        };
        if samples.ncols() != model.inputs() {
            let what = format!(
                "samples of {} values, the model has {} inputs",
                samples.ncols(),
                model.inputs()
            );
            return Err(Error::new(
                "the data",
                what,
                "take the data the model was made for",
            ));
        }
        let (width, inputs) = (features.width(), self.scaling.mean.len());
        let fits = match &self.projection {
            Some(projection) => projection.takes(width) && 2 * projection.components() == inputs,
            None => width == inputs,
        };
        if !fits {
            let what = format!("it is not of this model, which has {width} features");
            return Err(Error::new(
                "the classifier",
                what,
                "keep the model.bsn of its folder",
            ));
        }
        let mut inputs = match &self.projection {
            Some(projection) => projection.apply(&features, samples, told)?,
            None => features.of(samples)?,
        };
        self.scaling.apply(&mut inputs);
        Ok(inputs)
    }
}

impl Recipe {
    fn check(&self) -> Result<()> {
        if self.components == 0 {
            return Err(Error::new("components", "there are none", "at least 1"));
        }
        if !(self.exponent.is_finite() && self.exponent > 0.0) {
            return Err(Error::new(
                "exponent",
                "out of its range",
                "a positive number",
            ));
        }
        if !(self.held_out > 0.0 && self.held_out < 1.0) {
            return Err(Error::new(
                "held_out",
                "out of its range",
                "between 0 and 1",
            ));
        }
        Ok(())
    }
}

/// The place of each label among `all`.
fn places(all: &[i64], labels: &[i64]) -> Result<Vec<u8>> {
    let place = |(at, label): (usize, &i64)| match all.binary_search(label) {
        Ok(place) => Ok(place as u8),
        Err(_) => Err(Error::new(
            format!("sample {at}"),
            format!("its label {label} is not one the classifier knows"),
            "leave it out, or train with such samples",
        )),
    };
    labels.iter().enumerate().map(place).collect()
}

/// The labels there are, ascending.
fn classes(labels: &[i64]) -> Result<Vec<i64>> {
    let mut classes = labels.to_vec();
    classes.sort_unstable();
    classes.dedup();
    if !(2..=MOST_CLASSES).contains(&classes.len()) {
        return Err(Error::new(
            "the labels",
            format!("{} classes", classes.len()),
            format!("give 2 to {MOST_CLASSES}"),
        ));
    }
    Ok(classes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::device::{self, Encoding};
    use crate::classify::fit::Course;
    use bispectral_core::Head;
    use rand::RngExt;

    const MODEL: &[u8] = include_bytes!("../../../core/models/z4.bsn");

    /// Two shapes on Z4, each at any of four places, with noise: only invariants tell them apart at once.
    fn shapes(count: usize) -> Samples {
        let mut random = stream(0, Purpose::Classifier);
        let shapes = [[3.0, 1.0, 0.0, -1.0], [3.0, -1.0, 0.5, 0.5]];
        let labels: Vec<i64> = (0..count)
            .map(|at| if at % 3 == 0 { -5 } else { 12 })
            .collect();
        let mut samples = Array2::zeros((count, 4));
        for (mut row, label) in samples.rows_mut().into_iter().zip(&labels) {
            let (shape, place) = (shapes[usize::from(*label == 12)], random.random_range(0..4));
            for n in 0..4 {
                row[(n + place) % 4] = shape[n] + 0.1 * random.random::<f32>();
            }
        }
        Samples { samples, labels }
    }

    fn recipe() -> Recipe {
        let protocol = Protocol {
            hidden: vec![8],
            epochs: 20,
            batch: 16,
            rate: 0.02,
            course: Course::Cosine,
            ..Protocol::default()
        };
        Recipe {
            components: 4,
            protocol,
            ..Recipe::default()
        }
    }

    fn trained(recipe: &Recipe) -> (Classifier, Trained) {
        let model = Model::from_bytes(MODEL).unwrap();
        Classifier::train(model, &shapes(300), recipe, 0, &mut |_| {}).unwrap()
    }

    #[test]
    fn shapes_are_told_apart_wherever_they_are() {
        let model = Model::from_bytes(MODEL).unwrap();
        for features in [Kind::Invariants, Kind::Power] {
            let (classifier, trained) = trained(&Recipe {
                features,
                ..recipe()
            });
            assert_eq!((trained.training, trained.held_out), (270, 30));
            let data = shapes(90);
            let taken = classifier
                .classify(model, data.samples.view(), &mut |_| {})
                .unwrap();
            assert_eq!(taken, classifier.classes_of(&data.labels).unwrap());
            assert_eq!(classifier.labels(), [-5, 12]);
        }
    }

    #[test]
    fn a_device_takes_signals_for_the_same() {
        let model = Model::from_bytes(MODEL).unwrap();
        let (classifier, _) = trained(&recipe());
        let folded = classifier.folded().unwrap();
        let data = shapes(60);
        let expected = classifier
            .front
            .inputs(model, data.samples.view(), &mut |_| {})
            .unwrap();
        let expected = outputs(&classifier.mlp, &expected);
        // Sums of a few f32 of about one; and of weights rounded to 1/254 of the largest.
        for (encoding, tolerance) in [(Encoding::F32, 2e-4), (Encoding::I8, 0.2)] {
            let bytes = folded.bytes(encoding);
            let head = Head::from_bytes(&bytes, model.pairs()).unwrap();
            let mut scratch = vec![0.0; model.scratch_len() + head.scratch_len()];
            let mut found = [0.0; 2];
            for (sample, expected) in data
                .samples
                .rows()
                .into_iter()
                .zip(expected.chunks_exact(2))
            {
                let class = head
                    .classify(&model, &sample.to_vec(), &mut scratch, &mut found)
                    .unwrap();
                assert_eq!(class, usize::from(class_of(expected)));
                for (found, expected) in found.iter().zip(expected) {
                    assert!(
                        (found - expected).abs() < tolerance * expected.abs().max(1.0),
                        "{found} {expected}"
                    );
                }
            }
            assert!(
                classifier.classes_of(&data.labels).unwrap()
                    == device::classify(model, &head, data.samples.view()).unwrap()
            );
            for cut in 0..bytes.len() {
                assert!(
                    Head::from_bytes(&bytes[..cut], model.pairs()).is_err(),
                    "cut at {cut}"
                );
            }
        }
    }

    #[test]
    fn what_was_written_is_read_and_no_damage_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("classifier.bin");
        let (classifier, _) = trained(&recipe());
        classifier.write(&path).unwrap();
        assert_eq!(Classifier::read(&path).unwrap(), classifier);
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            std::fs::write(&path, &damaged).unwrap();
            assert!(Classifier::read(&path).is_err(), "byte {at}");
            std::fs::write(&path, &whole[..at]).unwrap();
            assert!(Classifier::read(&path).is_err(), "cut at {at}");
        }
    }

    /// Bytes with a right checksum that no writer here wrote: read and used, or refused, without a panic.
    #[test]
    fn any_content_is_used_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("classifier.bin");
        let (classifier, _) = trained(&recipe());
        let model = Model::from_bytes(MODEL).unwrap();
        let mut random = stream(3, Purpose::Classifier);
        let mut content = postcard::to_allocvec(&classifier).unwrap();
        for _ in 0..2000 {
            let at = random.random_range(0..content.len().min(24));
            let before = content[at];
            content[at] = random.random();
            let changed: std::result::Result<Classifier, _> = postcard::from_bytes(&content);
            if let Ok(changed) = changed {
                changed.write(&path).unwrap();
                if let Ok(read) = Classifier::read(&path) {
                    let _ = read.classify(model, shapes(5).samples.view(), &mut |_| {});
                }
            }
            content[at] = before;
        }
    }

    #[test]
    fn data_that_do_not_fit_are_refused_in_one_line() {
        let model = Model::from_bytes(MODEL).unwrap();
        let refusal = |data: &Samples, recipe: &Recipe| {
            let trained = Classifier::train(model, data, recipe, 0, &mut |_| {});
            trained.unwrap_err().to_string()
        };
        let whole = shapes(20);
        let other = Samples {
            samples: Array2::ones((20, 5)),
            ..whole.clone()
        };
        assert!(refusal(&other, &recipe()).contains("samples of 5 values, the model has 4 inputs"));
        let few = Samples {
            labels: vec![1; 7],
            ..whole.clone()
        };
        assert!(refusal(&few, &recipe()).contains("7 labels for 20 samples"));
        let one = Samples {
            labels: vec![1; 20],
            ..whole.clone()
        };
        assert!(refusal(&one, &recipe()).contains("1 classes"));
        let nothing = Recipe {
            held_out: 0.99,
            ..recipe()
        };
        assert!(refusal(&whole, &nothing).contains("no sample is left"));
        let none = Recipe {
            components: 0,
            ..recipe()
        };
        assert!(refusal(&whole, &none).starts_with("components: "));
    }

    #[test]
    fn a_label_that_was_not_trained_on_is_named() {
        let (classifier, _) = trained(&recipe());
        let line = classifier.classes_of(&[12, 3]).unwrap_err().to_string();
        assert!(
            line.starts_with("sample 1: its label 3 is not one"),
            "{line}"
        );
    }
}
