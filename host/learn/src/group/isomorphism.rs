//! Whether two tables are of one group (the paper's Algorithm 3), by their invariant factors: no permutation is tried.

use super::{Axiom, Cayley, Factors};

/// A map from the elements of `a` to those of `b` which [is an isomorphism](is_isomorphism); none where they are
/// different groups.
///
/// # Errors
/// One of them is not a commutative group's table.
///
/// ```
/// use bispectral_learn::group::{Cayley, isomorphism};
///
/// let [pairs, cyclic, other] = ["Z2xZ3", "Z6", "Z7"].map(|name| Cayley::of(&name.parse().unwrap()));
/// let map = isomorphism(&pairs, &cyclic)?.expect("2 and 3 have no common divisor");
/// assert_eq!(map[pairs.product(4, 5)], cyclic.product(map[4], map[5]));
/// assert_eq!(isomorphism(&cyclic, &other)?, None);
/// # Ok::<(), bispectral_learn::group::Axiom>(())
/// ```
pub fn isomorphism(a: &Cayley, b: &Cayley) -> Result<Option<Vec<usize>>, Axiom> {
    let (from, to) = (Factors::of(a)?, Factors::of(b)?);
    if from.group() != to.group() {
        return Ok(None);
    }
    let mut elements = vec![0; b.order()];
    for (element, &number) in to.coordinates().iter().enumerate() {
        elements[number] = element;
    }
    let map: Vec<usize> = from
        .coordinates()
        .iter()
        .map(|&number| elements[number])
        .collect();
    // The proof, which asks nothing of how the map was found.
    assert!(
        is_isomorphism(a, b, &map),
        "groups of the same invariant factors are isomorphic"
    );
    Ok(Some(map))
}

/// Whether `map` takes each element of `a` to one of `b`, no two to the same, and map\[x·y\] = map\[x\]·map\[y\] for
/// every two.
///
/// ```
/// use bispectral_learn::group::{Cayley, is_isomorphism};
///
/// let table = Cayley::of(&"Z4".parse()?);
/// assert!(is_isomorphism(&table, &table, &[0, 3, 2, 1]));
/// assert!(!is_isomorphism(&table, &table, &[0, 2, 0, 2]));
/// # Ok::<(), bispectral_learn::Error>(())
/// ```
#[must_use]
pub fn is_isomorphism(a: &Cayley, b: &Cayley, map: &[usize]) -> bool {
    let order = a.order();
    if b.order() != order || map.len() != order {
        return false;
    }
    let mut reached = vec![false; order];
    let one_to_one = map
        .iter()
        .all(|&y| y < order && !std::mem::replace(&mut reached[y], true));
    let image = |product: u16| map.get(usize::from(product)).copied();
    one_to_one
        && a.rows().zip(map).all(|(row, &x)| {
            let mut cells = row.iter().zip(map);
            cells.all(|(&product, &y)| image(product) == Some(b.product(x, y)))
        })
}

#[cfg(test)]
mod tests {
    use super::super::samples::{group, groups, permutations_of_three, relabelled};
    use super::super::{invariant_factors, of_order};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn two_numberings_of_one_group_are_matched(
            (a, b) in groups().prop_flat_map(|group| (relabelled(&group), relabelled(&invariant_factors(&group)))),
        ) {
            let map = isomorphism(&a, &b).unwrap().unwrap();
            let mut images = map.clone();
            images.sort_unstable();
            prop_assert!(images.into_iter().eq(0..b.order()));
            for x in 0..a.order() {
                for y in 0..a.order() {
                    prop_assert_eq!(map[a.product(x, y)], b.product(map[x], map[y]));
                }
            }
        }

        #[test]
        fn a_map_with_two_images_exchanged_is_no_isomorphism(
            (table, [x, y]) in groups().prop_filter("5 elements", |group| group.order() > 4).prop_flat_map(|group| {
                let elements = 0..group.order();
                (relabelled(&group), [elements.clone(), elements])
            }),
        ) {
            let mut map: Vec<usize> = (0..table.order()).collect();
            map.swap(x, y);
            // No exchange of two elements respects a group of more than four: it keeps more than half of them.
            prop_assert_eq!(is_isomorphism(&table, &table, &map), x == y);
        }
    }

    #[test]
    fn different_groups_of_one_order_are_told_apart() {
        for order in [4, 8, 16, 36, 64] {
            let groups = of_order(order);
            for a in &groups {
                for b in &groups {
                    let found = isomorphism(&Cayley::of(a), &Cayley::of(b)).unwrap();
                    assert_eq!(found.is_some(), a == b, "{a} and {b}");
                }
            }
        }
    }

    #[test]
    fn groups_of_different_orders_are_different() {
        let [a, b] = ["Z4", "Z2"].map(|name| Cayley::of(&group(name)));
        assert_eq!(isomorphism(&a, &b), Ok(None));
        assert!(!is_isomorphism(&a, &b, &[0, 1, 0, 1]));
        assert!(!is_isomorphism(&Cayley::of(&group("Z1")), &b, &[0]));
        assert!(!is_isomorphism(&a, &a, &[0, 1, 2]));
        assert!(!is_isomorphism(&a, &a, &[0, 1, 2, 4]));
    }

    /// x ↦ 0 respects products, and so does x ↦ 2x.
    #[test]
    fn a_homomorphism_that_loses_elements_is_no_isomorphism() {
        let table = Cayley::of(&group("Z4"));
        assert!(!is_isomorphism(&table, &table, &[0; 4]));
        assert!(!is_isomorphism(&table, &table, &[0, 2, 0, 2]));
        assert!(is_isomorphism(&table, &table, &[0, 3, 2, 1]));
    }

    #[test]
    fn a_table_on_either_side_that_is_no_commutative_group_is_an_error() {
        let (commutes, does_not) = (Cayley::of(&group("Z6")), permutations_of_three());
        for (a, b) in [(&commutes, &does_not), (&does_not, &commutes)] {
            let refused = isomorphism(a, b);
            assert!(matches!(refused, Err(Axiom::Commutativity { .. })));
        }
    }
}
