//! Groups that move signals linearly, from labelled samples to models of couplings.

use bispectral_core::Model;
use bispectral_learn::analysis::evaluation::evaluate;
use bispectral_learn::data::orbits::Orbits;
use bispectral_learn::data::representation::{Representation, orthogonal};
use bispectral_learn::group::compact::{Compact, Moments};
use bispectral_learn::learn::Trainer;
use bispectral_learn::learn::phase::{LossName, Phase};
use bispectral_learn::model::couplings::{encode, largest_error, ordered};
use bispectral_learn::model::form::Encoding;
use bispectral_learn::{Options, learn};
use ndarray::Array2;

fn by_moments() -> Options {
    Options {
        phases: vec![Phase::new(LossName::Moments)],
        ..Options::default()
    }
}

fn rotations() -> Orbits {
    let group = Representation::so3(&[0, 1, 2]);
    group.orbits(120, 60, &orthogonal(9, 7), 0).unwrap()
}

#[test]
fn couplings_are_a_model_in_every_encoding_that_the_core_computes() {
    let orbits = rotations();
    let found = Compact::of(&Moments::of(&orbits).unwrap(), 0).unwrap();
    let group = found.name().to_string();
    let couplings = ordered(found.couplings());
    let unseen = Representation::so3(&[0, 1, 2]);
    let unseen = unseen.orbits(30, 10, &orthogonal(9, 7), 5).unwrap();
    // What is rounded: f32 in a sum of 9, f16 and i8 in U and in the tensors' magnitudes, as for permutations.
    let encodings = [Encoding::F32, Encoding::F16, Encoding::I8];
    for (encoding, bound) in encodings.into_iter().zip([2e-6, 3e-3, 3e-2]) {
        let bytes = encode(&couplings, encoding, "sphere", Some(&group)).unwrap();
        let model = Model::from_bytes(&bytes).unwrap();
        assert_eq!(model.group(), Some("SO(3)"));
        let off = largest_error(&model, &couplings, 20, 1).unwrap();
        let told = evaluate(&model, &unseen).unwrap();
        println!(
            "{encoding}: {} bytes, off by {off:.1e}, within {:.1e}, between {:.2}",
            bytes.len(),
            told.within,
            told.between
        );
        assert!(off < bound, "{encoding}: {off:e}");
        assert!(told.between > 20.0 * told.within, "{encoding}: {told:?}");
    }
}

#[test]
fn a_run_names_groups_that_move_signals_linearly() {
    let torus = [[0, 0], [1, 0], [0, 1], [1, 1], [1, -1], [2, 1]].map(|order| order.to_vec());
    let signs = [
        (0, false),
        (0, true),
        (1, false),
        (1, true),
        (2, false),
        (2, true),
    ];
    for (group, name) in [
        (Representation::so2(&[0, 1, 2, 3]), "SO(2)"),
        (Representation::o2(&[0, 1, 2, 3]), "O(2)"),
        (Representation::torus(&torus), "T2"),
        (Representation::so2_and_sign(&signs), "SO(2)xZ2"),
        (Representation::so3(&[0, 1, 2, 3]), "SO(3)"),
    ] {
        let mixing = orthogonal(group.dimension(), 7);
        let orbits = group.orbits(400, 60, &mixing, 1).unwrap();
        let learned = learn(&orbits, &by_moments()).unwrap();
        let found = learned.group().unwrap_or_else(|| panic!("no {name}"));
        println!("{name}: {:?}, {:?}", found.irreps, learned.evaluation());
        assert_eq!(found.name, name);
        assert_eq!(learned.model().view().group(), Some(name));
        assert!(found.is_coupled() && found.irreps.iter().all(|irrep| !irrep.orders.is_empty()));
        let told = learned.evaluation();
        assert!(told.between > 20.0 * told.within, "{name}: {told:?}");
    }
}

#[test]
fn samples_without_a_symmetry_have_no_group() {
    // Points with noise around them, and labels that belong to nothing.
    let hash = |k: usize| {
        let k = (k as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((k ^ k >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f32 / (1 << 24) as f32 - 0.5
    };
    for noise in [0.3, 1e6] {
        let sample = |(m, n): (usize, usize)| hash(m / 40 * 9 + n) + noise * hash(7777 + m * 9 + n);
        let samples = Array2::from_shape_fn((100 * 40, 9), sample);
        let labels: Vec<i64> = (0..100 * 40).map(|m| m / 40).collect();
        let orbits = Orbits::labelled(samples, &labels).unwrap();
        let learned = learn(&orbits, &by_moments()).unwrap();
        assert_eq!(learned.group(), None, "noise {noise}");
    }
}

#[test]
fn a_run_that_goes_on_ends_with_the_same_bits() {
    let orbits = rotations();
    let mut options = Options {
        phases: [LossName::SecondOrder, LossName::Moments]
            .map(Phase::new)
            .to_vec(),
        restarts: Some(0),
        ..Options::default()
    };
    options.phases[0].steps = 6;
    let whole = learn(&orbits, &options).unwrap();
    assert_eq!(whole.group().unwrap().name, "SO(3)");
    for taken in [3, 6, 7] {
        let mut trainer = Trainer::new(&orbits, &options).unwrap();
        for _ in 0..taken {
            trainer.step().unwrap();
        }
        let resumed = Trainer::resume(&orbits, &options, trainer.checkpoint(0, 0)).unwrap();
        let resumed = resumed.finish().unwrap();
        assert_eq!(
            (resumed.model(), resumed.steps()),
            (whole.model(), whole.steps())
        );
    }
}

#[test]
fn what_comes_before_moments_is_the_same_with_and_without_them() {
    let group = Representation::so3(&[0, 1]);
    let orbits = group.orbits(30, 10, &orthogonal(4, 7), 0).unwrap();
    let with = |phases: &[LossName]| {
        let mut options = Options {
            phases: phases.iter().map(|&loss| Phase::new(loss)).collect(),
            restarts: Some(1),
            ..Options::default()
        };
        options.phases[0].steps = 5;
        let mut trainer = Trainer::new(&orbits, &options).unwrap();
        let mut steps = Vec::new();
        while let Some(step) = trainer.step().unwrap() {
            steps.push(step);
        }
        (steps, trainer.weights())
    };
    let (before, w) = with(&[LossName::SecondOrder]);
    let (after, same) = with(&[LossName::SecondOrder, LossName::Moments]);
    assert_eq!((&before[..], w), (&after[..before.len()], same));
    assert_eq!((before.len(), after.len()), (10, 11));
}
