//! Folders and files that are written to: by one command at a time, all old or all new, and never one's own input.

use crate::classify::{SMALL, shapes};
use crate::{Folder, Order, f64s, npy};
use std::fs;
use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

/// A run of some seconds, which nothing cuts short.
const STEADY: &str = "polish = false
restarts = 0
[data]
group = \"Z20\"
noise = 0.5
[[phase]]
loss = \"second-order\"
steps = 60000
tolerance = 0.0
stall = 0
";

/// Begins a command, and waits until there is such a file.
fn begin(folder: &Folder, arguments: &str, file: &str) -> Child {
    let mut child = folder.command(arguments).spawn().unwrap();
    while !folder.path(file).exists() {
        assert!(child.try_wait().unwrap().is_none(), "{arguments}: it ended");
        sleep(Duration::from_millis(2));
    }
    child
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_second_training_in_a_folder_is_refused_until_the_first_is_gone() {
    let folder = Folder::new();
    folder.write("steady.toml", STEADY);
    folder.succeed("model --group Z4 -o z4.bsn");
    let child = begin(
        &folder,
        "train steady.toml -o run --quiet",
        "run/config.toml",
    );
    let busy = "run: another command is writing in this folder: wait until it is done, ";
    folder.refuse_with("train --group Z4 -o run --force", busy);
    folder.refuse_with("train --resume run", busy);
    folder.refuse_with("firmware z4.bsn -o run --force", busy);
    kill(child);
    folder.succeed("train --group Z4 -o run --force --quiet");
    assert_eq!(folder.object("inspect run")["inputs"], 4);
}

#[test]
fn an_old_run_stays_until_the_new_one_is_finished() {
    let folder = Folder::new();
    folder.write("steady.toml", STEADY);
    folder.succeed("train --group Z4 -o run --quiet");
    let files = [
        "model.bsn",
        "W.npy",
        "config.toml",
        "metrics.jsonl",
        "results.json",
    ];
    let read = || files.map(|file| folder.read(&format!("run/{file}")));
    let old = read();
    let staged = "run/bispectral-replacement/config.toml";
    let child = begin(&folder, "train steady.toml -o run --force --quiet", staged);
    assert!(read() == old);
    kill(child);
    assert!(read() == old);
    folder.succeed("group run --expect Z4");
    folder.write(staged, STEADY.replace("60000", "30"));
    folder.succeed("train --resume run --quiet");
    assert_eq!(folder.object("inspect run")["inputs"], 20);
    assert!(!folder.path("run/bispectral-replacement").exists());
    // What fails for good leaves the old one, and nothing else.
    let new = read();
    let (code, _, _) =
        folder.run("train --group Z4 --phases second-order --lr 1e300 -o run --force");
    assert_eq!(code, Some(1));
    assert!(read() == new);
    assert!(!folder.path("run/bispectral-replacement").exists());
}

#[test]
fn no_command_overwrites_what_it_reads() {
    let folder = Folder::new();
    folder.succeed("train --group Z4 -o run --quiet");
    let samples = npy(
        "'<f8'",
        Order::C,
        "(3, 4)",
        f64s((0..12).map(|k| f64::from(k * k % 7))),
    );
    folder.write("X.npy", &samples);
    folder.write("run/W.npy", &samples);
    for (arguments, input) in [
        (
            "train --data run/W.npy --transform translate1d -o run --force",
            "run/W.npy",
        ),
        ("train run/config.toml -o run --force", "run/config.toml"),
        ("features run X.npy -o X.npy --force", "X.npy"),
        (
            "features run/model.bsn X.npy -o run/model.bsn --force",
            "run/model.bsn",
        ),
        ("export run -o run/model.bsn --force", "run/model.bsn"),
        ("import X.npy -o X.npy --force", "X.npy"),
    ] {
        let line = folder.refuse(arguments);
        let refusal = format!("{input}: it is read, and would be overwritten: ");
        assert!(line.contains(&refusal), "{arguments}: {line}");
    }
    assert!(folder.read("run/W.npy") == samples);
}

#[test]
fn no_signals_labels_or_classifier_are_overwritten_by_what_is_made_of_them() {
    let folder = Folder::new();
    shapes(&folder);
    folder.succeed(&format!(
        "classify train z8.bsn --data X.csv --labels y.csv -o c {SMALL}"
    ));
    folder.succeed("train --group Z4 -o run --quiet");
    folder.succeed("firmware z8.bsn -o program");
    folder.write("program/expected.txt", folder.read("X.csv"));
    for (arguments, input) in [
        ("classify fit --data X.csv --labels y.csv -o X.csv", "X.csv"),
        ("classify fit --data X.csv --labels y.csv -o y.csv", "y.csv"),
        (
            "classify predict c X.csv -o c/classifier.bin",
            "c/classifier.bin",
        ),
        ("classify export c -o c/classifier.bin", "c/classifier.bin"),
        (
            "classify train c/model.bsn --data X.csv --labels y.csv -o c",
            "c/model.bsn",
        ),
        (
            "export z8.bsn --pairs best:4 --data X.csv --labels y.csv -o X.csv",
            "X.csv",
        ),
        (
            "export z8.bsn --pairs best:4 --data X.csv --labels y.csv -o y.csv",
            "y.csv",
        ),
        (
            "firmware z8.bsn -o program --data program/expected.txt",
            "program/expected.txt",
        ),
        ("firmware program/model.bsn -o program", "program/model.bsn"),
        ("group run --polish run/model.bsn", "run/model.bsn"),
        ("report run -o run/metrics.jsonl", "run/metrics.jsonl"),
    ] {
        let before = folder.read(input);
        let line = folder.refuse(&format!("{arguments} --force"));
        let refusal = format!("{input}: it is read, and would be overwritten: ");
        assert!(line.contains(&refusal), "{arguments}: {line}");
        assert!(folder.read(input) == before, "{arguments}");
    }
}

#[test]
fn neither_a_classifier_nor_a_program_takes_the_place_of_a_run() {
    let folder = Folder::new();
    shapes(&folder);
    folder.succeed("train --group Z4 -o run --quiet");
    let files = || ["run/model.bsn", "run/results.json"].map(|file| folder.read(file));
    let before = files();
    let line = format!("classify train z8.bsn --data X.csv --labels y.csv -o run {SMALL}");
    let holds = "run: the folder holds a model or results, and no classifier: ";
    folder.refuse_with(&line, holds);
    folder.refuse_with(&format!("{line} --force"), holds);
    folder.refuse_with(
        "firmware z8.bsn -o run --force",
        "run: the folder holds a model, and no program: ",
    );
    assert!(files() == before);
}

#[test]
fn going_on_with_a_run_takes_no_other_choices() {
    let folder = Folder::new();
    folder.succeed("train --group Z4 -o run --quiet");
    for flag in [
        "--noise 0.1",
        "--rows 3",
        "--steps 5",
        "--labels y.npy",
        "--centre",
        "--no-polish",
    ] {
        let (code, _, line) = folder.run(&format!("train --resume run {flag}"));
        assert_eq!(code, Some(2), "{flag}: {line}");
    }
    folder.refuse_with(
        "train --resume run --seed 5",
        "--seed: 5, where the run was begun with 0: ",
    );
    folder.succeed("train --resume run --seed 0 --threads 2 --quiet");
}

#[test]
fn metrics_that_were_cut_go_on_behind_the_last_whole_line() {
    let folder = Folder::new();
    folder.succeed("train --group Z6 --no-polish --restarts 0 --phases second-order --steps 200 -o run --quiet");
    let whole = folder.read("run/metrics.jsonl");
    folder.write("run/metrics.jsonl", &whole[..whole.len() / 2]);
    let (code, _, said) = folder.run("train --resume run");
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("metrics.jsonl: it was cut, and goes on behind the last whole line"),
        "{said}"
    );
    let text = String::from_utf8(folder.read("run/metrics.jsonl")).unwrap();
    assert!(!text.is_empty() && !text.contains('\0'));
    for line in text.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
}

#[test]
fn a_classifier_knows_its_model() {
    let folder = Folder::new();
    shapes(&folder);
    folder.succeed(&format!(
        "classify train z8.bsn --data X.csv --labels y.csv -o c {SMALL}"
    ));
    folder.succeed("classify predict c X.csv -o found.csv");
    let own = folder.read("c/model.bsn");
    folder.succeed("export z8.bsn -o halves.bsn --encoding f16");
    folder.write("c/model.bsn", folder.read("halves.bsn"));
    for command in ["predict c X.csv -o other.csv", "export c -o device.bsn"] {
        folder.refuse_with(
            &format!("classify {command}"),
            "c/classifier.bin: it was trained on another model than the one beside it: ",
        );
    }
    folder.write("c/model.bsn", own);
    folder.succeed("classify predict c X.csv -o again.csv");
    assert_eq!(folder.read("again.csv"), folder.read("found.csv"));
}

#[test]
fn what_a_killed_command_left_half_written_goes_with_the_next() {
    let folder = Folder::new();
    folder.succeed("train --group Z4 -o run --quiet");
    folder.write(".bispectral-Ab3.tmp", "half");
    folder.write("run/.bispectral-Cd4.tmp", "half");
    folder.succeed("export run -o small.bsn");
    folder.succeed("train --resume run --quiet");
    for name in [".bispectral-Ab3.tmp", "run/.bispectral-Cd4.tmp"] {
        assert!(!folder.path(name).exists(), "{name}");
    }
}

#[test]
fn an_experiment_that_was_killed_goes_on() {
    let folder = Folder::new();
    let child = begin(
        &folder,
        "reproduce rotation --quick -o out --quiet",
        "out/run/checkpoint.bin",
    );
    kill(child);
    folder.refuse_with(
        "reproduce rotation --quick -o out",
        "out: the folder is not empty: ",
    );
    let object = folder.object("reproduce rotation --quick -o out --resume --quiet");
    assert_eq!(object["experiment"], "rotation");
    let checkpoint = folder.read("out/run/checkpoint.bin");
    let again = folder.object("reproduce rotation --quick -o out --resume --quiet");
    assert_eq!(again["rows"], object["rows"]);
    assert_eq!(folder.read("out/run/checkpoint.bin"), checkpoint);
    assert!(fs::read_dir(folder.path("out")).unwrap().count() > 3);
}
