//! What is chosen about training a perceptron.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// How the learning rate changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateSchedule {
    /// It is multiplied by `factor` where the loss has not fallen for `patience` looks: the paper's.
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
    #[serde(rename = "course")]
    pub schedule: RateSchedule,
    /// By what the rate is multiplied on a plateau.
    pub factor: f64,
    /// Looks without a lower loss that make a plateau.
    pub patience: usize,
    /// Looks in an epoch, each at the mean loss of the steps since the last one.
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
            schedule: RateSchedule::Plateau,
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_trained_with_is_refused_by_name() {
        for (wrong, name) in [
            (
                Protocol {
                    epochs: 0,
                    ..Protocol::default()
                },
                "epochs",
            ),
            (
                Protocol {
                    batch: 0,
                    ..Protocol::default()
                },
                "batch",
            ),
            (
                Protocol {
                    rate: f64::NAN,
                    ..Protocol::default()
                },
                "rate",
            ),
            (
                Protocol {
                    dropout: 1.0,
                    ..Protocol::default()
                },
                "dropout",
            ),
            (
                Protocol {
                    average: -0.1,
                    ..Protocol::default()
                },
                "average",
            ),
            (
                Protocol {
                    factor: 1.0,
                    ..Protocol::default()
                },
                "factor",
            ),
        ] {
            let line = wrong.check().unwrap_err().to_string();
            assert!(line.starts_with(&format!("{name}: ")), "{line}");
        }
    }
}
