//! What a model does to signals it was not trained on, always computed by `bispectral-core` from the exported bytes; and
//! what W was found to be.

pub mod angular;
pub mod evaluation;
pub mod irreps;
pub mod motion;
pub mod orbit_distance;
pub mod recovery;
pub mod separation;
