//! A run's state on disk.

use super::schedule::Progress;
use crate::data::orbits::Orbits;
use crate::numeric::adam::Adam;
use crate::storage::checksummed::{CRC, Checksummed};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

const FILE: Checksummed = Checksummed {
    magic: *b"BSC\0",
    version: 2,
    what: "a checkpoint",
    named: "name the folder of a run",
    damaged: "begin the run again",
};

/// Where a run is, and all it needs to go on as if it had never stopped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The CRC-32 of the configuration and of the data it was made with.
    pub origin: u32,
    /// How often it has begun again.
    pub attempt: u32,
    /// The best W of the attempts before.
    pub kept: Option<Kept>,
    /// The phase, counted from zero; past the last one when the run is over.
    pub phase: u32,
    /// The next step of that phase.
    pub step: u64,
    /// Steps of all phases so far.
    pub taken: u64,
    /// Rows of W.
    pub rows: u32,
    /// Inputs.
    pub inputs: u32,
    /// W: R·N real parts, then R·N imaginary parts.
    pub weights: Vec<f32>,
    /// The optimiser's running means.
    pub adam: Adam,
    /// What the schedule remembers.
    pub progress: Progress,
    /// How long `metrics.jsonl` was.
    pub metrics: u64,
}

/// Where an attempt ended that did not get there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// The change along orbits in the end.
    pub invariance: f64,
    /// W: R·N real parts, then R·N imaginary parts.
    pub weights: Vec<f32>,
}

impl Checkpoint {
    /// Replaces the file at `path`.
    ///
    /// # Errors
    /// Where it cannot be written; the old file then stays.
    pub fn write(&self, path: &Path) -> Result<()> {
        FILE.write(path, self)
    }

    /// Reads and checks the file at `path`.
    ///
    /// # Errors
    /// One line: no such file, damaged, another version, or not a checkpoint.
    pub fn read(path: &Path) -> Result<Self> {
        let checkpoint: Checkpoint = FILE.read(path)?;
        let parameters = 2 * checkpoint.rows as usize * checkpoint.inputs as usize;
        // Attempts before may have ended with fewer rows than this one has yet.
        let kept = checkpoint
            .kept
            .as_ref()
            .map_or(0, |kept| kept.weights.len());
        let columns = 2 * checkpoint.inputs as usize;
        if [checkpoint.weights.len(), checkpoint.adam.parameters()] != [parameters; 2]
            || kept.checked_rem(columns).unwrap_or(kept) != 0
        {
            let what = "its lengths do not fit its dimensions";
            return Err(Error::file(path, what, FILE.damaged));
        }
        Ok(checkpoint)
    }
}

/// A CRC-32 by which a run's configuration and data are recognised.
#[must_use]
pub fn fingerprint(config: &str, orbits: &Orbits) -> u32 {
    let mut digest = CRC.digest();
    digest.update(config.as_bytes());
    let mut sample = vec![0.0; orbits.inputs()];
    for orbit in 0..orbits.len() {
        for member in 0..orbits.members(orbit) {
            orbits.write_member(orbit, member, &mut sample);
            sample.iter().for_each(|x| digest.update(&x.to_le_bytes()));
        }
    }
    digest.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn checkpoint() -> Checkpoint {
        Checkpoint {
            origin: 7,
            attempt: 1,
            kept: Some(Kept {
                invariance: 0.3,
                weights: vec![0.25; 12],
            }),
            phase: 1,
            step: 42,
            taken: 542,
            rows: 2,
            inputs: 3,
            weights: vec![0.5; 12],
            adam: Adam::new(12),
            progress: Progress::default(),
            metrics: 99,
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.bin");
        checkpoint().write(&path).unwrap();
        assert_eq!(Checkpoint::read(&path).unwrap(), checkpoint());
    }

    #[test]
    fn no_damaged_checkpoint_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.bin");
        checkpoint().write(&path).unwrap();
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            fs::write(&path, &damaged).unwrap();
            assert!(Checkpoint::read(&path).is_err(), "byte {at}");
            fs::write(&path, &whole[..at]).unwrap();
            assert!(Checkpoint::read(&path).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn lengths_that_do_not_fit_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.bin");
        Checkpoint {
            rows: 3,
            ..checkpoint()
        }
        .write(&path)
        .unwrap();
        let line = Checkpoint::read(&path).unwrap_err().to_string();
        assert!(line.contains("do not fit"), "{line}");
    }
}
