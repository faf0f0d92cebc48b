//! How far apart samples are, as colours: what is near is dark. Invariants that tell orbits apart show one dark block
//! an orbit along the diagonal, and nothing else.

use super::axis::{Axis, number};
use super::canvas::{Canvas, Drawn, Pair, fit, text_width};
use super::colour::NEAR;
use super::grid::Grid;
use super::picture::{INK, PENCIL, Picture};
use crate::{Error, Result};
use ndarray::ArrayView2;
use plotters::style::text_anchor::HPos;

const NAME: &str = "distances.png";
/// Pixels along all cells, and at most along one.
const SIDE: usize = 720;
const LARGEST_CELL: usize = 60;
/// Between orbits.
const GAP: usize = 4;
/// Above the names of the columns, for two lines of heading; for the names; right of the cells, for the colour bar.
const HEADING: usize = 92;
const NAMES: usize = 34;
const BAR: usize = 104;
const MARGIN: usize = 28;
const NARROWEST: usize = 700;
/// For the names of the rows, within these bounds, and for the word beside them.
const LEFT: (f64, f64) = (30.0, 150.0);
const AXIS: usize = 34;
const TITLE_SIZE: f64 = 24.0;
const NOTE_SIZE: f64 = 18.0;
const NAME_SIZE: f64 = 17.0;
const BAR_TICKS: usize = 8;

/// The distances of samples, which are in the order of their orbits; `orbits` has the name of each and how many of the
/// samples are its members. Zero is darkest; what is not a number is grey.
///
/// ```
/// use bispectral::report::distances;
/// use ndarray::array;
///
/// let matrix = array![[0.0, 0.1, 1.4], [0.1, 0.0, 1.4], [1.4, 1.4, 0.0]];
/// let picture = distances::png(matrix.view(), &[("7".into(), 2), ("9".into(), 1)], "Distances")?;
/// assert!(picture.starts_with(b"\x89PNG"));
/// # Ok::<(), bispectral::Error>(())
/// ```
///
/// # Errors
/// There are no samples, other ones than the orbits have members, or too many to draw.
pub fn png(
    distances: ArrayView2<'_, f64>,
    orbits: &[(String, usize)],
    title: &str,
) -> Result<Vec<u8>> {
    let count = orbits
        .iter()
        .map(|(_, members)| *members)
        .fold(0, usize::saturating_add);
    if count == 0
        || orbits.iter().any(|(_, members)| *members == 0)
        || distances.dim() != (count, count)
    {
        let (rows, columns) = distances.dim();
        return Err(Error::new(
            NAME,
            format!("{rows} × {columns} distances, the orbits have {count} members"),
            "give the distances of all members",
        ));
    }
    let sheet = Sheet::new(distances, orbits);
    Picture::new(NAME, sheet.size())?
        .draw(|canvas| sheet.draw(canvas, title))?
        .png()
}

struct Sheet<'a> {
    distances: ArrayView2<'a, f64>,
    orbits: &'a [(String, usize)],
    cell: usize,
    left: usize,
}

impl<'a> Sheet<'a> {
    fn new(distances: ArrayView2<'a, f64>, orbits: &'a [(String, usize)]) -> Self {
        let names = orbits.iter().map(|(name, _)| text_width(name, NAME_SIZE));
        Sheet {
            distances,
            orbits,
            cell: (SIDE / distances.nrows()).clamp(1, LARGEST_CELL),
            left: AXIS + names.fold(LEFT.0, f64::max).min(LEFT.1) as usize + 12,
        }
    }

    /// Pixels along all cells and the gaps between orbits.
    fn side(&self) -> usize {
        self.distances.nrows() * self.cell + (self.orbits.len() - 1) * GAP
    }

    fn size(&self) -> (usize, usize) {
        let across = MARGIN + self.left + self.side() + BAR;
        let down = HEADING + NAMES + self.side() + MARGIN;
        (across.max(NARROWEST), down)
    }

    /// The upper left corner of the cells.
    fn corner(&self) -> Pair {
        let across = MARGIN + self.left + self.side() + BAR;
        let spare = self.size().0 - across;
        (
            (spare / 2 + MARGIN + self.left) as f64,
            (HEADING + NAMES) as f64,
        )
    }

    /// The first member of each orbit, how many there are, and where they begin from the corner.
    fn blocks(&self) -> impl Iterator<Item = (usize, usize, f64)> + Clone {
        let cell = self.cell;
        let members = self.orbits.iter().map(|(_, members)| *members);
        members.enumerate().scan(0, move |first, (orbit, members)| {
            let block = (*first, members, (*first * cell + orbit * GAP) as f64);
            *first += members;
            Some(block)
        })
    }

    /// The largest within an orbit, and the smallest and the largest between orbits.
    fn extremes(&self) -> (f64, f64, f64) {
        let orbit = |sample: usize| {
            let blocks = self.blocks();
            blocks.take_while(|(first, ..)| *first <= sample).count()
        };
        let orbits: Vec<usize> = (0..self.distances.nrows()).map(orbit).collect();
        let mut found = (0.0_f64, f64::INFINITY, 0.0_f64);
        for ((a, b), &distance) in self.distances.indexed_iter() {
            if orbits[a] == orbits[b] {
                found.0 = found.0.max(distance);
            } else {
                found.1 = found.1.min(distance);
                found.2 = found.2.max(distance);
            }
        }
        found
    }

    fn draw(&self, canvas: &Canvas<'_>, title: &str) -> Drawn {
        let (within, least, most) = self.extremes();
        let axis = Axis::from_zero(within.max(most));
        self.draw_heading(canvas, title, within, least)?;
        let (left, top) = self.corner();
        for (first_row, rows, down) in self.blocks() {
            for (first_column, columns, right) in self.blocks() {
                let grid = Grid {
                    columns: 1,
                    shape: (rows, columns),
                    cell: (self.cell, self.cell),
                    gap: (0, 0),
                };
                let cells = (0..rows * columns).map(|cell| {
                    let at = (first_row + cell / columns, first_column + cell % columns);
                    NEAR.at(axis.place(self.distances[at]).unwrap_or(f64::NAN))
                });
                let corner = (left + right, top + down);
                grid.paint(canvas, corner, cells)?;
                let (width, height) = grid.image();
                canvas.frame(corner, (width as f64, height as f64), PENCIL)?;
            }
        }
        self.draw_names(canvas)?;
        let side = self.side() as f64;
        let ticks = axis.ticks(BAR_TICKS);
        NEAR.bar(canvas, (left + side + 24.0, top), side, &ticks)
    }

    fn draw_heading(&self, canvas: &Canvas<'_>, title: &str, within: f64, least: f64) -> Drawn {
        let width = self.size().0 as f64;
        let middle = self.corner().0 + self.side() as f64 / 2.0;
        canvas.heading((middle, 26.0), width, title, TITLE_SIZE)?;
        let within = match number(within) {
            zero if zero == "0" => "within an orbit 0".into(),
            within => format!("within an orbit {within} or less"),
        };
        let note = if least.is_finite() {
            format!("{within}, between orbits {} or more", number(least))
        } else {
            within
        };
        canvas.heading((middle, 58.0), width, &note, NOTE_SIZE)
    }

    /// What orbits are called, above their columns and left of their rows.
    fn draw_names(&self, canvas: &Canvas<'_>) -> Drawn {
        let (left, top) = self.corner();
        for ((name, _), (_, members, start)) in self.orbits.iter().zip(self.blocks()) {
            let along = (members * self.cell) as f64;
            let middle = start + along / 2.0;
            let above = fit(name, NAME_SIZE, along);
            canvas.text(
                (left + middle, top - 14.0),
                HPos::Center,
                &above,
                NAME_SIZE,
                INK,
            )?;
            if along >= NAME_SIZE {
                let beside = fit(name, NAME_SIZE, LEFT.1);
                canvas.text(
                    (left - 10.0, top + middle),
                    HPos::Right,
                    &beside,
                    NAME_SIZE,
                    INK,
                )?;
            }
        }
        let middle = self.side() as f64 / 2.0;
        let away = self.left as f64 - AXIS as f64 / 2.0 + 4.0;
        canvas.upright((left - away, top + middle), "orbit", NOTE_SIZE)?;
        canvas.text(
            (left + middle, top - 38.0),
            HPos::Center,
            "orbit",
            NOTE_SIZE,
            INK,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::colour::UNKNOWN;
    use super::super::picture::Seen;
    use super::*;
    use ndarray::{Array2, array};

    fn orbits(members: &[usize]) -> Vec<(String, usize)> {
        let names = members.iter().enumerate();
        names
            .map(|(name, &members)| (name.to_string(), members))
            .collect()
    }

    #[test]
    fn near_is_dark_far_is_light_and_no_number_is_grey() {
        let matrix = array![[0.0, 0.5, 1.0], [0.5, 0.0, 0.25], [1.0, 0.25, f64::NAN]];
        let orbits = orbits(&[2, 1]);
        let seen = Seen::new(&png(matrix.view(), &orbits, "t").unwrap());
        let sheet = Sheet::new(matrix.view(), &orbits);
        let (left, top) = sheet.corner();
        let at = |row: usize, column: usize| {
            let place = |sample: usize| sample * sheet.cell + sample / 2 * GAP + sheet.cell / 2;
            seen.at(left as usize + place(column), top as usize + place(row))
        };
        assert_eq!(
            (at(0, 0), at(0, 1), at(0, 2)),
            (NEAR.at(0.0), NEAR.at(0.5), NEAR.at(1.0))
        );
        assert_eq!((at(1, 2), at(2, 2)), (NEAR.at(0.25), UNKNOWN));
        assert_eq!(sheet.extremes(), (0.5, 0.25, 1.0));
    }

    #[test]
    fn orbits_of_any_number_and_size_give_a_picture() {
        for members in [&[1][..], &[2, 7, 1], &[6; 10], &[8; 12], &[1; 200], &[900]] {
            let count = members.iter().sum();
            let matrix = Array2::from_shape_fn((count, count), |(a, b)| a.abs_diff(b) as f64);
            let mut orbits = orbits(members);
            orbits[0].0 = "a rather long\nname of an orbit".into();
            let bytes = png(matrix.view(), &orbits, "a title\nof two lines").unwrap();
            assert!(Seen::new(&bytes).width >= NARROWEST);
        }
        assert!(png(Array2::zeros((3, 3)).view(), &orbits(&[3]), "").is_ok());
    }

    #[test]
    fn what_is_no_matrix_of_the_members_is_refused_in_one_line() {
        for (shape, members) in [
            ((0, 0), &[][..]),
            ((2, 3), &[2]),
            ((2, 2), &[1]),
            ((2, 2), &[2, 0]),
            ((5000, 5000), &[5000]),
        ] {
            let line = png(Array2::zeros(shape).view(), &orbits(members), "");
            let line = line.unwrap_err().to_string();
            assert!(
                line.starts_with("distances.png: ") && !line.contains('\n'),
                "{line}"
            );
        }
    }
}
