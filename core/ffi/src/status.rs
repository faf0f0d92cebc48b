//! What became of a call: the core's errors by number, and their words.

use bispectral_core::{Error, Feature};
use core::ffi::{CStr, c_char};

/// What became of a call.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It did what it says.
    Ok = 0,
    /// A pointer is null or not aligned for its type, or buffers overlap.
    Pointer = 1,
    /// The model was not opened.
    NotOpen = 2,
    /// The model ends before it should.
    Truncated = 3,
    /// There are bytes behind the end of the model.
    TrailingBytes = 4,
    /// The bytes do not begin like a model.
    Magic = 5,
    /// The model was written by a newer exporter.
    Version = 6,
    /// The checksum differs.
    Checksum = 7,
    /// The model's fields do not decode.
    Malformed = 8,
    /// The model's inputs or rows are none or too many.
    Dimensions = 9,
    /// The weights do not have the length the dimensions call for.
    WeightLength = 10,
    /// The model needs a part that the library does not know or was built without.
    Unsupported = 11,
    /// A weight is infinite or not a number.
    NonFiniteWeight = 12,
    /// The largest weight is outside 2^-60 to 2^60.
    WeightRange = 13,
    /// The signal has not as many samples as the model has inputs.
    InputLength = 14,
    /// The scratch buffer is too short.
    ScratchLength = 15,
    /// The buffer for the result is too short.
    OutputLength = 16,
    /// A sample is infinite or not a number.
    NonFiniteInput = 17,
    /// Every sample is zero.
    ZeroInput = 18,
    /// The bispectrum is zero up to rounding: third order says nothing about the signal.
    ZeroBispectrum = 19,
    /// The result is larger than a float holds.
    Overflow = 20,
    /// The model calls for a fast Fourier transform, and the library was built without feature `fft`.
    NeedsFft = 21,
    /// The library met an error that this header has no number for.
    Other = 22,
    /// The model was exported without a classifier.
    NoClassifier = 23,
    /// The model is of a kind that the library was built without.
    NeedsFeature = 24,
}

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        match error {
            Error::Truncated { .. } => Status::Truncated,
            Error::TrailingBytes { .. } => Status::TrailingBytes,
            Error::Magic => Status::Magic,
            Error::Version { .. } => Status::Version,
            Error::Checksum { .. } => Status::Checksum,
            Error::Malformed => Status::Malformed,
            Error::Dimensions { .. } => Status::Dimensions,
            Error::WeightLength { .. } => Status::WeightLength,
            Error::Unsupported { .. } => Status::Unsupported,
            Error::NonFiniteWeight { .. } => Status::NonFiniteWeight,
            Error::WeightRange => Status::WeightRange,
            Error::InputLength { .. } => Status::InputLength,
            Error::ScratchLength { .. } => Status::ScratchLength,
            Error::OutputLength { .. } => Status::OutputLength,
            Error::NonFiniteInput { .. } => Status::NonFiniteInput,
            Error::ZeroInput => Status::ZeroInput,
            Error::ZeroBispectrum => Status::ZeroBispectrum,
            Error::Overflow => Status::Overflow,
            Error::NeedsFeature {
                feature: Feature::Fft | Feature::Fft1024,
            } => Status::NeedsFft,
            Error::NeedsFeature { .. } => Status::NeedsFeature,
            Error::NoClassifier => Status::NoClassifier,
            _ => Status::Other,
        }
    }
}

impl From<Result<(), Status>> for Status {
    fn from(result: Result<(), Status>) -> Self {
        result.err().unwrap_or(Status::Ok)
    }
}

/// Every status with its words, each ending in a zero.
const WORDS: [(Status, &CStr); 25] = [
    (Status::Ok, c"all is well"),
    (
        Status::Pointer,
        c"a pointer is null or not aligned, or buffers overlap",
    ),
    (
        Status::NotOpen,
        c"the model was not opened: call bispectral_open first",
    ),
    (
        Status::Truncated,
        c"the model is truncated: export it again",
    ),
    (
        Status::TrailingBytes,
        c"there are bytes behind the end of the model: export it again",
    ),
    (
        Status::Magic,
        c"not a bispectral model: the first bytes are not \"BSN\\0\"",
    ),
    (
        Status::Version,
        c"a newer format version: update the library, or export again",
    ),
    (
        Status::Checksum,
        c"the checksum differs: the model is damaged, export it again",
    ),
    (
        Status::Malformed,
        c"the model's fields do not decode: export it again",
    ),
    (
        Status::Dimensions,
        c"the model's inputs or rows are none or too many",
    ),
    (
        Status::WeightLength,
        c"the weights do not have the length the dimensions call for",
    ),
    (
        Status::Unsupported,
        c"the library does not know a part of the model or was built without it: build it anew",
    ),
    (Status::NonFiniteWeight, c"a weight is not finite"),
    (
        Status::WeightRange,
        c"the largest weight is outside 2^-60 to 2^60: scale W by a constant",
    ),
    (
        Status::InputLength,
        c"the signal has not as many samples as the model has inputs",
    ),
    (Status::ScratchLength, c"the scratch buffer is too short"),
    (
        Status::OutputLength,
        c"the buffer for the result is too short",
    ),
    (Status::NonFiniteInput, c"a sample is not finite"),
    (Status::ZeroInput, c"every sample is zero"),
    (
        Status::ZeroBispectrum,
        c"the bispectrum is zero up to rounding: third order says nothing about this signal, its power spectrum does",
    ),
    (
        Status::Overflow,
        c"the result is larger than a float holds: scale the signal down",
    ),
    (
        Status::NeedsFft,
        c"the model calls for a fast Fourier transform: build the library with --features fft",
    ),
    (
        Status::Other,
        c"an error without a number: build the library and its header anew",
    ),
    (
        Status::NeedsFeature,
        c"the model is of a kind that the library was built without: build it with the feature that `bispectral inspect` names",
    ),
    (
        Status::NoClassifier,
        c"the model tells no classes apart: export it with a classifier",
    ),
];

/// What a status means, in English; the text is the library's and stays. Any number is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn bispectral_text(status: i32) -> *const c_char {
    let known = WORDS.iter().find(|(known, _)| *known as i32 == status);
    known
        .map_or(c"no status of this library", |(_, words)| words)
        .as_ptr()
}
