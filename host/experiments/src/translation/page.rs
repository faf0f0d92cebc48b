//! The page of the experiment: three ways to learn the translations of patches, beside the published model.

use super::{Figures, Results, Row, Translation};
use bispectral_report::number::scientific;
use bispectral_report::{Page, Section, Table};

/// The authors' published model: patches of 16 × 16, after 5.6 hours on a GPU.
const PUBLISHED: [&str; 8] = [
    "Sanborn et al. (2023), 16 × 16",
    "—",
    "5.6 h on a GPU",
    "128 of 256",
    "—",
    "0.79",
    "—",
    "—",
];

impl Translation {
    pub(super) fn page(&self, results: &Results) -> Page {
        let size = results.size;
        let lead = format!(
            "Small patches of photographs, {size} × {size} pixels, shifted around their edges in every way, and no word \
             about shifts: of the {} waves of the Fourier transform, W learned {}. The group that they name: {}.",
            size_squared(results),
            results.rows[0].irreps.distinct,
            name(&results.rows[0])
        );
        let along = &results.along;
        let moved = format!(
            "A patch that was not trained on is shifted once around. Its coefficients follow their irreps within {} of \
             their size, its invariants change by {} (two unrelated patches differ by about 1.4), while the patch itself changes \
             by {:.2} of its size.",
            scientific(along.equivariance_error),
            scientific(along.invariance_error),
            along.signal
        );
        let Figures {
            learned: [filters, cayley],
            equivariance,
            distances,
            losses: [partial, gradient],
        } = &results.figures;
        Page::new("Learning translation from photographs", lead)
            .section(self.results(results))
            .section(
                Section::new("What was learned")
                    .block(filters.clone())
                    .block(cayley.clone()),
            )
            .section(
                Section::new("Along a translation")
                    .paragraph(moved)
                    .block(equivariance.clone()),
            )
            .section(Section::new("Within orbits and between them").block(distances.clone()))
            .section(
                Section::new("How training went")
                    .paragraph(steps(&results.rows))
                    .block(partial.clone())
                    .block(gradient.clone()),
            )
            .section(Section::new("What was run").facts(self.facts(results)))
    }

    fn results(&self, results: &Results) -> Section {
        let irreps = size_squared(results);
        let table = Table::new(format!(
            "Three ways to learn the {irreps} irreps of the shifts, before anything is made exact, and how the exported \
             model does on held-out samples"
        ))
        .words("learned from")
        .words("group")
        .numbers("seconds")
        .numbers("distinct irreps")
        .numbers("exact")
        .numbers("mean overlap")
        .numbers("within orbits")
        .numbers("between orbits")
        .published(PUBLISHED);
        let mut table = results
            .rows
            .iter()
            .fold(table, |table, row| table.row(cells(row, irreps)));
        if let Some(published) = &results.published {
            table = table.published([
                "the W that was given".into(),
                "—".into(),
                "—".into(),
                format!("{} of {}", published.distinct, published.all),
                published.exact.to_string(),
                format!("{:.3}", published.mean_overlap),
                "—".into(),
                "—".into(),
            ]);
        }
        Section::new("Results")
            .table(table)
            .paragraph(
                "Distinct counts the irreps that some learned row is most like; exact, those it is like by more than 0.999 of 1; \
                 mean overlap, how much like its irrep a row is. Within and between are mean squared distances of normalised \
                 invariants: 0 for samples that cannot be told apart, about 2 for unrelated ones.",
            )
    }

    fn facts(&self, results: &Results) -> Vec<(&'static str, String)> {
        let size = results.size;
        let photographs = match &self.images {
            Some(folder) => format!("those in {}", folder.display()),
            None => "those that come with the program".into(),
        };
        let images = self.images.as_ref().map_or("", |_| " --images DIR");
        let published = self.published.as_ref().map_or("", |_| " --published W.npy");
        let flags = format!("translation{images}{published}");
        let mut facts = self.output.facts(&flags, results.seed);
        facts.extend([
            ("patches", format!("{size} × {size} pixels")),
            ("photographs", photographs),
            (
                "orbits",
                format!("all {} cyclic shifts of a patch", size_squared(results)),
            ),
            (
                "held out",
                "whole orbits, or a fifth of every orbit where 80 % are learned from".into(),
            ),
        ]);
        facts
    }
}

fn size_squared(results: &Results) -> usize {
    results.size * results.size
}

pub(super) fn name(row: &Row) -> &str {
    let group = row.trained.group.as_ref();
    group.map_or("none", |group| &group.name)
}

fn steps(rows: &[Row]) -> String {
    let steps = rows
        .iter()
        .map(|row| format!("{} steps from {}", row.trained.steps, row.what));
    let steps: Vec<String> = steps.collect();
    format!(
        "Training took {}. What lies on the lower edge of a picture is zero up to rounding.",
        steps.join("; ")
    )
}

fn cells(row: &Row, irreps: usize) -> [String; 8] {
    let held_out = &row.trained.held_out;
    [
        row.what.into(),
        name(row).into(),
        format!("{:.1}", row.seconds),
        format!("{} of {irreps}", row.irreps.distinct),
        row.irreps.exact.to_string(),
        format!("{:.3}", row.irreps.mean_overlap),
        scientific(held_out.within),
        format!("{:.2}", held_out.between),
    ]
}
