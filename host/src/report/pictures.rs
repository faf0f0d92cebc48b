//! The pictures of a page: files of its folder, or drawn for it and in no file. All are decoded before they are shown.

use crate::{Error, Result};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

/// A picture of more bytes is not put into a page.
const MOST_BYTES: u64 = 20 << 20;
/// Nor one of more pixels, which few bytes can claim to be.
const MOST_PIXELS: u64 = 64 << 20;

/// Where the pictures of a page are.
#[derive(Debug)]
pub struct Pictures {
    folder: PathBuf,
    drawn: BTreeMap<String, Result<Vec<u8>>>,
}

/// A PNG that browsers can show.
pub(super) struct Png {
    pub(super) bytes: Vec<u8>,
    pub(super) width: usize,
    pub(super) height: usize,
}

impl Pictures {
    /// The files of `folder`.
    #[must_use]
    pub fn of(folder: &Path) -> Self {
        Pictures {
            folder: folder.to_owned(),
            drawn: BTreeMap::new(),
        }
    }

    /// A picture in no file, or why it could not be drawn.
    pub fn add(&mut self, name: impl Into<String>, bytes: Result<Vec<u8>>) {
        self.drawn.insert(name.into(), bytes);
    }

    /// The picture of this name, sound and not too large.
    pub(super) fn load(&self, name: &str) -> Result<Png> {
        let bytes = match self.drawn.get(name) {
            Some(drawn) => drawn.clone()?,
            None => self.read(name)?,
        };
        let (width, height) =
            size(&bytes).map_err(|what| Error::new(name, what, "make it again"))?;
        Ok(Png {
            bytes,
            width,
            height,
        })
    }

    fn read(&self, name: &str) -> Result<Vec<u8>> {
        let reading = |error| Error::reading(Path::new(name), &error);
        let folder = self.folder.canonicalize().map_err(reading)?;
        // With links followed, for whoever wrote the page may have made them, too.
        let path = folder.join(name).canonicalize().map_err(reading)?;
        if !path.starts_with(&folder) {
            let what = "is outside the page's folder";
            return Err(Error::new(name, what, "copy it into the folder"));
        }
        // A pipe would never end.
        if !path.is_file() {
            return Err(Error::new(name, "is not a file", "name a picture"));
        }
        let mut bytes = Vec::new();
        let file = File::open(&path).map_err(reading)?;
        file.take(MOST_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(reading)?;
        if bytes.len() as u64 > MOST_BYTES {
            let what = format!("the picture has more than {} MB", MOST_BYTES >> 20);
            return Err(Error::new(name, what, "draw a smaller one"));
        }
        Ok(bytes)
    }
}

/// Width and height of a PNG, all rows of which can be read.
fn size(bytes: &[u8]) -> std::result::Result<(usize, usize), String> {
    let damaged = |error| format!("is no PNG, or a damaged one ({error})").replace('\n', " ");
    let decoder = png::Decoder::new(Cursor::new(bytes));
    let mut reader = decoder.read_info().map_err(damaged)?;
    let (width, height) = reader.info().size();
    if u64::from(width) * u64::from(height) > MOST_PIXELS {
        return Err(format!("{width} × {height} pixels are too many"));
    }
    while reader.next_row().map_err(damaged)?.is_some() {}
    Ok((width as usize, height as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::cayley;
    use std::fs;

    fn refusal(pictures: &Pictures, name: &str) -> String {
        pictures.load(name).err().unwrap().to_string()
    }

    #[test]
    fn a_sound_picture_is_loaded_with_its_size() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = cayley::png(&[0], &[0], None, "").unwrap();
        fs::create_dir(folder.path().join("run")).unwrap();
        fs::write(folder.path().join("run/cayley.png"), &bytes).unwrap();
        let mut pictures = Pictures::of(folder.path());
        pictures.add("drawn.png", Ok(bytes.clone()));
        for name in ["run/cayley.png", "drawn.png"] {
            let loaded = pictures.load(name).unwrap();
            assert_eq!((loaded.bytes == bytes, loaded.width), (true, 700));
        }
    }

    #[test]
    fn what_is_missing_damaged_or_huge_is_one_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = cayley::png(&[0], &[0], None, "").unwrap();
        let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
        write("half.png", &bytes[..bytes.len() / 2]);
        write("text.png", b"<svg onload=alert(1)>");
        write("huge.png", &vec![0; MOST_BYTES as usize + 1]);
        fs::create_dir(folder.path().join("folder.png")).unwrap();
        let mut pictures = Pictures::of(folder.path());
        pictures.add("undrawn.png", Err(Error::new("W", "no rows", "train")));
        for (name, what) in [
            ("absent.png", "absent.png: there is no such file: "),
            ("half.png", "half.png: "),
            ("text.png", "text.png: "),
            ("huge.png", "huge.png: the picture has more than 20 MB: "),
            ("folder.png", "folder.png: is not a file: "),
            ("undrawn.png", "W: no rows: train"),
        ] {
            let line = refusal(&pictures, name);
            assert!(line.starts_with(what) && !line.contains('\n'), "{line}");
        }
    }

    #[test]
    fn nothing_outside_the_folder_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = cayley::png(&[0], &[0], None, "").unwrap();
        fs::write(folder.path().join("secret.png"), bytes).unwrap();
        fs::create_dir(folder.path().join("page")).unwrap();
        let pictures = Pictures::of(&folder.path().join("page"));
        let absolute = folder.path().join("secret.png");
        #[cfg(unix)]
        std::os::unix::fs::symlink(&absolute, folder.path().join("page/link.png")).unwrap();
        let names = ["../secret.png", absolute.to_str().unwrap()];
        for name in names.into_iter().chain(cfg!(unix).then_some("link.png")) {
            let line = refusal(&pictures, name);
            assert!(line.contains("outside the page's folder"), "{line}");
        }
    }
}
