//! Learn the symmetry behind data, and export its invariants to microcontrollers.

pub mod analysis;
pub mod classify;
pub mod cli;
pub mod data;
mod error;
pub mod export;
pub mod group;
pub mod network;
mod printable;
pub mod report;
pub mod train;

pub use error::{Error, Result};
