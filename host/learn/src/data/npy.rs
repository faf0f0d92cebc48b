//! Arrays as NumPy saves them, read a block of rows at a time: either order, either endianness.

mod header;
mod shape;

use crate::{Error, Result};
use half::f16;
use header::Refused;
use ndarray::ArrayView2;
use num_complex::{Complex32, Complex64};
use shape::Shape;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What an array's elements are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Element {
    /// A signed integer of this many bytes.
    Int(u8),
    /// An unsigned integer of this many bytes.
    Uint(u8),
    /// IEEE 754 binary16.
    Float16,
    /// An f32.
    Float32,
    /// An f64.
    Float64,
    /// Two f32.
    Complex64,
    /// Two f64.
    Complex128,
}

impl Element {
    /// Whether it has an imaginary part.
    #[must_use]
    pub fn is_complex(self) -> bool {
        matches!(self, Element::Complex64 | Element::Complex128)
    }

    /// Whether it is an integer.
    #[must_use]
    pub fn is_integer(self) -> bool {
        matches!(self, Element::Int(_) | Element::Uint(_))
    }

    /// Bytes of one.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Element::Int(size) | Element::Uint(size) => size.into(),
            Element::Float16 => 2,
            Element::Float32 => 4,
            Element::Float64 | Element::Complex64 => 8,
            Element::Complex128 => 16,
        }
    }

    /// Of a type in the words of NumPy's array interface: byte order, kind and bytes, `<f8`.
    fn of(descr: &str) -> std::result::Result<Self, String> {
        let mut letters = descr.chars();
        let (order, kind, size) = (letters.next(), letters.next(), letters.as_str());
        if !matches!(order, Some('<' | '>' | '|' | '=')) {
            return Err(format!(
                "the header does not decode: no type is called '{}'",
                descr.escape_debug()
            ));
        }
        Ok(match (kind, size.parse::<u8>().unwrap_or(0)) {
            (Some('i'), size @ (1 | 2 | 4 | 8)) => Element::Int(size),
            (Some('u'), size @ (1 | 2 | 4 | 8)) => Element::Uint(size),
            (Some('f'), 2) => Element::Float16,
            (Some('f'), 4) => Element::Float32,
            (Some('f'), 8) => Element::Float64,
            (Some('c'), 8) => Element::Complex64,
            (Some('c'), 16) => Element::Complex128,
            (Some('b'), _) => return Err("the elements are bool".into()),
            (Some('S' | 'a' | 'U'), _) => return Err("the elements are strings".into()),
            (Some('O'), _) => return Err("the elements are Python objects".into()),
            _ => {
                return Err(format!(
                    "the elements are of type '{}'",
                    descr.escape_debug()
                ));
            }
        })
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Element::Int(size) => write!(f, "int{}", 8 * size),
            Element::Uint(size) => write!(f, "uint{}", 8 * size),
            Element::Float16 => f.write_str("float16"),
            Element::Float32 => f.write_str("float32"),
            Element::Float64 => f.write_str("float64"),
            Element::Complex64 => f.write_str("complex64"),
            Element::Complex128 => f.write_str("complex128"),
        }
    }
}

/// A numeric array in a `.npy` file, of one or two dimensions; a single dimension is one row.
///
/// ```
/// use bispectral_learn::data::npy::{Array, Element, header};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("X.npy");
/// let mut bytes = header(Element::Float32, [2, 3]);
/// bytes.extend([1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0].iter().flat_map(|x| x.to_le_bytes()));
/// std::fs::write(&path, bytes)?;
///
/// let mut array = Array::open(&path)?;
/// assert_eq!((array.rows(), array.columns()), (2, 3));
/// assert_eq!(array.read(1..2)?[2].re, 6.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Array {
    path: PathBuf,
    file: File,
    begin: u64,
    element: Element,
    /// Whether the most significant byte of a number comes first.
    big_endian: bool,
    fortran_order: bool,
    shape: Shape,
    bytes: Vec<u8>,
    values: Vec<Complex64>,
}

impl Array {
    /// Reads the header of the file at `path` and compares it with the file's size.
    ///
    /// # Errors
    /// It is not a `.npy` file, or damaged, or its elements are not numbers, or it has none, or other than one or two
    /// dimensions.
    pub fn open(path: &Path) -> Result<Self> {
        Array::open_as(path, false)
    }

    /// As [`open`](Self::open), and also images, of shape [samples, height, width]: each is a row.
    ///
    /// # Errors
    /// As those of `open`.
    pub fn open_images(path: &Path) -> Result<Self> {
        Array::open_as(path, true)
    }

    fn open_as(path: &Path, images: bool) -> Result<Self> {
        let (mut file, length) = crate::storage::open_file(path)?;
        let (header, begin) = header_of(path, &mut file, length)?;
        let element = Element::of(&header.descr).map_err(|what| {
            let remedy = "save numbers: X.astype(\"float32\"), or \"complex64\" for weights; words: y.astype(str)";
            Error::file(path, what, remedy)
        })?;
        let shape = Shape::new(&header.shape, images)
            .map_err(|(what, remedy)| Error::file(path, what, remedy))?;
        shape
            .check_size(element, length - begin)
            .map_err(|what| Error::file(path, what, "copy or save it again"))?;
        Ok(Array {
            path: path.to_owned(),
            file,
            begin,
            element,
            big_endian: header.descr.starts_with('>'),
            fortran_order: header.fortran_order,
            shape,
            bytes: Vec::new(),
            values: Vec::new(),
        })
    }

    /// How many rows there are; at least one.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.shape.rows
    }

    /// How many elements a row has; at least one.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.shape.columns
    }

    /// Height and width, where each row is an image.
    #[must_use]
    pub fn image(&self) -> Option<(usize, usize)> {
        self.shape.image
    }

    /// One or two; three of images.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.shape.dimensions
    }

    /// What the elements are.
    #[must_use]
    pub fn element(&self) -> Element {
        self.element
    }

    /// The rows `rows`, one behind the other; those past the end are left out.
    ///
    /// # Errors
    /// The file cannot be read, or there is no memory for as many rows.
    pub fn read(&mut self, rows: Range<usize>) -> Result<&[Complex64]> {
        let rows = rows.start.min(self.rows())..rows.end.min(self.rows());
        self.read_rows(rows)
            .map_err(|error| Error::reading(&self.path, &error))?;
        Ok(&self.values)
    }

    fn read_rows(&mut self, rows: Range<usize>) -> io::Result<()> {
        let (count, columns) = (rows.len(), self.columns());
        let elements = count
            .checked_mul(columns)
            .ok_or(io::ErrorKind::OutOfMemory)?;
        self.values.clear();
        self.values.try_reserve(elements)?;
        self.values.resize(elements, Complex64::ZERO);
        // Of a file in Fortran order, a block of rows is a piece of every column.
        let (first, runs, length, run_stride, stride) = if self.fortran_order {
            (rows.start, columns, count, self.rows(), columns)
        } else {
            (rows.start * columns, 1, elements, 0, 1)
        };
        self.bytes
            .try_reserve(length.saturating_mul(self.element.size()))?;
        self.bytes.resize(length * self.element.size(), 0);
        for run in 0..runs {
            let at = (first + run * run_stride) as u64 * self.element.size() as u64;
            self.file.seek(SeekFrom::Start(self.begin + at))?;
            self.file.read_exact(&mut self.bytes)?;
            let column = self.shape.fortran_column(run);
            let values = self.values.iter_mut().skip(column).step_by(stride);
            decode(self.element, self.big_endian, &self.bytes, values);
        }
        Ok(())
    }
}

fn header_of(path: &Path, file: &mut File, length: u64) -> Result<(header::Header, u64)> {
    header::read(file, length).map_err(|refused| match refused {
        Refused::Io(error) => Error::reading(path, &error),
        Refused::Because(what, remedy) => Error::file(path, what, remedy),
    })
}

/// The strings in the file at `path`, whatever its shape; none where it holds something else.
///
/// # Errors
/// It is not a `.npy` file, or damaged.
pub(super) fn strings(path: &Path) -> Result<Option<Vec<String>>> {
    let (mut file, length) = crate::storage::open_file(path)?;
    let (header, begin) = header_of(path, &mut file, length)?;
    let mut letters = header.descr.chars();
    let big_endian = letters.next() == Some('>');
    // Characters of four bytes each, or bytes; the rest of an element is zero.
    let width = match letters.next() {
        Some('U') => 4,
        Some('S' | 'a') => 1,
        _ => return Ok(None),
    };
    let size = letters.as_str().parse::<u64>().unwrap_or(0) * width;
    let count: u64 = header.shape.iter().product();
    if size == 0 || count.checked_mul(size) != Some(length - begin) {
        let what = format!(
            "the data are not {count} strings of type '{}'",
            header.descr.escape_debug()
        );
        return Err(Error::file(path, what, "copy or save it again"));
    }
    let room = usize::try_from(length - begin).unwrap_or(usize::MAX);
    let mut bytes = crate::limits::memory::vector(path, "strings", room)?;
    let read = file.take(length - begin).read_to_end(&mut bytes);
    read.map_err(|error| Error::reading(path, &error))?;
    let letter = |bytes: &[u8]| match *bytes {
        [byte] => char::from(byte),
        [a, b, c, d] => {
            let bytes = [a, b, c, d];
            let code = if big_endian {
                u32::from_be_bytes(bytes)
            } else {
                u32::from_le_bytes(bytes)
            };
            char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        _ => '\0',
    };
    let string = |bytes: &[u8]| -> String {
        let letters: String = bytes.chunks(width as usize).map(letter).collect();
        letters.trim_end_matches('\0').to_owned()
    };
    Ok(Some(bytes.chunks(size as usize).map(string).collect()))
}

/// Elements in the order of the bytes, to the values in theirs.
fn decode<'v>(
    element: Element,
    big_endian: bool,
    bytes: &[u8],
    values: impl Iterator<Item = &'v mut Complex64>,
) {
    let part = element.size() / if element.is_complex() { 2 } else { 1 };
    // The least significant byte first, filled up with zeros.
    let number = |bytes: &[u8]| {
        let mut number = [0; 8];
        number[..part].copy_from_slice(bytes);
        if big_endian {
            number[..part].reverse();
        }
        number
    };
    let real = |bytes: &[u8]| {
        let number = number(bytes);
        let narrow = [number[0], number[1], number[2], number[3]];
        match element {
            Element::Int(size) => {
                let unused = 64 - 8 * u32::from(size);
                ((i64::from_le_bytes(number) << unused) >> unused) as f64
            }
            Element::Uint(_) => u64::from_le_bytes(number) as f64,
            Element::Float16 => f16::from_le_bytes([number[0], number[1]]).into(),
            Element::Float32 | Element::Complex64 => f32::from_le_bytes(narrow).into(),
            Element::Float64 | Element::Complex128 => f64::from_le_bytes(number),
        }
    };
    for (value, bytes) in values.zip(bytes.chunks_exact(element.size())) {
        let (re, im) = bytes.split_at(part);
        *value = Complex64::new(real(re), if im.is_empty() { 0.0 } else { real(im) });
    }
}

/// The header of a `.npy` file of little-endian elements in C order; the elements are to follow.
///
/// ```
/// use bispectral_learn::data::npy::{Element, header};
///
/// assert!(header(Element::Complex64, [10, 4]).starts_with(b"\x93NUMPY\x01\x00"));
/// ```
#[must_use]
pub fn header(element: Element, shape: [u64; 2]) -> Vec<u8> {
    let (endianness, kind) = match element {
        Element::Int(1) => ('|', 'i'),
        Element::Uint(1) => ('|', 'u'),
        Element::Int(_) => ('<', 'i'),
        Element::Uint(_) => ('<', 'u'),
        Element::Float16 | Element::Float32 | Element::Float64 => ('<', 'f'),
        Element::Complex64 | Element::Complex128 => ('<', 'c'),
    };
    header::write(&format!("{endianness}{kind}{}", element.size()), shape)
}

/// The bytes of a file that NumPy reads as complex64.
///
/// ```
/// use bispectral_learn::data::npy;
/// use bispectral_core::Complex32;
///
/// let w = ndarray::arr2(&[[Complex32::I, Complex32::ONE]]);
/// let bytes = npy::complex(&w.view());
/// assert_eq!(bytes[bytes.len() - 16..][4..8], 1.0_f32.to_le_bytes());
/// ```
#[must_use]
pub fn complex(array: &ArrayView2<'_, Complex32>) -> Vec<u8> {
    let shape = [array.nrows() as u64, array.ncols() as u64];
    let mut bytes = header(Element::Complex64, shape);
    let parts = array.iter().flat_map(|value| [value.re, value.im]);
    bytes.extend(parts.flat_map(f32::to_le_bytes));
    bytes
}

/// The bytes of a file that NumPy reads as float32.
#[must_use]
pub fn real(array: &ArrayView2<'_, f32>) -> Vec<u8> {
    let shape = [array.nrows() as u64, array.ncols() as u64];
    let mut bytes = header(Element::Float32, shape);
    bytes.extend(array.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A file of these bytes, in a folder that lives as long as the test.
    fn file(header: &[u8], data: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("X.npy");
        std::fs::write(&path, [header, data].concat()).unwrap();
        (folder, path)
    }

    fn real_parts(values: &[Complex64]) -> Vec<f64> {
        values.iter().map(|value| value.re).collect()
    }

    #[test]
    fn every_element_type_is_read_as_it_was_written() {
        for element in [
            Element::Int(1),
            Element::Int(2),
            Element::Int(4),
            Element::Int(8),
            Element::Uint(1),
            Element::Uint(2),
            Element::Uint(4),
            Element::Uint(8),
        ] {
            let bytes = [1_u8, 2, 3, 4, 5, 6].iter().flat_map(|&value| {
                let mut bytes = vec![0; element.size()];
                bytes[0] = value;
                bytes
            });
            let (_folder, path) = file(&header(element, [2, 3]), &bytes.collect::<Vec<_>>());
            let mut array = Array::open(&path).unwrap();
            assert_eq!(array.element(), element);
            assert_eq!(real_parts(array.read(0..1).unwrap()), [1.0, 2.0, 3.0]);
            assert_eq!(real_parts(array.read(1..9).unwrap()), [4.0, 5.0, 6.0]);
            assert!(array.read(2..3).unwrap().is_empty());
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(
            mutations in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
            keep in any::<prop::sample::Index>(),
        ) {
            let mut bytes = header(Element::Float32, [2, 3]);
            bytes.extend([0; 24]);
            for (place, byte) in mutations {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            // Every other file is whole.
            let keep = keep.index(2 * bytes.len()).min(bytes.len());
            let (_folder, path) = file(&bytes[..keep], &[]);
            if let Ok(mut array) = Array::open(&path) {
                let rows = array.rows();
                prop_assert!(array.read(0..rows).is_ok());
            }
        }
    }
}
