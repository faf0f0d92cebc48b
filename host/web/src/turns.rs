//! One turn of a machine as 64 samples: the examples of the page.

use std::f32::consts::TAU;

/// Samples of a turn.
pub const TURN: usize = 64;

/// Examples and what they are called.
pub const NAMES: [&str; 5] = [
    "gearbox",
    "cam",
    "worn bearing",
    "heartbeat",
    "healthy motor",
];

/// The example of this number, the first beyond the last.
#[must_use]
pub fn example(number: usize) -> Vec<f32> {
    let sample: fn(f32) -> f32 = match number {
        1 => cam,
        2 => |n| (TAU * n / 64.0).cos() + 1.6 * bump(n, 20.0, 2.0) + 0.8 * bump(n, 44.0, 3.0),
        3 => |n| {
            2.0 * bump(n, 30.0, 1.5) - 0.6 * bump(n, 33.0, 1.5)
                + 0.4 * bump(n, 18.0, 3.0)
                + 0.5 * bump(n, 48.0, 5.0)
        },
        4 => |n| (TAU * n / 64.0).cos() + 0.4 * (3.0 * TAU * n / 64.0 + 1.0).cos() + 0.2,
        _ => |n| (TAU * n * n / 160.0).cos() * (1.0 - n / 90.0),
    };
    (0..TURN).map(|n| sample(n as f32)).collect()
}

/// Steps of a follower, with a notch in each.
fn cam(n: f32) -> f32 {
    const STEPS: [f32; 8] = [3.0, 1.0, -2.0, 0.0, 4.0, -1.0, -3.0, 2.0];
    let notch = if n % 8.0 == 3.0 { 2.0 } else { 0.0 };
    STEPS[(n / 8.0) as usize % 8] + notch
}

/// A bell of this width around a sample, cyclically.
fn bump(n: f32, at: f32, width: f32) -> f32 {
    let away = (n - at + 96.0) % 64.0 - 32.0;
    (-away * away / (2.0 * width * width)).exp()
}
