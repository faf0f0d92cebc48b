//! Feature `serde`: what a device reports, a host reads back.
#![cfg(feature = "serde")]

use bispectral_core::{Complex32, Error, Feature, Magnitude, Model, Part, scratch_len};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn round_trip<T: Serialize + DeserializeOwned>(value: &T) -> T {
    postcard::from_bytes(&postcard::to_stdvec(value).unwrap()).unwrap()
}

/// One of each kind, in the order of their declaration.
fn errors() -> [Error; 21] {
    let (needed, found) = (148, 147);
    let part = Part::Structure;
    [
        Error::Truncated { needed, found },
        Error::TrailingBytes { needed, found },
        Error::Magic,
        Error::Version { found: 2 },
        Error::Checksum {
            stored: 1,
            computed: u32::MAX,
        },
        Error::Malformed,
        Error::Dimensions { inputs: 0, rows: 9 },
        Error::WeightLength { needed, found },
        Error::Unsupported { part, kind: 255 },
        Error::NonFiniteWeight { row: 3, column: 7 },
        Error::WeightRange,
        Error::InputLength { needed, found },
        Error::ScratchLength { needed, found },
        Error::OutputLength { needed, found },
        Error::NonFiniteInput { index: 70_000 },
        Error::ZeroInput,
        Error::ZeroBispectrum,
        Error::Overflow,
        Error::NeedsFeature {
            feature: Feature::Fft,
        },
        Error::NoClassifier,
        Error::NotSliding,
    ]
}

#[test]
fn every_error_comes_back_as_it_went() {
    for error in errors() {
        assert_eq!(round_trip(&error), error);
    }
    for part in [Part::Encoding, Part::Pairs, Part::Structure, Part::Head] {
        assert_eq!(round_trip(&part), part);
    }
}

#[test]
fn the_numbers_of_errors_on_the_wire_do_not_change() {
    // A device in the field names its errors by these: new ones go to the end.
    let number = |error: &Error| usize::from(postcard::to_stdvec(error).unwrap()[0]);
    let numbers: Vec<usize> = errors().iter().map(number).collect();
    assert_eq!(numbers, (0..21).collect::<Vec<_>>());
}

#[test]
fn a_magnitude_that_went_over_the_wire_normalises_to_the_same_bits() {
    let model = Model::from_bytes(include_bytes!("../models/z4.bsn")).unwrap();
    let mut terms = Vec::new();
    let x = [0.3, -0.7, 1e20, 0.2];
    let magnitude = model
        .stream(&x, &mut [0.0; scratch_len(4, 3)], |_, _, term| {
            terms.push(term)
        })
        .unwrap();
    let there_and_back: Magnitude = round_trip(&magnitude);
    assert_eq!(there_and_back, magnitude);
    let terms_back: Vec<Complex32> = round_trip(&terms);
    assert_eq!(terms_back, terms);
    for term in terms {
        assert_eq!(there_and_back.normalise(term), magnitude.normalise(term));
        assert_eq!(there_and_back.restore(term), magnitude.restore(term));
    }
}
