//! What the emulator put into the board's memory: a model, and whatever lies behind it.

mod place;

use core::slice;

/// Magic, version and length, which stand first in a model.
const BEGINNING: usize = 9;

/// The bytes of the model, and all behind them. Where there is none, `Model::from_bytes` says so.
pub fn loaded() -> (&'static [u8], &'static [u8]) {
    const MEMORY: (usize, usize) = place::place(env!("BOARD"));
    // SAFETY: memory of the board, which nothing else uses; without a model it holds zeros.
    let bytes = unsafe { slice::from_raw_parts(MEMORY.0 as *const u8, MEMORY.1) };
    let length = bytes
        .get(5..BEGINNING)
        .and_then(|length| length.try_into().ok())
        .map_or(0, |length| u32::from_le_bytes(length) as usize);
    bytes
        .split_at_checked(length.max(BEGINNING))
        .unwrap_or((bytes, &[]))
}
