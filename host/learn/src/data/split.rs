//! What is held out of training: some transforms of every orbit, as in the paper, or whole orbits.

use super::orbits::{Orbits, OrbitsError};
use super::orbits_error::LEAST;
use crate::numeric::random::{Purpose, stream};
use rand::Rng;
use rand::seq::index;
use serde::{Deserialize, Serialize};

/// What is kept from training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// Some transforms of every orbit.
    Transforms,
    /// Some orbits as a whole.
    Exemplars,
}

impl Orbits {
    /// Orbits for training, and those held out: `fraction` of the members of each orbit, or of the orbits, at random.
    ///
    /// The fraction is rounded to a whole number, but not to less than two: one member makes no pair.
    ///
    /// # Errors
    /// The fraction is not between 0 and 1, or leaves fewer than two on either side.
    pub fn split(
        &self,
        split: Split,
        fraction: f64,
        seed: u64,
    ) -> Result<(Orbits, Orbits), OrbitsError> {
        if !(fraction > 0.0 && fraction < 1.0) {
            return Err(OrbitsError::HeldOut { fraction });
        }
        let mut random = stream(seed, Purpose::Split);
        let (training, held_out) = match split {
            Split::Exemplars => {
                divide(&self.orbits, fraction, &mut random).ok_or(OrbitsError::TooFewToHoldOut {
                    exemplars: self.len(),
                    fraction,
                })?
            }
            Split::Transforms => {
                let mut sides = (Vec::new(), Vec::new());
                for orbit in &self.orbits {
                    let members = divide(&orbit.elements, fraction, &mut random);
                    let (training, held_out) = members.ok_or(OrbitsError::TooFewMembers {
                        label: orbit.label,
                        members: orbit.elements.len(),
                        fraction,
                    })?;
                    sides.0.push(orbit.with(training));
                    sides.1.push(orbit.with(held_out));
                }
                sides
            }
        };
        Ok((self.with(training), self.with(held_out)))
    }
}

/// Those to keep and those to hold out, each in their order; none where a side would have fewer than two.
fn divide<T: Clone>(all: &[T], fraction: f64, random: &mut impl Rng) -> Option<(Vec<T>, Vec<T>)> {
    let held_out = (fraction * all.len() as f64).round().max(LEAST as f64) as usize;
    if held_out + LEAST > all.len() {
        return None;
    }
    let mut is_held_out = vec![false; all.len()];
    for place in index::sample(random, all.len(), held_out) {
        is_held_out[place] = true;
    }
    let side = |held_out: bool| {
        let places = all.iter().zip(&is_held_out);
        places
            .filter(|&(_, &is)| is == held_out)
            .map(|(item, _)| item.clone())
            .collect()
    };
    Some((side(false), side(true)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::group::Group;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn orbits(group: &str, exemplars: usize) -> Orbits {
        Orbits::of_group(&group.parse::<Group>().unwrap(), exemplars, 0)
    }

    /// Every member, as the label of its orbit and what makes it.
    fn places(orbits: &Orbits) -> Vec<(i64, usize)> {
        (0..orbits.len())
            .flat_map(|orbit| (0..orbits.members(orbit)).map(move |member| (orbit, member)))
            .map(|(orbit, member)| (orbits.label(orbit), orbits.element(orbit, member)))
            .collect()
    }

    proptest! {
        #[test]
        fn a_split_is_disjoint_exhaustive_and_reproducible(
            order in 4_usize..40, exemplars in 4_usize..20, transforms: bool,
            fraction in 0.05..0.5, seed: u64,
        ) {
            let all = orbits(&format!("Z{order}"), exemplars);
            let split = if transforms { Split::Transforms } else { Split::Exemplars };
            let (training, held_out) = all.split(split, fraction, seed).unwrap();
            let (a, b) = (places(&training), places(&held_out));
            let union: BTreeSet<_> = a.iter().chain(&b).copied().collect();
            prop_assert_eq!(a.len() + b.len(), union.len());
            prop_assert_eq!(&union, &places(&all).into_iter().collect());

            let (again, held_out_again) = all.split(split, fraction, seed).unwrap();
            prop_assert_eq!(&a, &places(&again));
            prop_assert_eq!(&b, &places(&held_out_again));

            for side in [&training, &held_out] {
                prop_assert!(side.len() >= 2);
                prop_assert!((0..side.len()).all(|orbit| side.members(orbit) >= 2));
                let whole = (0..side.len()).all(|orbit| side.members(orbit) == all.inputs());
                prop_assert_eq!(whole, split == Split::Exemplars);
            }
            prop_assert_eq!(held_out.len() == exemplars, split == Split::Transforms);
        }
    }

    #[test]
    fn members_of_either_side_are_members_of_the_whole() {
        let all = orbits("Z4xZ3", 3);
        let (_, held_out) = all.split(Split::Transforms, 0.25, 9).unwrap();
        let (mut a, mut b) = ([0.0; 12], [0.0; 12]);
        for (orbit, member) in (0..3).flat_map(|orbit| (0..3).map(move |member| (orbit, member))) {
            held_out.write_member(orbit, member, &mut a);
            all.write_member(orbit, held_out.element(orbit, member), &mut b);
            assert_eq!(a, b);
        }
    }

    #[test]
    fn the_papers_fraction_holds_out_a_fifth() {
        for (group, held) in [("Z16xZ16", 51), ("Z8", 2), ("Z4", 2), ("Z100", 20)] {
            let (_, held_out) = orbits(group, 1).split(Split::Transforms, 0.2, 0).unwrap();
            assert_eq!(held_out.members(0), held, "{group}");
        }
        let (_, held_out) = orbits("Z8", 100).split(Split::Exemplars, 0.2, 0).unwrap();
        assert_eq!((held_out.len(), held_out.members(0)), (20, 8));
    }

    #[test]
    fn orbits_and_seeds_differ_in_what_is_held_out() {
        let all = orbits("Z64", 2);
        let held_out = |seed| places(&all.split(Split::Transforms, 0.2, seed).unwrap().1);
        let of = |label, places: &[(i64, usize)]| -> Vec<usize> {
            let places = places.iter().filter(|place| place.0 == label);
            places.map(|place| place.1).collect()
        };
        assert_ne!(held_out(0), held_out(1));
        assert_ne!(of(0, &held_out(0)), of(1, &held_out(0)));
    }

    #[test]
    fn splits_that_leave_no_pair_are_refused_in_one_line() {
        for (group, exemplars, split, fraction, refusal) in [
            (
                "Z3",
                9,
                Split::Transforms,
                0.2,
                "split: orbit 0: 3 members are too few to hold out 0.2 of them: ",
            ),
            (
                "Z8",
                9,
                Split::Transforms,
                0.9,
                "split: orbit 0: 8 members are too few to hold out 0.9 of them: ",
            ),
            (
                "Z8",
                3,
                Split::Exemplars,
                0.2,
                "split: 3 orbits are too few to hold out 0.2 of them: ",
            ),
            (
                "Z8",
                9,
                Split::Exemplars,
                1.0,
                "split: a held-out fraction of 1: ",
            ),
            (
                "Z8",
                9,
                Split::Exemplars,
                f64::NAN,
                "split: a held-out fraction of NaN: ",
            ),
        ] {
            let line = orbits(group, exemplars)
                .split(split, fraction, 0)
                .unwrap_err();
            assert!(line.to_string().starts_with(refusal), "{line}");
        }
    }
}
