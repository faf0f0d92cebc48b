//! `bispectral import`: W from a `.npy` file, whoever trained it, into a model for the device.

use super::console::{self, Console};
use crate::data::npy::{Array, Element};
use crate::export::{NewFile, bsn};
use crate::{Error, Result};
use bispectral_core::Model;
use bispectral_core::format::{MAX_DIMENSION, Parts};
use clap::Args;
use num_complex::Complex64;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Bytes of W that are in memory as f64 at a time.
const BLOCK: usize = 16 << 20;

/// Make a model of the weights W in a NumPy array
///
/// W is complex64 or complex128 (float32 and float64 work, too), of shape (rows, inputs), in C or Fortran order.
/// Its values are rounded to f32.
#[derive(Debug, Args)]
pub(super) struct Import {
    /// The weights: an array of shape (rows, inputs)
    #[arg(value_name = "W.npy")]
    weights: PathBuf,
    /// The model to write
    #[arg(short, long, value_name = "MODEL.bsn")]
    output: PathBuf,
    /// What people call the model [default: the name of the array's file]
    #[arg(long, value_parser = words)]
    name: Option<String>,
    /// The group whose irreducible representations the rows are, such as Z4xZ2
    #[arg(long, value_parser = words)]
    group: Option<String>,
    /// Replace the output file where it exists
    #[arg(long)]
    force: bool,
}

#[derive(Serialize)]
struct Imported<'a> {
    output: String,
    name: &'a str,
    group: Option<&'a str>,
    inputs: usize,
    rows: usize,
    pairs: usize,
    bytes: usize,
}

impl Import {
    pub(super) fn run(&self, console: &Console) -> Result<()> {
        let mut output = NewFile::create(&self.output, self.force)?;
        let mut array = Array::open(&self.weights)?;
        let (rows, inputs) = dimensions(&array, &self.weights)?;
        let weights = planar(&mut array, &self.weights)?;
        let stem = self.weights.file_stem().unwrap_or_default();
        let stem = stem.to_string_lossy();
        let parts = Parts {
            inputs,
            rows,
            name: self.name.as_deref().unwrap_or(&stem),
            group: self.group.as_deref(),
            weights: &weights,
        };
        let refused = |error| Error::model(&self.weights, error);
        let bytes = bsn::encode(&parts).map_err(refused)?;
        let model = Model::from_bytes(&bytes).map_err(refused)?;
        output.write(&bytes)?;
        output.commit()?;
        self.report(&model, bytes.len(), console)
    }

    fn report(&self, model: &Model<'_>, bytes: usize, console: &Console) -> Result<()> {
        let imported = Imported {
            output: self.output.display().to_string(),
            name: model.name(),
            group: model.group(),
            inputs: model.inputs(),
            rows: model.rows(),
            pairs: model.pairs(),
            bytes,
        };
        let words = format!(
            "{}: model \"{}\", rows {}, inputs {}, invariants {}, {bytes} bytes",
            console::name(&imported.output),
            console::name(imported.name),
            imported.rows,
            imported.inputs,
            imported.pairs,
        );
        console.summary(&imported, &words)
    }
}

/// A name on the command line; what a terminal would obey has no place in one.
fn words(text: &str) -> std::result::Result<String, String> {
    if text.is_empty() || text.chars().any(char::is_control) {
        return Err("must be words without control characters".into());
    }
    Ok(text.to_owned())
}

fn dimensions(array: &Array, path: &Path) -> Result<(u16, u16)> {
    if array.dimensions() != 2 {
        return Err(Error::file(
            path,
            "the array has 1 dimension",
            "save one of shape [rows, inputs]",
        ));
    }
    if array.element().is_integer() {
        return Err(Error::file(
            path,
            format!("the elements are {}", array.element()),
            "save W.astype(\"complex64\")",
        ));
    }
    match (u16::try_from(array.rows()), u16::try_from(array.columns())) {
        (Ok(rows), Ok(inputs)) if rows.max(inputs) <= MAX_DIMENSION => Ok((rows, inputs)),
        _ => Err(Error::file(
            path,
            format!("the shape is [{}, {}]", array.rows(), array.columns()),
            format!("use at most {MAX_DIMENSION} rows and {MAX_DIMENSION} inputs"),
        )),
    }
}

/// What is wrong with a value, and what to do.
type Refusal = (String, &'static str);

/// W as a model stores it: little-endian f32, in each row the real parts and then the imaginary ones.
fn planar(array: &mut Array, path: &Path) -> Result<Vec<u8>> {
    let (rows, columns) = (array.rows(), array.columns());
    let length = rows * columns * Element::Complex64.size();
    let mut weights = Vec::new();
    weights
        .try_reserve_exact(length)
        .map_err(|_| Error::memory(path, "weights", length as u64))?;
    let step = (BLOCK / (columns * Element::Complex128.size())).max(1);
    for first in (0..rows).step_by(step) {
        let block = array.read(first..first + step)?;
        for (row, values) in (first..).zip(block.chunks(columns)) {
            add_row(values, &mut weights).map_err(|(what, remedy)| {
                Error::file(path, format!("row {row}, {what}"), remedy)
            })?;
        }
    }
    Ok(weights)
}

fn add_row(row: &[Complex64], weights: &mut Vec<u8>) -> std::result::Result<(), Refusal> {
    type Part = (&'static str, fn(&Complex64) -> f64);
    const PARTS: [Part; 2] = [("real", |w| w.re), ("imaginary", |w| w.im)];
    for (part, of) in PARTS {
        for (column, value) in row.iter().map(of).enumerate() {
            let rounded = round(value).map_err(|(what, remedy)| {
                let place = format!("column {column}: the {part} part");
                (format!("{place} {what}"), remedy)
            })?;
            weights.extend(rounded.to_le_bytes());
        }
    }
    Ok(())
}

fn round(value: f64) -> std::result::Result<f32, Refusal> {
    let rounded = value as f32;
    if !value.is_finite() {
        return Err((format!("is {value}"), "replace it by a finite number"));
    }
    if !rounded.is_finite() {
        return Err((
            format!("is {value:e}, more than f32 holds"),
            "scale W by a constant, the invariants stay the same",
        ));
    }
    Ok(rounded)
}
