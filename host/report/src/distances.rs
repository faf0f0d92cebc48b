//! How far apart samples are, as colours: what is near is strong. Invariants that tell orbits apart show one strong
//! block an orbit along the diagonal, and nothing else.

use crate::axis::Axis;
use crate::colour::{Level, TOP, step};
use crate::drawing::{DrawingError, MOST_CELLS, expect_length, expect_some};
use crate::matrix::{BAR_ROOM, Matrix};
use crate::number::{list, short, significant};
use crate::svg::{self, Anchor, HEAD, LABEL_SIZE, MARGIN, NUMBER_SIZE, Picture};
use maud::{Markup, html};
use serde::{Deserialize, Serialize};

const SIDE: f64 = 560.0;
/// Above the cells, for a note and the names of the orbits; left of them, for the names, within these bounds.
const ABOVE: f64 = 46.0;
const LEFT: (f64, f64) = (42.0, 120.0);
/// Between two names above the cells.
const BETWEEN: f64 = 6.0;
/// A name is not cut shorter than this.
const SHORTEST: f64 = 26.0;
/// Between orbits, where cells are large.
const WIDEST_BORDER: f64 = 2.0;
const BAR_TICKS: usize = 8;
/// Digits that are kept: tooltips show as many.
const DIGITS: usize = 3;

/// Distances between the members of orbits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Distances {
    title: String,
    orbits: Vec<(String, usize)>,
    #[serde(deserialize_with = "list::numbers")]
    distances: Vec<f64>,
}

impl Distances {
    /// The `distances` (row-major) of samples, which are in the order of their orbits; `orbits` has the name of each
    /// and how many of the samples are its members. Zero is strongest; what is not a number is grey.
    ///
    /// ```
    /// use bispectral_report::{Distances, Drawing};
    ///
    /// let matrix = [0.0, 0.1, 1.4, 0.1, 0.0, 1.4, 1.4, 1.4, 0.0];
    /// let orbits = [("7".to_string(), 2), ("9".to_string(), 1)];
    /// let svg = Drawing::from(Distances::new(matrix, &orbits, "Distances")).svg();
    /// assert!(svg.contains("orbit 7, member 1 and orbit 9, member 0: 1.4"));
    /// ```
    ///
    /// # Errors
    /// There are no samples, other ones than the orbits have members, or too many.
    pub fn new(
        distances: impl IntoIterator<Item = f64>,
        orbits: &[(String, usize)],
        title: impl Into<String>,
    ) -> Result<Self, DrawingError> {
        let distances = distances.into_iter().take(MOST_CELLS + 1);
        let distances = Distances {
            title: title.into(),
            orbits: orbits.to_vec(),
            distances: distances.map(|value| significant(value, DIGITS)).collect(),
        };
        distances.members()?;
        Ok(distances)
    }

    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// The orbit and the place in it of each sample, once all is found to fit.
    fn members(&self) -> Result<Vec<(usize, usize)>, DrawingError> {
        let most = MOST_CELLS.isqrt();
        expect_some("orbits", self.orbits.len(), most)?;
        let sizes = || self.orbits.iter().map(|(_, size)| *size);
        let count = sizes().fold(0, usize::saturating_add);
        expect_some("members", count, most)?;
        if sizes().any(|size| size == 0) {
            return Err(DrawingError::Empty("members of an orbit"));
        }
        expect_length("distances", self.distances.len(), count * count)?;
        let members = sizes().enumerate();
        Ok(members
            .flat_map(|(orbit, size)| (0..size).map(move |place| (orbit, place)))
            .collect())
    }

    fn at(&self, count: usize, row: usize, column: usize) -> f64 {
        self.distances[row * count + column]
    }

    /// The largest within an orbit, and the smallest and the largest between orbits.
    fn extremes(&self, members: &[(usize, usize)]) -> (f64, f64, f64) {
        let mut found = (0.0_f64, f64::INFINITY, 0.0_f64);
        for (row, a) in members.iter().enumerate() {
            for (column, b) in members.iter().enumerate() {
                let distance = self.at(members.len(), row, column);
                if a.0 == b.0 {
                    found.0 = found.0.max(distance);
                } else {
                    found = (found.0, found.1.min(distance), found.2.max(distance));
                }
            }
        }
        found
    }

    pub(crate) fn picture(&self) -> Result<Picture, DrawingError> {
        let members = self.members()?;
        let (within, least, most) = self.extremes(&members);
        let names = self
            .orbits
            .iter()
            .map(|(name, _)| svg::width(name, NUMBER_SIZE) + 10.0);
        let left = names.fold(LEFT.0, f64::max).min(LEFT.1);
        let matrix = Matrix::new((MARGIN + left, HEAD + ABOVE), members.len(), SIDE);
        let note = note(within, least);
        let wide = (left + matrix.side() + BAR_ROOM).max(svg::width(&note, LABEL_SIZE) + left);
        let size = (
            wide + 2.0 * MARGIN,
            HEAD + ABOVE + matrix.side() + MARGIN * 1.5,
        );
        let body = html! {
            (svg::title(&self.title, size.0))
            g.soft { (svg::text((MARGIN, HEAD + 2.0), Anchor::Start, LABEL_SIZE, f64::INFINITY, &note)) }
            (self.draw_cells(&matrix, &members, Axis::from_zero(within.max(most))))
            (self.draw_names(&matrix, left))
        };
        Ok(Picture { size, body })
    }

    fn draw_cells(&self, matrix: &Matrix, members: &[(usize, usize)], axis: Axis) -> Markup {
        let count = members.len();
        let level = |row, column| {
            let place = axis.place(self.at(count, row, column));
            let near = place.and_then(|far| step(1.0 - far));
            near.map_or(Level::UNKNOWN, Level::strength)
        };
        let name = |sample: usize| {
            let (orbit, place) = members[sample];
            format!("orbit {}, member {place}", self.orbits[orbit].0)
        };
        let tooltip = |row, column| {
            let distance = short(self.at(count, row, column));
            format!("{} and {}: {distance}", name(row), name(column))
        };
        let row = |row: usize| {
            let others = (0..count).filter(|&column| members[column].0 != members[row].0);
            let nearest = others
                .map(|column| self.at(count, row, column))
                .fold(f64::INFINITY, f64::min);
            let nearest = if nearest.is_finite() {
                short(nearest)
            } else {
                "none".into()
            };
            format!("{}: nearest of another orbit {nearest}", name(row))
        };
        let ticks: Vec<_> = axis
            .ticks(BAR_TICKS)
            .into_iter()
            .map(|(place, text)| (1.0 - place, text))
            .collect();
        let (left, top) = matrix.corner;
        html! {
            (matrix.cells(level, tooltip, row))
            g stroke-width=((matrix.cell / 3.0).min(WIDEST_BORDER)) {
                @for first in (1..count).filter(|&sample| members[sample].1 == 0) {
                    @let along = first as f64 * matrix.cell;
                    // Within the frame.
                    @let (start, end) = (1.0, matrix.side() - 1.0);
                    (svg::line("border", (left + start, top + along), (left + end, top + along)))
                    (svg::line("border", (left + along, top + start), (left + along, top + end)))
                }
            }
            (matrix.bar(&(0..=TOP).map(Level::strength).collect::<Vec<_>>(), &ticks))
        }
    }

    /// What orbits are called, above their columns and left of their rows, where there is room.
    fn draw_names(&self, matrix: &Matrix, room: f64) -> Markup {
        let (left, top) = matrix.corner;
        let (mut first, mut right, mut below) = (0, f64::NEG_INFINITY, f64::NEG_INFINITY);
        let mut names = Vec::new();
        for (name, size) in &self.orbits {
            let along = *size as f64 * matrix.cell;
            let middle = first as f64 * matrix.cell + along / 2.0;
            first += size;
            let wide = svg::width(name, NUMBER_SIZE).min(along.max(SHORTEST));
            if middle - wide / 2.0 >= right {
                right = middle + wide / 2.0 + BETWEEN;
                let at = (left + middle, top - 12.0);
                names.push(svg::text(at, Anchor::Middle, NUMBER_SIZE, wide, name));
            }
            if middle - NUMBER_SIZE / 2.0 >= below {
                below = middle + NUMBER_SIZE / 2.0;
                let at = (left - 7.0, top + middle);
                names.push(svg::text(at, Anchor::End, NUMBER_SIZE, room - 7.0, name));
            }
        }
        let at = (left - 7.0, top - 12.0);
        html! {
            g.soft { (svg::text(at, Anchor::End, NUMBER_SIZE, f64::INFINITY, "orbit")) }
            @for name in &names { (name) }
        }
    }
}

/// How far apart orbits are, in words.
fn note(within: f64, least: f64) -> String {
    let within = match short(within) {
        zero if zero == "0" => "within an orbit 0".into(),
        within => format!("within an orbit {within} or less"),
    };
    if least.is_finite() {
        format!("{within}, between orbits {} or more", short(least))
    } else {
        within
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::well_formed;

    fn orbits(members: &[usize]) -> Vec<(String, usize)> {
        members
            .iter()
            .enumerate()
            .map(|(name, &size)| (name.to_string(), size))
            .collect()
    }

    #[test]
    fn near_is_strong_far_is_pale_and_no_number_is_grey() {
        let matrix = [0.0, 0.5, 1.0, 0.5, 0.0, 0.25, 1.0, 0.25, f64::NAN];
        let distances = Distances::new(matrix, &orbits(&[2, 1]), "t").unwrap();
        let svg = distances.picture().unwrap().body.into_string();
        for cell in [
            "class=\"s32\" d=\"M0 0h1\"><title>orbit 0, member 0 and orbit 0, member 0: 0<",
            "class=\"s16\" d=\"M1 0h1\"><title>orbit 0, member 0 and orbit 0, member 1: 0.5<",
            "class=\"s0\" d=\"M2 0h1\"><title>orbit 0, member 0 and orbit 1, member 0: 1<",
            "class=\"u0\" d=\"M2 2h1\"><title>orbit 1, member 0 and orbit 1, member 0: no number<",
            "within an orbit 0.5 or less, between orbits 0.25 or more",
        ] {
            assert!(svg.contains(cell), "{cell}");
        }
    }

    #[test]
    fn orbits_of_any_number_and_size_are_drawn_within_bounds() {
        for members in [&[1][..], &[2, 7, 1], &[6; 10], &[8; 12], &[1; 200], &[512]] {
            let count: usize = members.iter().sum();
            let matrix =
                (0..count * count).map(|cell| (cell / count).abs_diff(cell % count) as f64);
            let mut orbits = orbits(members);
            orbits[0].0 = "a rather long\nname of an orbit".into();
            let distances = Distances::new(matrix, &orbits, "a title\nof two lines").unwrap();
            well_formed::sound(distances.picture(), 3 << 20);
        }
    }

    #[test]
    fn what_is_no_matrix_of_the_members_is_refused() {
        for (cells, members) in [
            (0, &[][..]),
            (6, &[2]),
            (4, &[1]),
            (4, &[2, 0]),
            (4, &[usize::MAX, 3]),
            (513 * 513, &[513]),
        ] {
            assert!(Distances::new(vec![0.0; cells], &orbits(members), "").is_err());
        }
        // Without an end, it is not read to its end.
        assert!(Distances::new(std::iter::repeat(0.0), &orbits(&[2]), "").is_err());
    }
}
