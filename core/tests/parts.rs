//! Typed parts of every kind are written as the bytes that `docs/format.md` says, which a writer made by hand writes too,
//! and a model that was read shows them as the same values.

mod by_hand;

use bispectral_core::format::{
    FFT_FACTORS, Head, Layer, Layers, List, PairList, Parts, Row, ScaledLayer, Structure, Term,
    Transform, Weights,
};
use bispectral_core::{Error, Model};
use by_hand::{Fields, Z4_WEIGHTS, both};

fn written(parts: &Parts<'_>) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![0; parts.encoded_len()?];
    parts.write(&mut bytes)?;
    Ok(bytes)
}

/// A model that the crate and the reader made by hand read alike.
fn read(bytes: &[u8]) -> Model<'_> {
    both(bytes).unwrap().0
}

/// Z4's characters with the conjugate of character 1 behind them.
const ROWS: [Row; 4] = [row(0), row(1), conjugate(1), row(2)];
const TABLE: [u8; 8] = [0, 0, 1, 0, 1, 0x80, 2, 0];

const fn row(stored: u16) -> Row {
    Row {
        stored,
        conjugated: false,
    }
}

const fn conjugate(stored: u16) -> Row {
    Row {
        stored,
        conjugated: true,
    }
}

/// Three rows of four inputs, all pairs, no head.
fn dense<'a>() -> Parts<'a> {
    Parts {
        inputs: 4,
        rows: 3,
        name: "quarter turns",
        group: Some("Z4"),
        weights: Weights::F32(List::new(&Z4_WEIGHTS)),
        ..Parts::default()
    }
}

fn conjugates<'a>() -> Parts<'a> {
    Parts {
        rows: 4,
        structure: Structure::Conjugates {
            rows: (&ROWS).into(),
        },
        ..dense()
    }
}

fn combined<'a>(coefficients: &'a [Term]) -> Parts<'a> {
    Parts {
        structure: Structure::Combined {
            rows: (&ROWS).into(),
            terms: 1,
            scale: 0.25,
            coefficients: coefficients.into(),
        },
        ..conjugates()
    }
}

fn cyclic<'a>() -> Parts<'a> {
    Parts {
        structure: Structure::Cyclic {
            transform: Transform::Sums,
            factors: (&[4]).into(),
            characters: (&[0, 1, 2]).into(),
            elements: (&[3, 2, 1, 0]).into(),
        },
        weights: Weights::F32((&[0.5, 0.0, -0.5, 0.0, 0.0, -0.5, 0.0, 0.5]).into()),
        ..dense()
    }
}

#[test]
fn encodings_are_written_byte_by_byte() {
    let mut expected = Fields::z4();
    assert_eq!(written(&dense()).unwrap(), expected.encode());

    let halves: [u16; 24] = core::array::from_fn(|at| 0x3c00 + at as u16);
    let parts = Parts {
        weights: Weights::F16((&halves).into()),
        ..dense()
    };
    expected.sections[0] = (1, vec![]);
    expected.weights = (0..24).flat_map(|at| [at, 0x3c]).collect();
    let bytes = written(&parts).unwrap();
    assert_eq!(bytes, expected.encode());
    assert_eq!(read(&bytes).parts().weights, parts.weights);

    let integers: [i8; 24] = core::array::from_fn(|at| at as i8 - 12);
    let parts = Parts {
        weights: Weights::I8 {
            weights: (&integers).into(),
            scales: (&[1.0, 2.0, 0.5]).into(),
        },
        ..dense()
    };
    expected.sections[0] = (2, vec![0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 0, 63]);
    expected.weights = (244..=255).chain(0..12).collect();
    let bytes = written(&parts).unwrap();
    assert_eq!(bytes, expected.encode());
    assert_eq!(read(&bytes).parts().weights, parts.weights);
}

#[test]
fn pairs_and_structures_are_written_byte_by_byte() {
    let mut listed = Fields::z4();
    listed.sections[1] = (1, vec![0, 0, 1, 0, 1, 0, 2, 0]);
    let parts = Parts {
        pairs: PairList::Listed((&[(0, 1), (1, 2)]).into()),
        ..dense()
    };
    let bytes = written(&parts).unwrap();
    assert_eq!(bytes, listed.encode());
    assert_eq!(read(&bytes).parts().pairs, parts.pairs);

    let mut expected = Fields {
        rows: 4,
        ..Fields::z4()
    };
    expected.sections[2] = (1, TABLE.to_vec());
    let bytes = written(&conjugates()).unwrap();
    assert_eq!(bytes, expected.encode());
    let structure = read(&bytes).parts().structure;
    assert_eq!(structure, conjugates().structure);

    let term = Term {
        row: conjugate(2),
        re: -2,
        im: 0x0304,
    };
    let coefficients = [term; 10];
    let mut section = [&TABLE[..], &[1, 0, 0, 128, 62]].concat();
    section.extend([2, 0x80, 0xfe, 0xff, 4, 3].repeat(10));
    expected.sections[2] = (2, section);
    let bytes = written(&combined(&coefficients)).unwrap();
    assert_eq!(bytes, expected.encode());
    let structure = read(&bytes).parts().structure;
    assert_eq!(structure, combined(&coefficients).structure);

    let mut expected = Fields {
        weights: [0.5_f32, 0.0, -0.5, 0.0, 0.0, -0.5, 0.0, 0.5]
            .map(f32::to_le_bytes)
            .concat(),
        ..Fields::z4()
    };
    let section = [0, 1, 4, 0, 0, 0, 1, 0, 2, 0, 3, 0, 2, 0, 1, 0, 0, 0];
    expected.sections[2] = (3, section.to_vec());
    let bytes = written(&cyclic()).unwrap();
    assert_eq!(bytes, expected.encode());
    let structure = read(&bytes).parts().structure;
    assert_eq!(structure, cyclic().structure);
}

#[test]
fn layers_are_written_byte_by_byte_and_again_behind_a_model_that_was_read() {
    let pairs = PairList::Listed((&[(0, 1)]).into());
    let mut expected = Fields::z4();
    expected.sections[1] = (1, vec![0, 0, 1, 0]);

    let layer = Layer {
        weights: &[1.0, 2.0, 0.5, -0.0],
        biases: &[1.0, 0.0],
    };
    let layers = [layer];
    let head = Head::Perceptron(Layers::F32(&layers));
    let numbers = [1.0_f32, 2.0, 0.5, -0.0, 1.0, 0.0].map(f32::to_le_bytes);
    expected.sections[3] = (1, [&[0, 1, 2, 0], numbers.as_flattened()].concat());
    let plain = written(&Parts { pairs, ..dense() }).unwrap();
    let bytes = written(&Parts {
        pairs,
        head,
        ..dense()
    })
    .unwrap();
    assert_eq!(bytes, expected.encode());
    let again = read(&bytes).parts();
    assert_eq!(written(&again).unwrap(), bytes);
    // With another head, and with none.
    let none = Head::None;
    assert_eq!(
        written(&Parts {
            head: none,
            ..again
        })
        .unwrap(),
        plain
    );
    let other = read(&plain).parts();
    assert_eq!(written(&Parts { head, ..other }).unwrap(), bytes);

    let layers = [ScaledLayer {
        weights: &[1, -1, 127, -127],
        scales: &[1.0, 0.5],
        biases: &[2.0, 0.0],
    }];
    let head = Head::Perceptron(Layers::I8(&layers));
    let numbers = [1.0_f32, 0.5, 2.0, 0.0].map(f32::to_le_bytes);
    let section = [&[1, 1, 2, 0, 1, 255, 127, 129], numbers.as_flattened()].concat();
    expected.sections[3] = (1, section);
    let bytes = written(&Parts {
        pairs,
        head,
        ..dense()
    })
    .unwrap();
    assert_eq!(bytes, expected.encode());
    let again = read(&bytes).parts();
    assert_eq!(written(&again).unwrap(), bytes);
}

#[test]
fn lists_whose_lengths_add_up_but_are_each_wrong_are_malformed() {
    let refused = |structure, parts: Parts<'_>| {
        let parts = Parts { structure, ..parts };
        assert_eq!(parts.encoded_len(), Err(Error::Malformed), "{structure:?}");
        assert_eq!(parts.write(&mut [0; 400]), Err(Error::Malformed));
    };
    let cyclic_of = |factors: &'static [u16], characters: &'static [u16], elements| {
        let (factors, characters) = (factors.into(), characters.into());
        Structure::Cyclic {
            transform: Transform::Sums,
            factors,
            characters,
            elements: List::new(elements),
        }
    };
    // As bytes, each of these is the group of the tests above.
    refused(cyclic_of(&[4], &[0, 1], &[2, 3, 2, 1, 0]), cyclic());
    refused(cyclic_of(&[4], &[0, 1, 2, 3], &[2, 1, 0]), cyclic());
    // 256 factors would be counted as none.
    refused(cyclic_of(&[1; 256], &[0; 3], &[0; 4]), cyclic());

    let terms = [Term::default(); 10];
    let combined_of = |rows: &'static [Row]| Structure::Combined {
        rows: rows.into(),
        terms: 1,
        scale: 0.25,
        coefficients: (&terms).into(),
    };
    refused(combined_of(&ROWS[..3]), combined(&terms));
    const MANY: [Row; 5] = [row(0); 5];
    refused(combined_of(&MANY), combined(&terms));
}

#[test]
fn layers_whose_lengths_add_up_but_are_each_wrong_are_malformed() {
    let refused = |layers: Layers<'_>| {
        let parts = Parts {
            pairs: PairList::Listed((&[(0, 1)]).into()),
            head: Head::Perceptron(layers),
            ..dense()
        };
        assert_eq!(parts.encoded_len(), Err(Error::Malformed), "{layers:?}");
        assert_eq!(parts.write(&mut [0; 9000]), Err(Error::Malformed));
    };
    // The scale too many of the first layer is the one that the second lacks.
    let layer = |weights, scales| ScaledLayer {
        weights,
        scales,
        biases: &[0.0],
    };
    refused(Layers::I8(&[layer(&[1, 1], &[1.0, 0.5]), layer(&[1], &[])]));
    // 256 layers would be counted as none.
    let mut layers = [Layer {
        weights: &[1.0],
        biases: &[0.0],
    }; 256];
    layers[0].weights = &[1.0, 1.0];
    refused(Layers::F32(&layers));
}

#[test]
fn what_a_reader_refuses_is_not_written() {
    let result = |parts: Parts<'_>| written(&parts).map(|_| ());
    let refused = Err(Error::Malformed);
    let listed = |pairs: &'static [(u16, u16)]| Parts {
        pairs: PairList::Listed(pairs.into()),
        ..dense()
    };
    assert_eq!(result(listed(&[(0, 1), (1, 1)])), Ok(()));
    assert_eq!(result(listed(&[])), refused);
    assert_eq!(result(listed(&[(1, 1), (0, 1)])), refused, "descending");
    assert_eq!(result(listed(&[(0, 3)])), refused, "no such row");

    let with_rows = |rows: &'static [Row]| Parts {
        structure: Structure::Conjugates { rows: rows.into() },
        ..conjugates()
    };
    assert_eq!(result(with_rows(&ROWS)), Ok(()));
    assert_eq!(result(with_rows(&ROWS[..3])), refused, "a row too few");
    const FIRST: [Row; 4] = [conjugate(0), row(0), row(1), row(2)];
    assert_eq!(result(with_rows(&FIRST)), refused, "conjugated first");
    // Bit 15 of a number is not the mark of a conjugate.
    const BIT: [Row; 4] = [row(0), row(1), row(0x8001), row(2)];
    assert_eq!(result(with_rows(&BIT)), refused);

    let scales = |scales: &'static [f32]| Parts {
        weights: Weights::I8 {
            weights: List::new(&[1; 24]),
            scales: scales.into(),
        },
        ..dense()
    };
    assert_eq!(result(scales(&[1.0; 3])), Ok(()));
    assert_eq!(result(scales(&[1.0; 2])), refused);
    assert_eq!(result(scales(&[1.0, 1.0, 0.0])), refused);

    let (needed, found) = (96, 92);
    let short = Parts {
        weights: Weights::F32(List::new(&Z4_WEIGHTS[1..])),
        ..dense()
    };
    assert_eq!(result(short), Err(Error::WeightLength { needed, found }));
    let (needed, found) = (24, 96);
    let scaled = Parts {
        weights: Weights::I8 {
            weights: List::new(&[1; 96]),
            scales: List::new(&[1.0; 3]),
        },
        ..dense()
    };
    assert_eq!(result(scaled), Err(Error::WeightLength { needed, found }));
    let (inputs, rows) = (0, 0);
    let nothing = result(Parts::default());
    assert_eq!(nothing, Err(Error::Dimensions { inputs, rows }));
}

#[test]
fn the_fast_transform_takes_powers_of_two_of_4_to_1024() {
    let fast: Vec<u16> = (0..=u16::MAX)
        .filter(|factor| Transform::Fft.is_fast(*factor))
        .collect();
    assert_eq!(fast, [4, 8, 16, 32, 64, 128, 256, 512, 1024]);
    assert!(fast.iter().all(|factor| FFT_FACTORS.contains(factor)));
    assert!((0..=u16::MAX).all(|factor| !Transform::Sums.is_fast(factor)));
}

#[test]
fn a_list_of_values_and_one_of_bytes_are_read_alike() {
    let bytes = written(&conjugates()).unwrap();
    let Structure::Conjugates { rows } = read(&bytes).parts().structure else {
        panic!("another structure");
    };
    let values = List::new(&ROWS);
    assert_eq!(rows, values);
    for list in [rows, values] {
        assert_eq!((list.len(), list.is_empty()), (4, false));
        assert_eq!((list.get(2), list.get(4)), (Some(conjugate(1)), None));
        assert_eq!(list.iter().collect::<Vec<_>>(), ROWS);
        assert_eq!(format!("{list:?}"), format!("{ROWS:?}"));
    }
    assert_ne!(rows, List::new(&ROWS[..3]));
    assert!(List::<f32>::default().is_empty());
}
