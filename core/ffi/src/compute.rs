//! What a model computes of a signal.

use crate::buffers::{Input, Output, apart};
use crate::model::{Model, view};
use crate::status::Status;
use bispectral_core::{Complex32, Error, Model as View, Sample};
use core::ffi::c_void;

/// A complex number.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Complex {
    /// Its real part.
    pub re: f32,
    /// Its imaginary part.
    pub im: f32,
}

const _: () = assert!(size_of::<Complex>() == size_of::<Complex32>());
const _: () = assert!(align_of::<Complex>() == align_of::<Complex32>());

/// The length of a bispectrum, known once every term was handed out. The invariant of a term is, to the bit,
/// `term.re * factor` and `term.im * factor` with `float factor = 1.0f / norm`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Magnitude {
    /// The length of the vector of all terms.
    pub norm: f32,
    /// The terms are those of the signal as given divided by 2 to this.
    pub exponent: i32,
}

/// Takes one term of the bispectrum: `user` as it was given, the pair i <= j, and the term.
pub type Each = Option<unsafe extern "C" fn(user: *mut c_void, i: usize, j: usize, term: Complex)>;

/// Calls `compute` with slices of these buffers.
///
/// # Safety
/// `model` is null, zeroed, or was given to bispectral_open; the buffers are as long as is said, and no other task uses them.
unsafe fn with_slices<S, T>(
    model: *const Model,
    x: Input<S>,
    scratch: Output<f32>,
    out: Output<T>,
    compute: impl FnOnce(View<'_>, &[S], &mut [f32], &mut [T]) -> Result<(), Error>,
) -> Status {
    let compute = || {
        apart(&[x.span()?, scratch.span()?, out.span()?])?;
        // SAFETY: as promised above, and the buffers do not overlap.
        let (view, x) = unsafe { (view(model)?, x.slice()?) };
        // SAFETY: as promised above, and the buffers do not overlap.
        let (scratch, out) = unsafe { (scratch.slice()?, out.slice()?) };
        Ok(compute(view, x, scratch, out)?)
    };
    compute().into()
}

/// z = W x, one coefficient a row, to the front of `z`, which has room for `length`.
///
/// # Safety
/// `model` is null, zeroed, or was given to bispectral_open; the buffers are as long as is said, and no other task uses them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bispectral_coefficients(
    model: *const Model,
    x: *const f32,
    samples: usize,
    scratch: *mut f32,
    scratch_length: usize,
    z: *mut Complex,
    length: usize,
) -> Status {
    let (x, scratch, out) = (
        Input(x, samples),
        Output(scratch, scratch_length),
        Output(z.cast::<Complex32>(), length),
    );
    // SAFETY: the same promise.
    unsafe {
        with_slices(model, x, scratch, out, |view, x, scratch, z| {
            view.coefficients(x, scratch, z)
        })
    }
}

/// |z|^2, one a row, to the front of `power`, which has room for `length`.
///
/// # Safety
/// As bispectral_coefficients.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bispectral_power_spectrum(
    model: *const Model,
    x: *const f32,
    samples: usize,
    scratch: *mut f32,
    scratch_length: usize,
    power: *mut f32,
    length: usize,
) -> Status {
    let (x, scratch, out) = (
        Input(x, samples),
        Output(scratch, scratch_length),
        Output(power, length),
    );
    // SAFETY: the same promise.
    unsafe {
        with_slices(model, x, scratch, out, |view, x, scratch, power| {
            view.power_spectrum(x, scratch, power)
        })
    }
}

/// The bispectrum of x before it is normalised, to the front of `beta`, which has room for `length`.
///
/// # Safety
/// As bispectral_coefficients.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bispectral_bispectrum(
    model: *const Model,
    x: *const f32,
    samples: usize,
    scratch: *mut f32,
    scratch_length: usize,
    beta: *mut Complex,
    length: usize,
) -> Status {
    let (x, scratch, out) = (
        Input(x, samples),
        Output(scratch, scratch_length),
        Output(beta.cast::<Complex32>(), length),
    );
    // SAFETY: the same promise.
    unsafe {
        with_slices(model, x, scratch, out, |view, x, scratch, beta| {
            view.bispectrum(x, scratch, beta)
        })
    }
}

/// The normalised bispectrum of x, which does not change when x is moved, to the front of `invariants`, which has room
/// for `length`.
///
/// # Safety
/// As bispectral_coefficients.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bispectral_invariants(
    model: *const Model,
    x: *const f32,
    samples: usize,
    scratch: *mut f32,
    scratch_length: usize,
    invariants: *mut Complex,
    length: usize,
) -> Status {
    let (x, scratch, out) = (
        Input(x, samples),
        Output(scratch, scratch_length),
        Output(invariants.cast::<Complex32>(), length),
    );
    // SAFETY: the same promise.
    unsafe {
        with_slices(model, x, scratch, out, |view, x, scratch, out| {
            view.invariants(x, scratch, out)
        })
    }
}

/// The features of x as real numbers, whatever the form of the model's output, to the front of `features`, which has room for
/// `length`: what a classifier or a nearest neighbour takes.
///
/// # Safety
/// As bispectral_coefficients.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bispectral_features(
    model: *const Model,
    x: *const f32,
    samples: usize,
    scratch: *mut f32,
    scratch_length: usize,
    features: *mut f32,
    length: usize,
) -> Status {
    let (x, scratch, out) = (
        Input(x, samples),
        Output(scratch, scratch_length),
        Output(features, length),
    );
    // SAFETY: the same promise.
    unsafe {
        with_slices(model, x, scratch, out, |view, x, scratch, out| {
            view.features(x, scratch, out)
        })
    }
}

/// As bispectral_features, of the samples of a converter.
///
/// # Safety
/// As bispectral_coefficients.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bispectral_features_i16(
    model: *const Model,
    x: *const i16,
    samples: usize,
    scratch: *mut f32,
    scratch_length: usize,
    features: *mut f32,
    length: usize,
) -> Status {
    let (x, scratch, out) = (
        Input(x, samples),
        Output(scratch, scratch_length),
        Output(features, length),
    );
    // SAFETY: the same promise.
    unsafe {
        with_slices(model, x, scratch, out, |view, x, scratch, out| {
            view.features(x, scratch, out)
        })
    }
}

/// The score of every class, to the front of `scores`, which has room for `length`; the largest is the class.
///
/// # Safety
/// As bispectral_coefficients.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bispectral_scores(
    model: *const Model,
    x: *const f32,
    samples: usize,
    scratch: *mut f32,
    scratch_length: usize,
    scores: *mut f32,
    length: usize,
) -> Status {
    let (x, scratch, out) = (
        Input(x, samples),
        Output(scratch, scratch_length),
        Output(scores, length),
    );
    // SAFETY: the same promise.
    unsafe {
        with_slices(model, x, scratch, out, |view, x, scratch, out| {
            view.scores(x, scratch, out)
        })
    }
}

/// As bispectral_scores, of the samples of a converter.
///
/// # Safety
/// As bispectral_coefficients.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bispectral_scores_i16(
    model: *const Model,
    x: *const i16,
    samples: usize,
    scratch: *mut f32,
    scratch_length: usize,
    scores: *mut f32,
    length: usize,
) -> Status {
    let (x, scratch, out) = (
        Input(x, samples),
        Output(scratch, scratch_length),
        Output(scores, length),
    );
    // SAFETY: the same promise.
    unsafe {
        with_slices(model, x, scratch, out, |view, x, scratch, out| {
            view.scores(x, scratch, out)
        })
    }
}

/// The class of x, to `class`: the first of those with the largest score. The scores go to the front of `scores`, which has
/// room for `length`.
///
/// # Safety
/// As bispectral_coefficients; `class` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bispectral_classify(
    model: *const Model,
    x: *const f32,
    samples: usize,
    scratch: *mut f32,
    scratch_length: usize,
    scores: *mut f32,
    length: usize,
    class: *mut usize,
) -> Status {
    let (x, scratch, out) = (
        Input(x, samples),
        Output(scratch, scratch_length),
        Output(scores, length),
    );
    // SAFETY: the same promise.
    unsafe { classified(model, x, scratch, out, class) }
}

/// As bispectral_classify, of the samples of a converter.
///
/// # Safety
/// As bispectral_coefficients; `class` points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bispectral_classify_i16(
    model: *const Model,
    x: *const i16,
    samples: usize,
    scratch: *mut f32,
    scratch_length: usize,
    scores: *mut f32,
    length: usize,
    class: *mut usize,
) -> Status {
    let (x, scratch, out) = (
        Input(x, samples),
        Output(scratch, scratch_length),
        Output(scores, length),
    );
    // SAFETY: the same promise.
    unsafe { classified(model, x, scratch, out, class) }
}

/// The class to `class`, of samples of any type.
///
/// # Safety
/// As bispectral_classify.
unsafe fn classified<S: Sample>(
    model: *const Model,
    x: Input<S>,
    scratch: Output<f32>,
    out: Output<f32>,
    class: *mut usize,
) -> Status {
    let class = Output(class, 1);
    let separate = class
        .span()
        .and_then(|class| apart(&[class, x.span()?, scratch.span()?, out.span()?]));
    if let Err(status) = separate {
        return status;
    }
    // SAFETY: the same promise, and no other buffer has a byte of it.
    let class = match unsafe { class.slice() } {
        Ok(class) => class,
        Err(status) => return status,
    };
    // SAFETY: the same promise.
    unsafe {
        with_slices(model, x, scratch, out, |view, x, scratch, out| {
            class.fill(view.classify(x, scratch, out)?);
            Ok(())
        })
    }
}

/// Hands every term of the bispectrum to `each` with `user`, in the order of the invariants, and then tells their `magnitude`:
/// for devices that cannot hold all terms but can project, compare or classify them as they come.
///
/// # Safety
/// As bispectral_coefficients; `each` returns (no longjmp) and touches neither `x` nor `scratch` nor `magnitude`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bispectral_stream(
    model: *const Model,
    x: *const f32,
    samples: usize,
    scratch: *mut f32,
    scratch_length: usize,
    each: Each,
    user: *mut c_void,
    magnitude: *mut Magnitude,
) -> Status {
    let (x, scratch) = (Input(x, samples), Output(scratch, scratch_length));
    // SAFETY: the same promise.
    unsafe { streamed(model, x, scratch, each, user, magnitude) }
}

/// As bispectral_stream, of the samples of a converter.
///
/// # Safety
/// As bispectral_coefficients; `each` returns (no longjmp) and touches neither `x` nor `scratch` nor `magnitude`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bispectral_stream_i16(
    model: *const Model,
    x: *const i16,
    samples: usize,
    scratch: *mut f32,
    scratch_length: usize,
    each: Each,
    user: *mut c_void,
    magnitude: *mut Magnitude,
) -> Status {
    let (x, scratch) = (Input(x, samples), Output(scratch, scratch_length));
    // SAFETY: the same promise.
    unsafe { streamed(model, x, scratch, each, user, magnitude) }
}

/// Every term to `each`, of samples of any type.
///
/// # Safety
/// As bispectral_stream.
unsafe fn streamed<S: Sample>(
    model: *const Model,
    x: Input<S>,
    scratch: Output<f32>,
    each: Each,
    user: *mut c_void,
    magnitude: *mut Magnitude,
) -> Status {
    let Some(each) = each else {
        return Status::Pointer;
    };
    let stream = |view: View<'_>, x: &[S], scratch: &mut [f32], out: &mut [Magnitude]| {
        let found = view.stream(x, scratch, |i, j, Complex32 { re, im }| {
            // SAFETY: a function of the caller's, called as its type says.
            unsafe { each(user, i, j, Complex { re, im }) }
        })?;
        let (norm, exponent) = (found.norm(), found.exponent());
        out.fill(Magnitude { norm, exponent });
        Ok(())
    };
    // SAFETY: the same promise.
    unsafe { with_slices(model, x, scratch, Output(magnitude, 1), stream) }
}
