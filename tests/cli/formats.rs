//! One reader for all commands: whatever format samples come in, every command takes it and computes the same.

use crate::{Folder, Order, f64s, npy};
use std::io::Write;

/// Signals of 3 × 4 pixels: 24 exemplars, each under all 12 shifts.
const SHAPE: [usize; 2] = [3, 4];
const EXEMPLARS: usize = 24;
const SAMPLES: usize = EXEMPLARS * 12;

/// Whole numbers from 0 to 255, which every format holds exactly.
fn value(exemplar: usize, row: usize, column: usize) -> u8 {
    ((exemplar * 97 + row * row * 31 + column * 53 + exemplar * row * column * 17 + 7) % 251) as u8
}

/// All samples, sample after sample and row after row.
fn samples() -> Vec<u8> {
    let [height, width] = SHAPE;
    let mut values = Vec::new();
    for sample in 0..SAMPLES {
        let (exemplar, by) = (sample / 12, sample % 12);
        for row in 0..height {
            for column in 0..width {
                let (down, right) = ((row + by / width) % height, (column + by) % width);
                values.push(value(exemplar, down, right));
            }
        }
    }
    values
}

/// The same values in the order in which the first index is fastest.
fn fortran(values: &[u8], columns: usize) -> Vec<u8> {
    let rows = values.len() / columns;
    let column = |column: usize| (0..rows).map(move |row| values[row * columns + column]);
    (0..columns).flat_map(column).collect()
}

fn bytes_of<const N: usize>(values: &[u8], to: fn(u8) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|&value| to(value)).collect()
}

/// An IDX file of 32-bit floats, or of bytes.
fn idx(code: u8, data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, code, 3];
    for length in [SAMPLES, SHAPE[0], SHAPE[1]] {
        bytes.extend((length as u32).to_be_bytes());
    }
    bytes.extend(data);
    bytes
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Every format, by the name of its file.
fn formats() -> Vec<(&'static str, Vec<u8>)> {
    let values = samples();
    let table = format!("({SAMPLES}, 12)");
    let images = format!("({SAMPLES}, 3, 4)");
    let f32s = bytes_of(&values, |value| f32::from(value).to_le_bytes());
    let text: Vec<String> = values
        .chunks(12)
        .map(|row| row.iter().map(u8::to_string).collect::<Vec<_>>().join(","))
        .collect();
    let big = bytes_of(&values, |value| f32::from(value).to_be_bytes());
    // Every value is a whole number below 2048, which binary16 holds.
    let halves = bytes_of(&values, |value| half_bits(value).to_le_bytes());
    let table_of = |separator: &str, field: fn(u8) -> String| {
        let line = |row: &[u8]| {
            row.iter()
                .map(|&v| field(v))
                .collect::<Vec<_>>()
                .join(separator)
        };
        values.chunks(12).map(line).collect::<Vec<_>>()
    };
    let numbered = |lines: &[String]| {
        let line = |(at, line): (usize, &String)| format!("{at},{line}\n");
        lines.iter().enumerate().map(line).collect::<String>()
    };
    let names: Vec<String> = (0..12).map(|column| column.to_string()).collect();
    let names = names.join(",");
    let commas = table_of(";", |value| format!("{value},0"));
    let quoted = table_of(",", |value| format!("\"{value}.0\""));
    vec![
        ("f2.npy", npy("'<f2'", Order::C, &table, &halves)),
        (
            "pandas.csv",
            format!(",{names}\n{}", numbered(&text)).into_bytes(),
        ),
        (
            "no-index.csv",
            format!("{names}\n{}", text.join("\n")).into_bytes(),
        ),
        ("no-header.csv", numbered(&text).into_bytes()),
        (
            "german.csv",
            format!("\u{feff}{}\r\n", commas.join("\r\n")).into_bytes(),
        ),
        (
            "quoted.csv",
            format!(
                "\"a b\",{}\n{}",
                "\"c\",".repeat(10) + "\"d\"",
                quoted.join("\n")
            )
            .into_bytes(),
        ),
        (
            "tabs.txt",
            table_of("\t", |value| value.to_string())
                .join("\n")
                .into_bytes(),
        ),
        ("f4.npy", npy("'<f4'", Order::C, &table, &f32s)),
        (
            "f8.npy",
            npy(
                "'<f8'",
                Order::C,
                &table,
                f64s(values.iter().map(|&v| v.into())),
            ),
        ),
        ("big-endian.npy", npy("'>f4'", Order::C, &table, &big)),
        (
            "fortran.npy",
            npy(
                "'<i2'",
                Order::Fortran,
                &table,
                bytes_of(&fortran(&values, 12), |v| i16::from(v).to_le_bytes()),
            ),
        ),
        ("u1.npy", npy("'|u1'", Order::C, &table, &values)),
        ("images.npy", npy("'<f4'", Order::C, &images, &f32s)),
        ("X.csv", text.join("\n").into_bytes()),
        ("floats-idx3", idx(0x0d, &big)),
        ("floats-idx3.gz", gzip(&idx(0x0d, &big))),
    ]
}

/// The bits of a whole number below 2048 as IEEE 754 binary16.
fn half_bits(value: u8) -> u16 {
    if value == 0 {
        return 0;
    }
    let exponent = value.ilog2();
    let fraction = (u32::from(value) << (10 - exponent)) & 0x3ff;
    ((exponent + 15) << 10 | fraction) as u16
}

/// A folder with a model, labels, and the samples in every format.
fn folder() -> Folder {
    let folder = Folder::new();
    for (name, bytes) in formats() {
        folder.write(name, bytes);
    }
    folder.write("bytes-idx3", idx(0x08, &samples()));
    let label = |sample: usize| (sample / 12).to_string();
    let labels: Vec<String> = (0..SAMPLES).map(label).collect();
    folder.write("y.csv", labels.join("\n"));
    folder.succeed("train --data f4.npy --labels y.csv -o reference --quiet");
    folder
}

#[test]
fn every_command_takes_samples_in_every_format_and_computes_the_same() {
    let folder = folder();
    // A command with its samples at {X}, its output at {OUT}; the file of the output that must not depend on the format.
    let commands = [
        ("train --data {X} --labels y.csv -o {OUT}", "/W.npy"),
        (
            "train --data {X} --transform translate2d -o {OUT}",
            "/W.npy",
        ),
        ("features reference/model.bsn {X} -o {OUT}", ""),
        (
            "attack reference/model.bsn {X} --steps 3 --restarts 0 -o {OUT}",
            "/metamers.npy",
        ),
        (
            "classify train reference/model.bsn --data {X} --labels y.csv --epochs 1 --components 4 --hidden 8 -o {OUT}",
            "/classifier.bin",
        ),
        (
            "classify evaluate first-classifier --data {X} --labels y.csv",
            "",
        ),
        (
            "export reference -o {OUT} --pairs best:5 --data {X} --labels y.csv",
            "",
        ),
    ];
    folder.succeed(
        "classify train reference/model.bsn --data f4.npy --labels y.csv --epochs 1 --components 4 --hidden 8 \
         -o first-classifier --quiet",
    );
    for (number, (command, file)) in commands.into_iter().enumerate() {
        let mut expected = None;
        for (format, _) in formats() {
            // Only these say that the samples are images.
            let is_image = format.contains("images") || format.contains("idx3");
            if command.contains("translate2d") && !is_image {
                continue;
            }
            let out = format!("out-{number}-{format}-");
            let line = command.replace("{X}", format).replace("{OUT}", &out);
            let printed = folder.succeed(&format!("{line} --quiet"));
            let found = if command.contains("{OUT}") {
                folder.read(&format!("{out}{file}"))
            } else {
                printed.into_bytes()
            };
            let expected = expected.get_or_insert_with(|| found.clone());
            assert!(
                *expected == found,
                "{line}: other bytes than from the first format"
            );
        }
        assert!(expected.is_some_and(|bytes| !bytes.is_empty()), "{command}");
    }
}

#[test]
fn bytes_of_an_idx_file_are_shares_of_255_for_every_command() {
    let folder = folder();
    folder.succeed("features reference/model.bsn bytes-idx3 -o bytes.npy --raw --quiet");
    folder.succeed("features reference/model.bsn f4.npy -o whole.npy --raw --quiet");
    let numbers = |name: &str| -> Vec<f32> {
        let bytes = folder.read(name);
        let values = &bytes[bytes.len() - SAMPLES * 78 * 8..];
        values
            .chunks_exact(4)
            .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
            .collect()
    };
    let (bytes, whole) = (numbers("bytes.npy"), numbers("whole.npy"));
    let largest = whole.iter().fold(0.0, |most: f32, x| most.max(x.abs()));
    for (bytes, whole) in bytes.iter().zip(&whole) {
        // β is cubic; f32 rounds each of some ten operations.
        assert!(
            (bytes * 255.0_f32.powi(3) - whole).abs() < 1e-5 * largest,
            "{bytes} {whole}"
        );
    }
}

#[test]
fn labels_are_numbers_or_words_with_or_without_a_header_and_an_index() {
    let folder = folder();
    let reference = folder.read("reference/W.npy");
    let label = |sample: usize| (sample / 12).to_string();
    let word = |sample: usize| format!("thing {}", (b'a' + (sample / 12) as u8) as char);
    let lines = |head: &str, line: &dyn Fn(usize) -> String| {
        let lines: String = (0..SAMPLES).map(|sample| line(sample) + "\n").collect();
        format!("{head}{lines}").into_bytes()
    };
    let wide: Vec<u8> = (0..SAMPLES)
        .flat_map(|sample| word(sample).chars().collect::<Vec<_>>())
        .flat_map(|letter| u32::from(letter).to_le_bytes())
        .collect();
    let narrow: Vec<u8> = (0..SAMPLES)
        .flat_map(|sample| word(sample).into_bytes())
        .collect();
    let one = format!("({SAMPLES},)");
    for (name, bytes) in [
        ("header.csv", lines("orbit\n", &label)),
        ("zero.csv", lines("0\n", &label)),
        (
            "index.csv",
            lines(",orbit\n", &|at| format!("{at},{}", label(at))),
        ),
        ("words.csv", lines("", &word)),
        ("words-header.csv", lines("what it is\n", &word)),
        ("quoted.txt", lines("", &|at| format!("\"{}\"", word(at)))),
        ("unicode.npy", npy("'<U7'", Order::C, &one, &wide)),
        ("bytes.npy", npy("'|S7'", Order::C, &one, &narrow)),
    ] {
        folder.write(name, bytes);
        folder.succeed(&format!(
            "train --data f4.npy --labels {name} -o out-{name} --quiet"
        ));
        assert!(
            folder.read(&format!("out-{name}/W.npy")) == reference,
            "{name}"
        );
    }
}

#[test]
fn what_is_left_out_of_a_file_is_said_and_nothing_with_quiet() {
    let folder = folder();
    let (code, _, said) = folder.run("features reference pandas.csv -o Y.npy");
    assert_eq!(code, Some(0), "{said}");
    for words in [
        "note: pandas.csv: the first line is a header and left out: ,0,1,2",
        "note: pandas.csv: the first column numbers the lines (0 to ",
    ] {
        assert!(said.contains(words), "{said}");
    }
    let (_, stdout, stderr) = folder.run("features reference pandas.csv -o Y.npy --force --quiet");
    assert_eq!((&*stdout, &*stderr), ("", ""));
}

#[test]
fn features_are_written_as_a_table_that_reads_back_the_same() {
    let folder = folder();
    folder.succeed("features reference f4.npy -o Y.npy --quiet");
    folder.succeed("features reference f4.npy -o Y.csv --quiet");
    let bytes = folder.read("Y.npy");
    let text = String::from_utf8(folder.read("Y.csv")).unwrap();
    let mut lines = text.lines();
    assert!(lines.next().unwrap().starts_with("re_0,im_0,re_1,im_1,"));
    let numbers: Vec<f32> = lines
        .flat_map(|line| line.split(','))
        .map(|field| field.parse().unwrap())
        .collect();
    let wanted = bytes[bytes.len() - 4 * numbers.len()..].chunks_exact(4);
    assert_eq!(numbers.len(), SAMPLES * 78 * 2);
    assert!(
        numbers
            .iter()
            .zip(wanted)
            .all(|(number, bytes)| number.to_le_bytes() == bytes)
    );
}
