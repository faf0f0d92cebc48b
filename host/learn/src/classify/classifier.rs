//! A trained classifier: features, principal components, a scaling, a perceptron; and its file.

use super::device::Folded;
use super::mlp::Mlp;
use super::outputs::{class_of, log_softmax, outputs};
use super::prepared::Front;
use super::samples::places;
use crate::storage::checksummed::Checksummed;
use crate::{Error, Result};
use bispectral_core::Model;
use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::slice;

const FILE: Checksummed = Checksummed {
    magic: *b"BSK\0",
    version: 3,
    what: "a classifier",
    named: "name the folder that `bispectral classify train` wrote",
    damaged: "train it again",
};
/// What turns signals of one model into classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Classifier {
    pub(super) front: Front,
    pub(super) mlp: Mlp,
    /// What each class is called in the user's data.
    pub(super) labels: Vec<i64>,
    /// Where classes are words, these: a label is a place among them.
    pub(super) names: Vec<String>,
    /// The checksum of the model that it was trained on.
    #[serde(default)]
    pub(super) model: Option<u32>,
}

impl Classifier {
    /// The place among [`labels`](Self::labels) of what each sample is taken for.
    ///
    /// # Errors
    /// The samples are of another length than the model's inputs, the classifier is of another model, or a sample has
    /// no features.
    pub fn classify(
        &self,
        model: Model<'_>,
        samples: ArrayView2<'_, f32>,
        observe: &mut dyn FnMut(usize),
    ) -> Result<Vec<u8>> {
        Classifier::vote(slice::from_ref(self), model, samples, observe)
    }

    /// The same by several classifiers that were trained on one [`Prepared`](super::prepared::Prepared): the class with
    /// the largest mean log-probability.
    ///
    /// # Errors
    /// As [`classify`](Self::classify).
    ///
    /// # Panics
    /// There are no members, or members of other inputs or classes.
    pub fn vote(
        members: &[Classifier],
        model: Model<'_>,
        samples: ArrayView2<'_, f32>,
        observe: &mut dyn FnMut(usize),
    ) -> Result<Vec<u8>> {
        let (front, classes) = (&members[0].front, members[0].mlp.classes());
        let inputs = front.inputs(model, samples, observe)?;
        let mut sums = vec![0.0; samples.nrows() * classes];
        for member in members {
            let mut words = outputs(&member.mlp, &inputs);
            assert_eq!(words.len(), sums.len(), "the same classes");
            words.chunks_exact_mut(classes).for_each(log_softmax);
            sums.iter_mut().zip(&words).for_each(|(sum, w)| *sum += w);
        }
        Ok(sums.chunks_exact(classes).map(class_of).collect())
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
                "train it on invariants, with an exponent of 1",
            )),
        }
    }

    /// What each class is called.
    #[must_use]
    pub fn labels(&self) -> &[i64] {
        &self.labels
    }

    /// The same classifier, of labels that are places among these words.
    #[must_use]
    pub fn named(self, names: Vec<String>) -> Self {
        Classifier { names, ..self }
    }

    /// The same classifier, which was trained on the model with this checksum.
    #[must_use]
    pub fn of_model(self, checksum: u32) -> Self {
        Classifier {
            model: Some(checksum),
            ..self
        }
    }

    /// The checksum of the model that it was trained on, where that was said.
    #[must_use]
    pub fn model(&self) -> Option<u32> {
        self.model
    }

    /// What the class at `place` is called.
    ///
    /// # Panics
    /// There is no such class.
    #[must_use]
    pub fn name(&self, place: u8) -> String {
        let label = self.labels[usize::from(place)];
        let name = usize::try_from(label)
            .ok()
            .and_then(|at| self.names.get(at));
        name.map_or_else(|| label.to_string(), Clone::clone)
    }

    /// Labels of other samples as this classifier numbers them; `names` are their words, where they are words.
    ///
    /// # Errors
    /// A word that was not trained on, or numbers where words were.
    pub fn numbered(&self, labels: Vec<i64>, names: &[String]) -> Result<Vec<i64>> {
        if names.is_empty() && self.names.is_empty() {
            return Ok(labels);
        }
        let number = |name: &String| {
            self.names.binary_search(name).map_err(|_| {
                let known = if self.names.is_empty() {
                    "numbers".into()
                } else {
                    self.names.join(", ")
                };
                let what = format!("{name:?} is not a class, which are {known}");
                Error::new(
                    "the labels",
                    what,
                    "leave it out, or train with such samples",
                )
            })
        };
        let numbers: Vec<i64> = names
            .iter()
            .map(|name| number(name).map(|at| at as i64))
            .collect::<Result<_>>()?;
        let label = |label: i64| match usize::try_from(label).ok().and_then(|at| numbers.get(at)) {
            Some(&number) => Ok(number),
            None => Err(Error::new(
                "the labels",
                format!(
                    "they are numbers, where the classes are {}",
                    self.names.join(", ")
                ),
                "give the same words as in training",
            )),
        };
        labels.into_iter().map(label).collect()
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

    /// The bytes of its file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        FILE.encode(self)
    }

    /// Of the bytes of its file.
    ///
    /// # Errors
    /// They are damaged, of another version, or not a classifier.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let path = Path::new("classifier");
        let classifier: Classifier = FILE.decode(path, bytes)?;
        classifier.checked(path)
    }

    /// Reads and checks the file at `path`.
    ///
    /// # Errors
    /// One line: no such file, damaged, another version, or not a classifier.
    pub fn read(path: &Path) -> Result<Self> {
        let classifier: Classifier = FILE.read(path)?;
        classifier.checked(path)
    }

    fn checked(self, path: &Path) -> Result<Self> {
        let Classifier {
            front, mlp, labels, ..
        } = &self;
        let ascending = labels.windows(2).all(|pair| pair[0] < pair[1]);
        if front.scaling.mean.len() != mlp.inputs() || labels.len() != mlp.classes() || !ascending {
            let what = "its lengths do not fit each other";
            return Err(Error::file(path, what, FILE.damaged));
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::device::{self, Encoding};
    use crate::classify::features::Kind;
    use crate::classify::prepared::{Prepared, Recipe, Trained};
    use crate::classify::protocol::{Protocol, RateSchedule};
    use crate::classify::samples::Samples;
    use crate::numeric::random::{Purpose, stream};
    use ndarray::Array2;
    use rand::RngExt;

    const MODEL: &[u8] = include_bytes!("../../tests/z4.bsn");

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
        Samples {
            samples,
            labels,
            views: 1,
        }
    }

    fn recipe() -> Recipe {
        let protocol = Protocol {
            hidden: vec![8],
            epochs: 20,
            batch: 16,
            rate: 0.02,
            schedule: RateSchedule::Cosine,
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
        let prepared = Prepared::new(model, &shapes(300), &[], recipe, 0, &mut |_| {}).unwrap();
        prepared.train(&recipe.protocol, 0, &mut |_| {}).unwrap()
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
    fn copies_of_what_is_held_out_are_not_trained_on() {
        let model = Model::from_bytes(MODEL).unwrap();
        let data = shapes(100);
        let copies = [
            data.samples.mapv(|x| 2.0 * x),
            data.samples.mapv(|x| 4.0 * x),
        ];
        let prepared = Prepared::new(model, &data, &copies, &recipe(), 0, &mut |_| {}).unwrap();
        let (inputs, classes) = &prepared.training;
        assert_eq!(
            (inputs.nrows(), classes.len(), prepared.held_out.1.len()),
            (270, 270, 10)
        );
        // Invariants do not depend on the scale, so a copy has the same components and class.
        for at in 0..90 {
            let differs = inputs
                .row(at)
                .iter()
                .zip(inputs.row(at + 180))
                .any(|(a, b)| (a - b).abs() > 1e-4);
            assert!(!differs && classes[at] == classes[at + 180], "{at}");
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
            let bytes = folded.behind(&model, encoding).unwrap();
            let model = Model::from_bytes(&bytes).unwrap();
            let mut scratch = vec![0.0; model.classifier_scratch_len()];
            let mut found = [0.0; 2];
            for (sample, expected) in data
                .samples
                .rows()
                .into_iter()
                .zip(expected.chunks_exact(2))
            {
                let class = model
                    .classify(&sample.to_vec(), &mut scratch, &mut found)
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
                    == device::classify(&model, data.samples.view()).unwrap()
            );
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
            let prepared = Prepared::new(model, data, &[], recipe, 0, &mut |_| {});
            prepared.unwrap_err().to_string()
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
