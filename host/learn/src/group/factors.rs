//! Which commutative group: its invariant factors m₁ ≥ m₂ ≥ …, each a multiple of the next.

use super::{Axiom, Cayley};
use crate::data::group::Group;
use std::cmp::Reverse;

/// The group a table is of, by its invariant factors, and the isomorphism to it.
///
/// ```
/// use bispectral_learn::group::{Cayley, Factors};
///
/// let factors = Factors::of(&Cayley::of(&"Z2xZ3xZ2".parse()?))?;
/// assert_eq!(factors.group().to_string(), "Z6xZ2");
/// // Number 3 is (0, 1, 1), of order 6.
/// assert_eq!(factors.generators()[0], 3);
/// assert_eq!(factors.group().element(factors.coordinates()[3]), [1, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Factors {
    group: Group,
    generators: Vec<usize>,
    coordinates: Vec<usize>,
}

impl Factors {
    /// Takes the commutative group of `table` apart into cyclic ones, the largest first.
    ///
    /// To what is taken so far, H, is added the cyclic group of an element x whose order modulo H (the least m with
    /// xᵐ in H) is the largest. H being a direct factor, one of those has xᵐ = e; with it H is again a direct factor.
    ///
    /// # Errors
    /// The table is not a commutative group's.
    pub fn of(table: &Cayley) -> Result<Self, Axiom> {
        let identity = table.group()?;
        let (mut orders, mut generators) = (Vec::new(), Vec::new());
        // Place i holds the element of the table which the group so far numbers i.
        let mut members = vec![identity];
        let mut is_member = vec![false; table.order()];
        is_member[identity] = true;
        let next = |is_member: &[bool]| {
            let outside = (0..table.order()).filter(|&x| !is_member[x]);
            outside
                .map(|x| {
                    let (m, power) = order_modulo(table, x, is_member);
                    (m, power == identity, Reverse(x))
                })
                .max()
        };
        while let Some((m, _, Reverse(x))) = next(&is_member) {
            orders.push(m);
            generators.push(x);
            members = members
                .iter()
                .flat_map(|&member| powers(table, member, x).take(m))
                .collect();
            members.iter().for_each(|&member| is_member[member] = true);
        }
        if generators.is_empty() {
            generators.push(identity);
        }
        let mut coordinates = vec![0; table.order()];
        for (number, &member) in members.iter().enumerate() {
            coordinates[member] = number;
        }
        Ok(Factors {
            group: product(orders),
            generators,
            coordinates,
        })
    }

    /// The product of cyclic groups, Z1 where there is one element only.
    #[must_use]
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// For each factor of the group, the element of the table that generates it.
    #[must_use]
    pub fn generators(&self) -> &[usize] {
        &self.generators
    }

    /// For each element of the table, its number in the group: products become sums.
    #[must_use]
    pub fn coordinates(&self) -> &[usize] {
        &self.coordinates
    }
}

/// a, a·x, a·x², …
fn powers(table: &Cayley, a: usize, x: usize) -> impl Iterator<Item = usize> {
    // x·a rather than a·x, the same in a commutative table: one row then stays in the cache.
    std::iter::successors(Some(a), move |&power| Some(table.product(x, power)))
}

/// The least m > 0 with xᵐ among the members, and xᵐ.
fn order_modulo(table: &Cayley, x: usize, is_member: &[bool]) -> (usize, usize) {
    let (mut m, mut power) = (1, x);
    while !is_member[power] {
        (m, power) = (m + 1, table.product(x, power));
    }
    (m, power)
}

/// The group of these invariant factors.
fn product(mut orders: Vec<usize>) -> Group {
    if orders.is_empty() {
        orders.push(1);
    }
    Group::new(orders).expect("it has no more elements than the group it was found in")
}

/// The same group by its invariant factors: isomorphic groups become equal.
///
/// ```
/// use bispectral_learn::group::invariant_factors;
///
/// assert_eq!(invariant_factors(&"Z2xZ4".parse()?).to_string(), "Z4xZ2");
/// assert_eq!(invariant_factors(&"Z2xZ3".parse()?).to_string(), "Z6");
/// # Ok::<(), bispectral_learn::Error>(())
/// ```
#[must_use]
pub fn invariant_factors(group: &Group) -> Group {
    // Z_a × Z_b is Z_lcm × Z_gcd. Of each prime this puts the higher power first: a sort by exchange.
    let mut orders = group.factors().to_vec();
    for i in 0..orders.len() {
        for j in i + 1..orders.len() {
            let common = greatest_common_divisor(orders[i], orders[j]);
            orders[i] *= orders[j] / common;
            orders[j] = common;
        }
    }
    orders.retain(|&order| order > 1);
    product(orders)
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

/// Every commutative group of this order by its invariant factors, the cyclic one first (OEIS A000688 of them). None
/// where no [`Group`] has this order.
///
/// ```
/// use bispectral_learn::group::of_order;
///
/// let names: Vec<String> = of_order(8).iter().map(ToString::to_string).collect();
/// assert_eq!(names, ["Z8", "Z4xZ2", "Z2xZ2xZ2"]);
/// ```
#[must_use]
pub fn of_order(order: usize) -> Vec<Group> {
    let mut groups = Vec::new();
    if Group::new([order]).is_ok() {
        append(&mut groups, &mut Vec::new(), order, order);
    }
    groups
}

/// Appends each group that begins with the factors `before` and continues with divisors of `last`, `rest` in product.
fn append(groups: &mut Vec<Group>, before: &mut Vec<usize>, last: usize, rest: usize) {
    if rest == 1 {
        groups.push(product(before.clone()));
    }
    for factor in (2..=last.min(rest)).rev() {
        if last.is_multiple_of(factor) && rest.is_multiple_of(factor) {
            before.push(factor);
            append(groups, before, factor, rest / factor);
            before.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{group, groups, permutations_of_three, relabelled};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_table_is_named_in_any_numbering(
            (group, table) in groups().prop_flat_map(|group| (Just(group.clone()), relabelled(&group))),
        ) {
            let factors = Factors::of(&table).unwrap();
            prop_assert_eq!(factors.group(), &invariant_factors(&group));
        }

        #[test]
        fn coordinates_turn_products_into_sums(table in groups().prop_flat_map(|group| relabelled(&group))) {
            let factors = Factors::of(&table).unwrap();
            let (group, number) = (factors.group(), factors.coordinates());
            let mut numbers = number.to_vec();
            numbers.sort_unstable();
            prop_assert!(numbers.into_iter().eq(0..group.order()));
            for a in 0..table.order() {
                for b in 0..table.order() {
                    prop_assert_eq!(number[table.product(a, b)], group.add(number[a], number[b]));
                }
            }
        }

        #[test]
        fn generators_are_the_units_of_the_coordinates(table in groups().prop_flat_map(|group| relabelled(&group))) {
            let identity = table.group().unwrap();
            let factors = Factors::of(&table).unwrap();
            let orders = factors.group().factors();
            prop_assert_eq!(factors.generators().len(), orders.len());
            for (place, (&generator, &order)) in factors.generators().iter().zip(orders).enumerate() {
                let again = 1 + powers(&table, generator, generator).position(|power| power == identity).unwrap();
                prop_assert_eq!(again, order);
                let mut unit = vec![0; orders.len()];
                unit[place] = 1;
                let number = factors.group().index(&unit);
                prop_assert_eq!(factors.coordinates()[generator], number);
            }
        }

        #[test]
        fn invariant_factors_divide_one_another_and_keep_the_orders_of_elements(group in groups()) {
            let invariant = invariant_factors(&group);
            prop_assert!(invariant.factors().windows(2).all(|pair| pair[0] % pair[1] == 0));
            prop_assert!(invariant.order() == 1 || !invariant.factors().contains(&1));
            let orders = |group: &Group| {
                let order = |a| 1 + (1..).scan(a, |sum, _| (*sum != 0).then(|| *sum = group.add(*sum, a))).count();
                let mut orders: Vec<usize> = (0..group.order()).map(order).collect();
                orders.sort_unstable();
                orders
            };
            prop_assert_eq!(orders(&invariant), orders(&group));
        }

        #[test]
        fn a_group_is_among_those_of_its_order(group in groups()) {
            let found = of_order(group.order()).into_iter().filter(|other| *other == invariant_factors(&group));
            prop_assert_eq!(found.count(), 1);
        }
    }

    #[test]
    fn products_have_the_names_mathematicians_give_them() {
        for (name, invariant) in [
            ("Z1", "Z1"),
            ("Z1xZ1", "Z1"),
            ("Z1xZ5", "Z5"),
            ("Z2xZ3", "Z6"),
            ("Z2xZ4", "Z4xZ2"),
            ("Z16xZ16", "Z16xZ16"),
            ("Z6xZ10xZ15", "Z30xZ30"),
            ("Z4xZ6xZ9", "Z36xZ6"),
        ] {
            let invariant = group(invariant);
            assert_eq!(invariant_factors(&group(name)), invariant);
            let factors = Factors::of(&Cayley::of(&group(name))).unwrap();
            assert_eq!(factors.group(), &invariant);
        }
    }

    #[test]
    fn groups_of_an_order_are_as_many_as_oeis_a000688_says() {
        const COUNTS: [usize; 64] = [
            1, 1, 1, 2, 1, 1, 1, 3, 2, 1, 1, 2, 1, 1, 1, 5, 1, 2, 1, 2, 1, 1, 1, 3, 2, 1, 3, 2, 1,
            1, 1, 7, 1, 1, 1, 4, 1, 1, 1, 3, 1, 1, 1, 2, 2, 1, 1, 5, 2, 2, 1, 2, 1, 3, 1, 3, 1, 1,
            1, 2, 1, 1, 2, 11,
        ];
        for (order, count) in (1..).zip(COUNTS) {
            let groups = of_order(order);
            assert_eq!(groups.len(), count, "{order}");
            assert_eq!(groups[0].factors(), [order]);
            for group in &groups {
                assert_eq!(group.order(), order);
                assert_eq!(&invariant_factors(group), group);
            }
        }
        // The partitions of 13.
        assert_eq!(of_order(8192).len(), 101);
        assert!(of_order(0).is_empty() && of_order(8193).is_empty());
    }

    #[test]
    fn what_is_no_commutative_group_has_no_factors() {
        let refused = Factors::of(&permutations_of_three());
        assert!(matches!(refused, Err(Axiom::Commutativity { .. })));
    }
}
