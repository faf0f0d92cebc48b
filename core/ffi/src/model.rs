//! A model in memory of the caller's: the core's checked view, and a mark that it is one; or a constant of the caller's that says
//! where the bytes of a model are which was checked before.

use crate::buffers::Input;
use crate::status::Status;
use bispectral_core::Model as View;
use core::mem::MaybeUninit;

/// Words of memory for the view: what it takes on any processor, and room for later versions.
pub const BISPECTRAL_VIEW_WORDS: usize = 16;

/// What stands in a model that is open; zeroed memory is none.
const OPEN: usize = 0xB159_EC7A;

/// What stands in a constant that `bispectral export --emit c` wrote: its words are the bytes' address, their number and four more.
pub const BISPECTRAL_CONSTANT: usize = 0xB159_C057;

/// The address of a model's bytes, their number, and what the exporter found out when it checked them.
#[repr(C)]
struct Constant {
    bytes: *const u8,
    length: usize,
    findings: [usize; 4],
}

/// A model: memory for the library's view of it, which `bispectral_open` fills. The bytes of the model stay where they are,
/// in flash. May be copied and needs no closing; what is in it is the library's business.
#[repr(C)]
pub struct Model {
    mark: usize,
    view: [MaybeUninit<usize>; BISPECTRAL_VIEW_WORDS],
}

const _: () = assert!(size_of::<View<'static>>() <= size_of::<[usize; BISPECTRAL_VIEW_WORDS]>());
const _: () = assert!(align_of::<View<'static>>() <= align_of::<usize>());
const _: () = assert!(size_of::<Constant>() == 6 * size_of::<usize>());

/// Checks every byte of a model once and makes `model` a view of it.
///
/// Any alignment of the bytes works; at a multiple of four the weights are loaded faster.
/// Where this fails, `model` is not open.
///
/// # Safety
/// `model` points to a BispectralModel. `bytes` points to `length` bytes that do not change as long as `model` is used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bispectral_open(
    model: *mut Model,
    bytes: *const u8,
    length: usize,
) -> Status {
    if model.is_null() || !model.is_aligned() {
        return Status::Pointer;
    }
    // SAFETY: a model of the caller's, by the promise above; writing through the pointer asks nothing of what was there.
    unsafe { (&raw mut (*model).mark).write(0) };
    // SAFETY: as promised above.
    let bytes = match unsafe { Input(bytes, length).slice::<'static>() } {
        Ok(bytes) => bytes,
        Err(status) => return status,
    };
    match View::from_bytes(bytes) {
        Ok(view) => {
            // SAFETY: as for the mark; the view fits the words and their alignment, by the assertions above.
            unsafe {
                (&raw mut (*model).view).cast::<View<'static>>().write(view);
                (&raw mut (*model).mark).write(OPEN);
            }
            Status::Ok
        }
        Err(error) => error.into(),
    }
}

/// The view in a model.
///
/// # Safety
/// Where the pointer is not null, it points to zeroed memory, to what [`bispectral_open`] was given, whose bytes have not changed, or
/// to a constant that was emitted.
pub(crate) unsafe fn view(model: *const Model) -> Result<View<'static>, Status> {
    if model.is_null() || !model.is_aligned() {
        return Err(Status::Pointer);
    }
    // SAFETY: a mark can be read in all cases of the promise above.
    match unsafe { (&raw const (*model).mark).read() } {
        // SAFETY: the mark says that a view was written here.
        OPEN => Ok(unsafe { (&raw const (*model).view).cast::<View<'static>>().read() }),
        BISPECTRAL_CONSTANT => {
            // SAFETY: the mark says that these words are here, which are numbers.
            let constant = unsafe { (&raw const (*model).view).cast::<Constant>().read() };
            // SAFETY: as promised above.
            let bytes = unsafe { Input(constant.bytes, constant.length).slice::<'static>() }?;
            let findings = constant.findings.map(|word| word as u32);
            Ok(View::from_checked_bytes(bytes, findings))
        }
        _ => Err(Status::NotOpen),
    }
}

/// A number of an open model; 0 of any other.
///
/// # Safety
/// As [`view`].
unsafe fn number(model: *const Model, of: impl FnOnce(&View<'static>) -> usize) -> usize {
    // SAFETY: the same promise.
    unsafe { view(model) }.map_or(0, |view| of(&view))
}

/// N: the samples of a signal; 0 where the model is not open.
///
/// # Safety
/// `model` is null, zeroed, a constant of `bispectral export --emit c`, or was given to bispectral_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bispectral_inputs(model: *const Model) -> usize {
    // SAFETY: the same promise.
    unsafe { number(model, View::inputs) }
}

/// R: the rows of W, one coefficient each; 0 where the model is not open.
///
/// # Safety
/// `model` is null, zeroed, a constant of `bispectral export --emit c`, or was given to bispectral_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bispectral_rows(model: *const Model) -> usize {
    // SAFETY: the same promise.
    unsafe { number(model, View::rows) }
}

/// The invariants of a signal; 0 where the model is not open.
///
/// # Safety
/// `model` is null, zeroed, a constant of `bispectral export --emit c`, or was given to bispectral_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bispectral_pairs(model: *const Model) -> usize {
    // SAFETY: the same promise.
    unsafe { number(model, View::pairs) }
}

/// Numbers that bispectral_features gives for a signal; 0 where the model is not open.
///
/// # Safety
/// `model` is null, zeroed, a constant of `bispectral export --emit c`, or was given to bispectral_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bispectral_feature_count(model: *const Model) -> usize {
    // SAFETY: the same promise.
    unsafe { number(model, View::feature_count) }
}

/// Classes that bispectral_scores tells apart; 0 where the model has no classifier or is not open.
///
/// # Safety
/// `model` is null, zeroed, a constant of `bispectral export --emit c`, or was given to bispectral_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bispectral_classes(model: *const Model) -> usize {
    // SAFETY: the same promise.
    unsafe { number(model, View::classes) }
}

/// Floats of scratch that bispectral_scores needs; 0 where the model is not open.
///
/// # Safety
/// `model` is null, zeroed, a constant of `bispectral export --emit c`, or was given to bispectral_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bispectral_classifier_scratch_length(model: *const Model) -> usize {
    // SAFETY: the same promise.
    unsafe { number(model, View::classifier_scratch_len) }
}

/// Floats of scratch that the functions below need; 0 where the model is not open.
///
/// # Safety
/// `model` is null, zeroed, a constant of `bispectral export --emit c`, or was given to bispectral_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bispectral_scratch_length(model: *const Model) -> usize {
    // SAFETY: the same promise.
    unsafe { number(model, View::scratch_len) }
}
