//! The sizes of a model, read from its bytes when the program is built: buffers are as long as the model needs, whatever
//! form it was exported in.

use crate::cyclic::cyclic_scratch_len;
use crate::format::{MAGIC, MAX_DIMENSION, VERSION};
use crate::pairs::pair_count;

/// Magic, version and length: bytes before the first field that has no fixed place.
const FIXED_LEN: usize = 9;
/// Bytes of w and t before the list of pairs, for features of degree one.
const DEGREE_ONE_LEN: usize = 8;

/// Bytes of stack of any call with any model, the loading of it included. The most that was measured in QEMU is 1,684, on a
/// Cortex-M4F by a program with all kinds of models (a test compares); programs with one take 650 to 1,480.
const STACK: usize = 2048;

/// How large a model is, and how long the buffers are that it computes in.
///
/// [`include_model!`](crate::include_model) gives these as constants. Only lengths are looked at:
/// [`Model::from_bytes`](crate::Model::from_bytes) checks everything when the program runs.
///
/// ```
/// use bispectral_core::Sizes;
///
/// const BYTES: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
/// const SIZES: Sizes = Sizes::of(BYTES).unwrap();
/// assert_eq!((SIZES.inputs, SIZES.rows, SIZES.pairs, SIZES.scratch), (4, 3, 6, 14));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Sizes {
    /// N: the samples of a signal.
    pub inputs: usize,
    /// R: the rows of W, one coefficient each.
    pub rows: usize,
    /// The invariants of a signal.
    pub pairs: usize,
    /// Numbers that [`Model::features`](crate::Model::features) gives for a signal.
    pub features: usize,
    /// Elements of scratch for every computation, a classifier's included.
    pub scratch: usize,
    /// Classes that a classifier tells apart; none where the model has no classifier.
    pub classes: usize,
    /// Coefficients that follow a stream in [`Sliding`](crate::Sliding), at most; none where the model is not cyclic.
    pub characters: usize,
    /// Bytes of stack that a call of the core takes at most, without the buffers.
    pub stack: usize,
}

/// A field that is followed by others: where it begins and ends.
#[derive(Clone, Copy)]
struct Run {
    begin: usize,
    end: usize,
}

impl Run {
    const fn len(self) -> usize {
        self.end - self.begin
    }
}

/// A kind, and the bytes that belong to it.
#[derive(Clone, Copy)]
struct Section {
    kind: u8,
    run: Run,
}

/// `?` for an `Option` in a `const fn`.
macro_rules! some {
    ($option:expr) => {
        match $option {
            Some(value) => value,
            None => return None,
        }
    };
}

impl Sizes {
    /// Of the model in these bytes; `None` where they are none of this version, or cut.
    #[must_use]
    pub const fn of(bytes: &[u8]) -> Option<Sizes> {
        if bytes.len() < FIXED_LEN || !begins_as_a_model(bytes) {
            return None;
        }
        let (inputs, at) = some!(varint(bytes, FIXED_LEN));
        let (rows, at) = some!(varint(bytes, at));
        let most = MAX_DIMENSION as usize;
        if inputs == 0 || rows == 0 || inputs > most || rows > most {
            return None;
        }
        let name = some!(run(bytes, at));
        let group = some!(run(bytes, name.end));
        let encoding = some!(section(bytes, group.end));
        let list = some!(section(bytes, encoding.run.end));
        let structure = some!(section(bytes, list.run.end));
        let head = some!(section(bytes, structure.run.end));
        let padding = some!(run(bytes, head.run.end));
        let weights = some!(run(bytes, padding.end));

        let couplings = structure.kind == 4;
        let degree_one = list.kind > 1;
        let pairs = if couplings {
            // Basis, coefficients, S and M stand before T.
            some!(number(bytes, structure.run, 6))
        } else if list.kind & 1 == 0 {
            pair_count(rows)
        } else {
            let before = if degree_one { DEGREE_ONE_LEN } else { 0 };
            list.run.len().saturating_sub(before) / 4
        };
        let magnitudes = if degree_one { rows } else { 0 };
        let parts = if couplings { 1 } else { 2 };
        let (classes, widest) = some!(outputs(bytes, head));
        let (kernel, characters) = match structure.kind {
            3 => some!(cyclic_scratch(bytes, structure.run)),
            kind => {
                let stored = if kind == 4 {
                    rows
                } else {
                    weights.len() / (2 * inputs * number_len(encoding.kind))
                };
                (weight_scratch(kind, encoding.kind == 2, inputs, stored), 0)
            }
        };
        Some(Sizes {
            inputs,
            rows,
            pairs,
            features: parts * pairs + magnitudes,
            scratch: if classes == 0 {
                kernel
            } else {
                kernel + 2 * widest + magnitudes
            },
            classes,
            characters,
            stack: STACK,
        })
    }
}

const fn begins_as_a_model(bytes: &[u8]) -> bool {
    bytes[0] == MAGIC[0]
        && bytes[1] == MAGIC[1]
        && bytes[2] == MAGIC[2]
        && bytes[3] == MAGIC[3]
        && bytes[4] == VERSION
}

/// Elements of scratch of a structure that stores rows: W_i ⊙ x where there is one, the signal as whole numbers, and z.
const fn weight_scratch(structure: u8, integers: bool, inputs: usize, stored: usize) -> usize {
    match (structure, integers) {
        (4, false) => stored,
        (4, true) => inputs.div_ceil(2) + stored,
        (2, false) => 2 * stored,
        (2, true) => inputs.div_ceil(2) + 2 * stored,
        (_, false) => 2 * inputs + 2 * stored,
        (_, true) => (3 * inputs).div_ceil(2) + 2 * stored,
    }
}

/// Bytes of one real number.
const fn number_len(encoding: u8) -> usize {
    match encoding {
        0 | 3 => 4,
        1 => 2,
        _ => 1,
    }
}

/// Elements of scratch of a product of cyclic groups, and its characters up to conjugation.
const fn cyclic_scratch(bytes: &[u8], structure: Run) -> Option<(usize, usize)> {
    if structure.len() < 2 {
        return None;
    }
    let factors = bytes[structure.begin + 1] as usize;
    let (mut order, mut longest, mut factor) = (1, 0, 0);
    // Characters that are their own conjugates: two coordinates of each even factor.
    let mut own = 1;
    while factor < factors {
        let length = some!(number(bytes, structure, 2 + 2 * factor));
        order *= length;
        if order > MAX_DIMENSION as usize {
            return None;
        }
        if length > longest {
            longest = length;
        }
        if length % 2 == 0 {
            own *= 2;
        }
        factor += 1;
    }
    Some((cyclic_scratch_len(order, longest), (order + own) / 2))
}

/// Numbers that leave the last layer of a perceptron, and the widest.
const fn outputs(bytes: &[u8], head: Section) -> Option<(usize, usize)> {
    if head.kind == 0 {
        return Some((0, 0));
    }
    if head.run.len() < 2 {
        return None;
    }
    let layers = bytes[head.run.begin + 1] as usize;
    let (mut last, mut widest, mut layer) = (0, 0, 0);
    while layer < layers {
        last = some!(number(bytes, head.run, 2 + 2 * layer));
        if last > widest {
            widest = last;
        }
        layer += 1;
    }
    Some((last, widest))
}

/// The `u16` so many bytes behind the begin of a run.
const fn number(bytes: &[u8], run: Run, offset: usize) -> Option<usize> {
    if run.len() < offset + 2 {
        return None;
    }
    let at = run.begin + offset;
    Some(u16::from_le_bytes([bytes[at], bytes[at + 1]]) as usize)
}

/// A number of at most 32 bits, seven a byte, and where the next field begins.
const fn varint(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let (mut value, mut shift) = (0, 0);
    while at < bytes.len() && shift < 32 {
        value |= ((bytes[at] & 0x7f) as usize) << shift;
        shift += 7;
        at += 1;
        if bytes[at - 1] < 0x80 {
            return Some((value, at));
        }
    }
    None
}

/// A length, and as many bytes.
const fn run(bytes: &[u8], at: usize) -> Option<Run> {
    let (length, begin) = some!(varint(bytes, at));
    if length > bytes.len() - begin {
        return None;
    }
    Some(Run {
        begin,
        end: begin + length,
    })
}

/// A kind, a length, and as many bytes.
const fn section(bytes: &[u8], at: usize) -> Option<Section> {
    if at >= bytes.len() {
        return None;
    }
    Some(Section {
        kind: bytes[at],
        run: some!(run(bytes, at + 1)),
    })
}
