//! A model as a Rust module: a static that needs no parser, its bytes at an aligned address, its sizes as constants.

use super::emit::{Emit, Exported, identifier};
use bispectral_core::Feature;
use bispectral_core::format::PairList;
use std::fmt::Write;

/// Bytes a line, of four characters each.
const WIDTH: usize = 24;

/// A module for a firmware that depends on `bispectral-core`.
#[derive(Debug, Clone, Copy)]
pub struct Rust;

impl Emit for Rust {
    fn emit(&self, exported: &Exported<'_>, stem: &str) -> Vec<u8> {
        let module = identifier(stem);
        let call = match exported.sizes().classes {
            0 => format!(
                "//! let mut features = [0.0; {module}::FEATURES];\n\
                 //! {module}::MODEL.features(&signal, &mut scratch, &mut features)?;\n"
            ),
            _ => format!(
                "//! let mut scores = [0.0; {module}::CLASSES];\n\
                 //! let class = {module}::MODEL.classify(&signal, &mut scratch, &mut scores)?;\n{}",
                match exported.classes {
                    [] => String::new(),
                    _ => format!("//! let name = {module}::CLASS_NAMES[class];\n"),
                }
            ),
        };
        let needed: Vec<Feature> = exported.model().needed_features().collect();
        let names: Vec<&str> = needed.iter().map(|feature| feature.name()).collect();
        let mut text = format!(
            "//! The model {}.\n\
             //!\n\
             //! Made by `bispectral export --emit rust`, which checked it: nothing parses it when a program runs. In a program that\n\
             //! depends on `bispectral-core` with the features {}:\n\
             //!\n\
             //! ```ignore\n\
             //! let mut scratch = [0.0; {module}::SCRATCH];\n\
             {call}//! ```\n\n",
            exported.title(),
            names.join(", "),
        );
        for (name, value, what) in exported.constants() {
            let _ = writeln!(text, "/// {what}.\npub const {name}: usize = {value};");
        }
        if !exported.classes.is_empty() {
            let _ = writeln!(
                text,
                "/// What the classes are called, in the order of their scores.\n\
                 #[rustfmt::skip]\n\
                 pub const CLASS_NAMES: [&str; CLASSES] = {:?};",
                exported.classes
            );
        }
        let kinds: Vec<String> = needed
            .iter()
            .map(|feature| format!("bispectral_core::Feature::{feature:?}.bit()"))
            .chain(lists_pairs(exported).then(|| "bispectral_core::LISTED_PAIRS".into()))
            .collect();
        let _ = write!(
            text,
            "/// What kinds of models it is one of.\n\
             pub const KINDS: u32 = {};\n\
             /// The model. That its bytes are those which were checked is known when the program is built.\n\
             #[allow(long_running_const_eval)]\n\
             pub static MODEL: bispectral_core::StaticModel<KINDS> =\n    \
             match bispectral_core::StaticModel::new(&ALIGNED, {:?}) {{\n        \
             Ok(model) => model,\n        \
             Err(_) => panic!(\"the model was changed, or bispectral-core is built without one of {}\"),\n    \
             }};\n\
             /// The model as `Model::from_bytes` reads it, at a multiple of 16.\n\
             pub static FILE: &[u8] = &ALIGNED.0;\n\n\
             #[rustfmt::skip]\n\
             static ALIGNED: bispectral_core::Aligned<[u8; BYTES]> = bispectral_core::Aligned(*b\"\\\n",
            kinds.join("\n    | "),
            exported.model().findings(),
            names.join(", "),
        );
        for line in exported.bytes().chunks(WIDTH) {
            line.iter().for_each(|byte| {
                let _ = write!(text, "\\x{byte:02x}");
            });
            text += "\\\n";
        }
        text += "\");\n";
        text.into_bytes()
    }
}

/// Whether the pairs are listed.
fn lists_pairs(exported: &Exported<'_>) -> bool {
    matches!(exported.model().parts().pairs, PairList::Listed(_))
}
