//! A group that moves signals linearly and permutes no inputs: SO(2), O(2), tori, SO(3), by the name that a model of couplings
//! has, with the blocks of its run.

use crate::train::irreps;
use bispectral_learn::Result;
use bispectral_learn::learn::{Recognised, RecognisedIrrep};
use bispectral_learn::model::file::ModelFile;
use bispectral_run::Record;
use bispectral_run::console;
use serde::Serialize;

/// What there is to say of such a group.
#[derive(Debug, Serialize)]
pub(super) struct Description {
    file: String,
    group: String,
    rows: usize,
    inputs: usize,
    invariants: usize,
    /// Where the folder of the run is known.
    irreps: Option<Vec<RecognisedIrrep>>,
    #[serde(skip)]
    blocks: Option<String>,
}

/// Whether this is the name of a group of infinitely many elements: SO(2), O(2), SO(3), T2, T3 …, and products with finite ones.
pub(super) fn is_linear(name: &str) -> bool {
    let first = name.split('x').next().unwrap_or(name);
    let torus = |rank: &str| rank.parse::<usize>().is_ok_and(|rank| rank > 1);
    matches!(first, "SO(2)" | "O(2)" | "SO(3)")
        || first.strip_prefix('T').is_some_and(torus)
        || name.starts_with("a compact group")
        || name.starts_with("a finite group")
}

/// Describes the group of a model of couplings; `None` where it moves signals by permutations.
pub(super) fn describe(file: &ModelFile) -> Result<Option<Description>> {
    let model = file.model()?;
    let of_run = file.path().parent().map(Record::read);
    let of_run = of_run
        .and_then(Result::ok)
        .and_then(|run| run.results.group);
    let same =
        |group: &Recognised| Some(group.name.as_str()) == model.group() && !group.irreps.is_empty();
    let of_run = of_run.filter(same);
    let name = model.group().unwrap_or_default();
    if of_run.is_none() && !is_linear(name) {
        return Ok(None);
    }
    Ok(Some(Description {
        file: file.path().display().to_string(),
        group: name.to_owned(),
        rows: model.rows(),
        inputs: model.inputs(),
        invariants: model.pairs(),
        blocks: of_run.as_ref().map(irreps),
        irreps: of_run.map(|group| group.irreps),
    }))
}

impl Description {
    pub(super) fn group(&self) -> &str {
        &self.group
    }

    pub(super) fn words(&self) -> String {
        format!(
            "model        {}: couplings, {} rows, {} inputs, {} invariants\n\
             group        {}, which moves signals linearly\n\
             irreps       {}",
            console::name(&self.file),
            self.rows,
            self.inputs,
            self.invariants,
            console::name(&self.group),
            (self.blocks.as_deref()).unwrap_or("in the folder of its run: name that instead"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::is_linear;

    #[test]
    fn finite_groups_are_not_taken_for_continuous_ones() {
        for name in ["SO(2)", "O(2)", "SO(3)", "T2", "T3xZ2", "SO(2)xZ2"] {
            assert!(is_linear(name), "{name}");
        }
        for name in ["Z8", "S3", "O", "T", "T1", "D4xZ2", "SL(2,3)", "Z7:Z3"] {
            assert!(!is_linear(name), "{name}");
        }
    }
}
