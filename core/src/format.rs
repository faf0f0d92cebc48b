//! The model as bytes: a postcard message with a CRC-32 behind it. `docs/format.md` specifies it to the byte.
//!
//! [`Parts`] are what a model consists of, as values: a writer's input, and what [`Model::parts`](crate::Model::parts)
//! shows of a model that was read, where every list is borrowed in place. A section is a kind and bytes that belong to it.

pub mod couplings;
mod crc;
mod list;
mod utf8;
mod view;

use crate::error::{Error, saturate};
use crate::feature::EVERY;
use crate::pairs::pair_count;
use core::convert::Infallible;
use core::ops::RangeInclusive;
pub use couplings::Couplings;
pub use list::{List, Value};
use serde::ser::{SerializeSeq, SerializeStruct};
use serde::{Serialize, Serializer};
pub use view::StoredLayers;
pub(crate) use view::{
    Encoding, LayerEncoding, StoredStructure, View, before_checksum, checked_message, numbers,
    order_and_exponent,
};

/// The first four bytes of every model.
pub const MAGIC: [u8; 4] = *b"BSN\0";
/// The format version this crate reads and writes.
pub const VERSION: u8 = 1;
/// The most inputs or rows: with it every size of a model fits a 32-bit `usize`, and Σ|β|² an f32.
pub const MAX_DIMENSION: u16 = 1 << 13;
/// The weights begin at a multiple of this, counted from the first byte of the model.
pub const ALIGNMENT: usize = 16;

/// The orders of factors that [`Transform::Fft`] transforms fast: the powers of two among these.
pub const FFT_FACTORS: RangeInclusive<u16> = 4..=1024;

/// In a table of rows: the stored row is conjugated. [`MAX_DIMENSION`] leaves the bit free.
pub(crate) const CONJUGATED: u16 = 1 << 15;
const CRC_LEN: usize = 4;
/// Factors and layers are counted in one byte.
const MOST_COUNTED: usize = u8::MAX as usize;

/// What a model consists of.
///
/// ```
/// use bispectral_core::format::{Parts, Weights};
/// use bispectral_core::Model;
///
/// // One row, two inputs: (1 + 0i, 0 + 1i), real parts first.
/// let weights = Weights::F32((&[1.0, 0.0, 0.0, 1.0]).into());
/// let parts = Parts { inputs: 2, rows: 1, name: "tiny", weights, ..Parts::default() };
///
/// let mut bytes = vec![0; parts.encoded_len()?];
/// let model = Model::from_bytes(parts.write(&mut bytes)?)?;
/// assert_eq!((model.inputs(), model.rows(), model.name()), (2, 1, "tiny"));
/// # Ok::<(), bispectral_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
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
    /// Which pairs (i, j) are computed.
    pub pairs: PairList<'a>,
    /// What the features are made of z, z_ij and β.
    pub output: Output,
    /// How z and z_ij are computed from the weights.
    pub structure: Structure<'a>,
    /// What follows the invariants.
    pub head: Head<'a>,
    /// Stored row after stored row, in each the N real parts and then the N imaginary parts; for [`Structure::Cyclic`] one
    /// such row, the roots of unity; for [`Structure::Couplings`] the stored numbers of U, which are real.
    pub weights: Weights<'a>,
}

/// W, or the numbers it is made of, and how one is stored.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Weights<'a> {
    /// Encoding 0: f32.
    F32(List<'a, f32>),
    /// Encoding 1: the bits of IEEE 754 binary16.
    F16(List<'a, u16>),
    /// Encoding 2: a whole number q; the weight is q times the scale of its row.
    I8 {
        /// q, −127 to 127.
        weights: List<'a, i8>,
        /// One a stored row: positive, finite.
        scales: List<'a, f32>,
    },
    /// Encoding 3, of [`Structure::Cyclic`] and nothing else: a whole number q; the root of unity is q·2^-30, and the weight that
    /// times the amplitude.
    I32 {
        /// q: the first is 2^30, and none is larger in magnitude.
        roots: List<'a, i32>,
        /// a: positive, finite.
        amplitude: f32,
    },
}

/// Which pairs (i, j) are computed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum PairList<'a> {
    /// Kind 0: all R(R+1)/2, in the order of [`pairs`](crate::pairs).
    #[default]
    All,
    /// Kind 1: these, each i and j ≥ i, ascending in the order of [`pairs`](crate::pairs).
    Listed(List<'a, (u16, u16)>),
}

/// What the features of a signal are.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Output {
    /// β̄: the normalised bispectrum, two numbers a pair.
    #[default]
    Bispectrum,
    /// Of degree one in the signal: |z_k|, one number a row, and w·(β_ij/|β_ij|)/(1/|z_i| + 1/|z_j| + 1/(t|z_ij|)), two a
    /// pair, all divided by ‖z‖.
    DegreeOne {
        /// w, what the phases weigh beside the magnitudes: positive, within 2^±30.
        weight: f32,
        /// t, what brings W_i ⊙ W_j to the magnitude of a row: 1/|W_in| where W holds characters. Positive; t·2^E is within
        /// 2^±30, with E the exponent of the largest weight.
        products: f32,
    },
}

/// How z_i and z_ij = (W_i ⊙ W_j) x are computed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Structure<'a> {
    /// Kind 0: from W itself, whatever it is.
    #[default]
    Dense,
    /// Kind 1: from W, of whose rows some are stored once and used twice, or conjugated.
    Conjugates {
        /// One a row; stored rows are numbered as they first appear, where they are not conjugated.
        rows: List<'a, Row>,
    },
    /// Kind 2: z_ij as a combination of few z_k, W_i ⊙ W_j ≈ Σ_k c^k_ij W_k.
    Combined {
        /// As in [`Conjugates`](Self::Conjugates); here each row may be stored, too.
        rows: List<'a, Row>,
        /// Terms of each combination, at least one.
        terms: u8,
        /// What every coefficient is multiplied by: positive, normal.
        scale: f32,
        /// For each pair in the order of the pairs as many terms.
        coefficients: List<'a, Term>,
    },
    /// Kind 3: W holds characters of a product of cyclic groups, and is not stored at all.
    ///
    /// W_in = a·χ_k(g) with k = k_i and g = g_n, and so z_ij is a times the coefficient of the character k_i + k_j. All are f32,
    /// or with [`Weights::I32`] all are whole numbers. The weights are the e = lcm m_f numbers a·exp(−2πi t/e), first their real and then their imaginary parts.
    Cyclic {
        /// How the coefficients of all characters are computed.
        transform: Transform,
        /// m_f: the orders of the cyclic groups, at most [`MAX_DIMENSION`] elements in all.
        factors: List<'a, u16>,
        /// k_i: the character of each row. Numbered as elements: the last factor fastest.
        characters: List<'a, u16>,
        /// g_n: the element at which each input stands.
        elements: List<'a, u16>,
    },
    /// Kind 4: no W, but forms of blocks of z = U x, for groups that need not commute. All pairs: the terms are its
    /// invariants.
    Couplings(Couplings<'a>),
}

/// A row of W: a stored row, or its conjugate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Row {
    /// The stored row.
    pub stored: u16,
    /// Whether it is conjugated.
    pub conjugated: bool,
}

/// A term of a combination: (re + i·im) z_k or conj z_k, times the scale of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Term {
    /// k, and whether z_k is conjugated.
    pub row: Row,
    /// The real part of the coefficient.
    pub re: i16,
    /// The imaginary part of the coefficient.
    pub im: i16,
}

/// How a cyclic model comes from x to the coefficients of all characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Transform {
    /// Sums along one factor after the other.
    #[default]
    Sums,
    /// A fast Fourier transform along factors of 4, 8, …, 1024; sums along others. Needs the feature `fft`, those of 512 and 1024 `fft-1024`.
    Fft,
}

impl Transform {
    /// Whether this transform is fast along a factor of this order.
    ///
    /// ```
    /// use bispectral_core::format::Transform;
    ///
    /// assert!(Transform::Fft.is_fast(16));
    /// assert!(!Transform::Fft.is_fast(15) && !Transform::Fft.is_fast(2));
    /// assert!(!Transform::Sums.is_fast(16));
    /// ```
    #[must_use]
    pub fn is_fast(self, factor: u16) -> bool {
        self == Transform::Fft && factor.is_power_of_two() && FFT_FACTORS.contains(&factor)
    }
}

/// What follows the invariants.
#[derive(Debug, Clone, Copy, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Head<'a> {
    /// Kind 0: nothing, they are the result.
    #[default]
    None,
    /// Kind 1: a multi-layer perceptron; see [`Model::scores`](crate::Model::scores).
    Perceptron(Layers<'a>),
}

/// The layers of a perceptron: the features enter the first, and the last gives the scores of the classes.
///
/// The weights of the first layer are, for each feature in their order, those for every output; of the others, for each output those of every input.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Layers<'a> {
    /// Weights that are f32.
    F32(&'a [Layer<'a>]),
    /// Weights that are whole numbers.
    I8(&'a [ScaledLayer<'a>]),
    /// Those of a model that was read.
    Stored(StoredLayers<'a>),
}

/// A layer with as many outputs as it has biases.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Layer<'a> {
    /// In the order that [`Layers`] says.
    pub weights: &'a [f32],
    /// One an output.
    pub biases: &'a [f32],
}

/// A layer of weights q times the scale of their output, with as many outputs as it has biases.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ScaledLayer<'a> {
    /// q, −127 to 127, in the order that [`Layers`] says.
    pub weights: &'a [i8],
    /// One an output.
    pub scales: &'a [f32],
    /// One an output.
    pub biases: &'a [f32],
}

impl Default for Weights<'_> {
    fn default() -> Self {
        Weights::F32(List::default())
    }
}

impl<'a> Parts<'a> {
    /// How many bytes [`write`](Self::write) will write.
    ///
    /// # Errors
    /// [`Error::Malformed`] where a list has another length than rows, inputs and pairs call for,
    /// [`Error::Overflow`] where the model would be longer than 4 GiB.
    pub fn encoded_len(&self) -> Result<usize, Error> {
        self.check_lengths().ok_or(Error::Malformed)?;
        self.message(self.padding()?, 0)
            .encoded_len()?
            .checked_add(CRC_LEN)
            .filter(|&length| u32::try_from(length).is_ok())
            .ok_or(Error::Overflow)
    }

    /// Writes the model to the front of `out` and returns what was written.
    ///
    /// # Errors
    /// As [`encoded_len`](Self::encoded_len), and [`Error::OutputLength`] where `out` is shorter than that: `out` is
    /// untouched. [`Error::Dimensions`], [`Error::Malformed`] and [`Error::WeightLength`] where a reader would refuse what
    /// was written: it is overwritten with zeros. The values of weights are not looked at: a NaN is found by the reader.
    pub fn write<'b>(&self, out: &'b mut [u8]) -> Result<&'b [u8], Error> {
        let length = self.encoded_len()?;
        let found = out.len();
        let out = out.get_mut(..length).ok_or(Error::OutputLength {
            needed: length as u32,
            found: saturate(found),
        })?;
        let result = self.write_exactly(out);
        if result.is_err() {
            out.fill(0);
        }
        result.map(|()| &*out)
    }

    /// [`write`](Self::write), to a slice that is as long as the model.
    fn write_exactly(&self, out: &mut [u8]) -> Result<(), Error> {
        let length = saturate(out.len());
        let (message, behind) = out
            .split_last_chunk_mut::<CRC_LEN>()
            .ok_or(Error::Malformed)?;
        postcard::to_slice(&self.message(self.padding()?, length), message)
            .map_err(|_| Error::Malformed)?;
        View::<EVERY>::split(message).check(message)?;
        *behind = crc::checksum(message).to_le_bytes();
        Ok(())
    }

    fn message<'p>(&'p self, padding: usize, length: u32) -> Message<'p, Section<'p>, Content<'p>> {
        const ZEROS: [u8; ALIGNMENT] = [0; ALIGNMENT];
        Message {
            magic: MAGIC,
            version: VERSION,
            length,
            inputs: self.inputs,
            rows: self.rows,
            name: self.name,
            group: self.group.unwrap_or_default(),
            encoding: Section(Content::Encoding(&self.weights)),
            pairs: Section(Content::Pairs(&self.pairs, self.output)),
            structure: Section(Content::Structure(&self.structure)),
            head: Section(Content::Head(&self.head)),
            padding: ZEROS.get(..padding).unwrap_or_default(),
            weights: Content::Weights(&self.weights),
        }
    }

    /// Zeros before the weights, so that they begin at a multiple of [`ALIGNMENT`].
    fn padding(&self) -> Result<usize, Error> {
        let begin = self
            .message(0, 0)
            .encoded_len()?
            .wrapping_sub(Content::Weights(&self.weights).len());
        Ok(begin.wrapping_neg() % ALIGNMENT)
    }

    /// That lists which are written one behind the other have the lengths by which a reader tells them apart. All else
    /// is checked in the bytes that were written.
    fn check_lengths(&self) -> Option<()> {
        let (inputs, rows) = (usize::from(self.inputs), usize::from(self.rows));
        let whole = match self.structure {
            Structure::Dense | Structure::Conjugates { .. } => true,
            Structure::Combined { rows: table, .. } => table.len() == rows,
            Structure::Cyclic {
                factors,
                characters,
                elements,
                ..
            } => {
                factors.len() <= MOST_COUNTED
                    && characters.len() == rows
                    && elements.len() == inputs
            }
            Structure::Couplings(couplings) => couplings.fit(inputs, rows),
        };
        let features = match (self.structure, self.pairs) {
            (Structure::Couplings(couplings), _) => couplings.terms.len(),
            (_, PairList::All) => 2 * pair_count(rows),
            (_, PairList::Listed(pairs)) => 2 * pairs.len(),
        };
        let head = match self.head {
            Head::None => true,
            Head::Perceptron(layers) => layers.fit(features + self.output.magnitudes(rows)),
        };
        (whole && head).then_some(())
    }
}

impl Output {
    /// Features before those of the pairs: one a row, or none.
    pub(crate) fn magnitudes(self, rows: usize) -> usize {
        match self {
            Output::Bispectrum => 0,
            Output::DegreeOne { .. } => rows,
        }
    }
}

impl Structure<'_> {
    /// Hands the bytes of the section to `put`; the lengths were checked.
    fn write<E>(&self, put: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        match self {
            Structure::Dense => Ok(()),
            Structure::Conjugates { rows } => rows.write(put),
            Structure::Combined {
                rows,
                terms,
                scale,
                coefficients,
            } => {
                rows.write(put)?;
                put(&[*terms])?;
                put(&scale.to_le_bytes())?;
                coefficients.write(put)
            }
            Structure::Cyclic {
                transform,
                factors,
                characters,
                elements,
            } => {
                let transform = match transform {
                    Transform::Sums => 0,
                    Transform::Fft => 1,
                };
                put(&[transform, factors.len() as u8])?;
                factors.write(put)?;
                characters.write(put)?;
                elements.write(put)
            }
            Structure::Couplings(couplings) => couplings.write(put),
        }
    }
}

impl Layers<'_> {
    /// Whether there is one weight for each input and output of every layer, where `inputs` numbers enter the first.
    fn fit(&self, mut inputs: usize) -> bool {
        let mut fits = |weights: usize, scales: usize, outputs: usize| {
            let whole = inputs.checked_mul(outputs) == Some(weights) && scales == outputs;
            inputs = outputs;
            whole && outputs <= MAX_DIMENSION.into()
        };
        match *self {
            Layers::F32(layers) => {
                layers.len() <= MOST_COUNTED
                    && (layers.iter()).all(|Layer { weights, biases }| {
                        fits(weights.len(), biases.len(), biases.len())
                    })
            }
            Layers::I8(layers) => {
                layers.len() <= MOST_COUNTED
                    && (layers.iter()).all(|layer| {
                        fits(layer.weights.len(), layer.scales.len(), layer.biases.len())
                    })
            }
            Layers::Stored(_) => true,
        }
    }

    /// Hands the bytes of the section to `put`; the lengths were checked.
    fn write<E>(&self, put: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        match *self {
            Layers::F32(layers) => {
                put(&[0, layers.len() as u8])?;
                for layer in layers {
                    put(&(layer.biases.len() as u16).to_le_bytes())?;
                }
                for layer in layers {
                    List::new(layer.weights).write(put)?;
                    List::new(layer.biases).write(put)?;
                }
                Ok(())
            }
            Layers::I8(layers) => {
                put(&[1, layers.len() as u8])?;
                for layer in layers {
                    put(&(layer.biases.len() as u16).to_le_bytes())?;
                }
                for layer in layers {
                    List::new(layer.weights).write(put)?;
                    List::new(layer.scales).write(put)?;
                    List::new(layer.biases).write(put)?;
                }
                Ok(())
            }
            Layers::Stored(layers) => layers.write(put),
        }
    }
}

/// The message, field by field in the order of the bytes; the CRC follows it.
#[derive(Serialize)]
struct Message<'a, S, W> {
    magic: [u8; 4],
    version: u8,
    #[serde(with = "postcard::fixint::le")]
    length: u32,
    inputs: u16,
    rows: u16,
    name: &'a str,
    group: &'a str,
    encoding: S,
    pairs: S,
    structure: S,
    head: S,
    padding: &'a [u8],
    weights: W,
}

impl<S: Serialize, W: Serialize> Message<'_, S, W> {
    /// Bytes of the message.
    fn encoded_len(&self) -> Result<usize, Error> {
        let counter = postcard::ser_flavors::Size::default();
        postcard::serialize_with_flavor(self, counter).map_err(|_| Error::Malformed)
    }
}

/// A run of bytes of the message, as the values it is written from. postcard writes a sequence of bytes as it writes bytes.
#[derive(Clone, Copy)]
enum Content<'p> {
    /// The section: the scales, where there are any.
    Encoding(&'p Weights<'p>),
    Pairs(&'p PairList<'p>, Output),
    Structure(&'p Structure<'p>),
    Head(&'p Head<'p>),
    Weights(&'p Weights<'p>),
}

/// A section to be written: its kind and its bytes.
struct Section<'p>(Content<'p>);

impl Serialize for Section<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut section = serializer.serialize_struct("Section", 2)?;
        section.serialize_field("kind", &self.0.kind())?;
        section.serialize_field("bytes", &self.0)?;
        section.end()
    }
}

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = serializer.serialize_seq(Some(self.len()))?;
        self.write(&mut |run| {
            run.iter()
                .try_for_each(|byte| bytes.serialize_element(byte))
        })?;
        bytes.end()
    }
}

impl Content<'_> {
    /// The kind of a section.
    fn kind(&self) -> u8 {
        match self {
            Content::Encoding(weights) | Content::Weights(weights) => match weights {
                Weights::F32(_) => 0,
                Weights::F16(_) => 1,
                Weights::I8 { .. } => 2,
                Weights::I32 { .. } => 3,
            },
            Content::Pairs(pairs, output) => match (pairs, output) {
                (PairList::All, Output::Bispectrum) => 0,
                (PairList::Listed(_), Output::Bispectrum) => 1,
                (PairList::All, Output::DegreeOne { .. }) => 2,
                (PairList::Listed(_), Output::DegreeOne { .. }) => 3,
            },
            Content::Structure(structure) => match structure {
                Structure::Dense => 0,
                Structure::Conjugates { .. } => 1,
                Structure::Combined { .. } => 2,
                Structure::Cyclic { .. } => 3,
                Structure::Couplings(_) => 4,
            },
            Content::Head(head) => match head {
                Head::None => 0,
                Head::Perceptron(_) => 1,
            },
        }
    }

    /// Bytes there are.
    fn len(&self) -> usize {
        if let Content::Weights(weights) = self {
            return match weights {
                Weights::F32(weights) => weights.bytes(),
                Weights::F16(weights) => weights.bytes(),
                Weights::I8 { weights, .. } => weights.bytes(),
                Weights::I32 { roots, .. } => roots.bytes(),
            };
        }
        let mut len = 0;
        let Ok(()) = self.write(&mut |run| {
            len += run.len();
            Ok::<(), Infallible>(())
        });
        len
    }

    /// Hands the bytes to `put`, run after run.
    fn write<E>(&self, put: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        match *self {
            Content::Encoding(Weights::I8 { scales, .. }) => scales.write(put),
            Content::Encoding(Weights::I32 { amplitude, .. }) => put(&amplitude.to_le_bytes()),
            Content::Encoding(_) => Ok(()),
            Content::Pairs(pairs, output) => {
                if let Output::DegreeOne { weight, products } = output {
                    put(&weight.to_le_bytes())?;
                    put(&products.to_le_bytes())?;
                }
                match pairs {
                    PairList::All => Ok(()),
                    PairList::Listed(pairs) => pairs.write(put),
                }
            }
            Content::Structure(structure) => structure.write(put),
            Content::Head(Head::None) => Ok(()),
            Content::Head(Head::Perceptron(layers)) => layers.write(put),
            Content::Weights(Weights::F32(weights)) => weights.write(put),
            Content::Weights(Weights::F16(weights)) => weights.write(put),
            Content::Weights(Weights::I8 { weights, .. }) => weights.write(put),
            Content::Weights(Weights::I32 { roots, .. }) => roots.write(put),
        }
    }
}
