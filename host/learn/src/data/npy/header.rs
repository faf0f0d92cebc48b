//! The header of a `.npy` file: a dictionary, `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
//!
//! `npyz` reads it, but trusts it: it takes whatever memory the length field asks for, multiplies the shape without
//! a look at overflow, and its parser calls itself for every bracket, twice where one is not closed: 10,000 bytes with
//! eight brackets in brackets took it 50 s. So the text is screened first.

use npyz::NpyHeader;
use std::fs::File;
use std::io::{self, Read};

/// NumPy refuses longer headers, too; one of a plain array has 118 bytes.
const LONGEST: usize = 10_000;
const MAGIC: [u8; 6] = *b"\x93NUMPY";
const ARCHIVE_MAGIC: [u8; 4] = *b"PK\x03\x04";

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
pub(super) fn read(file: &mut File, length: u64) -> Result<(NpyHeader, u64), Refused> {
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
    screen(&bytes[begin..])?;
    match NpyHeader::from_reader(&bytes[..]) {
        Ok(header) => Ok((header, bytes.len() as u64)),
        Err(error) => because(format!(
            "the header does not decode ({})",
            first_line(&error)
        )),
    }
}

/// Lets pass what NumPy writes of plain elements: a tuple in a dictionary, no arithmetic, and numbers whose product
/// fits 64 bits.
fn screen(text: &[u8]) -> Result<(), Refused> {
    let (mut quote, mut depth, mut elements) = (None, 0_u8, 1_u64);
    let mut number = None;
    for &byte in text {
        if let Some(open) = quote {
            match byte {
                _ if byte == open => quote = None,
                b'\\' => return because("the header has an escape in a name"),
                _ => {}
            }
            continue;
        }
        if byte.is_ascii_digit() {
            let next = u64::from(byte - b'0');
            let value = number.unwrap_or(0_u64).checked_mul(10);
            number = value.and_then(|value| value.checked_add(next));
            if number.is_none() {
                return because("a dimension is larger than any file");
            }
            continue;
        }
        match elements.checked_mul(number.take().unwrap_or(1).max(1)) {
            Some(product) => elements = product,
            None => return because("the shape has more elements than any file"),
        }
        match byte {
            b'\'' | b'"' => quote = Some(byte),
            b'{' if depth == 0 => depth = 1,
            b'(' if depth == 1 => depth = 2,
            b')' | b'}' => depth = depth.saturating_sub(1),
            b'[' => {
                return Err(Refused::Because(
                    "the elements are structured".into(),
                    "save one of their fields, X[\"field\"]",
                ));
            }
            b'(' | b'{' => return because("the header has brackets in brackets"),
            // The letters are those of True and False.
            b' ' | b'\n' | b',' | b':' => {}
            b'T' | b'r' | b'u' | b'e' | b'F' | b'a' | b'l' | b's' => {}
            _ => return because("the header is not what NumPy writes"),
        }
    }
    Ok(())
}

/// The parser draws the place of its error over several lines.
fn first_line(error: &io::Error) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_numpy_writes_passes() {
        for text in [
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }     \n",
            "{'descr': '|b1', 'fortran_order': True, 'shape': (), }\n",
            "{'descr': '<c16', 'fortran_order': False, 'shape': (0, 18446744073709551615), }",
        ] {
            assert!(screen(text.as_bytes()).is_ok(), "{text}");
        }
    }

    #[test]
    fn what_would_overflow_or_recurse_is_refused() {
        let nested = "(".repeat(9_000);
        for text in [
            "{'shape': (4294967296, 4294967296)}",
            "{'shape': (4294967296, 4294967296, 0)}",
            "{'shape': (18446744073709551616,)}",
            "{'shape': (1+1, 2)}",
            "{'shape': (0xffffffffffffffff, 2)}",
            "{'shape': (9_9, 2)}",
            "{'sha\\'pe': (1, 2)}",
            "{'shape': ((1, 2), 3)}",
            "{{'shape': (1, 2)}}",
            "{'descr': [('x', '<f4')]}",
            &nested,
        ] {
            assert!(screen(text.as_bytes()).is_err(), "{text}");
        }
    }
}
