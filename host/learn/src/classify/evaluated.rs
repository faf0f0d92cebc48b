//! How often a classifier is right, and what it takes for what.

use super::classifier::Classifier;
use super::samples::Samples;
use crate::Result;
use bispectral_core::Model;
use serde::Serialize;
use std::fmt::Write as _;

/// Samples of which a share says little: two standard errors are a tenth or more.
const FEW: usize = 100;

/// A share of right answers in words; of few samples also what the true share may be, by Wilson's score interval at 95 %.
#[must_use]
pub fn share(right: usize, samples: usize) -> String {
    let (n, p) = (samples.max(1) as f64, right as f64 / samples.max(1) as f64);
    let words = format!("{right} of {samples} right: {:.2} %", 100.0 * p);
    if samples >= FEW {
        return words;
    }
    let z = 1.96_f64;
    let middle = p + z * z / (2.0 * n);
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let [least, most] = [middle - half, middle + half].map(|x| 100.0 * x / (1.0 + z * z / n));
    format!(
        "{words}; of so few, the true share may be {:.0} to {:.0} %",
        least.max(0.0),
        most.min(100.0)
    )
}

/// How often a classifier is right.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluated {
    /// How many there are.
    pub samples: usize,
    /// Of these, taken for what they are.
    pub right: usize,
    /// Their share.
    pub accuracy: f64,
    /// What each class is called.
    pub labels: Vec<i64>,
    /// The same as words, where they are words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// How many samples of each class (a row) were taken for each class (a column).
    pub confusion: Vec<Vec<usize>>,
    /// What each sample was taken for.
    #[serde(skip)]
    pub taken: Vec<u8>,
}

impl Evaluated {
    /// Has `members`, mostly one, classify `data`, and compares.
    ///
    /// `observe` is called with how many are done.
    ///
    /// # Errors
    /// Samples of another length than the model's inputs, or labels the classifier does not know.
    pub fn of(
        members: &[Classifier],
        model: Model<'_>,
        data: &Samples,
        observe: &mut dyn FnMut(usize),
    ) -> Result<Self> {
        data.check("the data", &model)?;
        let classes = members[0].classes_of(&data.labels)?;
        let taken = Classifier::vote(members, model, data.samples.view(), observe)?;
        Ok(Evaluated::new(&classes, taken, members[0].labels()).named(&members[0]))
    }

    /// The same with the words that `classifier` has for its classes.
    #[must_use]
    pub fn named(mut self, classifier: &Classifier) -> Self {
        if !classifier.names.is_empty() {
            self.names = (0..self.labels.len())
                .map(|place| classifier.name(place as u8))
                .collect();
        }
        self
    }

    /// Compares classes with what was taken for them.
    #[must_use]
    pub fn new(classes: &[u8], taken: Vec<u8>, labels: &[i64]) -> Self {
        let mut confusion = vec![vec![0; labels.len()]; labels.len()];
        for (&class, &taken) in classes.iter().zip(&taken) {
            confusion[usize::from(class)][usize::from(taken)] += 1;
        }
        let right = (0..labels.len()).map(|class| confusion[class][class]).sum();
        Evaluated {
            samples: classes.len(),
            right,
            accuracy: right as f64 / classes.len().max(1) as f64,
            labels: labels.to_vec(),
            names: Vec::new(),
            confusion,
            taken,
        }
    }

    /// How often it is right, and the table of what was taken for what.
    #[must_use]
    pub fn words(&self) -> String {
        let mut text = share(self.right, self.samples);
        // A table of more columns does not fit a line.
        if self.labels.len() <= 12 {
            let names: Vec<String> = match self.names.is_empty() {
                true => self.labels.iter().map(ToString::to_string).collect(),
                false => self.names.clone(),
            };
            let width = names
                .iter()
                .map(|name| name.chars().count())
                .max()
                .unwrap_or(0)
                .max(6);
            let _ = write!(text, "\n{:>12}", "taken for");
            names.iter().for_each(|name| {
                let _ = write!(text, " {name:>width$}");
            });
            for (name, row) in names.iter().zip(&self.confusion) {
                let _ = write!(text, "\n{name:>12}");
                row.iter().for_each(|count| {
                    let _ = write!(text, " {count:>width$}");
                });
            }
        }
        text
    }
}
