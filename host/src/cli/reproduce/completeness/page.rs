//! The page of the experiment: what shares an image's features, and whether it is that image, moved.

use super::attacks::{Row, file};
use super::{Completeness, Results};
use crate::analysis::trial::{Features, INSIDE, REACHED};
use crate::cli::attack::{ROTATION, number};
use crate::report::page::{Page, Section, Table};

impl Completeness {
    pub(super) fn page(&self, results: &Results) -> Page {
        let first = &results.attacks[0];
        let lead = format!(
            "Noise is moved until its features are those of an image. By the bispectrum, {} of the {} attacks on translation that \
             succeed lead back to the image itself, shifted; by the power spectrum of the same W, {} of {} do.",
            first.summary.inside,
            first.summary.reached,
            results.attacks[1].summary.inside,
            results.attacks[1].summary.reached,
        );
        let page =
            Page::new("Only an orbit shares its invariants", lead).section(table(&results.attacks));
        let sets = results
            .attacks
            .iter()
            .filter(|row| row.features == Features::Bispectrum);
        sets.fold(page, |page, row| {
            page.section(pictures(row, &results.attacks))
        })
        .section(Section::new("What was run").facts(self.place.facts(&self.flags(), results.seed)))
    }

    fn flags(&self) -> String {
        let mnist = self.mnist.as_ref().map_or("", |_| " --mnist DIR");
        let rotation = self
            .rotation
            .as_ref()
            .map_or("", |_| " --rotation MODEL.bsn");
        format!("completeness{mnist}{rotation}")
    }
}

fn table(rows: &[Row]) -> Section {
    let table = Table::new("Attacks from noise on images never trained on")
        .words("model")
        .words("images")
        .words("features")
        .numbers("numbers")
        .numbers("attacks")
        .numbers("reached")
        .numbers("in the orbit")
        .numbers("nearest to their own orbit")
        .numbers("median distance")
        .numbers("largest distance")
        .numbers("seconds");
    let table = rows.iter().fold(table, |table, row| {
        let summary = &row.summary;
        table.row([
            row.model.into(),
            row.images.into(),
            row.features.name().into(),
            row.numbers.to_string(),
            summary.targets.to_string(),
            summary.reached.to_string(),
            summary.inside.to_string(),
            summary.nearest.to_string(),
            number(summary.median_orbit),
            number(summary.largest_orbit),
            format!("{:.1}", row.seconds),
        ])
    });
    Section::new("Results")
        .table(table)
        .paragraph(format!(
            "Of attacks that reached the target's features: how many are in its orbit, how many are nearer to it than to \
             any other target's, and how far they are from it for the best group element and scale, as a share of the \
             target. Translation: features of unit length are reached within {REACHED:.0e}, and a signal within {INSIDE} of an \
             orbit is in it. Rotation: {ROTATION}"
        ))
        .paragraph(
            "All start from the same noise. Features that lose more than the orbit have metamers: images that look like \
             nothing, with exactly the features of a patch or a digit.",
        )
}

fn pictures(row: &Row, rows: &[Row]) -> Section {
    let of_set = rows
        .iter()
        .filter(|other| (other.model, other.images) == (row.model, row.images));
    let names: Vec<&str> = of_set.map(|other| other.features.name()).collect();
    Section::new(format!("{}: {}", capitalised(row.model), row.images))
        .figure(
            file(row.model, row.images, "pairs"),
            "A row of images, and below it rows of what shares their features",
            format!(
                "Above, images that were attacked; below, what the attack made of noise, moved back as well as it goes: {}. \
                 The number is the distance from the target's orbit.",
                names.join(", then ")
            ),
        )
        .figure(
            file(row.model, row.images, "distances"),
            "Distances from the target's orbit, sorted, one curve for each kind of features",
            "Distances of all attacks from their target's orbit, sorted, whether they reached its features or not.",
        )
}

fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
