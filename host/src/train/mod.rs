//! From orbits to W: a run is a list of phases, each a loss, a schedule and a length.

pub mod adam;
pub mod checkpoint;
pub mod config;
mod ending;
pub mod initial;
pub mod phase;
pub mod pruning;
pub mod run;
pub mod sampler;
pub mod schedule;
pub mod source;
pub mod spectral;
pub mod trainer;
pub mod whitening;
