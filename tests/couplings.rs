//! Couplings from the group to five emulated boards: the octahedral group on its 24 elements, in every form.

use bispectral_core::Model;
use bispectral_learn::model::couplings::{decode, encode, largest_error, ordered};
use bispectral_learn::model::form::{Encoding, Form, Source, Structure};
use bispectral_learn::model::instructions::{MARGIN, estimate};
use bispectral_tests::device::{self, BOARDS, M3};
use bispectral_tests::{example, octahedral, sphere};
use std::path::Path;

const ENCODINGS: [Encoding; 3] = [Encoding::F32, Encoding::F16, Encoding::I8];

/// The model of all terms, which knows its selective set.
fn model() -> Vec<u8> {
    let couplings = octahedral::couplings();
    encode(&couplings, Encoding::F32, "octahedral", Some("S4")).expect("a model")
}

/// The model of some terms, in this encoding.
fn form(source: &Source, encoding: Encoding, terms: Option<usize>) -> Vec<u8> {
    let form = Form {
        encoding,
        structure: Structure::Couplings,
        pairs: terms.map(|count| (0..count).map(|term| (term, term)).collect()),
    };
    source.form(&form, None).expect("this form")
}

fn signals(count: usize) -> Vec<Vec<f32>> {
    let sample =
        |k: usize, n: usize| ((n * n * 7 + k * n * 5 + n * 3 + 11 * k) % 61) as f32 / 61.0 - 0.375;
    (1..=count)
        .map(|k| (0..octahedral::ORDER).map(|n| sample(k, n)).collect())
        .collect()
}

#[test]
fn a_model_is_the_couplings_it_was_made_of_and_every_encoding_is_near_them() {
    let couplings = ordered(&octahedral::couplings());
    let bytes = model();
    let model = Model::from_bytes(&bytes).expect("a sound model");
    let read = decode(&model).expect("couplings");
    assert_eq!(read.terms(), couplings.terms());
    assert_eq!(read.selective(), couplings.selective());
    let source = Source::new(Path::new("octahedral"), &model);
    // What is rounded: f32 in a sum of 24, f16 and i8 in U and in the tensors' magnitudes.
    for (encoding, bound) in ENCODINGS.into_iter().zip([2e-6, 3e-3, 3e-2]) {
        let bytes = form(&source, encoding, None);
        let model = Model::from_bytes(&bytes).expect("a sound model");
        let off = largest_error(&model, &couplings, 20, 1).expect("signals with invariants");
        println!("{encoding}: {} bytes, off by {off:.1e}", bytes.len());
        assert!(off < bound, "{encoding}: {off:e}");
    }
}

#[test]
fn every_rotation_leaves_the_invariants_and_different_signals_have_others() {
    let bytes = model();
    let model = Model::from_bytes(&bytes).expect("a sound model");
    let signals = signals(6);
    let distance = |a: &[f32], b: &[f32]| {
        let [a, b] = [a, b].map(|x| model.invariants_vec(x).expect("a signal"));
        a.iter()
            .zip(b)
            .map(|(a, b)| (a - b).norm_sqr())
            .sum::<f32>()
            .sqrt()
    };
    for (k, x) in signals.iter().enumerate() {
        for h in 0..octahedral::ORDER {
            let moved: Vec<f32> = octahedral::moved_by(h).iter().map(|&n| x[n]).collect();
            assert!(distance(x, &moved) < 1e-5);
        }
        for other in &signals[..k] {
            assert!(distance(x, other) > 1e-2);
        }
    }
}

/// Of the selective model on a Cortex-M4F: 11,564 in f32, 12,389 in f16 and 12,058 in i8 are counted.
const MOST_INSTRUCTIONS: u64 = 15_000;

#[test]
fn five_boards_have_the_hosts_bits_and_the_selective_model_its_instructions() {
    let bytes = model();
    let full = Model::from_bytes(&bytes).expect("a sound model");
    let source = Source::new(Path::new("octahedral"), &full);
    let selective = source.couplings().and_then(|c| c.selective());
    let x = device::signal(octahedral::ORDER);
    for board in BOARDS.iter().chain([&M3]) {
        board.build().expect("firmware");
        for terms in [None, selective] {
            for encoding in ENCODINGS {
                let bytes = form(&source, encoding, terms);
                let model = Model::from_bytes(&bytes).expect("a sound model");
                let counted = board.count(&bytes).expect("room for it");
                assert_eq!(counted.checksum, example::checksum(&model, &x));
                println!(
                    "{} {encoding}: {} terms, {} bytes, {:?} instructions, stack {}",
                    board.name,
                    model.pairs(),
                    bytes.len(),
                    counted.instructions,
                    counted.stack
                );
                if let ("M4F", Some(instructions)) = (board.name, counted.instructions) {
                    let off = estimate(&model) as f64 / instructions as f64 - 1.0;
                    assert!(off.abs() <= MARGIN, "estimate off by {:.1} %", 100.0 * off);
                }
                if let ("M4F", Some(_), Some(instructions)) =
                    (board.name, terms, counted.instructions)
                {
                    assert!(
                        instructions <= MOST_INSTRUCTIONS,
                        "{encoding}: {instructions}"
                    );
                }
            }
        }
    }
}

#[test]
fn rotations_of_a_sphere_that_were_learned_have_the_hosts_bits_on_five_boards() {
    let couplings = sphere::learned(3, 300);
    let models = ENCODINGS.map(|encoding| {
        let bytes = encode(&couplings, encoding, "sphere", Some("SO(3)")).expect("a model");
        let model = Model::from_bytes(&bytes).expect("a sound model");
        // Degrees 0 to 3: one of order one, three of order two, (1,1,2), (1,2,3), (2,2,2), (2,3,3), and seven of order four.
        assert_eq!(model.pairs(), 15);
        let checksum = example::checksum(&model, &device::signal(model.inputs()));
        (bytes, checksum)
    });
    for board in BOARDS.iter().chain([&M3]) {
        board.build().expect("firmware");
        for (encoding, (bytes, checksum)) in ENCODINGS.iter().zip(&models) {
            let counted = board.count(bytes).expect("room for it");
            println!(
                "{} {encoding}: {} bytes, {:?} instructions",
                board.name,
                bytes.len(),
                counted.instructions
            );
            assert_eq!(counted.checksum, *checksum, "{} {encoding}", board.name);
        }
    }
}
