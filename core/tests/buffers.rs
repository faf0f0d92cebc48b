//! Calls that cannot be answered: each has its error, and leaves the caller's buffers as they were.

mod written;

use bispectral_core::{
    Complex32, Error, Extractor, Model, pair_count, pair_index, pairs, scratch_len,
};

static Z4: &[u8] = include_bytes!("../models/z4.bsn");
const SCRATCH: usize = scratch_len(4, 3);
const NUMBERS: usize = 2 * PAIRS;
const PAIRS: usize = pair_count(3);
const X: [f32; 4] = [0.3, -0.7, 1.1, 0.2];

/// No computation gives this.
const SENTINEL: f32 = -123.25;
const PAIR: Complex32 = Complex32::new(SENTINEL, SENTINEL);

/// Buffers that remember whether something was written to them.
struct Buffers {
    scratch: [f32; SCRATCH + 2],
    terms: [Complex32; PAIRS + 2],
    power: [f32; 3 + 2],
}

/// What the four computations say, one after the other, with buffers of these lengths.
fn results(
    model: &Model<'_>,
    x: &[f32],
    scratch: usize,
    terms: usize,
    power: usize,
) -> ([Result<(), Error>; 5], Buffers) {
    let mut b = Buffers {
        scratch: [SENTINEL; SCRATCH + 2],
        terms: [PAIR; PAIRS + 2],
        power: [SENTINEL; 3 + 2],
    };
    let mut called = 0;
    let results = [
        model.invariants(x, &mut b.scratch[..scratch], &mut b.terms[..terms]),
        model.bispectrum(x, &mut b.scratch[..scratch], &mut b.terms[..terms]),
        model
            .stream(x, &mut b.scratch[..scratch], |_, _, _| called += 1)
            .map(|_| ()),
        model.coefficients(x, &mut b.scratch[..scratch], &mut b.terms[..terms]),
        model.power_spectrum(x, &mut b.scratch[..scratch], &mut b.power[..power]),
    ];
    assert_eq!(called, if results[2].is_ok() { PAIRS } else { 0 });
    (results, b)
}

impl Buffers {
    fn assert_untouched(&self) {
        assert!(self.scratch.iter().all(|x| *x == SENTINEL), "scratch");
        assert!(self.terms.iter().all(|x| *x == PAIR), "terms");
        assert!(self.power.iter().all(|x| *x == SENTINEL), "power");
    }
}

fn z4() -> Model<'static> {
    Model::from_bytes(Z4).unwrap()
}

#[test]
fn a_signal_of_another_length_is_refused_and_nothing_written() {
    for length in [0, 1, 3, 5, 8] {
        let x = vec![1.0; length];
        let (results, buffers) = results(&z4(), &x, SCRATCH, PAIRS, 3);
        let found = length as u32;
        assert_eq!(results, [Err(Error::InputLength { needed: 4, found }); 5]);
        buffers.assert_untouched();
    }
}

#[test]
fn a_signal_that_is_not_finite_is_refused_and_nothing_written() {
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for index in 0..4 {
            let mut x = X;
            x[index as usize] = value;
            x[3] = if index < 3 { f32::NAN } else { value };
            let (results, buffers) = results(&z4(), &x, SCRATCH, PAIRS, 3);
            assert_eq!(results, [Err(Error::NonFiniteInput { index }); 5]);
            buffers.assert_untouched();
        }
    }
}

#[test]
fn a_zero_signal_is_refused_and_nothing_written() {
    for x in [[0.0; 4], [-0.0; 4], [0.0, -0.0, 0.0, -0.0]] {
        let (results, buffers) = results(&z4(), &x, SCRATCH, PAIRS, 3);
        assert_eq!(results, [Err(Error::ZeroInput); 5]);
        buffers.assert_untouched();
    }
}

#[test]
fn a_short_scratch_buffer_is_refused_and_nothing_written() {
    for found in 0..SCRATCH {
        let (results, buffers) = results(&z4(), &X, found, PAIRS, 3);
        let (needed, found) = (SCRATCH as u32, found as u32);
        assert_eq!(results, [Err(Error::ScratchLength { needed, found }); 5]);
        buffers.assert_untouched();
    }
}

#[test]
fn a_short_output_buffer_is_refused_and_nothing_written() {
    for terms in 0..PAIRS {
        let power = terms.min(2);
        let (results, buffers) = results(&z4(), &X, 0, terms, power);
        let short = |needed, found| {
            let found = found as u32;
            Err(Error::OutputLength { needed, found })
        };
        assert_eq!(results[0], short(6, terms));
        assert_eq!(results[1], short(6, terms));
        assert_eq!(results[4], short(3, power));
        let (needed, found) = (SCRATCH as u32, 0);
        let scratch = Err(Error::ScratchLength { needed, found });
        let expected = if terms < 3 { short(3, terms) } else { scratch };
        assert_eq!(results[3], expected);
        buffers.assert_untouched();
    }
}

#[test]
fn longer_buffers_are_written_at_the_front_only() {
    let (results, buffers) = results(&z4(), &X, SCRATCH + 2, PAIRS + 2, 5);
    assert_eq!(results, [Ok(()); 5]);
    assert_eq!(buffers.terms[PAIRS..], [PAIR; 2]);
    assert_eq!(buffers.power[3..], [SENTINEL; 2]);
    assert_eq!(buffers.scratch[SCRATCH..], [SENTINEL; 2]);
}

#[test]
fn a_result_larger_than_f32_is_an_error_and_zeros() {
    let model = z4();
    let x = [3e38, 3e38, 3e38, -1e38];
    let mut terms = [PAIR; PAIRS];
    assert_eq!(
        model.bispectrum(&x, &mut [0.0; SCRATCH], &mut terms),
        Err(Error::Overflow)
    );
    assert_eq!(terms, [Complex32::ZERO; PAIRS]);
    let mut power = [SENTINEL; 3];
    assert_eq!(
        model.power_spectrum(&x, &mut [0.0; SCRATCH], &mut power),
        Err(Error::Overflow)
    );
    assert_eq!(power, [0.0; 3]);
    let mut z = [PAIR; 3];
    assert_eq!(
        model.coefficients(&x, &mut [0.0; SCRATCH], &mut z),
        Err(Error::Overflow)
    );
    assert_eq!(z, [Complex32::ZERO; 3]);
    assert_eq!(
        model.invariants(&x, &mut [0.0; SCRATCH], &mut terms),
        Ok(()),
        "β̄ has room"
    );
}

#[test]
fn a_signal_orthogonal_to_every_row_has_a_zero_bispectrum_and_no_direction() {
    // Rows 0 and 2 of Z4 see the mean and the alternating sum of a signal; this one has neither.
    let weights: Vec<Complex32> = [[1.0, 1.0, 1.0, 1.0], [1.0, -1.0, 1.0, -1.0_f32]]
        .iter()
        .flatten()
        .map(|re| Complex32::new(*re, 0.0))
        .collect();
    let bytes = written::model(4, &weights);
    let model = Model::from_bytes(&bytes).unwrap();
    let x = [1.0, 5.0, -1.0, -5.0];
    let mut scratch = [0.0; scratch_len(4, 2)];
    let mut terms = [PAIR; 3];
    let invariants = model.invariants(&x, &mut scratch, &mut terms);
    assert_eq!(
        (invariants, terms),
        (Err(Error::ZeroBispectrum), [Complex32::ZERO; 3])
    );
    let mut called = 0;
    let streamed = model.stream(&x, &mut scratch, |_, _, term| {
        assert_eq!(term, Complex32::ZERO);
        called += 1;
    });
    assert_eq!((streamed.unwrap_err(), called), (Error::ZeroBispectrum, 3));
    terms = [PAIR; 3];
    let bispectrum = model.bispectrum(&x, &mut scratch, &mut terms);
    assert_eq!((bispectrum, terms), (Ok(()), [Complex32::ZERO; 3]));
}

#[test]
fn a_weak_response_has_a_bispectrum_of_the_right_size_and_a_direction_or_zeros() {
    // β = w⁴x³, and w is 2^-k of the largest weight: the scaled term is 2^-4k, below what rounding may do to 2^-k for
    // k > 5 and subnormal for k > 31, but β itself is 1, 2 or 4.
    for k in 1..=37 {
        let weights = [Complex32::ONE, Complex32::new(2_f32.powi(-k), 0.0)];
        let bytes = written::model(2, &weights);
        let model = Model::from_bytes(&bytes).unwrap();
        let exponent = (4 * k + 2) / 3;
        let x = [0.0, 2_f32.powi(exponent)];
        let (mut scratch, mut beta) = ([0.0; scratch_len(2, 1)], [PAIR]);
        model.bispectrum(&x, &mut scratch, &mut beta).unwrap();
        let expected = 2_f32.powi(3 * exponent - 4 * k);
        assert_eq!(beta, [Complex32::new(expected, 0.0)], "2^-{k}");
        let result = model.invariants(&x, &mut scratch, &mut beta);
        if k <= 5 {
            assert_eq!((result, beta), (Ok(()), [Complex32::ONE]), "2^-{k}");
        } else {
            let zeros = (Err(Error::ZeroBispectrum), [Complex32::ZERO]);
            assert_eq!((result, beta), zeros, "2^-{k}");
        }
    }
}

#[test]
fn an_extractor_too_small_for_the_model_is_not_made() {
    let (needed, found) = (SCRATCH as u32, SCRATCH as u32 - 1);
    let error = Extractor::<{ SCRATCH - 1 }, PAIRS>::new(z4()).unwrap_err();
    assert_eq!(error, Error::ScratchLength { needed, found });
    let (needed, found) = (12, 11);
    let mut short = Extractor::<SCRATCH, { NUMBERS - 1 }>::new(z4()).unwrap();
    let error = short.invariants(&X).unwrap_err();
    assert_eq!(error, Error::OutputLength { needed, found });
    assert_eq!(short.classify(&X), Err(Error::NoClassifier));
    let mut larger = Extractor::<{ SCRATCH + 5 }, { NUMBERS + 7 }>::new(z4()).unwrap();
    let mut exact = Extractor::<SCRATCH, NUMBERS>::new(z4()).unwrap();
    assert_eq!(
        larger.invariants(&X).unwrap()[..],
        exact.invariants(&X).unwrap()[..]
    );
}

#[test]
fn an_extractor_gives_nothing_after_an_error_and_works_again_after_it() {
    let mut extractor = Extractor::<SCRATCH, NUMBERS>::new(z4()).unwrap();
    let before = extractor.invariants(&X).unwrap().to_vec();
    assert_eq!(before.len(), PAIRS);
    assert_eq!(extractor.coefficients(&X).unwrap().len(), 3);
    assert_eq!(extractor.invariants(&[0.0; 4]), Err(Error::ZeroInput));
    assert_eq!(extractor.bispectrum(&[3e38; 4]), Err(Error::Overflow));
    assert_eq!(extractor.invariants(&X), Ok(&before[..]));
    let numbers = extractor.features(&X).unwrap();
    assert_eq!(numbers.len(), NUMBERS);
    assert!(
        numbers
            .chunks(2)
            .map(|two| Complex32::new(two[0], two[1]))
            .eq(before.iter().copied())
    );
    let mut terms = Vec::new();
    let magnitude = extractor.stream(&X, |_, _, term| terms.push(term)).unwrap();
    assert!(
        terms
            .iter()
            .map(|term| magnitude.normalise(*term))
            .eq(before)
    );
}

#[test]
fn the_index_of_a_pair_is_its_position_in_pairs() {
    for rows in 0..40 {
        let mut expected = 0;
        for (i, j) in pairs(rows) {
            assert!(i <= j && j < rows);
            assert_eq!(pair_index(rows, i, j), Some(expected));
            assert_eq!(pair_index(rows, j, i), Some(expected));
            expected += 1;
        }
        assert_eq!(expected, pair_count(rows));
        assert_eq!(pair_index(rows, rows, 0), None);
        assert_eq!(pair_index(rows, 0, rows), None);
        assert_eq!(pair_index(rows, usize::MAX, usize::MAX), None);
    }
}
