//! The least program around a model: it is read and one call is made, or with the feature `emitted` it is a static that needs
//! not be read. Nothing is printed and nothing is run; the sections of what is linked say what the core takes of the flash.

#![no_std]
#![no_main]

#[cfg(not(feature = "emitted"))]
use bispectral_core::{Aligned, Model};
use core::hint::black_box;
use core::panic::PanicInfo;

/// What `bispectral export --emit rust` writes.
#[cfg(feature = "emitted")]
#[allow(dead_code)]
mod emitted {
    include!(env!("MODULE"));
}

/// In a section of its own, which is not counted.
#[cfg(not(feature = "emitted"))]
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
    // Buffers take no flash: as long as they seem to whoever cannot see them.
    let (x, scratch): (&[f32], &mut [f32]) = black_box((&[], &mut []));
    #[cfg(feature = "emitted")]
    let model = &emitted::MODEL;
    #[cfg(not(feature = "emitted"))]
    let Ok(model) = Model::from_bytes(black_box(&MODEL.0)) else {
        rest()
    };
    #[cfg(not(feature = "head"))]
    {
        let _ = black_box(model.invariants(x, scratch, black_box(&mut [])));
    }
    #[cfg(feature = "head")]
    {
        let _ = black_box(model.classify(x, scratch, black_box(&mut [])));
    }
    rest()
}

fn rest() -> ! {
    loop {
        core::hint::spin_loop();
    }
}
