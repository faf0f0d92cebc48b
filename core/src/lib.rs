//! Bispectral invariants on a microcontroller.
//!
//! A *bispectral network* is one complex matrix W, learned on a host from signals that are "the same, moved somehow".
//! From a signal x this crate computes
//!
//! > β_ij(x) = (W_i x) (W_j x) conj((W_i ⊙ W_j) x),  β̄ = β / ‖β‖₂,
//!
//! which does not change when x is moved, and changes with everything else about x.
//!
//! No `std`, no heap, no `unsafe`, no panic: W stays in flash, the buffers are the caller's and the results have the
//! same bits on every processor.
//!
//! ```
//! use bispectral_core::{Complex32, Model, include_model};
//!
//! // Four samples of one turn of a shaft; it may start anywhere. The sizes are read from the model when this is built.
//! include_model!(mod turn = concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
//!
//! let model = Model::from_bytes(turn::MODEL)?;
//! let mut scratch = [0.0; turn::SCRATCH];
//! let mut features = [Complex32::ZERO; turn::PAIRS];
//! model.invariants(&[0.1, 0.9, 0.3, -0.2], &mut scratch, &mut features)?;
//! # Ok::<(), bispectral_core::Error>(())
//! ```
//!
//! | on the device there is room for | use |
//! | --- | --- |
//! | all R(R+1)/2 terms | [`Model::invariants`], or [`Extractor`], which owns its buffers |
//! | a few kilobytes | [`Model::stream`], which hands out one term at a time |
//! | the classes only | [`Model::classify`], which feeds a classifier with the terms as they come |
//! | no parser, the model being known | [`StaticModel`], which `bispectral export --emit rust` writes: checked before the program is built |
//! | a stream of samples | [`Sliding`], whose window moves sample by sample without a transform |
//!
//! Models whose output form is [degree one](format::Output::DegreeOne) give magnitudes and weighted phases instead of β̄, in
//! which distances mean more; [`Model::features`] gives the features of every model as real numbers.
//!
//! What a model stores and how it computes is the exporter's choice, and the same calls serve all: weights of f32, f16 or
//! i8, all pairs or some, and a [structure](format::Structure) from any W to the characters of a group, which need no W
//! and a hundredth of the instructions. The bits of a result depend on the model's bytes and the signal only.
//!
//! # Features
//! One a kind of models, all on by default, so that a program pays in flash for what it uses: the structures `dense`,
//! `conjugates`, `combined`, `cyclic`, `fft` and `couplings`; the encodings `f32`, `f16` and `i8` of their weights (`cyclic` and `fft` need
//! none); `i32`, cyclic models in whole numbers, for processors without floats; `degree-one`, the features of that form; and `head`, a
//! classifier. `unaligned` takes f32 and f16 from any address, not only from where [`include_model!`] puts them. `sliding` has [`Sliding`]. A model of a kind that is off is refused with [`Error::NeedsFeature`], and
//! `bispectral inspect` prints the line for Cargo.toml:
//!
//! ```toml
//! bispectral-core = { version = "0.1", default-features = false, features = ["fft"] }
//! ```
//!
//! None of these is on by default, and all are additive: `std` (results as `Vec`), `defmt` (`Format` for the public types),
//! `serde` (`Serialize` and `Deserialize` for errors and magnitudes, and for the elements of results).

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "std")]
extern crate std;

mod bispectrum;
mod combined;
mod conjugates;
mod couplings;
mod cyclic;
mod degree_one;
mod error;
mod extractor;
mod feature;
mod flash;
mod fold;
pub mod format;
mod half;
mod head;
mod inference;
mod integer;
mod kernel;
mod magnitude;
mod model;
mod pairs;
mod sample;
mod scaling;
mod significance;
mod sizes;
#[cfg(feature = "sliding")]
mod sliding;
mod static_model;
mod weights;

pub use cyclic::cyclic_scratch_len;
pub use error::{Error, Part};
pub use extractor::Extractor;
pub use feature::{Feature, LISTED_PAIRS};
pub use flash::Aligned;
pub use magnitude::Magnitude;
pub use model::{Model, scratch_len};
pub use num_complex::{self, Complex32};
pub use pairs::{pair_count, pair_index, pairs};
pub use sample::Sample;
pub use sizes::Sizes;
#[cfg(feature = "sliding")]
pub use sliding::Sliding;
pub use static_model::StaticModel;
