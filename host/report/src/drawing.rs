//! What a figure shows, as data; each kind draws itself in a file of its own.

use crate::svg::{self, Anchor, LABEL_SIZE, Picture};
use crate::{Cayley, Chart, Confusion, Distances, Filters, Losses, Tiles};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Cells of a drawing. So many take about two megabytes of SVG, and a browser half a second to show.
pub(crate) const MOST_CELLS: usize = 1 << 18;
/// What drawings show, for those who do not see them.
const LOSSES: &str = "Losses of the run";
const CAYLEY: &str = "A Cayley table: the colour of cell (a, b) says which element a·b is";
const DISTANCES: &str =
    "Distances of samples in blocks, one for each two orbits: near is strong, far is pale";
const CONFUSION: &str =
    "A square of counts: of each class, a row, how many were taken for which class, a column";
const FILTERS: &str =
    "Rows of W as images, their real and imaginary parts: red is positive, blue negative";
/// Width of the sentence that stands for a drawing in a file of its own.
const SENTENCE: f64 = 760.0;

/// The data of a figure. It is kept in a page as it is, and checked whenever it is drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Drawing {
    /// Curves over a common axis.
    Chart(Chart),
    /// Losses of a training run.
    Losses(Losses),
    /// A multiplication table.
    Cayley(Cayley),
    /// Distances between members of orbits.
    Distances(Distances),
    /// What was taken for what.
    Confusion(Confusion),
    /// Rows of W.
    Filters(Filters),
    /// Images in shades of grey.
    Tiles(Tiles),
    /// Why there is none.
    Missing(String),
}

/// Why data cannot be drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DrawingError {
    /// There is nothing of what would be drawn.
    Empty(&'static str),
    /// There is more than a page has room for.
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// A list has another length than it should have.
    Length {
        /// Which list.
        what: String,
        /// Its length.
        found: usize,
        /// What it should be.
        expected: usize,
    },
    /// Each element should be named once.
    Order {
        /// One that is not.
        element: usize,
        /// How many there are.
        count: usize,
    },
    /// A page has a picture in levels that are none.
    Levels,
    /// Nothing was given to draw, for this reason.
    Missing(String),
}

impl fmt::Display for DrawingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use DrawingError::*;
        match self {
            Empty(what) => write!(f, "there are no {what} to draw"),
            TooMany { what, found, most } => {
                write!(f, "{found} {what} cannot be drawn: give {most} or fewer")
            }
            Length {
                what,
                found,
                expected: all,
            } => {
                write!(f, "there are {found} {what} where {all} are needed")
            }
            Order { element, count } => write!(
                f,
                "element {element} is named twice or is none of the {count} there are"
            ),
            Levels => write!(f, "the cells of a picture are damaged"),
            Missing(why) => write!(f, "{why}"),
        }
    }
}

impl std::error::Error for DrawingError {}

/// That there are as many of `what` as needed.
pub(crate) fn expect_length(what: &str, found: usize, expected: usize) -> Result<(), DrawingError> {
    let what = what.into();
    let wrong = DrawingError::Length {
        what,
        found,
        expected,
    };
    if found == expected {
        Ok(())
    } else {
        Err(wrong)
    }
}

/// That there are some, and not too many.
pub(crate) fn expect_some(
    what: &'static str,
    found: usize,
    most: usize,
) -> Result<(), DrawingError> {
    match found {
        0 => Err(DrawingError::Empty(what)),
        found if found > most => Err(DrawingError::TooMany { what, found, most }),
        _ => Ok(()),
    }
}

impl Drawing {
    /// A file of its own, which shows its text where the data cannot be drawn.
    ///
    /// ```
    /// use bispectral_report::{Drawing, Tiles};
    ///
    /// let drawing: Drawing = Tiles::new([0.0, 1.0, 1.0, 0.0], (2, 2), 1, &["cross".into()]).into();
    /// let svg = drawing.svg();
    /// assert!(svg.starts_with("<svg class=\"drawing\" xmlns=\"http://www.w3.org/2000/svg\""));
    /// assert!(svg.contains(">cross</text>"));
    /// ```
    #[must_use]
    pub fn svg(&self) -> String {
        let (title, description) = self.words();
        let picture = self.picture().unwrap_or_else(|error| {
            let at = (0.0, LABEL_SIZE);
            let sentence = svg::text(at, Anchor::Start, LABEL_SIZE, SENTENCE, &error.to_string());
            Picture::new((SENTENCE, 2.0 * LABEL_SIZE), sentence).titled("")
        });
        picture.file(title, description)
    }

    /// The picture, unless the data cannot be drawn.
    pub(crate) fn picture(&self) -> Result<Picture, DrawingError> {
        match self {
            Drawing::Chart(chart) => chart.picture(&[]),
            Drawing::Losses(losses) => losses.picture(),
            Drawing::Cayley(table) => table.picture(),
            Drawing::Distances(distances) => distances.picture(),
            Drawing::Confusion(confusion) => confusion.picture(),
            Drawing::Filters(filters) => filters.picture(),
            Drawing::Tiles(tiles) => tiles.picture(),
            Drawing::Missing(why) => Err(DrawingError::Missing(why.clone())),
        }
    }

    /// A title, and what is shown, for those who do not see it.
    fn words(&self) -> (&str, &str) {
        match self {
            Drawing::Chart(chart) => (&chart.title, "Curves over a common axis"),
            Drawing::Losses(_) => (
                LOSSES,
                "Curves over the steps of a training, on a logarithmic axis",
            ),
            Drawing::Cayley(table) => (table.title(), CAYLEY),
            Drawing::Distances(distances) => (distances.title(), DISTANCES),
            Drawing::Confusion(confusion) => (confusion.title(), CONFUSION),
            Drawing::Filters(_) => ("Filters", FILTERS),
            Drawing::Tiles(_) => ("Images", "Images in shades of grey"),
            Drawing::Missing(_) => ("Missing", "A picture that could not be drawn"),
        }
    }
}

macro_rules! from_kinds {
    ($($kind:ident),*) => {$(
        impl From<$kind> for Drawing {
            fn from(drawing: $kind) -> Self {
                Drawing::$kind(drawing)
            }
        }
    )*};
}

/// With the digits that are seen.
impl From<Chart> for Drawing {
    fn from(chart: Chart) -> Self {
        Drawing::Chart(chart.as_kept())
    }
}

from_kinds!(Losses, Cayley, Confusion, Distances, Filters, Tiles);

/// What could not be made is missing, and says why.
impl<D: Into<Drawing>, E: fmt::Display> From<Result<D, E>> for Drawing {
    fn from(made: Result<D, E>) -> Self {
        made.map_or_else(|error| Drawing::Missing(error.to_string()), Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{elements, sound};
    use crate::svg::PAGE;

    const WICKED: &str = "<script>\"&'\u{0}\u{1b}\u{202e}\u{ffff}";

    #[test]
    fn a_file_of_its_own_is_well_formed_and_has_both_schemes() {
        let drawings: [Drawing; 3] = [
            Cayley::new(&[0, 1, 1, 0], &[0, 1], Some(&[1.0; 4]), WICKED).into(),
            Tiles::new([0.5], (1, 1), 1, &[WICKED.into()]).into(),
            Drawing::Missing(WICKED.into()),
        ];
        for svg in drawings.map(|drawing| drawing.svg()) {
            elements(&svg);
            assert!(!svg.contains(['\u{0}', '\u{1b}', '\u{202e}', '\u{ffff}']));
            assert!(!svg.contains("<script"));
            let shown = ["&lt;script&gt;", "</text>", "<title id=", "<desc id="];
            for needed in shown
                .iter()
                .chain(&["viewBox=\"0 0 ", "prefers-color-scheme: dark"])
            {
                assert!(svg.contains(needed), "{needed}: {svg}");
            }
        }
    }

    /// That a drawing is well formed and no larger than this, and that a page keeps it as it is.
    fn check(drawing: impl Into<Drawing>, widest: f64, tallest: f64) {
        let drawing = drawing.into();
        let picture = drawing.picture().unwrap();
        let (width, height) = picture.size;
        assert!(width <= widest && height <= tallest, "{width} × {height}");
        sound(Ok(picture), 3 << 20);
        let kept = serde_json::to_string(&drawing).unwrap();
        let kept: Drawing = serde_json::from_str(&kept).unwrap();
        // As text, where NaN is NaN.
        assert!(format!("{kept:?}") == format!("{drawing:?}"));
    }

    #[test]
    fn drawings_of_any_size_and_of_odd_numbers_are_sound_within_bounds() {
        let odd = [f32::NAN, f32::INFINITY, f32::MAX, f32::MIN, 0.0, 3.0];
        let odd = |count: usize| (0..count).map(move |place| odd[place * 7 / 3 % odd.len()]);
        for count in [1, 2, 16, 17, 64, 251, 512] {
            let sums = |cell: usize| ((cell / count + cell % count) % count) as u16;
            let products: Vec<u16> = (0..count * count).map(sums).collect();
            let order: Vec<usize> = (0..count).rev().collect();
            let sure: Vec<f32> = odd(count * count).collect();
            for confidence in [None, Some(&sure[..])] {
                let table = Cayley::new(&products, &order, confidence, "t");
                check(table, PAGE, 1400.0);
            }
        }
        for members in [&[1][..], &[2, 7, 1], &[6; 10], &[8; 12], &[1; 200], &[512]] {
            let name = "a rather long\nname of an orbit".to_string();
            let orbits: Vec<_> = members.iter().map(|&size| (name.clone(), size)).collect();
            let count: usize = members.iter().sum();
            let distances = odd(count * count).map(f64::from);
            let distances = Distances::new(distances, &orbits, "a title\nof two lines");
            check(distances, PAGE, 800.0);
        }
        for count in [1, 2, 4, 24, 25, 256] {
            let names: Vec<String> = (0..count).map(|at| "a long name ".repeat(at % 5)).collect();
            let counts = (0..count * count).map(|cell| cell as u64 * 7 % 11);
            let confusion = Confusion::new(&names, counts, "a title\nof two lines");
            check(confusion, PAGE, 800.0);
        }
        for (count, shape, columns) in [
            (1, (1, 1), usize::MAX),
            (256, (16, 16), 16),
            (300, (8, 8), 25),
            (7, (1, 900), 3),
            (5, (200, 3), 5),
            (1, (1 << 17, 1), 1),
            (1, (1, 1 << 17), 1),
            (9, (2, 7000), 2),
            (5000, (1, 1), 1),
        ] {
            let cells = count * shape.0 * shape.1;
            let order: Vec<usize> = (0..count).collect();
            let weights = odd(cells).zip(odd(cells + 1).skip(1));
            check(Filters::new(weights, shape, &order), PAGE, 1000.0);
            let labels: Vec<String> = (0..count).map(|n| "m".repeat(n % 40)).collect();
            for labels in [&[][..], &labels] {
                // The caller chooses the columns.
                let tiles = Tiles::new(odd(cells), shape, columns, labels);
                check(tiles, 3000.0, 150_000.0);
            }
        }
    }
}
