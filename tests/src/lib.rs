//! What the tests of this folder share: the example model, made afresh, and what the core computes with it.

#[path = "../../firmware-example/src/reference.rs"]
pub mod reference;

pub mod example;
