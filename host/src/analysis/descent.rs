//! From noise to signals that have given representations: x ← x − Adam(∂‖f(x) − t‖²/∂x), many signals at a time.
//!
//! What is descended on does not change with the length of x, so every signal keeps the length it began with, and a
//! step of the rate means the same all the way. Each signal has a rate of its own: it is divided by ten where the
//! distance does not fall any more, and the signal goes on from the nearest place it has been to.

use super::representation::Representation;
use crate::train::adam::Adam;
use crate::{Error, Result};
use ndarray::{Array2, ArrayView2};

/// Of how many steps a plateau is, and by which share the distance has to fall within them.
const PATIENCE: usize = 50;
const LEAST_FALL: f64 = 0.02;
const DECAY: f64 = 0.1;

/// How far and how fast.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The first rate, for signals whose numbers are of about one.
    pub rate: f64,
    /// How often it is divided by ten before a signal is left where it is.
    pub plateaus: u32,
    /// Steps at most.
    pub steps: usize,
    /// ‖f(x) − t‖ below which a signal has reached its target.
    pub reached: f64,
    /// Which numbers of a signal may change; all of them where it is empty.
    pub support: Vec<bool>,
}

impl Default for Settings {
    /// The paper's rate of 0.1, divided by ten up to four times.
    fn default() -> Self {
        Settings {
            rate: 0.1,
            plateaus: 4,
            steps: 5000,
            reached: 1e-4,
            support: Vec::new(),
        }
    }
}

/// Where signals ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Descended {
    /// The nearest that each came, one a row.
    pub signals: Array2<f32>,
    /// ‖f(x) − t‖ of each.
    pub distances: Vec<f64>,
    /// How many steps the last of them took.
    pub steps: usize,
}

/// How far a descent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Steps that were taken.
    pub steps: usize,
    /// Signals that still move.
    pub moving: usize,
}

/// Moves the rows of `starts` to where `representation` takes the values of its targets, row k to target `which[k]`.
///
/// # Errors
/// The starts do not fit the representation, or one of them is not finite.
pub fn descend(
    representation: &mut impl Representation,
    which: &[usize],
    starts: &ArrayView2<'_, f32>,
    settings: &Settings,
    mut observe: impl FnMut(Progress),
) -> Result<Descended> {
    let (count, inputs) = starts.dim();
    check(representation, which, starts)?;
    let mut walkers: Vec<Walker> = (0..count)
        .map(|k| Walker::new(k, starts.row(k).to_vec(), settings))
        .collect();
    let mut found = Descended {
        signals: starts.to_owned(),
        distances: vec![f64::INFINITY; count],
        steps: 0,
    };
    let (mut signals, mut gradient) = (Vec::new(), Vec::new());
    while !walkers.is_empty() {
        signals.clear();
        walkers.iter().for_each(|walker| signals.extend(&walker.x));
        gradient.resize(signals.len(), 0.0);
        let targets: Vec<usize> = walkers.iter().map(|walker| which[walker.row]).collect();
        let squares = representation.approach(&signals, &targets, &mut gradient)?;
        let last = found.steps == settings.steps;
        let slopes = gradient.chunks_exact_mut(inputs);
        let mut moving = Vec::with_capacity(walkers.len());
        for ((mut walker, slope), square) in walkers.into_iter().zip(slopes).zip(squares) {
            if walker.stays(square.sqrt(), settings) || last {
                found.distances[walker.row] = walker.least;
                let row = found.signals.row_mut(walker.row);
                row.into_iter()
                    .zip(walker.nearest)
                    .for_each(|(to, x)| *to = x);
            } else {
                walker.step(slope, settings);
                moving.push(walker);
            }
        }
        walkers = moving;
        found.steps += usize::from(!walkers.is_empty());
        observe(Progress {
            steps: found.steps,
            moving: walkers.len(),
        });
    }
    Ok(found)
}

fn check(
    representation: &impl Representation,
    which: &[usize],
    starts: &ArrayView2<'_, f32>,
) -> Result<()> {
    let (inputs, targets) = (representation.inputs(), representation.targets());
    let (count, length) = starts.dim();
    let known = which.iter().all(|&target| target < targets);
    if length == inputs && which.len() == count && known {
        return Ok(());
    }
    Err(Error::new(
        "the starts",
        format!(
            "{count} of {length} numbers, for {} of {targets} targets",
            which.len()
        ),
        format!("give one of {inputs} numbers for each"),
    ))
}

/// One signal on its way.
struct Walker {
    /// Of the starts.
    row: usize,
    x: Vec<f32>,
    length: f64,
    adam: Adam,
    rate: f64,
    plateaus: u32,
    /// The least distance so far, and where that was.
    least: f64,
    nearest: Vec<f32>,
    /// What the distance has to fall below, and for how many steps it has not.
    goal: f64,
    waited: usize,
}

impl Walker {
    fn new(row: usize, x: Vec<f32>, settings: &Settings) -> Self {
        Walker {
            row,
            length: length(&x),
            adam: Adam::new(x.len()),
            rate: settings.rate,
            plateaus: 0,
            least: f64::INFINITY,
            nearest: x.clone(),
            goal: f64::INFINITY,
            waited: 0,
            x,
        }
    }

    /// Takes in the distance from its target. Whether it stays where it is.
    fn stays(&mut self, distance: f64, settings: &Settings) -> bool {
        if distance < self.least {
            self.least = distance;
            self.nearest.clone_from(&self.x);
        }
        self.waited += 1;
        if self.least < self.goal {
            (self.goal, self.waited) = (self.least * (1.0 - LEAST_FALL), 0);
        } else if self.waited >= PATIENCE {
            self.plateaus += 1;
            self.rate *= DECAY;
            self.waited = 0;
            self.x.clone_from(&self.nearest);
            self.adam = Adam::new(self.x.len());
        }
        // A signal without a direction has no gradient.
        self.least <= settings.reached || self.plateaus > settings.plateaus || self.length == 0.0
    }

    fn step(&mut self, slope: &mut [f32], settings: &Settings) {
        for (slope, inside) in slope.iter_mut().zip(&settings.support) {
            if !inside {
                *slope = 0.0;
            }
        }
        self.adam.update(self.x.iter_mut(), slope.iter(), self.rate);
        let now = length(&self.x);
        if now > 0.0 {
            let scale = (self.length / now) as f32;
            self.x.iter_mut().for_each(|x| *x *= scale);
        }
    }
}

fn length(x: &[f32]) -> f64 {
    let squares = x.iter().map(|&x| f64::from(x) * f64::from(x));
    squares.sum::<f64>().sqrt()
}
