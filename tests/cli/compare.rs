//! `bispectral compare` and `bispectral classify fit`: from a table of signals to a class.

use super::Folder;

/// 120 signals of 32 samples, each begun elsewhere; two of the three states differ in a phase only.
fn signals(folder: &Folder) {
    let (mut x, mut y) = (String::new(), String::from("state\n"));
    for s in 0..120_usize {
        let (class, start) = (s % 3, (s * 7 % 32) as f32);
        let row: Vec<String> = (0..32)
            .map(|n| {
                let t = (n as f32 + start) * std::f32::consts::TAU / 32.0;
                let phase = [0.0, 1.5, 0.0][class];
                let noise = ((s * 131 + n * 37) % 101) as f32 / 2000.0;
                let third = [0.0, 0.0, 0.5][class] * (3.0 * t).sin();
                (t.sin() + 0.6 * (2.0 * t + phase).sin() + third + noise).to_string()
            })
            .collect();
        x += &(row.join(",") + "\n");
        y += ["new\n", "worn\n", "broken\n"][class];
    }
    folder.write("X.csv", x);
    folder.write("y.csv", y);
}

#[test]
fn the_table_says_whether_invariants_help() {
    let folder = Folder::new();
    signals(&folder);
    let found = folder.object("compare --data X.csv --labels y.csv --draws 2");
    let accuracy = |method: &str| {
        let lines = found["methods"].as_array().unwrap();
        let line = lines.iter().find(|line| line["method"] == method).unwrap();
        line["accuracy"].as_f64().unwrap()
    };
    assert!(accuracy("|z|, 1-NN") < 0.9);
    assert!(accuracy("degree one, 1-NN") > 0.97);
    assert!(accuracy("degree one, chain, smallest") > 0.97);
}

#[test]
fn one_command_goes_from_signals_to_a_model_that_classifies() {
    let folder = Folder::new();
    signals(&folder);
    let found = folder
        .object("classify fit --data X.csv --labels y.csv -o motor.bsn --fit flash=32K,ram=4K");
    assert_eq!(found["right"], found["held_out"]);
    assert!(found["flash_bytes"].as_u64().unwrap() < 4096, "{found}");
    assert_eq!(found["classes"][2], "worn");
    folder.succeed("classify predict motor.bsn X.csv -o found.csv");
    let features = folder.object("features motor.bsn X.csv -o Y.npy");
    assert_eq!(features["quantity"], "degree-one");
    assert_eq!(features["dtype"], "float32");
}
