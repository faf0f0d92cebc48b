//! `bispectral reproduce groups`: finite groups that permute the inputs, learned exactly from few orbits, and inverted.

mod inversion;
mod learning;
mod page;
mod samples;

use super::Output;
use bispectral_learn::{Error, Result};
use bispectral_run::console::Console;
use clap::Args;
use serde::Serialize;
use std::fmt::Write as _;

/// Learn every small group from few orbits, commutative or not
///
/// All groups of up to 31 elements in their regular action, and groups on pixels, polygons, a hexagonal grid, faces, corners
/// and edges of a cube and several channels: from three whole orbits, from 70 % and 50 % of the members with 5 % noise, and with
/// 10 % noise. Beside them sets that no group moves, and binary images. Then random signals are rebuilt from their invariants.
#[derive(Debug, Args)]
pub(super) struct Groups {
    #[command(flatten)]
    output: Output,
    /// Seeds of each group in each setting [default: 5, quick 1]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Results {
    experiment: &'static str,
    seed: u64,
    tried: usize,
    exact: usize,
    /// Another group than the one that moved the signals, or one where there is none.
    wrong: usize,
    learned: Vec<learning::Row>,
    rough: Vec<learning::Rough>,
    refused: Vec<learning::Refused>,
    inverted: Vec<inversion::Row>,
}

impl Groups {
    pub(super) fn run(&self, seed: u64, console: &Console) -> Result<()> {
        self.output.check()?;
        let quick = self.output.quick;
        let seeds = self.seeds.unwrap_or(if quick { 1 } else { 5 });
        let learned = learning::learned(quick, seeds, seed, console)?;
        let rough = learning::rough(quick, seeds, seed, console)?;
        let refused = learning::refused(quick, seed, console)?;
        let inverted = inversion::run(quick, seed, console)?;
        let outcomes = || {
            let learned = learned.iter().flat_map(|row| &row.outcomes);
            learned.chain(rough.iter().flat_map(|row| &row.outcomes))
        };
        let results = Results {
            experiment: "groups",
            seed,
            tried: outcomes().map(|outcome| outcome.tried).sum(),
            exact: outcomes().map(|outcome| outcome.exact).sum(),
            wrong: outcomes().map(|outcome| outcome.wrong).sum::<usize>()
                + refused.iter().map(|set| set.wrong).sum::<usize>(),
            learned,
            rough,
            refused,
            inverted,
        };
        let words = results.words();
        let page = results.page(self.facts(seed, seeds))?;
        let verdict = results.check(&self.output);
        self.output
            .conclude(console, &results, [&words, &words], &page, verdict)
    }

    fn facts(&self, seed: u64, seeds: u64) -> Vec<(&'static str, String)> {
        let flag = |seeds: u64| format!(" --seeds {seeds}");
        let flags = self.seeds.map_or_else(String::new, flag);
        let mut facts = self.output.facts(&format!("groups{flags}"), seed);
        facts.push(("seeds for each", seeds.to_string()));
        facts
    }
}

impl Results {
    fn words(&self) -> String {
        let mut text = format!(
            "{:<12} {:>5} {:>6}  {:>7} {:>7} {:>7} {:>7}  {:>8} {:>8}  {:>9} {:>13}\n",
            "group",
            "order",
            "inputs",
            "whole",
            "70 %",
            "50 %",
            "noisy",
            "ms whole",
            "ms 50 %",
            "selective",
            "multiply-adds"
        );
        for row in &self.learned {
            let cells = row.cells();
            let _ = writeln!(
                text,
                "{:<12} {:>5} {:>6}  {:>7} {:>7} {:>7} {:>7}  {:>8} {:>8}  {:>9} {:>13}",
                cells[0],
                cells[1],
                cells[2],
                cells[3],
                cells[4],
                cells[5],
                cells[6],
                cells[7],
                cells[8],
                cells[9],
                cells[10]
            );
        }
        text.push('\n');
        for row in &self.rough {
            let share = |outcome: &learning::Outcome| {
                format!("{} {}/{}", outcome.setting, outcome.exact, outcome.tried)
            };
            let shares: Vec<String> = row.outcomes.iter().map(share).collect();
            let _ = writeln!(text, "{:<12} {}", row.group, shares.join(", "));
        }
        for (name, outcome) in self.outcomes() {
            if let Some(missed) = &outcome.missed {
                let _ = writeln!(text, "{name}, {}: {missed}", outcome.setting);
            }
        }
        let _ = writeln!(text, "{} of {} exact.\n", self.exact, self.tried);
        for set in &self.refused {
            let _ = writeln!(
                text,
                "{:<42} {:>3} sets, {:>3} solved, {:>3} wrong{}",
                set.set,
                set.tried,
                set.exact,
                set.wrong,
                set.says
                    .as_ref()
                    .map_or_else(String::new, |says| format!("; refused: {says}")),
            );
        }
        text.push('\n');
        text.push_str(&inversion::words(&self.inverted));
        text
    }

    /// What came of every group in every setting.
    fn outcomes(&self) -> impl Iterator<Item = (String, &learning::Outcome)> {
        let learned = self.learned.iter().flat_map(|row| {
            let name = move |outcome| (format!("{} on {}", row.group, row.inputs), outcome);
            row.outcomes.iter().map(name)
        });
        let rough = self.rough.iter();
        learned.chain(rough.flat_map(|row| {
            row.outcomes
                .iter()
                .map(|outcome| (row.group.clone(), outcome))
        }))
    }

    /// No group is missed in whole or partial orbits, none is found that is not there, and signals come back.
    fn check(&self, output: &Output) -> Result<()> {
        let fail = |what: String| {
            let remedy = "see there for what was found";
            Err(Error::file(&output.path("results.json"), what, remedy))
        };
        if self.wrong > 0 {
            return fail(format!("{} times a group that is not there", self.wrong));
        }
        // Much noise, and members of no orbit, may be refused.
        let outcomes = self.learned.iter().flat_map(|row| &row.outcomes);
        let missed: usize = outcomes
            .filter(|outcome| outcome.setting != samples::NOISY)
            .map(|outcome| outcome.tried - outcome.exact)
            .sum();
        if missed > 0 {
            return fail(format!("{missed} of {} groups were not found", self.tried));
        }
        match self.inverted.iter().find(|row| !row.is_enough()) {
            Some(row) => fail(format!(
                "{} of {} signals of {} came back",
                row.back, row.signals, row.group
            )),
            None => Ok(()),
        }
    }
}

impl learning::Row {
    fn cells(&self) -> Vec<String> {
        let share = |outcome: &learning::Outcome| format!("{}/{}", outcome.exact, outcome.tried);
        let milliseconds = |at: usize| {
            let seconds = self
                .outcomes
                .get(at)
                .map_or(0.0, learning::Outcome::least_seconds);
            format!("{:.1}", 1e3 * seconds)
        };
        let mut cells = vec![
            self.group.clone(),
            self.order.to_string(),
            self.inputs.to_string(),
        ];
        cells.extend(self.outcomes.iter().map(share));
        cells.extend([milliseconds(0), milliseconds(2)]);
        cells.extend([
            self.selective.to_string(),
            format!("{:.0}", self.multiply_adds),
        ]);
        cells
    }
}
