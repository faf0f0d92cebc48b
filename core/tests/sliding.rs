//! A window that slides over a stream has the bits of one that was just filled, however many samples went by, and the results
//! of the whole transform up to its roundings. `cargo run --release -p bispectral-core --example sliding -- 10000000` is the long
//! form.
#![cfg(all(feature = "fft", feature = "i32", feature = "dense"))]

#[path = "sliding/mod.rs"]
mod sliding;

use bispectral_core::{Error, Model, Sizes, Sliding};
use sliding::{FORMS, Stream, distance, model};

#[test]
fn after_twenty_thousand_samples_every_bit_is_that_of_a_fresh_window() {
    for form in FORMS {
        let bytes = model(form, 64);
        let model = Model::from_bytes(&bytes).unwrap();
        let mut stream = Stream::new(1);
        let mut window = Sliding::<i16, 64, 33>::new(model).unwrap();
        let mut last = Vec::new();
        for _ in 0..20_000 {
            let sample = stream.next();
            last.push(sample);
            window.push(sample).unwrap();
        }
        // 20,000 is 32 more than a multiple of 64: the window begins at the 32nd input.
        let begun = &last[last.len() - 32 - 64..];
        let mut fresh = Sliding::<i16, 64, 33>::new(model).unwrap();
        fresh.extend(begun).unwrap();
        let features = |window: &Sliding<'_, i16, 64, 33>| {
            let mut out = vec![0.0; model.feature_count()];
            let mut scratch = vec![f32::NAN; model.scratch_len()];
            window.features(&mut scratch, &mut out).unwrap();
            out.iter().map(|part| part.to_bits()).collect::<Vec<_>>()
        };
        assert_eq!(features(&window), features(&fresh), "{form:?}");
    }
}

#[test]
fn a_window_at_any_time_has_the_invariants_of_the_whole_transform() {
    for form in FORMS {
        let bytes = model(form, 64);
        let model = Model::from_bytes(&bytes).unwrap();
        let worst = distance(model, &mut Stream::new(2), 2_000, 37);
        // Both are rounded, each as `docs/numerics.md` says.
        assert!(worst < 2e-6, "{form:?}: {worst:e}");
        assert!(worst > 0.0, "nothing was compared");
    }
}

#[test]
fn floats_are_rounded_to_the_range_and_nothing_else() {
    let bytes = model(FORMS[0], 64);
    let model = Model::from_bytes(&bytes).unwrap();
    let mut whole = Sliding::<i16, 64, 33>::new(model).unwrap();
    let mut floats = Sliding::<f32, 64, 33>::with_range(model, 40_000.0).unwrap();
    let mut stream = Stream::new(3);
    for _ in 0..1000 {
        let sample = stream.next();
        whole.push(sample).unwrap();
        floats.push(sample.into()).unwrap();
    }
    let (mut scratch, mut a) = (
        vec![0.0; model.scratch_len()],
        vec![0.0; model.feature_count()],
    );
    let mut b = a.clone();
    whole.features(&mut scratch, &mut a).unwrap();
    floats.features(&mut scratch, &mut b).unwrap();
    assert_eq!(a, b);
    assert_eq!(
        floats.push(f32::NAN),
        Err(Error::NonFiniteInput { index: 0 })
    );
    floats.features(&mut scratch, &mut b).unwrap();
    assert_eq!(a, b);
    // What is out of range counts as the largest number.
    floats.push(1e30).unwrap();
    floats.features(&mut scratch, &mut b).unwrap();
    assert!(b.iter().all(|part| part.is_finite()));
}

#[test]
fn a_window_that_is_not_full_and_a_model_that_cannot_follow_are_refused() {
    let bytes = model(FORMS[0], 64);
    let model_ = Model::from_bytes(&bytes).unwrap();
    assert_eq!(Sizes::of(&bytes).unwrap().characters, 33);
    let mut window = Sliding::<i16, 70, 40>::new(model_).unwrap();
    assert_eq!(window.characters(), 33);
    window.extend(&[1; 63]).unwrap();
    assert!(!window.is_full());
    let (mut scratch, mut out) = (
        vec![0.0; model_.scratch_len()],
        vec![0.0; model_.feature_count()],
    );
    let (needed, found) = (64, 63);
    let refused = window.features(&mut scratch, &mut out);
    assert_eq!(refused, Err(Error::InputLength { needed, found }));
    window.push(5).unwrap();
    assert_eq!(window.features(&mut scratch, &mut out), Ok(()));

    let (needed, found) = (33, 32);
    let refused = Sliding::<i16, 64, 32>::new(model_).unwrap_err();
    assert_eq!(refused, Error::OutputLength { needed, found });
    let refused = Sliding::<i16, 63, 33>::new(model_).unwrap_err();
    let (needed, found) = (64, 63);
    assert_eq!(refused, Error::InputLength { needed, found });
    let z4 = include_bytes!("../models/z4.bsn");
    let dense = Model::from_bytes(z4).unwrap();
    assert_eq!(
        Sliding::<i16, 4, 4>::new(dense).unwrap_err(),
        Error::NotSliding
    );
    let mixed = sliding::shuffled();
    let mixed = Model::from_bytes(&mixed).unwrap();
    assert_eq!(
        Sliding::<i16, 8, 8>::new(mixed).unwrap_err(),
        Error::NotSliding
    );
    // Z12 as Z3 × Z4, whose inputs go round both.
    let product = sliding::product();
    let worst = distance(
        Model::from_bytes(&product).unwrap(),
        &mut Stream::new(4),
        200,
        5,
    );
    assert!(worst > 0.0 && worst < 2e-6, "{worst:e}");
}

#[test]
fn few_rows_track_few_characters() {
    // Rows 1 to 4 and sums up to 8.
    let bytes = sliding::harmonics(64, 4);
    let model = Model::from_bytes(&bytes).unwrap();
    let window = Sliding::<u16, 64, 8>::new(model).unwrap();
    assert_eq!(window.characters(), 8);
    let worst = distance(model, &mut Stream::new(5), 500, 11);
    assert!(worst > 0.0 && worst < 2e-6, "{worst:e}");
}
