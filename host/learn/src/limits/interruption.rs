//! Work that can be ended from outside, without a word of it in every signature.
//!
//! Threads that [`watch`] a flag leave their work at the next [`check`] after it is set: the stack is unwound up to
//! [`until_interrupted`]. Everywhere else a check does nothing. Loops that take long have one: each product of matrices, each
//! block of signals, each step.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static FLAG: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// What unwinds.
struct Interrupted;

/// From now on this thread's work ends where `flag` is set. A thread pool has all its threads watch one.
pub fn watch(flag: Arc<AtomicBool>) {
    FLAG.with(|watched| *watched.borrow_mut() = Some(flag));
}

/// Does not return where the flag that this thread watches is set.
pub fn check() {
    let is_set = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
    if FLAG.with(|watched| watched.borrow().as_ref().is_some_and(is_set)) {
        // Not a panic: nothing is wrong, and nothing is printed.
        resume_unwind(Box::new(Interrupted));
    }
}

/// What `work` returns; `None` where a check ended it.
///
/// # Errors
/// It panicked, with that.
///
/// ```
/// use bispectral_learn::limits::interruption::{check, until_interrupted, watch};
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// let flag = Arc::new(AtomicBool::new(false));
/// watch(flag.clone());
/// let work = || {
///     check();
///     7
/// };
/// assert_eq!(until_interrupted(work).unwrap(), Some(7));
/// flag.store(true, Ordering::Relaxed);
/// assert_eq!(until_interrupted(work).unwrap(), None);
/// # flag.store(false, Ordering::Relaxed);
/// ```
pub fn until_interrupted<T>(work: impl FnOnce() -> T) -> Result<Option<T>, Box<dyn Any + Send>> {
    // What was half done is dropped on the way.
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => Ok(Some(result)),
        Err(cause) if cause.is::<Interrupted>() => Ok(None),
        Err(cause) => Err(cause),
    }
}
