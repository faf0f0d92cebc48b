//! The phase a row of W is shown with: w and e^{iφ}w are the same irreducible representation.

use ndarray::ArrayView1;
use num_complex::{Complex32, Complex64};

/// Below this |Σ w_n²| / Σ |w_n|² the real part can carry at most 55 % of a row, and its phase says little.
const REAL: f64 = 0.1;

/// The row times a phase.
///
/// Σ w_n² > 0 puts as much of it into the real part as can be; of the two phases that do so, the one with a positive
/// beginning. A character that is not real has Σ w_n² = 0, so then its first coordinate becomes real and positive.
pub(super) fn turned(row: ArrayView1<'_, Complex32>) -> Vec<Complex64> {
    let row: Vec<Complex64> = row
        .iter()
        .map(|weight| Complex64::new(weight.re.into(), weight.im.into()))
        .collect();
    let finite = || row.iter().filter(|weight| weight.is_finite());
    let energy: f64 = finite().map(Complex64::norm_sqr).sum();
    let square: Complex64 = finite().map(|weight| weight * weight).sum();
    let phase = if square.norm() > REAL * energy {
        Complex64::from_polar(1.0, -square.arg() / 2.0)
    } else {
        Complex64::ONE
    };
    // The first that is not nearly zero, whose phase would be noise. Of a character that is the first of all.
    let least = energy / row.len() as f64 / 4.0;
    let first = finite().find(|weight| weight.norm_sqr() >= least && weight.norm() > 0.0);
    let phase = match first.map(|weight| weight * phase) {
        Some(first) if square.norm() <= REAL * energy => first.conj() / first.norm(),
        Some(first) if first.re < 0.0 => -phase,
        _ => phase,
    };
    row.iter().map(|weight| weight * phase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::group::Group;

    #[test]
    fn the_phase_of_a_row_does_not_change_its_picture() {
        // A real character, a complex one, and a row that is nearly real.
        let characters = "Z4xZ4".parse::<Group>().unwrap().characters();
        let mut w = characters.mapv(|value| Complex32::new(value.re as f32, value.im as f32));
        for n in 0..16 {
            w[[3, n]] = Complex32::new((n as f32).sin(), 0.2 * (n as f32).cos());
        }
        for row in [2, 1, 3] {
            for turn in 0..8 {
                // Not a multiple of a quarter, where rounding would decide the sign.
                let phase = Complex32::from_polar(1.0, 0.3 + turn as f32);
                let turned_row = w.row(row).mapv(|weight| weight * phase);
                let (was, is) = (turned(w.row(row)), turned(turned_row.view()));
                for (was, is) in was.iter().zip(&is) {
                    // Both went through f32 once more: a few of its 6e-8 apart.
                    assert!((was - is).norm() < 1e-6, "row {row}, turn {turn}");
                }
                let square: Complex64 = is.iter().map(|weight| weight * weight).sum();
                assert!(square.re > -1e-6 && square.im.abs() < 1e-6);
                assert!(row == 3 || (is[0].re > 0.0 && is[0].im.abs() < 1e-6));
            }
        }
    }

    #[test]
    fn a_row_without_a_phase_stays() {
        let odd = [Complex32::new(f32::NAN, 0.0), Complex32::ZERO];
        let is = turned(ArrayView1::from(&odd));
        assert!(is[0].re.is_nan() && is[1] == Complex64::ZERO);
    }
}
