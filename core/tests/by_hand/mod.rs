//! A reader and a writer made by hand from `docs/format.md`: no postcard, no `crc`, nothing of the crate but
//! the names of its errors. What the crate accepts, refuses and names must be what this reader does.

mod couplings;
mod sections;

use bispectral_core::{Complex32, Error, Model};
pub(crate) use couplings::Couplings;
use sections::Section;

const LEAST_LEN: u32 = 38;

/// The weights of `models/z4.bsn`: the characters 0, 1 and 2 of Z4, halved, the real parts of a row first.
pub(crate) const Z4_WEIGHTS: [f32; 24] = [
    0.5, 0.5, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0, //
    0.5, 0.0, -0.5, 0.0, 0.0, -0.5, 0.0, 0.5, //
    0.5, -0.5, 0.5, -0.5, 0.0, 0.0, 0.0, 0.0,
];

/// The fields of the format; what they say need not make sense.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fields {
    pub(crate) inputs: u16,
    pub(crate) rows: u16,
    pub(crate) name: Vec<u8>,
    pub(crate) group: Vec<u8>,
    pub(crate) sections: [Section; 4],
    /// As many zeros as the weights need where there are none given.
    pub(crate) padding: Option<Vec<u8>>,
    pub(crate) weights: Vec<u8>,
    /// The varint, counted from the first, that is written with one byte more than it needs.
    pub(crate) overlong: Option<usize>,
}

impl Fields {
    /// Those of `models/z4.bsn`: the characters 0, 1 and 2 of Z4, halved.
    pub(crate) fn z4() -> Fields {
        Fields {
            inputs: 4,
            rows: 3,
            name: b"quarter turns".to_vec(),
            group: b"Z4".to_vec(),
            sections: Default::default(),
            padding: None,
            weights: Z4_WEIGHTS.iter().flat_map(|w| w.to_le_bytes()).collect(),
            overlong: None,
        }
    }

    /// A file of these fields, its length and CRC right.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Writer {
            bytes: b"BSN\0\x01\0\0\0\0".to_vec(),
            varints: 0,
            overlong: self.overlong,
        };
        out.varint(self.inputs.into());
        out.varint(self.rows.into());
        out.run(&self.name);
        out.run(&self.group);
        for (kind, bytes) in &self.sections {
            out.bytes.push(*kind);
            out.run(bytes);
        }
        let padding = self.padding.clone().unwrap_or_else(|| {
            let mut rest = Writer {
                bytes: out.bytes.clone(),
                ..out
            };
            rest.varint(0);
            rest.varint(self.weights.len() as u32);
            vec![0; rest.bytes.len().wrapping_neg() % 16]
        });
        out.run(&padding);
        out.run(&self.weights);
        with_checksum(out.bytes)
    }
}

/// A message with its length field set and its CRC behind it.
pub(crate) fn with_checksum(mut message: Vec<u8>) -> Vec<u8> {
    let length = message.len() as u32 + 4;
    if let Some(field) = message.get_mut(5..9) {
        field.copy_from_slice(&length.to_le_bytes());
    }
    let crc = crc32(&message);
    message.extend(crc.to_le_bytes());
    message
}

/// CRC-32/ISO-HDLC, a bit at a time.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc: u32, _| {
            let feedback = if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
            (crc >> 1) ^ feedback
        })
    })
}

struct Writer {
    bytes: Vec<u8>,
    varints: usize,
    overlong: Option<usize>,
}

impl Writer {
    fn varint(&mut self, mut value: u32) {
        while value > 0x7f {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        if self.overlong == Some(self.varints) {
            self.bytes.extend([value as u8 | 0x80, 0]);
        } else {
            self.bytes.push(value as u8);
        }
        self.varints += 1;
    }

    fn run(&mut self, bytes: &[u8]) {
        self.varint(bytes.len() as u32);
        self.bytes.extend(bytes);
    }
}

/// A model as this reader sees it.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) inputs: u16,
    pub(crate) rows: u16,
    pub(crate) name: String,
    pub(crate) group: String,
    /// W, row after row.
    pub(crate) weights: Vec<Complex32>,
    /// All where none are listed.
    pub(crate) pairs: Option<Vec<(usize, usize)>>,
    /// Where the structure is couplings; then there are no pairs.
    pub(crate) couplings: Option<Couplings>,
}

/// What the crate and this reader say of a file, which must be the same.
pub(crate) fn both(bytes: &[u8]) -> Result<(Model<'_>, Decoded), Error> {
    match (Model::from_bytes(bytes), decode(bytes)) {
        (Ok(model), Ok(decoded)) => {
            assert_eq!(model.inputs(), decoded.inputs.into());
            assert_eq!(model.rows(), decoded.rows.into());
            assert_eq!(model.name(), decoded.name);
            assert_eq!(model.group().unwrap_or_default(), decoded.group);
            let rows = model.rows();
            let all = || (0..rows).flat_map(|i| (i..rows).map(move |j| (i, j)));
            let pairs = decoded.pairs.clone().unwrap_or_else(|| all().collect());
            let terms = decoded.couplings.as_ref().map(|c| c.terms.len());
            assert_eq!(model.pairs(), terms.unwrap_or(pairs.len()));
            assert_eq!(model.feature_count(), terms.unwrap_or(2 * pairs.len()));
            let pairs = match terms {
                Some(terms) => (0..terms).map(|term| (term, term)).collect(),
                None => pairs,
            };
            assert!(model.pair_list().eq(pairs.iter().copied()));
            let at = |at| model.pair(at);
            assert!(
                (0..=pairs.len())
                    .map(at)
                    .eq(pairs.iter().copied().map(Some).chain([None]))
            );
            if let Some(couplings) = &decoded.couplings {
                couplings.assert_are_those_of(&model);
            }
            for (at, weight) in decoded.weights.iter().enumerate() {
                let (row, column) = (at / model.inputs(), at % model.inputs());
                let found = model.weight(row, column).expect("a weight");
                let bits = |w: Complex32| (w.re.to_bits(), w.im.to_bits());
                assert_eq!(bits(found), bits(*weight));
            }
            Ok((model, decoded))
        }
        (Err(error), Err(expected)) => {
            assert_eq!(error, expected, "the page says the latter");
            Err(error)
        }
        (model, decoded) => panic!("{model:?}, but by the page {decoded:?}"),
    }
}

/// Reads a file, checking in the order of the page.
fn decode(bytes: &[u8]) -> Result<Decoded, Error> {
    let fields = parse(checked_message(bytes)?).ok_or(Error::Malformed)?;
    sections::known(&fields.sections)?;
    let (inputs, rows) = (fields.inputs, fields.rows);
    if inputs == 0 || rows == 0 || inputs > 8192 || rows > 8192 {
        return Err(Error::Dimensions { inputs, rows });
    }
    let layout = sections::layout(&fields.sections, inputs.into(), rows.into())?;
    let (needed, found) = (layout.weight_len(), fields.weights.len() as u32);
    if needed != found {
        return Err(Error::WeightLength { needed, found });
    }
    Ok(Decoded {
        inputs,
        rows,
        name: String::from_utf8(fields.name).map_err(|_| Error::Malformed)?,
        group: String::from_utf8(fields.group).map_err(|_| Error::Malformed)?,
        weights: layout.weights(&fields.weights)?,
        pairs: layout.pairs,
        couplings: layout.couplings,
    })
}

fn checked_message(bytes: &[u8]) -> Result<&[u8], Error> {
    let found = bytes.len() as u32;
    let truncated = |needed| Error::Truncated { needed, found };
    if found < 4 {
        return Err(truncated(LEAST_LEN));
    }
    if bytes[..4] != [0x42, 0x53, 0x4e, 0x00] {
        return Err(Error::Magic);
    }
    match bytes.get(4) {
        None => return Err(truncated(LEAST_LEN)),
        Some(1) => {}
        Some(&found) => return Err(Error::Version { found }),
    }
    let Some(length) = bytes.get(5..9) else {
        return Err(truncated(LEAST_LEN));
    };
    let needed = u32::from_le_bytes([length[0], length[1], length[2], length[3]]);
    if found < needed {
        return Err(truncated(needed));
    }
    if found > needed {
        return Err(Error::TrailingBytes { needed, found });
    }
    let (message, crc) = bytes.split_at(bytes.len() - 4);
    let stored = u32::from_le_bytes([crc[0], crc[1], crc[2], crc[3]]);
    let computed = crc32(message);
    if stored != computed {
        return Err(Error::Checksum { stored, computed });
    }
    Ok(message)
}

/// The fields of a message, or nothing where one breaks a rule that is `Malformed`.
fn parse(message: &[u8]) -> Option<Fields> {
    let mut rest = message.get(9..)?;
    let inputs = u16::try_from(varint(&mut rest)?).ok()?;
    let rows = u16::try_from(varint(&mut rest)?).ok()?;
    let name = run(&mut rest)?;
    let group = run(&mut rest)?;
    let mut sections: [Section; 4] = Default::default();
    for section in &mut sections {
        let (kind, behind) = rest.split_first()?;
        rest = behind;
        *section = (*kind, run(&mut rest)?);
    }
    let padding = run(&mut rest)?;
    let weights = run(&mut rest)?;
    let right = rest.is_empty()
        && core::str::from_utf8(&name).is_ok()
        && core::str::from_utf8(&group).is_ok()
        && padding.len() < 16
        && padding.iter().all(|byte| *byte == 0)
        && (message.len() - weights.len()).is_multiple_of(16);
    right.then_some(Fields {
        inputs,
        rows,
        name,
        group,
        sections,
        padding: Some(padding),
        weights,
        overlong: None,
    })
}

/// The shortest form only, and at most 32 bits.
fn varint(rest: &mut &[u8]) -> Option<u32> {
    let mut value = 0_u64;
    for at in 0..5 {
        let byte = *rest.get(at)?;
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            let shortest = byte != 0 || at == 0;
            *rest = &rest[at + 1..];
            return u32::try_from(value).ok().filter(|_| shortest);
        }
    }
    None
}

fn run(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let length = varint(rest)? as usize;
    let (taken, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some(taken.to_vec())
}
