//! Work without the interpreter's lock: on a pool of so many threads, with progress on the thread that called, where an
//! interruption (Ctrl-C) ends it at the next step.

use crate::error::{Error, exception};
use bispectral_learn::Error as LibraryError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::HashMap;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long an interruption waits at most before it is seen.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Of each process (a fork has none of its parent's threads) and number of threads.
type Pools = HashMap<(u32, usize), Arc<ThreadPool>>;

static POOLS: Mutex<Option<Pools>> = Mutex::new(None);

/// A pool of so many threads; as many as there are cores where none are asked for.
pub(crate) fn pool(threads: Option<usize>) -> PyResult<Arc<ThreadPool>> {
    if threads == Some(0) {
        return Err(Error::new_err(
            "threads: 0: take 1 or more, or None for all cores",
        ));
    }
    let key = (process::id(), threads.unwrap_or(0));
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let pools = pools.get_or_insert_default();
    if let Some(pool) = pools.get(&key) {
        return Ok(Arc::clone(pool));
    }
    let pool = ThreadPoolBuilder::new().num_threads(key.1).build();
    let pool =
        Arc::new(pool.map_err(|error| Error::new_err(format!("threads: {error}: take fewer")))?);
    pools.insert(key, Arc::clone(&pool));
    Ok(pool)
}

/// Computes without the interpreter's lock.
pub(crate) fn compute<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let pool = pool(threads)?;
    Ok(py.detach(|| pool.install(work)))
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

/// Computes in steps. `progress` is called with the JSON of each, on this thread; where it raises, or a signal arrives, the
/// work ends at its next step and the exception is raised here.
pub(crate) fn in_steps<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Steps) -> Result<T, LibraryError> + Send,
) -> PyResult<T> {
    let pool = pool(threads)?;
    let stop = Arc::new(AtomicBool::new(false));
    let (told, listen) = mpsc::channel();
    let progress = progress.map(|progress| progress.clone().unbind());
    let steps = Steps {
        stop: Arc::clone(&stop),
        told: progress.is_some().then(|| told.clone()),
    };
    let (finished, ended) = (told, progress);
    py.detach(move || {
        thread::scope(|scope| {
            let worker = scope.spawn(move || {
                let result = pool.install(|| work(&steps));
                // The other side waits for the last sender to go.
                drop(steps);
                drop(finished);
                result
            });
            let mut raised = None;
            loop {
                let look = match listen.recv_timeout(BETWEEN_LOOKS) {
                    Ok(words) => Python::attach(|py| {
                        if let (Some(progress), None) = (&ended, &raised) {
                            progress.call1(py, (words,))?;
                        }
                        py.check_signals()
                    }),
                    Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals()),
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                if let Err(error) = look {
                    stop.store(true, Ordering::Relaxed);
                    raised.get_or_insert(error);
                }
            }
            let result = worker.join();
            match (raised, result) {
                (Some(error), _) => Err(error),
                (None, Ok(result)) => result.map_err(exception),
                (None, Err(_)) => Err(Error::new_err("the work: it panicked: report this")),
            }
        })
    })
}
