//! Random signals from all of their invariants.

use bispectral_learn::Result;
use bispectral_learn::analysis::certification::{certified, orbit_distance};
use bispectral_learn::analysis::form_inversion::invert_forms;
use bispectral_learn::group::known_action;
use bispectral_learn::numeric::random::{Purpose, stream_at};
use bispectral_run::console::Console;
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use serde::Serialize;
use std::fmt::Write as _;
use std::time::Instant;

const GROUPS: [&str; 9] = ["S3", "D4", "Q8", "D8", "A4", "S4", "A5", "Dic6", "Z7⋊Z3"];
const QUICK_GROUPS: [&str; 4] = ["S3", "D4", "A4", "S4"];
const SIGNALS: usize = 1000;
const QUICK_SIGNALS: usize = 20;
/// Of 1000 signals.
const EXPECTED: usize = 999;
/// A signal of unit length nearer than this to the orbit has come back.
const BACK: f64 = 1e-6;
const STARTS: usize = 400;

#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) group: String,
    pub(super) invariants: usize,
    pub(super) signals: usize,
    /// Those that came back, up to the group.
    pub(super) back: usize,
    /// Those whose invariants another signal has, which was found instead.
    pub(super) others: usize,
    /// Starts of one signal: the median and the most.
    pub(super) starts: [usize; 2],
    pub(super) median_milliseconds: f64,
}

impl Row {
    pub(super) fn is_enough(&self) -> bool {
        self.back * SIGNALS >= EXPECTED * self.signals
    }
}

pub(super) fn run(quick: bool, seed: u64, console: &Console) -> Result<Vec<Row>> {
    let (groups, signals): (&[&str], usize) = if quick {
        (&QUICK_GROUPS, QUICK_SIGNALS)
    } else {
        (&GROUPS, SIGNALS)
    };
    let mut rows = Vec::new();
    for name in groups {
        console.say(&format!("inverting invariants of {name}"));
        rows.push(row(name, signals, seed)?);
    }
    Ok(rows)
}

fn row(name: &str, signals: usize, seed: u64) -> Result<Row> {
    let action = known_action(name, None)?;
    let couplings = certified(&action, 0, 0)?.couplings;
    let invert = |at: usize| -> Result<(bool, bool, usize, f64)> {
        let mut random = stream_at(seed, Purpose::Exemplars, [at as u64, 8]);
        let x: Vec<f64> = (0..action.degree())
            .map(|_| random.sample(StandardNormal))
            .collect();
        let target = couplings.invariants(&x)?;
        let begun = Instant::now();
        let found = invert_forms(&couplings, &target, STARTS, seed ^ at as u64);
        let seconds = begun.elapsed().as_secs_f64();
        let back = orbit_distance(&action, &x, &found.signal) < BACK;
        Ok((back, found.is_solved() && !back, found.starts, seconds))
    };
    let all: Result<Vec<_>> = (0..signals).into_par_iter().map(invert).collect();
    let all = all?;
    let mut starts: Vec<usize> = all.iter().map(|one| one.2).collect();
    starts.sort_unstable();
    let mut seconds: Vec<f64> = all.iter().map(|one| one.3).collect();
    seconds.sort_by(f64::total_cmp);
    Ok(Row {
        group: name.to_owned(),
        invariants: couplings.terms().len(),
        signals,
        back: all.iter().filter(|one| one.0).count(),
        others: all.iter().filter(|one| one.1).count(),
        starts: [starts[signals / 2], starts[signals - 1]],
        median_milliseconds: 1e3 * seconds[signals / 2],
    })
}

pub(super) fn words(rows: &[Row]) -> String {
    let mut text = format!(
        "{:<8} {:>10} {:>8} {:>6} {:>13} {:>14} {:>9}\n",
        "group", "invariants", "signals", "back", "other signals", "starts (most)", "ms median"
    );
    for row in rows {
        let _ = writeln!(
            text,
            "{:<8} {:>10} {:>8} {:>6} {:>13} {:>14} {:>9.2}",
            row.group,
            row.invariants,
            row.signals,
            row.back,
            row.others,
            format!("{} ({})", row.starts[0], row.starts[1]),
            row.median_milliseconds
        );
    }
    text
}
