//! `bispectral group`: names against the equations of characters, from models made by hand; `trained` has those that
//! were learned.

mod trained;

use crate::characters::{
    Rows, character, characters, complex_npy, disguised, elements, features, import, inner, length,
    noisy, random_rows, sum, weights,
};
use crate::{Folder, Random};
use num_complex::Complex64;
use serde_json::Value;
use std::collections::BTreeSet;
use std::f64::consts::TAU;

fn number(object: &Value, field: &str) -> f64 {
    object[field].as_f64().expect(field)
}

fn numbers(value: &Value) -> Vec<usize> {
    let values = value.as_array().unwrap().iter();
    values.map(|v| v.as_u64().unwrap() as usize).collect()
}

fn places(object: &Value, field: &str) -> Vec<Vec<usize>> {
    let values = object[field].as_array().expect(field).iter();
    values.map(numbers).collect()
}

/// That characters and elements are each other's dual: the table adds them up.
fn assert_consistent(object: &Value) {
    let factors = numbers(&object["factors"]);
    let characters = places(object, "characters");
    let positions = places(object, "positions");
    let table = places(object, "table");
    let order: usize = factors.iter().product();
    let name: Vec<String> = factors.iter().map(|m| format!("Z{m}")).collect();
    assert_eq!(object["group"], name.join("x"));
    assert!(factors.windows(2).all(|two| two[0] % two[1] == 0));
    for field in ["order", "rows", "inputs"] {
        assert_eq!(object[field], order, "{field}");
    }
    for (i, row) in table.iter().enumerate() {
        assert_eq!(row.len(), order);
        for (j, &cell) in row.iter().enumerate() {
            let wanted = sum(&characters[i], &characters[j], &factors);
            assert_eq!(characters[cell], wanted, "{i} times {j}");
        }
    }
    let all: BTreeSet<Vec<usize>> = elements(&factors).into_iter().collect();
    assert_eq!(characters.iter().cloned().collect::<BTreeSet<_>>(), all);
    assert_eq!(positions.iter().cloned().collect::<BTreeSet<_>>(), all);
    assert_eq!((table.len(), positions.len()), (order, order));
    assert!(positions[0].iter().all(|&coordinate| coordinate == 0));
    let generators = numbers(&object["generators"]);
    assert_eq!(generators.len(), factors.len());
    for (f, &row) in generators.iter().enumerate() {
        let mut unit = vec![0; factors.len()];
        unit[f] = 1 % factors[f];
        assert_eq!(characters[row], unit);
    }
}

/// Whether W_i(n) conj W_i(0) is the character's exp(−2πi Σ k g / m) / N, within `tolerance` of it.
fn follows(w: &Rows, object: &Value, tolerance: f64) -> bool {
    let factors = numbers(&object["factors"]);
    let (characters, positions) = (places(object, "characters"), places(object, "positions"));
    w.iter().zip(&characters).all(|(row, k)| {
        row.iter().zip(&positions).all(|(w, g)| {
            let turned = w * row[0].conj() * row.len() as f64;
            (turned - character(k, g, &factors)).norm() < tolerance
        })
    })
}

#[test]
fn a_hand_made_w_in_disguise_is_named_and_put_in_place() {
    let folder = Folder::new();
    let mut random = Random(2);
    for (factors, name) in [
        (&[8][..], "Z8"),
        (&[2, 3], "Z6"),
        (&[2, 6], "Z6xZ2"),
        (&[3, 3], "Z3xZ3"),
        (&[2, 2, 4], "Z4xZ2xZ2"),
        (&[1], "Z1"),
    ] {
        let w = disguised(factors, &mut random);
        import(&folder, &w);
        let object = folder.object("group m.bsn");
        assert_eq!(object["group"], name);
        assert_consistent(&object);
        // Rounded to f32.
        assert!(follows(&w, &object, 1e-6), "{object}");
        assert!(number(&object, "least_overlap") > 1.0 - 1e-9);
    }
}

#[test]
fn overlaps_and_confidences_of_noisy_rows_are_those_of_the_equations() {
    let folder = Folder::new();
    let mut random = Random(4);
    let w = noisy(&disguised(&[4, 2], &mut random), 0.05, &mut random);
    import(&folder, &w);
    let object = folder.object("group m.bsn");
    assert_eq!(object["group"], "Z4xZ2");
    assert_consistent(&object);
    assert!(!follows(&w, &object, 1e-3));

    let factors = numbers(&object["factors"]);
    let (k, g) = (places(&object, "characters"), places(&object, "positions"));
    let overlaps: Vec<f64> = (w.iter().zip(&k))
        .map(|(row, k)| {
            let exact: Vec<_> = g.iter().map(|g| character(k, g, &factors)).collect();
            inner(row, &exact).norm() / length(row) / length(&exact)
        })
        .collect();
    let mut confidences = Vec::new();
    for (a, cells) in w.iter().zip(places(&object, "table")) {
        for (b, cell) in w.iter().zip(cells) {
            let product: Vec<_> = a.iter().zip(b).map(|(a, b)| a * b).collect();
            let alike = |row: &Vec<_>| inner(&product, row).norm() / length(row) / length(&product);
            let best = w.iter().map(alike).fold(0.0, f64::max);
            // Where two rows are as like the product as f32 can tell, either may be in the cell.
            assert!(best - alike(&w[cell]) < 1e-5);
            confidences.push(best);
        }
    }
    let least = |values: &[f64]| values.iter().copied().fold(1.0, f64::min);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    assert!(least(&overlaps) < 0.999, "the noise is too faint to tell");
    for (field, wanted) in [
        ("least_overlap", least(&overlaps)),
        ("mean_overlap", mean(&overlaps)),
        ("least_confidence", least(&confidences)),
        ("mean_confidence", mean(&confidences)),
        ("largest_move", (2.0 - 2.0 * least(&overlaps)).sqrt()),
    ] {
        // Sums of eight terms in f32.
        assert!((number(&object, field) - wanted).abs() < 1e-5, "{field}");
    }
}

#[test]
fn a_table_of_up_to_16_rows_is_printed_and_a_larger_one_is_not() {
    let folder = Folder::new();
    for order in [2, 16] {
        import(&folder, &disguised(&[order], &mut Random(6)));
        let words = folder.succeed("group m.bsn");
        let lines = words.lines().filter_map(|line| line.split_once('│'));
        let number = |word: &str| word.parse::<usize>().unwrap();
        let cells = |cells: &str| cells.split_whitespace().map(number).collect();
        let mut printed = lines.map(|(row, line)| (row.trim().to_owned(), cells(line)));
        let heading: (String, Vec<usize>) = printed.next().unwrap();
        assert_eq!(heading, (String::new(), (0..order).collect()));
        let table = places(&folder.object("group m.bsn"), "table");
        let numbered = table.into_iter().enumerate();
        let wanted: Vec<_> = numbered.map(|(i, row)| (i.to_string(), row)).collect();
        assert_eq!(printed.collect::<Vec<_>>(), wanted);
        assert!(!words.contains("--picture"), "{words}");
    }
    import(&folder, &disguised(&[17], &mut Random(6)));
    let words = folder.succeed("group m.bsn");
    assert!(!words.contains('│') && words.contains("Z17"), "{words}");
    let hint = words.lines().last().unwrap();
    assert!(hint.contains("--picture FILE.svg") && hint.contains("--json"));
    assert_eq!(places(&folder.object("group m.bsn"), "table").len(), 17);
}

#[test]
fn a_picture_is_drawn_whether_or_not_there_is_the_group() {
    let folder = Folder::new();
    import(&folder, &characters(&[4, 2]));
    folder.succeed("group m.bsn --picture group.svg");
    folder.assert_picture("group.svg");
    folder.refuse_with(
        "group m.bsn --picture group.PNG",
        "group.PNG: the picture is an SVG: name it group.svg",
    );
    folder.write("none.npy", complex_npy(&random_rows(1, 6)));
    folder.succeed("import none.npy -o none.bsn");
    for (arguments, picture) in [
        ("m.bsn --expect Z8 --polish never.bsn", "other.svg"),
        ("none.bsn --polish never.bsn", "none.svg"),
    ] {
        let before = folder.contents();
        let (code, stdout, stderr) = folder.run(&format!("group {arguments} --picture {picture}"));
        assert_eq!((code, &*stdout), (Some(1), ""), "{arguments}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        folder.assert_picture(picture);
        let mut after = folder.contents();
        after.remove(&folder.path(picture)).unwrap();
        assert!(after == before, "{arguments} wrote more than a picture");
    }
}

#[test]
fn existing_files_are_replaced_only_by_force() {
    let folder = Folder::new();
    import(&folder, &characters(&[3]));
    folder.write("old", "precious");
    for arguments in [
        "group m.bsn --picture old",
        "group m.bsn --polish old",
        "group m.bsn --picture new --polish old",
        "group m.bsn --picture old --polish new",
    ] {
        folder.refuse_with(arguments, "old: exists already: choose another name or add");
    }
    folder.succeed("group m.bsn --picture old --force");
    folder.assert_picture("old");
    folder.succeed("group m.bsn --polish old --force");
    assert_eq!(folder.object("group old")["group"], "Z3");
}

#[test]
fn polishing_makes_rows_exact_and_keeps_what_was_invariant() {
    let folder = Folder::new();
    let mut random = Random(8);
    let w = disguised(&[6, 2], &mut random);
    import(&folder, &w);
    let words = folder.succeed("group m.bsn");
    assert_eq!(folder.succeed("group m.bsn --polish exact.bsn"), words);
    let signals: Vec<Vec<f64>> = (0..20).map(|_| random.values(12)).collect();
    let before = features(&folder, "m.bsn", &signals, "");
    let after = features(&folder, "exact.bsn", &signals, "");
    for (before, after) in before.iter().zip(&after) {
        // β̄ is of length one, and in it the phases of rows cancel.
        let difference: Vec<_> = before.iter().zip(after).map(|(a, b)| a - b).collect();
        assert!(length(&difference) < 1e-4);
    }
    let phases = weights(&folder, "exact.bsn", 12);
    assert!(phases.iter().all(|row| row[0].re > 0.0 && row[0].im == 0.0));

    import(&folder, &noisy(&w, 0.1, &mut random));
    let rough = folder.object("group m.bsn --polish exact.bsn --force");
    assert!(number(&rough, "least_overlap") < 0.999, "{rough}");
    let exact = folder.object("group exact.bsn --expect Z6xZ2");
    assert!(number(&exact, "least_overlap") > 1.0 - 1e-9, "{exact}");
    assert_consistent(&exact);
    let inspected = folder.object("inspect exact.bsn");
    assert_eq!(inspected["group"], "Z6xZ2");
    assert_eq!(inspected["name"], folder.object("inspect m.bsn")["name"]);
}

/// The irreps of the permutations of three things: one, the sign, and the triangle's four coefficients.
fn permutations_of_three() -> Rows {
    let third = TAU / 3.0;
    let elements = (0..6).map(|n| (f64::from(n % 3) * third, if n < 3 { 1.0 } else { -1.0 }));
    let columns: Vec<[f64; 6]> = elements
        .map(|(turn, sign)| {
            let (sin, cos) = turn.sin_cos();
            [1.0, sign, cos, -sign * sin, sin, sign * cos]
        })
        .collect();
    let row = |i: usize| columns.iter().map(|column| column[i].into()).collect();
    (0..6).map(row).collect()
}

#[test]
fn what_is_no_group_is_refused_in_one_line_and_nothing_is_written() {
    let z6 = characters(&[6]);
    let with = |i: usize, row: Vec<Complex64>| {
        let mut w = z6.clone();
        w[i] = row;
        w
    };
    let turned = z6[1].iter().map(|w| w * Complex64::cis(1.0)).collect();
    let five: Rows = z6[..5].to_vec();
    let unlike = [0.3, -0.3].map(|second: f64| vec![Complex64::ONE, second.into()]);
    let unlike = unlike.to_vec();
    let crowded: Rows = z6
        .iter()
        .map(|row| [&row[..], &row[3..4]].concat())
        .collect();
    let rows = "its rows do not multiply like a group";
    let mut cases: Vec<(Rows, &str)> = (0..8).map(|seed| (random_rows(seed, 6), "")).collect();
    cases.extend([
        (with(4, turned), "rows 1 and 4 are the same"),
        (permutations_of_three(), rows),
        (with(2, vec![Complex64::ZERO; 6]), rows),
        (five, rows),
        (
            unlike,
            "its rows multiply like Z2, but are not its characters",
        ),
        (crowded, "its rows multiply like Z6, but "),
    ]);
    let folder = Folder::new();
    for (w, why) in &cases {
        import(&folder, w);
        folder.refuse_with(
            "group m.bsn --polish exact.bsn",
            &format!("m.bsn: no finite commutative group: {why}"),
        );
    }
    folder.write("W.npy", complex_npy(&with(3, vec![f64::NAN.into(); 6])));
    folder.refuse_with("import W.npy -o new.bsn", "W.npy: row 3, column 0: ");
}

#[test]
fn what_is_no_model_is_refused_in_one_line_and_nothing_is_written() {
    let folder = Folder::new();
    import(&folder, &characters(&[4]));
    let mut damaged = folder.read("m.bsn");
    damaged[60] ^= 4;
    folder.write("damaged.bsn", &damaged);
    folder.write("short.bsn", &folder.read("m.bsn")[..90]);
    std::fs::create_dir(folder.path("empty")).unwrap();
    for (model, refusal) in [
        ("damaged.bsn", "damaged.bsn: checksum differs (stored "),
        ("short.bsn", "short.bsn: the model is truncated"),
        ("W.npy", "W.npy: not a bispectral model"),
        ("absent.bsn", "absent.bsn: there is no such file"),
        ("empty", "empty: the folder holds no model.bsn"),
    ] {
        folder.refuse_with(
            &format!("group {model} --picture new.svg --polish new.bsn"),
            refusal,
        );
    }
}
