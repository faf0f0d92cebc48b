//! Flash and RAM in use, by the linker's symbols, and the stack's high-water mark, by painting it.

use core::ptr::{addr_of, read_volatile, write_volatile};

/// In bytes.
pub struct Usage {
    pub flash: usize,
    pub statics: usize,
    pub stack: usize,
}

/// A word that no code leaves on the stack by chance.
const PAINT: u32 = 0xB159_EC7A;
/// The frame of the painter itself is not painted.
const MARGIN: usize = 256;

unsafe extern "C" {
    static _flash_origin: u8;
    static _ram_origin: u8;
    static __sidata: u8;
    static __sdata: u8;
    static __edata: u8;
    static __sheap: u8;
    static _stack_start: u8;
}

/// The lowest address the stack may reach, and its first.
fn stack() -> (usize, usize) {
    (addr_of!(__sheap) as usize, addr_of!(_stack_start) as usize)
}

/// Fills the free part of the stack. Call it first.
///
/// Never inlined: below the frame of a caller there is nothing, but within it there may be.
#[inline(never)]
pub fn paint_stack() {
    let here = 0_u32;
    let (mut at, end) = (stack().0, addr_of!(here) as usize - MARGIN);
    while at < end {
        // SAFETY: the words from the end of the statics to below this frame belong to nobody yet.
        unsafe { write_volatile(at as *mut u32, PAINT) };
        at += size_of::<u32>();
    }
}

/// What is in use now, and of the stack the most since [`paint_stack`].
pub fn usage() -> Usage {
    let (mut at, top) = stack();
    // SAFETY: all of these words are RAM.
    while at < top && unsafe { read_volatile(at as *const u32) } == PAINT {
        at += size_of::<u32>();
    }
    let data = addr_of!(__edata) as usize - addr_of!(__sdata) as usize;
    Usage {
        flash: addr_of!(__sidata) as usize + data - addr_of!(_flash_origin) as usize,
        statics: addr_of!(__sheap) as usize - addr_of!(_ram_origin) as usize,
        stack: top - at,
    }
}
