//! A model as a Rust module: its bytes at an aligned address, its sizes as constants.

use super::emit::{Emit, Exported, identifier};
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
                 //! model.features(&signal, &mut scratch, &mut features)?;\n"
            ),
            _ => format!(
                "//! let mut scores = [0.0; {module}::CLASSES];\n\
                 //! let class = model.classify(&signal, &mut scratch, &mut scores)?;\n{}",
                match exported.classes {
                    [] => String::new(),
                    _ => format!("//! let name = {module}::CLASS_NAMES[class];\n"),
                }
            ),
        };
        let mut text = format!(
            "//! The model {}.\n\
             //!\n\
             //! Made by `bispectral export --emit rust`. In a program that depends on `bispectral-core`:\n\
             //!\n\
             //! ```ignore\n\
             //! let model = Model::from_bytes({module}::MODEL)?;\n\
             //! let mut scratch = [0.0; {module}::SCRATCH];\n\
             {call}//! ```\n\n",
            exported.title(),
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
        text += "/// The model, at a multiple of 16: weights are loaded as words.\n\
                 pub static MODEL: &[u8] = &ALIGNED.0;\n\n\
                 #[rustfmt::skip]\n\
                 static ALIGNED: bispectral_core::Aligned<[u8; BYTES]> = bispectral_core::Aligned(*b\"\\\n";
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
