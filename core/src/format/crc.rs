//! CRC-32/ISO-HDLC, the checksum of zlib and PNG: polynomial edb88320 reflected, begun with and inverted by ffffffff.

/// What four bits become: 64 bytes of flash, and two look-ups a byte.
const TABLE: [u32; 16] = {
    let mut table = [0; 16];
    let mut nibble = 0;
    while nibble < 16 {
        let (mut crc, mut bit) = (nibble as u32, 0);
        while bit < 4 {
            let feedback = if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
            crc = (crc >> 1) ^ feedback;
            bit += 1;
        }
        table[nibble] = crc;
        nibble += 1;
    }
    table
};

/// The checksum of these bytes.
pub(crate) const fn checksum(mut bytes: &[u8]) -> u32 {
    let mut crc = !0;
    while let Some((byte, rest)) = bytes.split_first() {
        crc ^= *byte as u32;
        crc = crc >> 4 ^ TABLE[(crc & 15) as usize];
        crc = crc >> 4 ^ TABLE[(crc & 15) as usize];
        bytes = rest;
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn the_nine_digits_have_the_checksum_of_every_catalogue() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
        assert_eq!(checksum(b""), 0);
    }
}
