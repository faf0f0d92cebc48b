//! `bispectral budget`: what the program around a model takes of a board, before anything is built.

use crate::firmware::{board, names};
use crate::models;
use bispectral_learn::model::budget::Budget;
use bispectral_learn::model::emit::Exported;
use bispectral_learn::model::instructions::MARGIN;
use bispectral_learn::{Error, Result};
use bispectral_run::console::Console;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;

/// Say what the program around a model takes of a board, before it is built
///
/// Flash: the code of the program that `bispectral firmware` writes, the model, and recorded windows. RAM: statics, buffers and
/// stack. Code, statics and stack are those of programs that were linked and run in QEMU, the rest is counted.
/// Instructions are an estimate, where the processor has floats. The exit status is 1 where more is needed than
/// --flash or --ram, or than the board has
#[derive(Debug, Args)]
pub(super) struct Plan {
    /// A model, or the folder of a run
    #[arg(value_name = "MODEL.bsn|DIR")]
    model: PathBuf,
    /// The board
    #[arg(long, value_name = "NAME", default_value = "cortex-m4f", value_parser = names())]
    board: String,
    /// Bytes of flash there are, or 64K [default: the board's]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    flash: Option<usize>,
    /// Bytes of RAM there are, or 16K [default: the board's]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    ram: Option<usize>,
    /// Recorded windows beside the program: `firmware` makes up 4; none where a sensor is read
    #[arg(long, value_name = "COUNT", default_value_t = 4)]
    windows: u16,
}

/// `16384` or `16K`.
fn bytes(text: &str) -> std::result::Result<usize, String> {
    let (digits, unit) = match text.strip_suffix(['K', 'k']) {
        Some(digits) => (digits, 1024),
        None => (text, 1),
    };
    let number: Option<usize> = digits.parse().ok();
    number
        .and_then(|number| number.checked_mul(unit))
        .ok_or_else(|| "not a number of bytes, as 16384 or 16K".into())
}

#[derive(Serialize)]
struct Planned {
    board: &'static str,
    #[serde(flatten)]
    budget: Budget,
    flash_limit: usize,
    ram_limit: usize,
}

impl Plan {
    pub(super) fn run(&self, console: &Console) -> Result<()> {
        let file = models::read(&self.model)?;
        let exported =
            Exported::new(file.bytes()).map_err(|error| Error::model(file.path(), error))?;
        let board = board(&self.board);
        let planned = Planned {
            board: board.name,
            budget: Budget::of(&exported, board, self.windows.into())?,
            flash_limit: self.flash.unwrap_or(board.flash.length),
            ram_limit: self.ram.unwrap_or(board.ram.length),
        };
        let Budget { flash, ram, .. } = planned.budget;
        for (what, needed, limit) in [
            ("flash", flash.total_bytes, planned.flash_limit),
            ("RAM", ram.total_bytes, planned.ram_limit),
        ] {
            if needed > limit {
                let what = format!("{needed} bytes of {what} are needed, there are {limit}");
                let remedy = "export a smaller form, or take another board";
                return Err(Error::file(file.path(), what, remedy));
            }
        }
        console.answer(&planned, &planned.words())
    }
}

impl Planned {
    fn words(&self) -> String {
        let Budget {
            flash,
            ram,
            estimated_instructions,
        } = &self.budget;
        let instructions = match estimated_instructions {
            Some(count) => format!(
                "{count} a window, estimated, mostly within {:.0} %",
                100.0 * MARGIN
            ),
            None => "not estimated for a processor without floats".into(),
        };
        format!(
            "board       {}\n\
             flash       {} of {} bytes: code {}, model {}, windows {}\n\
             RAM         {} of {} bytes: statics {}, buffers {}, stack {}\n\
             instructions {instructions}",
            self.board,
            flash.total_bytes,
            self.flash_limit,
            flash.code_bytes,
            flash.model_bytes,
            flash.windows_bytes,
            ram.total_bytes,
            self.ram_limit,
            ram.statics_bytes,
            ram.buffers_bytes,
            ram.stack_bytes,
        )
    }
}
