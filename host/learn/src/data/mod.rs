//! Signals as people have them (`.npy` arrays, CSV with one signal a line, IDX, photographs), and orbits of them.
//!
//! Every length a file claims is compared with the file's size before memory is taken for it.

pub mod angle;
mod covariance;
pub mod csv;
pub mod group;
pub mod idx;
pub mod load;
mod noise;
pub mod normalise;
pub mod npy;
pub mod orbits;
mod orbits_error;
pub mod rotate;
pub mod rounding;
pub mod samples;
mod split;
mod support;
pub mod transform;
pub mod weights;

use crate::{Error, Result};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Real signals of one length, read a block at a time.
///
/// ```
/// use bispectral_learn::data::Signals;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("X.csv");
/// std::fs::write(&path, "1,2,3\n4,5,6\n")?;
///
/// let mut signals = Signals::open(&path)?;
/// assert_eq!((signals.count(), signals.length()), (2, 3));
/// let mut block = Vec::new();
/// signals.read(1..2, &mut block)?;
/// assert_eq!(block, [4.0, 5.0, 6.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Signals {
    path: PathBuf,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Npy(npy::Array),
    Csv(csv::Table),
}

impl Signals {
    /// Opens `path`: CSV where its name ends in `.csv`, otherwise `.npy`, real, of shape `[samples, N]` or `[N]`.
    ///
    /// # Errors
    /// The file is neither, or is damaged, complex or empty.
    pub fn open(path: &Path) -> Result<Self> {
        let is_csv = path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
        let source = if is_csv {
            Source::Csv(csv::Table::read(path)?)
        } else {
            Source::Npy(real_array(path)?)
        };
        Ok(Signals {
            path: path.to_owned(),
            source,
        })
    }

    /// Where they are.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many signals there are.
    #[must_use]
    pub fn count(&self) -> usize {
        match &self.source {
            Source::Npy(array) => array.rows(),
            Source::Csv(table) => table.rows(),
        }
    }

    /// N: the values of each.
    #[must_use]
    pub fn length(&self) -> usize {
        match &self.source {
            Source::Npy(array) => array.columns(),
            Source::Csv(table) => table.columns(),
        }
    }

    /// Puts the signals `range` into `block`, one behind the other.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&mut self, range: Range<usize>, block: &mut Vec<f64>) -> Result<()> {
        block.clear();
        match &mut self.source {
            Source::Npy(array) => {
                block.extend(array.read(range)?.iter().map(|value| value.re));
            }
            Source::Csv(table) => block.extend(table.values(range)),
        }
        Ok(())
    }
}

fn real_array(path: &Path) -> Result<npy::Array> {
    let array = npy::Array::open(path)?;
    if array.element().is_complex() {
        return Err(Error::file(
            path,
            format!("the signals are {}", array.element()),
            "signals are real, save X.real",
        ));
    }
    Ok(array)
}
