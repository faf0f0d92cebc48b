//! The classifier behind the invariants: what it computes by its definition, and what is refused.

mod by_hand;
mod written;

use bispectral_core::format::{Head, Layer, Layers, PairList, Parts, ScaledLayer, Weights};
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
        weights: Weights::F32((&weights[..]).into()),
        ..Parts::default()
    };
    let mut bytes = vec![0; parts.encoded_len()?];
    parts.write(&mut bytes)?;
    Ok(bytes)
}

/// Layers of these numbers, which are weights and biases, layer after layer.
fn layers(numbers: &[f32], pairs: usize) -> [Layer<'_>; 3] {
    let mut rest = numbers;
    lengths(pairs).map(|(inputs, outputs)| {
        let (weights, behind) = rest.split_at(inputs * outputs);
        let (biases, behind) = behind.split_at(outputs);
        rest = behind;
        Layer { weights, biases }
    })
}

/// Little-endian bytes.
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
        let layers = layers(&numbers, PAIRS);
        let bytes = model(Head::Perceptron(Layers::F32(&layers)), PairList::All).unwrap();
        let model = Model::from_bytes(&bytes).unwrap();
        prop_assert_eq!(model.classes(), 2);
        let mut again = vec![0; bytes.len()];
        prop_assert_eq!(model.parts().write(&mut again).unwrap(), &bytes);
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
        let biases: Vec<f32> = q.iter().map(|q| f32::from(*q) / 100.0).collect();
        let (mut layers, mut numbers) = (Vec::new(), Vec::new());
        let (mut q, mut biases, mut scales) = (&q[..], &biases[..], &scales[..]);
        for (l, (inputs, outputs)) in lengths(2).into_iter().enumerate() {
            let (weights, behind) = q.split_at(inputs * outputs);
            let (own, others) = scales.split_at(outputs);
            let layer = ScaledLayer { weights, scales: own, biases: &biases[inputs * outputs..][..outputs] };
            (q, biases, scales) = (&behind[outputs..], &biases[(inputs + 1) * outputs..], others);
            let output = |at: usize| if l == 0 { at % outputs } else { at / inputs };
            numbers.extend(weights.iter().enumerate().map(|(at, q)| f64::from(*q) * f64::from(own[output(at)])));
            numbers.extend(layer.biases.iter().map(|b| f64::from(*b)));
            layers.push(layer);
        }
        let head = Head::Perceptron(Layers::I8(&layers));
        let bytes = model(head, PairList::Listed((&[(0, 1), (1, 2)]).into())).unwrap();
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

/// What a reader says of a model whose head is these bytes behind kind 1.
fn read(head: &[u8]) -> Result<(), Error> {
    let mut fields = Fields::z4();
    fields.sections[3] = (1, head.to_vec());
    by_hand::both(&fields.encode()).map(|_| ())
}

#[test]
fn a_head_whose_sizes_and_bytes_do_not_fit_together_is_malformed() {
    let whole = plain(&vec![0.5; count(PAIRS)]);
    let head = |encoding: u8, sizes: &[u8], layers: &[u8]| {
        read(&[&[encoding, (sizes.len() / 2) as u8], sizes, layers].concat())
    };
    let refused = Err(Error::Malformed);
    assert_eq!(head(0, SIZES, &whole), Ok(()));
    assert_eq!(head(0, SIZES, &whole[..whole.len() - 1]), refused);
    assert_eq!(head(0, SIZES, &[&whole[..], &[0]].concat()), refused);
    assert_eq!(head(1, SIZES, &whole), refused);
    assert_eq!(head(2, SIZES, &whole), refused);
    assert_eq!(head(0, &[], &[]), refused);
    assert_eq!(head(0, &[0, 0], &[]), refused);
    assert_eq!(
        (read(&[]), read(&[0]), read(&[0, 1, 2])),
        (refused, refused, refused)
    );
}

#[test]
fn layers_that_do_not_fit_together_are_not_written() {
    let numbers = vec![0.5; count(PAIRS)];
    let good = layers(&numbers, PAIRS);
    let written = |layers: &[Layer<'_>]| {
        model(Head::Perceptron(Layers::F32(layers)), PairList::All).map(|_| ())
    };
    assert_eq!(written(&good), Ok(()));
    let refused = Err(Error::Malformed);
    let with = |at: usize, layer: Layer<'_>| {
        let mut layers = good;
        layers[at] = layer;
        written(&layers)
    };
    let [first, second, _] = good;
    assert_eq!(written(&[]), refused, "no layer");
    assert_eq!(written(&good[1..]), refused, "other inputs");
    let weights = &numbers[..first.weights.len() - 1];
    assert_eq!(with(0, Layer { weights, ..first }), refused);
    assert_eq!(
        with(
            1,
            Layer {
                biases: &[],
                ..second
            }
        ),
        refused
    );
    assert_eq!(written(&[Layer::default()]), refused, "no output");
    // A weight too few in one layer and one too many in the next are as many bytes as there should be.
    let mut shifted = good;
    shifted[0].weights = weights;
    let longer = vec![0.5; second.weights.len() + 1];
    shifted[1].weights = &longer;
    assert_eq!(written(&shifted), refused);
    for at in [0, count(PAIRS) - 1] {
        for value in [f32::NAN, f32::INFINITY] {
            let mut numbers = numbers.clone();
            numbers[at] = value;
            assert_eq!(
                written(&layers(&numbers, PAIRS)),
                refused,
                "{value} at {at}"
            );
        }
    }
    let one_pair = |layers: &[Layer<'_>]| {
        let pairs = PairList::Listed((&[(0, 1)]).into());
        model(Head::Perceptron(Layers::F32(layers)), pairs).map(|_| ())
    };
    let deep = |count: usize| {
        let mut layers = vec![
            Layer {
                weights: &[1.0],
                biases: &[0.0]
            };
            count
        ];
        layers[0].weights = &[1.0; 2];
        one_pair(&layers)
    };
    assert_eq!(
        (deep(255), deep(256)),
        (Ok(()), refused),
        "counted in a byte"
    );
}

#[test]
fn scaled_layers_have_a_scale_an_output_and_no_weight_of_minus_128() {
    // One class: a byte for each part of each pair, a scale, a bias.
    let one_class = |weights: &[i8], scales: &[f32]| {
        let biases = &[0.0];
        let layers = [ScaledLayer {
            weights,
            scales,
            biases,
        }];
        model(Head::Perceptron(Layers::I8(&layers)), PairList::All).map(|_| ())
    };
    let refused = Err(Error::Malformed);
    let mut weights = [1; 2 * PAIRS];
    assert_eq!(one_class(&weights, &[1.0]), Ok(()));
    assert_eq!(one_class(&weights, &[]), refused);
    assert_eq!(one_class(&weights, &[1.0, 1.0]), refused);
    assert_eq!(one_class(&weights, &[f32::NAN]), refused);
    weights[3] = i8::MIN;
    assert_eq!(one_class(&weights, &[1.0]), refused);
}

#[test]
fn short_buffers_and_models_without_a_classifier_have_their_errors() {
    let bytes = written::model(INPUTS, &w());
    let plain_model = Model::from_bytes(&bytes).unwrap();
    assert_eq!(plain_model.classes(), 0);
    let x = [1.0, 2.0, 0.0, -1.0, 0.5];
    let result = plain_model.scores(&x, &mut [0.0; 99], &mut [0.0; 9]);
    assert_eq!(result, Err(Error::NoClassifier));

    let numbers = vec![f32::MAX; count(PAIRS)];
    let layers = layers(&numbers, PAIRS);
    let bytes = model(Head::Perceptron(Layers::F32(&layers)), PairList::All).unwrap();
    let model = Model::from_bytes(&bytes).unwrap();
    let needed = model.classifier_scratch_len();
    assert_eq!(needed, model.scratch_len() + 8);
    let (mut scratch, mut scores) = (vec![0.0; needed], [1.0; 2]);
    let short = model.scores(&x, &mut scratch[..needed - 1], &mut scores);
    let (needed, found) = (24, 23);
    assert_eq!(short, Err(Error::ScratchLength { needed, found }));
    let short = model.scores(&x, &mut scratch, &mut scores[..1]);
    let (needed, found) = (2, 1);
    assert_eq!(short, Err(Error::OutputLength { needed, found }));
    assert_eq!(scores, [1.0; 2]);
    // Weights of f32's largest number overflow whatever the invariants are.
    assert_eq!(
        model.scores(&x, &mut scratch, &mut scores),
        Err(Error::Overflow)
    );
    assert_eq!(scores, [0.0; 2]);
}
