//! MNIST's digits as small images: its IDX files, plain or compressed, from a folder.

use crate::area::{average, shares};
use bispectral_learn::data::idx;
use bispectral_learn::{Error, Result};
use ndarray::{Array2, Array3, Axis};
use std::path::{Path, PathBuf};

/// The folder with MNIST's four files, for those who have them.
pub const FOLDER: &str = "BISPECTRAL_MNIST";
/// How many kinds of digits there are.
pub const CLASSES: usize = 10;

/// MNIST's two halves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// 60,000 digits.
    Training,
    /// 10,000 digits of other writers.
    Test,
}

impl Half {
    fn prefix(self) -> &'static str {
        match self {
            Half::Training => "train",
            Half::Test => "t10k",
        }
    }
}

/// Digits as they are in the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digits {
    pub(super) images: Array3<u8>,
    labels: Vec<u8>,
    pub(super) half: Half,
}

impl Digits {
    /// The digits of a half and what they are, from the files in `folder`.
    ///
    /// # Errors
    /// There is no such file, or it is damaged, or there are not as many labels as digits.
    pub fn read(folder: &Path, half: Half) -> Result<Self> {
        let images = read_images(folder, half)?;
        let path = file(folder, &format!("{}-labels-idx1-ubyte", half.prefix()))?;
        let remedy = "copy or download MNIST's four files again";
        let claimed: usize = idx::shape(&path)?.iter().product();
        if claimed != images.dim().0 {
            let what = format!("{claimed} labels for {} digits", images.dim().0);
            return Err(Error::file(&path, what, remedy));
        }
        let labels = idx::labels(&path)?;
        if let Some(label) = labels.iter().find(|&&label| usize::from(label) >= CLASSES) {
            return Err(Error::file(&path, format!("a digit is {label}"), remedy));
        }
        Ok(Digits {
            images,
            labels,
            half,
        })
    }

    /// What each digit is.
    #[must_use]
    pub fn labels(&self) -> &[u8] {
        &self.labels
    }

    /// The first `count` digits only.
    #[must_use]
    pub fn first(mut self, count: usize) -> Self {
        let count = count.min(self.labels.len());
        self.images.slice_axis_inplace(Axis(0), (..count).into());
        self.labels.truncate(count);
        self
    }
}

fn read_images(folder: &Path, half: Half) -> Result<Array3<u8>> {
    let path = file(folder, &format!("{}-images-idx3-ubyte", half.prefix()))?;
    let images = idx::images(&path)?;
    let (_, height, width) = images.dim();
    if height != width || !(2..=1 << 10).contains(&height) {
        let what = format!("images of {height} × {width} pixels");
        return Err(Error::file(
            &path,
            what,
            "name the folder with MNIST's files",
        ));
    }
    Ok(images)
}

/// What to say where there are no digits.
pub const NONE: &str = "no digits: name MNIST's folder with --mnist or BISPECTRAL_MNIST";

/// MNIST's folder: the one that was named, or that in [`FOLDER`], if any.
#[must_use]
pub fn folder(named: Option<&Path>) -> Option<PathBuf> {
    let from_environment = || std::env::var_os(FOLDER).map(PathBuf::from);
    named.map(Path::to_owned).or_else(from_environment)
}

/// The first `count` test digits, scaled to `size` × `size` pixels by averaging areas; 0 is background, 1 ink.
///
/// # Errors
/// There is no such file in `folder`, or it is damaged.
pub fn test_digits(folder: &Path, size: usize, count: usize) -> Result<Array2<f32>> {
    let images = read_images(folder, Half::Test)?;
    let (all, side, _) = images.dim();
    let count = count.min(all);
    let parts = shares(side, size, side as f64, 0.0);
    let mut digits = Array2::zeros((count, size * size));
    for (mut digit, image) in digits.rows_mut().into_iter().zip(images.outer_iter()) {
        let image: Vec<f32> = image.iter().map(|&v| f32::from(v) / 255.0).collect();
        let digit = digit.as_slice_mut().expect("rows lie in one piece");
        average(&image, side, [&parts, &parts], digit);
    }
    Ok(digits)
}

/// `name`, or `name.gz`.
fn file(folder: &Path, name: &str) -> Result<PathBuf> {
    let plain = folder.join(name);
    let compressed = folder.join(format!("{name}.gz"));
    if plain.is_file() {
        return Ok(plain);
    }
    if compressed.is_file() {
        return Ok(compressed);
    }
    Err(Error::file(
        &plain,
        "there is no such file, nor one with .gz",
        "name the folder with MNIST's four files",
    ))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    #[test]
    fn areas_are_averaged() {
        let folder = tempfile::tempdir().unwrap();
        let mut bytes = b"\0\0\x08\x03\0\0\0\x01\0\0\0\x03\0\0\0\x03".to_vec();
        bytes.extend([0, 51, 102, 0, 51, 102, 0, 51, 102]);
        std::fs::write(folder.path().join("t10k-images-idx3-ubyte"), bytes).unwrap();
        let digits = test_digits(folder.path(), 2, 5).unwrap();
        // Two thirds of the first column and a third of the second; and so on.
        let [left, right] = [0.2 / 3.0, (0.2 + 0.4 * 2.0) / 3.0];
        for (found, wanted) in digits.iter().zip([left, right, left, right]) {
            assert!((found - wanted).abs() < 1e-6, "{digits:?}");
        }
    }

    /// A folder with two digits of 4 × 4: a corner, and a row.
    pub(crate) fn two_digits() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let mut images = b"\0\0\x08\x03\0\0\0\x02\0\0\0\x04\0\0\0\x04".to_vec();
        images.extend([0, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        images.extend([0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0]);
        std::fs::write(folder.path().join("t10k-images-idx3-ubyte"), images).unwrap();
        let labels = b"\0\0\x08\x01\0\0\0\x02\x07\x01";
        std::fs::write(folder.path().join("t10k-labels-idx1-ubyte"), labels).unwrap();
        folder
    }

    #[test]
    fn labels_that_are_no_digits_are_refused() {
        let folder = two_digits();
        for (bytes, refusal) in [
            (&b"\0\0\x08\x01\0\0\0\x02\x07\x0a"[..], "a digit is 10: "),
            (
                &b"\0\0\x08\x01\0\0\0\x01\x07"[..],
                "1 labels for 2 digits: ",
            ),
        ] {
            std::fs::write(folder.path().join("t10k-labels-idx1-ubyte"), bytes).unwrap();
            let line = Digits::read(folder.path(), Half::Test)
                .unwrap_err()
                .to_string();
            assert!(line.contains(refusal), "{line}");
        }
    }

    #[test]
    fn a_folder_without_digits_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let line = test_digits(folder.path(), 16, 1).unwrap_err().to_string();
        assert!(
            line.contains("t10k-images-idx3-ubyte: there is no such file"),
            "{line}"
        );
    }
}
