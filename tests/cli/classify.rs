//! `bispectral classify`: classifiers of invariants, from the user's files and from MNIST.

use crate::Folder;
use crate::characters::{characters, complex_npy};
use crate::skip::skipped;
use std::fmt::Write as _;

/// Few epochs of a small perceptron.
pub(crate) const SMALL: &str =
    "--hidden 12 --epochs 25 --batch 16 --lr 0.02 --components 6 --course cosine";

/// A model of Z8, and three shapes on it, each at any of eight places, with labels that are not 0, 1, 2.
pub(crate) fn shapes(folder: &Folder) {
    folder.write("W.npy", complex_npy(&characters(&[8])));
    folder.succeed("import W.npy -o z8.bsn");
    let shapes = [
        [4, 1, 0, 0, 0, 0, 0, 1],
        [4, 0, 0, 3, 0, 0, 0, 0],
        [2, 2, 2, 0, 0, 1, 0, 0],
    ];
    let (mut samples, mut labels) = (String::new(), String::new());
    for at in 0..240_usize {
        let shape = shapes[at % 3];
        for n in 0..8 {
            // A little that differs from sample to sample.
            let noise = (at * 7 + n * 13) % 11;
            let comma = if n < 7 { "," } else { "\n" };
            let _ = write!(samples, "{}.{noise}{comma}", shape[(n + at / 3) % 8]);
        }
        let _ = writeln!(labels, "{}", [-7, 4, 1000][at % 3]);
    }
    folder.write("X.csv", samples);
    folder.write("y.csv", labels);
}

#[test]
fn a_users_signals_are_classified() {
    let folder = Folder::new();
    shapes(&folder);
    let line = format!("classify train z8.bsn --data X.csv --labels y.csv -o c {SMALL}");
    let object = folder.object(&line);
    assert_eq!(object["trained"]["training"], 216);
    assert_eq!(object["trained"]["accuracy"], 1.0);
    assert_eq!(folder.read("c/model.bsn"), folder.read("z8.bsn"));
    let written: serde_json::Value =
        serde_json::from_slice(&folder.read("c/results.json")).unwrap();
    assert_eq!(written, object);

    let evaluated = folder.object("classify evaluate c --data X.csv --labels y.csv");
    assert_eq!(evaluated["accuracy"], 1.0);
    assert_eq!(evaluated["labels"], serde_json::json!([-7, 4, 1000]));
    assert_eq!(evaluated["confusion"][1], serde_json::json!([0, 80, 0]));

    folder.refuse_with(&line, "c: the folder holds a classifier: ");
}

#[test]
fn the_same_seed_gives_the_same_bits_with_any_number_of_threads() {
    let folder = Folder::new();
    shapes(&folder);
    let train = |output: &str, flags: &str| {
        let line = format!(
            "classify train z8.bsn --data X.csv --labels y.csv -o {output} {SMALL} {flags}"
        );
        folder.succeed(&line);
        folder.read(&format!("{output}/classifier.bin"))
    };
    let one = train("one", "--dropout 0.1 --threads 1 --seed 3");
    assert!(one == train("three", "--dropout 0.1 --threads 3 --seed 3"));
    assert!(one != train("other", "--dropout 0.1 --seed 4"));
}

#[test]
fn what_does_not_fit_is_refused_in_one_line() {
    let folder = Folder::new();
    shapes(&folder);
    let train = "classify train z8.bsn -o c --data";
    folder.write("short.csv", "1\n2\n");
    folder.refuse_with(
        &format!("{train} X.csv --labels short.csv"),
        "the data: 2 labels for 240 samples: ",
    );
    folder.write("narrow.csv", "1,2\n2,1\n");
    folder.refuse_with(
        &format!("{train} narrow.csv --labels short.csv"),
        "the data: samples of 2 values, the model has 8 inputs: ",
    );
    folder.refuse_with(
        &format!("{train} X.csv --labels y.csv --dropout 1"),
        "dropout: ",
    );
    folder.refuse_with(
        &format!("{train} X.csv --labels y.csv --components 0"),
        "components: ",
    );
    folder.refuse("classify evaluate c --data X.csv --labels y.csv");
    folder.refuse("classify train z8.bsn --mnist nowhere -o c");
    let (code, _, _) = folder.run("classify train z8.bsn -o c");
    assert_eq!(code, Some(2), "no data is bad usage");
}

#[test]
fn a_damaged_classifier_is_refused() {
    let folder = Folder::new();
    shapes(&folder);
    let data = "--data X.csv --labels y.csv";
    folder.succeed(&format!("classify train z8.bsn {data} -o c {SMALL}"));
    let mut bytes = folder.read("c/classifier.bin");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    folder.write("c/classifier.bin", &bytes);
    let line = folder.refuse(&format!("classify evaluate c {data}"));
    assert!(
        line.contains("classifier.bin: its checksum differs"),
        "{line}"
    );
}

/// A folder like MNIST's, with bars, corners and crosses for digits, and a model of turned 8 × 8 pixels.
fn made_up_digits(folder: &Folder) {
    std::fs::create_dir(folder.path("digits")).unwrap();
    for (half, count) in [("train", 240_u8), ("t10k", 90)] {
        let mut images = b"\0\0\x08\x03\0\0\0".to_vec();
        images.extend([count, 0, 0, 0, 12, 0, 0, 0, 12]);
        let mut labels = b"\0\0\x08\x01\0\0\0".to_vec();
        labels.push(count);
        for at in 0..count {
            let (kind, long) = (at % 3, 3 + at / 3 % 3);
            labels.push(kind);
            images.extend((0..144_u8).map(|pixel| {
                let (down, right) = (pixel / 12, pixel % 12);
                let reach = |place: u8| place.abs_diff(5) <= long;
                let bar = right == 5 && reach(down);
                let is_ink = match kind {
                    0 => bar,
                    1 => bar && down <= 5 || down == 5 && right >= 5 && reach(right),
                    _ => bar || down == 5 && reach(right),
                };
                if is_ink { 200 + at % 50 } else { 0 }
            }));
        }
        folder.write(&format!("digits/{half}-images-idx3-ubyte"), images);
        folder.write(&format!("digits/{half}-labels-idx1-ubyte"), labels);
    }
    folder.succeed(
        "train --images natural --transform rotate --size 8 --rows 12 --phases second-order --steps 200 -o run",
    );
}

#[test]
fn turned_digits_are_seen_as_they_were_when_the_classifier_was_trained() {
    let folder = Folder::new();
    made_up_digits(&folder);
    let flags =
        "--window 12 --places 5 --radius 1 --copies 2 --bent 0.4 --stretched 0.05 --moved 0.5";
    let train = format!("classify train run/model.bsn --mnist digits -o c {SMALL} {flags}");
    let object = folder.object(&train);
    assert_eq!(object["trained"]["training"], 3 * 216);
    let window = serde_json::json!({"pixels": 12.0, "places": 5, "radius": 1.0});
    assert_eq!(object["window"], window);
    let accuracy = object["test"]["accuracy"].as_f64().unwrap();
    assert!(accuracy > 0.9, "{accuracy}");
    let evaluated = folder.object("classify evaluate c --mnist digits");
    assert_eq!(evaluated, object["test"]);
    // From the middle alone the same classifier is nearly as good: that is what a device does.
    let exported = folder.object("classify export c --mnist digits -o digits.bsn");
    let on_device = exported["test"]["accuracy"].as_f64().unwrap();
    let middle = folder.object("classify evaluate c --mnist digits --places 1");
    assert!((on_device - middle["accuracy"].as_f64().unwrap()).abs() < 0.03);
    for (flag, range) in [
        ("--bent=-1", "0 to 8"),
        ("--stretched 2", "0 to 1"),
        ("--moved x", "0 to 8"),
    ] {
        let line = format!("classify train run/model.bsn --mnist digits -o d {flag}");
        let (code, _, words) = folder.run(&line);
        assert!(code == Some(2) && words.contains(range), "{flag}: {words}");
    }
}

#[test]
fn ways_to_classify_digits_are_compared_and_models_for_a_device_written() {
    let folder = Folder::new();
    made_up_digits(&folder);
    let names = "svm,paper,places-wide,vote,device-300";
    let object = folder.object(&format!(
        "reproduce rotmnist --quick --model run/model.bsn --mnist digits --only {names} -o r"
    ));
    let rows = object["rows"].as_array().unwrap();
    let found: Vec<&str> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    assert_eq!(found.join(","), names);
    let row = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap();
    assert!(row("paper")["accuracy"].as_f64() > row("svm")["accuracy"].as_f64());
    let bytes = folder.read("r/device-300.bsn");
    assert_eq!(row("device-300")["device"]["flash"], bytes.len());
    assert_eq!(row("device-300")["device"]["terms"], 60);
    assert_eq!(
        bispectral_core::Model::from_bytes(&bytes)
            .unwrap()
            .classes(),
        3
    );
    folder.refuse_with(
        "reproduce rotmnist --mnist digits --only paper,nothing -o s",
        "--only: there is no variant \"nothing\": ",
    );
}

#[test]
fn turned_digits_are_classified_where_they_are_at_hand() {
    let Some(mnist) = std::env::var_os("BISPECTRAL_MNIST") else {
        return skipped("mnist", "name its folder in BISPECTRAL_MNIST");
    };
    let folder = Folder::new();
    let line = format!(
        "reproduce rotmnist --quick --mnist {} -o r",
        mnist.display()
    );
    let object = folder.object(&line);
    let accuracy = |name: &str| {
        let rows = object["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["name"] == name).unwrap();
        row["accuracy"].as_f64().unwrap()
    };
    // 8 × 8 pixels and 1,800 digits; what matters is the order.
    assert!(accuracy("paper") > accuracy("power") && accuracy("paper") > accuracy("pixels"));
    for picture in ["digits.svg", "mistakes.svg", "training.svg"] {
        folder.assert_picture(&format!("r/{picture}"));
    }
}
