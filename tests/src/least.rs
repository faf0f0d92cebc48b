//! What the core takes of a device's flash: the least program of each kind of models (`firmware-example/size`), linked, and
//! the bytes of its code and constants, .text + .rodata, without the model. Recorded in `firmware-example/size/recorded.txt`.

use crate::repository;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The kinds of models that are measured, each by the features of `bispectral-core` it needs.
pub const KINDS: [&str; 15] = [
    "dense,f32",
    "dense,f16",
    "dense,i8",
    "conjugates,f32",
    "combined,f32",
    "cyclic",
    "fft",
    "fft-1024",
    "i32",
    "couplings,f32",
    "dense,f32,degree-one",
    "dense,f32,head",
    "dense,i8,head",
    "fft,head",
    "i32,head",
];

/// The processors that are measured.
pub const TARGETS: [&str; 2] = ["thumbv7em-none-eabihf", "thumbv6m-none-eabi"];

/// How the core is optimised: for speed, as in the programs that `bispectral firmware` writes, or for size.
pub const LEVELS: [&str; 2] = ["3", "s"];

/// How much a program may grow before that is a mistake, of what was recorded.
pub const GROWTH: f64 = 0.03;

/// Where the sizes are recorded, from the top of the repository.
pub const RECORDED: &str = "firmware-example/size/recorded.txt";

/// One row of the table: a kind on a processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Features of the core.
    pub kind: String,
    /// What Rust calls the processor.
    pub target: String,
    /// Bytes, for each of [`LEVELS`].
    pub bytes: [usize; 2],
}

/// Builds the least program and returns the bytes of its code and constants.
///
/// # Errors
/// What cargo says, or a program without sections.
pub fn measured(kind: &str, target: &str, level: &str) -> Result<usize, String> {
    let core = format!("profile.release.package.bispectral-core.opt-level={level:?}");
    // A bare 3 is a number in TOML, "s" a string.
    let core = core.replace("\"3\"", "3");
    let folder = repository().join("firmware-example");
    let build = "build --quiet --locked --release -p size --target";
    let output = Command::new(env!("CARGO"))
        .args(build.split(' '))
        .args([target, "--features", kind, "--config", &core])
        .current_dir(&folder)
        .output()
        .map_err(|error| format!("cargo does not run: {error}"))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{kind} for {target}: {errors}"));
    }
    let program = folder.join("target").join(target).join("release/size");
    let linked = fs::read(&program).map_err(|error| format!("{}: {error}", program.display()))?;
    let sections = sections(&linked).ok_or("the linked program is no ELF file of 32 bits")?;
    let counted = sections
        .iter()
        .filter(|(name, _)| name == ".text" || name == ".rodata");
    Ok(counted.map(|(_, bytes)| bytes).sum())
}

/// The sections of an ELF file of 32 bits, little-endian: name and bytes.
fn sections(elf: &[u8]) -> Option<Vec<(String, usize)>> {
    let word = |at: usize| {
        let bytes = elf.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
    };
    let half = |at: usize| {
        let bytes = elf.get(at..at + 2)?;
        Some(usize::from(u16::from_le_bytes(bytes.try_into().ok()?)))
    };
    if elf.get(..6)? != b"\x7fELF\x01\x01" {
        return None;
    }
    let (table, entry) = (word(32)?, half(46)?);
    let (count, names) = (half(48)?, half(50)?);
    let names = word(table + names * entry + 16)?;
    let section = |number: usize| {
        let header = table + number * entry;
        let name = elf.get(names + word(header)?..)?;
        let end = name.iter().position(|byte| *byte == 0)?;
        let name = String::from_utf8_lossy(&name[..end]).into_owned();
        Some((name, word(header + 20)?))
    };
    (0..count).map(section).collect()
}

/// The table as text: a row a line.
#[must_use]
pub fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "{:<24}{:<24}{:>8}{:>8}\n",
        "kind", "target", "speed", "size"
    );
    for Row {
        kind,
        target,
        bytes: [speed, size],
    } in rows
    {
        text += &format!("{kind:<24}{target:<24}{speed:>8}{size:>8}\n");
    }
    text
}

/// The rows of a table that was recorded.
///
/// # Errors
/// No such file, or a line that is no row.
pub fn recorded(path: &Path) -> Result<Vec<Row>, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let rows = text.lines().skip(1).map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [kind, target, speed, size] = words[..] else {
            return None;
        };
        Some(Row {
            kind: kind.into(),
            target: target.into(),
            bytes: [speed.parse().ok()?, size.parse().ok()?],
        })
    });
    let rows: Option<Vec<Row>> = rows.collect();
    rows.ok_or_else(|| format!("{}: a line that is no row: record it again", path.display()))
}

/// What is wrong with a size, where it grew by more than [`GROWTH`].
#[must_use]
pub fn grown(name: &str, bytes: usize, recorded: usize) -> Option<String> {
    let growth = bytes as f64 / recorded as f64 - 1.0;
    // Compared in this way, 1030 is not more than 3 % above 1000.
    (bytes as f64 > recorded as f64 * (1.0 + GROWTH)).then(|| {
        format!(
            "{name}: {bytes} bytes, {:.1} % more than the {recorded} recorded",
            100.0 * growth
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_three_percent_is_a_growth() {
        assert_eq!(grown("dense", 1030, 1000), None);
        assert!(grown("dense", 1031, 1000).is_some());
        assert_eq!(grown("dense", 900, 1000), None);
    }

    #[test]
    fn what_is_no_elf_file_has_no_sections() {
        assert_eq!(sections(b"\x7fELF\x01\x01"), None);
        assert_eq!(sections(&[]), None);
    }
}
