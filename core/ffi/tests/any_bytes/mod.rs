//! The C interface with arbitrary bytes as a model and arbitrary lengths of buffers: a status for everything, and the core's bits
//! where it is `Ok`.
//!
//! Called by libFuzzer (`core/fuzz/fuzz_targets/interface.rs`) and by an ordinary test.

use crate::compute::*;
use crate::model::*;
use crate::status::Status;
use bispectral_core::{Complex32, Model as View};
use core::mem::MaybeUninit;

/// Rows times inputs of the models that are computed with: larger ones only take time.
const SMALL: usize = 256;

/// Opens the bytes as a model and calls every function; whether it is one.
pub(crate) fn examine(bytes: &[u8]) -> bool {
    // SAFETY: a model is words, and zeroed memory is one that is not open.
    let mut model = Box::new(unsafe { MaybeUninit::<Model>::zeroed().assume_init() });
    // SAFETY: a model, and bytes that outlive it.
    let status = unsafe { bispectral_open(&mut *model, bytes.as_ptr(), bytes.len()) };
    let view = View::from_bytes(bytes);
    assert_eq!(status == Status::Ok, view.is_ok());
    // SAFETY: zeroed or open.
    let inputs = unsafe { bispectral_inputs(&*model) };
    let Ok(view) = view else {
        assert_eq!(inputs, 0);
        return false;
    };
    assert_eq!(inputs, view.inputs());
    if view.inputs() * view.rows() > SMALL {
        return true;
    }
    // The last bytes say how long buffers are: exact, one more or one less.
    let end = |at: usize| {
        bytes
            .get(bytes.len().wrapping_sub(5 + at))
            .map_or(0, |b| b % 4)
    };
    let length = |exact: usize, at: usize| match end(at) {
        1 => exact.saturating_sub(1),
        2 => exact + 1,
        _ => exact,
    };
    let samples = length(inputs, 0);
    let room = length(view.scratch_len(), 1);
    let count = length(view.pairs(), 2);
    let x: Vec<f32> = (0..samples).map(|n| (n as f32 * 1.7).sin()).collect();
    let mut scratch = vec![0.0; room];
    let mut out = vec![Complex { re: 0.0, im: 0.0 }; count];
    // SAFETY: buffers of these lengths.
    let status = unsafe {
        bispectral_invariants(
            &*model,
            x.as_ptr(),
            samples,
            scratch.as_mut_ptr(),
            room,
            out.as_mut_ptr(),
            count,
        )
    };
    let mut expected = vec![Complex32::ZERO; count];
    let result = view.invariants(&x, &mut vec![0.0; room], &mut expected);
    assert_eq!(status == Status::Ok, result.is_ok());
    if result.is_ok() {
        let same = |(a, b): (&Complex, &Complex32)| {
            a.re.to_bits() == b.re.to_bits() && a.im.to_bits() == b.im.to_bits()
        };
        assert!(out.iter().zip(&expected).all(same));
    }
    let (count, room) = (
        length(view.classes(), 3),
        length(view.classifier_scratch_len(), 1),
    );
    let (mut scores, mut scratch, mut class) = (vec![0.0; count], vec![0.0; room], usize::MAX);
    // SAFETY: buffers of these lengths.
    let status = unsafe {
        bispectral_classify(
            &*model,
            x.as_ptr(),
            samples,
            scratch.as_mut_ptr(),
            room,
            scores.as_mut_ptr(),
            count,
            &mut class,
        )
    };
    assert!(status != Status::Ok || class < view.classes());
    true
}
