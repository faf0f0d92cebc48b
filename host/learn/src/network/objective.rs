//! What is minimised: mean over pairs a < b of one orbit of d(β̄_a, β̄_b) + γ · mean over a of ‖x_a − W†W x_a‖².

use serde::{Deserialize, Serialize};

/// d, the distance between the invariants of two members of an orbit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distance {
    /// ‖β̄_a − β̄_b‖², as the paper prints it.
    #[default]
    Squared,
    /// ‖β̄_a − β̄_b‖, as the paper's published runs were trained.
    Euclidean,
}

/// What of the residual x − W†Wx counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reconstruction {
    /// The complex residual, as the paper prints it.
    #[default]
    Complex,
    /// Its real part, as the paper's published runs were trained.
    Real,
}

/// The orbit-separation loss in one of its variants; the default is the paper's printed equation with γ = 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Objective {
    /// d.
    pub distance: Distance,
    /// Whether the mean of β over its pairs is subtracted before β is normalised.
    pub centre: bool,
    /// What of the residual counts.
    pub reconstruction: Reconstruction,
    /// γ, the weight of the reconstruction.
    pub gamma: f64,
}

impl Default for Objective {
    fn default() -> Self {
        Objective {
            distance: Distance::Squared,
            centre: false,
            reconstruction: Reconstruction::Complex,
            gamma: 1.0,
        }
    }
}

/// The value of an objective on a batch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// What changes along orbits. Zero where no orbit of the batch has two members.
    pub invariance: f64,
    /// What keeps W from forgetting, without its weight: the reconstruction, or how far rows are from orthonormal.
    pub reconstruction: f64,
    /// Both, weighted.
    pub total: f64,
}
