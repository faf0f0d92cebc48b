//! Characters, random rows, and signals that decide what counts.

use super::dictionary::double;
use super::*;
use crate::numeric::orthogonal::orthogonal;
use bispectral_core::pairs;
use faer::c64;
use ndarray::Array2;

fn characters(group: &str) -> Array2<Complex32> {
    let group: crate::data::group::Group = group.parse().unwrap();
    let single = |w: &c64| Complex32::new(w.re as f32, w.im as f32);
    group.characters().map(single)
}

fn random(rows: usize, inputs: usize) -> Array2<Complex32> {
    let w = orthogonal(rows, inputs, 3).into_iter();
    let w = w.map(|w| Complex32::new(w.re as f32, w.im as f32));
    Array2::from_shape_vec((rows, inputs), w.collect()).unwrap()
}

/// (k, conjugated, coefficient) of every term as the device reads it.
fn read(found: &Combined) -> Vec<(usize, bool, c64)> {
    let scale = f64::from(found.scale);
    let part = |steps: i16| f64::from(steps) * scale;
    let term = |term: &format::Term| {
        let value = c64::new(part(term.re), part(term.im));
        (usize::from(term.row.stored), term.row.conjugated, value)
    };
    found.coefficients.iter().map(term).collect()
}

#[test]
fn the_product_of_two_characters_is_one_character() {
    for name in ["Z1", "Z7", "Z4xZ2", "Z3xZ3"] {
        let w = characters(name);
        let group: crate::data::group::Group = name.parse().unwrap();
        let pairs: Vec<_> = pairs(w.nrows()).collect();
        let products = Products {
            w: w.view(),
            stored: w.view(),
            pairs: &pairs,
            terms: 1,
            signals: None,
        };
        let found = products.combine().unwrap();
        assert!(found.error < 1e-6, "{name}: {:e}", found.error);
        let length = (w.nrows() as f64).sqrt();
        for (&(i, j), (k, conjugated, value)) in pairs.iter().zip(read(&found)) {
            let product = group.add(i, j);
            let opposite = |k| (0..w.nrows()).find(|&o| group.add(k, o) == 0).unwrap();
            let k = if conjugated { opposite(k) } else { k };
            assert_eq!(k, product, "{name}: {i} {j}");
            // Two roundings of f32, and half a step of 1/32767.
            assert!(
                (value - 1.0 / length).norm() < 2e-5 / length,
                "{name}: {value}"
            );
        }
    }
}

/// z of every member, for rows and for products.
fn errors(
    w: &Array2<Complex32>,
    pairs: &[(usize, usize)],
    found: &Combined,
    signals: &Orbits,
) -> [f64; 2] {
    let (terms, inputs) = (read(found), w.ncols());
    let each = terms.len() / pairs.len();
    let mut x = vec![0.0; inputs];
    let mut sums = [0.0; 2];
    for (orbit, member) in
        (0..signals.len()).flat_map(|o| (0..signals.members(o)).map(move |m| (o, m)))
    {
        signals.write_member(orbit, member, &mut x);
        let z =
            |of: &dyn Fn(usize) -> c64| (0..inputs).map(|n| of(n) * f64::from(x[n])).sum::<c64>();
        let row: Vec<c64> = (0..w.nrows()).map(|k| z(&|n| double(w[(k, n)]))).collect();
        for (&(i, j), terms) in pairs.iter().zip(terms.chunks(each)) {
            let exact = z(&|n| double(w[(i, n)]) * double(w[(j, n)]));
            let term = |&(k, conjugated, value): &(usize, bool, c64)| {
                value * if conjugated { row[k].conj() } else { row[k] }
            };
            sums[0] += (exact - terms.iter().map(term).sum::<c64>()).norm_sqr();
            sums[1] += exact.norm_sqr();
        }
    }
    sums
}

#[test]
fn the_error_is_that_on_the_signals_and_more_terms_leave_less() {
    let w = random(5, 8);
    let signals = Orbits::of_group(&"Z4xZ2".parse().unwrap(), 6, 1);
    let pairs = [(0, 0), (0, 3), (1, 2), (4, 4)];
    let mut before = f64::INFINITY;
    for terms in 1..=6 {
        let products = Products {
            w: w.view(),
            stored: w.view(),
            pairs: &pairs,
            terms,
            signals: Some(&signals),
        };
        let found = products.combine().unwrap();
        let [error, power] = errors(&w, &pairs, &found, &signals);
        let measured = (error / power).sqrt();
        // Coefficients are rounded to 2^-16 of the largest.
        assert!(
            (measured - found.error).abs() < 1e-4,
            "{measured} {found:?}"
        );
        assert!(found.error < before - 1e-3, "{terms}: {}", found.error);
        before = found.error;
        // Another value of any coefficient is worse: they are the least squares.
        for at in 0..read(&found).len() {
            for (imaginary, sign) in [(false, 1_i16), (false, -1), (true, 1), (true, -1)] {
                let mut moved = found.clone();
                let term = &mut moved.coefficients[at];
                let part = if imaginary {
                    &mut term.im
                } else {
                    &mut term.re
                };
                let value = *part;
                *part = value.saturating_add(200 * sign);
                assert!(
                    value.abs() > i16::MAX - 200 || errors(&w, &pairs, &moved, &signals)[0] > error
                );
            }
        }
    }
}

#[test]
fn signals_decide_what_counts() {
    // Signals that are zero in half of the places: only the other half has to be right.
    let w = random(4, 8);
    let samples = Array2::from_shape_fn((8, 8), |(s, n)| {
        if n < 4 {
            ((s * s + 3 * n * s + n) % 7) as f32
        } else {
            0.0
        }
    });
    let signals = Orbits::labelled(samples, &[0, 0, 1, 1, 2, 2, 3, 3]).unwrap();
    let pairs: Vec<_> = pairs(4).collect();
    let of = |signals| {
        let products = Products {
            w: w.view(),
            stored: w.view(),
            pairs: &pairs,
            terms: 4,
            signals,
        };
        products.combine().unwrap()
    };
    let (informed, blind) = (of(Some(&signals)), of(None));
    let share = |found: &Combined| {
        let [error, power] = errors(&w, &pairs, found, &signals);
        (error / power).sqrt()
    };
    // Eight complex rows span the four places.
    assert!(share(&informed) < 1e-3, "{}", share(&informed));
    assert!(share(&blind) > 0.1, "{}", share(&blind));
}

#[test]
fn what_cannot_be_combined_is_refused() {
    let w = random(2, 4);
    let fine = Products {
        w: w.view(),
        stored: w.view(),
        pairs: &[(0, 1)],
        terms: 1,
        signals: None,
    };
    assert!(fine.combine().is_ok());
    let shorter = random(2, 3);
    let signals = Orbits::of_group(&"Z3".parse().unwrap(), 2, 1);
    for refused in [
        Products { terms: 0, ..fine },
        Products {
            pairs: &[(0, 2)],
            ..fine
        },
        Products {
            stored: shorter.view(),
            ..fine
        },
        Products {
            signals: Some(&signals),
            ..fine
        },
    ] {
        assert!(refused.combine().is_err());
    }
}
