//! Files of commands that were killed before they gave them their names.
//!
//! Whoever writes such a file holds a lock on it, which the system forgets with the process: one that can be locked has no
//! writer any more.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

pub(super) const PREFIX: &str = ".bispectral-";
pub(super) const SUFFIX: &str = ".tmp";

/// Folders that were looked through by this process.
static TIDIED: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);

/// Removes those in `folder`, the first time this process writes there. That one stays is no reason to fail.
pub(super) fn remove_once(folder: &Path) {
    let mut tidied = TIDIED.lock().unwrap_or_else(PoisonError::into_inner);
    let is_new = tidied.get_or_insert_default().insert(folder.to_owned());
    drop(tidied);
    if is_new {
        remove(folder);
    }
}

fn remove(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(PREFIX)
            && name.ends_with(SUFFIX)
            && let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::NewFile;
    use super::*;

    #[test]
    fn what_a_killed_command_left_goes_and_what_is_being_written_stays() {
        let folder = tempfile::tempdir().unwrap();
        let left = folder.path().join(".bispectral-abc.tmp");
        let own = folder.path().join(".bispectral-notes");
        fs::write(&left, "half").unwrap();
        fs::write(&own, "mine").unwrap();
        let mut file = NewFile::create(&folder.path().join("new"), false).unwrap();
        assert!(!left.exists() && own.exists());
        remove(folder.path());
        file.write(b"whole").unwrap();
        file.commit().unwrap();
        assert_eq!(fs::read(folder.path().join("new")).unwrap(), b"whole");
    }
}
