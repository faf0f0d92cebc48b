//! What may be asked for at most, all in one place; each is looked at before anything is allocated for it.
//! [`memory`] compares what is within these limits with the memory there is; [`interruption`] ends work that is under way.

pub mod interruption;
pub mod memory;

use bispectral_core::format::MAX_DIMENSION;

/// Rows of W, and values of a signal: as many as a model has at most.
pub const MOST_ROWS: usize = MAX_DIMENSION as usize;
/// Values of a signal.
pub const MOST_INPUTS: usize = MAX_DIMENSION as usize;
/// Samples of a data set: they are numbered with 32 bits.
pub const MOST_SAMPLES: usize = u32::MAX as usize;
/// Noise, as a share of a signal's size. Of a signal that is a thousandth of its noise nothing is learned.
pub const MOST_NOISE: f64 = 1e3;
/// Bytes of a configuration: a thousand phases have less.
pub const MOST_CONFIG_BYTES: u64 = 1 << 20;
/// Bytes of results that this program wrote: the largest, of 10,000 attacks, have 2 MB.
pub const MOST_RESULTS_BYTES: u64 = 64 << 20;
/// Bytes of the losses of a run: ten million lines.
pub const MOST_METRICS_BYTES: u64 = 2 << 30;
/// Bytes of a checkpoint: W three times and its optimiser, all of the largest size, are 2 GiB.
pub const MOST_CHECKPOINT_BYTES: u64 = 4 << 30;
/// Bytes of a model: lengths in it are of 32 bits.
pub const MOST_MODEL_BYTES: u64 = u32::MAX as u64;
/// Bytes of an IDX file once it is decompressed: MNIST's largest has 47 MB, and a few bytes can claim anything.
pub const MOST_IDX_BYTES: u64 = 2 << 30;
/// Bytes of a line of text: the values of the longest signal, each of 100 letters.
pub const MOST_LINE_BYTES: u64 = 100 * MAX_DIMENSION as u64;

/// Refuses more than `most`.
///
/// # Errors
/// What it is, and the most there may be.
pub(crate) fn at_most(found: usize, most: usize) -> std::result::Result<(), String> {
    if found <= most {
        return Ok(());
    }
    Err(format!("{found} are more than {most}"))
}
