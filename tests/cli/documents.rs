//! The documents' commands, run in the order they stand: a newcomer types them so.

use crate::characters::{characters, complex_npy};
use crate::skip::skipped;
use crate::{Folder, Order, Random, f64s, npy};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const N: usize = 16;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The blocks of indented lines of a document, of those that begin with a command of this program.
fn blocks(document: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(repository().join(document)).unwrap();
    let (mut blocks, mut fenced) = (vec![Vec::new()], false);
    for line in text.lines() {
        fenced ^= line.starts_with("```");
        match line.strip_prefix("    ").filter(|_| !fenced) {
            Some(line) => blocks.last_mut().unwrap().push(line.to_owned()),
            None => blocks.push(Vec::new()),
        }
    }
    blocks.retain(|block| !block.is_empty());
    blocks
}

/// The command of a line, without the program's name and what is said of it.
fn command(line: &str) -> Option<&str> {
    let command = line.strip_prefix("bispectral ")?;
    Some(command.split("  #").next().unwrap_or(command).trim_end())
}

/// What the README's commands are given: samples with orbits, shapes, photographs, a W, signals with states.
fn data(folder: &Folder) {
    let mut random = Random(17);
    let shapes: Vec<Vec<f64>> = (0..20).map(|_| random.values(N)).collect();
    let moved = |shape: &[f64], by: usize| (0..N).map(|n| shape[(n + by) % N]).collect::<Vec<_>>();
    let orbits = (0..12 * N).flat_map(|at| moved(&shapes[at / N], at % N));
    let array = |shape: &str, values: Vec<f64>| npy("'<f8'", Order::C, shape, f64s(values));
    folder.write(
        "X.npy",
        array(&format!("({}, {N})", 12 * N), orbits.collect()),
    );
    let labels = (0..12 * N).map(|at| (at / N) as f64);
    folder.write("y.npy", array(&format!("({},)", 12 * N), labels.collect()));
    folder.write("shapes.npy", array(&format!("(20, {N})"), shapes.concat()));
    folder.write("W.npy", complex_npy(&characters(&[8])));
    fs::create_dir(folder.path("photographs")).unwrap();
    let natural = repository().join("host/run/data/natural");
    for name in ["alps.png", "grass.png"] {
        fs::copy(natural.join(name), folder.path("photographs").join(name)).unwrap();
    }
    for (count, signals, states) in [
        (90, "signals.csv", "states.csv"),
        (30, "new.csv", "new-states.csv"),
    ] {
        let (mut x, mut y) = (String::new(), String::from("state\n"));
        for at in 0..count {
            let start = random.next();
            let wave = |n: usize| {
                let t = (n as f64 / 32.0 + start) * std::f64::consts::TAU;
                let phase = [0.0, 1.5, 0.0][at % 3];
                t.sin() + 0.5 * (2.0 * t + phase).sin() + [0.0, 0.0, 0.4][at % 3] * (3.0 * t).sin()
            };
            let line: Vec<String> = (0..32).map(|n| format!("{:.4}", wave(n))).collect();
            x += &(line.join(",") + "\n");
            let _ = writeln!(y, "{}", ["good", "worn", "loose"][at % 3]);
        }
        folder.write(signals, x);
        folder.write(states, y);
    }
}

/// What makes a command quick that would take minutes: the same, but of fewer steps.
const QUICK: [(&str, &str); 4] = [
    (
        "--transform rotate",
        "--size 8 --rows 8 --exemplars 20 --phases second-order --steps 30",
    ),
    ("attack ", "--steps 3 --restarts 0"),
    ("compare ", "--draws 1"),
    ("classify train", "--epochs 3"),
];

#[test]
fn the_commands_of_the_readme_run_in_the_order_they_stand() {
    let folder = Folder::new();
    data(&folder);
    let all = blocks("README.md");
    let lines: Vec<&str> = (all.iter().flatten())
        .filter_map(|line| command(line))
        .collect();
    for line in &lines {
        let quick = QUICK.iter().filter(|(of, _)| line.contains(of));
        let flags: Vec<&str> = quick.map(|(_, flags)| *flags).collect();
        folder.succeed(&format!("{line} {}", flags.join(" ")));
    }
    // What a newcomer should have met.
    for command in [
        "train",
        "group",
        "features",
        "model",
        "export",
        "compare",
        "budget",
        "firmware",
        "classify fit",
        "classify predict",
    ] {
        assert!(
            lines.iter().any(|line| line.starts_with(command)),
            "{command}"
        );
    }
    assert!(
        folder
            .read("found.csv")
            .starts_with(b"label\ngood\nworn\nloose\n")
    );
}

/// A line without what differs from machine to machine: the microseconds of the table of `compare`.
fn without_times(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    match line.contains(" ± ") && words.len() > 2 {
        true => [&words[..words.len() - 2], &words[words.len() - 1..]]
            .concat()
            .join(" "),
        false => words.join(" "),
    }
}

#[test]
fn the_tutorial_prints_what_it_says_and_draws_its_pictures() {
    let folder = Folder::new();
    let text = fs::read_to_string(repository().join("docs/tutorial.md")).unwrap();
    let program = text.split("```python\n").nth(1).unwrap();
    folder.write("motor.py", program.split("```").next().unwrap());
    let python = Command::new("python3")
        .arg("motor.py")
        .current_dir(folder.path(""))
        .status();
    match python {
        Ok(status) => assert!(status.success(), "motor.py"),
        Err(_) => return skipped("python3", "install it: the tutorial makes its data with it"),
    }
    let mut said: Option<(String, Vec<String>)> = None;
    let mut compared = 0;
    for block in blocks("docs/tutorial.md") {
        if let Some((line, printed)) = said.take_if(|_| command(&block[0]).is_none()) {
            let printed: Vec<String> = printed.iter().map(|line| without_times(line)).collect();
            let shown: Vec<String> = block.iter().map(|line| without_times(line)).collect();
            assert_eq!(printed, shown, "{line}");
            compared += 1;
        }
        for line in block.iter().filter_map(|line| command(line)) {
            let (code, printed, errors) = folder.run(line);
            assert_eq!(code, Some(0), "{line}: {errors}");
            let lines = errors.lines().filter(|line| line.starts_with("note: "));
            let lines = lines.chain(printed.lines()).map(str::to_owned);
            said = Some((line.to_owned(), lines.collect()));
        }
    }
    assert!(compared >= 4, "{compared}");
    let pictures = text.split("](tutorial/").skip(1);
    let pictures: Vec<&str> = pictures.filter_map(|rest| rest.split(')').next()).collect();
    assert!(pictures.len() >= 4, "{pictures:?}");
    for picture in pictures {
        folder.assert_picture(&format!("motor-report/{picture}"));
        let kept = fs::read(repository().join("docs/tutorial").join(picture)).unwrap();
        let drawn = folder.read(&format!("motor-report/{picture}"));
        assert!(
            kept == drawn,
            "docs/tutorial/{picture} is not what is drawn"
        );
    }
}
