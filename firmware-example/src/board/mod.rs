//! What differs between the boards: how a program begins, and how its instructions are counted.

#[cfg(target_arch = "arm")]
mod cortex_m;
#[cfg(target_arch = "riscv32")]
mod riscv32;

#[cfg(target_arch = "arm")]
use cortex_m::ROUND;
#[cfg(target_arch = "arm")]
pub use cortex_m::{NAME, instructions};
#[cfg(target_arch = "riscv32")]
use riscv32::ROUND;
#[cfg(target_arch = "riscv32")]
pub use riscv32::{NAME, instructions};

/// The instructions from one moment to another, less than a round of the counter later.
pub fn between(from: Option<u64>, to: Option<u64>) -> Option<u64> {
    let (from, to) = from.zip(to)?;
    to.checked_sub(from)
        .or_else(|| (to + ROUND).checked_sub(from))
}
