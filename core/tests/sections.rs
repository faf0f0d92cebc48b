//! Listed pairs, conjugate rows and products of cyclic groups as bytes: one file pinned, every refusal by name, and any
//! damage either a model that is what the page says or refused.

mod by_hand;

use bispectral_core::{Complex32, Error, Feature, Model};
use by_hand::{Fields, both, with_checksum};
use proptest::prelude::*;
use proptest::sample::Index;

/// Z4 as a group: characters and elements 0 to 3, and the roots 1/2, −i/2, −1/2, i/2.
#[rustfmt::skip]
const Z4: [u8; 84] = [
    0x42, 0x53, 0x4e, 0x00, 0x01, 0x54, 0x00, 0x00, 0x00, 0x04, 0x04, 0x00, 0x02, 0x5a, 0x34, 0x00,
    0x00, 0x00, 0x00, 0x03, 0x14, 0x00, 0x01, 0x04, 0x00, 0x00, 0x00, 0x01, 0x00, 0x02, 0x00, 0x03,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x02, 0x00, 0x03, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x20,
    0x00, 0x00, 0x00, 0x3f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xbf, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xbf, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x3f,
    0x64, 0x3e, 0x38, 0x48,
];

fn u16s(numbers: &[u16]) -> Vec<u8> {
    let bytes = |number: &u16| number.to_le_bytes();
    numbers.iter().flat_map(bytes).collect()
}

fn f32s(numbers: &[f32]) -> Vec<u8> {
    let bytes = |number: &f32| number.to_le_bytes();
    numbers.iter().flat_map(bytes).collect()
}

/// The section of a group.
fn group(transform: u8, factors: &[u16], characters: &[u16], elements: &[u16]) -> (u8, Vec<u8>) {
    let mut bytes = vec![transform, factors.len() as u8];
    bytes.extend(u16s(&[factors, characters, elements].concat()));
    (3, bytes)
}

/// Those of [`Z4`].
fn cyclic() -> Fields {
    let mut fields = Fields {
        rows: 4,
        name: vec![],
        weights: f32s(&[0.5, 0.0, -0.5, 0.0, 0.0, -0.5, 0.0, 0.5]),
        ..Fields::z4()
    };
    fields.sections[2] = group(0, &[4], &[0, 1, 2, 3], &[0, 1, 2, 3]);
    fields
}

/// The same in whole numbers.
fn whole(transform: u8) -> Fields {
    let one = 1 << 30;
    let roots = [one, 0, -one, 0, 0, -one, 0, one].map(i32::to_le_bytes);
    let mut fields = Fields {
        weights: roots.concat(),
        ..cyclic()
    };
    fields.sections[0] = (3, f32s(&[0.5]));
    fields.sections[2] = group(transform, &[4], &[0, 1, 2, 3], &[0, 1, 2, 3]);
    fields
}

/// `z4.bsn` with the conjugate of character 1 behind it.
fn conjugates() -> Fields {
    let mut fields = Fields {
        rows: 4,
        ..Fields::z4()
    };
    fields.sections[2] = (1, u16s(&[0, 1, 0x8001, 2]));
    fields
}

fn listed(pairs: &[u16]) -> Fields {
    let mut fields = Fields::z4();
    fields.sections[1] = (1, u16s(pairs));
    fields
}

fn result(fields: &Fields) -> Result<(), Error> {
    both(&fields.encode()).map(|_| ())
}

#[test]
fn a_group_is_exactly_these_bytes_and_they_are_that_group() {
    assert_eq!(cyclic().encode(), Z4);
    let (model, _) = both(&Z4).unwrap();
    assert_eq!(
        (
            model.inputs(),
            model.rows(),
            model.stored_rows(),
            model.pairs()
        ),
        (4, 4, 0, 10)
    );
    let mut out = [0; 84];
    assert_eq!(model.parts().write(&mut out).unwrap(), Z4);
    // Whole numbers and halves: nothing is rounded.
    let (mut scratch, mut z) = (vec![0.0; model.scratch_len()], [Complex32::ZERO; 4]);
    model
        .coefficients(&[2.0, 1.0, 0.0, -1.0], &mut scratch, &mut z)
        .unwrap();
    let expected = [(1.0, 0.0), (1.0, -1.0), (1.0, 0.0), (1.0, 1.0)];
    assert_eq!(z, expected.map(|(re, im)| Complex32::new(re, im)));
    let mut beta = [Complex32::ZERO; 10];
    model
        .bispectrum(&[2.0, 1.0, 0.0, -1.0], &mut scratch, &mut beta)
        .unwrap();
    // β_13 = (1 − i)(1 + i)·conj(Z_0)/2 = 1.
    assert_eq!(beta[6], Complex32::new(1.0, 0.0));
}

#[test]
fn listed_pairs_are_rows_ascending_and_not_all() {
    assert_eq!(result(&listed(&[0, 0, 0, 2, 1, 1])), Ok(()));
    assert_eq!(result(&listed(&[0, 0, 0, 1, 0, 2, 1, 1, 1, 2])), Ok(()));
    for (what, pairs) in [
        ("none", &[][..]),
        ("all", &[0, 0, 0, 1, 0, 2, 1, 1, 1, 2, 2, 2]),
        ("twice the same", &[0, 1, 0, 1]),
        ("descending", &[1, 1, 0, 2]),
        ("j before i", &[1, 0]),
        ("no such row", &[0, 3]),
        ("half a pair", &[0, 0, 1]),
    ] {
        assert_eq!(result(&listed(pairs)), Err(Error::Malformed), "{what}");
    }
    let mut odd = listed(&[0, 1]);
    odd.sections[1].1.push(0);
    assert_eq!(result(&odd), Err(Error::Malformed));
}

#[test]
fn stored_rows_are_numbered_as_they_appear_and_one_is_used_again() {
    assert_eq!(result(&conjugates()), Ok(()));
    let with = |rows: u16, table: &[u16]| {
        let mut fields = Fields {
            rows,
            ..Fields::z4()
        };
        fields.sections[2] = (1, u16s(table));
        result(&fields)
    };
    assert_eq!(with(5, &[0, 1, 2, 0, 0x8002]), Ok(()));
    for (what, rows, table) in [
        ("each its own", 3, &[0, 1, 2][..]),
        ("first conjugated", 4, &[0x8000, 0, 1, 2]),
        ("not in order", 4, &[1, 0, 2, 0]),
        ("one left out", 4, &[0, 2, 1, 0]),
        ("too few", 4, &[0, 1, 0x8001]),
        ("too many", 4, &[0, 1, 0x8001, 2, 2]),
    ] {
        assert_eq!(with(rows, table), Err(Error::Malformed), "{what}");
    }
    let (needed, found) = (64, 96);
    let expected = Error::WeightLength { needed, found };
    assert_eq!(with(4, &[0, 1, 0x8001, 0]), Err(expected));
}

#[test]
fn a_group_has_factors_characters_and_elements_that_fit() {
    let with = |section: (u8, Vec<u8>)| {
        let mut fields = cyclic();
        fields.sections[2] = section;
        result(&fields)
    };
    let four = [0, 1, 2, 3];
    assert_eq!(
        with(group(0, &[2, 2], &four, &four)),
        Err(weight_length(16))
    );
    assert_eq!(with(group(0, &[1, 4, 1], &four, &four)), Ok(()));
    assert_eq!(
        with(group(0, &[2, 4], &[7, 7, 0, 3], &[5, 5, 5, 5])),
        Ok(())
    );
    for (what, section) in [
        ("another transform", group(2, &[4], &four, &four)),
        ("no factor", group(0, &[], &four, &four)),
        ("a factor of 0", group(0, &[4, 0], &four, &four)),
        ("8196 elements", group(0, &[4, 2049], &four, &four)),
        ("2^32 elements", group(0, &[4, 32768, 32768], &four, &four)),
        ("no such character", group(0, &[4], &[0, 1, 2, 4], &four)),
        ("no such element", group(0, &[4], &four, &[4, 1, 2, 3])),
        ("too few elements", group(0, &[4], &four, &four[..3])),
        ("too many", group(0, &[4], &four, &[0, 0, 0, 0, 0])),
        ("no bytes", (3, vec![])),
        ("nothing fast", group(1, &[2, 2], &four, &four)),
    ] {
        assert_eq!(with(section), Err(Error::Malformed), "{what}");
    }
    let mut halves = cyclic();
    halves.sections[0].0 = 1;
    assert_eq!(result(&halves), Err(Error::Malformed));
}

fn weight_length(needed: u32) -> Error {
    Error::WeightLength { needed, found: 32 }
}

#[test]
fn the_first_root_is_a_positive_number_and_no_part_is_larger() {
    let with = |at: usize, value: f32| {
        let mut fields = cyclic();
        fields.weights[4 * at..4 * at + 4].copy_from_slice(&value.to_le_bytes());
        result(&fields)
    };
    assert_eq!(with(0, 0.75), Ok(()));
    assert_eq!(with(4, -0.0), Ok(()));
    for (at, value) in [
        (0, 0.0),
        (0, -0.5),
        (0, 0.25),
        (4, 0.1),
        (5, -0.75),
        (3, 0.75),
    ] {
        assert_eq!(with(at, value), Err(Error::Malformed), "{value} at {at}");
    }
    let (row, column) = (0, 1);
    let expected = Error::NonFiniteWeight { row, column };
    assert_eq!(with(5, f32::NAN), Err(expected));
    assert_eq!(with(0, 1e30), Err(Error::WeightRange));
}

#[test]
fn a_fast_transform_needs_the_feature() {
    let mut fields = cyclic();
    fields.sections[2].1[0] = 1;
    let expected = if cfg!(feature = "fft") {
        Ok(())
    } else {
        Err(Error::NeedsFeature {
            feature: Feature::Fft,
        })
    };
    assert_eq!(result(&fields), expected);
}

#[test]
fn whole_roots_have_an_amplitude_and_the_first_is_1() {
    let pinned = whole(0).encode();
    // The file of f32, but for the encoding, its amplitude, more padding, and the weights.
    assert_eq!(pinned.len(), Z4.len() + 16);
    assert_eq!(pinned[9..21], [4, 4, 0, 2, 0x5a, 0x34, 3, 4, 0, 0, 0, 0x3f]);
    assert_eq!(pinned[64..68], [0, 0, 0, 0x40]);
    for transform in [0, 1] {
        let bytes = whole(transform).encode();
        let (model, decoded) = both(&bytes).unwrap();
        assert!(model.needed_features().eq([Feature::I32]));
        assert_eq!(decoded.weights[5], Complex32::new(0.0, -0.5));
        let (mut scratch, mut z) = (vec![0.0; model.scratch_len()], [Complex32::ZERO; 4]);
        model
            .coefficients(&[2.0, 1.0, 0.0, -1.0], &mut scratch, &mut z)
            .unwrap();
        let expected = [(1.0, 0.0), (1.0, -1.0), (1.0, 0.0), (1.0, 1.0)];
        for (z, (re, im)) in z.iter().zip(expected) {
            // Rounding takes and gives a few units of 2^-28, the largest coefficient being 2.
            assert!(
                (z - Complex32::new(re, im)).norm_sqr() < 2_f32.powi(-50),
                "{z}"
            );
        }
    }
    let with = |change: &dyn Fn(&mut Fields)| {
        let mut fields = whole(0);
        change(&mut fields);
        result(&fields)
    };
    for amplitude in [0.0, -0.5, f32::NAN, f32::INFINITY] {
        let found = with(&|fields| fields.sections[0].1 = f32s(&[amplitude]));
        assert_eq!(found, Err(Error::Malformed), "{amplitude}");
    }
    for amplitude in [1e-19, 1e19] {
        let found = with(&|fields| fields.sections[0].1 = f32s(&[amplitude]));
        assert_eq!(found, Err(Error::WeightRange), "{amplitude}");
    }
    for two in [&[][..], &[0.5, 0.5]] {
        let found = with(&|fields| fields.sections[0].1 = f32s(two));
        assert_eq!(found, Err(Error::Malformed));
    }
    for (at, root) in [
        (0, (1 << 30) - 1),
        (4, 1),
        (2, -(1 << 30) - 1),
        (7, i32::MIN),
    ] {
        let found =
            with(&|fields| fields.weights[4 * at..][..4].copy_from_slice(&root.to_le_bytes()));
        assert_eq!(found, Err(Error::Malformed), "{root} at {at}");
    }
    let mut dense = Fields::z4();
    dense.sections[0] = (3, f32s(&[0.5]));
    assert_eq!(result(&dense), Err(Error::Malformed));
}

/// A model of every kind here.
fn models() -> [Fields; 7] {
    let mut fast = cyclic();
    fast.sections[2].1[0] = 1;
    let mut product = cyclic();
    product.sections[2] = group(0, &[2, 4], &[7, 6, 0, 3], &[5, 4, 5, 1]);
    product.sections[1] = (1, u16s(&[0, 0, 0, 3, 2, 2]));
    [
        listed(&[0, 0, 0, 2, 1, 1]),
        conjugates(),
        cyclic(),
        fast,
        product,
        whole(0),
        whole(1),
    ]
}

/// Whatever it is that was read: every result is finite, or has a name.
fn computes(model: &Model<'_>) {
    let x: Vec<f32> = (0..model.inputs()).map(|n| 1.5 - (n % 3) as f32).collect();
    let mut scratch = vec![f32::NAN; model.scratch_len()];
    let mut out = vec![Complex32::ZERO; model.pairs().max(model.rows())];
    for (result, allowed) in [
        (
            model.coefficients(&x, &mut scratch, &mut out),
            Error::Overflow,
        ),
        (
            model.bispectrum(&x, &mut scratch, &mut out),
            Error::Overflow,
        ),
        (
            model.invariants(&x, &mut scratch, &mut out),
            Error::ZeroBispectrum,
        ),
    ] {
        if let Err(error) = result {
            assert_eq!(error, allowed);
        }
        assert!(out.iter().all(|b| b.re.is_finite() && b.im.is_finite()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn damaged_models_are_what_the_page_says_or_refused(
        kind in 0..7_usize,
        edits in prop::collection::vec((any::<Index>(), 0..11_u8, any::<u8>()), 1..4),
    ) {
        let mut message = models()[kind].encode();
        message.truncate(message.len() - 4);
        for (at, edit, byte) in edits {
            let at = at.index(message.len());
            match edit {
                0..=7 => message[at] ^= 1 << edit,
                8 => message[at] = byte,
                9 => message.insert(at, byte),
                _ => drop(message.remove(at)),
            }
        }
        let bytes = with_checksum(message);
        if let Ok((model, _)) = both(&bytes) {
            computes(&model);
            let mut again = vec![0; bytes.len()];
            prop_assert_eq!(model.parts().write(&mut again).unwrap(), &bytes);
        }
    }
}

#[test]
fn a_model_of_any_kind_cut_off_anywhere_is_truncated() {
    for fields in models() {
        let bytes = fields.encode();
        for length in 0..bytes.len() {
            let found = both(&bytes[..length]).unwrap_err();
            // Before the length field is there, all a reader knows is the least any model has.
            let needed = if length < 9 { 38 } else { bytes.len() as u32 };
            let expected = Error::Truncated {
                needed,
                found: length as u32,
            };
            assert_eq!(found, expected);
        }
    }
}
