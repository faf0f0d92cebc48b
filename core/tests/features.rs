//! A model of a kind that the program was built without is refused by the name of the feature, and one of a kind that it was
//! built with is computed. `tests/all.sh` runs this with each kind alone.

use bispectral_core::format::{
    Head, Layer, Layers, Parts, Row, Structure, Term, Transform, Weights,
};
use bispectral_core::{Complex32, Error, Feature, Model};

const INPUTS: u16 = 4;
const ROWS: u16 = 4;

/// Four rows of which the last is the conjugate of the second, as f32 of any value.
fn floats() -> Vec<f32> {
    (0..8 * ROWS).map(|n| f32::from(n * 7 % 5) - 1.5).collect()
}

/// Writes a model of these parts; a writer knows all kinds, whatever the program was built for.
fn written(parts: &Parts<'_>) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![0; parts.encoded_len()?];
    parts.write(&mut bytes)?;
    Ok(bytes)
}

/// The first feature that is needed and off, where `parts` are of a model that needs these in this order.
fn check(parts: &Parts<'_>, needed: &[Feature]) {
    let missing = needed.iter().find(|feature| !feature.is_on());
    let outcome = written(parts).and_then(|bytes| {
        let model = Model::from_bytes(&bytes)?;
        assert!(model.needed_features().eq(needed.iter().copied()));
        let (mut scratch, mut out) = (vec![0.0; 6144], [Complex32::ZERO; 10]);
        model.invariants(&[1.0, 0.5, 2.0, 0.25], &mut scratch, &mut out)?;
        assert!(out.iter().any(|term| term.norm_sqr() > 0.0));
        Ok(())
    });
    let expected = missing.map_or(Ok(()), |&feature| Err(Error::NeedsFeature { feature }));
    assert_eq!(outcome, expected, "{needed:?}");
}

#[test]
fn a_kind_is_computed_with_its_feature_and_refused_by_its_name_without() {
    let floats = floats();
    let halves = vec![0x3c00; floats.len()];
    let integers = vec![7; floats.len()];
    let encodings = [
        (Feature::F32, Weights::F32((&floats[..]).into())),
        (Feature::F16, Weights::F16((&halves[..]).into())),
        (
            Feature::I8,
            Weights::I8 {
                weights: (&integers[..]).into(),
                scales: (&[0.5; 4]).into(),
            },
        ),
    ];
    let table: Vec<Row> = (0..ROWS)
        .map(|stored| Row {
            stored,
            conjugated: false,
        })
        .collect();
    let terms = [Term {
        re: 1,
        ..Term::default()
    }; 10];
    let combined = Structure::Combined {
        rows: (&table[..]).into(),
        terms: 1,
        scale: 1.0,
        coefficients: (&terms[..]).into(),
    };
    let parts = Parts {
        inputs: INPUTS,
        rows: ROWS,
        ..Parts::default()
    };
    for (encoding, weights) in encodings {
        check(&Parts { weights, ..parts }, &[encoding, Feature::Dense]);
        let structure = combined;
        check(
            &Parts {
                weights,
                structure,
                ..parts
            },
            &[encoding, Feature::Combined],
        );
    }
    let table = [(0, false), (1, false), (2, false), (1, true)];
    let table = table.map(|(stored, conjugated)| Row { stored, conjugated });
    let structure = Structure::Conjugates {
        rows: (&table).into(),
    };
    let weights = Weights::F32((&floats[..24]).into());
    check(
        &Parts {
            weights,
            structure,
            ..parts
        },
        &[Feature::F32, Feature::Conjugates],
    );
}

#[test]
fn groups_need_the_features_of_their_factors() {
    for (transform, factors, exponent, needed) in [
        (Transform::Sums, &[2, 2][..], 2, &[Feature::Cyclic][..]),
        (Transform::Sums, &[512], 512, &[Feature::Cyclic]),
        (Transform::Fft, &[4], 4, &[Feature::Cyclic, Feature::Fft]),
        (
            Transform::Fft,
            &[3, 256],
            768,
            &[Feature::Cyclic, Feature::Fft],
        ),
        (
            Transform::Fft,
            &[4, 512],
            512,
            &[Feature::Cyclic, Feature::Fft, Feature::Fft1024],
        ),
    ] {
        let mut roots = vec![0.0_f32; 2 * exponent];
        for (t, root) in roots.iter_mut().take(exponent).enumerate() {
            *root = if t == 0 { 1.0 } else { 0.5 };
        }
        let parts = Parts {
            inputs: INPUTS,
            rows: ROWS,
            structure: Structure::Cyclic {
                transform,
                factors: factors.into(),
                characters: (&[0, 1, 2, 3]).into(),
                elements: (&[0, 1, 2, 3]).into(),
            },
            weights: Weights::F32((&roots[..]).into()),
            ..Parts::default()
        };
        check(&parts, needed);
        // In whole numbers the transform is the core's own.
        let one = 1 << 30;
        let mut roots = vec![0; 2 * exponent];
        for (t, root) in roots.iter_mut().take(exponent).enumerate() {
            *root = if t == 0 { one } else { one / 2 };
        }
        let weights = Weights::I32 {
            roots: (&roots[..]).into(),
            amplitude: 1.0,
        };
        check(&Parts { weights, ..parts }, &[Feature::I32]);
    }
}

#[test]
fn a_classifier_needs_its_feature() {
    let floats = floats();
    let layers = [Layer {
        weights: &[1.0; 40],
        biases: &[0.0; 2],
    }];
    let parts = Parts {
        inputs: INPUTS,
        rows: ROWS,
        head: Head::Perceptron(Layers::F32(&layers)),
        weights: Weights::F32((&floats[..]).into()),
        ..Parts::default()
    };
    check(&parts, &[Feature::F32, Feature::Dense, Feature::Head]);
}

#[test]
fn floats_at_an_odd_address_need_their_feature() {
    let floats = floats();
    let parts = Parts {
        inputs: INPUTS,
        rows: ROWS,
        weights: Weights::F32((&floats[..]).into()),
        ..Parts::default()
    };
    let Ok(bytes) = written(&parts) else {
        return;
    };
    let mut room = vec![0; bytes.len() + 1];
    let odd = 1 - room.as_ptr() as usize % 2;
    room[odd..][..bytes.len()].copy_from_slice(&bytes);
    let outcome = Model::from_bytes(&room[odd..][..bytes.len()]).map(|model| model.is_aligned());
    let feature = Feature::Unaligned;
    let expected = if feature.is_on() {
        Ok(false)
    } else {
        Err(Error::NeedsFeature { feature })
    };
    assert_eq!(outcome, expected);
}
