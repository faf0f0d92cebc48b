//! Photographs from a folder: PNG and van Hateren's `.iml` and `.imc`, in the order of their names.
//!
//! Colour becomes luminance, 0.2126 R + 0.7152 G + 0.0722 B (Rec. 709) of the stored values.

pub mod iml;
pub mod natural;
pub mod patches;
mod png;

use bispectral_learn::storage::open_file;
use bispectral_learn::{Error, Result};
use ndarray::Array2;
use std::ffi::OsStr;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// A grey image.
#[derive(Debug, Clone, PartialEq)]
pub struct Photograph {
    /// The file it is from, or what it is called.
    pub name: String,
    /// Rows and columns: 0 to 1 of a PNG, the camera's units of an `.iml`.
    pub image: Array2<f32>,
}

/// The photographs in a folder, read one at a time: van Hateren's 4,000 need 25 GB.
///
/// ```
/// use bispectral_run::photographs::Folder;
///
/// let folder = tempfile::tempdir()?;
/// let error = Folder::open(folder.path()).unwrap_err();
/// assert!(error.to_string().contains("no photographs"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Folder {
    files: Vec<PathBuf>,
}

impl Folder {
    /// Looks for photographs in the folder at `path`, not in folders within.
    ///
    /// # Errors
    /// It cannot be read, or there are none.
    pub fn open(path: &Path) -> Result<Self> {
        let reading = |error| Error::reading(path, &error);
        if !fs::metadata(path).map_err(reading)?.is_dir() {
            return Err(Error::file(
                path,
                "is not a folder",
                "name the folder of the photographs",
            ));
        }
        let mut files = Vec::new();
        for entry in fs::read_dir(path).map_err(reading)? {
            let file = entry.map_err(reading)?.path();
            if Kind::of(&file).is_some() && !file.is_dir() {
                files.push(file);
            }
        }
        if files.is_empty() {
            return Err(Error::file(
                path,
                "there are no photographs in it",
                "name a folder with .png, .iml or .imc files",
            ));
        }
        files.sort();
        Ok(Folder { files })
    }

    /// Where the photographs are; at least one.
    #[must_use]
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }
}

enum Kind {
    Png,
    VanHateren,
}

impl Kind {
    fn of(path: &Path) -> Option<Self> {
        let extension = path.extension().and_then(OsStr::to_str)?;
        let is = |name: &str| extension.eq_ignore_ascii_case(name);
        if is("png") {
            Some(Kind::Png)
        } else if is("iml") || is("imc") {
            Some(Kind::VanHateren)
        } else {
            None
        }
    }
}

/// The photograph in the file at `path`: `.iml` or `.imc` by its name, otherwise PNG.
///
/// # Errors
/// It cannot be read, is damaged, or has more than 64 Mi pixels.
pub fn read(path: &Path) -> Result<Photograph> {
    let image = match Kind::of(path) {
        Some(Kind::VanHateren) => iml::read(path)?,
        Some(Kind::Png) | None => {
            let (file, _) = open_file(path)?;
            png::decode(BufReader::new(file))
                .map_err(|(what, remedy)| Error::file(path, what, remedy))?
        }
    };
    Ok(Photograph {
        name: path.display().to_string(),
        image,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALPS: &[u8] = include_bytes!("../../data/natural/alps.png");

    #[test]
    fn a_folder_is_read_in_the_order_of_names() {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in [("b.PNG", ALPS), ("a.png", ALPS), ("notes.txt", b"notes")] {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        fs::write(
            folder.path().join("c.iml"),
            vec![1; 2 * iml::WIDTH * iml::HEIGHT],
        )
        .unwrap();
        fs::create_dir(folder.path().join("d.png")).unwrap();
        let found = Folder::open(folder.path()).unwrap();
        let names: Vec<_> = found
            .files()
            .iter()
            .filter_map(|file| file.file_name())
            .collect();
        assert_eq!(names, ["a.png", "b.PNG", "c.iml"]);
        assert_eq!(read(&found.files()[1]).unwrap().image.dim(), (242, 512));
        assert_eq!(read(&found.files()[2]).unwrap().image[[0, 0]], 257.0);
    }

    #[test]
    fn what_is_no_folder_of_photographs_is_refused_in_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.png");
        fs::write(&file, b"GIF89a").unwrap();
        let missing = folder.path().join("none");
        let empty = folder.path().join("empty");
        fs::create_dir(&empty).unwrap();
        for (result, refusal) in [
            (
                Folder::open(&missing).map(drop),
                "none: there is no such file: check the path",
            ),
            (
                Folder::open(&file).map(drop),
                "a.png: is not a folder: name the folder of the photographs",
            ),
            (
                Folder::open(&empty).map(drop),
                "empty: there are no photographs in it: name a folder with .png, .iml or .imc files",
            ),
            (
                read(&file).map(drop),
                "a.png: not a valid PNG (Invalid PNG signature.): save it again as PNG",
            ),
        ] {
            let line = result.unwrap_err().to_string();
            assert!(line.ends_with(refusal), "{line}");
        }
    }
}
