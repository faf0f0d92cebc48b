//! A checked view of a model's bytes.

use crate::error::Error;
use crate::format::{Layout, Parts};
use crate::kernel::Kernel;
use crate::pairs::Order;
use num_complex::Complex32;

/// Elements of scratch that a model needs for one signal: the products of a row with the signal, and z.
///
/// ```
/// use bispectral_core::scratch_len;
///
/// static mut SCRATCH: [f32; scratch_len(64, 64)] = [0.0; scratch_len(64, 64)];
/// assert_eq!(scratch_len(64, 64) * size_of::<f32>(), 1024);
/// ```
#[must_use]
pub const fn scratch_len(inputs: usize, rows: usize) -> usize {
    2 * inputs + 2 * rows
}

/// A bispectral model whose weights stay where they are, in flash or in a file's bytes.
///
/// Making one checks every byte once; after that nothing can fail but a call with wrong lengths
/// or a signal without direction. It is a view: a few words, `Copy`, and shareable between tasks.
///
/// ```
/// # use bispectral_core::{pair_count, scratch_len, Model};
/// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
/// let model = Model::from_bytes(bytes)?;
/// assert_eq!((model.inputs(), model.rows()), (4, 3));
///
/// let mut scratch = [0.0; scratch_len(4, 3)];
/// let mut original = [Default::default(); pair_count(3)];
/// let mut shifted = original;
/// model.invariants(&[3.0, 1.0, 0.0, -1.0], &mut scratch, &mut original)?;
/// model.invariants(&[-1.0, 3.0, 1.0, 0.0], &mut scratch, &mut shifted)?;
/// for (a, b) in original.iter().zip(&shifted) {
///     assert!((a - b).norm_sqr() < 1e-12);
/// }
/// # Ok::<(), bispectral_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Model<'a> {
    parts: Parts<'a>,
    pub(crate) order: Order<'a>,
    stored_rows: usize,
    pub(crate) kernel: Kernel<'a>,
    /// Of the largest weight.
    pub(crate) exponent: i32,
}

impl<'a> Model<'a> {
    /// Checks `bytes` — magic, version, length, CRC, every dimension, every weight — and borrows the weights from them.
    ///
    /// Any alignment works. Where the bytes begin at a multiple of four, as with
    /// [`include_model!`](crate::include_model), Cortex-M and RISC-V load the weights faster.
    ///
    /// # Errors
    /// The first thing that is wrong, by name.
    ///
    /// ```
    /// # use bispectral_core::{Error, Model};
    /// let mut bytes = *include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
    /// assert!(Model::from_bytes(&bytes).is_ok());
    /// bytes[40] ^= 1;
    /// assert!(matches!(Model::from_bytes(&bytes), Err(Error::Checksum { .. })));
    /// ```
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, Error> {
        let (parts, Layout { order, stored_rows }) = Parts::read(bytes)?;
        let (kernel, exponent) = Kernel::new(&parts)?;
        Ok(Model {
            parts,
            order,
            stored_rows,
            kernel,
            exponent,
        })
    }

    /// What the model consists of: written, it is the model's bytes again.
    ///
    /// ```
    /// # use bispectral_core::Model;
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
    /// let parts = Model::from_bytes(bytes)?.parts();
    /// assert_eq!(parts.write(&mut [0; 148])?, bytes);
    /// # Ok::<(), bispectral_core::Error>(())
    /// ```
    #[must_use]
    pub fn parts(&self) -> Parts<'a> {
        self.parts
    }

    /// N: the samples of a signal.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.parts.inputs.into()
    }

    /// R: the rows of W, one coefficient each.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.parts.rows.into()
    }

    /// The invariants of a signal: R(R+1)/2, or as many as the model lists.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.order.len()
    }

    /// The rows i and j whose invariant stands at this place; `None` past the last.
    ///
    /// ```
    /// # use bispectral_core::Model;
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
    /// let model = Model::from_bytes(bytes)?;
    /// assert_eq!((model.pair(4), model.pair(6)), (Some((1, 2)), None));
    /// # Ok::<(), bispectral_core::Error>(())
    /// ```
    #[must_use]
    pub fn pair(&self, at: usize) -> Option<(usize, usize)> {
        self.order.get(at)
    }

    /// (i, j) of every invariant, in their order.
    pub fn pair_list(&self) -> impl Iterator<Item = (usize, usize)> + Clone + use<'a> {
        self.order.iter()
    }

    /// Rows of W that are stored: R, or fewer where some are conjugates of others; none where the group makes them.
    #[must_use]
    pub fn stored_rows(&self) -> usize {
        self.stored_rows
    }

    /// Elements of scratch the calls below need; [`scratch_len`](crate::scratch_len) for use in types.
    #[must_use]
    pub fn scratch_len(&self) -> usize {
        self.kernel.scratch_len(self.inputs(), self.stored_rows)
    }

    /// What people call the model.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.parts.name
    }

    /// The group whose irreducible representations the rows are, where the exporter knew it.
    #[must_use]
    pub fn group(&self) -> Option<&'a str> {
        self.parts.group
    }

    /// Whether the weights are read in place; otherwise they are put together from bytes, with the same results.
    #[must_use]
    pub fn is_aligned(&self) -> bool {
        self.kernel.is_aligned()
    }

    /// W_ij as the model holds it; `None` where there is no such row or column.
    ///
    /// ```
    /// # use bispectral_core::{Model};
    /// # let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/z4.bsn"));
    /// let model = Model::from_bytes(bytes)?;
    /// assert_eq!(model.weight(0, 0).unwrap().re, 0.5);
    /// assert_eq!(model.weight(3, 0), None);
    /// # Ok::<(), bispectral_core::Error>(())
    /// ```
    #[must_use]
    pub fn weight(&self, row: usize, column: usize) -> Option<Complex32> {
        if row >= self.rows() {
            return None;
        }
        self.kernel.weight(row, column)
    }
}
