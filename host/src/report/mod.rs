//! Pictures people look at.

mod axis;
mod canvas;
pub mod cayley;
mod colour;
pub mod curves;
pub mod filters;
mod grid;
pub mod loss_curve;
mod panel;
mod phase;
mod picture;
mod table;
pub mod tiles;
mod trace;
