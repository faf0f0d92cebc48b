//! `bispectral inspect`: the sizes, and what it makes of damaged models and of names that are no names.

use crate::{Folder, Order, f64s, npy};
use bispectral_core::format::{Parts, Weights};

/// Four rows of three inputs, the first of length 2 and the others of length 1.
fn model(folder: &Folder) {
    let mut w = vec![0.0; 12];
    (w[0], w[3], w[7], w[11]) = (2.0, 1.0, -1.0, 1.0);
    folder.write("W.npy", npy("'<f8'", Order::C, "(4, 3)", f64s(w)));
    folder.succeed("import W.npy -o model.bsn --name small --group Z3");
}

#[test]
fn every_size_follows_from_the_dimensions() {
    let folder = Folder::new();
    model(&folder);
    let bytes = folder.read("model.bsn");
    let object = folder.object("inspect model.bsn");
    let (rows, inputs, pairs) = (4, 3, 10);
    assert_eq!(object["file"], "model.bsn");
    assert_eq!(object["name"], "small");
    assert_eq!(object["group"], "Z3");
    assert_eq!(object["inputs"], inputs);
    assert_eq!(object["rows"], rows);
    assert_eq!(object["pairs"], pairs);
    assert_eq!(object["encoding"], "f32");
    assert_eq!(object["format_version"], 1);
    assert_eq!(object["file_bytes"], bytes.len());
    assert_eq!(object["flash_bytes"], bytes.len());
    let ram = &object["ram"];
    assert_eq!(ram["signal_bytes"], 4 * inputs);
    assert_eq!(ram["scratch_bytes"], 8 * (inputs + rows));
    assert_eq!(ram["result_bytes"], 8 * pairs);
    assert_eq!(ram["streaming_bytes"], 4 * inputs + 8 * (inputs + rows));
    assert_eq!(
        ram["total_bytes"],
        4 * inputs + 8 * (inputs + rows) + 8 * pairs
    );
    let work = &object["complex_multiply_adds"];
    assert_eq!(work["coefficients"], f64::from(rows * inputs) / 2.0);
    assert_eq!(work["products"], f64::from(pairs * inputs));
    assert_eq!(work["total"], 36.0);
    assert_eq!(object["largest_deviation_of_row_lengths_from_1"], 1.0);
    let crc: [u8; 4] = *bytes.last_chunk().unwrap();
    assert_eq!(object["crc32"], format!("{:08x}", u32::from_le_bytes(crc)));
}

#[test]
fn people_read_the_same_on_standard_output_or_beside_json_on_standard_error() {
    let folder = Folder::new();
    model(&folder);
    let words = folder.succeed("inspect model.bsn");
    for part in ["small", "Z3", "version 1", "CRC-32", "36 complex", "1.0e0"] {
        assert!(words.contains(part), "{part}: {words}");
    }
    assert_eq!(folder.succeed("inspect model.bsn --quiet"), words);
    let (_, _, beside) = folder.run("inspect model.bsn --json");
    assert_eq!(beside, words);
    let (_, _, beside) = folder.run("inspect model.bsn --json --quiet");
    assert_eq!(beside, "");
}

#[test]
fn a_name_that_commands_a_terminal_is_shown_and_not_obeyed() {
    let folder = Folder::new();
    let name = "a\x1b[2J\u{9b}31m\nb";
    let parts = Parts {
        inputs: 1,
        rows: 1,
        name,
        group: Some("\u{202e}Z4"),
        weights: Weights::F32((&[1.0, 0.0]).into()),
        ..Parts::default()
    };
    let mut bytes = vec![0; parts.encoded_len().unwrap()];
    folder.write("model.bsn", parts.write(&mut bytes).unwrap());
    let words = folder.succeed("inspect model.bsn");
    assert!(words.contains("a\\u{1b}[2J\\u{9b}31m\\nb\n"), "{words}");
    assert!(words.contains("\\u{202e}Z4\n"), "{words}");
    let (_, stdout, stderr) = folder.run("inspect model.bsn --json");
    assert!(!(stdout + &stderr).contains(['\x1b', '\u{9b}', '\u{202e}']));
    assert_eq!(folder.object("inspect model.bsn")["name"], name);
}

#[test]
fn a_damaged_model_is_refused() {
    let folder = Folder::new();
    model(&folder);
    let whole = folder.read("model.bsn");
    let mut flipped = whole.clone();
    flipped[60] ^= 4;
    let mut newer = whole.clone();
    newer[4] = 9;
    for (bytes, refusal) in [
        (vec![], "the model is truncated"),
        (whole[..whole.len() - 1].to_vec(), "the model is truncated"),
        ([&whole[..], b"\n"].concat(), ""),
        (flipped, "checksum differs (stored "),
        (newer, "format version 9"),
        (b"PK\x03\x04and so on".to_vec(), "not a bispectral model"),
    ] {
        folder.write("bad.bsn", bytes);
        let beginning = format!("bad.bsn: {refusal}");
        folder.refuse_with("inspect bad.bsn", &beginning);
        folder.refuse_with("features bad.bsn W.npy -o Y.npy", &beginning);
    }
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = Folder::new();
    folder.refuse_with("inspect absent.bsn", "absent.bsn: there is no such file");
    folder.refuse_with("inspect .", ".: the folder holds no model.bsn: ");
    #[cfg(unix)]
    folder.refuse_with("inspect /dev/zero", "/dev/zero: is a pipe or a device");
}
