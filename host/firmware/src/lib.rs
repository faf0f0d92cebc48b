//! A whole firmware project around a model: what [`Project`] writes, and the source of `bispectral-core` beside it, so that the
//! project builds wherever there is Rust. As files, or as one archive.

mod archive;

pub use archive::zip;
use bispectral_learn::Result;
use bispectral_learn::model::firmware::{Project, ProjectFile};

/// The core's files and what they are called, for programs that have it beside them.
const CORE: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/core.rs"));

/// Every file of a project, those of the core below `bispectral-core`.
///
/// # Errors
/// A window that the core refuses, by its number.
pub fn files(project: &Project<'_>) -> Result<Vec<ProjectFile>> {
    let mut files = project.files()?;
    files.extend(CORE.iter().map(|(name, text)| {
        let text = without_tests(name, text);
        (format!("bispectral-core/{name}"), text.into_bytes())
    }));
    Ok(files)
}

/// A manifest of the core without what only its tests need.
fn without_tests(name: &str, text: &str) -> String {
    if !name.ends_with("Cargo.toml") {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut test = false;
    for line in text.lines() {
        if line.starts_with('[') {
            test = line == "[dev-dependencies]";
        }
        if !test {
            kept += line;
            kept.push('\n');
        }
    }
    kept
}
