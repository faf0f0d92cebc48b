//! The page of the experiment: which groups were found, what was refused, and which signals came back.

use super::Results;
use super::samples::ROUGH;
use bispectral_learn::Result;
use bispectral_learn::group::known_action;
use bispectral_report::{Page, Section, Table};
use bispectral_run::figures;

/// Groups whose tables are drawn.
const DRAWN: [&str; 4] = ["D4", "Q8", "A4", "S4"];

impl Results {
    pub(super) fn page(&self, facts: Vec<(&'static str, String)>) -> Result<Page> {
        let lead = format!(
            "Random signals, moved by a group that permutes their samples, and no word about the group: {} of {} times the \
             very permutations came out, and {} times others.",
            self.exact, self.tried, self.wrong
        );
        let page = Page::new("Groups from a few orbits", lead)
            .section(
                Section::new("Groups")
                    .paragraph(
                        "Whole: three orbits with all their members. 70 % and 50 %: so many random members of 8 and 12 orbits, \
                         with 5 % noise. Noisy: 24 whole orbits with 10 % noise. Milliseconds are the least of the seeds; \
                         multiply-adds are real ones, for the coefficients and the selective set of invariants of one signal.",
                    )
                    .table(self.groups()),
            )
            .section(
                Section::new("Strangers and noise")
                    .paragraph(
                        "24 orbits. Strangers are random signals among the members, the mislabelled are members of another orbit, \
                         both with 5 % noise on all.",
                    )
                    .table(self.rough()),
            )
            .section(
                Section::new("What is no group")
                    .paragraph(
                        "Wrong would be a group that is not there. Binary images have so many equal values that members alone \
                         cannot tell where each pixel goes: there the group is found exactly, or refused.",
                    )
                    .table(self.sets()),
            )
            .section(
                Section::new("Signals from their invariants")
                    .paragraph(
                        "A random signal has come back where it is in the orbit of the one its invariants were computed of.",
                    )
                    .table(self.inversions()),
            );
        let mut tables = Section::new("Tables of some of these groups");
        for name in DRAWN {
            let action = known_action(name, None)?;
            let figure = figures::exact_cayley(&format!("cayley-{name}"), &action.table(), name);
            tables = tables.block(figure);
        }
        Ok(page
            .section(tables)
            .section(Section::new("What was run").facts(facts)))
    }

    fn groups(&self) -> Table {
        let table = Table::new("Times that a group was found exactly, of those tried")
            .words("group")
            .numbers("order")
            .numbers("inputs")
            .numbers("whole")
            .numbers("70 %")
            .numbers("50 %")
            .numbers("noisy")
            .numbers("ms, whole")
            .numbers("ms, 50 %")
            .numbers("selective invariants")
            .numbers("multiply-adds");
        self.learned
            .iter()
            .fold(table, |table, row| table.row(row.cells()))
    }

    fn rough(&self) -> Table {
        let table =
            Table::new("Times that a group was found exactly, of those tried").words("group");
        let table = ROUGH
            .iter()
            .fold(table, |table, setting| table.numbers(setting.name));
        self.rough.iter().fold(table, |table, row| {
            let shares = row.outcomes.iter();
            let shares = shares.map(|outcome| format!("{}/{}", outcome.exact, outcome.tried));
            table.row(std::iter::once(row.group.clone()).chain(shares))
        })
    }

    fn sets(&self) -> Table {
        let table = Table::new("Sets that are no group, and binary images")
            .words("set")
            .numbers("tried")
            .numbers("solved")
            .numbers("wrong")
            .words("what is said of one that is refused");
        self.refused.iter().fold(table, |table, set| {
            table.row([
                set.set.clone(),
                set.tried.to_string(),
                set.exact.to_string(),
                set.wrong.to_string(),
                set.says.clone().unwrap_or_else(|| "—".into()),
            ])
        })
    }

    fn inversions(&self) -> Table {
        let table = Table::new("Random signals rebuilt from all invariants of up to third order")
            .words("group")
            .numbers("invariants")
            .numbers("signals")
            .numbers("back")
            .numbers("starts, median (most)")
            .numbers("ms, median");
        self.inverted.iter().fold(table, |table, row| {
            table.row([
                row.group.clone(),
                row.invariants.to_string(),
                row.signals.to_string(),
                row.back.to_string(),
                format!("{} ({})", row.starts[0], row.starts[1]),
                format!("{:.2}", row.median_milliseconds),
            ])
        })
    }
}
