//! Phase `moments`: a compact group that moves signals linearly, in any coordinates, from the second moments of orbits in closed
//! form ([`Compact`]). Its invariants are couplings: t = form(z / ‖z‖), z = U x; W stays as it is.
//!
//! The couplings become the model where W was not recognised, was not invariant by itself, and tells less on held-out orbits.

use super::phase::{LossName, Phase};
use super::recognition::SETTLED;
use super::trainer::{Trainer, UNRELATED};
use crate::analysis::certification::invariants_of;
use crate::analysis::evaluation::Evaluation;
use crate::group::compact::{Compact, Moments, MomentsError, Name, NoGroup};
use crate::model::file::ModelBytes;
use crate::network::Loss;
use std::fmt;

/// The most inputs: the time grows with their cube and more.
pub const MOST_INPUTS: usize = 64;
/// So many inputs take less than a second: whether the group is known exactly is looked at before any gradient.
const EARLY_INPUTS: usize = 32;
/// The share that forms may change along orbits there: samples are rounded to 2^-24.
const EXACT: f64 = 1e-9;
/// Orbits are told apart where the distance between them is so many times that within: unrelated signals have 1.
const LEAST_TOLD: f64 = 2.0;

/// Why moments show no group.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum NoMoments {
    /// There are no moments.
    Moments(MomentsError),
    /// They are not those of a group.
    Group(NoGroup),
}

impl fmt::Display for NoMoments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoMoments::Moments(error) => error.fmt(f),
            NoMoments::Group(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for NoMoments {}

/// Whether the invariants of `found` tell orbits apart, and better than those of `other`: more distance between orbits for that
/// within, and no fewer neighbours of the same orbit than chance would take away.
pub(super) fn tells_more(found: &Evaluation, other: &Evaluation) -> bool {
    let tells = |of: &Evaluation| of.between / of.within.max(f64::MIN_POSITIVE);
    // Two standard errors of a share, of which the largest is a half.
    let chance = 1.0 / (found.samples.max(1) as f64).sqrt();
    tells(found) > LEAST_TOLD
        && tells(found) > tells(other)
        && found.nearest >= other.nearest - chance
}

impl Trainer {
    /// The group behind the moments; the loss is the share of its forms that changes along orbits, and that of unrelated signals
    /// where there is none. There is neither gradient nor rate.
    pub(super) fn find_forms(&mut self) -> (Loss, f64, f64) {
        let change = match self.compact() {
            Some(Ok(found)) => {
                let sum: f64 = found.forms().iter().map(|form| form.lambda).sum();
                (1.0 - sum / found.forms().len().max(1) as f64).max(0.0)
            }
            _ => UNRELATED,
        };
        let loss = Loss {
            invariance: change,
            reconstruction: 0.0,
            total: change,
        };
        (loss, 0.0, 0.0)
    }

    /// What the moments came to, where they are a phase and W is to be learned as it comes: again in a run that goes on from a
    /// checkpoint, which has not kept it.
    fn compact(&mut self) -> Option<&Result<Compact, NoMoments>> {
        let moments = |phase: &Phase| phase.loss == LossName::Moments;
        let settled = self
            .kept
            .as_ref()
            .is_some_and(|kept| kept.invariance < SETTLED);
        if !self.options.polish
            || self.options.rows.is_some()
            || settled
            || !self.options.phases.iter().any(moments)
            || self.orbits.inputs() > MOST_INPUTS
        {
            return None;
        }
        let (orbits, seed) = (&self.orbits, self.options.seed);
        Some(self.compact.get_or_insert_with(|| {
            let moments = Moments::of(orbits).map_err(NoMoments::Moments)?;
            Compact::of(&moments, seed).map_err(NoMoments::Group)
        }))
    }

    /// Whether a group whose characters W cannot be moves orbits without any error: those of a finite commutative group are as
    /// many as its elements.
    pub(super) fn moved_exactly(&mut self) -> bool {
        let inputs = self.orbits.inputs();
        if inputs > EARLY_INPUTS {
            return false;
        }
        let Some(Ok(found)) = self.compact() else {
            return false;
        };
        let has_characters = match found.name() {
            Name::Commutative {
                rank: 0, orders, ..
            } => orders.iter().product::<i64>() >= inputs as i64,
            _ => false,
        };
        found.commutant().last > 1.0 - EXACT && !has_characters
    }

    /// The group that moves signals linearly, and the model of its couplings.
    pub(super) fn moved_linearly(&mut self) -> Option<(Compact, ModelBytes)> {
        let found = self.compact()?.as_ref().ok()?.clone();
        let inputs = self.held_out.inputs();
        let couplings = invariants_of(&found, self.options.seed).ok()?;
        let couplings = couplings.among(&self.support, inputs).ok()?;
        let (name, group) = (&self.options.name, found.name().to_string());
        let model = ModelBytes::of_couplings(&couplings, name, Some(&group)).ok()?;
        Some((found, model))
    }
}
