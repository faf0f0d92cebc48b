//! What the core takes of the flash, kinds of models × processors: `cargo run -p bispectral-tests --bin sizes`.
//!
//! Bytes of .text + .rodata of the least program, linked with LTO, without the model, which it reads or has as a static: the
//! core optimised for speed (3) and for size (s).
//! The exit status is 1 where a row is more than 3 % larger than recorded; `--record` records what it finds. Kinds behind it are
//! measured alone: `-- --record fft "dense,i8,head"`.

use bispectral_tests::least::{
    COLUMNS, KINDS, RECORDED, Row, TARGETS, grown, measured, recorded, table,
};
use bispectral_tests::repository;
use std::fs;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let record = words.first().is_some_and(|word| word == "--record");
    let kinds = words.split_off(usize::from(record));
    if let Some(other) = kinds.iter().find(|kind| !KINDS.contains(&kind.as_str())) {
        eprintln!(
            "error: {other}: no such kind: give --record first, then none or some of {KINDS:?}"
        );
        return ExitCode::from(2);
    }
    let wanted = |kind: &str| kinds.is_empty() || kinds.iter().any(|wanted| wanted == kind);
    match run(record, &wanted) {
        Ok(wrong) if wrong.is_empty() => ExitCode::SUCCESS,
        Ok(wrong) => {
            for line in wrong {
                eprintln!("error: {line}");
            }
            ExitCode::FAILURE
        }
        Err(refusal) => {
            eprintln!("error: {refusal}");
            ExitCode::FAILURE
        }
    }
}

/// Measures the rows of these kinds and returns those that grew; recorded, they replace or follow the rows that are there.
fn run(record: bool, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<String>, String> {
    let path = repository().join(RECORDED);
    let old = recorded(&path)?;
    let (mut rows, mut wrong) = (Vec::new(), Vec::new());
    for target in TARGETS {
        for kind in KINDS {
            let before = old
                .iter()
                .find(|row| row.kind == kind && row.target == target);
            if !wanted(kind) {
                rows.extend(before.cloned());
                continue;
            }
            let mut bytes = [0; COLUMNS.len()];
            for (bytes, column) in bytes.iter_mut().zip(COLUMNS) {
                *bytes = measured(kind, target, column)?;
            }
            let row = Row {
                kind: kind.into(),
                target: target.into(),
                bytes,
            };
            rows.push(row);
            for (at, (had, level)) in COLUMNS.iter().enumerate() {
                let name = format!("{kind} for {target}, {had:?}, {level}");
                let most = before.and_then(|before| grown(&name, bytes[at], before.bytes[at]));
                wrong.extend(most);
            }
        }
    }
    print!("{}", table(&rows));
    if record {
        fs::write(&path, table(&rows)).map_err(|error| format!("{RECORDED}: {error}"))?;
        return Ok(Vec::new());
    }
    Ok(wrong)
}
