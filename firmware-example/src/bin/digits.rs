//! Classifies the signals that the emulator put into memory, behind a model that ends in a classifier.
//!
//! For each it prints the answer and a checksum of the scores, which the host compares with its own; then how often it
//! was right, and what it takes. `tests/src/classified.rs` sends the signals and reads the answers.

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
#[path = "../signals.rs"]
mod signals;

use bispectral_core::{Error, Model};
use checksum::{CRC, update};
use core::fmt;
use heapless::LinearMap;
use memory::Usage;
use room::Room;
use semihosting::process::ExitCode;
use semihosting::{eprintln, print, println};
use signals::Signals;

/// Samples, elements of scratch and scores there is room for.
const INPUTS: usize = if cfg!(roomy) { 1024 } else { 256 };
const SCRATCH: usize = if cfg!(roomy) { 8192 } else { 1280 };
const CLASSES: usize = if cfg!(roomy) { 256 } else { 16 };

static SIGNAL: Room<INPUTS> = Room::new();
static WORK: Room<SCRATCH> = Room::new();
static SCORES: Room<CLASSES> = Room::new();

/// Kinds of mistakes that are told apart: all there are with ten classes.
const KINDS: usize = 90;
/// Answers on a line.
const LINE: usize = 10;

/// Why there are no answers.
enum Refusal {
    Model(Error),
    Room {
        what: &'static str,
        needed: usize,
        found: usize,
    },
    Damaged,
    Samples {
        signals: usize,
        inputs: usize,
        bytes: usize,
    },
    Label {
        at: usize,
        label: u8,
        classes: usize,
    },
    Signal {
        at: usize,
        error: Error,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Model(error) => write!(f, "{error}"),
            Refusal::Room {
                what,
                needed,
                found,
            } => write!(
                f,
                "the model needs {needed} {what}, there is room for {found}: export a smaller one, or make more room"
            ),
            Refusal::Damaged => f.write_str(
                "the signals behind the model are missing, truncated or damaged: send them again",
            ),
            Refusal::Samples {
                signals,
                inputs,
                bytes,
            } => write!(
                f,
                "{bytes} bytes of samples for {signals} signals of {inputs}: send {inputs} f32 for each label, and at least one"
            ),
            Refusal::Label { at, label, classes } => write!(
                f,
                "signal {at}: its label is {label}, the model has {classes} classes: leave it out"
            ),
            Refusal::Signal { at, error } => write!(f, "signal {at}: {error}: leave it out"),
        }
    }
}

/// What became of the signals.
#[derive(Default)]
struct Findings {
    right: usize,
    /// How often a class was taken for another.
    mistakes: LinearMap<(u8, u8), u16, KINDS>,
    /// Of all signals together, and of the one with the most; `None` on a board that does not count.
    instructions: Option<(u64, u64)>,
}

pub fn run() -> ExitCode {
    memory::paint_stack();
    match examine() {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => {
            eprintln!("error: {refusal}");
            ExitCode::FAILURE
        }
    }
}

fn examine() -> Result<(), Refusal> {
    let (bytes, behind) = loaded::loaded();
    let model = Model::from_bytes(bytes).map_err(Refusal::Model)?;
    if model.classes() == 0 {
        return Err(Refusal::Model(Error::NoClassifier));
    }
    for (what, needed, found) in [
        ("inputs", model.inputs(), INPUTS),
        (
            "elements of scratch",
            model.classifier_scratch_len(),
            SCRATCH,
        ),
        ("classes", model.classes(), CLASSES),
    ] {
        if needed > found {
            return Err(Refusal::Room {
                what,
                needed,
                found,
            });
        }
    }
    let (signals, _) = postcard::take_from_bytes_crc32::<Signals<'_>>(behind, CRC.digest())
        .map_err(|_| Refusal::Damaged)?;
    check(&model, &signals)?;

    println!("board        {} ({})", env!("BOARD"), board::NAME);
    println!(
        "model        {} inputs, {} rows, {} invariants, {} classes",
        model.inputs(),
        model.rows(),
        model.pairs(),
        model.classes(),
    );
    let findings = classify(&model, &signals)?;
    print_findings(&model, bytes.len(), signals.labels.len(), &findings);
    Ok(())
}

/// Before the first answer, so that a refusal is all there is to read.
fn check(model: &Model<'_>, signals: &Signals<'_>) -> Result<(), Refusal> {
    let (count, inputs, classes) = (signals.labels.len(), model.inputs(), model.classes());
    let needed = inputs
        .checked_mul(size_of::<f32>())
        .and_then(|bytes| bytes.checked_mul(count));
    if count == 0 || needed != Some(signals.samples.len()) {
        return Err(Refusal::Samples {
            signals: count,
            inputs,
            bytes: signals.samples.len(),
        });
    }
    match (0..)
        .zip(signals.labels)
        .find(|(_, label)| usize::from(**label) >= classes)
    {
        Some((at, &label)) => Err(Refusal::Label { at, label, classes }),
        None => Ok(()),
    }
}

/// Prints an answer and a checksum for every signal, as they come.
fn classify(model: &Model<'_>, signals: &Signals<'_>) -> Result<Findings, Refusal> {
    let (x, work, scores) = (SIGNAL.take(), WORK.take(), SCORES.take());
    let x = x.get_mut(..model.inputs()).unwrap_or_default();
    let samples = signals.samples.as_chunks::<{ size_of::<f32>() }>().0;
    let mut findings = Findings::default();
    for (at, (label, samples)) in signals
        .labels
        .iter()
        .zip(samples.chunks_exact(model.inputs()))
        .enumerate()
    {
        for (x, sample) in x.iter_mut().zip(samples) {
            *x = f32::from_le_bytes(*sample);
        }
        let before = board::instructions();
        let answer = model
            .classify(x, work, scores)
            .map_err(|error| Refusal::Signal { at, error })?;
        let spent = board::between(before, board::instructions());

        let mut digest = CRC.digest();
        for score in scores.iter().take(model.classes()) {
            update(&mut digest, *score);
        }
        if at % LINE == 0 {
            print!("{}answers     ", if at == 0 { "" } else { "\n" });
        }
        print!(" {answer}:{:08x}", digest.finalize());
        // A class fits a byte: there are no more than CLASSES.
        findings.add(*label, answer as u8, spent);
    }
    println!();
    Ok(findings)
}

impl Findings {
    fn add(&mut self, label: u8, answer: u8, spent: Option<u64>) {
        if label == answer {
            self.right += 1;
        } else if let Some(times) = self.mistakes.get_mut(&(label, answer)) {
            *times = times.saturating_add(1);
        } else {
            // Where there are more kinds than places, the sum of those printed is less than all that is wrong.
            let _ = self.mistakes.insert((label, answer), 1);
        }
        if let Some(spent) = spent {
            let (sum, most) = self.instructions.unwrap_or_default();
            self.instructions = Some((sum + spent, most.max(spent)));
        }
    }
}

fn print_findings(model: &Model<'_>, bytes: usize, signals: usize, findings: &Findings) {
    let Usage {
        flash,
        statics,
        stack,
    } = memory::usage();
    // Of the buffers only what this model needs counts, with the rest of the statics and the stack.
    let needed =
        (model.inputs() + model.classifier_scratch_len() + model.classes()) * size_of::<f32>();
    let set_aside = size_of_val(&SIGNAL) + size_of_val(&WORK) + size_of_val(&SCORES);
    let others = statics.saturating_sub(set_aside);

    let Findings {
        right,
        mistakes,
        instructions,
    } = findings;
    print!(
        "right        {right} of {signals}, wrong {}",
        signals - right
    );
    for (at, ((label, answer), times)) in mistakes.iter().enumerate() {
        print!(
            "{} {label}>{answer} {times}",
            if at == 0 { ":" } else { "," }
        );
    }
    println!();
    match instructions {
        Some((sum, most)) => println!(
            "instructions {} a signal, {most} at most",
            sum / signals as u64
        ),
        None => println!("instructions not counted on this board"),
    }
    println!(
        "flash        {} bytes: program {flash}, model {bytes}",
        flash + bytes
    );
    println!(
        "RAM          {} bytes: buffers {needed}, other statics {others}, stack {stack}",
        needed + others + stack
    );
}
