//! RotMNIST: each of MNIST's digits turned by an angle of its own, scaled down by averaging areas, and cropped to a disk.
//!
//! Copies to train on have the same angle, and are moved, stretched and bent a little: as another hand would write them.

use crate::area::{average, shares};
use crate::mnist::{Digits, Half};
use bispectral_learn::classify::samples::Samples;
use bispectral_learn::data::angle::cos_sin;
use bispectral_learn::data::normalise::normalise;
use bispectral_learn::data::rotate::{DEGREES, Rotation, disk, interpolate};
use bispectral_learn::numeric::random::{Purpose, stream_at};
use bispectral_learn::{Error, Result};
use ndarray::{Array2, Axis};
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// How digits become samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RotatedDigits {
    /// Pixels of a sample's side.
    pub size: usize,
    /// What of a digit is seen.
    pub window: Window,
    /// What chance does to a digit beside turning it.
    pub changed: Changed,
    /// Another copy has the same angles and is changed in another way.
    pub copy: u64,
    /// Of all chance.
    pub seed: u64,
}

/// What of a digit is seen: a square around its middle, and as often again from around there.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Pixels of the digit that a side covers: 28 is all of it, and fewer are its middle.
    pub pixels: f64,
    /// Views of a digit: the middle, and the others evenly on a circle.
    pub places: usize,
    /// Of the circle, in pixels of the digit.
    pub radius: f64,
}

/// Whole digits, once.
impl Default for Window {
    fn default() -> Self {
        Window {
            pixels: 28.0,
            places: 1,
            radius: 0.0,
        }
    }
}

impl Window {
    /// How far the windows lie from the middle, down and right.
    fn offsets(&self) -> Vec<[f64; 2]> {
        let around = self.places.saturating_sub(1);
        let on_circle = (0..around).map(|at| {
            let (cos, sin) = cos_sin(at, around);
            [self.radius * sin, self.radius * cos]
        });
        [[0.0; 2]].into_iter().chain(on_circle).collect()
    }
}

/// What chance does to a digit, at most or on average; none of it turns the digit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Changed {
    /// How far its window is moved at most, down or up, right or left, in pixels of the digit.
    pub moved: f64,
    /// By what share it is stretched at most, along its axes and along its diagonals.
    pub stretched: f64,
    /// How far its pixels are pushed, as a root mean square: smoothly, each its own way.
    pub bent: f64,
}

/// Waves that bend a digit: a constant, and one and two of them across the image.
const WAVES: usize = 5;

impl RotatedDigits {
    /// Digits that nothing else happens to.
    #[must_use]
    pub fn new(size: usize, window: Window, seed: u64) -> Self {
        RotatedDigits {
            size,
            window,
            changed: Changed::default(),
            copy: 0,
            seed,
        }
    }
}

impl Digits {
    /// Every digit, one a row with its views behind each other, turned by an angle of its own, with zero mean and unit deviation inside the disk and
    /// zero outside: as the patches are that rotations are learned from. The angle is a function of the seed, the half
    /// and the digit's place alone.
    ///
    /// # Panics
    /// The digits or the samples have sides of less than 2 pixels.
    #[must_use]
    pub fn turned(&self, turned: &RotatedDigits) -> Array2<f32> {
        let (count, height, width) = self.images.dim();
        assert_eq!(height, width, "digits are square");
        let rotations: Vec<Rotation> = (0..DEGREES)
            .into_par_iter()
            .map(|degrees| Rotation::new(height, degrees))
            .collect();
        let inside = disk(turned.size);
        let (pixels, offsets) = (turned.size * turned.size, turned.window.offsets());
        let mut samples = Array2::zeros((count, offsets.len() * pixels));
        let rows = samples.as_slice_mut().expect("it lies in one piece");
        rows.par_chunks_mut(offsets.len() * pixels)
            .enumerate()
            .for_each(|(at, views)| {
                let image = self.images.index_axis(Axis(0), at);
                let digit: Vec<f32> = image.iter().map(|&v| f32::from(v) / 255.0).collect();
                let mut rotated = vec![0.0; digit.len()];
                let degrees = self.angle(at, turned.seed);
                let place = [self.half as u64 + 2 * turned.copy, at as u64];
                let mut random = stream_at(turned.seed, Purpose::Noise, place);
                let shift = turned.changed.shift(&mut random);
                if turned.changed.keeps_shape() {
                    rotations[degrees].apply(&digit, &mut rotated);
                } else {
                    let warp = Warp::random(&turned.changed, width, degrees, &mut random);
                    warp.apply(&digit, &mut rotated);
                }
                for (view, offset) in views.chunks_exact_mut(pixels).zip(&offsets) {
                    let [down, right] = [0, 1].map(|axis| {
                        let shift = offset[axis] + shift[axis];
                        shares(width, turned.size, turned.window.pixels, shift)
                    });
                    average(&rotated, width, [&down, &right], view);
                    normalise(view, &inside);
                    let outside = view.iter_mut().zip(&inside);
                    outside
                        .filter(|(_, inside)| !**inside)
                        .for_each(|(pixel, _)| *pixel = 0.0);
                }
            });
        samples
    }

    /// Every digit, one a row of pixels from 0 to 1, changed by chance but not turned.
    ///
    /// # Panics
    /// The digits are not square.
    #[must_use]
    pub fn upright(&self, changed: &Changed, copy: u64, seed: u64) -> Array2<f32> {
        let (count, height, width) = self.images.dim();
        assert_eq!(height, width, "digits are square");
        let mut samples = Array2::zeros((count, height * width));
        let rows = samples.as_slice_mut().expect("it lies in one piece");
        let rows = rows.par_chunks_mut(height * width).enumerate();
        rows.for_each(|(at, row)| {
            let image = self.images.index_axis(Axis(0), at);
            let digit: Vec<f32> = image.iter().map(|&v| f32::from(v) / 255.0).collect();
            if changed.keeps_shape() {
                row.copy_from_slice(&digit);
            } else {
                let place = [self.half as u64 + 2 * copy, at as u64];
                let mut random = stream_at(seed, Purpose::Noise, place);
                Warp::random(changed, width, 0, &mut random).apply(&digit, row);
            }
        });
        samples
    }

    /// The whole degrees that the digit at this place is turned by.
    fn angle(&self, at: usize, seed: u64) -> usize {
        stream_at(seed, Purpose::Angles, [self.half as u64, at as u64]).random_range(0..DEGREES)
    }
}

impl Changed {
    fn keeps_shape(&self) -> bool {
        self.stretched == 0.0 && self.bent == 0.0
    }

    /// How far a window is moved.
    fn shift(&self, random: &mut impl Rng) -> [f64; 2] {
        [(); 2].map(|()| between(self.moved, random))
    }
}

/// From −most to most.
fn between(most: f64, random: &mut impl Rng) -> f64 {
    most * (2.0 * random.random::<f64>() - 1.0)
}

/// A rotation, a stretch and a bend at once, so that pixels are interpolated only once.
struct Warp {
    size: usize,
    cos_sin: (f64, f64),
    /// Equivariance the axes, and along the diagonals: a symmetric matrix, which turns nothing.
    stretch: [f64; 3],
    /// The weights of products of two waves, down and right, for both directions.
    bend: [[[f64; WAVES]; WAVES]; 2],
    /// The waves at every place of a line.
    waves: Vec<[f64; WAVES]>,
}

impl Warp {
    fn random(changed: &Changed, size: usize, degrees: usize, random: &mut impl Rng) -> Self {
        let stretch = [(); 3].map(|()| between(changed.stretched, random));
        // Noise that is smoothed with a deviation of a seventh of the image has these shares.
        let share = |wave: usize| {
            let frequency = std::f64::consts::TAU * wave.div_ceil(2) as f64 / 7.0;
            libm::exp(-0.5 * frequency * frequency)
        };
        let shares: Vec<(usize, usize, f64)> = (0..WAVES * WAVES)
            .map(|at| (at / WAVES, at % WAVES))
            // The constant would only move the digit.
            .filter(|&waves| waves != (0, 0))
            .map(|(down, right)| (down, right, share(down) * share(right)))
            .collect();
        let square: f64 = shares.iter().map(|(_, _, share)| share * share).sum();
        let scale = changed.bent / square.sqrt();
        let mut bend = [[[0.0; WAVES]; WAVES]; 2];
        for direction in &mut bend {
            for &(down, right, share) in &shares {
                direction[down][right] = scale * share * random.sample::<f64, _>(StandardNormal);
            }
        }
        Warp {
            size,
            cos_sin: cos_sin(degrees, DEGREES),
            stretch,
            bend,
            waves: (0..size).map(|place| waves(place, size)).collect(),
        }
    }

    fn apply(&self, image: &[f32], warped: &mut [f32]) {
        let centre = self.size as f64 / 2.0 - 0.5;
        let (cos, sin) = self.cos_sin;
        let [first, second, across] = self.stretch;
        for (at, row) in warped.chunks_exact_mut(self.size).enumerate() {
            // Σ_a bend_ab wave_a: what is left depends on the column.
            let lines = self.bend.map(|bend| {
                let mut line = [0.0; WAVES];
                for (weights, wave) in bend.iter().zip(&self.waves[at]) {
                    let sums = line.iter_mut().zip(weights);
                    sums.for_each(|(sum, weight)| *sum += wave * weight);
                }
                line
            });
            let down = at as f64 - centre;
            for (column, pixel) in row.iter_mut().enumerate() {
                let right = column as f64 - centre;
                let (v, h) = (down * cos + right * sin, right * cos - down * sin);
                let [push_v, push_h] = lines.map(|line| {
                    let terms = line.iter().zip(&self.waves[column]);
                    terms.map(|(weight, wave)| weight * wave).sum::<f64>()
                });
                let position = [
                    v + first * v + across * h + push_v + centre,
                    h + second * h + across * v + push_h + centre,
                ];
                *pixel = interpolate(image, self.size, position);
            }
        }
    }
}

/// 1, and cosine and sine of one and of two waves, each with a mean square of one.
fn waves(place: usize, size: usize) -> [f64; WAVES] {
    let [(cos_one, sin_one), (cos_two, sin_two)] = [place, 2 * place].map(|p| cos_sin(p, size));
    let root = std::f64::consts::SQRT_2;
    [
        1.0,
        root * cos_one,
        root * sin_one,
        root * cos_two,
        root * sin_two,
    ]
}

/// How digits become samples of a model with so many inputs.
///
/// # Errors
/// The inputs are no square image.
pub fn for_model(inputs: usize, window: Window, seed: u64) -> Result<RotatedDigits> {
    let size = inputs.isqrt();
    if size * size != inputs || size < 2 {
        let what = format!("digits are square, the model has {inputs} inputs");
        return Err(Error::new("MNIST", what, "take a model of rotated images"));
    }
    Ok(RotatedDigits::new(size, window, seed))
}

/// The first `most` digits of a half.
///
/// # Errors
/// There is no such file in `folder`, or it is damaged.
pub fn digits(folder: &Path, half: Half, turned: &RotatedDigits, most: usize) -> Result<Samples> {
    let digits = Digits::read(folder, half)?.first(most);
    Ok(Samples {
        samples: digits.turned(turned),
        labels: digits.labels().iter().map(|&label| label.into()).collect(),
        views: turned.window.places,
    })
}

/// The first `most` training digits again and again, each time changed in another way.
///
/// # Errors
/// There is no such file in `folder`, or it is damaged.
pub fn copies(
    folder: &Path,
    turned: &RotatedDigits,
    changed: Changed,
    count: u8,
    most: usize,
) -> Result<Vec<Array2<f32>>> {
    let copy = |copy: u8| {
        let copy = RotatedDigits {
            changed,
            copy: copy.into(),
            ..*turned
        };
        Ok(digits(folder, Half::Training, &copy, most)?.samples)
    };
    (1..=count).map(copy).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mnist::Half;
    use crate::mnist::tests::two_digits;

    const TURNED: RotatedDigits = RotatedDigits {
        size: 4,
        window: Window {
            pixels: 4.0,
            places: 1,
            radius: 0.0,
        },
        changed: Changed {
            moved: 0.0,
            stretched: 0.0,
            bent: 0.0,
        },
        copy: 0,
        seed: 0,
    };

    #[test]
    fn digits_are_turned_and_nothing_else_happens_to_them() {
        let digits = Digits::read(two_digits().path(), Half::Test).unwrap();
        assert_eq!(digits.labels(), [7, 1]);
        let found = digits.turned(&TURNED);
        assert_eq!(found, digits.turned(&TURNED));
        assert_ne!(found, digits.turned(&RotatedDigits { seed: 1, ..TURNED }));
        for (at, found) in found.rows().into_iter().enumerate() {
            let image: Vec<f32> = digits
                .images
                .index_axis(Axis(0), at)
                .iter()
                .map(|&v| v.into())
                .collect();
            let mut expected = vec![0.0; 16];
            Rotation::in_disk(4, digits.angle(at, 0)).apply(&image, &mut expected);
            let inside = disk(4);
            normalise(&mut expected, &inside);
            for (pixel, (found, expected)) in found.iter().zip(expected).enumerate() {
                let expected = if inside[pixel] { expected } else { 0.0 };
                // Averages of one pixel each, in f64, and values of about one.
                assert!(
                    (found - expected).abs() < 1e-5,
                    "{at}, {pixel}: {found} {expected}"
                );
            }
        }
    }

    #[test]
    fn copies_have_the_same_angle_and_are_changed_in_other_ways() {
        let digits = Digits::read(two_digits().path(), Half::Test)
            .unwrap()
            .first(1);
        for changed in [
            Changed {
                moved: 0.4,
                ..Changed::default()
            },
            Changed {
                stretched: 0.2,
                ..Changed::default()
            },
            Changed {
                bent: 0.4,
                ..Changed::default()
            },
        ] {
            let copy = |copy| {
                digits.turned(&RotatedDigits {
                    changed,
                    copy,
                    ..TURNED
                })
            };
            assert_ne!(copy(0), copy(1), "{changed:?}");
            assert_ne!(copy(0), digits.turned(&TURNED), "{changed:?}");
            assert_eq!(copy(1), copy(1), "{changed:?}");
        }
    }

    #[test]
    fn views_are_behind_each_other_and_the_first_is_the_middle() {
        let digits = Digits::read(two_digits().path(), Half::Test).unwrap();
        let window = Window {
            places: 5,
            radius: 1.0,
            ..TURNED.window
        };
        let views = digits.turned(&RotatedDigits { window, ..TURNED });
        assert_eq!(views.dim(), (2, 5 * 16));
        let one = digits.turned(&TURNED);
        assert_eq!(views.slice_axis(Axis(1), (..16).into()), one);
        let expected = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]];
        assert_eq!(window.offsets(), expected);
    }

    #[test]
    fn windows_are_moved_both_ways_and_not_too_far() {
        let changed = Changed {
            moved: 0.4,
            ..Changed::default()
        };
        let mut random = stream_at(0, Purpose::Noise, [0, 0]);
        let shifts: Vec<f64> = (0..50).flat_map(|_| changed.shift(&mut random)).collect();
        assert!(shifts.iter().all(|shift| shift.abs() <= 0.4));
        assert!(
            shifts.iter().any(|&shift| shift > 0.2) && shifts.iter().any(|&shift| shift < -0.2)
        );
    }

    #[test]
    fn a_warp_that_changes_nothing_is_the_rotation() {
        let image: Vec<f32> = (0..49).map(|pixel| (pixel * pixel % 11) as f32).collect();
        let mut random = stream_at(0, Purpose::Noise, [0, 0]);
        let (mut warped, mut rotated) = (vec![0.0; 49], vec![0.0; 49]);
        for degrees in [0, 30, 90, 217] {
            Warp::random(&Changed::default(), 7, degrees, &mut random).apply(&image, &mut warped);
            Rotation::new(7, degrees).apply(&image, &mut rotated);
            for (warped, rotated) in warped.iter().zip(&rotated) {
                // Four products of values up to ten, in other orders.
                assert!((warped - rotated).abs() < 1e-5, "{warped} {rotated}");
            }
        }
    }

    #[test]
    fn pixels_are_pushed_as_far_as_was_asked() {
        let changed = Changed {
            bent: 0.7,
            ..Changed::default()
        };
        let mut random = stream_at(0, Purpose::Noise, [0, 0]);
        let squares = (0..200).flat_map(|_| {
            let warp = Warp::random(&changed, 28, 0, &mut random);
            warp.bend.into_iter().flatten().flatten().map(|w| w * w)
        });
        // Waves are orthogonal and of mean square one: the mean square of a direction is the sum of its weights' squares.
        let mean = squares.sum::<f64>() / 400.0;
        assert!((mean.sqrt() - 0.7).abs() < 0.05, "{}", mean.sqrt());
    }
}
