//! What a run is: data, split, and a list of phases. A TOML file, flags on top, and the resolved whole in the run's folder.

use bispectral_learn::data::orbits::{Motion, Split};
use bispectral_learn::learn::phase::Phase;
use bispectral_learn::learn::{LearnError, Options, restarts};
use bispectral_learn::limits::{MOST_CONFIG_BYTES, MOST_INPUTS, MOST_NOISE, MOST_SAMPLES};
use bispectral_learn::storage::read_text;
use bispectral_learn::{Error, Result};
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
    pub split: Option<Split>,
    /// The share that is held out.
    #[serde(default = "default_held_out")]
    pub held_out: f64,
    /// How often training begins again, from another start, where invariants still change along orbits and no group
    /// is recognised; by what is known of the data where it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restarts: Option<u32>,
    /// Whether training ends once a group is recognised, and its exact characters take the place of W.
    #[serde(default = "default_polish")]
    pub polish: bool,
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

fn default_polish() -> bool {
    true
}

impl Default for Config {
    fn default() -> Self {
        Config {
            seed: 0,
            rows: None,
            split: None,
            held_out: default_held_out(),
            restarts: None,
            polish: default_polish(),
            data: Data::default(),
            phases: Vec::new(),
        }
    }
}

/// How exemplars are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Normal noise on every member: its deviation, as a share of the member's root mean square.
    #[serde(default)]
    pub noise: f64,
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
            noise: 0.0,
        }
    }
}

impl Config {
    /// Reads a TOML file.
    ///
    /// # Errors
    /// One line that names the file, the key and the remedy.
    pub fn read(path: &Path) -> Result<Self> {
        let text = read_text(path, "a configuration", MOST_CONFIG_BYTES)?;
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

    /// How members of its orbits are related, as far as it is known.
    #[must_use]
    pub fn motion(&self) -> Motion {
        match (self.data.transform, &self.data.labels) {
            (Some(TransformName::Rotate), _) => Motion::Rotation,
            (_, Some(_)) => Motion::Unknown,
            _ => Motion::Translation,
        }
    }

    /// Fills in what was left open about learning, by the data that it names.
    pub fn resolve(&mut self) {
        let motion = self.motion();
        self.split.get_or_insert(if self.data.images.is_some() {
            Split::Transforms
        } else {
            Split::Exemplars
        });
        self.restarts.get_or_insert(restarts(motion));
        if self.phases.is_empty() {
            self.phases = Phase::recipe(motion);
        }
    }

    /// What of it is about learning; the model is called `name`.
    #[must_use]
    pub fn options(&self, name: String) -> Options {
        Options {
            name,
            seed: self.seed,
            rows: self.rows,
            split: self.split.unwrap_or(Split::Exemplars),
            held_out: self.held_out,
            restarts: self.restarts,
            polish: self.polish,
            phases: self.phases.clone(),
        }
    }

    /// Refuses numbers that cannot be meant.
    ///
    /// # Errors
    /// One line that names the key and the remedy.
    pub fn check(&self) -> Result<()> {
        self.options(String::new()).resolved(self.motion())?;
        let refused = |option, what: String, remedy| {
            Err(LearnError::Option {
                option,
                what,
                remedy,
            }
            .into())
        };
        if !self.data.noise.is_finite() || self.data.noise < 0.0 {
            let what = format!("{} is not a share of a signal's size", self.data.noise);
            return refused("noise", what, "set it to zero or above");
        }
        if self.data.noise > MOST_NOISE {
            let what = format!(
                "{} times a signal's size leave nothing of it",
                self.data.noise
            );
            return refused("noise", what, "set it lower");
        }
        if self.data.exemplars > MOST_SAMPLES {
            let what = format!("{} are more than {MOST_SAMPLES}", self.data.exemplars);
            return refused("exemplars", what, "set it lower");
        }
        if self.data.size.saturating_mul(self.data.size) > MOST_INPUTS {
            let what = format!(
                "patches of {0} × {0} pixels, a model takes {MOST_INPUTS}",
                self.data.size
            );
            return refused("size", what, "set it lower");
        }
        if self.data.exemplars < 2 {
            let what = "orbits cannot be told apart where there is only one".into();
            return refused("exemplars", what, "set it to 2 or more");
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
    use bispectral_learn::learn::phase::LossName;

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
}
