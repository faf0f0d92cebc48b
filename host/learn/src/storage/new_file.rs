//! A file that appears under its name once it is complete.

use super::disk;
use super::leftovers::{self, PREFIX, SUFFIX};
use crate::{Error, Result};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file being written beside where it is to be. [`commit`](Self::commit) gives it its name;
/// without that nothing is left of it.
///
/// ```
/// use bispectral_learn::storage::NewFile;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("model.bsn");
/// let mut file = NewFile::create(&path, false)?;
/// file.write(b"bytes")?;
/// assert!(!path.exists());
/// file.commit()?;
/// assert_eq!(std::fs::read(&path)?, b"bytes");
/// assert!(NewFile::create(&path, false).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    replace: bool,
    /// None once it has its name.
    file: Option<NamedTempFile>,
}

impl NewFile {
    /// Begins a file that will be `path`.
    ///
    /// # Errors
    /// There is one already and `replace` is false, or what is there is no file, or the folder cannot be written to.
    pub fn create(path: &Path, replace: bool) -> Result<Self> {
        let path = destination(path, replace)?;
        let folder = match path.parent() {
            Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
            Some(folder) => folder,
            None => return Err(Error::file(&path, "is a directory", "name a file in it")),
        };
        leftovers::remove_once(folder);
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // As any new file; less what the user's mask takes away.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let writing = |error| Error::writing(&path, &error);
        disk::creating().map_err(writing)?;
        let file = loop {
            let file = builder.tempfile_in(folder).map_err(writing)?;
            // Between these two lines, another process may take it for one that was left behind.
            let _ = file.as_file().try_lock();
            if file.path().exists() {
                break file;
            }
        };
        Ok(NewFile {
            path,
            replace,
            file: Some(file),
        })
    }

    /// Appends `bytes`.
    ///
    /// # Errors
    /// The disk is full, or fails.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let file = self.file();
        let temporary = file.path().to_owned();
        let written = disk::write(file.as_file_mut(), &temporary, bytes);
        written.map_err(|error| Error::writing(&self.path, &error))
    }

    /// Refuses to take the place of one of `inputs`.
    ///
    /// # Errors
    /// Which one it is.
    pub fn other_than(self, inputs: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Self> {
        let mut inputs = inputs.into_iter();
        match inputs.find(|input| is_same(&self.path, input.as_ref())) {
            Some(input) => Err(overwrites(input.as_ref())),
            None => Ok(self),
        }
    }

    fn file(&mut self) -> &mut NamedTempFile {
        self.file
            .as_mut()
            .expect("it is there until it is committed")
    }

    /// Gives the file its name, with all of its bytes on the disk.
    ///
    /// # Errors
    /// The disk fails, or another program made a file of this name meanwhile.
    pub fn commit(mut self) -> Result<()> {
        let (path, replace) = (self.path.clone(), self.replace);
        let temporary = self.file().path().to_owned();
        let synced = disk::sync(self.file().as_file(), &temporary);
        synced.map_err(|error| Error::writing(&path, &error))?;
        let persisted = disk::renamed(&temporary, &path, || {
            let Some(file) = self.file.take() else {
                return Ok(());
            };
            let persisted = if replace {
                file.persist(&path)
            } else {
                file.persist_noclobber(&path)
            };
            persisted.map(drop).map_err(|failed| failed.error)
        });
        persisted.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(&path),
            _ => Error::writing(&path, &error),
        })
    }
}

/// As after a loss of power, where a test asks for one: nothing is tidied up.
impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(file) = &mut self.file
            && disk::fault::is_off()
        {
            file.disable_cleanup(true);
        }
    }
}

/// Whether both are there and are one file.
pub(super) fn is_same(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// An input that would be overwritten.
pub(super) fn overwrites(input: &Path) -> Error {
    let what = "it is read, and would be overwritten";
    Error::file(input, what, "choose another name for the result")
}

fn exists(path: &Path) -> Error {
    Error::Exists {
        path: path.to_owned(),
    }
}

/// Where a file of this name is to be. A link is followed, so that it stays one.
fn destination(path: &Path, replace: bool) -> Result<PathBuf> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            Err(Error::file(path, "is a directory", "name a file in it"))
        }
        Ok(metadata) if !metadata.is_file() => Err(Error::file(
            path,
            "is a pipe or a device",
            "name a file, it is written beside and renamed",
        )),
        Ok(_) if !replace => Err(exists(path)),
        Ok(_) => path
            .canonicalize()
            .map_err(|error| Error::writing(path, &error)),
        Err(_) => Ok(path.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_that_is_not_committed_leaves_nothing_and_destroys_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old");
        fs::write(&path, "before").unwrap();
        let mut file = NewFile::create(&path, true).unwrap();
        file.write(b"half").unwrap();
        drop(file);
        assert_eq!(names(folder.path()), ["old"]);
        assert_eq!(fs::read(&path).unwrap(), b"before");
    }

    #[test]
    fn a_file_that_appeared_meanwhile_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new");
        let file = NewFile::create(&path, false).unwrap();
        fs::write(&path, "another").unwrap();
        assert!(file.commit().is_err());
        assert_eq!(names(folder.path()), ["new"]);
        assert_eq!(fs::read(&path).unwrap(), b"another");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_its_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (link, target) = (folder.path().join("link"), folder.path().join("target"));
        fs::write(&target, "before").unwrap();
        std::os::unix::fs::symlink("target", &link).unwrap();
        let mut file = NewFile::create(&link, true).unwrap();
        file.write(b"after").unwrap();
        file.commit().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&target).unwrap(), b"after");
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_never_replaced() {
        assert!(NewFile::create(Path::new("/dev/null"), true).is_err());
    }
}
