//! What the core takes of a device's flash: the least program of each kind of models (`firmware-example/size`), linked, and
//! the bytes of its code and constants, .text + .rodata, without the model. One program reads a model of any bytes, the other
//! has it as a static that `bispectral export --emit rust` wrote. Recorded in `firmware-example/size/recorded.txt`.

use crate::{octahedral, repository};
use bispectral_core::format::{Output, Parts, Structure, Transform, Weights};
use bispectral_core::{Feature, Model};
use bispectral_learn::model::couplings;
use bispectral_learn::model::emit::{Exported, Kind};
use bispectral_learn::model::file::encode;
use bispectral_learn::model::form::Encoding;
use std::f64::consts::TAU;
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

/// How the program has its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Had {
    /// As bytes, which it reads and checks.
    Read,
    /// As a static that was checked when it was emitted.
    Emitted,
}

/// The columns of the table.
pub const COLUMNS: [(Had, &str); 4] = [
    (Had::Read, LEVELS[0]),
    (Had::Read, LEVELS[1]),
    (Had::Emitted, LEVELS[0]),
    (Had::Emitted, LEVELS[1]),
];

/// One row of the table: a kind on a processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Features of the core.
    pub kind: String,
    /// What Rust calls the processor.
    pub target: String,
    /// Bytes, for each of [`COLUMNS`].
    pub bytes: [usize; 4],
}

/// A small model of a kind.
///
/// # Panics
/// There is none of this kind, or a seed of the fuzzer is missing.
#[must_use]
pub fn model(kind: &str) -> Vec<u8> {
    let seed = |name: &str| {
        let path = repository().join("core/fuzz/seeds/model").join(name);
        fs::read(path).expect("a seed")
    };
    let bytes = match kind {
        "dense,f32" => seed("z42-dense-f32.bsn"),
        "dense,f16" => seed("z42-dense-f16.bsn"),
        "dense,i8" => seed("z42-dense-i8.bsn"),
        "conjugates,f32" => seed("z42-conj-f32.bsn"),
        "combined,f32" => seed("z42-comb-f32.bsn"),
        "cyclic" => seed("z42-cyclic.bsn"),
        "fft" => seed("z42-fft.bsn"),
        "fft-1024" => characters_of(512),
        "couplings,f32" => {
            let couplings = octahedral::couplings();
            couplings::encode(&couplings, Encoding::F32, "octahedral", None).expect("a model")
        }
        "dense,f32,degree-one" => {
            let bytes = seed("z42-dense-f32.bsn");
            let output = Output::DegreeOne {
                weight: 0.5,
                products: 0.5,
            };
            let parts = Model::from_bytes(&bytes).expect("a sound model").parts();
            encode(&Parts { output, ..parts }).expect("a model")
        }
        "dense,f32,head" => seed("head-f32.bsn"),
        "dense,i8,head" => {
            // Both have 8 inputs and 8 rows, and so as many features.
            let (rows, classifier) = (seed("z42-dense-i8.bsn"), seed("head-i8.bsn"));
            let parts = |bytes| Model::from_bytes(bytes).expect("a sound model").parts();
            let head = parts(&classifier).head;
            let parts = Parts {
                head,
                ..parts(&rows)
            };
            encode(&parts).expect("a model")
        }
        "fft,head" => seed("head-fft.bsn"),
        "i32" => seed("z42-i32.bsn"),
        "i32,head" => seed("head-i32.bsn"),
        _ => panic!("no model of the kind {kind}"),
    };
    let model = Model::from_bytes(&bytes).expect("a sound model");
    let mut needed: Vec<&str> = model.needed_features().map(Feature::name).collect();
    // A feature that has another is all that is asked for.
    for (large, small) in [("fft", "cyclic"), ("fft-1024", "fft")] {
        if needed.contains(&large) {
            needed.retain(|name| *name != small);
        }
    }
    let mut wanted: Vec<&str> = kind.split(',').collect();
    needed.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(needed, wanted, "{kind}");
    bytes
}

/// A fast transform of so many samples.
fn characters_of(order: u16) -> Vec<u8> {
    let angles = (0..order).map(|t| -TAU * f64::from(t) / f64::from(order));
    let (re, im): (Vec<f32>, Vec<f32>) = angles
        .map(|angle| (angle.cos() as f32, angle.sin() as f32))
        .unzip();
    let (roots, elements) = ([re, im].concat(), (0..order).collect::<Vec<u16>>());
    let factors = [order];
    let structure = Structure::Cyclic {
        transform: Transform::Fft,
        factors: (&factors).into(),
        characters: (&[0, 1, 2]).into(),
        elements: elements.as_slice().into(),
    };
    let parts = Parts {
        inputs: order,
        rows: 3,
        structure,
        weights: Weights::F32(roots.as_slice().into()),
        ..Parts::default()
    };
    encode(&parts).expect("a model")
}

/// Builds the least program and returns the bytes of its code and constants.
///
/// # Errors
/// What cargo says, or a program without sections.
///
/// # Panics
/// As [`model`].
pub fn measured(kind: &str, target: &str, (had, level): (Had, &str)) -> Result<usize, String> {
    let core = format!("profile.release.package.bispectral-core.opt-level={level:?}");
    // A bare 3 is a number in TOML, "s" a string.
    let core = core.replace("\"3\"", "3");
    let folder = repository().join("firmware-example");
    let build = "build --quiet --locked --release -p size --target";
    let mut command = Command::new(env!("CARGO"));
    command
        .args(build.split(' '))
        .args([target, "--features", kind, "--config", &core])
        .current_dir(&folder);
    let mut model_bytes = 0;
    if had == Had::Emitted {
        let bytes = model(kind);
        let path = folder.join("target").join(format!("{kind}.rs"));
        let write = |text| {
            fs::create_dir_all(folder.join("target"))?;
            fs::write(&path, text)
        };
        write(module(&bytes)?).map_err(|error| format!("{}: {error}", path.display()))?;
        command.args(["--features", "emitted"]).env("MODULE", &path);
        model_bytes = bytes.len();
    }
    let output = command
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
    let bytes: usize = counted.map(|(_, bytes)| bytes).sum();
    Ok(bytes - model_bytes)
}

/// The emitted module, without what is said of it in front: `include!` takes no inner comments.
fn module(bytes: &[u8]) -> Result<String, String> {
    let exported = Exported::new(bytes).map_err(|error| error.to_string())?;
    let text = Kind::Rust.emitter().emit(&exported, "model");
    let text = String::from_utf8(text).map_err(|error| error.to_string())?;
    let code = text.lines().filter(|line| !line.starts_with("//!"));
    Ok(code.map(|line| format!("{line}\n")).collect())
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
    let mut text = format!("{:<48}{:>16}{:>16}\n", "", "read", "emitted");
    let [kind, target, speed, size] = ["kind", "target", "speed", "size"];
    text += &format!("{kind:<24}{target:<24}{speed:>8}{size:>8}{speed:>8}{size:>8}\n");
    for Row {
        kind,
        target,
        bytes: [read_speed, read_size, speed, size],
    } in rows
    {
        text +=
            &format!("{kind:<24}{target:<24}{read_speed:>8}{read_size:>8}{speed:>8}{size:>8}\n");
    }
    text
}

/// The rows of a table that was recorded.
///
/// # Errors
/// No such file, or a line that is no row.
pub fn recorded(path: &Path) -> Result<Vec<Row>, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let rows = text.lines().skip(2).map(|line| {
        let mut words = line.split_whitespace();
        let (kind, target) = (words.next()?.into(), words.next()?.into());
        let bytes: Option<Vec<usize>> = words.map(|word| word.parse().ok()).collect();
        Some(Row {
            kind,
            target,
            bytes: bytes?.try_into().ok()?,
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
