//! The page of `reproduce sphere`: learned harmonics and digits, drawn on spheres.

use super::learned::from_harmonics;
use super::{Drawn, Results};
use bispectral_learn::group::compact::Name;
use bispectral_learn::numeric::harmonics::{Degree, harmonics, spread};
use bispectral_report::{Chart, Curve, Drawing, Page, Panel, Scale, Section, Table, Tiles};

/// Pixels of a sphere's side.
const SIDE: usize = 40;
/// Degrees that are drawn.
const HIGHEST: usize = 4;
/// Spheres beside each other.
const COLUMNS: usize = 9;

pub(super) fn page(results: &Results, drawn: &Drawn, facts: Vec<(&'static str, String)>) -> Page {
    let first = &results.rows[0];
    let mut lead = format!(
        "Random functions on a sphere, sampled at {} points and rotated at random. From which samples belong together alone: {}, \
         blocks that are real spherical harmonics but for {:.0e}, and all {} couplings.",
        first.points, first.found, first.harmonics, first.forms
    );
    if let Some(digits) = &results.digits
        && let Some(last) = digits.rows.last()
    {
        lead += &format!(
            " Digits on the sphere, trained as they are and rotated at random to be tested: {:.1} % are right, on a device of \
             {} kB.",
            100.0 * last.rotated,
            digits.flash / 1000
        );
    }
    let mut page = Page::new("Functions on a sphere", lead)
        .section(learned(results))
        .section(pictures(drawn));
    if let Some(chart) = needed(results) {
        page = page.section(Section::new("How many orbits it takes").figure(
            "orbits",
            chart,
            "Distances from harmonics over the number of orbits, falling to rounding",
            "The distance of the learned blocks from spherical harmonics, and of invariants within orbits. Where the group is \
             recognised, the rest is rounding; where it is not, there is no value.",
        ));
    }
    page = page.section(inversion(results)).section(models(results));
    if results.digits.is_some() {
        page = page.section(digits(results));
    }
    page.section(Section::new("What was run").facts(facts))
}

fn learned(results: &Results) -> Section {
    let table = Table::new("What was learned from samples alone")
        .words("functions on a sphere")
        .numbers("orbits × members")
        .words("named")
        .numbers("distance from harmonics")
        .numbers("couplings")
        .numbers("couplings from data alone: distance from Wigner's symbols")
        .numbers("largest 1 − λ")
        .numbers("within orbits")
        .numbers("between orbits")
        .numbers("seconds");
    let table = results
        .rows
        .iter()
        .fold(table, |table, row| table.row(row.cells()));
    Section::new("The group").table(table).paragraph(
        "The distance from harmonics is relative, up to one rotation of all blocks and a factor for each. Couplings of small degrees \
         are also solved for from products of coefficients alone, without what is known of rotations: as many as exist, and as \
         near to Wigner's 3j symbols as said. λ is the share of a form's square that does not change on orbits that were not \
         learned from. Within and between are mean distances of unit vectors of invariants.",
    )
}

/// A function on the visible half of a sphere, seen from the x axis: NaN beside it.
fn sphere(value: impl Fn([f64; 3]) -> f64) -> Vec<f32> {
    let half = SIDE as f64 / 2.0;
    (0..SIDE * SIDE)
        .map(|at| {
            let right = (at % SIDE) as f64 + 0.5 - half;
            let up = half - 0.5 - (at / SIDE) as f64;
            let (y, z) = (right / half, up / half);
            let square = 1.0 - y * y - z * z;
            if square < 0.0 {
                f32::NAN
            } else {
                value([square.sqrt(), y, z]) as f32
            }
        })
        .collect()
}

fn nearest(points: &[[f64; 3]], p: [f64; 3]) -> usize {
    let product = |q: &[f64; 3]| (0..3).map(|k| p[k] * q[k]).sum::<f64>();
    let numbered = points.iter().map(product).enumerate();
    numbered
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map_or(0, |best| best.0)
}

fn pictures(drawn: &Drawn) -> Section {
    let (found, case) = (&drawn.found, &drawn.case);
    let Name::Rotations { degrees } = found.name() else {
        return Section::new("The learned harmonics");
    };
    let points = spread(case.points);
    let (_, angles) = from_harmonics(case, found, &degrees);
    let basis = found.couplings().basis();
    let mut order: Vec<usize> = (0..degrees.len())
        .filter(|&k| degrees[k] <= HIGHEST)
        .collect();
    order.sort_by_key(|&k| degrees[k]);
    let (mut learned, mut exact, mut labels) = (Vec::new(), Vec::new(), Vec::new());
    for irrep in order {
        let (l, first) = (degrees[irrep], found.irreps()[irrep].copies[0]);
        let turn = Degree::new(l).rotation(angles);
        for k in 0..=2 * l {
            let of_harmonics = |p: [f64; 3]| {
                let values = harmonics(l, p);
                (0..=2 * l)
                    .map(|m| turn[(k, m)] * values[l * l + m])
                    .sum::<f64>()
            };
            // A block has a sign of its own.
            let agreement: f64 = (points.iter().enumerate())
                .map(|(n, &p)| basis[(first + k, n)] * of_harmonics(p))
                .sum();
            let sign = if agreement < 0.0 { -1.0 } else { 1.0 };
            learned.extend(sphere(|p| sign * basis[(first + k, nearest(&points, p))]));
            exact.extend(sphere(of_harmonics));
            labels.push(format!("{l}, {}", k as i64 - l as i64));
        }
    }
    let tiles = |images: Vec<f32>| Tiles::signed(images, (SIDE, SIDE), COLUMNS, &labels);
    Section::new("The learned harmonics")
        .figure(
            "learned-harmonics",
            tiles(learned),
            "Rows of the learned basis on the visible half of the sphere, one cell a point: patches of both signs, as many as the degree",
            format!(
                "Rows of the learned basis at the {} points of the sphere, of degrees 0 to {}: below each its degree and order. No \
                 axis is known, so all are turned by one rotation.",
                case.points,
                degrees.iter().copied().max().unwrap_or(0).min(HIGHEST)
            ),
        )
        .figure(
            "exact-harmonics",
            tiles(exact),
            "Real spherical harmonics, turned by the same rotation: the same patches, smooth",
            "Real spherical harmonics, turned by that rotation.",
        )
}

fn needed(results: &Results) -> Option<Chart> {
    let first = results.rows.first()?;
    let mut rows: Vec<_> = (results.rows.iter())
        .filter(|row| {
            row.degree == first.degree
                && row.points == first.points
                && !row.mixed
                && row.noise == 0.0
        })
        .collect();
    rows.sort_by_key(|row| row.orbits);
    if rows.len() < 3 {
        return None;
    }
    let curve = |label: &str, values: Vec<f64>| Curve {
        label: label.into(),
        values,
        predicted: None,
    };
    Some(Chart {
        title: format!(
            "Degrees 0–{}, {} members an orbit",
            first.degree, first.members
        ),
        x_label: "orbits".into(),
        x: rows.iter().map(|row| row.orbits as f64).collect(),
        panels: vec![Panel {
            title: "distances".into(),
            y_label: "relative distance".into(),
            scale: Scale::Log,
            curves: vec![
                curve(
                    "from harmonics",
                    rows.iter().map(|row| row.harmonics).collect(),
                ),
                curve(
                    "within orbits",
                    rows.iter()
                        .map(|row| {
                            if row.harmonics.is_finite() {
                                row.within
                            } else {
                                f64::NAN
                            }
                        })
                        .collect(),
                ),
            ],
        }],
    })
}

fn inversion(results: &Results) -> Section {
    let table = Table::new("Random signals from their invariants")
        .words("degrees")
        .numbers("invariants")
        .numbers("of fourth order")
        .numbers("signals")
        .numbers("solved")
        .numbers("of these in the orbit")
        .numbers("median distance")
        .numbers("starts each");
    let table = results.inversion.iter().fold(table, |table, row| {
        table.row([
            format!("0–{}", row.degree),
            row.invariants.to_string(),
            row.fourth.to_string(),
            row.signals.to_string(),
            row.solved.to_string(),
            row.inside.to_string(),
            row.distance(),
            format!("{:.1}", row.starts),
        ])
    });
    Section::new("Inversion").table(table).paragraph(
        "Least squares, from random starts and, with forms of fourth order, degree by degree. A signal is solved where it has exactly the \
         invariants of the target, and in the orbit where a rotation takes it there.",
    )
}

fn models(results: &Results) -> Section {
    let table = Table::new("The learned group as a model")
        .words("weights")
        .numbers("invariants")
        .numbers("flash, bytes")
        .numbers("RAM and the stack, bytes")
        .numbers("instructions, Cortex-M4F (estimate)");
    let table = results.models.iter().fold(table, |table, model| {
        table.row([
            model.encoding.clone(),
            model.invariants.to_string(),
            model.flash.to_string(),
            model.ram.to_string(),
            model.instructions.to_string(),
        ])
    });
    Section::new("On a device").table(table)
}

fn digits(results: &Results) -> Section {
    let Some(digits) = &results.digits else {
        return Section::new("Digits on the sphere");
    };
    let share = |share: f64| format!("{:.2} %", 100.0 * share);
    let table = Table::new("Test digits that are right, trained as they are")
        .words("a perceptron on")
        .numbers("inputs")
        .numbers("as they are (NR/NR)")
        .numbers("rotated at random (NR/R)");
    let table = digits.rows.iter().fold(table, |table, row| {
        table.row([
            row.what.to_owned(),
            row.inputs.to_string(),
            share(row.upright),
            share(row.rotated),
        ])
    });
    let table = PEER.iter().fold(table, |table, (what, rotated)| {
        table.published([*what, "—", "—", *rotated])
    });
    let degree = digits.degree();
    let mut images = Vec::new();
    let mut labels = Vec::new();
    for rotated in [false, true] {
        for (class, before, after) in &digits.drawn {
            let coefficients = if rotated { after } else { before };
            images.extend(sphere(|[x, y, z]| {
                // Seen from the pole on which the digit lies.
                let values = harmonics(degree, [y, z, x]);
                values.iter().zip(coefficients).map(|(a, b)| a * b).sum()
            }));
            labels.push(if rotated {
                format!("{class}, rotated")
            } else {
                class.to_string()
            });
        }
    }
    let columns = digits.drawn.len().max(1);
    let tiles: Drawing = Tiles::signed(images, (SIDE, SIDE), columns, &labels).into();
    Section::new("Digits on the sphere")
        .table(table)
        .figure(
            "digits",
            tiles,
            "Digits on the visible half of a sphere, above as they are and below rotated at random, so that some are half behind it",
            format!("Test digits of degrees 0 to {degree}, seen from the pole: above as they are trained on, below rotated as they are tested."),
        )
        .facts(digits.facts())
}

/// NR/R, from a draft of other authors.
const PEER: [(&str, &str); 3] = [
    (
        "bispectrum, 232,000 parameters (draft of the package bispectrum)",
        "95.1 %",
    ),
    ("power spectrum (the same draft)", "77.7–79.2 %"),
    ("a convolutional network (the same draft)", "13.8 %"),
];
