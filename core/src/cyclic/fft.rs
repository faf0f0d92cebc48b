//! The transform along a factor that is a power of two: with the feature `fft` by `microfft`, without it not at all, and
//! no model that calls for it is read.
//!
//! Plain f32, no fused operations and no function of a platform's: the bits are the same on every processor.

#[cfg(feature = "fft")]
use microfft::complex::{cfft_4, cfft_8, cfft_16, cfft_32, cfft_64, cfft_128, cfft_256};
#[cfg(feature = "fft-1024")]
use microfft::complex::{cfft_512, cfft_1024};
use num_complex::Complex32;

/// Σ_g v_g exp(−2πi k g/m) written over v, where m is 4, 8, … or 1024; `false` where it is none of these.
#[cfg(feature = "fft")]
pub(super) fn fast(line: &mut [Complex32]) -> bool {
    macro_rules! transform {
        ($($(#[$condition:meta])? $length:literal: $fft:ident),*) => {
            match line.len() {
                $($(#[$condition])? $length => line.try_into().map($fft).is_ok(),)*
                _ => false,
            }
        };
    }
    transform!(
        4: cfft_4, 8: cfft_8, 16: cfft_16, 32: cfft_32, 64: cfft_64, 128: cfft_128, 256: cfft_256,
        #[cfg(feature = "fft-1024")] 512: cfft_512, #[cfg(feature = "fft-1024")] 1024: cfft_1024
    )
}

#[cfg(not(feature = "fft"))]
pub(super) fn fast(_line: &mut [Complex32]) -> bool {
    false
}
