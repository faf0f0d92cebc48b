//! The phase a row of W is shown with: w and e^{iφ}w are the same irreducible representation.

/// Real and imaginary part.
pub(crate) type Complex = (f64, f64);

/// Below this |Σ w_n²| / Σ |w_n|² the real part can carry at most 55 % of a row, and its phase says little.
const REAL: f64 = 0.1;

fn product(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

fn is_finite(weight: &Complex) -> bool {
    weight.0.is_finite() && weight.1.is_finite()
}

/// The row times a phase.
///
/// Σ w_n² > 0 puts as much of it into the real part as can be; of the two phases that do so, the one with a positive
/// beginning. A character that is not real has Σ w_n² = 0, so then its first coordinate becomes real and positive.
pub(crate) fn with_standard_phase(row: &[Complex]) -> Vec<Complex> {
    let finite = || row.iter().copied().filter(is_finite);
    let energy: f64 = finite().map(|(re, im)| re * re + im * im).sum();
    let square = finite()
        .map(|weight| product(weight, weight))
        .fold((0.0, 0.0), |sum, w| (sum.0 + w.0, sum.1 + w.1));
    let nearly_real = square.0.hypot(square.1) > REAL * energy;
    let phase = if nearly_real {
        let (sin, cos) = (-square.1.atan2(square.0) / 2.0).sin_cos();
        (cos, sin)
    } else {
        (1.0, 0.0)
    };
    // The first that is not nearly zero, whose phase would be noise. Of a character that is the first of all.
    let least = energy / row.len() as f64 / 4.0;
    let first = finite().find(|(re, im)| re * re + im * im >= least && re.hypot(*im) > 0.0);
    let phase = match first.map(|weight| product(weight, phase)) {
        Some((re, im)) if !nearly_real => (re / re.hypot(im), -im / re.hypot(im)),
        Some((re, _)) if re < 0.0 => (-phase.0, -phase.1),
        _ => phase,
    };
    row.iter().map(|&weight| product(weight, phase)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    #[test]
    fn the_phase_of_a_row_does_not_change_its_picture() {
        let polar = |angle: f64| (angle.cos(), angle.sin());
        // A real character, a complex one, and a row that is nearly real.
        let rows: [fn(f64) -> Complex; 3] = [
            |n| ((TAU * n / 2.0).cos(), 0.0),
            |n| ((TAU * 3.0 * n / 8.0).cos(), (TAU * 3.0 * n / 8.0).sin()),
            |n| (n.sin(), 0.2 * n.cos()),
        ];
        for (index, weight) in rows.into_iter().enumerate() {
            let row: Vec<Complex> = (0..8).map(|n| weight(n.into())).collect();
            let was = with_standard_phase(&row);
            for turn in 0..8 {
                // Not a multiple of a quarter, where rounding would decide the sign.
                let phase = polar(0.3 + f64::from(turn));
                let other = row.iter().map(|&weight| product(weight, phase));
                let is = with_standard_phase(&other.collect::<Vec<_>>());
                for (was, is) in was.iter().zip(&is) {
                    let apart = (was.0 - is.0).hypot(was.1 - is.1);
                    // A few roundings of 1e-16.
                    assert!(apart < 1e-12, "row {index}, turn {turn}");
                }
                assert!(index == 2 || (is[0].0 > 0.0 && is[0].1.abs() < 1e-12));
            }
        }
    }

    #[test]
    fn a_row_without_a_phase_stays() {
        let is = with_standard_phase(&[(f64::NAN, 0.0), (0.0, 0.0)]);
        assert!(is[0].0.is_nan() && is[1] == (0.0, 0.0));
    }
}
