//! From samples to the inputs of perceptrons: computed once, for as many perceptrons as are tried.

use super::classifier::Classifier;
use super::features::{Features, Kind};
use super::fit::Epoch;
use super::outputs::{Labelled, evaluate};
use super::pca::Projection;
use super::protocol::Protocol;
use super::samples::{Samples, classes, places};
use super::scaling::Scaling;
use crate::{Error, Result};
use bispectral_core::Model;
use ndarray::{Array2, ArrayView2, Axis};
use serde::{Deserialize, Serialize};

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

/// What turns a signal into the inputs of a perceptron.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Front {
    pub(super) features: Kind,
    pub(super) exponent: f32,
    /// Of complex features.
    pub(super) projection: Option<Projection>,
    pub(super) scaling: Scaling,
}

/// Samples that are ready for perceptrons to be trained on.
#[derive(Debug, Clone)]
pub struct Prepared {
    front: Front,
    labels: Vec<i64>,
    held: f64,
    pub(super) training: (Array2<f32>, Vec<u8>),
    pub(super) held_out: (Array2<f32>, Vec<u8>),
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
    /// So many of all samples and copies have features.
    Features {
        /// So many.
        done: usize,
        /// Of so many.
        of: usize,
    },
    /// An epoch is over.
    Epoch(&'a Epoch),
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
        observe: &mut dyn FnMut(Stage<'_>),
    ) -> Result<Self> {
        data.check("the data", &model)?;
        recipe.check()?;
        if copies.iter().any(|copy| copy.dim() != data.samples.dim()) {
            let what = "a copy is not of as many samples";
            return Err(Error::new("the copies", what, "copy every sample"));
        }
        let labels = classes(&data.labels)?;
        let [kept, rest] = data.split(recipe.held_out, seed)?;
        let [training, held_out] = [&kept, &rest].map(|places| data.select(places));
        let of = rest.len() + kept.len() * (1 + copies.len());
        let features = Features {
            model,
            kind: recipe.features,
            exponent: recipe.exponent,
            views: data.views,
        };
        let (mut projection, mut held) = (None, 1.0);
        let mut inputs = match recipe.features {
            Kind::Invariants => {
                let observe = &mut |done| observe(Stage::Features { done, of });
                let samples = training.samples.view();
                let fitted = Projection::fit(&features, samples, recipe.components, observe)?;
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
        let mut before = kept.len();
        let mut tell = |before, more| {
            let done = before + more;
            observe(Stage::Features { done, of });
        };
        let observe = &mut |more| tell(before, more);
        let held_out_inputs = front.inputs(model, held_out.samples.view(), observe)?;
        before += rest.len();
        let mut classes = places(&labels, &training.labels)?;
        let more = kept.len() * copies.len();
        inputs.reserve(Axis(0), more).expect("it fits memory");
        for copy in copies {
            let copy = copy.select(Axis(0), &kept);
            let more = front.inputs(model, copy.view(), &mut |more| tell(before, more))?;
            before += kept.len();
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
        observe: &mut dyn FnMut(Stage<'_>),
    ) -> Result<(Classifier, Trained)> {
        let labelled = |(inputs, classes)| Labelled { inputs, classes };
        let [training, held_out] = [&self.training, &self.held_out].map(|(i, c)| labelled((i, c)));
        let observe = &mut |epoch: &Epoch| observe(Stage::Epoch(epoch));
        let (mlp, epochs) = protocol.train(training, held_out, self.labels.len(), seed, observe)?;
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
            names: Vec::new(),
            model: None,
        };
        Ok((classifier, trained))
    }
}

impl Front {
    /// What goes into the perceptron.
    pub(super) fn inputs(
        &self,
        model: Model<'_>,
        samples: ArrayView2<'_, f32>,
        observe: &mut dyn FnMut(usize),
    ) -> Result<Array2<f32>> {
        let features = Features {
            model,
            kind: self.features,
            exponent: self.exponent,
            views: (samples.ncols() / model.inputs()).max(1),
        };
        if samples.ncols() != features.views * model.inputs() {
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
            Some(projection) => projection.apply(&features, samples, observe)?,
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
        self.protocol.check()
    }
}
