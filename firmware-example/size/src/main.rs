//! The least program around a model: it is read and one call is made. Nothing is printed and nothing is run; the sections of
//! what is linked say what the core takes of the flash.

#![no_std]
#![no_main]

use bispectral_core::{Aligned, Complex32, Model};
use core::hint::black_box;
use core::panic::PanicInfo;

/// In a section of its own, which is not counted.
#[unsafe(link_section = ".model")]
static MODEL: Aligned<[u8; include_bytes!(env!("MODEL")).len()]> =
    Aligned(*include_bytes!(env!("MODEL")));

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

/// Where the linker begins.
#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    let (mut x, mut scratch) = ([0.0; 256], [0.0; 1024]);
    let x = &*black_box(&mut x[..]);
    let scratch = black_box(&mut scratch[..]);
    if let Ok(model) = Model::from_bytes(black_box(&MODEL.0)) {
        #[cfg(not(feature = "head"))]
        {
            let mut out = [Complex32::ZERO; 256];
            let _ = black_box(model.invariants(x, scratch, black_box(&mut out[..])));
            black_box(&out);
        }
        #[cfg(feature = "head")]
        {
            let mut out = [0.0; 16];
            let _ = black_box(model.classify(x, scratch, black_box(&mut out[..])));
        }
    }
    loop {
        core::hint::spin_loop();
    }
}
