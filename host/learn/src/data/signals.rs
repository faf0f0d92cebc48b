//! The one reader of samples, for every command and every format.

use super::remark::Remark;
use super::{csv, idx, npy};
use crate::{Error, Result};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Names that end so are tables as text.
const TEXT: [&str; 4] = ["csv", "txt", "tsv", "dat"];

/// Whether `path` is a table as text, by its name.
pub(super) fn is_text(path: &Path) -> bool {
    let extension = path
        .extension()
        .map(|extension| extension.to_string_lossy().to_lowercase());
    extension.is_some_and(|extension| TEXT.contains(&&*extension))
}

/// Real signals of one length, read a block at a time: text with one signal a line; IDX, plain or compressed; `.npy` of
/// any real type and order, of shape `[samples, N]`, `[N]`, or `[samples, height, width]` for images.
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
    Idx(idx::Idx),
}

impl Signals {
    /// Opens `path`: text where its name ends in `.csv`, `.txt`, `.tsv` or `.dat`, IDX where it begins like that, otherwise `.npy`.
    ///
    /// # Errors
    /// The file is none of these, or is damaged, complex or empty.
    pub fn open(path: &Path) -> Result<Self> {
        let source = if is_text(path) {
            Source::Csv(csv::Table::read(path)?)
        } else if idx::is_idx(path)? {
            Source::Idx(idx::read(path)?)
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

    /// What was recognised in a table and left out.
    #[must_use]
    pub fn remarks(&self) -> &[Remark] {
        match &self.source {
            Source::Csv(table) => table.remarks(),
            _ => &[],
        }
    }

    /// How many signals there are.
    #[must_use]
    pub fn count(&self) -> usize {
        match &self.source {
            Source::Npy(array) => array.rows(),
            Source::Csv(table) => table.rows(),
            Source::Idx(idx) => idx.shape()[0],
        }
    }

    /// N: the values of each.
    #[must_use]
    pub fn length(&self) -> usize {
        match &self.source {
            Source::Npy(array) => array.columns(),
            Source::Csv(table) => table.columns(),
            Source::Idx(idx) => idx.shape()[1..].iter().product(),
        }
    }

    /// How many dimensions the file has; one of a list of numbers, three of images.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        match &self.source {
            Source::Npy(array) => array.dimensions(),
            Source::Csv(_) => 2,
            Source::Idx(idx) => idx.shape().len(),
        }
    }

    /// Height and width, where the file says that the signals are images.
    #[must_use]
    pub fn image(&self) -> Option<(usize, usize)> {
        match &self.source {
            Source::Npy(array) => array.image(),
            Source::Csv(_) => None,
            Source::Idx(idx) => match *idx.shape() {
                [_, height, width] => Some((height, width)),
                _ => None,
            },
        }
    }

    /// Whether values are bytes, 0 to 255, of which samples are a 255th part each.
    #[must_use]
    pub fn is_bytes(&self) -> bool {
        matches!(&self.source, Source::Idx(idx) if idx.is_bytes())
    }

    /// Puts the signals `range` into `block` as they are in the file, one behind the other.
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
            Source::Idx(idx) => {
                let length: usize = idx.shape()[1..].iter().product();
                block.extend(idx.range(range.start * length..range.end * length));
            }
        }
        Ok(())
    }

    /// Puts the samples `range` into `block`, one behind the other: what is learned from and computed of. Bytes of an
    /// IDX file, 0 to 255, become 0 to 1; other values are kept.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn samples(&mut self, range: Range<usize>, block: &mut Vec<f64>) -> Result<()> {
        self.read(range, block)?;
        if self.is_bytes() {
            block.iter_mut().for_each(|value| *value /= 255.0);
        }
        Ok(())
    }

    /// Refuses a file that has one number a sample, such as one of labels, or images in colour.
    ///
    /// # Errors
    /// The dimensions.
    pub fn check_samples(&self) -> Result<()> {
        match &self.source {
            Source::Idx(idx) if !(2..=3).contains(&idx.shape().len()) => Err(Error::file(
                &self.path,
                format!("the array has {} dimensions", idx.shape().len()),
                "name a file of samples, such as train-images-idx3-ubyte.gz",
            )),
            _ => Ok(()),
        }
    }
}

fn real_array(path: &Path) -> Result<npy::Array> {
    let array = npy::Array::open_images(path)?;
    if array.element().is_complex() {
        return Err(Error::file(
            path,
            format!("the samples are {}", array.element()),
            "samples are real, save X.real",
        ));
    }
    Ok(array)
}
