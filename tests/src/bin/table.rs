//! Every form of two models on four emulated boards: `cargo run --release -p bispectral-tests --bin table`.
//!
//! Flash is the model's; RAM is signal, scratch and stack, in the streaming form. The change is ‖β̄(g·x) − β̄(x)‖, the
//! largest over ten group elements and twenty random signals. Bits are compared with this host's.

use bispectral_tests::device::{BOARDS, Board};
use bispectral_tests::forms::{Form, forms};
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Err(refusal) = BOARDS.iter().try_for_each(Board::build) {
        eprintln!("error: {refusal}");
        return ExitCode::FAILURE;
    }
    for form in forms() {
        print(&form);
    }
    println!(
        "\nZ16xZ16 by hand, microfft and triple products, no scaling, a plain norm, 32896 invariants"
    );
    for board in &BOARDS {
        let [instructions, transform] = board.by_hand();
        if instructions > 0 {
            println!(
                "  {:<5}instructions {instructions:>9}, of these the transform {transform}",
                board.name
            );
        }
    }
    ExitCode::SUCCESS
}

fn print(form: &Form) {
    println!(
        "\n{}: flash {} bytes, RAM {} + stack, change {:.1e}, estimated {}",
        form.name,
        form.cost.flash_bytes,
        form.cost.ram.streaming_bytes,
        form.change,
        form.cost.estimated_instructions
    );
    for board in &BOARDS {
        let line = match board.count(&form.bytes) {
            Ok(counted) => format!(
                "instructions {:>9}, stack {:>5}, RAM {:>6}, program {:>6}, bits {}",
                counted
                    .instructions
                    .map_or("-".into(), |count| count.to_string()),
                counted.stack,
                form.cost.ram.streaming_bytes + counted.stack,
                counted.program,
                if counted.checksum == form.checksum {
                    "equal"
                } else {
                    "DIFFER"
                },
            ),
            Err(refusal) => refusal,
        };
        println!("  {:<5}{line}", board.name);
    }
}
