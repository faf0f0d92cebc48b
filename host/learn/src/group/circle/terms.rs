//! Which products are invariants: z̄_a z_b of two planes of one order, which keeps their relative phase, and z_a z_b z̄_c where
//! the orders of a and b add up to that of c.
//!
//! There are thousands, and few are enough: a plane is tied to the strongest of its order, and by those products of three that
//! are largest. What other products add is what these say already, with more of what interpolation disturbs.

use super::planes::Plane;
use std::collections::BTreeSet;

/// How many terms are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// Planes of its own order that a plane is tied to.
    pub copies: usize,
    /// Products of three that a plane is tied by.
    pub links: usize,
}

/// Products of coefficients, by the numbers of planes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// z̄_a z_b with a ≤ b.
    pub pairs: Vec<[usize; 2]>,
    /// z_a z_b z̄_c with a ≤ b.
    pub triples: Vec<[usize; 3]>,
    /// How many products of two and three there are to choose from.
    pub possible: usize,
}

impl Terms {
    /// The terms of planes whose coefficients have these sizes.
    #[must_use]
    pub fn choose(planes: &[Plane], sizes: &[f64], choice: &Choice) -> Self {
        let orders: Vec<usize> = planes.iter().map(|plane| plane.order).collect();
        let mut pairs = BTreeSet::new();
        for k in 0..orders.len() {
            pairs.insert([k, k]);
            let mut copies: Vec<usize> = (0..orders.len())
                .filter(|&a| a != k && orders[a] == orders[k])
                .collect();
            copies.sort_by(|&a, &b| sizes[b].total_cmp(&sizes[a]));
            for &a in copies.iter().take(choice.copies) {
                pairs.insert([a.min(k), a.max(k)]);
            }
        }
        let all = triples(&orders, sizes);
        let mut links = BTreeSet::new();
        for k in 0..orders.len() {
            let own = all.iter().filter(|triple| triple.contains(&k));
            links.extend(own.take(choice.links).copied());
        }
        let copies = |a: usize| {
            orders[a..]
                .iter()
                .filter(|&&order| order == orders[a])
                .count()
        };
        Terms {
            possible: (0..orders.len()).map(copies).sum::<usize>() + all.len(),
            pairs: pairs.into_iter().collect(),
            triples: links.into_iter().collect(),
        }
    }
}

/// All [a, b, c] with a ≤ b whose orders add up, the largest first. Where c is a or b, or all orders are zero, the product tells
/// nothing but sizes, which the pairs tell.
fn triples(orders: &[usize], sizes: &[f64]) -> Vec<[usize; 3]> {
    let count = orders.len();
    let mut found = Vec::new();
    for a in 0..count {
        for b in a..count {
            let order = orders[a] + orders[b];
            let matching = (0..count).filter(|&c| orders[c] == order && order > 0);
            found.extend(matching.filter(|&c| c != a && c != b).map(|c| [a, b, c]));
        }
    }
    let size = |t: &[usize; 3]| t.iter().map(|&k| sizes[k]).product::<f64>();
    found.sort_by(|a, b| size(b).total_cmp(&size(a)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex64;

    fn planes(orders: &[usize]) -> Vec<Plane> {
        let plane = |&order: &usize| Plane {
            order,
            lambda: 0.9,
            row: vec![Complex64::new(1.0, 0.0)],
        };
        orders.iter().map(plane).collect()
    }

    #[test]
    fn orders_add_up_and_every_plane_is_tied() {
        let orders = [0, 0, 1, 1, 2, 3];
        let sizes = [0.3, 0.1, 1.0, 0.5, 0.4, 0.2];
        let choice = Choice {
            links: 1,
            copies: 1,
        };
        let terms = Terms::choose(&planes(&orders), &sizes, &choice);
        // Pairs: 3 + 3 + 1 + 1; triples 1 1 2̄ three times, 1 2 3̄ twice, 0 1 1̄ four times (not of one and the same plane).
        assert_eq!(terms.possible, 8 + 3 + 2 + 4);
        for [a, b] in &terms.pairs {
            assert_eq!(orders[*a], orders[*b]);
        }
        for [a, b, c] in &terms.triples {
            assert_eq!(orders[*a] + orders[*b], orders[*c]);
        }
        for k in 0..orders.len() {
            assert!(terms.pairs.contains(&[k, k]));
            let links = &terms.triples;
            assert!(links.iter().any(|link| link.contains(&k)), "{k}");
        }
        // The largest product: 1 · 1 · 0.4.
        assert!(terms.triples.contains(&[2, 2, 4]));
    }
}
