//! The modules of this crate are layers: each uses only those above it in the table of the crate's documentation.
//!
//! What is in tests may use anything. `crate::Error`, which every layer returns, knows the errors of all of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// From the lowest to the highest, as the table of `lib.rs` has them.
fn layers() -> Vec<String> {
    let text = fs::read_to_string(source().join("lib.rs")).unwrap();
    let rows = text
        .lines()
        .filter_map(|line| line.strip_prefix("//! | [`"));
    rows.map(|row| row.split('`').next().unwrap().to_owned())
        .collect()
}

fn source() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))
}

/// What the code of a file names behind `crate::`, its tests and comments left out.
fn used(text: &str) -> BTreeSet<String> {
    let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap();
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n");
    let mut found = BTreeSet::new();
    for path in code.split("crate::").skip(1) {
        let group = path.strip_prefix('{').and_then(|path| path.split_once('}'));
        // `crate::{a::b, c}` names a and c.
        for name in group.map_or(path, |(names, _)| names).split(',') {
            let name = name.trim_start();
            let end = name.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
            found.insert(name[..end.unwrap_or(name.len())].to_owned());
            if group.is_none() {
                break;
            }
        }
    }
    found
}

/// Every file of a folder, by its path.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path.display().to_string(), text));
        }
    }
    found
}

/// The edges of `layer` that point up or leave the table.
fn upward(layers: &[String], layer: usize, text: &str) -> Vec<String> {
    let below = &layers[..=layer];
    let is_root = |name: &String| ["Error", "Result", "printable"].contains(&name.as_str());
    used(text)
        .into_iter()
        .filter(|name| !below.contains(name) && !is_root(name))
        .collect()
}

#[test]
fn every_module_is_a_layer() {
    let text = fs::read_to_string(source().join("lib.rs")).unwrap();
    let modules = text
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod "));
    let mut modules: Vec<&str> = modules.map(|name| name.trim_end_matches(';')).collect();
    modules.retain(|name| *name != "printable");
    let mut layers = layers();
    layers.sort();
    assert_eq!(layers, modules);
}

#[test]
fn no_module_uses_one_above_it() {
    let layers = layers();
    let mut seen = 0;
    for (number, layer) in layers.iter().enumerate() {
        for (path, text) in files(&source().join(layer)) {
            if path.ends_with("tests.rs") {
                continue;
            }
            let upward = upward(&layers, number, &text);
            assert!(
                upward.is_empty(),
                "{path}: a file of `{layer}` uses {upward:?}"
            );
            seen += used(&text).len();
        }
    }
    // An empty folder would pass, too.
    assert!(seen > 100, "{seen} uses were found");
}

#[test]
fn no_word_of_the_library_is_a_flag_of_the_command() {
    for (path, text) in files(source()) {
        let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap();
        for line in code.lines() {
            let is_comment = line.trim_start().starts_with("//");
            // What is written above emitted source code says how to make it again; generated programs call their flashing tool.
            let is_emitted = line.contains("Made by") || line.contains("probe-rs run");
            let flag = line.split("--").nth(1).and_then(|word| word.chars().next());
            let is_flag =
                line.contains('"') && flag.is_some_and(|letter| letter.is_ascii_lowercase());
            assert!(is_comment || is_emitted || !is_flag, "{path}: {line}");
        }
    }
}

#[test]
fn an_edge_that_points_up_is_found_however_it_is_written() {
    let layers = layers();
    let data = layers.iter().position(|layer| layer == "data").unwrap();
    let sound = "use crate::numeric::Real;\n// crate::learn\n\n#[cfg(test)]\nmod tests {\n    use crate::learn::Step;\n}\n";
    assert_eq!(upward(&layers, data, sound), [""; 0]);
    for (text, found) in [
        ("use crate::learn::Trainer;", "learn"),
        ("use crate::{Error, group::Cayley, storage};", "group"),
        ("fn f() -> crate::model::file::ModelFile {}", "model"),
        ("use crate::\n    classify::mlp::Mlp;", "classify"),
    ] {
        let text = text.replace("crate::\n    ", "crate::");
        assert_eq!(upward(&layers, data, &text), [found], "{text}");
    }
}
