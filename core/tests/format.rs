//! `docs/format.md`, held to its word: one file's bytes field by field, where models may lie, and what is refused before
//! the fields are looked at. What is wrong with a field is in `refusals.rs`.

mod by_hand;

use bispectral_core::format::{ALIGNMENT, MAGIC, MAX_DIMENSION, Parts, VERSION, Weights};
use bispectral_core::{Aligned, Complex32, Error, Model, pair_count, scratch_len};
use by_hand::{Fields, both, crc32, with_checksum};

/// The file whose hexdump is on the page.
static Z4: &[u8; 148] = include_bytes!("../models/z4.bsn");

fn refusal(bytes: &[u8]) -> Error {
    both(bytes).unwrap_err()
}

#[test]
fn the_file_on_the_page_is_read_field_by_field() {
    assert_eq!(Z4[0..4], *b"BSN\0", "magic");
    assert_eq!(Z4[4], 1, "version");
    assert_eq!(Z4[5..9], [148, 0, 0, 0], "length");
    assert_eq!(Z4[9..11], [4, 3], "inputs, rows");
    assert_eq!(Z4[11], 13, "length of the name");
    assert_eq!(Z4[12..25], *b"quarter turns");
    assert_eq!(Z4[25], 2, "length of the group");
    assert_eq!(Z4[26..28], *b"Z4");
    assert_eq!(Z4[28..36], [0; 8], "encoding, pairs, structure, head");
    assert_eq!(Z4[36], 10, "length of the padding");
    assert_eq!(Z4[37..47], [0; 10]);
    assert_eq!(Z4[47], 96, "length of the weights");
    assert_eq!(Z4[48..144], Fields::z4().weights[..]);
    assert_eq!(Z4[144..148], 0xb0e5_21e2_u32.to_le_bytes(), "CRC");
    assert_eq!(crc32(&Z4[..144]), 0xb0e5_21e2);
}

#[test]
fn the_hexdump_on_the_page_is_the_file() {
    let page = include_str!("../format.md");
    let (_, dump) = page.split_once("```\n").unwrap();
    let (dump, _) = dump.split_once("```").unwrap();
    let mut bytes = Vec::new();
    for line in dump.lines() {
        let mut words = line.split_whitespace();
        let offset = usize::from_str_radix(words.next().unwrap(), 16);
        assert_eq!(offset, Ok(bytes.len()), "{line}");
        let hex = words.take_while(|word| word.len() == 2);
        bytes.extend(hex.map_while(|word| u8::from_str_radix(word, 16).ok()));
    }
    assert_eq!(bytes, Z4);
}

#[test]
fn the_checksum_is_the_one_the_page_names() {
    // The check value of CRC-32/ISO-HDLC.
    assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
}

#[test]
fn the_same_parts_are_written_as_exactly_these_bytes() {
    let weights = by_hand::Z4_WEIGHTS;
    let parts = Parts {
        inputs: 4,
        rows: 3,
        name: "quarter turns",
        group: Some("Z4"),
        weights: Weights::F32((&weights).into()),
        ..Parts::default()
    };
    let mut out = [0xaa; 160];
    assert_eq!(parts.encoded_len(), Ok(148));
    assert_eq!(parts.write(&mut out).unwrap(), &Z4[..]);
    assert_eq!(
        out[148..],
        [0xaa; 12],
        "nothing is written behind the model"
    );
    assert_eq!(Fields::z4().encode(), Z4, "by hand");
}

#[test]
fn the_page_and_the_crate_have_the_same_numbers() {
    assert_eq!((MAGIC, VERSION), (*b"BSN\0", 1));
    assert_eq!((ALIGNMENT, MAX_DIMENSION), (16, 8192));
}

#[test]
fn a_model_says_what_its_fields_say() {
    let model = Model::from_bytes(Z4).unwrap();
    assert_eq!((model.inputs(), model.rows(), model.pairs()), (4, 3, 6));
    assert_eq!((model.name(), model.group()), ("quarter turns", Some("Z4")));
    assert_eq!(model.weight(1, 3), Some(Complex32::new(0.0, 0.5)));
    assert_eq!((model.weight(3, 0), model.weight(0, 4)), (None, None));
}

#[test]
fn an_empty_group_is_none() {
    let bytes = Fields {
        group: vec![],
        ..Fields::z4()
    }
    .encode();
    assert_eq!(Model::from_bytes(&bytes).unwrap().group(), None);
}

#[test]
fn the_smallest_model_has_38_bytes() {
    let mut smallest = Fields {
        inputs: 1,
        rows: 1,
        name: vec![],
        group: vec![],
        weights: vec![1, 0],
        ..Fields::z4()
    };
    smallest.sections[0] = (2, 1.0_f32.to_le_bytes().to_vec());
    let bytes = smallest.encode();
    assert_eq!(bytes.len(), 38);
    assert_eq!(both(&bytes).map(|_| ()), Ok(()));
    smallest.sections[0] = (0, vec![]);
    smallest.weights = vec![0, 0, 128, 63, 0, 0, 0, 0];
    assert_eq!(smallest.encode().len(), 44);
}

#[test]
fn weights_begin_at_a_multiple_of_16_whatever_the_names() {
    for length in 0..300 {
        let name = "n".repeat(length);
        let parts = Parts {
            inputs: 1,
            rows: 1,
            name: &name,
            weights: Weights::F32((&[1.0, 0.0]).into()),
            ..Parts::default()
        };
        let mut out = vec![0; parts.encoded_len().unwrap()];
        let bytes = parts.write(&mut out).unwrap();
        assert_eq!((bytes.len() - 4 - 8) % 16, 0, "name of {length} bytes");
        assert_eq!(Model::from_bytes(bytes).unwrap().name(), name);
        let by_hand = Fields {
            inputs: 1,
            rows: 1,
            name: name.clone().into_bytes(),
            group: vec![],
            weights: vec![0, 0, 128, 63, 0, 0, 0, 0],
            ..Fields::z4()
        };
        assert_eq!(by_hand.encode(), bytes, "name of {length} bytes");
    }
}

#[test]
fn a_model_at_any_address_has_the_same_bits() {
    let invariants = |model: &Model<'_>| {
        let mut out = [Complex32::ZERO; pair_count(3)];
        let x = [0.3, -0.7, 1.1, 0.2];
        model
            .invariants(&x, &mut [0.0; scratch_len(4, 3)], &mut out)
            .unwrap();
        out.map(|b| (b.re.to_bits(), b.im.to_bits()))
    };
    let mut room = Aligned([0; 148 + 8]);
    let mut expected = None;
    for offset in 0..8 {
        room.0[offset..][..148].copy_from_slice(Z4);
        let model = Model::from_bytes(&room.0[offset..][..148]).unwrap();
        assert_eq!(
            model.is_aligned(),
            offset % 4 == 0 && cfg!(target_endian = "little")
        );
        let found = invariants(&model);
        assert_eq!(*expected.get_or_insert(found), found, "offset {offset}");
    }
}

#[test]
fn a_file_cut_off_anywhere_is_truncated() {
    for length in 0..Z4.len() {
        // Before the length field is there, all a reader knows is the least any model has.
        let needed = if length < 9 { 38 } else { 148 };
        let found = length as u32;
        assert_eq!(refusal(&Z4[..length]), Error::Truncated { needed, found });
    }
}

#[test]
fn bytes_behind_the_end_are_refused() {
    for extra in [1, 4, 100] {
        let mut bytes = Z4.to_vec();
        bytes.resize(148 + extra, 0);
        let found = 148 + extra as u32;
        let expected = Error::TrailingBytes { needed: 148, found };
        assert_eq!(refusal(&bytes), expected);
    }
}

#[test]
fn other_first_bytes_are_no_model() {
    for at in 0..4 {
        let mut bytes = *Z4;
        bytes[at] ^= 0x20;
        assert_eq!(refusal(&bytes), Error::Magic);
        assert_eq!(refusal(&bytes[..4]), Error::Magic, "even of a short file");
    }
}

#[test]
fn another_version_is_refused_before_anything_that_may_differ_in_it() {
    for found in [0, 2, 127, 128, 255] {
        let mut bytes = *Z4;
        bytes[4] = found;
        assert_eq!(refusal(&bytes), Error::Version { found });
        assert_eq!(refusal(&bytes[..5]), Error::Version { found });
    }
}

#[test]
fn any_flipped_bit_behind_the_length_is_a_wrong_checksum() {
    for bit in 9 * 8..148 * 8 {
        let mut bytes = *Z4;
        bytes[bit / 8] ^= 1 << (bit % 8);
        let crc =
            |bytes: &[u8]| u32::from_le_bytes([bytes[144], bytes[145], bytes[146], bytes[147]]);
        let (stored, computed) = (crc(&bytes), crc32(&bytes[..144]));
        assert_eq!(refusal(&bytes), Error::Checksum { stored, computed });
    }
}

#[test]
fn a_length_too_short_for_the_fields_is_malformed() {
    // The CRC is right, so a reader gets as far as the fields, which end early.
    for length in 9..144 {
        assert_eq!(
            refusal(&with_checksum(Z4[..length].to_vec())),
            Error::Malformed
        );
    }
}

#[test]
fn bytes_between_weights_and_checksum_are_malformed() {
    for extra in [1, 16] {
        let mut message = Z4[..144].to_vec();
        message.extend(vec![0; extra]);
        assert_eq!(refusal(&with_checksum(message)), Error::Malformed);
    }
}
