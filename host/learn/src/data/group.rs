//! Finite commutative groups, each a product of cyclic ones: Z4xZ2 is the pairs (a, b) with a mod 4 and b mod 2.
//!
//! Their characters are χ_k(n) = exp(−2πi Σ_f k_f n_f / |Z_f|): the rows W should find.

use super::angle::cos_sin;
use crate::{Error, Result};
use bispectral_core::format::MAX_DIMENSION;
use ndarray::Array2;
use num_complex::Complex64;
use std::fmt;
use std::str::FromStr;

/// A product of cyclic groups.
///
/// Elements are numbered 0 … order − 1 in row-major order: the last factor's coordinate changes fastest.
///
/// ```
/// use bispectral_learn::data::group::Group;
///
/// let group: Group = "Z4xZ2".parse()?;
/// assert_eq!(group.order(), 8);
/// assert_eq!(group.element(7), [3, 1]);
/// assert_eq!(group.add(7, 3), group.index(&[0, 0]));
/// assert_eq!(group.to_string(), "Z4xZ2");
/// # Ok::<(), bispectral_learn::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Group {
    factors: Vec<usize>,
}

impl Group {
    /// The product of cyclic groups of these orders, in this sequence.
    ///
    /// # Errors
    /// There are none, one is zero, or their product is more than a model's inputs can be.
    pub fn new(factors: impl Into<Vec<usize>>) -> Result<Self> {
        let group = Group {
            factors: factors.into(),
        };
        let refused = |what: &str, remedy: &str| Err(Error::new(group.to_string(), what, remedy));
        if group.factors.is_empty() {
            return refused("a group without factors", "write one such as Z8 or Z4xZ2");
        }
        if group.factors.contains(&0) {
            return refused("Z0 has no elements", "write Z1 or more");
        }
        let order = group
            .factors
            .iter()
            .try_fold(1_usize, |order, &factor| order.checked_mul(factor));
        match order {
            Some(order) if order <= MAX_DIMENSION.into() => Ok(group),
            _ => refused(
                &format!("the group has more than {MAX_DIMENSION} elements"),
                "take a smaller one",
            ),
        }
    }

    /// How many elements there are.
    #[must_use]
    pub fn order(&self) -> usize {
        self.factors.iter().product()
    }

    /// The orders of the cyclic groups it is a product of.
    #[must_use]
    pub fn factors(&self) -> &[usize] {
        &self.factors
    }

    /// The coordinates of the element `index` (modulo the order), one a factor.
    #[must_use]
    pub fn element(&self, mut index: usize) -> Vec<usize> {
        let mut coordinates = vec![0; self.factors.len()];
        for (coordinate, &factor) in coordinates.iter_mut().zip(&self.factors).rev() {
            *coordinate = index % factor;
            index /= factor;
        }
        coordinates
    }

    /// The number of the element at `coordinates`, each taken modulo its factor; those left out are zero.
    #[must_use]
    pub fn index(&self, coordinates: &[usize]) -> usize {
        let coordinates = coordinates.iter().copied().chain(std::iter::repeat(0));
        self.factors
            .iter()
            .zip(coordinates)
            .fold(0, |index, (&factor, coordinate)| {
                index * factor + coordinate % factor
            })
    }

    /// a + b.
    #[must_use]
    pub fn add(&self, a: usize, b: usize) -> usize {
        self.combine(a, b, |a, b, factor| (a + b) % factor)
    }

    /// −a.
    #[must_use]
    pub fn negate(&self, a: usize) -> usize {
        self.combine(a, 0, |a, _, factor| (factor - a) % factor)
    }

    fn combine(&self, a: usize, b: usize, each: impl Fn(usize, usize, usize) -> usize) -> usize {
        let (mut a, mut b, mut result, mut stride) = (a, b, 0, 1);
        for &factor in self.factors.iter().rev() {
            result += stride * each(a % factor, b % factor, factor);
            (a, b, stride) = (a / factor, b / factor, stride * factor);
        }
        result
    }

    /// exp(−2πi t/e) for t below e, the least common multiple of the factors: the values of all characters.
    #[must_use]
    pub fn roots(&self) -> Vec<Complex64> {
        let exponent = self.factors.iter().copied().fold(1, least_common_multiple);
        let root = |part| {
            let (cos, sin) = cos_sin(part, exponent);
            Complex64::new(cos, -sin)
        };
        (0..exponent).map(root).collect()
    }

    /// Every character as a row of unit length: χ_k(n) / √order in row k and column n. 16 · order² bytes.
    ///
    /// The phases are whole multiples of a root of unity, so no rounding of angles enters: each number is within
    /// 3e-16 / √order of the true one, and has the same bits on every host.
    ///
    /// ```
    /// use bispectral_learn::data::group::Group;
    ///
    /// use num_complex::Complex64;
    ///
    /// let characters = "Z4".parse::<Group>()?.characters();
    /// let i = Complex64::I;
    /// assert_eq!(characters.row(1).to_vec(), [0.5 + 0.0 * i, -0.5 * i, -0.5 + 0.0 * i, 0.5 * i]);
    /// # Ok::<(), bispectral_learn::Error>(())
    /// ```
    #[must_use]
    pub fn characters(&self) -> Array2<Complex64> {
        let order = self.order();
        let length = (order as f64).sqrt();
        let roots: Vec<Complex64> = self.roots().iter().map(|root| root / length).collect();
        let exponent = roots.len();
        let elements: Vec<Vec<usize>> = (0..order).map(|index| self.element(index)).collect();
        Array2::from_shape_fn((order, order), |(k, n)| {
            let phase: usize = self
                .factors
                .iter()
                .zip(elements[k].iter().zip(&elements[n]))
                .map(|(&factor, (&k, &n))| k * n % factor * (exponent / factor))
                .sum();
            roots[phase % exponent]
        })
    }
}

fn least_common_multiple(a: usize, b: usize) -> usize {
    let (mut larger, mut divisor) = (a, b);
    while divisor != 0 {
        (larger, divisor) = (divisor, larger % divisor);
    }
    a / larger * b
}

impl FromStr for Group {
    type Err = Error;

    /// Reads `Z8`, `z4xz2` or `Z2×Z2×Z2`.
    fn from_str(text: &str) -> Result<Self> {
        let factors = text
            .trim()
            .split(['x', 'X', '×'])
            .map(|factor| {
                cyclic(factor.trim()).ok_or_else(|| {
                    let beginning: String = text.chars().take(20).collect();
                    Error::new(
                        "group",
                        format!("\"{beginning}\" is not a product of cyclic groups"),
                        "write Z and its order, a product as Z4xZ2",
                    )
                })
            })
            .collect::<Result<Vec<_>>>()?;
        Group::new(factors)
    }
}

/// The order in `Z8`. An order too large for a number is as good as the largest: no group has it.
fn cyclic(text: &str) -> Option<usize> {
    let digits = text.strip_prefix(['z', 'Z'])?;
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(usize::MAX))
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, factor) in self.factors.iter().enumerate() {
            let times = if place == 0 { "" } else { "x" };
            write!(f, "{times}Z{factor}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Groups of up to 4 factors and 6⁴ elements, trivial factors among them.
    fn groups() -> impl Strategy<Value = Group> {
        prop::collection::vec(1_usize..=6, 1..=4).prop_map(|factors| Group::new(factors).unwrap())
    }

    fn with_three_elements() -> impl Strategy<Value = (Group, [usize; 3])> {
        groups().prop_flat_map(|group| {
            let elements = 0..group.order();
            (Just(group), [elements.clone(), elements.clone(), elements])
        })
    }

    proptest! {
        #[test]
        fn addition_is_a_commutative_group((group, [a, b, c]) in with_three_elements()) {
            let add = |a, b| group.add(a, b);
            prop_assert!(add(a, b) < group.order());
            prop_assert_eq!(add(a, b), add(b, a));
            prop_assert_eq!(add(add(a, b), c), add(a, add(b, c)));
            prop_assert_eq!(add(a, 0), a);
            prop_assert_eq!(add(a, group.negate(a)), 0);
        }

        #[test]
        fn elements_are_numbered_with_the_last_factor_fastest((group, [a, b, _]) in with_three_elements()) {
            let (x, y) = (group.element(a), group.element(b));
            prop_assert_eq!(group.index(&x), a);
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
            let sum: Vec<usize> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
            prop_assert_eq!(group.index(&sum), group.add(a, b));
        }

        #[test]
        fn characters_are_multiplicative((group, [k, a, b]) in with_three_elements()) {
            let characters = group.characters();
            let length = (group.order() as f64).sqrt();
            let value = |n| characters[[k, n]] * length;
            // Four roundings of numbers of length one.
            prop_assert!((value(group.add(a, b)) - value(a) * value(b)).norm() < 2e-15);
            prop_assert!((value(group.negate(a)) - value(a).conj()).norm() < 1e-15);
        }

        #[test]
        fn characters_are_orthonormal((group, [j, k, _]) in with_three_elements()) {
            let characters = group.characters();
            let inner: Complex64 = (0..group.order())
                .map(|n| characters[[j, n]] * characters[[k, n]].conj())
                .sum();
            let expected = if j == k { 1.0 } else { 0.0 };
            // A sum of 1,296 numbers of length 1/order, each rounded.
            prop_assert!((inner - expected).norm() < 1e-14, "{} {} {} {}", group, j, k, inner);
        }

        #[test]
        fn a_group_is_read_as_it_is_written(group in groups()) {
            prop_assert_eq!(group.to_string().parse::<Group>().unwrap(), group);
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "[zZxX×0-9 +-]{0,24}|.{0,12}") {
            let _ = text.parse::<Group>();
        }
    }

    #[test]
    fn names_are_read_in_any_case_and_with_either_sign() {
        for (text, factors) in [
            ("Z8", &[8][..]),
            ("z4Xz2", &[4, 2]),
            (" Z2×Z2 x Z2 ", &[2, 2, 2]),
            ("Z1", &[1]),
            ("Z64xZ128", &[64, 128]),
        ] {
            assert_eq!(text.parse::<Group>().unwrap().factors(), factors, "{text}");
        }
    }

    #[test]
    fn what_names_no_group_is_refused_in_one_line() {
        for (text, refusal) in [
            ("", "group: \"\" is not a product of cyclic groups: "),
            ("Z", "group: \"Z\" is not a product of cyclic groups: "),
            ("Z4x", "group: \"Z4x\" is not a product of cyclic groups: "),
            (
                "Z4xD3",
                "group: \"Z4xD3\" is not a product of cyclic groups: ",
            ),
            ("Z+4", "group: \"Z+4\" is not a product of cyclic groups: "),
            (
                "Z4,Z2",
                "group: \"Z4,Z2\" is not a product of cyclic groups: ",
            ),
            ("Z2xZ0", "Z2xZ0: Z0 has no elements: "),
            ("Z1000xZ1000", "Z1000xZ1000: the group has more than "),
            (
                "Z4294967296xZ4294967296",
                "Z4294967296xZ4294967296: the group has more",
            ),
        ] {
            let line = text.parse::<Group>().unwrap_err().to_string();
            assert!(line.starts_with(refusal), "{line}");
            assert!(!line.contains('\n'));
        }
        assert!("Z99999999999999999999999".parse::<Group>().is_err());
        assert!(Group::new([]).is_err());
        let most = usize::from(MAX_DIMENSION);
        assert!(Group::new([most]).is_ok());
        assert!(Group::new([most + 1]).is_err());
    }
}
