//! The page of the demo: both symmetries, what was learned of each, and where to go from here.

use super::Row;
use bispectral_report::{Block, Page, Section, Table};
use bispectral_run::figures;

/// By which a demo's folder is known.
pub(super) const TITLE: &str = "Two symmetries, learned from examples alone";

pub(super) fn page(rows: &[Row], drawn: Vec<Vec<Block>>, seed: u64) -> Page {
    let lead = "You have signals that come moved, and want features that do not care, yet lose nothing else. Here two \
                kinds of motion were learned from examples that belong together; nobody told the program what they are.";
    let page = Page::new(TITLE, lead).section(results(rows));
    rows.iter()
        .zip(drawn)
        .fold(page, |page, (row, drawn)| page.section(case(row, drawn)))
        .section(next())
        .section(Section::new("What was run").facts([
            ("command", format!("bispectral demo --seed {seed}")),
            (
                "program",
                format!("bispectral {}", env!("CARGO_PKG_VERSION")),
            ),
        ]))
}

fn results(rows: &[Row]) -> Section {
    let runs: Vec<_> = rows.iter().map(|row| (name(row), &row.results)).collect();
    let table = figures::results(
        "On samples never trained on, computed by bispectral-core from the exported models, bit for bit as on a device",
        &runs,
    );
    let device = Table::new("What the models need")
        .words("")
        .numbers("flash, bytes")
        .numbers("RAM in the streaming form, bytes")
        .numbers("learned in seconds");
    let device = rows.iter().fold(device, |table, row| {
        table.row([
            name(row).to_owned(),
            row.flash.to_string(),
            row.streaming_ram.to_string(),
            format!("{:.1}", row.seconds),
        ])
    });
    Section::new("Results")
        .paragraph(
            "All positions of one signal are called its orbit. Training sees orbits and finds a matrix W; the invariants \
             βᵢⱼ(x) = (Wᵢx)(Wⱼx)·conj((Wᵢ⊙Wⱼ)x) are then the same everywhere on an orbit, and different on different ones. The \
             rows of W turn out to be the irreducible representations (irreps) of a group, and its multiplication table names it.",
        )
        .table(table)
        .table(device)
}

fn case(row: &Row, drawn: Vec<Block>) -> Section {
    let section = Section::new(name(row)).paragraph(match row.case {
        "group" => {
            "Z4xZ2 has eight elements: a turn by quarters, and a switch. Each signal is eight random numbers, one an \
             element; its orbit is what the eight motions make of it."
        }
        _ => {
            "Each signal is a patch of 8 × 8 pixels; its orbit is that patch shifted around its edges by every number of \
             pixels, down and across. The group of these shifts is Z8xZ8."
        }
    });
    drawn.into_iter().fold(section, Section::block)
}

/// How the filters lie.
pub(super) fn layout(row: &Row) -> &'static str {
    match row.case {
        "group" => "a number for each element of the group, from left to right",
        _ => "laid out like a patch and sorted by its frequency down and across",
    }
}

fn name(row: &Row) -> &'static str {
    match row.case {
        "group" => "Functions on a group",
        _ => "Patches of photographs",
    }
}

fn next() -> Section {
    Section::new("What to try next").facts([
        (
            "any finite commutative group",
            "bispectral train --group Z16 -o run",
        ),
        (
            "samples of your own",
            "bispectral train --data X.npy --labels y.npy -o run",
        ),
        ("a page like this one of that run", "bispectral report run"),
        (
            "their invariants",
            "bispectral features run/model.bsn X.npy -o Y.npy",
        ),
        (
            "the paper's experiments",
            "bispectral reproduce translation -o translation",
        ),
        (
            "on a Cortex-M4F, in QEMU",
            "cd firmware-example && cargo run --release",
        ),
    ])
}
