//! Pages in folders: written as data, as HTML and as a figure a file, and read again.

use bispectral_learn::storage::{NewFile, create_folder, read_file};
use bispectral_learn::{Error, Result};
use bispectral_report::{Block, MOST_BYTES, Page, render};
use std::path::{Path, PathBuf};

/// What a page is called in its folder, as data.
pub const PAGE: &str = "page.json";
/// What it is called as people read it.
pub const REPORT: &str = "report.html";

/// Writes a file in `folder`, whole or not at all, and the folder where there is none.
///
/// # Errors
/// It cannot be written.
pub fn write_file(folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let path = folder.join(name);
    let parent = path.parent().unwrap_or(folder);
    create_folder(parent)?;
    let mut file = NewFile::create(&path, true)?;
    file.write(bytes)?;
    file.commit()
}

/// Writes `page` into `folder`: as data, as `report.html`, and each of its figures as an SVG; and says where the page is.
///
/// # Errors
/// A file cannot be written. A figure that cannot be drawn is no error: the page says so in its place.
pub fn publish(page: &Page, folder: &Path) -> Result<PathBuf> {
    write_file(folder, PAGE, &page.to_json())?;
    let blocks = page.sections.iter().flat_map(|section| &section.blocks);
    for block in blocks {
        if let Block::Figure(figure) = block
            && let Some(name) = figure.file_name()
        {
            write_file(folder, &name, figure.drawing.svg().as_bytes())?;
        }
    }
    write_file(folder, REPORT, render(page).html.as_bytes())?;
    Ok(folder.join(REPORT))
}

/// The page that was published in `folder`.
///
/// # Errors
/// There is none, or it is damaged.
pub fn read_page(folder: &Path) -> Result<Page> {
    let path = folder.join(PAGE);
    let text = read_file(&path, "a page", MOST_BYTES as u64)?;
    Page::from_json(&text)
        .map_err(|error| Error::file(&path, error.to_string(), "run the experiment again"))
}

/// What a page says of how it came about; `command` is that with its flags, without the program's name.
#[must_use]
pub fn facts(command: &str, seed: u64) -> Vec<(&'static str, String)> {
    vec![
        (
            "command",
            format!("bispectral {command} --seed {seed} -o DIR"),
        ),
        ("seed", seed.to_string()),
        (
            "program",
            format!("bispectral {}", env!("CARGO_PKG_VERSION")),
        ),
    ]
}
