//! The section of couplings: a basis of blocks, tensors and terms. `docs/format.md` has its bytes.

use super::list::{List, Value};
use super::view::{numbers, well_formed};
use crate::error::Error;
use crate::half::{is_finite, widen};

/// The highest order of a tensor.
pub const MAX_ORDER: usize = 4;
/// The most rows of a block that a tensor couples: its indices have one byte.
pub const MAX_BLOCK: u16 = 256;
/// The most magnitudes of a dictionary: a code has seven bits for them and one for the sign.
pub const MAX_DICTIONARY: usize = 128;
/// Numbers below this fit one byte.
const BYTE: usize = 256;
/// Coefficients are smaller than this, so that no form leaves f32.
const COEFFICIENT_END: f32 = 65536.0;
/// Bytes of one tensor's head: order, four dimensions, entries.
const TENSOR_LEN: usize = 7;
/// Where a section has the number of its terms: behind two kinds, `selective` and the number of its tensors.
const TERM_COUNT_AT: usize = 6;

/// Which numbers of U are stored.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Basis<'a> {
    /// All, row after row.
    #[default]
    Dense,
    /// Some of each row; the others are zero.
    Sparse {
        /// How many of each row.
        counts: List<'a, u16>,
        /// The columns of each row, ascending; one byte where N ≤ 256.
        columns: Numbers<'a>,
    },
}

/// Numbers of one byte where that is enough for all that may stand there, otherwise of two.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Numbers<'a> {
    /// Of one byte.
    Bytes(List<'a, u8>),
    /// Of two.
    Words(List<'a, u16>),
}

impl<'a> Numbers<'a> {
    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Numbers::Bytes(list) => list.len(),
            Numbers::Words(list) => list.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number at this index; `None` past the last.
    #[must_use]
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<usize> {
        match self {
            Numbers::Bytes(list) => list.get(index).map(usize::from),
            Numbers::Words(list) => list.get(index).map(usize::from),
        }
    }

    /// The numbers in their order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + Clone + use<'a> {
        let (bytes, words) = match *self {
            Numbers::Bytes(bytes) => (bytes, List::default()),
            Numbers::Words(words) => (List::default(), words),
        };
        (bytes.iter().map(usize::from)).chain(words.iter().map(usize::from))
    }

    /// The number at this index of a list that was read; zero past the last.
    #[inline(always)]
    pub(crate) fn read(&self, index: usize) -> usize {
        match self {
            Numbers::Bytes(list) => {
                let byte = list.stored_bytes().get(index);
                byte.map_or(0, |&[byte]| byte.into())
            }
            Numbers::Words(list) => {
                let word = list.stored_bytes().get(index);
                word.map_or(0, |&word| u16::from_le_bytes(word).into())
            }
        }
    }

    /// Whether they have as many bytes as numbers below `end` need.
    fn suit(&self, end: usize) -> bool {
        matches!(self, Numbers::Bytes(_)) == (end <= BYTE)
    }

    /// The first `count` numbers of `bytes`, and what is behind them.
    fn take(bytes: &'a [u8], count: usize, end: usize) -> Option<(Self, &'a [u8])> {
        let width = if end <= BYTE { 1 } else { 2 };
        let (taken, rest) = bytes.split_at_checked(count.checked_mul(width)?)?;
        let taken = if end <= BYTE {
            Numbers::Bytes(List::stored(taken.as_chunks().0))
        } else {
            Numbers::Words(List::stored(taken.as_chunks().0))
        };
        Some((taken, rest))
    }

    fn write<E>(&self, put: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        match self {
            Numbers::Bytes(list) => list.write(put),
            Numbers::Words(list) => list.write(put),
        }
    }
}

/// The numbers of all tensors, one an entry.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Coefficients<'a> {
    /// Kind 0: one byte an entry. Bits 0 to 6 number a magnitude, bit 7 is set where the coefficient is negative.
    Dictionary {
        /// At most [`MAX_DICTIONARY`], positive, normal, ascending.
        magnitudes: List<'a, f32>,
        /// One an entry.
        codes: List<'a, u8>,
    },
    /// Kind 1: the bits of IEEE 754 binary16.
    F16(List<'a, u16>),
    /// Kind 2: f32.
    F32(List<'a, f32>),
}

impl<'a> Coefficients<'a> {
    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Coefficients::Dictionary { codes, .. } => codes.len(),
            Coefficients::F16(list) => list.len(),
            Coefficients::F32(list) => list.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The coefficient at this index; `None` past the last.
    #[must_use]
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<f32> {
        match self {
            Coefficients::Dictionary { magnitudes, codes } => {
                let code = codes.get(index)?;
                let magnitude = magnitudes.get(usize::from(code & 0x7f))?;
                // The sign is a bit of both.
                Some(f32::from_bits(
                    magnitude.to_bits() | u32::from(code & 0x80) << 24,
                ))
            }
            Coefficients::F16(list) => list.get(index).map(widen),
            Coefficients::F32(list) => list.get(index),
        }
    }

    /// The first `count` coefficients of `bytes`, and what is behind them; the magnitudes were taken.
    fn take(
        kind: u8,
        magnitudes: &'a [[u8; 4]],
        bytes: &'a [u8],
        count: usize,
    ) -> Option<(Self, &'a [u8])> {
        let width = match kind {
            0 => 1,
            1 => 2,
            2 => 4,
            _ => return None,
        };
        let (taken, rest) = bytes.split_at_checked(count.checked_mul(width)?)?;
        let coefficients = match kind {
            0 => Coefficients::Dictionary {
                magnitudes: List::stored(magnitudes),
                codes: List::stored(taken.as_chunks().0),
            },
            1 => Coefficients::F16(List::stored(taken.as_chunks().0)),
            _ => Coefficients::F32(List::stored(taken.as_chunks().0)),
        };
        Some((coefficients, rest))
    }

    /// Whether each is finite, not zero and smaller than [`COEFFICIENT_END`], and the dictionary in its one form.
    fn are_whole(&self) -> bool {
        let small = |c: f32| c != 0.0 && c.abs() < COEFFICIENT_END;
        match self {
            Coefficients::Dictionary { magnitudes, codes } => {
                let ascending = (magnitudes.iter())
                    .zip(magnitudes.iter().skip(1))
                    .all(|(a, b)| a < b);
                let positive = (magnitudes.iter()).all(|m| m.is_normal() && m > 0.0 && small(m));
                let known = (codes.iter()).all(|code| usize::from(code & 0x7f) < magnitudes.len());
                ascending && positive && known
            }
            Coefficients::F16(list) => list.iter().all(|h| is_finite(h) && small(widen(h))),
            Coefficients::F32(list) => list.iter().all(small),
        }
    }
}

/// The head of a tensor: its shape, and how many entries of it are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Tensor {
    /// How many blocks it couples, 1 to [`MAX_ORDER`].
    pub order: u8,
    /// The rows of each block, 1 to [`MAX_BLOCK`]; 1 behind the last.
    pub dims: [u16; MAX_ORDER],
    /// How many entries are listed, at least one.
    pub entries: u16,
}

impl Tensor {
    /// Whether order, dimensions and entries are within their limits.
    fn is_whole(&self) -> bool {
        let order = usize::from(self.order);
        (1..=MAX_ORDER).contains(&order)
            && self.entries > 0
            && (self.dims.iter()).all(|dim| (1..=MAX_BLOCK).contains(dim))
            && self.dims.iter().skip(order).all(|&dim| dim == 1)
    }
}

impl Value for Tensor {
    type Bytes = [u8; TENSOR_LEN];

    #[inline(always)]
    fn from_le_bytes([order, a, b, c, d, low, high]: [u8; TENSOR_LEN]) -> Self {
        Tensor {
            order,
            dims: [a, b, c, d].map(|dim| u16::from(dim) + 1),
            entries: u16::from_le_bytes([low, high]),
        }
    }

    fn to_le_bytes(self) -> [u8; TENSOR_LEN] {
        // Lengths were checked: every dimension is 1 to 256.
        let [a, b, c, d] = self.dims.map(|dim| dim.wrapping_sub(1) as u8);
        let [low, high] = self.entries.to_le_bytes();
        [self.order, a, b, c, d, low, high]
    }
}

/// A basis of blocks and invariant forms in it: z = U x and t = Σ c z_a z_b z_c / ‖z‖³, for one to four factors.
///
/// The weights are U, real, row after row. Terms of one tensor stand beside each other: the tensors of the first
/// `selective` terms do not descend, nor do those of the others.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Couplings<'a> {
    /// Which numbers of U are stored.
    pub basis: Basis<'a>,
    /// So many terms, from the first, tell all orbits apart; zero where that is not known.
    pub selective: u16,
    /// The tensors.
    pub tensors: List<'a, Tensor>,
    /// The indices of every entry, tensor after tensor, as many an entry as the tensor has blocks; ascending.
    pub indices: List<'a, u8>,
    /// c, one an entry.
    pub coefficients: Coefficients<'a>,
    /// The tensor of each term; one byte where there are at most 256.
    pub terms: Numbers<'a>,
    /// The first row of each block of each term; one byte where K ≤ 256.
    pub offsets: Numbers<'a>,
}

impl<'a> Couplings<'a> {
    /// The lists of a section, where its bytes are long enough to have them; [`check`](Self::check) looks at what is in
    /// them.
    pub(crate) fn split(bytes: &'a [u8], inputs: usize, rows: usize) -> Option<Self> {
        let (&[basis, kind], bytes) = bytes.split_first_chunk()?;
        let (&[s, s_high, m, m_high, t, t_high], bytes) = bytes.split_first_chunk()?;
        let tensor_count = usize::from(u16::from_le_bytes([m, m_high]));
        let term_count = usize::from(u16::from_le_bytes([t, t_high]));
        let (magnitudes, bytes) = match kind {
            0 => {
                let (&[count], bytes) = bytes.split_first_chunk()?;
                bytes.split_at_checked(4 * usize::from(count))?
            }
            _ => (&[][..], bytes),
        };
        let (heads, bytes) = bytes.split_at_checked(TENSOR_LEN * tensor_count)?;
        let tensors: List<'a, Tensor> = List::stored(heads.as_chunks().0);
        // At most 2^16 tensors of 2^16 entries of 255 indices: within 64 bits, and on 32 bits checked.
        let (mut entry_count, mut index_count) = (0_usize, 0_usize);
        for tensor in tensors.iter() {
            let entries = usize::from(tensor.entries);
            entry_count = entry_count.checked_add(entries)?;
            index_count = index_count.checked_add(entries * usize::from(tensor.order))?;
        }
        let (indices, bytes) = bytes.split_at_checked(index_count)?;
        let magnitudes = magnitudes.as_chunks().0;
        let (coefficients, bytes) = Coefficients::take(kind, magnitudes, bytes, entry_count)?;
        let (terms, bytes) = Numbers::take(bytes, term_count, tensor_count)?;
        let (basis, bytes) = match basis {
            0 => (Basis::Dense, bytes),
            1 => {
                let (counts, bytes) = bytes.split_at_checked(2 * rows)?;
                let stored = numbers(counts).map(usize::from).sum();
                let (columns, bytes) = Numbers::take(bytes, stored, inputs)?;
                let counts = List::stored(counts.as_chunks().0);
                (Basis::Sparse { counts, columns }, bytes)
            }
            _ => return None,
        };
        let width = if rows <= BYTE { 1 } else { 2 };
        let (offsets, []) = Numbers::take(bytes, bytes.len() / width, rows)? else {
            return None;
        };
        Some(Couplings {
            basis,
            selective: u16::from_le_bytes([s, s_high]),
            tensors,
            indices: List::stored(indices.as_chunks().0),
            coefficients,
            terms,
            offsets,
        })
    }

    /// How many terms a section has, without a look at its lists; none where it is too short.
    pub(crate) fn term_count(bytes: &[u8]) -> usize {
        let count = bytes.get(TERM_COUNT_AT..).and_then(<[u8]>::first_chunk);
        count.map_or(0, |count| u16::from_le_bytes(*count).into())
    }

    /// That every list holds what a reader may follow; how many numbers of U are stored.
    pub(super) fn check(&self, inputs: usize, rows: usize) -> Result<usize, Error> {
        let selective = usize::from(self.selective);
        let counted = !self.terms.is_empty() && selective <= self.terms.len();
        let magnitudes = match self.coefficients {
            Coefficients::Dictionary { magnitudes, .. } => {
                (1..=MAX_DICTIONARY).contains(&magnitudes.len())
            }
            _ => true,
        };
        well_formed(counted && magnitudes && self.tensors.iter().all(|tensor| tensor.is_whole()))?;
        well_formed(self.indices_ascend() && self.coefficients.are_whole())?;
        // Each half of the terms goes through the tensors once, so that the time a signal takes is bounded by the bytes.
        let ascend = |from: usize, to: usize| {
            let (terms, next) = (self.terms.iter(), self.terms.iter().skip(1));
            (terms.zip(next).skip(from))
                .take(to.saturating_sub(from + 1))
                .all(|(a, b)| a <= b)
        };
        well_formed(ascend(0, selective) && ascend(selective, self.terms.len()))?;
        well_formed(self.blocks_are_rows(rows))?;
        self.stored(inputs, rows)
    }

    /// Whether the entries of each tensor are inside it and each behind the one before.
    fn indices_ascend(&self) -> bool {
        let mut indices = self.indices.iter();
        self.tensors.iter().all(
            |Tensor {
                 order,
                 dims,
                 entries,
             }| {
                let mut last = None;
                (0..entries).all(|_| {
                    let mut entry = [0; MAX_ORDER];
                    let mut within = true;
                    for (entry, dim) in entry.iter_mut().zip(dims).take(order.into()) {
                        *entry = indices.next().unwrap_or_default();
                        within &= u16::from(*entry) < dim;
                    }
                    let ascends = last.is_none_or(|last| last < entry);
                    last = Some(entry);
                    within && ascends
                })
            },
        )
    }

    /// Whether every block of every term is rows of U, and there are no other offsets.
    fn blocks_are_rows(&self, rows: usize) -> bool {
        let mut offsets = self.offsets.iter();
        let inside = self.terms.iter().all(|term| {
            let head = self.tensors.get(term).unwrap_or_default();
            let mut dims = head.dims.iter().take(head.order.into());
            let whole = dims.all(|dim| {
                let offset = offsets.next();
                offset.is_some_and(|at| at + usize::from(*dim) <= rows)
            });
            head.order > 0 && whole
        });
        inside && offsets.next().is_none()
    }

    /// How many numbers of U are stored, once the columns of each row are known to be inputs and ascending.
    fn stored(&self, inputs: usize, rows: usize) -> Result<usize, Error> {
        let Basis::Sparse { counts, columns } = self.basis else {
            return Ok(rows * inputs);
        };
        let mut at = columns.iter();
        let whole = counts.iter().all(|count| {
            let mut next = 0;
            (0..count).all(|_| {
                let column = at.next().unwrap_or(inputs);
                let ascends = (next..inputs).contains(&column);
                next = column + 1;
                ascends
            })
        });
        let some = (1..rows * inputs).contains(&columns.len());
        well_formed(whole && some).map(|()| columns.len())
    }

    /// Whether the lists have the lengths and widths by which a reader tells them apart.
    pub(super) fn fit(&self, inputs: usize, rows: usize) -> bool {
        let mut totals = Some((0_usize, 0_usize));
        for tensor in self.tensors.iter() {
            let entries = usize::from(tensor.entries);
            totals = totals
                .and_then(|(e, i)| {
                    let indices = entries.checked_mul(tensor.order.into())?;
                    Some((e.checked_add(entries)?, i.checked_add(indices)?))
                })
                .filter(|_| tensor.is_whole());
        }
        let offsets = (self.terms.iter()).try_fold(0_usize, |sum, term| {
            Some(sum + usize::from(self.tensors.get(term)?.order))
        });
        let basis = match self.basis {
            Basis::Dense => true,
            Basis::Sparse { counts, columns } => {
                let stored = counts.iter().map(usize::from).sum::<usize>();
                counts.len() == rows && stored == columns.len() && columns.suit(inputs)
            }
        };
        let dictionary = match self.coefficients {
            Coefficients::Dictionary { magnitudes, .. } => magnitudes.len() <= MAX_DICTIONARY,
            _ => true,
        };
        let counted = [self.tensors.len(), self.terms.len()]
            .iter()
            .all(|&count| u16::try_from(count).is_ok());
        totals == Some((self.coefficients.len(), self.indices.len()))
            && offsets == Some(self.offsets.len())
            && self.terms.suit(self.tensors.len())
            && self.offsets.suit(rows)
            && basis
            && dictionary
            && counted
    }

    /// Hands the bytes of the section to `put`; the lengths were checked.
    pub(super) fn write<E>(&self, put: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let basis = match self.basis {
            Basis::Dense => 0,
            Basis::Sparse { .. } => 1,
        };
        let kind = match self.coefficients {
            Coefficients::Dictionary { .. } => 0,
            Coefficients::F16(_) => 1,
            Coefficients::F32(_) => 2,
        };
        put(&[basis, kind])?;
        put(&self.selective.to_le_bytes())?;
        put(&(self.tensors.len() as u16).to_le_bytes())?;
        put(&(self.terms.len() as u16).to_le_bytes())?;
        if let Coefficients::Dictionary { magnitudes, .. } = self.coefficients {
            put(&[magnitudes.len() as u8])?;
            magnitudes.write(put)?;
        }
        self.tensors.write(put)?;
        self.indices.write(put)?;
        match self.coefficients {
            Coefficients::Dictionary { codes, .. } => codes.write(put)?,
            Coefficients::F16(list) => list.write(put)?,
            Coefficients::F32(list) => list.write(put)?,
        }
        self.terms.write(put)?;
        if let Basis::Sparse { counts, columns } = self.basis {
            counts.write(put)?;
            columns.write(put)?;
        }
        self.offsets.write(put)
    }
}
