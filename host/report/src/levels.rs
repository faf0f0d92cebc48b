//! Matrices of few colours, written as one path a colour: each run of equal cells along a row is a stroke as high as
//! a cell. A cell of a picture takes about six characters that way, a rectangle would take sixty.

use crate::colour::{Level, TOP};
use crate::drawing::{DrawingError, expect_length};
use maud::{Markup, html};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The letter of the lowest level, and that of what is no number.
const FIRST: u8 = b'0';
const UNKNOWN: char = '.';

/// A path, and where it has come to.
#[derive(Default)]
struct Path {
    data: String,
    end: (usize, usize),
}

impl Path {
    fn run(&mut self, x: usize, y: usize, length: usize) {
        let step = |to: usize, from: usize| to as i64 - from as i64;
        let (right, down) = (step(x, self.end.0), step(y, self.end.1));
        // Writing to a string does not fail.
        let _ = write!(self.data, "m{right} {down}h{length}");
        self.end = (x + length, y);
    }
}

/// Places a group whose unit is a cell of `(width, height)` at `corner`; strokes of its paths fill the cells.
pub(crate) fn cells(corner: (f64, f64), cell: (f64, f64), body: &Markup) -> Markup {
    // The stroke along the middle of the first row is half a cell below the corner.
    let down = corner.1 + cell.1 / 2.0;
    let place = format!(
        "translate({} {down}) scale({} {})",
        corner.0, cell.0, cell.1
    );
    html! { g.cells transform=(place) { (body) } }
}

/// Cells of `size` (rows, columns), each of the level that is given for its row and column; where there is none, the
/// paper is seen.
pub(crate) fn raster(
    size: (usize, usize),
    level: impl Fn(usize, usize) -> Option<Level>,
) -> Markup {
    let mut paths = BTreeMap::<Level, Path>::new();
    for row in 0..size.0 {
        let mut start = 0;
        let mut current = None;
        for column in 0..=size.1 {
            let next = (column < size.1).then(|| level(row, column)).flatten();
            if next != current {
                if let Some(level) = current {
                    let path = paths.entry(level).or_default();
                    path.run(start, row, column - start);
                }
                (start, current) = (column, next);
            }
        }
    }
    html! { @for (level, path) in &paths { path class=(level) d=(path.data) {} } }
}

/// One cell with a tooltip.
pub(crate) fn cell(level: Level, (row, column): (usize, usize), tooltip: &str) -> Markup {
    html! { path class=(level) d={ "M" (column) " " (row) "h1" } { title { (tooltip) } } }
}

/// A tooltip for `columns` cells of a row from a place on.
pub(crate) fn band((row, column): (usize, usize), columns: usize, tooltip: &str) -> Markup {
    html! {
        path.hit d={ "M" (column) " " (row) "h" (columns) } { title { (tooltip) } }
    }
}

/// A level as a letter, by which pages keep pictures: `0` is the lowest, `.` is unknown.
pub(crate) fn letter(step: Option<u8>) -> char {
    step.map_or(UNKNOWN, |step| char::from(FIRST + step.min(TOP)))
}

/// The level of a letter.
pub(crate) fn step(letter: u8) -> Option<u8> {
    letter.checked_sub(FIRST).filter(|step| *step <= TOP)
}

/// That a picture has so many letters, all of them levels or unknown.
pub(crate) fn check(letters: &str, cells: usize) -> Result<(), DrawingError> {
    expect_length("cells of a picture", letters.len(), cells)?;
    let known = |letter: u8| letter == UNKNOWN as u8 || step(letter).is_some();
    if letters.bytes().all(known) {
        Ok(())
    } else {
        Err(DrawingError::Levels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_cells_along_a_row_are_one_stroke() {
        let picture = ["aab.", "b..b"];
        let level = |row: usize, column: usize| match picture[row].as_bytes()[column] {
            b'a' => Some(Level::grey(0)),
            b'b' => Some(Level::grey(1)),
            _ => None,
        };
        let markup = raster((2, 4), level).into_string();
        let expected = "<path class=\"g0\" d=\"m0 0h2\"></path>\
                        <path class=\"g1\" d=\"m2 0h1m-3 1h1m2 0h1\"></path>";
        assert_eq!(markup, expected);
    }

    #[test]
    fn a_level_survives_as_a_letter_that_json_need_not_escape() {
        for level in (0..=TOP).map(Some).chain([None]) {
            let letter = letter(level);
            assert_eq!(step(letter as u8), level);
            assert!(letter.is_ascii_graphic() && !['"', '\\'].contains(&letter));
            assert!(check(&letter.to_string(), 1).is_ok());
        }
        assert!(check("00", 1).is_err() && check("~", 1).is_err() && check("é", 2).is_err());
    }
}
