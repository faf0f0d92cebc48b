//! The system's allocator for a command: where there is no memory, the program ends with exit status 1 and one line,
//! instead of being aborted.
//!
//! What a command is about to need is compared with what there is before; this is for what nobody foresaw.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Cursor, Write};
use std::sync::atomic::{AtomicBool, Ordering};

static JSON: AtomicBool = AtomicBool::new(false);
static ENDING: AtomicBool = AtomicBool::new(false);

/// To be the `#[global_allocator]` of a command.
#[derive(Debug, Clone, Copy, Default)]
pub struct OneLine;

/// Whether a failure is also told as an object on standard output. Also makes what is needed to tell it, while there is
/// memory.
pub fn tell_as_json(json: bool) {
    JSON.store(json, Ordering::Relaxed);
    // Standard output takes its buffer when it is first used.
    drop(std::io::stdout().lock());
}

// SAFETY: every request goes to the system's allocator as it is, and a pointer comes back only where it gave one.
unsafe impl GlobalAlloc for OneLine {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that `System` asks for.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above, and `memory` is from `System`.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above, and `memory` is from `System`.
        given(unsafe { System.realloc(memory, layout, size) }, size)
    }
}

fn given(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() {
        end(size);
    }
    memory
}

/// Tells it without taking memory. The first thread that fails does; others wait for the end.
#[cold]
fn end(size: usize) {
    if ENDING.swap(true, Ordering::SeqCst) {
        // Telling took memory after all: the standard library then aborts, as it would have without this crate.
        return;
    }
    let mut buffer = [0; 256];
    let line = |buffer: &mut [u8], begin: &str, end: &str| {
        let mut text = Cursor::new(buffer);
        let wrote = writeln!(
            text,
            "{begin}memory: there is none for {size} bytes more: ask for less, or use a machine with more memory{end}"
        );
        wrote.map_or(0, |()| text.position() as usize)
    };
    if JSON.load(Ordering::Relaxed) {
        let length = line(&mut buffer, "{\"error\":\"", "\"}");
        let mut stdout = std::io::stdout().lock();
        let _ = stdout.write_all(&buffer[..length]);
        let _ = stdout.flush();
    }
    let length = line(&mut buffer, "error: ", "");
    let _ = std::io::stderr().write_all(&buffer[..length]);
    std::process::exit(1);
}
