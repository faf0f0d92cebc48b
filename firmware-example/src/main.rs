//! Invariants of signals and of all their shifts, computed on the device and compared with the host's, bit for bit.
//!
//! One turn of a machine, 64 samples: where the turn begins does not matter, everything else about it does.
//! Exits with 1 when anything is off.

#![no_std]
#![no_main]

mod board;
mod checksum;
mod memory;
mod reference;

use bispectral_core::{Complex32, Error, Model, include_model};
use checksum::{CRC, update};
use reference::Reference;
use semihosting::process::ExitCode;
use semihosting::{eprintln, println};
use turn::{INPUTS, MODEL, PAIRS, ROWS, SCRATCH};

include_model!(mod turn = "../model/turn.bsn");
static REFERENCE: &[u8] = include_bytes!("../model/reference.bin");

/// A turn with a bump, the same turn run backwards, a smooth one.
const SIGNALS: usize = 3;
const NAMES: [&str; SIGNALS] = ["bump", "bump, backwards", "smooth"];

/// An exact model's invariants change by rounding only: some hundred roundings of 2^-24 each.
const LARGEST_CHANGE: f32 = 1e-5;
/// Different signals are far apart: the distance of two unit vectors is at most 2.
const SMALLEST_DISTANCE: f32 = 0.1;

/// What the run showed.
struct Findings {
    largest_change: f32,
    smallest_distance: f32,
    power_distance: f32,
    equal_invariants: usize,
    equal_checksums: usize,
    checksum: u32,
    instructions: Option<u64>,
}

pub fn run() -> ExitCode {
    memory::paint_stack();
    let model = match Model::from_bytes(MODEL) {
        Ok(model) => model,
        Err(error) => return fail(error),
    };
    let Ok(reference) = postcard::from_bytes::<Reference<'_>>(REFERENCE) else {
        eprintln!("error: model/reference.bin does not decode");
        return ExitCode::FAILURE;
    };
    match examine(&model, &reference) {
        Ok(findings) => print(&model, &findings),
        Err(error) => fail(error),
    }
}

fn fail(error: Error) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::FAILURE
}

fn examine(model: &Model<'_>, reference: &Reference<'_>) -> Result<Findings, Error> {
    let mut findings = Findings {
        largest_change: 0.0,
        smallest_distance: f32::INFINITY,
        power_distance: 0.0,
        equal_invariants: 0,
        equal_checksums: 0,
        checksum: 0,
        instructions: None,
    };
    let mut all = CRC.digest();
    let mut scratch = [0.0; SCRATCH];
    let mut powers = [[0.0; ROWS]; SIGNALS];
    for (signal, power) in powers.iter_mut().enumerate() {
        let x = shifted(reference, signal, 0);
        model.power_spectrum(&x, &mut scratch, power)?;

        let before = board::instructions();
        let magnitude = model.stream(&x, &mut scratch, |_, _, _| ())?;
        findings.instructions = board::between(before, board::instructions());

        let mut expected = invariants(reference, signal);
        model.stream(&x, &mut scratch, |_, _, term| {
            let same = expected
                .next()
                .is_some_and(|expected| same_bits(expected, magnitude.normalise(term)));
            findings.equal_invariants += usize::from(same);
        })?;
        #[cfg(roomy)]
        count_buffered(model, reference, signal, &x, &mut findings)?;

        for shift in 0..INPUTS {
            let x = shifted(reference, signal, shift);
            let mut digest = CRC.digest();
            let mut distances = Distances::to_all(reference);
            let scale = 1.0 / magnitude.norm();
            let end = model.stream(&x, &mut scratch, |_, _, term| {
                update(&mut digest, term.re);
                update(&mut digest, term.im);
                distances.add(term * scale);
            })?;
            update(&mut digest, end.norm());
            let checksum = digest.finalize();
            all.update(&checksum.to_le_bytes());
            let at = signal * INPUTS + shift;
            findings.equal_checksums +=
                usize::from(words(reference.checksums).nth(at) == Some(checksum.to_le_bytes()));
            for (other, squared) in distances.squared.iter().enumerate() {
                if other == signal {
                    findings.largest_change = findings.largest_change.max(*squared);
                } else {
                    findings.smallest_distance = findings.smallest_distance.min(*squared);
                }
            }
        }
    }
    findings.largest_change = root(findings.largest_change);
    findings.smallest_distance = root(findings.smallest_distance);
    findings.power_distance = relative_distance(&powers[0], &powers[1]);
    findings.checksum = all.finalize();
    Ok(findings)
}

/// The buffered form, where there is room for its result: the same bits again.
#[cfg(roomy)]
#[inline(never)]
fn count_buffered(
    model: &Model<'_>,
    reference: &Reference<'_>,
    signal: usize,
    x: &[f32],
    findings: &mut Findings,
) -> Result<(), Error> {
    use bispectral_core::Extractor;
    let mut extractor = Extractor::<SCRATCH, { 2 * PAIRS }>::new(*model)?;
    let found = extractor.invariants(x)?;
    findings.equal_invariants += invariants(reference, signal)
        .zip(found)
        .filter(|(expected, found)| same_bits(*expected, **found))
        .count();
    Ok(())
}

/// How often each invariant is compared: streamed, and buffered where there is room.
const FORMS: usize = if cfg!(roomy) { 2 } else { 1 };

fn print(model: &Model<'_>, findings: &Findings) -> ExitCode {
    let memory = memory::usage();
    let multiply_adds = (PAIRS * INPUTS) as u64;
    println!("board        {} ({})", env!("BOARD"), board::NAME);
    println!(
        "model        {}, {}: {INPUTS} inputs, {ROWS} rows, {PAIRS} invariants, {} bytes",
        model.name(),
        model.group().unwrap_or("no group"),
        MODEL.len(),
    );
    println!("signals      {}; {}; {}", NAMES[0], NAMES[1], NAMES[2]);
    println!(
        "inferences   {} streamed: every shift of every signal",
        SIGNALS * INPUTS
    );
    println!(
        "largest change within an orbit       {:e}",
        findings.largest_change
    );
    println!(
        "smallest distance between orbits     {}",
        findings.smallest_distance
    );
    println!(
        "  of the first two by power spectrum {:e}",
        findings.power_distance
    );
    println!(
        "bits equal to the host's             {} of {} invariants, {} of {} inferences",
        findings.equal_invariants,
        FORMS * SIGNALS * PAIRS,
        findings.equal_checksums,
        SIGNALS * INPUTS,
    );
    println!(
        "checksum of all inferences           {:08x}",
        findings.checksum
    );
    match findings.instructions {
        Some(count) => println!(
            "instructions an inference            {count}, {}.{} a complex multiply-add",
            count / multiply_adds,
            count * 10 / multiply_adds % 10,
        ),
        None => println!("instructions an inference            not counted on this board"),
    }
    println!(
        "stack high-water mark                {} bytes",
        memory.stack
    );
    println!(
        "flash used                           {} bytes",
        memory.flash
    );
    println!(
        "RAM used, with the stack             {} bytes",
        memory.statics + memory.stack
    );

    let good = findings.largest_change < LARGEST_CHANGE
        && findings.smallest_distance > SMALLEST_DISTANCE
        && findings.equal_invariants == FORMS * SIGNALS * PAIRS
        && findings.equal_checksums == SIGNALS * INPUTS;
    println!("{}", if good { "ok" } else { "FAILED" });
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// ‖β̄ − β̄_k‖² to the reference of every signal k, term by term.
struct Distances<I> {
    references: [I; SIGNALS],
    squared: [f32; SIGNALS],
}

impl<'a> Distances<()> {
    fn to_all(reference: &Reference<'a>) -> Distances<impl Iterator<Item = Complex32> + use<'a>> {
        Distances {
            references: core::array::from_fn(|signal| invariants(reference, signal)),
            squared: [0.0; SIGNALS],
        }
    }
}

impl<I: Iterator<Item = Complex32>> Distances<I> {
    fn add(&mut self, term: Complex32) {
        for (reference, squared) in self.references.iter_mut().zip(&mut self.squared) {
            if let Some(reference) = reference.next() {
                *squared += (term - reference).norm_sqr();
            }
        }
    }
}

fn words<'a>(bytes: &'a [u8]) -> impl Iterator<Item = [u8; 4]> + use<'a> {
    bytes.as_chunks::<4>().0.iter().copied()
}

/// Signal number `signal`, begun `shift` samples later.
fn shifted(reference: &Reference<'_>, signal: usize, shift: usize) -> [f32; INPUTS] {
    let mut x = [0.0; INPUTS];
    let samples = words(reference.signals).skip(signal * INPUTS).take(INPUTS);
    for (n, sample) in samples.enumerate() {
        x[(n + INPUTS - shift) % INPUTS] = f32::from_le_bytes(sample);
    }
    if cfg!(feature = "tampered") {
        x[0] = f32::from_bits(x[0].to_bits() ^ 1);
    }
    x
}

fn invariants<'a>(
    reference: &Reference<'a>,
    signal: usize,
) -> impl Iterator<Item = Complex32> + use<'a> {
    let terms = reference.invariants.as_chunks::<8>().0.iter();
    terms.skip(signal * PAIRS).take(PAIRS).map(|term| {
        let [re, im] = [
            [term[0], term[1], term[2], term[3]],
            [term[4], term[5], term[6], term[7]],
        ];
        Complex32::new(f32::from_le_bytes(re), f32::from_le_bytes(im))
    })
}

fn same_bits(a: Complex32, b: Complex32) -> bool {
    a.re.to_bits() == b.re.to_bits() && a.im.to_bits() == b.im.to_bits()
}

/// ‖a − b‖ / ‖a‖
fn relative_distance(a: &[f32; ROWS], b: &[f32; ROWS]) -> f32 {
    let difference: f32 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
    let length: f32 = a.iter().map(|a| a * a).sum();
    root(difference / length)
}

/// √value by Newton's method: only printed.
fn root(value: f32) -> f32 {
    let mut root = value.max(f32::MIN_POSITIVE);
    for _ in 0..80 {
        root = 0.5 * (root + value / root);
    }
    root
}
