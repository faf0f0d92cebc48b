//! A Cayley table as colours: cell (a, b) shows which element a·b is.
//!
//! Rows and columns come in an order of the caller's, and the colour is the product's place in that order: a cyclic
//! group sorted by the powers of a generator shows bands along the diagonals.

use super::axis::number;
use super::canvas::{Canvas, Drawn, Pair};
use super::colour::{BLUES, Map, UNKNOWN, VIRIDIS, legible_on};
use super::picture::Picture;
use super::table::Table;
use crate::{Error, Result};
use plotters::prelude::RGBColor;
use plotters::style::text_anchor::HPos;

const NAME: &str = "cayley.png";
/// Pixels along the side of a table, when it is alone and when two are beside each other.
const ALONE: usize = 720;
const BESIDE: usize = 600;
/// Up to so many elements each product is written in its cell.
const WRITTEN: usize = 16;
/// Above everything, for the rows' numbers at the left, and for a colour bar with its numbers.
const CAPTION: usize = 50;
const LEFT: usize = 72;
const BAR: usize = 108;
const MARGIN: usize = 24;
const NARROWEST: usize = 700;
const CAPTION_SIZE: f64 = 24.0;
const LARGEST_NUMBER: f64 = 30.0;
/// Pixels between the ticks of a colour bar, at least.
const BAR_TICK: f64 = 30.0;

/// The table of `products` (row-major, element a·b at a · n + b) with its rows and columns in `order`, which names
/// each of the n elements once. A product that is no element is grey. With `confidence` (0 … 1, laid out like
/// `products`) a second table shows how sure each is.
///
/// ```
/// use bispectral::report::cayley;
///
/// let picture = cayley::png(&[0, 1, 1, 0], &[0, 1], None, "Z2")?;
/// assert!(picture.starts_with(b"\x89PNG"));
/// # Ok::<(), bispectral::Error>(())
/// ```
///
/// # Errors
/// Lengths differ, `order` is no order of all elements, or there are too many to draw.
pub fn png(
    products: &[u16],
    order: &[usize],
    confidence: Option<&[f32]>,
    title: &str,
) -> Result<Vec<u8>> {
    let positions = check(products, order, confidence)?;
    let sheet = Sheet::new(products, order, confidence, &positions);
    Picture::new(NAME, sheet.size())?
        .draw(|canvas| sheet.draw(canvas, title))?
        .png()
}

/// The place of each element in `order`.
fn check(products: &[u16], order: &[usize], confidence: Option<&[f32]>) -> Result<Vec<usize>> {
    let refused = |what: String, remedy: &str| Err(Error::new(NAME, what, remedy));
    let count = order.len();
    let cells = count.saturating_mul(count);
    if count == 0 {
        return refused(
            "there are no elements".into(),
            "draw a group of one or more",
        );
    }
    if products.len() != cells || confidence.is_some_and(|confidence| confidence.len() != cells) {
        return refused(
            format!("{count} elements have {cells} products"),
            "give as many, and as many confidences",
        );
    }
    let mut positions = vec![usize::MAX; count];
    for (position, &element) in order.iter().enumerate() {
        match positions.get_mut(element) {
            Some(place) if *place == usize::MAX => *place = position,
            _ => {
                return refused(
                    format!("element {element} is named twice or is none of {count}"),
                    "give an order of all elements",
                );
            }
        }
    }
    Ok(positions)
}

/// What is drawn, and how large.
struct Sheet<'a> {
    products: &'a [u16],
    confidence: Option<&'a [f32]>,
    positions: &'a [usize],
    table: Table<'a>,
}

impl<'a> Sheet<'a> {
    fn new(
        products: &'a [u16],
        order: &'a [usize],
        confidence: Option<&'a [f32]>,
        positions: &'a [usize],
    ) -> Self {
        let room = if confidence.is_some() { BESIDE } else { ALONE };
        Sheet {
            products,
            confidence,
            positions,
            table: Table::new(order, room),
        }
    }

    /// Whether the products' colours need a bar: they are not written.
    fn explained(&self) -> bool {
        self.table.count() > WRITTEN
    }

    /// Widths of both tables with all that belongs to them.
    fn widths(&self) -> (usize, usize) {
        let width = |bar: bool| LEFT + self.table.side() + if bar { BAR } else { MARGIN };
        (
            width(self.explained()),
            self.confidence.map_or(0, |_| width(true)),
        )
    }

    fn size(&self) -> (usize, usize) {
        let (first, second) = self.widths();
        (
            (first + second).max(NARROWEST),
            CAPTION + self.table.head() + self.table.side() + MARGIN,
        )
    }

    /// The upper left corners of both tables.
    fn corners(&self) -> [Pair; 2] {
        let (first, second) = self.widths();
        let left = (self.size().0 - first - second) / 2 + LEFT;
        let top = (CAPTION + self.table.head()) as f64;
        [(left as f64, top), ((left + first) as f64, top)]
    }

    fn draw(&self, canvas: &Canvas<'_>, title: &str) -> Drawn {
        let (width, [first, second]) = (self.size().0 as f64, self.corners());
        // A single table has its caption over it, two have it between them.
        let middle = match self.confidence {
            Some(_) => width / 2.0,
            None => first.0 + self.table.side() as f64 / 2.0,
        };
        let at = (middle, CAPTION as f64 / 2.0);
        canvas.heading(at, width, title, CAPTION_SIZE)?;
        self.draw_products(canvas, first)?;
        if let Some(confidence) = self.confidence {
            self.draw_confidence(canvas, second, confidence)?;
        }
        Ok(())
    }

    fn colour(&self, product: u16) -> RGBColor {
        let last = (self.table.count() - 1).max(1) as f64;
        self.positions
            .get(usize::from(product))
            .map_or(UNKNOWN, |&place| VIRIDIS.at(place as f64 / last))
    }

    fn draw_products(&self, canvas: &Canvas<'_>, corner: Pair) -> Drawn {
        let products = || self.table.sorted(self.products);
        let colours = products().map(|product| self.colour(product));
        let title = "product a·b (row a, column b)";
        self.table.draw(canvas, corner, title, colours)?;
        if self.explained() {
            let last = (self.table.count() - 1) as f64;
            let ticks = self.table.ticks(BAR_TICK);
            let ticks: Vec<(f64, String)> = ticks
                .map(|(place, text)| (place as f64 / last, text))
                .collect();
            return self.bar(canvas, corner, &VIRIDIS, &ticks);
        }
        let size = (self.table.cell() as f64 * 0.5).min(LARGEST_NUMBER);
        for (index, product) in products().enumerate() {
            if usize::from(product) < self.table.count() {
                let (right, down) = self.table.middle(index);
                let at = (corner.0 + right, corner.1 + down);
                let ink = legible_on(self.colour(product));
                canvas.text(at, HPos::Center, &product.to_string(), size, ink)?;
            }
        }
        Ok(())
    }

    fn draw_confidence(&self, canvas: &Canvas<'_>, corner: Pair, confidence: &[f32]) -> Drawn {
        let sorted = self.table.sorted(confidence);
        let colours = sorted.map(|sure| BLUES.at(sure.into()));
        self.table.draw(canvas, corner, "confidence", colours)?;
        let ticks = [0.0, 0.25, 0.5, 0.75, 1.0].map(|value| (value, number(value)));
        self.bar(canvas, corner, &BLUES, &ticks)
    }

    /// A colour bar right of the table at `corner`.
    fn bar(&self, canvas: &Canvas<'_>, corner: Pair, map: &Map, ticks: &[(f64, String)]) -> Drawn {
        let side = self.table.side() as f64;
        map.bar(canvas, (corner.0 + side + 20.0, corner.1), side, ticks)
    }
}

#[cfg(test)]
mod tests {
    use super::super::picture::Seen;
    use super::*;

    fn cyclic(count: usize) -> Vec<u16> {
        (0..count * count)
            .map(|cell| ((cell / count + cell % count) % count) as u16)
            .collect()
    }

    fn all(count: usize) -> Vec<usize> {
        (0..count).collect()
    }

    /// The colour in the upper left corner of cell (row, column) of a table.
    fn cell(seen: &Seen, sheet: &Sheet<'_>, table: usize, row: usize, column: usize) -> RGBColor {
        let (left, top) = sheet.corners()[table];
        let side = sheet.table.cell();
        seen.at(left as usize + column * side, top as usize + row * side)
    }

    #[test]
    fn a_cyclic_group_shows_one_colour_along_each_diagonal() {
        let (products, order) = (cyclic(20), all(20));
        let seen = Seen::new(&png(&products, &order, None, "Z20").unwrap());
        let sheet = Sheet::new(&products, &order, None, &order);
        let colour = |row, column| cell(&seen, &sheet, 0, row, column);
        for diagonal in 0..20 {
            let expected = VIRIDIS.at(diagonal as f64 / 19.0);
            for row in 0..20 {
                assert_eq!(colour(row, (20 + diagonal - row) % 20), expected);
            }
        }
    }

    #[test]
    fn rows_columns_and_colours_follow_the_order() {
        let order = [2, 0, 1];
        let seen = Seen::new(&png(&cyclic(3), &order, None, "").unwrap());
        let products = cyclic(3);
        let sheet = Sheet::new(&products, &order, None, &[1, 2, 0]);
        // 2 + 2 = 1 is the last in this order; 2 + 0 = 2 the first; 0 + 0 = 0 the one between.
        let colours =
            [(0, 0), (0, 1), (1, 1)].map(|(row, column)| cell(&seen, &sheet, 0, row, column));
        assert_eq!(colours, [VIRIDIS.at(1.0), VIRIDIS.at(0.0), VIRIDIS.at(0.5)]);
    }

    #[test]
    fn confidence_is_darker_the_larger_it_is_and_grey_where_there_is_none() {
        let sure = [0.0, 0.5, 1.0, f32::NAN];
        let order = [1, 0];
        let seen = Seen::new(&png(&cyclic(2), &order, Some(&sure), "Z2").unwrap());
        let products = cyclic(2);
        let sheet = Sheet::new(&products, &order, Some(&sure), &order);
        // Sorted the other way round.
        let expected = [UNKNOWN, BLUES.at(1.0), BLUES.at(0.5), BLUES.at(0.0)];
        for (index, expected) in expected.into_iter().enumerate() {
            assert_eq!(cell(&seen, &sheet, 1, index / 2, index % 2), expected);
        }
        let less = [0.0, 0.4, 1.0, f32::NAN];
        let other = png(&cyclic(2), &order, Some(&less), "Z2").unwrap();
        assert_ne!(other, png(&cyclic(2), &order, Some(&sure), "Z2").unwrap());
    }

    #[test]
    fn a_group_of_any_order_gives_a_picture() {
        for count in [1, 2, 7, 16, 17, 32, 33, 64, 251, 300] {
            let (products, order) = (cyclic(count), all(count));
            let sure = vec![f32::INFINITY; count * count];
            for confidence in [None, Some(&sure[..])] {
                let bytes = png(&products, &order, confidence, "a\ntitle").unwrap();
                let width = Seen::new(&bytes).width;
                assert!((700..=1600).contains(&width), "{count}: {width}");
            }
        }
    }

    #[test]
    fn a_product_that_is_no_element_is_grey() {
        let seen = Seen::new(&png(&[u16::MAX], &[0], None, "").unwrap());
        let sheet = Sheet::new(&[u16::MAX], &[0], None, &[0]);
        assert_eq!(cell(&seen, &sheet, 0, 0, 0), UNKNOWN);
        let side = sheet.table.side();
        assert!(
            seen.count(UNKNOWN) >= side * side,
            "and nothing is written in it"
        );
    }

    #[test]
    fn what_is_no_table_is_refused_in_one_line() {
        let large = 4000;
        let table = vec![0; large * large];
        let order = all(large);
        for (products, order, confidence) in [
            (&[][..], &[][..], None),
            (&[0, 1, 1], &[0, 1], None),
            (&[0, 1, 1, 0], &[0, 1], Some(&[1.0][..])),
            (&[0, 1, 1, 0], &[0, 0], None),
            (&[0, 1, 1, 0], &[0, 2], None),
            (&table, &order, None),
        ] {
            let error = png(products, order, confidence, "t")
                .unwrap_err()
                .to_string();
            assert!(error.starts_with("cayley.png: "), "{error}");
            assert!(!error.contains('\n'), "{error}");
        }
    }
}
