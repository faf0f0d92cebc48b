//! What one would write who knows the group: the bispectrum of Z16xZ16 by microfft and triple products, with a plain norm.
//!
//! No scaling against overflow, no compensated sum, one group only: the least that `count` can be compared with.

#![no_std]
#![no_main]

#[path = "../board/mod.rs"]
mod board;

use bispectral_core::Complex32;
use core::hint::black_box;
use microfft::complex::cfft_16;
use semihosting::println;
use semihosting::process::ExitCode;

const SIDE: usize = 16;

type Square = [[Complex32; SIDE]; SIDE];

pub fn run() -> ExitCode {
    let mut z = Square::default();
    for (n, z) in z.as_flattened_mut().iter_mut().enumerate() {
        z.re = ((n * n * 7 + n * 3 + 11) % 61) as f32 / 61.0 - 0.375;
    }
    let z = black_box(&mut z);
    let begun = board::instructions();
    transform(z);
    let transformed = board::instructions();
    let squares = each_term(z, |_, _, _| ());
    let done = board::instructions();
    black_box(squares);
    println!(
        "{}: instructions {} transform {}",
        board::NAME,
        board::between(begun, done).unwrap_or(0),
        board::between(begun, transformed).unwrap_or(0)
    );
    ExitCode::SUCCESS
}

/// Z, from the signal as real parts.
fn transform(z: &mut Square) {
    z.iter_mut().for_each(|line| {
        let _ = cfft_16(line);
    });
    for column in 0..SIDE {
        let mut line = core::array::from_fn(|row| z[row][column]);
        let _ = cfft_16(&mut line);
        for (z, value) in z.iter_mut().zip(line) {
            z[column] = value;
        }
    }
}

/// Every β_ij, and the sum of their squares.
#[inline(always)]
fn each_term(z: &Square, mut each: impl FnMut(usize, usize, Complex32)) -> f32 {
    let mut squares = 0.0;
    for i in 0..SIDE * SIDE {
        let (a, b) = (i / SIDE, i % SIDE);
        for j in i..SIDE * SIDE {
            let (c, d) = (j / SIDE, j % SIDE);
            let product = z[(a + c) % SIDE][(b + d) % SIDE];
            let term = z[a][b] * z[c][d] * product.conj();
            squares += term.re * term.re + term.im * term.im;
            each(i, j, term);
        }
    }
    squares
}
