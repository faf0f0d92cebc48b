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
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    let step = |crc: u32| crc >> 4 ^ TABLE.get(crc as usize & 15).copied().unwrap_or_default();
    !bytes
        .iter()
        .fold(!0, |crc, byte| step(step(crc ^ u32::from(*byte))))
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
