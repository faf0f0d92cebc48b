//! `bispectral-core` for firmware written in C.
//!
//! Every function takes plain pointers and lengths, checks them (null, alignment, overlap, length) and calls the core; what a
//! caller must promise beyond that stands at the function. A model is checked once, by [`bispectral_open`], and the
//! checked view is kept in memory of the caller's. This is the only crate of the project with `unsafe` code.

#![no_std]

mod buffers;
mod compute;
mod model;
mod status;

pub use compute::*;
pub use model::*;
pub use status::*;

/// Nothing panics: built with feature `proof`, a program that could get here does not link.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    #[cfg(feature = "proof")]
    {
        unsafe extern "C" {
            fn a_panic_path_survives() -> !;
        }
        // SAFETY: never called: there is no such function, and so no program that could call it.
        unsafe { a_panic_path_survives() }
    }
    #[cfg(not(feature = "proof"))]
    loop {
        core::hint::spin_loop();
    }
}
