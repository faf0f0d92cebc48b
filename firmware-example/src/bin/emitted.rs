//! One inference with a model that is a static of the module MODULE, which `bispectral export --emit rust` wrote: the checksum of
//! every bit that `count` prints of a model it reads.

#![no_std]
#![no_main]

#[path = "../board/mod.rs"]
mod board;
#[path = "../checksum.rs"]
mod checksum;
#[allow(dead_code)]
mod model {
    include!(env!("MODULE"));
}

use bispectral_core::Error;
use checksum::{CRC, update};
use semihosting::process::ExitCode;
use semihosting::{eprintln, println};

pub fn run() -> ExitCode {
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> Result<(), Error> {
    let (mut x, mut scratch) = ([0.0; model::INPUTS], [0.0; model::SCRATCH]);
    for (n, x) in x.iter_mut().enumerate() {
        *x = ((n * n * 7 + n * 3 + 11) % 61) as f32 / 61.0 - 0.375;
    }
    let before = board::instructions();
    model::MODEL.stream(&x, &mut scratch, |_, _, _| ())?;
    let after = board::instructions();
    let mut digest = CRC.digest();
    let end = model::MODEL.stream(&x, &mut scratch, |_, _, term| {
        update(&mut digest, term.re);
        update(&mut digest, term.im);
    })?;
    update(&mut digest, end.norm());
    println!(
        "{}: instructions {} checksum {:08x}",
        board::NAME,
        board::between(before, after).unwrap_or(0),
        digest.finalize()
    );
    Ok(())
}
