//! Groups by their names, and names by proof: a table is called D4 where an isomorphism to D4's table was found.
//!
//! | written | elements | what it is |
//! | --- | --- | --- |
//! | Zn | n | rotations of a cycle |
//! | Dn | 2n | rotations and mirrors of a polygon of n corners |
//! | Dicn, Q8 = Dic2, Q16 = Dic4 | 4n | the dicyclic, or binary dihedral, group |
//! | Sn, An | n!, n!/2 | all, and all even, permutations of n things; T = A4, O = S4, I = A5 are rotations of solids |
//! | SL(2,3) | 24 | the binary tetrahedral group |
//! | SD16 | 16 | the semidihedral group, and with other powers of two |
//! | Z7⋊Z3, Z8⋊5Z2 | mn | pairs with (a,b)(c,d) = (a + kᵇc, b + d); the k of largest order where none is written; `:` for ⋊ |
//! | He3 | p³ | upper triangular matrices modulo p |
//! | (Z4xZ2)⋊Z2, Z4∘D4, (Z3xZ3)⋊Z2, Z3⋊D4 | | what else there is up to 31 elements |
//! | S3xZ4 | | products |

use super::{Action, Cayley, Factors, Permutation, any_isomorphism, of_order};
use crate::data::group::Group;
use crate::{Error, Result};

/// A group is written with no more elements than this.
const MOST: usize = 1024;

/// What a group is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupName {
    /// Its usual name; "a group of order 32" where the library has none.
    pub name: String,
    /// Other names of the same group.
    pub aliases: Vec<String>,
    /// Whether it has a name: an isomorphism to the group of that name was found.
    pub proven: bool,
}

/// The Cayley table of the group of this name.
///
/// ```
/// use bispectral_learn::group::group_table;
///
/// assert_eq!(group_table("D4")?.order(), 8);
/// assert_eq!(group_table("A5")?.order(), 60);
/// assert_eq!(group_table("Z7:Z3")?.order(), 21);
/// assert!(group_table("E8").is_err());
/// # Ok::<(), bispectral_learn::Error>(())
/// ```
///
/// # Errors
/// One line: what is written is no name of a group, or one of too many elements.
pub fn group_table(name: &str) -> Result<Cayley> {
    let text = name.trim().replace('×', "x").replace(':', "⋊");
    let factors = split_factors(&text);
    let mut table: Option<Cayley> = None;
    for factor in factors {
        let next = atom(factor.trim()).ok_or_else(|| unknown(name))?;
        let order = next.order() * table.as_ref().map_or(1, Cayley::order);
        if order > MOST {
            return Err(too_large(name));
        }
        table = Some(match table {
            None => next,
            Some(table) => direct(&table, &next),
        });
    }
    table.ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> Error {
    let beginning: String = name.chars().take(20).collect();
    Error::new(
        "group",
        format!(
            "\"{beginning}\" is no group that is known by name, or has more than {MOST} elements"
        ),
        "write one such as Z8, D4, S4, A5, Q8, Dic3, SL(2,3), Z7⋊Z3, or a product of them such as Z4xZ2",
    )
}

fn too_large(name: &str) -> Error {
    let beginning: String = name.chars().take(20).collect();
    Error::new(
        "group",
        format!("{beginning} has more than {MOST} elements"),
        "take a smaller one",
    )
}

/// At every x outside of parentheses.
fn split_factors(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_i32, 0, Vec::new());
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            'x' | 'X' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn number(digits: &str) -> Option<usize> {
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| is_number)?;
    (1..=MOST).contains(&number).then_some(number)
}

fn atom(text: &str) -> Option<Cayley> {
    let compact: String = text
        .chars()
        .filter(|letter| !letter.is_whitespace())
        .collect();
    let text = compact.to_uppercase();
    match &*text {
        "T" => return even_permutations(4),
        "O" => return all_permutations(4),
        "I" => return even_permutations(5),
        "V4" => return Some(direct(&cyclic(2), &cyclic(2))),
        "SL(2,3)" => return Some(special_linear()),
        "(Z4XZ2)⋊Z2" => return Some(sheared()),
        "Z4∘D4" => return Some(pauli()),
        "(Z3XZ3)⋊Z2" => return Some(inverted_square()),
        "Z3⋊D4" => return Some(three_by_square()),
        "(Z3XZ3)⋊Z4" => return Some(quarter_turned_square()),
        _ => {}
    }
    if let Some((base, top)) = text.split_once('⋊') {
        let m = number(base.strip_prefix('Z')?)?;
        let (k, n) = top.split_once('Z')?;
        let n = number(n)?;
        if m * n > MOST {
            return None;
        }
        let k = if k.is_empty() {
            multipliers(m, n).into_iter().next()?
        } else {
            number(k).filter(|&k| power(k, n, m) == 1 % m)?
        };
        return Some(metacyclic(m, k, n));
    }
    let prefixed = |prefix: &str| text.strip_prefix(prefix).and_then(number);
    if let Some(n) = prefixed("DIC") {
        return (n >= 2 && 4 * n <= MOST).then(|| dicyclic(n));
    }
    if let Some(n) = prefixed("SD") {
        return (n.is_power_of_two() && n >= 16).then(|| metacyclic(n / 2, n / 4 - 1, 2));
    }
    if let Some(p) = prefixed("HE") {
        return matches!(p, 2 | 3 | 5 | 7).then(|| heisenberg(p));
    }
    if let Some(n) = prefixed("Z").or_else(|| prefixed("C")) {
        return Some(cyclic(n));
    }
    if let Some(n) = prefixed("D") {
        return (2 * n <= MOST).then(|| match n {
            1 => cyclic(2),
            n => metacyclic(n, n - 1, 2),
        });
    }
    if let Some(n) = prefixed("Q") {
        return (n.is_power_of_two() && n >= 8).then(|| dicyclic(n / 4));
    }
    if let Some(n) = prefixed("F") {
        // Frobenius groups Z_p ⋊ Z_q of order pq, p the larger.
        let p = (2..n)
            .rev()
            .find(|p| n.is_multiple_of(*p) && is_prime(*p))?;
        let k = multipliers(p, n / p).into_iter().next()?;
        return (order_modulo(k, p) == n / p).then(|| metacyclic(p, k, n / p));
    }
    if let Some(n) = prefixed("S") {
        return all_permutations(n);
    }
    even_permutations(prefixed("A")?)
}

fn table_of(order: usize, product: impl Fn(usize, usize) -> usize) -> Cayley {
    let cells = (0..order).flat_map(|a| (0..order).map(move |b| (a, b)));
    let products = cells.map(|(a, b)| product(a, b) as u16).collect();
    Cayley::new(order, products).expect("no more elements than a table may have")
}

fn cyclic(n: usize) -> Cayley {
    table_of(n, |a, b| (a + b) % n)
}

/// (a, b)·(c, d) = (a·c, b·d).
fn direct(left: &Cayley, right: &Cayley) -> Cayley {
    let n = right.order();
    table_of(left.order() * n, |a, b| {
        left.product(a / n, b / n) * n + right.product(a % n, b % n)
    })
}

/// (h, i)·(g, j) = (h·αⁱ(g), i + j), with the automorphism α of `group` of an order that divides n.
fn by_cyclic(group: &Cayley, n: usize, automorphism: impl Fn(usize) -> usize) -> Cayley {
    let identity: Vec<usize> = (0..group.order()).collect();
    let powers: Vec<Vec<usize>> = std::iter::successors(Some(identity), |power| {
        Some(power.iter().map(|&x| automorphism(x)).collect())
    })
    .take(n)
    .collect();
    table_of(group.order() * n, |a, b| {
        let moved = powers[a % n][b / n];
        group.product(a / n, moved) * n + (a % n + b % n) % n
    })
}

fn metacyclic(m: usize, k: usize, n: usize) -> Cayley {
    by_cyclic(&cyclic(m), n, |a| a * k % m)
}

/// aⁱxʲ with x² = aⁿ and x a = a⁻¹ x.
fn dicyclic(n: usize) -> Cayley {
    let m = 2 * n;
    table_of(2 * m, |a, b| {
        let ((i, j), (k, l)) = ((a / 2, a % 2), (b / 2, b % 2));
        let power = if j == 0 { i + k } else { i + m - k };
        let power = power + if j + l == 2 { n } else { 0 };
        power % m * 2 + (j + l) % 2
    })
}

fn heisenberg(p: usize) -> Cayley {
    table_of(p * p * p, |a, b| {
        let parts = |a: usize| [a / (p * p), a / p % p, a % p];
        let ([a, b, c], [d, e, f]) = (parts(a), parts(b));
        ((a + d) % p * p + (b + e) % p) * p + (c + f + a * e) % p
    })
}

/// α(a, b) = (a, a + b).
fn sheared() -> Cayley {
    by_cyclic(&direct(&cyclic(4), &cyclic(2)), 2, |x| {
        x / 2 * 2 + (x / 2 + x % 2) % 2
    })
}

fn inverted_square() -> Cayley {
    by_cyclic(&direct(&cyclic(3), &cyclic(3)), 2, |x| {
        (3 - x / 3) % 3 * 3 + (3 - x % 3) % 3
    })
}

fn quarter_turned_square() -> Cayley {
    by_cyclic(&direct(&cyclic(3), &cyclic(3)), 4, |x| {
        (3 - x % 3) % 3 * 3 + x / 3
    })
}

/// α(c, u, v) = (−c, v, u).
fn three_by_square() -> Cayley {
    let plane = direct(&cyclic(2), &cyclic(2));
    by_cyclic(&direct(&cyclic(3), &plane), 2, |x| {
        let (c, u, v) = (x / 4, x / 2 % 2, x % 2);
        (3 - c) % 3 * 4 + v * 2 + u
    })
}

/// The matrices that `generators` make modulo p, by how they permute the vectors that are not zero.
fn matrices(p: usize, generators: &[[usize; 4]]) -> Cayley {
    let vectors: Vec<(usize, usize)> = (1..p * p).map(|x| (x / p, x % p)).collect();
    let permutation = |[a, b, c, d]: [usize; 4]| {
        let image = |&(x, y): &(usize, usize)| {
            let moved = ((a * x + b * y) % p, (c * x + d * y) % p);
            (moved.0 * p + moved.1 - 1) as u16
        };
        Permutation::new(vectors.iter().map(image).collect()).expect("the matrix is regular")
    };
    let generators: Vec<Permutation> = generators.iter().copied().map(permutation).collect();
    let action = Action::generated(&generators, MOST).expect("few matrices");
    action.table()
}

fn special_linear() -> Cayley {
    matrices(3, &[[1, 1, 0, 1], [1, 0, 1, 1]])
}

fn pauli() -> Cayley {
    matrices(5, &[[0, 1, 1, 0], [1, 0, 0, 4], [2, 0, 0, 2]])
}

fn all_permutations(n: usize) -> Option<Cayley> {
    match n {
        1 => Some(cyclic(1)),
        2 => Some(cyclic(2)),
        3..=6 => {
            let shift = (0..n as u16).map(|k| (k + 1) % n as u16).collect();
            let swap = [1, 0].into_iter().chain(2..n as u16).collect();
            of_permutations([shift, swap])
        }
        _ => None,
    }
}

fn even_permutations(n: usize) -> Option<Cayley> {
    match n {
        1 | 2 => Some(cyclic(1)),
        3 => Some(cyclic(3)),
        4..=6 => {
            let three = [1, 2, 0].into_iter().chain(3..n as u16).collect();
            // An even cycle: of all where n is odd, of all but the first where it is even.
            let from = u16::from(n.is_multiple_of(2));
            let cycle = (0..n as u16).map(|k| match k {
                k if k < from => k,
                k if usize::from(k) + 1 == n => from,
                k => k + 1,
            });
            of_permutations([three, cycle.collect()])
        }
        _ => None,
    }
}

fn of_permutations(generators: [Vec<u16>; 2]) -> Option<Cayley> {
    let generators: Option<Vec<Permutation>> =
        generators.into_iter().map(Permutation::new).collect();
    Some(Action::generated(&generators?, MOST)?.table())
}

fn power(k: usize, n: usize, m: usize) -> usize {
    (0..n).fold(1 % m, |power, _| power * k % m)
}

fn order_modulo(k: usize, m: usize) -> usize {
    (1..=m).find(|&n| power(k, n, m) == 1 % m).unwrap_or(0)
}

fn is_prime(n: usize) -> bool {
    n >= 2
        && (2..)
            .take_while(|d| d * d <= n)
            .all(|d| !n.is_multiple_of(d))
}

/// The k with kⁿ = 1 modulo m but k ≠ 1, those of the largest order first, then the smallest.
fn multipliers(m: usize, n: usize) -> Vec<usize> {
    let mut found: Vec<usize> = (2..m).filter(|&k| power(k, n, m) == 1).collect();
    found.sort_by_key(|&k| (std::cmp::Reverse(order_modulo(k, m)), k));
    found
}

/// Names of groups with this many elements that do not commute, the most usual first; several may be one group.
#[must_use]
pub fn names_of_order(order: usize) -> Vec<String> {
    let mut names = atoms(order);
    let divisors = (6..order).filter(|d| order.is_multiple_of(*d)).rev();
    for divisor in divisors {
        let rest = order / divisor;
        for atom in atoms(divisor) {
            names.extend(of_order(rest).iter().map(|group| format!("{atom}x{group}")));
            names.extend(atoms(rest).iter().map(|other| format!("{atom}x{other}")));
        }
    }
    names.extend(semidirect(order));
    for divisor in (6..order).filter(|d| order.is_multiple_of(*d)).rev() {
        for product in semidirect(divisor) {
            let groups = of_order(order / divisor);
            names.extend(groups.iter().map(|group| format!("{product}x{group}")));
        }
    }
    names
}

/// Those with names of their own.
fn atoms(order: usize) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let special: &[&str] = match order {
        6 => &["S3"],
        12 => &["A4"],
        24 => &["S4", "SL(2,3)"],
        27 => &["He3"],
        60 => &["A5"],
        120 => &["S5"],
        125 => &["He5"],
        343 => &["He7"],
        360 => &["A6"],
        720 => &["S6"],
        8 => &["Q8"],
        _ => &[],
    };
    names.extend(special.iter().map(|name| (*name).to_owned()));
    if order.is_multiple_of(2) && order >= 6 {
        names.push(format!("D{}", order / 2));
    }
    if order.is_multiple_of(4) && order >= 8 {
        names.push(format!("Dic{}", order / 4));
    }
    if order.is_power_of_two() && order >= 16 {
        names.push(format!("SD{order}"));
        names.push(format!("Q{order}"));
    }
    names
}

fn semidirect(order: usize) -> Vec<String> {
    let mut names = Vec::new();
    for n in (2..order).filter(|n| order.is_multiple_of(*n)) {
        let m = order / n;
        for (place, k) in multipliers(m, n).into_iter().enumerate() {
            let k = if place == 0 {
                String::new()
            } else {
                k.to_string()
            };
            names.push(format!("Z{m}⋊{k}Z{n}"));
        }
    }
    let special: &[&str] = match order {
        16 => &["(Z4xZ2)⋊Z2", "Z4∘D4"],
        18 => &["(Z3xZ3)⋊Z2"],
        24 => &["Z3⋊D4"],
        36 => &["(Z3xZ3)⋊Z4"],
        _ => &[],
    };
    names.extend(special.iter().map(|name| (*name).to_owned()));
    names
}

/// Whether two tables are of one group: by their invariant factors where they commute, else by an isomorphism.
///
/// ```
/// use bispectral_learn::group::{group_table, is_same_group};
///
/// assert!(is_same_group(&group_table("S4")?, &group_table("O")?));
/// assert!(!is_same_group(&group_table("D4")?, &group_table("Q8")?));
/// assert!(is_same_group(&group_table("Z6")?, &group_table("Z2xZ3")?));
/// # Ok::<(), bispectral_learn::Error>(())
/// ```
#[must_use]
pub fn is_same_group(a: &Cayley, b: &Cayley) -> bool {
    match (Factors::of(a), Factors::of(b)) {
        (Ok(a), Ok(b)) => a.group() == b.group(),
        (Err(_), Err(_)) => any_isomorphism(a, b).is_some(),
        _ => false,
    }
}

/// What the group of this table is called. Commutative groups are named by their invariant factors.
///
/// ```
/// use bispectral_learn::group::{group_name, group_table};
///
/// let found = group_name(&group_table("S3xZ2")?);
/// assert_eq!((&*found.name, found.proven), ("D6", true));
/// # Ok::<(), bispectral_learn::Error>(())
/// ```
#[must_use]
pub fn group_name(table: &Cayley) -> GroupName {
    if let Ok(factors) = Factors::of(table) {
        return GroupName {
            name: factors.group().to_string(),
            aliases: Vec::new(),
            proven: true,
        };
    }
    let candidates = (table.order() <= MOST).then(|| names_of_order(table.order()));
    let mut candidates = candidates.into_iter().flatten();
    let is_named = |name: &String| {
        let named = group_table(name);
        named.is_ok_and(|named| any_isomorphism(table, &named).is_some())
    };
    let Some(name) = candidates.find(is_named) else {
        return GroupName {
            name: format!("a group of order {}", table.order()),
            aliases: Vec::new(),
            proven: false,
        };
    };
    let usual: &[&str] = match &*name {
        "S3" => &["D3"],
        "S4" => &["O"],
        "A4" => &["T"],
        "A5" => &["I"],
        "Q8" => &["Dic2"],
        _ => &[],
    };
    let mut aliases: Vec<String> = usual.iter().map(|alias| (*alias).to_owned()).collect();
    if let Some(n) = name.strip_prefix("Dic").and_then(number) {
        aliases.extend(n.is_power_of_two().then(|| format!("Q{}", 4 * n)));
    }
    if let Some(n) = name.strip_prefix('D').and_then(number)
        && n % 4 == 2
    {
        let half = if n == 6 {
            "S3".into()
        } else {
            format!("D{}", n / 2)
        };
        aliases.push(format!("{half}xZ2"));
    }
    GroupName {
        name,
        aliases,
        proven: true,
    }
}

/// One name for every group with `order` elements that the library can construct, commutative ones first.
#[must_use]
pub fn groups_of_order(order: usize) -> Vec<String> {
    let mut names: Vec<String> = of_order(order).iter().map(Group::to_string).collect();
    let mut tables: Vec<Cayley> = Vec::new();
    for name in names_of_order(order) {
        let Ok(table) = group_table(&name) else {
            continue;
        };
        if table.group().is_ok()
            || tables
                .iter()
                .any(|known| any_isomorphism(known, &table).is_some())
        {
            continue;
        }
        tables.push(table);
        names.push(name);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The number of groups of each order, from 1 to 31 (OEIS A000001).
    const GROUPS: [usize; 31] = [
        1, 1, 1, 2, 1, 2, 1, 5, 2, 2, 1, 5, 1, 2, 1, 14, 1, 5, 1, 5, 2, 2, 1, 15, 2, 2, 5, 4, 1, 4,
        1,
    ];

    #[test]
    fn every_group_of_up_to_31_elements_has_one_name() {
        for (order, expected) in (1..).zip(GROUPS) {
            let names = groups_of_order(order);
            assert_eq!(names.len(), expected, "{order}: {names:?}");
            for name in names {
                let table = group_table(&name).unwrap();
                assert!(table.any_group().is_ok(), "{name}");
                assert_eq!(group_name(&table).name, name);
            }
        }
    }

    #[test]
    fn a_group_without_a_name_is_not_given_one() {
        // Z2 wr Z2² has 64 elements and is none of the families.
        let generators = [
            vec![1, 0, 2, 3, 4, 5, 6, 7],
            vec![2, 3, 0, 1, 6, 7, 4, 5],
            vec![4, 5, 6, 7, 0, 1, 2, 3],
        ];
        let generators = generators.map(|images| Permutation::new(images).unwrap());
        let table = Action::generated(&generators, 100).unwrap().table();
        let found = group_name(&table);
        assert_eq!((&*found.name, found.proven), ("a group of order 64", false));
    }

    #[test]
    fn usual_names_are_read() {
        for (name, order) in [
            ("D4", 8),
            ("d4", 8),
            ("A5", 60),
            ("I", 60),
            ("S4", 24),
            ("Q8", 8),
            ("Q16", 16),
            ("Dic6", 24),
            ("SL(2,3)", 24),
            ("Z7⋊Z3", 21),
            ("Z7:Z3", 21),
            ("F20", 20),
            ("Z8⋊5Z2", 16),
            ("He3", 27),
            ("S3xS3", 36),
            ("Z16xZ16", 256),
            ("D8×Z2", 32),
            ("(Z4xZ2)⋊Z2", 16),
            ("V4", 4),
        ] {
            assert_eq!(group_table(name).unwrap().order(), order, "{name}");
        }
        for name in [
            "", "D0", "Z0", "S9", "Z2000", "Z64xZ64", "Q12", "xZ2", "Z4⋊3Z3", "D4x", "(Z2", "⋊",
        ] {
            let line = group_table(name).unwrap_err().to_string();
            assert!(!line.contains('\n'), "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "[zZxXdDsSaAqQ×⋊:0-9()icCeEhH∘ ]{0,16}|.{0,8}") {
            let _ = group_table(&text);
        }
    }
}
