//! A proof by linking: this program uses the whole API of bispectral-core with values the compiler cannot know,
//! and its panic handler calls a function that does not exist. If one panic path survives, it does not link.

#![no_std]
#![no_main]

use bispectral_core::format::couplings::{Basis, Coefficients, Numbers, Tensor};
use bispectral_core::format::{
    Couplings, Head, Layer, Layers, PairList, Parts, Row, ScaledLayer, Structure, Term, Transform,
    Weights,
};
use bispectral_core::{
    Aligned, Complex32, Error, Extractor, Feature, LISTED_PAIRS, Magnitude, Model, Sliding,
    StaticModel, cyclic_scratch_len, include_model, pair_count, pair_index, pairs, scratch_len,
};
use core::fmt::{self, Write};
use core::hint::black_box;
use core::panic::PanicInfo;

const INPUTS: usize = 64;
const ROWS: usize = 33;
const SCRATCH: usize = scratch_len(INPUTS, ROWS);
const PAIRS: usize = pair_count(ROWS);

static MODEL: &[u8] = include_model!("../../model/turn.bsn");

/// A static that may be of every kind that reads its weights in place.
const KINDS: u32 = LISTED_PAIRS
    | Feature::Dense.bit()
    | Feature::Conjugates.bit()
    | Feature::Combined.bit()
    | Feature::Cyclic.bit()
    | Feature::Couplings.bit()
    | Feature::F32.bit()
    | Feature::F16.bit()
    | Feature::I8.bit()
    | Feature::I32.bit()
    | Feature::DegreeOne.bit()
    | Feature::Head.bit();
static BYTES: &Aligned<[u8]> = &Aligned(*include_bytes!("../../model/turn.bsn"));
static STATIC: StaticModel<KINDS> = match StaticModel::new(BYTES, [0; 4]) {
    Ok(model) => model,
    Err(_) => panic!("another model"),
};

unsafe extern "C" {
    fn a_panic_path_survives() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: never called: there is no such function, and so no program that could call it.
    unsafe { a_panic_path_survives() }
}

/// Where the linker begins.
#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    // Any bytes, any length, aligned or not.
    let bytes = black_box(MODEL);
    speak(use_everything(bytes));
    if let Some(rest) = bytes.get(black_box(1)..) {
        speak(use_everything(rest));
    }
    loop {
        core::hint::spin_loop();
    }
}

fn use_everything(bytes: &[u8]) -> Result<(), Error> {
    let model = Model::from_bytes(bytes)?;
    black_box((
        model.inputs(),
        model.rows(),
        model.pairs(),
        model.scratch_len(),
    ));
    black_box((model.name(), model.group(), model.is_aligned()));
    black_box((model.stored_rows(), model.pair(black_box(7))));
    black_box(model.pair_list().count());
    black_box(model.weight(black_box(3), black_box(5)));
    let x = black_box(&[0.0; INPUTS][..]);
    slices(&model, x)?;
    statics(black_box(&STATIC), x)?;
    let unchecked = Model::from_checked_bytes(bytes, black_box(model.findings()));
    slices(&unchecked, x)?;
    values(model, x)?;
    write(&model)?;
    black_box(pair_index(black_box(7), black_box(2), black_box(9)));
    black_box(pairs(black_box(5)).count());
    black_box(cyclic_scratch_len(black_box(64), black_box(8)));
    #[cfg(feature = "deliberate")]
    black_box(x[black_box(9)]);
    Ok(())
}

fn statics(model: &StaticModel<KINDS>, x: &[f32]) -> Result<(), Error> {
    let (mut scratch, mut terms, mut power) =
        ([0.0; SCRATCH], [Complex32::ZERO; PAIRS], [0.0; ROWS]);
    let scratch = black_box(&mut scratch[..]);
    let terms = black_box(&mut terms[..]);
    let power = black_box(&mut power[..]);
    black_box((model.inputs(), model.rows(), model.pairs(), model.classes()));
    black_box((model.scratch_len(), model.feature_count(), model.output()));
    black_box((model.classifier_scratch_len(), model.pair_list().count()));
    model.coefficients(x, scratch, terms)?;
    model.power_spectrum(x, scratch, power)?;
    model.bispectrum(x, scratch, terms)?;
    model.invariants(x, scratch, terms)?;
    model.features(x, scratch, power)?;
    black_box(model.classify(x, scratch, power)?);
    model.stream(x, scratch, |i, j, term| {
        black_box((i, j, term));
    })?;
    Ok(())
}

fn slices(model: &Model<'_>, x: &[f32]) -> Result<(), Error> {
    let (mut scratch, mut terms, mut power) =
        ([0.0; SCRATCH], [Complex32::ZERO; PAIRS], [0.0; ROWS]);
    // Slices whose lengths the compiler cannot know.
    let scratch = black_box(&mut scratch[..]);
    let terms = black_box(&mut terms[..]);
    let power = black_box(&mut power[..]);
    model.coefficients(x, scratch, terms)?;
    model.power_spectrum(x, scratch, power)?;
    model.bispectrum(x, scratch, terms)?;
    model.invariants(x, scratch, terms)?;
    black_box((model.feature_count(), model.output()));
    model.features(x, scratch, power)?;
    black_box((model.classes(), model.classifier_scratch_len()));
    black_box(model.classify(x, scratch, power)?);
    let magnitude: Magnitude = model.stream(x, scratch, |i, j, term| {
        black_box((i, j, term));
    })?;
    let term = black_box(Complex32::ZERO);
    black_box((magnitude.norm(), magnitude.exponent()));
    black_box((magnitude.normalise(term), magnitude.restore(term)));
    Ok(())
}

fn values(model: Model<'_>, x: &[f32]) -> Result<(), Error> {
    let mut extractor = black_box(Extractor::<SCRATCH, { 2 * PAIRS }>::new(model)?);
    black_box(extractor.model());
    black_box(extractor.invariants(x)?);
    black_box(extractor.bispectrum(x)?);
    black_box(extractor.coefficients(x)?);
    black_box(extractor.features(x)?);
    black_box(extractor.classify(x)?);
    let mut window = black_box(Sliding::<f32, INPUTS, ROWS>::with_range(
        model,
        black_box(2.0),
    )?);
    black_box((window.model(), window.characters(), window.is_full()));
    window.extend(x)?;
    window.push(black_box(1.0))?;
    let (mut scratch, mut out) = ([0.0; SCRATCH], [0.0; 2 * PAIRS]);
    let (scratch, out) = black_box((&mut scratch[..], &mut out[..]));
    window.features(scratch, out)?;
    black_box(window.classify(scratch, out)?);
    black_box(window.stream(scratch, |i, j, term| {
        black_box((i, j, term));
    })?);
    Ok(())
}

fn write(model: &Model<'_>) -> Result<(), Error> {
    // Parts of any kind, and of any that the compiler cannot know to fit together.
    let (numbers, floats, integers) = black_box((&[1_u16; 9][..], &[1.0; 9][..], &[1_i8; 9][..]));
    let whole = black_box(&[1_i32; 9][..]);
    let (rows, terms) = ([Row::default(); 9], [Term::default(); 9]);
    let (plain, scaled) = ([Layer::default(); 2], [ScaledLayer::default(); 2]);
    let (rows, terms, pairs) = black_box((&rows[..], &terms[..], &[(0, 1); 9][..]));
    let (plain, scaled) = black_box((&plain[..], &scaled[..]));
    let conjugates = Structure::Conjugates { rows: rows.into() };
    let combined = Structure::Combined {
        rows: rows.into(),
        terms: 1,
        scale: 1.0,
        coefficients: terms.into(),
    };
    let cyclic = Structure::Cyclic {
        transform: Transform::Fft,
        factors: numbers.into(),
        characters: numbers.into(),
        elements: numbers.into(),
    };
    let tensors = [Tensor::default(); 9];
    let (bytes, tensors) = black_box((&[1_u8; 9][..], &tensors[..]));
    let couplings = Structure::Couplings(Couplings {
        basis: Basis::Sparse {
            counts: numbers.into(),
            columns: Numbers::Words(numbers.into()),
        },
        selective: 1,
        tensors: tensors.into(),
        indices: bytes.into(),
        coefficients: Coefficients::Dictionary {
            magnitudes: floats.into(),
            codes: bytes.into(),
        },
        terms: Numbers::Bytes(bytes.into()),
        offsets: Numbers::Bytes(bytes.into()),
    });
    let quantised = Weights::I8 {
        weights: integers.into(),
        scales: floats.into(),
    };
    for (structure, weights, head) in black_box([
        (conjugates, Weights::F32(floats.into()), Layers::F32(plain)),
        (combined, quantised, Layers::I8(scaled)),
        (cyclic, Weights::F16(numbers.into()), Layers::F32(plain)),
        (
            cyclic,
            Weights::I32 {
                roots: whole.into(),
                amplitude: 1.0,
            },
            Layers::F32(plain),
        ),
        (couplings, Weights::F32(floats.into()), Layers::F32(plain)),
    ]) {
        let (pairs, head) = (PairList::Listed(pairs.into()), Head::Perceptron(head));
        let parts = Parts {
            inputs: 9,
            rows: 9,
            pairs,
            structure,
            head,
            weights,
            ..model.parts()
        };
        let _ = black_box(parts.encoded_len());
        let _ = black_box(parts.write(black_box(&mut [0; 128][..])));
    }
    for parts in [model.parts(), black_box(Parts::default())] {
        black_box(parts.encoded_len()?);
        black_box(parts.write(black_box(&mut [0; 128][..]))?);
    }
    let table = match black_box(model.parts().structure) {
        Structure::Conjugates { rows } => rows,
        _ => rows.into(),
    };
    black_box((table.get(black_box(3)), table.iter().count()));
    if let Structure::Couplings(couplings) = black_box(model.parts().structure) {
        black_box((couplings.terms.get(black_box(3)), couplings.terms.len()));
        black_box((couplings.offsets.iter().count(), couplings.terms.is_empty()));
        black_box(couplings.coefficients.get(black_box(3)));
    }
    Ok(())
}

fn speak(result: Result<(), Error>) {
    if let Err(error) = result {
        let _ = write!(Words, "{error}");
    }
}

/// An error's words, into nothing.
struct Words;

impl Write for Words {
    fn write_str(&mut self, words: &str) -> fmt::Result {
        black_box(words);
        Ok(())
    }
}
