//! Characters that no signal excites, from those that are known: products and conjugates of characters are characters.
//!
//! Smooth signals have no high frequencies, so nothing in them says what W is to do there. The known rows say it.

use ndarray::{Array2, ArrayView2};
use num_complex::{Complex32, Complex64};
use rayon::prelude::*;
use std::collections::VecDeque;

/// Rows with more than this in common are one, with less than `OTHER` two; in between nothing can be said.
const SAME: f64 = 0.9;
const OTHER: f64 = 0.5;
/// Products that are looked at for every input: enough for known rows that generate the others in a few steps.
const LOOKS: usize = 64;

/// As many rows as inputs: the `known` rows of `w`, the constant, and what can be multiplied of them; each product of as
/// few as possible, since their errors add up. `None` where they make fewer or more, or contradict each other.
///
/// ```
/// use bispectral_learn::{data::group::Group, group::{complete, identify::identify}};
/// use num_complex::Complex32;
///
/// let mut w = "Z12".parse::<Group>()?.characters().mapv(|w| Complex32::new(w.re as f32, w.im as f32));
/// w.row_mut(7).fill(Complex32::ONE);
/// let whole = complete(&w.view(), &[1, 2]).unwrap();
/// assert_eq!(identify(&whole.view()).unwrap().group.to_string(), "Z12");
/// # Ok::<(), bispectral_learn::Error>(())
/// ```
///
/// # Panics
/// There is no row of a number in `known`.
#[must_use]
pub fn complete(w: &ArrayView2<'_, Complex32>, known: &[usize]) -> Option<Array2<Complex32>> {
    let inputs = w.ncols();
    let mut rows = vec![vec![Complex64::ONE; inputs]];
    for &row in known {
        let row = flat(w.row(row).iter());
        let conjugate: Vec<Complex64> = row.iter().map(|w| w.conj()).collect();
        for row in [row, conjugate] {
            add(&mut rows, row)?;
        }
    }
    let factors = rows.clone();
    let mut waiting: VecDeque<usize> = (1..rows.len()).collect();
    let mut looks = LOOKS * inputs;
    while rows.len() < inputs {
        let row = waiting.pop_front()?;
        for factor in &factors[1..] {
            looks = looks.checked_sub(1)?;
            let product = rows[row].iter().zip(factor).map(|(a, b)| a * b).collect();
            if add(&mut rows, product)? {
                waiting.push_back(rows.len() - 1);
            }
        }
    }
    let length = (inputs as f64).sqrt();
    (rows.len() == inputs).then(|| {
        Array2::from_shape_fn((inputs, inputs), |(i, n)| {
            let w = rows[i][n] / length;
            Complex32::new(w.re as f32, w.im as f32)
        })
    })
}

/// Moduli of one: what a character has.
fn flat<'a>(row: impl Iterator<Item = &'a Complex32>) -> Vec<Complex64> {
    row.map(|w| {
        let w = Complex64::new(w.re.into(), w.im.into());
        let modulus = w.norm();
        if modulus > 0.0 {
            w / modulus
        } else {
            Complex64::ONE
        }
    })
    .collect()
}

/// Adds `row` where it is another than all before, and says whether it was; `None` where that cannot be said.
fn add(rows: &mut Vec<Vec<Complex64>>, row: Vec<Complex64>) -> Option<bool> {
    let overlap = |other: &Vec<Complex64>| {
        let inner: Complex64 = other.iter().zip(&row).map(|(a, b)| a * b.conj()).sum();
        inner.norm() / row.len() as f64
    };
    let most = rows.par_iter().map(overlap).reduce(|| 0.0, f64::max);
    if most > SAME {
        return Some(false);
    }
    (most < OTHER).then(|| {
        rows.push(row);
        true
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::group::Group;
    use crate::group::identify::identify;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn characters(group: &str) -> Array2<Complex32> {
        let characters = group.parse::<Group>().unwrap().characters();
        characters.mapv(|w| Complex32::new(w.re as f32, w.im as f32))
    }

    #[test]
    fn low_frequencies_tell_the_high_ones_even_with_noise() {
        let mut w = characters("Z64");
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for w in &mut w {
            *w += Complex32::new(
                random.random_range(-1.0..1.0),
                random.random_range(-1.0..1.0),
            ) * 0.005;
        }
        let known = [1, 2, 3, 4, 5, 6, 7, 8];
        let whole = complete(&w.view(), &known).unwrap();
        assert_eq!(identify(&whole.view()).unwrap().group.to_string(), "Z64");
    }

    #[test]
    fn images_need_both_directions() {
        let w = characters("Z6xZ4");
        let whole = complete(&w.view(), &[1, 4]).unwrap();
        assert_eq!(identify(&whole.view()).unwrap().group.to_string(), "Z12xZ2");
        assert!(complete(&w.view(), &[1, 2]).is_none());
        assert!(complete(&w.view(), &[]).is_none());
    }

    #[test]
    fn rows_that_are_no_characters_make_nothing() {
        let mut w = characters("Z16");
        let mut random = ChaCha8Rng::seed_from_u64(3);
        w.row_mut(1).mapv_inplace(|_| {
            Complex32::new(
                random.random_range(-1.0..1.0),
                random.random_range(-1.0..1.0),
            )
        });
        let found = complete(&w.view(), &[1, 2, 3]);
        assert!(found.is_none_or(|whole| identify(&whole.view()).is_err()));
    }
}
