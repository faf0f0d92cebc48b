//! Usual actions of groups that have names: on their own elements, corners, pixels, faces, and on several channels of these.

use super::{Action, Permutation, group_name, group_table};
use crate::{Error, Result};

/// The action of the group called `name` on `inputs` inputs; on its own elements where they are left open.
///
/// | group | inputs |
/// | --- | --- |
/// | any | as many as elements: its regular action |
/// | Zn, Dn | n: the corners of a polygon |
/// | Sn, An | n: the things that are permuted |
/// | S4 = O | 6 faces, 8 corners or 12 edges of a cube |
/// | Z4, D4 | k²: quarter turns, and mirrors, of the pixels of a square image |
/// | Z6, D6 | 7, 19, 37, 61 …: the cells of a hexagonal grid |
///
/// A multiple of these is several channels that are moved together, one behind the other.
///
/// ```
/// use bispectral_learn::group::known_action;
///
/// assert_eq!(known_action("D8", None)?.degree(), 16);
/// assert_eq!(known_action("D4", Some(784))?.orbits().len(), 105);
/// assert_eq!(known_action("O", Some(6))?.order(), 24);
/// # Ok::<(), bispectral_learn::Error>(())
/// ```
///
/// # Errors
/// One line: there is no such group, or no such action is known.
pub fn known_action(name: &str, inputs: Option<usize>) -> Result<Action> {
    let table = group_table(name)?;
    let order = table.order();
    let regular = || Action::regular(&table).expect("tables of the library are groups");
    let inputs = inputs.unwrap_or(order);
    if inputs > usize::from(bispectral_core::format::MAX_DIMENSION) {
        return Err(Error::new(
            "group",
            format!("{inputs} inputs"),
            "take fewer",
        ));
    }
    if inputs == order {
        return Ok(regular());
    }
    let usual = group_name(&table).name;
    for channels in (1..=inputs).filter(|channels| inputs.is_multiple_of(*channels)) {
        let each = inputs / channels;
        let action = if each == order {
            Some(regular())
        } else {
            natural(&usual, each).filter(|action| action.order() == order)
        };
        if let Some(action) = action {
            return Ok(repeated(&action, channels));
        }
    }
    Err(Error::new(
        "group",
        format!("no action of {usual} on {inputs} inputs is known"),
        format!("take {order} inputs, its regular action, or learn it from data"),
    ))
}

/// On corners, things, faces, pixels or cells.
fn natural(name: &str, inputs: usize) -> Option<Action> {
    let n = inputs;
    let images = |image: &dyn Fn(usize) -> usize| {
        Permutation::new((0..n).map(|k| image(k) as u16).collect())
    };
    let generated = |generators: &[Option<Permutation>]| {
        let generators: Vec<Permutation> = generators.iter().cloned().collect::<Option<_>>()?;
        Action::generated(&generators, 1024)
    };
    let turn = || images(&|k| (k + 1) % n);
    let mirror = || images(&|k| (n - k) % n);
    let side = n.isqrt();
    let is_square = side * side == n;
    let quarter = || images(&|k| k % side * side + (side - 1 - k / side));
    let transpose = || images(&|k| k % side * side + k / side);
    let polygon = |letter: char| {
        name.strip_prefix(letter)
            .and_then(|n| n.parse::<usize>().ok())
    };
    match name {
        "Z4" if is_square && n > 4 => return generated(&[quarter()]),
        "D4" if is_square && n > 4 => return generated(&[quarter(), transpose()]),
        "Z6" | "D6" if hexagonal_radius(n).is_some() => {
            let radius = hexagonal_radius(n)? as isize;
            let cells = hexagonal(radius);
            let by = |moved: &dyn Fn((isize, isize)) -> (isize, isize)| {
                images(&|k| {
                    cells
                        .iter()
                        .position(|&cell| cell == moved(cells[k]))
                        .unwrap_or(0)
                })
            };
            let sixth = by(&|(q, r)| (-r, q + r));
            let mirror = by(&|(q, r)| (r, q));
            let both = [sixth, mirror];
            return generated(if name == "Z6" { &both[..1] } else { &both });
        }
        "S4" if matches!(n, 6 | 8 | 12) => return Some(cube(n)),
        "S3" if n == 3 => return generated(&[turn(), mirror()]),
        _ => {}
    }
    if polygon('Z') == Some(n) {
        return generated(&[turn()]);
    }
    if polygon('D') == Some(n) {
        return generated(&[turn(), mirror()]);
    }
    if polygon('S') == Some(n) && n >= 2 {
        let swap = images(&|k| if k < 2 { 1 - k } else { k });
        return generated(&[turn(), swap]);
    }
    if polygon('A') == Some(n) && n >= 3 {
        let three = |from: usize| {
            images(&|k| match k {
                k if k == from => from + 1,
                k if k == from + 1 => from + 2,
                k if k == from + 2 => from,
                k => k,
            })
        };
        let generators: Vec<_> = (0..n - 2).map(three).collect();
        return generated(&generators);
    }
    None
}

/// 1 + 3r(r + 1) cells for a radius r of one or more.
fn hexagonal_radius(cells: usize) -> Option<usize> {
    (1..60).find(|r| 1 + 3 * r * (r + 1) == cells)
}

/// Axial coordinates of the cells within `radius`.
fn hexagonal(radius: isize) -> Vec<(isize, isize)> {
    let all = (-radius..=radius).flat_map(|q| (-radius..=radius).map(move |r| (q, r)));
    all.filter(|(q, r)| (q + r).abs() <= radius).collect()
}

/// Rotations of a cube, on its faces, corners or edges.
fn cube(inputs: usize) -> Action {
    let points =
        (-1..=1).flat_map(|x| (-1..=1).flat_map(move |y| (-1..=1).map(move |z| [x, y, z])));
    // The centre of a face has one coordinate that is not zero, that of an edge two, a corner three.
    let coordinates = [6, 12, 8]
        .iter()
        .position(|&n| n == inputs)
        .map_or(3, |at| at + 1);
    let points: Vec<[i32; 3]> = points
        .filter(|point| point.iter().filter(|x| **x != 0).count() == coordinates)
        .collect();
    let by = |moved: fn([i32; 3]) -> [i32; 3]| {
        let image = |point: &[i32; 3]| points.iter().position(|other| *other == moved(*point));
        let images = points.iter().map(|point| image(point).unwrap_or(0) as u16);
        Permutation::new(images.collect()).expect("a cube is turned onto itself")
    };
    let quarter = by(|[x, y, z]| [-y, x, z]);
    let third = by(|[x, y, z]| [y, z, x]);
    Action::generated(&[quarter, third], 24).expect("24 rotations")
}

/// Moved together on several channels.
fn repeated(action: &Action, channels: usize) -> Action {
    let degree = action.degree();
    let generators: Vec<Permutation> = (action.generators().iter())
        .map(|&g| {
            let element = &action.elements()[g];
            let images = (0..channels * degree)
                .map(|k| (k / degree * degree + element.image(k % degree)) as u16);
            Permutation::new(images.collect()).expect("each channel is permuted")
        })
        .collect();
    if generators.is_empty() {
        return Action::trivial(channels * degree);
    }
    Action::generated(&generators, action.order()).expect("as many elements as on one channel")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_actions_are_of_the_group_they_are_called_after() {
        for (name, inputs, orbits) in [
            ("D4", 64, 10),
            ("D4", 4, 1),
            ("D4", 9, 3),
            ("D6", 19, 4),
            ("D6", 7, 2),
            ("D5", 5, 1),
            ("O", 6, 1),
            ("O", 8, 1),
            ("O", 12, 1),
            ("A4", 4, 1),
            ("A5", 5, 1),
            ("S5", 5, 1),
            ("Z4", 16, 4),
            ("Z8", 24, 3),
            ("Q8", 16, 2),
            ("S3", 3, 1),
        ] {
            let action = known_action(name, Some(inputs)).unwrap();
            let wanted = group_name(&group_table(name).unwrap()).name;
            assert_eq!(
                group_name(&action.table()).name,
                wanted,
                "{name} on {inputs}"
            );
            assert_eq!(
                (action.degree(), action.orbits().len()),
                (inputs, orbits),
                "{name} on {inputs}"
            );
        }
        assert!(known_action("Q8", Some(5)).is_err() && known_action("Z4", Some(100_000)).is_err());
    }
}
