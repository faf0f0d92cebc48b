//! `bispectral reproduce disk`: rotation on the pixel grid by couplings of planes that turn, in place of W ⊙ W.

mod page;

use super::completeness::images::{self, Kind, Symmetry};
use super::rotation::{configuration, unseen};
use super::{Output, published};
use crate::angular::{Angular, Order, PURE};
use crate::attack::{follow_couplings, number};
use crate::mnist;
use bispectral_core::Model;
use bispectral_learn::analysis::attack::Summary;
use bispectral_learn::analysis::orbit_distance::{OrbitDistance, orbit_distance};
use bispectral_learn::analysis::trial::{Trial, World};
use bispectral_learn::data::orbits::Orbits;
use bispectral_learn::group::Couplings;
use bispectral_learn::group::circle::{
    Choice, Circle, Network, Products, Refinement, Separation, refine,
};
use bispectral_learn::model::couplings::encode;
use bispectral_learn::model::file::ModelFile;
use bispectral_learn::model::form::Encoding;
use bispectral_learn::model::instructions::estimate;
use bispectral_learn::{Error, Result};
use bispectral_run::MODEL;
use bispectral_run::console::Console;
use bispectral_run::source;
use clap::Args;
use ndarray::Array2;
use num_complex::Complex32;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Steps of the small form, and images that are attacked.
const QUICK_STEPS: usize = 200;
const QUICK_IMAGES: usize = 4;
/// Of the sizes of coefficients: see `Refinement`.
const FALL: f64 = 1.0;
const KEPT: f64 = 1.0;
const LINKS: usize = 4;
const APART: f64 = 1.40;
const IMAGES: usize = 100;
/// An attack is given up after so many steps, and begins again so often.
const STEPS: usize = 1500;
const RESTARTS: u32 = 2;
/// Steps of the gradients.
const LEARNING: usize = 800;
/// Planes whose products are measured.
const TURNING: f64 = 0.9;

/// Learn rotations of natural patches on the pixel grid as planes that turn, and invariants as couplings of few of them
///
/// From the patches and angles of `reproduce rotation`, of which no angle is given: the angle of every member and the
/// planes of each order in closed form, then the weights of the forms by gradient. Distances within and
/// between orbits as `reproduce rotation` measures them, attacks, and models in f32 and i8. Takes minutes, most of which are attacks.
#[derive(Debug, Args)]
pub(super) struct Disk {
    #[command(flatten)]
    output: Output,
    /// Photographs to learn from: a folder of .png or .iml [default: four that come with the program]
    #[arg(long, value_name = "DIR")]
    images: Option<PathBuf>,
    /// Compare with the W that `reproduce rotation` left, or with its model
    #[arg(long, value_name = "DIR|MODEL.bsn")]
    rotation: Option<PathBuf>,
    /// Compare with another W for 16 × 16 pixels, such as the authors' published one
    #[arg(long, value_name = "W.npy")]
    published: Option<PathBuf>,
    /// MNIST's folder [default: that in BISPECTRAL_MNIST, if any]
    #[arg(long, value_name = "DIR")]
    mnist: Option<PathBuf>,
    /// How fast the sizes of coefficients fall with the amplitude of a plane: more changes less within orbits
    #[arg(long, value_name = "X", default_value_t = FALL)]
    fall: f64,
    /// Which share of its first weight a product keeps at least: more leaves less open
    #[arg(long, value_name = "X", default_value_t = KEPT)]
    kept: f64,
    /// Products of three by which each plane is tied to others
    #[arg(long, value_name = "N", default_value_t = LINKS)]
    links: usize,
    /// Distances between orbits that are enough
    #[arg(long, value_name = "X", default_value_t = APART)]
    apart: f64,
    /// Steps of the gradients; none leaves the first weights as they are
    #[arg(long, value_name = "N", default_value_t = LEARNING)]
    steps: usize,
    /// Images that are attacked
    #[arg(long, value_name = "N", default_value_t = IMAGES)]
    attacks: usize,
}

/// One model, and how its invariants change.
#[derive(Debug, Serialize)]
struct Measured {
    model: &'static str,
    /// Real numbers that the invariants are.
    invariants: usize,
    bytes: usize,
    /// Of a Cortex-M4F, estimated.
    instructions: u64,
    distances: Vec<OrbitDistance>,
}

/// The attacks on one set of images.
#[derive(Debug, Serialize)]
struct Attacked {
    images: &'static str,
    #[serde(flatten)]
    summary: Summary,
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct Results {
    experiment: &'static str,
    seed: u64,
    size: usize,
    /// Of the closed form, and of the gradients.
    seconds: [f64; 2],
    steps: usize,
    /// How many planes there are of each order.
    planes: Vec<usize>,
    products: Products,
    /// Products of two and three coefficients that are computed, and how many there are to choose from.
    terms: usize,
    possible: usize,
    /// Of the refined planes, measured on the grid.
    orders: Vec<Order>,
    images: Vec<String>,
    models: Vec<Measured>,
    attacks: Vec<Attacked>,
}

impl Disk {
    /// What was asked for beside what is taken anyway, for the page.
    fn flags(&self) -> String {
        let files = [
            ("images", &self.images, "DIR"),
            ("rotation", &self.rotation, "DIR"),
            ("published", &self.published, "W.npy"),
            ("mnist", &self.mnist, "DIR"),
        ];
        let files = files.into_iter().filter(|(_, path, _)| path.is_some());
        let files = files.map(|(name, _, what)| format!(" --{name} {what}"));
        let numbers = [
            ("fall", self.fall, FALL),
            ("kept", self.kept, KEPT),
            ("links", self.links as f64, LINKS as f64),
            ("apart", self.apart, APART),
            ("steps", self.steps as f64, LEARNING as f64),
            ("attacks", self.attacks as f64, IMAGES as f64),
        ];
        let numbers = numbers
            .into_iter()
            .filter(|(_, value, usual)| value != usual);
        let numbers = numbers.map(|(name, value, _)| format!(" --{name} {value}"));
        files.chain(numbers).collect()
    }

    pub(super) fn run(&self, seed: u64, console: &Console) -> Result<()> {
        self.output.check()?;
        let size = if self.output.quick { 8 } else { 16 };
        let mnist = mnist::folder(self.mnist.as_deref());
        let published = published(self.published.as_deref(), size * size)?;
        let rotation = self.rotation.as_deref().map(read).transpose()?;
        let config = configuration(self.images.as_deref(), seed, size, self.output.quick);
        let all = source::orbits(&config)?;
        let split = config
            .split
            .unwrap_or(bispectral_learn::data::orbits::Split::Transforms);
        let split = all.split(split, config.held_out, seed);
        let (training, held_out) =
            split.map_err(|error| Error::orbits("patches", "labels", error))?;
        let mut sets = vec![("held-out rotations".to_owned(), held_out)];
        sets.extend(unseen(
            self.images.as_deref(),
            seed,
            size,
            mnist.as_deref(),
        )?);

        console.say("learning which planes turn");
        let learned = Learned::of(&training, &self.refinement(seed), console)?;
        let bytes = |encoding| encode(&learned.couplings, encoding, "disk", Some("SO(2)"));
        let models = [
            ("couplings, f32", bytes(Encoding::F32)?),
            ("couplings, i8", bytes(Encoding::I8)?),
        ];
        for ((_, bytes), file) in models.iter().zip([MODEL, "model-i8.bsn"]) {
            self.output.write(file, bytes)?;
        }
        let others = [("learned W", rotation), ("published W", published)];
        let others = others
            .into_iter()
            .filter_map(|(name, bytes)| Some((name, bytes?)));
        let models: Vec<(&str, Vec<u8>)> = models.into_iter().chain(others).collect();
        let measured = models
            .iter()
            .map(|(name, bytes)| measure(name, bytes, &sets))
            .collect::<Result<Vec<_>>>()?;
        let attacks = self.attacks(&learned.couplings, (seed, size), mnist.as_deref(), console)?;
        let (held_out, _) = sets[0].1.supported();
        let planes = learned.rows(size * size);
        let orders = Angular::new(size).orders(&planes.view());
        let results = Results {
            experiment: "disk",
            seed,
            size,
            seconds: learned.seconds,
            steps: self.steps(),
            planes: learned.counts(),
            products: learned.circle.products(&held_out, TURNING),
            terms: learned.network.terms().pairs.len() + learned.network.terms().triples.len(),
            possible: learned.network.terms().possible,
            orders,
            images: sets.into_iter().map(|set| set.0).collect(),
            models: measured,
            attacks,
        };
        let words = results.words();
        let page = self.page(&results, &planes, &learned.losses);
        let verdict = results.check(&self.output);
        self.output
            .conclude(console, &results, [&words, &words], &page, verdict)
    }

    fn steps(&self) -> usize {
        let most = if self.output.quick {
            QUICK_STEPS
        } else {
            self.steps
        };
        self.steps.min(most)
    }

    /// How weights are learned: chosen on photographs of those that are learned from, by what was learned from the others.
    fn refinement(&self, seed: u64) -> Refinement {
        Refinement {
            choice: Choice {
                copies: 2,
                links: self.links,
            },
            fall: self.fall,
            kept: self.kept,
            separation: Separation {
                kappa: 30.0,
                apart: self.apart,
            },
            steps: self.steps(),
            rate: 0.02,
            seed,
        }
    }

    fn attacks(
        &self,
        couplings: &Couplings,
        (seed, size): (u64, usize),
        mnist: Option<&Path>,
        console: &Console,
    ) -> Result<Vec<Attacked>> {
        let kind = Kind::Rotation;
        let count = if self.output.quick {
            QUICK_IMAGES
        } else {
            self.attacks
        };
        let world = World::of_rotation(size);
        let no_w = Array2::zeros((1, size * size));
        let mut found = Vec::new();
        for (images, targets) in images::sets(Symmetry { kind, size }, count, seed, mnist)? {
            console.say(&format!("attacking couplings: {images}"));
            let trial = Trial {
                w: no_w.view(),
                targets: targets.view(),
                world: &world,
                steps: STEPS,
                restarts: RESTARTS,
                seed,
            };
            let outcome = follow_couplings(&trial, couplings, console)?;
            found.push(Attacked {
                images,
                summary: Summary::of(outcome.endings.as_deref().unwrap_or_default()),
                seconds: outcome.seconds,
            });
        }
        Ok(found)
    }
}

/// What came of the closed form and of the gradients.
struct Learned {
    circle: Circle,
    network: Network<f32>,
    support: Vec<usize>,
    couplings: Couplings,
    seconds: [f64; 2],
    /// Mean distances within and between the orbits of each batch.
    losses: Vec<[f64; 2]>,
}

impl Learned {
    fn of(training: &Orbits, refinement: &Refinement, console: &Console) -> Result<Self> {
        let steps = refinement.steps;
        let begun = Instant::now();
        let (orbits, support) = training.supported();
        let circle = Circle::of(&orbits)?;
        let closed = begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        let mut losses = Vec::with_capacity(steps);
        let mut progress = console.progress("steps", steps);
        let network = refine(&circle, &orbits, refinement, |step, loss| {
            losses.push([loss.within, loss.between]);
            progress.tell(step, |_| format!(", {:.4} within orbits", loss.within));
        });
        let couplings = network.couplings()?.among(&support, training.inputs())?;
        Ok(Learned {
            circle,
            network,
            support: support.to_vec(),
            couplings,
            seconds: [closed, begun.elapsed().as_secs_f64()],
            losses,
        })
    }

    /// How many planes there are of each order.
    fn counts(&self) -> Vec<usize> {
        let orders = self.circle.planes().iter().map(|plane| plane.order);
        let mut counts = vec![0; orders.clone().max().map_or(0, |most| most + 1)];
        orders.for_each(|order| counts[order] += 1);
        counts
    }

    /// The refined planes as complex rows of so many pixels.
    fn rows(&self, inputs: usize) -> Array2<Complex32> {
        let (basis, columns) = (self.network.basis(), self.network.inputs());
        let mut rows = Array2::zeros((self.network.planes().len(), inputs));
        for (mut to, &(begin, count)) in rows.rows_mut().into_iter().zip(self.network.planes()) {
            for (k, &n) in self.support.iter().enumerate() {
                let imaginary = if count == 2 {
                    basis[(begin + 1) * columns + k]
                } else {
                    0.0
                };
                to[n] = Complex32::new(basis[begin * columns + k], imaginary);
            }
            let size = to.iter().map(|u| u.norm_sqr()).sum::<f32>().sqrt();
            to.mapv_inplace(|u| u / size);
        }
        rows
    }
}

/// The bytes of a model of W, of a run's folder, or of that of an experiment with a run in it.
fn read(path: &Path) -> Result<Vec<u8>> {
    let places = [path.join("run").join(MODEL), path.join(MODEL)];
    let found = places.iter().find(|place| place.is_file());
    Ok(ModelFile::read(found.map_or(path, |found| found))?
        .bytes()
        .to_vec())
}

fn measure(name: &'static str, bytes: &[u8], sets: &[(String, Orbits)]) -> Result<Measured> {
    let refused =
        |error: bispectral_core::Error| Error::new(name, error.to_string(), "give another model");
    let model = Model::from_bytes(bytes).map_err(refused)?;
    let distances = sets
        .iter()
        .map(|(_, orbits)| orbit_distance(&model, orbits));
    // Invariants of couplings are real, those of W complex.
    let numbers = if name.starts_with("couplings") { 1 } else { 2 };
    Ok(Measured {
        model: name,
        invariants: numbers * model.pairs(),
        bytes: bytes.len(),
        instructions: estimate(&model),
        distances: distances.collect::<Result<_>>()?,
    })
}

impl Results {
    /// Planes at least [`PURE`] of whose angular spectrum is at one order.
    fn pure(&self) -> usize {
        self.orders
            .iter()
            .filter(|order| order.purity >= PURE)
            .count()
    }

    fn words(&self) -> String {
        let mut text = format!("{:<32}", "within, between");
        for model in &self.models {
            let _ = write!(text, " {:>25}", model.model);
        }
        for (k, images) in self.images.iter().enumerate() {
            let _ = write!(text, "\n{images:<32}");
            for model in &self.models {
                let OrbitDistance {
                    within, between, ..
                } = model.distances[k];
                let _ = write!(text, " {:>25}", format!("{within:.4} {between:.3}"));
            }
        }
        for (what, of) in [
            (
                "real invariants",
                (|m| m.invariants.to_string()) as fn(&Measured) -> String,
            ),
            ("bytes", |m| m.bytes.to_string()),
            ("instructions, M4F, estimated", |m| {
                m.instructions.to_string()
            }),
        ] {
            let _ = write!(text, "\n{what:<32}");
            for model in &self.models {
                let _ = write!(text, " {:>25}", of(model));
            }
        }
        let Products {
            planes,
            expected,
            invariant,
            others,
            wrong,
        } = self.products;
        let _ = write!(
            text,
            "\nMean euclidean distances of centred, normalised invariants, each by its own model's bytes.\n\
             {} planes of orders 0 to {}, {} pure; of {planes} planes, {invariant} of {expected} products whose orders add up are \
             invariants on held-out rotations, and {wrong} of {others} others.\n\
             {} of {} possible products are computed.\nClosed form {:.1} s, {} steps {:.1} s.\n\n",
            self.planes.iter().sum::<usize>(),
            self.planes.len().saturating_sub(1),
            self.pure(),
            self.terms,
            self.possible,
            self.seconds[0],
            self.steps,
            self.seconds[1],
        );
        let _ = writeln!(
            text,
            "{:<16} {:>7} {:>8} {:>9} {:>8} {:>8} {:>8} {:>8}",
            "images", "attacks", "reached", "in orbit", "nearest", "median", "largest", "seconds"
        );
        for row in &self.attacks {
            let summary = &row.summary;
            let _ = writeln!(
                text,
                "{:<16} {:>7} {:>8} {:>9} {:>8} {:>8} {:>8} {:>8.1}",
                row.images,
                summary.targets,
                summary.reached,
                summary.inside,
                summary.nearest,
                number(summary.median_orbit),
                number(summary.largest_orbit),
                row.seconds
            );
        }
        text.truncate(text.trim_end().len());
        text
    }

    /// Orders are to add up.
    fn check(&self, output: &Output) -> Result<()> {
        let Products {
            expected,
            invariant,
            ..
        } = self.products;
        if 10 * invariant < 9 * expected {
            let what =
                format!("{invariant} of {expected} products whose orders add up are invariants");
            return Err(Error::file(
                output.folder(),
                what,
                "see results.json for the planes",
            ));
        }
        Ok(())
    }
}
