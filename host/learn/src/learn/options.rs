//! What can be chosen about learning, with defaults that suit the data.

use super::LearnError;
use super::phase::Phase;
use crate::data::orbits::{Motion, Split};
use crate::limits;

/// What can be chosen about [`learn`](super::learn). The default learns by the default recipe.
///
/// ```
/// use bispectral_learn::Options;
///
/// let options = Options { seed: 7, held_out: 0.1, ..Options::default() };
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// What people call the model; may be empty.
    pub name: String,
    /// What all that is random is drawn from; the same seed gives the same bits.
    pub seed: u64,
    /// Rows of W; as many as inputs where it is left open.
    pub rows: Option<usize>,
    /// What is held out of training, to evaluate the model on.
    pub split: Split,
    /// The share that is held out, between 0 and 1.
    pub held_out: f64,
    /// How often to begin again where training stalls; left open, as often as it helps such data.
    pub restarts: Option<u32>,
    /// Whether learning ends once a group is recognised, and its exact characters take the place of W.
    pub polish: bool,
    /// One after the other; the default recipe where there are none.
    pub phases: Vec<Phase>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            name: String::new(),
            seed: 0,
            rows: None,
            split: Split::Exemplars,
            held_out: 0.2,
            restarts: None,
            polish: true,
            phases: Vec::new(),
        }
    }
}

/// Where data is moved by a finite commutative group there is one to be found; given samples may have none, and
/// rotation on a grid does not.
#[must_use]
pub fn restarts(motion: Motion) -> u32 {
    match motion {
        Motion::Rotation => 0,
        Motion::Unknown => 1,
        Motion::Translation => 9,
    }
}

impl Options {
    /// Everything that was left open filled in for orbits of this motion.
    ///
    /// # Errors
    /// A number cannot be meant.
    pub fn resolved(&self, motion: Motion) -> Result<Self, LearnError> {
        let mut options = self.clone();
        options.restarts.get_or_insert(restarts(motion));
        if options.phases.is_empty() {
            options.phases = Phase::recipe(motion);
        }
        options.check()?;
        Ok(options)
    }

    fn check(&self) -> Result<(), LearnError> {
        if !(0.0..1.0).contains(&self.held_out) || self.held_out == 0.0 {
            return Err(LearnError::Option {
                option: "held_out",
                what: format!("{} is not a share to hold out", self.held_out),
                remedy: "set it between 0 and 1",
            });
        }
        if self.rows == Some(0) {
            return Err(LearnError::Option {
                option: "rows",
                what: "W would have no rows".into(),
                remedy: "set it to 1 or more",
            });
        }
        limits::at_most(self.rows.unwrap_or(0), limits::MOST_ROWS).map_err(|what| {
            LearnError::Option {
                option: "rows",
                what: what + ", the most that a model has",
                remedy: "set it lower, or leave it open: as many as inputs are enough",
            }
        })?;
        (1..)
            .zip(&self.phases)
            .try_for_each(|(number, phase)| phase.check(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(options: &Options) -> String {
        let refused = options.resolved(Motion::Unknown).unwrap_err();
        refused.to_string()
    }

    #[test]
    fn numbers_that_cannot_be_meant_are_refused_by_name() {
        let with = |change: fn(&mut Phase)| {
            let mut phase = Phase::default();
            change(&mut phase);
            refusal(&Options {
                phases: vec![Phase::default(), phase],
                ..Options::default()
            })
        };
        assert_eq!(
            with(|phase| phase.lr = 0.0),
            "phase 2: lr = 0, lr_low = 0.0001: set them above zero"
        );
        assert_eq!(
            with(|phase| phase.gamma = f64::NAN),
            "phase 2: gamma = NaN: set it to zero or above"
        );
        assert_eq!(
            with(|phase| phase.members = 1),
            "phase 2: a batch of 10 orbits with 1 members each: take at least one orbit and two members"
        );
        assert_eq!(
            with(|phase| phase.steps = 0),
            "phase 2: it has no steps: set steps to 1 or more"
        );
        assert_eq!(
            with(|phase| phase.keep = 1.5),
            "phase 2: keep = 1.5: set it above 0, up to 1"
        );
        let held_out = |held_out| Options {
            held_out,
            ..Options::default()
        };
        for (share, shown) in [(1.0, "1"), (0.0, "0"), (f64::NAN, "NaN")] {
            assert_eq!(
                refusal(&held_out(share)),
                format!("held_out: {shown} is not a share to hold out: set it between 0 and 1")
            );
        }
    }

    #[test]
    fn as_many_rows_as_a_model_has_are_taken_and_no_more() {
        let rows = |rows| Options {
            rows: Some(rows),
            ..Options::default()
        };
        assert!(rows(8192).resolved(Motion::Unknown).is_ok());
        for many in [8193, usize::MAX] {
            let line = refusal(&rows(many));
            assert!(
                line.starts_with(&format!("rows: {many} are more than 8192")),
                "{line}"
            );
        }
    }

    #[test]
    fn what_is_left_open_depends_on_how_the_data_moves() {
        let resolved = |motion| Options::default().resolved(motion).unwrap();
        let rotation = resolved(Motion::Rotation);
        assert_eq!((rotation.restarts, rotation.phases.len()), (Some(0), 3));
        assert!(rotation.phases[2].keep < 1.0);
        assert_eq!(resolved(Motion::Unknown).restarts, Some(1));
        assert_eq!(resolved(Motion::Translation).restarts, Some(9));
    }
}
