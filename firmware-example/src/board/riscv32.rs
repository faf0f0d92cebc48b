//! RV32IMAC. The processor counts its own instructions.

use riscv_rt::entry;

pub const NAME: &str = "RV32IMAC, QEMU virt";

/// The counter has 64 bits and never begins anew.
pub const ROUND: u64 = 0;

#[entry]
fn main() -> ! {
    crate::run().exit_process()
}

/// Instructions since the processor started; exact in QEMU with `-icount shift=0`.
pub fn instructions() -> Option<u64> {
    Some(riscv::register::minstret::read64())
}
