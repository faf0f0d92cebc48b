//! Lists of a model: values of the caller's to be written, or little-endian bytes where they lie in a model that was read.

use super::{CONJUGATED, Row, Term};
use core::fmt;

/// A value that the format stores in a fixed number of little-endian bytes.
pub trait Value: Copy {
    /// So many bytes.
    type Bytes: AsRef<[u8]> + Copy;

    /// The value of these bytes.
    fn from_le_bytes(bytes: Self::Bytes) -> Self;

    /// The bytes of this value.
    fn to_le_bytes(self) -> Self::Bytes;
}

macro_rules! number {
    ($($number:ty),*) => {
        $(impl Value for $number {
            type Bytes = [u8; size_of::<$number>()];

            fn from_le_bytes(bytes: Self::Bytes) -> Self {
                <$number>::from_le_bytes(bytes)
            }

            fn to_le_bytes(self) -> Self::Bytes {
                <$number>::to_le_bytes(self)
            }
        })*
    };
}
number!(f32, i32, u16, i16, i8, u8);

/// A pair (i, j).
impl Value for (u16, u16) {
    type Bytes = [u8; 4];

    fn from_le_bytes([i, i_high, j, j_high]: [u8; 4]) -> Self {
        (
            u16::from_le_bytes([i, i_high]),
            u16::from_le_bytes([j, j_high]),
        )
    }

    fn to_le_bytes(self) -> [u8; 4] {
        let ([i, i_high], [j, j_high]) = (self.0.to_le_bytes(), self.1.to_le_bytes());
        [i, i_high, j, j_high]
    }
}

impl Value for Row {
    type Bytes = [u8; 2];

    fn from_le_bytes(bytes: [u8; 2]) -> Self {
        let entry = u16::from_le_bytes(bytes);
        Row {
            stored: entry & !CONJUGATED,
            conjugated: entry & CONJUGATED != 0,
        }
    }

    /// A number that needs the bit becomes the largest without it, which no model has a row for, so that it is refused.
    fn to_le_bytes(self) -> [u8; 2] {
        let conjugated = if self.conjugated { CONJUGATED } else { 0 };
        (self.stored.min(!CONJUGATED) | conjugated).to_le_bytes()
    }
}

impl Value for Term {
    type Bytes = [u8; 6];

    fn from_le_bytes([k, k_high, re, re_high, im, im_high]: [u8; 6]) -> Self {
        Term {
            row: Row::from_le_bytes([k, k_high]),
            re: i16::from_le_bytes([re, re_high]),
            im: i16::from_le_bytes([im, im_high]),
        }
    }

    fn to_le_bytes(self) -> [u8; 6] {
        let ([k, k_high], [re, re_high], [im, im_high]) = (
            self.row.to_le_bytes(),
            self.re.to_le_bytes(),
            self.im.to_le_bytes(),
        );
        [k, k_high, re, re_high, im, im_high]
    }
}

/// Values of one kind, one behind the other: a slice, or the bytes of a model that was read.
///
/// ```
/// use bispectral_core::format::List;
///
/// let factors = List::new(&[4_u16, 2]);
/// assert_eq!((factors.len(), factors.get(1)), (2, Some(2)));
/// assert!(factors.iter().eq([4, 2]));
/// assert_eq!(factors, List::from(&[4, 2]));
/// ```
#[derive(Clone, Copy)]
pub struct List<'a, T: Value> {
    values: &'a [T],
    /// In place of values; none where there are values.
    bytes: &'a [T::Bytes],
}

impl<'a, T: Value> List<'a, T> {
    /// These values.
    #[must_use]
    pub const fn new(values: &'a [T]) -> Self {
        List { values, bytes: &[] }
    }

    /// The values of these bytes.
    pub(super) const fn stored(bytes: &'a [T::Bytes]) -> Self {
        List { values: &[], bytes }
    }

    /// The bytes of a list that was read; none of a caller's.
    pub(crate) const fn stored_bytes(&self) -> &'a [T::Bytes] {
        self.bytes
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.values.len() + self.bytes.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of all.
    pub(super) const fn bytes(&self) -> usize {
        self.len() * size_of::<T::Bytes>()
    }

    /// The value at this index; `None` past the last.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<T> {
        let stored = || self.bytes.get(index).map(|bytes| T::from_le_bytes(*bytes));
        self.values.get(index).copied().or_else(stored)
    }

    /// The values in their order.
    pub fn iter(&self) -> impl Iterator<Item = T> + Clone + use<'a, T> {
        let stored = self.bytes.iter().map(|bytes| T::from_le_bytes(*bytes));
        self.values.iter().copied().chain(stored)
    }

    /// Hands the bytes of every value to `put`.
    pub(super) fn write<E>(&self, put: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        self.iter()
            .try_for_each(|value| put(value.to_le_bytes().as_ref()))
    }
}

impl<T: Value> Default for List<'_, T> {
    fn default() -> Self {
        List::new(&[])
    }
}

impl<'a, T: Value> From<&'a [T]> for List<'a, T> {
    fn from(values: &'a [T]) -> Self {
        List::new(values)
    }
}

impl<'a, T: Value, const N: usize> From<&'a [T; N]> for List<'a, T> {
    fn from(values: &'a [T; N]) -> Self {
        List::new(values)
    }
}

#[cfg(feature = "std")]
impl<'a, T: Value> From<&'a std::vec::Vec<T>> for List<'a, T> {
    fn from(values: &'a std::vec::Vec<T>) -> Self {
        List::new(values)
    }
}

impl<T: Value + PartialEq> PartialEq for List<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: Value + fmt::Debug> fmt::Debug for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// How many values there are: more would not fit a line of a log.
#[cfg(feature = "defmt")]
impl<T: Value> defmt::Format for List<'_, T> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "[{=usize} values]", self.len());
    }
}
