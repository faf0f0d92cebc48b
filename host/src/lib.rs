//! Learn the symmetry behind data, and export its invariants to microcontrollers.

pub mod network;
