//! The `bispectral` command.

use bispectral::{Arguments, message, run};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            arguments.console().failed(&message(&error));
            ExitCode::FAILURE
        }
    }
}
