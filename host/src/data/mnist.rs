//! MNIST's digits as small images: its IDX files, plain or compressed, from a folder.
//!
//! RotMNIST is made of them: each digit turned by an angle of its own, scaled down by averaging areas, and cropped to a
//! disk.

use super::idx;
use super::normalise::normalise;
use super::random::{Purpose, stream_at};
use super::rotate::{DEGREES, Rotation, disk};
use crate::{Error, Result};
use ndarray::{Array2, Array3, Axis};
use rand::RngExt;
use rayon::prelude::*;
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
    images: Array3<u8>,
    labels: Vec<u8>,
    half: Half,
}

/// How digits become samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turned {
    /// Pixels of a sample's side.
    pub size: usize,
    /// Pixels of the digit that the side covers: 28 is all of it, and fewer are its middle.
    pub window: f64,
    /// How far the window of a digit is moved at most, by chance: down or up, right or left, in pixels of the digit.
    pub jitter: f64,
    /// Another copy has the same angles and other moves.
    pub copy: u64,
    /// Of the angles and moves.
    pub seed: u64,
}

impl Digits {
    /// The digits of a half and what they are, from the files in `folder`.
    ///
    /// # Errors
    /// There is no such file, or it is damaged, or there are not as many labels as digits.
    pub fn read(folder: &Path, half: Half) -> Result<Self> {
        let images = read_images(folder, half)?;
        let path = file(folder, &format!("{}-labels-idx1-ubyte", half.prefix()))?;
        let labels = idx::labels(&path)?;
        let remedy = "copy or download MNIST's four files again";
        if labels.len() != images.dim().0 {
            let what = format!("{} labels for {} digits", labels.len(), images.dim().0);
            return Err(Error::file(&path, what, remedy));
        }
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

    /// Every digit, one a row, turned by an angle of its own, with zero mean and unit deviation inside the disk and
    /// zero outside: as the patches are that rotations are learned from. The angle is a function of the seed, the half
    /// and the digit's place alone.
    ///
    /// # Panics
    /// The digits or the samples have sides of less than 2 pixels.
    #[must_use]
    pub fn turned(&self, turned: &Turned) -> Array2<f32> {
        let (count, height, width) = self.images.dim();
        assert_eq!(height, width, "digits are square");
        let rotations: Vec<Rotation> = (0..DEGREES)
            .into_par_iter()
            .map(|degrees| Rotation::new(height, degrees))
            .collect();
        let inside = disk(turned.size);
        let mut samples = Array2::zeros((count, turned.size * turned.size));
        let rows = samples.as_slice_mut().expect("it lies in one piece");
        rows.par_chunks_mut(turned.size * turned.size)
            .enumerate()
            .for_each(|(at, sample)| {
                let pixels = self.images.index_axis(Axis(0), at);
                let digit: Vec<f32> = pixels.iter().map(|&v| f32::from(v) / 255.0).collect();
                let mut rotated = vec![0.0; digit.len()];
                rotations[self.angle(at, turned.seed)].apply(&digit, &mut rotated);
                let [down, right] = self
                    .shift(at, turned)
                    .map(|shift| shares(width, turned.size, turned.window, shift));
                average(&rotated, width, [&down, &right], sample);
                normalise(sample, &inside);
                let outside = sample.iter_mut().zip(&inside);
                outside
                    .filter(|(_, inside)| !**inside)
                    .for_each(|(pixel, _)| *pixel = 0.0);
            });
        samples
    }

    /// How far the window of the digit at this place is moved.
    fn shift(&self, at: usize, turned: &Turned) -> [f64; 2] {
        if turned.jitter == 0.0 {
            return [0.0; 2];
        }
        let place = [self.half as u64 + 2 * turned.copy, at as u64];
        let mut random = stream_at(turned.seed, Purpose::Noise, place);
        [(); 2].map(|()| turned.jitter * (2.0 * random.random::<f64>() - 1.0))
    }

    /// The whole degrees that the digit at this place is turned by.
    fn angle(&self, at: usize, seed: u64) -> usize {
        stream_at(seed, Purpose::Angles, [self.half as u64, at as u64]).random_range(0..DEGREES)
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

/// The pixels that a part of a line covers, and the share of the part each is.
type Shares = Vec<(usize, f64)>;

/// The mean of what every pixel of `small` covers of `image`, whose rows have `width` pixels.
fn average(image: &[f32], width: usize, [down, right]: [&[Shares]; 2], small: &mut [f32]) {
    for (row, rows) in small.chunks_exact_mut(right.len()).zip(down) {
        for (pixel, columns) in row.iter_mut().zip(right) {
            let mut sum = 0.0;
            for &(v, of_v) in rows {
                for &(h, of_h) in columns {
                    sum += of_v * of_h * f64::from(image[v * width + h]);
                }
            }
            *pixel = sum as f32;
        }
    }
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

/// For each of `to` equal parts of a window in the middle of a line, which of the line's `from` pixels it covers, and the
/// share of the part each is. Where the window, moved by `shift`, leaves the line, there is nothing.
fn shares(from: usize, to: usize, window: f64, shift: f64) -> Vec<Shares> {
    let scale = window / to as f64;
    let origin = (from as f64 - window) / 2.0 + shift;
    (0..to)
        .map(|part| {
            let begin = origin + part as f64 * scale;
            let end = origin + (part + 1) as f64 * scale;
            (begin.max(0.0) as usize..from)
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
            for part in shares(from, to, from as f64, 0.0) {
                let sum: f64 = part.iter().map(|(_, share)| share).sum();
                assert!((sum - 1.0).abs() < 1e-12, "{from} to {to}: {part:?}");
            }
        }
    }

    /// A folder with two digits of 4 × 4: a corner, and a row.
    fn two_digits() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let mut images = b"\0\0\x08\x03\0\0\0\x02\0\0\0\x04\0\0\0\x04".to_vec();
        images.extend([0, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        images.extend([0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0]);
        std::fs::write(folder.path().join("t10k-images-idx3-ubyte"), images).unwrap();
        let labels = b"\0\0\x08\x01\0\0\0\x02\x07\x01";
        std::fs::write(folder.path().join("t10k-labels-idx1-ubyte"), labels).unwrap();
        folder
    }

    const TURNED: Turned = Turned {
        size: 4,
        window: 4.0,
        jitter: 0.0,
        copy: 0,
        seed: 0,
    };

    #[test]
    fn digits_are_turned_and_nothing_else_happens_to_them() {
        let digits = Digits::read(two_digits().path(), Half::Test).unwrap();
        assert_eq!(digits.labels(), [7, 1]);
        let found = digits.turned(&TURNED);
        assert_eq!(found, digits.turned(&TURNED));
        assert_ne!(found, digits.turned(&Turned { seed: 1, ..TURNED }));
        for (at, found) in found.rows().into_iter().enumerate() {
            let image: Vec<f32> = digits
                .images
                .index_axis(Axis(0), at)
                .iter()
                .map(|&v| v.into())
                .collect();
            let mut expected = vec![0.0; 16];
            Rotation::in_disk(4, digits.angle(at, 0)).apply(&image, &mut expected);
            let inside = disk(4);
            normalise(&mut expected, &inside);
            for (pixel, (found, expected)) in found.iter().zip(expected).enumerate() {
                let expected = if inside[pixel] { expected } else { 0.0 };
                // Averages of one pixel each, in f64, and values of about one.
                assert!(
                    (found - expected).abs() < 1e-5,
                    "{at}, {pixel}: {found} {expected}"
                );
            }
        }
    }

    #[test]
    fn copies_have_the_same_angle_and_other_moves() {
        let digits = Digits::read(two_digits().path(), Half::Test)
            .unwrap()
            .first(1);
        let copy = |copy| {
            digits.turned(&Turned {
                jitter: 0.4,
                copy,
                ..TURNED
            })
        };
        assert_ne!(copy(0), copy(1));
        assert_eq!(copy(1), copy(1));
        let shifts: Vec<[f64; 2]> = (0..50)
            .map(|copy| {
                digits.shift(
                    0,
                    &Turned {
                        jitter: 0.4,
                        copy,
                        ..TURNED
                    },
                )
            })
            .collect();
        assert!(shifts.iter().flatten().all(|shift| shift.abs() <= 0.4));
        assert!(
            shifts.iter().any(|shift| shift[0] > 0.2) && shifts.iter().any(|shift| shift[0] < -0.2)
        );
    }

    #[test]
    fn a_window_that_leaves_the_line_sees_nothing_there() {
        let parts = shares(4, 4, 4.0, 1.5);
        let sums: Vec<f64> = parts
            .iter()
            .map(|part| part.iter().map(|(_, share)| share).sum())
            .collect();
        assert_eq!(sums, [1.0, 1.0, 0.5, 0.0]);
        let parts = shares(4, 2, 2.0, 0.0);
        assert_eq!(parts, [vec![(1, 1.0)], vec![(2, 1.0)]]);
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
