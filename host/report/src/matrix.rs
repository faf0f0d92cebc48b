//! A square matrix of colours with its tooltips, the numbers at its axes, and the bar that explains its colours.

use crate::axis::Tick;
use crate::colour::Level;
use crate::grid::whole;
use crate::levels::{band, cell, cells, raster};
use crate::svg::{Anchor, NUMBER_SIZE, Point, frame, line, text, width};
use maud::{Markup, html};

/// Up to so many cells each has a tooltip, of more each row has one: tooltips are most of a page then.
const MOST_TOOLTIPS: usize = 1 << 12;
const LARGEST_CELL: f64 = 56.0;
/// Width of a colour bar, and of all that belongs to it.
const BAR: f64 = 14.0;
pub(crate) const BAR_ROOM: f64 = 76.0;
/// From a matrix to its colour bar, and from either to its numbers.
const BESIDE: f64 = 18.0;
const AWAY: f64 = 7.0;

/// Where a matrix is.
pub(crate) struct Matrix {
    /// Its upper left corner.
    pub(crate) corner: Point,
    /// Rows, and columns.
    pub(crate) count: usize,
    /// Width and height of a cell.
    pub(crate) cell: f64,
}

impl Matrix {
    /// A matrix of `count` rows that takes about `room`.
    pub(crate) fn new(corner: Point, count: usize, room: f64) -> Self {
        let cell = whole((room / count.max(1) as f64).min(LARGEST_CELL));
        Matrix {
            corner,
            count,
            cell,
        }
    }

    /// Its width and height.
    pub(crate) fn side(&self) -> f64 {
        self.count as f64 * self.cell
    }

    /// The middle of a row or column, from the corner.
    pub(crate) fn middle(&self, place: usize) -> f64 {
        (place as f64 + 0.5) * self.cell
    }

    /// All cells, with a tooltip each where they are few and else one for each row.
    pub(crate) fn cells(
        &self,
        level: impl Fn(usize, usize) -> Level,
        tooltip: impl Fn(usize, usize) -> String,
        row_tooltip: impl Fn(usize) -> String,
    ) -> Markup {
        let count = self.count;
        let few = count * count <= MOST_TOOLTIPS;
        let body = html! {
            @if few {
                @for place in 0..count * count {
                    @let at = (place / count, place % count);
                    (cell(level(at.0, at.1), at, &tooltip(at.0, at.1)))
                }
            } @else {
                (raster((count, count), |row, column| Some(level(row, column))))
                @for row in 0..count { (band((row, 0), count, &row_tooltip(row))) }
            }
        };
        html! {
            (cells(self.corner, (self.cell, self.cell), &body))
            (frame(self.corner, (self.side(), self.side())))
        }
    }

    /// The names of elements above and at the left, as many as have room.
    pub(crate) fn numbers(&self, names: &[usize]) -> Markup {
        let widest = names
            .iter()
            .map(|name| width(&name.to_string(), NUMBER_SIZE))
            .fold(0.0, f64::max);
        let least = ((widest + AWAY) / self.cell).ceil().max(1.0) as usize;
        // Rather a divisor, so that the pattern of a product of groups is seen.
        let step = (least..2 * least)
            .find(|step| self.count.is_multiple_of(*step))
            .unwrap_or(least);
        let (left, top) = self.corner;
        html! {
            @for (place, name) in names.iter().enumerate().step_by(step) {
                @let name = name.to_string();
                @let (above, beside) = ((left + self.middle(place), top - AWAY - 5.0), (left - AWAY, top + self.middle(place)));
                (text(above, Anchor::Middle, NUMBER_SIZE, f64::INFINITY, &name))
                (text(beside, Anchor::End, NUMBER_SIZE, f64::INFINITY, &name))
            }
        }
    }

    /// The bar of `levels`, from below, at the right.
    pub(crate) fn bar(&self, levels: &[Level], ticks: &[Tick]) -> Markup {
        let corner = (self.corner.0 + self.side() + BESIDE, self.corner.1);
        bar(corner, self.side(), levels, ticks)
    }
}

/// A bar of `levels`, from below, with ticks at places from 0 to 1.
pub(crate) fn bar(corner: Point, height: f64, levels: &[Level], ticks: &[Tick]) -> Markup {
    let (left, top) = corner;
    let count = levels.len();
    let body = raster((count, 1), |row, _| levels.get(count - 1 - row).copied());
    html! {
        (cells(corner, (BAR, height / count as f64), &body))
        (frame(corner, (BAR, height)))
        @for (place, words) in ticks {
            @let y = top + (1.0 - place) * height;
            (line("tick", (left + BAR, y), (left + BAR + 4.0, y)))
            (text((left + BAR + AWAY, y), Anchor::Start, NUMBER_SIZE, f64::INFINITY, words))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(count: usize) -> String {
        let matrix = Matrix::new((0.0, 0.0), count, 560.0);
        let level = |row: usize, column: usize| Level::grey(((row + column) % 2) as u8);
        let cell = |row: usize, column: usize| format!("cell {row} {column}");
        matrix
            .cells(level, cell, |row| format!("row {row}"))
            .into_string()
    }

    #[test]
    fn each_cell_of_a_small_matrix_has_a_tooltip_and_each_row_of_a_large_one() {
        let small = drawn(64);
        assert_eq!(small.matches("<title>cell ").count(), 64 * 64);
        assert!(small.contains("d=\"M3 2h1\"><title>cell 2 3</title>"));
        let large = drawn(65);
        assert_eq!(large.matches("<title>row ").count(), 65);
        assert!(!large.contains("<title>cell"), "tooltips are bounded");
    }

    #[test]
    fn a_small_matrix_numbers_all_elements_and_a_large_one_some_that_have_room() {
        for (count, expected) in [(8, 8), (16, 16), (64, 16), (256, 16), (251, 16)] {
            let names: Vec<usize> = (0..count).collect();
            let matrix = Matrix::new((0.0, 0.0), count, 560.0);
            let numbers = matrix
                .numbers(&names)
                .into_string()
                .matches("<text")
                .count();
            assert_eq!(numbers / 2, expected, "{count}");
        }
    }
}
