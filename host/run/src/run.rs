//! A run and its folder: `config.toml`, `checkpoint.bin`, `metrics.jsonl`, and at the end `model.bsn`, `W.npy`,
//! `permutations.npy` where the group permutes inputs, and `results.json`. Killed at any moment, it goes on from its checkpoint to the same bits.
//!
//! A run that takes the place of another one is written beside it, and the files of both change places once the new ones are
//! complete: a folder holds one run or the other. One process at a time writes there.

use crate::config::Config;
use crate::{permutations, source};
use bispectral_learn::analysis::evaluation::{Distances, Evaluation};
use bispectral_learn::data::npy;
use bispectral_learn::data::orbits::Orbits;
use bispectral_learn::data::remark::Remark;
use bispectral_learn::learn::checkpoint::{Checkpoint, fingerprint};
use bispectral_learn::learn::{Diagnosis, LearnError, Learned, Recognised, Step, Trainer};
use bispectral_learn::limits::MOST_RESULTS_BYTES;
use bispectral_learn::storage::{FolderLock, Lines, NewFile, keep_inputs, read_text, replacement};
use bispectral_learn::{Error, Result};
use serde::{Deserialize, Serialize};
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
/// The group as permutations of the inputs, where it is one.
pub const PERMUTATIONS: &str = "permutations.npy";
/// All of these, which belong together.
pub const FILES: [&str; 7] = [
    CONFIG,
    CHECKPOINT,
    METRICS,
    MODEL,
    WEIGHTS,
    PERMUTATIONS,
    RESULTS,
];

/// How much work a killed run loses at most, but for the step at hand.
const BETWEEN_CHECKPOINTS: Duration = Duration::from_secs(1);
/// One line of metrics for so many steps.
const STEPS_A_LINE: u64 = 10;

/// A run with its data and its folder.
pub struct Run {
    folder: PathBuf,
    /// Where its files are written: the folder, or beside the run that this one replaces.
    stage: PathBuf,
    _lock: FolderLock,
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
    Finished(Box<Results>),
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
    /// The group whose characters W is, or whose permutations the couplings do not see, where there is one.
    pub group: Option<Recognised>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_group: Option<String>,
    /// What the data looks like then, and how known groups do on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<Diagnosis>,
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
        let text = read_text(&path, "results", MOST_RESULTS_BYTES)?;
        serde_json::from_str(&text).map_err(|error| {
            let what = error.to_string().replace('\n', " ");
            Error::file(&path, what, "train again")
        })
    }
}

impl Run {
    /// A new run in `folder`, which must not hold another one unless `replace` is given; that one stays as it is until the new
    /// one is finished.
    ///
    /// # Errors
    /// One line: what is wrong with the configuration, the data or the folder. Nothing is overwritten then.
    pub fn create(mut config: Config, folder: &Path, replace: bool) -> Result<Self> {
        source::complete(&mut config)?;
        config.check()?;
        let data = &config.data;
        let inputs = [&data.samples, &data.labels];
        let inputs: Vec<&Path> = inputs.into_iter().flatten().map(PathBuf::as_path).collect();
        keep_inputs(folder, &FILES, &inputs)?;
        let orbits = source::orbits(&config)?;
        let trainer = Trainer::new(&orbits, &config.options(source::name(&config)))?;
        if !replace && holds_run(folder) {
            let path = folder.to_owned();
            return Err(Error::Occupied { path });
        }
        let lock = FolderLock::acquire(folder)?;
        replacement::settle_locked(folder)?;
        // Again, as another process may have had the lock.
        let stage = match (holds_run(folder), replace) {
            (true, false) => {
                let path = folder.to_owned();
                return Err(Error::Occupied { path });
            }
            (true, true) => replacement::begin(folder)?,
            (false, _) => folder.to_owned(),
        };
        let run = Run {
            folder: folder.to_owned(),
            stage,
            _lock: lock,
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
        if !holds_run(folder) {
            let remedy = "name the folder of a run, or begin one";
            return Err(Error::file(folder, "there is no run in it", remedy));
        }
        let lock = FolderLock::acquire(folder)?;
        replacement::settle_locked(folder)?;
        // Where a run was to be replaced, it is the new one that goes on.
        let stage = match replacement::stage(folder) {
            stage if stage.join(CONFIG).is_file() => stage,
            _ => folder.to_owned(),
        };
        let config = Config::read(&stage.join(CONFIG))?;
        config.check()?;
        let orbits = source::orbits(&config)?;
        let options = config.options(source::name(&config));
        let path = stage.join(CHECKPOINT);
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
        Ok(Run {
            folder: folder.to_owned(),
            stage,
            _lock: lock,
            config,
            fingerprint,
            trainer,
            remarks: orbits.remarks().to_vec(),
            metrics: saved.map_or(0, |(_, metrics)| metrics),
        })
    }

    /// The run in `folder` where it is of this configuration, whether it is finished or not; otherwise a new one, which
    /// replaces what is there.
    ///
    /// # Errors
    /// Those of [`create`](Self::create) and [`resume`](Self::resume).
    pub fn go_on_or_create(mut config: Config, folder: &Path) -> Result<Self> {
        source::complete(&mut config)?;
        let stage = replacement::stage(folder);
        let found = [stage.join(CONFIG), folder.join(CONFIG)]
            .into_iter()
            .find(|path| path.is_file());
        if let Some(path) = found
            && Config::read(&path).is_ok_and(|found| found == config)
            && let Ok(run) = Run::resume(folder)
        {
            return Ok(run);
        }
        Run::create(config, folder, true)
    }

    /// How many bytes of `metrics.jsonl` are missing, where it was cut since the checkpoint.
    #[must_use]
    pub fn missing_metrics(&self) -> u64 {
        Lines::missing(&self.stage.join(METRICS), self.metrics)
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
        let mut metrics = Lines::open(&self.stage.join(METRICS), self.metrics)?;
        let path = self.stage.join(CHECKPOINT);
        let mut written = Instant::now();
        loop {
            let step = match self.trainer.step() {
                Ok(step) => step,
                Err(error) => {
                    // What was to be replaced stays, and what cannot go on goes.
                    if self.stage != self.folder {
                        replacement::discard(&self.folder)?;
                    }
                    return Err(error.into());
                }
            };
            if let Some(step) = &step {
                observe(step);
                // The last step of a phase leaves the trainer at the beginning of the next.
                if step.step % STEPS_A_LINE == 0 || self.trainer.next_step() == 0 {
                    metrics.add(&serde_json::to_string(step).expect("numbers serialise"))?;
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
                return Ok(Outcome::Finished(Box::new(self.finish()?)));
            }
            if stopped {
                return Ok(Outcome::Stopped);
            }
        }
    }

    fn finish(self) -> Result<Results> {
        let (folder, stage) = (self.folder, self.stage);
        let learned = self.trainer.finish()?;
        let write = |name, bytes: &[u8]| write(&stage, name, bytes);
        write(WEIGHTS, &npy::complex(&learned.weights()))?;
        write(MODEL, learned.model().bytes())?;
        if let Some(action) = learned.action() {
            write(PERMUTATIONS, &permutations::bytes(action))?;
        }
        let record = Record {
            results: Results::of(&learned, folder.join(MODEL)),
            distances: learned.distances().clone(),
        };
        let json = serde_json::to_vec_pretty(&record).expect("numbers serialise");
        write(RESULTS, &json)?;
        if stage != folder {
            replacement::commit(&folder)?;
            // Of the run that was replaced, where the new one has none; results.json says so where this fails.
            if learned.action().is_none() {
                let _ = std::fs::remove_file(folder.join(PERMUTATIONS));
            }
        }
        Ok(record.results)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        write(&self.stage, name, bytes)
    }
}

/// Whether there is a run in `folder`, or one that was to replace another.
fn holds_run(folder: &Path) -> bool {
    let stage = replacement::stage(folder);
    FILES.iter().any(|file| folder.join(file).exists()) || stage.join(CONFIG).exists()
}

impl Results {
    /// What was learned, whose model is in this file.
    #[must_use]
    pub fn of(learned: &Learned, model: PathBuf) -> Self {
        let view = learned.model().view();
        Results {
            model,
            steps: learned.steps(),
            attempts: learned.attempts(),
            group: learned.group().cloned(),
            no_group: match learned.group() {
                Some(_) => None,
                None => learned.identification().err().map(ToString::to_string),
            },
            diagnosis: learned.diagnosis().cloned(),
            rows: view.rows(),
            inputs: view.inputs(),
            held_out: *learned.evaluation(),
        }
    }
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let mut file = NewFile::create(&folder.join(name), true)?;
    file.write(bytes)?;
    file.commit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bispectral_learn::storage::fault::{Fault, during};
    use std::fs;

    const FAULTS: [Fault; 4] = [
        Fault::Full,
        Fault::Input,
        Fault::Interrupted,
        Fault::PowerCut,
    ];

    fn config(seed: u64) -> Config {
        let mut config = Config {
            seed,
            ..Config::default()
        };
        config.data.group = Some("Z4".into());
        config.data.exemplars = 10;
        config
    }

    fn finish(run: Result<Run>) -> Result<()> {
        run?.train(&AtomicBool::new(false), |_| {}).map(drop)
    }

    fn train(folder: &Path, seed: u64) -> Result<()> {
        finish(Run::create(config(seed), folder, true))
    }

    /// All files of a run; what depends on where it is is left out.
    fn state(folder: &Path) -> Vec<Option<Vec<u8>>> {
        let read = |name: &&str| {
            let bytes = fs::read(folder.join(name)).ok()?;
            let place = folder.display().to_string();
            match String::from_utf8(bytes) {
                Ok(text) => Some(text.replace(&place, "").into_bytes()),
                Err(error) => Some(error.into_bytes()),
            }
        };
        FILES.iter().map(read).collect()
    }

    fn trained(seed: u64) -> (tempfile::TempDir, Vec<Option<Vec<u8>>>) {
        let folder = tempfile::tempdir().unwrap();
        train(folder.path(), seed).unwrap();
        let state = state(folder.path());
        assert!(state.iter().all(Option::is_some));
        (folder, state)
    }

    #[test]
    fn whatever_fails_a_run_that_is_replaced_is_the_old_one_or_the_new_one() {
        let ((old_folder, old), (_new_folder, new)) = (trained(0), trained(1));
        for fault in FAULTS {
            let mut seen = [0, 0];
            for at in 0.. {
                let folder = tempfile::tempdir().unwrap();
                let folder = folder.path();
                for name in FILES {
                    let bytes = fs::read(old_folder.path().join(name)).unwrap();
                    fs::write(folder.join(name), bytes).unwrap();
                }
                let old_here = state(folder);
                let (result, hit) = during(fault, at, || train(folder, 1));
                replacement::settle(folder).unwrap();
                let found = state(folder);
                let is_new = found == new;
                assert!(is_new || found == old_here, "{fault:?} {at}: a mix");
                assert!(is_new || result.is_err(), "{fault:?} {at}");
                assert!(result.is_ok() || fault != Fault::Interrupted, "{at}");
                seen[usize::from(is_new)] += 1;
                // What was begun goes on, and what was not is as it was.
                let begun = replacement::stage(folder).join(CONFIG).exists();
                finish(Run::resume(folder)).unwrap();
                if begun || is_new {
                    assert!(state(folder) == new, "{fault:?} {at}: after going on");
                }
                assert!(!replacement::stage(folder).join(CONFIG).exists());
                if !hit {
                    break;
                }
            }
            assert!(seen[1] > 1, "{fault:?}: {seen:?}");
            assert!(seen[0] > 10 || fault == Fault::Interrupted, "{seen:?}");
        }
        assert!(old != new);
    }

    #[test]
    fn whatever_fails_a_new_run_goes_on_to_the_same_bits() {
        let (_folder, whole) = trained(1);
        for fault in FAULTS {
            for at in 0.. {
                let folder = tempfile::tempdir().unwrap();
                let folder = &folder.path().join("run");
                let (result, hit) = during(fault, at, || train(folder, 1));
                assert!(result.is_ok() || hit, "{result:?}");
                if result.is_err() {
                    if holds_run(folder) {
                        finish(Run::resume(folder)).unwrap();
                    } else {
                        train(folder, 1).unwrap();
                    }
                }
                assert!(state(folder) == whole, "{fault:?} {at}");
                if !hit {
                    break;
                }
            }
        }
    }

    #[test]
    fn a_second_writer_is_refused_while_there_is_a_first() {
        let folder = tempfile::tempdir().unwrap();
        let first = Run::create(config(0), folder.path(), false).unwrap();
        let refused = |run: Result<Run>| matches!(run, Err(Error::Busy { .. }));
        assert!(refused(Run::create(config(1), folder.path(), true)));
        assert!(refused(Run::resume(folder.path())));
        drop(first);
        finish(Run::resume(folder.path())).unwrap();
    }
}
