//! Which stored row a row of W is: rows that are conjugates of others, or the same, are stored once.

use crate::format::CONJUGATED;
use num_complex::Complex32;

/// The stored row of each row, and whether it is conjugated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fold<'a> {
    /// Little-endian u16 with the bit of the conjugate; every row is its own where there are none.
    table: &'a [[u8; 2]],
}

impl<'a> Fold<'a> {
    /// Every row is stored.
    pub(crate) const NONE: Fold<'static> = Fold { table: &[] };

    /// Of a table whose entries were checked.
    pub(crate) fn new(table: &'a [u8]) -> Self {
        let (table, _) = table.as_chunks();
        Fold { table }
    }

    /// The stored row that row `i` is, and whether conjugated.
    #[inline(always)]
    pub(crate) fn stored(&self, i: usize) -> (usize, bool) {
        match self.table.get(i) {
            Some(entry) => row_of(*entry),
            None => (i, false),
        }
    }

    /// W_in of row `i`, from that of its stored row.
    pub(crate) fn weight(
        &self,
        i: usize,
        stored: impl FnOnce(usize) -> Option<Complex32>,
    ) -> Option<Complex32> {
        let (row, conjugated) = self.stored(i);
        stored(row).map(|w| if conjugated { w.conj() } else { w })
    }

    /// z of every row, from those of the stored rows.
    pub(crate) fn coefficients(&self, z: &[Complex32]) -> impl Iterator<Item = Complex32> {
        let rows = if self.table.is_empty() {
            z.len()
        } else {
            self.table.len()
        };
        (0..rows).map(move |row| self.coefficient(z, row))
    }

    /// z of row `i`, from those of the stored rows.
    pub(crate) fn coefficient(&self, z: &[Complex32], i: usize) -> Complex32 {
        let (stored, conjugated) = self.stored(i);
        folded(z, stored, conjugated)
    }
}

/// z of a stored row or of its conjugate, which for a real signal is the conjugate.
#[inline(always)]
pub(crate) fn folded(z: &[Complex32], stored: usize, conjugated: bool) -> Complex32 {
    let z = z.get(stored).copied().unwrap_or_default();
    if conjugated { z.conj() } else { z }
}

/// A row and the bit that says whether it is conjugated.
#[inline(always)]
pub(crate) fn row_of(entry: [u8; 2]) -> (usize, bool) {
    let entry = u16::from_le_bytes(entry);
    (usize::from(entry & !CONJUGATED), entry & CONJUGATED != 0)
}
