//! `bispectral completions` and `bispectral man`: the command line for shells and for `man`.

use crate::Arguments;
use bispectral_learn::{Error, Result};
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::io::Write;

/// Print the completions for a shell
///
/// Bash: `bispectral completions bash > ~/.local/share/bash-completion/completions/bispectral`.
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell
    shell: Shell,
}

/// Print the manual page, in the form that `man` reads
///
/// `bispectral man > bispectral.1`, and for one command `bispectral man train > bispectral-train.1`.
#[derive(Debug, Args)]
pub(super) struct Man {
    /// A command, whose page is wanted
    command: Option<String>,
}

impl Completions {
    pub(super) fn run(&self) -> Result<()> {
        let mut text = Vec::new();
        clap_complete::generate(
            self.shell,
            &mut Arguments::command(),
            "bispectral",
            &mut text,
        );
        print(&text)
    }
}

impl Man {
    pub(super) fn run(&self) -> Result<()> {
        let mut all = Arguments::command();
        all.build();
        let wanted = match &self.command {
            Some(name) => all.find_subcommand(name).cloned().ok_or_else(|| {
                let known: Vec<&str> = all.get_subcommands().map(clap::Command::get_name).collect();
                Error::new(
                    name,
                    "no such command",
                    format!("name one of {}", known.join(", ")),
                )
            })?,
            None => all,
        };
        let mut text = Vec::new();
        clap_mangen::Man::new(wanted)
            .render(&mut text)
            .map_err(|error| failed(&error))?;
        print(&text)
    }
}

fn print(text: &[u8]) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(failed(&error)),
        _ => Ok(()),
    }
}

fn failed(error: &std::io::Error) -> Error {
    let what = format!("cannot be written ({error})");
    Error::new("standard output", what, "redirect it elsewhere")
}
