//! `bispectral invert`: signals to invariants and back, in any form a group's characters come in.

use crate::characters::{characters, disguised, import, sum};
use crate::{Folder, Order, Random, f64s, npy};
use serde_json::Value;

/// The numbers of a float32 array that the command wrote.
fn floats(bytes: &[u8], shape: &str) -> Vec<f64> {
    let begin = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..begin]).unwrap();
    assert!(header.contains("'descr': '<f4'"), "{header}");
    assert!(
        header.contains(&format!("'shape': ({shape}, )")),
        "{header}"
    );
    let (numbers, rest) = bytes[begin..].as_chunks::<4>();
    assert!(rest.is_empty());
    let values = numbers.iter().map(|&number| f32::from_le_bytes(number));
    values.map(f64::from).collect()
}

/// `X.npy` of random signals, and `Y.npy` with their invariants.
fn signals(folder: &Folder, count: usize, inputs: usize, random: &mut Random) -> Vec<Vec<f64>> {
    let x: Vec<Vec<f64>> = (0..count).map(|_| random.values(inputs)).collect();
    let shape = format!("({count}, {inputs})");
    let data = f64s(x.iter().flatten().copied());
    folder.write("X.npy", npy("'<f8'", Order::C, &shape, data));
    folder.succeed("features m.bsn X.npy -o Y.npy --force --quiet");
    x
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// ‖x/‖x‖ − y/‖y‖‖.
fn distance(x: &[f64], y: &[f64]) -> f64 {
    let (x_norm, y_norm) = (norm(x), norm(y));
    let difference: Vec<f64> = x
        .iter()
        .zip(y)
        .map(|(x, y)| x / x_norm - y / y_norm)
        .collect();
    norm(&difference)
}

#[test]
fn signals_come_back_up_to_the_group_whatever_their_characters_are_disguised_as() {
    come_back("");
}

#[test]
fn and_from_a_selection_of_as_many_invariants_as_there_are_elements() {
    come_back("--pairs selective");
    come_back("--pairs selective:2 --structure cyclic");
}

/// From the invariants of models exported with these flags, or imported where there are none.
fn come_back(flags: &str) {
    for factors in [&[8][..], &[4, 2], &[2, 2, 2], &[15], &[3, 3], &[6, 4]] {
        let mut random = Random(11);
        let order = factors.iter().product();
        // Rows in any order, of any length and at any phase.
        let mut w = disguised(factors, &mut random);
        for row in &mut w {
            let length = 2.0 + random.next();
            row.iter_mut().for_each(|w| *w *= length);
        }
        let folder = Folder::new();
        import(&folder, &w);
        if !flags.is_empty() {
            folder.succeed(&format!("export m.bsn -o few.bsn --quiet {flags}"));
            std::fs::rename(folder.path("few.bsn"), folder.path("m.bsn")).unwrap();
        }
        let x = signals(&folder, 20, order, &mut random);
        let object = folder.object("invert m.bsn Y.npy -o back.npy");
        assert_eq!(object["samples"], 20);
        assert!(object["group"].is_string(), "{factors:?}");
        assert_eq!(object["undetermined"].as_array().unwrap().len(), 0);
        let residuals = object["residuals"].as_array().unwrap();
        assert_eq!(residuals.len(), 20);
        assert!(
            residuals.iter().all(|r| r.as_f64().unwrap() < 1e-5),
            "{factors:?}"
        );

        let (factors, positions) = places(&folder);
        let back = floats(&folder.read("back.npy"), &format!("20, {order}"));
        for (x, back) in x.iter().zip(back.chunks(order)) {
            assert!((norm(back) - 1.0).abs() < 1e-6);
            let at = |place: Vec<usize>| x[positions.iter().position(|p| *p == place).unwrap()];
            let moved = |by: &Vec<usize>| -> Vec<f64> {
                let places = positions.iter().map(|place| sum(place, by, &factors));
                places.map(at).collect()
            };
            let distances = positions.iter().map(|by| distance(&moved(by), back));
            let nearest = distances.fold(f64::INFINITY, f64::min);
            assert!(nearest < 1e-3, "{factors:?} {nearest}");
        }
    }
}

/// The orders of the group's factors, and each input's element.
fn places(folder: &Folder) -> (Vec<usize>, Vec<Vec<usize>>) {
    let found = folder.object("group m.bsn");
    let numbers = |value: &Value| -> Vec<usize> {
        let numbers = value.as_array().unwrap().iter();
        numbers.map(|n| n.as_u64().unwrap() as usize).collect()
    };
    let positions = found["positions"].as_array().unwrap();
    (
        numbers(&found["factors"]),
        positions.iter().map(numbers).collect(),
    )
}

#[test]
fn what_is_no_array_of_invariants_is_refused() {
    let folder = Folder::new();
    import(&folder, &disguised(&[6], &mut Random(1)));
    let complex = |rows: usize, columns: usize, parts: Vec<f64>| {
        npy(
            "'<c16'",
            Order::C,
            &format!("({rows}, {columns})"),
            f64s(parts),
        )
    };
    let with = |at: usize, value: f64| {
        let mut parts = vec![0.5; 2 * 2 * 21];
        parts[at] = value;
        parts
    };
    let mut zeros = vec![0.5; 2 * 2 * 21];
    zeros[42..].fill(0.0);
    for (bytes, refusal) in [
        (
            complex(2, 20, vec![0.5; 80]),
            "samples of 20 values where m.bsn has 21 invariants: ",
        ),
        (
            npy("'<f8'", Order::C, "(1, 21)", f64s(vec![0.5; 21])),
            "the invariants are float64: ",
        ),
        (
            complex(2, 21, with(44, f64::NAN)),
            "sample 1: column 1 is NaN",
        ),
        (
            complex(2, 21, with(3, f64::INFINITY)),
            "sample 0: column 1 is 0.5+infi: ",
        ),
        (complex(2, 21, zeros), "sample 1: every value is zero: "),
        (complex(0, 21, vec![]), "the array is empty"),
    ] {
        folder.write("bad.npy", bytes);
        folder.refuse_with(
            "invert m.bsn bad.npy -o X.npy",
            &format!("bad.npy: {refusal}"),
        );
    }
    folder.refuse_with(
        "invert m.bsn absent.npy -o X.npy",
        "absent.npy: there is no",
    );
    folder.refuse_with(
        "invert absent.bsn bad.npy -o X.npy",
        "absent.bsn: there is no",
    );
    folder.write("X.npy", "precious");
    folder.refuse_with("invert m.bsn bad.npy -o X.npy", "X.npy: exists already: ");
}

#[test]
fn a_signal_that_its_invariants_do_not_determine_is_named() {
    // f(1)² f(2) is all that the bispectrum of a signal on Z4 without a mean has.
    let folder = Folder::new();
    import(&folder, &characters(&[4]));
    let x = [1.0, 2.0, -4.0, 1.0, 1.0, 2.0, 3.0, 5.0];
    folder.write("X.npy", npy("'<f8'", Order::C, "(2, 4)", f64s(x)));
    folder.succeed("features m.bsn X.npy -o Y.npy --quiet");
    let (code, _, stderr) = folder.run("invert m.bsn Y.npy -o back.npy");
    assert_eq!(code, Some(0), "{stderr}");
    let line = stderr.lines().next().unwrap();
    assert!(
        line.starts_with("sample 0: not determined: the coefficients of characters 0 are zero"),
        "{line}"
    );
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    let object = folder.object("invert m.bsn Y.npy -o back.npy --force");
    assert_eq!(object["undetermined"][0]["sample"], 0);
    assert_eq!(object["undetermined"][0]["moduli"], 1);
    assert_eq!(object["undetermined"].as_array().unwrap().len(), 1);
}

#[test]
fn threads_leave_the_bytes_as_they_are() {
    let folder = Folder::new();
    let mut random = Random(5);
    import(&folder, &disguised(&[4, 4], &mut random));
    signals(&folder, 50, 16, &mut random);
    folder.succeed("invert m.bsn Y.npy -o 1.npy --threads 1 --quiet");
    folder.succeed("invert m.bsn Y.npy -o 3.npy --threads 3 --quiet");
    assert!(folder.read("1.npy") == folder.read("3.npy"));
}

#[test]
fn without_a_group_signals_are_found_by_gradient() {
    let folder = Folder::new();
    let mut random = Random(2);
    let w: Vec<f64> = random.values(2 * 8 * 6);
    folder.write("W.npy", npy("'<c16'", Order::C, "(8, 6)", f64s(w)));
    folder.succeed("import W.npy -o m.bsn --quiet");
    let x = signals(&folder, 3, 6, &mut random);
    let object = folder.object("invert m.bsn Y.npy -o back.npy");
    assert!(object["group"].is_null());
    let back = floats(&folder.read("back.npy"), "3, 6");
    for (at, (x, back)) in x.iter().zip(back.chunks(6)).enumerate() {
        // Nothing moves these signals: 36 invariants of a random W have no symmetry.
        let residual = object["residuals"][at].as_f64().unwrap();
        assert!(residual < 1e-3, "{residual}");
        assert!(distance(x, back) < 1e-2, "{}", distance(x, back));
    }
}
