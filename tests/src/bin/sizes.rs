//! What the core takes of the flash, kinds of models × processors: `cargo run -p bispectral-tests --bin sizes`.
//!
//! Bytes of .text + .rodata of the least program, linked with LTO, without the model, which it reads or has as a static: the
//! core optimised for speed (3) and for size (s).
//! The exit status is 1 where a row is more than 3 % larger than recorded; `--record` records what it finds.

use bispectral_tests::least::{
    COLUMNS, KINDS, RECORDED, Row, TARGETS, grown, measured, recorded, table,
};
use bispectral_tests::repository;
use std::fs;
use std::process::ExitCode;

fn main() -> ExitCode {
    let record = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--record") => true,
        Some(other) => {
            eprintln!("error: {other}: no such flag: leave it out, or give --record");
            return ExitCode::from(2);
        }
    };
    match run(record) {
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

/// Measures every row and returns those that grew.
fn run(record: bool) -> Result<Vec<String>, String> {
    let mut rows = Vec::new();
    for target in TARGETS {
        for kind in KINDS {
            let mut bytes = [0; COLUMNS.len()];
            for (bytes, column) in bytes.iter_mut().zip(COLUMNS) {
                *bytes = measured(kind, target, column)?;
            }
            rows.push(Row {
                kind: kind.into(),
                target: target.into(),
                bytes,
            });
        }
    }
    print!("{}", table(&rows));
    let path = repository().join(RECORDED);
    if record {
        fs::write(&path, table(&rows)).map_err(|error| format!("{RECORDED}: {error}"))?;
        return Ok(Vec::new());
    }
    let mut wrong = Vec::new();
    for old in recorded(&path)? {
        let fresh = rows
            .iter()
            .find(|row| (&row.kind, &row.target) == (&old.kind, &old.target));
        let Some(fresh) = fresh else {
            wrong.push(format!("{} for {}: not measured", old.kind, old.target));
            continue;
        };
        for (((had, level), bytes), before) in COLUMNS.iter().zip(fresh.bytes).zip(old.bytes) {
            let name = format!("{} for {}, {had:?}, {level}", old.kind, old.target);
            wrong.extend(grown(&name, bytes, before));
        }
    }
    Ok(wrong)
}
