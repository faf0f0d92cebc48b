//! What can go wrong, each with a name: a damaged model, or a call that cannot be answered.

use crate::feature::Feature;
use core::fmt;

/// Why a model was refused or a computation not done.
///
/// Small and `Copy`; every variant says in [`Display`](fmt::Display) what was expected and what was found.
///
/// ```
/// use bispectral_core::{Error, Model};
///
/// assert_eq!(Model::from_bytes(b"not a model, but long enough").unwrap_err(), Error::Magic);
/// assert_eq!(
///     Model::from_bytes(&[]).unwrap_err().to_string(),
///     "the model is truncated: 0 bytes of at least 38",
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Error {
    /// The bytes end before the model does.
    Truncated {
        /// Bytes the model says it has, or the least any model has.
        needed: u32,
        /// Bytes that are there.
        found: u32,
    },
    /// There are bytes behind the end of the model.
    TrailingBytes {
        /// Bytes the model says it has.
        needed: u32,
        /// Bytes that are there.
        found: u32,
    },
    /// The bytes do not begin like a model.
    Magic,
    /// The model was written by a newer exporter.
    Version {
        /// The version found; this crate reads [`VERSION`](crate::format::VERSION).
        found: u8,
    },
    /// The checksum differs: the bytes were damaged on their way.
    Checksum {
        /// The CRC-32 at the end of the bytes.
        stored: u32,
        /// The CRC-32 of the bytes.
        computed: u32,
    },
    /// The fields do not decode: a length points past the end or takes more bytes than it needs, a name is not UTF-8,
    /// a number too large, the weights not where they should be.
    Malformed,
    /// A dimension is zero or larger than [`MAX_DIMENSION`](crate::format::MAX_DIMENSION).
    Dimensions {
        /// Inputs N the model claims.
        inputs: u16,
        /// Rows R the model claims.
        rows: u16,
    },
    /// The weights do not have the length the dimensions call for.
    WeightLength {
        /// Bytes called for.
        needed: u32,
        /// Bytes found.
        found: u32,
    },
    /// The model uses a part of the format this version does not know.
    Unsupported {
        /// Which part.
        part: Part,
        /// The kind found there.
        kind: u8,
    },
    /// A weight is infinite or not a number.
    NonFiniteWeight {
        /// Its row.
        row: u16,
        /// Its column.
        column: u16,
    },
    /// The largest weight is outside 2^-60 … 2^60, where products could leave the range of f32.
    ///
    /// β̄ does not change when W is multiplied by a constant: scale it and export again.
    WeightRange,
    /// The signal has not as many samples as the model has inputs.
    InputLength {
        /// Inputs of the model.
        needed: u32,
        /// Samples given.
        found: u32,
    },
    /// The scratch buffer is shorter than [`scratch_len`](crate::scratch_len).
    ScratchLength {
        /// Elements needed.
        needed: u32,
        /// Elements given.
        found: u32,
    },
    /// The buffer for the result is too short.
    OutputLength {
        /// Elements needed.
        needed: u32,
        /// Elements given.
        found: u32,
    },
    /// A sample is infinite or not a number.
    NonFiniteInput {
        /// The first such sample.
        index: u32,
    },
    /// Every sample is zero: there is no direction to normalise.
    ZeroInput,
    /// The signal is not zero, but its bispectrum is, or no larger than rounding alone could make it: third order says
    /// nothing about it. Signals with odd harmonics only are of this kind, among them every zero-mean sinusoid on an even
    /// cycle, and those to which no row of W responds. [`power_spectrum`](crate::Model::power_spectrum) has an answer for
    /// all; `docs/numerics.md` derives the bound, which is the same for every form and encoding of a model.
    ZeroBispectrum,
    /// The result is larger than f32 holds; [`invariants`](crate::Model::invariants) never are.
    Overflow,
    /// The model is of a kind that this program was built without.
    NeedsFeature {
        /// The feature of bispectral-core that has it.
        feature: Feature,
    },
    /// The model tells no classes apart: it was exported without a classifier.
    NoClassifier,
    /// The model's coefficients cannot follow a stream: it is not cyclic, or its inputs are not consecutive times.
    NotSliding,
}

/// A part of the model format that has kinds.
///
/// ```
/// use bispectral_core::{Error, Part};
///
/// let error = Error::Unsupported { part: Part::Encoding, kind: 9 };
/// assert_eq!(error.to_string(), "encoding 9 is not known to this version: update it");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Part {
    /// How a weight is stored.
    Encoding,
    /// Which pairs (i, j) are computed.
    Pairs,
    /// How z_ij is computed.
    Structure,
    /// What follows the invariants.
    Head,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Encoding => "encoding",
            Part::Pairs => "pair list",
            Part::Structure => "structure",
            Part::Head => "head",
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use crate::format::{MAX_DIMENSION, VERSION};
        match *self {
            Error::Truncated { needed, found } => {
                write!(
                    f,
                    "the model is truncated: {found} bytes of at least {needed}"
                )
            }
            Error::TrailingBytes { needed, found } => {
                write!(
                    f,
                    "{found} bytes where the model has {needed}: trailing bytes"
                )
            }
            Error::Magic => {
                f.write_str("not a bispectral model: the first bytes are not \"BSN\\0\"")
            }
            Error::Version { found } => write!(
                f,
                "format version {found}, this program reads {VERSION}: update it, or export again"
            ),
            Error::Checksum { stored, computed } => write!(
                f,
                "checksum differs (stored {stored:08x}, computed {computed:08x}): \
                 the model is damaged, export it again"
            ),
            Error::Malformed => f.write_str("the model's fields do not decode: export it again"),
            Error::Dimensions { inputs, rows } => write!(
                f,
                "{rows} rows by {inputs} inputs: each must be 1 to {MAX_DIMENSION}"
            ),
            Error::WeightLength { needed, found } => {
                write!(
                    f,
                    "{found} bytes of weights where the dimensions call for {needed}"
                )
            }
            Error::Unsupported { part, kind } => {
                write!(f, "{part} {kind} is not known to this version: update it")
            }
            Error::NonFiniteWeight { row, column } => {
                write!(f, "the weight in row {row}, column {column} is not finite")
            }
            Error::WeightRange => {
                f.write_str("the largest weight is outside 2^-60 to 2^60: scale W by a constant")
            }
            Error::NeedsFeature { feature } => write!(
                f,
                "the model needs the feature `{feature}` of bispectral-core: build with it, or export another form"
            ),
            Error::InputLength { needed, found } => {
                write!(f, "{found} samples where the model has {needed} inputs")
            }
            Error::ScratchLength { needed, found } => {
                write!(
                    f,
                    "the scratch buffer has {found} elements, {needed} are needed"
                )
            }
            Error::OutputLength { needed, found } => {
                write!(
                    f,
                    "the output buffer has {found} elements, {needed} are needed"
                )
            }
            Error::NonFiniteInput { index } => write!(f, "sample {index} is not finite"),
            Error::ZeroInput => f.write_str("every sample is zero"),
            Error::NoClassifier => f.write_str(
                "the model has no classifier: export one with it",
            ),
            Error::NotSliding => f.write_str(
                "the model is not cyclic, or its inputs are not consecutive times: compute whole windows, or export the structure cyclic or fft",
            ),
            Error::ZeroBispectrum => f.write_str(
                "the bispectrum is zero up to rounding: third order says nothing about this signal, its power spectrum does",
            ),
            Error::Overflow => {
                f.write_str("the result is larger than f32 holds: scale the signal down")
            }
        }
    }
}

impl core::error::Error for Error {}

/// A length for an error message; no model is longer than 4 GiB.
pub(crate) const fn saturate(length: usize) -> u32 {
    if length > u32::MAX as usize {
        u32::MAX
    } else {
        length as u32
    }
}

#[cfg(feature = "std")]
impl From<Error> for std::io::Error {
    fn from(error: Error) -> Self {
        std::io::Error::new(std::io::ErrorKind::InvalidData, error)
    }
}
