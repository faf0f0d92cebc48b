//! Files: opened once their size is known, and written whole or not at all.

pub(crate) mod checksummed;
mod new_file;

pub use new_file::NewFile;

use crate::{Error, Result};
use std::fs::{self, File};
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
