//! A group that does not commute, from images to a board: quarter turns and mirrors of small images are learned, named, exported
//! and classified on an emulated Cortex-M4F with the bits of this host.

use bispectral::{Arguments, run};
use bispectral_core::Model;
use bispectral_learn::classify::samples::Samples;
use bispectral_learn::data::npy;
use bispectral_learn::group::known_action;
use bispectral_tests::classified::answers;
use bispectral_tests::device::BOARDS;
use clap::Parser;
use ndarray::Array2;
use std::fs;
use std::path::Path;

const SIDE: usize = 8;
const SHAPES: usize = 6;

/// A pixel of a shape; `sample` changes it by some percent.
fn pixel(shape: usize, sample: usize, n: usize) -> f32 {
    let value = ((n * n * 7 + (shape + 2) * n * 29 + shape * 31 + 11) % 61) as f32 / 61.0 - 0.4;
    let noise = ((sample * 37 + n * 13 + n * n * sample * 5) % 23) as f32 / 23.0 - 0.5;
    value + 0.02 * noise
}

/// Every shape, moved by every element of D4, so many times with other noise.
fn images(first: usize, times: usize) -> Samples {
    let square = known_action("D4", Some(SIDE * SIDE)).expect("pixels");
    let (mut samples, mut labels) = (Vec::new(), Vec::new());
    for (shape, time) in (0..SHAPES).flat_map(|shape| (0..times).map(move |time| (shape, time))) {
        for (g, element) in square.elements().iter().enumerate() {
            let sample = first + time * square.order() + g;
            let image: Vec<f32> = (0..SIDE * SIDE).map(|n| pixel(shape, sample, n)).collect();
            samples.push(element.moved(&image));
            labels.push(shape as i64);
        }
    }
    let samples: Vec<[f32; SIDE * SIDE]> = samples
        .into_iter()
        .map(|image| image.try_into().expect("an image"))
        .collect();
    Samples {
        samples: samples.into(),
        labels,
        views: 1,
    }
}

fn write(samples: &Samples, folder: &Path) {
    let count = samples.labels.len();
    let values: Vec<f32> = samples.samples.iter().copied().collect();
    let values = Array2::from_shape_vec((count, SIDE * SIDE), values).expect("images");
    fs::write(folder.join("images.npy"), npy::real(&values.view())).expect("a file");
    let labels = samples.labels.iter().map(|&label| label as f32).collect();
    let labels = Array2::from_shape_vec((count, 1), labels).expect("labels");
    fs::write(folder.join("y.npy"), npy::real(&labels.view())).expect("a file");
}

#[test]
fn d4_is_learned_from_images_and_classifies_them_on_a_board() {
    let folder = tempfile::tempdir().expect("a folder");
    write(&images(0, 2), folder.path());
    let command = |line: &str| {
        let place = |word: &str| match word.strip_prefix('@') {
            Some(name) => folder.path().join(name).display().to_string(),
            None => word.to_owned(),
        };
        let words = ["bispectral", "--quiet"].into_iter().chain(line.split(' '));
        run(&Arguments::parse_from(words.map(place)))
    };
    for line in [
        "train --data @images.npy --labels @y.npy -o @run",
        "group @run --expect D4",
        "report @run",
        "export @run -o @few.bsn --pairs selective",
        "classify train @few.bsn --data @images.npy --labels @y.npy -o @c --hidden 12 --epochs 60 --batch 16 --lr 0.02",
        "classify export @c -o @c.bsn",
    ] {
        command(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
    let refused = command("group @run --expect Q8").expect_err("another group of order 8");
    assert!(refused.to_string().contains("the group is D4, not Q8"));

    let bytes = fs::read(folder.path().join("c.bsn")).expect("a model");
    let model = Model::from_bytes(&bytes).expect("a sound model");
    assert_eq!((model.group(), model.classes()), (Some("D4"), SHAPES));
    let test = images(1000, 1);
    let expected = answers(&model, &test).expect("answers");
    let right = expected.iter().zip(&test.labels);
    let right = right.filter(|(answer, label)| answer.class as i64 == **label);
    // The shapes differ by much more than their noise.
    assert_eq!(right.count(), test.labels.len());
    let board = BOARDS[0];
    board.build().expect("firmware");
    let found = board.classify(&bytes, &test).expect("answers");
    println!("{}", found.words);
    assert_eq!(found.answers, expected);
    assert_eq!(found.right, test.labels.len());
}
