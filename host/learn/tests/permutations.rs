//! Groups learned from few orbits by matching members: whole, partial and noisy; and sets that are no group.

use bispectral_learn::Orbits;
use bispectral_learn::group::{Action, Permutation, groups_of_order, known_action};
use bispectral_learn::learn::permutations::{NoPermutations, Permuted, permutations};
use bispectral_learn::ndarray::Array2;
use rand::seq::{SliceRandom, index};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

fn normal(random: &mut ChaCha8Rng) -> f64 {
    random.sample(StandardNormal)
}

/// Samples with the number of their orbit.
struct Samples {
    random: ChaCha8Rng,
    inputs: usize,
    values: Vec<f32>,
    labels: Vec<i64>,
}

impl Samples {
    fn new(inputs: usize, seed: u64) -> Self {
        Samples {
            random: ChaCha8Rng::seed_from_u64(seed),
            inputs,
            values: Vec::new(),
            labels: Vec::new(),
        }
    }

    fn signal(&mut self) -> Vec<f64> {
        (0..self.inputs).map(|_| normal(&mut self.random)).collect()
    }

    fn add(&mut self, label: usize, x: &[f64], noise: f64) {
        for &x in x {
            self.values
                .push((x + noise * normal(&mut self.random)) as f32);
        }
        self.labels.push(label as i64);
    }

    fn orbits(self) -> Orbits {
        let shape = (self.labels.len(), self.inputs);
        let samples = Array2::from_shape_vec(shape, self.values).unwrap();
        Orbits::labelled(samples, &self.labels).unwrap()
    }
}

/// `count` orbits of random signals, each with this share of its members and this noise.
fn orbits(action: &Action, count: usize, share: f64, noise: f64, seed: u64) -> Orbits {
    let mut samples = Samples::new(action.degree(), seed);
    let kept = ((share * action.order() as f64).round() as usize).max(2);
    for label in 0..count {
        let x = samples.signal();
        for g in index::sample(&mut samples.random.clone(), action.order(), kept) {
            samples.add(label, &action.elements()[g].moved(&x), noise);
        }
    }
    samples.orbits()
}

fn same(found: &Result<Permuted, NoPermutations>, action: &Action) -> bool {
    found.as_ref().is_ok_and(|found| {
        let elements = action.elements();
        found.action.order() == elements.len()
            && elements
                .iter()
                .all(|element| found.action.contains(element))
    })
}

#[test]
fn every_group_of_up_to_16_elements_is_found_whole_partial_and_noisy() {
    for name in (4..=16).flat_map(groups_of_order) {
        let action = known_action(&name, None).unwrap();
        for (count, share, noise) in [(3, 1.0, 0.0), (10, 0.7, 0.05), (16, 0.5, 0.05)] {
            let found = permutations(&orbits(&action, count, share, noise, 1), 0);
            assert!(same(&found, &action), "{name}, {count} orbits: {found:?}");
        }
    }
}

#[test]
fn actions_need_not_be_regular() {
    for (name, inputs) in [
        ("D4", 64),
        ("Z4", 64),
        ("D6", 19),
        ("D16", 16),
        ("D5", 5),
        ("O", 6),
        ("O", 8),
        ("O", 12),
        ("A4", 4),
        ("S4", 4),
        ("Q8", 16),
        ("S3", 9),
        ("D4", 256),
    ] {
        let action = known_action(name, Some(inputs)).unwrap();
        for (count, share, noise) in [(3, 1.0, 0.0), (10, 0.7, 0.05), (16, 0.5, 0.05)] {
            let found = permutations(&orbits(&action, count, share, noise, 2), 0);
            assert!(
                same(&found, &action),
                "{name} on {inputs}, {count} orbits: {found:?}"
            );
        }
    }
}

#[test]
fn large_groups_and_images_are_found() {
    for (name, inputs, count, share, noise) in [
        ("Z16xZ16", 256, 3, 1.0, 0.0),
        ("Z16xZ16", 256, 3, 0.5, 0.05),
        ("D4", 784, 3, 1.0, 0.0),
        ("D4", 784, 12, 0.7, 0.05),
        ("D4", 784, 12, 0.5, 0.05),
        ("A5", 60, 12, 0.5, 0.05),
    ] {
        let action = known_action(name, Some(inputs)).unwrap();
        let orbits = orbits(&action, count, share, noise, 1);
        let begun = std::time::Instant::now();
        let found = permutations(&orbits, 0);
        println!(
            "{name} on {inputs}, {count} orbits of {share}, noise {noise}: {:?}",
            begun.elapsed()
        );
        assert!(same(&found, &action), "{name}: {found:?}");
    }
}

#[test]
fn what_the_data_does_not_show_is_refused_and_never_another_group() {
    for (name, inputs) in [
        ("D4", None),
        ("Q8", None),
        ("S3", None),
        ("D4", Some(64)),
        ("A4", None),
        ("D6", Some(19)),
    ] {
        let action = known_action(name, inputs).unwrap();
        for seed in 0..20 {
            let found = permutations(&orbits(&action, 3, 0.5, 0.05, seed), seed);
            assert!(
                found.is_err() || same(&found, &action),
                "{name}, seed {seed}: {found:?}"
            );
        }
    }
}

#[test]
fn sets_that_are_no_group_are_refused() {
    for seed in 0..22 {
        for (what, orbits) in [
            ("unrelated signals", unrelated(seed)),
            (
                "other permutations in every orbit",
                unrelated_permutations(seed),
            ),
            ("mixtures of a cyclic group", mixed(seed)),
            ("turned by interpolation", interpolated(seed)),
            ("nothing but noise", noise_alone(seed)),
        ] {
            let found = permutations(&orbits, seed);
            assert!(found.is_err(), "{what}, seed {seed}: {found:?}");
        }
    }
}

#[test]
fn strangers_and_mislabelled_members_change_nothing() {
    for name in ["D8", "S4", "A5"] {
        let action = known_action(name, None).unwrap();
        for (strangers, mislabelled) in [(0.2, 0.0), (0.0, 0.2), (0.1, 0.1)] {
            let mut samples = Samples::new(action.degree(), 5);
            let signals: Vec<Vec<f64>> = (0..24).map(|_| samples.signal()).collect();
            for (label, x) in signals.iter().enumerate() {
                for element in action.elements() {
                    let kind: f64 = samples.random.random();
                    let x = if kind < strangers {
                        samples.signal()
                    } else if kind < strangers + mislabelled {
                        element.moved(&signals[samples.random.random_range(0..24)])
                    } else {
                        element.moved(x)
                    };
                    samples.add(label, &x, 0.05);
                }
            }
            let found = permutations(&samples.orbits(), 0);
            assert!(same(&found, &action), "{name}, {strangers}: {found:?}");
        }
    }
}

#[test]
fn thirty_percent_of_noise_change_nothing() {
    for name in ["D8", "S4", "A5"] {
        let action = known_action(name, None).unwrap();
        for seed in 0..4 {
            let found = permutations(&orbits(&action, 24, 1.0, 0.3, seed), seed);
            assert!(same(&found, &action), "{name}, seed {seed}: {found:?}");
        }
    }
}

#[test]
fn groups_on_few_inputs_are_found_in_noise_and_never_others() {
    for (name, inputs) in [
        ("Z2", None),
        ("Z3", None),
        ("Z4", None),
        ("Z2xZ2", None),
        ("Z5", None),
        ("S3", None),
        ("Z6", None),
        ("Z7", None),
        ("D5", Some(5)),
        ("A4", Some(4)),
        ("S4", Some(6)),
    ] {
        let action = known_action(name, inputs).unwrap();
        for (count, share, noise, most_refused) in [
            (3, 1.0, 0.0, 0),
            (24, 1.0, 0.1, 0),
            (30, 1.0, 0.2, 0),
            (24, 0.5, 0.05, 0),
            (12, 0.5, 0.05, 1),
            (4, 0.5, 0.1, 4),
        ] {
            let refused = (0..4).filter(|&seed| {
                let found = permutations(&orbits(&action, count, share, noise, seed), seed);
                assert!(
                    found.is_err() || same(&found, &action),
                    "{name}, {count} orbits, seed {seed}: {found:?}"
                );
                found.is_err()
            });
            let refused = refused.count();
            assert!(
                refused <= most_refused,
                "{name}, {count} orbits, noise {noise}: {refused} refused"
            );
        }
    }
}

#[test]
fn few_inputs_that_no_group_permutes_are_refused() {
    for inputs in 2..=6 {
        for seed in 0..6 {
            for (what, orbits) in [
                ("shifted by fractions", fractions(inputs, seed, false)),
                ("and normalised", fractions(inputs, seed, true)),
                ("unrelated", unrelated_of(inputs, seed)),
            ] {
                let found = permutations(&orbits, seed);
                assert!(found.is_err(), "{inputs}, {what}, seed {seed}: {found:?}");
            }
        }
    }
}

/// Cyclic shifts by any fraction of an input, interpolated linearly; then brought to unit length, or not.
fn fractions(inputs: usize, seed: u64, normalised: bool) -> Orbits {
    let mut samples = Samples::new(inputs, seed);
    let members = 4 + seed as usize % 9;
    for label in 0..6 + 2 * seed as usize {
        let x = samples.signal();
        for _ in 0..members {
            let shift: f64 = samples.random.random_range(0.0..inputs as f64);
            let (whole, part) = (shift as usize, shift.fract());
            let at = |n: usize| {
                (1.0 - part) * x[(n + whole) % inputs] + part * x[(n + whole + 1) % inputs]
            };
            let mut moved: Vec<f64> = (0..inputs).map(at).collect();
            if normalised {
                let length = moved.iter().map(|x| x * x).sum::<f64>().sqrt();
                moved.iter_mut().for_each(|x| *x /= length);
            }
            samples.add(label, &moved, 0.0);
        }
    }
    samples.orbits()
}

fn unrelated_of(inputs: usize, seed: u64) -> Orbits {
    let mut samples = Samples::new(inputs, seed);
    for label in 0..100 {
        let x = samples.signal();
        samples.add(label / 10, &x, 0.0);
    }
    samples.orbits()
}

fn unrelated(seed: u64) -> Orbits {
    let mut samples = Samples::new(8 + seed as usize, seed);
    for label in 0..60 {
        let x = samples.signal();
        samples.add(label / 10, &x, 0.0);
    }
    samples.orbits()
}

fn unrelated_permutations(seed: u64) -> Orbits {
    let inputs = 6 + seed as usize;
    let mut samples = Samples::new(inputs, seed);
    for label in 0..6 {
        let x = samples.signal();
        for _ in 0..8 {
            let mut images: Vec<u16> = (0..inputs as u16).collect();
            images.shuffle(&mut samples.random);
            samples.add(label, &Permutation::new(images).unwrap().moved(&x), 0.0);
        }
    }
    samples.orbits()
}

/// Cyclic translates, each then multiplied by one random matrix.
fn mixed(seed: u64) -> Orbits {
    let mut samples = Samples::new(12, seed);
    let mixture: Vec<Vec<f64>> = (0..12).map(|_| samples.signal()).collect();
    for label in 0..8 {
        let x = samples.signal();
        for shift in 0..12 {
            let at = |n: usize| x[(n + shift) % 12];
            let mix = |row: &Vec<f64>| row.iter().enumerate().map(|(n, w)| w * at(n)).sum();
            let mixed: Vec<f64> = mixture.iter().map(mix).collect();
            samples.add(label, &mixed, 0.0);
        }
    }
    samples.orbits()
}

/// Shifted by fractions of a sample, linearly interpolated: rough signals are not permuted by that.
fn interpolated(seed: u64) -> Orbits {
    let mut samples = Samples::new(16, seed);
    for label in 0..8 {
        let x = samples.signal();
        for _ in 0..12 {
            let shift: f64 = samples.random.random_range(0.0..16.0);
            let (whole, part) = (shift as usize, shift.fract());
            let at = |n: usize| (1.0 - part) * x[(n + whole) % 16] + part * x[(n + whole + 1) % 16];
            let moved: Vec<f64> = (0..16).map(at).collect();
            samples.add(label, &moved, 0.0);
        }
    }
    samples.orbits()
}

fn noise_alone(seed: u64) -> Orbits {
    let mut samples = Samples::new(10, seed);
    for label in 0..6 {
        let x = samples.signal();
        for _ in 0..8 {
            samples.add(label, &x, 0.3);
        }
    }
    samples.orbits()
}

#[test]
fn binary_images_are_solved_or_refused() {
    let action = known_action("D4", Some(64)).unwrap();
    for seed in 0..10 {
        for density in [0.05, 0.2, 0.5] {
            let mut samples = Samples::new(64, seed);
            for label in 0..24 {
                let x: Vec<f64> = (0..64)
                    .map(|_| f64::from(u8::from(samples.random.random_bool(density))))
                    .collect();
                for element in action.elements() {
                    samples.add(label, &element.moved(&x), 0.0);
                }
            }
            // A signal of zeros makes no orbit.
            if samples
                .values
                .chunks(64)
                .any(|x| x.iter().all(|&y| y == x[0]))
            {
                continue;
            }
            let found = permutations(&samples.orbits(), seed);
            assert!(
                found.is_err() || same(&found, &action),
                "{density}, {seed}: {found:?}"
            );
            if density > 0.1 {
                assert!(same(&found, &action), "{density}, {seed}: {found:?}");
            }
        }
    }
}

#[test]
fn inputs_that_are_always_alike_are_refused() {
    let mut samples = Samples::new(9, 3);
    for label in 0..6 {
        let x = samples.signal();
        for shift in 0..8 {
            let mut moved: Vec<f64> = (0..8).map(|n| x[(n + shift) % 8]).collect();
            moved.push(moved[3]);
            samples.add(label, &moved, 0.0);
        }
    }
    let found = permutations(&samples.orbits(), 0);
    assert!(found.is_err(), "{found:?}");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let action = known_action("S4", None).unwrap();
    let orbits = orbits(&action, 8, 0.7, 0.1, 4);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| permutations(&orbits, 0))
    };
    assert!(with(1) == with(3));
}
