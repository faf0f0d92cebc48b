//! A file of lines that grows, and can be taken back to where it was.

use super::disk;
use crate::{Error, Result};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Lines wait here before they are written.
const BUFFER: usize = 1 << 16;

/// Lines that are appended to a file.
#[derive(Debug)]
pub struct Lines {
    path: PathBuf,
    file: File,
    buffer: Vec<u8>,
    length: u64,
}

impl Lines {
    /// The file at `path`, cut to `length` bytes. Where it has fewer, or a line would be cut in two, the lines that are
    /// whole stay; how many bytes are missing, [`missing`](Self::missing) would have said.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn open(path: &Path, length: u64) -> Result<Self> {
        let wrong = |error| Error::writing(path, &error);
        disk::creating().map_err(wrong)?;
        let mut options = File::options();
        options.create(true).truncate(false).read(true).write(true);
        let mut file = options.open(path).map_err(wrong)?;
        let found = file.metadata().map_err(wrong)?.len();
        let whole = whole_lines(&mut file, length.min(found)).map_err(wrong)?;
        if whole != found {
            disk::cut(&file, whole).map_err(wrong)?;
        }
        file.seek(SeekFrom::Start(whole)).map_err(wrong)?;
        Ok(Lines {
            path: path.to_owned(),
            file,
            buffer: Vec::new(),
            length: whole,
        })
    }

    /// How many of the `length` bytes that the file at `path` should have are not there.
    #[must_use]
    pub fn missing(path: &Path, length: u64) -> u64 {
        let found = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        length.saturating_sub(found)
    }

    /// Appends `line` and the end of a line.
    ///
    /// # Errors
    /// The disk is full, or fails.
    pub fn add(&mut self, line: &str) -> Result<()> {
        self.buffer.extend(line.as_bytes());
        self.buffer.push(b'\n');
        if self.buffer.len() >= BUFFER {
            self.write()?;
        }
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        disk::write(&mut self.file, &self.path, &self.buffer)
            .map_err(|error| Error::writing(&self.path, &error))?;
        self.length += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Brings everything to the disk, and returns how long the file is.
    ///
    /// # Errors
    /// The disk is full, or fails.
    pub fn flush(&mut self) -> Result<u64> {
        self.write()?;
        disk::sync(&self.file, &self.path).map_err(|error| Error::writing(&self.path, &error))?;
        Ok(self.length)
    }
}

/// How many of the first `length` bytes are whole lines.
fn whole_lines(file: &mut File, mut length: u64) -> std::io::Result<u64> {
    let mut block = Vec::new();
    while length > 0 {
        let begin = length.saturating_sub(BUFFER as u64);
        file.seek(SeekFrom::Start(begin))?;
        block.clear();
        file.take(length - begin).read_to_end(&mut block)?;
        if let Some(at) = block.iter().rposition(|&byte| byte == b'\n') {
            return Ok(begin + at as u64 + 1);
        }
        length = begin;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn lines_that_are_whole_stay_and_nothing_is_padded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        for (text, length, left) in [
            ("one\ntwo\nthree\n", 8, "one\ntwo\n"),
            ("one\ntwo\nthr", 14, "one\ntwo\n"),
            ("one\ntwo\nthree\n", 10, "one\ntwo\n"),
            ("one", 100, ""),
            ("", 100, ""),
            ("one\n", 0, ""),
        ] {
            fs::write(&path, text).unwrap();
            let mut lines = Lines::open(&path, length).unwrap();
            lines.add("more").unwrap();
            assert_eq!(lines.flush().unwrap(), left.len() as u64 + 5);
            assert_eq!(fs::read_to_string(&path).unwrap(), format!("{left}more\n"));
        }
        let long = "x".repeat(3 * BUFFER);
        fs::write(&path, format!("one\n{long}")).unwrap();
        assert_eq!(Lines::open(&path, u64::MAX).unwrap().flush().unwrap(), 4);
    }
}
