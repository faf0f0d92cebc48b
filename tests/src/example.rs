//! The model and the signals of firmware-example: one turn of a machine in 64 samples, under Z64.

use crate::reference::Reference;
use bispectral_core::{Complex32, Model, pair_count};
use bispectral_learn::data::group::Group;
use crc::{CRC_32_ISO_HDLC, Crc, Digest, Table};
use std::f64::consts::TAU;

/// Samples of one turn.
pub const INPUTS: usize = 64;
/// The characters of Z64 up to conjugation: for real signals the others say nothing new.
pub const ROWS: usize = INPUTS / 2 + 1;
/// The invariants.
pub const PAIRS: usize = pair_count(ROWS);

static CRC: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);

/// W: row k is exp(−2πi kn/64) / 8, of unit length.
pub fn characters() -> Vec<Complex32> {
    let group = Group::new([INPUTS]).expect("a cyclic group");
    let rounded = group
        .characters()
        .mapv(|w| Complex32::new(w.re as f32, w.im as f32));
    rounded.into_iter().take(ROWS * INPUTS).collect()
}

/// A turn with a bump, the same turn backwards, a smooth one; all with some of everything, so that they are generic.
pub fn signals() -> [[f32; INPUTS]; 3] {
    let turn = |n: usize| TAU * n as f64 / INPUTS as f64;
    let texture = |n: usize| ((n * n * 7 + n * 3) % 61) as f64 / 610.0;
    let bump = |n: usize| {
        let late = n as f64 - 20.0;
        let tooth = if late < 0.0 {
            0.0
        } else {
            2.0 * libm::exp(-late / 4.0)
        };
        libm::sin(turn(n)) + tooth + texture(n)
    };
    let smooth = |n: usize| libm::sin(turn(n)) + 0.5 * libm::cos(3.0 * turn(n)) + texture(n);
    [
        std::array::from_fn(|n| bump(n) as f32),
        std::array::from_fn(|n| bump(INPUTS - 1 - n) as f32),
        std::array::from_fn(|n| smooth(n) as f32),
    ]
}

/// The CRC-32 the firmware computes of one inference: the streamed terms, then their norm.
pub fn checksum(model: &Model<'_>, x: &[f32]) -> u32 {
    let mut digest = CRC.digest();
    let mut scratch = vec![0.0; model.scratch_len()];
    let magnitude = model
        .stream(x, &mut scratch, |_, _, term| {
            update(&mut digest, term.re);
            update(&mut digest, term.im);
        })
        .expect("a signal of the example");
    update(&mut digest, magnitude.norm());
    digest.finalize()
}

fn update(digest: &mut Digest<'_, u32, Table<1>>, value: f32) {
    digest.update(&value.to_bits().to_le_bytes());
}

/// The CRC-32 of every signal in every shift, in the firmware's order.
pub fn checksums(model: &Model<'_>) -> Vec<u32> {
    let mut checksums = Vec::new();
    for mut x in signals() {
        for _ in 0..INPUTS {
            checksums.push(checksum(model, &x));
            x.rotate_left(1);
        }
    }
    checksums
}

/// The CRC-32 of all of those, which the firmware prints.
pub fn checksum_of_all(model: &Model<'_>) -> u32 {
    CRC.checksum(&little_endian(
        checksums(model).into_iter().map(u32::to_le_bytes),
    ))
}

/// `model/reference.bin`.
pub fn reference(model: &Model<'_>) -> Vec<u8> {
    let signals = signals();
    let invariants = signals
        .iter()
        .flat_map(|x| model.invariants_vec(x).expect("a signal of the example"));
    let reference = Reference {
        signals: &little_endian(signals.iter().flatten().map(|x| x.to_le_bytes())),
        invariants: &little_endian(
            invariants.flat_map(|z| [z.re.to_le_bytes(), z.im.to_le_bytes()]),
        ),
        checksums: &little_endian(checksums(model).into_iter().map(u32::to_le_bytes)),
    };
    postcard::to_stdvec(&reference).expect("slices serialise")
}

fn little_endian(words: impl Iterator<Item = [u8; 4]>) -> Vec<u8> {
    words.flatten().collect()
}
