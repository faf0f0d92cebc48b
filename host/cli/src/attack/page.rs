//! The page of an attack.

use super::{Attack, INSIDE, Results, TransformName, facts};
use crate::choices::Attacked;
use bispectral_experiments::attack::{ROTATION, cells, columns};
use bispectral_report::{Drawing, Page, Section, Table};

impl Attack {
    pub(super) fn page(&self, results: &Results, drawing: Drawing) -> Page {
        let lead = match (&results.summary, &results.motions) {
            (Some(summary), Some(motions)) => format!(
                "From noise, {} of {} signals were moved until their features ({}) were those of a given signal. Of these, {} \
                 turned out to be that signal, moved by {motions}.",
                summary.reached,
                summary.targets,
                results.features.name(),
                summary.inside,
            ),
            _ => format!(
                "From noise, {} of {} signals were moved until their features ({}) were those of a given signal. How signals \
                 move is not known, so nothing is said of orbits.",
                results.reached,
                results.targets,
                results.features.name(),
            ),
        };
        Page::new("An attack on invariance", lead)
            .section(self.figures(results, drawing))
            .section(Section::new("What was run").facts(
                facts(&self.command(), results.seed).into_iter().chain([
                    ("model", results.model.clone()),
                    ("numbers of the features", results.numbers.to_string()),
                    (
                        "steps",
                        format!(
                            "{} of up to {}, {:.1} s",
                            results.steps, self.steps, results.seconds
                        ),
                    ),
                ]),
            ))
    }

    fn figures(&self, results: &Results, drawing: Drawing) -> Section {
        let section = Section::new("Targets and what shares their features");
        let section = match &results.summary {
            Some(summary) => {
                let caption =
                    "Distances from the target's orbit, for the best group element and scale";
                let name = [results.features.name().to_owned()];
                let row = name.into_iter().chain(cells(summary));
                section.table(columns(Table::new(caption).words("features")).row(row))
            }
            None => section,
        };
        section
            .paragraph(self.criterion())
            .figure(
                "attack",
                drawing,
                "A row of images and a row of what shares their features",
                "Above, targets; below, what the attack made of noise, moved back to the target where it is known how signals \
                 move. The number is the distance from the target's orbit, as a share of the target: 0 in it, 1 for what has \
                 nothing in common with it.",
            )
    }

    /// What counts as reached and as inside.
    fn criterion(&self) -> String {
        match self.transform {
            Some(TransformName::Rotate) => ROTATION.into(),
            None => format!(
                "Features have unit length; a target's are reached where the distance from them is below {:.0e}. A signal is in \
                 the orbit where its distance from it is below {INSIDE}.",
                super::REACHED
            ),
        }
    }

    fn command(&self) -> String {
        let features = match self.features {
            Attacked::Bispectrum => "",
            Attacked::Power => " --features power",
            Attacked::Pooled => " --features pooled",
            Attacked::Couplings => " --features couplings",
        };
        let transform = self.transform.map_or("", |_| " --transform rotate");
        format!("attack MODEL.bsn X.npy{features}{transform}")
    }
}
