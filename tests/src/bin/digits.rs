//! MNIST's test digits, each turned, on two emulated boards: `cargo run --release -p bispectral-tests --bin digits -- MODEL.bsn`.
//!
//! The digits are those of `bispectral classify evaluate`: the same seed turns them by the same angles. Every answer and
//! every bit of its scores is compared with this host's. Flash is that of program and model; RAM is what this model needs
//! of the buffers, the other statics and the stack.

use bispectral_experiments::mnist::{self, Half};
use bispectral_learn::Error;
use bispectral_learn::classify::samples::Samples;
use bispectral_learn::model::file::ModelFile;
use bispectral_tests::classified::{Answer, BOARDS, Classified, answers};
use bispectral_tests::device::Board;
use bispectral_tests::rotated;
use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

/// RotatedDigits digits on two emulated boards, compared with this host
#[derive(Debug, Parser)]
struct Arguments {
    /// A model that ends in a classifier, as `bispectral classify export` writes it
    #[arg(value_name = "MODEL.bsn")]
    model: PathBuf,
    /// MNIST's folder [default: that in BISPECTRAL_MNIST]
    #[arg(long, value_name = "DIR")]
    mnist: Option<PathBuf>,
    /// How many of the test digits, from the first
    #[arg(long, default_value = "100", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    count: u16,
    /// Pixels of a digit's 28 that a sample covers, around its middle: what the classifier was trained with
    #[arg(long, value_name = "PIXELS", default_value = "28", value_parser = clap::value_parser!(u8).range(8..=40))]
    window: u8,
    /// The seed of the angles
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    seed: u64,
}

impl Arguments {
    /// The digits as `bispectral classify evaluate` has them.
    fn digits(&self, inputs: usize) -> Result<Samples, String> {
        let size = inputs.isqrt();
        if size * size != inputs || size < 2 {
            return Err(format!(
                "{}: digits are square, the model has {inputs} inputs: take a model of rotated images",
                self.model.display()
            ));
        }
        let folder = mnist::folder(self.mnist.as_deref())
            .ok_or("MNIST: no folder is named: give --mnist DIR or set BISPECTRAL_MNIST")?;
        let seen = [size, self.window.into()];
        rotated::digits(&folder, Half::Test, self.count.into(), seen, self.seed).map_err(words)
    }
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!(
                "error: a board's answers or scores are not this host's: `--bin table` shows which forms differ"
            );
            ExitCode::FAILURE
        }
        Err(refusal) => {
            eprintln!("error: {refusal}");
            ExitCode::FAILURE
        }
    }
}

/// Whether every board gave this host's answers.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let file = ModelFile::read(&arguments.model).map_err(words)?;
    let model = file.model().map_err(words)?;
    let digits = arguments.digits(model.inputs())?;
    let expected =
        answers(&model, &digits).map_err(|error| words(Error::model(&arguments.model, error)))?;
    BOARDS.iter().try_for_each(Board::build)?;
    println!(
        "{:<6}{:>8}{:>8}{:>13}{:>22}{:>10}{:>8}",
        "board", "digits", "right", "as the host", "instructions a digit", "flash", "RAM"
    );
    let (mut equal, mut confusions) = (true, Vec::new());
    for board in &BOARDS {
        let found = board.classify(file.bytes(), &digits);
        let found = found.map_err(|refusal| format!("{}: {refusal}", board.name))?;
        print(board, &found, &expected);
        equal &= found.answers == expected;
        let line = found.words.lines().find(|line| line.starts_with("right"));
        confusions.push(format!("{:<6}{}", board.name, line.unwrap_or_default()));
    }
    println!("{}", confusions.join("\n"));
    Ok(equal)
}

fn words(error: Error) -> String {
    error.to_string()
}

fn print(board: &Board, found: &Classified, expected: &[Answer]) {
    let equal = expected.iter().zip(&found.answers);
    println!(
        "{:<6}{:>8}{:>8}{:>13}{:>22}{:>10}{:>8}",
        board.name,
        found.answers.len(),
        found.right,
        equal.filter(|(expected, found)| expected == found).count(),
        found
            .instructions
            .map_or("not counted".into(), |count| count.to_string()),
        found.flash,
        found.ram,
    );
}
