//! How far apart samples are, as colours: what is near is strong. Invariants that tell orbits apart show one strong
//! block an orbit along the diagonal, and nothing else.

use crate::axis::Axis;
use crate::cells::{LARGEST_CELL, Matrix};
use crate::colour::Level;
use crate::drawing::{DrawingError, MOST_CELLS, expect_length, expect_some};
use crate::number::{list, short, significant};
use crate::svg::Picture;
use serde::{Deserialize, Serialize};

const SIDE: f64 = 560.0;
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

    /// The largest within an orbit, and the smallest and the largest between orbits.
    fn extremes(&self, members: &[(usize, usize)]) -> (f64, f64, f64) {
        let mut found = (0.0_f64, f64::INFINITY, 0.0_f64);
        for (place, &distance) in self.distances.iter().enumerate() {
            let (a, b) = (
                members[place / members.len()],
                members[place % members.len()],
            );
            if a.0 == b.0 {
                found.0 = found.0.max(distance);
            } else {
                found = (found.0, found.1.min(distance), found.2.max(distance));
            }
        }
        found
    }

    pub(crate) fn picture(&self) -> Result<Picture, DrawingError> {
        let members = self.members()?;
        let count = members.len();
        let (within, least, most) = self.extremes(&members);
        let axis = Axis::from_zero(within.max(most));
        let at = |row, column| self.distances[row * count + column];
        let name = |sample: usize| {
            let (orbit, place) = members[sample];
            format!("orbit {}, member {place}", self.orbits[orbit].0)
        };
        let ticks = axis.ticks(BAR_TICKS).into_iter();
        let ticks = ticks.map(|(place, text)| (1.0 - place, text));
        let matrix = Matrix {
            name: &note(within, least),
            of: "orbit",
            groups: &self.orbits,
            room: SIDE,
            largest_cell: LARGEST_CELL,
            cell: &|row, column| {
                let distance = at(row, column);
                let near = axis.place(distance).map_or(f64::NAN, |far| 1.0 - far);
                let tooltip = format!("{} and {}: {}", name(row), name(column), short(distance));
                (near, tooltip, String::new())
            },
            row: &|row| {
                let others = (0..count).filter(|&column| members[column].0 != members[row].0);
                let distances = others.map(|column| at(row, column));
                let nearest = match distances.fold(f64::INFINITY, f64::min) {
                    f64::INFINITY => "none".into(),
                    nearest => short(nearest),
                };
                format!("{}: nearest of another orbit {nearest}", name(row))
            },
            map: Level::Strength,
            ticks: ticks.collect(),
        };
        Ok(matrix.picture().titled(&self.title))
    }
}

/// How far apart orbits are, in words.
fn note(within: f64, least: f64) -> String {
    let within = match short(within) {
        zero if zero == "0" => "within an orbit 0".into(),
        within => format!("within an orbit {within} or less"),
    };
    match least {
        f64::INFINITY => within,
        least => format!("{within}, between orbits {} or more", short(least)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orbits(members: &[usize]) -> Vec<(String, usize)> {
        let orbits = members.iter().enumerate();
        orbits
            .map(|(name, &size)| (name.to_string(), size))
            .collect()
    }

    #[test]
    fn near_is_strong_far_is_pale_and_no_number_is_grey() {
        let matrix = [0.0, 0.5, 1.0, 0.5, 0.0, 0.25, 1.0, 0.25, f64::NAN];
        let distances = Distances::new(matrix, &orbits(&[2, 1]), "t").unwrap();
        let svg = distances.picture().unwrap().body.into_string();
        for cell in [
            "orbit 0, member 0 and orbit 0, member 0: 0</title><path class=\"s32\"",
            "orbit 0, member 0 and orbit 0, member 1: 0.5</title><path class=\"s16\"",
            "orbit 0, member 0 and orbit 1, member 0: 1</title><path class=\"s0\"",
            "orbit 1, member 0 and orbit 1, member 0: no number</title><path class=\"u0\"",
            "within an orbit 0.5 or less, between orbits 0.25 or more",
        ] {
            assert!(svg.contains(cell), "{cell}");
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
