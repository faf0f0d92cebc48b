//! Why no orbits can be made of samples.

use super::group::Group;
use bispectral_core::format::MAX_DIMENSION;
use std::fmt;

/// A pair needs two: members of an orbit, and orbits.
pub(super) const LEAST: usize = 2;

/// Why no orbits can be made of some samples, or why they cannot be split.
///
/// ```
/// use bispectral_learn::data::orbits::{Orbits, OrbitsError};
///
/// let samples = ndarray::arr2(&[[1.0, 2.0], [2.0, 1.0], [0.0, 5.0]]);
/// let refused = Orbits::labelled(&samples, &[7, 7, 3]).unwrap_err();
/// assert_eq!(refused, OrbitsError::OneMember { label: 3, row: 2 });
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum OrbitsError {
    /// Not one label a sample.
    LabelCount {
        /// How many labels there are.
        labels: usize,
        /// How many samples.
        samples: usize,
    },
    /// An orbit of one member says nothing.
    OneMember {
        /// Its label.
        label: i64,
        /// The row of its only sample.
        row: usize,
    },
    /// Orbits cannot be told apart where there is only one.
    TooFewOrbits {
        /// How many there are.
        found: usize,
    },
    /// Exemplars cannot be told apart where there is only one.
    TooFewExemplars {
        /// How many there are.
        found: usize,
    },
    /// Members of several lengths.
    Lengths {
        /// The row of the sample, counted over all orbits.
        row: usize,
        /// Its length.
        found: usize,
        /// That of the first sample.
        expected: usize,
    },
    /// A value is infinite or no number.
    NotFinite {
        /// The sample.
        row: usize,
        /// The value's number in it.
        column: usize,
        /// The value.
        value: f32,
    },
    /// Every transformation leaves a constant sample as it is.
    Constant {
        /// The sample.
        row: usize,
        /// Whether it is constant in the disk that is rotated, though not outside.
        inside_disk: bool,
    },
    /// Samples longer than a model takes, or empty ones.
    Length {
        /// Values of a sample.
        inputs: usize,
    },
    /// Samples that are no images of this height and width.
    NotImages {
        /// Values of a sample.
        inputs: usize,
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
    },
    /// Samples that are no square images of this side.
    NotSquare {
        /// Values of a sample.
        inputs: usize,
        /// Rows, and columns.
        size: usize,
    },
    /// Images too small to be rotated.
    TooSmall {
        /// Rows, and columns.
        size: usize,
    },
    /// Samples that are no functions on this group.
    NotOnGroup {
        /// Values of a sample.
        inputs: usize,
        /// The group.
        group: Group,
    },
    /// A share of the whole degrees that is less than two angles, or more than all.
    Angles {
        /// The share.
        fraction: f64,
        /// Whole degrees of a turn.
        degrees: usize,
    },
    /// A held-out share that is not between 0 and 1.
    HeldOut {
        /// The share.
        fraction: f64,
    },
    /// Too few orbits to hold some of them out.
    TooFewToHoldOut {
        /// How many there are.
        exemplars: usize,
        /// The share to hold out.
        fraction: f64,
    },
    /// Too few members of an orbit to hold some of them out.
    TooFewMembers {
        /// The orbit.
        label: i64,
        /// How many it has.
        members: usize,
        /// The share to hold out.
        fraction: f64,
    },
}

impl OrbitsError {
    /// What is refused, of the samples and labels that are called so.
    pub(crate) fn subject<'a>(&self, samples: &'a str, labels: &'a str) -> &'a str {
        match self {
            OrbitsError::LabelCount { .. }
            | OrbitsError::OneMember { .. }
            | OrbitsError::TooFewOrbits { .. } => labels,
            OrbitsError::Angles { .. } => "rotation",
            OrbitsError::HeldOut { .. }
            | OrbitsError::TooFewToHoldOut { .. }
            | OrbitsError::TooFewMembers { .. } => "split",
            _ => samples,
        }
    }

    /// What is wrong.
    pub(crate) fn what(&self) -> String {
        match self {
            OrbitsError::LabelCount { labels, samples } => {
                format!("{labels} labels for {samples} samples")
            }
            OrbitsError::OneMember { label, row } => {
                format!("label {label} has only one sample (row {row})")
            }
            OrbitsError::TooFewOrbits { found } => format!("there are too few orbits: {found}"),
            OrbitsError::TooFewExemplars { found } => format!("too few exemplars: {found}"),
            OrbitsError::Lengths {
                row,
                found,
                expected,
            } => format!("row {row} has {found} values, the rows before it {expected}"),
            OrbitsError::NotFinite { row, column, value } => {
                format!("row {row}: column {column} is {value}")
            }
            OrbitsError::Constant { row, inside_disk } => {
                let place = if *inside_disk { " inside the disk" } else { "" };
                format!("row {row} is constant{place}")
            }
            OrbitsError::Length { inputs } => {
                format!("samples of {inputs} values, a model takes 1 to {MAX_DIMENSION}")
            }
            OrbitsError::NotImages {
                inputs,
                height,
                width,
            } => format!("{inputs} values are not an image of {height} × {width}"),
            OrbitsError::NotSquare { inputs, size } => {
                format!("{inputs} values are not a square image of {size} × {size}")
            }
            OrbitsError::TooSmall { size } => {
                format!("the disk in images of {size} × {size} has at most one pixel")
            }
            OrbitsError::NotOnGroup { inputs, group } => {
                format!("{inputs} values, {group} has {} elements", group.order())
            }
            OrbitsError::Angles { fraction, degrees } => {
                format!("a fraction of {fraction} of the {degrees} whole degrees")
            }
            OrbitsError::HeldOut { fraction } => format!("a held-out fraction of {fraction}"),
            OrbitsError::TooFewToHoldOut {
                exemplars,
                fraction,
            } => format!("{exemplars} orbits are too few to hold out {fraction} of them"),
            OrbitsError::TooFewMembers {
                label,
                members,
                fraction,
            } => format!(
                "orbit {label}: {members} members are too few to hold out {fraction} of them"
            ),
        }
    }

    /// What to do.
    pub(crate) fn remedy(&self) -> String {
        let more = |instead: &str| {
            format!("give more, {LEAST} are needed on either side, or hold out {instead}")
        };
        match self {
            OrbitsError::LabelCount { .. } => {
                "give one label a sample, in the order of the samples; begin a header with #"
            }
            OrbitsError::OneMember { .. } => {
                "an orbit needs two or more, leave the sample out or add others"
            }
            OrbitsError::TooFewOrbits { .. } => "give samples of at least two labels",
            OrbitsError::TooFewExemplars { .. } => {
                return format!("give at least {LEAST}, one a row, better 100");
            }
            OrbitsError::Lengths { .. } => "give samples of one length",
            OrbitsError::NotFinite { .. } => "replace the value or leave the sample out",
            OrbitsError::Constant { .. } => {
                "leave the sample out, every transformation leaves it as it is"
            }
            OrbitsError::Length { .. } => "save one sample a row, shorter ones or smaller images",
            OrbitsError::NotImages { .. } => "give the height and width of the images",
            OrbitsError::NotSquare { .. } => "crop the images to squares",
            OrbitsError::TooSmall { .. } => "rotate larger images",
            OrbitsError::NotOnGroup { .. } => "give functions on the group, or another group",
            OrbitsError::Angles { .. } => "give a fraction from 0.006 (two angles) to 1 (all)",
            OrbitsError::HeldOut { .. } => "give one between 0 and 1, such as 0.2",
            OrbitsError::TooFewToHoldOut { .. } => {
                return more("members of each (split: transforms)");
            }
            OrbitsError::TooFewMembers { .. } => return more("whole orbits (split: exemplars)"),
        }
        .into()
    }
}

impl fmt::Display for OrbitsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = match self {
            OrbitsError::TooFewExemplars { .. } => "exemplars",
            _ => self.subject("samples", "labels"),
        };
        write!(f, "{subject}: {}: {}", self.what(), self.remedy())
    }
}

impl std::error::Error for OrbitsError {}
