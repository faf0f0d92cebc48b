//! Drawings as a page keeps them, lines on the unit square, and what a device sees of them: 256 samples on a square grid, which
//! a shift moves cyclically, or on a polar grid, which a turn does.
//!
//! A sample at p is the pen's ink there: 1 up to half the pen's width from the nearest line, and from there linearly down to 0.

use std::f32::consts::TAU;

/// A line through points, each right and down from the upper left corner of the unit square.
pub type Line = Vec<[f32; 2]>;

/// Pixels of a side of the square grid.
pub const SIDE: usize = 16;
/// Angles of the polar grid.
pub const ANGLES: usize = 32;
/// Rings of the polar grid.
pub const RINGS: usize = 8;

/// Half the width of the usual pen, and how far ink fades beyond it.
pub const PEN: f32 = 0.045;
const EDGE: f32 = 0.05;

/// The digits 0 to 9, each a few lines.
#[must_use]
pub fn digits() -> [Vec<Line>; 10] {
    [
        vec![ellipse([0.5, 0.5], [0.19, 0.28], 0.0, 1.0)],
        vec![vec![[0.38, 0.32], [0.52, 0.2], [0.52, 0.8]]],
        vec![
            [
                ellipse([0.5, 0.38], [0.18, 0.17], 0.5, 1.12),
                vec![[0.32, 0.78], [0.7, 0.78]],
            ]
            .concat(),
        ],
        vec![
            [
                ellipse([0.48, 0.36], [0.17, 0.15], 0.52, 1.25),
                ellipse([0.48, 0.65], [0.2, 0.16], -0.25, 0.45),
            ]
            .concat(),
        ],
        vec![
            vec![[0.58, 0.2], [0.3, 0.6], [0.74, 0.6]],
            vec![[0.6, 0.42], [0.6, 0.82]],
        ],
        vec![
            [
                vec![[0.66, 0.2], [0.38, 0.2], [0.35, 0.46]],
                ellipse([0.48, 0.61], [0.2, 0.18], -0.32, 0.42),
            ]
            .concat(),
        ],
        vec![
            [
                vec![[0.6, 0.19], [0.42, 0.36], [0.34, 0.56]],
                ellipse([0.5, 0.63], [0.17, 0.16], 0.5, 1.5),
            ]
            .concat(),
        ],
        vec![vec![[0.3, 0.22], [0.7, 0.22], [0.46, 0.8]]],
        vec![
            ellipse([0.5, 0.35], [0.14, 0.14], 0.0, 1.0),
            ellipse([0.5, 0.65], [0.18, 0.16], 0.0, 1.0),
        ],
        vec![
            [
                ellipse([0.5, 0.37], [0.17, 0.16], 0.0, 1.0),
                vec![[0.66, 0.46], [0.56, 0.8]],
            ]
            .concat(),
        ],
    ]
}

/// A part of an ellipse, from one share of a turn to another, clockwise from the right.
fn ellipse(middle: [f32; 2], radii: [f32; 2], from: f32, to: f32) -> Line {
    const POINTS: usize = 16;
    let point = |k: usize| {
        let angle = TAU * (from + (to - from) * k as f32 / (POINTS - 1) as f32);
        [
            middle[0] + radii[0] * angle.cos(),
            middle[1] + radii[1] * angle.sin(),
        ]
    };
    (0..POINTS).map(point).collect()
}

/// The pixels, row by row.
#[must_use]
pub fn raster(lines: &[Line], pen: f32) -> Vec<f32> {
    let middle = |k: usize| (k as f32 + 0.5) / SIDE as f32;
    let pixel = |k: usize| ink(lines, pen, [middle(k % SIDE), middle(k / SIDE)]);
    (0..SIDE * SIDE).map(pixel).collect()
}

/// The samples of the polar grid once the drawing was turned clockwise by `angle` radians about its middle: all rings of the
/// first angle, then of the next.
#[must_use]
pub fn polar(lines: &[Line], pen: f32, angle: f32) -> Vec<f32> {
    let sample = |k: usize| {
        let around = TAU * (k / RINGS) as f32 / ANGLES as f32 - angle;
        let radius = 0.5 * ((k % RINGS) as f32 + 0.5) / RINGS as f32;
        let at = [0.5 + radius * around.cos(), 0.5 + radius * around.sin()];
        ink(lines, pen, at)
    };
    (0..ANGLES * RINGS).map(sample).collect()
}

fn ink(lines: &[Line], pen: f32, at: [f32; 2]) -> f32 {
    let mut nearest = f32::INFINITY;
    for line in lines {
        if let [point] = line[..] {
            nearest = nearest.min(distance(at, point, point));
        }
        for ends in line.windows(2) {
            nearest = nearest.min(distance(at, ends[0], ends[1]));
        }
    }
    (1.0 - (nearest - pen) / EDGE).clamp(0.0, 1.0)
}

/// From a point to the nearest of a segment.
fn distance(at: [f32; 2], from: [f32; 2], to: [f32; 2]) -> f32 {
    let along = [to[0] - from[0], to[1] - from[1]];
    let away = [at[0] - from[0], at[1] - from[1]];
    let square = along[0] * along[0] + along[1] * along[1];
    let part = if square > 0.0 {
        ((away[0] * along[0] + away[1] * along[1]) / square).clamp(0.0, 1.0)
    } else {
        0.0
    };
    (away[0] - part * along[0]).hypot(away[1] - part * along[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_by_a_step_of_the_grid_shifts_its_samples() {
        for digit in digits() {
            let still = polar(&digit, PEN, 0.0);
            let turned = polar(&digit, PEN, 3.0 * TAU / ANGLES as f32);
            for k in 0..still.len() {
                let before = still[(k + still.len() - 3 * RINGS) % still.len()];
                // Sines and cosines of f32 angles, and ink that falls by 20 over the unit square.
                assert!((turned[k] - before).abs() < 1e-4, "{k}");
            }
        }
    }

    #[test]
    fn every_digit_has_ink_and_none_at_its_border() {
        for (number, digit) in digits().iter().enumerate() {
            let pixels = raster(digit, PEN);
            let dark = pixels.iter().filter(|&&ink| ink > 0.5).count();
            assert!((15..90).contains(&dark), "{number}: {dark}");
            let edge =
                (0..SIDE).flat_map(|k| [k, SIDE * (SIDE - 1) + k, SIDE * k, SIDE * k + SIDE - 1]);
            assert!(edge.into_iter().all(|k| pixels[k] == 0.0), "{number}");
        }
    }
}
