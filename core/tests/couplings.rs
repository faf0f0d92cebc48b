//! Couplings: what they compute is what the definition says in f64, in the order that is written down; and damaged ones are
//! read as the reader made from `docs/format.md` reads them, or refused.

mod by_hand;

use bispectral_core::format::couplings::{Basis, Coefficients, Numbers, Tensor};
use bispectral_core::format::{
    Couplings, Head, Layer, Layers, PairList, Parts, Structure, Weights,
};
use bispectral_core::{Complex32, Error, Model};
use by_hand::{Decoded, Fields, both, with_checksum};

/// S3 on three points: the sum, and the plane of what has none; mean, |z|², Re z³, and the fourth-order sum²·|z|².
///
/// The last entry of U is a hair from the exact one, so that no lane cancels.
const BASIS: [f32; 9] = [
    0.577, 0.577, 0.577, 0.816, -0.408, -0.408, 0.0, 0.707, -0.707,
];
const TENSORS: [Tensor; 4] = [
    tensor(1, [1, 1, 1, 1], 1),
    tensor(2, [2, 2, 1, 1], 2),
    tensor(3, [2, 2, 2, 1], 4),
    tensor(4, [1, 2, 2, 1], 2),
];
const INDICES: [u8; 25] = [
    0, //
    0, 0, 1, 1, //
    0, 0, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0, //
    0, 0, 0, 0, 0, 1, 1, 0,
];
const VALUES: [f32; 9] = [1.0, 0.5, 0.5, 1.0, -1.0, -1.0, -1.0, 0.25, 0.25];
const MAGNITUDES: [f32; 3] = [0.25, 0.5, 1.0];
const CODES: [u8; 9] = [2, 1, 1, 2, 0x82, 0x82, 0x82, 0, 0];
const HALVES: [u16; 9] = [
    0x3c00, 0x3800, 0x3800, 0x3c00, 0xbc00, 0xbc00, 0xbc00, 0x3400, 0x3400,
];
const TERMS: [u8; 4] = [0, 1, 2, 3];
const OFFSETS: [u8; 10] = [0, 1, 1, 1, 1, 1, 0, 1, 1, 0];

const fn tensor(order: u8, dims: [u16; 4], entries: u16) -> Tensor {
    Tensor {
        order,
        dims,
        entries,
    }
}

fn couplings(coefficients: Coefficients<'static>, basis: Basis<'static>) -> Couplings<'static> {
    Couplings {
        basis,
        selective: 3,
        tensors: (&TENSORS).into(),
        indices: (&INDICES).into(),
        coefficients,
        terms: Numbers::Bytes((&TERMS).into()),
        offsets: Numbers::Bytes((&OFFSETS).into()),
    }
}

fn dictionary() -> Coefficients<'static> {
    Coefficients::Dictionary {
        magnitudes: (&MAGNITUDES).into(),
        codes: (&CODES).into(),
    }
}

fn sparse() -> Basis<'static> {
    Basis::Sparse {
        counts: (&[3, 3, 2]).into(),
        columns: Numbers::Bytes((&[0, 1, 2, 0, 1, 2, 1, 2]).into()),
    }
}

fn parts<'a>(couplings: Couplings<'a>, weights: Weights<'a>) -> Parts<'a> {
    Parts {
        inputs: 3,
        rows: 3,
        name: "three points",
        group: Some("S3"),
        structure: Structure::Couplings(couplings),
        weights,
        ..Parts::default()
    }
}

fn written(parts: &Parts<'_>) -> Vec<u8> {
    let mut bytes = vec![0; parts.encoded_len().expect("lists that fit together")];
    parts.write(&mut bytes).expect("a model");
    bytes
}

fn plain() -> Vec<u8> {
    let weights = Weights::F32((&BASIS).into());
    written(&parts(couplings(dictionary(), Basis::Dense), weights))
}

fn nonzero() -> Vec<f32> {
    BASIS.iter().copied().filter(|u| *u != 0.0).collect()
}

/// One model of every encoding, basis and kind of coefficients.
fn models() -> Vec<Vec<u8>> {
    let nonzero = nonzero();
    let halves = [0x389e_u16, 0x3a87, 0xb687, 0x39a8, 0xb9a8];
    let [a, b, c, d, e] = halves;
    let (dense_halves, sparse_halves) = ([a, a, a, b, c, c, 0, d, e], [a, a, a, b, c, c, d, e]);
    let (dense_q, sparse_q) = (
        [127, 127, 127, 127, -64, -64, 0, 127, -127],
        [127, 127, 127, 127, -64, -64, 127, -127],
    );
    let scales = [0.0045, 0.0064, 0.0055];
    let mut made = vec![plain()];
    for coefficients in [
        dictionary(),
        Coefficients::F16((&HALVES).into()),
        Coefficients::F32((&VALUES).into()),
    ] {
        for (basis, floats, halves, q) in [
            (Basis::Dense, &BASIS[..], &dense_halves[..], &dense_q[..]),
            (sparse(), &nonzero[..], &sparse_halves[..], &sparse_q[..]),
        ] {
            let couplings = couplings(coefficients, basis);
            let quantised = Weights::I8 {
                weights: q.into(),
                scales: (&scales).into(),
            };
            for weights in [
                Weights::F32(floats.into()),
                Weights::F16(halves.into()),
                quantised,
            ] {
                made.push(written(&parts(couplings, weights)));
            }
        }
    }
    made
}

/// z and t by the definition, in f64, of what the reader by hand found; for each t how far an f32 may be from it.
fn defined(decoded: &Decoded, x: &[f32], integers: bool) -> (Vec<f64>, Vec<(f64, f64)>) {
    const U: f64 = 1.0 / (1 << 24) as f64;
    let couplings = decoded.couplings.as_ref().expect("couplings");
    let inputs = usize::from(decoded.inputs);
    let x: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
    let largest = x.iter().fold(0.0_f64, |l, x| l.max(x.abs()));
    // A sample keeps 15 bits where the weights are whole numbers.
    let rounded = if integers { largest / 32768.0 } else { 0.0 };
    let rows = decoded.weights.chunks(inputs);
    let z: Vec<(f64, f64)> = rows
        .map(|row| {
            let terms = || row.iter().zip(&x).map(|(u, x)| f64::from(u.re) * x);
            let lost: f64 = row.iter().map(|u| f64::from(u.re.abs()) * rounded).sum();
            let size: f64 = terms().map(f64::abs).sum();
            (terms().sum(), size * 8.0 * U + lost)
        })
        .collect();
    let norm = z.iter().map(|(z, _)| z * z).sum::<f64>().sqrt();
    let error = z.iter().map(|(_, e)| e * e).sum::<f64>().sqrt() / norm + 8.0 * U;
    let t = couplings.terms.iter().map(|(tensor, offsets)| {
        let entries = &couplings.tensors[*tensor];
        let (mut sum, mut radius) = (0.0, 0.0);
        for (indices, c) in entries {
            let (mut exact, mut far) = (f64::from(*c), f64::from(c.abs()));
            for (index, offset) in indices.iter().zip(offsets) {
                let (z, lost) = z[offset + index];
                exact *= z / norm;
                far *= (z.abs() + lost) / norm * (1.0 + 2.0 * error);
            }
            sum += exact;
            // Products and sums of so many entries.
            radius += far * (1.0 + (8.0 + entries.len() as f64) * U) - exact.abs();
        }
        (sum, radius + f64::from(f32::MIN_POSITIVE))
    });
    (z.iter().map(|(z, _)| *z).collect(), t.collect())
}

/// Compares with the definition; whether the norm was large enough to.
fn assert_defined(model: &Model<'_>, decoded: &Decoded, x: &[f32], integers: bool) -> bool {
    let mut scratch = vec![f32::NAN; model.scratch_len()];
    let mut found = vec![f32::NAN; model.feature_count()];
    let (z, t) = defined(decoded, x, integers);
    let largest = decoded
        .weights
        .iter()
        .fold(0.0_f32, |l, w| l.max(w.re.abs()));
    let norm = z.iter().map(|z| z * z).sum::<f64>().sqrt();
    let size: f64 = x.iter().map(|x| f64::from(x.abs())).sum();
    match model.features(x, &mut scratch, &mut found) {
        Err(error) => {
            assert_eq!(error, Error::ZeroBispectrum);
            assert!(norm <= 1e-4 * size * f64::from(largest), "{norm}");
            return false;
        }
        Ok(()) if norm < 1e-3 * size * f64::from(largest) => return false,
        Ok(()) => {}
    }
    for (found, (exact, radius)) in found.iter().zip(&t) {
        let off = (f64::from(*found) - exact).abs();
        assert!(
            off <= *radius,
            "{found} is {off:e} from {exact}, {radius:e}"
        );
    }
    true
}

const SIGNALS: [[f32; 3]; 4] = [
    [0.3, -0.9, 0.5],
    [1.0, 1.0, 0.25],
    [-3e20, 1e20, 2e20],
    [1e-30, 3e-30, -2e-30],
];

fn invariants(model: &Model<'_>, x: &[f32]) -> Result<Vec<Complex32>, Error> {
    let mut out = vec![Complex32::ZERO; model.pairs()];
    model.invariants(x, &mut vec![f32::NAN; model.scratch_len()], &mut out)?;
    Ok(out)
}

fn coefficients(model: &Model<'_>, x: &[f32]) -> Vec<Complex32> {
    let mut out = vec![Complex32::ZERO; model.rows()];
    let mut scratch = vec![f32::NAN; model.scratch_len()];
    model.coefficients(x, &mut scratch, &mut out).unwrap();
    out
}

#[test]
fn every_form_computes_what_the_definition_says() {
    for bytes in models() {
        let (model, decoded) = both(&bytes).expect("a sound model");
        let integers = matches!(model.parts().weights, Weights::I8 { .. });
        for x in SIGNALS {
            assert!(assert_defined(&model, &decoded, &x, integers));
        }
        assert_eq!(decoded.couplings.expect("couplings").selective, 3);
    }
}

#[test]
fn the_calls_of_every_model_agree() {
    for bytes in models() {
        let model = Model::from_bytes(&bytes).unwrap();
        let x = [0.3, -0.9, 0.5];
        let mut scratch = vec![f32::NAN; model.scratch_len()];
        let mut features = vec![0.0; model.feature_count()];
        model.features(&x, &mut scratch, &mut features).unwrap();
        let invariants = invariants(&model, &x).unwrap();
        let real: Vec<Complex32> = features.iter().map(|t| Complex32::new(*t, 0.0)).collect();
        assert_eq!(invariants, real);
        let mut streamed = Vec::new();
        let magnitude = (model)
            .stream(&x, &mut scratch, |i, j, term| {
                assert_eq!((i, j), (streamed.len(), streamed.len()));
                streamed.push(term);
            })
            .unwrap();
        assert_eq!((&streamed, magnitude.norm()), (&real, 1.0));
        // The forms at z, by hand: the first is z_0, the second |z|²/2 of the plane.
        let z = coefficients(&model, &x);
        let mut beta = vec![Complex32::ZERO; 4];
        model.bispectrum(&x, &mut scratch, &mut beta).unwrap();
        assert_eq!(beta[0], z[0]);
        let half = 0.5 * (z[1].re * z[1].re + z[2].re * z[2].re);
        assert!((beta[1].re - half).abs() < 1e-6 * half);
        assert_eq!((model.pair(3), model.pair(4)), (Some((3, 3)), None));
    }
}

#[test]
fn moved_and_scaled_signals_share_their_invariants() {
    let bytes = plain();
    let model = Model::from_bytes(&bytes).unwrap();
    let t = invariants(&model, &[0.3, -0.9, 0.5]).unwrap();
    for moved in [[0.5, 0.3, -0.9], [-0.9, 0.3, 0.5], [0.6, -1.8, 1.0]] {
        let moved = invariants(&model, &moved).unwrap();
        // U is exact to three digits.
        assert!(t.iter().zip(moved).all(|(a, b)| (a - b).norm_sqr() < 1e-5));
    }
    let other = invariants(&model, &[0.3, -0.4, 0.5]).unwrap();
    assert!((t[2] - other[2]).norm_sqr() > 1e-3);
    assert_eq!(invariants(&model, &[0.6, -1.8, 1.0]).unwrap(), t);
}

/// The order that is written down, transcribed for this model.
#[test]
fn the_bits_are_those_of_the_written_order() {
    let bytes = plain();
    let model = Model::from_bytes(&bytes).unwrap();
    // The largest sample and weight are between a half and one: scaled by 2, exactly.
    let x = [0.3_f32, -0.9, 0.5].map(|x| 4.0 * x);
    // Lanes 0, 1 and 2, the others empty: (0 + 2) + 1.
    let row = |k: usize| {
        let [a, b, c] = [0, 1, 2].map(|n| BASIS[3 * k + n] * x[n]);
        (a + c) + b
    };
    let z = [row(0), row(1), row(2)];
    let (mut sum, mut excess) = (0.0_f32, 0.0_f32);
    for z in z {
        let wanted = z * z - excess;
        let next = sum + wanted;
        excess = (next - sum) - wanted;
        sum = next;
    }
    let factor = 1.0 / sum.sqrt();
    let [p, a, b] = z.map(|z| z * factor);
    let expected = [
        p,
        0.5 * a * a + 0.5 * b * b,
        ((a * a * a - a * b * b) - b * a * b) - b * b * a,
        0.25 * p * a * a * p + 0.25 * p * b * b * p,
    ];
    let found = invariants(&model, &[0.3, -0.9, 0.5]).unwrap();
    let bits: Vec<u32> = found.iter().map(|t| t.re.to_bits()).collect();
    assert_eq!(bits, expected.map(f32::to_bits));
    // And on every processor: these.
    assert_eq!(bits, PINNED, "{bits:08x?}");
}

const PINNED: [u32; 4] = [0xbd5c_6f7f, 0x3eff_422e, 0xbf6a_fb26, 0x3a3d_4314];

#[test]
fn a_classifier_takes_one_number_a_term() {
    let weights = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0];
    let layers = [Layer {
        weights: &weights,
        biases: &[0.0, 0.125],
    }];
    let parts = Parts {
        head: Head::Perceptron(Layers::F32(&layers)),
        ..parts(
            couplings(dictionary(), Basis::Dense),
            Weights::F32((&BASIS).into()),
        )
    };
    let bytes = written(&parts);
    let (model, _) = both(&bytes).unwrap();
    let mut scratch = vec![f32::NAN; model.classifier_scratch_len()];
    let mut scores = [0.0; 2];
    let x = [0.3, -0.9, 0.5];
    model.scores(&x, &mut scratch, &mut scores).unwrap();
    let t = invariants(&model, &x).unwrap();
    assert_eq!(scores, [t[0].re, t[1].re + 0.125]);
    // Two numbers a term are too many.
    let layers = [Layer {
        weights: &[0.0; 16],
        biases: &[0.0; 2],
    }];
    let parts = Parts {
        head: Head::Perceptron(Layers::F32(&layers)),
        ..parts
    };
    assert_eq!(parts.encoded_len(), Err(Error::Malformed));
}

#[test]
fn a_signal_that_no_row_responds_to_is_refused() {
    let basis = [1.0, -1.0, 0.0, 0.0, 1.0, -1.0, 1.0, 0.0, -1.0];
    let weights = Weights::F32((&basis).into());
    let bytes = written(&parts(couplings(dictionary(), Basis::Dense), weights));
    let model = Model::from_bytes(&bytes).unwrap();
    let (mut scratch, mut out) = (vec![0.0; model.scratch_len()], vec![1.0; 4]);
    let x = [0.25; 3];
    assert_eq!(
        model.features(&x, &mut scratch, &mut out),
        Err(Error::ZeroBispectrum)
    );
    assert_eq!(out, [0.0; 4]);
    assert_eq!(invariants(&model, &x), Err(Error::ZeroBispectrum));
}

#[test]
fn lists_that_a_reader_could_not_tell_apart_are_not_written() {
    let sound = couplings(dictionary(), sparse());
    let weights = nonzero();
    let weights = Weights::F32((&weights[..]).into());
    let refused = |couplings: Couplings<'_>| parts(couplings, weights).encoded_len().is_err();
    assert!(!refused(sound));
    let words = Numbers::Words((&[0, 1, 2, 3]).into());
    let few = Numbers::Bytes((&[0, 1]).into());
    let strange = [tensor(5, [1; 4], 1)];
    let wide = [tensor(1, [257, 1, 1, 1], 1)];
    for broken in [
        Couplings {
            terms: words,
            ..sound
        },
        Couplings {
            terms: Numbers::Bytes((&[0, 1, 2, 4]).into()),
            ..sound
        },
        Couplings {
            offsets: few,
            ..sound
        },
        Couplings {
            indices: (&INDICES[1..]).into(),
            ..sound
        },
        Couplings {
            coefficients: Coefficients::F32((&VALUES[1..]).into()),
            ..sound
        },
        Couplings {
            tensors: (&TENSORS[1..]).into(),
            ..sound
        },
        Couplings {
            tensors: (&strange).into(),
            ..sound
        },
        Couplings {
            tensors: (&wide).into(),
            ..sound
        },
        Couplings {
            basis: Basis::Sparse {
                counts: (&[3, 3]).into(),
                columns: few,
            },
            ..sound
        },
    ] {
        assert!(refused(broken), "{broken:?}");
    }
}

#[test]
fn what_a_reader_may_not_follow_is_refused_by_both_readers() {
    let sound = couplings(dictionary(), Basis::Dense);
    let refusal = |couplings: Couplings<'_>| {
        let parts = parts(couplings, Weights::F32((&BASIS).into()));
        let mut bytes = vec![0; parts.encoded_len().expect("lengths that fit")];
        parts.write(&mut bytes).expect_err("a refusal")
    };
    let codes = |codes: &'static [u8; 9]| Coefficients::Dictionary {
        magnitudes: (&MAGNITUDES).into(),
        codes: codes.into(),
    };
    let magnitudes = |magnitudes: &'static [f32]| Coefficients::Dictionary {
        magnitudes: magnitudes.into(),
        codes: (&CODES).into(),
    };
    let mut descending = INDICES;
    descending.swap(2, 3);
    descending[1..5].copy_from_slice(&[1, 1, 0, 0]);
    let mut outside = INDICES;
    outside[4] = 2;
    for broken in [
        Couplings {
            selective: 5,
            ..sound
        },
        Couplings {
            indices: (&descending).into(),
            ..sound
        },
        Couplings {
            indices: (&outside).into(),
            ..sound
        },
        Couplings {
            coefficients: codes(&[3, 1, 1, 2, 2, 2, 2, 0, 0]),
            ..sound
        },
        Couplings {
            coefficients: magnitudes(&[0.5, 0.25, 1.0]),
            ..sound
        },
        Couplings {
            coefficients: magnitudes(&[0.25, 0.5, 65536.0]),
            ..sound
        },
        Couplings {
            coefficients: magnitudes(&[0.0, 0.5, 1.0]),
            ..sound
        },
        Couplings {
            coefficients: magnitudes(&[-0.25, 0.5, 1.0]),
            ..sound
        },
        Couplings {
            coefficients: magnitudes(&[]),
            ..sound
        },
        Couplings {
            coefficients: Coefficients::F32((&[f32::NAN; 9]).into()),
            ..sound
        },
        Couplings {
            coefficients: Coefficients::F32((&[0.0; 9]).into()),
            ..sound
        },
        Couplings {
            coefficients: Coefficients::F16((&[0x7c00; 9]).into()),
            ..sound
        },
        Couplings {
            offsets: Numbers::Bytes((&[0, 1, 1, 1, 1, 1, 0, 1, 2, 0]).into()),
            ..sound
        },
    ] {
        assert_eq!(refusal(broken), Error::Malformed, "{broken:?}");
    }
    // Descending but for where the selective set ends.
    let terms = Numbers::Bytes((&[1, 2, 0, 3]).into());
    let offsets = Numbers::Bytes((&[1, 1, 1, 1, 1, 0, 0, 1, 1, 0]).into());
    let turned = Couplings {
        terms,
        offsets,
        selective: 2,
        ..sound
    };
    let bytes = written(&parts(turned, Weights::F32((&BASIS).into())));
    let (model, _) = both(&bytes).unwrap();
    let (straight, x) = (plain(), [0.3, -0.9, 0.5]);
    let straight = invariants(&Model::from_bytes(&straight).unwrap(), &x).unwrap();
    let found = invariants(&model, &x).unwrap();
    assert_eq!(found, [1, 2, 0, 3].map(|t: usize| straight[t]));
    assert_eq!(
        refusal(Couplings {
            selective: 3,
            ..turned
        }),
        Error::Malformed
    );
    // Pairs have no meaning here.
    let parts = Parts {
        pairs: PairList::Listed((&[(0, 1)]).into()),
        ..parts(sound, Weights::F32((&BASIS).into()))
    };
    assert_eq!(parts.write(&mut [0; 1000]), Err(Error::Malformed));
}

#[test]
fn a_number_of_u_that_is_none_is_named_by_row_and_column() {
    let mut dense = BASIS;
    dense[7] = f32::NAN;
    let bytes = written(&parts(
        couplings(dictionary(), Basis::Dense),
        Weights::F32((&dense).into()),
    ));
    let place = Error::NonFiniteWeight { row: 2, column: 1 };
    assert_eq!(both(&bytes).unwrap_err(), place);
    let mut few = nonzero();
    few[6] = f32::INFINITY;
    let bytes = written(&parts(
        couplings(dictionary(), sparse()),
        Weights::F32((&few[..]).into()),
    ));
    assert_eq!(both(&bytes).unwrap_err(), place);
    let zeros = Weights::F32((&[0.0; 9]).into());
    let bytes = written(&parts(couplings(dictionary(), Basis::Dense), zeros));
    assert_eq!(both(&bytes).unwrap_err(), Error::WeightRange);
}

/// The file of `docs/format.md`: a number that may change its sign, and another that does not.
#[test]
fn the_file_of_the_page_is_what_is_written() {
    let tensors = [tensor(1, [1; 4], 1), tensor(2, [1; 4], 1)];
    let couplings = Couplings {
        basis: Basis::Dense,
        selective: 2,
        tensors: (&tensors).into(),
        indices: (&[0; 3]).into(),
        coefficients: Coefficients::Dictionary {
            magnitudes: (&[1.0]).into(),
            codes: (&[0; 2]).into(),
        },
        terms: Numbers::Bytes((&[0, 1]).into()),
        offsets: Numbers::Bytes((&[0, 1, 1]).into()),
    };
    let parts = Parts {
        inputs: 2,
        rows: 2,
        group: Some("Z2"),
        structure: Structure::Couplings(couplings),
        weights: Weights::I8 {
            weights: (&[127, 127, 127, -127]).into(),
            scales: (&[0.0078125; 2]).into(),
        },
        ..Parts::default()
    };
    let mut section = vec![0, 0, 2, 0, 2, 0, 2, 0, 1, 0, 0, 0x80, 0x3f];
    section.extend([1, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 1, 0]);
    section.extend([0, 0, 0, 0, 0, 0, 1, 0, 1, 1]);
    let fields = Fields {
        inputs: 2,
        rows: 2,
        name: Vec::new(),
        group: b"Z2".to_vec(),
        sections: [
            (2, vec![0, 0, 0, 0x3c, 0, 0, 0, 0x3c]),
            (0, Vec::new()),
            (4, section),
            (0, Vec::new()),
        ],
        weights: vec![0x7f, 0x7f, 0x7f, 0x81],
        ..Fields::z4()
    };
    let bytes = written(&parts);
    assert_eq!(bytes, fields.encode());
    assert_eq!(bytes, PAGE, "{bytes:02x?}");
    let (model, _) = both(&bytes).unwrap();
    assert_eq!(
        invariants(&model, &[3.0, 1.0]),
        invariants(&model, &[1.0, 3.0])
    );
}

#[rustfmt::skip]
const PAGE: [u8; 88] = [
    0x42, 0x53, 0x4e, 0x00, 0x01, 0x58, 0x00, 0x00, 0x00, 0x02, 0x02, 0x00, 0x02, 0x5a, 0x32, 0x02,
    0x08, 0x00, 0x00, 0x00, 0x3c, 0x00, 0x00, 0x00, 0x3c, 0x00, 0x00, 0x04, 0x25, 0x00, 0x00, 0x02,
    0x00, 0x02, 0x00, 0x02, 0x00, 0x01, 0x00, 0x00, 0x80, 0x3f, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01,
    0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00,
    0x01, 0x01, 0x00, 0x00, 0x0a, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04,
    0x7f, 0x7f, 0x7f, 0x81, 0xed, 0x32, 0x4c, 0xbc,
];

/// Steele, Lea and Flood's generator.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[test]
fn sixty_thousand_damaged_models_load_as_what_they_say_or_not_at_all() {
    let (mut loaded, mut compared, mut refused) = (0, 0, 0);
    for (seed, original) in models().iter().enumerate() {
        let mut state = seed as u64;
        for _ in 0..3_200 {
            let mut message = original[..original.len() - 4].to_vec();
            for _ in 0..=next(&mut state) % 3 {
                let at = next(&mut state) as usize % message.len();
                match next(&mut state) % 5 {
                    0 => message[at] ^= 1 << (next(&mut state) % 8),
                    1 => message[at] = next(&mut state) as u8,
                    2 => message[at] = message[at].wrapping_add(1),
                    3 => drop(message.remove(at)),
                    _ => message.insert(at, next(&mut state) as u8 % 4),
                }
            }
            let bytes = with_checksum(message);
            let Ok((model, decoded)) = both(&bytes) else {
                refused += 1;
                continue;
            };
            loaded += 1;
            assert_eq!(written(&model.parts()), bytes);
            let x: Vec<f32> = (0..model.inputs())
                .map(|_| (next(&mut state) >> 40) as f32 / (1 << 23) as f32 - 1.0)
                .collect();
            if decoded.couplings.is_some() {
                let integers = matches!(model.parts().weights, Weights::I8 { .. });
                compared += u32::from(assert_defined(&model, &decoded, &x, integers));
            }
        }
    }
    println!("{loaded} loaded, {compared} compared, {refused} refused");
    assert!(compared > 5_000 && refused > 10_000);
}
