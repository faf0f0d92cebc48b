//! A run and its folder: `config.toml`, `checkpoint.bin`, `metrics.jsonl`, and at the end `model.bsn`, `W.npy`,
//! `results.json`, `loss.png` and `distances.png`. Killed at any moment, it goes on from its checkpoint to the same bits.

use super::checkpoint::{Checkpoint, fingerprint};
use super::config::Config;
use super::source;
use super::trainer::{Step, Trainer};
use crate::analysis::evaluation::{Evaluation, distances, evaluate};
use crate::data::orbits::Orbits;
use crate::export::{NewFile, bsn, npy};
use crate::group::identify::Identification;
use crate::report::{self, loss_curve};
use crate::{Error, Result};
use bispectral_core::{Complex32, Model};
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The resolved configuration.
pub const CONFIG: &str = "config.toml";
const CHECKPOINT: &str = "checkpoint.bin";
const METRICS: &str = "metrics.jsonl";
/// The model of a run, in its folder.
pub const MODEL: &str = "model.bsn";
/// W as it was learned.
pub const WEIGHTS: &str = "W.npy";
/// What the finished model does.
pub const RESULTS: &str = "results.json";
/// The losses over the steps.
pub const CURVE: &str = "loss.png";
/// The distances between samples of held-out orbits.
pub const DISTANCES: &str = "distances.png";
const FILES: [&str; 8] = [
    CONFIG, CHECKPOINT, METRICS, MODEL, WEIGHTS, RESULTS, CURVE, DISTANCES,
];

/// How much work a killed run loses at most, but for the step at hand.
const BETWEEN_CHECKPOINTS: Duration = Duration::from_secs(1);
/// One line of metrics for so many steps.
const STEPS_A_LINE: u64 = 10;

/// A run with its data and its folder.
pub struct Run {
    folder: PathBuf,
    config: Config,
    /// Without inputs that are always zero.
    training: Orbits,
    /// The inputs that are left.
    support: Arc<[usize]>,
    held_out: Orbits,
    origin: u32,
    checkpoint: Option<Checkpoint>,
}

/// How a run ended.
#[derive(Debug)]
pub enum Outcome {
    /// All phases are done.
    Finished(Results),
    /// It was asked to stop; its checkpoint is written.
    Stopped,
}

/// What the finished model does on held-out orbits, by `bispectral-core` from the exported file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// Where the model is.
    pub model: PathBuf,
    /// Steps of all phases and attempts together.
    pub steps: u64,
    /// How often training began.
    pub attempts: u32,
    /// The group whose characters W is, where there is one.
    pub group: Option<Recognised>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_group: Option<String>,
    /// Rows of W.
    pub rows: usize,
    /// Inputs.
    pub inputs: usize,
    /// On held-out orbits.
    #[serde(flatten)]
    pub held_out: Evaluation,
}

/// The group that training arrived at. The exported W is its exact characters, unless that was not wanted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recognised {
    /// By its invariant factors.
    pub name: String,
    /// The smallest overlap of a learned row with its exact character.
    pub least_overlap: f64,
    /// The mean over all rows.
    pub mean_overlap: f64,
    /// How far the row furthest from its exact character was moved; its length is one.
    pub moved: f64,
    /// Rows that were learned; fewer than all where the others are products of these, since no signal excites them.
    pub known: usize,
}

impl From<&Identification> for Recognised {
    fn from(found: &Identification) -> Self {
        let (least_overlap, mean_overlap) = found.overlap();
        Recognised {
            name: found.group.to_string(),
            least_overlap,
            mean_overlap,
            moved: found.moved().into_iter().fold(0.0, f64::max),
            known: found.known,
        }
    }
}

impl Run {
    /// A new run in `folder`, which must not hold another one unless `force` is given.
    ///
    /// # Errors
    /// One line: what is wrong with the configuration, the data or the folder. Nothing is overwritten then.
    pub fn create(mut config: Config, folder: &Path, force: bool) -> Result<Self> {
        source::complete(&mut config)?;
        config.check()?;
        let run = Run::load(config, folder)?;
        let held = FILES.iter().any(|file| folder.join(file).exists());
        if held && !force {
            let remedy = "choose another one, add --force, or go on with --resume";
            return Err(Error::file(folder, "the folder holds another run", remedy));
        }
        fs::create_dir_all(folder).map_err(|error| Error::writing(folder, &error))?;
        for file in FILES {
            match fs::remove_file(folder.join(file)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::writing(&folder.join(file), &error));
                }
                _ => {}
            }
        }
        run.write(CONFIG, run.config.to_toml().as_bytes())?;
        Ok(run)
    }

    /// The run in `folder`, where its last checkpoint left it.
    ///
    /// # Errors
    /// There is no run, its checkpoint is damaged or of another shape, or its data has changed.
    pub fn resume(folder: &Path) -> Result<Self> {
        if !folder.join(CONFIG).is_file() {
            let remedy = "name the folder of a run, or begin one with -o";
            return Err(Error::file(folder, "there is no run in it", remedy));
        }
        let config = Config::read(&folder.join(CONFIG))?;
        config.check()?;
        let mut run = Run::load(config, folder)?;
        let path = folder.join(CHECKPOINT);
        if path.exists() {
            let checkpoint = Checkpoint::read(&path)?;
            run.accept(&path, &checkpoint)?;
            run.checkpoint = Some(checkpoint);
        }
        run.remove_leftovers();
        Ok(run)
    }

    /// The resolved configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The orbits that are held out of training.
    #[must_use]
    pub fn held_out(&self) -> &Orbits {
        &self.held_out
    }

    fn load(config: Config, folder: &Path) -> Result<Self> {
        let (training, held_out) = source::orbits(&config)?;
        let (training, support) = training.supported();
        let origin = fingerprint(&config.to_toml(), &training);
        Ok(Run {
            folder: folder.to_owned(),
            config,
            training,
            support,
            held_out,
            origin,
            checkpoint: None,
        })
    }

    fn accept(&self, path: &Path, checkpoint: &Checkpoint) -> Result<()> {
        let inputs = self.training.inputs();
        let rows = self.config.rows.unwrap_or(inputs);
        let (found_rows, found_inputs) = (checkpoint.rows as usize, checkpoint.inputs as usize);
        // Phases may leave rows out, but never add any.
        let fewer = self.config.phases.iter().any(|phase| phase.keep < 1.0);
        let fits = found_rows == rows || fewer && (1..rows).contains(&found_rows);
        if found_inputs != inputs || !fits {
            let what = format!(
                "it is of a W of {found_rows} by {found_inputs}, the run has {rows} by {inputs}"
            );
            return Err(Error::file(
                path,
                what,
                "put the run's own config.toml and data back",
            ));
        }
        if checkpoint.origin != self.origin {
            let what = "config.toml or the data has changed since it was written";
            return Err(Error::file(path, what, "put them back, or begin a new run"));
        }
        Ok(())
    }

    /// Trains until all phases are done, or until `stop` is set and the step at hand is finished.
    ///
    /// # Errors
    /// Training went wrong (the last checkpoint stays), or a file cannot be written.
    pub fn train(&mut self, stop: &AtomicBool, mut observe: impl FnMut(&Step)) -> Result<Outcome> {
        let checkpoint = self.checkpoint.take();
        let mut metrics = Metrics::open(
            &self.folder.join(METRICS),
            checkpoint.as_ref().map_or(0, |c| c.metrics),
        )?;
        let mut trainer = match checkpoint {
            Some(checkpoint) => Trainer::resume(&self.config, &self.training, checkpoint),
            None => Trainer::new(&self.config, &self.training),
        };
        let path = self.folder.join(CHECKPOINT);
        let mut written = Instant::now();
        loop {
            let step = trainer.step()?;
            if let Some(step) = &step {
                observe(step);
                // The last step of a phase leaves the trainer at the beginning of the next.
                if step.step % STEPS_A_LINE == 0 || trainer.next_step() == 0 {
                    metrics.add(step)?;
                }
            }
            let stopped = stop.load(Ordering::Relaxed);
            if step.is_none() || stopped || written.elapsed() >= BETWEEN_CHECKPOINTS {
                let length = metrics.flush()?;
                trainer.checkpoint(self.origin, length).write(&path)?;
                written = Instant::now();
            }
            if step.is_none() {
                return self.finish(&mut trainer).map(Outcome::Finished);
            }
            if stopped {
                return Ok(Outcome::Stopped);
            }
        }
    }

    fn finish(&self, trainer: &mut Trainer<'_>) -> Result<Results> {
        let (found, no_group) = match trainer.recognise() {
            Ok(found) => (Some(found), None),
            Err(why) => (None, Some(why)),
        };
        let learned = self.spread(&trainer.weights());
        self.write(WEIGHTS, &npy::complex(&learned.view()))?;
        let w = match &found {
            Some(found) if self.config.polish => self.spread(&found.exact()),
            _ => learned,
        };
        let group = found.as_ref().map(Recognised::from);
        let name = source::name(&self.config);
        let path = self.folder.join(MODEL);
        let named = group.as_ref().map(|group| group.name.as_str());
        let bytes = bsn::encode_array(&w.view(), &name, named)
            .map_err(|error| Error::model(&path, error))?;
        self.write(MODEL, &bytes)?;
        let model = Model::from_bytes(&bytes).map_err(|error| Error::model(&path, error))?;
        let results = Results {
            model: path,
            steps: trainer.steps_taken(),
            attempts: trainer.attempts(),
            group,
            no_group,
            rows: model.rows(),
            inputs: model.inputs(),
            held_out: evaluate(&model, &self.held_out)?,
        };
        let json = serde_json::to_vec_pretty(&results).expect("numbers serialise");
        self.write(RESULTS, &json)?;
        let metrics = fs::read_to_string(self.folder.join(METRICS)).unwrap_or_default();
        self.write(CURVE, &loss_curve::png(&metrics)?)?;
        self.write(DISTANCES, &held_out_distances(&model, &self.held_out)?)?;
        Ok(results)
    }

    /// W for all inputs: zero where every sample is.
    fn spread(&self, w: &Array2<Complex32>) -> Array2<Complex32> {
        let mut all = Array2::zeros((w.nrows(), self.held_out.inputs()));
        for (column, &input) in w.columns().into_iter().zip(&*self.support) {
            all.column_mut(input).assign(&column);
        }
        all
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let mut file = NewFile::create(&self.folder.join(name), true)?;
        file.write(bytes)?;
        file.commit()
    }

    /// Half-written files of a run that was killed. That they stay is no reason to fail.
    fn remove_leftovers(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(".bispectral-") && name.ends_with(".tmp") {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// The picture of the distances between samples that were not trained on.
///
/// # Errors
/// The orbits are of another length than the model's inputs, or a sample has no invariants.
pub fn held_out_distances(model: &Model<'_>, held_out: &Orbits) -> Result<Vec<u8>> {
    let found = distances(model, held_out)?;
    let names = found.orbits.iter();
    let orbits: Vec<(String, usize)> = names
        .map(|(label, members)| (label.to_string(), *members))
        .collect();
    let title = "‖β̄(a) − β̄(b)‖ of samples never trained on";
    report::distances::png(found.matrix.view(), &orbits, title)
}

/// `metrics.jsonl`: one object a line, in the order of the steps.
struct Metrics {
    path: PathBuf,
    file: BufWriter<File>,
    length: u64,
}

impl Metrics {
    /// Cut to `length`, which is where the checkpoint was made.
    fn open(path: &Path, length: u64) -> Result<Self> {
        let wrong = |error| Error::writing(path, &error);
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map_err(wrong)?;
        file.set_len(length).map_err(wrong)?;
        Ok(Metrics {
            path: path.to_owned(),
            file: BufWriter::new(file),
            length,
        })
    }

    fn add(&mut self, step: &Step) -> Result<()> {
        let line = serde_json::to_string(step).expect("numbers serialise") + "\n";
        self.length += line.len() as u64;
        self.file
            .write_all(line.as_bytes())
            .map_err(|error| Error::writing(&self.path, &error))
    }

    /// Brings everything to the disk, and returns how long the file is.
    fn flush(&mut self) -> Result<u64> {
        let wrong = |error| Error::writing(&self.path, &error);
        self.file.flush().map_err(wrong)?;
        self.file.get_ref().sync_data().map_err(wrong)?;
        Ok(self.length)
    }
}
