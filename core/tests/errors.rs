//! What an error says: what was expected, what was found, and what to do.

use bispectral_core::{Error, Feature, Part};

#[test]
fn every_error_says_what_was_expected_and_found() {
    let (needed, found) = (148, 147);
    for (error, words) in [
        (
            Error::Truncated { needed, found },
            "the model is truncated: 147 bytes of at least 148",
        ),
        (
            Error::TrailingBytes { needed, found: 150 },
            "150 bytes where the model has 148: trailing bytes",
        ),
        (
            Error::Magic,
            "not a bispectral model: the first bytes are not \"BSN\\0\"",
        ),
        (
            Error::Version { found: 2 },
            "format version 2, this program reads 1: update it, or export again",
        ),
        (
            Error::Checksum {
                stored: 0x1f3a,
                computed: u32::MAX,
            },
            "checksum differs (stored 00001f3a, computed ffffffff): the model is damaged, export it again",
        ),
        (
            Error::Malformed,
            "the model's fields do not decode: export it again",
        ),
        (
            Error::Dimensions { inputs: 0, rows: 9 },
            "9 rows by 0 inputs: each must be 1 to 8192",
        ),
        (
            Error::WeightLength { needed, found },
            "147 bytes of weights where the dimensions call for 148",
        ),
        (
            Error::Unsupported {
                part: Part::Pairs,
                kind: 255,
            },
            "pair list 255 is not known to this version: update it",
        ),
        (
            Error::NonFiniteWeight { row: 3, column: 7 },
            "the weight in row 3, column 7 is not finite",
        ),
        (
            Error::WeightRange,
            "the largest weight is outside 2^-60 to 2^60: scale W by a constant",
        ),
        (
            Error::InputLength { needed, found },
            "147 samples where the model has 148 inputs",
        ),
        (
            Error::ScratchLength { needed, found },
            "the scratch buffer has 147 elements, 148 are needed",
        ),
        (
            Error::OutputLength { needed, found },
            "the output buffer has 147 elements, 148 are needed",
        ),
        (
            Error::NonFiniteInput { index: 70_000 },
            "sample 70000 is not finite",
        ),
        (Error::ZeroInput, "every sample is zero"),
        (
            Error::ZeroBispectrum,
            "the bispectrum is zero up to rounding: third order says nothing about this signal, its power spectrum does",
        ),
        (
            Error::Overflow,
            "the result is larger than f32 holds: scale the signal down",
        ),
        (
            Error::NeedsFeature {
                feature: Feature::Fft,
            },
            "the model needs the feature `fft` of bispectral-core: build with it, or export another form",
        ),
        (
            Error::NoClassifier,
            "the model has no classifier: export one with it",
        ),
        (
            Error::NotSliding,
            "the model is not cyclic, or its inputs are not consecutive times: compute whole windows, \
             or export the structure cyclic or fft",
        ),
    ] {
        assert_eq!(error.to_string(), words);
    }
    for (part, words) in [
        (Part::Encoding, "encoding"),
        (Part::Pairs, "pair list"),
        (Part::Structure, "structure"),
        (Part::Head, "head"),
    ] {
        assert_eq!(part.to_string(), words);
    }
}
