//! How attacks are run and shown: targets, and below them what shares their features, moved back as far as that goes.

use bispectral_learn::analysis::attack::Summary;
use bispectral_learn::analysis::descent::Progress;
use bispectral_learn::analysis::trial::{Features, Outcome, Trial};
use bispectral_learn::group::Couplings;
use bispectral_learn::{Error, Result};
use bispectral_report::{Drawing, Table, Tiles};
use bispectral_run::console::Console;
use bispectral_run::training::stop_on_interrupt;
use ndarray::{Array2, ArrayView1};
use std::sync::atomic::Ordering;

/// A line of numbers is drawn as a strip of so much of its width.
const STRIP: usize = 4;

/// The first `most` targets, and a row of what each attack made of them, with the distance from the target's orbit (of
/// the signals themselves where nobody knows how they move).
#[must_use]
pub fn compare(
    targets: &Array2<f32>,
    shape: (usize, usize),
    outcomes: &[&Outcome],
    most: usize,
) -> Drawing {
    let columns = targets.nrows().min(most);
    let (height, width) = match shape {
        (1, width) => ((width / STRIP).max(1), width),
        shape => shape,
    };
    let mut images = Array2::zeros((columns * (outcomes.len() + 1), height * width));
    let mut labels = Vec::with_capacity(images.nrows());
    let mut rows = images.rows_mut().into_iter();
    let mut draw = |image: ArrayView1<'_, f32>, label: String| {
        if let Some(mut row) = rows.next() {
            let pixels = image.iter().cycle();
            row.iter_mut().zip(pixels).for_each(|(to, x)| *to = *x);
        }
        labels.push(label);
    };
    for k in 0..columns {
        draw(targets.row(k), format!("target {k}"));
    }
    for outcome in outcomes {
        for k in 0..columns {
            match &outcome.endings {
                Some(endings) => {
                    let ending = &endings[k];
                    let missed = if ending.reached { "" } else { " (not reached)" };
                    draw(
                        ArrayView1::from(&ending.moved),
                        format!("{:.3}{missed}", ending.orbit),
                    );
                }
                None => {
                    let distance = outcome.attacked.distances[k];
                    draw(outcome.attacked.metamers.row(k), format!("{distance:.0e}"));
                }
            }
        }
    }
    Tiles::new(images.iter().copied(), (height, width), columns, &labels).into()
}

/// Runs an attack, tells how far it is, and stops at Ctrl-C.
///
/// # Errors
/// It was stopped, or a target has no features.
pub fn follow(trial: &Trial<'_>, features: Features, console: &Console) -> Result<Outcome> {
    observed(trial, console, |observe| trial.run(features, observe))
}

/// [`follow`], of an attack by the invariants of couplings.
///
/// # Errors
/// As there.
pub fn follow_couplings(
    trial: &Trial<'_>,
    couplings: &Couplings,
    console: &Console,
) -> Result<Outcome> {
    observed(trial, console, |observe| {
        trial.run_couplings(couplings, observe)
    })
}

/// An attack whose progress the console shows.
fn observed(
    trial: &Trial<'_>,
    console: &Console,
    attack: impl FnOnce(&mut dyn FnMut(u32, Progress) -> Result<()>) -> Result<Outcome>,
) -> Result<Outcome> {
    let total = trial.steps * (trial.restarts as usize + 1);
    let mut progress = console.progress("steps", total);
    let stop = stop_on_interrupt();
    attack(&mut |round, now| {
        let done = round as usize * trial.steps + now.steps;
        progress.tell(done, |_| format!(", {} signals still move", now.moving));
        if stop.load(Ordering::Relaxed) {
            return Err(Error::new("the attack", "stopped", "begin again"));
        }
        Ok(())
    })
}

/// A distance, or that there is none.
#[must_use]
pub fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{value:.4}"))
}

/// What a table says of attacks.
#[must_use]
pub fn columns(table: Table) -> Table {
    let names = [
        "attacks",
        "reached",
        "in the orbit",
        "nearest to their own orbit",
        "median distance",
        "largest distance",
    ];
    names.into_iter().fold(table, Table::numbers)
}

/// What is in its [`columns`].
#[must_use]
pub fn cells(summary: &Summary) -> [String; 6] {
    [
        summary.targets.to_string(),
        summary.reached.to_string(),
        summary.inside.to_string(),
        summary.nearest.to_string(),
        number(summary.median_orbit),
        number(summary.largest_orbit),
    ]
}

/// What counts on a grid of pixels.
pub const ROTATION: &str = "On a grid of pixels a rotation is not undone by turning back, and learned features \
    change a little on the way, so a target's own rotated copies are the measure: its features are reached where a signal's \
    are as near as those of half of its copies, and a signal is in its orbit where, turned back, it is no further from the \
    target than the furthest of the copies, turned back.";
