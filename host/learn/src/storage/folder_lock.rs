//! One writer at a time in a folder. The system forgets the lock with the process that holds it, so one that was killed
//! leaves none behind.

use super::disk;
use crate::{Error, Result};
use std::fs::{File, TryLockError};
use std::path::Path;

/// Held while a command writes the files of a folder.
#[derive(Debug)]
pub struct FolderLock {
    _file: Option<File>,
}

impl FolderLock {
    /// Locks `folder`, which is made where there is none.
    ///
    /// # Errors
    /// Another process holds it, or the folder cannot be made.
    ///
    /// ```
    /// use bispectral_learn::storage::FolderLock;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let lock = FolderLock::acquire(folder.path())?;
    /// assert!(FolderLock::acquire(folder.path()).is_err());
    /// drop(lock);
    /// assert!(FolderLock::acquire(folder.path()).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn acquire(folder: &Path) -> Result<Self> {
        disk::create_folder(folder).map_err(|error| Error::writing(folder, &error))?;
        let Some(file) = FolderLock::file(folder) else {
            return Ok(FolderLock { _file: None });
        };
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(Error::Busy {
                path: folder.to_owned(),
            }),
            // Some network file systems have no locks; then nobody is kept out.
            _ => Ok(FolderLock { _file: Some(file) }),
        }
    }

    /// Locks `folder` once whoever holds it is done.
    pub(super) fn wait(folder: &Path) -> Self {
        let file = FolderLock::file(folder);
        if let Some(file) = &file {
            let _ = file.lock();
        }
        FolderLock { _file: file }
    }

    /// The folder itself, so that no file is left in it; where a folder cannot be opened, a file in it.
    fn file(folder: &Path) -> Option<File> {
        if cfg!(unix) {
            return File::open(folder).ok();
        }
        let mut options = File::options();
        options.create(true).truncate(false).write(true);
        options.open(folder.join("bispectral.lock")).ok()
    }
}
