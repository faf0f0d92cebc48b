//! A Cayley table as colours: cell (a, b) shows which element a·b is.
//!
//! Rows and columns come in an order of the caller's, and the colour is the product's place in that order: a cyclic
//! group sorted by the powers of a generator shows bands along the diagonals.

use crate::cells::{LARGEST_CELL, Matrix};
use crate::colour::Level;
use crate::drawing::{DrawingError, MOST_CELLS, expect_length, expect_some};
use crate::number::short;
use crate::svg::Picture;
use serde::{Deserialize, Serialize};

/// Room of a table that is alone or above another, and of two beside each other, and what is between them.
const ALONE: f64 = 560.0;
const BESIDE: f64 = 368.0;
const APART: f64 = 14.0;
/// Two tables stand one below the other where their cells would be smaller than this beside each other.
const LEAST_CELL: f64 = 2.0;
/// Up to so many elements each product is written in its cell.
const WRITTEN: usize = 16;
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
        let beside = self.confidence.is_some() && BESIDE / count as f64 >= LEAST_CELL;
        let room = if beside { BESIDE } else { ALONE };
        let elements: Vec<_> = self.order.iter().map(|a| (a.to_string(), 1)).collect();
        let confidence = self.confidence.as_ref();
        let confidence = confidence.map(|sure| self.draw_confidence(sure, &elements, room));
        let tables = [self.draw_products(&positions, &elements, room)];
        let tables = tables.into_iter().chain(confidence);
        let arrange = if beside {
            Picture::row
        } else {
            Picture::column
        };
        Ok(arrange(tables, APART).titled(&self.title))
    }

    /// Which cell that is drawn in a row and column has which place in a table, and what it says.
    fn cell(&self, row: usize, column: usize) -> (usize, String) {
        let (a, b) = (self.order[row], self.order[column]);
        (a * self.order.len() + b, format!("a = {a}, b = {b}: "))
    }

    fn draw_products(&self, at: &[usize], elements: &[(String, usize)], room: f64) -> Picture {
        let part = |place: usize| place as f64 / (at.len() - 1).max(1) as f64;
        let places = (0..at.len()).step_by(at.len().div_ceil(BAR_TICKS));
        let ticks = places.map(|place| (part(place), elements[place].0.clone()));
        let table = Matrix {
            name: "product a·b (row a, column b)",
            of: "",
            groups: elements,
            room,
            largest_cell: LARGEST_CELL,
            cell: &|row, column| {
                let (cell, says) = self.cell(row, column);
                let product = self.products[cell].to_string();
                match at.get(usize::from(self.products[cell])) {
                    None => (f64::NAN, says + "a·b is no element", String::new()),
                    Some(&at) if elements.len() > WRITTEN => {
                        (part(at), says + "a·b = " + &product, String::new())
                    }
                    Some(&at) => (part(at), says + "a·b = " + &product, product),
                }
            },
            row: &|row| format!("products of a = {}", self.order[row]),
            map: Level::Ordinal,
            ticks: ticks.filter(|_| at.len() > WRITTEN).collect(),
        };
        table.picture()
    }

    fn draw_confidence(
        &self,
        thousandths: &[Option<u16>],
        elements: &[(String, usize)],
        room: f64,
    ) -> Picture {
        let sure =
            |cell: usize| thousandths[cell].map_or(f64::NAN, |sure| f64::from(sure) / CERTAIN);
        let table = Matrix {
            name: "confidence",
            of: "",
            groups: elements,
            room,
            largest_cell: LARGEST_CELL,
            cell: &|row, column| {
                let (cell, says) = self.cell(row, column);
                let tooltip = format!("{says}confidence {}", short(sure(cell)));
                (sure(cell), tooltip, String::new())
            },
            row: &|row| {
                let all = (0..elements.len()).map(|column| sure(self.cell(row, column).0));
                let (a, least) = (self.order[row], short(all.fold(1.0, f64::min)));
                format!("products of a = {a}: confidence {least} or more")
            },
            map: Level::Strength,
            ticks: [0.0, 0.25, 0.5, 0.75, 1.0]
                .map(|value| (value, short(value)))
                .into(),
        };
        table.picture()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cyclic(count: usize) -> Vec<u16> {
        let sum = |cell: usize| ((cell / count + cell % count) % count) as u16;
        (0..count * count).map(sum).collect()
    }

    #[test]
    fn rows_columns_and_colours_follow_the_order_and_no_number_is_grey() {
        let confidence = [0.0, 0.5, 1.0, f32::NAN];
        let tables = [
            Cayley::new(&cyclic(3), &[2, 0, 1], None, "t"),
            Cayley::new(&cyclic(2), &[1, 0], Some(&confidence), "t"),
            Cayley::new(&[u16::MAX], &[0], None, "t"),
        ];
        let svgs = tables.map(|table| table.unwrap().picture().unwrap().body.into_string());
        for (table, says, class) in [
            // 2 + 2 = 1 is the last in this order; 2 + 0 = 2 the first; 0 + 0 = 0 the one between.
            (0, "a = 2, b = 2: a·b = 1", "v32"),
            (0, "a = 2, b = 0: a·b = 2", "v0"),
            (0, "a = 0, b = 0: a·b = 0", "v16"),
            (1, "a = 1, b = 1: confidence no number", "u0"),
            (1, "a = 1, b = 0: confidence 1", "s32"),
            (1, "a = 0, b = 1: confidence 0.5", "s16"),
            (2, "a = 0, b = 0: a·b is no element", "u0"),
        ] {
            let cell = format!("<title>{says}</title><path class=\"{class}\"");
            assert!(svgs[table].contains(&cell), "{cell}: {}", svgs[table]);
        }
        assert!(svgs[0].contains("on-dark") && !svgs[2].contains("class=\"on-"));
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
