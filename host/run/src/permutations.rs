//! `permutations.npy`: the group of a run as the permutations of inputs it is, uint16 of shape (elements, inputs). Row g holds
//! where g takes each input, so that in NumPy `y[P[g]] = x` moves x by g; the first row is the identity.

use bispectral_learn::data::npy::{self, Array, Element};
use bispectral_learn::group::{Action, Permutation};
use bispectral_learn::{Error, Result};
use std::path::Path;

/// More elements than this are no table.
const MOST_ELEMENTS: usize = 4096;

/// The bytes of the file.
#[must_use]
pub fn bytes(action: &Action) -> Vec<u8> {
    let shape = [action.order() as u64, action.degree() as u64];
    let mut bytes = npy::header(Element::Uint(2), shape);
    for element in action.elements() {
        let images = (0..action.degree()).map(|n| element.image(n) as u16);
        bytes.extend(images.flat_map(u16::to_le_bytes));
    }
    bytes
}

/// The group in the file at `path`.
///
/// # Errors
/// It cannot be read, or its rows are not the permutations of a group.
pub fn read(path: &Path) -> Result<Action> {
    let refused = |what: &str| Error::file(path, what, "train again");
    let mut array = Array::open(path)?;
    let (order, degree) = (array.rows(), array.columns());
    if order == 0 || order > MOST_ELEMENTS || degree > usize::from(u16::MAX) {
        return Err(refused("not the permutations of a group"));
    }
    let mut elements = Vec::new();
    for row in array.read(0..order)?.chunks_exact(degree) {
        let images = row.iter().map(|n| n.re as u16).collect();
        let element = Permutation::new(images);
        elements.push(element.ok_or_else(|| refused("a row is no permutation of the inputs"))?);
    }
    let generated = Action::generated(&elements, order);
    generated
        .filter(|action| action.order() == order)
        .ok_or_else(|| refused("its permutations are not closed under multiplication"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bispectral_learn::group::known_action;

    #[test]
    fn a_group_is_read_as_it_was_written_and_a_part_of_it_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("permutations.npy");
        let action = known_action("D4", Some(9)).unwrap();
        std::fs::write(&path, bytes(&action)).unwrap();
        let found = read(&path).unwrap();
        assert_eq!((found.order(), found.degree()), (8, 9));
        assert!(action.elements().iter().all(|g| found.contains(g)));

        let whole = bytes(&action);
        let mut cut = npy::header(Element::Uint(2), [3, 9]);
        let first = whole.len() - 8 * 18;
        cut.extend(&whole[first..first + 3 * 18]);
        std::fs::write(&path, &cut).unwrap();
        let line = read(&path).unwrap_err().to_string();
        assert!(line.contains("permutations"), "{line}");
        let last = cut.len() - 18;
        cut.copy_within(last..last + 2, last + 2);
        std::fs::write(&path, cut).unwrap();
        let line = read(&path).unwrap_err().to_string();
        assert!(line.contains("a row is no permutation"), "{line}");
    }
}
