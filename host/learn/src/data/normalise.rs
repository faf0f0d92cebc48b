//! Zero mean and unit deviation of an image, over all of it or over the disk inside.

use super::rotate::disk;

/// The part of a patch that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// All of it, for translation.
    Square,
    /// The [disk] inside, for rotation.
    Disk,
}

impl Support {
    /// Which pixels of a `size` × `size` image belong to it.
    #[must_use]
    pub fn mask(self, size: usize) -> Vec<bool> {
        match self {
            Support::Square => vec![true; size * size],
            Support::Disk => disk(size),
        }
    }
}

/// Gives the pixels of `image` that are `inside` zero mean and unit deviation (over their number, not one less), and
/// moves the others with them. Returns the deviation before; where that is zero, nothing is changed.
///
/// ```
/// use bispectral_learn::data::normalise::normalise;
///
/// let mut image = [1.0, 3.0, 9.0];
/// assert_eq!(normalise(&mut image, &[true, true, false]), 1.0);
/// assert_eq!(image, [-1.0, 1.0, 7.0]);
/// ```
pub fn normalise(image: &mut [f32], inside: &[bool]) -> f64 {
    let (mean, deviation) = moments(image, inside);
    if deviation > 0.0 {
        for value in image {
            *value = ((f64::from(*value) - mean) / deviation) as f32;
        }
    }
    deviation
}

/// Mean and deviation of the pixels inside.
#[must_use]
pub fn moments(image: &[f32], inside: &[bool]) -> (f64, f64) {
    let values = || {
        image
            .iter()
            .zip(inside)
            .filter(|(_, inside)| **inside)
            .map(|(value, _)| f64::from(*value))
    };
    let count = values().count().max(1) as f64;
    let mean = values().sum::<f64>() / count;
    let variance = values().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_inside_has_zero_mean_and_unit_deviation(
            mut image in prop::collection::vec(-1e6_f32..1e6, 64), is_disk: bool,
        ) {
            let inside = if is_disk { Support::Disk } else { Support::Square }.mask(8);
            let before = image.clone();
            let deviation = normalise(&mut image, &inside);
            let (mean, unit) = moments(&image, &inside);
            // Values of about one, rounded to f32.
            prop_assert!(mean.abs() < 1e-6 && (unit - 1.0).abs() < 1e-6, "{} {}", mean, unit);
            for (pair, normalised) in before.windows(2).zip(image.windows(2)) {
                let (pair, normalised) = (pair[1] - pair[0], normalised[1] - normalised[0]);
                prop_assert!((f64::from(pair) / deviation - f64::from(normalised)).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn what_is_constant_inside_is_left_as_it_is() {
        let mut image = [2.0, 2.0, 5.0];
        assert_eq!(normalise(&mut image, &[true, true, false]), 0.0);
        assert_eq!(image, [2.0, 2.0, 5.0]);
    }
}
