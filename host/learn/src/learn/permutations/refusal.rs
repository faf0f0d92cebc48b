//! Why the data shows no group of permutations.

use std::fmt;

/// Why the data shows no group of permutations.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum NoPermutations {
    /// More inputs than the search is made for.
    Inputs {
        /// How many.
        inputs: usize,
    },
    /// Too few orbits or members to tell a group from chance.
    TooFew,
    /// No pair of members leads to a permutation that relates others.
    Unrelated {
        /// Pairs that were tried.
        starts: usize,
    },
    /// The best permutations leave too much of what they should relate.
    Far {
        /// ‖P·y − y′‖² / ‖y‖² of the nearest.
        residual: f64,
    },
    /// The best permutations relate members of one orbit hardly more often than members of different ones.
    Chance {
        /// The share of members they take to another.
        hits: f64,
        /// What chance does.
        chance: f64,
    },
    /// What was found does not close to a group that the data bears out.
    NotClosed {
        /// Permutations that were found.
        candidates: usize,
    },
    /// There is a group, but too many pairs within orbits are not related by it.
    Unexplained {
        /// Its elements.
        order: usize,
        /// The share of pairs it relates.
        explained: f64,
        /// The share it would have to.
        least: f64,
    },
    /// What a group of permutations leaves of pairs is no noise: signals moved by fractions of an input, or otherwise.
    Distorted {
        /// How far its covariance is from that of noise.
        uneven: f64,
        /// What chance may do.
        most: f64,
    },
    /// Members of an orbit are one signal that does not move.
    Still {
        /// The share of pairs that differ by more than noise.
        moved: f64,
    },
    /// There is a group, but orbits fall into parts that it does not take to each other: it is a subgroup of what moves them.
    Cosets {
        /// Its elements.
        order: usize,
        /// The share of members in such parts.
        apart: f64,
    },
    /// Two inputs are so alike in all samples that they could change places.
    Twins {
        /// Which.
        inputs: [usize; 2],
    },
}

impl fmt::Display for NoPermutations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoPermutations::Inputs { inputs } => {
                let most = super::MOST_INPUTS;
                write!(
                    f,
                    "{inputs} inputs are more than the {most} that are matched"
                )
            }
            NoPermutations::TooFew => {
                f.write_str("fewer than two orbits of two members to compare, or hardly more")
            }
            NoPermutations::Unrelated { starts } => {
                write!(
                    f,
                    "none of {starts} pairs is related by a permutation of the inputs"
                )
            }
            NoPermutations::Far { residual } => write!(
                f,
                "the nearest permutations of the inputs leave {residual:.2} of what relates members"
            ),
            NoPermutations::Chance { hits, chance } => write!(
                f,
                "permutations of the inputs relate {hits:.2} of the members within orbits, and {chance:.2} by chance"
            ),
            NoPermutations::NotClosed { candidates } => {
                write!(
                    f,
                    "the {candidates} permutations found generate no group that moves the data"
                )
            }
            NoPermutations::Unexplained {
                order,
                explained,
                least,
            } => write!(
                f,
                "a group of {order} permutations relates {explained:.2} of the pairs within orbits, and should {least:.2}"
            ),
            NoPermutations::Distorted { uneven, most } => write!(
                f,
                "what permutations of the inputs leave of members is no noise: its covariance is {uneven:.2} off, and chance does {most:.2}"
            ),
            NoPermutations::Still { moved } => {
                write!(
                    f,
                    "only {moved:.2} of the pairs within orbits differ by more than noise"
                )
            }
            NoPermutations::Cosets { order, apart } => write!(
                f,
                "a group of {order} permutations leaves {apart:.2} of the members in parts of their orbits that it does not relate"
            ),
            NoPermutations::Twins { inputs: [a, b] } => write!(
                f,
                "inputs {a} and {b} are alike in all samples, so that it cannot be told where each goes"
            ),
        }
    }
}

impl std::error::Error for NoPermutations {}
