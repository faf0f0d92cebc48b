//! A square table of colours, one row and one column for each element, with their numbers at its axes.

use super::canvas::{Canvas, Drawn, Pair, text_width};
use super::grid::Grid;
use super::picture::INK;
use plotters::prelude::RGBColor;
use plotters::style::text_anchor::HPos;

const LARGEST_CELL: usize = 120;
/// Up to so many elements each has its number at the axes; of more, at most about so many have.
const NUMBERED: usize = 32;
const TICKS: usize = 16;
const NUMBER_SIZE: f64 = 17.0;
const TITLE_SIZE: f64 = 19.0;
/// For the title and the numbers above the table.
const HEAD: usize = 56;
/// Numbers above narrow columns stand at two heights in turn, so far apart.
const RISE: usize = 18;
/// Free pixels beside a number above the table.
const BESIDE: f64 = 8.0;

/// Where the cells are, and in which order.
pub(super) struct Table<'a> {
    order: &'a [usize],
    grid: Grid,
}

impl<'a> Table<'a> {
    /// A table of the elements in `order` that is about `room` pixels wide and high.
    pub(super) fn new(order: &'a [usize], room: usize) -> Self {
        let count = order.len();
        let cell = (room / count.max(1)).clamp(1, LARGEST_CELL);
        Table {
            order,
            grid: Grid {
                columns: 1,
                shape: (count, count),
                cell: (cell, cell),
                gap: (0, 0),
            },
        }
    }

    /// How many elements there are.
    pub(super) fn count(&self) -> usize {
        self.order.len()
    }

    /// Pixels along a cell.
    pub(super) fn cell(&self) -> usize {
        self.grid.cell.0
    }

    /// Pixels along the table.
    pub(super) fn side(&self) -> usize {
        self.grid.image().0
    }

    /// Pixels above the table for its title and numbers.
    pub(super) fn head(&self) -> usize {
        HEAD + self.rise()
    }

    /// Values of cells (row-major, by element) in the order in which they are drawn.
    pub(super) fn sorted<T: Copy>(&self, values: &[T]) -> impl Iterator<Item = T> {
        let count = self.count();
        (0..count * count).map(move |cell| {
            let (row, column) = (self.order[cell / count], self.order[cell % count]);
            values[row * count + column]
        })
    }

    /// The middle of a cell as drawn, from the corner of the table.
    pub(super) fn middle(&self, index: usize) -> Pair {
        let (row, column) = (index / self.count(), index % self.count());
        let along = |place: usize| (place as f64 + 0.5) * self.cell() as f64;
        (along(column), along(row))
    }

    /// Places in the order at least `room` pixels apart, and which element is there.
    pub(super) fn ticks(&self, room: f64) -> impl Iterator<Item = (usize, String)> {
        (0..self.count())
            .step_by(self.step(room))
            .map(|place| (place, self.order[place].to_string()))
    }

    /// Draws the cells in the order in which they are drawn, the numbers of the elements, and a title.
    pub(super) fn draw(
        &self,
        canvas: &Canvas<'_>,
        corner: Pair,
        title: &str,
        colours: impl Iterator<Item = RGBColor>,
    ) -> Drawn {
        let side = self.side() as f64;
        let (left, top) = corner;
        self.grid.paint(canvas, corner, colours)?;
        canvas.frame((left - 1.0, top - 1.0), (side + 2.0, side + 2.0), INK)?;
        let above = (left + side / 2.0, top - 42.0 - self.rise() as f64);
        canvas.text(above, HPos::Center, title, TITLE_SIZE, INK)?;
        for (index, (place, text)) in self.ticks(self.number_room()).enumerate() {
            let middle = (place as f64 + 0.5) * self.cell() as f64;
            let rise = 16 + index % 2 * self.rise();
            let column = (left + middle, top - rise as f64);
            canvas.text(column, HPos::Center, &text, NUMBER_SIZE, INK)?;
            let row = (left - 10.0, top + middle);
            canvas.text(row, HPos::Right, &text, NUMBER_SIZE, INK)?;
        }
        Ok(())
    }

    /// From one number at the axes to the next.
    fn number_room(&self) -> f64 {
        if self.count() <= NUMBERED {
            0.0
        } else {
            self.widest_number()
        }
    }

    fn widest_number(&self) -> f64 {
        let last = self.count().saturating_sub(1).to_string();
        text_width(&last, NUMBER_SIZE) + BESIDE
    }

    fn rise(&self) -> usize {
        let room = self.step(self.number_room()) * self.cell();
        if (room as f64) < self.widest_number() {
            RISE
        } else {
            0
        }
    }

    /// Every so many elements: all, if no room is asked for, else rather a divisor of their number.
    fn step(&self, room: f64) -> usize {
        if room <= self.cell() as f64 && self.count() <= NUMBERED {
            return 1;
        }
        let least = (room / self.cell() as f64).ceil() as usize;
        let least = least.max(self.count().div_ceil(TICKS)).max(1);
        (least..=2 * least)
            .find(|step| self.count().is_multiple_of(*step))
            .unwrap_or(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_sorted_by_row_and_by_column() {
        let table = Table::new(&[2, 0, 1], 300);
        let sorted: Vec<u8> = table.sorted(&[0, 1, 2, 10, 11, 12, 20, 21, 22]).collect();
        assert_eq!(sorted, [22, 20, 21, 2, 0, 1, 12, 10, 11]);
        assert_eq!(table.middle(5), (250.0, 150.0));
    }

    #[test]
    fn a_small_table_numbers_all_elements_and_a_large_one_some_that_have_room() {
        for (count, room, expected) in [
            (8, 600, 8),
            (32, 600, 32),
            (64, 600, 16),
            (256, 600, 8),
            (251, 600, 14),
        ] {
            let order: Vec<usize> = (0..count).collect();
            let table = Table::new(&order, room);
            assert_eq!(
                table.ticks(table.number_room()).count(),
                expected,
                "{count}"
            );
        }
    }

    #[test]
    fn numbers_above_narrow_columns_stand_at_two_heights() {
        let heads = [16, 32, 256].map(|count| {
            let order: Vec<usize> = (0..count).collect();
            Table::new(&order, 600).head()
        });
        assert_eq!(heads, [HEAD, HEAD + RISE, HEAD]);
    }
}
