//! Models: `.bsn` files, the forms and encodings one model can take, what each costs, and source code of them.

pub mod c;
pub mod combined;
pub mod conjugates;
pub mod cost;
pub mod cyclic;
pub mod emit;
pub mod file;
pub mod form;
pub mod halves;
pub mod instructions;
pub mod integers;
pub mod rust;
