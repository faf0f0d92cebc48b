//! Whether bytes are UTF-8, in a third of the flash that the standard library's check takes.

/// Whether `core::str::from_utf8` takes these bytes.
///
/// By RFC 3629, section 3: the ones in front of the lead byte are the bytes there are, each of the others has six bits, and what
/// they make is a character that needs as many.
#[inline(never)]
pub(crate) fn is_utf8(mut bytes: &[u8]) -> bool {
    while let Some((&lead, mut rest)) = bytes.split_first() {
        let length = lead.leading_ones();
        // One is what follows a lead byte has, and from five on no character needs as many.
        if length == 1 || length > 4 {
            return false;
        }
        let mut character = u32::from(lead) & (0x7f >> length);
        for _ in 1..length {
            let Some((&byte, behind)) = rest.split_first() else {
                return false;
            };
            if byte & 0xc0 != 0x80 {
                return false;
            }
            character = character << 6 | u32::from(byte & 0x3f);
            rest = behind;
        }
        // Two bytes have 11 bits, three 16 and four 21: fewer than 8, 12 and 17 would do with fewer bytes.
        let least = match length {
            0 => 0,
            2 => 0x80,
            3 => 0x800,
            _ => 0x1_0000,
        };
        if character < least || char::from_u32(character).is_none() {
            return false;
        }
        bytes = rest;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::is_utf8;

    #[test]
    #[cfg_attr(miri, ignore = "sixteen million runs")]
    fn every_run_of_three_bytes_is_taken_or_refused_as_by_the_standard_library() {
        for word in 0..1_u32 << 24 {
            let [a, b, c, _] = word.to_le_bytes();
            // Two bytes and fewer are the beginnings of these.
            let bytes = [a, b, c];
            assert_eq!(
                is_utf8(&bytes),
                core::str::from_utf8(&bytes).is_ok(),
                "{bytes:x?}"
            );
        }
    }

    #[test]
    fn four_bytes_around_every_bound_are_taken_or_refused_as_by_the_standard_library() {
        const BOUNDS: [u8; 16] = [
            0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xed, 0xef, 0xf0, 0xf3,
            0xf4, 0xf5,
        ];
        for at in 0..BOUNDS.len().pow(4) {
            let byte = |place: u32| BOUNDS[at / 16_usize.pow(place) % 16];
            let bytes = [byte(0), byte(1), byte(2), byte(3)];
            for length in 0..=4 {
                let bytes = &bytes[..length];
                assert_eq!(
                    is_utf8(bytes),
                    core::str::from_utf8(bytes).is_ok(),
                    "{bytes:x?}"
                );
            }
        }
    }
}
