//! RotatedDigits images, and small classifiers of them, learned in seconds: W from photographs, a perceptron from any images.

use bispectral::{self as cli, Arguments};
use bispectral_core::Model;
use bispectral_experiments::mnist::{Digits, Half};
use bispectral_experiments::rotated_digits::{RotatedDigits, Window};
use bispectral_learn::Result;
use bispectral_learn::classify::classifier::Classifier;
use bispectral_learn::classify::prepared::{Prepared, Recipe};
use bispectral_learn::classify::protocol::{Protocol, RateSchedule};
use bispectral_learn::classify::samples::Samples;
use bispectral_learn::data::rotate::{DEGREES, Rotation};
use bispectral_run::photographs::natural::photographs;
use bispectral_run::photographs::patches::{Patches, Support};
use clap::Parser;
use ndarray::Array2;
use std::fs;
use std::path::Path;

/// A model of `rows` rows for images of `size` × `size` pixels, learned from photographs that are turned.
///
/// # Panics
/// It cannot be learned.
#[must_use]
pub fn rotations(size: usize, rows: usize) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = folder.path().join("run");
    let line = format!(
        "bispectral train --images natural --transform rotate --size {size} --rows {rows} \
         --phases second-order --steps 600 --quiet -o"
    );
    let words = line.split_whitespace().map(Into::into);
    let arguments = Arguments::parse_from(words.chain([run.clone().into_os_string()]));
    cli::run(&arguments).expect("a model");
    fs::read(run.join("model.bsn")).expect("a model")
}

/// Patches of the photographs, each a class of its own, turned `turns` times by angles all round that begin with `first`.
///
/// # Panics
/// There are not so many patches.
#[must_use]
pub fn patches(size: usize, classes: usize, turns: usize, first: usize) -> Samples {
    let patches = Patches {
        size,
        count: classes,
        support: Support::Disk,
        ..Patches::default()
    };
    let patches = patches.cut(&photographs(), 0).expect("patches");
    let mut samples = Array2::zeros((classes * turns, size * size));
    for (at, mut sample) in samples.rows_mut().into_iter().enumerate() {
        // 137 has no divisor in common with 360: no angle comes twice.
        let rotation = Rotation::in_disk(size, (first + 137 * at) % DEGREES);
        let patch = patches.row(at % classes).to_vec();
        rotation.apply(&patch, sample.as_slice_mut().expect("a row in one piece"));
    }
    let labels = (0..classes * turns).map(|at| (at % classes) as i64);
    Samples {
        samples,
        labels: labels.collect(),
        views: 1,
    }
}

/// The first digits of a half of MNIST, each turned: those of `bispectral classify evaluate` with the same seed and window.
///
/// # Errors
/// There are none in the folder, or they are damaged.
pub fn digits(
    folder: &Path,
    half: Half,
    count: usize,
    [size, window]: [usize; 2],
    seed: u64,
) -> Result<Samples> {
    let digits = Digits::read(folder, half)?.first(count);
    let window = Window {
        pixels: window as f64,
        ..Window::default()
    };
    Ok(Samples {
        views: window.places,
        samples: digits.turned(&RotatedDigits::new(size, window, seed)),
        labels: digits.labels().iter().map(|&label| label.into()).collect(),
    })
}

/// A perceptron with one hidden layer, of the model's invariants.
///
/// # Panics
/// It cannot be trained on these samples.
#[must_use]
pub fn classifier(model: Model<'_>, samples: &Samples) -> Classifier {
    let protocol = Protocol {
        hidden: vec![24],
        epochs: 12,
        batch: 32,
        rate: 0.01,
        schedule: RateSchedule::Cosine,
        ..Protocol::default()
    };
    let recipe = Recipe {
        components: 40,
        protocol,
        ..Recipe::default()
    };
    let prepared = Prepared::new(model, samples, &[], &recipe, 0, &mut |_| ());
    let trained = prepared.and_then(|ready| ready.train(&recipe.protocol, 0, &mut |_| ()));
    trained.expect("a classifier").0
}
