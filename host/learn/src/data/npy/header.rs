//! The header of a `.npy` file: a dictionary, `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
//!
//! Anyone may have written it: no length is believed before it is compared with the file's, nothing recurses, and the
//! product of the shape fits 64 bits.

use std::fs::File;
use std::io::{self, Read};

/// NumPy refuses longer headers, too; one of a plain array has 118 bytes.
const LONGEST: usize = 10_000;
const MAGIC: [u8; 6] = *b"\x93NUMPY";
const ARCHIVE_MAGIC: [u8; 4] = *b"PK\x03\x04";
/// The data begin at a multiple of this.
const ALIGNMENT: usize = 64;

/// What a header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    /// The type of the elements, in the words of NumPy's array interface: `<f8`.
    pub(super) descr: String,
    /// Whether the first index is fastest.
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<u64>,
}

/// Why a header was refused.
#[derive(Debug)]
pub(super) enum Refused {
    /// The file could not be read.
    Io(io::Error),
    /// What is wrong, and what to do.
    Because(String, &'static str),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Refused::Io(error)
    }
}

fn because<T>(what: impl Into<String>) -> Result<T, Refused> {
    Err(Refused::Because(
        what.into(),
        "save it again with numpy.save",
    ))
}

/// Reads the header of a file of `length` bytes, and says at which byte the data begin.
pub(super) fn read(file: &mut File, length: u64) -> Result<(Header, u64), Refused> {
    let mut bytes = Vec::new();
    let mut take = |bytes: &mut Vec<u8>, count: usize| {
        let read = file.by_ref().take(count as u64).read_to_end(bytes)?;
        Ok::<_, io::Error>(read == count)
    };
    let whole = take(&mut bytes, 10)?;
    if bytes.starts_with(&ARCHIVE_MAGIC) {
        return Err(Refused::Because(
            "is an archive of arrays (.npz)".into(),
            "save the array by itself with numpy.save",
        ));
    }
    if !bytes.starts_with(&MAGIC) {
        return Err(Refused::Because(
            "not a NumPy array: the first bytes are not \"\\x93NUMPY\"".into(),
            "save it with numpy.save, or name CSV .csv",
        ));
    }
    if !whole {
        return because("the file ends in its header");
    }
    let version = bytes[6];
    let text_length = match version {
        1 => u32::from(u16::from_le_bytes([bytes[8], bytes[9]])),
        // Version 2 and 3 have a length of four bytes.
        2 | 3 if take(&mut bytes, 2)? => {
            u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]])
        }
        2 | 3 => return because("the file ends in its header"),
        _ => return because(format!(".npy version {version} is not known")),
    };
    let begin = bytes.len();
    let text_length = match usize::try_from(text_length) {
        Ok(text_length) if text_length <= LONGEST => text_length,
        _ => {
            return because(format!(
                "the header claims {text_length} bytes, more than {LONGEST}"
            ));
        }
    };
    if !take(&mut bytes, text_length)? || bytes.len() as u64 > length {
        return because("the file ends in its header");
    }
    let Ok(text) = std::str::from_utf8(&bytes[begin..]) else {
        return because("the header does not decode: it is not UTF-8");
    };
    Ok((parse(text)?, bytes.len() as u64))
}

/// The three entries of the dictionary, in any order.
fn parse(text: &str) -> Result<Header, Refused> {
    let mut text = Text(text.trim());
    let (mut descr, mut fortran_order, mut shape) = (None, None, None);
    text.expect("{")?;
    while !text.skip("}") {
        let name = text.string()?;
        text.expect(":")?;
        match name {
            "descr" if text.0.starts_with('[') => {
                return Err(Refused::Because(
                    "the elements are structured".into(),
                    "save one of their fields, X[\"field\"]",
                ));
            }
            "descr" => descr = Some(text.string()?.to_owned()),
            "fortran_order" if text.skip("True") => fortran_order = Some(true),
            "fortran_order" if text.skip("False") => fortran_order = Some(false),
            "shape" => shape = Some(text.shape()?),
            _ => return text.undecoded(),
        }
        if !text.skip(",") {
            text.expect("}")?;
            break;
        }
    }
    let (Some(descr), Some(fortran_order), Some(shape), "") = (descr, fortran_order, shape, text.0)
    else {
        return text.undecoded();
    };
    Ok(Header {
        descr,
        fortran_order,
        shape,
    })
}

/// What is left of the text; blanks are skipped behind every word.
struct Text<'a>(&'a str);

impl<'a> Text<'a> {
    fn skip(&mut self, word: &str) -> bool {
        let rest = self.0.strip_prefix(word);
        self.0 = rest.map_or(self.0, str::trim_start);
        rest.is_some()
    }

    fn expect(&mut self, word: &str) -> Result<(), Refused> {
        if self.skip(word) {
            return Ok(());
        }
        self.undecoded()
    }

    fn undecoded<T>(&self) -> Result<T, Refused> {
        let at: String = self.0.chars().take(12).collect();
        because(format!("the header does not decode at {at:?}"))
    }

    /// In either kind of quotes, without escapes.
    fn string(&mut self) -> Result<&'a str, Refused> {
        let quote = match self.0.chars().next() {
            Some(quote @ ('\'' | '"')) => quote,
            _ => return self.undecoded(),
        };
        match self.0[1..].split_once(quote) {
            Some((string, _)) if string.contains('\\') => {
                because("the header has an escape in a name")
            }
            Some((string, rest)) => {
                self.0 = rest.trim_start();
                Ok(string)
            }
            None => self.undecoded(),
        }
    }

    /// Whole numbers in brackets, whose product fits 64 bits even where one of them is zero.
    fn shape(&mut self) -> Result<Vec<u64>, Refused> {
        self.expect("(")?;
        let (mut shape, mut elements) = (Vec::new(), 1_u64);
        while !self.skip(")") {
            if self.0.starts_with(['(', '{', '[']) {
                return because("the header has brackets in brackets");
            }
            let end = self.0.find(|letter: char| !letter.is_ascii_digit());
            let (digits, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
            if digits.is_empty() {
                return self.undecoded();
            }
            let Ok(dimension) = digits.parse::<u64>() else {
                return because("a dimension is larger than any file");
            };
            match elements.checked_mul(dimension.max(1)) {
                Some(product) => elements = product,
                None => return because("the shape has more elements than any file"),
            }
            shape.push(dimension);
            self.0 = rest.trim_start();
            if !self.skip(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(shape)
    }
}

/// The bytes of a header of version 1, which the elements follow in C order.
pub(super) fn write(descr: &str, shape: [u64; 2]) -> Vec<u8> {
    let [rows, columns] = shape;
    let mut text =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({rows}, {columns}, ), }}");
    let before = MAGIC.len() + 4;
    let whole = (before + text.len() + 1).next_multiple_of(ALIGNMENT);
    text.extend(std::iter::repeat_n(' ', whole - before - text.len() - 1));
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    // Two numbers of at most 20 digits.
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_numpy_writes_is_read_in_any_order_and_with_either_quotes() {
        for (text, descr, fortran_order, shape) in [
            (
                "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }     \n",
                "<f8",
                false,
                &[3, 4][..],
            ),
            (
                "{'shape': (), 'descr': '|b1', 'fortran_order': True}",
                "|b1",
                true,
                &[],
            ),
            (
                "{\"descr\":\"<c16\",\"fortran_order\":False,\"shape\":(0,18446744073709551615,)}",
                "<c16",
                false,
                &[0, u64::MAX],
            ),
        ] {
            let expected = Header {
                descr: descr.into(),
                fortran_order,
                shape: shape.to_vec(),
            };
            assert_eq!(parse(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_and_aligned() {
        for shape in [[1, 1], [0, 7], [u64::MAX, 1], [123_456, 789]] {
            let bytes = write("<c8", shape);
            assert_eq!(bytes.len() % ALIGNMENT, 0);
            let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
            assert_eq!(10 + length, bytes.len());
            let header = parse(std::str::from_utf8(&bytes[10..]).unwrap()).unwrap();
            assert_eq!(
                (header.descr.as_str(), &header.shape[..]),
                ("<c8", &shape[..])
            );
        }
    }

    #[test]
    fn what_numpy_does_not_write_is_refused() {
        let whole =
            |shape: &str| format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}");
        let nested = whole(&"(".repeat(9_000));
        for text in [
            whole("(4294967296, 4294967296)"),
            whole("(4294967296, 4294967296, 0)"),
            whole("(18446744073709551616,)"),
            whole("(1+1, 2)"),
            whole("(0xffffffffffffffff, 2)"),
            whole("(9_9, 2)"),
            whole("((1, 2), 3)"),
            whole("(1 2)"),
            whole("(,)"),
            whole("3"),
            whole("(3, 4)") + "x",
            whole("(3, 4), 'more': 1"),
            format!("{{{}}}", whole("(1, 2)")),
            "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1, 2)}".into(),
            "{'descr': '<f8', 'shape': (1, 2)}".into(),
            "{'sha\\'pe': (1, 2)}".into(),
            "{'descr': [('x', '<f4')]}".into(),
            "{'descr".into(),
            String::new(),
            nested,
        ] {
            assert!(matches!(parse(&text), Err(Refused::Because(..))), "{text}");
        }
    }
}
