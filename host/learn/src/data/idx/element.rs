//! The types of numbers an IDX file can hold, by their code.

/// What the numbers of a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    U8,
    I8,
    I16,
    I32,
    F32,
    F64,
}

impl Element {
    /// The one with this code, the third byte of a file.
    pub(super) fn of(code: u8) -> Option<Self> {
        Some(match code {
            0x08 => Element::U8,
            0x09 => Element::I8,
            0x0b => Element::I16,
            0x0c => Element::I32,
            0x0d => Element::F32,
            0x0e => Element::F64,
            _ => return None,
        })
    }

    /// Bytes of one.
    pub(super) fn size(self) -> usize {
        match self {
            Element::U8 | Element::I8 => 1,
            Element::I16 => 2,
            Element::I32 | Element::F32 => 4,
            Element::F64 => 8,
        }
    }

    /// The number in as many bytes as it has, the highest first.
    pub(super) fn value(self, bytes: &[u8]) -> f64 {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let [a, b, c, d, ..] = wide;
        match self {
            Element::U8 => a.into(),
            Element::I8 => i8::from_be_bytes([a]).into(),
            Element::I16 => i16::from_be_bytes([a, b]).into(),
            Element::I32 => i32::from_be_bytes([a, b, c, d]).into(),
            Element::F32 => f32::from_be_bytes([a, b, c, d]).into(),
            Element::F64 => f64::from_be_bytes(wide),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_numeric_type_is_read() {
        for (code, bytes, value) in [
            (0x08, &[200][..], 200.0),
            (0x09, &[200], -56.0),
            (0x0b, &[0xff, 0xfe], -2.0),
            (0x0c, &[0, 1, 0, 0], 65_536.0),
            (0x0d, &1.5_f32.to_be_bytes(), 1.5),
            (0x0e, &(-0.1_f64).to_be_bytes(), -0.1),
        ] {
            let element = Element::of(code).unwrap();
            assert_eq!((element.size(), element.value(bytes)), (bytes.len(), value));
        }
        assert_eq!(Element::of(0x0a), None);
    }
}
