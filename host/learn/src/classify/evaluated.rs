//! How often a classifier is right, and what it takes for what.

use super::classifier::Classifier;
use super::samples::Samples;
use crate::Result;
use bispectral_core::Model;
use serde::Serialize;
use std::fmt::Write as _;

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
        Ok(Evaluated::new(&classes, taken, members[0].labels()))
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
            confusion,
            taken,
        }
    }

    /// How often it is right, and the table of what was taken for what.
    #[must_use]
    pub fn words(&self) -> String {
        let mut text = format!(
            "{} of {} right: {:.2} %\n",
            self.right,
            self.samples,
            100.0 * self.accuracy
        );
        // A table of more columns does not fit a line.
        if self.labels.len() <= 12 {
            let _ = write!(text, "{:>12}", "taken for");
            self.labels.iter().for_each(|label| {
                let _ = write!(text, " {label:>6}");
            });
            for (label, row) in self.labels.iter().zip(&self.confusion) {
                let _ = write!(text, "\n{label:>12}");
                row.iter().for_each(|count| {
                    let _ = write!(text, " {count:>6}");
                });
            }
        }
        text
    }
}
