//! Permutations of inputs: p moves the value at input n to input p(n), (p·x)(p(n)) = x(n), so that (p∘q)·x = p·(q·x).

use std::fmt;

/// A permutation of 0 … degree − 1.
///
/// ```
/// use bispectral_learn::group::Permutation;
///
/// let shift = Permutation::new(vec![1, 2, 3, 0]).unwrap();
/// assert_eq!(shift.to_string(), "(0 1 2 3)");
/// assert_eq!(shift.moved(&[5.0, 6.0, 7.0, 8.0]), [8.0, 5.0, 6.0, 7.0]);
/// assert_eq!(shift.after(&shift).order(), 2);
/// assert!(Permutation::new(vec![0, 0]).is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Permutation {
    images: Box<[u16]>,
}

impl Permutation {
    /// That which takes n to `images[n]`; `None` where two have one image or one is outside.
    #[must_use]
    pub fn new(images: Vec<u16>) -> Option<Self> {
        let mut reached = vec![false; images.len()];
        let is_permutation = images.iter().all(|&image| {
            let place = reached.get_mut(usize::from(image));
            place.is_some_and(|place| !std::mem::replace(place, true))
        });
        is_permutation.then(|| Permutation {
            images: images.into(),
        })
    }

    /// The one that moves nothing.
    #[must_use]
    pub fn identity(degree: usize) -> Self {
        Permutation {
            images: (0..degree as u16).collect(),
        }
    }

    /// How many things it permutes.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.images.len()
    }

    /// Where each goes.
    #[must_use]
    pub fn images(&self) -> &[u16] {
        &self.images
    }

    /// Where `point` goes.
    ///
    /// # Panics
    /// It is not one of the points.
    #[must_use]
    pub fn image(&self, point: usize) -> usize {
        self.images[point].into()
    }

    /// Whether nothing moves.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        (0..).zip(&self.images).all(|(n, &image)| n == image)
    }

    /// self∘first: what `first` makes, then this.
    ///
    /// # Panics
    /// They are of different degrees.
    #[must_use]
    pub fn after(&self, first: &Self) -> Self {
        let images = first.images.iter();
        Permutation {
            images: images
                .map(|&image| self.images[usize::from(image)])
                .collect(),
        }
    }

    /// That which undoes it.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let mut images = vec![0; self.degree()];
        for (n, &image) in (0..).zip(&self.images) {
            images[usize::from(image)] = n;
        }
        Permutation {
            images: images.into(),
        }
    }

    /// p·x.
    ///
    /// # Panics
    /// `x` has another length.
    #[must_use]
    pub fn moved<T: Copy + Default>(&self, x: &[T]) -> Vec<T> {
        let mut moved = vec![T::default(); x.len()];
        self.write_moved(x, &mut moved);
        moved
    }

    /// Writes p·x to `out`.
    ///
    /// # Panics
    /// `x` or `out` has another length.
    pub fn write_moved<T: Copy>(&self, x: &[T], out: &mut [T]) {
        assert_eq!(x.len(), self.degree());
        for (&x, &image) in x.iter().zip(&self.images) {
            out[usize::from(image)] = x;
        }
    }

    /// The cycles of two points and more, each from its lowest.
    #[must_use]
    pub fn cycles(&self) -> Vec<Vec<usize>> {
        let mut seen = vec![false; self.degree()];
        let mut cycles = Vec::new();
        for start in 0..self.degree() {
            let mut cycle = Vec::new();
            let mut point = start;
            while !std::mem::replace(&mut seen[point], true) {
                cycle.push(point);
                point = self.image(point);
            }
            if cycle.len() > 1 {
                cycles.push(cycle);
            }
        }
        cycles
    }

    /// The least power that moves nothing.
    #[must_use]
    pub fn order(&self) -> usize {
        let divisor = |mut a: usize, mut b: usize| {
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        let lengths = self.cycles().into_iter().map(|cycle| cycle.len());
        lengths.fold(1, |order, length| {
            (order / divisor(order, length)).saturating_mul(length)
        })
    }
}

impl fmt::Display for Permutation {
    /// Cycles: `(0 1 2)(3 4)`; `()` moves nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cycles = self.cycles();
        if cycles.is_empty() {
            return f.write_str("()");
        }
        for cycle in cycles {
            let points: Vec<String> = cycle.iter().map(usize::to_string).collect();
            write!(f, "({})", points.join(" "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn permutations() -> impl Strategy<Value = [Permutation; 2]> {
        (1_u16..20).prop_flat_map(|degree| {
            let one = Just((0..degree).collect::<Vec<u16>>()).prop_shuffle();
            [one.clone(), one].prop_map(|each| each.map(|images| Permutation::new(images).unwrap()))
        })
    }

    proptest! {
        #[test]
        fn moving_by_a_product_is_moving_twice([p, q] in permutations()) {
            let x: Vec<usize> = (0..p.degree()).collect();
            prop_assert_eq!(p.after(&q).moved(&x), p.moved(&q.moved(&x)));
            prop_assert!(p.after(&p.inverse()).is_identity() && p.inverse().after(&p).is_identity());
        }

        #[test]
        fn the_order_is_the_first_power_that_moves_nothing([p, _] in permutations()) {
            let mut power = p.clone();
            for _ in 1..p.order() {
                prop_assert!(!power.is_identity());
                power = power.after(&p);
            }
            prop_assert!(power.is_identity());
        }
    }
}
