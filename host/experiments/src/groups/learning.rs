//! Groups learned from orbits of random signals: exactly, or not; and how long that takes.

use super::samples::{ROUGH, SETTINGS, Set, Setting, binary, moved};
use bispectral_learn::Result;
use bispectral_learn::analysis::certification::{Certified, certified};
use bispectral_learn::analysis::choice::{self, Pairs};
use bispectral_learn::group::identify::characters;
use bispectral_learn::group::{Action, group_name, groups_of_order, known_action};
use bispectral_learn::learn::permutations::{NoPermutations, Permuted, permutations};
use bispectral_learn::model::cost::Cost;
use bispectral_learn::model::file::ModelBytes;
use bispectral_learn::model::form::Source;
use bispectral_run::console::Console;
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

/// Groups of all orders from two up to this are learned in their regular action; one element alone moves nothing.
const MOST_ORDER: usize = 31;
const QUICK_ORDER: usize = 8;

/// Other actions, and larger groups: name and inputs.
const ACTIONS: [(&str, usize); 19] = [
    ("D4", 64),
    ("D4", 784),
    ("Z4", 64),
    ("D6", 19),
    ("D5", 5),
    ("D8", 8),
    ("D12", 12),
    ("D16", 16),
    ("S4", 6),
    ("S4", 8),
    ("S4", 12),
    ("A4", 4),
    ("S4", 4),
    ("S3", 9),
    ("Q8", 24),
    ("S4", 72),
    ("D4", 192),
    ("A5", 60),
    ("Z16xZ16", 256),
];
const QUICK_ACTIONS: [(&str, usize); 4] = [("D4", 64), ("D6", 19), ("S4", 6), ("S4", 24)];

/// Learned among strangers and from much noise, too.
const ROUGHLY: [&str; 5] = ["D8", "S4", "A5", "Z16", "Q8"];
const QUICK_ROUGHLY: [&str; 1] = ["D8"];

/// What came of a group in one setting.
#[derive(Debug, Serialize)]
pub(super) struct Outcome {
    pub(super) setting: &'static str,
    pub(super) tried: usize,
    /// The group is exactly the one that moved the signals, permutation for permutation.
    pub(super) exact: usize,
    /// Another group was found.
    pub(super) wrong: usize,
    /// Of every seed.
    pub(super) seconds: Vec<f64>,
    /// Why the first that was missed was refused, or what was found instead.
    pub(super) missed: Option<String>,
}

/// A group and how it acts.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) group: String,
    pub(super) order: usize,
    pub(super) inputs: usize,
    pub(super) outcomes: Vec<Outcome>,
    /// Invariants of the selective set, and real multiply-adds of a signal with them.
    pub(super) selective: usize,
    pub(super) multiply_adds: f64,
}

/// A group, learned among members that do not belong to their orbit, and from much noise.
#[derive(Debug, Serialize)]
pub(super) struct Rough {
    pub(super) group: String,
    pub(super) outcomes: Vec<Outcome>,
}

/// Sets in which there is no group, or from which it cannot be told.
#[derive(Debug, Serialize)]
pub(super) struct Refused {
    pub(super) set: String,
    pub(super) tried: usize,
    /// A group was found that is not there.
    pub(super) wrong: usize,
    /// The group that is there was found.
    pub(super) exact: usize,
    /// What is said where it is refused.
    pub(super) says: Option<String>,
}

impl Outcome {
    pub(super) fn least_seconds(&self) -> f64 {
        self.seconds.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

fn is_same(found: &Permuted, action: &Action) -> bool {
    let elements = action.elements();
    found.action.order() == elements.len()
        && elements
            .iter()
            .all(|element| found.action.contains(element))
}

/// A name, and how many inputs where it is not as many as elements.
pub(super) fn cases(quick: bool) -> Vec<(String, Option<usize>)> {
    let most = if quick { QUICK_ORDER } else { MOST_ORDER };
    let actions: &[(&str, usize)] = if quick { &QUICK_ACTIONS } else { &ACTIONS };
    let regular = (2..=most).flat_map(groups_of_order);
    let regular = regular.map(|name| (name, None));
    let actions = actions
        .iter()
        .map(|(name, inputs)| ((*name).to_owned(), Some(*inputs)));
    regular.chain(actions).collect()
}

/// All groups and actions in all settings.
pub(super) fn learned(quick: bool, seeds: u64, seed: u64, console: &Console) -> Result<Vec<Row>> {
    let cases = cases(quick);
    let mut progress = console.progress("groups", cases.len());
    let mut rows = Vec::new();
    for (name, inputs) in cases {
        rows.push(row(&name, inputs, seeds, seed)?);
        progress.tell(rows.len(), |_| format!(", {name}"));
    }
    Ok(rows)
}

fn row(name: &str, inputs: Option<usize>, seeds: u64, seed: u64) -> Result<Row> {
    let action = known_action(name, inputs)?;
    let outcomes: Result<Vec<Outcome>> = SETTINGS
        .into_iter()
        .map(|setting| outcome(&action, setting, seeds, seed))
        .collect();
    let (selective, multiply_adds) = cost(&action)?;
    Ok(Row {
        group: name.to_owned(),
        order: action.order(),
        inputs: action.degree(),
        outcomes: outcomes?,
        selective,
        multiply_adds,
    })
}

/// Some groups among strangers, and from much noise.
pub(super) fn rough(quick: bool, seeds: u64, seed: u64, console: &Console) -> Result<Vec<Rough>> {
    console.say("members of no orbit, and much noise");
    let names: &[&str] = if quick { &QUICK_ROUGHLY } else { &ROUGHLY };
    let learned = |name: &&str| {
        let action = known_action(name, None)?;
        let outcomes: Result<Vec<Outcome>> = ROUGH
            .into_iter()
            .map(|setting| outcome(&action, setting, seeds, seed))
            .collect();
        Ok(Rough {
            group: (*name).to_owned(),
            outcomes: outcomes?,
        })
    };
    names.iter().map(learned).collect()
}

fn outcome(action: &Action, setting: Setting, seeds: u64, seed: u64) -> Result<Outcome> {
    let mut outcome = Outcome {
        setting: setting.name,
        tried: 0,
        exact: 0,
        wrong: 0,
        seconds: Vec::new(),
        missed: None,
    };
    for k in 0..seeds {
        let seed = seed.wrapping_add(k);
        let orbits = moved(action, setting, seed)?;
        let begun = Instant::now();
        let found = permutations(&orbits, seed);
        outcome.seconds.push(begun.elapsed().as_secs_f64());
        outcome.tried += 1;
        match found {
            Ok(found) if is_same(&found, action) => outcome.exact += 1,
            Ok(found) => {
                outcome.wrong += 1;
                let name = group_name(&found.action.table()).name;
                outcome.missed = Some(format!("seed {seed}: found {name}"));
            }
            Err(why) => {
                let line = || format!("seed {seed}: {why}");
                outcome.missed.get_or_insert_with(line);
            }
        }
    }
    Ok(outcome)
}

/// How many invariants the selective set has, and their real multiply-adds with the coefficients.
fn cost(action: &Action) -> Result<(usize, f64)> {
    let model = match characters(action) {
        Some(found) => {
            let bytes = ModelBytes::of(&found.exact().view(), "", None);
            bytes.map_err(|error| bispectral_learn::Error::new("model", error.to_string(), ""))?
        }
        None => {
            let Certified { couplings, .. } = certified(action, 0, 0)?;
            ModelBytes::of_couplings(&couplings, "", None)?
        }
    };
    let view = model.view();
    let source = Source::new(Path::new("model"), &view);
    let form = choice::form(
        &source,
        &view,
        None,
        (None, None, Some(Pairs::Selective(1))),
    )?;
    let bytes = source.form(&form, None)?;
    let few = bispectral_core::Model::from_bytes(&bytes)
        .map_err(|error| bispectral_learn::Error::model(Path::new("model"), error))?;
    // A complex product is four real ones.
    let work = Cost::of(&few, bytes.len()).complex_multiply_adds.total;
    Ok((few.pairs(), 4.0 * work))
}

/// Sets without a group of permutations, and binary images, whose values are mostly equal.
pub(super) fn refused(quick: bool, seed: u64, console: &Console) -> Result<Vec<Refused>> {
    console.say("sets that are no group");
    let count = if quick { 3 } else { 22 };
    let mut rows = Vec::new();
    for set in Set::ALL {
        let mut row = Refused::new(set.name().to_owned());
        for k in 0..count {
            let orbits = set.orbits(seed.wrapping_add(k))?;
            row.add(permutations(&orbits, seed), None);
        }
        rows.push(row);
    }
    let action = known_action("D4", Some(64))?;
    for density in [0.03, 0.05, 0.1, 0.2, 0.5] {
        let percent = 100.0 * density;
        let mut row = Refused::new(format!("binary 8×8 images under D4, {percent:.0} % set"));
        for k in 0..count {
            if let Some(orbits) = binary(&action, density, seed.wrapping_add(k))? {
                row.add(permutations(&orbits, seed), Some(&action));
            }
        }
        rows.push(row);
    }
    Ok(rows)
}

impl Refused {
    fn new(set: String) -> Self {
        Refused {
            set,
            tried: 0,
            wrong: 0,
            exact: 0,
            says: None,
        }
    }

    fn add(
        &mut self,
        found: std::result::Result<Permuted, NoPermutations>,
        there: Option<&Action>,
    ) {
        self.tried += 1;
        match (found, there) {
            (Ok(found), Some(action)) if is_same(&found, action) => self.exact += 1,
            (Ok(_), _) => self.wrong += 1,
            (Err(why), _) => self.says = Some(why.to_string()),
        }
    }
}
