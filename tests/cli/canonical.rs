//! `bispectral features --canonical`: the same for members of an orbit, another one for signals that invariants confuse.

use crate::{Folder, Random};
use bispectral_learn::group::{couplings_of, known_action};
use bispectral_learn::model::couplings::encode;
use bispectral_learn::model::form::Encoding;

/// Writes signals, one a line.
fn write(folder: &Folder, name: &str, signals: &[Vec<f64>]) {
    let line = |x: &Vec<f64>| format!("{x:?}\n").replace(['[', ']', ' '], "");
    folder.write(name, signals.iter().map(line).collect::<String>());
}

/// What the command writes for the signals in a table, after a look at its titles.
fn features(folder: &Folder, flags: &str, title: &str) -> Vec<Vec<f64>> {
    folder.succeed(&format!("features m.bsn X.csv -o Y.csv --force {flags}"));
    let text = String::from_utf8(folder.read("Y.csv")).unwrap();
    assert!(text.starts_with(title), "{text}");
    let number = |x: &str| f64::from(x.parse::<f32>().unwrap());
    let row = |line: &str| line.split(',').map(number).collect();
    text.lines().skip(1).map(row).collect()
}

fn canonical(folder: &Folder) -> Vec<Vec<f64>> {
    features(folder, "--canonical", "canonical_0,canonical_1,")
}

/// Every member of a random signal's orbit.
fn orbit(group: &str, inputs: usize) -> Vec<Vec<f64>> {
    let x = Random(3).values(inputs);
    let action = known_action(group, Some(inputs)).unwrap();
    action.elements().iter().map(|g| g.moved(&x)).collect()
}

/// Members of an orbit have one form, which is the greatest of them in f32.
fn assert_greatest(found: &[Vec<f64>], orbit: &[Vec<f64>]) {
    let greatest = orbit.iter().max_by(|a, b| a.partial_cmp(b).unwrap());
    let wanted: Vec<f64> = greatest
        .unwrap()
        .iter()
        .map(|&x| (x as f32).into())
        .collect();
    assert_eq!(found.len(), orbit.len());
    assert!(found.iter().all(|form| *form == wanted), "{found:?}");
}

#[test]
fn members_of_an_orbit_have_one_form_which_is_the_greatest_of_them() {
    let folder = Folder::new();
    for (group, inputs) in [("D4", 9), ("O", 8), ("Q8", 8), ("Z4xZ2", 8), ("Z16", 16)] {
        folder.succeed(&format!(
            "model --group {group} --on {inputs} -o m.bsn --force"
        ));
        write(&folder, "X.csv", &orbit(group, inputs));
        assert_greatest(&canonical(&folder), &orbit(group, inputs));
    }
    let made = folder.object("features m.bsn X.csv -o Y.npy --canonical");
    assert_eq!(
        (&made["quantity"], &made["features"]),
        (&"canonical".into(), &16.into())
    );
    assert_eq!(made["dtype"], "float32");
    // Zeros are equal, whatever their signs.
    write(
        &folder,
        "X.csv",
        &[vec![-0.0, 1.0], vec![0.0, 1.0]].map(|x| x.repeat(8)),
    );
    let forms = canonical(&folder);
    assert_eq!(forms[0], forms[1]);
}

#[test]
fn signals_that_have_the_same_invariants_have_other_forms() {
    let folder = Folder::new();
    for (group, inputs) in [("A4", 4), ("O", 6)] {
        let line = format!("model --group {group} --on {inputs} -o m.bsn --force");
        let confused: Vec<Vec<f64>> =
            serde_json::from_value(folder.object(&line)["confused"].clone()).unwrap();
        write(&folder, "X.csv", &confused);
        let apart = |rows: &[Vec<f64>]| -> f64 {
            let squares = rows[0].iter().zip(&rows[1]).map(|(a, b)| (a - b).powi(2));
            squares.sum::<f64>().sqrt()
        };
        // Invariants in f32.
        let invariants = apart(&features(&folder, "", "re_0,im_0,"));
        assert!(invariants < 1e-5, "{group}: {invariants:e}");
        // Signals of unit length; the search for them counts what is further than 0.01.
        let forms = apart(&canonical(&folder));
        assert!(forms > 0.01, "{group}: {forms:e}");
    }
    let (_, _, said) = folder.run("model --group A4 --on 4 -o m.bsn --force");
    assert!(said.contains("`bispectral features --canonical`"), "{said}");
}

#[test]
fn the_group_is_that_of_the_permutations_beside_the_model_and_without_one_it_is_refused() {
    let folder = Folder::new();
    let action = known_action("D4", Some(9)).unwrap();
    let forms = couplings_of(&action, 0).unwrap();
    let bytes = encode(&forms, Encoding::F32, "nameless", None).unwrap();
    folder.write("m.bsn", bytes);
    write(&folder, "X.csv", &orbit("D4", 9));
    let refused = "m.bsn: how its group permutes the inputs is not known";
    let line = "features m.bsn X.csv -o C.npy --canonical";
    folder.refuse_with(line, refused);
    folder.succeed("model --group D4 --on 9 -o d.bsn --permutations permutations.npy");
    assert_greatest(&canonical(&folder), &orbit("D4", 9));
    // Those of another group, and of a subgroup where the model says whose it is.
    folder.succeed("model --group Z9 -o d.bsn --permutations permutations.npy --force");
    folder.refuse_with(line, refused);
    folder.succeed("model --group Z4 --on 9 -o d.bsn --permutations permutations.npy --force");
    folder.succeed("model --group D4 --on 9 -o m.bsn --force");
    assert_greatest(&canonical(&folder), &orbit("D4", 9));

    // Characters of Z4 with two inputs exchanged: shifts are not its group.
    folder.write("permuted.npy", exchanged());
    folder.succeed("import permuted.npy -o m.bsn --group Z4 --force");
    write(&folder, "X.csv", &orbit("Z4", 4));
    folder.refuse_with(line, refused);
}

/// i^(kn) with the last two columns exchanged.
fn exchanged() -> Vec<u8> {
    const POWERS: [[f64; 2]; 4] = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]];
    let rows = (0..4).flat_map(|k| [0, 1, 3, 2].map(|n| POWERS[k * n % 4]));
    crate::npy(
        "'<c16'",
        crate::Order::C,
        "(4, 4)",
        crate::f64s(rows.flatten()),
    )
}
