//! Pages of words, tables and figures, each one HTML file that needs nothing else.
//!
//! A [`Page`] is data. It can be kept as JSON, and it becomes HTML by [`render`]; its figures are [`Drawing`]s, which
//! hold numbers and not markup, and become SVG: sharp at any size, light or dark as the reader's system is, with text
//! that can be selected and values that show where the mouse rests. No file is read or written here.
//!
//! A page may come from anyone. Every text is escaped and shown, no character of it is obeyed, every size is bounded,
//! and a drawing whose numbers make no sense is a sentence in its place.
//!
//! ```
//! use bispectral_report::{Cayley, Page, Section, render};
//!
//! let table = Cayley::new(&[0, 1, 1, 0], &[0, 1], None, "Z2");
//! let page = Page::new("A group", "Learned from examples alone.").section(
//!     Section::new("The group").figure("cayley", table, "A table of two colours", "Its products."),
//! );
//! let again = Page::from_json(&page.to_json())?;
//! let rendered = render(&again);
//! assert_eq!((rendered.figures, rendered.faults.len()), (1, 0));
//! assert!(rendered.html.contains("a = 1, b = 1: a·b = 0"));
//! # Ok::<(), bispectral_report::PageError>(())
//! ```

mod axis;
mod cayley;
mod cells;
mod chart;
mod colour;
mod confusion;
mod distances;
mod drawing;
mod filters;
#[cfg(test)]
mod fixture;
mod html;
mod losses;
pub mod number;
mod page;
mod phase;
mod printable;
mod svg;
mod tiles;

pub use axis::Scale;
pub use cayley::Cayley;
pub use chart::{Chart, Curve, Panel};
pub use confusion::Confusion;
pub use distances::Distances;
pub use drawing::{Drawing, DrawingError};
pub use filters::Filters;
pub use html::{EXPLORE, Fault, Rendered, render};
pub use losses::Losses;
pub use page::{Block, Column, Figure, MOST_BYTES, Page, PageError, Row, Section, Table};
pub use tiles::Tiles;
