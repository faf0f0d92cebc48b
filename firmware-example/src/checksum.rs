//! CRC-32 of numbers, bit by bit: what the host compares.

use crc::{CRC_32_ISO_HDLC, Crc, Digest, Table};

pub static CRC: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);

pub fn update(digest: &mut Digest<'_, u32, Table<1>>, value: f32) {
    digest.update(&value.to_bits().to_le_bytes());
}
