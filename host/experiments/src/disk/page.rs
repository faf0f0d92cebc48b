//! The page of the experiment: the planes by order, distances beside those of W, and attacks.

use super::{Disk, Results};
use crate::attack::{ROTATION, cells, columns};
use bispectral_report::{Chart, Curve, Page, Panel, Scale, Section, Table};
use bispectral_run::figures;
use ndarray::Array2;
use num_complex::Complex32;

/// Steps that are one point of the curve.
const STEPS_A_POINT: usize = 20;

impl Disk {
    pub(super) fn page(
        &self,
        results: &Results,
        rows: &Array2<Complex32>,
        losses: &[[f64; 2]],
    ) -> Page {
        let first = &results.models[0];
        let unseen: Vec<f64> = first.distances[2..]
            .iter()
            .map(|distance| distance.within)
            .collect();
        let lead = format!(
            "Planes of pixels that turn with the image, each by a whole number of times the angle, were learned from turned \
             patches of photographs without any angle. Invariants are products of two or three of them whose orders add up. On \
             images never seen they change by {:.3} on average as a patch turns, and differ by {:.2} between patches.",
            unseen.iter().sum::<f64>() / unseen.len().max(1) as f64,
            first.distances[2].between,
        );
        let order: Vec<usize> = (0..rows.nrows()).collect();
        let (size, products) = (results.size, results.products);
        Page::new("Rotation by couplings", lead)
            .section(
                Section::new("Results")
                    .table(distances(results))
                    .paragraph(
                        "Mean euclidean distances of centred invariants of unit length, computed from each model's bytes on the \
                         same images: the measure of the experiment with W. Instructions are estimated, for a Cortex-M4F.",
                    ),
            )
            .section(
                Section::new("What was learned")
                    .block(figures::filters(
                        "planes",
                        rows.view(),
                        (size, size),
                        &order,
                        "laid out like a patch; planes of one order stand together, from order zero on, and of one order those \
                         that turn best stand first",
                        figures::Rows::Characters,
                    ))
                    .paragraph(format!(
                        "{} planes, {} of them pure. Of {} products of planes whose orders add up, {} stay the same along \
                         held-out rotations; of {} others, {}.",
                        rows.nrows(),
                        results.pure(),
                        products.expected,
                        products.invariant,
                        products.others,
                        products.wrong
                    ))
                    .figure(
                        "orders",
                        orders(results),
                        "Numbers of planes over orders, falling",
                        "A plane of order m turns m times while the image turns once. The grid keeps fewer of high orders.",
                    ),
            )
            .section(
                Section::new("Does anything else share the invariants?")
                    .table(attacks(results))
                    .paragraph(ROTATION),
            )
            .section(Section::new("How gradients went").figure(
                "losses",
                training(losses),
                "Two curves over steps: the distance within orbits falls, the one between them stays",
                "Distances of centred invariants of unit length, of batches of ten orbits with ten members each.",
            ))
            .section(Section::new("What was run").facts(
                self.output.facts(&format!("disk{}", self.flags()), results.seed).into_iter().chain([
                    ("patches", format!("100 of {size} × {size} pixels, inside a disk")),
                    ("angles", "108 of 360 for each patch, a fifth of them held out; none is given".into()),
                    ("closed form", format!("{:.1} s", results.seconds[0])),
                    ("gradients", format!("{} steps, {:.1} s", results.steps, results.seconds[1])),
                ]),
            ))
    }
}

fn distances(results: &Results) -> Table {
    let table = Table::new("Mean distance within orbits, and between them")
        .words("model")
        .numbers("real invariants")
        .numbers("bytes")
        .numbers("instructions");
    let table = results
        .images
        .iter()
        .fold(table, |table, images| table.numbers(images.clone()));
    results.models.iter().fold(table, |table, model| {
        let numbers = [
            model.model.to_owned(),
            model.invariants.to_string(),
            model.bytes.to_string(),
            model.instructions.to_string(),
        ];
        let distances = model.distances.iter();
        let distances = distances.map(|d| format!("{:.4}, {:.3}", d.within, d.between));
        table.row(numbers.into_iter().chain(distances).collect::<Vec<_>>())
    })
}

fn attacks(results: &Results) -> Table {
    let table =
        Table::new("From noise to the invariants of images never trained on").words("images");
    results.attacks.iter().fold(columns(table), |table, row| {
        let first = [row.images.to_owned()];
        table.row(
            first
                .into_iter()
                .chain(cells(&row.summary))
                .collect::<Vec<_>>(),
        )
    })
}

fn orders(results: &Results) -> Chart {
    Chart {
        title: "Planes of each order".into(),
        x_label: "order m".into(),
        x: (0..results.planes.len())
            .map(|order| order as f64)
            .collect(),
        panels: vec![Panel {
            title: "Planes that a rotation by θ turns by mθ".into(),
            y_label: "planes".into(),
            scale: Scale::Linear,
            curves: vec![Curve {
                label: "planes".into(),
                values: results.planes.iter().map(|&count| count as f64).collect(),
                predicted: None,
            }],
        }],
    }
}

fn training(losses: &[[f64; 2]]) -> Chart {
    let points: Vec<&[[f64; 2]]> = losses.chunks(STEPS_A_POINT).collect();
    let curve = |label: &str, of: usize| Curve {
        label: label.into(),
        values: (points.iter())
            .map(|point| point.iter().map(|loss| loss[of]).sum::<f64>() / point.len() as f64)
            .collect(),
        predicted: None,
    };
    Chart {
        title: "Distances while the basis is refined".into(),
        x_label: "steps".into(),
        x: (0..points.len())
            .map(|k| (k * STEPS_A_POINT) as f64)
            .collect(),
        panels: vec![Panel {
            title: "Mean distances of invariants".into(),
            y_label: "distance".into(),
            scale: Scale::Log,
            curves: vec![curve("within orbits", 0), curve("between orbits", 1)],
        }],
    }
}
