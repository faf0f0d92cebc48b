//! The page of the experiment: how little the invariants change as patches turn, beside the published model.

use super::{Figures, PURE, Results, Rotation, Rows};
use bispectral_learn::analysis::orbit_distance::OrbitDistance;
use bispectral_report::{Page, Section, Table};

impl Rotation {
    pub(super) fn page(&self, results: &Results, figures: &Figures) -> Page {
        let unseen: Vec<f64> = results.rows[2..]
            .iter()
            .map(|row| row.learned.within)
            .collect();
        let lead = format!(
            "Patches of photographs are turned on the pixel grid, where interpolation makes rotation only nearly a group. \
             On images never seen the learned invariants change by {:.3} on average as a patch turns, and differ by {:.2} \
             between patches.",
            unseen.iter().sum::<f64>() / unseen.len() as f64,
            results.rows[2].learned.between,
        );
        Page::new("Learning rotation from photographs", lead)
            .section(self.distances(results))
            .section(
                Section::new("What was learned")
                    .block(figures.filters.clone())
                    .paragraph(orders(&results.learned))
                    .figure(
                        "orders",
                        figures.orders.clone(),
                        "Numbers of rows over angular orders",
                        "Disk harmonics of order m turn by m times the angle. How many rows there are of each order, and \
                         how many of them are of one order only.",
                    ),
            )
            .section(Section::new("Along a rotation").figure(
                "along",
                figures.along.clone(),
                "Above, phases of three coefficients turn steadily with the patch; below, the invariants change little",
                "A patch of a photograph never seen, turned once around. Above: a coefficient of order m turns m times \
                 (marks are measured, dashes predicted). Below: the change of the invariants, which interpolation keeps \
                 from being zero, beside that of the patch itself. At quarter turns the grid falls onto itself.",
            ))
            .section(
                Section::new("Within orbits and between them")
                    .block(figures.distances.clone()),
            )
            .section(
                Section::new("How training went")
                    .block(figures.losses.clone()),
            )
            .section(
                Section::new("What was run").facts(
                    self.output.facts("rotation", results.seed).into_iter().chain([
                        ("patches", format!("100 of {0} × {0} pixels, inside a disk", results.size)),
                        ("angles", "108 of 360 for each patch, a fifth of them held out".into()),
                        ("training", format!("{} steps, {:.0} s", results.trained.steps, results.seconds)),
                    ]),
                ),
            )
    }

    fn distances(&self, results: &Results) -> Section {
        let table = Table::new("Mean distance of centred, normalised bispectra")
            .words("images")
            .numbers("within orbits")
            .numbers("between orbits")
            .numbers("published W, within")
            .numbers("published W, between");
        let table = results.rows.iter().fold(table, |table, row| {
            let [within, between] = cells(Some(&row.learned));
            let [other_within, other_between] = cells(row.published.as_ref());
            table.row([
                row.images.clone(),
                within,
                between,
                other_within,
                other_between,
            ])
        });
        let table = table.published([
            "Sanborn et al. (2023), their own patches, 13.5 h on a GPU",
            "—",
            "—",
            "0.035",
            "—",
        ]);
        Section::new("Results")
            .paragraph(
                "Euclidean distances, as the authors' code measures them. Smaller is better within orbits; unrelated \
                 vectors of unit length are √2 apart. The published W is measured on the same images in the same run, \
                 where one was given.",
            )
            .table(table)
    }
}

fn cells(distance: Option<&OrbitDistance>) -> [String; 2] {
    match distance {
        Some(distance) => [
            format!("{:.4}", distance.within),
            format!("{:.3}", distance.between),
        ],
        None => ["—", "—"].map(String::from),
    }
}

fn orders(rows: &Rows) -> String {
    format!(
        "Of {} rows, {} are pure: at least {PURE} of their angular spectrum is at one order. Of the {} products of two pure \
         rows {} have the sum of their orders, as in a group of rotations.",
        rows.count, rows.pure, rows.products.pairs, rows.products.additive
    )
}
