//! A finite group as the permutations it moves inputs by: what some of them generate, its Cayley table, its orbits.

use super::{Cayley, Permutation};
use std::collections::HashMap;

/// A group of permutations of inputs. The first element is the identity.
///
/// ```
/// use bispectral_learn::group::{Action, Permutation};
///
/// let cycle = |images: &[u16]| Permutation::new(images.to_vec()).unwrap();
/// let square = Action::generated(&[cycle(&[1, 2, 3, 0]), cycle(&[1, 0, 3, 2])], 100).unwrap();
/// assert_eq!((square.order(), square.degree()), (8, 4));
/// assert!(!square.is_commutative() && square.orbits().len() == 1);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    degree: usize,
    elements: Vec<Permutation>,
    /// Numbers of elements that generate all.
    generators: Vec<usize>,
}

impl Action {
    /// The group of the identity alone.
    #[must_use]
    pub fn trivial(degree: usize) -> Self {
        Action {
            degree,
            elements: vec![Permutation::identity(degree)],
            generators: Vec::new(),
        }
    }

    /// All products of `generators`, where these are no more than `most`; redundant generators are left out.
    ///
    /// # Panics
    /// There are no generators, or they are of different degrees.
    #[must_use]
    pub fn generated(generators: &[Permutation], most: usize) -> Option<Self> {
        let mut action = Action::trivial(generators[0].degree());
        for generator in generators {
            if !action.contains(generator) {
                action = action.extended(generator, most)?;
            }
        }
        Some(action)
    }

    /// Whether `permutation` is one of the elements.
    #[must_use]
    pub fn contains(&self, permutation: &Permutation) -> bool {
        self.elements.contains(permutation)
    }

    /// What this and another permutation generate, where that has no more than `most` elements: whole cosets gH are added
    /// until multiplication by every generator leads to none that is new (Dimino's algorithm).
    #[must_use]
    pub fn extended(&self, generator: &Permutation, most: usize) -> Option<Self> {
        let mut elements = self.elements.clone();
        let mut known: std::collections::HashSet<Permutation> = elements.iter().cloned().collect();
        let mut generators: Vec<Permutation> = self
            .generators
            .iter()
            .map(|&g| self.elements[g].clone())
            .collect();
        generators.push(generator.clone());
        let subgroup = self.elements.len();
        let mut coset = 0;
        while coset * subgroup < elements.len() {
            for by in &generators {
                let representative = by.after(&elements[coset * subgroup]);
                if known.contains(&representative) {
                    continue;
                }
                if elements.len() + subgroup > most {
                    return None;
                }
                for h in 0..subgroup {
                    let element = representative.after(&elements[h]);
                    known.insert(element.clone());
                    elements.push(element);
                }
            }
            coset += 1;
        }
        let generators = generators
            .iter()
            .map(|generator| elements.iter().position(|element| element == generator))
            .collect::<Option<Vec<usize>>>()?;
        Some(Action {
            degree: self.degree,
            elements,
            generators,
        })
    }

    /// The left regular action of a group: element g moves the input h to g·h. `None` where the table is no group's.
    #[must_use]
    pub fn regular(table: &Cayley) -> Option<Self> {
        let identity = table.any_group().ok()?;
        let row = |g: usize| Permutation::new(table.row(g).to_vec());
        let others = (0..table.order()).filter(|&g| g != identity);
        let elements = std::iter::once(identity)
            .chain(others)
            .map(row)
            .collect::<Option<Vec<_>>>()?;
        Action::generated(&elements, table.order())
    }

    /// How many inputs there are.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// How many elements there are.
    #[must_use]
    pub fn order(&self) -> usize {
        self.elements.len()
    }

    /// Every element, the identity first.
    #[must_use]
    pub fn elements(&self) -> &[Permutation] {
        &self.elements
    }

    /// Numbers of elements that generate all.
    #[must_use]
    pub fn generators(&self) -> &[usize] {
        &self.generators
    }

    /// The products of every two elements: cell (a, b) is the number of a∘b.
    ///
    /// # Panics
    /// There are more elements than a table may have.
    #[must_use]
    pub fn table(&self) -> Cayley {
        let numbers: HashMap<&Permutation, u16> = self.elements.iter().zip(0..).collect();
        let products = self.elements.iter().flat_map(|a| {
            let numbers = &numbers;
            self.elements.iter().map(move |b| numbers[&a.after(b)])
        });
        Cayley::new(self.order(), products.collect()).expect("no more elements than a table has")
    }

    /// Whether every two elements commute.
    #[must_use]
    pub fn is_commutative(&self) -> bool {
        let generators = || self.generators.iter().map(|&g| &self.elements[g]);
        generators().all(|a| generators().all(|b| a.after(b) == b.after(a)))
    }

    /// Whether exactly one element takes each input to each other one.
    #[must_use]
    pub fn is_regular(&self) -> bool {
        self.order() == self.degree && self.orbits().len() == 1
    }

    /// Inputs that are moved to each other, each orbit in ascending order, the one with the lowest input first.
    #[must_use]
    pub fn orbits(&self) -> Vec<Vec<usize>> {
        let mut orbit_of = vec![usize::MAX; self.degree];
        let mut orbits = Vec::new();
        for start in 0..self.degree {
            if orbit_of[start] != usize::MAX {
                continue;
            }
            let mut orbit = vec![start];
            orbit_of[start] = orbits.len();
            let mut next = 0;
            while let Some(&point) = orbit.get(next) {
                for &g in &self.generators {
                    let image = self.elements[g].image(point);
                    if orbit_of[image] == usize::MAX {
                        orbit_of[image] = orbits.len();
                        orbit.push(image);
                    }
                }
                next += 1;
            }
            orbit.sort_unstable();
            orbits.push(orbit);
        }
        orbits
    }

    /// The same group on the inputs of `support` among `inputs` in all; the others stay where they are.
    ///
    /// # Panics
    /// `support` has not one number below `inputs` for every input of this.
    #[must_use]
    pub fn among(&self, support: &[usize], inputs: usize) -> Self {
        let widened = |element: &Permutation| {
            let mut images: Vec<u16> = (0..inputs as u16).collect();
            for (n, &input) in support.iter().enumerate() {
                images[input] = support[element.image(n)] as u16;
            }
            Permutation::new(images).expect("the support is permuted")
        };
        Action {
            degree: inputs,
            elements: self.elements.iter().map(widened).collect(),
            generators: self.generators.clone(),
        }
    }

    /// What the group does on some inputs that it takes to each other: its image there, which has fewer elements where several
    /// do the same. `None` where it takes one of them to another input.
    ///
    /// ```
    /// use bispectral_learn::group::known_action;
    ///
    /// let square = known_action("D4", Some(9))?; // corners, edges and the middle of 3 × 3 pixels
    /// let orders = square.orbits().into_iter().map(|inputs| square.restricted(&inputs).unwrap().order());
    /// assert_eq!(orders.collect::<Vec<_>>(), [8, 8, 1]);
    /// # Ok::<(), bispectral_learn::Error>(())
    /// ```
    #[must_use]
    pub fn restricted(&self, inputs: &[usize]) -> Option<Self> {
        let restricted = |g: &usize| {
            let place = |n: &usize| {
                let image = self.elements[*g].image(*n);
                inputs.iter().position(|m| *m == image).map(|m| m as u16)
            };
            Permutation::new(inputs.iter().map(place).collect::<Option<_>>()?)
        };
        let generators: Vec<Permutation> = self
            .generators
            .iter()
            .map(restricted)
            .collect::<Option<_>>()?;
        if generators.is_empty() {
            return Some(Action::trivial(inputs.len()));
        }
        Action::generated(&generators, self.order())
    }

    /// The canonical form of a signal: of all signals it is moved to, the one that is greatest in the lexicographic order. Two
    /// signals are in one orbit exactly where their canonical forms are equal, also where invariants of low order are equal for
    /// signals of different orbits; but noise may change which member is the greatest.
    ///
    /// ```
    /// use bispectral_learn::group::known_action;
    ///
    /// // Rotations of a tetrahedron, and its mirror image.
    /// let action = known_action("A4", Some(4))?;
    /// let x = [4.0, 3.0, 2.0, 1.0];
    /// let moved = action.elements()[5].moved(&x);
    /// assert_eq!(action.canonical(&moved), action.canonical(&x));
    /// assert_ne!(action.canonical(&[3.0, 4.0, 2.0, 1.0]), action.canonical(&x));
    /// # Ok::<(), bispectral_learn::Error>(())
    /// ```
    ///
    /// # Panics
    /// The signal has not one number an input.
    #[must_use]
    pub fn canonical(&self, x: &[f64]) -> Vec<f64> {
        let after = |a: &[f64], b: &[f64]| {
            let mut pairs = a.iter().zip(b).map(|(a, b)| a.total_cmp(b));
            pairs.find(|order| order.is_ne()) == Some(std::cmp::Ordering::Greater)
        };
        let moved = self.elements.iter().map(|element| element.moved(x));
        moved
            .reduce(|best, moved| if after(&moved, &best) { moved } else { best })
            .unwrap_or_default()
    }

    /// The elements that fix `point`.
    #[must_use]
    pub fn stabiliser(&self, point: usize) -> usize {
        self.elements
            .iter()
            .filter(|g| g.image(point) == point)
            .count()
    }

    /// The subgroup of the elements for which `keep` holds, where these are one.
    #[must_use]
    pub fn subgroup(&self, keep: &[bool]) -> Option<Self> {
        let kept: Vec<Permutation> = (self.elements.iter().zip(keep))
            .filter(|(_, keep)| **keep)
            .map(|(element, _)| element.clone())
            .collect();
        if kept.is_empty() {
            return None;
        }
        let found = Action::generated(&kept, kept.len())?;
        (found.order() == kept.len()).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permutation(images: &[u16]) -> Permutation {
        Permutation::new(images.to_vec()).unwrap()
    }

    #[test]
    fn a_cycle_and_a_transposition_generate_all_permutations() {
        let generators = [permutation(&[1, 2, 3, 4, 0]), permutation(&[1, 0, 2, 3, 4])];
        let all = Action::generated(&generators, 120).unwrap();
        assert_eq!((all.order(), all.generators().len()), (120, 2));
        assert!(all.table().any_group().is_ok() && all.elements()[0].is_identity());
        assert_eq!(Action::generated(&generators, 119), None);
        assert_eq!(all.stabiliser(2), 24);
    }

    #[test]
    fn the_table_multiplies_as_the_permutations_do() {
        let action = Action::generated(
            &[permutation(&[1, 2, 0, 3, 4]), permutation(&[1, 0, 2, 4, 3])],
            60,
        );
        let action = action.unwrap();
        let (table, elements) = (action.table(), action.elements());
        for a in 0..6 {
            for b in 0..6 {
                assert_eq!(
                    elements[table.product(a, b)],
                    elements[a].after(&elements[b])
                );
            }
        }
        assert_eq!(action.orbits(), [vec![0, 1, 2], vec![3, 4]]);
        assert!(!action.is_regular() && !action.is_commutative());
        let wider = action.among(&[1, 2, 3, 5, 6], 8);
        assert_eq!((wider.order(), wider.orbits().len()), (6, 5));
    }

    #[test]
    fn a_part_that_is_not_closed_is_no_subgroup() {
        let action = Action::generated(&[permutation(&[1, 2, 3, 0])], 4).unwrap();
        let only = |kept: &[usize]| {
            let keep: Vec<bool> = (0..4)
                .map(|g| kept.contains(&action.elements()[g].image(0)))
                .collect();
            action.subgroup(&keep).map(|found| found.order())
        };
        assert_eq!(
            [only(&[0]), only(&[0, 2]), only(&[0, 1]), only(&[])],
            [Some(1), Some(2), None, None]
        );
    }
}
