//! A model where its bytes lie: the fields of the message and the parts of its sections as borrowed bytes, once they are
//! checked. To each content there is one form: whatever a writer would not have written is [`Error::Malformed`].

use super::{
    ALIGNMENT, CONJUGATED, CRC, CRC_LEN, Head, Layers, List, MAGIC, MAX_DIMENSION, MOST_COUNTED,
    Message, PairList, Parts, Transform, VERSION, Weights,
};
use crate::error::{Error, Part, saturate};
use crate::head::Perceptron;
use crate::pairs::{Order, pair_count};
use serde::{Deserialize, Serialize};

/// Of one weight of two bytes without a name: 27 bytes of fields with its scale and 5 of padding before it, the CRC
/// behind it.
const LEAST_LEN: usize = 2 * ALIGNMENT + 2 + CRC_LEN;
/// Bytes of one term of a combination: the row, and the real and imaginary part of its coefficient.
const TERM_LEN: usize = 6;

/// The fields of a message whose lists are bytes of it, all little-endian.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) inputs: u16,
    pub(crate) rows: u16,
    pub(crate) name: &'a str,
    pub(crate) group: Option<&'a str>,
    pub(crate) encoding: Encoding<'a>,
    /// u16 i and u16 j of each pair; all pairs where there is no list.
    pairs: Option<&'a [u8]>,
    pub(crate) structure: StoredStructure<'a>,
    head: Option<StoredLayers<'a>>,
    pub(crate) weights: &'a [u8],
}

/// A section as it is read.
#[derive(Serialize, Deserialize)]
struct Section<'a> {
    kind: u8,
    #[serde(borrow)]
    bytes: &'a [u8],
}

/// How a weight is stored.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Encoding<'a> {
    F32,
    F16,
    I8 {
        /// One f32 a stored row.
        scales: &'a [u8],
    },
}

/// [`format::Structure`](super::Structure) with lists of bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StoredStructure<'a> {
    Dense,
    Conjugates {
        rows: &'a [u8],
    },
    Combined {
        rows: &'a [u8],
        terms: u8,
        scale: f32,
        coefficients: &'a [u8],
    },
    Cyclic {
        transform: Transform,
        factors: &'a [u8],
        characters: &'a [u8],
        elements: &'a [u8],
    },
}

/// The layers of a perceptron where they lie in a model.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct StoredLayers<'a> {
    pub(crate) encoding: LayerEncoding,
    /// u16: how many numbers leave each layer.
    pub(crate) sizes: &'a [u8],
    /// Layer after layer: weights, for i8 one f32 scale an output, one f32 bias an output.
    pub(crate) layers: &'a [u8],
}

/// How the weights of a perceptron are stored.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) enum LayerEncoding {
    F32,
    I8,
}

/// What is known of a model once its parts are checked.
pub(crate) struct Layout<'a> {
    /// The pairs, in the order of the features.
    pub(crate) order: Order<'a>,
    pub(crate) head: Option<Perceptron<'a>>,
    /// Rows of W that are stored.
    pub(crate) stored_rows: usize,
}

impl<'a> View<'a> {
    /// Reads `bytes` and checks everything that does not need a look at the single weights.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<(Self, Layout<'a>), Error> {
        Self::of_message(checked_message(bytes)?)
    }

    /// [`read`](Self::read), of the bytes before the CRC.
    pub(super) fn of_message(message: &'a [u8]) -> Result<(Self, Layout<'a>), Error> {
        let fields: Message<'a, Section<'a>, &'a [u8]> =
            postcard::from_bytes(message).map_err(|_| Error::Malformed)?;
        // Decoding stops behind the weights and takes varints of more bytes than they need, up to ten on a 64-bit
        // processor and five on the others. A model has one form, so there must be as many bytes as it takes to write.
        let shortest = fields.encoded_len()? == message.len();
        let aligned = offset_of_weights(message, &fields).is_some_and(|at| at % ALIGNMENT == 0);
        let padded =
            fields.padding.len() < ALIGNMENT && fields.padding.iter().all(|&byte| byte == 0);
        if !(shortest && aligned && padded) {
            return Err(Error::Malformed);
        }
        check_kinds([
            &fields.encoding,
            &fields.pairs,
            &fields.structure,
            &fields.head,
        ])?;
        check_dimensions(fields.inputs, fields.rows)?;
        let view = View {
            inputs: fields.inputs,
            rows: fields.rows,
            name: fields.name,
            group: (!fields.group.is_empty()).then_some(fields.group),
            pairs: (fields.pairs.kind == 1).then_some(fields.pairs.bytes),
            structure: StoredStructure::read(
                &fields.structure,
                fields.inputs.into(),
                fields.rows.into(),
            )?,
            encoding: Encoding::read(&fields.encoding)?,
            head: StoredLayers::read(&fields.head)?,
            weights: fields.weights,
        };
        let layout = view.check()?;
        Ok((view, layout))
    }

    /// Everything behind the dimensions but the values of weights, in the order of `docs/format.md`.
    fn check(&self) -> Result<Layout<'a>, Error> {
        let (inputs, rows) = (self.inputs.into(), self.rows.into());
        let order = self.order(rows)?;
        let stored = self
            .structure
            .stored(inputs, rows, order.len(), &self.encoding)?;
        self.encoding.check(stored.rows)?;
        let head = Perceptron::new(self.head, order.len())?;
        let needed = stored.numbers * self.encoding.weight_len();
        if self.weights.len() != needed {
            return Err(Error::WeightLength {
                needed: saturate(needed),
                found: saturate(self.weights.len()),
            });
        }
        Ok(Layout {
            order,
            head,
            stored_rows: stored.rows,
        })
    }

    /// The pairs, once they are known to be rows and ascending, some but not all.
    fn order(&self, rows: usize) -> Result<Order<'a>, Error> {
        let Some(bytes) = self.pairs else {
            return Ok(Order::all(rows));
        };
        let (listed, odd) = bytes.as_chunks::<4>();
        let order = Order::listed(listed);
        let within = order.iter().all(|(i, j)| i <= j && j < rows);
        let ascending = order.iter().zip(order.iter().skip(1)).all(|(a, b)| a < b);
        let some = (1..pair_count(rows)).contains(&listed.len());
        well_formed(odd.is_empty() && some && within && ascending).map(|()| order)
    }

    /// The parts, with lists that are these bytes.
    pub(crate) fn parts(&self) -> Parts<'a> {
        Parts {
            inputs: self.inputs,
            rows: self.rows,
            name: self.name,
            group: self.group,
            pairs: self.pairs.map_or(PairList::All, |pairs| {
                PairList::Listed(List::stored(pairs.as_chunks().0))
            }),
            structure: self.structure.part(),
            head: self.head.map_or(Head::None, |layers| {
                Head::Perceptron(Layers::Stored(layers))
            }),
            weights: match self.encoding {
                Encoding::F32 => Weights::F32(List::stored(self.weights.as_chunks().0)),
                Encoding::F16 => Weights::F16(List::stored(self.weights.as_chunks().0)),
                Encoding::I8 { scales } => Weights::I8 {
                    weights: List::stored(self.weights.as_chunks().0),
                    scales: List::stored(scales.as_chunks().0),
                },
            },
        }
    }
}

fn check_dimensions(inputs: u16, rows: u16) -> Result<(), Error> {
    if [inputs, rows]
        .iter()
        .all(|dimension| (1..=MAX_DIMENSION).contains(dimension))
    {
        Ok(())
    } else {
        Err(Error::Dimensions { inputs, rows })
    }
}

/// The bytes before the CRC, once magic, version, length and CRC are right: in this order, so that the
/// error names the first thing that is wrong.
fn checked_message(bytes: &[u8]) -> Result<&[u8], Error> {
    let found = saturate(bytes.len());
    let truncated = Error::Truncated {
        needed: LEAST_LEN as u32,
        found,
    };
    let (magic, rest) = bytes.split_first_chunk::<4>().ok_or(truncated)?;
    if *magic != MAGIC {
        return Err(Error::Magic);
    }
    let (&[version], rest) = rest.split_first_chunk::<1>().ok_or(truncated)?;
    if version != VERSION {
        return Err(Error::Version { found: version });
    }
    let (length, _) = rest.split_first_chunk::<4>().ok_or(truncated)?;
    let needed = u32::from_le_bytes(*length);
    if found < needed {
        return Err(Error::Truncated { needed, found });
    }
    if found > needed {
        return Err(Error::TrailingBytes { needed, found });
    }
    let (message, crc) = bytes.split_last_chunk::<CRC_LEN>().ok_or(truncated)?;
    let (stored, computed) = (u32::from_le_bytes(*crc), CRC.checksum(message));
    if stored != computed {
        return Err(Error::Checksum { stored, computed });
    }
    Ok(message)
}

/// The weights are the last field of the message.
fn offset_of_weights(message: &[u8], fields: &Message<'_, Section<'_>, &[u8]>) -> Option<usize> {
    message.len().checked_sub(fields.weights.len())
}

/// A kind this version does not know is named, before anything is said of what depends on it.
fn check_kinds(sections: [&Section<'_>; 4]) -> Result<(), Error> {
    const KNOWN: [(Part, u8); 4] = [
        (Part::Encoding, 3),
        (Part::Pairs, 2),
        (Part::Structure, 4),
        (Part::Head, 2),
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
    fn read(section: &Section<'a>) -> Result<Self, Error> {
        match section.kind {
            1 if section.bytes.is_empty() => Ok(Encoding::F16),
            1 => Err(Error::Malformed),
            2 => Ok(Encoding::I8 {
                scales: section.bytes,
            }),
            _ => Ok(Encoding::F32),
        }
    }

    /// Bytes of one complex weight.
    fn weight_len(&self) -> usize {
        match self {
            Encoding::F32 => 8,
            Encoding::F16 => 4,
            Encoding::I8 { .. } => 2,
        }
    }

    /// Whether there is one positive, finite scale a stored row.
    fn check(&self, stored: usize) -> Result<(), Error> {
        let Encoding::I8 { scales } = self else {
            return Ok(());
        };
        let (scales, odd) = scales.as_chunks::<4>();
        let positive = |scale: &[u8; 4]| {
            let scale = f32::from_le_bytes(*scale);
            scale.is_finite() && scale > 0.0
        };
        well_formed(odd.is_empty() && scales.len() == stored && scales.iter().all(positive))
    }
}

impl<'a> StoredStructure<'a> {
    /// The parts of the section, where its bytes are long enough to have them; [`stored`](Self::stored) checks them.
    fn read(section: &Section<'a>, inputs: usize, rows: usize) -> Result<Self, Error> {
        Self::split(section, inputs, rows).ok_or(Error::Malformed)
    }

    fn split(section: &Section<'a>, inputs: usize, rows: usize) -> Option<Self> {
        let bytes = section.bytes;
        Some(match section.kind {
            1 => StoredStructure::Conjugates { rows: bytes },
            2 => {
                let (rows, bytes) = bytes.split_at_checked(2 * rows)?;
                let (&[terms], bytes) = bytes.split_first_chunk()?;
                let (&scale, coefficients) = bytes.split_first_chunk()?;
                StoredStructure::Combined {
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
                StoredStructure::Cyclic {
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
            _ => StoredStructure::Dense,
        })
    }

    /// The same with typed lists.
    fn part(&self) -> super::Structure<'a> {
        match *self {
            StoredStructure::Dense => super::Structure::Dense,
            StoredStructure::Conjugates { rows } => super::Structure::Conjugates {
                rows: List::stored(rows.as_chunks().0),
            },
            StoredStructure::Combined {
                rows,
                terms,
                scale,
                coefficients,
            } => super::Structure::Combined {
                rows: List::stored(rows.as_chunks().0),
                terms,
                scale,
                coefficients: List::stored(coefficients.as_chunks().0),
            },
            StoredStructure::Cyclic {
                transform,
                factors,
                characters,
                elements,
            } => super::Structure::Cyclic {
                transform,
                factors: List::stored(factors.as_chunks().0),
                characters: List::stored(characters.as_chunks().0),
                elements: List::stored(elements.as_chunks().0),
            },
        }
    }

    /// How many numbers W is made of: N for each stored row, or the roots of unity; once the structure is known to be
    /// whole.
    fn stored(
        &self,
        inputs: usize,
        rows: usize,
        pairs: usize,
        encoding: &Encoding<'_>,
    ) -> Result<Stored, Error> {
        match *self {
            StoredStructure::Dense => Ok(Stored::rows(rows, inputs)),
            StoredStructure::Conjugates { rows: table } => {
                let stored = stored_rows(table, rows).filter(|&stored| stored < rows);
                Ok(Stored::rows(stored.ok_or(Error::Malformed)?, inputs))
            }
            StoredStructure::Combined {
                rows: table,
                terms,
                scale,
                coefficients,
            } => {
                let stored = stored_rows(table, rows).ok_or(Error::Malformed)?;
                let (coefficients, odd) = coefficients.as_chunks::<TERM_LEN>();
                let known = |term: &[u8; TERM_LEN]| {
                    let row = u16::from_le_bytes([term[0], term[1]]);
                    usize::from(row & !CONJUGATED) < stored
                };
                let needed = pairs.checked_mul(terms.into());
                let whole = odd.is_empty() && needed == Some(coefficients.len());
                let scaled = terms > 0 && scale.is_normal() && scale > 0.0;
                well_formed(whole && scaled && coefficients.iter().all(known))?;
                Ok(Stored::rows(stored, inputs))
            }
            StoredStructure::Cyclic {
                transform,
                factors,
                characters,
                elements,
            } => {
                let (order, exponent) = order_and_exponent(factors).ok_or(Error::Malformed)?;
                let members = |table: &[u8], count: usize| {
                    table.len() == 2 * count && numbers(table).all(|k| usize::from(k) < order)
                };
                let fast = numbers(factors).any(|factor| transform.is_fast(factor));
                let suits = transform == Transform::Sums || fast;
                let known = members(characters, rows) && members(elements, inputs);
                well_formed(suits && known && matches!(encoding, Encoding::F32))?;
                Ok(Stored {
                    rows: 0,
                    numbers: exponent,
                })
            }
        }
    }
}

impl<'a> StoredLayers<'a> {
    fn read(section: &Section<'a>) -> Result<Option<Self>, Error> {
        if section.kind == 0 {
            return Ok(None);
        }
        let split = || {
            let (&[encoding, count], bytes) = section.bytes.split_first_chunk()?;
            let (sizes, layers) = bytes.split_at_checked(2 * usize::from(count))?;
            let encoding = match encoding {
                0 => LayerEncoding::F32,
                1 => LayerEncoding::I8,
                _ => return None,
            };
            Some(StoredLayers {
                encoding,
                sizes,
                layers,
            })
        };
        split().ok_or(Error::Malformed).map(Some)
    }

    /// Hands the bytes of the section to `put`.
    pub(super) fn write<E>(&self, put: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let encoding = match self.encoding {
            LayerEncoding::F32 => 0,
            LayerEncoding::I8 => 1,
        };
        put(&[encoding, (self.sizes.len() / 2) as u8])?;
        put(self.sizes)?;
        put(self.layers)
    }
}

/// What the weights consist of.
#[derive(Clone, Copy)]
struct Stored {
    /// Rows of W that are stored.
    rows: usize,
    /// Complex numbers in all.
    numbers: usize,
}

impl Stored {
    fn rows(rows: usize, inputs: usize) -> Self {
        Stored {
            rows,
            numbers: rows * inputs,
        }
    }
}

/// Little-endian u16, one behind the other.
pub(crate) fn numbers(bytes: &[u8]) -> impl DoubleEndedIterator<Item = u16> + Clone {
    let (numbers, _) = bytes.as_chunks::<2>();
    numbers.iter().map(|number| u16::from_le_bytes(*number))
}

/// How many rows are stored where `table` says which of them each of `rows` rows is.
///
/// `None` where it has another length, or does not number them in the order in which they appear, first as they are.
fn stored_rows(table: &[u8], rows: usize) -> Option<usize> {
    if table.len() != 2 * rows {
        return None;
    }
    numbers(table).try_fold(0, |seen, entry| match usize::from(entry & !CONJUGATED) {
        row if row < seen => Some(seen),
        row if row == seen && entry & CONJUGATED == 0 => Some(seen + 1),
        _ => None,
    })
}

/// n = Π m_f and e = lcm m_f of a product of cyclic groups; `None` where it is none, or larger than [`MAX_DIMENSION`].
pub(crate) fn order_and_exponent(factors: &[u8]) -> Option<(usize, usize)> {
    let bounded =
        factors.len().is_multiple_of(2) && (1..=MOST_COUNTED).contains(&(factors.len() / 2));
    if !bounded {
        return None;
    }
    numbers(factors).try_fold((1, 1), |(order, exponent), factor| {
        let factor = usize::from(factor);
        let order = order * factor;
        let fits = (1..=usize::from(MAX_DIMENSION)).contains(&order);
        let common = greatest_common_divisor(exponent, factor).max(1);
        fits.then_some((order, exponent / common * factor))
    })
}

/// Euclid's.
fn greatest_common_divisor(mut a: usize, mut b: usize) -> usize {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn well_formed(is: bool) -> Result<(), Error> {
    is.then_some(()).ok_or(Error::Malformed)
}
