//! One inference with a model that the emulator put into memory: instructions, stack and a checksum of every bit.
//!
//! `tests/src/device.rs` runs it, for any model on any board. RAM for signal and scratch is the most of the board; what a
//! model needs of it the model says itself.

#![no_std]
#![no_main]

#[path = "../board/mod.rs"]
mod board;
#[path = "../memory.rs"]
mod memory;

use bispectral_core::{Error, Model};
use core::slice;
use crc::{CRC_32_ISO_HDLC, Crc, Table};
use semihosting::process::ExitCode;
use semihosting::{eprintln, println};

static CRC: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);

/// Samples and elements of scratch there is room for.
const INPUTS: usize = if cfg!(roomy) { 1024 } else { 256 };
const SCRATCH: usize = if cfg!(roomy) { 4096 } else { 1024 };

static mut X: [f32; INPUTS] = [0.0; INPUTS];
static mut S: [f32; SCRATCH] = [0.0; SCRATCH];

/// Where the emulator puts the model, and how long one may be there.
const MODEL: (usize, usize) = match env!("BOARD").as_bytes() {
    b"thumbv6m-none-eabi" => (0x2_0000, 0x2_0000),
    b"thumbv7em-none-eabihf" => (0x2100_0000, 0x10_0000),
    b"riscv32imac-unknown-none-elf" => (0x8400_0000, 0x10_0000),
    _ => (0x8000_0000, 0x10_0000),
};

pub fn run() -> ExitCode {
    memory::paint_stack();
    // SAFETY: memory of the board, which nothing else uses; without a model it holds zeros.
    let bytes = unsafe { slice::from_raw_parts(MODEL.0 as *const u8, MODEL.1) };
    // The length stands behind magic and version.
    let length = bytes[5..9]
        .try_into()
        .map_or(0, |length| u32::from_le_bytes(length) as usize);
    match measure(bytes.get(..length).unwrap_or_default()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(bytes: &[u8]) -> Result<(), Error> {
    let model = Model::from_bytes(bytes)?;
    // SAFETY: this is the only place that names it, and it is reached once.
    let x = unsafe { slice::from_raw_parts_mut((&raw mut X).cast::<f32>(), INPUTS) };
    // SAFETY: this is the only place that names it, and it is reached once.
    let scratch = unsafe { slice::from_raw_parts_mut((&raw mut S).cast::<f32>(), SCRATCH) };
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
    let buffers = (INPUTS + SCRATCH) * size_of::<f32>();

    let mut digest = CRC.digest();
    let end = model.stream(x, scratch, |_, _, term| {
        digest.update(&term.re.to_le_bytes());
        digest.update(&term.im.to_le_bytes());
    })?;
    digest.update(&end.norm().to_le_bytes());
    println!(
        "{}: instructions {} stack {stack} statics {} program {flash} checksum {:08x}",
        board::NAME,
        before.zip(after).map_or(0, |(from, to)| to - from),
        statics - buffers,
        digest.finalize()
    );
    Ok(())
}
