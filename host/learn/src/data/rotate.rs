//! Rotation of square images about their centre, bilinear, as scikit-image's `rotate(image, degrees)` does it.
//!
//! The pixel at offset (v, h) from the centre, v downwards, is what the image has at
//! (v cos θ + h sin θ, h cos θ − v sin θ): counter-clockwise for θ > 0. What comes from outside is zero.

use super::angle::cos_sin;

/// Whole degrees in a turn.
pub const DEGREES: usize = 360;

/// Rotation by one angle: for each pixel, four pixels of the image and their weights.
///
/// Within 1.4e-7 of scikit-image 0.26 for values up to 1, at all 360 angles and 5, 16 and 28 rows; quarter turns are
/// exact. There is no `clip`: in bilinear interpolation it only lifts fading edges, of images without a zero between
/// their darkest and brightest pixel.
///
/// ```
/// use bispectral_learn::data::rotate::Rotation;
///
/// let image = [1.0, 2.0, 3.0, 4.0];
/// let mut turned = [0.0; 4];
/// Rotation::new(2, 90).apply(&image, &mut turned);
/// assert_eq!(turned, [2.0, 4.0, 1.0, 3.0]);
/// ```
#[derive(Debug, Clone)]
pub struct Rotation {
    size: usize,
    taps: Vec<Tap>,
}

/// Where one pixel comes from.
#[derive(Debug, Clone, Copy)]
struct Tap {
    pixel: u32,
    /// The top left one of the four.
    corner: u32,
    weights: [f32; 4],
}

impl Rotation {
    /// Rotation of images of `size` × `size` pixels by `degrees`.
    ///
    /// # Panics
    /// `size` is less than 2 or more than 65,535.
    #[must_use]
    pub fn new(size: usize, degrees: usize) -> Self {
        Rotation::of_pixels(size, degrees, |_| true)
    }

    /// Rotation, and then zero outside the [`disk`].
    ///
    /// # Panics
    /// `size` is less than 2 or more than 65,535.
    ///
    /// ```
    /// use bispectral_learn::data::rotate::Rotation;
    ///
    /// let mut turned = [0.0; 16];
    /// Rotation::in_disk(4, 0).apply(&[1.0; 16], &mut turned);
    /// assert_eq!(turned[..8], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0]);
    /// ```
    #[must_use]
    pub fn in_disk(size: usize, degrees: usize) -> Self {
        let disk = disk(size);
        Rotation::of_pixels(size, degrees, |pixel| disk[pixel])
    }

    fn of_pixels(size: usize, degrees: usize, keep: impl Fn(usize) -> bool) -> Self {
        assert!((2..1 << 16).contains(&size), "{size} × {size} pixels");
        let (cos, sin) = cos_sin(degrees, DEGREES);
        let centre = size as f64 / 2.0 - 0.5;
        let taps = (0..size * size)
            .filter(|&pixel| keep(pixel))
            .filter_map(|pixel| {
                let down = (pixel / size) as f64 - centre;
                let right = (pixel % size) as f64 - centre;
                let (row, above, below) = neighbours(down * cos + right * sin + centre, size);
                let (column, left, right) = neighbours(right * cos - down * sin + centre, size);
                let weights = [above * left, above * right, below * left, below * right];
                let is_inside = weights.iter().any(|&weight| weight > 0.0);
                is_inside.then(|| Tap {
                    pixel: pixel as u32,
                    corner: (row * size + column) as u32,
                    weights: weights.map(|weight| weight as f32),
                })
            })
            .collect();
        Rotation { size, taps }
    }

    /// Writes the rotated `image` to `rotated`, both row after row.
    ///
    /// # Panics
    /// One of them does not have size × size pixels.
    pub fn apply(&self, image: &[f32], rotated: &mut [f32]) {
        let pixels = self.size * self.size;
        assert_eq!((image.len(), rotated.len()), (pixels, pixels), "pixels");
        rotated.fill(0.0);
        for tap in &self.taps {
            let top = tap.corner as usize;
            let bottom = top + self.size;
            let [a, b, c, d] = tap.weights;
            rotated[tap.pixel as usize] =
                a * image[top] + b * image[top + 1] + c * image[bottom] + d * image[bottom + 1];
        }
    }
}

/// What a square image has at a position, row and column counted from the middle of its first pixel.
pub fn interpolate(image: &[f32], size: usize, [row, column]: [f64; 2]) -> f32 {
    let (row, above, below) = neighbours(row, size);
    let (column, left, right) = neighbours(column, size);
    let top = &image[row * size + column..][..2];
    let bottom = &image[(row + 1) * size + column..][..2];
    let line = |pixels: &[f32]| left * f64::from(pixels[0]) + right * f64::from(pixels[1]);
    (above * line(top) + below * line(bottom)) as f32
}

/// The first of two neighbouring rows (or columns) that `position` lies between, and the weight of either.
///
/// Up to a pixel outside the image, its edge fades to zero.
fn neighbours(position: f64, size: usize) -> (usize, f64, f64) {
    let first = position.floor().clamp(0.0, (size - 2) as f64);
    let weight = |place: f64| (1.0 - (position - place).abs()).max(0.0);
    (first as usize, weight(first), weight(first + 1.0))
}

/// Which pixels of a `size` × `size` image lie inside the circle through the middle of its edge pixels.
///
/// Inside, every rotation finds all of its four pixels in the image; the corners leave the image as it turns.
/// This is the disk of the authors' code: 172 pixels of 16 × 16.
///
/// ```
/// use bispectral_learn::data::rotate::disk;
///
/// assert_eq!(disk(16).iter().filter(|&&inside| inside).count(), 172);
/// ```
#[must_use]
pub fn disk(size: usize) -> Vec<bool> {
    // Twice the offset from the centre, which is a whole number.
    let offset_squared = |place: usize| (2 * place + 1).abs_diff(size).pow(2);
    (0..size * size)
        .map(|pixel| {
            let distance = offset_squared(pixel / size) + offset_squared(pixel % size);
            distance < (size - 1).pow(2)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers without symmetry, between −1 and 1.
    fn image(size: usize) -> Vec<f32> {
        (0..size * size)
            .map(|pixel| ((37 * pixel + 11) % 101) as f32 / 50.0 - 1.0)
            .collect()
    }

    fn rotated(image: &[f32], rotation: &Rotation) -> Vec<f32> {
        let mut rotated = vec![f32::NAN; image.len()];
        rotation.apply(image, &mut rotated);
        rotated
    }

    #[test]
    fn rotations_are_those_of_scikit_image() {
        for (size, expected) in [(5, FIVE), (8, EIGHT)] {
            for (degrees, expected) in expected {
                let found = rotated(&image(size), &Rotation::new(size, *degrees));
                for (pixel, (found, expected)) in found.iter().zip(*expected).enumerate() {
                    // The seven digits of the table, and f32 weights.
                    let error = (f64::from(*found) - expected).abs();
                    assert!(
                        error < 5e-7,
                        "{degrees}°, pixel {pixel}: {found}, {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_quarter_turn_moves_every_pixel_to_its_place_exactly() {
        for size in [2, 5, 8, 16, 33] {
            let image = image(size);
            let turned = rotated(&image, &Rotation::new(size, 90));
            for (row, column) in
                (0..size).flat_map(|row| (0..size).map(move |column| (row, column)))
            {
                let from = column * size + (size - 1 - row);
                assert_eq!(turned[row * size + column], image[from]);
            }
            assert_eq!(rotated(&image, &Rotation::new(size, 0)), image);
            assert_eq!(rotated(&image, &Rotation::new(size, 360)), image);
        }
    }

    #[test]
    fn the_disk_is_that_of_the_authors_code() {
        // equation < equation.max() / 2, with the squared distance from the centre.
        for (size, pixels) in [
            (3, 1),
            (4, 4),
            (5, 9),
            (8, 32),
            (9, 45),
            (16, 172),
            (28, 560),
        ] {
            let disk = disk(size);
            assert_eq!(
                disk.iter().filter(|&&inside| inside).count(),
                pixels,
                "{size}"
            );
        }
    }

    proptest! {
        #[test]
        fn turning_further_by_a_quarter_is_a_quarter_turn_of_the_rotated_image(
            size in 2_usize..20, degrees in 0_usize..360,
        ) {
            let once = rotated(&image(size), &Rotation::new(size, degrees));
            let twice = rotated(&once, &Rotation::new(size, 90));
            let together = rotated(&image(size), &Rotation::new(size, degrees + 90));
            for (a, b) in twice.iter().zip(&together) {
                // The four products are added in another order.
                prop_assert!((a - b).abs() < 5e-7);
            }
        }

        #[test]
        fn weights_of_pixels_in_the_disk_sum_to_one(size in 3_usize..40, degrees in 0_usize..360) {
            let ones = vec![1.0; size * size];
            let found = rotated(&ones, &Rotation::in_disk(size, degrees));
            for (value, inside) in found.iter().zip(disk(size)) {
                // Four weights, each rounded to f32; outside the disk exactly zero.
                let is_right = if inside { (value - 1.0).abs() < 3e-7 } else { *value == 0.0 };
                prop_assert!(is_right, "{} where inside is {}", value, inside);
            }
        }

        #[test]
        fn the_disk_leaves_the_rotation_inside_as_it_is(size in 3_usize..20, degrees in 0_usize..360) {
            let whole = rotated(&image(size), &Rotation::new(size, degrees));
            let cropped = rotated(&image(size), &Rotation::in_disk(size, degrees));
            for (pixel, inside) in disk(size).into_iter().enumerate() {
                prop_assert_eq!(cropped[pixel], if inside { whole[pixel] } else { 0.0 });
            }
        }
    }

    /// scikit-image 0.26.0: `rotate(image, degrees, order=1, mode="constant", cval=0, resize=False)` in float64.
    const FIVE: &[(usize, &[f64])] = &[
        (
            30,
            &[
                0.0424116, 0.4058708, -0.6711027, -0.2002439, -0.0726418, -0.1944694, 0.2135898,
                -0.190237, -0.0528065, -0.4343147, 0.557025, -0.4508588, 0.02, 0.4908588,
                -0.517025, 0.4650327, 0.0928065, 0.230237, -0.1735898, 0.2344694, 0.0833597,
                0.2402439, 0.7111027, -0.3751528, -0.0316937,
            ],
        ),
        (
            90,
            &[
                0.16, -0.18, -0.52, -0.86, 0.82, -0.58, -0.92, 0.76, 0.42, 0.08, 0.7, 0.36, 0.02,
                -0.32, -0.66, -0.04, -0.38, -0.72, 0.96, 0.62, -0.78, 0.9, 0.56, 0.22, -0.12,
            ],
        ),
        (
            137,
            &[
                -0.0959299, -0.7105489, 0.1369801, -0.1640832, -0.0924794, -0.2607804, 0.2141285,
                0.2760185, -0.3973649, 0.3069545, -0.4538376, -0.2144585, 0.02, 0.2544585,
                0.4938376, -0.2707685, 0.4373649, -0.2360185, -0.1741285, 0.2949922, 0.0994112,
                0.198295, -0.0969801, 0.7467349, 0.1028618,
            ],
        ),
    ];
    const EIGHT: &[(usize, &[f64])] = &[
        (
            30,
            &[
                0.0, -0.1132092, 0.0889378, 0.733923, -0.0749038, -0.1443594, 0.0698136, 0.0,
                0.2877854, -0.0606098, -0.3281793, 0.2426795, 0.4438526, -0.6356029, -0.0647441,
                -0.0157378, 0.0588595, 0.4581466, -0.7203659, -0.2485641, 0.3222947, -0.2159034,
                -0.5559877, -0.1388467, -0.2523988, 0.1384748, -0.2016094, -0.7398076, -0.1689488,
                0.302853, -0.2897312, -0.1151003, 0.654172, -0.3527688, 0.21809, 0.2658201,
                -0.019878, -0.0893336, 0.4815252, 0.4845844, 0.5845715, -0.005584, -0.2731535,
                0.2977053, 0.4988784, -0.5805771, -0.0097183, 0.5611405, 0.1514626, 0.5131724,
                -0.6653401, -0.1935383, 0.3773205, -0.1608777, -0.5009619, 0.0748753, 0.0,
                0.292847, -0.1465837, -0.2969675, -0.113923, 0.2855739, -0.1557074, 0.0,
            ],
        ),
        (
            90,
            &[
                0.36, 0.22, 0.08, -0.06, -0.2, -0.34, -0.48, -0.62, -0.38, -0.52, -0.66, -0.8,
                -0.94, 0.94, 0.8, 0.66, 0.9, 0.76, 0.62, 0.48, 0.34, 0.2, 0.06, -0.08, 0.16, 0.02,
                -0.12, -0.26, -0.4, -0.54, -0.68, -0.82, -0.58, -0.72, -0.86, -1.0, 0.88, 0.74,
                0.6, 0.46, 0.7, 0.56, 0.42, 0.28, 0.14, 0.0, -0.14, -0.28, -0.04, -0.18, -0.32,
                -0.46, -0.6, -0.74, -0.88, 1.0, -0.78, -0.92, 0.96, 0.82, 0.68, 0.54, 0.4, 0.26,
            ],
        ),
        (
            137,
            &[
                0.0, -0.0710597, -0.3246954, 0.5159575, 0.3896717, -0.2159487, -0.1827144, 0.0,
                -0.0121855, -0.1423583, -0.3286878, 0.609522, -0.0126176, -0.6492991, -0.0213264,
                0.0562101, 0.0464089, -0.5248623, -0.3940006, 0.2217747, -0.4149069, 0.1079583,
                0.3317301, -0.2319214, -0.2904701, -0.2593061, 0.4561669, -0.1805146, 0.2426528,
                0.5661224, -0.0705591, -0.3403995, -0.1246117, 0.6905591, 0.0538776, -0.5828039,
                -0.0402889, 0.1638331, -0.4728484, -0.3000409, 0.8507357, 0.2882699, -0.3484116,
                -0.6673054, 0.1733476, -0.2384562, -0.1653465, 0.5222951, 0.1202552, -0.1147306,
                -0.5326109, 0.3080421, -0.0040639, -0.030652, 0.7416626, 0.1580505, 0.0,
                -0.1188045, 0.3954818, 0.2303283, -0.2627987, 0.8716654, 0.247525, 0.0,
            ],
        ),
    ];
}
