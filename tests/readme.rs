//! The program of the README is the library's example: it is short, and it learns what it says.

use bispectral_core::{Model, include_model};
use bispectral_tests::repository;
use std::env;
use std::fs;
use std::process::Command;

fn block(file: &str) -> String {
    let text = fs::read_to_string(repository().join(file)).expect("a README");
    let blocks = text.split("```rust\n").skip(1);
    let mut blocks = blocks.map(|rest| rest.split("```").next().unwrap_or_default());
    let program = blocks.find(|block| block.contains("fn main()"));
    program.expect("a whole program").to_owned()
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

/// The library's example, as `cargo test --workspace` has built it beside this test; alone, this test has it built.
fn example() -> Command {
    let built = env::current_exe().expect("a path of this test");
    let profile = built.ancestors().nth(2).expect("a folder of the profile");
    let program = profile.join("examples").join("readme");
    if program.exists() {
        return Command::new(program);
    }
    let manifest = repository().join("Cargo.toml");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--quiet", "--package", "bispectral-learn"]);
    cargo.args(["--example", "readme", "--manifest-path"]);
    cargo.arg(manifest.canonicalize().expect("a manifest"));
    cargo
}

#[test]
fn the_program_learns_the_motion_and_leaves_a_model() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = example()
        .current_dir(&folder)
        .output()
        .expect("the example runs");
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

include_model!(mod turn = concat!(env!("CARGO_MANIFEST_DIR"), "/../core/models/z4.bsn"));

/// What the README shows of a device, with a model of four inputs.
fn on_a_device(signal: [f32; 4]) -> Result<[f32; turn::FEATURES], bispectral_core::Error> {
    let model = Model::from_bytes(turn::MODEL)?; // checks every byte once, borrows the weights
    let mut scratch = [0.0; turn::SCRATCH];
    let mut features = [0.0; turn::FEATURES];
    model.features(&signal, &mut scratch, &mut features)?;
    Ok(features)
}

#[test]
fn the_lines_for_a_device_compile_and_do_not_see_a_shift() {
    let text = fs::read_to_string(repository().join("README.md")).expect("a README");
    let (_, after) = text
        .split_once("## Put it on a microcontroller")
        .expect("a section");
    let block = after.split("```rust\n").nth(1).expect("a program");
    let lines = block.split("```").next().expect("its end").lines().skip(2);
    for line in lines {
        assert!(include_str!("readme.rs").contains(line), "{line}");
    }
    let one = on_a_device([0.1, 0.9, 0.3, -0.2]).expect("features");
    let other = on_a_device([0.9, 0.3, -0.2, 0.1]).expect("features");
    // f32 sums of four values, features of at most one.
    assert!(one.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-5));
    assert!(one.iter().any(|value| value.abs() > 0.1));
}

#[test]
fn pictures_and_documents_that_the_readme_names_are_there() {
    let text = fs::read_to_string(repository().join("README.md")).expect("a README");
    let names = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    for name in names.filter(|name| !name.starts_with("http")) {
        assert!(repository().join(name).exists(), "{name}");
    }
}
