//! The page of an attack.

use super::{Attack, INSIDE, Results, TransformName, number, place};
use crate::analysis::trial::Features;
use crate::report::page::{Page, Section, Table};

impl Attack {
    pub(super) fn page(&self, results: &Results) -> Page {
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
            .section(self.figures(results))
            .section(
                Section::new("What was run").facts(
                    place::facts(&self.command(), results.seed)
                        .into_iter()
                        .chain([
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
                ),
            )
    }

    fn figures(&self, results: &Results) -> Section {
        let section = Section::new("Targets and what shares their features");
        let section = match &results.summary {
            Some(summary) => section.table(
                Table::new(
                    "Distances from the target's orbit, for the best group element and scale",
                )
                .words("features")
                .numbers("targets")
                .numbers("reached")
                .numbers("in the orbit")
                .numbers("nearest to their own orbit")
                .numbers("median distance")
                .numbers("largest distance")
                .row([
                    results.features.name().into(),
                    summary.targets.to_string(),
                    summary.reached.to_string(),
                    summary.inside.to_string(),
                    summary.nearest.to_string(),
                    number(summary.median_orbit),
                    number(summary.largest_orbit),
                ]),
            ),
            None => section,
        };
        section
            .paragraph(self.criterion())
            .figure(
                "attack.png",
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
            Features::Bispectrum => "",
            Features::Power => " --features power",
            Features::Pooled => " --features pooled",
        };
        let transform = self.transform.map_or("", |_| " --transform rotate");
        format!("attack MODEL.bsn X.npy{features}{transform}")
    }
}

/// What counts on a grid of pixels.
pub(in crate::cli) const ROTATION: &str = "On a grid of pixels a rotation is not undone by turning back, and learned features \
    change a little on the way, so a target's own rotated copies are the measure: its features are reached where a signal's \
    are as near as those of half of its copies, and a signal is in its orbit where, turned back, it is no further from the \
    target than the furthest of the copies, turned back.";
