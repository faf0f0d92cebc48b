//! Every structure computes what the equations say of its W, for any rows, inputs, pairs and signals.

mod conjugates;
mod cyclic;
#[path = "../equations/mod.rs"]
mod equations;
mod kinds;
#[path = "../written/mod.rs"]
mod written;
