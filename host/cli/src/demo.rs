//! `bispectral demo`: learn two symmetries without being told them, export the models, and check them with the core.

mod page;

use super::report::Finished;
use bispectral_experiments::equivariance;
use bispectral_learn::analysis::irreps;
use bispectral_learn::data::group::Group;
use bispectral_learn::data::orbits::{Orbits, Split};
use bispectral_learn::model::file::{self, ModelFile};
use bispectral_learn::{Error, Result};
use bispectral_report::{Block, Page};
use bispectral_run::config::{Config, Data};
use bispectral_run::console::Console;
use bispectral_run::figures;
use bispectral_run::pages::{PAGE, publish, read_page};
use bispectral_run::training::follow;
use bispectral_run::{Outcome, Results, Run};
use clap::Args;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Learn two symmetries from examples alone, export the models and check them: a report in seconds
///
/// Everything is written to one folder: both runs, and report.html, which tells of them. What an earlier demo left
/// there is replaced; a folder that is not a demo's is refused.
#[derive(Debug, Args)]
pub(super) struct Demo {
    /// The folder
    #[arg(short, long, value_name = "DIR", default_value = "bispectral-demo")]
    output: PathBuf,
    /// Write into the folder even if it is not a demo's
    #[arg(long)]
    force: bool,
}

/// Pixels of a patch's side.
const SIZE: usize = 8;

/// One symmetry.
struct Case {
    name: &'static str,
    what: &'static str,
    data: fn() -> Data,
}

const CASES: [Case; 2] = [
    Case {
        name: "group",
        what: "random functions on Z4xZ2",
        data: || Data {
            group: Some("Z4xZ2".into()),
            ..Data::default()
        },
    },
    Case {
        name: "translation",
        what: "8x8 patches of photographs, shifted both ways",
        data: || Data {
            images: Some("natural".into()),
            size: SIZE,
            ..Data::default()
        },
    },
];

/// What a case came to.
#[derive(Debug, Serialize)]
struct Row {
    case: &'static str,
    what: &'static str,
    seconds: f64,
    flash: usize,
    streaming_ram: usize,
    #[serde(flatten)]
    results: Results,
}

impl Demo {
    pub(super) fn run(&self, seed: Option<u64>, console: &Console) -> Result<()> {
        let seed = seed.unwrap_or(0);
        self.prepare()?;
        let (mut rows, mut drawn) = (Vec::new(), Vec::new());
        for case in &CASES {
            let (row, held_out) = self.case(case, seed, console)?;
            drawn.push(self.draw(&row, &held_out)?);
            rows.push(row);
        }
        let report = publish(&page::page(&rows, drawn, seed), &self.output)?;
        console.answer(
            &serde_json::json!({ "cases": rows, "report": report }),
            &table(&rows, &report),
        )
    }

    /// Makes the folder, or refuses one that no demo made. From its beginning on, a demo is known by its page.
    fn prepare(&self) -> Result<()> {
        let folder = &self.output;
        let empty = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
        let own = || read_page(folder).is_ok_and(|page| page.title == page::TITLE);
        if !empty && !self.force && !own() {
            let what = if folder.join(PAGE).exists() {
                "the folder holds another report"
            } else {
                "the folder holds other files"
            };
            let remedy = "choose another one with -o, or add --force";
            return Err(Error::file(folder, what, remedy));
        }
        fs::create_dir_all(folder).map_err(|error| Error::writing(folder, &error))?;
        publish(&Page::new(page::TITLE, "It is not finished."), folder).map(drop)
    }

    fn case(&self, case: &Case, seed: u64, console: &Console) -> Result<(Row, Orbits)> {
        console.say(&format!("learning the symmetry of {}", case.what));
        let config = Config {
            seed,
            data: (case.data)(),
            split: Some(Split::Exemplars),
            ..Config::default()
        };
        let begun = Instant::now();
        let folder = self.output.join(case.name);
        let run = Run::create(config, &folder, true)?;
        let held_out = run.held_out().clone();
        let Outcome::Finished(results) = follow(run, console)? else {
            return Err(Error::file(&folder, "stopped", "begin again"));
        };
        let file = ModelFile::read(&results.model)?;
        let model = file.model()?;
        let row = Row {
            case: case.name,
            what: case.what,
            seconds: begun.elapsed().as_secs_f64(),
            flash: file.bytes().len(),
            streaming_ram: size_of::<f32>() * (model.inputs() + model.scratch_len()),
            results: *results,
        };
        Ok((row, held_out))
    }

    /// What there is to see of a case.
    fn draw(&self, row: &Row, held_out: &Orbits) -> Result<Vec<Block>> {
        let finished = Finished::read(&self.output.join(row.case))?;
        let drawn = finished.draw(&format!("{}/", row.case), page::layout(row))?;
        let (filters, cayley) = (Some(drawn.filters), drawn.cayley);
        if row.case == CASES[0].name {
            let blocks = [cayley, filters, Some(drawn.distances)];
            return Ok(blocks.into_iter().flatten().collect());
        }
        let file = ModelFile::read(&row.results.model)?;
        let model = file.model()?;
        let w = file::weights(&model);
        let nearest = irreps::compare(&w.view(), &Group::new([SIZE, SIZE])?).nearest;
        let (_, chart) = equivariance::follow(&model, held_out, &nearest, SIZE)?;
        let along = figures::equivariance(&format!("{}/along", row.case), chart);
        let blocks = [filters, cayley, Some(along), Some(drawn.distances)];
        Ok(blocks.into_iter().flatten().collect())
    }
}

fn table(rows: &[Row], report: &Path) -> String {
    let mut text = String::from(
        "learned from examples that belong together, on signals never trained on:\n\n",
    );
    let mut line = |label: &str, value: &dyn Fn(&Row) -> String| {
        text.push_str(&format!("{label:<40}"));
        rows.iter()
            .for_each(|row| text.push_str(&format!("{:>14}", value(row))));
        text.push('\n');
    };
    line("", &|row| row.case.into());
    line("inputs × rows", &|row| {
        format!("{} × {}", row.results.inputs, row.results.rows)
    });
    line("group", &|row| {
        let group = row.results.group.as_ref();
        group.map_or_else(|| "none".into(), |group| group.name.clone())
    });
    line("seconds, all told", &|row| format!("{:.1}", row.seconds));
    line("mean squared distance within orbits", &|row| {
        format!("{:.1e}", row.results.held_out.within)
    });
    line("mean squared distance between orbits", &|row| {
        format!("{:.2}", row.results.held_out.between)
    });
    line("nearest neighbour is of the same orbit", &|row| {
        format!("{:.1} %", 100.0 * row.results.held_out.nearest)
    });
    line("reconstruction error", &|row| {
        format!("{:.1e}", row.results.held_out.reconstruction)
    });
    line("flash on a device, bytes", &|row| row.flash.to_string());
    line("RAM in the streaming form, bytes", &|row| {
        row.streaming_ram.to_string()
    });
    text.push_str("\nAll of it computed by bispectral-core from the exported models, bit for bit as on a device.\n");
    text.push_str(
        "\nNext: bispectral train --group Z16 -o run                    any finite commutative group\n\
         \x20     bispectral train --data X.npy --labels y.npy -o run    samples of your own\n\
         \x20     bispectral report run                                  what came of it, on one page\n\
         \x20     bispectral features run/model.bsn X.npy -o Y.npy       their invariants\n\
         \x20     cd firmware-example && cargo run --release             on a Cortex-M4F, in QEMU\n",
    );
    text.push_str(&format!(
        "\nReport: {} (one file, open it in any browser; both runs are beside it, another demo replaces them)",
        report.display()
    ));
    text
}
