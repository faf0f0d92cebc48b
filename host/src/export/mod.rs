//! Models and results on their way out, whole or not at all.

pub mod bsn;
pub mod c;
pub mod combined;
pub mod conjugates;
pub mod cost;
pub mod cyclic;
pub mod emit;
pub mod fit;
pub mod form;
pub mod halves;
pub mod instructions;
pub mod integers;
mod new_file;
pub mod npy;
pub mod rust;
pub(crate) mod sealed;

pub use new_file::NewFile;
