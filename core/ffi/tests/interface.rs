//! The functions of the C interface, called as C calls them: what they compute is what the core computes, and what cannot
//! be used as a pointer, a length or a model has its status. The library has a panic handler of its own, so its modules
//! are compiled into this test instead.

#[path = "../src/buffers.rs"]
mod buffers;
#[path = "../src/compute.rs"]
mod compute;
#[path = "../src/model.rs"]
mod model;
#[path = "../src/status.rs"]
mod status;

use bispectral_core::format::{Parts, Weights};
use bispectral_core::{Complex32, Model as View};
use compute::*;
use core::ffi::{CStr, c_void};
use core::mem::MaybeUninit;
use core::ptr::{null, null_mut};
use model::*;
use status::*;

const INPUTS: usize = 4;
const ROWS: usize = 2;
const PAIRS: usize = 3;
const SCRATCH: usize = 2 * INPUTS + 2 * ROWS;
const X: [f32; INPUTS] = [0.3, -0.7, 1.1, 0.2];

/// Two rows of four inputs, in memory that stays.
fn bytes() -> &'static [u8] {
    let weights: [f32; 2 * INPUTS * ROWS] = core::array::from_fn(|at| (at as f32 * 1.7).sin());
    let parts = Parts {
        inputs: INPUTS as u16,
        rows: ROWS as u16,
        weights: Weights::F32((&weights).into()),
        ..Parts::default()
    };
    let mut bytes = vec![0; parts.encoded_len().unwrap()];
    parts.write(&mut bytes).unwrap();
    bytes.leak()
}

fn zeroed() -> Box<Model> {
    // SAFETY: a model is words, and zeroed memory is one that is not open.
    Box::new(unsafe { MaybeUninit::<Model>::zeroed().assume_init() })
}

fn open(bytes: &'static [u8]) -> (Box<Model>, Status) {
    let mut model = zeroed();
    // SAFETY: a model, and bytes that stay.
    let status = unsafe { bispectral_open(&mut *model, bytes.as_ptr(), bytes.len()) };
    (model, status)
}

type Transform = unsafe extern "C" fn(
    *const Model,
    *const f32,
    usize,
    *mut f32,
    usize,
    *mut Complex,
    usize,
) -> Status;

/// What a function with complex results says and writes, called with these numbers of samples and elements.
fn call(
    function: Transform,
    model: &Model,
    [samples, scratch, length]: [usize; 3],
) -> (Status, Vec<[u32; 2]>) {
    let mut room = [0.0; SCRATCH];
    let mut out = [Complex { re: -9.0, im: -9.0 }; PAIRS];
    // SAFETY: buffers of at least these lengths.
    let status = unsafe {
        function(
            model,
            X.as_ptr(),
            samples,
            room.as_mut_ptr(),
            scratch,
            out.as_mut_ptr(),
            length,
        )
    };
    let bits = |z: &Complex| [z.re.to_bits(), z.im.to_bits()];
    (status, out.iter().map(bits).collect())
}

const WHOLE: [usize; 3] = [INPUTS, SCRATCH, PAIRS];

#[test]
fn an_open_model_has_its_sizes_and_any_other_has_none() {
    let (model, status) = open(bytes());
    assert_eq!(status, Status::Ok);
    let sizes = |model: *const Model| {
        // SAFETY: null, zeroed or open.
        unsafe {
            [
                bispectral_inputs(model),
                bispectral_rows(model),
                bispectral_pairs(model),
                bispectral_scratch_length(model),
                bispectral_feature_count(model),
                bispectral_classifier_scratch_length(model),
                bispectral_classes(model),
            ]
        }
    };
    let expected = [INPUTS, ROWS, PAIRS, SCRATCH, 2 * PAIRS, SCRATCH, 0];
    assert_eq!(sizes(&*model), expected);
    assert_eq!(sizes(&*zeroed()), [0; 7]);
    assert_eq!(sizes(null()), [0; 7]);
}

#[test]
fn every_function_computes_the_bits_of_the_core() {
    let (model, _) = open(bytes());
    let view = View::from_bytes(bytes()).unwrap();
    let core = |compute: fn(&View<'_>, &mut [f32], &mut [Complex32])| {
        let (mut scratch, mut out) = ([0.0; SCRATCH], [Complex32::new(-9.0, -9.0); PAIRS]);
        compute(&view, &mut scratch, &mut out);
        let bits = |z: &Complex32| [z.re.to_bits(), z.im.to_bits()];
        (Status::Ok, out.iter().map(bits).collect::<Vec<_>>())
    };
    assert_eq!(
        call(bispectral_invariants, &model, WHOLE),
        core(|view, scratch, out| view.invariants(&X, scratch, out).unwrap())
    );
    assert_eq!(
        call(bispectral_bispectrum, &model, WHOLE),
        core(|view, scratch, out| view.bispectrum(&X, scratch, out).unwrap())
    );
    assert_eq!(
        call(bispectral_coefficients, &model, WHOLE),
        core(|view, scratch, out| view.coefficients(&X, scratch, out).unwrap())
    );

    let (mut scratch, mut power, mut expected) = ([0.0; SCRATCH], [-9.0; ROWS], [0.0; ROWS]);
    // SAFETY: buffers of these lengths.
    let status = unsafe {
        let scratch = scratch.as_mut_ptr();
        let power = power.as_mut_ptr();
        bispectral_power_spectrum(&*model, X.as_ptr(), INPUTS, scratch, SCRATCH, power, ROWS)
    };
    view.power_spectrum(&X, &mut scratch, &mut expected)
        .unwrap();
    assert_eq!((status, power), (Status::Ok, expected));

    let (mut features, mut expected) = ([-9.0; 2 * PAIRS], [0.0; 2 * PAIRS]);
    // SAFETY: buffers of these lengths.
    let (status, none) = unsafe {
        let scratch = scratch.as_mut_ptr();
        let (x, out) = (X.as_ptr(), features.as_mut_ptr());
        (
            bispectral_features(&*model, x, INPUTS, scratch, SCRATCH, out, 2 * PAIRS),
            bispectral_scores(&*model, x, INPUTS, scratch, SCRATCH, out, 2 * PAIRS),
        )
    };
    view.features(&X, &mut scratch, &mut expected).unwrap();
    assert_eq!((status, features), (Status::Ok, expected));
    assert_eq!(none, Status::NoClassifier);

    let whole: [i16; INPUTS] = core::array::from_fn(|n| (n * n * 37 % 101) as i16 - 50);
    let x = whole.as_ptr();
    let scratch_ = scratch.as_mut_ptr();
    let out = features.as_mut_ptr();
    let mut class = 9;
    // SAFETY: buffers of these lengths.
    let (status, none, no_class) = unsafe {
        (
            bispectral_features_i16(&*model, x, INPUTS, scratch_, SCRATCH, out, 2 * PAIRS),
            bispectral_scores_i16(
                &*model,
                x,
                INPUTS,
                scratch_,
                SCRATCH,
                [0.0; 9].as_mut_ptr(),
                9,
            ),
            bispectral_classify_i16(
                &*model,
                x,
                INPUTS,
                scratch_,
                SCRATCH,
                [0.0; 9].as_mut_ptr(),
                9,
                &mut class,
            ),
        )
    };
    view.features(&whole, &mut scratch, &mut expected).unwrap();
    assert_eq!((status, features), (Status::Ok, expected));
    assert_eq!(
        (none, no_class, class),
        (Status::NoClassifier, Status::NoClassifier, 9)
    );
}

/// Adds a term to the list that `user` points to.
unsafe extern "C" fn push(user: *mut c_void, i: usize, j: usize, term: Complex) {
    // SAFETY: the list of the test below.
    let terms = unsafe { &mut *user.cast::<Vec<(usize, usize, [u32; 2])>>() };
    terms.push((i, j, [term.re.to_bits(), term.im.to_bits()]));
}

#[test]
fn the_stream_hands_out_the_terms_and_then_their_magnitude() {
    let (model, _) = open(bytes());
    let view = View::from_bytes(bytes()).unwrap();
    let mut found: Vec<(usize, usize, [u32; 2])> = Vec::new();
    let mut magnitude = Magnitude {
        norm: 0.0,
        exponent: 0,
    };
    let mut scratch = [0.0; SCRATCH];
    let mut stream = |model: *const Model, each: Each, magnitude: *mut Magnitude| {
        let user = (&raw mut found).cast();
        let room = scratch.as_mut_ptr();
        // SAFETY: buffers of these lengths, and a function that only pushes to the list.
        unsafe {
            bispectral_stream(
                model,
                X.as_ptr(),
                INPUTS,
                room,
                SCRATCH,
                each,
                user,
                magnitude,
            )
        }
    };
    assert_eq!(stream(&*model, Some(push), &mut magnitude), Status::Ok);
    assert_eq!(stream(&*model, None, &mut magnitude), Status::Pointer);
    assert_eq!(stream(&*model, Some(push), null_mut()), Status::Pointer);
    assert_eq!(stream(null(), Some(push), &mut magnitude), Status::Pointer);

    let mut expected = Vec::new();
    let norm = view.stream(&X, &mut [0.0; SCRATCH], |i, j, term| {
        expected.push((i, j, [term.re.to_bits(), term.im.to_bits()]));
    });
    let norm = norm.unwrap();
    assert_eq!(found, expected);
    assert_eq!(
        (magnitude.norm, magnitude.exponent),
        (norm.norm(), norm.exponent())
    );
}

#[test]
fn bytes_that_are_no_model_leave_it_closed() {
    let damaged = |change: fn(&mut Vec<u8>)| {
        let mut copy = bytes().to_vec();
        change(&mut copy);
        let (model, status) = open(copy.leak());
        let (after, _) = call(bispectral_invariants, &model, WHOLE);
        assert_eq!(after, Status::NotOpen);
        status
    };
    assert_eq!(damaged(|bytes| bytes[0] = 0), Status::Magic);
    assert_eq!(damaged(|bytes| bytes[4] = 2), Status::Version);
    assert_eq!(
        damaged(|bytes| bytes.truncate(bytes.len() - 1)),
        Status::Truncated
    );
    assert_eq!(damaged(|bytes| bytes.push(0)), Status::TrailingBytes);
    assert_eq!(damaged(|bytes| bytes[9] ^= 1), Status::Checksum);
    assert_eq!(damaged(Vec::clear), Status::Truncated);

    // A model that was open is closed by what is none.
    let (mut model, status) = open(bytes());
    assert_eq!(status, Status::Ok);
    // SAFETY: a model, and no bytes.
    let status = unsafe { bispectral_open(&mut *model, null(), 7) };
    assert_eq!(status, Status::Pointer);
    let (after, _) = call(bispectral_invariants, &model, WHOLE);
    assert_eq!(after, Status::NotOpen);
    // SAFETY: null is allowed, and refused.
    let status = unsafe { bispectral_open(null_mut(), bytes().as_ptr(), bytes().len()) };
    assert_eq!(status, Status::Pointer);
}

#[test]
fn lengths_that_are_too_short_have_their_status() {
    let (model, _) = open(bytes());
    let status = |lengths| call(bispectral_invariants, &model, lengths).0;
    assert_eq!(status(WHOLE), Status::Ok);
    assert_eq!(status([INPUTS - 1, SCRATCH, PAIRS]), Status::InputLength);
    assert_eq!(status([INPUTS, SCRATCH - 1, PAIRS]), Status::ScratchLength);
    assert_eq!(status([INPUTS, SCRATCH, PAIRS - 1]), Status::OutputLength);
    assert_eq!(status([0, 0, 0]), Status::OutputLength);
}

#[test]
fn pointers_that_are_null_misaligned_endless_or_overlap_are_refused() {
    let (model, _) = open(bytes());
    let mut memory = [1.0_f32; 64];
    let from = memory.as_mut_ptr();
    let status = |x: *const f32, samples, scratch: *mut f32, out: *mut f32, pairs| {
        let out = out.cast::<Complex>();
        // SAFETY: all of them lie in `memory`, or are refused before they are used.
        unsafe { bispectral_invariants(&*model, x, samples, scratch, SCRATCH, out, pairs) }
    };
    let at = |offset| from.wrapping_add(offset);
    assert_eq!(status(at(0), INPUTS, at(4), at(16), PAIRS), Status::Ok);
    assert_eq!(
        status(null(), INPUTS, at(4), at(16), PAIRS),
        Status::Pointer
    );
    assert_eq!(
        status(at(0), INPUTS, null_mut(), at(16), PAIRS),
        Status::Pointer
    );
    assert_eq!(
        status(at(0), INPUTS, at(4), null_mut(), PAIRS),
        Status::Pointer
    );
    let odd = |offset| from.wrapping_byte_add(offset);
    assert_eq!(
        status(odd(1), INPUTS, at(8), at(24), PAIRS),
        Status::Pointer
    );
    assert_eq!(
        status(at(0), INPUTS, odd(34), at(24), PAIRS),
        Status::Pointer
    );
    assert_eq!(
        status(at(0), INPUTS, at(8), odd(99), PAIRS),
        Status::Pointer
    );
    // The last element of one is the first of the next.
    assert_eq!(status(at(0), INPUTS, at(3), at(16), PAIRS), Status::Pointer);
    assert_eq!(status(at(0), INPUTS, at(4), at(15), PAIRS), Status::Pointer);
    assert_eq!(status(at(4), INPUTS, at(8), at(0), PAIRS), Status::Pointer);
    // More bytes than an object can have, where nothing else lies behind it, and past the end of the addresses.
    let longer = isize::MAX as usize / 4 + 1;
    assert_eq!(
        status(at(40), longer, at(4), at(16), PAIRS),
        Status::Pointer
    );
    let endless = usize::MAX / 4;
    assert_eq!(
        status(at(0), endless, at(4), at(16), PAIRS),
        Status::Pointer
    );
    assert_eq!(
        status(at(0), INPUTS, at(4), at(16), endless),
        Status::Pointer
    );
}

#[test]
fn every_status_has_words_of_its_own() {
    let words = |status: i32| {
        // SAFETY: a text of the library's, which ends in a zero.
        unsafe { CStr::from_ptr(bispectral_text(status)) }
            .to_str()
            .unwrap()
    };
    assert_eq!(words(0), "all is well");
    assert_eq!(
        words(Status::Checksum as i32),
        "the checksum differs: the model is damaged, export it again"
    );
    let mut all: Vec<&str> = (0..=Status::NeedsFeature as i32).map(words).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 25);
    for number in [-1, 25, i32::MAX, i32::MIN] {
        assert_eq!(words(number), "no status of this library");
    }
}
