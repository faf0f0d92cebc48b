//! A sheet to draw on, and its PNG.
//!
//! Everything is drawn with FINE × FINE dots a pixel and averaged at the end, because the drawing library
//! places letters and the corners of lines on whole dots only.

use super::canvas::{Canvas, Drawn};
use crate::{Error, Result};
use plotters::prelude::*;

/// Dots along the side of a pixel. An odd number, so that a line one pixel wide has a dot in its middle.
pub(super) const FINE: usize = 3;
/// The dots of so many are 283 MB.
const MOST_PIXELS: usize = 10 << 20;
const CHANNELS: usize = 3;

/// Colours of letters and axes, of less important lines, and of lines behind everything.
pub(super) const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
pub(super) const PENCIL: RGBColor = RGBColor(0x90, 0x90, 0x90);
pub(super) const FAINT: RGBColor = RGBColor(0xe2, 0xe2, 0xe2);

/// What is drawn on, white at first.
pub(super) struct Picture {
    name: &'static str,
    width: usize,
    height: usize,
    dots: Vec<u8>,
}

impl Picture {
    /// A white sheet of this width and height in pixels; `name` is for errors.
    ///
    /// # Errors
    /// The sheet has no pixels, or too many.
    pub(super) fn new(name: &'static str, (width, height): (usize, usize)) -> Result<Self> {
        let pixels = width.saturating_mul(height);
        if pixels == 0 || pixels > MOST_PIXELS {
            return Err(Error::new(
                name,
                format!("a picture of {width} × {height} pixels cannot be drawn"),
                "draw less of it",
            ));
        }
        Ok(Picture {
            name,
            width,
            height,
            dots: vec![0xff; pixels * FINE * FINE * CHANNELS],
        })
    }

    /// The picture with what `drawing` puts on it.
    ///
    /// # Errors
    /// The drawing fails, which only a fault of this program could cause.
    pub(super) fn draw(mut self, drawing: impl FnOnce(&Canvas<'_>) -> Drawn) -> Result<Self> {
        let size = ((self.width * FINE) as u32, (self.height * FINE) as u32);
        let root = BitMapBackend::with_buffer(&mut self.dots, size).into_drawing_area();
        drawing(&Canvas::new(root)).map_err(|error| fault(self.name, &*error))?;
        Ok(self)
    }

    /// The picture as a PNG.
    ///
    /// # Errors
    /// The encoder fails, which only a fault of this program could cause.
    pub(super) fn png(&self) -> Result<Vec<u8>> {
        self.encode().map_err(|error| fault(self.name, &error))
    }

    fn encode(&self) -> std::result::Result<Vec<u8>, png::EncodingError> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.write_header()?.write_image_data(&self.pixels())?;
        Ok(bytes)
    }

    /// The mean of the dots of each pixel.
    fn pixels(&self) -> Vec<u8> {
        let stride = self.width * CHANNELS;
        let mut pixels = Vec::with_capacity(stride * self.height);
        let mut sums = vec![0_usize; stride];
        for lines in self.dots.chunks_exact(stride * FINE * FINE) {
            sums.fill(0);
            for line in lines.chunks_exact(stride * FINE) {
                let each = sums.chunks_exact_mut(CHANNELS);
                for (sum, dots) in each.zip(line.chunks_exact(FINE * CHANNELS)) {
                    for (place, &dot) in dots.iter().enumerate() {
                        sum[place % CHANNELS] += usize::from(dot);
                    }
                }
            }
            let dots = FINE * FINE;
            pixels.extend(sums.iter().map(|sum| ((sum + dots / 2) / dots) as u8));
        }
        pixels
    }
}

fn fault(name: &str, error: &dyn std::error::Error) -> Error {
    Error::new(
        name,
        error.to_string().replace('\n', " "),
        "report this fault",
    )
}

/// A PNG that was read again, for tests that look at pixels.
#[cfg(test)]
pub(super) struct Seen {
    pub(super) width: usize,
    pub(super) height: usize,
    pixels: Vec<u8>,
}

#[cfg(test)]
impl Seen {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes))
            .read_info()
            .unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut pixels).unwrap();
        assert_eq!(frame.color_type, png::ColorType::Rgb);
        Seen {
            width: frame.width as usize,
            height: frame.height as usize,
            pixels,
        }
    }

    pub(super) fn at(&self, x: usize, y: usize) -> RGBColor {
        assert!(x < self.width && y < self.height, "({x}, {y})");
        let start = (y * self.width + x) * CHANNELS;
        RGBColor(
            self.pixels[start],
            self.pixels[start + 1],
            self.pixels[start + 2],
        )
    }

    /// How many pixels have exactly this colour.
    pub(super) fn count(&self, colour: RGBColor) -> usize {
        let colour = [colour.0, colour.1, colour.2];
        let pixels = self.pixels.chunks_exact(CHANNELS);
        pixels.filter(|pixel| **pixel == colour).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pixel_is_the_mean_of_its_dots_and_its_neighbours_stay_white() {
        let mut picture = Picture::new("p", (3, 2)).unwrap();
        // The whole pixel (1, 1) red, and one dot of pixel (0, 0) black.
        for (y, x) in (0..FINE * FINE).map(|dot| (FINE + dot / FINE, FINE + dot % FINE)) {
            let start = (y * 3 * FINE + x) * CHANNELS;
            picture.dots[start..start + CHANNELS].copy_from_slice(&[0xff, 0, 0]);
        }
        picture.dots[..CHANNELS].fill(0);
        let seen = Seen::new(&picture.png().unwrap());
        assert_eq!((seen.width, seen.height), (3, 2));
        assert_eq!(seen.at(1, 1), RED);
        let grey = (255.0 * 8.0 / 9.0_f64).round() as u8;
        assert_eq!(seen.at(0, 0), RGBColor(grey, grey, grey));
        assert_eq!(seen.count(WHITE), 4);
    }

    #[test]
    fn a_picture_without_pixels_or_with_too_many_is_refused() {
        for size in [(0, 5), (5, 0), (usize::MAX, 2), (1 << 12, 1 << 12)] {
            let error = Picture::new("p", size).err().unwrap().to_string();
            assert!(error.starts_with("p: a picture of "), "{error}");
        }
    }

    #[test]
    fn a_failed_drawing_is_one_line_that_names_the_picture() {
        let picture = Picture::new("p", (1, 1)).unwrap();
        let error = picture.draw(|_| Err("two\nlines".into())).err().unwrap();
        assert_eq!(error.to_string(), "p: two lines: report this fault");
    }
}
