//! `bispectral reproduce compact`: groups that act linearly in hidden coordinates, learned from orbits in closed form.

use super::Output;
use bispectral_learn::data::orbits::Orbits;
use bispectral_learn::data::representation::{Representation, orthogonal};
use bispectral_learn::group::compact::{Compact as Learned, Moments};
use bispectral_learn::ndarray::Array2;
use bispectral_learn::{Error, Result};
use bispectral_report::{Page, Section, Table};
use bispectral_run::console::Console;
use clap::Args;
use serde::Serialize;
use std::fmt::Write as _;
use std::time::Instant;

/// Learn groups that act linearly, behind a random mixing of the inputs
///
/// SO(2), O(2), a torus, SO(3), SO(2)×Z2 and finite groups move random vectors, which a random orthogonal matrix then mixes: no
/// input is a coefficient of anything, and none is permuted. From whole orbits, from some members of each, and with noise: the
/// blocks, the couplings and the name of the group, and how invariant the learned couplings are on other orbits.
#[derive(Debug, Args)]
pub(super) struct Compact {
    #[command(flatten)]
    output: Output,
}

/// A group, and what is to be learned of it.
struct Case {
    name: &'static str,
    action: Representation,
    blocks: &'static [usize],
    /// Forms of order three beside products with invariants of order one.
    forms: usize,
}

/// What came of one group in one setting.
#[derive(Debug, Serialize)]
struct Row {
    group: &'static str,
    setting: &'static str,
    orbits: usize,
    members: usize,
    /// The name, or why there is none.
    found: String,
    blocks: Vec<usize>,
    forms: usize,
    least_lambda: f64,
    /// Eigenvalues on both sides of the commutant's dimension.
    commutant: [f64; 2],
    within: f64,
    between: f64,
    seconds: f64,
    right: bool,
}

#[derive(Debug, Serialize)]
struct Results {
    experiment: &'static str,
    seed: u64,
    rows: Vec<Row>,
    right: usize,
    /// Samples of 64 inputs whose moments were computed, and how long that took.
    samples: u64,
    samples_seconds: f64,
}

/// Members of a continuous orbit that count as a whole one.
const MEMBERS: usize = 300;
const ORBITS: usize = 300;
/// Orbits that were not learned from, for distances.
const OTHERS: usize = 100;

fn cases(quick: bool) -> Vec<Case> {
    let torus = [[0, 0], [1, 0], [0, 1], [1, 1], [1, -1], [2, 1]].map(|order| order.to_vec());
    let signs = [
        (0, false),
        (0, true),
        (1, false),
        (1, true),
        (2, false),
        (2, true),
    ];
    let regular = |generators: &[&[usize]]| {
        let generators: Vec<Vec<usize>> = generators.iter().map(|g| g.to_vec()).collect();
        Representation::regular(&generators)
    };
    let case = |name, action, blocks, forms| Case {
        name,
        action,
        blocks,
        forms,
    };
    let mut cases = vec![
        case(
            "SO(2)",
            Representation::so2(&[0, 1, 2, 3, 4]),
            &[1, 2, 2, 2, 2][..],
            8,
        ),
        case(
            "O(2)",
            Representation::o2(&[0, 1, 2, 3, 4]),
            &[1, 2, 2, 2, 2],
            4,
        ),
        case(
            "SO(3)",
            Representation::so3(&[0, 1, 2, 3]),
            &[1, 3, 5, 7],
            4,
        ),
        case(
            "Z8",
            regular(&[&[1, 2, 3, 4, 5, 6, 7, 0]]),
            &[1, 1, 2, 2, 2],
            10,
        ),
    ];
    if !quick {
        cases.extend([
            case(
                "T2",
                Representation::torus(&torus),
                &[1, 2, 2, 2, 2, 2][..],
                6,
            ),
            case(
                "SO(2)xZ2",
                Representation::so2_and_sign(&signs),
                &[1, 1, 2, 2, 2, 2],
                10,
            ),
            case("S3", regular(&[&[1, 0, 2], &[1, 2, 0]]), &[1, 1, 2, 2], 2),
            case(
                "D4",
                regular(&[&[1, 2, 3, 0], &[0, 3, 2, 1]]),
                &[1, 1, 1, 1, 2, 2],
                4,
            ),
            case(
                "Q8",
                regular(&[&[1, 2, 3, 0, 5, 6, 7, 4], &[4, 7, 6, 5, 2, 1, 0, 3]]),
                &[1, 1, 1, 1, 4],
                10,
            ),
            case(
                "A4",
                regular(&[&[1, 2, 0, 3], &[1, 0, 3, 2]]),
                &[1, 2, 3, 3, 3],
                6,
            ),
            case(
                "S4",
                regular(&[&[1, 2, 3, 0], &[1, 0, 2, 3]]),
                &[1, 1, 2, 2, 3, 3, 3, 3, 3, 3],
                10,
            ),
        ]);
    }
    cases
}

impl Compact {
    pub(super) fn run(&self, seed: u64, console: &Console) -> Result<()> {
        self.output.check()?;
        let mut rows = Vec::new();
        for case in cases(self.output.quick) {
            console.say(&format!("learning {} behind a mixing", case.name));
            for (setting, partial, noise) in [
                ("whole", false, 0.0),
                ("partial", true, 0.0),
                ("noisy", false, 0.05),
            ] {
                rows.push(learn(&case, setting, partial, noise, seed)?);
            }
        }
        let samples = if self.output.quick {
            200_000
        } else {
            10_000_000
        };
        console.say("adding the moments of many samples");
        let (samples, samples_seconds) = throughput(samples)?;
        let results = Results {
            experiment: "compact",
            seed,
            right: rows.iter().filter(|row| row.right).count(),
            rows,
            samples,
            samples_seconds,
        };
        let words = results.words();
        let page = results.page(self.output.facts("compact", seed));
        let verdict = results.check(&self.output);
        self.output
            .conclude(console, &results, [&words, &words], &page, verdict)
    }
}

fn learn(case: &Case, setting: &'static str, partial: bool, noise: f64, seed: u64) -> Result<Row> {
    let action = &case.action;
    let members = match action.order() {
        Some(order) if partial => (order as f64 * 0.6).ceil() as usize,
        Some(order) => order,
        None if partial => MEMBERS / 5,
        None => MEMBERS,
    };
    let mixing = orthogonal(action.dimension(), seed.wrapping_add(7));
    let orbits = action
        .orbits(ORBITS, members, &mixing, seed)?
        .noisy(noise, seed);
    let begun = Instant::now();
    let found = Learned::of(&Moments::of(&orbits)?, seed);
    let seconds = begun.elapsed().as_secs_f64();
    let mut row = Row {
        group: case.name,
        setting,
        orbits: ORBITS,
        members,
        found: String::new(),
        blocks: Vec::new(),
        forms: 0,
        least_lambda: 0.0,
        commutant: [0.0; 2],
        within: 0.0,
        between: 0.0,
        seconds,
        right: false,
    };
    let found = match found {
        Err(why) => {
            row.found = why.to_string();
            return Ok(row);
        }
        Ok(found) => found,
    };
    let others = action.orbits(OTHERS, 2, &mixing, seed ^ 0x5eed_0000)?;
    let third = found.forms().iter().filter(|form| form.irreps.len() == 3);
    row.found = found.name().to_string();
    row.blocks = found.dimensions();
    row.forms = third.clone().count();
    row.least_lambda = third.map(|form| form.lambda).fold(1.0, f64::min);
    row.commutant = [found.commutant().last, found.commutant().next];
    [row.within, row.between] = distances(&found, &others)?;
    row.right = row.blocks == case.blocks && row.forms == case.forms;
    Ok(row)
}

/// The mean distance between unit vectors of invariants, of members of one orbit and of different ones.
fn distances(found: &Learned, orbits: &Orbits) -> Result<[f64; 2]> {
    let unit = |orbit: usize, member: usize| -> Result<Vec<f64>> {
        let mut x = vec![0.0_f32; orbits.inputs()];
        orbits.write_member(orbit, member, &mut x);
        let x: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
        let mut t = found.couplings().invariants(&x)?;
        let length = t.iter().map(|t| t * t).sum::<f64>().sqrt();
        t.iter_mut().for_each(|t| *t /= length);
        Ok(t)
    };
    let mean = |apart: usize| -> Result<f64> {
        let mut sum = 0.0;
        for orbit in 0..orbits.len() {
            let (a, b) = (unit(orbit, 0)?, unit((orbit + apart) % orbits.len(), 1)?);
            let squares = a.iter().zip(&b).map(|(a, b)| (a - b).powi(2));
            sum += squares.sum::<f64>().sqrt();
        }
        Ok(sum / orbits.len() as f64)
    };
    Ok([mean(0)?, mean(1)?])
}

/// How long the moments of so many samples of 64 inputs take, in chunks of 50,000 and a thousand orbits.
fn throughput(samples: u64) -> Result<(u64, f64)> {
    const CHUNK: u64 = 50_000;
    let number = |(row, n): (usize, usize)| ((row * 64 + n) as f32 * 0.618).sin();
    let chunk = Array2::from_shape_fn((CHUNK as usize, 64), number);
    let mut moments = Moments::new(64)?;
    let begun = Instant::now();
    for part in 0..samples / CHUNK {
        let label = |row: u64| ((part * CHUNK + row).wrapping_mul(0x9e37_79b9) >> 7) as i64 % 1000;
        let labels: Vec<i64> = (0..CHUNK).map(label).collect();
        moments.add(chunk.view(), &labels)?;
    }
    Ok((moments.count(), begun.elapsed().as_secs_f64()))
}

impl Row {
    fn cells(&self) -> [String; 9] {
        let blocks: Vec<String> = self.blocks.iter().map(usize::to_string).collect();
        [
            self.group.to_owned(),
            self.setting.to_owned(),
            format!("{} × {}", self.orbits, self.members),
            self.found.clone(),
            blocks.join(" "),
            format!("{} ({:.3})", self.forms, self.least_lambda),
            format!("{:.1e}", self.within),
            format!("{:.2}", self.between),
            format!("{:.2}", self.seconds),
        ]
    }
}

impl Results {
    fn words(&self) -> String {
        let mut text = format!(
            "{:<9} {:<8} {:>9} {:<48} {:<20} {:>11} {:>8} {:>7} {:>7}\n",
            "group", "orbits", "", "named", "blocks", "forms (λ)", "within", "between", "seconds"
        );
        for row in &self.rows {
            let [
                group,
                setting,
                orbits,
                found,
                blocks,
                forms,
                within,
                between,
                seconds,
            ] = row.cells();
            let _ = writeln!(
                text,
                "{group:<9} {setting:<8} {orbits:>9} {found:<48} {blocks:<20} {forms:>11} {within:>8} {between:>7} {seconds:>7}"
            );
        }
        let _ = write!(
            text,
            "{} of {} have the blocks and the number of invariant forms of order three that the group has; λ is the least of these.\n\
             Within and between are mean distances of unit vectors of invariants on other orbits. Whole: all elements of a finite \
             group, {MEMBERS} random ones of others; partial: 60 % or {}; noisy: 5 %.\n\
             {} samples of 64 inputs were added in {:.1} s.",
            self.right,
            self.rows.len(),
            MEMBERS / 5,
            self.samples,
            self.samples_seconds,
        );
        text
    }

    fn page(&self, facts: Vec<(&'static str, String)>) -> Page {
        let table = Table::new("What was learned of each group, from orbits alone")
            .words("group")
            .words("orbits")
            .numbers("orbits × members")
            .words("named")
            .words("blocks")
            .numbers("forms of order three (least λ)")
            .numbers("within orbits")
            .numbers("between orbits")
            .numbers("seconds");
        let table = self
            .rows
            .iter()
            .fold(table, |table, row| table.row(row.cells()));
        let lead = format!(
            "Groups that act linearly move random vectors, and a random orthogonal matrix hides how. From orbits alone, in closed \
             form: {} of {} have the right blocks and the right number of couplings.",
            self.right,
            self.rows.len()
        );
        Page::new("Groups in hidden coordinates", lead)
            .section(
                Section::new("Results").table(table).paragraph(
                    "Within and between are mean distances of unit vectors of invariants, on orbits that were not learned from.",
                ),
            )
            .section(Section::new("What was run").facts(facts))
    }

    /// Whole orbits are to be learned, all of them.
    fn check(&self, output: &Output) -> Result<()> {
        let wrong = |row: &&Row| row.setting == "whole" && !row.right;
        match self.rows.iter().find(wrong) {
            None => Ok(()),
            Some(row) => Err(Error::file(
                &output.path("results.json"),
                format!("{} was not learned from whole orbits", row.group),
                "see there for what was found",
            )),
        }
    }
}
