//! Files as one .zip, stored as they are: for each a local header and its bytes, then a directory of all (PKWARE's APPNOTE,
//! 4.3). The same files give the same bytes: every date is the format's first, 1 January 1980.

use bispectral_learn::model::firmware::ProjectFile;
use crc::{CRC_32_ISO_HDLC, Crc, NoTable};

const CRC: Crc<u32, NoTable> = Crc::<u32, NoTable>::new(&CRC_32_ISO_HDLC);
/// 2.0: folders, and nothing newer.
const VERSION: u16 = 20;
/// Names are UTF-8.
const UTF8: u16 = 1 << 11;
/// Day 1 of month 1 of year 0.
const DATE: u16 = (1 << 5) | 1;

/// The archive, everything in one folder.
///
/// ```
/// let archive = bispectral_firmware::zip("blinky", &[("src/main.rs".into(), b"fn main() {}\n".to_vec())]);
/// assert!(archive.starts_with(b"PK\x03\x04"));
/// ```
///
/// # Panics
/// Files of 4 GiB, or 65,536 of them, which this form of the format does not hold.
#[must_use]
pub fn zip(folder: &str, files: &[ProjectFile]) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in files {
        let name = format!("{folder}/{name}");
        let at = length(archive.len());
        let common = common(&name, bytes);
        archive.extend(b"PK\x03\x04");
        archive.extend(&common);
        archive.extend(name.as_bytes());
        archive.extend(bytes);
        directory.extend(b"PK\x01\x02");
        directory.extend(VERSION.to_le_bytes());
        directory.extend(&common);
        // No comment, on this disk, no attributes.
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let at = length(archive.len());
    archive.extend(&directory);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    let count = u16::try_from(files.len()).expect("fewer than 65,536 files");
    archive.extend([count.to_le_bytes(); 2].concat());
    archive.extend(length(directory.len()).to_le_bytes());
    archive.extend(at.to_le_bytes());
    archive.extend([0; 2]);
    archive
}

fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).expect("less than 4 GiB")
}

/// What both headers of a file have: version, flags, method, time, date, checksum, both sizes, the lengths of name and extra field.
fn common(name: &str, bytes: &[u8]) -> Vec<u8> {
    let stored = 0_u16;
    let midnight = 0_u16;
    let mut head = Vec::new();
    for number in [VERSION, UTF8, stored, midnight, DATE] {
        head.extend(number.to_le_bytes());
    }
    head.extend(CRC.checksum(bytes).to_le_bytes());
    head.extend([length(bytes.len()).to_le_bytes(); 2].concat());
    let letters = u16::try_from(name.len()).expect("a name of less than 64 KiB");
    head.extend(letters.to_le_bytes());
    head.extend([0; 2]);
    head
}
