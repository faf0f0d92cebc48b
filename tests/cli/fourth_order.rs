//! Signals without a third order (odd harmonics on an even cycle): refused with a way on, and told apart by the fourth.

use crate::Folder;
use std::f64::consts::TAU;
use std::fmt::Write as _;

/// The first and the third harmonic of a cycle of 16 as a 12-bit converter has them, in three positions each for two phases
/// between them.
fn balanced(folder: &Folder) {
    let mut lines = String::new();
    for phase in [0.3, 2.0] {
        for by in [0, 3, 11] {
            let values: [String; 16] = std::array::from_fn(|t| {
                let angle = ((t + by) % 16) as f64 * TAU / 16.0;
                let value = 1500.0 * angle.cos() + 500.0 * (3.0 * angle + phase).cos();
                // Of one half the other is exactly the opposite, as the wave has it.
                format!("{:.0}", value)
            });
            let _ = writeln!(lines, "{}", values.join(","));
        }
    }
    folder.write("X.csv", lines);
}

fn rows(folder: &Folder, name: &str) -> Vec<Vec<f32>> {
    let text = String::from_utf8(folder.read(name)).unwrap();
    let number = |x: &str| x.parse::<f32>().unwrap();
    text.lines()
        .skip(1)
        .map(|line| line.split(',').map(number).collect())
        .collect()
}

fn distance(a: &[f32], b: &[f32]) -> f32 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
    squares.sum::<f32>().sqrt()
}

#[test]
fn signals_without_a_third_order_are_told_apart_by_the_fourth() {
    let folder = Folder::new();
    balanced(&folder);
    folder.succeed("model --group Z16 -o third.bsn");
    let refused = folder.refuse("features third.bsn X.csv -o Y.csv");
    assert!(
        refused.contains("sample 0") && refused.contains("--order 4"),
        "{refused}"
    );

    folder.succeed("model --group Z16 --order 4 -o known.bsn");
    folder.succeed("export third.bsn -o exported.bsn --order 4");
    folder.succeed("export third.bsn -o small.bsn --order 4 --encoding i8");
    // Rounding of floats; bytes have a step of 1/127 in U.
    for (model, most) in [
        ("known.bsn", 1e-5),
        ("exported.bsn", 1e-5),
        ("small.bsn", 2e-2),
    ] {
        folder.succeed(&format!("features {model} X.csv -o Y.csv --force"));
        let rows = rows(&folder, "Y.csv");
        for phase in [0, 3] {
            let same = distance(&rows[phase], &rows[phase + 1])
                .max(distance(&rows[phase], &rows[phase + 2]));
            assert!(same < most, "{model}: {same}");
        }
        let other = distance(&rows[0], &rows[3]);
        assert!(other > 0.1, "{model}: {other}");
    }
    let inspected = folder.object("inspect known.bsn");
    assert_eq!(
        (&inspected["structure"], &inspected["group"]),
        (&"couplings".into(), &"Z16".into())
    );
}

#[test]
fn groups_without_a_list_of_fourth_order_are_refused() {
    let folder = Folder::new();
    let refused = folder.refuse("model --group S3 --order 4 -o m.bsn");
    assert!(refused.contains("commutative"), "{refused}");
    let refused = folder.refuse("model --group Z257 --order 4 -o m.bsn");
    assert!(refused.contains("257"), "{refused}");
    let (code, _, said) = folder.run("model --group Z8 --order 5 -o m.bsn");
    assert!(code == Some(2) && said.contains("--order"), "{said}");
}
