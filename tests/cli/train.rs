//! `bispectral train`: from orbits to a model, interrupted or not.

use crate::{Folder, Order, Random, f64s, npy};
use serde_json::Value;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Files that must not depend on threads or interruptions.
const RESULTS: [&str; 5] = [
    "model.bsn",
    "W.npy",
    "metrics.jsonl",
    "config.toml",
    "checkpoint.bin",
];

/// A run of several seconds: two attempts at signals so noisy that no convergence and no group cuts them short.
const LONG: &str = "seed = 3
split = \"transforms\"
restarts = 1
polish = false
[data]
group = \"Z20\"
noise = 0.5
[[phase]]
loss = \"spectral\"
steps = 300
tolerance = 0.0
stall = 0
[[phase]]
loss = \"second-order\"
steps = 4000
tolerance = 0.0
[[phase]]
loss = \"orbit-separation\"
steps = 12000
tolerance = 0.0
";

fn within(object: &Value) -> f64 {
    object["within"].as_f64().unwrap()
}

#[test]
fn held_out_functions_on_small_groups_have_exact_invariants_for_every_seed() {
    let folder = Folder::new();
    for group in ["Z8", "Z4xZ2", "Z16"] {
        for seed in 0..5 {
            let object = folder.object(&format!(
                "train --group {group} -o {group}-{seed} --seed {seed}"
            ));
            assert!(within(&object) < 1e-6, "{group}, seed {seed}: {object}");
            assert_eq!(object["nearest"], 1.0, "{group}, seed {seed}: {object}");
            assert_eq!(object["group"]["name"], group, "seed {seed}: {object}");
            assert!(
                object["reconstruction"].as_f64().unwrap() < 1e-6,
                "{object}"
            );
        }
    }
}

/// Waits for another checkpoint than `last`, then for a random part of a second; false where the run ends before.
fn wait_for_checkpoint(
    folder: &Folder,
    child: &mut Child,
    last: &[u8],
    random: &mut Random,
) -> bool {
    let path = folder.path("killed/checkpoint.bin");
    while std::fs::read(&path).map_or(true, |found| found == last) {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        sleep(Duration::from_millis(5));
    }
    sleep(Duration::from_secs_f64(0.4 * (random.next() + 1.0)));
    child.try_wait().unwrap().is_none()
}

#[test]
fn a_run_that_is_killed_at_random_moments_ends_with_the_same_bits() {
    let folder = Folder::new();
    folder.write("long.toml", LONG);
    folder.succeed("train long.toml -o whole --quiet");

    let mut random = Random(11);
    let mut child = folder
        .command("train long.toml -o killed --quiet")
        .spawn()
        .unwrap();
    // Once before there is any checkpoint.
    while !folder.path("killed/config.toml").exists() {
        sleep(Duration::from_millis(1));
    }
    let mut last = Vec::new();
    let mut kills = 0;
    loop {
        child.kill().unwrap();
        child.wait().unwrap();
        child = folder
            .command("train --resume killed --quiet")
            .spawn()
            .unwrap();
        if kills == 3 || !wait_for_checkpoint(&folder, &mut child, &last, &mut random) {
            break;
        }
        last = folder.read("killed/checkpoint.bin");
        kills += 1;
    }
    assert!(child.wait().unwrap().success());
    assert!(kills >= 2, "killed {kills} times after a checkpoint");
    for file in RESULTS {
        let (whole, killed) = (
            folder.read(&format!("whole/{file}")),
            folder.read(&format!("killed/{file}")),
        );
        assert!(whole == killed, "{file} differs after {kills} kills");
    }
    let mut files = std::fs::read_dir(folder.path("killed")).unwrap();
    assert!(files.all(|file| !file.unwrap().file_name().to_string_lossy().starts_with('.')));
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let folder = Folder::new();
    for threads in [1, 2, 8] {
        folder.succeed(&format!(
            "train --group Z4xZ3 --split transforms --noise 0.1 --no-polish --steps 100 --restarts 1 \
             --threads {threads} -o run-{threads} --quiet"
        ));
    }
    for file in RESULTS {
        let one = folder.read(&format!("run-1/{file}"));
        assert!(
            one == folder.read(&format!("run-2/{file}")),
            "{file}, 2 threads"
        );
        assert!(
            one == folder.read(&format!("run-8/{file}")),
            "{file}, 8 threads"
        );
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_saves_and_says_how_to_go_on() {
    let folder = Folder::new();
    folder.write("long.toml", LONG);
    let child = folder
        .command("train long.toml -o run --quiet")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !folder.path("run/metrics.jsonl").exists() {
        sleep(Duration::from_millis(20));
    }
    sleep(Duration::from_millis(300));
    let interrupt = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(interrupt.unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let line = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        line.trim_end(),
        "error: run: stopped, and saved: go on with `bispectral train --resume run`"
    );
    assert!(folder.path("run/checkpoint.bin").exists());
}

/// Six functions on Z6, each in its six shifts, with the shifts' order mixed up.
fn shifted(folder: &Folder, exemplars: usize) {
    let mut random = Random(5);
    let (mut samples, mut labels) = (Vec::new(), Vec::new());
    for orbit in 0..exemplars {
        let function: Vec<f64> = (0..6).map(|_| random.next()).collect();
        for shift in 0..6 {
            samples.extend((0..6).map(|n| function[(n + 5 * shift) % 6]));
            labels.push(orbit as i64 * 7 - 3);
        }
    }
    let count = labels.len();
    folder.write(
        "X.npy",
        npy("'<f8'", Order::C, &format!("({count}, 6)"), f64s(samples)),
    );
    let labels: Vec<u8> = labels
        .iter()
        .flat_map(|label| label.to_le_bytes())
        .collect();
    folder.write(
        "y.npy",
        npy("'<i8'", Order::C, &format!("({count},)"), labels),
    );
}

#[test]
fn a_users_labelled_samples_are_learned() {
    let folder = Folder::new();
    shifted(&folder, 60);
    let object = folder.object("train --data X.npy --labels y.npy -o run");
    assert!(within(&object) < 1e-6, "{object}");
    assert_eq!(object["group"]["name"], "Z6", "{object}");
    let inspected = folder.object("inspect run/model.bsn");
    assert_eq!(
        (&inspected["name"], &inspected["group"]),
        (&"X".into(), &"Z6".into())
    );
    // What the run reports is what anyone computes with the model: members of an orbit have the same invariants.
    folder.succeed("features run/model.bsn X.npy -o Y.npy");
    let bytes = folder.read("Y.npy");
    let invariants = &bytes[bytes.len() - 360 * 21 * 8..];
    let samples: Vec<Vec<f32>> = invariants
        .chunks_exact(21 * 8)
        .map(|sample| {
            sample
                .chunks_exact(4)
                .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
                .collect()
        })
        .collect();
    let distance =
        |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum() };
    for orbit in samples.chunks_exact(6) {
        assert!(
            orbit
                .iter()
                .all(|member| distance(member, &orbit[0]) < 1e-6)
        );
    }
    assert!(distance(&samples[0], &samples[6]) > 0.1);
}

#[test]
fn exemplars_and_a_named_transformation_are_learned() {
    let folder = Folder::new();
    let mut random = Random(9);
    let samples: Vec<f64> = (0..80 * 8).map(|_| random.next()).collect();
    folder.write("X.npy", npy("'<f8'", Order::C, "(80, 8)", f64s(samples)));
    let object = folder.object("train --data X.npy --transform translate1d -o run");
    assert!(within(&object) < 1e-6, "{object}");
}

#[test]
fn what_a_run_wrote_is_not_replaced_unasked() {
    let folder = Folder::new();
    folder.succeed("train --group Z3 --steps 20 -o run --quiet");
    let before = folder.read("run/model.bsn");
    let line = folder.refuse("train --group Z4 --steps 20 -o run");
    assert!(
        line.contains("holds another run") && line.contains("--force"),
        "{line}"
    );
    assert_eq!(folder.read("run/model.bsn"), before);
    folder.succeed("train --group Z4 --steps 20 -o run --force --quiet");
    assert_ne!(folder.read("run/model.bsn"), before);
}

#[test]
fn a_configuration_is_read_and_written_back_whole() {
    let folder = Folder::new();
    folder.write(
        "c.toml",
        "seed = 4\n[data]\ngroup = \"Z5\"\n[[phase]]\nloss = \"orbit-separation\"\nsteps = 30\n",
    );
    folder.succeed("train c.toml -o first --quiet");
    folder.succeed("train first/config.toml -o second --quiet");
    assert_eq!(
        folder.read("first/model.bsn"),
        folder.read("second/model.bsn")
    );
    folder.write("c.toml", "[data]\ngruop = \"Z5\"\n");
    folder.refuse_with(
        "train c.toml -o third",
        "c.toml: line 2: unknown field `gruop`: did you mean `group`?",
    );
}

#[test]
fn bad_data_is_refused_in_one_line_and_nothing_is_written() {
    let folder = Folder::new();
    shifted(&folder, 10);
    folder.write("short.npy", npy("'<i8'", Order::C, "(3,)", [0; 24]));
    folder.write(
        "nan.npy",
        npy(
            "'<f8'",
            Order::C,
            "(4, 2)",
            f64s([1.0, 2.0, f64::NAN, 1.0, 3.0, 4.0, 1.0, 0.0]),
        ),
    );
    folder.write("y4.npy", npy("'<i8'", Order::C, "(4,)", [0; 32]));
    folder.write(
        "flat.npy",
        npy(
            "'<f8'",
            Order::C,
            "(4, 2)",
            f64s([1.0, 2.0, 3.0, 3.0, 3.0, 4.0, 1.0, 0.0]),
        ),
    );
    let mut labels = vec![0_u8; 60 * 8];
    labels[59 * 8] = 9;
    folder.write("single.npy", npy("'<i8'", Order::C, "(60,)", labels));
    for (arguments, expected) in [
        ("--data X.npy --labels short.npy", "short.npy"),
        ("--data nan.npy --labels y4.npy", "nan.npy"),
        ("--data flat.npy --labels y4.npy", "flat.npy"),
        ("--data X.npy --labels single.npy", "9"),
        ("--data X.npy", "labels"),
        ("--data X.npy --transform rotate", "not images"),
        ("--group Z0", "Z0"),
        ("--group hexagon", "cyclic group"),
        ("--group Z4 --lr 0", "lr"),
        ("--group Z4 --steps 1,2,3,4,5", "--steps"),
        ("--group Z4 --noise=-1", "noise"),
        ("--group Z4 --noise nan", "noise"),
        ("--images .", "."),
    ] {
        let line = folder.refuse(&format!("train {arguments} -o run"));
        assert!(line.contains(expected), "{arguments}: {line}");
        assert!(!folder.path("run").exists(), "{arguments}");
    }
}

#[test]
fn a_run_that_diverges_stops_with_a_sentence_and_no_model() {
    let folder = Folder::new();
    for (flags, what) in [
        (
            "--lr 1e300",
            "error: phase 1, step 2: the loss is not finite: lower --lr",
        ),
        (
            "--gamma 1e30",
            "error: phase 2, step 1: the gradient has exploded: lower --lr",
        ),
    ] {
        let (code, _, line) =
            folder.run(&format!("train --group Z4 --phases second-order,orbit-separation --no-polish {flags} -o run --force --quiet"));
        assert_eq!(code, Some(1));
        assert!(
            line.starts_with(what) && line.lines().count() == 1,
            "{line}"
        );
        assert!(!folder.path("run/model.bsn").exists());
    }
}

#[test]
fn the_demo_learns_both_of_its_symmetries() {
    let folder = Folder::new();
    let object = folder.object("demo --quiet");
    assert!(folder.path("bispectral-demo/report.html").exists());
    for case in object["cases"].as_array().unwrap() {
        assert!(within(case) < 1e-5, "{case}");
        assert!(case["between"].as_f64().unwrap() > 1.0, "{case}");
        assert_eq!(case["nearest"], 1.0, "{case}");
    }
    assert_eq!(object["cases"].as_array().unwrap().len(), 2);
}

#[test]
fn a_checkpoint_that_does_not_belong_to_the_run_is_refused() {
    let folder = Folder::new();
    folder.succeed("train --group Z4 --steps 20 -o run --quiet");
    folder.succeed("train --group Z5 --steps 20 -o other --quiet");
    let own = folder.read("run/checkpoint.bin");
    folder.write("run/checkpoint.bin", folder.read("other/checkpoint.bin"));
    assert!(
        folder
            .refuse("train --resume run")
            .contains("5 by 5, the run has 4 by 4")
    );
    folder.write("run/checkpoint.bin", &own[..own.len() / 2]);
    assert!(
        folder
            .refuse("train --resume run")
            .contains("checkpoint.bin: ")
    );
    folder.write("run/checkpoint.bin", &own);
    let config = String::from_utf8(folder.read("run/config.toml")).unwrap();
    folder.write("run/config.toml", config.replace("seed = 0", "seed = 1"));
    assert!(
        folder
            .refuse("train --resume run")
            .contains("has changed since")
    );
    folder.refuse_with("train --resume nowhere", "nowhere: there is no run in it");
}
