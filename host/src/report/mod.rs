//! Pictures people look at, and the pages that hold them: one HTML file each, with everything inside.
//!
//! An experiment writes its pictures into its folder, says in a [`page::Page`] what is to be seen in them, and leaves
//! the rest to [`html::publish`].

mod axis;
mod canvas;
pub mod cayley;
mod colour;
pub mod curves;
pub mod distances;
pub mod filters;
mod grid;
pub mod html;
pub mod loss_curve;
pub mod number;
pub mod page;
mod panel;
mod phase;
mod picture;
pub mod pictures;
mod table;
pub mod tiles;
mod trace;
