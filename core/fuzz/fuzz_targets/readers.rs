//! libFuzzer on [`readers`]: the first byte says which kind of file the others are in.

#![no_main]

#[path = "../src/readers.rs"]
mod readers;

use libfuzzer_sys::fuzz_target;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

const NAMES: [&str; 10] = [
    "f8.npy",
    "signals.csv",
    "signals.txt",
    "images.idx",
    "images.idx.gz",
    "labels.csv",
    "words.npy",
    "grey.png",
    "run.toml",
    "checkpoint.bin",
];

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("readers-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    folder
});

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, bytes)) = bytes.split_first() else {
        return;
    };
    let path = FOLDER.join(NAMES[usize::from(*kind) % NAMES.len()]);
    fs::write(&path, bytes).expect("room on the disk");
    readers::examine(&path);
});
