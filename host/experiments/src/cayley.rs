//! `bispectral reproduce cayley`: every finite commutative group of some orders, learned from random functions on it.

mod page;

use super::Output;
use crate::recovery::{Recipe, Recovery, recover};
use bispectral_learn::analysis::evaluation::distances;
use bispectral_learn::data::group::Group;
use bispectral_learn::group::of_order;
use bispectral_learn::model::file::ModelBytes;
use bispectral_learn::{Error, Result};
use bispectral_report::Section;
use bispectral_run::console::Console;
use bispectral_run::figures;
use clap::Args;
use serde::Serialize;
use std::fmt::Write as _;
use std::ops::RangeInclusive;

/// The paper's figure: all groups of order eight.
const PAPER: usize = 8;
const MOST: usize = 256;

/// Learn finite commutative groups from random functions on them, and compare Cayley tables
///
/// Without --orders the three groups of order eight, 20 seeds each: by the default recipe, and by gradients alone as in
/// the paper. A group is recovered when the table of the learned W, before anything is made exact, is isomorphic to
/// the group's and its exact characters are invariant on the data.
#[derive(Debug, Args)]
pub(super) struct Cayley {
    #[command(flatten)]
    output: Output,
    /// All groups of these orders: 2..=64, or one number
    #[arg(long, value_name = "ORDERS", value_parser = orders, default_value = "8")]
    orders: RangeInclusive<usize>,
    /// Seeds for each group [default: 20 for order eight, otherwise 3]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: Option<u64>,
    /// By gradients alone, too [default: for order eight]
    #[arg(long)]
    gradient: bool,
}

fn orders(text: &str) -> std::result::Result<RangeInclusive<usize>, String> {
    let number = |text: &str| {
        let number = text.trim().parse().ok();
        number.filter(|order| (1..=MOST).contains(order))
    };
    let range = match text.split_once("..=") {
        Some((first, last)) => number(first).zip(number(last)),
        None => number(text).map(|order| (order, order)),
    };
    match range {
        Some((first, last)) if first <= last => Ok(first..=last),
        _ => Err(format!("write 2..=64, or one number up to {MOST}")),
    }
}

/// All seeds of a group, learned one way.
#[derive(Debug, Serialize)]
struct Row {
    group: String,
    order: usize,
    recipe: &'static str,
    seeds: u64,
    recovered: u64,
    /// Means over seeds.
    steps: f64,
    seconds: f64,
    /// The most that a seed needed.
    attempts: u32,
    /// Of learned rows with exact characters, over all seeds that were recovered.
    least_overlap: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Results {
    experiment: &'static str,
    seed: u64,
    groups: usize,
    runs: u64,
    recovered: u64,
    rows: Vec<Row>,
}

impl Cayley {
    pub(super) fn run(&self, seed: u64, console: &Console) -> Result<()> {
        self.output.check()?;
        let paper = self.orders == (PAPER..=PAPER);
        let seeds = match self.seeds {
            Some(seeds) => seeds,
            None if self.output.quick => 2,
            None if paper => 20,
            None => 3,
        };
        let recipes: &[Recipe] = if self.gradient || paper {
            &[Recipe::Default, Recipe::Gradient]
        } else {
            &[Recipe::Default]
        };
        let groups: Vec<Group> = self.orders.clone().flat_map(of_order).collect();
        let total = groups.len() * recipes.len() * seeds as usize;
        let mut progress = console.progress("runs", total);
        let (mut rows, mut sections) = (Vec::new(), Vec::new());
        for (group, &recipe) in groups
            .iter()
            .flat_map(|group| recipes.iter().map(move |recipe| (group, recipe)))
        {
            let mut runs = Vec::new();
            for k in 0..seeds {
                let run = recover(group, seed.wrapping_add(k), recipe, |_| ())?;
                runs.push(run);
                let done = rows.len() * seeds as usize + runs.len();
                progress.tell(done, |_| format!(", {group}"));
            }
            if group.order() <= PAPER && recipe == Recipe::Default {
                sections.push(section(group, &runs[0])?);
            }
            rows.push(Row::of(group, recipe, &runs));
        }
        drop(progress);
        let results = Results {
            experiment: "cayley",
            seed,
            groups: groups.len(),
            runs: rows.iter().map(|row| row.seeds).sum(),
            recovered: rows.iter().map(|row| row.recovered).sum(),
            rows,
        };
        let missed = results.runs - results.recovered;
        let verdict = if missed == 0 {
            Ok(())
        } else {
            let what = format!(
                "{missed} of {} runs did not recover their group",
                results.runs
            );
            Err(Error::file(
                self.output.folder(),
                what,
                "see results.json for which",
            ))
        };
        let (text, words) = (results.table(), results.words());
        let page = self.page(&results, sections);
        self.output
            .conclude(console, &results, [&text, &words], &page, verdict)
    }
}

/// What a seed has learned of a group: rows in the order of the elements they are isomorphic to.
fn section(group: &Group, run: &Recovery) -> Result<Section> {
    let table = run.learned.table();
    let mut order: Vec<usize> = (0..table.order()).collect();
    let title = match &run.isomorphism {
        Some(map) => {
            order.sort_by_key(|&row| map[row]);
            format!("{group}, learned from random functions on it")
        }
        None => format!("{group} was not recovered"),
    };
    let w = run.weights.view();
    let model = ModelBytes::of(&w, "", None)
        .map_err(|error| Error::new(group.to_string(), error.to_string(), "take another seed"))?;
    let distances = distances(&model.view(), &run.held_out)?;
    let name = |kind: &str| format!("{kind}-{group}");
    let cayley = figures::cayley_drawing(&run.learned, &order, &title);
    Ok(Section::new(group.to_string())
        .block(figures::cayley(&name("cayley"), cayley, &group.to_string()))
        .block(figures::filters(
            &name("filters"),
            w,
            (1, group.order()),
            &order,
            "a number for each element of the group, from left to right",
            figures::Rows::Characters,
        ))
        .block(figures::distances(&name("distances"), &distances)))
}

impl Row {
    fn of(group: &Group, recipe: Recipe, runs: &[Recovery]) -> Self {
        let recovered = |run: &&Recovery| run.isomorphism.is_some() && run.least_overlap.is_some();
        let mean = |value: fn(&Recovery) -> f64| {
            runs.iter().map(value).sum::<f64>() / runs.len().max(1) as f64
        };
        let overlaps = runs
            .iter()
            .filter(recovered)
            .filter_map(|run| run.least_overlap);
        Row {
            group: group.to_string(),
            order: group.order(),
            recipe: match recipe {
                Recipe::Default => "default",
                Recipe::Gradient => "gradient",
            },
            seeds: runs.len() as u64,
            recovered: runs.iter().filter(recovered).count() as u64,
            steps: mean(|run| run.steps as f64),
            seconds: mean(|run| run.time.as_secs_f64()),
            attempts: runs.iter().map(|run| run.attempts).max().unwrap_or(0),
            least_overlap: overlaps.reduce(f64::min),
        }
    }
}

impl Results {
    fn table(&self) -> String {
        let width = self
            .rows
            .iter()
            .map(|row| row.group.len())
            .max()
            .unwrap_or(0)
            .max(5);
        let mut text = format!(
            "{:<width$}  recipe    seeds  recovered   steps  attempts  seconds  overlap\n",
            "group"
        );
        for row in &self.rows {
            let overlap = row
                .least_overlap
                .map_or_else(|| "-".into(), |o| format!("{o:.4}"));
            let _ = writeln!(
                text,
                "{:<width$}  {:<8}  {:>5}  {:>9}  {:>6.0}  {:>8}  {:>7.2}  {overlap:>7}",
                row.group,
                row.recipe,
                row.seeds,
                row.recovered,
                row.steps,
                row.attempts,
                row.seconds,
            );
        }
        text
    }

    fn words(&self) -> String {
        format!(
            "{}\n{} of {} runs recovered their group ({} groups).\n\
             Steps and seconds are means of one seed; attempts the most that a seed needed; overlap the least of a \
             learned row with its exact character.",
            self.table(),
            self.recovered,
            self.runs,
            self.groups,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_a_number_or_a_range() {
        assert_eq!(orders("8"), Ok(8..=8));
        assert_eq!(orders("2..=64"), Ok(2..=64));
        for wrong in [
            "",
            "x",
            "0",
            "257",
            "9..=2",
            "2..64",
            "1..=99999999999999999999",
        ] {
            assert!(orders(wrong).is_err(), "{wrong}");
        }
    }
}
