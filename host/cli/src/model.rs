//! `bispectral model`: the model of a group that is known by name, without data.

use bispectral_learn::Result;
use bispectral_learn::learn::known::{known_model, known_model_of_fourth_order};
use bispectral_learn::storage::NewFile;
use bispectral_run::console::{self, Console};
use bispectral_run::permutations;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;

/// What is said of models whose invariants leave something open.
pub(super) const INCOMPLETE: &str = "invariants of third order are not enough on these inputs: signals were found that are not \
     moved to each other and have the same, such as mirror images";

/// Make the model of a known group, without data
///
/// Where the group commutes and there is one input for each of its elements, W is its exact characters; otherwise the model is
/// of couplings. Without --on the group acts on its own elements. --on also takes n for Zn, Dn, Sn and An (the corners of a
/// polygon, the things that are permuted), 6, 8 and 12 for O (faces, corners and edges of a cube), a square number for Z4 and
/// D4 (pixels), 7, 19, 37 … for Z6 and D6 (a hexagonal grid), and multiples of these: several channels that move together.
#[derive(Debug, Args)]
pub(super) struct Known {
    /// The group: Z16xZ16, D8 (16 elements), S4 or O, A5 or I, Q8, Dic3, SL(2,3), Z7:Z3, and products of them
    #[arg(long, value_name = "NAME")]
    group: String,
    /// How many inputs it moves [default: as many as it has elements]
    #[arg(long, value_name = "INPUTS")]
    on: Option<usize>,
    /// The highest order of its invariants. 4 is for signals that have no third order, such as those with odd harmonics only, of
    /// commutative groups of up to 256 elements
    #[arg(long, value_name = "ORDER", value_parser = clap::value_parser!(u8).range(3..=4), default_value_t = 3)]
    order: u8,
    /// The model to write
    #[arg(short, long, value_name = "MODEL.bsn")]
    output: PathBuf,
    /// Also write how the group moves the inputs: uint16, of shape (elements, inputs). `bispectral group` reads it where it is
    /// called permutations.npy and is beside the model
    #[arg(long, value_name = "P.npy")]
    permutations: Option<PathBuf>,
    /// Replace files that exist
    #[arg(long)]
    force: bool,
}

#[derive(Serialize)]
struct Summary<'a> {
    output: String,
    group: Option<&'a str>,
    order: usize,
    inputs: usize,
    rows: usize,
    pairs: usize,
    bytes: usize,
    /// Whether no invariant of up to fourth order tells all orbits apart.
    incomplete: bool,
    /// Two signals in different orbits that have the same invariants.
    confused: Option<[Vec<f64>; 2]>,
    /// Invariants of fourth order, where those of third do not tell all orbits apart.
    fourth: usize,
}

/// A signal on a line, cut where it is long.
fn numbers(x: &[f64]) -> String {
    let shown: Vec<String> = x.iter().take(12).map(|x| format!("{x:.3}")).collect();
    let rest = if x.len() > 12 { " …" } else { "" };
    format!("({}{rest})", shown.join(" "))
}

impl Known {
    pub(super) fn run(&self, console: &Console) -> Result<()> {
        let mut output = NewFile::create(&self.output, self.force)?;
        let beside = self.permutations.as_ref();
        let beside =
            beside.map(|path| NewFile::create(path, self.force)?.other_than([&self.output]));
        let beside = beside.transpose()?;
        let stem = self.output.file_stem().unwrap_or_default();
        let of_order = match self.order {
            4 => known_model_of_fourth_order,
            _ => known_model,
        };
        let known = of_order(&self.group, self.on, &stem.to_string_lossy())?;
        output.write(known.model.bytes())?;
        output.commit()?;
        if let Some(mut file) = beside {
            file.write(&permutations::bytes(&known.action))?;
            file.commit()?;
        }
        let view = known.model.view();
        let summary = Summary {
            output: self.output.display().to_string(),
            group: view.group(),
            order: known.action.order(),
            inputs: view.inputs(),
            rows: view.rows(),
            pairs: view.pairs(),
            bytes: known.model.bytes().len(),
            incomplete: known.incomplete,
            confused: known.confused.map(|confused| confused.signals),
            fourth: known.fourth,
        };
        let name = console::name(&summary.output);
        if let Some([a, b]) = &summary.confused {
            let [a, b] = [a, b].map(|x| numbers(x));
            console.say(&format!(
                "note: {name}: {INCOMPLETE}; those of fourth order neither: {a} and {b}; only their canonical forms differ: `bispectral features --canonical` (docs/groups.md)"
            ));
        } else if summary.fourth > 0 {
            console.say(&format!(
                "note: {name}: {INCOMPLETE}; {} of fourth order tell them apart and are in the selective set",
                summary.fourth
            ));
        }
        let words = format!(
            "{}: group {}, {} elements, rows {}, inputs {}, invariants {}, {} bytes",
            console::name(&summary.output),
            summary.group.unwrap_or_default(),
            summary.order,
            summary.rows,
            summary.inputs,
            summary.pairs,
            summary.bytes,
        );
        console.summary(&summary, &words)
    }
}
