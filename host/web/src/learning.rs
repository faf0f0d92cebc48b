//! Learning, a step at a time: the characters or permutations behind orbits by [`Trainer`], or a group that acts linearly, of which
//! there may be infinitely many elements, by [`Compact`] from more and more orbits.

use bispectral_core::Complex32;
use bispectral_learn::analysis::certification::invariants_of;
use bispectral_learn::analysis::evaluation::evaluate;
use bispectral_learn::data::group::Group;
use bispectral_learn::data::orbits::Orbits;
use bispectral_learn::data::representation::{Representation, orthogonal};
use bispectral_learn::group::compact::{Compact, Moments, NoGroup};
use bispectral_learn::group::{LearnedTable, known_action};
use bispectral_learn::learn::phase::{LossName, Phase};
use bispectral_learn::learn::{Options, Trainer};
use bispectral_learn::model::file::ModelBytes;
use bispectral_learn::{Error, Result};
use bispectral_report::{Page, Section, render};
use bispectral_run::{figures, learned};
use ndarray::{Array2, Axis};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Orbits of random functions at most, and elements of their group: a page is not for more.
const MOST_EXEMPLARS: usize = 500;
const LARGEST_GROUP: usize = 256;
/// Elements at most of a group that does not commute: its couplings take a moment.
const LARGEST_OTHER: usize = 24;
/// Rows whose table is shown while they are learned.
const LARGEST_TABLE: usize = 64;
/// Orbits of a group that acts linearly, members of each, and orbits that a step adds.
const LINEAR_ORBITS: usize = 200;
const LINEAR_MEMBERS: usize = 60;
const LINEAR_STEP: usize = 40;

/// What is to be learned.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Task {
    /// Random functions on this group, or
    #[serde(default)]
    group: Option<String>,
    /// samples, one a row, and
    #[serde(default)]
    samples: Vec<Vec<f32>>,
    /// the orbit of each.
    #[serde(default)]
    labels: Vec<i64>,
    /// Orbits of random functions.
    #[serde(default)]
    exemplars: usize,
    #[serde(default)]
    seed: u64,
    /// By gradients alone, as in the paper, so that the rows are seen to become waves.
    #[serde(default)]
    gradients: bool,
}

/// A table of products, and how sure each is.
#[derive(Debug, Serialize)]
struct Table {
    products: Vec<Vec<u16>>,
    confidences: Vec<f32>,
}

impl Table {
    /// Of rows of W; none where they are too many to be shown.
    fn of_rows(w: &Array2<Complex32>) -> Option<Self> {
        if w.nrows() > LARGEST_TABLE {
            return None;
        }
        let table = LearnedTable::of(&w.view()).ok()?;
        Some(Table {
            products: table.table().rows().map(<[u16]>::to_vec).collect(),
            confidences: table.confidences().to_vec(),
        })
    }
}

/// Learning under way.
pub(crate) enum Learning {
    Trainer {
        trainer: Box<Trainer>,
        metrics: String,
    },
    Linear(Box<Linear>),
}

/// A group that acts linearly, from its orbits' moments.
pub(crate) struct Linear {
    representation: Representation,
    orbits: Orbits,
    moments: Moments,
    seen: usize,
    seed: u64,
    found: std::result::Result<Compact, NoGroup>,
}

/// What learning came to.
pub(crate) struct Finished {
    pub(crate) model: Vec<u8>,
    pub(crate) weights: Array2<Complex32>,
    /// The group or why there is none, and what the model does.
    pub(crate) found: Value,
    /// The page that `bispectral report` makes of a run.
    pub(crate) report: String,
}

pub(crate) fn refused(what: impl Into<String>, remedy: &str) -> Error {
    Error::new("the page", what, remedy)
}

fn failed(error: impl ToString) -> Error {
    refused(error.to_string(), "change the data, or begin again")
}

/// A group small enough for a page.
pub(crate) fn commutative(name: &str) -> Result<Group> {
    let group: Group = name.parse()?;
    let order = group.order();
    check_order(name, order, LARGEST_GROUP)?;
    Ok(group)
}

fn check_order(name: &str, order: usize, most: usize) -> Result<()> {
    if order > most {
        let found = format!("{name} has {order} elements");
        return Err(refused(found, &format!("take a group of at most {most}")));
    }
    Ok(())
}

/// A group with infinitely many elements, and how it acts here.
fn linear(name: &str) -> Option<Representation> {
    match name {
        "SO(2)" => Some(Representation::so2(&[0, 1, 2, 3])),
        "O(2)" => Some(Representation::o2(&[0, 1, 2, 3])),
        "SO(3)" => Some(Representation::so3(&[0, 1, 2])),
        _ => None,
    }
}

/// Random functions on a group that need not commute, each moved by all of its elements.
fn functions(name: &str, exemplars: usize, seed: u64) -> Result<Orbits> {
    let action = known_action(name, None)?;
    check_order(name, action.order(), LARGEST_OTHER)?;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut orbits = Vec::new();
    for _ in 0..exemplars {
        let value = |_| (0..4).map(|_| random.random::<f32>() - 0.5).sum::<f32>();
        let function: Vec<f32> = (0..action.degree()).map(value).collect();
        let members = action.elements().iter().map(|g| g.moved(&function));
        orbits.push(members.collect::<Vec<_>>());
    }
    Ok(Orbits::from_members(&orbits)?)
}

impl Task {
    /// At its first step.
    pub(crate) fn begin(self) -> Result<Learning> {
        let representation = self
            .group
            .as_deref()
            .and_then(|name| Some((name, linear(name)?)));
        if let Some((_, representation)) = representation {
            return Linear::new(representation, self.seed).map(|l| Learning::Linear(Box::new(l)));
        }
        let exemplars = self.exemplars.clamp(1, MOST_EXEMPLARS);
        let mut gradients = self.gradients;
        let orbits = match &self.group {
            Some(name) if name.parse::<Group>().is_ok() => {
                Orbits::of_group(&commutative(name)?, exemplars, self.seed)
            }
            Some(name) => {
                // No W has the bispectrum of a group that does not commute: it takes couplings, which are found in closed form.
                gradients = false;
                functions(name, exemplars, self.seed)?
            }
            None => {
                if self.labels.len() != self.samples.len() {
                    let (labels, samples) = (self.labels.len(), self.samples.len());
                    let found = format!("{labels} labels for {samples} samples");
                    return Err(refused(found, "give every sample the label of its orbit"));
                }
                Orbits::from_samples(self.labels.into_iter().zip(self.samples))?
            }
        };
        let mut options = Options {
            name: self.group.unwrap_or_default(),
            seed: self.seed,
            ..Options::default()
        };
        if gradients {
            let phases = [LossName::SecondOrder, LossName::OrbitSeparation];
            options.phases = phases.map(Phase::new).to_vec();
        }
        let trainer = Trainer::new(&orbits, &options).map_err(failed)?;
        let (trainer, metrics) = (Box::new(trainer), String::new());
        Ok(Learning::Trainer { trainer, metrics })
    }
}

impl Learning {
    /// What is learned from.
    pub(crate) fn orbits(&self) -> &Orbits {
        match self {
            Learning::Trainer { trainer, .. } => trainer.training(),
            Learning::Linear(linear) => &linear.orbits,
        }
    }

    /// So many steps; how far it is.
    pub(crate) fn train(&mut self, steps: usize) -> Result<Value> {
        let (trainer, metrics) = match self {
            Learning::Linear(linear) => return linear.train(steps),
            Learning::Trainer { trainer, metrics } => (trainer, metrics),
        };
        let (mut last, mut done) = (None, false);
        for _ in 0..steps {
            last = trainer.step().map_err(failed)?;
            let Some(step) = &last else {
                done = true;
                break;
            };
            *metrics += &serde_json::to_string(step).map_err(failed)?;
            metrics.push('\n');
        }
        let w = trainer.weights();
        let table = Table::of_rows(&w);
        let phase = trainer.phase().map(|(_, phase)| phase.loss);
        Ok(json!({
            "done": done, "steps": trainer.steps_taken(), "attempts": trainer.attempts(), "phase": phase, "last": last,
            "table": table,
        }))
    }

    /// W of now; no row where nothing was found yet.
    pub(crate) fn weights(&self) -> Array2<Complex32> {
        match self {
            Learning::Trainer { trainer, .. } => trainer.weights(),
            Learning::Linear(linear) => linear.basis(),
        }
    }

    /// Takes the steps that are left.
    pub(crate) fn finish(self) -> Result<Finished> {
        let (trainer, metrics) = match self {
            Learning::Linear(linear) => return linear.finish(),
            Learning::Trainer { trainer, metrics } => (trainer, metrics),
        };
        let name = trainer.options().name.clone();
        let learned = trainer.finish().map_err(failed)?;
        let of = if name.is_empty() {
            "your samples".into()
        } else {
            format!("functions on {name}")
        };
        let title = format!("What moves {of}");
        let (inputs, metrics) = (learned.weights().ncols(), metrics.as_str());
        let page = learned::page(&title, &learned, (1, inputs), metrics);
        let coupled = learned
            .group()
            .is_some_and(|group| group.permutations.is_some());
        // In the order of the characters that the rows are, the group is seen in the colours.
        let weights = match learned.identification() {
            Ok(found) if found.characters.len() == learned.weights().nrows() => {
                let mut order: Vec<usize> = (0..found.characters.len()).collect();
                order.sort_by_key(|&row| found.characters[row]);
                learned.weights().select(Axis(0), &order)
            }
            _ => learned.weights().to_owned(),
        };
        let table = match learned.action().filter(|_| coupled) {
            Some(action) if action.order() <= LARGEST_TABLE => Some(Table {
                products: action.table().rows().map(<[u16]>::to_vec).collect(),
                confidences: vec![1.0; action.order() * action.order()],
            }),
            Some(_) => None,
            None => Table::of_rows(&weights),
        };
        let reason = learned
            .identification()
            .err()
            .filter(|_| learned.group().is_none());
        let found = json!({
            "group": learned.group(), "reason": reason.map(ToString::to_string), "steps": learned.steps(),
            "evaluation": learned.evaluation(), "table": table, "coupled": coupled,
        });
        Ok(Finished {
            model: learned.model().bytes().to_vec(),
            weights,
            found,
            report: render(&page).html,
        })
    }
}

impl Linear {
    fn new(representation: Representation, seed: u64) -> Result<Self> {
        let mixing = orthogonal(representation.dimension(), seed);
        let orbits = representation.orbits(LINEAR_ORBITS, LINEAR_MEMBERS, &mixing, seed)?;
        Ok(Linear {
            moments: Moments::new(orbits.inputs()).map_err(failed)?,
            representation,
            orbits,
            seen: 0,
            seed,
            found: Err(NoGroup::TooFew),
        })
    }

    /// A step adds orbits, and looks again.
    fn train(&mut self, steps: usize) -> Result<Value> {
        for _ in 0..steps {
            let until = (self.seen + LINEAR_STEP).min(self.orbits.len());
            for orbit in self.seen..until {
                let (members, inputs) = (self.orbits.members(orbit), self.orbits.inputs());
                let mut samples = Array2::zeros((members, inputs));
                for (member, mut row) in samples.rows_mut().into_iter().enumerate() {
                    let row = row.as_slice_mut().expect("rows are in one piece");
                    self.orbits.write_member(orbit, member, row);
                }
                let labels = vec![orbit as i64; members];
                self.moments.add(samples.view(), &labels).map_err(failed)?;
            }
            if until > self.seen {
                self.found = Compact::of(&self.moments, self.seed);
            }
            self.seen = until;
        }
        let found = self.found.as_ref();
        Ok(json!({
            "done": self.seen == self.orbits.len(), "steps": self.seen / LINEAR_STEP, "attempts": 1, "orbits": self.seen,
            "blocks": found.ok().map(Compact::dimensions),
            "name": found.map_or_else(ToString::to_string, |found| found.name().to_string()),
        }))
    }

    fn basis(&self) -> Array2<Complex32> {
        let none = || Array2::zeros((0, self.orbits.inputs()));
        let real = |&w: &f64| Complex32::new(w as f32, 0.0);
        let basis = self
            .found
            .as_ref()
            .map(|found| found.couplings().basis().map(real));
        basis.unwrap_or_else(|_| none())
    }

    fn finish(mut self) -> Result<Finished> {
        while self.seen < self.orbits.len() {
            self.train(1)?;
        }
        let weights = self.basis();
        let found = self.found.map_err(failed)?;
        let name = found.name().to_string();
        let couplings = invariants_of(&found, self.seed)?;
        let model = ModelBytes::of_couplings(&couplings, "", Some(&name))?;
        // Orbits behind the same mixing that were not learned from.
        let mixing = orthogonal(self.representation.dimension(), self.seed);
        let held_out = (self.representation).orbits(20, 20, &mixing, self.seed.wrapping_add(1))?;
        let evaluation = evaluate(&model.view(), &held_out)?;
        let blocks = found.dimensions();
        let words: Vec<String> = blocks.iter().map(ToString::to_string).collect();
        let order: Vec<usize> = (0..weights.nrows()).collect();
        let (inputs, forms) = (weights.ncols(), found.forms().len());
        let page = Page::new(
            format!("What moves them is {name}"),
            format!(
                "Learned from {} orbits of {inputs} numbers each, behind a hidden mixing.",
                self.orbits.len()
            ),
        )
        .section(Section::new("Results").facts([
            ("group", name.clone()),
            ("dimensions of its blocks", words.join(", ")),
            ("invariant forms of blocks", forms.to_string()),
            (
                "mean squared distance within orbits that were held out",
                format!("{:.1e}", evaluation.within),
            ),
            ("between them", format!("{:.2}", evaluation.between)),
        ]))
        .section(Section::new("The basis").block(figures::filters(
            "basis",
            weights.view(),
            (1, inputs),
            &order,
            "from the first input to the last",
            figures::Rows::Bases,
        )));
        let found = json!({
            "group": { "name": name }, "reason": null, "steps": self.seen / LINEAR_STEP, "evaluation": evaluation,
            "blocks": blocks,
        });
        Ok(Finished {
            model: model.bytes().to_vec(),
            weights,
            found,
            report: render(&page).html,
        })
    }
}
