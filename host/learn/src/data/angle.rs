//! Sines of fractions of a turn: exact at quarter turns, and the same bits on every host.

use std::f64::consts::FRAC_PI_2;

/// Cosine and sine of 2π · `part` / `whole`.
///
/// `libm` computes them, because the system's mathematical library differs between hosts in the last digit. `whole` is
/// not zero, and small enough that four times it does not overflow.
pub fn cos_sin(part: usize, whole: usize) -> (f64, f64) {
    let quarters = 4 * (part % whole);
    let rest = quarters % whole;
    // Within the first eighth, where the angle that is rounded is small.
    let (cos, sin) = if 2 * rest <= whole {
        of_quarter(rest, whole)
    } else {
        let (cos, sin) = of_quarter(whole - rest, whole);
        (sin, cos)
    };
    match quarters / whole {
        0 => (cos, sin),
        1 => (-sin, cos),
        2 => (-cos, -sin),
        _ => (sin, -cos),
    }
}

fn of_quarter(part: usize, whole: usize) -> (f64, f64) {
    let (sin, cos) = libm::sincos(FRAC_PI_2 * part as f64 / whole as f64);
    (cos, sin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    #[test]
    fn quarter_turns_are_exact() {
        for whole in [4, 8, 12, 360] {
            let exact = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)];
            for (quarter, expected) in exact.into_iter().cycle().take(9).enumerate() {
                assert_eq!(cos_sin(quarter * whole / 4, whole), expected);
            }
        }
    }

    #[test]
    fn other_angles_are_those_of_the_standard_library() {
        for whole in [1, 3, 7, 360, 16_384] {
            for part in 0..whole {
                let (cos, sin) = cos_sin(part, whole);
                let (expected_sin, expected_cos) = (TAU * part as f64 / whole as f64).sin_cos();
                // The standard library is given an angle of up to 2π, half a unit of whose last place is 4.4e-16.
                assert!((cos - expected_cos).abs() < 1e-15, "{part}/{whole}");
                assert!((sin - expected_sin).abs() < 1e-15, "{part}/{whole}");
            }
        }
    }
}
