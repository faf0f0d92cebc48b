//! Signals that an emulated board classifies, with a model that ends in a classifier: `digits` of firmware-example.

use crate::device::{self, Board, after};
use crate::signals::Signals;
use bispectral_core::{Error, Model};
use bispectral_learn::classify::samples::Samples;
use crc::{CRC_32_ISO_HDLC, Crc, Table};

static CRC: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);

/// Those with a floating-point unit, and room for a model of a megabyte with thousands of signals: M4F and M33.
pub const BOARDS: [Board; 2] = [device::BOARDS[0], device::BOARDS[2]];

/// What a signal was taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// The class with the largest score.
    pub class: usize,
    /// CRC-32 of all scores, bit by bit.
    pub checksum: u32,
}

/// What a board said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classified {
    /// One a signal.
    pub answers: Vec<Answer>,
    /// How many of them are the signal's label.
    pub right: usize,
    /// Of one signal, the mean; where the board can count them.
    pub instructions: Option<u64>,
    /// Bytes of program and model.
    pub flash: usize,
    /// Bytes of the buffers this model needs, of the other statics and of the stack.
    pub ram: usize,
    /// All it printed.
    pub words: String,
}

/// The answers of this host, by the code that runs on the boards.
///
/// # Errors
/// The model has no classifier, or a signal no invariants.
pub fn answers(model: &Model<'_>, samples: &Samples) -> Result<Vec<Answer>, Error> {
    let mut scratch = vec![0.0; model.classifier_scratch_len()];
    let mut scores = vec![0.0; model.classes()];
    let rows = samples.samples.rows().into_iter();
    rows.map(|signal| {
        let class = model.classify(&signal.to_vec(), &mut scratch, &mut scores)?;
        let checksum = CRC.checksum(&little_endian(&scores));
        Ok(Answer { class, checksum })
    })
    .collect()
}

/// The message with these signals that lies behind the model.
///
/// # Panics
/// A label is no class: 0 to 255.
#[must_use]
pub fn message(samples: &Samples) -> Vec<u8> {
    let label = |&label| u8::try_from(label).expect("a class");
    let signals = Signals {
        labels: &samples.labels.iter().map(label).collect::<Vec<u8>>(),
        samples: &little_endian(&samples.samples),
    };
    let mut bytes = postcard::to_stdvec(&signals).expect("slices serialise");
    bytes.extend(CRC.checksum(&bytes).to_le_bytes());
    bytes
}

fn little_endian<'v>(values: impl IntoIterator<Item = &'v f32>) -> Vec<u8> {
    let bytes = |value: &f32| value.to_le_bytes();
    values.into_iter().flat_map(bytes).collect()
}

impl Board {
    /// Classifies the samples with this model.
    ///
    /// # Errors
    /// What the board printed instead of answers, or that there is no room for all.
    ///
    /// # Panics
    /// A label is no class, the board's words make no sense, or [`build`](Self::build) was not called.
    pub fn classify(&self, model: &[u8], samples: &Samples) -> Result<Classified, String> {
        let words = self.send("digits", &[model, &message(samples)].concat())?;
        let number = |label| after(&words, label).parse::<usize>().expect("a number");
        Ok(Classified {
            answers: words.split_whitespace().filter_map(answer).collect(),
            right: number("right"),
            instructions: after(&words, "instructions").parse().ok(),
            flash: number("flash"),
            ram: number("RAM"),
            words,
        })
    }
}

/// A class and its scores' checksum, as the firmware writes them: `7:9fd33cc7`.
fn answer(word: &str) -> Option<Answer> {
    let (class, checksum) = word.split_once(':')?;
    Some(Answer {
        class: class.parse().ok()?,
        checksum: u32::from_str_radix(checksum, 16).ok()?,
    })
}
