//! Cortex-M. On the M4F of MPS2 AN386 a timer of the board counts the emulator's time, and so the instructions.

use cortex_m_rt::{ExceptionFrame, entry, exception};
use semihosting::process::ExitCode;

pub const NAME: &str = match env!("BOARD").as_bytes() {
    b"thumbv6m-none-eabi" => "Cortex-M0, micro:bit",
    b"thumbv7m-none-eabi" => "Cortex-M3, LM3S6965",
    b"thumbv7em-none-eabihf" => "Cortex-M4F, MPS2 AN386",
    _ => "Cortex-M33, MPS2 AN505",
};

/// Instructions after which the timer begins anew: 2^32 ticks.
pub const ROUND: u64 = (1 << 32) * 40 / 128;

#[entry]
fn main() -> ! {
    crate::run().exit_process()
}

/// A fault ends the program, which would otherwise wait for ever.
// SAFETY: it reads nothing of what the fault may have left behind.
#[exception]
unsafe fn HardFault(_: &ExceptionFrame) -> ! {
    ExitCode::FAILURE.exit_process()
}

/// Instructions since some moment, where the board can tell.
///
/// Needs `-icount shift=7`: an instruction takes 128 ns, a tick of the 25 MHz timer 40 ns.
pub fn instructions() -> Option<u64> {
    if env!("BOARD") != "thumbv7em-none-eabihf" {
        return None;
    }
    const CTRL: *mut u32 = 0x4000_0000 as *mut u32;
    const VALUE: *mut u32 = 0x4000_0004 as *mut u32;
    const RELOAD: *mut u32 = 0x4000_0008 as *mut u32;
    // SAFETY: CMSDK TIMER0 of this board; nothing else uses it.
    let ticks = unsafe {
        if CTRL.read_volatile() == 0 {
            RELOAD.write_volatile(u32::MAX);
            VALUE.write_volatile(u32::MAX);
            CTRL.write_volatile(1);
        }
        u32::MAX - VALUE.read_volatile()
    };
    Some((u64::from(ticks) * 40 + 64) / 128)
}
