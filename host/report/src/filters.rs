//! The rows of W as images: red where a weight is positive, blue where it is negative.
//!
//! A row's phase is arbitrary, so each is multiplied by one that makes rows comparable first.

use crate::cells::{self, Grid, bar, whole};
use crate::colour::{Level, SIDE, step};
use crate::drawing::{DrawingError, MOST_CELLS, expect_length, expect_some};
use crate::number::{short, significant};
use crate::phase::{Complex, with_standard_phase};
use crate::svg::{self, Anchor, LABEL_SIZE, Picture, Point};
use maud::html;
use serde::{Deserialize, Serialize};

/// Width and height of the real parts, with the imaginary parts beside them and below them.
const BESIDE: Point = (432.0, 432.0);
const BELOW: Point = (880.0, 432.0);
/// Both stand beside each other where cells have this side or more then.
const LEAST_CELL: f64 = 2.0;
const LARGEST_CELL: f64 = 20.0;
/// From a strip, which is an image of one row of cells, to the next; an eighth of it is a gap.
const STRIP: (f64, f64) = (3.0, 32.0);
/// Strips that have room below each other.
const MOST_STRIPS: usize = 256;
/// Above the images of a part, for its name.
const NAME: f64 = 30.0;
const BETWEEN: f64 = 20.0;
/// The colour bar is as high as the images, within these bounds, and this wide with its numbers.
const BAR_HEIGHT: (f64, f64) = (110.0, 300.0);
const BAR_WIDTH: f64 = 68.0;
/// A few weights that stand out, as those of a row that sees one pixel, must not make all others pale: this share of
/// them may be as strong as colours get.
const STRONGEST: f64 = 0.005;
/// Digits of numbers that are kept.
const DIGITS: usize = 3;

/// Rows of W, rounded to the levels their colours have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filters {
    /// Height and width of an image.
    shape: (usize, usize),
    /// How many rows there are, of which the first are shown.
    all: usize,
    /// The weight at which colours are strongest.
    strongest: f64,
    filters: Vec<Filter>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Filter {
    row: usize,
    real: Part,
    imaginary: Part,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    /// The largest weight without its sign.
    largest: f64,
    /// One letter a cell.
    levels: String,
}

impl Filters {
    /// The rows of W (`weights`, row-major, real and imaginary parts) that `order` names, in that order, each as an
    /// image of `shape` (height, width): their real parts and their imaginary parts, with one scale for all. Rows for
    /// which there is no room are left out, and the drawing says so. Weights that are not finite are grey.
    ///
    /// ```
    /// use bispectral_report::{Drawing, Filters};
    ///
    /// let w = [(1.0, 0.0), (1.0, 0.0), (1.0, 0.0), (-1.0, 0.0)];
    /// let svg = Drawing::from(Filters::new(w, (1, 2), &[1, 0])).svg();
    /// assert!(svg.contains("row 1, real part, largest 1"));
    /// ```
    ///
    /// # Errors
    /// There is no row to draw or no such row, or rows are no images of this shape or too large.
    pub fn new(
        weights: impl IntoIterator<Item = (f32, f32)>,
        shape: (usize, usize),
        order: &[usize],
    ) -> Result<Self, DrawingError> {
        let inputs = shape.0.saturating_mul(shape.1);
        expect_some("inputs of a row", inputs, MOST_CELLS / 2)?;
        let mut shown = order.len().min(MOST_CELLS / 2 / inputs);
        if shape.0 == 1 {
            shown = shown.min(MOST_STRIPS);
        }
        let weights = weights.into_iter();
        let weights: Vec<Complex> = weights.map(|(re, im)| (re.into(), im.into())).collect();
        let count = weights.len() / inputs;
        expect_length("weights of whole rows", weights.len(), count * inputs)?;
        if let Some(&element) = order.iter().find(|row| **row >= count) {
            return Err(DrawingError::Order { element, count });
        }
        let row = |row: usize| with_standard_phase(&weights[row * inputs..(row + 1) * inputs]);
        let rows: Vec<Vec<Complex>> = order[..shown].iter().map(|&at| row(at)).collect();
        let strongest = strongest(&rows);
        let filters = order.iter().zip(&rows).map(|(&row, weights)| Filter {
            row,
            real: Part::new(weights.iter().map(|weight| weight.0), strongest),
            imaginary: Part::new(weights.iter().map(|weight| weight.1), strongest),
        });
        let filters = Filters {
            shape,
            all: order.len(),
            strongest: significant(strongest, DIGITS),
            filters: filters.collect(),
        };
        filters.check()?;
        Ok(filters)
    }

    fn check(&self) -> Result<(), DrawingError> {
        let count = self.filters.len();
        let cells = self.shape.0.saturating_mul(self.shape.1);
        expect_some("rows", count, MOST_CELLS / 2)?;
        expect_some("cells", cells.saturating_mul(2 * count), MOST_CELLS)?;
        if self.shape.0 == 1 {
            expect_some("strips", count, MOST_STRIPS)?;
        }
        let filters = self.filters.iter();
        let mut parts = filters.flat_map(|filter| [&filter.real, &filter.imaginary]);
        parts.try_for_each(|part| cells::check(&part.levels, cells))
    }

    pub(crate) fn picture(&self) -> Result<Picture, DrawingError> {
        self.check()?;
        let count = self.filters.len();
        let note = match self.all {
            all if all > count => format!(" of the first {count} of {all} rows"),
            _ => String::new(),
        };
        let mut grid = layout(self.shape, count, BESIDE);
        let beside = grid.cell.0 >= LEAST_CELL;
        if !beside {
            grid = layout(self.shape, count, BELOW);
        }
        let real = self.part(&grid, "real part", &note, |filter| &filter.real);
        let height = (real.size.1 - NAME).clamp(BAR_HEIGHT.0, BAR_HEIGHT.1);
        let imaginary = self.part(&grid, "imaginary part", &note, |filter| &filter.imaginary);
        let arrange = if beside {
            Picture::row
        } else {
            Picture::column
        };
        let parts = arrange([real, imaginary], BETWEEN);
        let colours: Vec<Level> = (-SIDE..=SIDE).map(Level::Signed).collect();
        let ticks = [-1.0, -0.5, 0.0, 0.5, 1.0]
            .map(|part| (part / 2.0 + 0.5, short(part * self.strongest)));
        let bar = bar((0.0, NAME), height, &colours, &ticks);
        let bar = Picture::new((BAR_WIDTH, NAME + height), bar);
        Ok(Picture::row([parts, bar], BETWEEN).titled(""))
    }

    fn part(&self, grid: &Grid, name: &str, note: &str, of: fn(&Filter) -> &Part) -> Picture {
        let level = |image: usize, place: usize| {
            let step = cells::step(of(&self.filters[image]).levels.as_bytes()[place]);
            // Of 33 levels, which fit into i8.
            step.map_or(Level::Unknown, |step| Level::Signed(step as i8 - SIDE))
        };
        let tooltip = |image: usize| {
            let (row, largest) = (self.filters[image].row, of(&self.filters[image]).largest);
            format!("row {row}, {name}, largest {}", short(largest))
        };
        let name = format!("{name}s{note}");
        let at = (0.0, NAME / 2.0 - 3.0);
        let heading = svg::text(at, Anchor::Start, LABEL_SIZE, f64::INFINITY, &name);
        let size = (svg::width(&name, LABEL_SIZE), NAME);
        let heading = Picture::new(size, html! { g.soft { (heading) } });
        let images = grid.picture(self.filters.len(), level, tooltip);
        Picture::column([heading, images], 0.0)
    }
}

impl Part {
    fn new(weights: impl Iterator<Item = f64> + Clone, strongest: f64) -> Self {
        let finite = weights.clone().filter(|weight| weight.is_finite());
        let largest = finite.map(f64::abs).fold(0.0, f64::max);
        let step =
            |weight: f64| step(weight / strongest / 2.0 + 0.5).filter(|_| weight.is_finite());
        Part {
            largest: significant(largest, DIGITS),
            levels: weights.map(|weight| cells::letter(step(weight))).collect(),
        }
    }
}

/// The part of a weight for which the colours are strongest.
fn strongest(rows: &[Vec<Complex>]) -> f64 {
    let weights = rows.iter().flatten();
    let mut parts: Vec<f64> = weights.flat_map(|&(re, im)| [re.abs(), im.abs()]).collect();
    parts.retain(|part| part.is_finite() && *part > 0.0);
    parts.sort_by(|a, b| b.total_cmp(a));
    let place = (STRONGEST * parts.len() as f64) as usize;
    parts.get(place).copied().unwrap_or(1.0)
}

/// How `count` images are laid out with the largest cells that have this room.
fn layout(shape: (usize, usize), count: usize, room: Point) -> Grid {
    let (height, width) = shape;
    let strips = height == 1;
    let ratio = (height as f64 * room.0) / (width as f64 * room.1);
    // Filters of a square grid of frequencies stand in that grid.
    let square = match count.isqrt() {
        side if side * side == count => side,
        _ => (count as f64 * ratio).sqrt().round() as usize,
    };
    let columns = if strips { 1 } else { square.clamp(1, count) };
    let down = room.1 / count.div_ceil(columns) as f64;
    let wide = room.0 / (columns * (width + 1) - 1) as f64;
    let (cell, down) = if strips {
        let down = down.floor().clamp(STRIP.0, STRIP.1);
        ((whole(wide), down - (down / 8.0).ceil()), down)
    } else {
        let high = down / (height + 1) as f64;
        let side = whole(wide.min(high).min(LARGEST_CELL));
        ((side, side), (height + 1) as f64 * side)
    };
    let right = width + 1;
    Grid {
        shape,
        columns,
        cell,
        right,
        down,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Drawing;

    fn real(weights: &[f32]) -> Vec<(f32, f32)> {
        weights.iter().map(|&re| (re, 0.0)).collect()
    }

    #[test]
    fn each_weight_has_the_level_of_its_sign_in_its_place() {
        let w = real(&[1.0, -1.0, 0.0, 0.5, f32::NAN, 1.0]);
        let filters = Filters::new(w, (2, 3), &[0]).unwrap();
        // 0 is strongest blue, @ is zero, P strongest red, H the middle of red.
        assert_eq!(filters.filters[0].real.levels, "P0@H.P");
        assert_eq!(filters.filters[0].imaginary.levels, "@@@@.@");
        let svg = filters.picture().unwrap().body.into_string();
        assert!(svg.contains("row 0, real part, largest 1<"));
        assert!(svg.contains("<path class=\"p16\" d=\"m0 0h1"), "{svg}");
    }

    #[test]
    fn rows_come_in_their_order_and_those_without_room_are_told_of() {
        let w = real(&[1.0, 1.0, 2.0, 2.0]);
        let svg = Drawing::from(Filters::new(w, (2, 1), &[1, 0])).svg();
        assert!(svg.find("row 1,").unwrap() < svg.find("row 0,").unwrap());
        let many = Filters::new(real(&[1.0, 2.0]), (1, 2), &[0; 1000]);
        let svg = Drawing::from(many).svg();
        assert!(svg.contains("real parts of the first 256 of 1000 rows</text>"));
    }

    #[test]
    fn what_is_no_filter_is_refused() {
        for (weights, shape, order) in [
            (&[1.0, 2.0][..], (1, 2), &[][..]),
            (&[1.0, 2.0], (1, 2), &[1]),
            (&[1.0, 2.0, 3.0], (1, 2), &[0]),
            (&[1.0, 2.0], (usize::MAX, 2), &[0]),
            (&[], (0, 2), &[0]),
        ] {
            assert!(Filters::new(real(weights), shape, order).is_err());
        }
    }
}
