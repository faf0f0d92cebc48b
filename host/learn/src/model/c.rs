//! A model as a C header: its bytes at an aligned address, its sizes as macros.

use super::emit::{Emit, Exported, identifier};
use std::fmt::Write;

/// Bytes a line, of at most four characters each.
const WIDTH: usize = 24;

/// A header for a firmware that is linked with `libbispectral.a`.
#[derive(Debug, Clone, Copy)]
pub struct C;

impl Emit for C {
    fn emit(&self, exported: &Exported<'_>, stem: &str) -> Vec<u8> {
        let name = identifier(stem);
        let prefix = name.to_ascii_uppercase();
        let mut text = format!(
            "/* The model {}.\n *\n\
             \x20* Made by `bispectral export --emit c`, for use with bispectral.h, which is to be included before it. Every file that\n\
             \x20* includes this has an array of its own, so include it in one. `{name}` was checked when this was made: it is open, and a\n\
             \x20* program that opens no other model has neither parser nor checksum:\n *\n\
             \x20*     bispectral_features(&{name}, x, {prefix}_INPUTS, scratch, {prefix}_SCRATCH, features, {prefix}_FEATURES);\n */\n\n\
             #ifndef BISPECTRAL_MODEL_{prefix}_H\n#define BISPECTRAL_MODEL_{prefix}_H\n\n#include <stdint.h>\n\n",
            exported.title(),
        );
        for (name, value, what) in exported.constants() {
            let _ = writeln!(text, "/* {what}. */\n#define {prefix}_{name} {value}");
        }
        let _ = write!(
            text,
            "\n/* At a multiple of 16: weights are loaded as words. */\n\
             #ifdef __cplusplus\nalignas(16)\n#else\n_Alignas(16)\n#endif\n\
             static const uint8_t {name}_model[{prefix}_BYTES] = {{\n"
        );
        for line in exported.bytes().chunks(WIDTH) {
            line.iter().for_each(|byte| {
                let _ = write!(text, "{byte},");
            });
            text.push('\n');
        }
        let findings = exported.model().findings().map(|word| format!("{word}u"));
        let _ = write!(
            text,
            "}};\n\n\
             #ifdef BISPECTRAL_CONSTANT\n\
             static const BispectralModel {name} = {{\n  \
             BISPECTRAL_CONSTANT, {{(size_t){name}_model, {prefix}_BYTES, {}}}\n}};\n\
             #endif\n\n#endif\n",
            findings.join(", "),
        );
        text.into_bytes()
    }
}

/// Windows as a header: rows of floats, each with the digits that give its bits again.
pub(super) fn array(windows: &[f32], inputs: usize) -> String {
    let mut text = format!(
        "/* Recorded windows: fill such an array from your sensor instead. */\n\n\
         #define WINDOWS {}\n\nstatic const float windows[WINDOWS][{inputs}] = {{\n",
        windows.len() / inputs.max(1),
    );
    for window in windows.chunks_exact(inputs.max(1)) {
        text.push('{');
        for sample in window {
            let _ = write!(text, "{sample:e}f,");
        }
        text += "},\n";
    }
    text += "};\n";
    text
}
