//! One inference with a model that the emulator put into memory: instructions, stack and a checksum of every bit.
//!
//! `tests/src/device.rs` runs it, for any model on any board. RAM for signal and scratch is the most of the board; what a
//! model needs of it the model says itself.

#![no_std]
#![no_main]

#[path = "../board/mod.rs"]
mod board;
#[path = "../checksum.rs"]
mod checksum;
#[path = "../loaded.rs"]
mod loaded;
#[path = "../memory.rs"]
mod memory;
#[path = "../room.rs"]
mod room;

use bispectral_core::{Error, Model};
use checksum::{CRC, update};
use room::Room;
use semihosting::process::ExitCode;
use semihosting::{eprintln, println};

/// Samples and elements of scratch there is room for.
const INPUTS: usize = if cfg!(roomy) { 1024 } else { 256 };
const SCRATCH: usize = if cfg!(roomy) { 4096 } else { 1024 };

static SIGNAL: Room<INPUTS> = Room::new();
static WORK: Room<SCRATCH> = Room::new();

pub fn run() -> ExitCode {
    memory::paint_stack();
    match measure(loaded::loaded().0) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(bytes: &[u8]) -> Result<(), Error> {
    let model = Model::from_bytes(bytes)?;
    let (x, scratch) = (SIGNAL.take(), WORK.take());
    let x = x.get_mut(..model.inputs()).unwrap_or_default();
    for (n, x) in x.iter_mut().enumerate() {
        *x = ((n * n * 7 + n * 3 + 11) % 61) as f32 / 61.0 - 0.375;
    }
    let before = board::instructions();
    model.stream(x, scratch, |_, _, _| ())?;
    let after = board::instructions();
    // Before the checksum, which needs a stack of its own.
    let memory::Usage {
        stack,
        flash,
        statics,
    } = memory::usage();
    let buffers = size_of_val(&SIGNAL) + size_of_val(&WORK);

    let mut digest = CRC.digest();
    let end = model.stream(x, scratch, |_, _, term| {
        update(&mut digest, term.re);
        update(&mut digest, term.im);
    })?;
    update(&mut digest, end.norm());
    println!(
        "{}: instructions {} stack {stack} statics {} program {flash} checksum {:08x}",
        board::NAME,
        board::between(before, after).unwrap_or(0),
        statics - buffers,
        digest.finalize()
    );
    Ok(())
}
