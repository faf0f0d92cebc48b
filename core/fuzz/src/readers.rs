//! Arbitrary bytes in every kind of file that the host reads: a value, or one line that says which file, what is wrong and what to do.
//!
//! Called by libFuzzer (`fuzz_targets/readers.rs`) and, with seeds of every kind, by ordinary tests (`tests/fuzz.rs`).

use bispectral_learn::Error;
use bispectral_learn::data::{Labels, Signals, idx};
use bispectral_learn::learn::checkpoint::Checkpoint;
use bispectral_learn::model::file::ModelFile;
use bispectral_run::config::Config;
use bispectral_run::photographs;
use std::path::Path;

/// Reads the file as what its name says; whether it was a value.
///
/// # Panics
/// Where the error is not one line with a file, a fault and a remedy, or where a value is not what it says.
pub(crate) fn examine(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let read = match name.unwrap_or_default() {
        "labels.csv" | "words.npy" => Labels::read(path, 4).map(drop),
        "grey.png" => photographs::read(path).map(drop),
        "run.toml" => Config::read(path).and_then(|config| config.check()),
        "checkpoint.bin" => Checkpoint::read(path).map(drop),
        "model.bsn" => ModelFile::read(path).and_then(|file| file.model().map(drop)),
        "images.idx" => idx::shape(path).map(drop).and_then(|()| signals(path)),
        _ => signals(path),
    };
    match read {
        Ok(()) => true,
        Err(error) => {
            let line = error.to_string();
            assert!(
                !line.contains('\n') && line.matches(": ").count() >= 2,
                "{line}"
            );
            false
        }
    }
}

fn signals(path: &Path) -> Result<(), Error> {
    let mut signals = Signals::open(path)?;
    let mut block = Vec::new();
    signals.samples(0..signals.count(), &mut block)?;
    assert_eq!(block.len(), signals.count() * signals.length());
    Ok(())
}
