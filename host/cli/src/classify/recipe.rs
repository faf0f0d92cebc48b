//! What can be chosen about a classifier on the command line.

use crate::choices::{Classified, RateSchedule};
use bispectral_learn::classify::prepared::Recipe;
use clap::Args;

/// Flags over the paper's recipe.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct Choices {
    /// What is classified [default: invariants]
    #[arg(long)]
    features: Option<Classified>,
    /// Bring the magnitudes of invariants closer by this power [default: 1]
    #[arg(long, value_name = "POWER")]
    exponent: Option<f32>,
    /// Complex principal components of the invariants [default: 500]
    #[arg(long, value_name = "COUNT")]
    components: Option<usize>,
    /// The share of the samples that are held out [default: 0.1]
    #[arg(long, value_name = "SHARE")]
    held_out: Option<f64>,
    /// Numbers of the hidden layers [default: 128,128,64,32]
    #[arg(long, value_delimiter = ',', value_name = "COUNT,…")]
    hidden: Vec<usize>,
    /// How often every sample is seen, at most
    #[arg(long, value_name = "COUNT")]
    epochs: Option<usize>,
    /// Samples of a step [default: 128]
    #[arg(long, value_name = "COUNT")]
    batch: Option<usize>,
    /// The learning rate [default: 0.002]
    #[arg(long)]
    lr: Option<f64>,
    /// How the learning rate changes [default: plateau]
    #[arg(long)]
    course: Option<RateSchedule>,
    /// The share of hidden numbers that are dropped in a step [default: 0]
    #[arg(long, value_name = "SHARE")]
    dropout: Option<f32>,
    /// The deviation of noise on the perceptron's inputs, whose mean square is one [default: 0]
    #[arg(long, value_name = "DEVIATION")]
    input_noise: Option<f32>,
    /// By what weights shrink in a step, for each unit of the rate [default: 0]
    #[arg(long, value_name = "SHARE")]
    decay: Option<f64>,
    /// The share of the target that is spread over all classes [default: 0]
    #[arg(long, value_name = "SHARE")]
    smoothing: Option<f32>,
    /// Classify with a running mean of the weights, with this decay a step [default: 0]
    #[arg(long, value_name = "DECAY")]
    average: Option<f32>,
}

impl Choices {
    /// Flags that were given and change nothing.
    pub(super) fn without_effect(&self) -> impl Iterator<Item = &'static str> {
        let others = !matches!(self.features, None | Some(Classified::Invariants));
        let given = [
            ("--exponent", self.exponent.is_some()),
            ("--components", self.components.is_some()),
        ];
        given
            .into_iter()
            .filter(move |(_, given)| others && *given)
            .map(|(flag, _)| flag)
    }

    /// The recipe with what was chosen.
    pub(super) fn over(&self, mut recipe: Recipe) -> Recipe {
        fn set<T: Clone>(place: &mut T, value: &Option<T>) {
            if let Some(value) = value {
                place.clone_from(value);
            }
        }
        set(&mut recipe.features, &self.features.map(Into::into));
        set(&mut recipe.exponent, &self.exponent);
        set(&mut recipe.components, &self.components);
        set(&mut recipe.held_out, &self.held_out);
        let protocol = &mut recipe.protocol;
        if !self.hidden.is_empty() {
            protocol.hidden.clone_from(&self.hidden);
        }
        set(&mut protocol.epochs, &self.epochs);
        set(&mut protocol.batch, &self.batch);
        set(&mut protocol.rate, &self.lr);
        set(&mut protocol.schedule, &self.course.map(Into::into));
        set(&mut protocol.dropout, &self.dropout);
        set(&mut protocol.noise, &self.input_noise);
        set(&mut protocol.decay, &self.decay);
        set(&mut protocol.smoothing, &self.smoothing);
        set(&mut protocol.average, &self.average);
        recipe
    }
}
