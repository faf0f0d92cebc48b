//! The name of a learned group, from what couples alone: no grid, no labels of elements.
//!
//! Commutative groups are named by their characters ([`lattice`](super::lattice)), O(2) by characters whose forms have no
//! imaginary part, SO(3) by its Lie algebra ([`generators`](super::generators)), other finite ones by the table of their
//! [elements](super::elements). A group that acts through a quotient is named by that.

use super::generators::{Generators, generators};
use super::lattice::characters;
use super::solve::Compact;
use std::fmt;

/// What a learned group is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Name {
    /// SO(2)^rank × Z_m1 × Z_m2 × ….
    Commutative {
        /// How many angles.
        rank: usize,
        /// The orders of its finite factors.
        orders: Vec<i64>,
        /// The character of each irrep: one whole number an angle, one a finite factor.
        characters: Vec<Vec<i64>>,
    },
    /// O(2), with the order of each irrep.
    Mirrors {
        /// 0 for irreps of one dimension.
        orders: Vec<i64>,
    },
    /// SO(3), with the degree of each irrep.
    Rotations {
        /// The degree of each irrep.
        degrees: Vec<usize>,
    },
    /// All that leaves the scalar products of copies of one irrep as they are, which are the only forms there are: O(d), U(d/2) or
    /// Sp(d/4). A smaller group with the same forms up to the third order has the same invariants.
    Isometries {
        /// The dimension of the irrep over the real numbers.
        dimension: usize,
        /// That of what commutes with it: 1, 2 or 4.
        commuting: usize,
        /// How many copies there are.
        copies: usize,
    },
    /// A group of finitely many elements, each of which was found: by an isomorphism from their table to that of this name.
    Known {
        /// As [`group_name`](crate::group::group_name) has it.
        name: String,
        /// How many elements it has.
        order: usize,
        /// The dimension of each block.
        blocks: Vec<usize>,
    },
    /// A group of finitely many elements, which were not all found.
    Finite {
        /// The dimension of each block.
        blocks: Vec<usize>,
    },
    /// Any other.
    Compact {
        /// The group's dimension, where it is known.
        dimension: Option<usize>,
        /// The dimension of each block.
        blocks: Vec<usize>,
    },
}

impl Compact {
    /// What the group is.
    #[must_use]
    pub fn name(&self) -> Name {
        if let Some(name) = &self.proven {
            return name.clone();
        }
        if let Some((found, commutative)) = characters(self) {
            if commutative {
                return Name::Commutative {
                    rank: found.rank,
                    orders: found.orders,
                    characters: found.of,
                };
            }
            let orders: Vec<i64> = found
                .of
                .iter()
                .filter_map(|of| of.first().copied())
                .collect();
            let signs = self
                .irreps
                .iter()
                .filter(|irrep| irrep.dimension == 1 && !irrep.trivial);
            if found.rank == 1 && found.orders.is_empty() && signs.count() == 0 {
                return Name::Mirrors {
                    orders: orders.iter().map(|order| order.abs()).collect(),
                };
            }
        }
        if let Some(name) = self.isometries() {
            return name;
        }
        let blocks = self.dimensions();
        let Some(found) = generators(self) else {
            return Name::Compact {
                dimension: None,
                blocks,
            };
        };
        match found.generators.len() {
            0 => Name::Finite { blocks },
            3 => self.rotations(&found).unwrap_or(Name::Compact {
                dimension: Some(3),
                blocks,
            }),
            dimension => Name::Compact {
                dimension: Some(dimension),
                blocks,
            },
        }
    }

    /// Forms of an irrep and itself.
    pub(super) fn second_order(&self, number: usize) -> usize {
        let own = |form: &&super::solve::Form| form.irreps == [number; 2];
        self.forms.iter().filter(own).count()
    }

    /// Where copies of one irrep are all that moves, and no form of order three couples them.
    fn isometries(&self) -> Option<Name> {
        let mut moving = self
            .irreps
            .iter()
            .enumerate()
            .filter(|(_, irrep)| !irrep.trivial);
        let (number, irrep) = moving.next()?;
        let coupled = self.forms.iter().any(|form| form.irreps.len() == 3);
        if moving.next().is_some() || coupled || irrep.copies.len() < 2 {
            return None;
        }
        Some(Name::Isometries {
            dimension: irrep.dimension,
            commuting: self.second_order(number),
            copies: irrep.copies.len(),
        })
    }

    /// SO(3), where each irrep is one of its own, of a degree that only it has.
    fn rotations(&self, found: &Generators) -> Option<Name> {
        let degree = |dimension: usize| (!dimension.is_multiple_of(2)).then_some(dimension / 2);
        let degrees: Option<Vec<usize>> = self
            .irreps
            .iter()
            .map(|irrep| degree(irrep.dimension))
            .collect();
        let degrees = degrees?;
        let mut distinct = degrees.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let trivial = self
            .irreps
            .iter()
            .all(|irrep| irrep.trivial == (irrep.dimension == 1));
        (distinct.len() == degrees.len() && trivial && !found.commute())
            .then_some(Name::Rotations { degrees })
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |numbers: &[usize]| {
            let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
            numbers.join(", ")
        };
        match self {
            Name::Commutative { rank, orders, .. } => {
                let torus = match rank {
                    0 => None,
                    1 => Some("SO(2)".to_owned()),
                    rank => Some(format!("T{rank}")),
                };
                let finite = orders.iter().rev().map(|order| format!("Z{order}"));
                let factors: Vec<String> = torus.into_iter().chain(finite).collect();
                let name = factors.join("x");
                write!(f, "{}", if name.is_empty() { "Z1" } else { &name })
            }
            Name::Mirrors { .. } => write!(f, "O(2)"),
            Name::Rotations { .. } => write!(f, "SO(3)"),
            Name::Isometries {
                dimension,
                commuting,
                ..
            } => match commuting {
                1 => write!(f, "O({dimension})"),
                2 => write!(f, "U({})", dimension / 2),
                _ => write!(f, "Sp({})", dimension / 4),
            },
            Name::Known { name, .. } => f.write_str(name),
            Name::Finite { blocks } => write!(f, "a finite group with blocks {}", list(blocks)),
            Name::Compact { blocks, .. } => {
                write!(f, "a compact group with blocks {}", list(blocks))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::representation::{Representation, orthogonal};
    use crate::group::compact::Moments;

    // Names alone are asserted where all of these groups are learned, in `solve`.
    fn name(group: &Representation) -> Name {
        let mixing = orthogonal(group.dimension(), 7);
        let orbits = group.orbits(200, 60, &mixing, 1).unwrap();
        let found = Compact::of(&Moments::of(&orbits).unwrap(), 0).unwrap();
        found.name()
    }

    #[test]
    fn orders_and_degrees_are_those_of_the_blocks() {
        let Name::Commutative { characters, .. } = name(&Representation::so2(&[0, 1, 2, 3])) else {
            panic!("SO(2) commutes");
        };
        let mut orders: Vec<i64> = characters.iter().map(|of| of[0].abs()).collect();
        orders.sort_unstable();
        assert_eq!(orders, [0, 1, 2, 3]);
        let found = name(&Representation::so3(&[0, 1, 2, 3]));
        let degrees = vec![0, 1, 2, 3];
        assert_eq!(found, Name::Rotations { degrees });
    }
}
