//! MNIST's own files, where they are at hand.

use bispectral_experiments::mnist;
use bispectral_learn::data::idx;
use bispectral_tests::skipped;

#[test]
fn mnist_is_read_as_its_authors_describe_it() {
    let Some(folder) = mnist::folder(None) else {
        return skipped("mnist", mnist::NONE);
    };
    for (name, count, first) in [("train", 60_000, 5), ("t10k", 10_000, 7)] {
        let file = |kind: &str| folder.join(format!("{name}-{kind}-ubyte.gz"));
        let images = idx::images(&file("images-idx3")).expect("images");
        assert_eq!(images.dim(), (count, 28, 28));
        let labels = idx::labels(&file("labels-idx1")).expect("labels");
        assert_eq!((labels.len(), labels[0]), (count, first));
        assert!(labels.iter().all(|label| *label < 10));
    }
}
