//! The model as bytes: a postcard message with a CRC-32 behind it. `docs/format.md` specifies it to the byte.
//!
//! Every field of variable length is borrowed; the weights begin at a multiple of [`ALIGNMENT`] from the first byte.

mod sections;
mod wire;

use crate::error::Error;
use crate::pairs::Order;
use crc::{CRC_32_ISO_HDLC, Crc, Table};
pub(crate) use sections::{CONJUGATED, order_and_exponent};
pub use sections::{Encoding, PairList, Structure, Transform};
use wire::{Pieces, Section, Wire, check_kinds};

/// The first four bytes of every model.
pub const MAGIC: [u8; 4] = *b"BSN\0";
/// The format version this crate reads and writes.
pub const VERSION: u8 = 1;
/// The most inputs or rows: with it every size of a model fits a 32-bit `usize`, and Σ|β|² an f32.
pub const MAX_DIMENSION: u16 = 1 << 13;
/// The weights begin at a multiple of this, counted from the first byte of the model.
pub const ALIGNMENT: usize = 16;

/// Of one weight of two bytes without a name: 27 bytes of fields with its scale and 5 of padding before it, the CRC
/// behind it.
const LEAST_LEN: usize = 2 * ALIGNMENT + 2 + CRC_LEN;
const CRC_LEN: usize = 4;

/// One table of 1 KiB: a look-up a byte, instead of eight shifts.
const CRC: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);

/// What a model consists of, to be written.
///
/// ```
/// use bispectral_core::{format::Parts, Model};
///
/// // One row, two inputs: (1 + 0i, 0 + 1i), real parts first.
/// let weights: Vec<u8> = [1.0_f32, 0.0, 0.0, 1.0].iter().flat_map(|w| w.to_le_bytes()).collect();
/// let parts = Parts { inputs: 2, rows: 1, name: "tiny", weights: &weights, ..Parts::default() };
///
/// let mut bytes = vec![0; parts.encoded_len()?];
/// let model = Model::from_bytes(parts.write(&mut bytes)?)?;
/// assert_eq!((model.inputs(), model.rows(), model.name()), (2, 1, "tiny"));
/// # Ok::<(), bispectral_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Parts<'a> {
    /// N, the samples of a signal.
    pub inputs: u16,
    /// R, the rows of W.
    pub rows: u16,
    /// What people call the model; may be empty.
    pub name: &'a str,
    /// The group whose irreducible representations the rows are, where it is known: `Z16xZ16`.
    pub group: Option<&'a str>,
    /// How a weight is stored.
    pub encoding: Encoding<'a>,
    /// Which pairs (i, j) are computed.
    pub pairs: PairList<'a>,
    /// How z and z_ij are had from the weights.
    pub structure: Structure<'a>,
    /// Stored row after stored row, in each the N real parts and then the N imaginary parts, as `encoding` says;
    /// for [`Structure::Cyclic`] one such row, the roots of unity.
    pub weights: &'a [u8],
}

impl<'a> Parts<'a> {
    /// Reads `bytes` and checks everything that does not need a look at the single weights.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<(Self, Layout<'a>), Error> {
        let message = checked_message(bytes)?;
        let wire: Wire<'a, Section<'a>> =
            postcard::from_bytes(message).map_err(|_| Error::Malformed)?;
        // Decoding stops behind the weights and takes varints of more bytes than they need, up to ten on a 64-bit
        // processor and five on the others. A model has one form, so there must be as many bytes as it takes to write.
        let shortest = wire.encoded_len()? == message.len();
        let aligned = offset_of_weights(message, &wire).is_some_and(|at| at % ALIGNMENT == 0);
        let padded = wire.padding.len() < ALIGNMENT && wire.padding.iter().all(|&byte| byte == 0);
        if !(shortest && aligned && padded) {
            return Err(Error::Malformed);
        }
        check_kinds([&wire.encoding, &wire.pairs, &wire.structure, &wire.head])?;
        check_dimensions(wire.inputs, wire.rows)?;
        let parts = Parts {
            inputs: wire.inputs,
            rows: wire.rows,
            name: wire.name,
            group: (!wire.group.is_empty()).then_some(wire.group),
            pairs: PairList::read(&wire.pairs),
            structure: Structure::read(&wire.structure, wire.inputs.into(), wire.rows.into())?,
            encoding: Encoding::read(&wire.encoding)?,
            weights: wire.weights,
        };
        let layout = parts.check()?;
        Ok((parts, layout))
    }

    /// How many bytes [`write`](Self::write) will write.
    ///
    /// # Errors
    /// [`Error::Dimensions`], [`Error::Malformed`] and [`Error::WeightLength`] where the parts do not fit together,
    /// [`Error::Overflow`] where the model would be longer than 4 GiB.
    pub fn encoded_len(&self) -> Result<usize, Error> {
        self.check()?;
        self.wire(self.padding()?, 0)
            .encoded_len()?
            .checked_add(CRC_LEN)
            .filter(|&length| u32::try_from(length).is_ok())
            .ok_or(Error::Overflow)
    }

    /// Writes the model to the front of `out` and returns what was written.
    ///
    /// # Errors
    /// As [`encoded_len`](Self::encoded_len), and [`Error::OutputLength`] where `out` is shorter than that.
    pub fn write<'b>(&self, out: &'b mut [u8]) -> Result<&'b [u8], Error> {
        let length = self.encoded_len()?;
        let found = out.len();
        let out = out.get_mut(..length).ok_or(Error::OutputLength {
            needed: length as u32,
            found: saturate(found),
        })?;
        let (message, crc) = out
            .split_last_chunk_mut::<CRC_LEN>()
            .ok_or(Error::Malformed)?;
        postcard::to_slice(&self.wire(self.padding()?, length as u32), message)
            .map_err(|_| Error::Malformed)?;
        *crc = CRC.checksum(message).to_le_bytes();
        Ok(out)
    }

    fn wire(&self, padding: usize, length: u32) -> Wire<'a, Pieces<'a>> {
        const ZEROS: [u8; ALIGNMENT] = [0; ALIGNMENT];
        Wire {
            magic: MAGIC,
            version: VERSION,
            length,
            inputs: self.inputs,
            rows: self.rows,
            name: self.name,
            group: self.group.unwrap_or_default(),
            encoding: self.encoding.pieces(),
            pairs: self.pairs.pieces(),
            structure: self.structure.pieces(),
            head: Pieces::default(),
            padding: ZEROS.get(..padding).unwrap_or_default(),
            weights: self.weights,
        }
    }

    /// Zeros before the weights, so that they begin at a multiple of [`ALIGNMENT`].
    fn padding(&self) -> Result<usize, Error> {
        let begin = self
            .wire(0, 0)
            .encoded_len()?
            .wrapping_sub(self.weights.len());
        Ok(begin.wrapping_neg() % ALIGNMENT)
    }

    /// Everything but the values of scales and weights, in the order of `docs/format.md`.
    fn check(&self) -> Result<Layout<'a>, Error> {
        check_dimensions(self.inputs, self.rows)?;
        let (inputs, rows) = (self.inputs.into(), self.rows.into());
        let order = self.pairs.order(rows)?;
        let stored = self
            .structure
            .stored(inputs, rows, order.len(), &self.encoding)?;
        self.encoding.check(stored.rows)?;
        let needed = stored.numbers * self.encoding.weight_len();
        if self.weights.len() != needed {
            return Err(Error::WeightLength {
                needed: saturate(needed),
                found: saturate(self.weights.len()),
            });
        }
        Ok(Layout {
            order,
            stored_rows: stored.rows,
        })
    }
}

/// What is known of a model once its parts are checked.
pub(crate) struct Layout<'a> {
    /// The pairs, in the order of the features.
    pub(crate) order: Order<'a>,
    /// Rows of W that are stored.
    pub(crate) stored_rows: usize,
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
fn offset_of_weights(message: &[u8], wire: &Wire<'_, Section<'_>>) -> Option<usize> {
    message.len().checked_sub(wire.weights.len())
}

/// A length for an error message; no model is longer than 4 GiB.
pub(crate) fn saturate(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
