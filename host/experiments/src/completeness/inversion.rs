//! Random signals from their invariants: all of them, n of them, and with noise.

use super::Output;
use bispectral_learn::analysis::inversion::trial::{Pairs, Trial};
use bispectral_learn::data::group::Group;
use bispectral_learn::{Error, Result};
use bispectral_report::{Chart, Curve, Panel, Scale};
use bispectral_report::{Section, Table};
use bispectral_run::console::Console;
use serde::Serialize;
use std::fmt::Write as _;
use std::time::Instant;

const GROUPS: [&str; 4] = ["Z8", "Z4xZ2", "Z2xZ2xZ2", "Z16xZ16"];
const PAIRS: [Pairs; 4] = [
    Pairs::Full,
    Pairs::Selective(2),
    Pairs::Selective(1),
    Pairs::Least,
];
const SIGNALS: usize = 1000;
const QUICK_SIGNALS: usize = 40;
/// A signal with a smaller error has come back.
const BACK: f64 = 1e-3;
/// So many of a hundred are to, from all invariants and from as many as the group has elements.
const EXPECTED: f64 = 99.9;

/// Groups whose error is drawn against noise, signals for each point, and the powers of ten that noise is.
const DRAWN: [&str; 2] = ["Z8", "Z16xZ16"];
const OF_POINT: usize = 100;
const QUICK_OF_POINT: usize = 10;
const POWERS: [f64; 7] = [-6.0, -5.0, -4.0, -3.0, -2.0, -1.5, -1.0];
const FIGURE: &str = "inversion-noise";

/// The signals of one group from some of their invariants.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    group: String,
    pairs: String,
    invariants: usize,
    signals: usize,
    /// Of a hundred.
    back: f64,
    median: f64,
    worst: f64,
    seconds: f64,
}

/// The rows, and the picture of error against noise.
pub(super) fn run(output: &Output, seed: u64, console: &Console) -> Result<(Vec<Row>, Chart)> {
    let (signals, of_point) = match output.quick {
        true => (QUICK_SIGNALS, QUICK_OF_POINT),
        false => (SIGNALS, OF_POINT),
    };
    let (mut rows, mut panels) = (Vec::new(), Vec::new());
    for name in GROUPS {
        let group: Group = name.parse()?;
        let mut curves = Vec::new();
        for pairs in PAIRS {
            console.say(&format!("inverting invariants of {group}: {pairs}"));
            let begun = Instant::now();
            let trial = Trial::new(&group, pairs)?;
            let errors = trial.errors(signals, 0.0, seed)?;
            rows.push(Row::of(name, pairs, &trial, &errors, begun));
            if DRAWN.contains(&name) {
                curves.push(curve(&trial, pairs, of_point, seed)?);
            }
        }
        if !curves.is_empty() {
            panels.push(Panel {
                title: format!("{group}, median of {of_point} signals"),
                y_label: "‖c g x̃ − x‖ / ‖x‖".into(),
                scale: Scale::Log,
                curves,
            });
        }
    }
    let chart = Chart {
        title: "Inversion of noisy invariants".into(),
        x_label: "log₁₀ of the noise on β̄, as a share of it".into(),
        x: POWERS.to_vec(),
        panels,
    };
    Ok((rows, chart))
}

fn curve(trial: &Trial, pairs: Pairs, of_point: usize, seed: u64) -> Result<Curve> {
    let point = |power: &f64| -> Result<f64> {
        let errors = trial.errors(of_point, 10.0_f64.powf(*power), seed)?;
        Ok(errors[errors.len() / 2])
    };
    Ok(Curve {
        label: format!("{pairs}: {}", trial.invariants()),
        values: POWERS.iter().map(point).collect::<Result<_>>()?,
        predicted: None,
    })
}

impl Row {
    fn of(name: &str, pairs: Pairs, trial: &Trial, errors: &[f64], begun: Instant) -> Self {
        let back = errors.iter().filter(|error| **error < BACK).count();
        Row {
            group: name.into(),
            pairs: pairs.to_string(),
            invariants: trial.invariants(),
            signals: errors.len(),
            back: 100.0 * back as f64 / errors.len().max(1) as f64,
            median: errors.get(errors.len() / 2).copied().unwrap_or(0.0),
            worst: errors.last().copied().unwrap_or(0.0),
            seconds: begun.elapsed().as_secs_f64(),
        }
    }
}

pub(super) fn words(rows: &[Row]) -> String {
    let mut text = format!(
        "{:<10} {:<12} {:>10} {:>8} {:>9} {:>9} {:>9} {:>8}\n",
        "group", "pairs", "invariants", "signals", "back", "median", "worst", "seconds"
    );
    for row in rows {
        let _ = writeln!(
            text,
            "{:<10} {:<12} {:>10} {:>8} {:>7.1} % {:>9.1e} {:>9.1e} {:>8.1}",
            row.group,
            row.pairs,
            row.invariants,
            row.signals,
            row.back,
            row.median,
            row.worst,
            row.seconds,
        );
    }
    let _ = write!(
        text,
        "Back: of random signals, those rebuilt from their invariants with an error below {BACK:.0e}, up to the group and a \
         positive factor."
    );
    text
}

/// That signals come back from all invariants, and from as many as the group has elements.
pub(super) fn check(output: &Output, rows: &[Row]) -> Result<()> {
    let least = Pairs::Least.to_string();
    let short = rows
        .iter()
        .find(|row| row.pairs != least && row.back < EXPECTED);
    match short {
        None => Ok(()),
        Some(row) => {
            let what = format!(
                "{}, {}: {:.1} of 100 signals came back where {EXPECTED} were expected",
                row.group, row.pairs, row.back
            );
            Err(Error::file(output.folder(), what, "see results.json"))
        }
    }
}

pub(super) fn section(rows: &[Row], noise: &Chart) -> Section {
    let table = Table::new("Random signals rebuilt from their invariants")
        .words("group")
        .words("pairs")
        .numbers("invariants")
        .numbers("signals")
        .numbers("back")
        .numbers("median error")
        .numbers("worst error")
        .numbers("seconds");
    let table = rows.iter().fold(table, |table, row| {
        table.row([
            row.group.clone(),
            row.pairs.clone(),
            row.invariants.to_string(),
            row.signals.to_string(),
            format!("{:.1} %", row.back),
            format!("{:.1e}", row.median),
            format!("{:.1e}", row.worst),
            format!("{:.1}", row.seconds),
        ])
    });
    Section::new("Inversion")
        .paragraph(
            "An invariant is the product of three coefficients of a signal. A recursion from one coefficient to the next and least \
             squares over all invariants give the signal back, up to the group and a positive factor: so nothing else was \
             lost. The full triangle has n(n+1)/2 invariants for a group of n elements; n of them, chosen so that every \
             coefficient is reached (selective), or about n/2 + 1, since signals are real (least), give back the same. With \
             selective:2 every coefficient is reached in two ways, and any one of them may be zero.",
        )
        .table(table)
        .figure(
            FIGURE,
            noise.clone(),
            "Curves of the error of inversion, rising with the noise on the invariants",
            "The more invariants there are, the more of their noise is averaged out.",
        )
}
