//! `bispectral export`: what becomes of a model in each form and file, which forms are refused, and what fits.

use crate::characters::{characters, import};
use crate::{Folder, Order, Random, f64s, npy};
use bispectral_core::{Complex32, Model};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Every form that the characters of Z8 have, and how much their invariants may change along an orbit. f32 and f16 are
/// off by roundings of 2^-24 and 2^-12 a weight, i8 by half of 1/127 of the largest; a dozen of them meet in a term.
const FORMS: [(&str, f32); 9] = [
    ("", 1e-5),
    ("--encoding f16", 1e-2),
    ("--encoding i8", 5e-2),
    ("--structure conjugates --encoding i8", 5e-2),
    ("--structure combined:1", 1e-3),
    ("--structure combined:2 --encoding i8", 5e-2),
    ("--structure cyclic", 1e-5),
    ("--structure fft", 1e-5),
    ("--structure structured", 1e-5),
];

/// The characters of a group as the model `m.bsn`.
fn group(folder: &Folder, factors: &[usize]) {
    import(folder, &characters(factors));
}

/// How far the invariants of a signal and of its shift by three are apart.
fn change(bytes: &[u8]) -> f32 {
    let model = Model::from_bytes(bytes).unwrap();
    let mut x = [3.0, 1.0, 0.5, -1.0, 0.25, 2.0, -0.75, 0.0];
    let invariants = |x: &[f32]| {
        let mut terms = vec![Complex32::ZERO; model.pairs()];
        let mut scratch = vec![0.0; model.scratch_len()];
        model.invariants(x, &mut scratch, &mut terms).unwrap();
        terms
    };
    let original = invariants(&x);
    x.rotate_left(3);
    let squares = original.iter().zip(invariants(&x));
    squares.map(|(a, b)| (a - b).norm_sqr()).sum::<f32>().sqrt()
}

#[test]
fn every_form_of_a_group_is_invariant_and_told_as_inspect_tells_it() {
    let folder = Folder::new();
    group(&folder, &[8]);
    for (form, most) in FORMS {
        let told = folder.object(&format!("export m.bsn -o out.bsn --force {form}"));
        let bytes = folder.read("out.bsn");
        let found = change(&bytes);
        assert!(found < most, "{form}: {found:e}");
        let inspected = folder.object("inspect out.bsn");
        for field in [
            "name",
            "group",
            "inputs",
            "rows",
            "pairs",
            "flash_bytes",
            "ram",
            "complex_multiply_adds",
            "estimated_instructions",
        ] {
            assert_eq!(told[field], inspected[field], "{form}: {field}");
        }
        assert_eq!(told["flash_bytes"], bytes.len());
    }
}

#[test]
fn a_model_without_options_stays_as_it_is() {
    let folder = Folder::new();
    group(&folder, &[4, 2]);
    folder.succeed("export m.bsn -o same.bsn");
    assert_eq!(folder.read("same.bsn"), folder.read("m.bsn"));
    fs::create_dir(folder.path("run")).unwrap();
    folder.write("run/model.bsn", folder.read("m.bsn"));
    folder.succeed("export run -o of-run.bsn");
    assert_eq!(folder.read("of-run.bsn"), folder.read("m.bsn"));
}

/// Labelled signals on Z8: four of random values, each in eight places.
fn signals(folder: &Folder) {
    let mut random = Random(5);
    let mut values = Vec::new();
    for _ in 0..4 {
        let mut x = random.values(8);
        for _ in 0..8 {
            values.extend_from_slice(&x);
            x.rotate_left(1);
        }
    }
    folder.write("X.npy", npy("'<f8'", Order::C, "(32, 8)", f64s(values)));
    let labels = (0..32).flat_map(|sample: i64| (sample / 8).to_le_bytes());
    folder.write(
        "y.npy",
        npy("'<i8'", Order::C, "(32,)", labels.collect::<Vec<u8>>()),
    );
}

#[test]
fn selective_pairs_are_few_and_more_of_them_reach_every_coefficient_twice() {
    let folder = Folder::new();
    group(&folder, &[8]);
    let count = |options: &str| {
        let object = folder.object(&format!("export m.bsn -o few.bsn --force {options}"));
        assert!(change(&folder.read("few.bsn")) < 1e-5, "{options}");
        object["pairs"].as_u64().unwrap()
    };
    let once = count("--pairs selective");
    assert!(once <= 8, "{once}");
    assert_eq!(count("--pairs selective --structure fft"), once);
    group(&folder, &[16]);
    let reached = |ways: usize| {
        folder.object(&format!(
            "export m.bsn -o few.bsn --force --pairs selective:{ways}"
        ))["pairs"]
            .as_u64()
    };
    assert!(reached(1) < reached(2) && reached(2) < reached(3));
}

#[test]
fn the_best_pairs_are_as_many_as_asked_for_and_kept_when_exported_again() {
    let folder = Folder::new();
    group(&folder, &[8]);
    signals(&folder);
    let all = folder.object("export m.bsn -o all.bsn --pairs best:99 --data X.npy --labels y.npy");
    assert_eq!(all["pairs"], 36);
    let object =
        folder.object("export m.bsn -o best.bsn --pairs best:5 --data X.npy --labels y.npy");
    assert_eq!(object["pairs"], 5);
    assert!(change(&folder.read("best.bsn")) < 1e-5);
    let again = folder.object("export best.bsn -o again.bsn --encoding f16");
    assert_eq!(again["pairs"], 5, "the model's own pairs are kept");
}

#[test]
fn forms_that_a_model_cannot_take_are_refused() {
    let folder = Folder::new();
    group(&folder, &[3, 3]);
    for (options, refusal) in [
        (
            "--structure fft",
            "m.bsn: no factor of its group is a power of two",
        ),
        (
            "--structure cyclic --encoding i8",
            "m.bsn: i8 has nothing to encode",
        ),
        (
            "--structure cyclic --encoding f16",
            "m.bsn: f16 has nothing to encode",
        ),
        ("--pairs best:4", "m.bsn: the best pairs need signals"),
        (
            "--fit flash=1",
            "m.bsn: no form fits: the smallest needs are flash=",
        ),
    ] {
        let arguments = format!("export m.bsn -o out.bsn {options} --quiet");
        folder.refuse_with(&arguments, refusal);
    }
    let mut random = Random(7);
    folder.write(
        "W.npy",
        npy("'<c16'", Order::C, "(3, 4)", f64s(random.values(24))),
    );
    folder.succeed("import W.npy -o any.bsn");
    for (options, refusal) in [
        (
            "--structure cyclic",
            "any.bsn: its rows are not the characters of a finite commutative group",
        ),
        (
            "--structure conjugates",
            "any.bsn: no row of W is the conjugate of another",
        ),
        ("--pairs selective", "any.bsn: no group is recognised"),
        (
            "--fit ram=1K",
            "any.bsn: no group is recognised, so --fit needs signals",
        ),
    ] {
        folder.refuse_with(&format!("export any.bsn -o out.bsn {options}"), refusal);
    }
    folder.refuse_with(
        "export absent.bsn -o out.bsn",
        "absent.bsn: there is no such file",
    );
    folder.write("taken.h", "precious");
    folder.refuse_with(
        "export any.bsn -o taken.h --emit c",
        "taken.h: exists already",
    );
}

#[test]
fn bad_words_for_forms_are_bad_usage() {
    let folder = Folder::new();
    group(&folder, &[2]);
    for options in [
        "--pairs some",
        "--pairs best",
        "--pairs best:0",
        "--pairs selective:x",
        "--structure combined",
        "--structure combined:0",
        "--structure combined:256",
        "--structure dense:1",
        "--encoding f64",
        "--emit cobol",
        "--fit rom=1K",
        "--fit flash=1K,flash=2K",
        "--fit ram=-1",
        "--data X.npy",
    ] {
        let (code, stdout, _) = folder.run(&format!("export m.bsn -o out.bsn {options}"));
        assert_eq!((code, &*stdout), (Some(2), ""), "{options}");
    }
}

#[test]
fn what_is_chosen_fits_and_nothing_better_that_fits_was_left() {
    let folder = Folder::new();
    group(&folder, &[8]);
    let fit = "export m.bsn -o fit.bsn --force --quiet --fit";
    let object = folder.object(&format!("{fit} flash=400,ram=1K"));
    let candidates = object["candidates"].as_array().unwrap();
    let chosen: Vec<&Value> = candidates.iter().filter(|c| c["chosen"] == true).collect();
    let [chosen] = chosen[..] else {
        panic!("one is chosen: {chosen:?}");
    };
    assert_eq!(object["flash_bytes"], chosen["flash_bytes"]);
    assert!(folder.read("fit.bsn").len() <= 400);
    let number = |one: &Value, field: &str| one[field].as_f64().unwrap();
    for one in candidates.iter().filter(|one| one["fits"] == true) {
        assert!(number(one, "flash_bytes") <= 400.0 && number(one, "ram_bytes") <= 1024.0);
        assert!(
            number(one, "nearest") <= number(chosen, "nearest") + 5e-4,
            "{one}"
        );
    }
    // With room for everything, nothing is rounded.
    let roomy = folder.object(&format!("{fit} flash=1M,ram=1M"));
    assert!(change(&folder.read("fit.bsn")) < 1e-5, "{roomy}");
    let (_, _, table) = folder.run("export m.bsn -o fit.bsn --force --fit flash=1M");
    for word in ["structure", "combined", "cyclic", "fft", "i8", "> "] {
        let expected = word != "combined";
        assert_eq!(table.contains(word), expected, "{word}: {table}");
    }
}

/// The crate that the emitted module needs, and a program that is nothing but the module and a look at it.
const MANIFEST: &str = "[package]\nname = \"probe\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[lib]\npath = \"lib.rs\"\n\n[workspace]\n";

#[test]
fn the_rust_module_compiles_without_std_and_holds_the_models_bytes() {
    let folder = Folder::new();
    group(&folder, &[8]);
    folder.succeed("export m.bsn -o shaft.rs --emit rust");
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../core");
    let core = core.canonicalize().unwrap();
    let manifest = format!("{MANIFEST}\n[dependencies]\nbispectral-core = {{ path = {core:?} }}\n");
    folder.write("Cargo.toml", manifest);
    folder.write(
        "lib.rs",
        "#![no_std]\n#![deny(warnings, missing_docs)]\n//! A probe.\npub mod shaft;\n\
         const _: () = assert!(shaft::INPUTS == 8 && shaft::ROWS == 8 && shaft::PAIRS == 36 && shaft::SCRATCH == 32);\n\
         #[test]\nfn same() {\n    assert_eq!(shaft::FILE, include_bytes!(\"m.bsn\"));\n    \
         assert!(bispectral_core::Model::from_bytes(shaft::FILE).unwrap().is_aligned());\n}\n",
    );
    let output = Command::new(env!("CARGO"))
        .args(["test", "--offline", "--quiet"])
        .current_dir(folder.path(""))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}

#[test]
fn the_c_header_compiles_as_c_and_holds_the_models_bytes() {
    let folder = Folder::new();
    group(&folder, &[4]);
    folder.succeed("export m.bsn -o My-Model.h --emit c");
    let length = folder.read("m.bsn").len();
    folder.write(
        "probe.c",
        format!(
            "#include <stdio.h>\n#include \"My-Model.h\"\n\
             _Static_assert(MY_MODEL_INPUTS == 4 && MY_MODEL_ROWS == 4 && MY_MODEL_PAIRS == 10, \"sizes\");\n\
             _Static_assert(sizeof my_model_model == {length} && MY_MODEL_BYTES == {length}, \"bytes\");\n\
             int main(void) {{ fwrite(my_model_model, 1, sizeof my_model_model, stdout); return 0; }}\n"
        ),
    );
    let compile = "-std=c11 -Wall -Wextra -Werror probe.c -o probe";
    let output = Command::new("cc")
        .args(compile.split(' '))
        .current_dir(folder.path(""))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let output = Command::new(folder.path("probe")).output().unwrap();
    assert_eq!(output.stdout, folder.read("m.bsn"));
}
