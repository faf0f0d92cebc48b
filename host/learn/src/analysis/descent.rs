//! From noise to signals that have given representations: x ← x − Adam(∂‖f(x) − t‖²/∂x), many signals at a time.
//!
//! What is descended on does not change with the length of x, so every signal keeps the length it began with, and a
//! step of the rate means the same all the way. Each signal has a rate of its own: it is divided by ten where the
//! distance does not fall any more, and the signal goes on from the nearest place it has been to.

use super::representation::Representation;
use crate::limits::interruption;
use crate::numeric::adam::Adam;
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
/// `observe` is told of every step; where it fails, the descent ends with that.
///
/// # Errors
/// The starts do not fit the representation, one of them is not finite, or `observe` failed.
pub fn descend(
    representation: &mut impl Representation,
    which: &[usize],
    starts: &ArrayView2<'_, f32>,
    settings: &Settings,
    mut observe: impl FnMut(Progress) -> Result<()>,
) -> Result<Descended> {
    let mut descent = Descent::new(representation, which, starts, settings)?;
    while descent.moving() > 0 {
        observe(descent.step(representation)?)?;
    }
    Ok(descent.found)
}

/// A descent on its way, for a caller that wants to see every step.
pub struct Descent {
    walkers: Vec<Walker>,
    which: Vec<usize>,
    settings: Settings,
    found: Descended,
    signals: Vec<f32>,
    gradient: Vec<f32>,
}

impl Descent {
    /// Before its first step: see [`descend`].
    ///
    /// # Errors
    /// The starts do not fit the representation.
    pub fn new(
        representation: &impl Representation,
        which: &[usize],
        starts: &ArrayView2<'_, f32>,
        settings: &Settings,
    ) -> Result<Self> {
        check(representation, which, starts)?;
        let count = starts.nrows();
        let walkers = (0..count).map(|k| Walker::new(k, starts.row(k).to_vec(), settings));
        Ok(Descent {
            walkers: walkers.collect(),
            which: which.to_vec(),
            settings: settings.clone(),
            found: Descended {
                signals: starts.to_owned(),
                distances: vec![f64::INFINITY; count],
                steps: 0,
            },
            signals: Vec::new(),
            gradient: Vec::new(),
        })
    }

    /// Signals that still move.
    #[must_use]
    pub fn moving(&self) -> usize {
        self.walkers.len()
    }

    /// One step of all signals that move. `representation` is that of [`new`](Self::new).
    ///
    /// # Errors
    /// The representation refuses a signal.
    pub fn step(&mut self, representation: &mut impl Representation) -> Result<Progress> {
        interruption::check();
        let Descent {
            walkers,
            which,
            settings,
            found,
            signals,
            gradient,
        } = self;
        signals.clear();
        walkers.iter().for_each(|walker| signals.extend(&walker.x));
        gradient.resize(signals.len(), 0.0);
        let targets: Vec<usize> = walkers.iter().map(|walker| which[walker.row]).collect();
        let squares = representation.approach(signals, &targets, gradient)?;
        let last = found.steps == settings.steps;
        let slopes = gradient.chunks_exact_mut(found.signals.ncols());
        let mut moving = Vec::with_capacity(walkers.len());
        for ((mut walker, slope), square) in walkers.drain(..).zip(slopes).zip(squares) {
            let stays = walker.stays(square.sqrt(), settings) || last;
            if stays {
                found.record(walker.row, walker.least, &walker.nearest);
            } else {
                walker.step(slope, settings);
                moving.push(walker);
            }
        }
        *walkers = moving;
        found.steps += usize::from(!walkers.is_empty());
        Ok(Progress {
            steps: found.steps,
            moving: walkers.len(),
        })
    }

    /// The nearest that each signal has come so far.
    #[must_use]
    pub fn so_far(&self) -> Descended {
        let mut found = self.found.clone();
        for walker in &self.walkers {
            found.record(walker.row, walker.least, &walker.nearest);
        }
        found
    }
}

impl Descended {
    fn record(&mut self, row: usize, distance: f64, nearest: &[f32]) {
        self.distances[row] = distance;
        let to = self.signals.row_mut(row);
        to.into_iter().zip(nearest).for_each(|(to, x)| *to = *x);
    }
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
    /// Whether it just went back there.
    returned: bool,
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
            returned: false,
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
            self.returned = true;
            self.adam = Adam::new(self.x.len());
        }
        // A signal without a direction has no gradient.
        self.least <= settings.reached || self.plateaus > settings.plateaus || self.length == 0.0
    }

    fn step(&mut self, slope: &mut [f32], settings: &Settings) {
        // The slope is that of where it came from.
        if std::mem::take(&mut self.returned) {
            return;
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::representation::Bispectrum;
    use crate::data::group::Group;
    use ndarray::array;
    use num_complex::Complex32;

    /// The bispectrum on Z5, to be that of two signals.
    fn bispectrum() -> Bispectrum {
        let group: Group = "Z5".parse().unwrap();
        let w = group.characters();
        let w = w.mapv(|w| Complex32::new(w.re as f32, w.im as f32));
        let targets = array![[3.0, 1.0, 0.0, -1.0, 0.5], [0.0, 1.0, 4.0, -2.0, 1.0]];
        Bispectrum::of_signals(&w.view(), &targets.view()).unwrap()
    }

    fn starts() -> Array2<f32> {
        array![[0.3, -1.2, 0.4, 1.0, 0.2], [1.0, 0.7, -0.6, 0.1, -0.4]]
    }

    #[test]
    fn signals_reach_their_targets_and_keep_their_length() {
        let starts = starts();
        let mut seen = 0;
        let found = descend(
            &mut bispectrum(),
            &[1, 0],
            &starts.view(),
            &Settings::default(),
            |progress| {
                seen = progress.steps;
                Ok(())
            },
        );
        let found = found.unwrap();
        assert!(found.distances.iter().all(|d| *d <= 1e-4), "{found:?}");
        assert_eq!(found.steps, seen);
        let mut slopes = [0.0; 10];
        let ended: Vec<f32> = found.signals.iter().copied().collect();
        let squares = bispectrum().approach(&ended, &[1, 0], &mut slopes).unwrap();
        for (square, distance) in squares.iter().zip(&found.distances) {
            // The same signals in the same batch or in a smaller one.
            assert!((square.sqrt() - distance).abs() < 1e-6);
        }
        for (start, end) in starts.rows().into_iter().zip(found.signals.rows()) {
            let (before, after) = (length(&start.to_vec()), length(&end.to_vec()));
            assert!((before - after).abs() < 1e-5, "{before} {after}");
        }
    }

    #[test]
    fn what_is_outside_the_support_stays() {
        let settings = Settings {
            support: vec![true, true, true, false, true],
            steps: 50,
            ..Settings::default()
        };
        let mut starts = starts();
        starts.column_mut(3).fill(0.0);
        let found = descend(
            &mut bispectrum(),
            &[0, 1],
            &starts.view(),
            &settings,
            |_| Ok(()),
        );
        let found = found.unwrap();
        assert!(found.signals.column(3).iter().all(|&x| x == 0.0));
        assert_ne!(found.signals, starts);
    }

    #[test]
    fn a_signal_without_direction_is_left_where_it_is() {
        let zeros = Array2::zeros((1, 5));
        let settings = Settings::default();
        let found = descend(
            &mut bispectrum(),
            &[0],
            &zeros.view(),
            &settings,
            |_| Ok(()),
        );
        let found = found.unwrap();
        assert_eq!((found.steps, found.signals), (0, zeros));
    }

    #[test]
    fn steps_are_at_most_those_allowed() {
        for steps in [0, 3] {
            let settings = Settings {
                steps,
                ..Settings::default()
            };
            let found = descend(
                &mut bispectrum(),
                &[0, 1],
                &starts().view(),
                &settings,
                |_| Ok(()),
            );
            assert_eq!(found.unwrap().steps, steps);
        }
    }

    #[test]
    fn starts_that_do_not_fit_are_refused() {
        let starts = starts();
        let narrow = starts.select(ndarray::Axis(1), &[0, 1, 2, 3]);
        for (which, starts) in [
            (&[0][..], starts.view()),
            (&[0, 2], starts.view()),
            (&[0, 1], narrow.view()),
        ] {
            let found = descend(
                &mut bispectrum(),
                which,
                &starts,
                &Settings::default(),
                |_| Ok(()),
            );
            let line = found.unwrap_err().to_string();
            assert!(line.starts_with("the starts: 2 of "), "{line}");
        }
    }
}
