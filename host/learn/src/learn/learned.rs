//! What was learned: W, the group behind it, and the model with what it does on orbits that were held out.

use super::diagnosis::Diagnosis;
use super::permutations::Permuted;
use super::recognition::NotRecognised;
use crate::analysis::evaluation::{Distances, Evaluation};
use crate::group::compact::{Compact, Name};
use crate::group::identify::Identification;
use crate::group::{Action, group_name};
use crate::model::file::ModelBytes;
use bispectral_core::Complex32;
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

/// What came of learning.
#[derive(Debug, Clone)]
pub struct Learned {
    pub(super) weights: Array2<Complex32>,
    pub(super) identification: Result<Identification, NotRecognised>,
    pub(super) group: Option<Recognised>,
    pub(super) permuted: Option<Permuted>,
    pub(super) model: ModelBytes,
    pub(super) diagnosis: Option<Diagnosis>,
    pub(super) evaluation: Evaluation,
    pub(super) distances: Distances,
    pub(super) steps: u64,
    pub(super) attempts: u32,
}

/// The group that learning arrived at. The model's W is its exact characters, unless that was not wanted; where no characters
/// express it, the model is of couplings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recognised {
    /// By its invariant factors where it commutes, else by a name that was proven by an isomorphism.
    pub name: String,
    /// How many permutations of the inputs it is, where the model is of couplings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permutations: Option<usize>,
    /// The irreps by which it moves signals linearly, where the model is of couplings and the group no permutations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub irreps: Vec<RecognisedIrrep>,
    /// Whether two signals were found, in different orbits, that no coupling of third order tells apart.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
    /// The smallest overlap of a learned row with its exact character.
    pub least_overlap: f64,
    /// The mean over all rows.
    pub mean_overlap: f64,
    /// How far the row furthest from its exact character was moved; its length is one.
    pub moved: f64,
    /// Rows that were learned; fewer than all where the others are products of these, since no signal excites them.
    pub known: usize,
}

/// An irrep of a group that moves signals linearly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecognisedIrrep {
    /// Its dimension over the real numbers.
    pub dimension: usize,
    /// How many blocks of rows it has.
    pub copies: usize,
    /// What tells it from others: an order for each angle and each finite factor of a commutative group, the order of O(2), the
    /// degree of SO(3). Empty where the group has no name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orders: Vec<i64>,
}

impl From<&Identification> for Recognised {
    fn from(found: &Identification) -> Self {
        let (least_overlap, mean_overlap) = found.overlap();
        Recognised {
            name: found.group.to_string(),
            permutations: None,
            irreps: Vec::new(),
            incomplete: false,
            least_overlap,
            mean_overlap,
            moved: found.moved().into_iter().fold(0.0, f64::max),
            known: found.known,
        }
    }
}

impl Recognised {
    /// Of a group that moves signals linearly.
    pub(super) fn of_compact(found: &Compact) -> Self {
        let name = found.name();
        let orders = |number: usize| match &name {
            Name::Commutative { characters, .. } => characters.get(number).cloned(),
            Name::Mirrors { orders } => orders.get(number).map(|&order| vec![order]),
            Name::Rotations { degrees } => degrees.get(number).map(|&degree| vec![degree as i64]),
            _ => None,
        };
        let irreps = found.irreps().iter().enumerate();
        let irreps = irreps.map(|(number, irrep)| RecognisedIrrep {
            dimension: irrep.dimension,
            copies: irrep.copies.len(),
            orders: orders(number).unwrap_or_default(),
        });
        Recognised {
            name: name.to_string(),
            permutations: None,
            irreps: irreps.collect(),
            incomplete: false,
            least_overlap: 1.0,
            mean_overlap: 1.0,
            moved: 0.0,
            known: found.couplings().rows(),
        }
    }

    /// Whether the model is of couplings.
    #[must_use]
    pub fn is_coupled(&self) -> bool {
        self.permutations.is_some() || !self.irreps.is_empty()
    }

    /// Of permutations, which are exact: rows and inputs are as they should be.
    pub(super) fn of_permutations(found: &Permuted, incomplete: bool) -> Self {
        Recognised {
            name: group_name(&found.action.table()).name,
            permutations: Some(found.action.order()),
            irreps: Vec::new(),
            incomplete,
            least_overlap: 1.0,
            mean_overlap: 1.0,
            moved: 0.0,
            known: found.action.degree(),
        }
    }
}

impl Learned {
    /// W as it was learned, for all inputs: zero where every sample is. The model may have exact characters instead. Where it
    /// is of couplings, U.
    #[must_use]
    pub fn weights(&self) -> ArrayView2<'_, Complex32> {
        self.weights.view()
    }

    /// The group whose characters the rows of W are, or whose irreps the blocks of couplings, where there is one.
    #[must_use]
    pub fn group(&self) -> Option<&Recognised> {
        self.group.as_ref()
    }

    /// The permutations of the inputs that the group is, where members were matched to find it.
    #[must_use]
    pub fn action(&self) -> Option<&Action> {
        self.permuted.as_ref().map(|found| &found.action)
    }

    /// Which row is which character of the group and which input stands at which element; or why there is no group.
    ///
    /// # Errors
    /// No group was recognised.
    pub fn identification(&self) -> Result<&Identification, &NotRecognised> {
        self.identification.as_ref()
    }

    /// What the data looks like and how known groups do on it, where none was recognised behind samples with labels. Where one
    /// of them is clearly better than the learned W, it is the model's.
    #[must_use]
    pub fn diagnosis(&self) -> Option<&Diagnosis> {
        self.diagnosis.as_ref()
    }

    /// The model, as a device reads it.
    #[must_use]
    pub fn model(&self) -> &ModelBytes {
        &self.model
    }

    /// What the model does on what was held out, computed by `bispectral-core`.
    #[must_use]
    pub fn evaluation(&self) -> &Evaluation {
        &self.evaluation
    }

    /// The distances between some of the samples that were held out.
    #[must_use]
    pub fn distances(&self) -> &Distances {
        &self.distances
    }

    /// Steps of all phases and attempts together.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// How often training began.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.attempts
    }
}
