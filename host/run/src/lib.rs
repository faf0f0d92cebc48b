//! What a command has around the library: a training run and its folder, where its data comes from, the console, and
//! the figures that several pages show.
//!
//! A client of `bispectral-learn`: what is learned and how is decided there.

pub mod class_names;
pub mod config;
pub mod console;
pub mod figures;
pub mod learned;
pub mod pages;
pub mod permutations;
pub mod photographs;
mod run;
pub mod source;
pub mod training;

pub use run::{
    CONFIG, FILES, METRICS, MODEL, Outcome, PERMUTATIONS, RESULTS, Record, Results, Run, WEIGHTS,
};
