//! Whether a Cayley table is a commutative group's, and if not, which axiom it breaks and where.

use super::Cayley;
use serde::Serialize;
use std::fmt;

/// The first axiom of a commutative group that a table breaks, and where.
///
/// ```
/// use bispectral_learn::group::Cayley;
///
/// let subtraction = Cayley::new(3, vec![0, 2, 1, 1, 0, 2, 2, 1, 0])?;
/// let axiom = subtraction.group().unwrap_err();
/// assert_eq!(axiom.to_string(), "no identity: the nearest to one, 0, takes 1 to 2");
/// # Ok::<(), bispectral_learn::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "axiom", rename_all = "kebab-case")]
pub enum Axiom {
    /// a·b = `product` is none of the elements.
    Closure {
        /// The row.
        a: usize,
        /// The column.
        b: usize,
        /// What stands there.
        product: usize,
    },
    /// No e has e·a = a and a·e = a for every a.
    Identity {
        /// The element for which the most of these equations hold; the lowest of several.
        nearest: usize,
        /// The first element `nearest` moves.
        a: usize,
        /// Where to: `nearest`·a, or a·`nearest` if the former is a.
        product: usize,
    },
    /// No b has both `element`·b and b·`element` the identity.
    Inverse {
        /// The first such element.
        element: usize,
    },
    /// (a·b)·c is not a·(b·c).
    Associativity {
        /// The first.
        a: usize,
        /// The middle.
        b: usize,
        /// The last.
        c: usize,
    },
    /// A group, but a·b is not b·a.
    Commutativity {
        /// One.
        a: usize,
        /// The other.
        b: usize,
    },
}

impl Cayley {
    /// The identity element of the commutative group this is the table of.
    ///
    /// Exact: n² log n products are compared and no table that is not a group's passes.
    ///
    /// # Errors
    /// The first axiom that does not hold: closure, identity, inverses, associativity, commutativity.
    pub fn group(&self) -> Result<usize, Axiom> {
        let (identity, generators) = self.generated_group()?;
        self.commutative(&generators)?;
        Ok(identity)
    }

    /// The identity element of the group this is the table of, commutative or not.
    ///
    /// # Errors
    /// The first axiom that does not hold: closure, identity, inverses, associativity.
    pub fn any_group(&self) -> Result<usize, Axiom> {
        Ok(self.generated_group()?.0)
    }

    /// The identity, and elements that generate the group.
    pub(super) fn generated_group(&self) -> Result<(usize, Vec<usize>), Axiom> {
        self.closed()?;
        let identity = self.identity()?;
        self.inverses(identity)?;
        let generators = self.associative(identity)?;
        Ok((identity, generators))
    }

    fn closed(&self) -> Result<(), Axiom> {
        for (a, row) in self.rows().enumerate() {
            let outside = |&product: &u16| usize::from(product) >= self.order();
            if let Some(b) = row.iter().position(outside) {
                let product = self.product(a, b);
                return Err(Axiom::Closure { a, b, product });
            }
        }
        Ok(())
    }

    fn identity(&self) -> Result<usize, Axiom> {
        let mut kept = vec![0; self.order()];
        for (a, row) in self.rows().enumerate() {
            for (b, &product) in row.iter().enumerate() {
                kept[a] += usize::from(usize::from(product) == b);
                kept[b] += usize::from(usize::from(product) == a);
            }
        }
        let lowest_first = (0..self.order()).rev();
        let nearest = lowest_first.max_by_key(|&e| kept[e]).unwrap_or(0);
        let moved = (0..self.order()).find_map(|a| {
            let products = [self.product(nearest, a), self.product(a, nearest)];
            let product = products.into_iter().find(|&product| product != a)?;
            Some(Axiom::Identity {
                nearest,
                a,
                product,
            })
        });
        moved.map_or(Ok(nearest), Err)
    }

    fn inverses(&self, identity: usize) -> Result<(), Axiom> {
        let is_inverse = |a, b| self.product(a, b) == identity && self.product(b, a) == identity;
        let without = (0..self.order()).find(|&a| !(0..self.order()).any(|b| is_inverse(a, b)));
        without.map_or(Ok(()), |element| Err(Axiom::Inverse { element }))
    }

    /// Light's test, of a table with identity and inverses. Returns elements which generate it.
    ///
    /// The b with (a·b)·c = a·(b·c) for all a and c are closed under products,
    ///
    /// > (a·(b·d))·c = ((a·b)·d)·c = (a·b)·(d·c) = a·(b·(d·c)) = a·((b·d)·c),
    ///
    /// so generators alone need the test. Each takes it before it generates anything: what is generated is then a group,
    /// which the next generator makes at least twice as large, and there are no more than log₂ n.
    fn associative(&self, identity: usize) -> Result<Vec<usize>, Axiom> {
        let mut generators = Vec::new();
        let mut generated = self.generated(identity, &generators);
        while let Some(b) = generated.iter().position(|&reached| !reached) {
            self.associates(b)?;
            generators.push(b);
            generated = self.generated(identity, &generators);
        }
        Ok(generators)
    }

    /// (a·b)·c = a·(b·c) for all a and c.
    fn associates(&self, b: usize) -> Result<(), Axiom> {
        for (a, row) in self.rows().enumerate() {
            let of_product = self.row(row[b].into()).iter();
            let of_factors = self.row(b).iter().map(|&bc| row[usize::from(bc)]);
            if let Some(c) = of_product.zip(of_factors).position(|(&x, y)| x != y) {
                return Err(Axiom::Associativity { a, b, c });
            }
        }
        Ok(())
    }

    /// Which elements are products of `generators`, all of which associate.
    fn generated(&self, identity: usize, generators: &[usize]) -> Vec<bool> {
        let mut reached = vec![false; self.order()];
        reached[identity] = true;
        let mut frontier = vec![identity];
        while let Some(a) = frontier.pop() {
            for &b in generators {
                let product = self.product(a, b);
                if !std::mem::replace(&mut reached[product], true) {
                    frontier.push(product);
                }
            }
        }
        reached
    }

    /// A group commutes where its generators do.
    fn commutative(&self, generators: &[usize]) -> Result<(), Axiom> {
        for &b in generators {
            for &a in generators.iter().take_while(|&&a| a != b) {
                if self.product(a, b) != self.product(b, a) {
                    return Err(Axiom::Commutativity { a, b });
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for Axiom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Axiom::Closure { a, b, product } => {
                write!(f, "not closed: {a}·{b} = {product} is not an element")
            }
            Axiom::Identity {
                nearest,
                a,
                product,
            } => write!(
                f,
                "no identity: the nearest to one, {nearest}, takes {a} to {product}"
            ),
            Axiom::Inverse { element } => write!(f, "no inverse of {element}"),
            Axiom::Associativity { a, b, c } => {
                write!(f, "not associative: ({a}·{b})·{c} is not {a}·({b}·{c})")
            }
            Axiom::Commutativity { a, b } => {
                write!(f, "a group that does not commute: {a}·{b} is not {b}·{a}")
            }
        }
    }
}

impl std::error::Error for Axiom {}

#[cfg(test)]
mod tests {
    use super::super::samples::{group, groups, permutations_of_three, relabelled, table};
    use super::*;
    use proptest::prelude::*;

    /// Whether the table breaks the axiom as it says, and none of those before it.
    fn is_true(table: &Cayley, axiom: Axiom) -> bool {
        let (n, p) = (table.order(), |a, b| table.product(a, b));
        let mut products = table.rows().flatten();
        let closed = products.all(|&product| usize::from(product) < n);
        let keeps = |e, a| p(e, a) == a && p(a, e) == a;
        let identity = (0..n).find(|&e| (0..n).all(|a| keeps(e, a)));
        let has_inverse = |a| (0..n).any(|b| Some(p(a, b)) == identity && p(a, b) == p(b, a));
        let inverses = || (0..n).all(has_inverse);
        let associates = |a, b, c| p(p(a, b), c) == p(a, p(b, c));
        match axiom {
            Axiom::Closure { a, b, product } => p(a, b) == product && product >= n,
            Axiom::Identity {
                nearest: e,
                a,
                product,
            } => {
                let moved = if p(e, a) == a { p(a, e) } else { p(e, a) };
                closed && identity.is_none() && product == moved && product != a
            }
            Axiom::Inverse { element } => closed && identity.is_some() && !has_inverse(element),
            Axiom::Associativity { a, b, c } => closed && inverses() && !associates(a, b, c),
            Axiom::Commutativity { a, b } => {
                let all = |a, b| (0..n).all(|c| associates(a, b, c));
                let associative = (0..n).all(|a| (0..n).all(|b| all(a, b)));
                closed && inverses() && associative && p(a, b) != p(b, a)
            }
        }
    }

    fn refusal(table: &Cayley) -> Axiom {
        let axiom = table.group().unwrap_err();
        assert!(is_true(table, axiom), "{axiom}");
        axiom
    }

    proptest! {
        #[test]
        fn a_group_passes_in_any_numbering(table in groups().prop_flat_map(|group| relabelled(&group))) {
            let identity = table.group().unwrap();
            prop_assert!((0..table.order()).all(|a| table.product(identity, a) == a));
        }

        #[test]
        fn one_wrong_product_is_always_found(
            table in groups().prop_flat_map(|group| relabelled(&group)),
            cell: prop::sample::Index,
            by in 1_u16..=343,
        ) {
            let mut products: Vec<u16> = table.rows().flatten().copied().collect();
            let product = cell.get_mut(&mut products);
            // One more than the order: a product outside is among those tried.
            let wrong = (*product + by) % (table.order() as u16 + 1);
            prop_assume!(wrong != *product);
            *product = wrong;
            let table = Cayley::new(table.order(), products).unwrap();
            let axiom = table.group().unwrap_err();
            prop_assert!(is_true(&table, axiom), "{}", axiom);
        }

        #[test]
        fn a_random_table_is_refused_for_a_true_reason(order in 1_usize..=6, cells in prop::collection::vec(0_u16..8, 36)) {
            let table = Cayley::new(order, cells[..order * order].to_vec()).unwrap();
            if let Err(axiom) = table.group() {
                prop_assert!(is_true(&table, axiom), "{}", axiom);
            }
        }
    }

    /// With the identity at 0, Z4 may be numbered in 3!/2 ways and Z2xZ2 in one.
    #[test]
    fn of_all_tables_of_four_elements_the_groups_alone_pass() {
        let mut groups = 0;
        for code in 0_u32..1 << 18 {
            let product = |a: u32, b: u32| match (a, b) {
                (0, other) | (other, 0) => other,
                _ => code >> (2 * (3 * (a - 1) + b - 1)) & 3,
            };
            let products = (0..16).map(|cell| product(cell / 4, cell % 4) as u16);
            let table = Cayley::new(4, products.collect()).unwrap();
            match table.group() {
                Ok(identity) => {
                    assert_eq!(identity, 0);
                    groups += 1;
                }
                Err(axiom) => assert!(is_true(&table, axiom), "{table:?}: {axiom}"),
            }
        }
        assert_eq!(groups, 4);
    }

    #[test]
    fn each_axiom_is_named_where_it_fails() {
        let outside = table(&[&[0, 1], &[1, 2]]);
        let (a, b, product) = (1, 1, 2);
        assert_eq!(refusal(&outside), Axiom::Closure { a, b, product });

        // a − b modulo 3 and b − a: 0 leaves all alone on one side only.
        let (nearest, a, product) = (0, 1, 2);
        let one_sided = Axiom::Identity {
            nearest,
            a,
            product,
        };
        let from_left = table(&[&[0, 2, 1], &[1, 0, 2], &[2, 1, 0]]);
        let from_right = table(&[&[0, 1, 2], &[2, 0, 1], &[1, 2, 0]]);
        assert_eq!(refusal(&from_left), one_sided);
        assert_eq!(refusal(&from_right), one_sided);

        let multiplication = table(&[&[0, 0, 0], &[0, 1, 2], &[0, 2, 1]]);
        assert_eq!(refusal(&multiplication), Axiom::Inverse { element: 0 });

        let five = loop_of_five();
        assert!(matches!(refusal(&five), Axiom::Associativity { .. }));
    }

    /// Every element its own inverse, every row and column each element once: but five is odd.
    fn loop_of_five() -> Cayley {
        table(&[
            &[0, 1, 2, 3, 4],
            &[1, 0, 3, 4, 2],
            &[2, 4, 0, 1, 3],
            &[3, 2, 4, 0, 1],
            &[4, 3, 1, 2, 0],
        ])
    }

    #[test]
    fn of_equally_near_elements_the_lowest_is_named() {
        let (nearest, a, product) = (0, 1, 0);
        let constant = table(&[&[0, 0], &[0, 0]]);
        let identity = Axiom::Identity {
            nearest,
            a,
            product,
        };
        assert_eq!(refusal(&constant), identity);
    }

    /// The first generators, 1 and 2, associate with all.
    #[test]
    fn a_fault_of_the_last_generator_is_found() {
        let (four, five) = (Cayley::of(&group("Z2xZ2")), loop_of_five());
        let product =
            |a: usize, b: usize| four.product(a % 4, b % 4) + 4 * five.product(a / 4, b / 4);
        let products = (0..400).map(|cell| product(cell / 20, cell % 20) as u16);
        let table = Cayley::new(20, products.collect()).unwrap();
        assert!(matches!(refusal(&table), Axiom::Associativity { b: 4, .. }));
    }

    #[test]
    fn groups_that_do_not_commute_are_told_from_tables_that_are_none() {
        // 1, −1, i, −i, j, −j, k, −k.
        let quaternions = table(&[
            &[0, 1, 2, 3, 4, 5, 6, 7],
            &[1, 0, 3, 2, 5, 4, 7, 6],
            &[2, 3, 1, 0, 6, 7, 5, 4],
            &[3, 2, 0, 1, 7, 6, 4, 5],
            &[4, 5, 7, 6, 1, 0, 2, 3],
            &[5, 4, 6, 7, 0, 1, 3, 2],
            &[6, 7, 4, 5, 3, 2, 1, 0],
            &[7, 6, 5, 4, 2, 3, 0, 1],
        ]);
        for table in [permutations_of_three(), quaternions] {
            assert!(matches!(refusal(&table), Axiom::Commutativity { .. }));
        }
    }

    #[test]
    fn an_axiom_is_one_line_and_one_record() {
        let (a, b, c) = (1, 2, 3);
        let axiom = Axiom::Associativity { a, b, c };
        assert_eq!(axiom.to_string(), "not associative: (1·2)·3 is not 1·(2·3)");
        let record = serde_json::to_string(&axiom).unwrap();
        assert_eq!(record, r#"{"axiom":"associativity","a":1,"b":2,"c":3}"#);
    }
}
