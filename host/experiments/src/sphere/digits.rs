//! MNIST's digits on a sphere: trained as they are, tested rotated at random (NR/R), by the invariants of a group that was learned from
//! random functions at the same points, with a perceptron behind them, all in one model for a device.
//!
//! A digit lies on the northern hemisphere, by stereographic projection from the south pole, 14 pixels from the middle to the
//! equator, and is what its spherical harmonics of low degrees make of it.

use super::learned::Case;
use super::{Output, moments};
use crate::mnist::{self, CLASSES, Half};
use crate::rotated_digits::Changed;
use bispectral_core::Model;
use bispectral_learn::classify::device::{Encoding as HeadEncoding, Folded, classify as on_device};
use bispectral_learn::classify::outputs::{Labelled, class_of, outputs};
use bispectral_learn::classify::protocol::{Protocol, RateSchedule};
use bispectral_learn::data::representation::sampled;
use bispectral_learn::group::Couplings;
use bispectral_learn::group::compact::{Compact, Name};
use bispectral_learn::group::couplings::{Entry, Tensor, Term};
use bispectral_learn::model::cost::Cost;
use bispectral_learn::model::couplings::{encode, ordered};
use bispectral_learn::model::form::Encoding;
use bispectral_learn::numeric::alignment::random_rotations;
use bispectral_learn::numeric::harmonics::{Degree, harmonics, spread};
use bispectral_learn::{Error, Result};
use bispectral_run::console::Console;
use ndarray::{Array2, ArrayView2, Axis, Slice, concatenate};
use rayon::prelude::*;
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

/// The highest degree, and the points of the sphere that are sampled.
const DEGREE: usize = 8;
const POINTS: usize = 128;
/// Orbits of random functions that the group is learned from, and their members.
const ORBITS: usize = 600;
const MEMBERS: usize = 60;
/// Pixels from the middle of an image to the equator.
const EQUATOR: f64 = 14.0;
/// Points by which integrals over the sphere are summed.
const QUADRATURE: usize = 8000;
/// Bent copies of each training digit: none of them is turned.
const COPIES: u64 = 2;
const CHANGED: Changed = Changed {
    moved: 0.0,
    stretched: 0.12,
    bent: 0.7,
};
/// Digits that are trained on, of which the last tenth is held out.
const TRAINING: usize = 60_000;
/// How often each digit and each copy is seen, and how often by what couplings are compared with, where there are many.
const EPOCHS: usize = 16;
const BASELINE_EPOCHS: usize = 4;
const QUICK_DEGREE: usize = 6;
const QUICK_POINTS: usize = 81;
const QUICK_ORBITS: usize = 300;
const QUICK_TRAINING: usize = 10_000;
const QUICK_TEST: usize = 2000;
/// Degrees have mean squares in proportion to this power of what they have in digits: 1 leaves them, 0 makes them equal.
const EVENNESS: f64 = 0.5;
/// What a model may take.
const FLASH: usize = 1 << 20;
/// Digits that are drawn.
const DRAWN: usize = 8;

/// What digits came to.
#[derive(Debug, Serialize)]
pub(super) struct Digits {
    degree: usize,
    points: usize,
    pub(super) group: String,
    training: usize,
    copies: u64,
    test: usize,
    pub(super) rows: Vec<Classified>,
    /// Bytes of the model with its perceptron, in bytes each a weight; of RAM without stack; and an estimate of instructions.
    pub(super) flash: usize,
    pub(super) ram: usize,
    pub(super) instructions: u64,
    parameters: usize,
    seconds: f64,
    /// A digit, and what it is once rotated, at the points; for a picture.
    #[serde(skip)]
    pub(super) drawn: Vec<(u8, Vec<f64>, Vec<f64>)>,
}

/// One classifier.
#[derive(Debug, Serialize)]
pub(super) struct Classified {
    pub(super) what: &'static str,
    pub(super) inputs: usize,
    /// The share of test digits that are right as they are, and rotated.
    pub(super) upright: f64,
    pub(super) rotated: f64,
}

/// Digits as coefficients of harmonics.
struct Coefficients {
    degree: usize,
    /// From pixels.
    projection: Array2<f32>,
    /// To samples at points.
    samples: Array2<f32>,
}

impl Coefficients {
    fn new(degree: usize, points: usize, side: usize) -> Self {
        let count = (degree + 1) * (degree + 1);
        let mut projection = Array2::<f64>::zeros((count, side * side));
        let middle = (side as f64 - 1.0) / 2.0;
        let scale = EQUATOR * side as f64 / 28.0;
        for point in spread(QUADRATURE) {
            let [x, y, z] = point;
            if z <= 0.0 {
                continue;
            }
            // tan(θ/2) along the same longitude.
            let (right, down) = (
                middle + scale * x / (1.0 + z),
                middle - scale * y / (1.0 + z),
            );
            let weight = 4.0 * std::f64::consts::PI / QUADRATURE as f64;
            let values = harmonics(degree, point);
            for (row, row_share) in near(down, side) {
                for (column, share) in near(right, side) {
                    let weight = weight * row_share * share;
                    for (k, value) in values.iter().enumerate() {
                        projection[(k, row * side + column)] += weight * value;
                    }
                }
            }
        }
        let samples = sampled(degree, &spread(points));
        Coefficients {
            degree,
            projection: projection.mapv(|x| x as f32),
            samples: Array2::from_shape_fn((points, count), |at| samples[at] as f32),
        }
    }

    fn of(&self, images: ArrayView2<'_, f32>) -> Array2<f32> {
        images.dot(&self.projection.t())
    }

    /// Every row rotated by a rotation of its own.
    fn rotated(&self, coefficients: &Array2<f32>, seed: u64) -> Array2<f32> {
        let degrees: Vec<Degree> = (0..=self.degree).map(Degree::new).collect();
        let mut out = coefficients.clone();
        let rotations = random_rotations(out.nrows(), seed);
        let rows: Vec<_> = out.axis_iter_mut(Axis(0)).collect();
        rows.into_par_iter()
            .zip(rotations)
            .for_each(|(mut row, angles)| {
                for (l, degree) in degrees.iter().enumerate() {
                    let range = l * l..(l + 1) * (l + 1);
                    let mut part = row.slice_axis_mut(Axis(0), range.into());
                    let before: Vec<f64> = part.iter().map(|&x| f64::from(x)).collect();
                    let after = degree.rotated(angles, &before);
                    part.iter_mut()
                        .zip(after)
                        .for_each(|(x, after)| *x = after as f32);
                }
            });
        out
    }

    fn sampled(&self, coefficients: &Array2<f32>) -> Array2<f32> {
        coefficients.dot(&self.samples.t())
    }
}

/// The pixels nearest to a place in a line, and the share of each.
fn near(place: f64, side: usize) -> Vec<(usize, f64)> {
    let first = place.floor();
    let share = place - first;
    let both = [(first, 1.0 - share), (first + 1.0, share)];
    let inside = |&(at, _): &(f64, f64)| at >= 0.0 && at < side as f64;
    both.into_iter()
        .filter(inside)
        .map(|(at, share)| (at as usize, share))
        .collect()
}

/// Digits with what they are.
struct Set {
    coefficients: Array2<f32>,
    classes: Vec<u8>,
}

pub(super) fn classify(
    folder: &Path,
    output: &Output,
    seed: u64,
    console: &Console,
) -> Result<Digits> {
    let begun = Instant::now();
    let quick = output.quick;
    let (degree, points) = if quick {
        (QUICK_DEGREE, QUICK_POINTS)
    } else {
        (DEGREE, POINTS)
    };
    let training = mnist::Digits::read(folder, Half::Training)?;
    let training = training.first(if quick { QUICK_TRAINING } else { TRAINING });
    let test = mnist::Digits::read(folder, Half::Test)?;
    let test = test.first(if quick { QUICK_TEST } else { usize::MAX });

    console.say(&format!(
        "learning rotations of degrees 0–{degree} from random functions"
    ));
    let case = Case {
        degree,
        points,
        mixed: false,
        orbits: if quick { QUICK_ORBITS } else { ORBITS },
        members: MEMBERS,
        noise: 0.0,
        needed: true,
    };
    let found = Compact::of(&moments(&case, seed)?, seed)
        .map_err(|why| Error::new("the sphere", why.to_string(), "try another --seed"))?;
    let group = found.name().to_string();

    console.say("digits on the sphere");
    let pixels = training.upright(&Changed::default(), 0, seed);
    let side = pixels.ncols().isqrt();
    let space = Coefficients::new(degree, points, side);
    let held_out = training.labels().len() / 10;
    let kept = training.labels().len() - held_out;
    let all = space.of(pixels.view());
    drop(pixels);
    let mut sets = vec![all.slice_axis(Axis(0), (..kept).into()).to_owned()];
    for copy in 1..=COPIES {
        let bent = training.upright(&CHANGED, copy, seed);
        sets.push(space.of(bent.slice_axis(Axis(0), (..kept).into())));
    }
    let views: Vec<ArrayView2<'_, f32>> = sets.iter().map(|set| set.view()).collect();
    let labels = training.labels();
    let train = Set {
        coefficients: concatenate(Axis(0), &views).expect("as many coefficients"),
        classes: labels[..kept].repeat(sets.len()),
    };
    let held = Set {
        coefficients: all.slice_axis(Axis(0), (kept..).into()).to_owned(),
        classes: labels[kept..].to_vec(),
    };
    let upright = Set {
        coefficients: space.of(test.upright(&Changed::default(), 0, seed).view()),
        classes: test.labels().to_vec(),
    };
    let rotated = Set {
        coefficients: space.rotated(&upright.coefficients, seed),
        classes: upright.classes.clone(),
    };
    let drawn = (0..DRAWN.min(upright.classes.len()))
        .map(|at| {
            let row = |set: &Set| set.coefficients.row(at).iter().map(|&x| x.into()).collect();
            (upright.classes[at], row(&upright), row(&rotated))
        })
        .collect();

    let couplings = evened(&found, &space.sampled(&held.coefficients))?;
    let refused = |error| Error::model("the model".as_ref(), error);
    let bytes = encode(
        &couplings,
        Encoding::F32,
        "digits on a sphere",
        Some(&group),
    )?;
    let model = Model::from_bytes(&bytes).map_err(refused)?;
    let couplings = ordered(&couplings);
    let powers = couplings.orders().filter(|&order| order < 3).count();
    let order: Vec<usize> = ordered_by_order(&couplings);
    let protocol = Protocol {
        hidden: if quick { vec![64] } else { vec![384, 192] },
        epochs: EPOCHS,
        batch: 256,
        rate: 0.002,
        schedule: RateSchedule::Cosine,
        dropout: 0.1,
        ..Protocol::default()
    };
    console.say("invariants of the training digits");
    let features = |set: &Set| invariants(&model, &space.sampled(&set.coefficients));
    let [train_t, held_t, upright_t, rotated_t] = [
        features(&train)?,
        features(&held)?,
        features(&upright)?,
        features(&rotated)?,
    ];
    let mut rows = Vec::new();
    let mut device = None;
    for what in ["samples", "power spectrum", "couplings"] {
        console.say(&format!("a perceptron on {what}"));
        let of = |t: &Array2<f32>, set: &Set| match what {
            "samples" => space.sampled(&set.coefficients),
            "power spectrum" => t.select(Axis(1), &order[..powers]),
            _ => t.clone(),
        };
        let inputs = of(&train_t, &train);
        let scaling = Standard::of(&inputs);
        let apply = |t: &Array2<f32>, set: &Set| scaling.applied(of(t, set));
        let inputs = scaling.applied(inputs);
        let held_inputs = apply(&held_t, &held);
        let protocol = Protocol {
            epochs: if quick || what == "couplings" {
                EPOCHS
            } else {
                BASELINE_EPOCHS
            },
            ..protocol.clone()
        };
        let mut progress = console.progress("epochs", protocol.epochs);
        let (mlp, _) = protocol.train(
            Labelled {
                inputs: &inputs,
                classes: &train.classes,
            },
            Labelled {
                inputs: &held_inputs,
                classes: &held.classes,
            },
            CLASSES,
            seed,
            &mut |epoch| progress.at(epoch.epoch),
        )?;
        let right = |t: &Array2<f32>, set: &Set| {
            let scores = outputs(&mlp, &apply(t, set));
            let classes = scores.chunks_exact(CLASSES).map(class_of);
            share(classes, &set.classes)
        };
        rows.push(Classified {
            what,
            inputs: inputs.ncols(),
            upright: right(&upright_t, &upright),
            rotated: right(&rotated_t, &rotated),
        });
        if what == "couplings" {
            let (couplings, scaling) = scaled(&couplings, &scaling)?;
            let folded = Folded::standardised(&scaling.means, &scaling.deviations, &mlp);
            let small = encode(
                &couplings,
                Encoding::F16,
                "digits on a sphere",
                Some(&group),
            )?;
            let small = Model::from_bytes(&small).map_err(refused)?;
            device = Some((
                folded.behind(&small, HeadEncoding::I8)?,
                mlp.parameters().len(),
            ));
        }
    }
    let (bytes, parameters) = device.expect("couplings are the last");
    output.write("digits.bsn", &bytes)?;
    let model = Model::from_bytes(&bytes).map_err(refused)?;
    let right = |set: &Set| -> Result<f64> {
        let classes = on_device(&model, space.sampled(&set.coefficients).view())?;
        Ok(share(classes.into_iter(), &set.classes))
    };
    rows.push(Classified {
        what: "couplings, the model for a device",
        inputs: model.pairs(),
        upright: right(&upright)?,
        rotated: right(&rotated)?,
    });
    if bytes.len() > FLASH {
        let what = format!("the model takes {} bytes", bytes.len());
        return Err(Error::new("digits.bsn", what, "lower the degree"));
    }
    let cost = Cost::of(&model, bytes.len());
    Ok(Digits {
        degree,
        points,
        group,
        training: kept,
        copies: COPIES,
        test: upright.classes.len(),
        rows,
        flash: bytes.len(),
        ram: cost.ram.streaming_bytes,
        instructions: cost.estimated_instructions,
        parameters,
        seconds: begun.elapsed().as_secs_f64(),
        drawn,
    })
}

fn share(classes: impl Iterator<Item = u8>, labels: &[u8]) -> f64 {
    let right = classes.zip(labels).filter(|(class, label)| class == *label);
    right.count() as f64 / labels.len() as f64
}

/// Terms of order one and two, then the others.
fn ordered_by_order(couplings: &Couplings) -> Vec<usize> {
    let orders: Vec<usize> = couplings.orders().collect();
    let mut numbers: Vec<usize> = (0..orders.len()).collect();
    numbers.sort_by_key(|&term| orders[term]);
    numbers
}

/// The couplings with blocks of such sizes that the degrees of digits weigh more evenly.
fn evened(found: &Compact, samples: &Array2<f32>) -> Result<Couplings> {
    let couplings = found.couplings();
    let mut basis = couplings.basis().clone();
    let samples = samples.mapv(f64::from);
    let Name::Rotations { .. } = found.name() else {
        let what = format!("{} was learned", found.name());
        return Err(Error::new("the sphere", what, "try another --seed"));
    };
    for irrep in found.irreps() {
        for &first in &irrep.copies {
            let rows = Slice::from(first..first + irrep.dimension);
            let z = samples.dot(&basis.slice_axis(Axis(0), rows).t());
            let square = z.mapv(|z| z * z).sum() / z.len() as f64;
            let scale = square.powf((EVENNESS - 1.0) / 2.0);
            basis
                .slice_axis_mut(Axis(0), rows)
                .mapv_inplace(|u| u * scale);
        }
    }
    // The core has numbers below 65,536 only; the size of U says nothing.
    let largest = basis.iter().fold(0.0_f64, |most, u| most.max(u.abs()));
    basis.mapv_inplace(|u| u / largest);
    let (tensors, terms) = (couplings.tensors().to_vec(), couplings.terms().to_vec());
    Ok(Couplings::new(basis, tensors, terms)?)
}

/// The couplings with terms of deviation one, so that a byte suits all weights of a perceptron behind them; and what is left
/// to standardise.
fn scaled(couplings: &Couplings, by: &Standard) -> Result<(Couplings, Standard)> {
    let (mut tensors, mut terms) = (Vec::new(), Vec::new());
    for (term, deviation) in couplings.terms().iter().zip(&by.deviations) {
        let tensor = &couplings.tensors()[term.tensor];
        let entries: std::result::Result<Vec<Entry>, _> = (tensor.entries().iter())
            .map(|entry| {
                let index = entry.index().map(usize::from);
                Entry::new(
                    &index[..tensor.order()],
                    entry.value / f64::from(*deviation),
                )
            })
            .collect();
        terms.push(Term {
            tensor: tensors.len(),
            offsets: term.offsets.clone(),
        });
        tensors.push(Tensor::new(tensor.dims(), entries?)?);
    }
    let both = by.means.iter().zip(&by.deviations);
    let left = Standard {
        means: both.map(|(mean, deviation)| mean / deviation).collect(),
        deviations: vec![1.0; by.means.len()],
    };
    let couplings = Couplings::new(couplings.basis().clone(), tensors, terms)?;
    Ok((couplings, left))
}

/// The invariants of each row, by the core.
fn invariants(model: &Model<'_>, samples: &Array2<f32>) -> Result<Array2<f32>> {
    let terms = model.pairs();
    let rows: Vec<_> = samples.axis_iter(Axis(0)).collect();
    let found: std::result::Result<Vec<Vec<f32>>, bispectral_core::Error> = rows
        .into_par_iter()
        .map(|row| {
            Ok(model
                .invariants_vec(&row.to_vec())?
                .iter()
                .map(|t| t.re)
                .collect())
        })
        .collect();
    let found = found.map_err(|error| {
        Error::new("a digit", error.to_string(), "leave out digits without ink")
    })?;
    Ok(Array2::from_shape_vec((found.len(), terms), found.concat()).expect("one a term"))
}

/// Means and deviations of inputs.
struct Standard {
    means: Vec<f32>,
    deviations: Vec<f32>,
}

impl Standard {
    fn of(inputs: &Array2<f32>) -> Self {
        let count = inputs.nrows() as f64;
        let (mut means, mut deviations) = (Vec::new(), Vec::new());
        for column in inputs.axis_iter(Axis(1)) {
            let mean = column.iter().map(|&x| f64::from(x)).sum::<f64>() / count;
            let square = column
                .iter()
                .map(|&x| (f64::from(x) - mean).powi(2))
                .sum::<f64>();
            means.push(mean as f32);
            deviations.push(((square / count).sqrt() as f32).max(f32::MIN_POSITIVE));
        }
        Standard { means, deviations }
    }

    fn applied(&self, mut inputs: Array2<f32>) -> Array2<f32> {
        for mut row in inputs.rows_mut() {
            let both = self.means.iter().zip(&self.deviations);
            let cells = row.iter_mut().zip(both);
            cells.for_each(|(x, (mean, deviation))| *x = (*x - mean) / deviation);
        }
        inputs
    }
}

impl Digits {
    pub(super) fn words(&self) -> String {
        let mut text = format!(
            "digits on the sphere: {} of degrees 0–{} from orbits of random functions at {} points, then {} training digits and {} bent copies of each, {} test digits, {:.0} s\n",
            self.group,
            self.degree,
            self.points,
            self.training,
            self.copies,
            self.test,
            self.seconds
        );
        for row in &self.rows {
            text += &format!(
                "  {:<36} {:>4} inputs: NR/NR {:.2} %, NR/R {:.2} %\n",
                row.what,
                row.inputs,
                100.0 * row.upright,
                100.0 * row.rotated
            );
        }
        text += &format!(
            "  digits.bsn: {} bytes of flash, {} of RAM and the stack, {} instructions (estimate), a perceptron of {} weights",
            self.flash, self.ram, self.instructions, self.parameters
        );
        text
    }

    pub(super) fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            (
                "digits",
                format!(
                    "{} to train on, {} bent copies of each, none turned; {} to test",
                    self.training, self.copies, self.test
                ),
            ),
            (
                "model",
                format!(
                    "{} bytes of flash, {} of RAM and the stack, {} instructions (estimate), {} weights",
                    self.flash, self.ram, self.instructions, self.parameters
                ),
            ),
            ("seconds", format!("{:.0}", self.seconds)),
        ]
    }

    /// The degree of the digits' harmonics.
    pub(super) fn degree(&self) -> usize {
        self.degree
    }
}
