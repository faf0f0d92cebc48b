//! Everything a field can have wrong in a file whose length and checksum are right, one test each.
//! Every refusal is that of the crate and that of the reader made from `docs/format.md`.

mod by_hand;

use bispectral_core::format::{Parts, Weights};
use bispectral_core::{Error, Model, Part};
use by_hand::{Fields, both, crc32, with_checksum};

/// Varints in a file: dimensions, names, four sections, padding, weights.
const VARINTS: usize = 10;

fn refusal(fields: Fields) -> Error {
    both(&fields.encode()).unwrap_err()
}

/// `z4.bsn` with one weight changed, counted in the order of the bytes.
fn with_weight(at: usize, value: f32) -> Result<(), Error> {
    let mut fields = Fields::z4();
    fields.weights[4 * at..4 * at + 4].copy_from_slice(&value.to_le_bytes());
    both(&fields.encode()).map(|_| ())
}

#[test]
fn zero_and_absurd_dimensions_are_refused() {
    for (inputs, rows) in [(0, 3), (4, 0), (0, 0), (8193, 3), (4, 8193), (65535, 65535)] {
        let fields = Fields {
            inputs,
            rows,
            ..Fields::z4()
        };
        assert_eq!(refusal(fields), Error::Dimensions { inputs, rows });
    }
}

#[test]
fn dimensions_that_do_not_fit_the_weights_are_refused() {
    for (inputs, rows, needed) in [(3, 3, 72), (4, 4, 128), (1, 1, 8), (8192, 8192, 1 << 29)] {
        let fields = Fields {
            inputs,
            rows,
            ..Fields::z4()
        };
        let expected = Error::WeightLength { needed, found: 96 };
        assert_eq!(refusal(fields), expected);
    }
}

#[test]
fn a_dimension_of_more_than_16_bits_is_malformed() {
    // 65,536 instead of N = 4, the weights moved to where they must begin.
    let mut message = Fields {
        padding: Some(vec![0; 8]),
        ..Fields::z4()
    }
    .encode();
    message.truncate(message.len() - 4);
    message.splice(9..10, [0x80, 0x80, 0x04]);
    assert_eq!((message.len() - 96) % 16, 0);
    assert_eq!(both(&with_checksum(message)).unwrap_err(), Error::Malformed);
}

#[test]
fn a_number_that_takes_more_bytes_than_it_needs_is_malformed() {
    assert_eq!(both(&Fields::z4().encode()).map(|_| ()), Ok(()));
    for varint in 0..VARINTS {
        let fields = Fields {
            overlong: Some(varint),
            ..Fields::z4()
        };
        assert_eq!(refusal(fields), Error::Malformed, "varint {varint}");
    }
    let past_the_last = Fields {
        overlong: Some(VARINTS),
        ..Fields::z4()
    };
    assert_eq!(both(&past_the_last.encode()).map(|_| ()), Ok(()));
}

#[test]
fn a_length_that_points_past_the_end_is_malformed() {
    for at in [11, 25, 29, 31, 33, 35, 36, 47] {
        for length in [&[0x7f][..], &[0xff, 0xff, 0xff, 0xff, 0x0f], &[0xff; 10]] {
            let mut message = Fields::z4().encode();
            message.truncate(message.len() - 4);
            message.splice(at..=at, length.iter().copied());
            let found = both(&with_checksum(message)).unwrap_err();
            assert_eq!(found, Error::Malformed, "{length:02x?} at {at}");
        }
    }
}

#[test]
fn a_name_or_group_that_is_not_utf_8_is_malformed() {
    let name = b"quarter \xff\xfe".to_vec();
    let group = vec![0xc3];
    let z4 = Fields::z4;
    assert_eq!(refusal(Fields { name, ..z4() }), Error::Malformed);
    assert_eq!(refusal(Fields { group, ..z4() }), Error::Malformed);
    let name = "Drehung um 90° ↻".as_bytes().to_vec();
    let bytes = Fields { name, ..z4() }.encode();
    assert_eq!(both(&bytes).unwrap().0.name(), "Drehung um 90° ↻");
}

#[test]
fn an_unknown_kind_of_a_section_is_named() {
    let parts = [Part::Encoding, Part::Pairs, Part::Structure, Part::Head];
    for (at, part) in parts.into_iter().enumerate() {
        for (kind, bytes) in [(5, vec![]), (7, vec![1, 2, 3]), (255, vec![0; 200])] {
            let mut fields = Fields::z4();
            fields.sections[at] = (kind, bytes);
            assert_eq!(refusal(fields), Error::Unsupported { part, kind });
        }
    }
}

#[test]
fn the_first_unknown_kind_is_named_whatever_the_weights_look_like() {
    // Another encoding has other lengths and other bits: nothing may be said of them.
    let mut fields = Fields::z4();
    fields.sections[0] = (9, vec![]);
    fields.sections[3] = (1, vec![9]);
    fields.weights = vec![0xff; 17];
    let part = Part::Encoding;
    assert_eq!(refusal(fields), Error::Unsupported { part, kind: 9 });
}

#[test]
fn kind_0_with_bytes_is_malformed() {
    for at in 0..4 {
        let mut fields = Fields::z4();
        fields.sections[at] = (0, vec![0]);
        assert_eq!(refusal(fields), Error::Malformed, "section {at}");
    }
}

#[test]
fn padding_that_is_not_zero_is_malformed() {
    for at in 0..10 {
        let mut padding = vec![0; 10];
        padding[at] = 1;
        let fields = Fields {
            padding: Some(padding),
            ..Fields::z4()
        };
        assert_eq!(refusal(fields), Error::Malformed, "byte {at}");
    }
}

#[test]
fn weights_that_do_not_begin_at_a_multiple_of_16_are_malformed() {
    for length in 0..=42 {
        let fields = Fields {
            padding: Some(vec![0; length]),
            ..Fields::z4()
        };
        let result = both(&fields.encode()).map(|_| ());
        // 26 and 42 zeros align the weights too, but are more than it takes.
        let expected = if length == 10 {
            Ok(())
        } else {
            Err(Error::Malformed)
        };
        assert_eq!(result, expected, "{length} bytes of padding");
    }
}

#[test]
fn a_weight_that_is_not_finite_is_named_by_row_and_column() {
    for value in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN] {
        for at in 0..24 {
            let expected = Error::NonFiniteWeight {
                row: at / 8,
                column: at % 4,
            };
            assert_eq!(with_weight(at.into(), value), Err(expected));
        }
    }
}

#[test]
fn the_largest_weight_is_at_least_2_to_the_minus_60_and_below_2_to_the_61() {
    let below = |value: f32| f32::from_bits(value.to_bits() - 1);
    let (least, end) = (2_f32.powi(-60), 2_f32.powi(61));
    let only = |value: f32| {
        let mut fields = Fields::z4();
        fields.weights = [value; 24].iter().flat_map(|w| w.to_le_bytes()).collect();
        both(&fields.encode()).map(|_| ())
    };
    for sign in [1.0, -1.0] {
        assert_eq!(only(sign * least), Ok(()));
        assert_eq!(only(sign * below(least)), Err(Error::WeightRange));
        assert_eq!(only(sign * below(end)), Ok(()));
        assert_eq!(only(sign * end), Err(Error::WeightRange));
        // Beside others it is the largest that counts.
        assert_eq!(with_weight(23, sign * end), Err(Error::WeightRange));
        assert_eq!(with_weight(23, sign * f32::from_bits(1)), Ok(()));
    }
}

#[test]
fn weights_that_are_all_zero_are_refused() {
    for zero in [0.0, -0.0_f32] {
        let weights = [zero; 24].iter().flat_map(|w| w.to_le_bytes()).collect();
        let fields = Fields {
            weights,
            ..Fields::z4()
        };
        assert_eq!(refusal(fields), Error::WeightRange);
    }
}

#[test]
fn parts_that_do_not_fit_together_are_not_written() {
    let weights = by_hand::Z4_WEIGHTS;
    let parts = Parts {
        inputs: 4,
        rows: 3,
        weights: Weights::F32((&weights).into()),
        ..Parts::default()
    };
    let refused = |parts: Parts<'_>, room: usize, zeros: usize| {
        let mut out = [0xaa; 200];
        let error = parts.write(&mut out[..room]).unwrap_err();
        assert_eq!(
            out[..zeros],
            [0; 132][..zeros],
            "nothing passes for a model"
        );
        assert_eq!(out[zeros..], [0xaa; 200][zeros..], "nothing behind it");
        error
    };
    let (inputs, rows) = (0, 3);
    let expected = Error::Dimensions { inputs, rows };
    assert_eq!(refused(Parts { inputs, ..parts }, 200, 132), expected);
    let (needed, found) = (120, 96);
    let expected = Error::WeightLength { needed, found };
    assert_eq!(refused(Parts { inputs: 5, ..parts }, 200, 132), expected);
    let (needed, found) = (132, 131);
    let expected = Error::OutputLength { needed, found };
    assert_eq!(refused(parts, 131, 0), expected);
}

#[test]
fn the_earlier_of_two_faults_is_the_one_that_is_named() {
    // Each file has the fault of the one before it put right, so that the next in the order of the page shows.
    let mut bytes = Fields {
        inputs: 0,
        ..Fields::z4()
    }
    .encode();
    bytes[28] = 5;
    bytes.push(0);
    bytes[..5].copy_from_slice(b"BSM\0\x02");
    let named = |bytes: &[u8]| both(bytes).unwrap_err();
    assert_eq!(named(&bytes), Error::Magic);
    bytes[2] = b'N';
    assert_eq!(named(&bytes), Error::Version { found: 2 });
    bytes[4] = 1;
    let (needed, found) = (148, 149);
    assert_eq!(named(&bytes), Error::TrailingBytes { needed, found });
    bytes.pop();
    let crc = crc32(&bytes[..144]);
    let (stored, computed) = (u32::from_le_bytes(*bytes.last_chunk().unwrap()), crc);
    assert_ne!(stored, computed);
    assert_eq!(named(&bytes), Error::Checksum { stored, computed });
    bytes[144..].copy_from_slice(&crc.to_le_bytes());
    let (part, kind) = (Part::Encoding, 5);
    assert_eq!(named(&bytes), Error::Unsupported { part, kind });
    bytes[28] = 0;
    let bytes = with_checksum(bytes[..144].to_vec());
    let (inputs, rows) = (0, 3);
    assert_eq!(named(&bytes), Error::Dimensions { inputs, rows });
    assert_eq!(Model::from_bytes(&bytes).unwrap_err(), named(&bytes));
}
