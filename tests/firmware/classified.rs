//! Signals that two emulated boards classify: every score must have the bits that this host's has, and what cannot be
//! classified must be refused.

use bispectral_core::Model;
use bispectral_core::format::{Head, Layer, Layers, Parts, Weights};
use bispectral_experiments::mnist::{self, Half};
use bispectral_learn::classify::device::Encoding;
use bispectral_learn::classify::samples::Samples;
use bispectral_learn::model::file::encode;
use bispectral_tests::classified::{BOARDS, answers, message};
use bispectral_tests::device::Board;
use bispectral_tests::{rotated, skipped};

/// Learns a classifier of turned images, and compares what the boards take `test` for with what this host does, all bits
/// of all scores; how many of the answers are right, with weights of f32 and of i8.
fn right_on_every_board(w: &[u8], training: &Samples, test: &Samples) -> [usize; 2] {
    let boards = &BOARDS;
    let built = boards.iter().try_for_each(Board::build);
    built.expect("firmware");
    let w = Model::from_bytes(w).expect("a sound model");
    let classifier = rotated::classifier(w, training);
    let folded = classifier.folded().expect("a classifier for devices");
    [Encoding::F32, Encoding::I8].map(|encoding| {
        let bytes = folded.behind(&w, encoding).expect("a model");
        let model = Model::from_bytes(&bytes).expect("a sound model");
        let expected = answers(&model, test).expect("answers");
        let labelled = expected.iter().zip(&test.labels);
        let right = labelled.filter(|(answer, label)| answer.class as i64 == **label);
        let right = right.count();
        for board in boards {
            let found = board.classify(&bytes, test).expect("answers");
            println!("{}", found.words);
            assert_eq!(found.answers, expected, "{} {encoding:?}", board.name);
            assert_eq!(found.right, right, "{} {encoding:?}", board.name);
            assert_eq!(found.instructions.is_some(), board.name == "M4F");
        }
        right
    })
}

#[test]
fn turned_patches_are_classified_with_the_hosts_bits() {
    let [training, test] =
        [(40, 0), (12, 100)].map(|(turns, first)| rotated::patches(8, 10, turns, first));
    for right in right_on_every_board(&rotated::rotations(8, 16), &training, &test) {
        // 12 would be by chance.
        assert!(right >= 90, "{right} of 120");
    }
}

#[test]
fn turned_digits_are_classified_with_the_hosts_bits_where_they_are_at_hand() {
    let Some(folder) = mnist::folder(None) else {
        return skipped("mnist", mnist::NONE);
    };
    let [training, test] = [(Half::Training, 3000), (Half::Test, 120)]
        .map(|(half, count)| rotated::digits(&folder, half, count, [16, 28], 0).expect("MNIST"));
    for right in right_on_every_board(&rotated::rotations(16, 32), &training, &test) {
        // 12 would be by chance.
        assert!(right >= 80, "{right} of 120");
    }
}

/// A model with one row of so many inputs, and a perceptron with these outputs of its layers.
fn with_head(inputs: u16, sizes: &[u16]) -> Vec<u8> {
    let weights = vec![1.0; 2 * usize::from(inputs)];
    let entering = [2].into_iter().chain(sizes.iter().copied());
    let numbers: Vec<(Vec<f32>, Vec<f32>)> = entering
        .zip(sizes)
        .map(|(from, to)| (usize::from(from), usize::from(*to)))
        .map(|(from, to)| (vec![0.5; from * to], vec![0.5; to]))
        .collect();
    let layers: Vec<Layer<'_>> = numbers
        .iter()
        .map(|(weights, biases)| Layer { weights, biases })
        .collect();
    let parts = Parts {
        inputs,
        rows: 1,
        weights: Weights::F32((&weights).into()),
        head: if layers.is_empty() {
            Head::default()
        } else {
            Head::Perceptron(Layers::F32(&layers))
        },
        ..Parts::default()
    };
    encode(&parts).expect("a model")
}

#[test]
fn what_cannot_be_classified_is_refused_in_one_line() {
    let boards = &BOARDS;
    boards.iter().try_for_each(Board::build).expect("firmware");
    let signals = |samples: &[[f32; 4]], labels: &[i64]| {
        message(&Samples {
            samples: samples.to_vec().into(),
            labels: labels.to_vec(),
            views: 1,
        })
    };
    let [x, zero] = [[1.0, -2.0, 0.5, 0.0], [0.0; 4]];
    let (model, good) = (with_head(4, &[3]), signals(&[x, x], &[0, 2]));
    for board in boards {
        let sent = board.send("digits", &[&model[..], &good].concat());
        // All scores are equal, and the first is the answer.
        let words = sent.expect("answers");
        assert!(
            words.contains("right        1 of 2, wrong 1: 2>0 1\n"),
            "{words}"
        );
    }
    let mut flipped = good.clone();
    flipped[8] ^= 1;
    let behind = |bytes: &[u8]| [&model[..], bytes].concat();
    for (bytes, refusal) in [
        (vec![0; 64], "not a bispectral model"),
        (model[..model.len() - 9].to_vec(), "checksum differs"),
        ([with_head(4, &[]), good.clone()].concat(), "no classifier"),
        (model.clone(), "missing, truncated or damaged"),
        (
            behind(&good[..good.len() - 5]),
            "missing, truncated or damaged",
        ),
        (behind(&flipped), "missing, truncated or damaged"),
        (
            behind(&signals(&[], &[])),
            "0 bytes of samples for 0 signals",
        ),
        (
            behind(&signals(&[x, x], &[1])),
            "32 bytes of samples for 1 signals of 4",
        ),
        (
            behind(&signals(&[x, x], &[2, 3])),
            "signal 1: its label is 3, the model has 3 classes",
        ),
        (
            behind(&signals(&[x, zero], &[2, 1])),
            "signal 1: every sample is zero",
        ),
        (
            with_head(1025, &[3]),
            "needs 1025 inputs, there is room for 1024",
        ),
        (
            with_head(4, &[4096, 3]),
            "needs 8202 elements of scratch, there is room for 8192",
        ),
        (
            with_head(4, &[257]),
            "needs 257 classes, there is room for 256",
        ),
        (vec![0; (1 << 24) + 1], "there is room for 16777216"),
    ] {
        for board in boards {
            let line = board.send("digits", &bytes).expect_err(refusal);
            assert!(
                line.contains(refusal) && line.lines().count() == 1,
                "{}: {line}",
                board.name
            );
        }
    }
}
