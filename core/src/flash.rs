//! Models in flash, at an address from which whole words can be loaded.

/// Bytes at a multiple of 16, which [`include_model!`](crate::include_model) makes.
///
/// ```
/// use bispectral_core::Aligned;
///
/// static BYTES: Aligned<[u8; 3]> = Aligned([1, 2, 3]);
/// assert_eq!(BYTES.0.as_ptr() as usize % 16, 0);
/// ```
#[derive(Debug, Clone, Copy)]
#[repr(C, align(16))]
pub struct Aligned<T: ?Sized>(pub T);

/// `include_bytes!` at a multiple of 16, as a `&'static [u8]`.
///
/// Weights at a multiple of four are loaded as words; from `include_bytes!`, which promises no alignment,
/// a Cortex-M0 or a RISC-V without unaligned loads would put each together from four bytes.
///
/// ```
/// use bispectral_core::{Model, include_model};
///
/// static BYTES: &[u8] = include_model!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
///
/// assert!(Model::from_bytes(BYTES)?.is_aligned());
/// # Ok::<(), bispectral_core::Error>(())
/// ```
#[macro_export]
macro_rules! include_model {
    ($path:expr $(,)?) => {{
        static MODEL: &$crate::Aligned<[u8]> = &$crate::Aligned(*include_bytes!($path));
        &MODEL.0
    }};
}
