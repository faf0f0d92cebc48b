//! Models of groups that are known by name, without data: exact characters where the group commutes and acts regularly, couplings
//! otherwise.

use crate::analysis::certification::{Confusion, certified};
use crate::group::identify::characters;
use crate::group::{Action, fourth_order, group_name, known_action};
use crate::model::file::ModelBytes;
use crate::{Error, Result};

/// A model and the permutations it is of.
#[derive(Debug, Clone)]
pub struct KnownModel {
    /// As a device reads it.
    pub model: ModelBytes,
    /// How the group moves the inputs.
    pub action: Action,
    /// Whether two signals were found that no invariant of up to fourth order tells apart.
    pub incomplete: bool,
    /// These two.
    pub confused: Option<Confusion>,
    /// Invariants of fourth order that were needed, since those of third do not tell all orbits apart.
    pub fourth: usize,
}

/// Signals on which the selective set is tried.
const TRIALS: usize = 100;

/// The model of the group called `group` on so many inputs, those of [`known_action`], called `name`.
///
/// ```
/// use bispectral_learn::learn::known::known_model;
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
    let (model, confused, fourth) = match characters(&action) {
        Some(found) => {
            let group = found.group.to_string();
            let model = ModelBytes::of(&found.exact().view(), name, Some(&group));
            let too_large = |error: bispectral_core::Error| {
                Error::new("group", error.to_string(), "take a smaller one")
            };
            (model.map_err(too_large)?, None, 0)
        }
        None => {
            let group = group_name(&action.table()).name;
            let found = certified(&action, TRIALS, 0)?;
            let model = ModelBytes::of_couplings(&found.couplings, name, Some(&group))?;
            (model, found.confused, found.fourth)
        }
    };
    Ok(KnownModel {
        model,
        action,
        incomplete: confused.is_some(),
        confused,
        fourth,
    })
}

/// As [`known_model`], with invariants of orders one to four, which also tell signals apart whose third order vanishes: those
/// with odd harmonics only.
///
/// # Errors
/// As there, and where the group does not commute or has not one element for each input.
pub fn known_model_of_fourth_order(
    group: &str,
    inputs: Option<usize>,
    name: &str,
) -> Result<KnownModel> {
    let action = known_action(group, inputs)?;
    let Some(found) = characters(&action) else {
        return Err(Error::new(
            group,
            "all invariants of fourth order are listed only for commutative groups with one element for each input",
            "leave the order at three",
        ));
    };
    let couplings = fourth_order(&found).map_err(|_| {
        let what = "invariants of fourth order are listed for groups of 2 to 256 elements";
        Error::new(group, what, "take a smaller group")
    })?;
    let model = ModelBytes::of_couplings(&couplings, name, Some(&found.group.to_string()))?;
    Ok(KnownModel {
        model,
        action,
        incomplete: false,
        confused: None,
        fourth: 0,
    })
}
