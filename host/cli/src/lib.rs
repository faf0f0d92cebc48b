//! The command line, one file a command. [`run`] is the whole program; `main` prints what it returns.

mod attack;
mod budget;
mod choices;
mod classify;
mod compare;
mod demo;
mod diagnosis;
mod export;
mod features;
mod firmware;
mod group;
mod import;
mod inspect;
mod invert;
mod manual;
mod model;
mod models;
mod report;
mod train;

use bispectral_experiments::Reproduce;
use bispectral_learn::{Error, LearnError, Result};
use bispectral_run::console::Console;
use clap::{Args, Parser, Subcommand};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// How a program can rely on this one, at the foot of every help text.
const CONTRACT: &str = "\
Exit status: 0 success; 1 failure, one line `error: FILE: what is wrong: what to do` on standard error; 2 bad usage.
With --json standard output holds exactly one object, after a failure {\"error\": \"FILE: what is wrong: what to do\"};
after bad usage it is empty. Words for people go to standard error then.";

/// Learn the symmetry behind data and export its invariants to microcontrollers.
#[derive(Debug, Parser)]
#[command(name = "bispectral", version, after_help = CONTRACT)]
pub struct Arguments {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// What every command takes.
#[derive(Debug, Args)]
struct Global {
    /// Print one JSON object on standard output; words for people go to standard error
    #[arg(long, global = true)]
    json: bool,
    /// The seed of all that is random [default: 0]; the same seed gives the same bits
    #[arg(long, global = true, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Threads to compute with [default: one a processor]; the results do not depend on it
    #[arg(long, global = true, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// No progress and no summary
    #[arg(long, global = true)]
    quiet: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(after_help = CONTRACT)]
    Attack(attack::Attack),
    #[command(after_help = CONTRACT)]
    Budget(budget::Plan),
    #[command(after_help = CONTRACT)]
    Classify(classify::Classify),
    #[command(after_help = CONTRACT)]
    Compare(compare::Compare),
    Completions(manual::Completions),
    #[command(after_help = CONTRACT)]
    Demo(demo::Demo),
    #[command(after_help = CONTRACT)]
    Import(import::Import),
    #[command(after_help = CONTRACT)]
    Export(export::Export),
    #[command(after_help = CONTRACT)]
    Features(features::Features),
    #[command(after_help = CONTRACT)]
    Firmware(firmware::Firmware),
    #[command(after_help = CONTRACT)]
    Group(group::Group),
    #[command(after_help = CONTRACT)]
    Inspect(inspect::Inspect),
    #[command(after_help = CONTRACT)]
    Invert(invert::Invert),
    Man(manual::Man),
    #[command(after_help = CONTRACT)]
    Model(model::Known),
    #[command(after_help = CONTRACT)]
    Report(report::Report),
    #[command(after_help = CONTRACT)]
    Reproduce(Reproduce),
    #[command(after_help = CONTRACT)]
    Train(Box<train::Train>),
}

impl Arguments {
    /// Whether standard output is to hold one object.
    #[must_use]
    pub fn wants_json(&self) -> bool {
        self.global.json
    }

    /// Where this invocation is answered.
    #[must_use]
    pub fn console(&self) -> Console {
        Console::new(self.global.json, self.global.quiet)
    }
}

impl Global {
    fn pool(&self) -> Result<ThreadPool> {
        let threads = self.threads.map_or(0, usize::from);
        ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|error| {
                Error::new(
                    "--threads",
                    format!("the threads cannot be started ({error})"),
                    "ask for fewer",
                )
            })
    }
}

/// A failure in the words of the command line: where the library says what may be allowed or changed, the flag for it.
#[must_use]
pub fn message(error: &Error) -> String {
    let remedy = match error {
        Error::Exists { .. } => "choose another name or add --force",
        Error::Occupied { .. } => "choose another one, add --force, or go on with --resume",
        Error::Model {
            error: bispectral_core::Error::Magic,
            ..
        } => "name a .bsn file, or make one with `bispectral import`",
        Error::Learn(LearnError::Diverged { .. }) => {
            "lower --lr or --gamma, or scale the data to unit deviation"
        }
        _ => return error.to_string(),
    };
    format!("{}: {}: {remedy}", error.subject(), error.what())
}

/// Does what the arguments ask for.
///
/// # Errors
/// The one line to print, with exit status 1.
pub fn run(arguments: &Arguments) -> Result<()> {
    let console = arguments.console();
    let Global { seed, .. } = arguments.global;
    match &arguments.command {
        Command::Attack(attack) => arguments
            .global
            .pool()?
            .install(|| attack.run(seed.unwrap_or(0), &console)),
        Command::Classify(classify) => arguments
            .global
            .pool()?
            .install(|| classify.run(seed, &console)),
        Command::Compare(compare) => arguments
            .global
            .pool()?
            .install(|| compare.run(seed.unwrap_or(0), &console)),
        Command::Completions(completions) => completions.run(),
        Command::Man(man) => man.run(),
        Command::Model(model) => arguments.global.pool()?.install(|| model.run(&console)),
        Command::Demo(demo) => arguments
            .global
            .pool()?
            .install(|| demo.run(seed, &console)),
        Command::Export(export) => arguments
            .global
            .pool()?
            .install(|| export.run(seed, &console)),
        Command::Import(import) => import.run(&console),
        Command::Features(features) => features.run(&arguments.global.pool()?, &console),
        Command::Firmware(firmware) => firmware.run(&console),
        Command::Group(group) => arguments.global.pool()?.install(|| group.run(&console)),
        Command::Budget(plan) => plan.run(&console),
        Command::Inspect(inspect) => inspect.run(&console),
        Command::Invert(invert) => arguments
            .global
            .pool()?
            .install(|| invert.run(seed.unwrap_or(0), &console)),
        Command::Report(report) => arguments.global.pool()?.install(|| report.run(&console)),
        Command::Reproduce(reproduce) => arguments
            .global
            .pool()?
            .install(|| reproduce.run(seed, &console)),
        Command::Train(train) => arguments
            .global
            .pool()?
            .install(|| train.run(seed, &console)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn as_many_threads_compute_as_were_asked_for() {
        let line = ["bispectral", "inspect", "model.bsn", "--threads", "3"];
        let pool = Arguments::parse_from(line).global.pool().unwrap();
        assert_eq!(pool.current_num_threads(), 3);
    }
}
