//! Models: `.bsn` files, the forms and encodings one model can take, what each costs, and source code of them.

pub(crate) mod batch;
pub mod budget;
pub mod c;
mod characters;
pub mod combined;
pub mod conjugates;
pub mod cost;
pub mod couplings;
pub mod cyclic;
pub mod emit;
pub mod features;
pub mod file;
pub mod firmware;
pub mod form;
pub mod halves;
pub mod instructions;
pub mod integers;
pub mod rust;
mod transform;
