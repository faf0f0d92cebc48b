//! The rotation of space that takes some coefficients of harmonics nearest to others: Gauss's and Newton's steps from many starts.

use super::harmonics::{Degree, angles, rotation_of_space};
use super::random::{Purpose, stream};
use rand::RngExt;
use std::f64::consts::TAU;

/// Steps from one start.
const STEPS: usize = 14;
/// Of rotations that are tried, so many are improved.
const IMPROVED: usize = 6;

/// Coefficients of one degree, and those that they are to be taken to.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    /// The degree.
    pub degree: &'a Degree,
    /// Before.
    pub from: &'a [f64],
    /// After.
    pub to: &'a [f64],
}

/// The angles about z, y and z of so many random rotations.
#[must_use]
pub fn random_rotations(count: usize, seed: u64) -> Vec<[f64; 3]> {
    let mut random = stream(seed, Purpose::Starts);
    let mut one = || {
        let [a, b, c] = [0; 3].map(|_| random.random::<f64>());
        [TAU * a, (2.0 * b - 1.0).acos(), TAU * c]
    };
    (0..count).map(|_| one()).collect()
}

/// The best of `tried` rotations and of steps from the best of these, and Σ ‖to − D from‖².
#[must_use]
pub fn aligned(pairs: &[Pair<'_>], tried: usize) -> ([f64; 3], f64) {
    let mut scores: Vec<(f64, [f64; 3])> = random_rotations(tried, 0)
        .into_iter()
        .map(|angles| {
            let product = |pair: &Pair<'_>| {
                let moved = pair.degree.rotated(angles, pair.from);
                moved.iter().zip(pair.to).map(|(a, b)| a * b).sum::<f64>()
            };
            (pairs.iter().map(product).sum(), angles)
        })
        .collect();
    scores.sort_by(|a, b| b.0.total_cmp(&a.0));
    let best = scores.iter().take(IMPROVED);
    best.map(|&(_, angles)| improved(pairs, angles))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap_or(([0.0; 3], f64::INFINITY))
}

/// Steps from one rotation: where they lead, and Σ ‖to − D from‖² there.
#[must_use]
pub fn improved(pairs: &[Pair<'_>], start: [f64; 3]) -> ([f64; 3], f64) {
    let (mut here, mut best) = (start, (start, f64::INFINITY));
    for _ in 0..STEPS {
        let mut normal = [[0.0; 3]; 3];
        let mut slope = [0.0; 3];
        let mut square = 0.0;
        for pair in pairs {
            let moved = pair.degree.rotated(here, pair.from);
            let changes = pair.degree.changes(&moved);
            for (at, to) in pair.to.iter().enumerate() {
                let residue = to - moved[at];
                square += residue * residue;
                for i in 0..3 {
                    slope[i] += changes[i][at] * residue;
                    for j in 0..=i {
                        normal[i][j] += changes[i][at] * changes[j][at];
                    }
                }
            }
        }
        let gain = best.1 - square;
        if gain.is_nan() || gain <= 0.0 {
            break;
        }
        best = (here, square);
        if gain < 1e-14 * square {
            break;
        }
        let Some(step) = solved(normal, slope) else {
            break;
        };
        here = angles(product(small_rotation(step), rotation_of_space(here)));
    }
    best
}

fn product(a: [[f64; 3]; 3], b: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let entry = |i: usize, j: usize| (0..3).map(|k| a[i][k] * b[k][j]).sum::<f64>();
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j)))
}

/// exp of the rotation vector, by Rodrigues' formula.
fn small_rotation([x, y, z]: [f64; 3]) -> [[f64; 3]; 3] {
    let angle = (x * x + y * y + z * z).sqrt();
    let k = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]];
    let square = product(k, k);
    let (a, b) = if angle < 1e-6 {
        (1.0, 0.5)
    } else {
        (angle.sin() / angle, (1.0 - angle.cos()) / (angle * angle))
    };
    let unit = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| unit(i, j) + a * k[i][j] + b * square[i][j]))
}

/// N x = b of a symmetric N, of which the lower triangle is given; `None` where it has no inverse.
fn solved(n: [[f64; 3]; 3], b: [f64; 3]) -> Option<[f64; 3]> {
    let at = |i: usize, j: usize| n[i.max(j)][i.min(j)];
    let minor = |i: usize, j: usize| {
        let [p, q] = [(i + 1) % 3, (i + 2) % 3];
        let [r, s] = [(j + 1) % 3, (j + 2) % 3];
        at(p, r) * at(q, s) - at(p, s) * at(q, r)
    };
    let determinant: f64 = (0..3).map(|j| at(0, j) * minor(0, j)).sum();
    let scale = at(0, 0) * at(1, 1) * at(2, 2);
    if determinant.is_nan() || determinant <= 1e-14 * scale {
        return None;
    }
    Some([0, 1, 2].map(|i| (0..3).map(|j| minor(i, j) * b[j]).sum::<f64>() / determinant))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rotation_between_coefficients_is_found() {
        let degrees = [1, 2, 3].map(Degree::new);
        for angles in random_rotations(20, 5) {
            let from: Vec<Vec<f64>> = (1..4)
                .map(|l| {
                    (0..2 * l + 1)
                        .map(|k| ((k * k + 3 * l) as f64).sin())
                        .collect()
                })
                .collect();
            let to: Vec<Vec<f64>> = (degrees.iter().zip(&from))
                .map(|(degree, from)| degree.rotated(angles, from))
                .collect();
            let pairs: Vec<Pair<'_>> = (degrees.iter().zip(&from).zip(&to))
                .map(|((degree, from), to)| Pair { degree, from, to })
                .collect();
            let (found, left) = aligned(&pairs, 500);
            assert!(left < 1e-20, "{left}");
            let [a, b] = [angles, found].map(rotation_of_space);
            for (a, b) in a.iter().flatten().zip(b.iter().flatten()) {
                assert!((a - b).abs() < 1e-9);
            }
        }
    }
}
