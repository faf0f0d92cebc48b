//! `bispectral inspect`: what a model is, and what it asks of a device.

use super::console::{self, Console};
use crate::Result;
use crate::export::bsn::ModelFile;
use bispectral_core::{Complex32, Model, format};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;

/// Show what a model is, and the flash and RAM it takes
///
/// Flash is the size of the file. RAM is the signal, the scratch and the result, without the stack; streaming hands out
/// one invariant at a time and needs no room for the result. A complex multiply-add is four real ones. Counted are
/// z = W x (x is real, so each of R·N counts half) and (W_i ⊙ W_j) x for every pair (R(R+1)/2 · N); not counted are
/// the R·N products W_i ⊙ x, two complex products a pair for z_i z_j conj(z_ij), scaling and normalising.
#[derive(Debug, Args)]
pub(super) struct Inspect {
    /// The model
    #[arg(value_name = "MODEL.bsn")]
    model: PathBuf,
}

#[derive(Serialize)]
struct Inspected<'a> {
    file: String,
    name: &'a str,
    group: Option<&'a str>,
    inputs: usize,
    rows: usize,
    pairs: usize,
    encoding: &'static str,
    format_version: u8,
    file_bytes: usize,
    flash_bytes: usize,
    ram: Ram,
    complex_multiply_adds: Work,
    largest_deviation_of_row_lengths_from_1: f64,
    crc32: String,
}

/// Bytes of RAM for one signal, without the stack.
#[derive(Serialize)]
struct Ram {
    signal_bytes: usize,
    scratch_bytes: usize,
    result_bytes: usize,
    total_bytes: usize,
    streaming_bytes: usize,
}

/// Complex multiply-adds for one signal; halves are exact in an f64.
#[derive(Serialize)]
struct Work {
    coefficients: f64,
    products: f64,
    total: f64,
}

impl Inspect {
    pub(super) fn run(&self, console: &Console) -> Result<()> {
        let file = ModelFile::read(&self.model)?;
        let model = file.model()?;
        let inspected = Inspected {
            file: file.path().display().to_string(),
            name: model.name(),
            group: model.group(),
            inputs: model.inputs(),
            rows: model.rows(),
            pairs: model.pairs(),
            // The core refuses every other encoding and version.
            encoding: "f32",
            format_version: format::VERSION,
            file_bytes: file.bytes().len(),
            flash_bytes: file.bytes().len(),
            ram: Ram::of(&model),
            complex_multiply_adds: Work::of(&model),
            largest_deviation_of_row_lengths_from_1: deviation(&model),
            crc32: format!("{:08x}", file.checksum()),
        };
        console.answer(&inspected, &inspected.words())
    }
}

impl Ram {
    fn of(model: &Model<'_>) -> Self {
        let signal_bytes = model.inputs() * size_of::<f32>();
        let scratch_bytes = model.scratch_len() * size_of::<f32>();
        let result_bytes = model.pairs() * size_of::<Complex32>();
        Ram {
            signal_bytes,
            scratch_bytes,
            result_bytes,
            total_bytes: signal_bytes + scratch_bytes + result_bytes,
            streaming_bytes: signal_bytes + scratch_bytes,
        }
    }
}

impl Work {
    fn of(model: &Model<'_>) -> Self {
        let coefficients = (model.rows() * model.inputs()) as f64 / 2.0;
        let products = (model.pairs() * model.inputs()) as f64;
        Work {
            coefficients,
            products,
            total: coefficients + products,
        }
    }
}

/// max_i |‖W_i‖₂ − 1|, in f64.
fn deviation(model: &Model<'_>) -> f64 {
    let length = |row| {
        let weights = (0..model.inputs()).filter_map(|column| model.weight(row, column));
        let squares = weights.map(|w| f64::from(w.re).powi(2) + f64::from(w.im).powi(2));
        squares.sum::<f64>().sqrt()
    };
    (0..model.rows())
        .map(|row| (length(row) - 1.0).abs())
        .fold(0.0, f64::max)
}

impl Inspected<'_> {
    fn words(&self) -> String {
        let Ram {
            signal_bytes,
            scratch_bytes,
            result_bytes,
            total_bytes,
            streaming_bytes,
        } = &self.ram;
        let Work {
            coefficients,
            products,
            total,
        } = &self.complex_multiply_adds;
        let lines = [
            ("name", console::name(self.name)),
            (
                "group",
                self.group.map_or("not given".into(), console::name),
            ),
            ("inputs N", self.inputs.to_string()),
            ("rows R", self.rows.to_string()),
            ("pairs", self.pairs.to_string()),
            ("encoding", self.encoding.into()),
            ("format", format!("version {}", self.format_version)),
            (
                "file",
                format!("{} bytes, CRC-32 {}", self.file_bytes, self.crc32),
            ),
            ("flash", format!("{} bytes", self.flash_bytes)),
            (
                "RAM",
                format!(
                    "{total_bytes} bytes: signal {signal_bytes}, scratch {scratch_bytes}, result {result_bytes}"
                ),
            ),
            (
                "streaming",
                format!("{streaming_bytes} bytes: signal {signal_bytes}, scratch {scratch_bytes}"),
            ),
            (
                "work",
                format!(
                    "{total} complex multiply-adds a signal: z = W x {coefficients} (R·N halves, x is real), \
                     products of pairs {products}"
                ),
            ),
            (
                "row lengths",
                format!(
                    "within {:.1e} of 1",
                    self.largest_deviation_of_row_lengths_from_1
                ),
            ),
        ];
        lines
            .map(|(title, value)| format!("{title:<12}{value}"))
            .join("\n")
    }
}
