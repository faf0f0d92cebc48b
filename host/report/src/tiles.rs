//! Images in shades of grey, such as exemplars or digits, each over its own range from black to white; or in two colours, by the
//! sign of what they show.

use crate::cells::{self, Grid, whole};
use crate::colour::{Level, SIDE, step};
use crate::drawing::{DrawingError, MOST_CELLS, expect_length, expect_some};
use crate::number::{list, short, significant};
use crate::svg::{self, Anchor, NUMBER_SIZE, Picture};
use maud::html;
use serde::{Deserialize, Serialize};

/// Width of all images, and of one at most.
const WIDTH: f64 = 970.0;
const LARGEST: f64 = 120.0;
/// Height of all images, where they would be higher.
const TALLEST: f64 = 4000.0;
const GAP: f64 = 8.0;
/// Below an image with a label, and for each line of it.
const LABEL: f64 = 12.0;
const LINE: f64 = 15.0;
/// Labels make room for themselves up to this width, beyond which they have two lines.
const WIDEST_LABEL: f64 = 88.0;
/// Digits of numbers that are kept.
const DIGITS: usize = 3;

/// Images with labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tiles {
    /// Height and width of an image.
    shape: (usize, usize),
    columns: usize,
    tiles: Vec<Tile>,
    /// Whether zero is the paper, and there is a colour on either side of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    signed: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tile {
    label: String,
    /// What is black and what is white; nothing where no value is finite.
    #[serde(deserialize_with = "list::numbers")]
    range: Vec<f64>,
    /// One letter a cell.
    levels: String,
}

impl Tiles {
    /// The `images` (one after the other, each row-major) of `shape` (height, width), so many `columns` beside each
    /// other, with one of `labels` below each, or none at all.
    ///
    /// ```
    /// use bispectral_report::{Drawing, Tiles};
    ///
    /// let images = [0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.5];
    /// let svg = Drawing::from(Tiles::new(images, (2, 2), 2, &["cross".into(), "bar".into()])).svg();
    /// assert!(svg.contains("<title>bar: from 0 to 1</title>"));
    /// ```
    ///
    /// # Errors
    /// There is nothing to draw, the values are no images of this shape, there are labels for some only, or all is too
    /// large.
    pub fn new(
        images: impl IntoIterator<Item = f32>,
        shape: (usize, usize),
        columns: usize,
        labels: &[String],
    ) -> Result<Self, DrawingError> {
        Tiles::of(images, shape, columns, labels, false)
    }

    /// As [`new`](Self::new), in red above and blue below zero; what is not finite is left out, so that an image may be round.
    ///
    /// ```
    /// use bispectral_report::{Drawing, Tiles};
    ///
    /// let disk = [f32::NAN, -1.0, 0.5, f32::NAN];
    /// let svg = Drawing::from(Tiles::signed(disk, (2, 2), 1, &["Y".into()])).svg();
    /// assert!(svg.contains("<title>Y: from −1 to 1</title>"));
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn signed(
        images: impl IntoIterator<Item = f32>,
        shape: (usize, usize),
        columns: usize,
        labels: &[String],
    ) -> Result<Self, DrawingError> {
        Tiles::of(images, shape, columns, labels, true)
    }

    fn of(
        images: impl IntoIterator<Item = f32>,
        shape: (usize, usize),
        columns: usize,
        labels: &[String],
        signed: bool,
    ) -> Result<Self, DrawingError> {
        let pixels = shape.0.saturating_mul(shape.1);
        expect_some("pixels", pixels, MOST_CELLS)?;
        let values: Vec<f32> = images.into_iter().take(MOST_CELLS + 1).collect();
        expect_some("pixels", values.len(), MOST_CELLS)?;
        let count = values.len() / pixels;
        expect_length("pixels of whole images", values.len(), count * pixels)?;
        if !labels.is_empty() {
            expect_length("labels", labels.len(), count)?;
        }
        let label = |image: usize| labels.get(image).cloned().unwrap_or_default();
        let images = values.chunks_exact(pixels).enumerate();
        let tiles = Tiles {
            shape,
            columns,
            tiles: images
                .map(|(at, image)| Tile::new(image, label(at), signed))
                .collect(),
            signed,
        };
        tiles.check()?;
        Ok(tiles)
    }

    fn check(&self) -> Result<(), DrawingError> {
        let (count, pixels) = (self.tiles.len(), self.shape.0.saturating_mul(self.shape.1));
        expect_some("images", count, MOST_CELLS)?;
        expect_some("columns", self.columns, usize::MAX)?;
        expect_some("pixels", pixels.saturating_mul(count), MOST_CELLS)?;
        let mut tiles = self.tiles.iter();
        tiles.try_for_each(|tile| cells::check(&tile.levels, pixels))
    }

    pub(crate) fn picture(&self) -> Result<Picture, DrawingError> {
        self.check()?;
        let (grid, below) = self.layout();
        let level = |image: usize, place: usize| {
            let step = cells::step(self.tiles[image].levels.as_bytes()[place]);
            match (step, self.signed) {
                (Some(step), false) => Level::Grey(step),
                (Some(step), true) => Level::Signed(step as i8 - SIDE),
                (None, false) => Level::Unknown,
                (None, true) => Level::Signed(0),
            }
        };
        let images = grid.picture(self.tiles.len(), level, |image| self.tiles[image].tooltip());
        // A label may be wider than its image by as much as images are apart, half of that on either side.
        let slot = grid.right as f64 * grid.cell.0;
        let (wide, high) = grid.image();
        let aside = (slot - GAP - wide).max(0.0) / 2.0;
        let body = html! {
            g transform=(svg::moved((aside, 0.0))) {
                (images.body)
                @for (image, tile) in self.tiles.iter().enumerate() {
                    @let corner = grid.corner(image);
                    @for (line, words) in lines(&tile.label).into_iter().enumerate() {
                        @let at = (corner.0 + wide / 2.0, corner.1 + high + LABEL + line as f64 * LINE);
                        (svg::text(at, Anchor::Middle, NUMBER_SIZE, slot - 2.0, words))
                    }
                }
            }
        };
        let size = (images.size.0 + 2.0 * aside, images.size.1 + below - GAP);
        Ok(Picture::new(size, body).titled(""))
    }

    /// The grid, and what is below an image for its label and the gap.
    fn layout(&self) -> (Grid, f64) {
        let (height, width) = self.shape;
        let columns = self.columns.clamp(1, self.tiles.len());
        let rows = self.tiles.len().div_ceil(columns) as f64;
        let labels = || self.tiles.iter().map(|tile| lines(&tile.label));
        let below = match labels().map(|lines| lines.len()).max() {
            None | Some(0) => GAP,
            Some(lines) => LABEL + lines as f64 * LINE,
        };
        let room = (WIDTH / columns as f64 - GAP).clamp(1.0, LARGEST);
        let high = (TALLEST / rows - below).clamp(1.0, LARGEST);
        let cell = whole((room / width as f64).min(high / height as f64));
        let widest = svg::widest(labels().flatten()).min(WIDEST_LABEL);
        let slot = widest.max(width as f64 * cell) + GAP;
        let grid = Grid {
            shape: self.shape,
            columns,
            cell: (cell, cell),
            right: ((slot / cell).ceil() as usize).max(width),
            down: height as f64 * cell + below,
        };
        (grid, below)
    }
}

/// A label in none, one or two lines.
fn lines(label: &str) -> Vec<&str> {
    if label.is_empty() {
        return Vec::new();
    }
    let spaces = label.match_indices(' ').map(|(at, _)| at);
    let fits = |at: &usize| svg::width(&label[..*at], NUMBER_SIZE) <= WIDEST_LABEL;
    match spaces.take_while(fits).last() {
        Some(at) if svg::width(label, NUMBER_SIZE) > WIDEST_LABEL => {
            vec![&label[..at], &label[at + 1..]]
        }
        _ => vec![label],
    }
}

impl Tile {
    fn new(image: &[f32], label: String, signed: bool) -> Self {
        let values = || image.iter().copied().map(f64::from);
        let finite = || values().filter(|value| value.is_finite());
        let low = finite().fold(f64::INFINITY, f64::min);
        let high = finite().fold(f64::NEG_INFINITY, f64::max);
        let largest = high.max(-low);
        let (low, high) = if signed {
            (-largest, largest)
        } else {
            (low, high)
        };
        let part = |value: f64| (value - low) / (high - low);
        let part = |value: f64| if high > low { part(value) } else { 0.5 };
        let step = |value: f64| step(part(value)).filter(|_| value.is_finite());
        let range = [low, high].map(|end| significant(end, DIGITS));
        Tile {
            label,
            range: range.into_iter().filter(|end| end.is_finite()).collect(),
            levels: values().map(|value| cells::letter(step(value))).collect(),
        }
    }

    fn tooltip(&self) -> String {
        let range = match self.range[..] {
            [low, high] => format!("from {} to {}", short(low), short(high)),
            _ => "no numbers".into(),
        };
        match self.label.as_str() {
            "" => range,
            label => format!("{label}: {range}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_image_runs_from_black_to_white_over_its_own_range() {
        let images = [
            [0.0, 1.0, 0.25, f32::NAN],
            [-7.0, -5.0, -5.0, -7.0],
            [3.0; 4],
        ];
        let tiles = Tiles::new(images.into_iter().flatten(), (2, 2), 5, &[]).unwrap();
        let levels: Vec<&str> = tiles.tiles.iter().map(|tile| &tile.levels[..]).collect();
        // 0 is black, P white.
        assert_eq!(levels, ["0P8.", "0PP0", "@@@@"]);
        let svg = tiles.picture().unwrap().body.into_string();
        assert!(svg.contains("<title>from −7 to −5</title>"));
    }

    #[test]
    fn a_long_label_has_two_lines() {
        assert_eq!(lines("target 3"), ["target 3"]);
        assert_eq!(lines("0.123 (not reached)"), ["0.123 (not", "reached)"]);
        assert_eq!(lines("without-a-space-to-break-it-at").len(), 1);
        assert!(lines("").is_empty());
    }

    #[test]
    fn what_is_no_image_is_refused() {
        let one = ["one".to_string()];
        for (pixels, shape, columns, labels) in [
            (12, (2, 3), 0, &[][..]),
            (12, (2, 4), 1, &[]),
            (12, (usize::MAX, 2), 1, &[]),
            (12, (2, 3), 2, &one),
            (0, (2, 3), 1, &[]),
            (2, (0, 3), 1, &[]),
            (MOST_CELLS + 1, (1, 1), 1, &[]),
        ] {
            assert!(Tiles::new(vec![0.0; pixels], shape, columns, labels).is_err());
        }
        assert!(Tiles::new(std::iter::repeat(0.0), (1, 1), 1, &[]).is_err());
    }
}
