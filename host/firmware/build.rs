//! The source of `bispectral-core` and of its C interface, put into this crate: a program that is written with it
//! builds wherever there is Rust.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, error::Error, fs};

/// What a program needs of the core, below its folder.
const PARTS: [&str; 9] = [
    "Cargo.toml",
    "README.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "src",
    "ffi/Cargo.toml",
    "ffi/README.md",
    "ffi/include",
    "ffi/src",
];

fn main() -> Result<(), Box<dyn Error>> {
    let core = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../core");
    let mut files = Vec::new();
    for part in PARTS {
        let path = core.join(part);
        println!("cargo::rerun-if-changed={}", path.display());
        collect(&path, part, &mut files)?;
    }
    files.sort();
    let mut text = String::from("&[\n");
    for (name, path) in files {
        let path = path.canonicalize()?;
        writeln!(text, "    ({name:?}, include_str!({path:?})),")?;
    }
    text += "]\n";
    fs::write(Path::new(&env::var("OUT_DIR")?).join("core.rs"), text)?;
    Ok(())
}

/// Every file of a folder, or the file itself, by its name below the core's folder.
fn collect(
    path: &Path,
    name: &str,
    files: &mut Vec<(String, PathBuf)>,
) -> Result<(), Box<dyn Error>> {
    if !path.is_dir() {
        files.push((name.to_owned(), path.to_owned()));
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let below = format!("{name}/{}", entry.file_name().to_string_lossy());
        collect(&entry.path(), &below, files)?;
    }
    Ok(())
}
