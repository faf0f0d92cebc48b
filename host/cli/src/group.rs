//! `bispectral group`: which group is behind a model, and what its rows and inputs are in it.

mod linear;
pub(super) mod permuted;

use super::models::file_in;
use bispectral_core::Complex32;
use bispectral_core::format::Structure;
use bispectral_learn::group::identify::{Identification, identify_table};
use bispectral_learn::group::{Cayley, LearnedTable};
use bispectral_learn::model::file::{self, ModelFile};
use bispectral_learn::storage::NewFile;
use bispectral_learn::{Error, Result};
use bispectral_run::console::{self, Console};
use bispectral_run::{MODEL, Record, figures};
use clap::Args;
use ndarray::Array2;
use permuted::Expected;
use serde::Serialize;
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

/// Tables of more rows are too wide for a terminal; --picture and --json have all of it.
const WIDEST: usize = 16;

/// Name the group whose irreducible representations a model holds
///
/// Row i times row j is the row most like W_i ⊙ W_j. Where that table is a finite commutative group's and each row is
/// like its character, the group is named by its invariant factors, with the place of every row and input in it. Of a model
/// of couplings, whose group need not commute, the permutations of the run are described, and its name is proven by an
/// isomorphism.
/// Exit status 1 where there is no such group, or another one than expected.
#[derive(Debug, Args)]
pub(super) struct Group {
    /// A model, or the folder of a run
    #[arg(value_name = "MODEL.bsn|DIR")]
    model: PathBuf,
    /// Fail if it is another group; any way of writing it will do: Z4xZ2, D4 (8 elements), S4 or O, A5 or I, Q8, Z7:Z3,
    /// and as they are written here SO(2), O(2), T2, SO(2)xZ2, SO(3)
    #[arg(long, value_name = "Z4xZ2|D4")]
    expect: Option<String>,
    /// Draw the Cayley table and how sure each cell is
    #[arg(long, value_name = "CAYLEY.svg")]
    picture: Option<PathBuf>,
    /// Write a model of the exact characters, which are invariant up to rounding
    #[arg(long, value_name = "EXACT.bsn")]
    polish: Option<PathBuf>,
    /// Replace files that exist
    #[arg(long)]
    force: bool,
}

/// What there is to say of a group.
#[derive(Debug, Serialize)]
struct Description {
    file: String,
    group: String,
    order: usize,
    factors: Vec<usize>,
    rows: usize,
    inputs: usize,
    /// Rows whose characters generate the others.
    generators: Vec<usize>,
    least_confidence: f64,
    mean_confidence: f64,
    least_overlap: f64,
    mean_overlap: f64,
    largest_move: f64,
    /// For every row the exponents of its character.
    characters: Vec<Vec<usize>>,
    /// For every input its element.
    positions: Vec<Vec<usize>>,
    table: Vec<Vec<u16>>,
}

impl Group {
    pub(super) fn run(&self, console: &Console) -> Result<()> {
        let expected = self.expect.as_deref().map(Expected::new).transpose()?;
        let is_png = |path: &&PathBuf| {
            let extension = path.extension();
            extension.is_some_and(|extension| extension.eq_ignore_ascii_case("png"))
        };
        if let Some(path) = self.picture.as_ref().filter(is_png) {
            let remedy = format!("name it {}", path.with_extension("svg").display());
            return Err(Error::file(path, "the picture is an SVG", remedy));
        }
        let new_file = |path: &PathBuf| {
            NewFile::create(path, self.force)?.other_than([&self.model, &self.model.join(MODEL)])
        };
        let picture = self.picture.as_ref().map(new_file).transpose()?;
        let polished = self.polish.as_ref().map(new_file).transpose()?;
        let path = file_in(&self.model)?;
        let file = ModelFile::read(&path)?;
        let model = file.model()?;
        if let Structure::Couplings(_) = model.parts().structure {
            if polished.is_some() {
                let what = "a model of couplings is exact already";
                return Err(Error::file(&path, what, "copy it"));
            }
            if let Some(described) = linear::describe(&file)? {
                if let Some(expected) = &expected {
                    expected.check_name(&path, described.group())?;
                }
                if picture.is_some() {
                    let what = "a group that moves signals linearly has no table to draw";
                    return Err(Error::file(&path, what, "leave the picture out"));
                }
                return console.answer(&described, &described.words());
            }
            let (described, drawn) = permuted::describe(&file, expected.as_ref(), console)?;
            if let Some(file) = picture {
                write(file, drawn.as_bytes())?;
            }
            return console.answer(&described, &described.words());
        }
        if let Structure::Cyclic { .. } = model.parts().structure
            && model.rows() < model.inputs()
            && let Some(group) = model.group()
        {
            let what = format!(
                "its {} rows are some of the characters of {group}, which is its group, and a table takes all {}",
                model.rows(),
                model.inputs()
            );
            let remedy = format!("make the model of all: `bispectral model --group {group}`");
            return Err(Error::file(&path, what, remedy));
        }
        let w = file::weights(&model);
        let refused = |why: &dyn fmt::Display| {
            let what = format!("no finite commutative group: {why}");
            match self.finding() {
                Some(finding) => Error::file(&path, "no group was recognised", finding),
                None => Error::file(&path, what, "train on whole orbits, or on more of them"),
            }
        };
        let learned = LearnedTable::of(&w.view()).map_err(|error| refused(&error))?;
        let found = identify_table(&w.view(), &learned);
        if let Some(file) = picture {
            write(file, drawn(&learned, found.as_ref().ok()).as_bytes())?;
        }
        let found = found.map_err(|refusal| refused(&refusal))?;
        if let Some(expected) = &expected {
            expected.check(&path, &Cayley::of(&found.group), &found.group.to_string())?;
        }
        if let Some(file) = polished {
            let group = found.group.to_string();
            let bytes = file::encode_array(&found.exact().view(), model.name(), Some(&group))
                .map_err(|error| Error::model(&path, error))?;
            write(file, &bytes)?;
        }
        let described = Description::of(&path, &w, &learned, &found);
        console.answer(&described, &described.words())
    }
}

impl Group {
    /// What a run that recognised no group found out about its data.
    fn finding(&self) -> Option<String> {
        let record = Record::read(&self.model).ok()?;
        let diagnosis = record.results.diagnosis?;
        diagnosis.findings.first().map(ToString::to_string)
    }
}

fn write(mut file: NewFile, bytes: &[u8]) -> Result<()> {
    file.write(bytes)?;
    file.commit()
}

/// The table in the order of its characters, where it is a group's.
fn drawn(learned: &LearnedTable, found: Option<&Identification>) -> String {
    let (title, order) = match found {
        Some(found) => (format!("Cayley table of {}", found.group), sorted(found)),
        None => {
            let rows = (0..learned.table().order()).collect();
            ("Cayley table of no group".into(), rows)
        }
    };
    figures::cayley_drawing(learned, &order, &title).svg()
}

/// The rows in the order of their characters.
pub(super) fn sorted(found: &Identification) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..found.characters.len()).collect();
    rows.sort_by_key(|&row| found.characters[row]);
    rows
}

impl Description {
    fn of(
        path: &Path,
        w: &Array2<Complex32>,
        learned: &LearnedTable,
        found: &Identification,
    ) -> Self {
        let group = &found.group;
        let (least_overlap, mean_overlap) = found.overlap();
        let confidences = learned.confidences().iter().copied().map(f64::from);
        let places = |numbers: &[usize]| numbers.iter().map(|&k| group.element(k)).collect();
        Description {
            file: path.display().to_string(),
            group: group.to_string(),
            order: group.order(),
            factors: group.factors().to_vec(),
            rows: w.nrows(),
            inputs: w.ncols(),
            generators: found.generators.clone(),
            least_confidence: found.confidence,
            mean_confidence: confidences.sum::<f64>() / learned.confidences().len() as f64,
            least_overlap,
            mean_overlap,
            largest_move: found.moved().into_iter().fold(0.0, f64::max),
            characters: places(&found.characters),
            positions: places(&found.positions),
            table: learned.table().rows().map(<[u16]>::to_vec).collect(),
        }
    }

    fn words(&self) -> String {
        let generators: Vec<String> = self
            .generators
            .iter()
            .zip(&self.factors)
            .map(|(row, order)| format!("row {row} of order {order}"))
            .collect();
        let mut text = format!(
            "model        {}: {} rows, {} inputs\n\
             group        {}, {} elements\n\
             generators   {}\n\
             table        confidence {:.4} in the least certain cell, {:.4} on average\n\
             rows         overlap with exact characters {:.6} or more, {:.6} on average; the furthest would move by {:.1e}",
            console::name(&self.file),
            self.rows,
            self.inputs,
            self.group,
            self.order,
            generators.join(", "),
            self.least_confidence,
            self.mean_confidence,
            self.least_overlap,
            self.mean_overlap,
            self.largest_move,
        );
        if self.rows > WIDEST {
            text.push_str("\nThe table, the place of every row and of every input: --picture FILE.svg, --json");
            return text;
        }
        text.push_str("\n\nRow times row:\n\n");
        text.push_str(&table(&self.table));
        let places = |places: &[Vec<usize>]| {
            let places: Vec<String> = places.iter().map(|place| tuple(place)).collect();
            places.join(" ")
        };
        let _ = write!(
            text,
            "\nCharacter of every row:  {}",
            places(&self.characters)
        );
        let _ = write!(
            text,
            "\nElement of every input:  {}",
            places(&self.positions)
        );
        text
    }
}

/// `(1,0)`, or `3` for a cyclic group.
fn tuple(place: &[usize]) -> String {
    let numbers: Vec<String> = place.iter().map(usize::to_string).collect();
    match &numbers[..] {
        [number] => number.clone(),
        numbers => format!("({})", numbers.join(",")),
    }
}

/// With the numbers of rows above and beside it.
fn table(rows: &[Vec<u16>]) -> String {
    let width = rows.len().saturating_sub(1).to_string().len() + 1;
    let line = |numbers: &mut dyn Iterator<Item = usize>| -> String {
        numbers.map(|number| format!("{number:>width$}")).collect()
    };
    let blank = " ".repeat(width);
    let mut text = format!("{blank} │{}\n", line(&mut (0..rows.len())));
    let _ = writeln!(
        text,
        "{}┼{}",
        "─".repeat(width + 1),
        "─".repeat(width * rows.len())
    );
    for (number, row) in rows.iter().enumerate() {
        let cells = line(&mut row.iter().map(|&cell| usize::from(cell)));
        let _ = writeln!(text, "{number:>width$} │{cells}");
    }
    text
}
