//! What `bispectral firmware` writes: every board's program in every language is generated, built and, where QEMU has the board, run;
//! it prints the host's bits. And what `bispectral budget` said before agrees with what was linked.

use bispectral::Arguments;
use bispectral_learn::model::budget::Budget;
use bispectral_learn::model::emit::Exported;
use bispectral_learn::model::firmware::{BOARDS, Board};
use bispectral_tests::repository;
use clap::Parser;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// How far a budget may be off.
const MARGIN: f64 = 0.05;
/// The most lines of a program's own file.
const LINES: usize = 40;

/// Kinds that differ in code, buffers and call: all features, a classifier, whole numbers.
fn model(board: &Board) -> PathBuf {
    let seed = |name: &str| repository().join("core/fuzz/seeds/model").join(name);
    match board.name {
        "cortex-m4f" => repository().join("firmware-example/model/turn.bsn"),
        "cortex-m0" => seed("head-fft.bsn"),
        "cortex-m33" => seed("z42-fft.bsn"),
        "rv32" => seed("head-i32.bsn"),
        _ => seed("z42-dense-i8.bsn"),
    }
}

/// Writes the program around a board's model, as `bispectral firmware` does.
fn written(board: &Board, language: &str, folder: &Path) {
    let [model, folder] = [&model(board), folder].map(|path| path.display().to_string());
    let line = ["bispectral", "firmware", &model, "-o", &folder];
    let more = ["--board", board.name, "--lang", language, "--quiet"];
    let arguments = Arguments::parse_from(line.into_iter().chain(more));
    bispectral::run(&arguments).expect("a program");
}

/// Runs a command in a program's folder; what is built is kept for the next time.
fn run(folder: &Path, command: &str, arguments: &[&str]) -> Output {
    let target = repository().join("target/boards");
    fs::create_dir_all(&target).expect("a folder for what is built");
    let target = target.canonicalize().expect("its path");
    let mut command = Command::new(command);
    command.args(arguments).current_dir(folder);
    command.env("CARGO_TARGET_DIR", target);
    let output = command.output().expect("it starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", folder.display());
    output
}

/// Flash and RAM that a program says it takes when it has run.
fn said(errors: &str) -> [usize; 2] {
    let line = errors
        .lines()
        .find(|line| line.starts_with("flash "))
        .unwrap_or_else(|| panic!("no line of flash in\n{errors}"));
    let mut numbers = line.split_whitespace().filter_map(|word| word.parse().ok());
    [numbers.next(), numbers.next()].map(|number| number.expect("a number"))
}

/// Bytes that are loaded into flash: the sections of an ELF file of 32 bits that have bytes and an address.
fn loaded(elf: &[u8]) -> usize {
    let word = |at: usize| u32::from_le_bytes(elf[at..at + 4].try_into().expect("four"));
    let half =
        |at: usize| usize::from(u16::from_le_bytes(elf[at..at + 2].try_into().expect("two")));
    let (table, entry, count) = (word(32) as usize, half(46), half(48));
    let sections = (0..count).map(|number| table + number * entry);
    // Kind 1: the program's; flag 2: it has memory.
    let sections = sections.filter(|at| word(at + 4) == 1 && word(at + 8) & 2 != 0);
    sections.map(|at| word(at + 20) as usize).sum()
}

#[test]
fn every_boards_program_is_short_builds_runs_and_takes_what_the_budget_says() {
    for board in &BOARDS {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = folder.path().join("program");
        written(board, "rust", &folder);
        let read = |name: &str| fs::read_to_string(folder.join(name)).expect("a file");
        assert!(
            read("src/main.rs").lines().count() <= LINES,
            "{}",
            board.name
        );
        let config = read(".cargo/config.toml");
        assert!(config.contains("probe-rs run --chip "), "{config}");
        assert_eq!(config.contains("qemu-system-"), board.emulator.is_some());

        let bytes = fs::read(model(board)).expect("a model");
        let exported = Exported::new(&bytes).expect("a sound model");
        let budget = Budget::of(&exported, board, 4).expect("a kind that is known");
        let (flash, ram) = (budget.flash.total_bytes, budget.ram.total_bytes);
        let pairs = if board.emulator.is_some() {
            let output = run(&folder, env!("CARGO"), &["run", "--quiet", "--release"]);
            let expected = fs::read(folder.join("expected.txt")).expect("a file");
            assert!(output.stdout == expected, "{}: other bits", board.name);
            let linked = said(&String::from_utf8_lossy(&output.stderr));
            vec![(flash, linked[0]), (ram, linked[1])]
        } else {
            run(&folder, env!("CARGO"), &["build", "--quiet", "--release"]);
            let program = format!("{}/release/bispectral-{}", board.target, board.name);
            let elf = repository().join("target/boards").join(program);
            vec![(flash, loaded(&fs::read(elf).expect("a linked program")))]
        };
        for (predicted, linked) in pairs {
            let off = predicted as f64 / linked as f64 - 1.0;
            println!(
                "{}: {predicted}, linked {linked}, off by {:.1} %",
                board.name,
                100.0 * off
            );
            assert!(
                off.abs() <= MARGIN,
                "{}: {predicted}, linked {linked}",
                board.name
            );
        }
    }
}

#[test]
fn programs_in_c_have_the_hosts_bits() {
    for board in BOARDS.iter().filter(|board| board.has_c()) {
        // One of each processor: the board file is the only other difference.
        if board.name == "stm32f405" {
            continue;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = folder.path().join("program");
        written(board, "c", &folder);
        // The library is looked for beside the program.
        let make = |arguments: &[&str]| {
            let output = Command::new("make")
                .args(arguments)
                .current_dir(&folder)
                .output();
            let output = output.expect("make starts");
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {errors}", board.name);
            // QEMU writes what a program says by SYS_WRITE0 to one of the two, by its version.
            [output.stdout, output.stderr].concat()
        };
        make(&[]);
        let expected = fs::read_to_string(folder.join("expected.txt")).expect("a file");
        let printed = make(&["-s", "run"]);
        let printed = String::from_utf8_lossy(&printed);
        assert!(printed.ends_with(&expected), "{}: {printed}", board.name);
    }
}
