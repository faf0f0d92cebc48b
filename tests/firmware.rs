//! The firmware on five emulated processors: it must run, and every bit must equal what this host's core computes.

#[path = "firmware/classified.rs"]
mod classified;

use bispectral::Arguments;
use bispectral_core::{Complex32, Model, Sizes};
use bispectral_learn::analysis::fit::Choices;
use bispectral_learn::data::group::Group;
use bispectral_learn::data::npy::{Element, header};
use bispectral_learn::group::selective;
use bispectral_learn::model::file::encode_array;
use bispectral_learn::model::form::Source;
use bispectral_learn::model::instructions::{MARGIN, estimate};
use bispectral_tests::device::{self, BOARDS};
use bispectral_tests::example;
use clap::Parser;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn firmware() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware-example")
}

fn cargo(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("cargo runs")
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The number that stands first behind `label` in what the firmware printed.
fn printed(table: &str, label: &str) -> f64 {
    let rest = table
        .lines()
        .find_map(|line| line.strip_prefix(label))
        .unwrap_or_else(|| panic!("no line `{label}` in\n{table}"));
    let number = rest.split_whitespace().next().unwrap_or_default();
    number
        .trim_end_matches(',')
        .parse()
        .unwrap_or_else(|_| panic!("`{rest}` is not a number"))
}

/// Runs the firmware in QEMU and returns its table, once it has said that all is well.
fn run(target: &str, emulator: &str) -> String {
    assert!(
        Command::new(emulator).arg("--version").output().is_ok(),
        "{emulator} is not installed: `bash tests/all.sh` installs it"
    );
    let output = cargo(&firmware(), &["run", "--release", "--target", target]);
    let table = words(&output.stdout);
    assert!(
        output.status.success(),
        "{table}\n{}",
        words(&output.stderr)
    );
    assert_eq!(table.lines().last(), Some("ok"), "{table}");

    let bytes = fs::read(firmware().join("model/turn.bsn")).expect("the model");
    let model = Model::from_bytes(&bytes).expect("a sound model");
    let checksum = format!("{:08x}", example::checksum_of_all(&model));
    assert!(
        table.contains(&format!(
            "checksum of all inferences           {checksum}\n"
        )),
        "the host's core computes {checksum}\n{table}"
    );
    println!("{table}");
    table
}

#[test]
fn cortex_m4f_equals_the_host_bit_for_bit() {
    let table = run("thumbv7em-none-eabihf", "qemu-system-arm");
    let instructions = printed(&table, "instructions an inference");
    let multiply_adds = (example::PAIRS * example::INPUTS) as f64;
    assert!(instructions / multiply_adds <= 15.0, "{table}");
}

#[test]
fn cortex_m0_equals_the_host_bit_for_bit_in_16_kib_of_ram() {
    let table = run("thumbv6m-none-eabi", "qemu-system-arm");
    // The triangle itself would not leave room for the rest of a program.
    assert!(
        printed(&table, "RAM used, with the stack") < 4.0 * 1024.0,
        "{table}"
    );
}

#[test]
fn cortex_m3_equals_the_host_bit_for_bit() {
    run("thumbv7m-none-eabi", "qemu-system-arm");
}

#[test]
fn cortex_m33_equals_the_host_bit_for_bit() {
    run("thumbv8m.main-none-eabihf", "qemu-system-arm");
}

#[test]
fn rv32imac_equals_the_host_bit_for_bit() {
    let table = run("riscv32imac-unknown-none-elf", "qemu-system-riscv32");
    assert!(printed(&table, "instructions an inference") > 0.0);
}

#[test]
fn one_changed_bit_of_one_sample_fails_the_firmware() {
    let output = cargo(&firmware(), &["run", "--release", "--features", "tampered"]);
    assert!(!output.status.success());
    assert_eq!(words(&output.stdout).lines().last(), Some("FAILED"));
}

#[test]
fn no_panic_path_survives_on_any_target() {
    for target in [
        "thumbv7em-none-eabihf",
        "thumbv6m-none-eabi",
        "thumbv7m-none-eabi",
        "thumbv8m.main-none-eabihf",
        "riscv32imac-unknown-none-elf",
    ] {
        let build = ["build", "--release", "-p", "no-panic", "--target", target];
        for features in [&[][..], &["--features", "fft"]] {
            let output = cargo(&firmware(), &[&build[..], features].concat());
            assert!(
                output.status.success(),
                "{target} {features:?}: {}",
                words(&output.stderr)
            );
        }
        let output = cargo(
            &firmware(),
            &[&build[..], &["--features", "deliberate"]].concat(),
        );
        let errors = words(&output.stderr);
        assert!(
            errors.contains("undefined symbol: a_panic_path_survives"),
            "{target}: the proof would not notice a panic\n{errors}"
        );
    }
}

/// Compares with the checked-in file, or, with BLESS=1, writes it.
fn assert_checked_in(name: &str, fresh: &[u8]) {
    let path = firmware().join("model").join(name);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, fresh).expect("a writable checkout");
    }
    assert!(
        fs::read(&path).is_ok_and(|bytes| bytes == fresh),
        "firmware-example/model/{name} is not what the host makes; if that is meant: \
         BLESS=1 cargo test -p bispectral-tests --test firmware checked_in"
    );
}

#[test]
fn the_checked_in_model_is_what_the_host_exports() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (w, model) = (
        folder.path().join("turn.npy"),
        folder.path().join("turn.bsn"),
    );
    let shape = [example::ROWS as u64, example::INPUTS as u64];
    let mut bytes = header(Element::Complex64, shape);
    for value in example::characters() {
        bytes.extend([value.re, value.im].map(f32::to_le_bytes).concat());
    }
    fs::write(&w, bytes).expect("a new file");

    // As `bispectral import turn.npy -o turn.bsn --group Z64 --quiet` does it.
    let (w, model) = (w.to_str().expect("UTF-8"), model.to_str().expect("UTF-8"));
    let import = [
        "bispectral",
        "import",
        w,
        "-o",
        model,
        "--group",
        "Z64",
        "--quiet",
    ];
    bispectral::run(&Arguments::parse_from(import)).expect("an exported model");

    let bytes = fs::read(model).expect("the exported model");
    assert_checked_in("turn.bsn", &bytes);
    let model = Model::from_bytes(&bytes).expect("a sound model");
    assert_checked_in("reference.bin", &example::reference(&model));
}

/// A model of a group that the estimate was not solved for, in every form, each with its name.
fn forms_of(group: &str) -> Vec<(String, Vec<u8>)> {
    let group: Group = group.parse().expect("a group");
    let w = group
        .characters()
        .mapv(|w| Complex32::new(w.re as f32, w.im as f32));
    let bytes = encode_array(&w.view(), "", None).expect("a model");
    let model = Model::from_bytes(&bytes).expect("a sound model");
    let source = Source::new(Path::new("model"), &model);
    let cyclic = source.cyclic().expect("a group");
    let few = selective(cyclic.identification(), 1);
    let lists = [("full", None), ("selective", Some(few))];
    let choices = Choices {
        encoding: None,
        structure: None,
        pairs: lists.map(|(name, list)| (name.into(), list)).to_vec(),
    };
    let forms = choices.forms(&source).into_iter();
    forms
        .map(|(form, pairs)| {
            let name = format!("{group} {} {} {pairs}", form.structure, form.encoding);
            (name, source.form(&form, None).expect("this form"))
        })
        .collect()
}

#[test]
fn every_form_has_the_hosts_bits_and_about_the_instructions_that_are_estimated() {
    let m4f = &BOARDS[0];
    m4f.build().expect("firmware");
    let mut wrong = Vec::new();
    for (form, bytes) in ["Z4xZ12", "Z3xZ15", "Z128"].into_iter().flat_map(forms_of) {
        let model = Model::from_bytes(&bytes).expect("a sound model");
        let counted = m4f.count(&bytes).expect("room for it");
        let expected = example::checksum(&model, &device::signal(model.inputs()));
        assert_eq!(counted.checksum, expected, "{form}");
        let instructions = counted.instructions.expect("counted") as f64;
        let off = estimate(&model) as f64 / instructions - 1.0;
        let line = format!(
            "{form}: {instructions}, estimate off by {:.1} %",
            100.0 * off
        );
        println!("{line}");
        wrong.extend((off.abs() > MARGIN).then_some(line));
        let most = Sizes::of(&bytes).expect("sizes").stack;
        if counted.stack > most {
            wrong.push(format!(
                "{form}: a stack of {}, STACK is {most}",
                counted.stack
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
