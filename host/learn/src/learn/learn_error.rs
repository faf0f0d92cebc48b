//! Why nothing was learned.

use crate::Error;
use std::fmt;

/// Why nothing was learned.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum LearnError {
    /// An option cannot be meant.
    Option {
        /// Its name in [`Options`](super::Options).
        option: &'static str,
        /// What is wrong with it.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A number of a phase cannot be meant.
    Phase {
        /// The phase, counted from one.
        phase: usize,
        /// What is wrong with it.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// Training went out of bounds; W is as it was before the step.
    Diverged {
        /// The phase, counted from one.
        phase: usize,
        /// The step of the phase, counted from one.
        step: u64,
        /// How it was seen.
        sign: Divergence,
    },
    /// What was saved is not of a run with these orbits and options.
    Checkpoint {
        /// Rows and inputs of the W that was saved.
        found: [usize; 2],
        /// Rows and inputs that were expected.
        expected: [usize; 2],
    },
    /// The orbits cannot be learned from: too few to hold some out, or a sample has no invariants.
    Data(Box<Error>),
    /// No model can be made of W.
    Model(bispectral_core::Error),
}

/// How it was seen that training went out of bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Divergence {
    /// The loss is infinite or no number.
    Loss,
    /// The gradient is.
    Gradient,
    /// The gradient is far longer than that of a healthy run.
    Explosion,
}

impl LearnError {
    pub(crate) fn subject(&self) -> String {
        match self {
            LearnError::Option { option, .. } => (*option).into(),
            LearnError::Phase { phase, .. } => format!("phase {phase}"),
            LearnError::Diverged { phase, step, .. } => format!("phase {phase}, step {step}"),
            LearnError::Checkpoint { .. } => "checkpoint".into(),
            LearnError::Data(error) => error.subject(),
            LearnError::Model(_) => "W".into(),
        }
    }

    pub(crate) fn what(&self) -> String {
        match self {
            LearnError::Option { what, .. } | LearnError::Phase { what, .. } => what.clone(),
            LearnError::Diverged { sign, .. } => match sign {
                Divergence::Loss => "the loss is not finite",
                Divergence::Gradient => "the gradient is not finite",
                Divergence::Explosion => "the gradient has exploded",
            }
            .into(),
            LearnError::Checkpoint { found, expected } => format!(
                "it is of a W of {} by {}, the run has {} by {}",
                found[0], found[1], expected[0], expected[1]
            ),
            LearnError::Data(error) => error.what(),
            LearnError::Model(error) => error.to_string(),
        }
    }

    pub(crate) fn remedy(&self) -> String {
        match self {
            LearnError::Option { remedy, .. } | LearnError::Phase { remedy, .. } => {
                (*remedy).into()
            }
            LearnError::Diverged { .. } => {
                "lower the learning rate or gamma, or scale the data to unit deviation".into()
            }
            LearnError::Checkpoint { .. } => "go on with the orbits and options it is of".into(),
            LearnError::Data(error) => error.remedy().unwrap_or_default(),
            LearnError::Model(_) => "learn from other data".into(),
        }
    }
}

impl fmt::Display for LearnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LearnError::Data(error) => error.fmt(f),
            _ => write!(f, "{}: {}: {}", self.subject(), self.what(), self.remedy()),
        }
    }
}

impl std::error::Error for LearnError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LearnError::Data(error) => Some(error),
            LearnError::Model(error) => Some(error),
            _ => None,
        }
    }
}

impl From<Error> for LearnError {
    fn from(error: Error) -> Self {
        LearnError::Data(Box::new(error))
    }
}
