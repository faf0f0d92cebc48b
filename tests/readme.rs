//! The program of the README is the library's example: it is short, and it learns what it says.

use bispectral_core::Model;
use bispectral_tests::repository;
use std::fs;
use std::process::Command;

fn block(file: &str) -> String {
    let text = fs::read_to_string(repository().join(file)).expect("a README");
    let block = text.split("```rust\n").nth(1).expect("a program");
    block.split("```").next().expect("its end").to_owned()
}

#[test]
fn the_readmes_show_the_example_in_at_most_15_lines() {
    let example = include_str!("../host/learn/examples/readme.rs");
    let (_, program) = example.split_once("\n\n").expect("a line about it");
    for file in ["README.md", "host/learn/README.md"] {
        assert_eq!(block(file), program, "{file}");
    }
    assert!(program.lines().count() <= 15);
}

#[test]
fn the_program_learns_the_motion_and_leaves_a_model() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let manifest = repository().join("Cargo.toml");
    let manifest = manifest.canonicalize().expect("a manifest");
    let run = Command::new(env!("CARGO"))
        .args([
            "run",
            "--quiet",
            "--package",
            "bispectral-learn",
            "--example",
            "readme",
        ])
        .arg("--manifest-path")
        .arg(manifest)
        .current_dir(&folder)
        .output()
        .expect("cargo runs");
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let bytes = fs::read(folder.path().join("model.bsn")).expect("a model");
    let model = Model::from_bytes(&bytes).expect("whole");
    assert_eq!(
        (model.group(), model.inputs(), model.rows()),
        (Some("Z8"), 8, 8)
    );
}
