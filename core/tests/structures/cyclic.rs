//! Models of products of cyclic groups, beside the sums over their W in f64.

use crate::kinds::{Group, U, computed, exact, invariants};
use bispectral_core::format::Transform;
use bispectral_core::{Complex32, Error, Model};
use proptest::prelude::*;
use proptest::sample::{Index, subsequence};

const GROUPS: [&[usize]; 12] = [
    &[1],
    &[2],
    &[7],
    &[8],
    &[16],
    &[4, 2],
    &[3, 5],
    &[4, 4],
    &[2, 2, 3],
    &[2, 3, 4],
    &[1, 6, 1],
    &[2, 17],
];

/// Factors the fast transform takes.
fn has_fft(factors: &[usize]) -> bool {
    factors.iter().any(|m| m.is_power_of_two() && *m >= 4)
}

/// Any rows and inputs of any group, in any order, some more than once and some not at all.
fn group() -> impl Strategy<Value = Group> {
    let group = (0..GROUPS.len()).prop_flat_map(|at| {
        let n = GROUPS[at].iter().product::<usize>();
        let any_order = prop::collection::vec(0..n, 1..=n + 2);
        let ascending = subsequence((0..n).collect::<Vec<_>>(), 1..=n);
        let elements = prop::collection::vec(0..n, 1..=n + 2);
        (
            Just(at),
            prop_oneof![any_order, ascending],
            elements,
            -9..9,
            any::<bool>(),
            any::<bool>(),
        )
    });
    group.prop_map(|(at, characters, elements, a, fast, whole)| Group {
        factors: GROUPS[at].to_vec(),
        characters,
        elements,
        a: 1.3 * 2_f32.powi(a),
        transform: if cfg!(feature = "fft") && fast && has_fft(GROUPS[at]) {
            Transform::Fft
        } else {
            Transform::Sums
        },
        whole,
    })
}

/// Samples of one magnitude, at least one of them not zero.
fn signal(inputs: usize) -> impl Strategy<Value = Vec<f32>> {
    let samples = prop::collection::vec(-1.0_f32..1.0, inputs);
    (samples, -9..9).prop_map(|(mut x, scale)| {
        x[0] += 2.0;
        x.iter().map(|x| x * 2_f32.powi(scale)).collect()
    })
}

/// The group, some of its pairs (all where there are none), and a signal.
fn case() -> impl Strategy<Value = (Group, Vec<(usize, usize)>, Vec<f32>)> {
    group().prop_flat_map(|group| {
        let all: Vec<_> = bispectral_core::pairs(group.characters.len()).collect();
        let most = all.len() - 1;
        let some = subsequence(all, 0..=most);
        let x = signal(group.elements.len());
        (Just(group), some, x)
    })
}

/// Roundings of one coefficient: each sample's and its sum's with others at its element; along each factor a root's two,
/// a product's and those of the sum.
fn roundings(group: &Group) -> f64 {
    let of_factors: usize = group.factors.iter().map(|m| 2 * m + 4).sum();
    (group.elements.len() + of_factors + 4) as f64
}

/// The largest error of z and of β: |w|₁ ≤ √2 a a factor, and a z is at most A = a Σ|x|.
fn bounds(group: &Group, x: &[f32]) -> (f64, f64) {
    let a = f64::from(group.a);
    let most = a * x.iter().map(|x| f64::from(x.abs())).sum::<f64>();
    let relative = 2_f64.sqrt().powi(group.factors.len() as i32) * roundings(group) * U;
    (
        relative * most,
        ((1.0 + relative).powi(3) * (1.0 + 8.0 * U) - 1.0) * a * most.powi(3),
    )
}

fn distance(a: Complex32, b: num_complex::Complex64) -> f64 {
    (f64::from(a.re) - b.re).hypot(f64::from(a.im) - b.im)
}

proptest! {
    #[test]
    fn a_model_of_a_group_computes_what_its_rows_say((group, pairs, x) in case()) {
        let bytes = group.model(&pairs);
        let model = Model::from_bytes(&bytes).unwrap();
        let [z, beta] = computed(&model, &x);
        let (exact_z, exact_beta) = exact(&model, &x);
        let (z_error, beta_error) = bounds(&group, &x);
        for (z, exact) in z.iter().zip(exact_z) {
            prop_assert!(distance(*z, exact) <= z_error, "z {z}, not {exact}");
        }
        for ((b, exact), pair) in beta.iter().zip(exact_beta).zip(model.pair_list()) {
            prop_assert!(distance(*b, exact) <= beta_error, "β {b} at {pair:?}, not {exact}");
        }
    }

    #[test]
    fn listed_pairs_have_the_bits_they_have_among_all((group, pairs, x) in case()) {
        prop_assume!(!pairs.is_empty());
        let (all, some) = (group.model(&[]), group.model(&pairs));
        let [all, some] = [&all, &some].map(|bytes| Model::from_bytes(bytes).unwrap());
        let [_, every] = computed(&all, &x);
        let [_, found] = computed(&some, &x);
        let expected: Vec<_> = all.pair_list().zip(every).filter(|(pair, _)| pairs.contains(pair)).collect();
        prop_assert!(some.pair_list().zip(found).eq(expected));
    }

    #[test]
    fn the_invariants_do_not_change_under_any_element_of_the_group(
        at in 0..GROUPS.len(),
        order in prop::collection::vec(any::<Index>(), 64),
        samples in prop::collection::vec(-1.0_f32..1.0, 64),
        whole in any::<bool>(),
    ) {
        let mut group = Group::whole(GROUPS[at]);
        group.whole = whole;
        let n = group.order();
        for (from, to) in order.iter().take(n).enumerate() {
            group.elements.swap(from, to.index(n));
        }
        let bytes = group.model(&[]);
        let model = Model::from_bytes(&bytes).unwrap();
        let mut x = samples[..n].to_vec();
        x[0] += 2.0;
        let still = invariants(&model, &x).unwrap();
        let (_, beta_error) = bounds(&group, &x);
        let (_, beta) = exact(&model, &x);
        let norm = beta.iter().map(|b| b.norm_sqr()).sum::<f64>().sqrt();
        // Both may be off, in their terms and in their norm.
        let error = 4.0 * beta_error * (beta.len() as f64).sqrt() / norm;
        for g in 0..n {
            let moved: Vec<f32> = (group.elements.iter())
                .map(|h| x[group.elements.iter().position(|from| group.add(*from, g) == *h).unwrap()])
                .collect();
            let found = invariants(&model, &moved).unwrap();
            for (a, b) in still.iter().zip(found) {
                prop_assert!(f64::from((a - b).norm_sqr()).sqrt() <= error, "{a} {b} {error}");
            }
        }
    }

    #[test]
    fn a_power_of_two_changes_no_bit((group, pairs, x) in case(), scale in -60..60) {
        let bytes = group.model(&pairs);
        let model = Model::from_bytes(&bytes).unwrap();
        let scaled: Vec<f32> = x.iter().map(|x| x * 2_f32.powi(scale)).collect();
        prop_assert_eq!(invariants(&model, &x), invariants(&model, &scaled));
    }

    #[test]
    fn the_stream_is_the_bispectrum_and_the_norm_is_its_length((group, pairs, x) in case()) {
        let bytes = group.model(&pairs);
        let model = Model::from_bytes(&bytes).unwrap();
        let [_, beta] = computed(&model, &x);
        let mut scratch = vec![0.0; model.scratch_len()];
        let mut found = Vec::new();
        let magnitude = model.stream(&x, &mut scratch, |i, j, term| found.push((i, j, term)));
        prop_assume!(magnitude != Err(Error::ZeroBispectrum));
        let magnitude = magnitude.unwrap();
        prop_assert!(found.iter().map(|(i, j, _)| (*i, *j)).eq(model.pair_list()));
        let squares = |(_, _, b): &(usize, usize, Complex32)| f64::from(b.re).powi(2) + f64::from(b.im).powi(2);
        let norm = found.iter().map(squares).sum::<f64>().sqrt();
        // Sixteen squares are added without compensation, each rounded once: at most 17 u, halved by the root, and its own.
        prop_assert!((f64::from(magnitude.norm()) / norm - 1.0).abs() <= 10.0 * U);
        prop_assert!(found.iter().map(|(_, _, term)| magnitude.restore(*term)).eq(beta));
    }
}

#[test]
fn a_response_of_the_size_of_roundings_has_no_direction() {
    // Character 0 of nearly opposite samples: β is 2^-69 of their cube, and its square below what f32 holds.
    let mut group = Group::whole(&[2]);
    group.characters = vec![0];
    group.a = 0.25;
    let bytes = group.model(&[]);
    let model = Model::from_bytes(&bytes).unwrap();
    let x = [1.0 + f32::EPSILON, -1.0];
    assert_eq!(invariants(&model, &x), Err(Error::ZeroBispectrum));
    let [_, beta] = computed(&model, &x);
    let expected = Complex32::new(group.a.powi(4) * f32::EPSILON.powi(3), 0.0);
    assert_eq!(beta, [expected]);
}

/// Numbers of full mantissas, by one division each.
fn numbers(count: usize) -> Vec<f32> {
    (0..count)
        .map(|at| ((at * at * 31 + at * 17 + 5) % 1009) as f32 / 509.0 - 1.0)
        .collect()
}

/// FNV-1a of the bits of the invariants of one signal, 32 bits at a time.
fn checksum(group: &Group, pairs: &[(usize, usize)]) -> u32 {
    let bytes = group.model(pairs);
    let found = invariants(
        &Model::from_bytes(&bytes).unwrap(),
        &numbers(group.elements.len()),
    );
    let parts = found.unwrap();
    let parts = parts.iter().flat_map(|term| [term.re, term.im]);
    parts.fold(0x811c_9dc5, |sum, part| {
        (sum ^ part.to_bits()).wrapping_mul(0x0100_0193)
    })
}

#[test]
fn whole_numbers_have_these_bits() {
    let whole = |factors: &[usize], transform| Group {
        transform,
        whole: true,
        ..Group::whole(factors)
    };
    let square = whole(&[16, 16], Transform::Fft);
    let mut crowded = whole(&[3, 8], Transform::Fft);
    crowded.elements = (0..40).map(|n| n * 7 % 24).collect();
    let found = [
        checksum(&square, &[]),
        checksum(&square, &[(0, 0), (1, 17), (5, 200)]),
        checksum(&whole(&[64], Transform::Fft), &[]),
        checksum(&whole(&[5, 7], Transform::Sums), &[]),
        checksum(&crowded, &[]),
    ];
    let expected = [
        0x50a1_f701,
        0x9e82_37e7,
        0x47ef_8355,
        0x2b1d_ec6b,
        0xbf9c_32dd,
    ];
    assert_eq!(found, expected, "{found:08x?}");
}
