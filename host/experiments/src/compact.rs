//! `bispectral reproduce compact`: groups that act linearly in hidden coordinates, learned from orbits in closed form.

use super::Output;
use bispectral_learn::data::orbits::Orbits;
use bispectral_learn::data::representation::{Representation, orthogonal};
use bispectral_learn::group::compact::{Compact as Learned, Moments};
use bispectral_learn::ndarray::{self, Array2};
use bispectral_learn::numeric::random::{Purpose, stream};
use bispectral_learn::{Error, Result};
use bispectral_report::{Chart, Curve, Page, Panel, Scale, Section, Table};
use bispectral_run::console::Console;
use clap::Args;
use rand::RngExt;
use rand_distr::StandardNormal;
use serde::Serialize;
use std::fmt::Write as _;
use std::time::Instant;

/// Learn groups that act linearly, behind a random mixing of the inputs
///
/// SO(2), O(2), a torus, SO(3), SO(2)×Z2 and finite groups move random vectors, which a random orthogonal matrix then mixes: no
/// input is a coefficient of anything, and none is permuted. From whole orbits, from a fifth of each, from few orbits of three
/// members, and with noise: the blocks, the couplings and the name of the group, and how invariant the learned couplings are on other orbits. From what has
/// no symmetry: why there is no group.
#[derive(Debug, Args)]
pub(super) struct Compact {
    #[command(flatten)]
    output: Output,
}

/// A group, and what is to be learned of it.
struct Case {
    name: &'static str,
    expected: &'static str,
    action: Representation,
    blocks: &'static [usize],
    /// Forms of order three beside products with invariants of order one.
    forms: usize,
}

/// What is known of the orbits.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Setting {
    Whole,
    Partial,
    Few,
    Noisy,
}

impl Setting {
    const ALL: [Setting; 4] = [
        Setting::Whole,
        Setting::Partial,
        Setting::Few,
        Setting::Noisy,
    ];

    fn name(self) -> &'static str {
        match self {
            Setting::Whole => "whole",
            Setting::Partial => "partial",
            Setting::Few => "few",
            Setting::Noisy => "noisy",
        }
    }
}

/// Samples that no group relates.
#[derive(Debug, Clone, Copy)]
enum Unrelated {
    /// Points, and noise around each.
    Clouds,
    /// Rotations of space whose labels were lost.
    Labels,
    /// A curved function of what an orbit has and of noise.
    Curved,
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
/// The share of members that partial orbits have, and how many orbits there are of them: of a finite group for each element.
const PARTIAL: f64 = 0.2;
const PARTIAL_ORBITS: usize = 400;
const PARTIAL_CONTINUOUS: usize = 600;
/// Three members of few orbits: a hundred, or as many as there are products of two inputs.
const FEW_MEMBERS: usize = 3;
const FEW_ORBITS: usize = 100;
const NOISE: f64 = 0.05;
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
    let case = |name: &'static str, action, blocks, forms| Case {
        name,
        expected: name.split(',').next().unwrap_or(name),
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
            "SO(3), 4 points",
            Representation::so3(&[1, 1, 1, 1]),
            &[3, 3, 3, 3],
            1,
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
                "SO(2), 4 phases",
                Representation::so2(&[1, 1, 1, 1]),
                &[2, 2, 2, 2][..],
                0,
            ),
            case(
                "O(2), 3 points",
                Representation::o2(&[1, 1, 1]),
                &[2, 2, 2],
                0,
            ),
            case("T2", Representation::torus(&torus), &[1, 2, 2, 2, 2, 2], 6),
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
            for setting in Setting::ALL {
                rows.push(learn(&case, setting, seed)?);
            }
        }
        for (name, kind) in Unrelated::ALL {
            console.say(&format!("looking for a group in {name}"));
            let orbits = kind.orbits(seed)?;
            let mut row = learned(name, "none", &orbits, seed, || kind.orbits(seed ^ 1))?;
            row.right = row.blocks.is_empty();
            rows.push(row);
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

fn learn(case: &Case, setting: Setting, seed: u64) -> Result<Row> {
    let action = &case.action;
    let n = action.dimension();
    let whole = action.order().unwrap_or(MEMBERS);
    // Fewer than two members tell nothing of a group.
    let share = ((whole as f64 * PARTIAL).ceil() as usize).max(2);
    let (orbits, members) = match (setting, action.order()) {
        (Setting::Whole | Setting::Noisy, _) => (ORBITS, whole),
        (Setting::Partial, Some(order)) => (PARTIAL_ORBITS * order, share),
        (Setting::Partial, None) => (PARTIAL_CONTINUOUS, share),
        (Setting::Few, _) => (FEW_ORBITS.max(n * (n + 1) / 2), FEW_MEMBERS),
    };
    let noise = if setting == Setting::Noisy {
        NOISE
    } else {
        0.0
    };
    let mixing = orthogonal(action.dimension(), seed.wrapping_add(7));
    let samples = action.orbits(orbits, members, &mixing, seed)?;
    let mut row = learned(
        case.name,
        setting.name(),
        &samples.noisy(noise, seed),
        seed,
        || Ok(action.orbits(OTHERS, 2, &mixing, seed ^ 0x5eed_0000)?),
    )?;
    row.right = row.found == case.expected && row.blocks == case.blocks && row.forms == case.forms;
    Ok(row)
}

impl Unrelated {
    const ALL: [(&'static str, Unrelated); 3] = [
        ("clouds of points", Unrelated::Clouds),
        ("labels that were lost", Unrelated::Labels),
        ("a curved function", Unrelated::Curved),
    ];

    /// Orbits of 9 inputs.
    fn orbits(self, seed: u64) -> Result<Orbits> {
        const INPUTS: usize = 9;
        const MANY: usize = 60;
        let mut random = stream(seed, Purpose::Noise);
        let mut draw = || -> Vec<f64> {
            let number = |_| random.sample::<f64, _>(StandardNormal);
            (0..INPUTS).map(number).collect()
        };
        let rotated = Representation::so3(&[0, 1, 2]);
        let rotated = rotated.orbits(ORBITS, MANY, &orthogonal(INPUTS, 7), seed)?;
        let mut samples = Array2::<f32>::zeros((ORBITS * MANY, INPUTS));
        let mut labels = Vec::new();
        for orbit in 0..ORBITS {
            let centre = draw();
            for member in 0..MANY {
                let x = draw();
                let mut row = samples.row_mut(orbit * MANY + member);
                let value = |n: usize| match self {
                    Unrelated::Clouds => centre[n] + 0.3 * x[n],
                    _ => (centre[n] + centre[(n + 1) % INPUTS] * x[n]).tanh() * x[3 * n % INPUTS],
                };
                if let Unrelated::Labels = self {
                    let mut y = vec![0.0; INPUTS];
                    rotated.write_member((orbit * 7 + member * 11) % ORBITS, member, &mut y);
                    row.assign(&ndarray::ArrayView1::from(&y));
                } else {
                    row.iter_mut()
                        .enumerate()
                        .for_each(|(n, to)| *to = value(n) as f32);
                }
                labels.push(orbit as i64);
            }
        }
        Ok(Orbits::labelled(samples, &labels)?)
    }
}

/// What is learned from these orbits, and its distances on others.
fn learned(
    group: &'static str,
    setting: &'static str,
    orbits: &Orbits,
    seed: u64,
    others: impl Fn() -> Result<Orbits>,
) -> Result<Row> {
    let begun = Instant::now();
    let found = Learned::of(&Moments::of(orbits)?, seed);
    let seconds = begun.elapsed().as_secs_f64();
    let mut row = Row {
        group,
        setting,
        orbits: orbits.len(),
        members: orbits.members(0),
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
            row.found = format!("no group: {why}");
            return Ok(row);
        }
        Ok(found) => found,
    };
    let third = found.forms().iter().filter(|form| form.irreps.len() == 3);
    row.found = found.name().to_string();
    row.blocks = found.dimensions();
    row.forms = third.clone().count();
    row.least_lambda = third.map(|form| form.lambda).fold(1.0, f64::min);
    row.commutant = [found.commutant().last, found.commutant().next];
    [row.within, row.between] = distances(&found, &others()?)?;
    Ok(row)
}

/// The mean distance between unit vectors of invariants, of members of one orbit and of different ones.
pub(super) fn distances(found: &Learned, orbits: &Orbits) -> Result<[f64; 2]> {
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
        // Nothing was measured where there is no group.
        let found = |cell: String| {
            if blocks.is_empty() {
                "—".into()
            } else {
                cell
            }
        };
        [
            self.group.to_owned(),
            self.setting.to_owned(),
            format!("{} × {}", self.orbits, self.members),
            self.found.clone(),
            found(blocks.join(" ")),
            found(format!("{} ({:.3})", self.forms, self.least_lambda)),
            found(format!("{:.1e}", self.within)),
            found(format!("{:.2}", self.between)),
            format!("{:.2}", self.seconds),
        ]
    }
}

impl Results {
    fn words(&self) -> String {
        let mut text = format!(
            "{:<15} {:<8} {:>9} {:<48} {:<20} {:>11} {:>8} {:>7} {:>7}\n",
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
                "{group:<15} {setting:<8} {orbits:>9} {found:<48} {blocks:<20} {forms:>11} {within:>8} {between:>7} {seconds:>7}"
            );
        }
        let _ = write!(
            text,
            "{} of {} have the name, the blocks and the number of invariant forms of order three that the group has, or none where \
             there is no group; λ is the least of these.\n\
             Within and between are mean distances of unit vectors of invariants on other orbits. Whole: all elements of a finite \
             group, {MEMBERS} random ones of others; partial: 20 %, two at least; few: {FEW_MEMBERS} members of {FEW_ORBITS} orbits, or of as many as there are products of two \
             inputs; noisy: whole with 5 %.\n\
             {} samples of 64 inputs were added in {:.1} s.",
            self.right,
            self.rows.len(),
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
             form: {} of {} are as they should be, by name, blocks and number of couplings, and what has no symmetry has none.",
            self.right,
            self.rows.len()
        );
        Page::new("Groups in hidden coordinates", lead)
            .section(
                Section::new("Results").table(table).paragraph(
                    "Within and between are mean distances of unit vectors of invariants, on orbits that were not learned from.",
                ),
            )
            .section(Section::new("Distances").figure(
                "distances",
                self.chart(),
                "Distances within orbits for each group and setting, far below those between orbits",
                "Mean distances of unit vectors of invariants within orbits, and between those of whole orbits. Groups are numbered \
                 in the order of the table. What is left of whole, partial and few orbits is the rounding of samples.",
            ))
            .section(Section::new("What was run").facts(facts))
    }

    fn chart(&self) -> Chart {
        let of = |setting: &'static str| self.rows.iter().filter(move |row| row.setting == setting);
        let value = |row: &Row, value: f64| {
            if row.blocks.is_empty() {
                f64::NAN
            } else {
                value
            }
        };
        let within = |setting| Curve {
            label: format!("within, {setting}"),
            values: of(setting).map(|row| value(row, row.within)).collect(),
            predicted: None,
        };
        let between = Curve {
            label: "between".into(),
            values: of("whole").map(|row| value(row, row.between)).collect(),
            predicted: None,
        };
        Chart {
            title: String::new(),
            x_label: "group".into(),
            x: (1..=of("whole").count())
                .map(|number| number as f64)
                .collect(),
            panels: vec![Panel {
                title: "distances".into(),
                y_label: "distance".into(),
                scale: Scale::Log,
                curves: (Setting::ALL
                    .map(|setting| within(setting.name()))
                    .into_iter())
                .chain([between])
                .collect(),
            }],
        }
    }

    /// All of them are to be learned, and nothing from what has no symmetry.
    fn check(&self, output: &Output) -> Result<()> {
        match self.rows.iter().find(|row| !row.right) {
            None => Ok(()),
            Some(row) => Err(Error::file(
                &output.path("results.json"),
                format!("{} ({}) was not learned as it is", row.group, row.setting),
                "see there for what was found",
            )),
        }
    }
}
