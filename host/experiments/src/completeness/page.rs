//! The page of the experiment: what shares an image's features, and whether it is that image, moved.

use super::attacks::{Row, name};
use super::{Completeness, Results, inversion};
use crate::attack::{ROTATION, cells as cells_of, columns};
use bispectral_learn::analysis::trial::{Features, INSIDE, REACHED};
use bispectral_report::{Page, Section, Table};

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
        .section(inversion::section(&results.inversions, &results.noise))
        .section(Section::new("What was run").facts(self.output.facts(&self.flags(), results.seed)))
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
        .numbers("numbers");
    let table = columns(table).numbers("seconds");
    let table = rows.iter().fold(table, |table, row| {
        let names = [row.model, row.images, row.features.name()].map(String::from);
        let cells = names.into_iter().chain([row.numbers.to_string()]);
        let cells = cells.chain(cells_of(&row.summary));
        table.row(cells.chain([format!("{:.1}", row.seconds)]))
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
    let section = Section::new(format!("{}: {}", capitalised(row.model), row.images));
    let Some((pairs, distances)) = &row.drawn else {
        return section;
    };
    section
        .figure(
            name(row.model, row.images, "pairs"),
            pairs.clone(),
            "A row of images, and below it rows of what shares their features",
            format!(
                "Above, images that were attacked; below, what the attack made of noise, moved back as well as it goes: {}. \
                 The number is the distance from the target's orbit.",
                names.join(", then ")
            ),
        )
        .figure(
            name(row.model, row.images, "distances"),
            distances.clone(),
            "Distances from the target's orbit, sorted, one curve for each kind of features",
            "Distances of all attacks from their target's orbit, sorted, whether they reached its features or not.",
        )
}

fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
