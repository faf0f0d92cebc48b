//! A Cayley table as colours: cell (a, b) shows which element a·b is.
//!
//! Rows and columns come in an order of the caller's, and the colour is the product's place in that order: a cyclic
//! group sorted by the powers of a generator shows bands along the diagonals.

use crate::axis::Tick;
use crate::colour::{LEVELS, Level, step};
use crate::drawing::{DrawingError, MOST_CELLS, expect_length, expect_some};
use crate::matrix::{BAR_ROOM, Matrix};
use crate::number::short;
use crate::svg::{self, Anchor, HEAD, LABEL_SIZE, MARGIN, NUMBER_SIZE, Picture, Point};
use maud::{Markup, html};
use serde::{Deserialize, Serialize};

/// Room of a table that is alone or above another, and of two beside each other.
const ALONE: f64 = 560.0;
const BESIDE: f64 = 368.0;
/// Two tables stand one below the other where their cells would be smaller than this beside each other.
const LEAST_CELL: f64 = 2.0;
/// Up to so many elements each product is written in its cell.
const WRITTEN: usize = 16;
/// Left of a table for the rows' numbers, and above it for its name and the columns' numbers.
const LEFT: f64 = 42.0;
const ABOVE: f64 = 46.0;
/// A share of a cell that a number may take in height.
const NUMBER: f64 = 0.5;
/// Confidences are kept in thousandths.
const CERTAIN: f64 = 1000.0;
/// Numbers at a colour bar of elements.
const BAR_TICKS: usize = 8;

/// The products of a group's elements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cayley {
    title: String,
    order: Vec<usize>,
    products: Vec<u16>,
    /// In thousandths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    confidence: Option<Vec<Option<u16>>>,
}

impl Cayley {
    /// The table of `products` (row-major, element a·b at a · n + b) with its rows and columns in `order`, which names
    /// each of the n elements once. A product that is no element is grey. With `confidence` (0 … 1, laid out like
    /// `products`) a second table shows how sure each is.
    ///
    /// ```
    /// use bispectral_report::{Cayley, Drawing};
    ///
    /// let table = Cayley::new(&[0, 1, 1, 0], &[0, 1], Some(&[1.0, 1.0, 0.98, 1.0]), "Z2")?;
    /// let svg = Drawing::from(table).svg();
    /// assert!(svg.contains("a = 1, b = 0: a·b = 1"));
    /// assert!(svg.contains("a = 1, b = 0: confidence 0.98"));
    /// # Ok::<(), bispectral_report::DrawingError>(())
    /// ```
    ///
    /// # Errors
    /// Lengths differ, `order` is no order of all elements, or there are none or too many.
    pub fn new(
        products: &[u16],
        order: &[usize],
        confidence: Option<&[f32]>,
        title: impl Into<String>,
    ) -> Result<Self, DrawingError> {
        let thousandths = |sure: &f32| {
            let sure = f64::from(*sure);
            // Within 0 … 1000 by the clamp.
            (!sure.is_nan()).then(|| (sure.clamp(0.0, 1.0) * CERTAIN).round() as u16)
        };
        let table = Cayley {
            title: title.into(),
            order: order.to_vec(),
            products: products.to_vec(),
            confidence: confidence.map(|all| all.iter().map(thousandths).collect()),
        };
        table.positions()?;
        Ok(table)
    }

    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// The place of each element in the order, once all is found to fit.
    fn positions(&self) -> Result<Vec<usize>, DrawingError> {
        let count = self.order.len();
        expect_some("elements", count, MOST_CELLS.isqrt())?;
        expect_length("products", self.products.len(), count * count)?;
        if let Some(confidence) = &self.confidence {
            expect_length("confidences", confidence.len(), count * count)?;
        }
        let mut positions = vec![usize::MAX; count];
        for (position, &element) in self.order.iter().enumerate() {
            match positions.get_mut(element) {
                Some(place) if *place == usize::MAX => *place = position,
                _ => return Err(DrawingError::Order { element, count }),
            }
        }
        Ok(positions)
    }

    pub(crate) fn picture(&self) -> Result<Picture, DrawingError> {
        let positions = self.positions()?;
        let count = self.order.len();
        let two = self.confidence.is_some();
        let beside = two && BESIDE / count as f64 >= LEAST_CELL;
        let room = if beside { BESIDE } else { ALONE };
        let corner = (MARGIN + LEFT, HEAD + ABOVE);
        let first = Matrix::new(corner, count, room);
        let bar = |wanted: bool| if wanted { BAR_ROOM } else { MARGIN };
        let width = LEFT + first.side() + bar(count > WRITTEN);
        let height = ABOVE + first.side() + MARGIN;
        let (right, below) = if beside { (width, 0.0) } else { (0.0, height) };
        let second = Matrix::new((corner.0 + right, corner.1 + below), count, room);
        let whole = if two {
            right + LEFT + second.side() + BAR_ROOM
        } else {
            width
        };
        let size = (
            whole.max(width) + 2.0 * MARGIN,
            HEAD + height + if two { below } else { 0.0 } + MARGIN / 2.0,
        );
        let body = html! {
            (svg::title(&self.title, size.0))
            (self.draw_products(&first, &positions))
            @if let Some(confidence) = &self.confidence { (self.draw_confidence(&second, confidence)) }
        };
        Ok(Picture { size, body })
    }

    /// The value of a cell as drawn.
    fn at<T: Copy>(&self, values: &[T], row: usize, column: usize) -> T {
        values[self.order[row] * self.order.len() + self.order[column]]
    }

    fn tooltip(&self, row: usize, column: usize, says: &str) -> String {
        format!(
            "a = {}, b = {}: {says}",
            self.order[row], self.order[column]
        )
    }

    fn draw_products(&self, matrix: &Matrix, positions: &[usize]) -> Markup {
        let count = matrix.count;
        let last = (count - 1).max(1);
        let part = |place: usize| place as f64 / last as f64;
        let product = |row, column| self.at(&self.products, row, column);
        let level = |row, column| {
            let place = positions.get(usize::from(product(row, column)));
            let step = place.and_then(|&place| step(part(place)));
            step.map_or(Level::UNKNOWN, Level::ordinal)
        };
        let tooltip = |row, column| match product(row, column) {
            element if usize::from(element) < count => {
                self.tooltip(row, column, &format!("a·b = {element}"))
            }
            _ => self.tooltip(row, column, "a·b is no element"),
        };
        let row = |row: usize| format!("products of a = {}", self.order[row]);
        html! {
            (self.head(matrix, "product a·b (row a, column b)"))
            (matrix.cells(level, tooltip, row))
            @if count > WRITTEN {
                @let ticks = (0..count).step_by(count.div_ceil(BAR_TICKS));
                @let ticks: Vec<Tick> = ticks.map(|place| (part(place), self.order[place].to_string())).collect();
                (matrix.bar(&(0..LEVELS).map(Level::ordinal).collect::<Vec<_>>(), &ticks))
            } @else {
                @for place in 0..count * count {
                    @let (row, column) = (place / count, place % count);
                    @if usize::from(product(row, column)) < count {
                        (self.write(matrix, (row, column), level(row, column), product(row, column), &tooltip(row, column)))
                    }
                }
            }
        }
    }

    /// A product in its cell, in letters that are read on its colour.
    fn write(
        &self,
        matrix: &Matrix,
        (row, column): (usize, usize),
        level: Level,
        product: u16,
        tooltip: &str,
    ) -> Markup {
        let at: Point = (
            matrix.corner.0 + matrix.middle(column),
            matrix.corner.1 + matrix.middle(row),
        );
        let size = (matrix.cell * NUMBER).min(NUMBER_SIZE + 4.0);
        let class = if level.is_dark() {
            "on-dark"
        } else {
            "on-light"
        };
        html! {
            g class=(class) {
                title { (tooltip) }
                (svg::text(at, Anchor::Middle, size, f64::INFINITY, &product.to_string()))
            }
        }
    }

    fn draw_confidence(&self, matrix: &Matrix, confidence: &[Option<u16>]) -> Markup {
        let sure = |row, column| {
            let thousandths = self.at(confidence, row, column);
            thousandths.map_or(f64::NAN, |sure| f64::from(sure) / CERTAIN)
        };
        let level = |row, column| step(sure(row, column)).map_or(Level::UNKNOWN, Level::strength);
        let tooltip = |row, column| {
            self.tooltip(
                row,
                column,
                &format!("confidence {}", short(sure(row, column))),
            )
        };
        let row = |row: usize| {
            let least = (0..matrix.count)
                .map(|column| sure(row, column))
                .fold(1.0, f64::min);
            format!(
                "products of a = {}: confidence {} or more",
                self.order[row],
                short(least)
            )
        };
        let ticks = [0.0, 0.25, 0.5, 0.75, 1.0].map(|value| (value, short(value)));
        html! {
            (self.head(matrix, "confidence"))
            (matrix.cells(level, tooltip, row))
            (matrix.bar(&(0..LEVELS).map(Level::strength).collect::<Vec<_>>(), &ticks))
        }
    }

    /// The name of a table and the numbers at its axes.
    fn head(&self, matrix: &Matrix, name: &str) -> Markup {
        let (left, top) = matrix.corner;
        let at = (left, top - ABOVE + 12.0);
        html! {
            g.soft { (svg::text(at, Anchor::Start, LABEL_SIZE, f64::INFINITY, name)) }
            (matrix.numbers(&self.order))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::PAGE;
    use crate::well_formed;

    fn cyclic(count: usize) -> Vec<u16> {
        (0..count * count)
            .map(|cell| ((cell / count + cell % count) % count) as u16)
            .collect()
    }

    fn svg(products: &[u16], order: &[usize], confidence: Option<&[f32]>) -> String {
        let table = Cayley::new(products, order, confidence, "t").unwrap();
        table.picture().unwrap().body.into_string()
    }

    #[test]
    fn rows_columns_and_colours_follow_the_order() {
        let svg = svg(&cyclic(3), &[2, 0, 1], None);
        // 2 + 2 = 1 is the last in this order; 2 + 0 = 2 the first; 0 + 0 = 0 the one between.
        for cell in [
            "<path class=\"v32\" d=\"M0 0h1\"><title>a = 2, b = 2: a·b = 1</title>",
            "<path class=\"v0\" d=\"M1 0h1\"><title>a = 2, b = 0: a·b = 2</title>",
            "<path class=\"v16\" d=\"M1 1h1\"><title>a = 0, b = 0: a·b = 0</title>",
        ] {
            assert!(svg.contains(cell), "{cell}");
        }
    }

    #[test]
    fn confidence_is_stronger_the_larger_it_is_and_grey_where_there_is_none() {
        let svg = svg(&cyclic(2), &[1, 0], Some(&[0.0, 0.5, 1.0, f32::NAN]));
        for cell in [
            "<path class=\"u0\" d=\"M0 0h1\"><title>a = 1, b = 1: confidence no number",
            "<path class=\"s32\" d=\"M1 0h1\"><title>a = 1, b = 0: confidence 1<",
            "<path class=\"s16\" d=\"M0 1h1\"><title>a = 0, b = 1: confidence 0.5<",
        ] {
            assert!(svg.contains(cell), "{cell}");
        }
    }

    #[test]
    fn a_product_that_is_no_element_is_grey_and_not_written() {
        let svg = svg(&[u16::MAX], &[0], None);
        assert!(svg.contains("class=\"u0\"") && svg.contains("a·b is no element"));
        assert!(!svg.contains("on-dark") && !svg.contains("on-light"));
    }

    #[test]
    fn a_group_of_any_order_is_drawn_within_bounds() {
        for count in [1, 2, 7, 16, 17, 33, 64, 251, 512] {
            let order: Vec<usize> = (0..count).collect();
            let sure = vec![f32::INFINITY; count * count];
            for confidence in [None, Some(&sure[..])] {
                let table = Cayley::new(&cyclic(count), &order, confidence, "t").unwrap();
                let (width, height) = table.picture().unwrap().size;
                assert!(
                    width <= PAGE && height < 1400.0,
                    "{count}: {width} × {height}"
                );
                well_formed::sound(table.picture(), 3 << 20);
            }
        }
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let large: Vec<usize> = (0..513).collect();
        for (products, order, confidence) in [
            (&[][..], &[][..], None),
            (&[0, 1, 1], &[0, 1], None),
            (&[0, 1, 1, 0], &[0, 1], Some(&[1.0][..])),
            (&[0, 1, 1, 0], &[0, 0], None),
            (&[0, 1, 1, 0], &[0, 2], None),
            (&cyclic(513), &large, None),
        ] {
            assert!(Cayley::new(products, order, confidence, "t").is_err());
        }
    }
}
