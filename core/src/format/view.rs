//! A model where its bytes lie: the fields of the message and the parts of its sections as borrowed bytes, once they are
//! checked. To each content there is one form: whatever a writer would not have written is [`Error::Malformed`].
//!
//! Bytes that are postcard's are read here by hand, so that a device needs no decoder for every message there could be.

use super::couplings::Couplings;
use super::crc::checksum;
use super::utf8::is_utf8;
use super::{
    ALIGNMENT, CONJUGATED, CRC_LEN, Head, Layers, List, MAGIC, MAX_DIMENSION, MOST_COUNTED, Output,
    PairList, Parts, Transform, VERSION, Weights,
};
use crate::error::{Error, Part, saturate};
use crate::feature::{EVERY, Feature, LISTED_PAIRS};
use crate::head::Perceptron;
use crate::pairs::{Order, pair_count};

/// Of one weight of two bytes without a name: 27 bytes of fields with its scale and 5 of padding before it, the CRC
/// behind it.
const LEAST_LEN: usize = 2 * ALIGNMENT + 2 + CRC_LEN;
/// Magic, version and length: bytes before the first field that has no fixed place.
const FIXED_LEN: usize = 9;
/// Bytes of one term of a combination: the row, and the real and imaginary part of its coefficient.
const TERM_LEN: usize = 6;

/// The fields of a message whose lists are bytes of it, all little-endian, of a model of one of these kinds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a, const KINDS: u32 = EVERY> {
    pub(crate) inputs: u16,
    pub(crate) rows: u16,
    pub(crate) name: &'a [u8],
    pub(crate) group: &'a [u8],
    encoding: Section<'a>,
    /// u16 i and u16 j of each pair; all pairs where the kind is 0.
    pairs: Section<'a>,
    structure: Section<'a>,
    head: Section<'a>,
    padding: &'a [u8],
    pub(crate) weights: &'a [u8],
    /// Whether all of them decoded, and nothing is left.
    whole: bool,
}

/// A kind, and the bytes that belong to it.
#[derive(Debug, Clone, Copy)]
struct Section<'a> {
    kind: u8,
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
    I32 {
        /// a.
        amplitude: f32,
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
    /// The section; [`Couplings::split`] has its lists.
    Couplings {
        bytes: &'a [u8],
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

/// Bytes that are taken off the front. Where there are too few, or they are not what is asked for, all that follows is
/// empty: so a field is read behind the other without a branch.
struct Rest<'a> {
    bytes: &'a [u8],
    /// Whether all of them decoded.
    whole: bool,
}

impl<'a> Rest<'a> {
    const fn refuse(&mut self) {
        self.whole = false;
        self.bytes = &[];
    }

    const fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((byte, rest)) => {
                self.bytes = rest;
                *byte
            }
            None => {
                self.whole = false;
                0
            }
        }
    }

    /// A number of at most 32 bits, seven a byte, in its shortest form.
    #[inline(never)]
    const fn varint(&mut self) -> u32 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            value |= ((byte & 0x7f) as u32) << shift;
            // The fifth byte has four bits left, and a zero behind others says nothing.
            if shift == 28 && byte > 15 || shift > 0 && byte == 0 {
                self.refuse();
                return 0;
            }
            if byte < 0x80 {
                return value;
            }
            shift += 7;
        }
    }

    #[inline(never)]
    const fn dimension(&mut self) -> u16 {
        let value = self.varint();
        if value > u16::MAX as u32 {
            self.refuse();
        }
        value as u16
    }

    /// A length, and as many bytes.
    #[inline(never)]
    const fn run(&mut self) -> &'a [u8] {
        let length = self.varint() as usize;
        match self.bytes.split_at_checked(length) {
            Some((run, rest)) => {
                self.bytes = rest;
                run
            }
            None => {
                self.refuse();
                &[]
            }
        }
    }

    #[inline(never)]
    const fn section(&mut self) -> Section<'a> {
        Section {
            kind: self.byte(),
            bytes: self.run(),
        }
    }
}

impl<'a> View<'a> {
    /// Reads `bytes` and checks everything that does not need a look at the single weights.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<&'a [u8], Error> {
        let message = checked_message(bytes)?;
        Self::split(message).check(message)?;
        Ok(message)
    }
}

impl<'a, const KINDS: u32> View<'a, KINDS> {
    /// The fields as far as they decode; those of a message that was checked all do.
    #[inline(never)]
    pub(crate) const fn split(message: &'a [u8]) -> Self {
        let mut rest = Rest {
            bytes: message,
            whole: true,
        };
        match message.split_at_checked(FIXED_LEN) {
            Some((_, behind)) => rest.bytes = behind,
            None => rest.refuse(),
        }
        // In the order of the bytes.
        View {
            inputs: rest.dimension(),
            rows: rest.dimension(),
            name: rest.run(),
            group: rest.run(),
            encoding: rest.section(),
            pairs: rest.section(),
            structure: rest.section(),
            head: rest.section(),
            padding: rest.run(),
            weights: rest.run(),
            whole: rest.whole && rest.bytes.is_empty(),
        }
    }

    /// Whether a model of these kinds may need this, and the program has it.
    #[inline(always)]
    pub(crate) const fn may(feature: Feature) -> bool {
        feature.is_in(KINDS)
    }

    /// Everything but the values of weights, in the order of `docs/format.md`.
    pub(super) fn check(&self, message: &[u8]) -> Result<(), Error> {
        let aligned = (message.len() - self.weights.len()).is_multiple_of(ALIGNMENT);
        let padded = self.padding.len() < ALIGNMENT && self.padding.iter().all(|&byte| byte == 0);
        let text = || is_utf8(self.name) && is_utf8(self.group);
        well_formed(self.whole && aligned && padded && text())?;
        self.check_sections()
    }

    /// Everything behind the decoding but the values of weights, in the order of `docs/format.md`.
    fn check_sections(&self) -> Result<(), Error> {
        self.check_kinds()?;
        check_dimensions(self.inputs, self.rows)?;
        let needed = self.numbers_len().ok_or(Error::Malformed)?;
        if self.weights.len() != needed {
            return Err(Error::WeightLength {
                needed: saturate(needed),
                found: saturate(self.weights.len()),
            });
        }
        Ok(())
    }

    /// Bytes of weights that the sections call for; `None` where one of them is not what a writer would have written.
    fn numbers_len(&self) -> Option<usize> {
        let (inputs, rows) = (self.inputs.into(), self.rows.into());
        let structure = self.structure()?;
        let layers = self.layers().ok()?;
        let order = self.order();
        let stored = structure.stored(inputs, rows, order.len(), self.encoding.kind);
        let stored = stored.ok()?;
        let halves = Self::may(Feature::F16) && self.encoding.kind == 1;
        let whole = Self::may(Feature::I32) && self.encoding.kind == 3;
        let head = match layers.filter(|_| Feature::Head.is_on()) {
            Some(layers) => Perceptron::new(layers, self.feature_count(), order.parts())
                .check()
                .is_ok(),
            None => true,
        };
        let well_formed = (!halves || self.encoding.bytes.is_empty())
            && (!whole || self.structure.kind == 3)
            && self.pairs_ascend(rows)
            && self.scales_are_positive(stored.rows)
            && head;
        well_formed.then_some(stored.numbers * self.number_len())
    }

    /// A kind this version does not know is named, before anything is said of what depends on it; then one that the
    /// program was built without, or that none of these kinds is.
    const fn check_kinds(&self) -> Result<(), Error> {
        let sections = [
            (Part::Encoding, &self.encoding, 4),
            (Part::Pairs, &self.pairs, 4),
            (Part::Structure, &self.structure, 5),
            (Part::Head, &self.head, 2),
        ];
        let mut rest = sections.as_slice();
        while let [(part, section, kinds), behind @ ..] = rest {
            let (part, kind) = (*part, section.kind);
            if kind >= *kinds {
                return Err(Error::Unsupported { part, kind });
            }
            if kind == 0 && !section.bytes.is_empty() {
                return Err(Error::Malformed);
            }
            rest = behind;
        }
        match self.needed() {
            [Some(feature), ..] if !Self::may(feature) => Err(Error::NeedsFeature { feature }),
            [_, Some(feature), ..] if !Self::may(feature) => Err(Error::NeedsFeature { feature }),
            [_, _, Some(feature), _] if !Self::may(feature) => Err(Error::NeedsFeature { feature }),
            [_, _, _, Some(feature)] if !Self::may(feature) => Err(Error::NeedsFeature { feature }),
            _ => Ok(()),
        }
    }

    /// The features without which this model is not computed, but for that of its transform.
    pub(crate) fn features(&self) -> impl Iterator<Item = Feature> + use<KINDS> {
        self.needed().into_iter().flatten()
    }

    /// [`features`](Self::features), in a constant.
    const fn needed(&self) -> [Option<Feature>; 4] {
        let encoding = match (self.encoding.kind, self.structure.kind) {
            // Whole numbers are a kernel of their own.
            (3, _) => Some(Feature::I32),
            // The roots of unity are f32 and use nothing else of what the feature has.
            (_, 3) => None,
            (0, _) => Some(Feature::F32),
            (1, _) => Some(Feature::F16),
            _ => Some(Feature::I8),
        };
        let structure = match self.structure.kind {
            3 if self.encoding.kind == 3 => None,
            0 => Some(Feature::Dense),
            1 => Some(Feature::Conjugates),
            2 => Some(Feature::Combined),
            3 => Some(Feature::Cyclic),
            _ => Some(Feature::Couplings),
        };
        let output = if self.pairs.kind > 1 {
            Some(Feature::DegreeOne)
        } else {
            None
        };
        let head = if self.head.kind == 1 {
            Some(Feature::Head)
        } else {
            None
        };
        [encoding, structure, output, head]
    }

    /// That all fields decoded, and the model is of these kinds, which the program has.
    pub(crate) const fn check_static(&self) -> Result<(), Error> {
        if !self.whole {
            return Err(Error::Malformed);
        }
        if let Err(error) = self.check_kinds() {
            return Err(error);
        }
        if let Err(error) = check_dimensions(self.inputs, self.rows) {
            return Err(error);
        }
        if self.pairs.kind & 1 == 1 && KINDS & LISTED_PAIRS == 0 {
            let (part, kind) = (Part::Pairs, self.pairs.kind);
            return Err(Error::Unsupported { part, kind });
        }
        Ok(())
    }

    /// Whether the pairs are rows and ascending, some but not all.
    fn pairs_ascend(&self, rows: usize) -> bool {
        // Forms are not listed, and have one output.
        if Self::may(Feature::Couplings) && self.structure.kind == 4 && self.pairs.kind != 0 {
            return false;
        }
        let Some(list) = self.pairs.bytes.get(self.output_len()..) else {
            return false;
        };
        if self.pairs.kind & 1 == 0 {
            return list.is_empty();
        }
        let (listed, odd) = list.as_chunks::<4>();
        let mut last = None;
        let ascend = Order::listed(listed).iter().all(|(i, j)| {
            let ascends = i <= j && j < rows && last < Some((i, j));
            last = Some((i, j));
            ascends
        });
        ascend && odd.is_empty() && (1..pair_count(rows)).contains(&listed.len())
    }

    /// Whether there is one positive, finite scale a stored row, where weights have scales.
    fn scales_are_positive(&self, stored: usize) -> bool {
        // The amplitude of all roots is a scale, too.
        let stored = match self.encoding.kind {
            2 if Self::may(Feature::I8) => stored,
            3 if Self::may(Feature::I32) => 1,
            _ => return true,
        };
        let (scales, odd) = self.encoding.bytes.as_chunks::<4>();
        let positive = |scale: &[u8; 4]| {
            let scale = f32::from_le_bytes(*scale);
            scale.is_finite() && scale > 0.0
        };
        odd.is_empty() && scales.len() == stored && scales.iter().all(positive)
    }

    /// The pairs, in the order of the features.
    pub(crate) fn order(&self) -> Order<'a> {
        if self.structure.kind == 4 && Self::may(Feature::Couplings) {
            return Order::forms(Couplings::term_count(self.structure.bytes));
        }
        match self.listed() {
            None => Order::all(self.rows.into()),
            Some(listed) => Order::listed(listed),
        }
    }

    /// The pairs that are listed, where there is a list.
    fn listed(&self) -> Option<&'a [[u8; 4]]> {
        let list = self
            .pairs
            .bytes
            .get(self.output_len()..)
            .unwrap_or_default();
        (KINDS & LISTED_PAIRS != 0 && self.pairs.kind & 1 == 1).then_some(list.as_chunks().0)
    }

    /// Bytes before the list of pairs.
    fn output_len(&self) -> usize {
        if self.pairs.kind > 1 && Self::may(Feature::DegreeOne) {
            8
        } else {
            0
        }
    }

    /// What the features are.
    pub(crate) fn output(&self) -> Output {
        let number = |at: usize| {
            let (numbers, _) = self.pairs.bytes.as_chunks();
            numbers
                .get(at)
                .map_or(0.0, |number| f32::from_le_bytes(*number))
        };
        match self.pairs.kind {
            2.. if Self::may(Feature::DegreeOne) => Output::DegreeOne {
                weight: number(0),
                products: number(1),
            },
            // And what was refused, since the program was built without it.
            _ => Output::Bispectrum,
        }
    }

    /// Numbers that the features of a signal are.
    pub(crate) fn feature_count(&self) -> usize {
        let order = self.order();
        order.parts() * order.len() + self.output().magnitudes(self.rows.into())
    }

    pub(crate) fn encoding(&self) -> Encoding<'a> {
        match self.encoding.kind {
            1 if Self::may(Feature::F16) => Encoding::F16,
            3 if Self::may(Feature::I32) => Encoding::I32 {
                amplitude: match self.encoding.bytes.as_chunks() {
                    ([amplitude], []) => f32::from_le_bytes(*amplitude),
                    _ => 0.0,
                },
            },
            2 if Self::may(Feature::I8) => Encoding::I8 {
                scales: self.encoding.bytes,
            },
            // And what was refused, since the program was built without it.
            _ => Encoding::F32,
        }
    }

    /// Whether the roots of unity are whole numbers.
    pub(crate) fn is_whole(&self) -> bool {
        self.encoding.kind == 3
    }

    /// Bytes of one real number.
    fn number_len(&self) -> usize {
        match self.encoding() {
            Encoding::F32 | Encoding::I32 { .. } => 4,
            Encoding::F16 => 2,
            Encoding::I8 { .. } => 1,
        }
    }

    /// Rows of W that are stored; none where the group makes them.
    pub(crate) fn stored_rows(&self) -> usize {
        let row = 2 * usize::from(self.inputs) * self.number_len();
        match self.structure.kind {
            3 => 0,
            4 => self.rows.into(),
            _ => self.weights.len() / row.max(1),
        }
    }

    /// The parts of the section, where its bytes are long enough to have them; [`check`](Self::check) checks them.
    pub(crate) fn structure(&self) -> Option<StoredStructure<'a>> {
        let (bytes, inputs, rows) = (self.structure.bytes, self.inputs, usize::from(self.rows));
        Some(match self.structure.kind {
            1 if Self::may(Feature::Conjugates) => StoredStructure::Conjugates { rows: bytes },
            2 if Self::may(Feature::Combined) => {
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
            3 if Self::may(Feature::Cyclic) || Self::may(Feature::I32) => {
                let (&[transform, count], bytes) = bytes.split_first_chunk()?;
                let (factors, bytes) = bytes.split_at_checked(2 * usize::from(count))?;
                let (characters, elements) = bytes.split_at_checked(2 * rows)?;
                if elements.len() != 2 * usize::from(inputs) {
                    return None;
                }
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
            4 if Self::may(Feature::Couplings) => StoredStructure::Couplings { bytes },
            // And what was refused, since the program was built without it.
            _ => StoredStructure::Dense,
        })
    }

    /// The layers of a classifier, where there is one.
    pub(crate) fn layers(&self) -> Result<Option<StoredLayers<'a>>, Error> {
        if self.head.kind == 0 || !Self::may(Feature::Head) {
            return Ok(None);
        }
        StoredLayers::read(self.head.bytes)
            .ok_or(Error::Malformed)
            .map(Some)
    }

    /// The classifier, of a model that was checked.
    pub(crate) fn perceptron(&self) -> Option<Perceptron<'a>> {
        let layers = self.layers().ok().flatten()?;
        let parts = self.order().parts();
        Some(Perceptron::new(layers, self.feature_count(), parts))
    }

    /// The parts, with lists that are these bytes.
    pub(crate) fn parts(&self) -> Parts<'a> {
        let text = |bytes| core::str::from_utf8(bytes).unwrap_or_default();
        Parts {
            inputs: self.inputs,
            rows: self.rows,
            name: text(self.name),
            group: Some(text(self.group)).filter(|group| !group.is_empty()),
            pairs: self.listed().map_or(PairList::All, |listed| {
                PairList::Listed(List::stored(listed))
            }),
            output: self.output(),
            structure: self
                .structure()
                .map_or(super::Structure::Dense, |structure| {
                    structure.part(self.inputs.into(), self.rows.into())
                }),
            head: match self.layers() {
                Ok(Some(layers)) => Head::Perceptron(Layers::Stored(layers)),
                _ => Head::None,
            },
            weights: match self.encoding() {
                Encoding::F32 => Weights::F32(List::stored(self.weights.as_chunks().0)),
                Encoding::F16 => Weights::F16(List::stored(self.weights.as_chunks().0)),
                Encoding::I8 { scales } => Weights::I8 {
                    weights: List::stored(self.weights.as_chunks().0),
                    scales: List::stored(scales.as_chunks().0),
                },
                Encoding::I32 { amplitude } => Weights::I32 {
                    roots: List::stored(self.weights.as_chunks().0),
                    amplitude,
                },
            },
        }
    }
}

const fn check_dimensions(inputs: u16, rows: u16) -> Result<(), Error> {
    if inputs == 0 || rows == 0 || inputs > MAX_DIMENSION || rows > MAX_DIMENSION {
        return Err(Error::Dimensions { inputs, rows });
    }
    Ok(())
}

/// The bytes before the CRC; none of too few.
pub(crate) const fn before_checksum(bytes: &[u8]) -> &[u8] {
    match bytes.split_last_chunk::<CRC_LEN>() {
        Some((message, _)) => message,
        None => &[],
    }
}

/// The bytes before the CRC, once magic, version, length and CRC are right: in this order, so that the
/// error names the first thing that is wrong.
pub(crate) const fn checked_message(bytes: &[u8]) -> Result<&[u8], Error> {
    let found = saturate(bytes.len());
    let truncated = Err(Error::Truncated {
        needed: LEAST_LEN as u32,
        found,
    });
    let Some((&[b0, b1, b2, b3], rest)) = bytes.split_first_chunk() else {
        return truncated;
    };
    if u32::from_le_bytes([b0, b1, b2, b3]) != u32::from_le_bytes(MAGIC) {
        return Err(Error::Magic);
    }
    let Some((&version, rest)) = rest.split_first() else {
        return truncated;
    };
    if version != VERSION {
        return Err(Error::Version { found: version });
    }
    let Some((length, _)) = rest.split_first_chunk() else {
        return truncated;
    };
    let needed = u32::from_le_bytes(*length);
    if found < needed {
        return Err(Error::Truncated { needed, found });
    }
    if found > needed {
        return Err(Error::TrailingBytes { needed, found });
    }
    let Some((message, crc)) = bytes.split_last_chunk::<CRC_LEN>() else {
        return truncated;
    };
    let (stored, computed) = (u32::from_le_bytes(*crc), checksum(message));
    if stored != computed {
        return Err(Error::Checksum { stored, computed });
    }
    Ok(message)
}

impl<'a> StoredStructure<'a> {
    /// The same with typed lists.
    fn part(&self, inputs: usize, rows: usize) -> super::Structure<'a> {
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
            // It had its lists when it was read.
            StoredStructure::Couplings { bytes } => Couplings::split(bytes, inputs, rows)
                .map_or(super::Structure::Dense, super::Structure::Couplings),
        }
    }

    /// How many numbers W is made of: N for each stored row, or the roots of unity; once the structure is known to be
    /// whole.
    fn stored(
        &self,
        inputs: usize,
        rows: usize,
        pairs: usize,
        encoding: u8,
    ) -> Result<Stored, Error> {
        match *self {
            StoredStructure::Conjugates { rows: table } if Feature::Conjugates.is_on() => {
                let stored = stored_rows(table, rows).filter(|&stored| stored < rows);
                Ok(Stored::rows(stored.ok_or(Error::Malformed)?, inputs))
            }
            StoredStructure::Combined {
                rows: table,
                terms,
                scale,
                coefficients,
            } if Feature::Combined.is_on() => {
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
            } if Feature::Cyclic.is_on() || Feature::I32.is_on() => {
                let (order, exponent) = order_and_exponent(factors).ok_or(Error::Malformed)?;
                let members = |table: &[u8], count: usize| {
                    table.len() == 2 * count && numbers(table).all(|k| usize::from(k) < order)
                };
                let fast = numbers(factors).any(|factor| transform.is_fast(factor));
                let suits = transform == Transform::Sums || fast;
                let known = members(characters, rows) && members(elements, inputs);
                well_formed(suits && known && matches!(encoding, 0 | 3))?;
                Ok(Stored {
                    rows: 0,
                    numbers: 2 * exponent,
                })
            }
            StoredStructure::Couplings { bytes } if Feature::Couplings.is_on() => {
                let couplings = Couplings::split(bytes, inputs, rows).ok_or(Error::Malformed)?;
                let numbers = couplings.check(inputs, rows)?;
                Ok(Stored { rows, numbers })
            }
            // And what was refused before, since the program was built without it.
            _ => Ok(Stored::rows(rows, inputs)),
        }
    }
}

impl<'a> StoredLayers<'a> {
    /// Of a section; the perceptron checks them.
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let (&[encoding, count], bytes) = bytes.split_first_chunk()?;
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
    /// Real numbers in all: two a complex one.
    numbers: usize,
}

impl Stored {
    fn rows(rows: usize, inputs: usize) -> Self {
        Stored {
            rows,
            numbers: 2 * rows * inputs,
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
#[inline(never)]
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

pub(super) fn well_formed(is: bool) -> Result<(), Error> {
    is.then_some(()).ok_or(Error::Malformed)
}
