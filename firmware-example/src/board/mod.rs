//! What differs between the boards: how a program begins, and how its instructions are counted.

#[cfg(target_arch = "arm")]
mod cortex_m;
#[cfg(target_arch = "riscv32")]
mod riscv32;

#[cfg(target_arch = "arm")]
pub use cortex_m::{NAME, instructions};
#[cfg(target_arch = "riscv32")]
pub use riscv32::{NAME, instructions};
