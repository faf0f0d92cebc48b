//! What a run is: data, split, and a list of phases. A TOML file, flags on top, and the resolved whole in the run's folder.

use super::schedule::{Rates, Schedule};
use crate::data::orbits::Split;
use crate::network::{Distance, Objective, Reconstruction};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A training run, complete: the same configuration gives the same bits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Of everything random: exemplars, split, first weights, batches.
    #[serde(default)]
    pub seed: u64,
    /// Rows of W; as many as inputs where it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<usize>,
    /// What is held out of training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<SplitName>,
    /// The share that is held out.
    #[serde(default = "default_held_out")]
    pub held_out: f64,
    /// Where the orbits come from.
    #[serde(default)]
    pub data: Data,
    /// One after the other; the default recipe where there are none.
    #[serde(default, rename = "phase")]
    pub phases: Vec<Phase>,
}

fn default_held_out() -> f64 {
    0.2
}

impl Default for Config {
    fn default() -> Self {
        Config {
            seed: 0,
            rows: None,
            split: None,
            held_out: default_held_out(),
            data: Data::default(),
            phases: Vec::new(),
        }
    }
}

/// What a split holds out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum SplitName {
    /// Some members of every orbit: the paper's.
    Transforms,
    /// Whole orbits.
    Exemplars,
}

impl From<SplitName> for Split {
    fn from(name: SplitName) -> Self {
        match name {
            SplitName::Transforms => Split::Transforms,
            SplitName::Exemplars => Split::Exemplars,
        }
    }
}

/// How exemplars are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum TransformName {
    /// Cyclic shifts of a signal.
    Translate1d,
    /// Cyclic shifts of an image, in both directions.
    Translate2d,
    /// Rotations of a square image about its centre.
    Rotate,
}

/// Where the orbits come from: a group, labelled samples, or exemplars and how to move them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// Random functions on a finite commutative group, `Z4xZ2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Samples: .npy, .csv or IDX.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<PathBuf>,
    /// The orbit of each sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<PathBuf>,
    /// A folder of photographs to cut patches from, or `natural` for those that come with the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<PathBuf>,
    /// How exemplars are moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transform: Option<TransformName>,
    /// How many functions or patches are drawn.
    #[serde(default = "default_exemplars")]
    pub exemplars: usize,
    /// Pixels of a patch's side.
    #[serde(default = "default_size")]
    pub size: usize,
    /// The share of the 360 whole degrees that each exemplar is rotated by.
    #[serde(default = "default_angles")]
    pub angles: f64,
}

fn default_exemplars() -> usize {
    100
}

fn default_size() -> usize {
    16
}

fn default_angles() -> f64 {
    0.3
}

impl Default for Data {
    fn default() -> Self {
        Data {
            group: None,
            samples: None,
            labels: None,
            images: None,
            transform: None,
            exemplars: default_exemplars(),
            size: default_size(),
            angles: default_angles(),
        }
    }
}

/// What a phase minimises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum LossName {
    /// The change of |z_i|² along orbits: hundreds of times cheaper, and nearly enough.
    SecondOrder,
    /// The paper's loss: the change of β̄ along orbits, and the reconstruction of x.
    OrbitSeparation,
}

/// One part of a run: a loss, a schedule and a length.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Phase {
    /// What is minimised.
    pub loss: LossName,
    /// At most so many steps.
    pub steps: u64,
    /// The largest learning rate.
    pub lr: f64,
    /// Its course.
    pub schedule: Schedule,
    /// The smallest rate of a cyclic schedule.
    pub lr_low: f64,
    /// Steps of a triangle, of the mean by which a plateau is seen, and of the mean that may end the phase.
    pub period: u64,
    /// Periods without a fall that make a plateau.
    pub patience: u32,
    /// The phase ends once the mean change along orbits of a period is below this.
    pub tolerance: f64,
    /// The phase ends once that mean has not fallen for so many periods; never where it is zero.
    pub stall: u32,
    /// Orbits in a batch.
    pub orbits: usize,
    /// Members of each.
    pub members: usize,
    /// Whether samples are whitened and brought to unit length (second order).
    pub whiten: bool,
    /// The weight of the reconstruction (orbit separation).
    pub gamma: f64,
    /// How β̄ are compared (orbit separation).
    pub distance: Distance,
    /// Whether the mean of β is subtracted before it is normalised (orbit separation).
    pub centre: bool,
    /// What of the residual counts (orbit separation).
    pub reconstruction: Reconstruction,
}

impl Default for Phase {
    fn default() -> Self {
        Phase::new(LossName::OrbitSeparation)
    }
}

impl Phase {
    /// A phase with the numbers that were found to work (`README.md` has the measurements).
    #[must_use]
    pub fn new(loss: LossName) -> Self {
        let second_order = loss == LossName::SecondOrder;
        Phase {
            loss,
            steps: if second_order { 8000 } else { 2000 },
            lr: if second_order { 0.01 } else { 0.005 },
            schedule: Schedule::Cosine,
            lr_low: 1e-4,
            period: 50,
            patience: 10,
            tolerance: if second_order { 1e-7 } else { 1e-10 },
            stall: if second_order { 10 } else { 0 },
            orbits: if second_order { 20 } else { 10 },
            members: 10,
            whiten: second_order,
            gamma: 0.5,
            distance: Distance::Squared,
            centre: false,
            reconstruction: Reconstruction::Complex,
        }
    }

    /// The default for `data`: second order first, then the paper's loss.
    ///
    /// Rotation on a grid is no permutation of pixels, so whitening would raise what interpolation left of the finest
    /// detail above everything else.
    #[must_use]
    pub fn recipe(data: &Data) -> Vec<Self> {
        let mut first = Phase::new(LossName::SecondOrder);
        first.whiten = data.transform != Some(TransformName::Rotate);
        vec![first, Phase::new(LossName::OrbitSeparation)]
    }

    /// The numbers of its schedule.
    #[must_use]
    pub fn rates(&self) -> Rates {
        Rates {
            schedule: self.schedule,
            lr: self.lr,
            lr_low: self.lr_low,
            period: self.period.max(1),
            patience: self.patience,
            steps: self.steps,
        }
    }

    /// The paper's loss in its variant.
    #[must_use]
    pub fn objective(&self) -> Objective {
        Objective {
            distance: self.distance,
            centre: self.centre,
            reconstruction: self.reconstruction,
            gamma: self.gamma,
        }
    }

    fn check(&self, number: usize) -> Result<()> {
        let wrong =
            |what: String, remedy: &str| Err(Error::new(format!("phase {number}"), what, remedy));
        let positive = |value: f64| value.is_finite() && value > 0.0;
        if self.steps == 0 {
            return wrong("it has no steps".into(), "set steps to 1 or more");
        }
        if !positive(self.lr) || !positive(self.lr_low) {
            return wrong(
                format!("lr = {}, lr_low = {}", self.lr, self.lr_low),
                "set them above zero",
            );
        }
        if !self.gamma.is_finite() || self.gamma < 0.0 {
            return wrong(format!("gamma = {}", self.gamma), "set it to zero or above");
        }
        if self.members < 2 || self.orbits == 0 {
            return wrong(
                format!(
                    "a batch of {} orbits with {} members each",
                    self.orbits, self.members
                ),
                "take at least one orbit and two members",
            );
        }
        Ok(())
    }
}

impl Config {
    /// Reads a TOML file.
    ///
    /// # Errors
    /// One line that names the file, the key and the remedy.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::reading(path, &error))?;
        toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| {
                1 + text
                    .bytes()
                    .take(span.start)
                    .filter(|&byte| byte == b'\n')
                    .count()
            });
            let what = format!("line {line}: {}", error.message().replace('\n', " "));
            match nearest_key(error.message()) {
                Some(key) => {
                    let what = what.split(", expected").next().unwrap_or_default();
                    Error::file(path, what, format!("did you mean `{key}`?"))
                }
                None => Error::file(path, what, "correct that line"),
            }
        })
    }

    /// The configuration as TOML, defaults filled in.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a configuration is a TOML document")
    }

    /// Refuses numbers that cannot be meant.
    ///
    /// # Errors
    /// One line that names the key and the remedy.
    pub fn check(&self) -> Result<()> {
        if !(0.0..1.0).contains(&self.held_out) || self.held_out == 0.0 {
            return Err(Error::new(
                "held_out",
                format!("{} is not a share to hold out", self.held_out),
                "set it between 0 and 1",
            ));
        }
        if self.rows == Some(0) {
            return Err(Error::new(
                "rows",
                "W would have no rows",
                "set it to 1 or more",
            ));
        }
        if self.data.exemplars < 2 {
            return Err(Error::new(
                "exemplars",
                "orbits cannot be told apart where there is only one",
                "set it to 2 or more",
            ));
        }
        for (number, phase) in self.phases.iter().enumerate() {
            phase.check(number + 1)?;
        }
        Ok(())
    }
}

/// For "unknown field `x`, expected one of `a`, `b`": the known key that is most like `x`.
fn nearest_key(message: &str) -> Option<&str> {
    let mut quoted = message
        .strip_prefix("unknown field ")?
        .split('`')
        .skip(1)
        .step_by(2);
    let unknown = quoted.next()?;
    quoted.max_by(|a, b| {
        strsim::jaro_winkler(a, unknown).total_cmp(&strsim::jaro_winkler(b, unknown))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_survives_its_own_toml() {
        let mut config = Config {
            phases: vec![Phase::new(LossName::SecondOrder), Phase::default()],
            ..Config::default()
        };
        config.data.group = Some("Z4xZ2".into());
        assert_eq!(toml::from_str::<Config>(&config.to_toml()).unwrap(), config);
    }

    #[test]
    fn an_unknown_key_is_answered_with_the_nearest_known_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.toml");
        std::fs::write(
            &path,
            "seed = 1\n[[phase]]\nloss = \"second-order\"\nstep = 10\n",
        )
        .unwrap();
        let line = Config::read(&path).unwrap_err().to_string();
        assert!(
            line.contains("run.toml: line 4: unknown field `step`: did you mean `steps`?"),
            "{line}"
        );
    }

    #[test]
    fn numbers_that_cannot_be_meant_are_refused() {
        let with = |change: fn(&mut Phase)| {
            let mut phase = Phase::default();
            change(&mut phase);
            Config {
                phases: vec![phase],
                ..Config::default()
            }
            .check()
        };
        assert!(with(|_| ()).is_ok());
        assert!(with(|phase| phase.lr = 0.0).is_err());
        assert!(with(|phase| phase.gamma = f64::NAN).is_err());
        assert!(with(|phase| phase.members = 1).is_err());
        assert!(with(|phase| phase.steps = 0).is_err());
        assert!(
            Config {
                held_out: 1.0,
                ..Config::default()
            }
            .check()
            .is_err()
        );
    }
}
