//! The `bispectral` command.

use bispectral::{Arguments, message, run};
use bispectral_allocator::{OneLine, tell_as_json};
use clap::Parser;
use std::process::ExitCode;

/// Where there is no memory, the contract still holds.
#[global_allocator]
static ALLOCATOR: OneLine = OneLine;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    tell_as_json(arguments.wants_json());
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            arguments.console().failed(&message(&error));
            ExitCode::FAILURE
        }
    }
}
