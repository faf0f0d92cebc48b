//! Files of a folder that are replaced all together: written to a folder of their own in it, marked as complete, and only then
//! moved to their places. Killed before the mark, the old files are as they were; killed after it, the next command that
//! opens the folder moves the rest.

use super::{FolderLock, NewFile, disk};
use crate::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Where new files are until they are complete.
const STAGE: &str = "bispectral-replacement";
/// The mark.
const COMPLETE: &str = "complete";

/// Where the new files of `folder` are written, whether there are any or not.
#[must_use]
pub fn stage(folder: &Path) -> PathBuf {
    folder.join(STAGE)
}

/// An empty folder for new files of `folder`. What an earlier replacement left unfinished is removed.
///
/// # Errors
/// The folder cannot be written.
pub fn begin(folder: &Path) -> Result<PathBuf> {
    let stage = stage(folder);
    discard(folder)?;
    disk::create_folder(&stage).map_err(|error| Error::writing(&stage, &error))?;
    Ok(stage)
}

/// Gives up what was written for `folder` so far.
///
/// # Errors
/// It cannot be removed.
pub fn discard(folder: &Path) -> Result<()> {
    let stage = stage(folder);
    let removing = |error| Error::writing(&stage, &error);
    for file in files(&stage) {
        disk::remove(&file).map_err(removing)?;
    }
    disk::remove_folder(&stage).map_err(removing)
}

/// Puts all new files of `folder` in the places of the old ones.
///
/// # Errors
/// The disk fails; then all of the old files are there still, or the new ones are with the next [`settle`].
pub fn commit(folder: &Path) -> Result<()> {
    let stage = stage(folder);
    disk::sync_folder(&stage).map_err(|error| Error::writing(&stage, &error))?;
    NewFile::create(&stage.join(COMPLETE), true)?.commit()?;
    disk::sync_folder(&stage).map_err(|error| Error::writing(&stage, &error))?;
    move_all(folder)
}

/// Finishes a [`commit`] that was cut short, so that the files of `folder` are all old or all new. To be called before any of
/// them is read.
///
/// # Errors
/// They cannot be moved.
pub fn settle(folder: &Path) -> Result<()> {
    if !stage(folder).join(COMPLETE).exists() {
        return Ok(());
    }
    let _lock = FolderLock::wait(folder);
    settle_locked(folder)
}

/// The same, for who holds the lock of the folder.
///
/// # Errors
/// As those of [`settle`].
pub fn settle_locked(folder: &Path) -> Result<()> {
    if stage(folder).join(COMPLETE).exists() {
        return move_all(folder);
    }
    Ok(())
}

fn move_all(folder: &Path) -> Result<()> {
    let stage = stage(folder);
    let mark = stage.join(COMPLETE);
    for file in files(&stage) {
        let Some(name) = file.file_name().filter(|_| file != mark) else {
            continue;
        };
        let place = folder.join(name);
        disk::rename(&file, &place).map_err(|error| Error::writing(&place, &error))?;
    }
    let moving = |error| Error::writing(folder, &error);
    disk::sync_folder(folder).map_err(moving)?;
    disk::remove(&mark).map_err(moving)?;
    disk::remove_folder(&stage).map_err(moving)
}

/// The files in a folder, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::super::fault::{Fault, during};
    use super::*;

    const NAMES: [&str; 3] = ["a", "b", "c"];

    fn write(folder: &Path, name: &str, text: &str) -> Result<()> {
        let mut file = NewFile::create(&folder.join(name), true)?;
        file.write(text.as_bytes())?;
        file.commit()
    }

    fn replace(folder: &Path) -> Result<()> {
        let stage = begin(folder)?;
        NAMES
            .iter()
            .try_for_each(|name| write(&stage, name, "new"))?;
        commit(folder)
    }

    #[test]
    fn whatever_fails_all_files_are_old_or_all_are_new() {
        for fault in [
            Fault::Full,
            Fault::Input,
            Fault::Interrupted,
            Fault::PowerCut,
        ] {
            let mut seen = [0, 0];
            for at in 0.. {
                let folder = tempfile::tempdir().unwrap();
                let folder = folder.path();
                for name in NAMES {
                    fs::write(folder.join(name), "old").unwrap();
                }
                let (result, hit) = during(fault, at, || replace(folder));
                settle(folder).unwrap();
                let texts = NAMES.map(|name| fs::read_to_string(folder.join(name)).unwrap());
                let is_new = texts.iter().all(|text| text == "new");
                assert!(
                    is_new || texts.iter().all(|text| text == "old"),
                    "{fault:?} {at}: {texts:?}"
                );
                assert!(is_new || result.is_err(), "{fault:?} {at}");
                assert!(result.is_ok() || fault != Fault::Interrupted, "{at}");
                seen[usize::from(is_new)] += 1;
                replace(folder).unwrap();
                assert_eq!(
                    files(folder).len(),
                    NAMES.len(),
                    "{fault:?} {at}: leftovers"
                );
                if !hit {
                    break;
                }
            }
            assert!(
                seen[1] > 1 && (seen[0] > 1 || fault == Fault::Interrupted),
                "{seen:?}"
            );
        }
    }
}
