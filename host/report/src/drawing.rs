//! What a figure shows, as data; each kind draws itself in a file of its own.

use crate::svg::{self, Anchor, LABEL_SIZE, MARGIN, Picture};
use crate::{Cayley, Chart, Distances, Filters, Losses, Tiles};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Cells of a drawing. So many take about two megabytes of SVG, and a browser half a second to show.
pub(crate) const MOST_CELLS: usize = 1 << 18;
/// Width of the sentence that stands for a drawing in a file of its own.
const SENTENCE: f64 = 760.0;

/// The data of a figure. It is kept in a page as it is, and checked whenever it is drawn.
///
/// ```
/// use bispectral_report::{Drawing, Losses};
///
/// let missing: Drawing = Losses::from_metrics("").into();
/// assert_eq!(missing, Drawing::Missing("there are no losses to draw".into()));
/// ```
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
        match self {
            Self::Empty(what) => write!(f, "there are no {what} to draw"),
            Self::TooMany { what, found, most } => {
                write!(f, "{found} {what} cannot be drawn: give {most} or fewer")
            }
            Self::Length {
                what,
                found,
                expected,
            } => {
                write!(f, "there are {found} {what} where {expected} are needed")
            }
            Self::Order { element, count } => {
                write!(
                    f,
                    "element {element} is named twice or is none of the {count} there are"
                )
            }
            Self::Levels => write!(f, "the cells of a picture are damaged"),
            Self::Missing(why) => write!(f, "{why}"),
        }
    }
}

impl std::error::Error for DrawingError {}

/// That there are as many of `what` as needed.
pub(crate) fn expect_length(what: &str, found: usize, expected: usize) -> Result<(), DrawingError> {
    if found == expected {
        return Ok(());
    }
    Err(DrawingError::Length {
        what: what.into(),
        found,
        expected,
    })
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
            let room = SENTENCE - 2.0 * MARGIN;
            let at = (MARGIN, 2.0 * MARGIN);
            Picture {
                size: (SENTENCE, 4.0 * MARGIN),
                body: svg::text(at, Anchor::Start, LABEL_SIZE, room, &error.to_string()),
            }
        });
        picture.file(&title, &description)
    }

    /// The picture, unless the data cannot be drawn.
    pub(crate) fn picture(&self) -> Result<Picture, DrawingError> {
        match self {
            Drawing::Chart(chart) => chart.picture(),
            Drawing::Losses(losses) => losses.picture(),
            Drawing::Cayley(table) => table.picture(),
            Drawing::Distances(distances) => distances.picture(),
            Drawing::Filters(filters) => filters.picture(),
            Drawing::Tiles(tiles) => tiles.picture(),
            Drawing::Missing(why) => Err(DrawingError::Missing(why.clone())),
        }
    }

    /// A title, and what is shown, for those who do not see it.
    fn words(&self) -> (String, String) {
        let (title, description) = match self {
            Drawing::Chart(chart) => (chart.title.as_str(), "Curves over a common axis"),
            Drawing::Losses(_) => (
                "Losses of the run",
                "Curves over the steps of a training, on a logarithmic axis",
            ),
            Drawing::Cayley(table) => (
                table.title(),
                "A Cayley table: the colour of cell (a, b) says which element a·b is",
            ),
            Drawing::Distances(distances) => (
                distances.title(),
                "Distances of samples in blocks, one for each two orbits: near is strong, far is pale",
            ),
            Drawing::Filters(_) => (
                "Filters",
                "Rows of W as images, their real and imaginary parts: red is positive, blue negative",
            ),
            Drawing::Tiles(_) => ("Images", "Images in shades of grey"),
            Drawing::Missing(_) => ("Missing", "A picture that could not be drawn"),
        };
        (title.into(), description.into())
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

from_kinds!(Losses, Cayley, Distances, Filters, Tiles);

/// What could not be made is missing, and says why.
impl<D: Into<Drawing>, E: fmt::Display> From<Result<D, E>> for Drawing {
    fn from(made: Result<D, E>) -> Self {
        made.map_or_else(|error| Drawing::Missing(error.to_string()), Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::well_formed;

    const WICKED: &str = "<script>\"&'\u{0}\u{1b}\u{202e}\u{ffff}";

    #[test]
    fn a_file_of_its_own_is_well_formed_and_has_both_schemes() {
        let drawings: [Drawing; 3] = [
            Cayley::new(&[0, 1, 1, 0], &[0, 1], Some(&[1.0; 4]), WICKED).into(),
            Tiles::new([0.5], (1, 1), 1, &[WICKED.into()]).into(),
            Drawing::Missing(WICKED.into()),
        ];
        for svg in drawings.map(|drawing| drawing.svg()) {
            well_formed::elements(&svg);
            assert!(
                !svg.contains("<script")
                    && !svg.contains(['\u{0}', '\u{1b}', '\u{202e}', '\u{ffff}'])
            );
            for needed in [
                "&lt;script&gt;",
                "</text>",
                "<title id=",
                "<desc id=",
                "viewBox=\"0 0 ",
                "prefers-color-scheme: dark",
            ] {
                assert!(svg.contains(needed), "{needed}: {svg}");
            }
        }
    }
}
