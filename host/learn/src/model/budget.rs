//! What the program that [`firmware`](super::firmware) writes around a model takes of a board, before it is built.
//!
//! > flash = code(board, kind) + model + recorded windows,  RAM = statics(board, kind) + window + scratch + result + stack(board, kind)
//!
//! The model and the buffers are counted; code, statics and stack are those of programs that were linked and run, recorded in
//! `firmware/recorded.txt` by `tests/programs.sh`. Of a kind that was not, the encoding, the classifier or features of degree one add
//! what they add to a dense model of f32. A board with another's processor adds what its runtime adds to a dense model.

use super::emit::Exported;
use super::firmware::{Board, Call};
use super::instructions;
use crate::{Error, Result};
use bispectral_core::Feature;
use serde::Serialize;
use std::collections::BTreeSet;

/// Board, features of the core, code, statics, stack.
const RECORDED: &str = include_str!("firmware/recorded.txt");

/// What a program takes of a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Budget {
    /// Bytes of flash.
    pub flash: Flash,
    /// Bytes of RAM.
    pub ram: Ram,
    /// For one window on a Cortex-M4F or M33, an [estimate](instructions) of the streaming form without a classifier.
    pub estimated_instructions: Option<u64>,
}

/// Bytes of flash, by what is in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Flash {
    /// The program, with what prints.
    pub code_bytes: usize,
    /// The model.
    pub model_bytes: usize,
    /// Recorded windows.
    pub windows_bytes: usize,
    /// All of it.
    pub total_bytes: usize,
}

/// Bytes of RAM, by what is in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Ram {
    /// What has an address of its own.
    pub statics_bytes: usize,
    /// Window, scratch and result.
    pub buffers_bytes: usize,
    /// The rest of the stack.
    pub stack_bytes: usize,
    /// All of it.
    pub total_bytes: usize,
}

/// Code, statics and stack of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Taken([i64; 3]);

impl Taken {
    /// What `with` takes more than `without`.
    fn plus(self, with: Taken, without: Taken) -> Taken {
        Taken(std::array::from_fn(|k| {
            self.0[k] + with.0[k] - without.0[k]
        }))
    }
}

impl Budget {
    /// Of the program around this model, with so many recorded windows.
    ///
    /// # Errors
    /// No program of this kind was recorded for the board.
    pub fn of(exported: &Exported<'_>, board: &Board, windows: usize) -> Result<Self> {
        let needed: BTreeSet<&str> = exported
            .model()
            .needed_features()
            .map(Feature::name)
            .collect();
        let taken = taken(board.name, &needed).ok_or_else(|| {
            let kind = needed.iter().copied().collect::<Vec<_>>().join(", ");
            let what = format!("no program of this kind ({kind}) was recorded");
            let remedy = "write the program for it and build it, which prints what it takes";
            Error::new(board.name, what, remedy)
        })?;
        let [code_bytes, statics_bytes, stack_bytes] =
            taken.0.map(|bytes| usize::try_from(bytes).unwrap_or(0));
        let sizes = exported.sizes();
        let result = match Call::of(exported.model(), board.ram.length) {
            Call::Classify => sizes.classes,
            Call::Features => sizes.features,
            Call::Stream => 0,
        };
        let buffers_bytes = (sizes.inputs + sizes.scratch + result) * size_of::<f32>();
        let model_bytes = exported.bytes().len();
        let windows_bytes = windows * sizes.inputs * size_of::<f32>();
        let has_floats = board.target.ends_with("hf");
        Ok(Budget {
            flash: Flash {
                code_bytes,
                model_bytes,
                windows_bytes,
                total_bytes: code_bytes + model_bytes + windows_bytes,
            },
            ram: Ram {
                statics_bytes,
                buffers_bytes,
                stack_bytes,
                total_bytes: statics_bytes + buffers_bytes + stack_bytes,
            },
            estimated_instructions: has_floats.then(|| instructions::estimate(exported.model())),
        })
    }
}

/// What a program with these features of the core takes of a board: as it was recorded, or put together.
fn taken(board: &str, features: &BTreeSet<&str>) -> Option<Taken> {
    let own = recorded(board, features).or_else(|| put_together(board, features));
    if own.is_some() {
        return own;
    }
    let dense = BTreeSet::from(["dense", "f32"]);
    let like = same_processor(board)?;
    Some(taken(like, features)?.plus(recorded(board, &dense)?, recorded(like, &dense)?))
}

/// A board with the same processor, of which all kinds were recorded.
fn same_processor(board: &str) -> Option<&'static str> {
    match board {
        "cortex-m33" | "stm32f405" => Some("cortex-m4f"),
        "rp2040" => Some("cortex-m0"),
        _ => None,
    }
}

/// What a kind takes that others which were recorded consist of.
fn put_together(board: &str, features: &BTreeSet<&str>) -> Option<Taken> {
    let dense = recorded(board, &BTreeSet::from(["dense", "f32"]))?;
    let mut rest = features.clone();
    for part in ["head", "degree-one"] {
        if rest.remove(part) {
            let with = recorded(board, &BTreeSet::from(["dense", "f32", part]))?;
            return Some(taken(board, &rest)?.plus(with, dense));
        }
    }
    let encoding = ["f16", "i8"].into_iter().find(|name| rest.remove(name))?;
    rest.insert("f32");
    let with = recorded(board, &BTreeSet::from(["dense", encoding]))?;
    Some(recorded(board, &rest)?.plus(with, dense))
}

/// The row of a board and of just these features.
fn recorded(board: &str, features: &BTreeSet<&str>) -> Option<Taken> {
    RECORDED.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, kind, code, statics, stack] = words[..] else {
            return None;
        };
        let same = name == board && kind.split(',').collect::<BTreeSet<_>>() == *features;
        if !same {
            return None;
        }
        let number = |word: &str| word.parse().ok();
        // What QEMU cannot run says nothing of RAM: that of the same processor.
        let of_ram = |word: &str, at: usize| match word {
            "-" => Some(recorded(same_processor(board)?, features)?.0[at]),
            word => number(word),
        };
        Some(Taken([
            number(code)?,
            of_ram(statics, 1)?,
            of_ram(stack, 2)?,
        ]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::firmware::BOARDS;

    #[test]
    fn a_kind_that_was_not_recorded_is_put_together() {
        let of = |features: &[&str]| taken("cortex-m4f", &features.iter().copied().collect());
        let code = |features: &[&str]| of(features).expect("recorded").0[0];
        let head = code(&["dense", "f32", "head"]) - code(&["dense", "f32"]);
        assert_eq!(
            code(&["cyclic", "fft", "head"]),
            code(&["cyclic", "fft"]) + head
        );
        let i8 = code(&["dense", "i8"]) - code(&["dense", "f32"]);
        assert_eq!(
            code(&["conjugates", "i8", "head"]),
            code(&["conjugates", "f32"]) + i8 + head
        );
        assert_eq!(of(&["couplings", "i7"]), None);
    }

    #[test]
    fn every_board_has_every_kind_with_and_without_a_classifier() {
        let kinds = [
            &["dense", "f32"][..],
            &["dense", "f16"],
            &["dense", "i8"],
            &["conjugates", "f32"],
            &["conjugates", "f16"],
            &["conjugates", "i8"],
            &["combined", "f32"],
            &["combined", "i8"],
            &["cyclic"],
            &["cyclic", "fft"],
            &["i32"],
            &["couplings", "f32"],
            &["couplings", "i8"],
        ];
        for board in BOARDS {
            for kind in kinds {
                let with = [kind, &["degree-one", "head"]].concat();
                for kind in [kind, &with] {
                    let taken = taken(board.name, &kind.iter().copied().collect());
                    let [code, ..] = taken
                        .unwrap_or_else(|| panic!("{}: {kind:?}", board.name))
                        .0;
                    assert!(code > 0, "{}: {kind:?}", board.name);
                }
            }
        }
    }
}
