//! Models of groups that are known by name, without data: exact characters where the group commutes and acts regularly, couplings
//! otherwise.

use super::file::ModelBytes;
use crate::group::identify::characters;
use crate::group::{Action, couplings_of, group_name, known_action};
use crate::{Error, Result};

/// A model and the permutations it is of.
#[derive(Debug, Clone)]
pub struct KnownModel {
    /// As a device reads it.
    pub model: ModelBytes,
    /// How the group moves the inputs.
    pub action: Action,
}

/// The model of the group called `group` on so many inputs, those of [`known_action`], called `name`.
///
/// ```
/// use bispectral_learn::model::known::known_model;
///
/// let known = known_model("D4", Some(9), "squares")?;
/// let x = [3.0, 1.0, 0.0, -1.0, 2.0, 0.5, 0.0, 0.0, -2.0];
/// let quarter = known.action.elements()[1].moved(&x);
/// let view = known.model.view();
/// let pairs = view.invariants_vec(&x)?.into_iter().zip(view.invariants_vec(&quarter)?);
/// assert!(pairs.into_iter().all(|(a, b)| (a - b).norm() < 1e-6));
/// assert_eq!(view.group(), Some("D4"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// One line: there is no such group, no such action is known, or the model is too large.
pub fn known_model(group: &str, inputs: Option<usize>, name: &str) -> Result<KnownModel> {
    let action = known_action(group, inputs)?;
    let model = match characters(&action) {
        Some(found) => {
            let group = found.group.to_string();
            ModelBytes::of(&found.exact().view(), name, Some(&group))
                .map_err(|error| Error::new("group", error.to_string(), "take a smaller one"))?
        }
        None => {
            let group = group_name(&action.table()).name;
            ModelBytes::of_couplings(&couplings_of(&action, 0)?, name, Some(&group))?
        }
    };
    Ok(KnownModel { model, action })
}
