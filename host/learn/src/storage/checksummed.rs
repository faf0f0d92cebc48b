//! Postcard behind a magic and a version and before a CRC-32, written to a new file and renamed, so that there is always
//! a whole one. For files that only this program reads.

use super::{NewFile, read_file};
use crate::limits::MOST_CHECKPOINT_BYTES;
use crate::{Error, Result};
use crc::{CRC_32_ISO_HDLC, Crc, Table};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// Sixteen tables, the fastest of the crate.
pub(crate) const CRC: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISO_HDLC);

/// A kind of file.
pub(crate) struct Checksummed {
    pub(crate) magic: [u8; 4],
    pub(crate) version: u8,
    /// What is in it, with its article.
    pub(crate) what: &'static str,
    /// What to do where another file was named.
    pub(crate) named: &'static str,
    /// What to do where it is damaged.
    pub(crate) damaged: &'static str,
}

impl Checksummed {
    /// Replaces the file at `path`; where that cannot be done, the old one stays.
    pub(crate) fn write(&self, path: &Path, value: &impl Serialize) -> Result<()> {
        let mut file = NewFile::create(path, true)?;
        file.write(&self.encode(value))?;
        file.commit()
    }

    /// All bytes of the file.
    pub(crate) fn encode(&self, value: &impl Serialize) -> Vec<u8> {
        let mut bytes = self.magic.to_vec();
        bytes.push(self.version);
        let mut bytes = postcard::to_extend(value, bytes).expect("vectors and numbers serialise");
        let crc = CRC.checksum(&bytes);
        bytes.extend(crc.to_le_bytes());
        bytes
    }

    /// Reads the file at `path`: whatever its bytes, a value or one line.
    pub(crate) fn read<T: DeserializeOwned>(&self, path: &Path) -> Result<T> {
        let bytes = read_file(path, self.what, MOST_CHECKPOINT_BYTES)?;
        self.decode(path, &bytes)
    }

    /// Of the bytes of a file; `path` is what they are called in messages.
    pub(crate) fn decode<T: DeserializeOwned>(&self, path: &Path, bytes: &[u8]) -> Result<T> {
        let damaged = |what: &str| Error::file(path, what, self.damaged);
        let (message, crc) = bytes
            .split_last_chunk::<4>()
            .ok_or_else(|| damaged("it is truncated"))?;
        let Some(content) = message.strip_prefix(&self.magic) else {
            let what = format!("it is not {}", self.what);
            return Err(Error::file(path, what, self.named));
        };
        let (&version, content) = content
            .split_first()
            .ok_or_else(|| damaged("it is truncated"))?;
        if version != self.version {
            let Checksummed { version: own, .. } = self;
            let what = format!("it has version {version}, this program reads {own}");
            return Err(Error::file(path, what, "use the program that wrote it"));
        }
        if CRC.checksum(message) != u32::from_le_bytes(*crc) {
            return Err(damaged("its checksum differs, it is damaged"));
        }
        postcard::from_bytes(content).map_err(|_| damaged("its fields do not decode"))
    }
}
