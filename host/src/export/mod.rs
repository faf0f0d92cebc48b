//! Models and results on their way out, whole or not at all.

pub mod bsn;
pub mod c;
pub mod combined;
pub mod emit;
pub mod halves;
pub mod integers;
mod new_file;
pub mod npy;
pub mod rust;

pub use new_file::NewFile;
