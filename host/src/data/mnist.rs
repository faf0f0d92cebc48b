//! MNIST's digits as small images: its IDX files, plain or compressed, from a folder.

use super::idx;
use crate::{Error, Result};
use ndarray::Array2;
use std::path::{Path, PathBuf};

/// The folder with MNIST's four files, for those who have them.
pub const FOLDER: &str = "BISPECTRAL_MNIST";

/// What to say where there are no digits.
pub(crate) const NONE: &str = "no digits: name MNIST's folder with --mnist or BISPECTRAL_MNIST";

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
    let images = idx::images(&file(folder, "t10k-images-idx3-ubyte")?)?;
    let (all, height, width) = images.dim();
    let count = count.min(all);
    let (down, right) = (shares(height, size), shares(width, size));
    let mut digits = Array2::zeros((count, size * size));
    for (mut digit, image) in digits.rows_mut().into_iter().zip(images.outer_iter()) {
        for (row, rows) in down.iter().enumerate() {
            for (column, columns) in right.iter().enumerate() {
                let mut sum = 0.0;
                for &(v, of_v) in rows {
                    for &(h, of_h) in columns {
                        sum += of_v * of_h * f64::from(image[(v, h)]);
                    }
                }
                digit[row * size + column] = (sum / 255.0) as f32;
            }
        }
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

/// For each of `to` equal parts of a line, which of its `from` pixels it covers, and the share of the part each is.
fn shares(from: usize, to: usize) -> Vec<Vec<(usize, f64)>> {
    let scale = from as f64 / to as f64;
    (0..to)
        .map(|part| {
            let (begin, end) = (part as f64 * scale, (part + 1) as f64 * scale);
            (begin as usize..from)
                .take_while(|&pixel| (pixel as f64) < end)
                .map(|pixel| {
                    let covered = end.min(pixel as f64 + 1.0) - begin.max(pixel as f64);
                    (pixel, covered / scale)
                })
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn every_part_is_covered_once() {
        for (from, to) in [(28, 16), (16, 16), (5, 8), (1, 3)] {
            for part in shares(from, to) {
                let sum: f64 = part.iter().map(|(_, share)| share).sum();
                assert!((sum - 1.0).abs() < 1e-12, "{from} to {to}: {part:?}");
            }
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
