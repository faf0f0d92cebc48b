//! How far the invariants of one form of a model are from those of another: ‖β̄ − β̄'‖ for random signals.
//!
//! Rounding W to halves or bytes, or combining products of few rows, changes invariants by an amount that depends on the
//! very model: a group of few elements has few numbers over which errors could cancel.

use crate::numeric::random::{Purpose, stream};
use bispectral_core::{Complex32, Model};
use rand::RngExt;
use rand_distr::StandardNormal;
use serde::Serialize;

/// Signals that are looked at.
const SIGNALS: usize = 200;

/// What a form changes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FormError {
    /// Random signals, of independent normal numbers, of which both forms have invariants.
    pub signals: usize,
    /// The largest ‖β̄ − β̄'‖; unit vectors are at most 2 apart.
    pub largest: f64,
    /// √ of the mean of ‖β̄ − β̄'‖².
    pub root_mean_square: f64,
}

/// The distance of `form` from `original`, whose invariants are taken at the pairs that both have; `None` where they are no
/// forms of one model.
#[must_use]
pub fn form_error(form: &Model<'_>, original: &Model<'_>, seed: u64) -> Option<FormError> {
    if form.inputs() != original.inputs() || form.output() != original.output() {
        return None;
    }
    let places: Option<Vec<usize>> = {
        let mut others = original.pair_list().enumerate();
        let mut place = |pair| others.find(|(_, other)| *other == pair).map(|(at, _)| at);
        form.pair_list().map(&mut place).collect()
    };
    let places = places?;
    let mut random = stream(seed, Purpose::Noise);
    let mut squares = Vec::with_capacity(SIGNALS);
    for _ in 0..SIGNALS {
        let x: Vec<f32> = (0..form.inputs())
            .map(|_| random.sample(StandardNormal))
            .collect();
        let (Ok(a), Ok(b)) = (form.invariants_vec(&x), original.invariants_vec(&x)) else {
            continue;
        };
        let b: Vec<Complex32> = places.iter().map(|&at| b[at]).collect();
        let norm = b
            .iter()
            .map(|b| f64::from(b.norm_sqr()))
            .sum::<f64>()
            .sqrt();
        if norm > 0.0 {
            squares.push(square_distance(&a, &b, norm));
        }
    }
    let signals = squares.len();
    (signals > 0).then(|| FormError {
        signals,
        largest: squares.iter().copied().fold(0.0, f64::max).sqrt(),
        root_mean_square: (squares.iter().sum::<f64>() / signals as f64).sqrt(),
    })
}

/// ‖a − b/norm‖².
fn square_distance(a: &[Complex32], b: &[Complex32], norm: f64) -> f64 {
    let part = |a: f32, b: f32| (f64::from(a) - f64::from(b) / norm).powi(2);
    let terms = a.iter().zip(b);
    terms
        .map(|(a, b)| part(a.re, b.re) + part(a.im, b.im))
        .sum()
}
