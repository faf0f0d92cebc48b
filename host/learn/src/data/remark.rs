//! What was noticed about the user's data and is no error: each is one line that a program may show.

use std::fmt;

/// How much of a line is shown.
const SHOWN: usize = 40;

/// Something about data that its owner should know.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Remark {
    /// The first line of a table is its header.
    Header {
        /// The file.
        file: String,
        /// The line.
        line: String,
    },
    /// The first column of a table numbers or names its lines.
    Index {
        /// The file.
        file: String,
        /// Its first and its last entry.
        ends: [String; 2],
    },
    /// Numbers are written with a decimal comma.
    DecimalComma {
        /// The file.
        file: String,
    },
    /// Images are shifted as if their rows were one line.
    ImagesAsLines {
        /// The file.
        file: String,
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
    },
    /// The mean of the samples is much larger than what they do around it.
    Offset {
        /// The file.
        file: String,
        /// Of all samples.
        mean: f64,
        /// Root of the mean squared deviation of a sample from its own mean.
        deviation: f64,
    },
    /// Orbits of one member, from which nothing is learned.
    Lonely {
        /// The file of the labels.
        file: String,
        /// How many there are.
        orbits: usize,
        /// The label of the first.
        first: String,
        /// How many orbits are left.
        left: usize,
    },
}

/// The beginning of a line, for a message.
pub(super) fn beginning(line: &str) -> String {
    let mut shown: String = line.chars().take(SHOWN).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    shown
}

impl Remark {
    /// That an error of some samples need not stop anything.
    pub(super) fn of_lonely(
        file: &str,
        lonely: &[i64],
        names: &[String],
        left: usize,
    ) -> Option<Self> {
        let first = lonely.first()?;
        let name = usize::try_from(*first).ok().and_then(|at| names.get(at));
        Some(Remark::Lonely {
            file: file.into(),
            orbits: lonely.len(),
            first: name.cloned().unwrap_or_else(|| first.to_string()),
            left,
        })
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remark::Header { file, line } => {
                write!(
                    f,
                    "{file}: the first line is a header and left out: {}",
                    beginning(line)
                )
            }
            Remark::Index {
                file,
                ends: [first, last],
            } => write!(
                f,
                "{file}: the first column numbers the lines ({first} to {last}) and is left out"
            ),
            Remark::DecimalComma { file } => {
                write!(f, "{file}: commas in numbers are decimal commas")
            }
            Remark::ImagesAsLines {
                file,
                height,
                width,
            } => write!(
                f,
                "{file}: images of {height} × {width} are shifted as lines of {} values; translate2d shifts them \
                 in both directions",
                height * width
            ),
            Remark::Offset {
                file,
                mean,
                deviation,
            } => write!(
                f,
                "{file}: the mean of the samples, {mean:.4}, is {:.0} times what they do around it, and swamps the \
                 invariants: subtract each sample's mean",
                (mean / deviation).abs()
            ),
            Remark::Lonely {
                file,
                orbits,
                first,
                left,
            } => write!(
                f,
                "{file}: {orbits} of the labels have one sample each (the first is {first}), which says nothing of how \
                 it moves: left out, {left} orbits are left"
            ),
        }
    }
}
