//! Which kinds of models a program was built for: one cargo feature a kind, so that a program pays in flash for those it
//! uses.

use core::fmt;

/// A cargo feature of this crate without which some models are refused.
///
/// ```
/// use bispectral_core::{Error, Feature};
///
/// let error = Error::NeedsFeature { feature: Feature::Fft };
/// assert_eq!(error.to_string(), "the model needs the feature `fft` of bispectral-core: build with it, or export another form");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Feature {
    /// z_ij from W itself.
    Dense,
    /// z_ij from W whose conjugate rows are stored once.
    Conjugates,
    /// z_ij as combinations of z_k.
    Combined,
    /// z_ij by the arithmetic of a product of cyclic groups.
    Cyclic,
    /// The fast Fourier transform of such a group, of factors up to 256.
    Fft,
    /// The same of factors of 512 and 1024.
    Fft1024,
    /// Invariant forms of blocks, for groups that need not commute.
    Couplings,
    /// Weights of every structure but cyclic that are f32.
    F32,
    /// Weights that are f16.
    F16,
    /// Weights that are i8.
    I8,
    /// Features of degree one in place of β̄.
    DegreeOne,
    /// A classifier behind the invariants.
    Head,
    /// Cyclic in whole numbers: roots of unity, coefficients and products that are i32.
    I32,
    /// Weights of f32 and f16 at any address, not only at a multiple of their size.
    Unaligned,
}

/// Whatever a model may be: all features, that pairs are listed, and that weights lie at any address.
pub(crate) const EVERY: u32 = if cfg!(feature = "unaligned") {
    !0
} else {
    !ANYWHERE
};
/// Among the kinds of a [`StaticModel`](crate::StaticModel), with [`Feature::bit`]s: the model lists its pairs.
pub const LISTED_PAIRS: u32 = 1 << 30;
/// Among features: the weights may lie at an address from which they cannot be loaded.
pub(crate) const ANYWHERE: u32 = 1 << 31;

/// The features this program was built with, by their bits.
const ON: u32 = {
    use Feature::*;
    let all = [
        Dense, Conjugates, Combined, Cyclic, Fft, Fft1024, Couplings, F32, F16, I8, I32, DegreeOne,
        Head, Unaligned,
    ];
    let (mut on, mut at) = (0, 0);
    while at < all.len() {
        if all[at].is_built() {
            on |= all[at].bit();
        }
        at += 1;
    }
    on
};

impl Feature {
    /// Its bit in the kinds of a [`StaticModel`](crate::StaticModel).
    #[must_use]
    pub const fn bit(self) -> u32 {
        1 << self as u32
    }

    /// Whether this program was built with it and models of these kinds may need it.
    #[inline(always)]
    pub(crate) const fn is_in(self, kinds: u32) -> bool {
        kinds & ON & self.bit() != 0
    }

    /// As Cargo.toml calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Feature::Dense => "dense",
            Feature::Conjugates => "conjugates",
            Feature::Combined => "combined",
            Feature::Cyclic => "cyclic",
            Feature::Fft => "fft",
            Feature::Fft1024 => "fft-1024",
            Feature::Couplings => "couplings",
            Feature::F32 => "f32",
            Feature::F16 => "f16",
            Feature::I8 => "i8",
            Feature::I32 => "i32",
            Feature::Unaligned => "unaligned",
            Feature::DegreeOne => "degree-one",
            Feature::Head => "head",
        }
    }

    /// Whether this program was built with it.
    #[must_use]
    #[inline(always)]
    pub const fn is_on(self) -> bool {
        ON & self.bit() != 0
    }

    const fn is_built(self) -> bool {
        match self {
            Feature::Dense => cfg!(feature = "dense"),
            Feature::Conjugates => cfg!(feature = "conjugates"),
            Feature::Combined => cfg!(feature = "combined"),
            Feature::Cyclic => cfg!(feature = "cyclic"),
            Feature::Fft => cfg!(feature = "fft"),
            Feature::Fft1024 => cfg!(feature = "fft-1024"),
            Feature::Couplings => cfg!(feature = "couplings"),
            Feature::F32 => cfg!(feature = "f32"),
            Feature::F16 => cfg!(feature = "f16"),
            Feature::I8 => cfg!(feature = "i8"),
            Feature::I32 => cfg!(feature = "i32"),
            Feature::Unaligned => cfg!(feature = "unaligned"),
            Feature::DegreeOne => cfg!(feature = "degree-one"),
            Feature::Head => cfg!(feature = "head"),
        }
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
