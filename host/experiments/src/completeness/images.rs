//! The images that are attacked: none was trained on.

use super::rotation::{OTHER, UNSEEN};
use crate::mnist;
use bispectral_learn::data::normalise::{Support, normalise};
use bispectral_learn::data::rotate::Rotation;
use bispectral_learn::{Error, Result};
use bispectral_run::photographs::natural;
use bispectral_run::photographs::patches::Patches;
use bispectral_run::source;
use ndarray::Array2;
use std::path::Path;

/// What moves images, and their side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Symmetry {
    pub(crate) kind: Kind,
    pub(crate) size: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Translation,
    Rotation,
}

impl Symmetry {
    pub(super) fn translation(size: usize) -> Self {
        let kind = Kind::Translation;
        Symmetry { kind, size }
    }

    /// Of a model with so many inputs.
    pub(super) fn rotation(path: &Path, inputs: usize) -> Result<Self> {
        let (kind, size) = (Kind::Rotation, inputs.isqrt());
        if size * size == inputs && size >= 2 {
            return Ok(Symmetry { kind, size });
        }
        let what = format!("the model has {inputs} inputs, which are no square image");
        let remedy = "name what `bispectral reproduce rotation` left";
        Err(Error::file(path, what, remedy))
    }

    pub(super) fn name(self) -> &'static str {
        match self.kind {
            Kind::Translation => "translation",
            Kind::Rotation => "rotation",
        }
    }
}

/// A set of images and what it is called.
pub(crate) type Set = (&'static str, Array2<f32>);

/// `count` patches of photographs, and as many digits where their folder is known.
pub(crate) fn sets(
    symmetry: Symmetry,
    count: usize,
    seed: u64,
    mnist: Option<&Path>,
) -> Result<Vec<Set>> {
    let Symmetry { kind, size } = symmetry;
    let support = match kind {
        Kind::Translation => Support::Square,
        Kind::Rotation => Support::Disk,
    };
    // Rotation is learned from some of the photographs, translation from patches of all.
    let photographs = match kind {
        Kind::Translation => natural::photographs(),
        Kind::Rotation => source::photographs(&UNSEEN.join(","))?,
    };
    let patches = Patches {
        size,
        count,
        support,
        ..Patches::default()
    };
    let mut sets = vec![("natural patches", patches.cut(&photographs, seed ^ OTHER)?)];
    if let Some(folder) = mnist {
        let mut digits = mnist::test_digits(folder, size, count)?;
        let inside = support.mask(size);
        for mut digit in digits.rows_mut() {
            let digit = digit.as_slice_mut().expect("rows lie in one piece");
            normalise(digit, &inside);
        }
        sets.push(("MNIST digits", digits));
    }
    if kind == Kind::Rotation {
        sets.iter_mut().for_each(|(_, images)| crop(images, size));
    }
    Ok(sets)
}

/// Zero outside the disk, as all members of an orbit are.
fn crop(images: &mut Array2<f32>, size: usize) {
    let stay = Rotation::in_disk(size, 0);
    for mut image in images.rows_mut() {
        let whole = image.to_vec();
        let image = image.as_slice_mut().expect("rows lie in one piece");
        stay.apply(&whole, image);
    }
}
