//! What was taken for what: a square of counts, of which those on the diagonal are right.

use crate::cells::Matrix;
use crate::colour::Level;
use crate::drawing::{DrawingError, expect_length, expect_some};
use crate::number::percent;
use crate::svg::Picture;
use serde::{Deserialize, Serialize};

/// A square at most so wide, of cells at most so wide: names of classes stand above them.
const SIDE: f64 = 560.0;
const LARGEST_CELL: f64 = 104.0;
/// Cells of so many classes have room for their counts.
const WRITTEN: usize = 24;
/// More classes than a byte counts there are not.
const MOST_CLASSES: usize = 256;

/// How many of each class were taken for each class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confusion {
    title: String,
    classes: Vec<String>,
    /// Row-major: a row is a class, a column what it was taken for.
    counts: Vec<u64>,
}

impl Confusion {
    /// Of `counts`, row-major: how many of each class (a row) were taken for each class (a column).
    ///
    /// ```
    /// use bispectral_report::{Confusion, Drawing};
    ///
    /// let classes = ["good".to_string(), "worn".to_string()];
    /// let svg = Drawing::from(Confusion::new(&classes, [9, 1, 0, 10], "A motor")).svg();
    /// assert!(svg.contains("<title>good, taken for worn: 1 of 10</title>"));
    /// ```
    ///
    /// # Errors
    /// There are no classes, too many, or not one count for each two of them.
    pub fn new(
        classes: &[String],
        counts: impl IntoIterator<Item = u64>,
        title: impl Into<String>,
    ) -> Result<Self, DrawingError> {
        let most = MOST_CLASSES * MOST_CLASSES + 1;
        let confusion = Confusion {
            title: title.into(),
            classes: classes.to_vec(),
            counts: counts.into_iter().take(most).collect(),
        };
        confusion.check()?;
        Ok(confusion)
    }

    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    fn check(&self) -> Result<(), DrawingError> {
        let count = self.classes.len();
        expect_some("classes", count, MOST_CLASSES)?;
        expect_length("counts", self.counts.len(), count * count)
    }

    pub(crate) fn picture(&self) -> Result<Picture, DrawingError> {
        self.check()?;
        let count = self.classes.len();
        let row = |row: usize| &self.counts[row * count..(row + 1) * count];
        let sum = |of: &mut dyn Iterator<Item = u64>| of.fold(0, u64::saturating_add);
        let of_class = |at: usize| sum(&mut row(at).iter().copied());
        let right = sum(&mut (0..count).map(|at| row(at)[at]));
        let all = sum(&mut self.counts.iter().copied());
        let name = format!(
            "{right} of {all} right ({}); a row is what it is, a column what it was taken for",
            percent(right as f64 / all.max(1) as f64)
        );
        let groups: Vec<(String, usize)> =
            self.classes.iter().map(|name| (name.clone(), 1)).collect();
        let matrix = Matrix {
            name: &name,
            of: "",
            groups: &groups,
            room: SIDE,
            largest_cell: LARGEST_CELL,
            cell: &|at, taken| {
                let (found, all) = (row(at)[taken], of_class(at));
                let tooltip = format!(
                    "{}, taken for {}: {found} of {all}",
                    self.classes[at], self.classes[taken]
                );
                let written = if count <= WRITTEN && found > 0 {
                    found.to_string()
                } else {
                    String::new()
                };
                (found as f64 / all.max(1) as f64, tooltip, written)
            },
            row: &|at| {
                let (right, all) = (row(at)[at], of_class(at));
                format!("{}: {right} of {all} right", self.classes[at])
            },
            map: Level::Strength,
            ticks: Vec::new(),
        };
        Ok(matrix.picture().titled(&self.title))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(count: usize) -> Vec<String> {
        (0..count).map(|at| format!("class {at}")).collect()
    }

    #[test]
    fn a_cell_is_as_strong_as_its_share_of_the_row_and_zeros_are_not_written() {
        let confusion = Confusion::new(&classes(2), [3, 1, 0, 8], "t").unwrap();
        let svg = confusion.picture().unwrap().body.into_string();
        for cell in [
            "11 of 12 right (91.7",
            "class 0, taken for class 1: 1 of 4</title><path class=\"s8\"",
            "class 1, taken for class 0: 0 of 8</title><path class=\"s0\"",
            "class 1, taken for class 1: 8 of 8</title><path class=\"s32\"",
        ] {
            assert!(svg.contains(cell), "{cell}: {svg}");
        }
        assert!(!svg.contains(">0</text>"), "{svg}");
    }

    #[test]
    fn what_is_no_square_of_counts_is_refused_and_any_counts_are_drawn() {
        for (count, cells) in [(0, 0), (2, 3), (257, 257 * 257)] {
            assert!(Confusion::new(&classes(count), vec![1; cells], "").is_err());
        }
        assert!(Confusion::new(&classes(2), std::iter::repeat(1), "").is_err());
        for counts in [[0; 4], [u64::MAX; 4]] {
            assert!(
                Confusion::new(&classes(2), counts, "")
                    .unwrap()
                    .picture()
                    .is_ok()
            );
        }
    }
}
