//! A model of couplings in every command: the octahedral group on its 24 elements.

use crate::Folder;
use crate::classify::SMALL;
use crate::octahedral;
use bispectral_learn::model::couplings::encode;
use bispectral_learn::model::form::Encoding;
use serde_json::json;
use std::fmt::Write as _;

/// The model `o.bsn`, and three shapes on its elements, each moved by every rotation, in `X.csv` and `y.csv`.
fn shapes(folder: &Folder) {
    let couplings = octahedral::couplings();
    let bytes = encode(&couplings, Encoding::F32, "octahedral", Some("S4")).unwrap();
    folder.write("o.bsn", bytes);
    let (mut samples, mut labels) = (String::new(), String::new());
    for at in 0..240_usize {
        let shape = |n: usize| (n * n * 7 + (at % 3 + 2) * n * 5 + 11) % 19;
        let moved = octahedral::moved_by(at / 3 % octahedral::ORDER);
        for (k, n) in moved.into_iter().enumerate() {
            // A little that differs from sample to sample.
            let noise = (at * 7 + n * 13) % 11;
            let comma = if k + 1 < octahedral::ORDER { "," } else { "\n" };
            let _ = write!(samples, "{}.{noise:02}{comma}", shape(n));
        }
        let _ = writeln!(labels, "{}", [-7, 4, 1000][at % 3]);
    }
    folder.write("X.csv", samples);
    folder.write("y.csv", labels);
}

#[test]
fn it_is_inspected_exported_and_its_features_are_those_of_the_group() {
    let folder = Folder::new();
    shapes(&folder);
    let inspected = folder.object("inspect o.bsn");
    assert_eq!(inspected["structure"], "couplings");
    assert_eq!(inspected["pairs"], 149);
    assert_eq!(inspected["selective"], 24);
    assert!(
        folder
            .succeed("inspect o.bsn")
            .contains("the first 24 a selective set")
    );

    for encoding in ["f32", "f16", "i8"] {
        let line =
            format!("export o.bsn -o few.bsn --pairs selective --encoding {encoding} --force");
        let exported = folder.object(&line);
        assert_eq!(exported["pairs"], 24);
        let off = exported["largest_error"].as_f64().unwrap();
        assert!((0.0..1e-3).contains(&off), "{encoding}: {off}");
        assert_eq!(folder.object("inspect few.bsn")["encoding"], encoding);
    }
    folder.succeed("export o.bsn -o same.bsn");
    assert_eq!(folder.read("same.bsn"), folder.read("o.bsn"));
    for (kind, name) in [("rust", "m.rs"), ("c", "m.h")] {
        folder.succeed(&format!(
            "export o.bsn -o {name} --emit {kind} --pairs selective"
        ));
        let text = String::from_utf8(folder.read(name)).unwrap();
        assert!(text.contains("24 inputs, 24 rows, 24 invariants"), "{text}");
    }
    let best =
        folder.object("export o.bsn -o best.bsn --pairs best:10 --data X.csv --labels y.csv");
    assert_eq!(best["pairs"], 10);
    let limits = "--fit flash=1K,ram=1K,instructions=15K --data X.csv --labels y.csv";
    let fitted = folder.object(&format!("export o.bsn -o fit.bsn {limits}"));
    assert_eq!(fitted["pairs"], 24);
    assert!(fitted["flash_bytes"].as_u64().unwrap() <= 1024);

    let features = folder.object("features o.bsn X.csv -o f.csv");
    assert_eq!(features["samples"], 240);
    let text = String::from_utf8(folder.read("f.csv")).unwrap();
    let row = |at: usize| -> Vec<f32> {
        let line = text.lines().nth(at + 1).unwrap();
        line.split(',').map(|x| x.parse().unwrap()).collect()
    };
    let distance = |a: usize, b: usize| -> f32 {
        row(a)
            .iter()
            .zip(row(b))
            .map(|(a, b)| (a - b).powi(2))
            .sum::<f32>()
            .sqrt()
    };
    assert!(distance(0, 3) < 0.1 * distance(0, 1));
}

#[test]
fn it_is_attacked_and_what_it_cannot_do_is_said_in_one_line() {
    let folder = Folder::new();
    shapes(&folder);
    let first = String::from_utf8(folder.read("X.csv")).unwrap();
    folder.write(
        "few.csv",
        first
            .lines()
            .take(2)
            .fold(String::new(), |all, line| all + line + "\n"),
    );
    let attacked = folder.object("attack o.bsn few.csv -o a --steps 400 --restarts 0");
    assert_eq!(attacked["features"], "couplings");
    assert_eq!(attacked["numbers"], 149);
    assert_eq!(attacked["targets"], 2);

    folder.refuse_with(
        "attack o.bsn few.csv -o b --features power",
        "o.bsn: the squares of the rows",
    );
    folder.refuse_with(
        "export o.bsn -o x.bsn --structure dense",
        "o.bsn: its invariants are couplings",
    );
    folder.refuse_with(
        "export o.bsn -o x.bsn --pairs selective:2",
        "o.bsn: couplings know one selective set",
    );
    folder.refuse_with(
        "export o.bsn -o x.bsn --fit flash=1K",
        "o.bsn: no group is recognised",
    );
    folder.succeed("export o.bsn -o ten.bsn --pairs best:10 --data X.csv --labels y.csv");
    folder.refuse_with(
        "export ten.bsn -o x.bsn --pairs selective",
        "ten.bsn: nobody knows which",
    );
    folder.succeed("features o.bsn few.csv -o f.npy");
    folder.refuse_with("invert o.bsn f.npy -o x.npy", "o.bsn: a model of couplings");
    folder.refuse_with("group o.bsn", "o.bsn: a model of couplings");
}

#[test]
fn a_classifier_stands_behind_it() {
    let folder = Folder::new();
    shapes(&folder);
    let small = SMALL.replace("--components 6", "--components 12");
    let line = format!("classify train o.bsn --data X.csv --labels y.csv -o c {small}");
    assert_eq!(folder.object(&line)["trained"]["accuracy"], 1.0);
    let evaluated = folder.object("classify evaluate c --data X.csv --labels y.csv");
    assert_eq!(evaluated["accuracy"], 1.0);
    for encoding in ["f32", "i8"] {
        folder.succeed(&format!(
            "classify export c -o {encoding}.bsn --encoding {encoding}"
        ));
        let inspected = folder.object(&format!("inspect {encoding}.bsn"));
        assert_eq!(
            (&inspected["classes"], &inspected["pairs"]),
            (&json!(3), &json!(149))
        );
    }
    folder.succeed("classify predict c X.csv -o p.csv");
    let predicted = String::from_utf8(folder.read("p.csv")).unwrap();
    let expected = String::from_utf8(folder.read("y.csv")).unwrap();
    let right = predicted.lines().rev().zip(expected.lines().rev());
    assert_eq!(
        right.filter(|(a, b)| a.ends_with(b)).count(),
        240,
        "{predicted}"
    );
}
