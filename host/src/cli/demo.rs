//! `bispectral demo`: learn two symmetries without being told them, export the models, and check them with the core.

use super::console::Console;
use super::train::follow;
use crate::export::bsn::ModelFile;
use crate::train::config::{Config, Data};
use crate::train::run::{Outcome, Results, Run};
use crate::{Error, Result};
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Learn two symmetries from examples alone, export the models and check them: under a minute
#[derive(Debug, Args)]
pub(super) struct Demo {
    /// Keep the runs in this folder; without it nothing is kept
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace the runs that the folder holds
    #[arg(long)]
    force: bool,
}

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
            size: 8,
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
        let folder = match &self.output {
            Some(folder) => Folder::Kept(folder.clone()),
            None => Folder::Temporary(tempfile::tempdir().map_err(|error| {
                Error::new(
                    "the temporary folder",
                    error.to_string(),
                    "name a folder with -o",
                )
            })?),
        };
        let rows = CASES
            .iter()
            .map(|case| self.case(case, folder.path(), seed.unwrap_or(0), console))
            .collect::<Result<Vec<_>>>()?;
        console.answer(
            &serde_json::json!({ "cases": rows }),
            &table(&rows, &folder),
        )
    }

    fn case(&self, case: &Case, folder: &Path, seed: u64, console: &Console) -> Result<Row> {
        console.say(&format!("learning the symmetry of {}", case.what));
        let config = Config {
            seed,
            data: (case.data)(),
            ..Config::default()
        };
        let begun = Instant::now();
        let mut run = Run::create(config, &folder.join(case.name), self.force)?;
        let Outcome::Finished(results) = follow(&mut run, console)? else {
            return Err(Error::file(folder, "stopped", "begin again"));
        };
        let file = ModelFile::read(&results.model)?;
        let model = file.model()?;
        Ok(Row {
            case: case.name,
            what: case.what,
            seconds: begun.elapsed().as_secs_f64(),
            flash: file.bytes().len(),
            streaming_ram: size_of::<f32>() * (model.inputs() + model.scratch_len()),
            results,
        })
    }
}

enum Folder {
    Kept(PathBuf),
    Temporary(tempfile::TempDir),
}

impl Folder {
    fn path(&self) -> &Path {
        match self {
            Folder::Kept(path) => path,
            Folder::Temporary(folder) => folder.path(),
        }
    }
}

fn table(rows: &[Row], folder: &Folder) -> String {
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
    if let Folder::Kept(path) = folder {
        text.push_str(&format!("The runs are in {}.\n", path.display()));
    }
    text.push_str(
        "\nNext: bispectral train --group Z16 -o run            any finite commutative group\n\
         \x20     bispectral train --data X.npy --labels y.npy -o run    samples of your own\n\
         \x20     bispectral features run/model.bsn X.npy -o Y.npy       their invariants\n\
         \x20     cd firmware-example && cargo run --release             on a Cortex-M4F, in QEMU",
    );
    text
}
