//! Two rows of three inputs: as conjugates, and everything that is refused.

use crate::by_hand::{Fields, both};
use crate::{Integers, bits, coefficients, fields, invariants};
use bispectral_core::{Complex32, Error};

fn small() -> Integers {
    Integers {
        inputs: 3,
        scales: vec![0.5, 0.001],
        q: vec![127, -3, 0, 5, -127, 1, 2, 2, 2, -90, 0, 33],
    }
}

fn refusal(fields: &Fields) -> Error {
    both(&fields.encode()).unwrap_err()
}

#[test]
fn rows_that_are_conjugates_are_stored_once() {
    let w = small();
    // Rows 0, conj 0, 1, conj 1: what a model of four rows has, but for halves that are rounded upwards.
    let mut folded = w.fields();
    folded.rows = 4;
    folded.sections[2] = (1, [0, 0, 0, 128, 1, 0, 1, 128].to_vec());
    let bytes = folded.encode();
    let (model, _) = both(&bytes).unwrap();
    assert_eq!((model.rows(), model.stored_rows()), (4, 2));
    let conjugate = |row: &[i8]| -> Vec<i8> {
        let (re, im) = row.split_at(3);
        re.iter().copied().chain(im.iter().map(|q| -q)).collect()
    };
    let rows = [
        &w.q[..6],
        &conjugate(&w.q[..6]),
        &w.q[6..],
        &conjugate(&w.q[6..]),
    ]
    .concat();
    let whole = Integers {
        inputs: 3,
        scales: vec![0.5, 0.5, 0.001, 0.001],
        q: rows,
    };
    let x = [0.3, -0.9, 0.7];
    let [a, b] = [&folded, &whole.fields()].map(|fields| fields.encode());
    assert_eq!(bits(&coefficients(&a, &x)), bits(&coefficients(&b, &x)));
    let found = invariants(&a, &x)
        .unwrap()
        .into_iter()
        .zip(invariants(&b, &x).unwrap());
    for ((i, j), (a, b)) in bispectral_core::pairs(4).zip(found) {
        // A product that ends in exactly one half has another neighbour than its negative.
        assert!((a - b).l1_norm() < 1e-4, "{i} {j}: {a} {b}");
        assert!(i % 2 == 1 || a == b, "{i} {j}: {a} {b}");
    }
}

#[test]
fn a_half_that_is_not_finite_is_named_by_row_and_column() {
    for value in [0x7c00, 0xfc00, 0x7e00, 0xffff_u16] {
        for at in 0..12_u16 {
            let mut weights = [0x3c00_u16; 12];
            weights[usize::from(at)] = value;
            let bytes = weights.iter().flat_map(|w| w.to_le_bytes()).collect();
            let (row, column) = (at / 6, at % 3);
            assert_eq!(
                refusal(&fields(3, 2, (1, vec![]), bytes)),
                Error::NonFiniteWeight { row, column }
            );
        }
    }
    assert_eq!(
        refusal(&fields(3, 2, (1, vec![]), vec![0; 24])),
        Error::WeightRange
    );
    assert_eq!(
        refusal(&fields(3, 2, (1, vec![0]), vec![0; 24])),
        Error::Malformed
    );
    let (needed, found) = (24, 48);
    let error = Error::WeightLength { needed, found };
    assert_eq!(refusal(&fields(3, 2, (1, vec![]), vec![60; 48])), error);
}

#[test]
fn a_scale_that_is_none_is_malformed() {
    assert_eq!(both(&small().fields().encode()).map(|_| ()), Ok(()));
    for scale in [0.0, -0.0, -1.0, f32::NAN, f32::INFINITY] {
        for at in 0..2 {
            let mut w = small();
            w.scales[at] = scale;
            assert_eq!(refusal(&w.fields()), Error::Malformed, "{scale}");
        }
    }
    for length in [0, 4, 7, 9, 12] {
        let mut fields = small().fields();
        fields.sections[0].1.resize(length, 63);
        assert_eq!(refusal(&fields), Error::Malformed, "{length}");
    }
}

#[test]
fn a_weight_of_minus_128_is_malformed() {
    for at in 0..12 {
        let mut w = small();
        w.q[at] = i8::MIN;
        assert_eq!(refusal(&w.fields()), Error::Malformed, "{at}");
    }
}

#[test]
fn the_largest_weight_is_within_the_range_of_floats() {
    let only = |scale: f32, q: i8| {
        let mut w = small();
        w.scales = vec![scale; 2];
        w.q.fill(q);
        both(&w.fields().encode()).map(|_| ())
    };
    assert_eq!(only(2_f32.powi(-60), 1), Ok(()));
    assert_eq!(only(2_f32.powi(-61), 1), Err(Error::WeightRange));
    assert_eq!(only(2_f32.powi(-61), -2), Ok(()));
    assert_eq!(only(2_f32.powi(54), 127), Ok(()));
    assert_eq!(only(2_f32.powi(55), 127), Err(Error::WeightRange));
    assert_eq!(only(3e38, 127), Err(Error::WeightRange));
    assert_eq!(only(1.0, 0), Err(Error::WeightRange));
}

#[test]
fn a_row_of_zeros_may_not_have_a_scale_beyond_the_range() {
    let with = |scale: f32, other: f32| {
        let mut w = small();
        w.q[6..].fill(0);
        w.scales = vec![other, scale];
        both(&w.fields().encode()).map(|_| w)
    };
    assert_eq!(with(3e38, 1.0).unwrap_err(), Error::WeightRange);
    // The largest scale there can be beside the smallest weights: no infinity, and no product of one with zero.
    let w = with(2_f32.powi(60), 2_f32.powi(-60)).unwrap();
    let bytes = w.fields().encode();
    let z = coefficients(&bytes, &[0.3, -0.9, 0.7]);
    assert_eq!(z[1], Complex32::ZERO);
    let found = invariants(&bytes, &[0.3, -0.9, 0.7]);
    assert_eq!(found, Err(Error::ZeroBispectrum));
    let w = with(1.0, 0.5).unwrap();
    let found = invariants(&w.fields().encode(), &[0.3, -0.9, 0.7]).unwrap();
    assert_eq!(found[1..], [Complex32::ZERO; 2]);
}
