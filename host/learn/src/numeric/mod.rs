//! What the mathematics is computed with: two precisions, matrices and their products, assignment, Adam, whitening, random streams.

pub mod adam;
pub mod alignment;
pub mod assignment;
pub mod dual;
pub mod harmonics;
pub mod least_squares;
pub(crate) mod matrix;
pub mod orthogonal;
pub mod random;
mod real;
pub mod whitening;

pub use real::Real;
pub(crate) use real::{LANES, padded};
