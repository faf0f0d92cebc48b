//! The sections of a model: how a weight is stored, which pairs there are, and how z and z_ij are had from the weights.
//!
//! A section is a kind and bytes that belong to it. To each content there is one form: whatever a writer would not have
//! written is [`Error::Malformed`].

use super::MAX_DIMENSION;
use crate::error::Error;
use crate::pairs::{Order, pair_count};

/// In a table of rows: the stored row is conjugated. [`MAX_DIMENSION`] leaves the bit free.
pub(crate) const CONJUGATED: u16 = 1 << 15;
/// Bytes of one term of a combination: the row, and the real and imaginary part of its coefficient.
const TERM_LEN: usize = 6;
/// The shortest and longest factor that the fast transform takes; it must be a power of two between them.
const FFT_LENGTHS: core::ops::RangeInclusive<u16> = 4..=1024;

/// How a weight is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Encoding<'a> {
    /// Kind 0: little-endian f32.
    #[default]
    F32,
    /// Kind 1: little-endian IEEE 754 binary16.
    F16,
    /// Kind 2: one signed byte q, −127 to 127; the weight is q times the scale of its row.
    I8 {
        /// One little-endian f32 a stored row: positive, finite.
        scales: &'a [u8],
    },
}

/// Which pairs (i, j) are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum PairList<'a> {
    /// Kind 0: all R(R+1)/2, in the order of [`pairs`](crate::pairs).
    #[default]
    All,
    /// Kind 1: these, each a little-endian u16 i and a u16 j ≥ i, ascending in the order of [`pairs`](crate::pairs).
    Listed(&'a [u8]),
}

/// How z_i and z_ij = (W_i ⊙ W_j) x are had.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Structure<'a> {
    /// Kind 0: from W itself, whatever it is.
    #[default]
    Dense,
    /// Kind 1: from W, of whose rows some are stored once and used twice, or conjugated.
    Conjugates {
        /// One little-endian u16 a row: the stored row, numbered as they first appear; bit 15 where it is conjugated.
        rows: &'a [u8],
    },
    /// Kind 2: z_ij as a combination of few z_k, W_i ⊙ W_j ≈ Σ_k c^k_ij W_k.
    Combined {
        /// As in [`Conjugates`](Self::Conjugates); here each row may be stored, too.
        rows: &'a [u8],
        /// Terms of each combination, at least one.
        terms: u8,
        /// What every coefficient is multiplied by: positive, normal.
        scale: f32,
        /// For each pair in the order of the pairs section as many terms: a u16 with the stored row, bit 15 where it is
        /// conjugated, and the coefficient as i16 real and i16 imaginary part, all little-endian.
        coefficients: &'a [u8],
    },
    /// Kind 3: W holds characters of a product of cyclic groups, and is not stored at all.
    ///
    /// W_in = a·χ_k(g) with k = k_i and g = g_n, and so z_ij is a times the coefficient of the character k_i + k_j.
    /// The weights are the e = lcm m_f numbers a·exp(−2πi t/e), first their real and then their imaginary parts.
    Cyclic {
        /// How the coefficients of all characters are had.
        transform: Transform,
        /// m_f: the orders of the cyclic groups, little-endian u16, at most [`MAX_DIMENSION`] elements in all.
        factors: &'a [u8],
        /// k_i: the character of each row, a little-endian u16. Numbered as elements: the last factor fastest.
        characters: &'a [u8],
        /// g_n: the element at which each input stands, a little-endian u16.
        elements: &'a [u8],
    },
}

/// How a cyclic model comes from x to the coefficients of all characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Transform {
    /// Sums along one factor after the other.
    #[default]
    Sums,
    /// A fast Fourier transform along factors of 4, 8, …, 1024; sums along others. Needs the feature `fft`.
    Fft,
}

impl Encoding<'_> {
    /// Bytes of one complex weight.
    pub(super) fn weight_len(&self) -> usize {
        match self {
            Encoding::F32 => 8,
            Encoding::F16 => 4,
            Encoding::I8 { .. } => 2,
        }
    }

    /// Whether there is one positive, finite scale a stored row.
    pub(super) fn check(&self, stored: usize) -> Result<(), Error> {
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

impl<'a> PairList<'a> {
    /// The pairs, once they are known to be rows and ascending, some but not all.
    pub(crate) fn order(&self, rows: usize) -> Result<Order<'a>, Error> {
        let PairList::Listed(bytes) = *self else {
            return Ok(Order::all(rows));
        };
        let (listed, odd) = bytes.as_chunks::<4>();
        let order = Order::listed(listed);
        let within = order.iter().all(|(i, j)| i <= j && j < rows);
        let ascending = order.iter().zip(order.iter().skip(1)).all(|(a, b)| a < b);
        let some = (1..pair_count(rows)).contains(&listed.len());
        well_formed(odd.is_empty() && some && within && ascending).map(|()| order)
    }
}

impl Structure<'_> {
    /// How many numbers W is made of: N for each stored row, or the roots of unity; once the structure is known to be
    /// whole.
    pub(super) fn stored(
        &self,
        inputs: usize,
        rows: usize,
        pairs: usize,
        encoding: &Encoding<'_>,
    ) -> Result<Stored, Error> {
        match *self {
            Structure::Dense => Ok(Stored::rows(rows, inputs)),
            Structure::Conjugates { rows: table } => {
                let stored = stored_rows(table, rows).filter(|&stored| stored < rows);
                Ok(Stored::rows(stored.ok_or(Error::Malformed)?, inputs))
            }
            Structure::Combined {
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
            Structure::Cyclic {
                transform,
                factors,
                characters,
                elements,
            } => {
                let (order, exponent) = order_and_exponent(factors).ok_or(Error::Malformed)?;
                let members = |table: &[u8], count: usize| {
                    table.len() == 2 * count && numbers(table).all(|k| usize::from(k) < order)
                };
                let fast = transform == Transform::Sums || numbers(factors).any(has_fft);
                let known = members(characters, rows) && members(elements, inputs);
                well_formed(fast && known && *encoding == Encoding::F32)?;
                Ok(Stored {
                    rows: 0,
                    numbers: exponent,
                })
            }
        }
    }
}

/// What the weights consist of.
#[derive(Clone, Copy)]
pub(super) struct Stored {
    /// Rows of W that are stored.
    pub(super) rows: usize,
    /// Complex numbers in all.
    pub(super) numbers: usize,
}

impl Stored {
    fn rows(rows: usize, inputs: usize) -> Self {
        Stored {
            rows,
            numbers: rows * inputs,
        }
    }
}

/// Whether the fast transform takes a factor of this order.
pub(crate) fn has_fft(order: u16) -> bool {
    order.is_power_of_two() && FFT_LENGTHS.contains(&order)
}

/// Little-endian u16, one behind the other.
pub(crate) fn numbers(bytes: &[u8]) -> impl DoubleEndedIterator<Item = u16> + Clone {
    let (numbers, _) = bytes.as_chunks::<2>();
    numbers.iter().map(|number| u16::from_le_bytes(*number))
}

/// How many rows are stored where `table` says which of them each of `rows` rows is.
///
/// `None` where it has another length, or does not number them in the order in which they appear, first as they are.
pub(crate) fn stored_rows(table: &[u8], rows: usize) -> Option<usize> {
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
    let bounded = factors.len().is_multiple_of(2) && (1..=255).contains(&(factors.len() / 2));
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
