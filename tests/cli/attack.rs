//! `bispectral attack`: what shares a target's features, whether that is in its orbit, and what is refused.

use crate::characters::{characters, complex_npy};
use crate::{Folder, Order, Random, f64s, npy};
use serde_json::Value;

const TARGETS: usize = 6;

/// A model of a group's characters, `model.bsn`, and random targets, `X.npy`.
fn example(factors: &[usize]) -> Folder {
    let folder = Folder::new();
    folder.write("W.npy", complex_npy(&characters(factors)));
    folder.succeed("import W.npy -o model.bsn");
    write_targets(&folder, factors.iter().product());
    folder
}

fn write_targets(folder: &Folder, inputs: usize) {
    let values = Random(5).values(TARGETS * inputs);
    let shape = format!("({TARGETS}, {inputs})");
    folder.write("X.npy", npy("'<f8'", Order::C, &shape, f64s(values)));
}

fn attacks(object: &Value) -> &[Value] {
    object["attacks"].as_array().unwrap()
}

/// The float32 numbers of a `.npy` file.
fn numbers(bytes: &[u8]) -> Vec<f32> {
    let begin = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let (numbers, rest) = bytes[begin..].as_chunks::<4>();
    assert!(rest.is_empty());
    numbers
        .iter()
        .map(|&number| f32::from_le_bytes(number))
        .collect()
}

#[test]
fn what_shares_the_bispectrum_is_the_target_moved() {
    let folder = example(&[4, 3]);
    let object = folder.object("attack model.bsn X.npy -o out");
    assert_eq!(
        (&object["features"], &object["motions"]),
        (&"bispectrum".into(), &"Z12".into())
    );
    let summary = &object["summary"];
    assert!(object["reached"].as_u64().unwrap() >= 5, "{object}");
    assert_eq!(summary["inside"], object["reached"]);
    assert_eq!(summary["nearest"], object["reached"]);
    for attack in attacks(&object)
        .iter()
        .filter(|attack| attack["reached"] == true)
    {
        assert!(attack["orbit"].as_f64().unwrap() < 0.01, "{attack}");
    }
    // Features of what was written, by the code that runs on the device, are those of the targets.
    folder.succeed("features model.bsn X.npy -o Y.npy");
    folder.succeed("features model.bsn out/metamers.npy -o Z.npy");
    let (targets, found) = (
        numbers(&folder.read("Y.npy")),
        numbers(&folder.read("Z.npy")),
    );
    let width = targets.len() / TARGETS;
    let rows = targets.chunks(width).zip(found.chunks(width));
    for ((target, found), attack) in rows.zip(attacks(&object)) {
        let squares = target
            .iter()
            .zip(found)
            .map(|(a, b)| f64::from(a - b).powi(2));
        let distance = squares.sum::<f64>().sqrt();
        let told = attack["representation"].as_f64().unwrap();
        // Both in f32, summed in another order.
        assert!((distance - told).abs() < 1e-5, "{distance} {told}");
    }
    folder.assert_picture("out/attack.svg");
    let html = String::from_utf8(folder.read("out/report.html")).unwrap();
    assert!(html.contains("An attack on invariance"));
    let kept: Value = serde_json::from_slice(&folder.read("out/results.json")).unwrap();
    assert_eq!(kept, object);
}

#[test]
fn the_power_spectrum_and_pooled_filters_have_metamers() {
    let folder = example(&[4, 4]);
    for features in ["power", "pooled"] {
        let object = folder.object(&format!(
            "attack model.bsn X.npy --features {features} -o {features}"
        ));
        assert_eq!(object["features"], features);
        assert!(object["reached"].as_u64().unwrap() >= 3, "{object}");
        assert_eq!(object["summary"]["inside"], 0, "{object}");
    }
}

#[test]
fn any_number_of_threads_finds_the_same_and_another_seed_does_not() {
    let folder = example(&[5]);
    let attack = "attack model.bsn X.npy --steps 300 --restarts 0 -o";
    folder.succeed(&format!("{attack} one --threads 1"));
    folder.succeed(&format!("{attack} four --threads 4"));
    folder.succeed(&format!("{attack} other --seed 1"));
    let metamers = |of: &str| folder.read(&format!("{of}/metamers.npy"));
    assert!(metamers("one") == metamers("four"));
    assert!(metamers("one") != metamers("other"));
}

#[test]
fn without_a_group_only_distances_are_told() {
    let folder = example(&[9]);
    let mut w = characters(&[9]);
    w.truncate(4);
    folder.write("W.npy", complex_npy(&w));
    folder.succeed("import W.npy -o model.bsn --force");
    let object = folder.object("attack model.bsn X.npy --steps 200 --restarts 0 -o out");
    assert!(
        object["motions"].is_null() && object["summary"].is_null(),
        "{object}"
    );
    for attack in attacks(&object) {
        assert!(
            attack["signal"].is_number() && attack["orbit"].is_null(),
            "{attack}"
        );
    }
    // Nine inputs are an image that can be turned.
    let object = folder.object(
        "attack model.bsn X.npy --transform rotate --features power --steps 200 --restarts 0 -o turned",
    );
    assert_eq!(object["motions"], "rotations");
    assert!(
        attacks(&object)[0]["bounds"]["inside"].is_number(),
        "{object}"
    );
}

#[test]
fn what_cannot_be_attacked_is_refused_and_nothing_is_written() {
    let folder = example(&[8]);
    folder.refuse_with(
        "attack model.bsn X.npy --transform rotate -o out",
        "model.bsn: 8 inputs are no square image: ",
    );
    folder.refuse("attack absent.bsn X.npy -o out");
    folder.refuse("attack model.bsn absent.npy -o out");
    write_targets(&folder, 7);
    folder.refuse_with(
        "attack model.bsn X.npy -o out",
        "X.npy: signals of 7 values where model.bsn has 8 inputs: ",
    );
    folder.refuse("attack model.bsn X.npy -o .");
    for arguments in [
        "attack model.bsn X.npy",
        "attack model.bsn X.npy -o out --features unheard-of",
        "attack model.bsn X.npy -o out --transform shear",
    ] {
        assert_eq!(folder.run(arguments).0, Some(2), "{arguments}");
    }
}
