//! `bispectral reproduce translation`: the paper's first experiment, natural patches under cyclic translation.

mod page;

use super::Place;
use crate::analysis::irreps::{self, Irreps};
use crate::cli::along::{self, Along};
use crate::cli::console::Console;
use crate::cli::train::follow;
use crate::data::group::Group;
use crate::data::orbits::Orbits;
use crate::data::weights;
use crate::export::bsn::ModelFile;
use crate::group::Learned;
use crate::report;
use crate::train::config::{Config, Data, SplitName};
use crate::train::phase::{LossName, Phase};
use crate::train::run::{Outcome, Results as Trained, Run, WEIGHTS};
use crate::train::source;
use crate::{Error, Result};
use clap::Args;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

/// Learn the translations of natural patches, and name their group
///
/// Three runs on patches of photographs under all cyclic translations: on whole orbits; on 80 % of each orbit with 5 %
/// noise; and by gradients of the second-order loss alone. What each learned, before anything is made exact, is
/// compared with the true irreps. Figures: filters, Cayley table, z and the invariants along a translation, distances
/// within and between orbits; all of it in report.html.
#[derive(Debug, Args)]
pub(super) struct Translation {
    #[command(flatten)]
    place: Place,
    /// Photographs to cut patches from: a folder of .png or .iml [default: those that come with the program]
    #[arg(long, value_name = "DIR")]
    images: Option<PathBuf>,
    /// Compare with another W, such as the authors' published one
    #[arg(long, value_name = "W.npy")]
    published: Option<PathBuf>,
}

/// One way to learn.
struct Case {
    name: &'static str,
    what: &'static str,
    change: fn(&mut Config),
}

const CASES: [Case; 3] = [
    Case {
        name: "whole",
        what: "whole orbits",
        change: |config| {
            // Four fifths of them, a hundred, are trained on.
            config.data.exemplars = 125;
            config.split = Some(SplitName::Exemplars);
        },
    },
    Case {
        name: "partial",
        what: "80 % of each orbit, 5 % noise",
        change: |config| {
            config.split = Some(SplitName::Transforms);
            config.data.noise = 0.05;
        },
    },
    Case {
        name: "gradient",
        what: "whole orbits, second-order gradients alone",
        change: |config| {
            config.data.exemplars = 125;
            config.split = Some(SplitName::Exemplars);
            config.phases = vec![Phase::new(LossName::SecondOrder)];
            config.restarts = Some(0);
            config.polish = false;
        },
    },
];

/// What a case came to.
#[derive(Debug, Serialize)]
struct Row {
    case: &'static str,
    what: &'static str,
    /// From the photographs to the named group and its exported, evaluated model.
    seconds: f64,
    irreps: Irreps,
    #[serde(flatten)]
    trained: Trained,
}

#[derive(Debug, Serialize)]
struct Results {
    experiment: &'static str,
    seed: u64,
    size: usize,
    rows: Vec<Row>,
    published: Option<Irreps>,
    along: Along,
}

/// The model learned from whole orbits alone, in a folder of its own; and pixels of a patch's side.
pub(super) fn whole_orbits(place: Place, seed: u64, console: &Console) -> Result<(PathBuf, usize)> {
    let size = if place.quick { 8 } else { 16 };
    let experiment = Translation {
        place,
        images: None,
        published: None,
    };
    let (row, _) = experiment.learn(&CASES[0], seed, size, console)?;
    Ok((row.trained.model, size))
}

impl Translation {
    pub(super) fn run(&self, seed: u64, console: &Console) -> Result<()> {
        self.place.check()?;
        let size = if self.place.quick { 8 } else { 16 };
        let group = Group::new([size, size])?;
        let published = self.published.as_deref().map(weights::read).transpose()?;
        if let Some(w) = &published
            && w.ncols() != group.order()
        {
            return Err(Error::new(
                "--published",
                format!("W has {} inputs, the patches {}", w.ncols(), group.order()),
                "give one for patches of that size",
            ));
        }
        let mut rows = Vec::new();
        let mut along = None;
        for case in &CASES {
            let (row, held_out) = self.learn(case, seed, size, console)?;
            if case.name == CASES[0].name {
                self.pictures(&row, size)?;
                along = Some(self.follow(&row, &held_out, size)?);
            }
            rows.push(row);
        }
        let results = Results {
            experiment: "translation",
            seed,
            size,
            rows,
            published: published.map(|w| irreps::compare(&w.view(), &group)),
            along: along.expect("the first case was among them"),
        };
        let (words, page) = (results.words(), self.page(&results));
        let verdict = results.check(&self.place);
        self.place
            .conclude(console, &results, [&words, &words], &page, verdict)
    }

    fn learn(
        &self,
        case: &Case,
        seed: u64,
        size: usize,
        console: &Console,
    ) -> Result<(Row, Orbits)> {
        let mut config = Config {
            seed,
            data: Data {
                images: Some(self.images.clone().unwrap_or_else(|| "natural".into())),
                size,
                ..Data::default()
            },
            ..Config::default()
        };
        (case.change)(&mut config);
        if self.place.quick {
            source::complete(&mut config)?;
            let phases = config.phases.iter_mut();
            phases.for_each(|phase| phase.steps = phase.steps.min(1000));
            config.restarts = Some(0);
        }
        let begun = Instant::now();
        let folder = self.place.path(case.name);
        let mut run = Run::create(config, &folder, true)?;
        console.say(&format!("learning from {}", case.what));
        let Outcome::Finished(trained) = follow(&mut run, console)? else {
            return Err(Error::file(&folder, "stopped", "begin again"));
        };
        let seconds = begun.elapsed().as_secs_f64();
        let w = weights::read(&folder.join(WEIGHTS))?;
        let row = Row {
            case: case.name,
            what: case.what,
            seconds,
            irreps: irreps::compare(&w.view(), &Group::new([size, size])?),
            trained,
        };
        Ok((row, run.held_out().clone()))
    }

    /// The learned W by frequency, and its table.
    fn pictures(&self, row: &Row, size: usize) -> Result<()> {
        let w = weights::read(&self.place.path(row.case).join(WEIGHTS))?;
        let mut order: Vec<usize> = (0..w.nrows()).collect();
        order.sort_by_key(|&row_of_w| row.irreps.nearest[row_of_w]);
        let filters = report::filters::png(w.view(), (size, size), &order)?;
        self.place.write("filters.png", &filters)?;
        let learned = Learned::of(&w.view())?;
        let name = row
            .trained
            .group
            .as_ref()
            .map_or("no group", |group| &group.name);
        let cayley = report::cayley::png(
            learned.table().products(),
            &order,
            Some(learned.confidences()),
            &format!("{name}, learned from {}", row.what),
        )?;
        self.place.write("cayley.png", &cayley)
    }

    /// Shifts a patch that was not trained on.
    fn follow(&self, row: &Row, held_out: &Orbits, size: usize) -> Result<Along> {
        let file = ModelFile::read(&row.trained.model)?;
        let nearest = &row.irreps.nearest;
        let (along, picture) = along::follow(&file.model()?, held_out, nearest, size)?;
        self.place.write("along.png", &picture)?;
        Ok(along)
    }
}

impl Results {
    fn words(&self) -> String {
        let mut text = format!(
            "{:<44} {:>8} {:>7} {:>8} {:>6} {:>6} {:>8} {:>8}\n",
            "learned from", "group", "seconds", "distinct", "exact", "mean", "within", "between"
        );
        for row in &self.rows {
            let group = row
                .trained
                .group
                .as_ref()
                .map_or("none", |group| &group.name);
            let _ = writeln!(
                text,
                "{:<44} {group:>8} {:>7.1} {:>8} {:>6} {:>6.3} {:>8.1e} {:>8.2}",
                row.what,
                row.seconds,
                row.irreps.distinct,
                row.irreps.exact,
                row.irreps.mean_overlap,
                row.trained.held_out.within,
                row.trained.held_out.between,
            );
        }
        if let Some(published) = &self.published {
            let _ = writeln!(
                text,
                "{:<44} {:>8} {:>7} {:>8} {:>6} {:>6.3}",
                "published W", "", "", published.distinct, published.exact, published.mean_overlap,
            );
        }
        let _ = write!(
            text,
            "Of {} irreps: distinct is how many the learned rows are nearest to, exact those with an overlap above \
             {}, mean the mean overlap, all before W is made exact; within and between are mean squared distances of \
             the exported model's invariants on held-out samples.\n\
             A patch never trained on, shifted once around: z follows its irreps within {:.1e}, the invariants change \
             by {:.1e}, the patch itself by {:.2}.",
            self.size * self.size,
            irreps::EXACT,
            self.along.equivariance_error,
            self.along.invariance_error,
            self.along.signal,
        );
        text
    }

    /// The first two cases are to find the group.
    fn check(&self, place: &Place) -> Result<()> {
        let name = format!("Z{0}xZ{0}", self.size);
        let named = |row: &&Row| {
            row.trained
                .group
                .as_ref()
                .is_some_and(|group| group.name == name)
        };
        match self.rows.iter().take(2).find(|row| !named(row)) {
            None => Ok(()),
            Some(row) => Err(Error::file(
                &place.path(row.case),
                format!("the group was not named {name}"),
                "see results.json for why",
            )),
        }
    }
}
