//! What a model does to signals it was not trained on, always computed by `bispectral-core` from the exported bytes; and
//! what W was found to be.

pub mod attack;
pub mod certification;
pub mod choice;
pub mod descent;
pub mod equivariance;
pub mod evaluation;
pub mod fit;
pub mod form_error;
pub mod form_inversion;
pub mod inversion;
pub mod irreps;
pub mod known_groups;
pub mod orbit;
pub mod orbit_distance;
pub mod representation;
pub mod separation;
pub mod trial;
