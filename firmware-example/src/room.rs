//! RAM that is set aside when a program is linked, and handed out once.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

/// `N` numbers.
pub struct Room<const N: usize> {
    numbers: UnsafeCell<[f32; N]>,
    taken: AtomicBool,
}

// SAFETY: only `take` looks inside, and it does once.
unsafe impl<const N: usize> Sync for Room<N> {}

impl<const N: usize> Room<N> {
    pub const fn new() -> Self {
        Room {
            numbers: UnsafeCell::new([0.0; N]),
            taken: AtomicBool::new(false),
        }
    }

    /// All of it; nothing the second time.
    #[expect(clippy::mut_from_ref, reason = "it is handed out once")]
    pub fn take(&'static self) -> &'static mut [f32] {
        // There is one core and no interrupt between the two; an M0 cannot swap.
        if self.taken.load(Ordering::Acquire) {
            return &mut [];
        }
        self.taken.store(true, Ordering::Release);
        // SAFETY: the flag was not set before, so there is no other reference.
        unsafe { &mut *self.numbers.get() }
    }
}
