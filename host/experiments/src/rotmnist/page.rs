//! The page of the experiment: how often each classifier is right, and which digits the best one takes for others.

use super::{Digits, Results, Rotmnist, Row, best};
use bispectral_report::number::percent;
use bispectral_report::{Chart, Curve, Panel, Scale};
use bispectral_report::{Drawing, Page, Section, Table, Tiles};
use ndarray::Axis;

/// Digits that are shown, and mistakes.
const SHOWN: usize = 30;
/// Beside each other.
const COLUMNS: usize = 10;
/// What others report on turned digits, of 12,000 to train on and 28 × 28 pixels.
const OTHERS: [(&str, &str); 3] = [
    ("Harmonic Networks (Worrall et al. 2017)", "98.3 %"),
    ("Augerino (Benton et al. 2020)", "98.9 %"),
    ("E2CNN (Weiler and Cesa 2019)", "99.3 %"),
];

impl Rotmnist {
    pub(super) fn page(&self, results: &Results, digits: &Digits) -> Page {
        let best = best(&results.rows);
        let lead = format!(
            "Each of MNIST's digits is turned by an angle of its own. The invariants were learned from photographs and have \
             never seen a digit; of {} test digits {} are classified as what they are: {}.",
            best.evaluated.samples,
            best.evaluated.right,
            percent(best.accuracy),
        );
        let mut page = Page::new("RotatedDigits digits", lead).section(self.accuracies(results));
        if results.rows.iter().any(|row| row.device.is_some()) {
            page = page.section(on_device(results));
        }
        if let Some(chart) = training(best) {
            page = page.section(Section::new("How training went").figure(
                "training",
                chart,
                "Above, falling losses over epochs; below, the share of held-out digits that are right",
                "The best variant. The loss of the digits it is trained on goes on falling when that of the held-out ones does \
                 not any more.",
            ));
        }
        let (test, taken) = (&digits.test, &best.evaluated.taken);
        let shown: Vec<usize> = (0..test.labels.len().min(SHOWN)).collect();
        let wrong = |&at: &usize| i64::from(taken[at]) != test.labels[at];
        let wrong: Vec<usize> = (0..taken.len()).filter(wrong).take(SHOWN).collect();
        page.section(Section::new("The digits").figure(
            "digits",
            tiles(results, digits, &shown, |at| test.labels[at].to_string()),
            "Thirty digits, turned, each with its name below",
            "What is classified: test digits, turned, inside a disk.",
        ))
        .section(
            Section::new("Mistakes")
                .paragraph(
                    "Six and nine are each other's half turns: only their writing tells them apart once the angle is \
                     gone.",
                )
                .figure(
                    "mistakes",
                    tiles(results, digits, &wrong, |at| format!("{} → {}", test.labels[at], taken[at])),
                    "Digits that were taken for others, each with what it is and what it was taken for",
                    "Digits that the best variant takes for others: what it is → what it was taken for.",
                )
                .table(confusion(results)),
        )
        .section(
            Section::new("What was run").facts(self.output.facts("rotmnist", results.seed).into_iter().chain([
                ("digits", format!("{} to train on (a tenth held out), {} to test", results.training, results.test)),
                ("pixels", format!("{0} × {0} inside a disk, zero mean and unit deviation", results.size)),
                ("model", format!("{} rows", results.rows_of_w)),
                ("seconds", format!("{:.0}", results.seconds)),
            ])),
        )
    }

    fn accuracies(&self, results: &Results) -> Section {
        let table = Table::new("Digits that are classified as what they are")
            .words("what")
            .numbers("test")
            .numbers("held out")
            .numbers("in the paper")
            .numbers("inputs")
            .numbers("weights")
            .numbers("seconds");
        let rows = results.rows.iter().filter(|row| row.device.is_none());
        let table = rows.fold(table, |table, row| {
            let share = |share: Option<f64>| share.map_or("—".into(), percent);
            table.row([
                row.what.to_owned(),
                percent(row.accuracy),
                share(row.held_out),
                share(row.published),
                row.inputs.to_string(),
                row.parameters.to_string(),
                format!("{:.1}", row.seconds),
            ])
        });
        let table = OTHERS.iter().fold(table, |table, (name, accuracy)| {
            table.published([*name, accuracy, "—", "—", "—", "—", "—"])
        });
        Section::new("Results")
            .paragraph(
                "All perceptrons have the paper's four hidden layers unless it is said. The held-out tenth chooses the \
                 weights and the variant that is called best; of those that vote, the held-out digits are the first \
                 one's.",
            )
            .paragraph(
                "No digit is turned a second time. Bent copies are the digits to train on at the angles they have, \
                 moved by up to a pixel of 28, stretched by up to 12 % and bent by 0.7 pixels. Nine places: invariants \
                 are averaged over nine windows of a digit, its middle and eight on a circle of 2.2 pixels around it.",
            )
            .table(table)
    }
}

/// Some of the test digits, each with its label; of several views the first.
fn tiles(
    results: &Results,
    digits: &Digits,
    shown: &[usize],
    label: impl Fn(usize) -> String,
) -> Drawing {
    let size = results.size;
    let mut images = digits.test.samples.select(Axis(0), shown);
    images.slice_axis_inplace(Axis(1), (..size * size).into());
    let labels: Vec<String> = shown.iter().map(|&at| label(at)).collect();
    let columns = COLUMNS.min(shown.len());
    Tiles::new(images.iter().copied(), (size, size), columns, &labels).into()
}

/// Accuracy against flash.
fn on_device(results: &Results) -> Section {
    let table = Table::new("Digits that the code of a device classifies as what they are")
        .words("what")
        .numbers("test")
        .numbers("rows of W")
        .numbers("terms")
        .numbers("flash, bytes")
        .numbers("RAM, bytes");
    let table = results
        .rows
        .iter()
        .fold(table, |table, row| match row.device {
            None => table,
            Some(device) => table.row([
                row.what.to_owned(),
                percent(row.accuracy),
                device.rows.to_string(),
                device.terms.to_string(),
                device.flash.to_string(),
                device.ram.to_string(),
            ]),
        });
    let section = Section::new("On a device")
        .paragraph(
            "Principal components and the first layer are one layer of all terms, which a device adds up as the terms \
             come: no term is stored. Terms are those that are largest on average, rows of W those that they need; \
             weights of both are bytes with scales. Trained on four bent copies. Flash is both; RAM is the buffers \
             for one digit, with the digit. The models are in this folder.",
        )
        .table(table);
    match flash(results) {
        Some(chart) => section.figure(
            "device",
            chart,
            "A curve that rises with the bytes of flash",
            "Digits that are right, against the flash that model and perceptron take together.",
        ),
        None => section,
    }
}

/// The same as a curve.
fn flash(results: &Results) -> Option<Chart> {
    let mut points: Vec<(f64, f64)> = results
        .rows
        .iter()
        .filter_map(|row| Some((row.device?.flash as f64 / 1024.0, 100.0 * row.accuracy)))
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let curve = Curve {
        label: "whole numbers".into(),
        values: points.iter().map(|point| point.1).collect(),
        predicted: None,
    };
    (points.len() > 1).then(|| Chart {
        title: "Accuracy against flash".into(),
        x_label: "flash, KiB".into(),
        x: points.iter().map(|point| point.0).collect(),
        panels: vec![Panel {
            title: "Test digits that are right".into(),
            y_label: "%".into(),
            scale: Scale::Linear,
            curves: vec![curve],
        }],
    })
}

/// Losses and accuracy over epochs.
fn training(row: &Row) -> Option<Chart> {
    let epochs = &row.trained.as_ref()?.epochs;
    let curve = |label: &str, values: Vec<f64>| Curve {
        label: label.into(),
        values,
        predicted: None,
    };
    let panel = |title: &str, y_label: &str, scale, curves| Panel {
        title: title.into(),
        y_label: y_label.into(),
        scale,
        curves,
    };
    Some(Chart {
        title: format!("Training: {}", row.what),
        x_label: "epoch".into(),
        x: epochs.iter().map(|epoch| epoch.epoch as f64).collect(),
        panels: vec![
            panel(
                "Cross-entropy",
                "loss",
                Scale::Log,
                vec![
                    curve("training", epochs.iter().map(|epoch| epoch.loss).collect()),
                    curve(
                        "held out",
                        epochs.iter().map(|epoch| epoch.held_out_loss).collect(),
                    ),
                ],
            ),
            panel(
                "Held-out digits that are wrong",
                "share",
                Scale::Log,
                vec![curve(
                    "wrong",
                    epochs
                        .iter()
                        .map(|epoch| 1.0 - epoch.held_out_accuracy)
                        .collect(),
                )],
            ),
        ],
    })
}

/// What was taken for what.
fn confusion(results: &Results) -> Table {
    let table =
        Table::new("Test digits (rows) and what they were taken for (columns), best variant")
            .words("digit");
    let classes = results.confusion.len();
    let table = (0..classes).fold(table, |table, class| table.numbers(class.to_string()));
    results
        .confusion
        .iter()
        .enumerate()
        .fold(table, |table, (class, row)| {
            let counts = row.iter().map(usize::to_string);
            table.row([class.to_string()].into_iter().chain(counts))
        })
}
