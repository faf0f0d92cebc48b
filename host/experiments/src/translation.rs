//! `bispectral reproduce translation`: the paper's first experiment, natural patches under cyclic translation.

mod page;

use super::Output;
use crate::equivariance::{self, Equivariance};
use bispectral_learn::analysis::irreps::{self, Irreps};
use bispectral_learn::data::group::Group;
use bispectral_learn::data::orbits::{Orbits, Split};
use bispectral_learn::data::weights;
use bispectral_learn::group::LearnedTable;
use bispectral_learn::learn::phase::{LossName, Phase};
use bispectral_learn::limits::MOST_METRICS_BYTES;
use bispectral_learn::model::file::ModelFile;
use bispectral_learn::storage::read_text;
use bispectral_learn::{Error, Result};
use bispectral_report::Block;
use bispectral_run::config::{Config, Data};
use bispectral_run::console::Console;
use bispectral_run::source;
use bispectral_run::training::follow;
use bispectral_run::{METRICS, Outcome, Record, Results as Trained, WEIGHTS, figures};
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
    output: Output,
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
            config.split = Some(Split::Exemplars);
        },
    },
    Case {
        name: "partial",
        what: "80 % of each orbit, 5 % noise",
        change: |config| {
            config.split = Some(Split::Transforms);
            config.data.noise = 0.05;
        },
    },
    Case {
        name: "gradient",
        what: "whole orbits, second-order gradients alone",
        change: |config| {
            config.data.exemplars = 125;
            config.split = Some(Split::Exemplars);
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
    along: Equivariance,
    #[serde(skip)]
    figures: Figures,
}

/// What is drawn of the run on whole orbits, and of how the others went.
#[derive(Debug)]
struct Figures {
    learned: [Block; 2],
    equivariance: Block,
    distances: Block,
    losses: [Block; 2],
}

/// The model learned from whole orbits alone, in a folder of its own; and pixels of a patch's side.
pub(super) fn whole_orbits(
    output: Output,
    seed: u64,
    console: &Console,
) -> Result<(PathBuf, usize)> {
    let size = if output.quick { 8 } else { 16 };
    let experiment = Translation {
        output,
        images: None,
        published: None,
    };
    let (row, _) = experiment.learn(&CASES[0], seed, size, console)?;
    Ok((row.trained.model, size))
}

impl Translation {
    pub(super) fn run(&self, seed: u64, console: &Console) -> Result<()> {
        self.output.check()?;
        let size = if self.output.quick { 8 } else { 16 };
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
        let mut whole = None;
        for case in &CASES {
            let (row, held_out) = self.learn(case, seed, size, console)?;
            whole.get_or_insert(held_out);
            rows.push(row);
        }
        let held_out = whole.expect("the first case was among them");
        let (along, figures) = self.figures(&rows[0], &held_out, size)?;
        let results = Results {
            experiment: "translation",
            seed,
            size,
            rows,
            published: published.map(|w| irreps::compare(&w.view(), &group)),
            along,
            figures,
        };
        let (words, page) = (results.words(), self.page(&results));
        let verdict = results.check(&self.output);
        self.output
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
            // The experiment is about irreps as rows of W: the group by matching members would leave nothing to compare.
            phases: [
                LossName::Spectral,
                LossName::SecondOrder,
                LossName::OrbitSeparation,
            ]
            .map(Phase::new)
            .to_vec(),
            ..Config::default()
        };
        (case.change)(&mut config);
        if self.output.quick {
            source::complete(&mut config)?;
            let phases = config.phases.iter_mut();
            phases.for_each(|phase| phase.steps = phase.steps.min(1000));
            config.restarts = Some(0);
        }
        let begun = Instant::now();
        let folder = self.output.path(case.name);
        let run = self.output.train(config, case.name)?;
        let held_out = run.held_out().clone();
        console.say(&format!("learning from {}", case.what));
        let Outcome::Finished(trained) = follow(run, console)? else {
            return Err(self.output.stopped());
        };
        let seconds = begun.elapsed().as_secs_f64();
        let w = weights::read(&folder.join(WEIGHTS))?;
        let row = Row {
            case: case.name,
            what: case.what,
            seconds,
            irreps: irreps::compare(&w.view(), &Group::new([size, size])?),
            trained: *trained,
        };
        Ok((row, held_out))
    }

    /// The learned W by frequency, its table, and a patch that was not trained on as it is shifted.
    fn figures(
        &self,
        row: &Row,
        held_out: &Orbits,
        size: usize,
    ) -> Result<(Equivariance, Figures)> {
        let folder = self.output.path(row.case);
        let w = weights::read(&folder.join(WEIGHTS))?;
        let mut order: Vec<usize> = (0..w.nrows()).collect();
        order.sort_by_key(|&row_of_w| row.irreps.nearest[row_of_w]);
        let name = page::name(row);
        let filters = figures::filters(
            "filters",
            w.view(),
            (size, size),
            &order,
            "laid out like a patch and sorted by its frequency down and across",
            figures::Rows::Characters,
        );
        let learned = LearnedTable::of(&w.view())?;
        let title = format!("{name}, learned from {}", row.what);
        let cayley = figures::cayley_drawing(&learned, &order, &title);
        let file = ModelFile::read(&row.trained.model)?;
        let nearest = &row.irreps.nearest;
        let (along, chart) = equivariance::follow(&file.model()?, held_out, nearest, size)?;
        let losses = |case: &str, what: &str| {
            let metrics = read_text(
                &self.output.path(case).join(METRICS),
                "losses",
                MOST_METRICS_BYTES,
            );
            let metrics = metrics.unwrap_or_default();
            figures::losses(&format!("{case}/loss"), &metrics, what)
        };
        let figures = Figures {
            learned: [filters, figures::cayley("cayley", cayley, name)],
            equivariance: figures::equivariance("along", chart),
            distances: figures::distances(
                &format!("{}/distances", row.case),
                &Record::read(&folder)?.distances,
            ),
            losses: [
                losses("partial", "learning from 80 % of each orbit with 5 % noise"),
                losses(
                    "gradient",
                    "learning by gradients of the second-order loss alone",
                ),
            ],
        };
        Ok((along, figures))
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
    fn check(&self, output: &Output) -> Result<()> {
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
                &output.path(row.case),
                format!("the group was not named {name}"),
                "see results.json for why",
            )),
        }
    }
}
