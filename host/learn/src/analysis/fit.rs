//! Which form of a model fits a device: candidates are made, loaded by the core and measured on signals.

use crate::analysis::evaluation::{Evaluation, evaluate};
use crate::data::orbits::Orbits;
use crate::group::identify::Identification;
use crate::model::budget::Budget;
use crate::model::cost::Cost;
use crate::model::emit::Exported;
use crate::model::firmware::{BOARDS, Board};
use crate::model::form::{Encoding, Form, Source, Structure};
use crate::{Error, Result};
use bispectral_core::Model;
use bispectral_core::format::Transform;
use ndarray::Array2;
use serde::Serialize;
use std::cmp::Reverse;
use std::str::FromStr;

/// K of the combinations that are tried for W of no group.
const TERMS: [u8; 2] = [1, 4];
/// Random signals of a recognised group, and the places at which each is looked at.
const SIGNALS: usize = 20;
const PLACES: usize = 10;
/// From here on no classifier sees a difference: distances between orbits a thousand times those within.
const PLENTY: f64 = 1e6;

/// What a device has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Limits {
    /// Bytes of flash for the model; with a board, for the program, too.
    pub flash: Option<u64>,
    /// Bytes of RAM for signal, scratch and result.
    pub ram: Option<u64>,
    /// Instructions for one signal.
    pub instructions: Option<u64>,
    /// Where flash and RAM are those of the whole program that [`firmware`](crate::model::firmware) writes for it.
    #[serde(skip)]
    pub board: Option<&'static Board>,
}

/// A form of the model, and what was measured of it.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The form.
    pub form: Form,
    /// What its pairs are called.
    pub pairs: String,
    /// The model.
    pub bytes: Vec<u8>,
    /// How many it computes.
    pub invariants: usize,
    /// What it takes.
    pub cost: Cost,
    /// What it does to signals; not measured of what does not fit.
    pub evaluation: Option<Evaluation>,
}

/// Some pairs, and what they are called; all of them where there is no list.
pub type Named = (String, Option<Vec<(usize, usize)>>);

/// What may be chosen.
#[derive(Debug, Clone)]
pub struct Choices {
    /// Only this encoding.
    pub encoding: Option<Encoding>,
    /// Only this structure.
    pub structure: Option<Structure>,
    /// These lists of pairs.
    pub pairs: Vec<Named>,
}

impl Choices {
    /// Every form that W can take.
    #[must_use]
    pub fn forms(&self, source: &Source) -> Vec<(Form, String)> {
        let mut forms = Vec::new();
        for (name, pairs) in &self.pairs {
            for structure in self.structures(source) {
                for encoding in self.encodings(structure) {
                    let pairs = pairs.clone();
                    let form = Form {
                        encoding,
                        structure,
                        pairs,
                    };
                    forms.push((form, name.clone()));
                }
            }
        }
        forms
    }

    fn structures(&self, source: &Source) -> Vec<Structure> {
        if let Some(structure) = self.structure {
            return vec![structure];
        }
        if source.couplings().is_some() {
            return vec![Structure::Couplings];
        }
        let mut structures = vec![Structure::Dense];
        if !source.folded().is_identity() {
            structures.push(Structure::Conjugates);
        }
        match source.cyclic() {
            Some(cyclic) => {
                structures.push(Structure::Cyclic(Transform::Sums));
                if cyclic.is_fast() {
                    structures.push(Structure::Cyclic(Transform::Fft));
                }
            }
            None => structures.extend(TERMS.map(Structure::Combined)),
        }
        structures
    }

    fn encodings(&self, structure: Structure) -> Vec<Encoding> {
        match (self.encoding, structure) {
            (Some(encoding), _) => vec![encoding],
            (None, Structure::Cyclic(_)) => vec![Encoding::F32, Encoding::I32],
            (None, _) => vec![Encoding::F32, Encoding::F16, Encoding::I8],
        }
    }
}

impl Candidate {
    /// Makes the model, has the core read it and, where it is within `limits`, measures it on `signals`.
    ///
    /// # Errors
    /// W cannot take this form, or a signal has no invariants.
    pub fn measure(
        source: &Source,
        form: Form,
        pairs: String,
        signals: &Orbits,
        limits: &Limits,
    ) -> Result<Self> {
        let bytes = source.form(&form, Some(signals))?;
        let refused = |error| Error::model(source.path(), error);
        let model = Model::from_bytes(&bytes).map_err(refused)?;
        let mut cost = Cost::of(&model, bytes.len());
        if let Some(board) = limits.board {
            let budget = Budget::of(&Exported::new(&bytes).map_err(refused)?, board, 0)?;
            cost.flash_bytes = budget.flash.total_bytes;
            // The program streams where the board has no room for the result.
            cost.ram.total_bytes = budget.ram.total_bytes;
            cost.ram.streaming_bytes = budget.ram.total_bytes;
        }
        let fits = cost.fits(limits);
        Ok(Candidate {
            evaluation: fits.then(|| evaluate(&model, signals)).transpose()?,
            invariants: model.pairs(),
            cost,
            form,
            pairs,
            bytes,
        })
    }

    /// What is compared: nearest neighbours in thousandths, separation by factors of two up to [`PLENTY`]; and where that
    /// is the same, the smaller model and the less work. Nothing of what does not fit.
    fn rank(&self) -> Option<(u64, i64, Reverse<usize>, Reverse<u64>)> {
        let evaluation = self.evaluation?;
        let nearest = (1000.0 * evaluation.nearest).round() as u64;
        let separation = evaluation.between / evaluation.within.max(f64::MIN_POSITIVE);
        let separation = separation.clamp(1.0, PLENTY).log2().floor() as i64;
        let cost = &self.cost;
        Some((
            nearest,
            separation,
            Reverse(cost.flash_bytes),
            Reverse(cost.estimated_instructions),
        ))
    }
}

impl Cost {
    /// Bytes of RAM: with room for the result where the device has it, else in the streaming form.
    #[must_use]
    pub fn ram_within(&self, limits: &Limits) -> (usize, bool) {
        let ram = &self.ram;
        let streamed = limits
            .ram
            .is_some_and(|limit| ram.total_bytes as u64 > limit);
        if streamed {
            (ram.streaming_bytes, true)
        } else {
            (ram.total_bytes, false)
        }
    }

    /// Whether the device has what it takes.
    #[must_use]
    pub fn fits(&self, limits: &Limits) -> bool {
        let within = |need: u64, limit: Option<u64>| limit.is_none_or(|limit| need <= limit);
        within(self.flash_bytes as u64, limits.flash)
            && within(self.ram_within(limits).0 as u64, limits.ram)
            && within(self.estimated_instructions, limits.instructions)
    }
}

/// The best of those that fit.
#[must_use]
pub fn best(candidates: &[Candidate]) -> Option<&Candidate> {
    let fitting = candidates
        .iter()
        .filter(|candidate| candidate.evaluation.is_some());
    fitting.max_by_key(|candidate| candidate.rank())
}

/// What the smallest of each kind would need, in words: for when nothing fits.
#[must_use]
pub fn least_need(candidates: &[Candidate]) -> String {
    let least = |need: fn(&Candidate) -> u64| candidates.iter().map(need).min().unwrap_or_default();
    format!(
        "the smallest needs are flash={}, ram={} and instructions={}, not all of one form",
        least(|c| c.cost.flash_bytes as u64),
        least(|c| c.cost.ram.streaming_bytes as u64),
        least(|c| c.cost.estimated_instructions),
    )
}

/// Signals of a recognised group: random ones, each at some of the group's elements.
///
/// # Errors
/// The group is trivial.
pub fn random_signals(found: &Identification, seed: u64) -> Result<Orbits> {
    let (group, inputs) = (&found.group, found.positions.len());
    let functions = Orbits::of_group(group, SIGNALS, seed);
    let places = group.order().min(PLACES);
    let mut samples = Array2::zeros((SIGNALS * places, inputs));
    let mut function = vec![0.0; group.order()];
    for (sample, mut x) in samples.rows_mut().into_iter().enumerate() {
        let member = sample % places * group.order() / places;
        functions.write_member(sample / places, member, &mut function);
        for (x, &element) in x.iter_mut().zip(&found.positions) {
            *x = function[element];
        }
    }
    let labels: Vec<i64> = (0..SIGNALS * places)
        .map(|sample| (sample / places) as i64)
        .collect();
    Ok(Orbits::labelled(samples, &labels)?)
}

/// `flash=256K,ram=32K,instructions=2M,board=cortex-m4f`: bytes by 1024, instructions by 1000.
impl FromStr for Limits {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let mut limits = Limits::default();
        for part in text.split(',') {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            if name == "board" {
                let board = Board::named(value).ok_or_else(|| {
                    format!(
                        "`{value}` is none of {}",
                        BOARDS.map(|board| board.name).join(", ")
                    )
                })?;
                if limits.board.replace(board).is_some() {
                    return Err("board is given twice".into());
                }
                continue;
            }
            let (limit, unit) = match name {
                "flash" => (&mut limits.flash, 1024),
                "ram" => (&mut limits.ram, 1024),
                "instructions" => (&mut limits.instructions, 1000),
                _ => {
                    return Err(format!(
                        "`{name}` is none of flash, ram, instructions and board"
                    ));
                }
            };
            if limit.replace(amount(value, unit)?).is_some() {
                return Err(format!("{name} is given twice"));
            }
        }
        Ok(limits)
    }
}

/// `32K` and the like.
fn amount(text: &str, unit: u64) -> std::result::Result<u64, String> {
    let (digits, factor) = match text.strip_suffix(['K', 'k']) {
        Some(digits) => (digits, unit),
        None => match text.strip_suffix('M') {
            Some(digits) => (digits, unit * unit),
            None => (text, 1),
        },
    };
    let number = digits
        .parse::<u64>()
        .ok()
        .filter(|_| !digits.starts_with('+'));
    number
        .and_then(|number| number.checked_mul(factor))
        .ok_or_else(|| format!("`{text}` is no number such as 32K"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_with_their_units() {
        let limits: Limits = "flash=256K,ram=4096,instructions=2M".parse().unwrap();
        assert_eq!(limits.flash, Some(262_144));
        assert_eq!(limits.ram, Some(4096));
        assert_eq!(limits.instructions, Some(2_000_000));
        let limits: Limits = "flash=32K,board=rv32".parse().unwrap();
        assert_eq!(limits.board.map(|board| board.name), Some("rv32"));
        for wrong in [
            "",
            "flash",
            "flash=",
            "flash=+1",
            "flash=-1",
            "rom=1",
            "ram=1,ram=2",
            "board=z80",
            "board=rv32,board=rv32",
            "ram=1T",
            "ram=99999999999999999999",
        ] {
            assert!(wrong.parse::<Limits>().is_err(), "{wrong}");
        }
    }
}
