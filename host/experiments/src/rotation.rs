//! `bispectral reproduce rotation`: the paper's second experiment, natural patches turned on the pixel grid.

mod charts;
mod page;

use super::{Output, published};
use crate::angular::{Angular, Order, PURE, Products};
use crate::mnist;
use bispectral_core::Model;
use bispectral_learn::analysis::orbit_distance::{OrbitDistance, orbit_distance};
use bispectral_learn::data::normalise::normalise;
use bispectral_learn::data::orbits::{Orbits, Split, Transform};
use bispectral_learn::data::rotate::disk;
use bispectral_learn::limits::MOST_METRICS_BYTES;
use bispectral_learn::model::file::{self, ModelFile};
use bispectral_learn::storage::read_text;
use bispectral_learn::{Error, Result};
use bispectral_report::{Block, Chart};
use bispectral_run::config::{Config, Data, TransformName};
use bispectral_run::console::Console;
use bispectral_run::photographs::patches::{Patches, Support};
use bispectral_run::source;
use bispectral_run::training::follow;
use bispectral_run::{METRICS, Outcome, Record, Results as Trained, figures};
use clap::Args;
use ndarray::Array2;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Four of the photographs that come with the program are trained on, two are not.
const TRAINED_ON: &str = "alps,blossoms,grass,rocks";
pub(super) const UNSEEN: [&str; 2] = ["raccoon", "tulips"];
/// Patches or digits of a set that is looked at.
const EXEMPLARS: usize = 24;
/// Another seed than the run's for everything that is only looked at.
pub(super) const OTHER: u64 = 0x5eed;

/// Learn rotations of natural patches on the pixel grid, where no exact bispectrum is known
///
/// 100 patches inside a disk, each turned by 30 % of the 360 whole degrees. The mean distance of the invariants within
/// orbits (euclidean, centred: the published measure) on held-out rotations, new patches, photographs never seen and,
/// where --mnist or BISPECTRAL_MNIST names its folder, digits; for --published W.npy on the same images, too. Takes
/// minutes.
#[derive(Debug, Args)]
pub(super) struct Rotation {
    #[command(flatten)]
    output: Output,
    /// Photographs to learn from: a folder of .png or .iml [default: four that come with the program]
    #[arg(long, value_name = "DIR")]
    images: Option<PathBuf>,
    /// Compare with another W for 16 × 16 pixels, such as the authors' published one
    #[arg(long, value_name = "W.npy")]
    published: Option<PathBuf>,
    /// MNIST's folder [default: that in BISPECTRAL_MNIST, if any]
    #[arg(long, value_name = "DIR")]
    mnist: Option<PathBuf>,
}

/// One set of images.
#[derive(Debug, Serialize)]
struct Row {
    images: String,
    learned: OrbitDistance,
    published: Option<OrbitDistance>,
}

/// What the rows of a W are.
#[derive(Debug, Serialize)]
struct Rows {
    count: usize,
    pure: usize,
    median_purity: f64,
    orders: Vec<Order>,
    products: Products,
}

#[derive(Debug, Serialize)]
struct Results {
    experiment: &'static str,
    seed: u64,
    size: usize,
    seconds: f64,
    rows: Vec<Row>,
    learned: Rows,
    published: Option<Rows>,
    trained: Trained,
}

/// The model learned from the photographs that come with the program, in a folder of its own.
pub(super) fn model(output: Output, seed: u64, console: &Console) -> Result<PathBuf> {
    let size = if output.quick { 8 } else { 16 };
    let experiment = Rotation {
        output,
        images: None,
        published: None,
        mnist: None,
    };
    let (_, trained) = experiment.learn(seed, size, console)?;
    Ok(trained.model)
}

impl Rotation {
    pub(super) fn run(&self, seed: u64, console: &Console) -> Result<()> {
        self.output.check()?;
        let size = if self.output.quick { 8 } else { 16 };
        let published = published(self.published.as_deref(), size * size)?;
        let mnist = mnist::folder(self.mnist.as_deref());
        let others = unseen(self.images.as_deref(), seed, size, mnist.as_deref())?;
        let begun = Instant::now();
        if mnist.is_none() {
            console.say(mnist::NONE);
        }
        let (held_out, trained) = self.learn(seed, size, console)?;
        let seconds = begun.elapsed().as_secs_f64();
        let file = ModelFile::read(&trained.model)?;
        let model = file.model()?;
        let other = published.as_deref().map(Model::from_bytes).transpose();
        let other = other
            .map_err(|error| Error::new("--published", error.to_string(), "give another W"))?;
        let held_out = ("held-out rotations".to_owned(), held_out);
        let sets: Vec<(String, Orbits)> = [held_out].into_iter().chain(others).collect();
        let rows = sets
            .iter()
            .map(|(images, orbits)| {
                Ok(Row {
                    images: images.clone(),
                    learned: orbit_distance(&model, orbits)?,
                    published: other
                        .as_ref()
                        .map(|model| orbit_distance(model, orbits))
                        .transpose()?,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let results = Results {
            experiment: "rotation",
            seed,
            size,
            seconds,
            rows,
            learned: Rows::of(&model, size),
            published: other.as_ref().map(|model| Rows::of(model, size)),
            trained,
        };
        let figures = self.figures(&results, &model, other.as_ref(), &sets)?;
        let (words, page) = (results.words(), self.page(&results, &figures));
        self.output
            .conclude(console, &results, [&words, &words], &page, Ok(()))
    }

    fn learn(&self, seed: u64, size: usize, console: &Console) -> Result<(Orbits, Trained)> {
        let config = configuration(self.images.as_deref(), seed, size, self.output.quick);
        let run = self.output.train(config, "run")?;
        let held_out = run.held_out().clone();
        console.say("learning from patches that are turned");
        match follow(run, console)? {
            Outcome::Finished(trained) => Ok((held_out, *trained)),
            Outcome::Stopped => Err(self.output.stopped()),
        }
    }

    fn figures(
        &self,
        results: &Results,
        model: &Model<'_>,
        published: Option<&Model<'_>>,
        sets: &[(String, Orbits)],
    ) -> Result<Figures> {
        let size = results.size;
        let orders = &results.learned.orders;
        let mut order: Vec<usize> = (0..model.rows()).collect();
        // Pure rows by their order, then what is not pure.
        order.sort_by_key(|&row| {
            let Order { order, purity } = orders[row];
            (purity < PURE, order.abs(), order)
        });
        let folder = self.output.path("run");
        let metrics = read_text(&folder.join(METRICS), "losses", MOST_METRICS_BYTES);
        let metrics = metrics.unwrap_or_default();
        Ok(Figures {
            filters: figures::filters(
                "filters",
                file::weights(model).view(),
                (size, size),
                &order,
                "laid out like a patch; rows of one angular order stand together, low orders first, and those of \
                 no one order last",
                figures::Rows::Characters,
            ),
            orders: charts::orders(orders),
            along: charts::along(model, published, &sets[2].1, orders, size)?,
            distances: figures::distances("run/distances", &Record::read(&folder)?.distances),
            losses: figures::losses("run/loss", &metrics, "the three phases"),
        })
    }
}

/// What is drawn.
struct Figures {
    filters: Block,
    orders: Chart,
    along: Chart,
    distances: Block,
    losses: Block,
}

/// Images that are not trained on, and what each set is called; read before the minutes that training takes.
pub(super) fn unseen(
    images: Option<&Path>,
    seed: u64,
    size: usize,
    mnist: Option<&Path>,
) -> Result<Vec<(String, Orbits)>> {
    let turned = |exemplars: Array2<f32>| {
        let turn = Transform::Rotate {
            size,
            fraction: 0.3,
            seed: seed ^ OTHER,
        };
        Orbits::transformed(exemplars, turn).map_err(Error::from)
    };
    let patches = Patches {
        size,
        count: EXEMPLARS,
        support: Support::Disk,
        ..Patches::default()
    };
    let new = match images {
        Some(folder) => patches.cut_from_folder(folder, seed ^ OTHER)?,
        None => patches.cut(&source::photographs(TRAINED_ON)?, seed ^ OTHER)?,
    };
    let mut sets = vec![("new patches of the photographs".to_owned(), turned(new)?)];
    for name in UNSEEN {
        let cut = patches.cut(&source::photographs(name)?, seed ^ OTHER)?;
        sets.push((format!("never seen: {name}"), turned(cut)?));
    }
    if let Some(folder) = mnist {
        let mut digits = mnist::test_digits(folder, size, EXEMPLARS)?;
        let inside = disk(size);
        for mut digit in digits.rows_mut() {
            let digit = digit.as_slice_mut().expect("rows lie in one piece");
            normalise(digit, &inside);
        }
        sets.push(("never seen: MNIST digits".to_owned(), turned(digits)?));
    }
    Ok(sets)
}

/// How rotations are learned from the photographs in a folder, or from four that come with the program.
pub(super) fn configuration(images: Option<&Path>, seed: u64, size: usize, quick: bool) -> Config {
    let natural = || format!("natural:{TRAINED_ON}").into();
    let mut config = Config {
        seed,
        split: Some(Split::Transforms),
        data: Data {
            images: Some(images.map_or_else(natural, Path::to_owned)),
            transform: Some(TransformName::Rotate),
            size,
            ..Data::default()
        },
        ..Config::default()
    };
    if quick {
        config.phases = bispectral_learn::learn::phase::Phase::recipe(config.motion());
        let phases = config.phases.iter_mut();
        phases.for_each(|phase| phase.steps = phase.steps.min(300));
    }
    config
}

impl Rows {
    fn of(model: &Model<'_>, size: usize) -> Self {
        let (angular, w) = (Angular::new(size), file::weights(model));
        let orders = angular.orders(&w.view());
        let mut purities: Vec<f64> = orders.iter().map(|order| order.purity).collect();
        purities.sort_by(f64::total_cmp);
        Rows {
            count: orders.len(),
            pure: purities.iter().filter(|&&purity| purity >= PURE).count(),
            median_purity: purities[purities.len() / 2],
            products: angular.products(&w.view(), &orders),
            orders,
        }
    }
}

impl Results {
    fn words(&self) -> String {
        let mut text = format!(
            "{:<32} {:>16} {:>16}\n{:<32} {:>8} {:>7} {:>8} {:>7}\n",
            "", "learned", "published W", "images", "within", "between", "within", "between"
        );
        for row in &self.rows {
            let pair = |distance: &OrbitDistance| {
                format!("{:>8.4} {:>7.3}", distance.within, distance.between)
            };
            let published = row.published.as_ref().map(pair).unwrap_or_default();
            let _ = writeln!(
                text,
                "{:<32} {} {published}",
                row.images,
                pair(&row.learned)
            );
        }
        for (name, rows) in [
            ("learned", Some(&self.learned)),
            ("published W", self.published.as_ref()),
        ] {
            if let Some(rows) = rows {
                let _ = writeln!(
                    text,
                    "{name}: {} rows, {} pure; of {} products of pure rows {} have the order m_i + m_j",
                    rows.count, rows.pure, rows.products.pairs, rows.products.additive
                );
            }
        }
        let _ = write!(
            text,
            "Mean euclidean distances of centred, normalised bispectra; a row is pure with {PURE} of its angular spectrum \
             at one order.\n{} steps, {:.0} s",
            self.trained.steps, self.seconds
        );
        text
    }
}
