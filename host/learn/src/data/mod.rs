//! Signals as people have them (`.npy` arrays, CSV with one signal a line, IDX, photographs), and orbits of them.
//!
//! Every length a file claims is compared with the file's size before memory is taken for it.

pub mod angle;
mod covariance;
pub mod csv;
pub mod group;
pub mod idx;
mod labels;
pub mod load;
mod noise;
pub mod normalise;
pub mod npy;
pub mod offset;
pub mod orbits;
mod orbits_error;
pub mod remark;
pub mod representation;
pub mod rotate;
pub mod rounding;
pub mod samples;
mod signals;
mod split;
mod support;
pub mod transform;
pub mod weights;

pub use labels::Labels;
pub use signals::Signals;
