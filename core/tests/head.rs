//! The classifier behind the invariants: what it computes by its definition, and what is refused.

mod by_hand;
mod written;

use bispectral_core::format::{Head, LayerEncoding, PairList, Parts};
use bispectral_core::{Complex32, Error, Model, pair_count};
use by_hand::Fields;
use proptest::prelude::*;

const INPUTS: usize = 5;
const ROWS: usize = 3;
const PAIRS: usize = pair_count(ROWS);

/// Numbers of a perceptron with layers 2·pairs → 4 → 3 → 2, in the order of the format without scales.
fn lengths(pairs: usize) -> [(usize, usize); 3] {
    [(2 * pairs, 4), (4, 3), (3, 2)]
}

const SIZES: &[u8] = &[4, 0, 3, 0, 2, 0];

fn w() -> Vec<Complex32> {
    let angle = |n: usize| (n * n % 17) as f32;
    (0..INPUTS * ROWS)
        .map(|n| Complex32::new(angle(n).cos(), angle(n).sin()))
        .collect()
}

/// A model of `w` with this head and these pairs.
fn model(head: Head<'_>, pairs: PairList<'_>) -> Result<Vec<u8>, Error> {
    let weights = written::planar(INPUTS, &w());
    let parts = Parts {
        inputs: INPUTS as u16,
        rows: ROWS as u16,
        pairs,
        head,
        weights: &weights,
        ..Parts::default()
    };
    let mut bytes = vec![0; parts.encoded_len()?];
    parts.write(&mut bytes)?;
    Ok(bytes)
}

/// Layers as the format has them; `numbers` are weights and biases, layer after layer.
fn plain(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// The scores by their definition, in doubles.
fn defined(model: &Model<'_>, x: &[f32], numbers: &[f64]) -> Vec<f64> {
    let mut scratch = vec![0.0; model.scratch_len()];
    let mut features = vec![Complex32::ZERO; model.pairs()];
    model.invariants(x, &mut scratch, &mut features).unwrap();
    let mut values: Vec<f64> = features
        .iter()
        .flat_map(|b| [b.re.into(), b.im.into()])
        .collect();
    let mut rest = numbers;
    for (l, (inputs, outputs)) in lengths(model.pairs()).into_iter().enumerate() {
        let (weights, behind) = rest.split_at(inputs * outputs);
        let (biases, behind) = behind.split_at(outputs);
        rest = behind;
        let weight = |o: usize, n: usize| {
            weights[if l == 0 {
                n * outputs + o
            } else {
                o * inputs + n
            }]
        };
        let sum = |o: usize| (0..inputs).map(|n| weight(o, n) * values[n]).sum::<f64>();
        let next = (0..outputs).map(|o| sum(o) + biases[o]).collect::<Vec<_>>();
        values = if l < 2 {
            next.iter().map(|a| a.max(0.0)).collect()
        } else {
            next
        };
    }
    values
}

fn scores(model: &Model<'_>, x: &[f32]) -> [f32; 2] {
    let mut scratch = vec![0.0; model.classifier_scratch_len()];
    let mut scores = [0.0; 2];
    model.scores(x, &mut scratch, &mut scores).unwrap();
    scores
}

fn count(pairs: usize) -> usize {
    lengths(pairs).iter().map(|(n, m)| (n + 1) * m).sum()
}

fn signal() -> impl Strategy<Value = Vec<f32>> {
    prop::collection::vec(-1.0_f32..1.0, INPUTS)
        .prop_filter("a direction", |x| x.iter().any(|x| x.abs() > 0.1))
}

proptest! {
    #[test]
    fn scores_are_those_of_the_definition(
        x in signal(),
        numbers in prop::collection::vec(-1.0_f32..1.0, count(PAIRS)),
    ) {
        let layers = plain(&numbers);
        let head = Head::Perceptron { encoding: LayerEncoding::F32, sizes: SIZES, layers: &layers };
        let bytes = model(head, PairList::All).unwrap();
        let model = Model::from_bytes(&bytes).unwrap();
        prop_assert_eq!(model.classes(), 2);
        prop_assert_eq!(model.parts().head, head);
        let numbers: Vec<f64> = numbers.into_iter().map(f64::from).collect();
        for (found, expected) in scores(&model, &x).into_iter().zip(defined(&model, &x, &numbers)) {
            // Sums of at most 12 numbers of about one, three layers of them.
            prop_assert!((f64::from(found) - expected).abs() < 1e-5, "{} {}", found, expected);
        }
    }

    #[test]
    fn bytes_with_scales_are_the_numbers_they_stand_for(
        x in signal(),
        q in prop::collection::vec(-127_i8..=127, count(2)),
        scales in prop::collection::vec(0.001_f32..0.01, 9),
    ) {
        let pairs = [0_u16, 1, 1, 2].map(u16::to_le_bytes).concat();
        let (mut layers, mut numbers) = (Vec::new(), Vec::new());
        let (mut q, mut scales) = (&q[..], &scales[..]);
        for (l, (inputs, outputs)) in lengths(2).into_iter().enumerate() {
            let (weights, behind) = q.split_at(inputs * outputs);
            let (biases, behind) = behind.split_at(outputs);
            let (own, others) = scales.split_at(outputs);
            (q, scales) = (behind, others);
            let output = |at: usize| if l == 0 { at % outputs } else { at / inputs };
            layers.extend(weights.iter().map(|q| *q as u8));
            layers.extend(own.iter().flat_map(|s| s.to_le_bytes()));
            layers.extend(biases.iter().flat_map(|b| (f32::from(*b) / 100.0).to_le_bytes()));
            numbers.extend(weights.iter().enumerate().map(|(at, q)| f64::from(*q) * f64::from(own[output(at)])));
            numbers.extend(biases.iter().map(|b| f64::from(f32::from(*b) / 100.0)));
        }
        let head = Head::Perceptron { encoding: LayerEncoding::I8, sizes: SIZES, layers: &layers };
        let bytes = model(head, PairList::Listed(&pairs)).unwrap();
        let model = Model::from_bytes(&bytes).unwrap();
        for (found, expected) in scores(&model, &x).into_iter().zip(defined(&model, &x, &numbers)) {
            prop_assert!((f64::from(found) - expected).abs() < 1e-5, "{} {}", found, expected);
        }
    }

    #[test]
    fn a_damaged_head_is_what_the_page_says_or_refused(
        at in 0_usize..600, to: u8, x in signal(), is_i8: bool,
    ) {
        let mut fields = Fields::z4();
        let layer = |(inputs, outputs): (usize, usize)| {
            let (weights, others) = if is_i8 {
                (vec![7; inputs * outputs], 2 * outputs)
            } else {
                (plain(&vec![0.25; inputs * outputs]), outputs)
            };
            [weights, plain(&vec![0.5; others])].concat()
        };
        let layers: Vec<u8> = lengths(PAIRS).into_iter().flat_map(layer).collect();
        let mut head = [&[u8::from(is_i8), 3], SIZES, &layers].concat();
        let end = head.len();
        head[at % end] = to;
        fields.sections[3] = (1, head);
        let bytes = fields.encode();
        if let Ok((model, _)) = by_hand::both(&bytes) {
            let mut scratch = vec![0.0; model.classifier_scratch_len()];
            let mut scores = vec![0.0; model.classes()];
            let x: Vec<f32> = x.into_iter().cycle().take(model.inputs()).collect();
            let _ = model.classify(&x, &mut scratch, &mut scores);
            prop_assert!(scores.iter().all(|score| score.is_finite()));
        }
    }
}

fn one_class(layers: &[u8]) -> Head<'_> {
    Head::Perceptron {
        encoding: LayerEncoding::I8,
        sizes: &[1, 0],
        layers,
    }
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let whole = plain(&vec![0.5; count(PAIRS)]);
    let refused = |encoding, sizes: &[u8], layers: &[u8]| {
        let head = Head::Perceptron {
            encoding,
            sizes,
            layers,
        };
        assert_eq!(model(head, PairList::All), Err(Error::Malformed));
    };
    let (f32, i8) = (LayerEncoding::F32, LayerEncoding::I8);
    refused(f32, SIZES, &whole[..whole.len() - 1]);
    refused(f32, SIZES, &[&whole[..], &[0]].concat());
    refused(i8, SIZES, &whole);
    refused(f32, &[], &[]);
    refused(f32, &[2], &whole);
    refused(f32, &[0, 0], &[]);
    let mut nan = whole.clone();
    nan[4..8].copy_from_slice(&f32::NAN.to_le_bytes());
    refused(f32, SIZES, &nan);
    let mut bias = whole.clone();
    let last = bias.len() - 4;
    bias[last..].copy_from_slice(&f32::INFINITY.to_le_bytes());
    refused(f32, SIZES, &bias);
    // One class: a byte for each part of each pair, a scale, a bias.
    let mut least = vec![1; 2 * PAIRS];
    least.extend([1.0_f32, 0.0].map(f32::to_le_bytes).concat());
    assert!(model(one_class(&least), PairList::All).is_ok());
    least[3] = 0x80;
    assert_eq!(
        model(one_class(&least), PairList::All),
        Err(Error::Malformed)
    );
}

#[test]
fn short_buffers_and_models_without_a_classifier_are_told() {
    let bytes = written::model(INPUTS, &w());
    let plain_model = Model::from_bytes(&bytes).unwrap();
    assert_eq!(plain_model.classes(), 0);
    let x = [1.0, 2.0, 0.0, -1.0, 0.5];
    let told = plain_model.scores(&x, &mut [0.0; 99], &mut [0.0; 9]);
    assert_eq!(told, Err(Error::NoClassifier));

    let layers = plain(&vec![f32::MAX; count(PAIRS)]);
    let head = Head::Perceptron {
        encoding: LayerEncoding::F32,
        sizes: SIZES,
        layers: &layers,
    };
    let bytes = model(head, PairList::All).unwrap();
    let model = Model::from_bytes(&bytes).unwrap();
    let needed = model.classifier_scratch_len();
    assert_eq!(needed, model.scratch_len() + 8);
    let (mut scratch, mut scores) = (vec![0.0; needed], [1.0; 2]);
    let short = model.scores(&x, &mut scratch[..needed - 1], &mut scores);
    assert!(
        matches!(short, Err(Error::ScratchLength { .. })),
        "{short:?}"
    );
    let short = model.scores(&x, &mut scratch, &mut scores[..1]);
    assert!(
        matches!(short, Err(Error::OutputLength { .. })),
        "{short:?}"
    );
    assert_eq!(scores, [1.0; 2]);
    // Weights of f32's largest number overflow whatever the invariants are.
    assert_eq!(
        model.scores(&x, &mut scratch, &mut scores),
        Err(Error::Overflow)
    );
    assert_eq!(scores, [0.0; 2]);
}
