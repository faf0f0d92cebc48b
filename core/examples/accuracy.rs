//! `cargo run --release -p bispectral-core --features fft --example accuracy -- SIGNALS`: as many random and adversarial
//! signals in every form of the groups Z7, Z8, Z16 and Z64, against f64 with the same weights; a table of what was answered,
//! refused and off. `docs/numerics.md` states the bound.

#[path = "../tests/accuracy/mod.rs"]
mod accuracy;

use accuracy::{FORMS, Random, SIGNALS, Seen, forms, signal};
use std::process::ExitCode;

fn main() -> ExitCode {
    let argument = std::env::args().nth(1).unwrap_or_else(|| "10000".into());
    let Ok(total) = argument.parse::<usize>() else {
        eprintln!("error: {argument}: not a number of signals: give a whole number");
        return ExitCode::from(2);
    };
    println!(
        "| form | inputs | signals | refused | largest error | largest share of the bound | faults |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let (mut random, mut faults) = (Random(0), 0);
    // Larger groups take longer: a share of the signals each.
    for (n, share) in [(7, 40), (8, 30), (16, 25), (64, 1)] {
        let count = (total * share / 96 / FORMS.len() / SIGNALS.len()).max(1);
        for form in forms(n) {
            let mut seen = Seen::default();
            for kind in 0..SIGNALS.len() {
                for _ in 0..count {
                    form.compare(&signal(kind, n, &mut random), &mut seen);
                }
            }
            let Seen {
                answered,
                refused,
                error,
                share,
                faults: wrong,
            } = seen;
            println!(
                "| {} | {n} | {} | {refused} | {error:.1e} | {share:.2} | {wrong} |",
                form.name,
                answered + refused,
            );
            faults += wrong + u64::from(share > 1.0);
        }
    }
    ExitCode::from(u8::from(faults > 0))
}
