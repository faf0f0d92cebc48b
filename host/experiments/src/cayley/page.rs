//! The page of the experiment: which groups were recovered, and what was learned of the small ones.

use super::{Cayley, PAPER, Results, Row};
use bispectral_report::{Page, Section, Table};

impl Cayley {
    pub(super) fn page(&self, results: &Results, sections: Vec<Section>) -> Page {
        let lead = format!(
            "Given random functions on a group, each with its translates, and no word about the group itself: {} of {} \
             runs recovered the group's multiplication table.",
            results.recovered, results.runs
        );
        let page = Page::new("Learning groups from examples", lead).section(
            Section::new("Results")
                .paragraph(
                    "A function on a group is one number for each of its elements; moving it by an element gives another \
                     function, and all of these together are its orbit. Training sees orbits and has to find a matrix W whose \
                     rows behave simply when functions move: the irreducible representations (irreps) of the group. Multiplying \
                     two rows number by number gives a third, and the table of which gives which is the group's own table, \
                     perhaps with its elements in another order. A group counts as recovered when that table, before anything is \
                     made exact, is isomorphic to the group's.",
                )
                .table(table(&results.rows))
                .paragraph(
                    "Default is the recipe of bispectral train: a closed form, and gradients where that is not enough. Gradient \
                     begins with random weights and uses gradients alone, as the paper does.",
                ),
        );
        let page = sections.into_iter().fold(page, Page::section);
        page.section(Section::new("What was run").facts(self.facts(results)))
    }

    fn facts(&self, results: &Results) -> Vec<(&'static str, String)> {
        let (first, last) = (self.orders.start(), self.orders.end());
        let orders = if first == last {
            first.to_string()
        } else {
            format!("{first} to {last}")
        };
        let seeds = results.rows.first().map_or(0, |row| row.seeds);
        let mut flags = String::from("cayley");
        if orders != PAPER.to_string() {
            flags += &format!(" --orders {first}..={last}");
        }
        flags += &self
            .seeds
            .map_or_else(String::new, |seeds| format!(" --seeds {seeds}"));
        flags += if self.gradient { " --gradient" } else { "" };
        let mut facts = self.output.facts(&flags, results.seed);
        facts.extend([
            ("orders", orders),
            ("groups", results.groups.to_string()),
            ("seeds for each", seeds.to_string()),
            (
                "data",
                "100 random functions on each group, all their translates; 20 of them held out"
                    .into(),
            ),
        ]);
        facts
    }
}

fn table(rows: &[Row]) -> Table {
    let table = Table::new(
        "Runs that recovered their group; steps and seconds are means of one seed, attempts the most that one needed",
    )
    .words("group")
    .words("recipe")
    .numbers("recovered")
    .numbers("steps")
    .numbers("attempts")
    .numbers("seconds")
    .numbers("least overlap with exact irreps");
    let table = table.published([
        "Z8, Z4xZ2, Z2xZ2xZ2 in the paper",
        "gradient",
        "3 of 3 groups",
        "—",
        "—",
        "—",
        "—",
    ]);
    rows.iter().fold(table, |table, row| {
        let overlap = row.least_overlap;
        table.row([
            row.group.clone(),
            row.recipe.into(),
            format!("{} of {}", row.recovered, row.seeds),
            format!("{:.0}", row.steps),
            row.attempts.to_string(),
            format!("{:.2}", row.seconds),
            overlap.map_or_else(|| "—".into(), |overlap| format!("{overlap:.4}")),
        ])
    })
}
