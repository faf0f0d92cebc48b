//! A run and its folder: `config.toml`, `checkpoint.bin`, `metrics.jsonl`, and at the end `model.bsn`, `W.npy` and
//! `results.json`. Killed at any moment, it goes on from its checkpoint to the same bits.

use crate::config::Config;
use crate::source;
use bispectral_learn::analysis::evaluation::{Distances, Evaluation};
use bispectral_learn::data::npy;
use bispectral_learn::data::orbits::Orbits;
use bispectral_learn::data::remark::Remark;
use bispectral_learn::learn::checkpoint::{Checkpoint, fingerprint};
use bispectral_learn::learn::{LearnError, Learned, Recognised, Step, Trainer};
use bispectral_learn::storage::NewFile;
use bispectral_learn::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The resolved configuration.
pub const CONFIG: &str = "config.toml";
const CHECKPOINT: &str = "checkpoint.bin";
/// The losses of the steps, one object a line.
pub const METRICS: &str = "metrics.jsonl";
/// The model of a run, in its folder.
pub const MODEL: &str = "model.bsn";
/// W as it was learned.
pub const WEIGHTS: &str = "W.npy";
/// What the finished model does.
pub const RESULTS: &str = "results.json";
const FILES: [&str; 6] = [CONFIG, CHECKPOINT, METRICS, MODEL, WEIGHTS, RESULTS];

/// How much work a killed run loses at most, but for the step at hand.
const BETWEEN_CHECKPOINTS: Duration = Duration::from_secs(1);
/// One line of metrics for so many steps.
const STEPS_A_LINE: u64 = 10;

/// A run with its data and its folder.
pub struct Run {
    folder: PathBuf,
    config: Config,
    fingerprint: u32,
    trainer: Trainer,
    remarks: Vec<Remark>,
    /// How long `metrics.jsonl` was when the checkpoint was made.
    metrics: u64,
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

/// What the folder keeps: the results, and what only pages show.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    /// What the run came to.
    #[serde(flatten)]
    pub results: Results,
    /// Between some of the samples that were held out.
    pub distances: Distances,
}

impl Record {
    /// That of the run in `folder`.
    ///
    /// # Errors
    /// The run is not finished, or the file is damaged.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(RESULTS);
        let text = fs::read_to_string(&path).map_err(|error| Error::reading(&path, &error))?;
        serde_json::from_str(&text).map_err(|error| {
            let what = error.to_string().replace('\n', " ");
            Error::file(&path, what, "train again")
        })
    }
}

impl Run {
    /// A new run in `folder`, which must not hold another one unless `replace` is given.
    ///
    /// # Errors
    /// One line: what is wrong with the configuration, the data or the folder. Nothing is overwritten then.
    pub fn create(mut config: Config, folder: &Path, replace: bool) -> Result<Self> {
        source::complete(&mut config)?;
        config.check()?;
        let orbits = source::orbits(&config)?;
        let trainer = Trainer::new(&orbits, &config.options(source::name(&config)))?;
        if !replace && FILES.iter().any(|file| folder.join(file).exists()) {
            let path = folder.to_owned();
            return Err(Error::Occupied { path });
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
        let run = Run {
            folder: folder.to_owned(),
            fingerprint: fingerprint(&config.to_toml(), trainer.training()),
            config,
            trainer,
            remarks: orbits.remarks().to_vec(),
            metrics: 0,
        };
        run.write(CONFIG, run.config.to_toml().as_bytes())?;
        Ok(run)
    }

    /// The run in `folder`, where its last checkpoint left it.
    ///
    /// # Errors
    /// There is no run, its checkpoint is damaged or of another shape, or its data has changed.
    pub fn resume(folder: &Path) -> Result<Self> {
        if !folder.join(CONFIG).is_file() {
            let remedy = "name the folder of a run, or begin one";
            return Err(Error::file(folder, "there is no run in it", remedy));
        }
        let config = Config::read(&folder.join(CONFIG))?;
        config.check()?;
        let orbits = source::orbits(&config)?;
        let options = config.options(source::name(&config));
        let path = folder.join(CHECKPOINT);
        let checkpoint = path.exists().then(|| Checkpoint::read(&path)).transpose()?;
        let saved = checkpoint
            .as_ref()
            .map(|saved| (saved.origin, saved.metrics));
        let trainer = match checkpoint {
            Some(checkpoint) => Trainer::resume(&orbits, &options, checkpoint),
            None => Trainer::new(&orbits, &options),
        };
        let trainer = trainer.map_err(|error| match error {
            LearnError::Checkpoint { .. } => {
                let remedy = "put the run's own config.toml and data back";
                Error::file(&path, Error::from(error).what(), remedy)
            }
            error => error.into(),
        })?;
        let fingerprint = fingerprint(&config.to_toml(), trainer.training());
        if saved.is_some_and(|(saved, _)| saved != fingerprint) {
            let what = "config.toml or the data has changed since it was written";
            return Err(Error::file(
                &path,
                what,
                "put them back, or begin a new run",
            ));
        }
        let run = Run {
            folder: folder.to_owned(),
            config,
            fingerprint,
            trainer,
            remarks: orbits.remarks().to_vec(),
            metrics: saved.map_or(0, |(_, metrics)| metrics),
        };
        run.remove_leftovers();
        Ok(run)
    }

    /// The resolved configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What was noticed about its data.
    #[must_use]
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }

    /// The orbits that are held out of training.
    #[must_use]
    pub fn held_out(&self) -> &Orbits {
        self.trainer.held_out()
    }

    /// Trains until all phases are done, or until `stop` is set and the step at hand is finished.
    ///
    /// # Errors
    /// Training went wrong (the last checkpoint stays), or a file cannot be written.
    pub fn train(mut self, stop: &AtomicBool, mut observe: impl FnMut(&Step)) -> Result<Outcome> {
        let mut metrics = Metrics::open(&self.folder.join(METRICS), self.metrics)?;
        let path = self.folder.join(CHECKPOINT);
        let mut written = Instant::now();
        loop {
            let step = self.trainer.step()?;
            if let Some(step) = &step {
                observe(step);
                // The last step of a phase leaves the trainer at the beginning of the next.
                if step.step % STEPS_A_LINE == 0 || self.trainer.next_step() == 0 {
                    metrics.add(step)?;
                }
            }
            let stopped = stop.load(Ordering::Relaxed);
            if step.is_none() || stopped || written.elapsed() >= BETWEEN_CHECKPOINTS {
                let length = metrics.flush()?;
                let checkpoint = self.trainer.checkpoint(self.fingerprint, length);
                checkpoint.write(&path)?;
                written = Instant::now();
            }
            if step.is_none() {
                return self.finish().map(Outcome::Finished);
            }
            if stopped {
                return Ok(Outcome::Stopped);
            }
        }
    }

    fn finish(self) -> Result<Results> {
        let folder = self.folder;
        let learned = self.trainer.finish()?;
        let write = |name, bytes: &[u8]| write(&folder, name, bytes);
        write(WEIGHTS, &npy::complex(&learned.weights()))?;
        write(MODEL, learned.model().bytes())?;
        let record = Record {
            results: results(&learned, folder.join(MODEL)),
            distances: learned.distances().clone(),
        };
        let json = serde_json::to_vec_pretty(&record).expect("numbers serialise");
        write(RESULTS, &json)?;
        Ok(record.results)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        write(&self.folder, name, bytes)
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

fn results(learned: &Learned, model: PathBuf) -> Results {
    let view = learned.model().view();
    Results {
        model,
        steps: learned.steps(),
        attempts: learned.attempts(),
        group: learned.group().cloned(),
        no_group: learned.identification().err().map(ToString::to_string),
        rows: view.rows(),
        inputs: view.inputs(),
        held_out: *learned.evaluation(),
    }
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let mut file = NewFile::create(&folder.join(name), true)?;
    file.write(bytes)?;
    file.commit()
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
