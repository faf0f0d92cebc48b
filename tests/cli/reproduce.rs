//! `bispectral reproduce`: the paper's experiments in their small form, and what they leave in a folder.

use crate::Folder;
use crate::characters::{characters, complex_npy};
use crate::skip::skipped;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// Every finite commutative group of 2 to 12 elements by its invariant factors: as many of each order as A000688 in
/// the On-Line Encyclopedia of Integer Sequences says.
const GROUPS: [(usize, &[&str]); 11] = [
    (2, &["Z2"]),
    (3, &["Z3"]),
    (4, &["Z4", "Z2xZ2"]),
    (5, &["Z5"]),
    (6, &["Z6"]),
    (7, &["Z7"]),
    (8, &["Z8", "Z4xZ2", "Z2xZ2xZ2"]),
    (9, &["Z9", "Z3xZ3"]),
    (10, &["Z10"]),
    (11, &["Z11"]),
    (12, &["Z12", "Z6xZ2"]),
];

/// Up to so many elements a table is drawn.
const DRAWN: usize = 8;

fn rows(object: &Value) -> &[Value] {
    object["rows"].as_array().unwrap()
}

/// The names of the pictures in a folder.
fn pictures(folder: &Folder, of: &str) -> Vec<String> {
    let entries = fs::read_dir(folder.path(of)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".svg")).collect();
    names.sort();
    names
}

/// Every file in the folder and in folders in it, and what is in it.
fn everything(folder: &Folder) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.path("")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = fs::read(&path).unwrap();
                found.insert(path, bytes);
            }
        }
    }
    found
}

/// That what was printed is in `results.json`, and that neither is replaced unasked.
fn assert_kept(folder: &Folder, arguments: &str, object: &Value) {
    let results: Value = serde_json::from_slice(&folder.read("out/results.json")).unwrap();
    assert_eq!(results, *object);
    let before = everything(folder);
    folder.refuse_with(
        arguments,
        "out: the folder is not empty: choose another one, or add --force",
    );
    assert!(everything(folder) == before, "{arguments} changed a file");
}

#[test]
fn the_groups_of_order_eight_are_recovered_by_both_recipes() {
    let folder = Folder::new();
    let arguments = "reproduce cayley --quick -o out";
    let object = folder.object(arguments);
    assert_eq!(object["experiment"], "cayley");
    assert_eq!(object["groups"], 3);
    // Three groups, two recipes, two seeds.
    assert_eq!(
        (&object["runs"], &object["recovered"]),
        (&12.into(), &12.into())
    );
    let text = String::from_utf8(folder.read("out/results.txt")).unwrap();
    let mut lines = text.lines().skip(1);
    let mut found = rows(&object).iter();
    for group in ["Z8", "Z4xZ2", "Z2xZ2xZ2"] {
        for recipe in ["default", "gradient"] {
            let row = found.next().unwrap();
            assert_eq!(
                (&row["group"], &row["recipe"]),
                (&group.into(), &recipe.into())
            );
            assert_eq!((&row["seeds"], &row["recovered"]), (&2.into(), &2.into()));
            // 0.996 at the least; a row is called a character from 0.7 on.
            assert!(row["least_overlap"].as_f64().unwrap() > 0.99, "{row}");
            let words: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
            assert_eq!(words[..4], [group, recipe, "2", "2"]);
        }
        folder.assert_picture(&format!("out/cayley-{group}.svg"));
    }
    assert!(found.next().is_none() && lines.next().is_none());
    // Of each group its table, the rows and the distances.
    assert_eq!(pictures(&folder, "out").len(), 9);
    assert_kept(&folder, arguments, &object);

    folder.write("out/results.json", "old");
    let again = folder.object(&format!("{arguments} --force --seed 1 --seeds 1"));
    assert_eq!((&again["seed"], &again["runs"]), (&1.into(), &6.into()));
    assert_kept(&folder, arguments, &again);
}

#[test]
fn every_commutative_group_of_a_range_of_orders_is_recovered() {
    let folder = Folder::new();
    let object = folder.object("reproduce cayley --orders 2..=12 --seeds 1 -o out");
    let expected = GROUPS.iter().flat_map(|(_, names)| names.iter().copied());
    let expected: Vec<&str> = expected.collect();
    let found = rows(&object).iter().map(|row| row["group"].as_str());
    let found: Option<Vec<&str>> = found.collect();
    assert_eq!(found.unwrap(), expected);
    for field in ["groups", "runs", "recovered"] {
        assert_eq!(object[field], expected.len(), "{field}");
    }
    for (order, names) in GROUPS {
        let of_order = rows(&object).iter().filter(|row| row["order"] == order);
        assert_eq!(of_order.count(), names.len(), "order {order}");
    }
    let small = GROUPS.iter().filter(|(order, _)| *order <= DRAWN);
    let names = small.flat_map(|(_, names)| names.iter());
    let names = names.flat_map(|name| {
        ["cayley", "distances", "filters"].map(|what| format!("{what}-{name}.svg"))
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    assert_eq!(pictures(&folder, "out"), names);
}

#[test]
fn groups_that_act_linearly_are_learned_behind_a_mixing() {
    let folder = Folder::new();
    let arguments = "reproduce compact --quick -o out";
    let object = folder.object(arguments);
    assert_eq!(object["experiment"], "compact");
    // Five groups from whole, partial, few and noisy orbits, and three kinds of samples without one.
    assert_eq!((rows(&object).len(), &object["right"]), (23, &23.into()));
    for row in rows(&object) {
        if row["setting"] == "none" {
            assert!(
                row["found"].as_str().unwrap().starts_with("no group: "),
                "{row}"
            );
            continue;
        }
        let group = row["group"].as_str().unwrap();
        assert_eq!(row["found"], group.split(',').next().unwrap(), "{row}");
        let number = |field: &str| row[field].as_f64().unwrap();
        // Samples are rounded to 2^-24; 5 % of noise are 7e-2 between two members.
        let most = if row["setting"] == "noisy" {
            0.07
        } else {
            1e-6
        };
        assert!(number("within") < most && number("between") > 0.5, "{row}");
    }
    assert_eq!(object["samples"], 200_000);
    assert_kept(&folder, arguments, &object);
}

#[test]
fn rotations_of_a_sphere_are_learned_as_harmonics_and_wigners_symbols() {
    let folder = Folder::new();
    let arguments = "reproduce sphere --quick -o out";
    let object = folder.object(arguments);
    assert_eq!(object["experiment"], "sphere");
    // At points of the sphere, and behind a mixing of these.
    assert_eq!(rows(&object).len(), 2);
    for row in rows(&object) {
        assert_eq!(row["found"], "SO(3)", "{row}");
        assert_eq!(
            (&row["forms"], &row["right"]),
            (&4.into(), &true.into()),
            "{row}"
        );
        let number = |field: &str| row[field].as_f64().unwrap();
        // What rounding of samples leaves.
        assert!(
            number("harmonics") < 1e-4 && number("wigner") < 1e-4,
            "{row}"
        );
        assert!(number("between") > 1e3 * number("within"), "{row}");
    }
    assert_kept(&folder, arguments, &object);
}

#[test]
fn digits_on_a_sphere_are_told_apart_however_they_are_rotated() {
    let Some(mnist) = std::env::var_os("BISPECTRAL_MNIST") else {
        return skipped("mnist", "name its folder in BISPECTRAL_MNIST");
    };
    let folder = Folder::new();
    let line = format!("reproduce sphere --quick --mnist {} -o s", mnist.display());
    let digits = &folder.object(&line)["digits"];
    let share = |what: &str, turned: &str| {
        let mut rows = digits["rows"].as_array().unwrap().iter();
        let row = rows.find(|row| row["what"] == what).unwrap();
        row[turned].as_f64().unwrap()
    };
    // Trained as they are: samples know nothing else, and the power spectrum not enough.
    assert!(share("samples", "upright") > 0.9, "{digits}");
    assert!(share("samples", "rotated") < 0.2, "{digits}");
    assert!(share("power spectrum", "rotated") < 0.65, "{digits}");
    assert!(share("couplings", "rotated") > 0.8, "{digits}");
    // The group is learned, so that rotations change what is said of few; bytes of a device change no more.
    let device = "couplings, the model for a device";
    for (one, other) in [
        (share("couplings", "upright"), share("couplings", "rotated")),
        (share("couplings", "rotated"), share(device, "rotated")),
    ] {
        assert!((one - other).abs() < 0.005, "{digits}");
    }
    let model = fs::read(folder.path("s/digits.bsn")).unwrap();
    assert_eq!(digits["flash"], model.len());
    assert!(model.len() < 25_000, "{}", model.len());
    folder.assert_picture("s/digits.svg");
}

#[test]
fn small_groups_are_learned_exactly_and_inverted_and_nothing_else_is_called_a_group() {
    let folder = Folder::new();
    let arguments = "reproduce groups --quick -o out";
    let object = folder.object(arguments);
    assert_eq!(object["experiment"], "groups");
    // 13 groups of two to eight elements and four actions, in four settings; D8 with strangers, wrong labels and more noise in six.
    assert_eq!(
        (&object["tried"], &object["wrong"]),
        (&(4 * 17 + 6).into(), &0.into())
    );
    for row in object["learned"].as_array().unwrap() {
        let outcomes = row["outcomes"].as_array().unwrap();
        for outcome in outcomes.iter().filter(|o| o["setting"] != "noisy") {
            assert_eq!(outcome["exact"], outcome["tried"], "{row}");
        }
    }
    for row in object["inverted"].as_array().unwrap() {
        assert_eq!(row["back"], row["signals"], "{row}");
    }
    assert_kept(&folder, arguments, &object);
}

#[test]
fn planes_that_turn_are_learned_from_patches_without_an_angle() {
    let folder = Folder::new();
    let arguments = "reproduce disk --quick -o out";
    let object = folder.object(arguments);
    let planes: Vec<u64> = serde_json::from_value(object["planes"].clone()).unwrap();
    // 52 pixels of 8 × 8 turn with orders 0 to 4 at least.
    assert!(
        planes.len() >= 5 && planes.iter().all(|&count| count > 0),
        "{planes:?}"
    );
    let products = &object["products"];
    let count = |name: &str| products[name].as_u64().unwrap();
    assert!(
        10 * count("invariant") >= 9 * count("expected"),
        "{products}"
    );
    assert!(100 * count("wrong") <= count("others"), "{products}");
    let models = object["models"].as_array().unwrap();
    for model in models {
        for distance in model["distances"].as_array().unwrap() {
            let of = |name: &str| distance[name].as_f64().unwrap();
            assert!(4.0 * of("within") < of("between"), "{model}");
        }
    }
    let named = folder.succeed("inspect out/model-i8.bsn");
    assert!(named.contains("SO(2)"), "{named}");
    assert_kept(&folder, arguments, &object);
}

#[test]
fn bad_orders_are_bad_usage_and_nothing_is_written() {
    let folder = Folder::new();
    for arguments in [
        "reproduce",
        "reproduce cayley",
        "reproduce unheard-of -o out",
        "reproduce cayley -o out --seeds 0",
        "reproduce cayley -o out --orders 0",
        "reproduce cayley -o out --orders 257",
        "reproduce cayley -o out --orders 9..=2",
        "reproduce cayley -o out --orders 2..9",
        "reproduce cayley -o out --orders eight",
        "reproduce cayley -o out --orders=-8",
    ] {
        let (code, stdout, stderr) = folder.run(arguments);
        assert_eq!((code, &*stdout), (Some(2), ""), "{arguments}");
        assert!(!stderr.is_empty(), "{arguments}");
    }
    assert!(folder.contents().is_empty());
}

#[test]
fn translations_of_natural_patches_are_learned_and_named() {
    let folder = Folder::new();
    // One irrep is there twice, and one is missing.
    let mut published = characters(&[8, 8]);
    published[5] = published[6].clone();
    folder.write("published.npy", complex_npy(&published));
    let arguments = "reproduce translation --quick --published published.npy -o out";
    let object = folder.object(arguments);
    assert_eq!(
        (&object["experiment"], &object["size"]),
        (&"translation".into(), &8.into())
    );
    let cases: Vec<_> = rows(&object).iter().map(|row| &row["case"]).collect();
    assert_eq!(cases, ["whole", "partial", "gradient"]);
    for row in &rows(&object)[..2] {
        assert_eq!(row["group"]["name"], "Z8xZ8", "{row}");
        assert_eq!(row["irreps"]["distinct"], 64, "{row}");
        assert_eq!(row["nearest"], 1.0, "{row}");
        let case = row["case"].as_str().unwrap();
        folder.succeed(&format!("group out/{case} --expect Z8xZ8"));
    }
    let whole = &rows(&object)[0];
    assert_eq!(whole["irreps"]["exact"], 64, "{whole}");
    // Without noise, what is left is the rounding of f32.
    assert!(whole["within"].as_f64().unwrap() < 1e-9, "{whole}");
    let published = &object["published"];
    assert_eq!(
        (&published["all"], &published["exact"]),
        (&64.into(), &63.into())
    );

    let along = |field: &str| object["along"][field].as_f64().unwrap();
    // A shift changes the patch about as much as another patch would, and the invariants by rounding.
    assert!(along("signal") > 0.5, "{object}");
    assert!(along("invariance_error") < 1e-5, "{object}");
    assert!(along("equivariance_error") < 1e-5, "{object}");

    assert_eq!(
        pictures(&folder, "out"),
        ["along.svg", "cayley.svg", "filters.svg"]
    );
    for name in pictures(&folder, "out") {
        folder.assert_picture(&format!("out/{name}"));
    }
    let text = String::from_utf8(folder.read("out/results.txt")).unwrap();
    assert_eq!(text.matches("Z8xZ8").count(), 2, "{text}");
    assert_kept(&folder, arguments, &object);
}

#[test]
fn a_refused_experiment_leaves_no_folder() {
    let folder = Folder::new();
    folder.write("published.npy", complex_npy(&characters(&[4])));
    for flags in [
        "--published absent.npy",
        "--published published.npy",
        "--images absent",
    ] {
        folder.refuse(&format!("reproduce translation --quick {flags} -o out"));
    }
}

#[test]
fn files_of_others_are_not_replaced_unasked() {
    for (file, arguments) in [
        ("results.txt", "cayley --orders 2 --seeds 1"),
        ("cayley-Z2.svg", "cayley --orders 2 --seeds 1"),
        ("whole/model.bsn", "translation --quick"),
    ] {
        let folder = Folder::new();
        fs::create_dir_all(folder.path("out/whole")).unwrap();
        folder.write(&format!("out/{file}"), "precious");
        let before = everything(&folder);
        folder.refuse(&format!("reproduce {arguments} -o out"));
        assert!(everything(&folder) == before, "{file} was replaced");
    }
}

#[test]
fn groups_that_are_not_recovered_make_one_object_of_failure() {
    let folder = Folder::new();
    // Stripes are moved by no more than half of the translations.
    fs::create_dir(folder.path("stripes")).unwrap();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 64, 64);
    encoder.set_color(png::ColorType::Grayscale);
    let stripes: Vec<u8> = (0..64 * 64_u32)
        .map(|n| (n % 64 * 37 % 251) as u8)
        .collect();
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&stripes).unwrap();
    drop(writer);
    folder.write("stripes/stripes.png", bytes);
    let arguments = "reproduce translation --quick --images stripes -o out --json";
    let (code, stdout, _) = folder.run(arguments);
    assert_eq!(stdout.lines().count(), 1, "{stdout}");
    let object: Value = serde_json::from_str(&stdout).unwrap();
    assert!(object["error"].is_string(), "{stdout}");
    assert_eq!(code, Some(1));
    assert!(folder.path("out/results.json").exists());
}

#[test]
fn rotation_is_learned_and_its_orders_are_named() {
    let folder = Folder::new();
    let object = folder.object("reproduce rotation --quick -o out");
    let distance = |row: &Value, key: &str| row["learned"][key].as_f64().unwrap();
    for row in object["rows"].as_array().unwrap() {
        assert!(distance(row, "within") < 0.5, "{row}");
        // Digits, where they are at hand, are more alike than photographs.
        assert!(distance(row, "between") > 1.0, "{row}");
    }
    let learned = &object["learned"];
    assert!(learned["pure"].as_u64().unwrap() >= 3, "{learned}");
    assert_eq!(
        learned["products"]["pairs"],
        learned["products"]["additive"]
    );
    for picture in ["filters.svg", "orders.svg", "along.svg", "run/loss.svg"] {
        folder.assert_picture(&format!("out/{picture}"));
    }
    assert!(folder.path("out/report.html").exists());
}

#[test]
fn what_shares_invariants_is_in_the_orbit_and_metamers_are_elsewhere() {
    let folder = Folder::new();
    let arguments = "reproduce completeness --quick -o out";
    let object = folder.object(arguments);
    let attacks = object["attacks"].as_array().unwrap();
    let row = |model: &str, features: &str| {
        let found = attacks.iter().find(|row| {
            (&row["model"], &row["images"], &row["features"])
                == (&model.into(), &"natural patches".into(), &features.into())
        });
        found.unwrap_or_else(|| panic!("{model}, {features}: {object}"))
    };
    let bispectrum = row("translation", "bispectrum");
    assert_eq!(bispectrum["reached"], bispectrum["targets"], "{bispectrum}");
    assert_eq!(bispectrum["inside"], bispectrum["targets"], "{bispectrum}");
    for features in ["power", "pooled"] {
        let other = row("translation", features);
        assert!(other["reached"].as_u64().unwrap() >= 4, "{other}");
        assert_eq!(other["inside"], 0, "{other}");
    }
    let inside = |features: &str| row("rotation", features)["inside"].as_u64().unwrap();
    assert!(inside("bispectrum") > inside("power"), "{object}");
    for model in ["translation", "rotation"] {
        for what in ["pairs", "distances"] {
            folder.assert_picture(&format!("out/{model}-patches-{what}.svg"));
        }
    }
    assert_kept(&folder, arguments, &object);
    // The rotation model that it left is as good as one that is named.
    let again = folder.object("reproduce completeness --quick --rotation out/rotation -o again");
    let of =
        |object: &Value| object["attacks"].as_array().unwrap().last().unwrap()["attacks"].clone();
    assert_eq!(of(&again), of(&object));
}

#[test]
fn a_rotation_model_that_is_none_is_refused() {
    let folder = Folder::new();
    folder.write("W.npy", complex_npy(&characters(&[7])));
    folder.succeed("import W.npy -o seven.bsn");
    for model in ["absent", "W.npy", "seven.bsn"] {
        folder.refuse(&format!(
            "reproduce completeness --quick --rotation {model} -o out"
        ));
    }
}
