//! From W to a multiplication table, and from that to the name of its group.
//!
//! A finite commutative group is Z_m1 × Z_m2 × …, each order dividing the one before, in one way only: these invariant
//! factors are its name, and two tables are of one group exactly where they have the same.
//!
//! | file | what it answers |
//! | --- | --- |
//! | `permutation`, `action` | which permutations of inputs is it? |
//! | `cayley` | what is a·b? |
//! | `axiom` | is this table a commutative group, and where does it fail to be one? |
//! | `factors` | which one? |
//! | `isomorphism` | are two tables one group, and which element is which? |
//! | `structure` | classes, centre, isomorphisms of groups that need not commute |
//! | `library` | what is a group called, and which group has a name? |
//! | `known` | which permutations are its usual actions? |
//! | `learned_table` | which table does W imply, and how surely? |
//! | `completion` | what are the characters that no signal excites? |
//! | `identify` | which row is which character, which input stands at which element, and what would W be exactly? |
//! | `triples` | which invariants are one term, and which coefficients is it the product of? |
//! | `recursion`, `lattice` | which coefficient follows from which, and how many solutions are there? |
//! | `determination` | what do some invariants leave open? |
//! | `selective` | which few invariants tell all? |
//! | `irreps` | which real matrices are its irreducible representations? |
//! | `bispectrum` | which blocks and forms are the invariants of an action? |
//! | `fourth_order` | what tells signals apart whose third order vanishes? |
//! | `contraction` | what tells signals apart where forms of third order are too few, without any element of the group? |
//! | `rank` | which forms say what others do not? |
//! | `couplings` | what are invariants of a group that need not commute: forms of blocks of a basis |
//! | `compact` | which group that acts linearly, in any basis, moves orbits? |
//! | `circle` | which forms turn, where a circle moves samples only nearly: rotation on a grid of pixels |

mod action;
mod axiom;
mod bispectrum;
mod cayley;
pub mod circle;
pub mod compact;
mod completion;
pub mod contraction;
pub mod couplings;
mod determination;
mod factors;
mod fourth_order;
pub mod identify;
mod irreps;
mod isomorphism;
mod known;
pub(crate) mod lattice;
mod learned_table;
mod library;
mod permutation;
mod positions;
mod rank;
pub(crate) mod recursion;
mod refusal;
mod selective;
mod structure;
pub(crate) mod triples;

pub use action::Action;
pub use axiom::Axiom;
pub use bispectrum::{Block, Blocks, couplings_of, forms_of_order_four};
pub use cayley::Cayley;
pub use completion::complete;
pub use couplings::Couplings;
pub use determination::Determination;
pub use factors::{Factors, invariant_factors, of_order};
pub use fourth_order::fourth_order;
pub use irreps::{Irrep, real_irreps};
pub use isomorphism::{is_isomorphism, isomorphism};
pub use known::known_action;
pub use learned_table::{LearnedTable, MOST_ROWS};
pub use library::{
    GroupName, group_name, group_table, groups_of_order, is_same_group, names_of_order,
};
pub use permutation::Permutation;
pub use refusal::Refusal;
pub(crate) use selective::present;
pub use selective::{NEARLY_ZERO, determination, least, selective};
pub use structure::{Structure, any_isomorphism};

#[cfg(test)]
mod samples {
    use super::Cayley;
    use crate::data::group::Group;
    use proptest::prelude::*;

    pub(super) fn table(rows: &[&[u16]]) -> Cayley {
        Cayley::new(rows.len(), rows.concat()).unwrap()
    }

    pub(super) fn group(name: &str) -> Group {
        name.parse().unwrap()
    }

    /// The permutations of three things: the smallest group that does not commute.
    pub(super) fn permutations_of_three() -> Cayley {
        table(&[
            &[0, 1, 2, 3, 4, 5],
            &[1, 2, 0, 4, 5, 3],
            &[2, 0, 1, 5, 3, 4],
            &[3, 5, 4, 0, 2, 1],
            &[4, 3, 5, 1, 0, 2],
            &[5, 4, 3, 2, 1, 0],
        ])
    }

    /// Groups of up to 3 factors and 343 elements, trivial factors among them.
    pub(super) fn groups() -> impl Strategy<Value = Group> {
        prop::collection::vec(1_usize..=7, 1..=3).prop_map(|factors| Group::new(factors).unwrap())
    }

    /// The table of `group` with its elements numbered anew.
    pub(super) fn relabelled(group: &Group) -> impl Strategy<Value = Cayley> + use<> {
        let original = Cayley::of(group);
        let numbers: Vec<u16> = (0..).take(group.order()).collect();
        Just(numbers).prop_shuffle().prop_map(move |number| {
            let order = original.order();
            let mut products = vec![0; order * order];
            for (a, row) in original.rows().enumerate() {
                for (b, &product) in row.iter().enumerate() {
                    let cell = usize::from(number[a]) * order + usize::from(number[b]);
                    products[cell] = number[usize::from(product)];
                }
            }
            Cayley::new(order, products).unwrap()
        })
    }
}
