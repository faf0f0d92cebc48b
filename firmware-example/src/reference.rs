//! What the host computed with the same model, to be compared bit for bit: `model/reference.bin`, a postcard message.

use serde::{Deserialize, Serialize};

/// Signals, and what the host's core made of them. Numbers are little-endian, four bytes each.
#[derive(Debug, Serialize, Deserialize)]
pub struct Reference<'a> {
    /// f32: signal after signal, N each.
    #[serde(borrow)]
    pub signals: &'a [u8],
    /// f32: β̄ of each signal, real and imaginary part of every pair.
    pub invariants: &'a [u8],
    /// CRC-32 of each signal in each of its N shifts: over the streamed terms, then their norm.
    pub checksums: &'a [u8],
}
