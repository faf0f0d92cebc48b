//! The message as postcard writes and reads it, and its sections between bytes and [`Parts`](super::Parts).

use super::sections::{Encoding, PairList, Structure, Transform};
use crate::error::{Error, Part};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

/// The message, field by field in the order of the bytes; the CRC follows it.
#[derive(Serialize, Deserialize)]
pub(super) struct Wire<'a, S> {
    pub(super) magic: [u8; 4],
    pub(super) version: u8,
    #[serde(with = "postcard::fixint::le")]
    pub(super) length: u32,
    pub(super) inputs: u16,
    pub(super) rows: u16,
    #[serde(borrow)]
    pub(super) name: &'a str,
    pub(super) group: &'a str,
    pub(super) encoding: S,
    pub(super) pairs: S,
    pub(super) structure: S,
    pub(super) head: S,
    pub(super) padding: &'a [u8],
    pub(super) weights: &'a [u8],
}

impl<S: Serialize> Wire<'_, S> {
    /// Bytes of the message.
    pub(super) fn encoded_len(&self) -> Result<usize, Error> {
        let counter = postcard::ser_flavors::Size::default();
        postcard::serialize_with_flavor(self, counter).map_err(|_| Error::Malformed)
    }
}

/// A section as it is read.
#[derive(Serialize, Deserialize)]
pub(super) struct Section<'a> {
    pub(super) kind: u8,
    #[serde(borrow)]
    pub(super) bytes: &'a [u8],
}

/// A section to be written: its bytes in the pieces in which a caller has them.
#[derive(Default)]
pub(super) struct Pieces<'a> {
    kind: u8,
    first: &'a [u8],
    /// Numbers that are nowhere as bytes, and how many bytes of them there are.
    fixed: ([u8; 5], usize),
    rest: [&'a [u8]; 3],
}

impl Serialize for Pieces<'_> {
    /// As [`Section`]: postcard writes a sequence of bytes as it writes bytes.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Joined<'p, 'a>(&'p Pieces<'a>);
        impl Serialize for Joined<'_, '_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let Pieces { fixed, rest, .. } = self.0;
                let fixed = fixed.0.iter().take(fixed.1);
                let rest = rest[0].iter().chain(rest[1]).chain(rest[2]);
                serializer.collect_seq(self.0.first.iter().chain(fixed).chain(rest))
            }
        }
        let mut section = serializer.serialize_struct("Section", 2)?;
        section.serialize_field("kind", &self.kind)?;
        section.serialize_field("bytes", &Joined(self))?;
        section.end()
    }
}

/// A kind this version does not know is named, before anything is said of what depends on it.
pub(super) fn check_kinds(sections: [&Section<'_>; 4]) -> Result<(), Error> {
    const KNOWN: [(Part, u8); 4] = [
        (Part::Encoding, 3),
        (Part::Pairs, 2),
        (Part::Structure, 4),
        (Part::Head, 1),
    ];
    for ((part, kinds), section) in KNOWN.into_iter().zip(sections) {
        match section.kind {
            kind if kind >= kinds => return Err(Error::Unsupported { part, kind }),
            0 if !section.bytes.is_empty() => return Err(Error::Malformed),
            _ => {}
        }
    }
    Ok(())
}

impl<'a> Encoding<'a> {
    pub(super) fn read(section: &Section<'a>) -> Result<Self, Error> {
        match section.kind {
            1 if section.bytes.is_empty() => Ok(Encoding::F16),
            1 => Err(Error::Malformed),
            2 => Ok(Encoding::I8 {
                scales: section.bytes,
            }),
            _ => Ok(Encoding::F32),
        }
    }

    pub(super) fn pieces(&self) -> Pieces<'a> {
        let (kind, first) = match *self {
            Encoding::F32 => (0, &[][..]),
            Encoding::F16 => (1, &[][..]),
            Encoding::I8 { scales } => (2, scales),
        };
        Pieces {
            kind,
            first,
            ..Pieces::default()
        }
    }
}

impl<'a> PairList<'a> {
    pub(super) fn read(section: &Section<'a>) -> Self {
        match section.kind {
            1 => PairList::Listed(section.bytes),
            _ => PairList::All,
        }
    }

    pub(super) fn pieces(&self) -> Pieces<'a> {
        match *self {
            PairList::All => Pieces::default(),
            PairList::Listed(first) => Pieces {
                kind: 1,
                first,
                ..Pieces::default()
            },
        }
    }
}

impl<'a> Structure<'a> {
    /// The parts of the section, where its bytes are long enough to have them; [`stored`](Self::stored) checks them.
    pub(super) fn read(section: &Section<'a>, inputs: usize, rows: usize) -> Result<Self, Error> {
        Self::split(section, inputs, rows).ok_or(Error::Malformed)
    }

    fn split(section: &Section<'a>, inputs: usize, rows: usize) -> Option<Self> {
        let bytes = section.bytes;
        Some(match section.kind {
            1 => Structure::Conjugates { rows: bytes },
            2 => {
                let (rows, bytes) = bytes.split_at_checked(2 * rows)?;
                let (&[terms], bytes) = bytes.split_first_chunk()?;
                let (&scale, coefficients) = bytes.split_first_chunk()?;
                Structure::Combined {
                    rows,
                    terms,
                    scale: f32::from_le_bytes(scale),
                    coefficients,
                }
            }
            3 => {
                let (&[transform, count], bytes) = bytes.split_first_chunk()?;
                let (factors, bytes) = bytes.split_at_checked(2 * usize::from(count))?;
                let (characters, elements) = bytes.split_at_checked(2 * rows)?;
                let (elements, []) = elements.split_at_checked(2 * inputs)? else {
                    return None;
                };
                Structure::Cyclic {
                    transform: match transform {
                        0 => Transform::Sums,
                        1 => Transform::Fft,
                        _ => return None,
                    },
                    factors,
                    characters,
                    elements,
                }
            }
            _ => Structure::Dense,
        })
    }

    pub(super) fn pieces(&self) -> Pieces<'a> {
        let none = &[][..];
        match *self {
            Structure::Dense => Pieces::default(),
            Structure::Conjugates { rows } => Pieces {
                kind: 1,
                first: rows,
                ..Pieces::default()
            },
            Structure::Combined {
                rows,
                terms,
                scale,
                coefficients,
            } => {
                let [a, b, c, d] = scale.to_le_bytes();
                Pieces {
                    kind: 2,
                    first: rows,
                    fixed: ([terms, a, b, c, d], 5),
                    rest: [coefficients, none, none],
                }
            }
            Structure::Cyclic {
                transform,
                factors,
                characters,
                elements,
            } => Pieces {
                kind: 3,
                first: match transform {
                    Transform::Sums => &[0],
                    Transform::Fft => &[1],
                },
                // More than 255 factors do not fit: `stored` has refused them.
                fixed: ([(factors.len() / 2) as u8, 0, 0, 0, 0], 1),
                rest: [factors, characters, elements],
            },
        }
    }
}
