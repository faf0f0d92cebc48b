//! Work without the interpreter's lock: on a pool of so many threads, with progress on the thread that called, where an
//! interruption (Ctrl-C) ends it.

use crate::error::{Error, exception};
use bispectral_learn::Error as LibraryError;
use bispectral_learn::limits::interruption::{until_interrupted, watch};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::HashMap;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long an interruption waits at most before it is seen.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Threads that leave their work where the flag is set.
struct Pool {
    threads: ThreadPool,
    stop: Arc<AtomicBool>,
}

/// Of each process (a fork has none of its parent's threads), number of threads, and kind of caller: signals reach Python's
/// main thread alone, and what ends its work ends no other's.
type Pools = HashMap<(u32, usize, bool), Arc<Pool>>;

static POOLS: Mutex<Option<Pools>> = Mutex::new(None);

/// A pool of so many threads; as many as there are cores where none are asked for.
fn pool(py: Python<'_>, threads: Option<usize>) -> PyResult<Arc<Pool>> {
    if threads == Some(0) {
        return Err(Error::new_err(
            "threads: 0: take 1 or more, or None for all cores",
        ));
    }
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?;
    let is_main = main.is(&threading.call_method0("current_thread")?);
    let key = (process::id(), threads.unwrap_or(0), is_main);
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let pools = pools.get_or_insert_default();
    if let Some(pool) = pools.get(&key) {
        return Ok(Arc::clone(pool));
    }
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let threads = ThreadPoolBuilder::new()
        .num_threads(key.1)
        .start_handler(move |_| watch(Arc::clone(&flag)))
        .build()
        .map_err(|error| Error::new_err(format!("threads: {error}: take fewer")))?;
    let pool = Arc::new(Pool { threads, stop });
    pools.insert(key, Arc::clone(&pool));
    Ok(pool)
}

/// Computes without the interpreter's lock.
pub(crate) fn compute<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    in_steps(py, threads, None, |_| Ok(work()))
}

/// What work in steps tells of each, and learns from it.
pub(crate) struct Steps {
    stop: Arc<AtomicBool>,
    told: Option<Sender<String>>,
}

impl Steps {
    /// One is done; `words` are its JSON where someone listens.
    ///
    /// # Errors
    /// The work is to end.
    pub(crate) fn done(&self, words: impl FnOnce() -> String) -> Result<(), LibraryError> {
        if let Some(told) = &self.told {
            let _ = told.send(words());
        }
        if self.stop.load(Ordering::Relaxed) {
            return Err(LibraryError::new(
                "the work",
                "it was interrupted",
                "begin again",
            ));
        }
        Ok(())
    }
}

/// Computes. `progress` is called with the JSON of each step, on this thread; where it raises, the work ends at its next step,
/// where a signal arrives, wherever it is; and the exception is raised here.
pub(crate) fn in_steps<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Steps) -> Result<T, LibraryError> + Send,
) -> PyResult<T> {
    let pool = pool(py, threads)?;
    let stop = Arc::new(AtomicBool::new(false));
    let (told, listen) = mpsc::channel();
    let progress = progress.map(|progress| progress.clone().unbind());
    let steps = Steps {
        stop: Arc::clone(&stop),
        told: progress.is_some().then(|| told.clone()),
    };
    py.detach(move || {
        let (mut result, mut raised) = (None, None);
        pool.threads.in_place_scope(|scope| {
            let result = &mut result;
            scope.spawn(move |_| {
                *result = Some(until_interrupted(|| work(&steps)));
                // The other side waits for the last sender to go.
                drop((steps, told));
            });
            loop {
                let words = match listen.recv_timeout(BETWEEN_LOOKS) {
                    Ok(words) => Some(words),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                let look = Python::attach(|py| {
                    py.check_signals()
                        .inspect_err(|_| pool.stop.store(true, Ordering::Relaxed))?;
                    if let (Some(words), Some(progress), None) = (words, &progress, &raised) {
                        progress.call1(py, (words,))?;
                    }
                    Ok(())
                });
                if let Err(error) = look {
                    stop.store(true, Ordering::Relaxed);
                    raised.get_or_insert(error);
                }
            }
        });
        pool.stop.store(false, Ordering::Relaxed);
        match (raised, result) {
            (Some(error), _) => Err(error),
            (None, Some(Ok(Some(result)))) => result.map_err(exception),
            // Work around this one was interrupted, whose progress called it.
            (None, Some(Ok(None))) => Err(PyKeyboardInterrupt::new_err(())),
            (None, _) => Err(Error::new_err("the work: it panicked: report this")),
        }
    })
}
