//! Patches cut from photographs at random places, as in the paper's appendix: of enough contrast, zero mean, unit
//! deviation.
//!
//! With [`Support::Disk`] mean and deviation are those of the disk, and the corners keep their values on the same
//! scale: a rotation takes the pixels at the disk's edge from inside the patch, and then sets what is outside the
//! disk to zero. So every member of an orbit is zero outside, and the one that is not turned has zero mean and unit
//! deviation inside. Cropping first would mix zeros into the edge, differently at every angle.

use super::{Folder, Photograph, read};
use bispectral_learn::data::normalise::normalise;
use bispectral_learn::data::samples::check_length;
use bispectral_learn::numeric::random::{Purpose, stream};
use bispectral_learn::{Error, Result};
use ndarray::Array2;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

pub use bispectral_learn::data::normalise::Support;

/// How often a place in a photograph is drawn for each patch it is to give: the dullest of the shipped ones has one
/// good place in three.
const DRAWS: usize = 100;

/// How patches are cut.
///
/// ```
/// use bispectral_run::photographs::{natural, patches::Patches};
///
/// let patches = Patches { count: 6, ..Patches::default() };
/// let exemplars = patches.cut(&natural::photographs(), 0)?;
/// assert_eq!(exemplars.dim(), (6, 256));
/// # Ok::<(), bispectral_learn::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Patches {
    /// Rows, and columns, of a patch.
    pub size: usize,
    /// How many patches there are to be.
    pub count: usize,
    /// The least deviation of a patch, as a part of its photograph's range from the darkest to the brightest pixel.
    ///
    /// The authors' code asks for 0.1 where the range is 2.
    pub contrast: f64,
    /// Which pixels have zero mean and unit deviation.
    pub support: Support,
}

impl Default for Patches {
    /// The paper's: 100 patches of 16 × 16.
    fn default() -> Self {
        Patches {
            size: 16,
            count: 100,
            contrast: 0.05,
            support: Support::Square,
        }
    }
}

impl Patches {
    /// Patches of `photographs`, about as many of each, one a row.
    ///
    /// # Errors
    /// A photograph is smaller than a patch, or there are too few places of enough contrast in them.
    pub fn cut(&self, photographs: &[Photograph], seed: u64) -> Result<Array2<f32>> {
        self.cut_each(photographs.len(), seed, |place| {
            Ok(Cow::Borrowed(&photographs[place]))
        })
    }

    /// Patches of the photographs in a folder. They are read one at a time; where there are more than patches, an
    /// even choice of them.
    ///
    /// # Errors
    /// There are none, one is damaged or smaller than a patch, or there are too few places of enough contrast in them.
    pub fn cut_from_folder(&self, folder: &Path, seed: u64) -> Result<Array2<f32>> {
        let folder = Folder::open(folder)?;
        self.cut_each(folder.files().len(), seed, |place| {
            read(&folder.files()[place]).map(Cow::Owned)
        })
    }

    fn cut_each<'p>(
        &self,
        photographs: usize,
        seed: u64,
        photograph: impl Fn(usize) -> Result<Cow<'p, Photograph>>,
    ) -> Result<Array2<f32>> {
        check_length(self.size.saturating_mul(self.size))
            .map_err(|error| Error::orbits("patches", "labels", error))?;
        let mut cut = Cut {
            patches: self,
            inside: self.support.mask(self.size),
            random: stream(seed, Purpose::Patches),
            taken: HashSet::new(),
            values: Vec::new(),
        };
        // What a dull photograph does not give, the next ones do, and the first ones on a second round.
        for round in 0..2 {
            for place in 0..photographs {
                let share = (place + 1).saturating_mul(self.count) / photographs;
                let target = if round == 0 { share } else { self.count };
                if cut.taken.len() < target {
                    cut.add(place, photograph(place)?.as_ref(), target)?;
                }
            }
        }
        cut.finish(photographs)
    }
}

/// Patches that have been cut so far.
struct Cut<'a> {
    patches: &'a Patches,
    inside: Vec<bool>,
    random: ChaCha8Rng,
    /// Photograph, row and column: no patch is cut twice.
    taken: HashSet<[usize; 3]>,
    values: Vec<f32>,
}

impl Cut<'_> {
    /// Cuts until there are `target` patches, or this photograph does not seem to have more.
    fn add(&mut self, place: usize, photograph: &Photograph, target: usize) -> Result<()> {
        let Photograph { name, image } = photograph;
        let Patches { size, contrast, .. } = *self.patches;
        let (height, width) = image.dim();
        if height < size || width < size {
            return Err(Error::new(
                name,
                format!("{width} × {height} pixels, a patch has {size} × {size}"),
                "leave it out or cut smaller patches",
            ));
        }
        let least = contrast * range(image);
        let places = (height - size + 1) * (width - size + 1);
        for _ in 0..DRAWS * (target - self.taken.len()).min(places) {
            let row = self.random.random_range(0..=height - size);
            let column = self.random.random_range(0..=width - size);
            let rows = image.rows().into_iter().skip(row).take(size);
            let mut patch: Vec<f32> = rows
                .flat_map(|pixels| pixels.into_iter().skip(column).take(size).copied())
                .collect();
            let deviation = normalise(&mut patch, &self.inside);
            let is_good = deviation > 0.0 && deviation >= least;
            if is_good && self.taken.insert([place, row, column]) {
                self.values.extend(patch);
            }
            if self.taken.len() == target {
                break;
            }
        }
        Ok(())
    }

    fn finish(self, photographs: usize) -> Result<Array2<f32>> {
        let Patches {
            size,
            count,
            contrast,
            ..
        } = *self.patches;
        let found = self.taken.len();
        if found < count {
            return Err(Error::new(
                "patches",
                format!(
                    "only {found} of {count} with a contrast of {contrast} found in {photographs} photographs"
                ),
                "add photographs, ask for fewer or lower the contrast",
            ));
        }
        Array2::from_shape_vec((found, size * size), self.values)
            .map_err(|error| Error::new("patches", error.to_string(), "cut smaller ones"))
    }
}

/// From the darkest to the brightest pixel.
fn range(image: &Array2<f32>) -> f64 {
    let darkest = image.iter().copied().fold(f32::INFINITY, f32::min);
    let brightest = image.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    f64::from(brightest) - f64::from(darkest)
}

#[cfg(test)]
mod tests {
    use super::super::natural::photographs;
    use super::*;
    use bispectral_learn::data::normalise::moments;
    use bispectral_learn::data::orbits::{Orbits, Transform};
    use bispectral_learn::data::rotate::disk;

    fn photograph(height: usize, width: usize, value: impl Fn(usize, usize) -> f32) -> Photograph {
        Photograph {
            name: "test".into(),
            image: Array2::from_shape_fn((height, width), |(row, column)| value(row, column)),
        }
    }

    #[test]
    fn patches_have_zero_mean_and_unit_deviation() {
        for support in [Support::Square, Support::Disk] {
            let patches = Patches {
                support,
                ..Patches::default()
            };
            let cut = patches.cut(&photographs(), 3).unwrap();
            assert_eq!(cut.dim(), (100, 256));
            for patch in cut.rows() {
                let (mean, deviation) = moments(patch.as_slice().unwrap(), &support.mask(16));
                // Values of about one, rounded to f32.
                assert!(mean.abs() < 1e-6, "{mean}");
                assert!((deviation - 1.0).abs() < 1e-6, "{deviation}");
            }
        }
    }

    #[test]
    fn members_of_a_disks_orbit_are_zero_outside_and_normalised_inside() {
        let patches = Patches {
            support: Support::Disk,
            count: 10,
            ..Patches::default()
        };
        let cut = patches.cut(&photographs(), 0).unwrap();
        let all = Transform::Rotate {
            size: 16,
            fraction: 1.0,
            seed: 0,
        };
        let orbits = Orbits::transformed(cut, all).unwrap();
        let inside = disk(16);
        let mut member = [0.0; 256];
        for orbit in 0..orbits.len() {
            orbits.write_member(orbit, 0, &mut member);
            let (mean, deviation) = moments(&member, &inside);
            assert!(mean.abs() < 1e-6 && (deviation - 1.0).abs() < 1e-6);
            for angle in [1, 45, 180, 333] {
                orbits.write_member(orbit, angle, &mut member);
                assert!(
                    member
                        .iter()
                        .zip(&inside)
                        .all(|(value, inside)| *inside || *value == 0.0)
                );
            }
        }
    }

    #[test]
    fn patches_are_a_function_of_the_seed() {
        let patches = Patches {
            count: 12,
            ..Patches::default()
        };
        let cut = |seed| patches.cut(&photographs(), seed).unwrap();
        assert_eq!(cut(1), cut(1));
        assert_ne!(cut(1), cut(2));
    }

    #[test]
    fn the_unit_of_a_photograph_does_not_matter() {
        let mut bright = photographs();
        for photograph in &mut bright {
            photograph.image *= 4096.0;
        }
        let patches = Patches::default();
        assert_eq!(patches.cut(&bright, 1), patches.cut(&photographs(), 1));
    }

    #[test]
    fn a_folder_gives_what_its_photographs_give() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/natural");
        let patches = Patches::default();
        let from_folder = patches.cut_from_folder(&folder, 5).unwrap();
        assert_eq!(from_folder, patches.cut(&photographs(), 5).unwrap());
    }

    #[test]
    fn low_contrast_is_drawn_again_and_dull_photographs_are_made_up_for() {
        // A chequerboard of low contrast but for a corner, and none at all: all comes from the corner.
        let corner = photograph(64, 64, |row, column| {
            let is_corner = row < 32 && column < 32;
            let faint = 5.0 + 0.01 * ((row + column) % 2) as f32;
            if is_corner {
                ((row * 7 + column * 13) % 10) as f32
            } else {
                faint
            }
        });
        let flat = photograph(64, 64, |_, _| 0.5);
        let patches = Patches {
            size: 8,
            count: 30,
            contrast: 0.25,
            ..Patches::default()
        };
        for photographs in [[corner.clone(), flat.clone()], [flat.clone(), corner]] {
            let cut = patches.cut(&photographs, 0).unwrap();
            assert_eq!(cut.nrows(), 30);
            for patch in cut.rows() {
                let is_chequerboard = patch.iter().all(|value| (value.abs() - 1.0).abs() < 1e-3);
                assert!(!is_chequerboard, "{patch}");
            }
        }
        let line = patches.cut(&[flat], 0).unwrap_err().to_string();
        let refusal = "patches: only 0 of 30 with a contrast of 0.25 found in 1 photographs: ";
        assert!(line.starts_with(refusal), "{line}");
    }

    #[test]
    fn no_patch_is_cut_twice() {
        let tiny = photograph(9, 9, |row, column| ((row * 5 + column * 3) % 7) as f32);
        let patches = Patches {
            size: 8,
            count: 4,
            ..Patches::default()
        };
        let cut = patches.cut(std::slice::from_ref(&tiny), 0).unwrap();
        for (a, b) in (0..4).flat_map(|a| (0..a).map(move |b| (a, b))) {
            assert_ne!(cut.row(a), cut.row(b));
        }
        let line = Patches {
            count: 5,
            ..patches
        }
        .cut(&[tiny], 0)
        .unwrap_err();
        assert!(
            line.to_string().starts_with("patches: only 4 of 5 "),
            "{line}"
        );
    }

    #[test]
    fn of_more_photographs_than_patches_an_even_choice_is_taken() {
        // Each has its own slope, kept by no normalisation but that of its sign and curvature.
        let many: Vec<Photograph> = (0..10)
            .map(|k| {
                photograph(8, 8, move |row, column| {
                    ((row * 8 + column) as f32).powi(k + 1)
                })
            })
            .collect();
        let patches = Patches {
            size: 8,
            count: 2,
            ..Patches::default()
        };
        let cut = patches.cut(&many, 0).unwrap();
        for (row, place) in [(0, 4), (1, 9)] {
            let mut expected: Vec<f32> = many[place].image.iter().copied().collect();
            normalise(&mut expected, &[true; 64]);
            assert_eq!(cut.row(row).to_vec(), expected);
        }
    }

    #[test]
    fn what_gives_no_patches_is_refused_in_one_line() {
        let narrow = photograph(40, 15, |row, column| (row + column) as f32);
        let line = Patches::default()
            .cut(&[narrow], 0)
            .unwrap_err()
            .to_string();
        assert!(
            line.starts_with("test: 15 × 40 pixels, a patch has 16 × 16: "),
            "{line}"
        );
        let line = Patches::default().cut(&[], 0).unwrap_err().to_string();
        assert!(line.starts_with("patches: only 0 of 100 "), "{line}");
        for size in [0, 1000, usize::MAX] {
            let line = Patches {
                size,
                ..Patches::default()
            }
            .cut(&photographs(), 0)
            .unwrap_err();
            assert!(
                line.to_string().starts_with("patches: samples of "),
                "{line}"
            );
        }
    }
}
