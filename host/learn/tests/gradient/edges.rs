//! Zeros, coinciding members, extreme magnitudes, and batches that do not fit.

use super::random::{objectives, random_network, random_samples};
use super::{gradient_of, relative};
use bispectral_learn::network::{Objective, SecondOrder, Workspace};

#[test]
fn a_sample_may_be_zero_and_members_may_coincide() {
    let (rows, inputs) = (6, 11);
    let network = random_network::<f64>(rows, inputs, 8);
    let one = random_samples::<f64>(inputs, &[1], 9);
    let samples = [
        &one[..],
        &one,
        &vec![0.0; inputs],
        &one,
        &vec![0.0; 2 * inputs],
    ]
    .concat();
    let mut workspace = Workspace::new();
    for objective in objectives() {
        let loss = workspace
            .loss_and_gradient(&network, &samples, &[2, 2, 2], &objective)
            .expect("finite");
        // Two that coincide, one of unit length with zero, and two zeros.
        assert!((loss.invariance - 1.0 / 3.0).abs() < 1e-15, "{loss:?}");
        assert!(gradient_of(&workspace).iter().all(|g| g.is_finite()));
        // None of these distances changes with W, so the gradient is that of the reconstruction.
        let alone = gradient_of(&workspace);
        workspace
            .loss_and_gradient(&network, &samples, &[1; 6], &objective)
            .expect("finite");
        assert!(relative(alone, gradient_of(&workspace)) < 1e-14);
    }
    let loss = workspace.second_order(
        &network,
        &vec![0.0; 3 * inputs],
        &[3],
        &SecondOrder::default(),
    );
    assert_eq!(loss.expect("finite").invariance, 0.0);
    assert!(gradient_of(&workspace).iter().all(|g| g.is_finite()));
}

/// β̄ and hence the invariance does not depend on the magnitude of samples, to the last bit for powers of two.
#[test]
fn samples_of_any_magnitude_have_the_same_invariance() {
    let (rows, inputs, orbits) = (9, 12, [3, 2]);
    let network = random_network::<f32>(rows, inputs, 10);
    let samples = random_samples::<f32>(inputs, &orbits, 11);
    let mut workspace = Workspace::new();
    let objective = Objective {
        gamma: 0.0,
        ..Objective::default()
    };
    let mut step = |scale: f32| {
        let samples: Vec<f32> = samples.iter().map(|x| x * scale).collect();
        let loss = workspace.loss_and_gradient(&network, &samples, &orbits, &objective);
        (loss.expect("finite").invariance, gradient_of(&workspace))
    };
    let (loss, gradient) = step(1.0);
    for exponent in [-100, -20, 3, 60] {
        let (scaled, its) = step(2f32.powi(exponent));
        assert_eq!(scaled, loss, "2^{exponent}");
        assert_eq!(its, gradient, "2^{exponent}");
    }
}

#[test]
fn a_batch_that_does_not_fit_is_refused() {
    let network = random_network::<f64>(2, 3, 12);
    let mut workspace = Workspace::new();
    let mut refusal = |samples: &[f64], orbits: &[usize]| {
        let loss = workspace.loss(&network, samples, orbits, &Objective::default());
        loss.expect_err("does not fit").to_string()
    };
    assert!(refusal(&[], &[]).contains("0 numbers are not samples of 3"));
    assert!(refusal(&[1.0; 7], &[2]).contains("7 numbers are not samples of 3"));
    assert!(refusal(&[1.0; 6], &[1]).contains("1 members, but there are 2 samples"));
    assert!(refusal(&[1.0, 1.0, f64::NAN], &[1]).contains("sample 0 of the batch"));
}
