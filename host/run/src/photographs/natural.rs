//! Six photographs that ship with this crate, so that everything runs without a download; all CC0 or public domain.
//!
//! They are 8-bit and gamma-encoded, where the paper's van Hateren photographs are linear and 12-bit: what is learned
//! from them is close to, but not the same as, what the paper shows. `data/natural/README.md` says where each is from.

use super::{Photograph, png};
use std::io::Cursor;

const FILES: [(&str, &[u8]); 6] = [
    ("alps", include_bytes!("../../data/natural/alps.png")),
    (
        "blossoms",
        include_bytes!("../../data/natural/blossoms.png"),
    ),
    ("grass", include_bytes!("../../data/natural/grass.png")),
    ("raccoon", include_bytes!("../../data/natural/raccoon.png")),
    ("rocks", include_bytes!("../../data/natural/rocks.png")),
    ("tulips", include_bytes!("../../data/natural/tulips.png")),
];

/// The photographs, in the order of their names.
///
/// ```
/// let photographs = bispectral_run::photographs::natural::photographs();
/// assert_eq!(photographs[0].name, "alps");
/// assert_eq!(photographs[0].image.dim(), (242, 512));
/// ```
///
/// # Panics
/// Never: the files are part of the program, and a test decodes them.
#[must_use]
pub fn photographs() -> Vec<Photograph> {
    FILES
        .into_iter()
        .map(|(name, bytes)| Photograph {
            name: name.into(),
            image: png::decode(Cursor::new(bytes)).expect("a valid PNG"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_photograph_is_large_enough_and_of_good_contrast() {
        let photographs = photographs();
        assert!(photographs.is_sorted_by(|a, b| a.name < b.name));
        for Photograph { name, image } in photographs {
            let (height, width) = image.dim();
            assert!(height.min(width) >= 240, "{name}");
            assert!(
                image.iter().all(|value| (0.0..=1.0).contains(value)),
                "{name}"
            );
            assert!(image.std(0.0) > 0.1, "{name}");
        }
    }

    #[test]
    fn they_add_little_to_the_program() {
        let bytes: usize = FILES.iter().map(|(_, bytes)| bytes.len()).sum();
        assert!(bytes < 700_000, "{bytes}");
    }
}
