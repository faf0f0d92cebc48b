//! Rows that are conjugates or repetitions of others, stored once, compute what they would in a model that stores all.

use crate::equations::{Rounded, evaluate};
use crate::kinds::{bytes, computed, invariants, listed, pair_list, weights};
use crate::written;
use bispectral_core::format::{Parts, Row, Structure, Weights};
use bispectral_core::{Complex32, Model};
use num_complex::Complex64;
use proptest::prelude::*;
use proptest::sample::subsequence;

/// Stored rows and which of them each row is.
#[derive(Clone, Debug)]
struct Folded {
    inputs: usize,
    stored: Vec<Complex32>,
    table: Vec<(usize, bool)>,
}

impl Folded {
    fn model(&self, pairs: &[(usize, usize)]) -> Vec<u8> {
        let row = |&(row, conjugated): &(usize, bool)| Row {
            stored: row as u16,
            conjugated,
        };
        let rows: Vec<Row> = self.table.iter().map(row).collect();
        let pairs = listed(pairs);
        let stored = written::planar(self.inputs, &self.stored);
        bytes(&Parts {
            inputs: self.inputs as u16,
            rows: self.table.len() as u16,
            pairs: pair_list(&pairs),
            structure: Structure::Conjugates {
                rows: (&rows[..]).into(),
            },
            weights: Weights::F32((&stored[..]).into()),
            ..Parts::default()
        })
    }
}

/// Any rows, numbered as they first appear, at least one of them not stored.
fn folded() -> impl Strategy<Value = Folded> {
    let weight = (-1.0_f32..1.0, -1.0_f32..1.0).prop_map(|(re, im)| Complex32::new(re, im));
    let shape = (
        1_usize..20,
        prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 1..7),
    );
    let table = shape.prop_map(|(inputs, choices)| {
        let mut table = vec![(0, false)];
        let mut seen = 1;
        for (choice, conjugated) in choices {
            let row = choice.index(seen + 1);
            table.push((row, conjugated && row < seen));
            seen = seen.max(row + 1);
        }
        if seen == table.len() {
            table.push((0, true));
        }
        (inputs, seen, table)
    });
    table.prop_flat_map(move |(inputs, seen, table)| {
        prop::collection::vec(weight.clone(), inputs * seen).prop_map(move |mut stored| {
            stored[0].re += 2.0;
            let table = table.clone();
            Folded {
                inputs,
                stored,
                table,
            }
        })
    })
}

fn case() -> impl Strategy<Value = (Folded, Vec<(usize, usize)>, Vec<f32>)> {
    folded().prop_flat_map(|folded| {
        let all: Vec<_> = bispectral_core::pairs(folded.table.len()).collect();
        let most = all.len() - 1;
        let x = prop::collection::vec(-1.0_f32..1.0, folded.inputs);
        let x = x.prop_map(|mut x| {
            x[0] += 2.0;
            x
        });
        (Just(folded), subsequence(all, 1..=most), x)
    })
}

proptest! {
    #[test]
    fn folded_rows_compute_what_the_equations_say((folded, pairs, x) in case()) {
        let (all, some) = (folded.model(&[]), folded.model(&pairs));
        let [all, some] = [&all, &some].map(|bytes| Model::from_bytes(bytes).unwrap());
        let w: Vec<_> = (weights(&all).iter()).map(|w| Complex64::new(w.re.into(), w.im.into())).collect();
        let doubles: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
        let exact = evaluate(&w, &doubles, Rounded::default());
        let [z, beta] = computed(&all, &x);
        for (disc, z) in exact.coefficients.iter().zip(&z) {
            prop_assert!(disc.holds(z.re, z.im), "z {z} outside {disc:?}");
        }
        // A sum has a quarter of the terms in each lane, a dense one an eighth twice: as many roundings at most.
        for (disc, b) in exact.bispectrum.iter().zip(&beta) {
            prop_assert!(disc.holds(b.re, b.im), "β {b} outside {disc:?}");
        }
        match invariants(&all, &x) {
            Ok(found) if exact.is_well_conditioned() => {
                for (disc, b) in exact.invariants.iter().zip(found) {
                    prop_assert!(disc.holds(b.re, b.im), "β̄ {b} outside {disc:?}");
                }
            }
            Ok(_) => {}
            Err(_) => prop_assert!(exact.permits(false)),
        }
        let expected: Vec<_> = all.pair_list().zip(beta).filter(|(pair, _)| pairs.contains(pair)).collect();
        let [_, found] = computed(&some, &x);
        prop_assert!(some.pair_list().zip(found).eq(expected));
    }
}

#[test]
fn a_model_holds_the_rows_it_stores_and_is_smaller_by_the_others() {
    let inputs = 8;
    let stored: Vec<Complex32> = (0..16).map(|n| Complex32::new(1.0, n as f32)).collect();
    let folded = Folded {
        inputs,
        stored: stored.clone(),
        table: vec![(0, false), (0, true), (1, false), (1, true)],
    };
    let bytes = folded.model(&[]);
    let model = Model::from_bytes(&bytes).unwrap();
    assert_eq!(
        (model.rows(), model.stored_rows(), model.pairs()),
        (4, 2, 10)
    );
    assert_eq!(model.scratch_len(), 2 * 8 + 2 * 2);
    let rows: Vec<_> = weights(&model).chunks(8).map(<[_]>::to_vec).collect();
    let conjugates: Vec<_> = stored[8..].iter().map(Complex32::conj).collect();
    assert_eq!(
        (&rows[2][..], &rows[3][..]),
        (&stored[8..], &conjugates[..])
    );
    let whole = written::model(inputs, &rows.concat());
    assert!(whole.len() - bytes.len() > 2 * inputs * 8 - 16);
}
