//! `docs/architecture.md` says which crate uses which; here that is compared with the manifests and with the folders.

use bispectral_tests::repository;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

fn read(path: &str) -> String {
    let path = repository().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The words between backquotes.
fn quoted(text: &str) -> BTreeSet<String> {
    let words = text.split('`').skip(1).step_by(2);
    words.map(str::to_owned).collect()
}

/// Crate and what it uses, as the table has it.
fn described() -> BTreeMap<String, BTreeSet<String>> {
    let text = read("docs/architecture.md");
    let rows = text
        .lines()
        .filter(|line| line.starts_with("| `bispectral"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').collect();
        let name = quoted(cells[1]).into_iter().next().expect("a name");
        (name, quoted(cells[2]))
    };
    rows.map(row).collect()
}

/// Crates of the picture and their folders.
fn drawn() -> Vec<(String, String)> {
    let text = read("docs/architecture.md");
    let picture = text.split("```").nth(1).expect("a picture");
    let lines = picture.lines().filter(|line| line.contains("bispectral"));
    let line = |line: &str| {
        let words = line.trim_start_matches(['│', '├', '└', '─', ' ']);
        let mut words = words.split_whitespace().map(str::to_owned);
        (
            words.next().expect("a folder"),
            words.next().expect("a crate"),
        )
    };
    lines.map(line).collect()
}

/// The name of the crate in a folder, and which crates of the project its program needs.
fn manifest(folder: &str) -> (String, BTreeSet<String>) {
    let text = read(&format!("{folder}/Cargo.toml"));
    let name = text.lines().find_map(|line| line.strip_prefix("name = \""));
    let name = name.expect("a name").trim_end_matches('"').to_owned();
    let needs = text
        .split("\n[dependencies]\n")
        .nth(1)
        .expect("dependencies");
    let needs = needs.split("\n[").next().expect("a section");
    let project = needs.lines().filter(|line| line.starts_with("bispectral"));
    let names = project.map(|line| line.split([' ', '.', '=']).next().expect("a name"));
    (name, names.map(str::to_owned).collect())
}

#[test]
fn the_picture_has_every_crate_in_its_folder_and_each_behind_those_it_uses() {
    let drawn = drawn();
    let mut above = BTreeSet::new();
    for (folder, name) in &drawn {
        let (found, uses) = manifest(folder);
        assert_eq!(&found, name, "{folder}");
        assert!(
            uses.is_subset(&above),
            "{name} uses {uses:?}, above it are {above:?}"
        );
        above.insert(name.clone());
    }
    assert_eq!(above, described().into_keys().collect());
}

#[test]
fn the_table_says_what_the_manifests_say() {
    let described = described();
    for (folder, name) in drawn() {
        assert_eq!(manifest(&folder).1, described[&name], "{name}");
    }
    assert_eq!(described.len(), 11);
}

#[test]
fn the_modules_of_the_library_are_those_of_its_documentation() {
    let rows = |text: &str, begin: &str| -> Vec<String> {
        let rows = text.lines().filter_map(|line| line.strip_prefix(begin));
        rows.map(|row| row.split('`').next().expect("a name").to_owned())
            .collect()
    };
    let text = read("docs/architecture.md");
    let inside = text
        .split("## Inside bispectral-learn")
        .nth(1)
        .expect("a section");
    assert_eq!(
        rows(inside, "| `"),
        rows(&read("host/learn/src/lib.rs"), "//! | [`")
    );
}

#[test]
fn the_library_needs_neither_command_line_nor_pictures() {
    let text = read("host/learn/Cargo.toml");
    for crate_name in [
        "clap",
        "ctrlc",
        "maud",
        "png",
        "plotters",
        "bispectral-report",
    ] {
        assert!(
            !text.lines().any(|line| line.starts_with(crate_name)),
            "{crate_name}"
        );
    }
}

/// Crates of which more than one version is in the lock file, and who wants the older one.
const SEVERAL_VERSIONS: [&str; 7] = [
    "bitflags",      // defmt
    "embedded-io",   // postcard wants both
    "equator",       // faer's nano-gemm
    "equator-macro", // the same
    "syn",           // macros of faer, maud and zerocopy; only compilers run them
    "thiserror",     // faer's sysctl, on macOS alone
    "thiserror-impl",
];

#[test]
fn no_further_crate_comes_in_two_versions() {
    let lock = read("Cargo.lock");
    let names = lock.lines().filter_map(|line| line.strip_prefix("name = "));
    let mut seen = BTreeSet::new();
    let several: BTreeSet<&str> = names.filter(|name| !seen.insert(*name)).collect();
    let several: Vec<&str> = several.iter().map(|name| name.trim_matches('"')).collect();
    assert_eq!(
        several, SEVERAL_VERSIONS,
        "cargo tree -d says who wants them"
    );
}

/// Rust files of a folder and those below it.
fn sources(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn what_is_not_built_for_tests_has_none() {
    let workspace = read("Cargo.toml");
    let members = workspace.lines().find(|line| line.starts_with("members"));
    let members = members.expect("members").split('"').skip(1).step_by(2);
    for member in members {
        let text = read(&format!("{member}/Cargo.toml"));
        for section in text
            .split("\n[")
            .filter(|section| section.contains("test = false"))
        {
            if !section.lines().any(|line| line == "test = false") {
                continue;
            }
            let folder = repository().join(member);
            let files = match section
                .lines()
                .find_map(|line| line.strip_prefix("path = "))
            {
                Some(path) => vec![folder.join(path.trim_matches('"'))],
                None => sources(&folder.join("src")),
            };
            for file in files {
                let text = fs::read_to_string(&file).expect("a source");
                assert!(
                    !text.contains("#[test]"),
                    "{} is not built for tests",
                    file.display()
                );
            }
        }
    }
}
