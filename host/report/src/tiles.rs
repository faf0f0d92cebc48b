//! Images in shades of grey, such as exemplars or digits, each over its own range from black to white.

use crate::colour::{Level, step};
use crate::drawing::{DrawingError, MOST_CELLS, expect_length, expect_some};
use crate::grid::{Grid, whole};
use crate::levels;
use crate::number::{list, short, significant};
use crate::svg::{self, Anchor, MARGIN, NUMBER_SIZE, Picture};
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
        let pixels = shape.0.saturating_mul(shape.1);
        expect_some("pixels", pixels, MOST_CELLS)?;
        let values: Vec<f32> = images.into_iter().take(MOST_CELLS + 1).collect();
        expect_some("pixels", values.len(), MOST_CELLS)?;
        let count = values.len() / pixels;
        expect_length("pixels of whole images", values.len(), count * pixels)?;
        if !labels.is_empty() {
            expect_length("labels", labels.len(), count)?;
        }
        let labels = labels
            .iter()
            .cloned()
            .chain(std::iter::repeat(String::new()));
        let tiles = values.chunks_exact(pixels).zip(labels);
        let tiles = tiles
            .map(|(image, label)| Tile::new(image, label))
            .collect();
        let tiles = Tiles {
            shape,
            columns,
            tiles,
        };
        tiles.check()?;
        Ok(tiles)
    }

    fn check(&self) -> Result<(), DrawingError> {
        let (count, pixels) = (self.tiles.len(), self.shape.0.saturating_mul(self.shape.1));
        expect_some("images", count, MOST_CELLS)?;
        expect_some("columns", self.columns, usize::MAX)?;
        expect_some("pixels", pixels.saturating_mul(count), MOST_CELLS)?;
        self.tiles
            .iter()
            .try_for_each(|tile| levels::check(&tile.levels, pixels))
    }

    pub(crate) fn picture(&self) -> Result<Picture, DrawingError> {
        self.check()?;
        let count = self.tiles.len();
        let grid = self.layout();
        let (width, height) = grid.size(count);
        let (across, along) = grid.image();
        // A label may be wider than its image by as much as images are apart, half of that on either side.
        let slot = grid.right as f64 * grid.cell.0;
        let aside = (slot - GAP - across).max(0.0) / 2.0;
        let origin = (MARGIN + aside, MARGIN);
        let level = |image: usize, place: usize| {
            let letter = self.tiles[image].levels.as_bytes()[place];
            Some(levels::step(letter).map_or(Level::UNKNOWN, Level::grey))
        };
        let body = html! {
            (grid.images(origin, count, level, |image| self.tiles[image].tooltip()))
            @for (image, tile) in self.tiles.iter().enumerate() {
                @let corner = grid.corner(image);
                @for (line, words) in lines(&tile.label).into_iter().enumerate() {
                    @let below = along + LABEL + line as f64 * LINE;
                    @let at = (origin.0 + corner.0 + across / 2.0, origin.1 + corner.1 + below);
                    (svg::text(at, Anchor::Middle, NUMBER_SIZE, slot - 2.0, words))
                }
            }
        };
        let size = (
            width + 2.0 * (MARGIN + aside),
            height + self.below() + 2.0 * MARGIN - GAP,
        );
        Ok(Picture { size, body })
    }

    /// Below an image, for its label and the gap.
    fn below(&self) -> f64 {
        let most = self.tiles.iter().map(|tile| lines(&tile.label).len()).max();
        match most.unwrap_or(0) {
            0 => GAP,
            lines => LABEL + lines as f64 * LINE,
        }
    }

    fn layout(&self) -> Grid {
        let (height, width) = self.shape;
        let columns = self.columns.clamp(1, self.tiles.len());
        let rows = self.tiles.len().div_ceil(columns) as f64;
        let lines = self.tiles.iter().flat_map(|tile| lines(&tile.label));
        let widest = lines
            .map(|words| svg::width(words, NUMBER_SIZE))
            .fold(0.0, f64::max);
        let below = self.below();
        let room = (WIDTH / columns as f64 - GAP).clamp(1.0, LARGEST);
        let high = (TALLEST / rows - below).clamp(1.0, LARGEST);
        let cell = whole((room / width as f64).min(high / height as f64));
        let slot = widest.min(WIDEST_LABEL).max(width as f64 * cell) + GAP;
        Grid {
            shape: self.shape,
            columns,
            cell: (cell, cell),
            right: ((slot / cell).ceil() as usize).max(width),
            down: height as f64 * cell + below,
        }
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
    fn new(image: &[f32], label: String) -> Self {
        let finite = || {
            image
                .iter()
                .copied()
                .map(f64::from)
                .filter(|value| value.is_finite())
        };
        let low = finite().fold(f64::INFINITY, f64::min);
        let high = finite().fold(f64::NEG_INFINITY, f64::max);
        let part = |value: f32| match f64::from(value) {
            value if !value.is_finite() => f64::NAN,
            value if high > low => (value - low) / (high - low),
            _ => 0.5,
        };
        let range = [low, high].into_iter().filter(|end| end.is_finite());
        Tile {
            label,
            range: range.map(|end| significant(end, DIGITS)).collect(),
            levels: image
                .iter()
                .map(|&value| levels::letter(step(part(value))))
                .collect(),
        }
    }

    fn tooltip(&self) -> String {
        let range = match self.range[..] {
            [low, high] => format!("from {} to {}", short(low), short(high)),
            _ => "no numbers".into(),
        };
        if self.label.is_empty() {
            range
        } else {
            format!("{}: {range}", self.label)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::well_formed;

    #[test]
    fn each_image_runs_from_black_to_white_over_its_own_range() {
        let images = [
            0.0,
            1.0,
            0.25,
            f32::NAN,
            -7.0,
            -5.0,
            -5.0,
            -7.0,
            3.0,
            3.0,
            3.0,
            3.0,
        ];
        let tiles = Tiles::new(images, (2, 2), 5, &[]).unwrap();
        let levels: Vec<&str> = tiles
            .tiles
            .iter()
            .map(|tile| tile.levels.as_str())
            .collect();
        // 0 is black, P white.
        assert_eq!(levels, ["0P8.", "0PP0", "@@@@"]);
        let svg = tiles.picture().unwrap().body.into_string();
        assert!(svg.contains("<title>from −7 to −5</title>"));
    }

    #[test]
    fn any_images_are_drawn_within_bounds() {
        let odd = [f32::NAN, f32::INFINITY, f32::MAX, f32::MIN, 0.0, 3.0];
        for (count, shape, columns) in [
            (1, (1, 1), 1),
            (1, (28, 28), usize::MAX),
            (300, (8, 8), 25),
            (7, (1, 900), 3),
            (5, (200, 3), 5),
            (5000, (1, 1), 1),
        ] {
            let images = (0..count * shape.0 * shape.1).map(|pixel| odd[pixel % odd.len()]);
            let labels: Vec<String> = (0..count).map(|n| "m".repeat(n % 40)).collect();
            for labels in [&[][..], &labels] {
                let tiles = Tiles::new(images.clone(), shape, columns, labels).unwrap();
                well_formed::sound(tiles.picture(), 3 << 20);
            }
        }
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
