//! Why a W is not called a group.

use super::Axiom;
use serde::Serialize;
use std::fmt;

/// Why W is not the characters of a finite commutative group.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Refusal {
    /// No table can be made of it.
    NoTable {
        /// One line.
        why: String,
    },
    /// Two rows are one, up to a factor.
    EqualRows {
        /// The first.
        a: usize,
        /// The second.
        b: usize,
        /// |⟨W_a, W_b⟩|.
        overlap: f32,
    },
    /// The table breaks an axiom.
    Axiom(Axiom),
    /// The inputs do not stand at all elements equally often, so that the group does not move them.
    Inputs {
        /// The name of the table's group.
        group: String,
        /// The element where most inputs stand.
        element: usize,
        /// How many inputs stand there.
        count: usize,
    },
    /// The table is a group's, but a row is not like its character.
    Overlap {
        /// The name of the table's group.
        group: String,
        /// The row least like its character.
        row: usize,
        /// How much of it is.
        overlap: f64,
        /// The mean over all rows.
        mean: f64,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NoTable { why } => f.write_str(why),
            Refusal::EqualRows { a, b, overlap } => {
                write!(f, "rows {a} and {b} are the same (overlap {overlap:.3})")
            }
            Refusal::Axiom(axiom) => write!(f, "its rows do not multiply like a group, {axiom}"),
            Refusal::Inputs {
                group,
                element,
                count,
            } => write!(
                f,
                "its rows multiply like {group}, but {count} inputs stand at element {element}, \
                 more than at others"
            ),
            Refusal::Overlap {
                group,
                row,
                overlap,
                mean,
            } => write!(
                f,
                "its rows multiply like {group}, but are not its characters \
                 (overlap of row {row}: {overlap:.3}, mean {mean:.3})"
            ),
        }
    }
}
