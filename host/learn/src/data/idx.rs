//! IDX, the format of MNIST: two zero bytes, the type, the number of dimensions, each as a big-endian u32, the data.
//!
//! Plain or compressed with gzip, told apart by the first bytes.

mod element;

use crate::limits::{MOST_IDX_BYTES, memory};
use crate::storage::open_file;
use crate::{Error, Result};
use element::Element;
use flate2::read::MultiGzDecoder;
use ndarray::Array3;
use std::io::{self, BufReader, Read, Seek};
use std::ops::Range;
use std::path::Path;

/// More dimensions than any data set has.
const MOST_DIMENSIONS: u8 = 8;

const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Numbers in an array of any dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idx {
    element: Element,
    shape: Vec<usize>,
    data: Vec<u8>,
}

/// What is wrong, and what to do about it.
type Refusal = (String, &'static str);

const COPY_AGAIN: &str = "copy or download it again";

/// The images of the file at `path`: [image, row, column].
///
/// # Errors
/// The file is damaged or not of this format, or holds something other than images of bytes.
///
/// ```
/// use bispectral_learn::data::idx;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("images-idx3-ubyte");
/// std::fs::write(&path, b"\0\0\x08\x03\0\0\0\x01\0\0\0\x02\0\0\0\x02\x09\x08\x07\x06")?;
/// assert_eq!(idx::images(&path)?, ndarray::arr3(&[[[9, 8], [7, 6]]]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn images(path: &Path) -> Result<Array3<u8>> {
    let idx = read(path)?;
    if let (Element::U8, &[count, height, width]) = (idx.element, &idx.shape[..]) {
        return Array3::from_shape_vec((count, height, width), idx.data)
            .map_err(|error| Error::file(path, error.to_string(), COPY_AGAIN));
    }
    Err(idx.is_not(
        path,
        "images of bytes",
        "name a file such as train-images-idx3-ubyte",
    ))
}

/// The labels of the file at `path`.
///
/// # Errors
/// The file is damaged or not of this format, or holds something other than a list of bytes.
pub fn labels(path: &Path) -> Result<Vec<u8>> {
    let idx = read(path)?;
    if let (Element::U8, [_]) = (idx.element, &idx.shape[..]) {
        return Ok(idx.data);
    }
    Err(idx.is_not(
        path,
        "labels of a byte each",
        "name a file such as train-labels-idx1-ubyte",
    ))
}

/// What is in the file at `path`, whatever its type and dimensions.
///
/// # Errors
/// The file is damaged, empty or not of this format.
pub fn read(path: &Path) -> Result<Idx> {
    let (mut source, length) = open(path)?;
    let refused = |(what, remedy): Refusal| Error::file(path, what, remedy);
    let header = Header::parse(&mut source).map_err(refused)?;
    memory::check_file(path, "its data", header.claimed)?;
    parse(source, header, length).map_err(refused)
}

/// How many numbers there are in each dimension of the file at `path`, by its header alone: a few compressed bytes can
/// claim gigabytes.
///
/// # Errors
/// The file is not of this format, or empty.
pub fn shape(path: &Path) -> Result<Vec<usize>> {
    let (mut source, _) = open(path)?;
    match Header::parse(&mut source) {
        Ok(header) => Ok(header.shape),
        Err((what, remedy)) => Err(Error::file(path, what, remedy)),
    }
}

/// The bytes of the file at `path`, decompressed, and how many they are where that is known.
fn open(path: &Path) -> Result<(Box<dyn Read>, Option<u64>)> {
    let (file, length) = open_file(path)?;
    let reading = |error| Error::reading(path, &error);
    let mut file = BufReader::new(file);
    let is_gzip = first_bytes::<2>(&mut file).map_err(reading)? == GZIP;
    file.rewind().map_err(reading)?;
    Ok(if is_gzip {
        (Box::new(MultiGzDecoder::new(file)), None)
    } else {
        (Box::new(file), Some(length))
    })
}

/// Whether the file at `path` begins as one of this format does, or as a compressed file.
pub(crate) fn is_idx(path: &Path) -> Result<bool> {
    let (mut file, _) = open_file(path)?;
    let begin: [u8; 3] = first_bytes(&mut file).map_err(|error| Error::reading(path, &error))?;
    Ok(begin.starts_with(&GZIP) || matches!(begin, [0, 0, code] if Element::of(code).is_some()))
}

/// The first bytes; of a shorter file, followed by 0xff.
fn first_bytes<const N: usize>(source: &mut impl Read) -> io::Result<[u8; N]> {
    let mut begin = Vec::with_capacity(N);
    source.take(N as u64).read_to_end(&mut begin)?;
    begin.resize(N, 0xff);
    Ok(begin.try_into().unwrap_or([0xff; N]))
}

/// What comes before the numbers.
struct Header {
    element: Element,
    shape: Vec<usize>,
    /// Bytes of the numbers.
    claimed: u64,
}

impl Header {
    fn parse(source: &mut impl Read) -> std::result::Result<Self, Refusal> {
        let begin: [u8; 4] = header(source)?;
        let (element, dimensions) = match begin {
            [0, 0, code, dimensions] => (Element::of(code), dimensions),
            _ => (None, 0),
        };
        let Some(element) = element else {
            let [a, b, c, d] = begin;
            return Err((
                format!("not an IDX file: it begins with {a:02x} {b:02x} {c:02x} {d:02x}"),
                "name a file such as train-images-idx3-ubyte.gz",
            ));
        };
        if dimensions == 0 || dimensions > MOST_DIMENSIONS {
            return Err((format!("the array has {dimensions} dimensions"), COPY_AGAIN));
        }
        let mut shape = Vec::new();
        let mut claimed = element.size() as u64;
        for _ in 0..dimensions {
            let extent = u32::from_be_bytes(header(source)?);
            shape.push(extent as usize);
            claimed = claimed.saturating_mul(extent.into());
        }
        if claimed == 0 {
            return Err((
                format!("the array is empty: its shape is {shape:?}"),
                "name a file with data",
            ));
        }
        if claimed > MOST_IDX_BYTES {
            return Err((
                format!("an array of shape {shape:?} has more than {MOST_IDX_BYTES} bytes"),
                "split it into smaller files",
            ));
        }
        Ok(Header {
            element,
            shape,
            claimed,
        })
    }
}

/// Reads the numbers behind `header`; `length` is what the file has, where that is known.
fn parse(
    source: impl Read,
    header: Header,
    length: Option<u64>,
) -> std::result::Result<Idx, Refusal> {
    let Header {
        element,
        shape,
        claimed,
    } = header;
    let header_length = 4 + 4 * shape.len() as u64;
    if let Some(length) = length {
        compare(&shape, claimed, length.saturating_sub(header_length))?;
    }
    // One more than there should be, to see whether there is.
    let mut data = Vec::new();
    let read = source.take(claimed + 1).read_to_end(&mut data);
    read.map_err(|error| damaged(&error))?;
    compare(&shape, claimed, data.len() as u64)?;
    Ok(Idx {
        element,
        shape,
        data,
    })
}

fn header<const N: usize>(source: &mut impl Read) -> std::result::Result<[u8; N], Refusal> {
    let mut bytes = [0; N];
    source
        .read_exact(&mut bytes)
        .map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => ("the header is truncated".into(), COPY_AGAIN),
            _ => damaged(&error),
        })?;
    Ok(bytes)
}

fn damaged(error: &io::Error) -> Refusal {
    match error.kind() {
        io::ErrorKind::OutOfMemory => (
            "no memory for its data".into(),
            "split it into smaller files",
        ),
        io::ErrorKind::UnexpectedEof => ("the compressed data are truncated".into(), COPY_AGAIN),
        _ => (format!("the data are damaged ({error})"), COPY_AGAIN),
    }
}

fn compare(shape: &[usize], claimed: u64, found: u64) -> std::result::Result<(), Refusal> {
    if found < claimed {
        let what =
            format!("the data are truncated: {found} bytes where shape {shape:?} has {claimed}");
        return Err((what, COPY_AGAIN));
    }
    if found > claimed {
        let what = format!("bytes follow the {claimed} of an array of shape {shape:?}");
        return Err((what, COPY_AGAIN));
    }
    Ok(())
}

impl Idx {
    /// How many there are in each dimension; none is zero.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Whether the numbers are bytes, 0 to 255.
    #[must_use]
    pub fn is_bytes(&self) -> bool {
        self.element == Element::U8
    }

    /// The numbers, the last dimension fastest.
    pub fn values(&self) -> impl Iterator<Item = f64> {
        self.data
            .chunks_exact(self.element.size())
            .map(|bytes| self.element.value(bytes))
    }

    /// The numbers of a range, in the same order.
    pub(crate) fn range(&self, range: Range<usize>) -> impl Iterator<Item = f64> {
        let size = self.element.size();
        let bytes = self.data.get(range.start * size..).unwrap_or_default();
        let numbers = bytes.chunks_exact(size).take(range.len());
        numbers.map(|bytes| self.element.value(bytes))
    }

    fn is_not(&self, path: &Path, what: &str, remedy: &str) -> Error {
        let found = format!("{:?} of shape {:?}", self.element, self.shape).to_lowercase();
        Error::file(path, format!("holds {found}, not {what}"), remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::random::{Purpose, stream};
    use flate2::{Compression, write::GzEncoder};
    use rand::RngExt;
    use std::io::Write;

    /// Two images of 3 × 4.
    fn two_images() -> Vec<u8> {
        let mut bytes = b"\0\0\x08\x03\0\0\0\x02\0\0\0\x03\0\0\0\x04".to_vec();
        bytes.extend(0..24);
        bytes
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn of_file<T>(bytes: &[u8], read: impl Fn(&Path) -> Result<T>) -> Result<T> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("idx");
        std::fs::write(&path, bytes).unwrap();
        read(&path)
    }

    #[test]
    fn images_are_read_plain_and_compressed() {
        let expected = Array3::from_shape_vec((2, 3, 4), (0..24).collect()).unwrap();
        assert_eq!(of_file(&two_images(), images).unwrap(), expected);
        assert_eq!(of_file(&gzip(&two_images()), images).unwrap(), expected);
        let in_two_members = [gzip(&two_images()[..20]), gzip(&two_images()[20..])].concat();
        assert_eq!(of_file(&in_two_members, images).unwrap(), expected);
    }

    #[test]
    fn labels_are_read_plain_and_compressed() {
        let bytes = b"\0\0\x08\x01\0\0\0\x03\x07\0\xff";
        assert_eq!(of_file(bytes, labels).unwrap(), [7, 0, 255]);
        assert_eq!(of_file(&gzip(bytes), labels).unwrap(), [7, 0, 255]);
    }

    #[test]
    fn damaged_files_are_refused_in_one_line() {
        let whole = two_images();
        let packed = gzip(&whole);
        let mut wrong_sum = packed.clone();
        let place = wrong_sum.len() - 8;
        wrong_sum[place] ^= 1;
        let longer = [&whole[..], &[0]].concat();
        let claim = |dimensions: &[u32]| {
            let extents = dimensions.iter().flat_map(|extent| extent.to_be_bytes());
            let begin = [0, 0, 8, dimensions.len() as u8];
            begin.into_iter().chain(extents).collect::<Vec<u8>>()
        };
        for (bytes, refusal) in [
            (&b""[..], "the header is truncated: "),
            (&whole[..9], "the header is truncated: "),
            (
                &whole[..39],
                "the data are truncated: 23 bytes where shape [2, 3, 4] has 24: ",
            ),
            (
                &gzip(&whole[..39]),
                "the data are truncated: 23 bytes where shape [2, 3, 4] has 24: ",
            ),
            (
                &longer,
                "bytes follow the 24 of an array of shape [2, 3, 4]: ",
            ),
            (
                &gzip(&longer),
                "bytes follow the 24 of an array of shape [2, 3, 4]: ",
            ),
            (
                &packed[..packed.len() - 9],
                "the compressed data are truncated: ",
            ),
            (
                &wrong_sum,
                "the data are damaged (corrupt gzip stream does not have a matching checksum): ",
            ),
            (
                b"\x89PNG\r\n",
                "not an IDX file: it begins with 89 50 4e 47: ",
            ),
            (
                b"\0\0\x07\x01\0\0\0\x01\0",
                "not an IDX file: it begins with 00 00 07 01: ",
            ),
            (&claim(&[]), "the array has 0 dimensions: "),
            (&claim(&[5, 0]), "the array is empty: its shape is [5, 0]: "),
            (&claim(&[u32::MAX; 8]), "an array of shape [4294967295, "),
            (
                &gzip(&claim(&[1 << 31])),
                "the data are truncated: 0 bytes where shape [2147483648] has 2147483648: ",
            ),
        ] {
            let line = of_file(bytes, images).unwrap_err().to_string();
            let line = line.split_once("idx: ").unwrap().1;
            assert!(line.starts_with(refusal), "{line}");
            assert!(!line.contains('\n'));
        }
    }

    #[test]
    fn other_contents_are_refused_by_what_they_are() {
        let line = of_file(&two_images(), labels).unwrap_err().to_string();
        assert!(
            line.contains(": holds u8 of shape [2, 3, 4], not labels of a byte each: "),
            "{line}"
        );
        let line = of_file(b"\0\0\x0c\x01\0\0\0\x01\0\0\0\x05", images)
            .unwrap_err()
            .to_string();
        assert!(
            line.contains(": holds i32 of shape [1], not images of bytes: "),
            "{line}"
        );
    }

    #[test]
    fn any_bytes_are_read_or_refused() {
        let mut random = stream(0, Purpose::Patches);
        let originals = [two_images(), gzip(&two_images())];
        for round in 0..4000 {
            let mut bytes = originals[round % 2].clone();
            for _ in 0..random.random_range(1..4) {
                let place = random.random_range(0..bytes.len());
                bytes[place] = random.random();
            }
            bytes.truncate(random.random_range(0..2 * bytes.len()).max(1));
            let length = (round % 2 == 0).then_some(bytes.len() as u64);
            let whole = |mut source: &mut dyn Read| {
                let header = Header::parse(&mut source)?;
                parse(source, header, length)
            };
            let parsed = if length.is_some() {
                whole(&mut &bytes[..])
            } else {
                whole(&mut MultiGzDecoder::new(&bytes[..]))
            };
            if let Ok(idx) = parsed {
                assert_eq!(idx.values().count(), idx.shape().iter().product::<usize>());
            }
        }
    }
}
