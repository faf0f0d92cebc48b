//! Cayley tables: the product a·b of every two elements.

use crate::Error;
use crate::data::group::Group;
use bispectral_core::format::MAX_DIMENSION;

/// The products of every two of the elements 0 … order − 1. It need not be a group's.
///
/// ```
/// use bispectral_learn::group::{Axiom, Cayley};
///
/// let table = Cayley::of(&"Z4xZ2".parse()?);
/// assert_eq!(table.product(7, 3), 0);
/// assert_eq!(table.group(), Ok(0));
///
/// let and = Cayley::new(2, vec![0, 0, 0, 1])?;
/// assert_eq!(and.group(), Err(Axiom::Inverse { element: 0 }));
/// # Ok::<(), bispectral_learn::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cayley {
    order: usize,
    products: Vec<u16>,
}

impl Cayley {
    /// The table of a product of cyclic groups, its elements numbered as [`Group`] does (the paper's Algorithm 2).
    #[must_use]
    pub fn of(group: &Group) -> Self {
        let mut table = Cayley {
            order: 1,
            products: vec![0],
        };
        for &factor in group.factors() {
            table = table.times_cyclic(factor as u16);
        }
        table
    }

    /// (a, i)·(b, j) = (a·b, i + j), the second coordinate changing fastest.
    fn times_cyclic(&self, factor: u16) -> Self {
        let order = self.order * usize::from(factor);
        let mut products = Vec::with_capacity(order * order);
        for row in self.rows() {
            for i in 0..factor {
                for &product in row {
                    products.extend((0..factor).map(|j| product * factor + (i + j) % factor));
                }
            }
        }
        Cayley { order, products }
    }

    /// The table whose row a and column b is `products[a * order + b]`; [`group`](Self::group) tells if it is a group's.
    ///
    /// # Errors
    /// `order` is zero or more than a [`Group`] may have, or the number of `products` is not its square.
    pub fn new(order: usize, products: Vec<u16>) -> crate::Result<Self> {
        let refused =
            |what: String, remedy: &str| Err(Error::new("multiplication table", what, remedy));
        if !(1..=usize::from(MAX_DIMENSION)).contains(&order) {
            return refused(
                format!("{order} elements"),
                &format!("give one of 1 to {MAX_DIMENSION}"),
            );
        }
        if products.len() != order * order {
            return refused(
                format!("{} products of {order} elements", products.len()),
                "give every row of it, each with every column",
            );
        }
        Ok(Cayley { order, products })
    }

    /// How many elements there are.
    #[must_use]
    pub fn order(&self) -> usize {
        self.order
    }

    /// a·b.
    ///
    /// # Panics
    /// `a` or `b` is not one of the elements.
    #[must_use]
    pub fn product(&self, a: usize, b: usize) -> usize {
        self.row(a)[b].into()
    }

    /// Every product, row after row.
    #[must_use]
    pub fn products(&self) -> &[u16] {
        &self.products
    }

    /// The products a·b of each a in turn.
    pub fn rows(&self) -> impl Iterator<Item = &[u16]> {
        self.products.chunks_exact(self.order)
    }

    pub(super) fn row(&self, a: usize) -> &[u16] {
        &self.products[a * self.order..][..self.order]
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::groups;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_table_of_a_group_holds_its_sums(group in groups()) {
            let table = Cayley::of(&group);
            for (a, row) in table.rows().enumerate() {
                for (b, &product) in row.iter().enumerate() {
                    prop_assert_eq!(usize::from(product), group.add(a, b));
                }
            }
        }
    }

    #[test]
    fn a_table_of_the_wrong_size_is_refused() {
        for (order, products) in [(0, 0), (2, 3), (2, 5), (1, 0), (8193, 8193 * 8193)] {
            assert!(Cayley::new(order, vec![0; products]).is_err(), "{order}");
        }
        let line = Cayley::new(2, vec![0; 3]).unwrap_err().to_string();
        assert!(line.contains("3 products of 2 elements"), "{line}");
    }
}
