//! PNG of any kind as luminance from 0 to 1.
//!
//! Colour becomes 0.2126 R + 0.7152 G + 0.0722 B (Rec. 709) of the stored values; an alpha channel is ignored.

use ::png::{BitDepth, ColorType, Decoder, DecodingError, Limits, Transformations};
use ndarray::Array2;
use std::io::{BufRead, ErrorKind, Seek, SeekFrom};

/// Photographs with more pixels are refused before there is memory for them.
const MOST_PIXELS: u64 = 64 << 20;
/// Four channels of 16 bits.
const MOST_BYTES_A_PIXEL: u64 = 8;

/// Deflate makes at most this many bytes of one: 258 of two bits.
const MOST_COMPRESSION: u64 = 1032;

/// Of red, green and blue: Rec. 709.
const LUMINANCE: [f32; 3] = [0.2126, 0.7152, 0.0722];

/// What is wrong, and what to do about it.
type Refusal = (String, &'static str);

/// A PNG as luminance from 0 to 1.
pub(crate) fn decode(mut source: impl BufRead + Seek) -> std::result::Result<Array2<f32>, Refusal> {
    let reading = |error| refused(&DecodingError::IoError(error));
    let length = source.seek(SeekFrom::End(0)).map_err(reading)?;
    source.rewind().map_err(reading)?;
    let limits = Limits {
        bytes: (MOST_PIXELS * MOST_BYTES_A_PIXEL) as usize,
    };
    let mut decoder = Decoder::new_with_limits(source, limits);
    // Palettes become colours, and less than 8 bits become 8.
    decoder.set_transformations(Transformations::EXPAND);
    let info = decoder
        .read_header_info()
        .map_err(|error| refused(&error))?;
    let (width, height) = (info.width, info.height);
    let count = u64::from(width) * u64::from(height);
    if count > MOST_PIXELS {
        return Err((
            format!("{width} × {height} pixels are more than {MOST_PIXELS}"),
            "scale the photograph down",
        ));
    }
    if count * info.bits_per_pixel() as u64 / 8 > length.saturating_mul(MOST_COMPRESSION) {
        return Err((
            format!("the picture is truncated: {length} bytes of {width} × {height} pixels"),
            "copy it again",
        ));
    }
    let mut reader = decoder.read_info().map_err(|error| refused(&error))?;
    let bytes = reader.output_buffer_size().unwrap_or(usize::MAX);
    let mut pixels = Vec::new();
    let no_memory = |_| {
        (
            format!("no memory for {width} × {height} pixels"),
            "scale the photograph down",
        )
    };
    pixels.try_reserve_exact(bytes).map_err(no_memory)?;
    pixels.resize(bytes, 0);
    let frame = reader
        .next_frame(&mut pixels)
        .map_err(|error| refused(&error))?;
    pixels.truncate(frame.buffer_size());
    let values = luminance(&pixels, frame.color_type, frame.bit_depth);
    Array2::from_shape_vec((height as usize, width as usize), values)
        .map_err(|_| ("the picture is damaged".into(), "save it again as PNG"))
}

fn luminance(pixels: &[u8], color: ColorType, depth: BitDepth) -> Vec<f32> {
    let channels = color.samples();
    let grey = |channels: &mut dyn Iterator<Item = f32>| -> f32 {
        if color == ColorType::Rgb || color == ColorType::Rgba {
            channels
                .zip(LUMINANCE)
                .map(|(value, weight)| value * weight)
                .sum()
        } else {
            channels.next().unwrap_or_default()
        }
    };
    if depth == BitDepth::Sixteen {
        let value = |pair: &[u8]| f32::from(u16::from_be_bytes([pair[0], pair[1]])) / 65_535.0;
        let pixels = pixels.chunks_exact(2 * channels);
        pixels
            .map(|pixel| grey(&mut pixel.chunks_exact(2).map(value)))
            .collect()
    } else {
        let value = |&byte: &u8| f32::from(byte) / 255.0;
        let pixels = pixels.chunks_exact(channels);
        pixels
            .map(|pixel| grey(&mut pixel.iter().map(value)))
            .collect()
    }
}

fn refused(error: &DecodingError) -> Refusal {
    match error {
        DecodingError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => {
            ("the picture is truncated".into(), "copy it again")
        }
        DecodingError::IoError(error) => (
            format!("cannot be read ({error})"),
            "check the file and its disk",
        ),
        DecodingError::LimitsExceeded => (
            "the picture needs too much memory".into(),
            "scale the photograph down",
        ),
        error => (format!("not a valid PNG ({error})"), "save it again as PNG"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bispectral_learn::numeric::random::{Purpose, stream};
    use flate2::Crc;
    use rand::RngExt;
    use std::io::Cursor;

    fn encode(width: u32, height: u32, color: ColorType, depth: BitDepth, data: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = ::png::Encoder::new(&mut bytes, width, height);
        encoder.set_color(color);
        encoder.set_depth(depth);
        if color == ColorType::Indexed {
            encoder.set_palette(vec![0, 0, 0, 255, 255, 255, 255, 0, 0]);
        }
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(data).unwrap();
        writer.finish().unwrap();
        bytes
    }

    #[test]
    fn every_kind_of_png_becomes_luminance() {
        let [red, green, blue] = LUMINANCE;
        for (color, depth, data, expected) in [
            (
                ColorType::Grayscale,
                BitDepth::Eight,
                &[0, 51][..],
                [0.0, 0.2],
            ),
            (
                ColorType::Grayscale,
                BitDepth::Sixteen,
                &[0xff, 0xff, 0x33, 0x33],
                [1.0, 0.2],
            ),
            (
                ColorType::Grayscale,
                BitDepth::One,
                &[0b0100_0000],
                [0.0, 1.0],
            ),
            (
                ColorType::GrayscaleAlpha,
                BitDepth::Eight,
                &[51, 0, 255, 9],
                [0.2, 1.0],
            ),
            (
                ColorType::Rgb,
                BitDepth::Eight,
                &[255, 0, 0, 0, 255, 0],
                [red, green],
            ),
            (
                ColorType::Rgba,
                BitDepth::Eight,
                &[0, 0, 255, 7, 255, 255, 255, 0],
                [blue, 1.0],
            ),
            (
                ColorType::Rgb,
                BitDepth::Sixteen,
                &[0, 0, 0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff, 0, 0],
                [blue, green],
            ),
            (ColorType::Indexed, BitDepth::Eight, &[1, 2], [1.0, red]),
        ] {
            let image = decode(Cursor::new(encode(2, 1, color, depth, data))).unwrap();
            assert_eq!(image.dim(), (1, 2));
            for (found, expected) in image.iter().zip(expected) {
                // Sums of three f32.
                assert!(
                    (found - expected).abs() < 2e-7,
                    "{color:?} {depth:?}: {found}"
                );
            }
        }
    }

    fn small() -> Vec<u8> {
        encode(4, 3, ColorType::Grayscale, BitDepth::Eight, &[9; 12])
    }

    /// The header chunk again, with this width and a fitting checksum.
    fn with_width(mut bytes: Vec<u8>, width: u32) -> Vec<u8> {
        bytes[16..20].copy_from_slice(&width.to_be_bytes());
        let mut sum = Crc::new();
        sum.update(&bytes[12..29]);
        bytes[29..33].copy_from_slice(&sum.sum().to_be_bytes());
        bytes
    }

    #[test]
    fn broken_pictures_are_refused_in_one_line() {
        let whole = small();
        let mut flipped = whole.clone();
        flipped[45] ^= 0x40;
        for (bytes, refusal) in [
            (&b""[..], "the picture is truncated: "),
            (&whole[..20], "the picture is truncated: "),
            (&whole[..50], "the picture is truncated: "),
            (b"GIF89a, and more", "not a valid PNG ("),
            (&flipped, "not a valid PNG ("),
            (
                &with_width(whole.clone(), 1 << 30),
                "1073741824 × 3 pixels are more than 67108864: ",
            ),
            (
                &with_width(whole.clone(), 1 << 20),
                &format!(
                    "the picture is truncated: {} bytes of 1048576 × 3 pixels: ",
                    whole.len()
                ),
            ),
            (&with_width(whole.clone(), 5), "not a valid PNG ("),
        ] {
            let (what, remedy) = decode(Cursor::new(bytes)).unwrap_err();
            let line = format!("{what}: {remedy}");
            assert!(line.starts_with(refusal), "{line}");
            assert!(!line.contains('\n'));
        }
    }

    /// Sets every chunk's checksum right, so that what was changed is looked at.
    fn with_checksums(mut bytes: Vec<u8>) -> Vec<u8> {
        let mut begin = 8;
        while let Some(length) = bytes.get(begin..begin + 4) {
            let length = u32::from_be_bytes(length.try_into().unwrap()) as usize;
            let end = begin.saturating_add(length).saturating_add(8);
            let Some(chunk) = bytes.get(begin + 4..end) else {
                break;
            };
            let mut sum = Crc::new();
            sum.update(chunk);
            let Some(place) = bytes.get_mut(end..end + 4) else {
                break;
            };
            place.copy_from_slice(&sum.sum().to_be_bytes());
            begin = end + 4;
        }
        bytes
    }

    #[test]
    fn any_bytes_are_read_or_refused() {
        let mut random = stream(0, Purpose::Patches);
        let originals = [
            small(),
            encode(
                5,
                2,
                ColorType::Indexed,
                BitDepth::Two,
                &[0b0001_1000, 0, 0b0110_0000, 0],
            ),
            encode(2, 2, ColorType::Rgba, BitDepth::Sixteen, &[77; 32]),
        ];
        let mut read = 0;
        for round in 0..6000 {
            let mut bytes = originals[round % 3].clone();
            for _ in 0..random.random_range(1..4) {
                let place = random.random_range(8..bytes.len());
                bytes[place] = random.random();
            }
            bytes.truncate(random.random_range(0..4 * bytes.len()).max(1));
            if round % 2 == 0 {
                bytes = with_checksums(bytes);
            }
            if let Ok(image) = decode(Cursor::new(bytes)) {
                assert!(image.iter().all(|value| (0.0..=1.000_001).contains(value)));
                read += 1;
            }
        }
        // Some changes are harmless, so not everything is refused at the first byte.
        assert!(read > 100, "{read}");
    }
}
