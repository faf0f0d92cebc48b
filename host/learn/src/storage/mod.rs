//! Files: opened once their size is known, and written whole or not at all.
//!
//! | file | what it is |
//! | --- | --- |
//! | `disk` | every change to the disk, where tests make it fail |
//! | `new_file`, `leftovers` | a file that appears once it is complete, and what killed commands left of such |
//! | `replacement` | files that are replaced all together |
//! | `folder_lock` | one writer at a time |
//! | `lines` | a file of lines that grows |
//! | `checksummed` | files that only this program reads |

pub(crate) mod checksummed;
mod disk;
mod folder_lock;
mod leftovers;
mod lines;
mod new_file;
pub mod replacement;

#[doc(hidden)]
pub use disk::fault;
pub use folder_lock::FolderLock;
pub use lines::Lines;
pub use new_file::NewFile;
use new_file::{is_same, overwrites};

use crate::limits::memory;
use crate::{Error, Result};
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// Opens a regular file, and says how many bytes it has. Pipes and devices have no size to compare lengths with.
///
/// # Errors
/// There is no such file, it cannot be read, or it is a directory, a pipe or a device.
pub fn open_file(path: &Path) -> Result<(File, u64)> {
    let reading = |error| Error::reading(path, &error);
    let metadata = fs::metadata(path).map_err(reading)?;
    if metadata.is_dir() {
        return Err(Error::file(path, "is a directory", "name a file in it"));
    }
    if !metadata.is_file() {
        return Err(Error::file(
            path,
            "is a pipe or a device",
            "save the data to a file first",
        ));
    }
    let file = File::open(path).map_err(reading)?;
    let length = file.metadata().map_err(reading)?.len();
    Ok((file, length))
}

/// All bytes of a regular file that has at most `most`, of `what`.
///
/// # Errors
/// Those of [`open_file`], and that it is larger, or that there is no memory for it.
pub fn read_file(path: &Path, what: &str, most: u64) -> Result<Vec<u8>> {
    let (file, length) = open_file(path)?;
    if length > most {
        let what = format!("{length} bytes are more than the {most} of {what}");
        return Err(Error::file(path, what, "name another file"));
    }
    let room = usize::try_from(length).unwrap_or(usize::MAX);
    let mut bytes = memory::vector(path, what, room)?;
    file.take(length)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::reading(path, &error))?;
    Ok(bytes)
}

/// The same as text.
///
/// # Errors
/// Those of [`read_file`], and that it is no text.
pub fn read_text(path: &Path, what: &str, most: u64) -> Result<String> {
    String::from_utf8(read_file(path, what, most)?)
        .map_err(|_| Error::file(path, "it is not text", "name another file"))
}

/// Refuses to write a file of one of these names in `folder` where it is one of `inputs`.
///
/// # Errors
/// Which one it is.
pub fn keep_inputs(folder: &Path, names: &[&str], inputs: &[&Path]) -> Result<()> {
    for input in inputs {
        if names.iter().any(|name| is_same(&folder.join(name), input)) {
            return Err(overwrites(input));
        }
    }
    Ok(())
}

/// Makes a folder, and those it is in.
///
/// # Errors
/// It cannot be made.
pub fn create_folder(path: &Path) -> Result<()> {
    disk::create_folder(path).map_err(|error| Error::writing(path, &error))
}
