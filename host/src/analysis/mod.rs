//! What a model does to signals it was not trained on, always computed by `bispectral-core` from the exported bytes.

pub mod evaluation;
