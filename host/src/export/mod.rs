//! Models and results on their way out, whole or not at all.

pub mod bsn;
mod new_file;
pub mod npy;
pub(crate) mod sealed;

pub use new_file::NewFile;
