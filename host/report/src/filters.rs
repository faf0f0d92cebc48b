//! The rows of W as images: red where a weight is positive, blue where it is negative.
//!
//! A row's phase is arbitrary, so each is multiplied by one that makes rows comparable first.

use crate::colour::{Level, SIDE};
use crate::drawing::{DrawingError, MOST_CELLS, expect_length, expect_some};
use crate::grid::{Grid, whole};
use crate::levels;
use crate::matrix::bar;
use crate::number::{short, significant};
use crate::phase::{Complex, with_standard_phase};
use crate::svg::{self, Anchor, LABEL_SIZE, MARGIN, Picture, Point};
use maud::{Markup, html};
use serde::{Deserialize, Serialize};

/// Widths of the real parts, with the imaginary parts beside them and below them.
const BESIDE: f64 = 432.0;
const ALONE: f64 = 890.0;
/// Both stand beside each other where cells have this side or more then.
const LEAST_CELL: f64 = 2.0;
const LARGEST_CELL: f64 = 20.0;
/// Height of all images of a part, where they would be higher.
const TALLEST: f64 = 1600.0;
/// Strips, the images of one row of cells, are together about this high, and each within these bounds.
const STRIPS: f64 = 480.0;
const STRIP: (f64, f64) = (4.0, 28.0);
const STRIP_GAP: f64 = 3.0;
/// Strips that have room below each other.
const MOST_STRIPS: usize = 256;
/// Above the images of a part, for its name.
const NAME: f64 = 30.0;
const BETWEEN: f64 = 28.0;
/// Right of the images, for the colour bar and its numbers.
const BAR_ROOM: f64 = 96.0;
/// The colour bar is as high as the images, within these bounds.
const BAR_HEIGHT: (f64, f64) = (110.0, 300.0);
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
        let shown = order.len().min(MOST_CELLS / 2 / inputs);
        let shown = if shape.0 == 1 {
            shown.min(MOST_STRIPS)
        } else {
            shown
        };
        let weights: Vec<Complex> = weights
            .into_iter()
            .map(|(re, im)| (re.into(), im.into()))
            .collect();
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
        let mut parts = self
            .filters
            .iter()
            .flat_map(|filter| [&filter.real, &filter.imaginary]);
        parts.try_for_each(|part| levels::check(&part.levels, cells))
    }

    pub(crate) fn picture(&self) -> Result<Picture, DrawingError> {
        self.check()?;
        let count = self.filters.len();
        let (grid, beside) = layout(self.shape, count);
        let (width, height) = grid.size(count);
        let first = (MARGIN, MARGIN + NAME);
        let second = if beside {
            (first.0 + width + BETWEEN, first.1)
        } else {
            (first.0, first.1 + height + NAME)
        };
        let note = if count < self.all {
            format!(" of the first {count} of {} rows", self.all)
        } else {
            String::new()
        };
        let scale = height.clamp(BAR_HEIGHT.0, BAR_HEIGHT.1);
        // So that the names of the parts have room above narrow images.
        let right = (second.0 + width)
            .max(second.0 + svg::width(&format!("imaginary parts{note}"), LABEL_SIZE));
        let colours: Vec<Level> = (-SIDE..=SIDE).map(Level::signed).collect();
        let ticks = [-1.0, -0.5, 0.0, 0.5, 1.0]
            .map(|part| (part / 2.0 + 0.5, short(part * self.strongest)));
        let body = html! {
            (self.part(&grid, first, "real part", &note, |filter| &filter.real))
            (self.part(&grid, second, "imaginary part", &note, |filter| &filter.imaginary))
            (bar((right + MARGIN, first.1), scale, &colours, &ticks))
        };
        let bottom = (second.1 + height).max(first.1 + scale);
        Ok(Picture {
            size: (right + BAR_ROOM, bottom + MARGIN),
            body,
        })
    }

    fn part(
        &self,
        grid: &Grid,
        corner: Point,
        name: &str,
        note: &str,
        of: impl Fn(&Filter) -> &Part,
    ) -> Markup {
        let level = |image: usize, place: usize| {
            let letter = of(&self.filters[image]).levels.as_bytes()[place];
            // Of 33 levels, which fit into i8.
            match levels::step(letter).map(|step| step as i8 - SIDE) {
                Some(0) => None,
                Some(step) => Some(Level::signed(step)),
                None => Some(Level::UNKNOWN),
            }
        };
        let tooltip = |image: usize| {
            let filter = &self.filters[image];
            format!(
                "row {}, {name}, largest {}",
                filter.row,
                short(of(filter).largest)
            )
        };
        let at = (corner.0, corner.1 - NAME / 2.0);
        html! {
            (svg::text(at, Anchor::Start, LABEL_SIZE, f64::INFINITY, &format!("{name}s{note}")))
            (grid.images(corner, self.filters.len(), level, tooltip))
        }
    }
}

impl Part {
    fn new(weights: impl Iterator<Item = f64> + Clone, strongest: f64) -> Self {
        let finite = weights.clone().filter(|weight| weight.is_finite());
        let largest = finite.map(f64::abs).fold(0.0, f64::max);
        let step = |weight: f64| {
            let side = f64::from(SIDE);
            // Within 0 … 32 by the clamp.
            weight
                .is_finite()
                .then(|| ((weight / strongest).clamp(-1.0, 1.0) * side + side).round() as u8)
        };
        Part {
            largest: significant(largest, DIGITS),
            levels: weights.map(|weight| levels::letter(step(weight))).collect(),
        }
    }
}

/// The part of a weight for which the colours are strongest.
fn strongest(rows: &[Vec<Complex>]) -> f64 {
    let parts = rows
        .iter()
        .flatten()
        .flat_map(|weight| [weight.0.abs(), weight.1.abs()]);
    let mut parts: Vec<f64> = parts
        .filter(|part| part.is_finite() && *part > 0.0)
        .collect();
    parts.sort_by(|a, b| b.total_cmp(a));
    let place = (STRONGEST * parts.len() as f64) as usize;
    parts.get(place).copied().unwrap_or(1.0)
}

/// How images are laid out, and whether the imaginary parts are right of the real parts, else below.
fn layout(shape: (usize, usize), count: usize) -> (Grid, bool) {
    let (height, width) = shape;
    if height == 1 {
        let along = |room: f64| whole((room / width as f64).min(ALONE));
        let beside = along(BESIDE) >= LEAST_CELL;
        let high = (STRIPS / count as f64 - STRIP_GAP)
            .floor()
            .clamp(STRIP.0, STRIP.1);
        let cell = (along(if beside { BESIDE } else { ALONE }), high);
        let grid = Grid {
            shape,
            columns: 1,
            cell,
            right: width,
            down: high + STRIP_GAP,
        };
        return (grid, beside);
    }
    let ratio = height as f64 / width as f64;
    let columns = ((count as f64 * ratio).sqrt().round() as usize).clamp(1, count);
    let rows = count.div_ceil(columns);
    let cell = |room: f64| {
        let across = room / (columns * (width + 1) - 1) as f64;
        let along = TALLEST / (rows * (height + 1)) as f64;
        whole(across.min(along).min(LARGEST_CELL))
    };
    let beside = cell(BESIDE) >= LEAST_CELL;
    let side = cell(if beside { BESIDE } else { ALONE });
    let down = (height + 1) as f64 * side;
    (
        Grid {
            shape,
            columns,
            cell: (side, side),
            right: width + 1,
            down,
        },
        beside,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::PAGE;
    use crate::well_formed;

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
        assert!(
            !svg.contains("class=\"p0\" d=\"m0 0h2"),
            "zeros are the paper"
        );
    }

    #[test]
    fn rows_come_in_their_order_and_those_without_room_are_told_of() {
        let w = real(&[1.0, 1.0, 2.0, 2.0]);
        let svg = Filters::new(w, (2, 1), &[1, 0])
            .unwrap()
            .picture()
            .unwrap()
            .body
            .into_string();
        assert!(svg.find("row 1,").unwrap() < svg.find("row 0,").unwrap());
        let many: Vec<usize> = vec![0; 1000];
        let filters = Filters::new(real(&[1.0, 2.0]), (1, 2), &many).unwrap();
        let svg = filters.picture().unwrap().body.into_string();
        assert!(svg.contains("real parts of the first 256 of 1000 rows</text>"));
    }

    #[test]
    fn filters_of_any_shape_are_drawn_within_bounds() {
        let odd = [f32::NAN, f32::INFINITY, f32::MAX, f32::MIN, 0.0, 3.0];
        for (count, shape) in [
            (1, (1, 1)),
            (256, (16, 16)),
            (300, (8, 8)),
            (7, (1, 900)),
            (5, (200, 3)),
            (1, (1 << 17, 1)),
            (1, (1, 1 << 17)),
            (9, (2, 9000)),
        ] {
            let cells = count * shape.0 * shape.1;
            let w = (0..cells).map(|cell| (odd[cell % 6], odd[cell * 7 / 3 % 6]));
            let order: Vec<usize> = (0..count).collect();
            let filters = Filters::new(w, shape, &order).unwrap();
            let (width, height) = filters.picture().unwrap().size;
            assert!(
                width <= PAGE && height < 3400.0,
                "{shape:?}: {width} × {height}"
            );
            // Eleven bytes a cell and the style: 1.5 megabytes of 256 filters of 256 inputs.
            well_formed::sound(filters.picture(), 2 * cells * 11 + (1 << 16));
        }
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
