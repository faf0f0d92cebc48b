//! The arithmetic, for weights of no particular kind: near the equations in f64, the same bits for every power of two
//! and in every form of the call, and never a NaN.

mod equations;
mod written;

use bispectral_core::format::MAX_DIMENSION;
use bispectral_core::{Complex32, Error, Extractor, Model, pair_count, pairs, scratch_len};
use equations::{Evaluation, Rounded, evaluate};
use num_complex::Complex64;
use proptest::prelude::*;

/// The largest model drawn here: more than two rounds of the lanes, and no multiple of them.
const LARGEST: usize = 19;

type Forms<'a> = Extractor<'a, { scratch_len(LARGEST, LARGEST) }, { 2 * pair_count(LARGEST) }>;

/// W of R rows and x of N samples; N and R have nothing to do with each other.
#[derive(Debug, Clone)]
struct Case {
    weights: Vec<Complex32>,
    x: Vec<f32>,
}

impl Case {
    fn bytes(&self) -> Vec<u8> {
        written::model(self.x.len(), &self.weights)
    }

    fn exact(&self, rounded: Rounded) -> Evaluation {
        let double = |w: &Complex32| Complex64::new(w.re.into(), w.im.into());
        let x: Vec<f64> = self.x.iter().map(|x| f64::from(*x)).collect();
        evaluate(
            &self.weights.iter().map(double).collect::<Vec<_>>(),
            &x,
            rounded,
        )
    }

    fn invariants(&self) -> Result<Vec<Complex32>, Error> {
        let bytes = self.bytes();
        let model = Model::from_bytes(&bytes).unwrap();
        let mut out = vec![Complex32::ZERO; model.pairs()];
        model.invariants(&self.x, &mut vec![0.0; model.scratch_len()], &mut out)?;
        Ok(out)
    }

    fn scaled(&self, weights: i32, signal: i32) -> Case {
        let factor = 2_f32.powi(weights);
        Case {
            weights: self.weights.iter().map(|w| w * factor).collect(),
            x: self.x.iter().map(|x| x * 2_f32.powi(signal)).collect(),
        }
    }
}

/// Numbers of which no product of three and a power of two within 2^±60 is subnormal: multiples of 2^-12 in −1 … 1.
fn plain() -> impl Strategy<Value = f32> {
    (-4095..=4095).prop_map(|k| k as f32 / 4096.0)
}

/// Any f32 that is finite.
fn finite() -> impl Strategy<Value = f32> {
    any::<u32>()
        .prop_map(f32::from_bits)
        .prop_filter("not finite", |value| value.is_finite())
}

fn case(
    numbers: impl Fn() -> BoxedStrategy<f32> + 'static,
    samples: impl Fn() -> BoxedStrategy<f32> + 'static,
) -> impl Strategy<Value = Case> {
    (1..=LARGEST, 1..=5_usize)
        .prop_flat_map(move |(n, rows)| {
            let weight = (numbers(), numbers()).prop_map(|(re, im)| Complex32::new(re, im));
            let weights = prop::collection::vec(weight, n * rows);
            (weights, prop::collection::vec(samples(), n))
        })
        .prop_map(|(weights, x)| Case { weights, x })
        .prop_filter("zero", |case| {
            case.weights.iter().any(|w| *w != Complex32::ZERO) && case.x.iter().any(|x| *x != 0.0)
        })
}

fn plain_case() -> impl Strategy<Value = Case> {
    case(|| plain().boxed(), || plain().boxed())
}

/// Weights of all magnitudes that a model may have beside each other, many of them zero, and signals of any bits.
fn wild_case() -> impl Strategy<Value = Case> {
    let weight = || {
        let any_exponent = (-126..=60, 1.0_f32..2.0).prop_map(|(k, m)| m * 2_f32.powi(k));
        let weights = prop_oneof![
            Just(0.0),
            any_exponent.clone(),
            any_exponent.prop_map(|w| -w)
        ];
        weights.boxed()
    };
    case(weight, || prop_oneof![Just(0.0), finite()].boxed()).prop_filter("weight range", |case| {
        Model::from_bytes(&case.bytes()).is_ok()
    })
}

fn bits(values: &[Complex32]) -> Vec<[u32; 2]> {
    let pair = |z: &Complex32| [z.re.to_bits(), z.im.to_bits()];
    values.iter().map(pair).collect()
}

/// β̄ as computed is in its disc, or there is a good reason for there being none.
fn assert_agrees(case: &Case, rounded: Rounded) -> Result<(), TestCaseError> {
    let exact = case.exact(rounded);
    match case.invariants() {
        Ok(found) => {
            prop_assert!(
                found.iter().all(|b| b.re.is_finite() && b.im.is_finite()),
                "{found:?}"
            );
            prop_assert!(exact.permits(true));
            for (disc, b) in exact.invariants.iter().zip(found) {
                prop_assert!(disc.holds(b.re, b.im), "{b} outside {disc:?}");
            }
        }
        Err(error) => {
            prop_assert_eq!(error, Error::ZeroBispectrum);
            prop_assert!(exact.permits(false));
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_weights_agree_with_the_equations_in_double_precision(case in plain_case()) {
        assert_agrees(&case, Rounded::default())?;
        let (bytes, exact) = (case.bytes(), case.exact(Rounded::default()));
        let model = Model::from_bytes(&bytes).unwrap();
        let mut scratch = vec![0.0; model.scratch_len()];
        let mut beta = vec![Complex32::ZERO; model.pairs()];
        model.bispectrum(&case.x, &mut scratch, &mut beta).unwrap();
        for (disc, b) in exact.bispectrum.iter().zip(beta) {
            prop_assert!(disc.holds(b.re, b.im), "β {b} outside {disc:?}");
        }
        let mut z = vec![Complex32::ZERO; model.rows()];
        model.coefficients(&case.x, &mut scratch, &mut z).unwrap();
        for (disc, z) in exact.coefficients.iter().zip(z) {
            prop_assert!(disc.holds(z.re, z.im), "z {z} outside {disc:?}");
        }
    }

    #[test]
    fn weights_and_signals_of_every_magnitude_never_give_a_nan(case in wild_case()) {
        assert_agrees(&case, Rounded::default())?;
    }

    #[test]
    fn a_signal_times_any_positive_number_has_the_same_invariants(
        case in plain_case(),
        exponent in -100..100,
        mantissa in 1.0_f32..2.0,
    ) {
        let exact = case.exact(Rounded { signal: 1, ..Rounded::default() });
        prop_assume!(exact.is_well_conditioned());
        let c = mantissa * 2_f32.powi(exponent);
        let longer = Case { x: case.x.iter().map(|x| c * x).collect(), ..case };
        for (disc, b) in exact.invariants.iter().zip(longer.invariants().unwrap()) {
            prop_assert!(disc.holds(b.re, b.im), "{c:e}: {b} outside {disc:?}");
        }
    }

    #[test]
    fn every_form_of_the_call_has_the_same_bits(case in plain_case()) {
        let Ok(buffered) = case.invariants() else { return Ok(()) };
        let bytes = case.bytes();
        let model = Model::from_bytes(&bytes).unwrap();
        let (mut order, mut terms) = (Vec::new(), Vec::new());
        let mut scratch = vec![0.0; model.scratch_len()];
        let magnitude = model.stream(&case.x, &mut scratch, |i, j, term| {
            order.push((i, j));
            terms.push(term);
        }).unwrap();
        let streamed: Vec<_> = terms.iter().map(|term| magnitude.normalise(*term)).collect();
        prop_assert_eq!(bits(&buffered), bits(&streamed));
        prop_assert_eq!(order, pairs(model.rows()).collect::<Vec<_>>());

        let mut extractor = Forms::new(model).unwrap();
        prop_assert_eq!(bits(&buffered), bits(extractor.invariants(&case.x).unwrap()));

        let mut beta = vec![Complex32::ZERO; model.pairs()];
        model.bispectrum(&case.x, &mut scratch, &mut beta).unwrap();
        let restored: Vec<_> = terms.iter().map(|term| magnitude.restore(*term)).collect();
        prop_assert_eq!(bits(&beta), bits(&restored));
        prop_assert_eq!(bits(&beta), bits(extractor.bispectrum(&case.x).unwrap()));

        let mut z = vec![Complex32::ZERO; model.rows()];
        model.coefficients(&case.x, &mut scratch, &mut z).unwrap();
        prop_assert_eq!(bits(&z), bits(extractor.coefficients(&case.x).unwrap()));
    }

    #[test]
    fn any_bits_as_a_signal_give_finite_invariants_or_the_right_error(
        bits in prop::collection::vec(any::<u32>(), 4),
    ) {
        let model = Model::from_bytes(include_bytes!("../models/z4.bsn")).unwrap();
        let x: Vec<f32> = bits.iter().map(|bits| f32::from_bits(*bits)).collect();
        let sentinel = Complex32::new(7.0, -7.0);
        let (mut out, mut scratch) = ([sentinel; pair_count(3)], [7.0; scratch_len(4, 3)]);
        let result = model.invariants(&x, &mut scratch, &mut out);
        if let Some(index) = x.iter().position(|x| !x.is_finite()) {
            prop_assert_eq!(result, Err(Error::NonFiniteInput { index: index as u32 }));
            prop_assert_eq!((out, scratch), ([sentinel; pair_count(3)], [7.0; scratch_len(4, 3)]));
        } else if x.iter().all(|x| *x == 0.0) {
            prop_assert_eq!(result, Err(Error::ZeroInput));
            prop_assert_eq!(out, [sentinel; pair_count(3)]);
        } else {
            if let Err(error) = result {
                prop_assert_eq!(error, Error::ZeroBispectrum);
                let weights = (0..12).filter_map(|at| model.weight(at / 4, at % 4)).collect();
                let case = Case { weights, x };
                prop_assert!(case.exact(Rounded::default()).permits(false));
            }
            prop_assert!(out.iter().all(|b| b.re.is_finite() && b.im.is_finite()));
        }
    }
}

proptest! {
    // Each case is 121 evaluations.
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_signal_times_a_power_of_two_has_the_same_bits(case in plain_case()) {
        let Ok(expected) = case.invariants() else { return Ok(()) };
        for k in -60..=60 {
            prop_assert_eq!(bits(&expected), bits(&case.scaled(0, k).invariants().unwrap()), "2^{}", k);
        }
    }

    #[test]
    fn weights_times_a_power_of_two_have_the_same_bits(case in plain_case()) {
        let Ok(expected) = case.invariants() else { return Ok(()) };
        // The largest weight is below 1 and at least 2^-12, so these stay within what a model may have.
        for k in (-48..=60).chain([61]) {
            prop_assert_eq!(bits(&expected), bits(&case.scaled(k, 0).invariants().unwrap()), "2^{}", k);
        }
    }
}

#[test]
fn a_weak_response_is_an_error_and_not_an_infinity() {
    // The only sample that is not zero meets a weight 2^-k of the largest: β is 2^-4k of what it could be, the floor
    // 2^-k of 4√2·10·2^-23.
    for k in 1..=120 {
        let case = Case {
            weights: vec![
                Complex32::new(1.0, 0.0),
                Complex32::new(2_f32.powi(-k), 0.0),
            ],
            x: vec![0.0, 1.0],
        };
        match case.invariants() {
            Ok(found) => assert_eq!(found, [Complex32::ONE], "2^-{k}"),
            Err(error) => {
                assert_eq!(error, Error::ZeroBispectrum);
                assert!(
                    case.exact(Rounded::default()).permits(false) && k > 5,
                    "2^-{k}"
                );
            }
        }
    }
}

#[test]
fn the_largest_terms_there_can_be_leave_room_for_their_squares() {
    // All weights (2−ε)(1+i), all samples 2−ε: |z_i| < 4√2 N, |z_ij| < 16 N, |β_ij| < 2^9 N³.
    let largest = f32::from_bits(2_f32.to_bits() - 1);
    let bound = |n: f32| 512.0 * n.powi(3);
    for n in [1, 2, 7, 8, 64] {
        let case = Case {
            weights: vec![Complex32::new(largest, largest); n],
            x: vec![largest; n],
        };
        let bytes = case.bytes();
        let model = Model::from_bytes(&bytes).unwrap();
        let mut scratch = vec![0.0; model.scratch_len()];
        let magnitude = model.stream(&case.x, &mut scratch, |_, _, _| {}).unwrap();
        let ratio = magnitude.norm() / bound(n as f32);
        assert!((0.999..1.0).contains(&ratio), "{n}: {ratio}");
    }
    let squares = bound(MAX_DIMENSION.into()).powi(2) * pair_count(MAX_DIMENSION.into()) as f32;
    assert!(squares < 2_f32.powi(127));
}

#[test]
fn signals_at_either_end_of_f32_have_the_invariants_of_their_direction() {
    let direction = [3.0, -1.0, 2.0, 5.0_f32];
    let model = Model::from_bytes(include_bytes!("../models/z4.bsn")).unwrap();
    let invariants = |x: [f32; 4]| {
        let mut out = [Complex32::ZERO; pair_count(3)];
        model
            .invariants(&x, &mut [0.0; scratch_len(4, 3)], &mut out)
            .map(|()| out)
    };
    let expected = invariants(direction);
    for unit in [f32::from_bits(1), f32::MIN_POSITIVE, 2_f32.powi(125)] {
        assert_eq!(
            invariants(direction.map(|x| x * unit)),
            expected,
            "{unit:e}"
        );
    }
    for unit in [1e38, 1e37, 1e-37_f32] {
        let case = Case {
            weights: (0..12)
                .filter_map(|at| model.weight(at / 4, at % 4))
                .collect(),
            x: direction.map(|x| x / 5.0 * unit).to_vec(),
        };
        let exact = case.exact(Rounded::default());
        assert!(exact.is_well_conditioned());
        for (disc, b) in exact.invariants.iter().zip(case.invariants().unwrap()) {
            assert!(disc.holds(b.re, b.im), "{unit:e}");
        }
    }
}
