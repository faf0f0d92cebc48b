//! The engine of the page: `bispectral-core` and `bispectral-learn` behind four functions that JavaScript calls.
//!
//! A call writes its argument to [`input`], names an [`Operation`] and reads the answer at [`output`]; there is one
//! buffer for each direction, and both belong to the engine. Where a call fails, the answer is the one line that says why.

pub mod classifiers;
pub mod drawing;
mod engine;
mod learning;
pub mod page;
pub mod turns;

pub use engine::{Engine, Operation};
use std::cell::RefCell;

/// Bytes an argument has at most: far more than any model or table of signals for a page.
const LONGEST: usize = 1 << 26;

#[derive(Default)]
struct State {
    engine: Engine,
    input: Vec<u8>,
    output: Vec<u8>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Room for an argument of so many bytes; null where that is too long.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        if length > LONGEST {
            return std::ptr::null_mut();
        }
        state.input.clear();
        state.input.resize(length, 0);
        state.input.as_mut_ptr()
    })
}

/// Where the answer of the last call begins.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    STATE.with_borrow(|state| state.output.as_ptr())
}

/// Bytes of the answer of the last call.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn output_length() -> usize {
    STATE.with_borrow(|state| state.output.len())
}

/// Does what `operation` says with the argument in [`input`] and two numbers; 0 where that succeeded.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn call(operation: u32, first: u32, second: u32) -> u32 {
    STATE.with_borrow_mut(|state| {
        let State {
            engine,
            input,
            output,
        } = state;
        let answer = Operation::try_from(operation)
            .and_then(|operation| engine.call(operation, first as usize, second as usize, input));
        let failed = answer.is_err();
        *output = answer.unwrap_or_else(|error| error.to_string().into_bytes());
        failed.into()
    })
}
