//! The user's own data as orbits: samples whose labels say which belong together, or exemplars to be transformed.
//!
//! Samples are `.npy` of shape [samples, N] or [samples, height, width], text with one sample a line, or IDX, plain or
//! compressed. Labels are integers or words.

use super::offset::Offset;
use super::orbits::{Orbits, OrbitsError, Transform};
use super::remark::Remark;
use super::rounding::{Unfit, to_f32};
use super::{Labels, Signals, samples};
use crate::limits::{self, memory};
use crate::{Error, Result};
use ndarray::{Array2, ArrayView1, Axis};
use std::collections::HashMap;
use std::path::Path;

/// Values that are converted at a time: 1 MiB of 128-bit numbers.
const BLOCK: usize = 1 << 16;

/// Samples from a file, of which a [`Transform`] makes orbits.
#[derive(Debug, Clone, PartialEq)]
pub struct Exemplars {
    /// One a row; all finite, and none constant.
    pub samples: Array2<f32>,
    /// What was noticed about them.
    pub remarks: Vec<Remark>,
    name: String,
    image: Option<(usize, usize)>,
}

impl Exemplars {
    /// Height and width, where the file says that the samples are images.
    #[must_use]
    pub fn shape(&self) -> Option<(usize, usize)> {
        self.image
    }

    /// Their orbits.
    ///
    /// # Errors
    /// Those of [`Orbits::transformed`], with the name of the file.
    pub fn transformed(mut self, transform: &Transform) -> Result<Orbits> {
        if let (Transform::Translate1d, Some((height, width))) = (transform, self.image) {
            let file = self.name.clone();
            self.remarks.push(Remark::ImagesAsLines {
                file,
                height,
                width,
            });
        }
        let orbits = Orbits::transformed(self.samples, transform.clone())
            .map_err(|error| Error::orbits(&self.name, "labels", error))?;
        Ok(orbits.remarked(self.remarks))
    }
}

/// The exemplars in the file at `path`. Bytes of an IDX file, 0 to 255, become 0 to 1; other values are kept.
///
/// # Errors
/// The file is damaged or of another kind, or a sample is not finite, constant, or longer than a model takes.
///
/// ```
/// use bispectral_learn::data::load;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("X.csv");
/// std::fs::write(&path, "1,2,3\n4,4,5\n")?;
/// assert_eq!(load::exemplars(&path)?.samples.dim(), (2, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn exemplars(path: &Path) -> Result<Exemplars> {
    let exemplars = read_samples(path)?;
    samples::check(exemplars.samples.view())
        .map_err(|error| Error::orbits(&exemplars.name, "labels", error))?;
    Ok(exemplars)
}

/// Orbits of the samples in one file, by the labels in another: those with the same label are one orbit.
///
/// # Errors
/// A file is damaged or of another kind, there are more or fewer labels than samples, fewer than two labels have several
/// samples, or a sample is not finite, constant, or longer than a model takes.
pub fn labelled(path: &Path, labels_path: &Path) -> Result<Orbits> {
    let Exemplars {
        samples,
        mut remarks,
        image,
        ..
    } = read_samples(path)?;
    let labels = Labels::read(labels_path, samples.nrows())?;
    remarks.extend(labels.remarks);
    let (samples, numbers, lonely) = without_lonely(samples, labels.numbers);
    let orbits = Orbits::labelled(samples, &numbers)
        .map_err(|error| Error::orbits(&name(path), &name(labels_path), error))?;
    remarks.extend(Remark::of_lonely(
        &name(labels_path),
        &lonely,
        &labels.names,
        orbits.len(),
    ));
    let orbits = match image {
        Some((height, width)) => orbits.of_images(height, width),
        None => orbits,
    };
    Ok(orbits.remarked(remarks))
}

/// What is left without samples that have a label of their own, and these labels.
fn without_lonely(samples: Array2<f32>, labels: Vec<i64>) -> (Array2<f32>, Vec<i64>, Vec<i64>) {
    let mut counts = HashMap::new();
    labels
        .iter()
        .for_each(|&label| *counts.entry(label).or_insert(0) += 1);
    let is_lonely = |label: &i64| counts[label] == 1;
    let lonely: Vec<i64> = labels.iter().copied().filter(is_lonely).collect();
    // Where there are no others, the labels are no orbits at all, which an error says.
    if labels.len() != samples.nrows() || lonely.is_empty() || counts.len() < lonely.len() + 2 {
        return (samples, labels, Vec::new());
    }
    let rows: Vec<usize> = (0..labels.len())
        .filter(|&row| !is_lonely(&labels[row]))
        .collect();
    let kept = rows.iter().map(|&row| labels[row]).collect();
    (samples.select(Axis(0), &rows), kept, lonely)
}

fn name(path: &Path) -> String {
    path.display().to_string()
}

/// All samples as f32, read in blocks of rows.
fn read_samples(path: &Path) -> Result<Exemplars> {
    let mut signals = Signals::open(path)?;
    signals.check_samples()?;
    let (rows, columns) = (signals.count(), signals.length());
    samples::check_length(columns).map_err(|error| Error::orbits(&name(path), "labels", error))?;
    limits::at_most(rows, limits::MOST_SAMPLES)
        .map_err(|what| Error::file(path, format!("samples: {what}"), "take fewer"))?;
    let mut values = memory::vector(path, "samples", rows.saturating_mul(columns))?;
    let (mut block, mut rounded) = (Vec::new(), Vec::new());
    let step = (BLOCK / columns).max(1);
    for begin in (0..rows).step_by(step) {
        signals.samples(begin..rows.min(begin + step), &mut block)?;
        for (row, sample) in (begin..).zip(block.chunks_exact(columns)) {
            to_f32(sample, &mut rounded).map_err(|unfit| refused(path, row, unfit))?;
            values.extend_from_slice(&rounded);
        }
    }
    let samples = Array2::from_shape_vec((rows, columns), values).map_err(|_| {
        Error::file(
            path,
            "it became shorter while it was read",
            "run again once it is complete",
        )
    })?;
    let mut remarks = signals.remarks().to_vec();
    let mut offset = Offset::new();
    let values = |sample: ArrayView1<'_, f32>| sample.to_vec().into_iter().map(f64::from);
    samples
        .rows()
        .into_iter()
        .for_each(|sample| offset.add(values(sample)));
    remarks.extend(offset.remark(&name(path)));
    Ok(Exemplars {
        samples,
        remarks,
        name: name(path),
        image: signals.image(),
    })
}

fn refused(path: &Path, row: usize, unfit: Unfit) -> Error {
    let remedy = match unfit {
        Unfit::Zero => {
            let inside_disk = false;
            let error = OrbitsError::Constant { row, inside_disk };
            return Error::orbits(&name(path), "labels", error);
        }
        Unfit::NotFinite { .. } => unfit.remedy(),
        Unfit::TooLarge { .. } => "scale the samples down",
        Unfit::TooSmall => "scale the samples up",
    };
    Error::file(path, format!("row {row}: {unfit}"), remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::npy::{Element, header};
    use tempfile::TempDir;

    fn written(folder: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> std::path::PathBuf {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn npy_f64(shape: [u64; 2], values: &[f64]) -> Vec<u8> {
        let mut bytes = header(Element::Float64, shape);
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        bytes
    }

    /// A header as NumPy writes it, for shapes [`header`] does not.
    fn npy_f32(order: &str, shape: &str, values: &[f32]) -> Vec<u8> {
        let text = format!("{{'descr': '<f4', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.bytes());
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        bytes
    }

    #[test]
    fn samples_and_labels_become_orbits_from_any_format() {
        let folder = tempfile::tempdir().unwrap();
        let values = [1.0, 2.0, 5.0, 0.0, 2.0, 1.0, 0.0, 5.0];
        let samples = [
            written(&folder, "X.npy", npy_f64([4, 2], &values)),
            written(&folder, "X.csv", "1,2\n5,0\n2,1\n0,5\n"),
        ];
        let labels = [
            written(&folder, "y.npy", npy_f64([4, 1], &[7.0, -3.0, 7.0, -3.0])),
            written(&folder, "y.csv", "7\n-3\n7\n-3\n"),
            written(&folder, "one-line.csv", "7,-3,7,-3\n"),
            written(&folder, "y", b"\0\0\x09\x01\0\0\0\x04\x07\xfd\x07\xfd"),
        ];
        for (x, y) in samples
            .iter()
            .flat_map(|x| labels.iter().map(move |y| (x, y)))
        {
            let orbits = labelled(x, y).unwrap();
            assert_eq!((orbits.len(), orbits.inputs()), (2, 2));
            assert_eq!([orbits.label(0), orbits.label(1)], [7, -3]);
            let mut member = [0.0; 2];
            orbits.write_member(1, 1, &mut member);
            assert_eq!(member, [0.0, 5.0]);
        }
    }

    #[test]
    fn images_are_rows_that_remember_their_shape() {
        let folder = tempfile::tempdir().unwrap();
        // x[s, h, w] = 6 s + 3 h + w, in either order.
        let values: Vec<f32> = (0..12).map(|value| value as f32).collect();
        let fortran = [0.0, 6.0, 3.0, 9.0, 1.0, 7.0, 4.0, 10.0, 2.0, 8.0, 5.0, 11.0];
        let bytes = [
            &b"\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x03"[..],
            &(0..12).collect::<Vec<u8>>(),
        ];
        for (file, scale) in [
            (
                written(&folder, "c.npy", npy_f32("False", "(2, 2, 3)", &values)),
                1.0,
            ),
            (
                written(&folder, "f.npy", npy_f32("True", "(2, 2, 3)", &fortran)),
                1.0,
            ),
            (written(&folder, "images-idx3-ubyte", bytes.concat()), 255.0),
        ] {
            let exemplars = exemplars(&file).unwrap();
            assert_eq!(exemplars.samples.dim(), (2, 6));
            assert_eq!(exemplars.shape(), Some((2, 3)));
            for (place, value) in exemplars.samples.iter().enumerate() {
                assert_eq!(*value, place as f32 / scale);
            }
            let shape = |height, width| Transform::Translate2d { height, width };
            assert_eq!(
                exemplars
                    .clone()
                    .transformed(&shape(2, 3))
                    .unwrap()
                    .members(1),
                6
            );
            let line = exemplars.transformed(&shape(3, 3)).unwrap_err().to_string();
            let refusal = format!("{}: 6 values are not an image of 3 × 3: ", file.display());
            assert!(line.starts_with(&refusal), "{line}");
        }
    }

    #[test]
    fn many_rows_are_read_in_blocks() {
        let folder = tempfile::tempdir().unwrap();
        let rows = 2 * BLOCK / 3 + 5;
        let values: Vec<f64> = (0..3 * rows).map(|value| value as f64).collect();
        let path = written(&folder, "X.npy", npy_f64([rows as u64, 3], &values));
        let samples = exemplars(&path).unwrap().samples;
        assert!(
            samples
                .iter()
                .enumerate()
                .all(|(place, value)| *value == place as f32)
        );
    }

    #[test]
    fn bad_samples_are_refused_in_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let npy = |values: &[f64]| npy_f64([2, 2], values);
        for (bytes, refusal) in [
            (npy(&[1.0, 2.0, f64::NAN, 0.0]), "row 1: column 0 is NaN: "),
            (
                npy(&[1.0, f64::INFINITY, 0.0, 1.0]),
                "row 0: column 1 is inf: ",
            ),
            (npy(&[1.0, 2.0, 0.0, 0.0]), "row 1 is constant: "),
            (npy(&[3.0, 3.0, 0.0, 1.0]), "row 0 is constant: "),
            (
                npy(&[1.0, 2.0, 1e300, 0.0]),
                "row 1: column 0 is 1e300, more than f32 holds: ",
            ),
            (
                npy(&[1.0, 2.0, 1e-300, 0.0]),
                "row 1: every value is less than f32 holds: ",
            ),
            (
                npy_f64([1, 20_000], &[0.0; 20_000]),
                "samples of 20000 values, a model takes 1 to ",
            ),
            (
                npy_f32("False", "(1, 1, 1, 2)", &[1.0, 2.0]),
                "the array has 4 dimensions, [1, 1, 1, 2]: ",
            ),
            (
                header(Element::Complex64, [1, 1]),
                "the data are truncated: ",
            ),
            (
                b"\0\0\x08\x01\0\0\0\x02\x01\x02".to_vec(),
                "the array has 1 dimensions: ",
            ),
        ] {
            let path = written(&folder, "X", bytes);
            let line = exemplars(&path).unwrap_err().to_string();
            assert!(line.contains(&format!("X: {refusal}")), "{line}");
            assert!(!line.contains('\n'));
        }
    }

    #[test]
    fn bad_labels_are_refused_in_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let x = written(&folder, "X.csv", "1,2\n5,0\n2,1\n");
        for (text, refusal) in [
            ("1,1", "2 labels for 3 samples: "),
            ("1\n2\n3\n", "label 1 has only one sample (row 0): "),
            ("1\n1\n1\n", "there are too few orbits: 1: "),
            ("1\n1\n2\n", "label 2 has only one sample (row 2): "),
            ("1\n1.5\n1\n", "label 1 is 1.5: "),
            ("1\nNaN\n1\n", "label 1 is NaN: "),
            ("9007199254740993\n1\n1\n", "label 0 is 9007199254740992: "),
            ("1,2\n1,2\n1,2\n", "labels of shape [3, 2]: "),
            ("1\nb\n1\n", "label 1 is \"b\", others are numbers: "),
        ] {
            let y = written(&folder, "y.csv", text);
            let line = labelled(&x, &y).unwrap_err().to_string();
            assert!(line.contains(&format!("y.csv: {refusal}")), "{line}");
        }
        let y = written(&folder, "y.csv", "1\n1\n1\n");
        let missing = labelled(&folder.path().join("none.npy"), &y)
            .unwrap_err()
            .to_string();
        assert!(
            missing.contains("none.npy: there is no such file: "),
            "{missing}"
        );
    }
}
