//! How exemplars are moved: cyclic translations, over any finite commutative group, and rotations of images.
//!
//! Translation by g: (g·f)(h) = f(h − g), so that g·(g′·f) = (g + g′)·f.

use super::group::Group;
use super::orbits::OrbitsError;
use super::rotate::{DEGREES, Rotation, disk};
use crate::numeric::random::{Purpose, stream};
use ndarray::{Array2, ArrayView2};
use rand::seq::index;
use std::sync::Arc;

/// The transformation that makes orbits of exemplars.
///
/// ```
/// use bispectral_learn::data::{orbits::Orbits, transform::Transform};
///
/// let images = ndarray::arr2(&[[1.0, 2.0, 3.0, 4.0], [1.0, 0.0, 0.0, 0.0]]);
/// let orbits = Orbits::transformed(images, Transform::Translate2d { height: 2, width: 2 })?;
/// let mut moved = [0.0; 4];
/// orbits.write_member(0, 1, &mut moved); // by no row and one column
/// assert_eq!(moved, [2.0, 1.0, 4.0, 3.0]);
/// # Ok::<(), bispectral_learn::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Transform {
    /// All cyclic shifts of a signal of N values.
    Translate1d,
    /// All cyclic shifts of an image, of its rows and of its columns.
    Translate2d {
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
    },
    /// Rotations of square images by whole degrees, cropped to the disk inside.
    ///
    /// The image is rotated first and then cropped, as in the authors' code: the pixels at the edge of the disk
    /// come from inside the image, whatever the angle.
    Rotate {
        /// Rows, and columns.
        size: usize,
        /// Which part of the 360 whole degrees each exemplar is rotated by.
        fraction: f64,
        /// Each exemplar has angles of its own, drawn from this.
        seed: u64,
    },
    /// All translations of functions on a group.
    Group(Group),
}

type Result<T> = std::result::Result<T, OrbitsError>;

/// How members of an orbit are related.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Motion {
    /// By what nobody has said: the members are given.
    Unknown,
    /// By a finite commutative group that permutes the inputs.
    Translation,
    /// By rotation on a grid of pixels, which interpolation makes only nearly a group.
    Rotation,
}

/// The smallest images whose disk has more than one pixel.
const LEAST_SIZE: usize = 4;

/// A transformation of signals of one length, with what is computed once for all of them.
#[derive(Debug)]
pub(crate) enum Action {
    /// None: the samples are the members.
    Given,
    Translate(Group),
    /// By every whole degree.
    Rotate(Vec<Rotation>),
}

impl Transform {
    /// Prepares for exemplars of `inputs` values.
    pub(crate) fn action(&self, inputs: usize) -> Result<Action> {
        let group =
            |factors: Vec<usize>| Group::new(factors).map_err(|_| OrbitsError::Length { inputs });
        let group = match self {
            Transform::Translate1d => group([inputs].into())?,
            &Transform::Translate2d { height, width } => {
                if height.checked_mul(width) != Some(inputs) {
                    return Err(OrbitsError::NotImages {
                        inputs,
                        height,
                        width,
                    });
                }
                group([height, width].into())?
            }
            &Transform::Rotate { size, .. } => {
                if size.checked_mul(size) != Some(inputs) {
                    return Err(OrbitsError::NotSquare { inputs, size });
                }
                if size < LEAST_SIZE {
                    return Err(OrbitsError::TooSmall { size });
                }
                let rotations = (0..DEGREES).map(|degrees| Rotation::in_disk(size, degrees));
                return Ok(Action::Rotate(rotations.collect()));
            }
            Transform::Group(group) => {
                if group.order() != inputs {
                    let group = group.clone();
                    return Err(OrbitsError::NotOnGroup { inputs, group });
                }
                group.clone()
            }
        };
        Ok(Action::Translate(group))
    }

    /// The elements that each of `count` exemplars is moved by.
    pub(crate) fn elements(&self, action: &Action, count: usize) -> Result<Vec<Arc<[u32]>>> {
        if let Transform::Rotate { fraction, seed, .. } = *self {
            return angles(fraction, seed, count);
        }
        let all = action.translations().unwrap_or(0);
        Ok(vec![(0..all as u32).collect(); count])
    }

    /// Refuses exemplars which the transformation makes constant.
    pub(crate) fn check(&self, exemplars: ArrayView2<'_, f32>) -> Result<()> {
        let Transform::Rotate { size, .. } = *self else {
            return Ok(());
        };
        let disk = disk(size);
        for (row, exemplar) in exemplars.rows().into_iter().enumerate() {
            let mut inside = exemplar
                .iter()
                .zip(&disk)
                .filter_map(|(&value, &inside)| inside.then_some(value));
            let first = inside.next();
            if inside.all(|value| Some(value) == first) {
                let inside_disk = true;
                return Err(OrbitsError::Constant { row, inside_disk });
            }
        }
        Ok(())
    }
}

/// Distinct angles for each exemplar, in ascending order.
fn angles(fraction: f64, seed: u64, count: usize) -> Result<Vec<Arc<[u32]>>> {
    let members = (fraction * DEGREES as f64).round();
    if !(2.0..=DEGREES as f64).contains(&members) {
        let degrees = DEGREES;
        return Err(OrbitsError::Angles { fraction, degrees });
    }
    let mut random = stream(seed, Purpose::Angles);
    let mut draw = || {
        let mut angles = index::sample(&mut random, DEGREES, members as usize).into_vec();
        angles.sort_unstable();
        angles.into_iter().map(|angle| angle as u32).collect()
    };
    Ok((0..count).map(|_| draw()).collect())
}

impl Action {
    /// Writes the member `element` of the orbit of the exemplar `row`; of given samples, the row `element`.
    pub(crate) fn write(&self, samples: &Array2<f32>, row: usize, element: usize, out: &mut [f32]) {
        let row = if matches!(self, Action::Given) {
            element
        } else {
            row
        };
        let row = samples.row(row);
        let exemplar = row.as_slice().expect("rows lie one behind the other");
        match self {
            Action::Given => out.copy_from_slice(exemplar),
            Action::Translate(group) => translate(group.factors(), element, exemplar, out),
            Action::Rotate(rotations) => rotations[element].apply(exemplar, out),
        }
    }

    /// How many elements translate; none where members are not translates.
    pub(crate) fn translations(&self) -> Option<usize> {
        match self {
            Action::Translate(group) => Some(group.order()),
            Action::Given | Action::Rotate(_) => None,
        }
    }
}

/// out(h) = f(h − element), in runs of the last factor: two copies each.
fn translate(factors: &[usize], element: usize, f: &[f32], out: &mut [f32]) {
    let Some((&factor, rest)) = factors.split_first() else {
        out.copy_from_slice(f);
        return;
    };
    let stride = f.len() / factor;
    let by = element / stride * stride;
    if rest.is_empty() {
        let (begin, end) = f.split_at(f.len() - by);
        out[..by].copy_from_slice(end);
        out[by..].copy_from_slice(begin);
        return;
    }
    let blocks = f.chunks_exact(stride).cycle();
    let blocks = blocks.skip(factor - element / stride);
    for (out, f) in out.chunks_exact_mut(stride).zip(blocks) {
        translate(rest, element % stride, f, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::orbits::Orbits;
    use crate::data::orbits::tests::member;
    use ndarray::arr2;

    #[test]
    fn translation_in_two_dimensions_shifts_rows_and_columns() {
        let image: Vec<f32> = (0..12).map(|value| value as f32).collect();
        let images = Array2::from_shape_vec((2, 12), [image.clone(), image].concat()).unwrap();
        let shape = Transform::Translate2d {
            height: 3,
            width: 4,
        };
        let orbits = Orbits::transformed(images, shape).unwrap();
        assert_eq!((orbits.len(), orbits.members(1)), (2, 12));
        for (down, right) in (0..3).flat_map(|down| (0..4).map(move |right| (down, right))) {
            let moved = member(&orbits, 1, 4 * down + right);
            for (row, column) in (0..3).flat_map(|row| (0..4).map(move |column| (row, column))) {
                let from = (row + 3 - down) % 3 * 4 + (column + 4 - right) % 4;
                assert_eq!(moved[4 * row + column], from as f32);
            }
        }
    }

    #[test]
    fn translation_in_one_dimension_is_over_all_of_the_signal() {
        let signals = arr2(&[[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]]);
        let orbits = Orbits::transformed(signals, Transform::Translate1d).unwrap();
        assert_eq!(member(&orbits, 0, 1), [3.0, 1.0, 2.0]);
        assert_eq!(member(&orbits, 1, 2), [1.0, 0.0, 0.0]);
    }

    fn images(count: usize, size: usize) -> Array2<f32> {
        Array2::from_shape_fn((count, size * size), |(row, pixel)| {
            ((31 * pixel + 17 * row) % 53) as f32
        })
    }

    fn rotate(size: usize, fraction: f64, seed: u64) -> Transform {
        Transform::Rotate {
            size,
            fraction,
            seed,
        }
    }

    #[test]
    fn each_exemplar_is_rotated_by_angles_of_its_own() {
        let orbits = Orbits::transformed(images(3, 8), rotate(8, 0.3, 1)).unwrap();
        let angles = |orbits: &Orbits, orbit| -> Vec<usize> {
            (0..orbits.members(orbit))
                .map(|member| orbits.element(orbit, member))
                .collect()
        };
        assert_eq!(orbits.members(0), 108);
        assert!(angles(&orbits, 0).is_sorted_by(|a, b| a < b));
        assert_ne!(angles(&orbits, 0), angles(&orbits, 1));
        let other = Orbits::transformed(images(3, 8), rotate(8, 0.3, 2)).unwrap();
        assert_ne!(angles(&orbits, 0), angles(&other, 0));
        let again = Orbits::transformed(images(3, 8), rotate(8, 0.3, 1)).unwrap();
        assert_eq!(angles(&orbits, 2), angles(&again, 2));
    }

    #[test]
    fn rotated_members_are_cropped_to_the_disk() {
        let orbits = Orbits::transformed(images(2, 8), rotate(8, 1.0, 0)).unwrap();
        let inside = disk(8);
        for angle in [0, 45, 90, 201] {
            for (value, inside) in member(&orbits, 0, angle).iter().zip(&inside) {
                assert!(*inside || *value == 0.0);
            }
        }
        let upright = member(&orbits, 1, 0);
        for pixel in (0..64).filter(|&pixel| inside[pixel]) {
            assert_eq!(upright[pixel], images(2, 8)[[1, pixel]]);
        }
    }

    #[test]
    fn what_cannot_be_transformed_is_refused_in_one_line() {
        let of = |size, transform| Orbits::transformed(images(2, size), transform);
        let shape = |height, width| Transform::Translate2d { height, width };
        let mut dull = images(2, 8);
        for (pixel, inside) in disk(8).into_iter().enumerate() {
            if inside {
                dull[[1, pixel]] = 7.0;
            }
        }
        for (result, refusal) in [
            (of(4, shape(4, 5)), "16 values are not an image of 4 × 5: "),
            (
                of(4, shape(1 << 63, 34)),
                "16 values are not an image of 9223372036854775808 × 34: ",
            ),
            (
                of(4, rotate(5, 0.3, 0)),
                "16 values are not a square image of 5 × 5: ",
            ),
            (
                of(3, rotate(3, 0.3, 0)),
                "the disk in images of 3 × 3 has at most one pixel: ",
            ),
            (
                of(4, rotate(4, 0.0, 0)),
                "a fraction of 0 of the 360 whole degrees: ",
            ),
            (
                of(4, rotate(4, 1.1, 0)),
                "a fraction of 1.1 of the 360 whole degrees: ",
            ),
            (
                of(4, rotate(4, f64::NAN, 0)),
                "a fraction of NaN of the 360 whole degrees: ",
            ),
            (
                Orbits::transformed(dull, rotate(8, 0.3, 0)),
                "row 1 is constant inside the disk: ",
            ),
            (
                of(4, Transform::Group("Z4xZ2".parse().unwrap())),
                "16 values, Z4xZ2 has 8 elements: ",
            ),
        ] {
            let line = result.unwrap_err().to_string();
            assert!(line.contains(&format!(": {refusal}")), "{line}");
            assert!(!line.contains('\n'));
        }
    }
}
