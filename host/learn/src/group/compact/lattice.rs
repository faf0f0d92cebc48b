//! The characters of a commutative group, from what couples: each irrep of one or two dimensions is a generator χ, and each form
//! a relation χ_a ± χ_b ± χ_c = 0. The group of characters is what these leave of Zⁿ, which Smith's normal form names.

use super::solve::{Compact, Form, Irrep};
use std::collections::BTreeMap;

/// Zⁿ modulo relations: Z^rank × Z_m1 × Z_m2 × …, each order dividing the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Characters {
    pub(super) rank: usize,
    /// Orders above 1, from the smallest.
    pub(super) orders: Vec<i64>,
    /// Of each irrep: `rank` whole numbers, then one number modulo each order. Up to a change of basis.
    pub(super) of: Vec<Vec<i64>>,
}

/// Relations of all triples that couple, and whether every one is of a commutative group: with a real and an imaginary part.
pub(super) fn characters(compact: &Compact) -> Option<(Characters, bool)> {
    let irreps = &compact.irreps;
    if irreps.iter().any(|irrep| irrep.dimension > 2) {
        return None;
    }
    let mut triples: BTreeMap<&[usize], Vec<&Form>> = BTreeMap::new();
    for form in compact.forms.iter().filter(|form| form.irreps.len() == 3) {
        triples.entry(&form.irreps).or_default().push(form);
    }
    let mut relations = Vec::new();
    for (number, irrep) in irreps.iter().enumerate() {
        let mut relation = vec![0; irreps.len()];
        relation[number] = if irrep.trivial { 1 } else { 2 };
        if irrep.dimension == 1 {
            relations.push(relation);
        }
    }
    // Of copies of a plane that a commutative group turns, two forms stay the same: Re and Im of z̄_a z_b.
    let turned = |(number, irrep): (usize, &Irrep)| {
        irrep.dimension < 2 || irrep.copies.len() < 2 || compact.second_order(number) > 1
    };
    let mut commutative = irreps.iter().enumerate().all(turned);
    for (triple, forms) in triples {
        let planes = triple.iter().filter(|&&k| irreps[k].dimension == 2).count();
        commutative &= planes == 0 || forms.len() >= 2;
        for form in forms {
            let signs = signs(compact, form)?;
            let mut relation = vec![0; irreps.len()];
            for (&irrep, sign) in triple.iter().zip(signs) {
                relation[irrep] += sign;
            }
            relations.push(relation);
        }
    }
    Some((smith(relations, irreps.len()), commutative))
}

/// The signs with which a form couples characters: of Re and Im of z_a z_b^± z_c^± those that hold most of it.
fn signs(compact: &Compact, form: &Form) -> Option<[i64; 3]> {
    let tensor = &compact.couplings.tensors()[form.tensor];
    let plane = |slot: usize| compact.irreps[form.irreps[slot]].dimension == 2;
    let first = (0..3).find(|&slot| plane(slot));
    let mut best = (0.0, None);
    for pattern in 0..8 {
        let sign = |slot: usize| if pattern >> slot & 1 == 0 { 1 } else { -1 };
        let redundant = |slot: usize| (!plane(slot) || first == Some(slot)) && sign(slot) < 0;
        if (0..3).any(redundant) {
            continue;
        }
        // Numbers of Re and Im of the product: each index is 1 or ±i.
        let [mut re, mut im] = [0.0; 2];
        for entry in tensor.entries() {
            let index = entry.index();
            let turns = (0..3).filter(|&slot| plane(slot) && index[slot] == 1);
            let quarter = turns.map(&sign).sum::<i64>().rem_euclid(4);
            match quarter {
                0 => re += entry.value,
                1 => im += entry.value,
                2 => re -= entry.value,
                _ => im -= entry.value,
            }
        }
        let held = re * re + im * im;
        if held > best.0 {
            best = (held, Some([0, 1, 2].map(sign)));
        }
    }
    best.1
}

/// Smith's normal form, with what the columns' generators become.
fn smith(mut rows: Vec<Vec<i64>>, columns: usize) -> Characters {
    // The old generators in the new ones.
    let mut of: Vec<Vec<i64>> = (0..columns)
        .map(|i| (0..columns).map(|j| i64::from(i == j)).collect())
        .collect();
    let mut done = 0;
    while done < columns {
        let nonzero = (done..rows.len())
            .flat_map(|r| (done..columns).map(move |c| (r, c)))
            .filter(|&(r, c)| rows[r][c] != 0)
            .min_by_key(|&(r, c)| rows[r][c].abs());
        let Some((row, column)) = nonzero else { break };
        rows.swap(done, row);
        rows.iter_mut().for_each(|row| row.swap(done, column));
        of.iter_mut().for_each(|of| of.swap(done, column));
        let pivot = rows[done][done];
        let mut clean = true;
        let first = rows[done].clone();
        for row in &mut rows[done + 1..] {
            let times = row[done].div_euclid(pivot);
            let terms = row.iter_mut().zip(&first);
            terms.for_each(|(x, first)| *x -= times * first);
            clean &= row[done] == 0;
        }
        for c in done + 1..columns {
            // With the generator g_done + times · g_c in the place of g_done.
            let times = rows[done][c].div_euclid(pivot);
            rows.iter_mut().for_each(|row| row[c] -= times * row[done]);
            of.iter_mut().for_each(|of| of[c] -= times * of[done]);
            clean &= rows[done][c] == 0;
        }
        if !clean {
            continue;
        }
        let divides = |row: &Vec<i64>| row[done + 1..].iter().all(|x| x % pivot == 0);
        if let Some(other) = rows[done + 1..].iter().position(|row| !divides(row)) {
            let other = rows[done + 1 + other].clone();
            (done..columns).for_each(|c| rows[done][c] += other[c]);
            continue;
        }
        done += 1;
    }
    let order = |k: usize| rows[k][k].abs();
    let torsion: Vec<usize> = (0..done).filter(|&k| order(k) > 1).collect();
    let coordinates = |of: &Vec<i64>| {
        let free = of[done..].iter().copied();
        let bound = torsion.iter().map(|&k| of[k].rem_euclid(order(k)));
        free.chain(bound).collect()
    };
    Characters {
        rank: columns - done,
        orders: torsion.iter().map(|&k| order(k)).collect(),
        of: of.iter().map(coordinates).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_name_the_group_of_characters() {
        let found = |rows: &[&[i64]], columns| {
            let rows = rows.iter().map(|row| row.to_vec()).collect();
            let found = smith(rows, columns);
            (found.rank, found.orders)
        };
        // Orders 1, 2, 3 of SO(2).
        assert_eq!(found(&[&[2, -1, 0], &[1, 1, -1]], 3), (1, vec![]));
        assert_eq!(found(&[&[8]], 1), (0, vec![8]));
        assert_eq!(found(&[&[4, 0], &[0, 2]], 2), (0, vec![2, 4]));
        assert_eq!(found(&[&[2, 0], &[0, 3]], 2), (0, vec![6]));
        assert_eq!(found(&[], 2), (2, vec![]));
        let orders = smith(vec![vec![2, -1, 0], vec![1, 1, -1]], 3).of;
        let first = orders[0][0];
        assert_eq!(first.abs(), 1);
        assert_eq!([orders[1][0], orders[2][0]], [2 * first, 3 * first]);
    }
}
