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
    let inverted = folder.object("invert o.bsn f.npy -o x.npy");
    let residuals = inverted["residuals"].as_array().unwrap();
    assert_eq!((residuals.len(), &inverted["group"]), (2, &json!("S4")));
    for residual in residuals {
        // Rounding of 149 forms to f32.
        assert!(residual.as_f64().unwrap() < 1e-5, "{inverted}");
    }
    folder.refuse_with(
        "group o.bsn --polish p.bsn",
        "o.bsn: a model of couplings is exact already",
    );
}

#[test]
fn known_groups_are_models_without_data_and_their_names_are_proven() {
    let folder = Folder::new();
    for (name, inputs, expected) in [
        ("S3", 6, ["D3", "Z6"]),
        ("O", 24, ["S4", "SL(2,3)"]),
        ("A5", 60, ["I", "S5"]),
        ("D8", 16, ["D8", "Q16"]),
        ("Z7:Z3", 21, ["F21", "Z21"]),
    ] {
        let made = folder.object(&format!("model --group {name} -o m.bsn --force"));
        assert_eq!(
            (&made["inputs"], &made["incomplete"]),
            (&json!(inputs), &json!(false))
        );
        let [is, is_not] = expected;
        let group = folder.object(&format!("group m.bsn --expect {is}"));
        assert_eq!(
            (&group["proven"], &group["order"]),
            (&json!(true), &json!(inputs))
        );
        let sizes: usize = group["classes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|c| c.as_array().unwrap().len())
            .sum();
        assert_eq!(
            (sizes, group["input_orbits"].as_array().unwrap().len()),
            (inputs, 1)
        );
        let line = folder.refuse(&format!("group m.bsn --expect {is_not}"));
        assert!(line.contains(&format!(", not {is_not}: ")), "{line}");
    }
    let squares = folder.object("model --group D4 --on 9 -o d.bsn --permutations permutations.npy");
    assert_eq!(
        (&squares["order"], &squares["inputs"]),
        (&json!(8), &json!(9))
    );
    let words = folder.succeed("group d.bsn");
    assert!(
        words.contains("D4, 8 elements, proven by an isomorphism"),
        "{words}"
    );
    assert!(words.contains("1 of 1 input that stays"), "{words}");
    assert!(words.contains("of order 4: (0 2 8 6)(1 5 7 3)"), "{words}");

    folder.succeed("model --group Z16xZ16 -o z.bsn");
    assert_eq!(folder.object("inspect z.bsn")["structure"], "dense");
    folder.succeed("group z.bsn --expect Z16xZ16");
    folder.refuse_with("model --group E8 -o e.bsn", "group: \"E8\" is no group");
    folder.refuse_with(
        "model --group Q8 --on 5 -o e.bsn",
        "group: no action of Q8 on 5 inputs is known",
    );
}

#[test]
fn what_third_order_does_not_tell_apart_is_said() {
    let folder = Folder::new();
    let line = "model --group O --on 8 -o o8.bsn --force";
    let (_, _, said) = folder.run(line);
    assert!(said.contains("of fourth order tell them apart"), "{said}");
    let made = folder.object(line);
    assert_eq!(made["incomplete"], false);
    assert!(made["fourth"].as_u64().unwrap() > 0, "{made}");
    for (name, inputs) in [("O", 6), ("A4", 4)] {
        let line = format!("model --group {name} --on {inputs} -o m.bsn --force");
        let (_, _, said) = folder.run(&line);
        assert!(said.contains("third order are not enough"), "{said}");
        assert!(said.contains("only their canonical forms differ"), "{said}");
        assert_eq!(
            folder.object(&line)["confused"].as_array().unwrap().len(),
            2
        );
        assert_eq!(folder.object(&line)["incomplete"], true);
        let signal: Vec<String> = (0..inputs).map(|n| format!("{}", n * n * 7 % 11)).collect();
        folder.write("x.csv", signal.join(",") + "\n");
        folder.succeed("features m.bsn x.csv -o f.npy --force");
        let (code, _, said) = folder.run("invert m.bsn f.npy -o x.npy --force");
        assert!(
            code == Some(0) && said.contains("third order are not enough"),
            "{said}"
        );
    }
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
