//! Matrices of few colours with their tooltips and what explains them.
//!
//! Cells are one path a colour: each run of equal cells along a row is a stroke as high as a cell. A cell of a picture
//! takes about six characters that way, a rectangle would take sixty. Pages keep a cell as one letter.

use crate::axis::Tick;
use crate::colour::{Level, TOP};
use crate::drawing::{DrawingError, expect_length};
use crate::svg::{self, Anchor, LABEL_SIZE, NUMBER_SIZE, Picture, Point, px};
use maud::{Markup, html};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The letter of the lowest level, and that of what is no number.
const FIRST: u8 = b'0';
const UNKNOWN: char = '.';
/// Up to so many cells each has a tooltip, of more each row has one: tooltips are most of a page then.
const MOST_TOOLTIPS: usize = 1 << 12;
/// A cell that holds a number or nothing is at most so wide.
pub(crate) const LARGEST_CELL: f64 = 56.0;
/// A share of a cell that a word in it may take in height.
const WRITTEN: f64 = 0.5;
/// Above a matrix for its name and those of the columns; left of it for those of the rows, within these bounds.
const ABOVE: f64 = 46.0;
const LEFT: (f64, f64) = (42.0, 120.0);
/// The width to which a name above a matrix may be cut.
const SHORTEST: f64 = 26.0;
/// Between groups of rows, where cells are large.
const WIDEST_BORDER: f64 = 2.0;
/// From a matrix to its colour bar, the bar's width, that of all that belongs to it, and from either to its numbers.
const BESIDE: f64 = 18.0;
const BAR: f64 = 14.0;
const BAR_ROOM: f64 = 76.0;
const AWAY: f64 = 7.0;

/// A cell's side that is a whole number where it is one or more, for sharp cells on any screen.
pub(crate) fn whole(side: f64) -> f64 {
    if side >= 1.0 { side.floor() } else { side }
}

/// Cells of `size` (rows, columns) from a corner on, each of the level that is given for its row and column; where
/// there is none, the paper is seen.
pub(crate) fn raster(
    corner: Point,
    cell: Point,
    size: (usize, usize),
    level: impl Fn(usize, usize) -> Option<Level>,
) -> Markup {
    // The data of a path and where it has come to.
    let mut paths = BTreeMap::<Level, (String, i64, i64)>::new();
    for row in 0..size.0 {
        let levels: Vec<Option<Level>> = (0..size.1).map(|column| level(row, column)).collect();
        let (mut column, row) = (0, row as i64);
        for run in levels.chunk_by(PartialEq::eq) {
            let length = run.len() as i64;
            if let Some(level) = run[0].filter(|level| *level != Level::Signed(0)) {
                let (data, x, y) = paths.entry(level).or_default();
                // Writing to a string does not fail.
                let _ = write!(data, "m{} {}h{length}", column - *x, row - *y);
                (*x, *y) = (column + length, row);
            }
            column += length;
        }
    }
    // The stroke along the middle of the first row is half a cell below the corner.
    let (x, y) = (corner.0, corner.1 + cell.1 / 2.0);
    let place = format!("translate({x} {y}) scale({} {})", cell.0, cell.1);
    html! {
        g.cells transform=(place) { @for (level, (data, _, _)) in &paths { path class=(level) d=(data) {} } }
    }
}

/// A bar of `levels`, from below, with ticks at places from 0 to 1.
pub(crate) fn bar(corner: Point, height: f64, levels: &[Level], ticks: &[Tick]) -> Markup {
    let (right, count) = (corner.0 + BAR, levels.len());
    let level = |row, _| levels.get(count - 1 - row).copied();
    html! {
        (raster(corner, (BAR, height / count as f64), (count, 1), level))
        (svg::rectangle("frame", corner, (BAR, height), ""))
        @for (place, words) in ticks {
            @let y = corner.1 + (1.0 - place) * height;
            (svg::line("tick", (right, y), (right + 4.0, y)))
            (svg::number((right + AWAY, y), Anchor::Start, words))
        }
    }
}

/// A square matrix of colours.
pub(crate) struct Matrix<'a> {
    /// Above it.
    pub(crate) name: &'a str,
    /// What the groups are.
    pub(crate) of: &'a str,
    /// The names of groups of rows, which are those of the columns, and how many are in each.
    pub(crate) groups: &'a [(String, usize)],
    /// Its width and height at most.
    pub(crate) room: f64,
    /// A cell's side at most.
    pub(crate) largest_cell: f64,
    /// Of a row and a column: a part 0 … 1 of the map, a tooltip, and what is written there.
    pub(crate) cell: &'a dyn Fn(usize, usize) -> (f64, String, String),
    /// The tooltip of a row, where cells are too many for a tooltip each.
    pub(crate) row: &'a dyn Fn(usize) -> String,
    pub(crate) map: fn(u8) -> Level,
    /// At the bar that explains the map; there is none without.
    pub(crate) ticks: Vec<Tick>,
}

impl Matrix<'_> {
    pub(crate) fn picture(&self) -> Picture {
        let count = self.groups.iter().map(|(_, size)| size).sum::<usize>();
        let cell = whole((self.room / count as f64).min(self.largest_cell));
        let side = count as f64 * cell;
        let names = svg::widest(self.groups.iter().map(|(name, _)| name.as_str()));
        let left = (names + 10.0).clamp(LEFT.0, LEFT.1);
        let row = |row: usize| (left, ABOVE + row as f64 * cell);
        let level = |row, column| Some(Level::of((self.cell)(row, column).0, self.map));
        let levels: Vec<Level> = (0..=TOP).map(self.map).collect();
        let body = html! {
            g.soft {
                (svg::text((0.0, 12.0), Anchor::Start, LABEL_SIZE, f64::INFINITY, self.name))
                (svg::number((left - AWAY, ABOVE - 12.0), Anchor::End, self.of))
            }
            @if count * count <= MOST_TOOLTIPS {
                g.cells stroke-width=(cell) {
                    @for place in 0..count * count { (self.draw_cell(row(place / count), cell, place / count, place % count)) }
                }
            } @else {
                (raster(row(0), (cell, cell), (count, count), level))
                @for at in 0..count { (svg::rectangle("hit", row(at), (side, cell), &(self.row)(at))) }
            }
            (svg::rectangle("frame", row(0), (side, side), ""))
            (self.draw_groups(left, cell, side))
            @if !self.ticks.is_empty() { (bar((left + side + BESIDE, ABOVE), side, &levels, &self.ticks)) }
        };
        let right = side + if self.ticks.is_empty() { 0.0 } else { BAR_ROOM };
        let width = (left + right).max(svg::width(self.name, LABEL_SIZE));
        Picture::new((width, ABOVE + side), body)
    }

    fn draw_cell(&self, (left, top): Point, cell: f64, row: usize, column: usize) -> Markup {
        let (x, y) = (left + column as f64 * cell, top + cell / 2.0);
        let (part, tooltip, written) = (self.cell)(row, column);
        let level = Level::of(part, self.map);
        let class = match level {
            // The strong colour is dark on light paper, and light on dark.
            Level::Strength(step) if step > TOP / 2 => "on-strong",
            Level::Strength(_) => "on-weak",
            _ => ["on-light", "on-dark"][usize::from(level.is_dark())],
        };
        let size = (cell * WRITTEN).min(LABEL_SIZE);
        html! {
            g class=[(!written.is_empty()).then_some(class)] {
                title { (tooltip) }
                path class=(level) d={ "M" (px(x)) " " (px(y)) "h" (cell) } {}
                @if !written.is_empty() { (svg::text((x + cell / 2.0, y), Anchor::Middle, size, f64::INFINITY, &written)) }
            }
        }
    }

    /// The names of as many groups as have room, and lines between groups of more than one row.
    fn draw_groups(&self, left: f64, cell: f64, side: f64) -> Markup {
        let sizes = self.groups.iter().map(|(_, size)| *size as f64 * cell);
        let pitch = sizes.fold(f64::INFINITY, f64::min);
        let names = svg::widest(self.groups.iter().map(|(name, _)| name.as_str()));
        // Cut to what is between two of them, where that is enough to read.
        let wide = names.min((pitch - AWAY).max(SHORTEST));
        let least = ((wide + AWAY) / pitch).ceil().max(1.0) as usize;
        // Rather a divisor, so that the pattern of a product of groups is seen.
        let divisor = (least..2 * least).find(|step| self.groups.len().is_multiple_of(*step));
        let step = divisor.unwrap_or(least);
        let apart = self.groups.iter().any(|(_, size)| *size > 1);
        let mut first = 0;
        let places = self.groups.iter().map(|(name, size)| {
            let start = first as f64 * cell;
            first += size;
            (name, start, start + *size as f64 * cell / 2.0)
        });
        let places: Vec<(&String, f64, f64)> = places.collect();
        html! {
            g stroke-width=((cell / 3.0).min(WIDEST_BORDER)) {
                // Within the frame.
                @for (_, start, _) in places.iter().skip(1).filter(|_| apart) {
                    (svg::line("border", (left + 1.0, ABOVE + start), (left + side - 1.0, ABOVE + start)))
                    (svg::line("border", (left + start, ABOVE + 1.0), (left + start, ABOVE + side - 1.0)))
                }
            }
            @for (name, _, middle) in places.iter().step_by(step) {
                (svg::text((left + middle, ABOVE - 12.0), Anchor::Middle, NUMBER_SIZE, wide, name))
                (svg::text((left - AWAY, ABOVE + middle), Anchor::End, NUMBER_SIZE, left - AWAY, name))
            }
        }
    }
}

/// Images of one size in rows and columns.
pub(crate) struct Grid {
    /// Height and width of an image in cells.
    pub(crate) shape: (usize, usize),
    /// Images beside each other.
    pub(crate) columns: usize,
    /// Width and height of a cell.
    pub(crate) cell: Point,
    /// Cells from an image to the next beside it.
    pub(crate) right: usize,
    /// From an image to the next below it.
    pub(crate) down: f64,
}

impl Grid {
    /// Width and height of an image.
    pub(crate) fn image(&self) -> Point {
        let (height, width) = self.shape;
        (width as f64 * self.cell.0, height as f64 * self.cell.1)
    }

    /// The upper left corner of an image.
    pub(crate) fn corner(&self, index: usize) -> Point {
        let (row, column) = (index / self.columns, index % self.columns);
        let right = (column * self.right) as f64 * self.cell.0;
        (right, row as f64 * self.down)
    }

    /// Draws `count` images: the level of a cell is given for an image and a place in it, and the tooltip for an image.
    pub(crate) fn picture(
        &self,
        count: usize,
        level: impl Fn(usize, usize) -> Level,
        tooltip: impl Fn(usize) -> String,
    ) -> Picture {
        let (height, width) = self.shape;
        let row = |first: usize| {
            let size = (height, self.columns.min(count - first) * self.right);
            raster(self.corner(first), self.cell, size, |row, column| {
                let (image, column) = (column / self.right, column % self.right);
                (column < width).then(|| level(first + image, row * width + column))
            })
        };
        let body = html! {
            @for first in (0..count).step_by(self.columns) { (row(first)) }
            @for image in 0..count { (svg::rectangle("tile", self.corner(image), self.image(), &tooltip(image))) }
        };
        let (right, bottom) = (self.columns.min(count).max(1) - 1, count.max(1) - 1);
        let (last, image) = ((self.corner(right).0, self.corner(bottom).1), self.image());
        Picture::new((last.0 + image.0, last.1 + image.1), body)
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
    let all_known = letters.bytes().all(known);
    all_known.then_some(()).ok_or(DrawingError::Levels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_cells_along_a_row_are_one_stroke_and_the_paper_is_none() {
        let picture = ["aab.", "b..b"];
        let level = |row: usize, column: usize| match picture[row].as_bytes()[column] {
            b'a' => Some(Level::Grey(0)),
            b'b' => Some(Level::Grey(1)),
            _ if row == 0 => None,
            _ => Some(Level::Signed(0)),
        };
        let markup = raster((0.0, 0.0), (2.0, 1.0), (2, 4), level).into_string();
        let expected = "<g class=\"cells\" transform=\"translate(0 0.5) scale(2 1)\">\
                        <path class=\"g0\" d=\"m0 0h2\"></path>\
                        <path class=\"g1\" d=\"m2 0h1m-3 1h1m2 0h1\"></path></g>";
        assert_eq!(markup, expected);
    }

    #[test]
    fn each_cell_of_a_small_matrix_has_a_tooltip_and_each_row_of_a_large_one() {
        for (groups, cells, rows, named) in [
            (
                vec![("group".to_string(), 63), ("other".into(), 1)],
                64 * 64,
                0,
                1,
            ),
            (vec![("group".into(), 64), ("g".into(), 1)], 0, 65, 1),
            (vec![("7".into(), 1); 16], 256, 0, 16),
            // Every fourth, because three do not divide it.
            (vec![("77".into(), 1); 64], 64 * 64, 0, 16),
        ] {
            let matrix = Matrix {
                name: "",
                of: "",
                groups: &groups,
                room: 560.0,
                largest_cell: LARGEST_CELL,
                cell: &|row, column| (1.0, format!("cell {row} {column}"), String::new()),
                row: &|row| format!("row {row}"),
                map: Level::Grey,
                ticks: vec![],
            };
            let svg = matrix.picture().body.into_string();
            assert_eq!(svg.matches("<title>cell ").count(), cells);
            assert_eq!(svg.matches("<title>row ").count(), rows);
            let borders = svg.matches("class=\"border\"").count();
            assert_eq!(borders, if groups.len() == 2 { 2 } else { 0 });
            assert_eq!(svg.matches("text-anchor=\"middle\"").count(), named);
            // In the third row and the fourth column of cells with sides of eight.
            let cell = "<title>cell 2 3</title><path class=\"g32\" d=\"M72.8 66h8\"";
            assert!(svg.contains(cell) || groups[0].1 != 63, "{svg}");
        }
    }

    #[test]
    fn images_are_placed_row_after_row_with_gaps_between() {
        let (shape, columns, cell, right, down) = ((1, 2), 2, (4.0, 6.0), 3, 15.0);
        let grid = Grid {
            shape,
            columns,
            cell,
            right,
            down,
        };
        let level = |image, place| Level::Grey((image + place) as u8 % 2);
        let picture = grid.picture(3, level, |image| format!("image {image}"));
        assert_eq!(picture.size, (20.0, 21.0));
        assert_eq!(grid.corner(2), (0.0, 15.0));
        let svg = picture.body.into_string();
        // Cells of neighbours are in one path, and the gap is free.
        assert!(
            svg.contains("<path class=\"g1\" d=\"m1 0h1m1 0h1\">"),
            "{svg}"
        );
        let tile = "x=\"12\" y=\"0\" width=\"8\" height=\"6\"><title>image 1</title>";
        assert!(svg.contains(tile), "{svg}");
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
