//! `.bsn` files: W and its name in the bytes that `bispectral-core` reads in place.

use super::form::Encoding;
use crate::group::Couplings;
use crate::limits::{MOST_MODEL_BYTES, memory};
use crate::storage::{NewFile, open_file};
use crate::{Error, Result};
use bispectral_core::format::{MAGIC, Parts, Weights};
use bispectral_core::{Complex32, Model};
use ndarray::{Array2, ArrayView2};
use std::io::Read;
use std::path::{Path, PathBuf};

/// A model's bytes and where they came from.
///
/// ```
/// use bispectral_learn::model::file::ModelFile;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/z4.bsn");
/// let file = ModelFile::read(path.as_ref())?;
/// assert_eq!(file.model()?.inputs(), 4);
/// # Ok::<(), bispectral_learn::Error>(())
/// ```
#[derive(Debug)]
pub struct ModelFile {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl ModelFile {
    /// Reads the file at `path`, of which [`model`](Self::model) makes sense.
    ///
    /// # Errors
    /// It cannot be read, or does not begin like a model.
    pub fn read(path: &Path) -> Result<Self> {
        let (mut file, length) = open_file(path)?;
        let reading = |error| Error::reading(path, &error);
        let mut bytes = Vec::new();
        file.by_ref()
            .take(MAGIC.len() as u64)
            .read_to_end(&mut bytes)
            .map_err(reading)?;
        // What does not begin like a model is not read any further, however long it is.
        if bytes.len() == MAGIC.len() && bytes != MAGIC {
            return Err(Error::model(path, bispectral_core::Error::Magic));
        }
        if length > MOST_MODEL_BYTES {
            return Err(Error::file(
                path,
                format!("{length} bytes are more than the 4 GiB of the largest model"),
                "copy or export it again",
            ));
        }
        let room = usize::try_from(length).unwrap_or(usize::MAX);
        let mut whole = memory::vector(path, "the model", room)?;
        whole.append(&mut bytes);
        file.take(length).read_to_end(&mut whole).map_err(reading)?;
        Ok(ModelFile {
            path: path.to_owned(),
            bytes: whole,
        })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All of the file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The CRC-32 at the end of the file; where it is wrong, [`model`](Self::model) says so.
    #[must_use]
    pub fn checksum(&self) -> u32 {
        let crc = self.bytes.last_chunk::<4>();
        crc.map_or(0, |crc| u32::from_le_bytes(*crc))
    }

    /// The model, once the core has checked every byte.
    ///
    /// # Errors
    /// What the core has against it.
    pub fn model(&self) -> Result<Model<'_>> {
        Model::from_bytes(&self.bytes).map_err(|error| Error::model(&self.path, error))
    }
}

/// The bytes of a model, which the core has checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelBytes {
    bytes: Vec<u8>,
}

impl ModelBytes {
    /// Of W, called `name`, whose rows are irreps of `group` where that is known.
    ///
    /// # Errors
    /// What the core has against W: too many rows or inputs, a weight that is not finite.
    pub fn of(
        w: &ArrayView2<'_, Complex32>,
        name: &str,
        group: Option<&str>,
    ) -> std::result::Result<Self, bispectral_core::Error> {
        let bytes = encode_array(w, name, group)?;
        Model::from_bytes(&bytes)?;
        Ok(ModelBytes { bytes })
    }

    /// Of bytes that came from anywhere.
    ///
    /// # Errors
    /// What the core has against them.
    pub fn from_bytes(bytes: Vec<u8>) -> std::result::Result<Self, bispectral_core::Error> {
        Model::from_bytes(&bytes)?;
        Ok(ModelBytes { bytes })
    }

    /// Of the file at `path`.
    ///
    /// # Errors
    /// It cannot be read, or is not a model.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let file = ModelFile::read(path.as_ref())?;
        file.model()?;
        Ok(ModelBytes { bytes: file.bytes })
    }

    /// Of couplings, called `name`, whose blocks are irreps of `group` where that is known; in f32.
    ///
    /// # Errors
    /// What the format has no room for.
    pub fn of_couplings(couplings: &Couplings, name: &str, group: Option<&str>) -> Result<Self> {
        let bytes = super::couplings::encode(couplings, Encoding::F32, name, group)?;
        Ok(ModelBytes { bytes })
    }

    /// All of them, as they are in a `.bsn` file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The model in them.
    ///
    /// # Panics
    /// Never: the bytes were checked when they were made.
    #[must_use]
    pub fn view(&self) -> Model<'_> {
        Model::from_bytes(&self.bytes).expect("checked when it was made")
    }

    /// Writes the file at `path`, whole or not at all; an older one is replaced.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let mut file = NewFile::create(path.as_ref(), true)?;
        file.write(&self.bytes)?;
        file.commit()
    }
}

/// W, as the core reads it; of couplings, U.
#[must_use]
pub fn weights(model: &Model<'_>) -> Array2<Complex32> {
    if let Some(couplings) = super::couplings::decode(model) {
        let real = |&u: &f64| Complex32::new(u as f32, 0.0);
        return couplings.basis().map(real);
    }
    Array2::from_shape_fn((model.rows(), model.inputs()), |(row, column)| {
        model.weight(row, column).unwrap_or_default()
    })
}

/// The bytes of a model file.
///
/// ```
/// use bispectral_learn::model::file::encode;
/// use bispectral_core::{Model, format::{Parts, Weights}};
///
/// let weights = Weights::F32((&[1.0, 0.0]).into());
/// let parts = Parts { inputs: 1, rows: 1, name: "one", weights, ..Parts::default() };
/// assert_eq!(Model::from_bytes(&encode(&parts)?)?.name(), "one");
/// # Ok::<(), bispectral_core::Error>(())
/// ```
///
/// # Errors
/// What the core has against the parts.
pub fn encode(parts: &Parts<'_>) -> std::result::Result<Vec<u8>, bispectral_core::Error> {
    let mut bytes = vec![0; parts.encoded_len()?];
    parts.write(&mut bytes)?;
    Ok(bytes)
}

/// W in the order of a model's weights: row after row, in each the real and then the imaginary parts.
#[must_use]
pub fn planar(w: &ArrayView2<'_, Complex32>) -> Vec<f32> {
    let parts = w.rows().into_iter().flat_map(|row| {
        let re: Vec<f32> = row.iter().map(|w| w.re).collect();
        re.into_iter().chain(row.into_iter().map(|w| w.im))
    });
    parts.collect()
}

/// A number of rows or inputs; one past u16 is past the core's largest, too, and refused as that.
pub(crate) fn dimension(length: usize) -> u16 {
    u16::try_from(length).unwrap_or(u16::MAX)
}

/// The bytes of a model file, from W.
///
/// # Errors
/// What the core has against W: too many rows or inputs, a weight that is not finite.
pub fn encode_array(
    w: &ArrayView2<'_, Complex32>,
    name: &str,
    group: Option<&str>,
) -> std::result::Result<Vec<u8>, bispectral_core::Error> {
    let weights = planar(w);
    encode(&Parts {
        inputs: dimension(w.ncols()),
        rows: dimension(w.nrows()),
        name,
        group,
        weights: Weights::F32((&weights).into()),
        ..Parts::default()
    })
}
