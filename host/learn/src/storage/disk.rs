//! Every change to the disk. A test can make any one of them fail: see [`fault`].
//!
//! A call that a signal interrupts is made again.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Appends all of `bytes` to the file at `path`.
pub(super) fn write(file: &mut File, path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Within `write_all`, which goes on behind an interruption.
    struct Failing<'a>(&'a mut File, &'a Path);
    impl Write for Failing<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            fault::before()?;
            fault::wrote(self.1);
            self.0.write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            self.0.flush()
        }
    }
    Failing(file, path).write_all(bytes)
}

/// Brings all bytes of the file at `path` to the disk.
pub(super) fn sync(file: &File, path: &Path) -> io::Result<()> {
    again(|| {
        fault::before()?;
        file.sync_all()
    })?;
    fault::synced(path);
    Ok(())
}

/// Brings the names in a folder to the disk, where the system can.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    again(|| {
        fault::before()?;
        if cfg!(unix) {
            File::open(folder)?.sync_all()?;
        }
        Ok(())
    })
}

/// Gives a file another name, in whose place there may be one.
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    renamed(from, to, || fs::rename(from, to))
}

/// The same, by another call than the system's plainest.
pub(super) fn renamed<E: From<io::Error>>(
    from: &Path,
    to: &Path,
    call: impl FnOnce() -> Result<(), E>,
) -> Result<(), E> {
    again(fault::before)?;
    call()?;
    fault::renamed(from, to);
    Ok(())
}

/// Removes a file; that there is none is as good.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    gone(again(|| {
        fault::before()?;
        fs::remove_file(path)
    }))
}

/// Removes an empty folder; that there is none is as good.
pub(super) fn remove_folder(path: &Path) -> io::Result<()> {
    gone(again(|| {
        fault::before()?;
        fs::remove_dir(path)
    }))
}

fn gone(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Makes a folder, and those it is in.
pub(super) fn create_folder(path: &Path) -> io::Result<()> {
    again(|| {
        fault::before()?;
        fs::create_dir_all(path)
    })
}

/// Cuts a file to `length` bytes.
pub(super) fn cut(file: &File, length: u64) -> io::Result<()> {
    again(|| {
        fault::before()?;
        file.set_len(length)
    })
}

/// Before a file is made.
pub(super) fn creating() -> io::Result<()> {
    again(fault::before)
}

fn again<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Faults of the disk, for tests: one change to it fails, on this thread.
#[doc(hidden)]
pub mod fault {
    use std::cell::RefCell;
    use std::fs::File;
    use std::io;
    use std::path::{Path, PathBuf};

    /// What goes wrong.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Fault {
        /// ENOSPC.
        Full,
        /// EIO.
        Input,
        /// EINTR.
        Interrupted,
        /// Nothing more reaches the disk, and of files that were not synchronised only the first half did.
        PowerCut,
    }

    struct Plan {
        fault: Fault,
        /// Changes until then.
        left: usize,
        hit: bool,
        /// Written since they were last synchronised.
        unsynced: Vec<PathBuf>,
    }

    thread_local! {
        static PLAN: RefCell<Option<Plan>> = const { RefCell::new(None) };
    }

    /// Does `work`, of which the change to the disk number `at` fails, counted from zero. Says whether there was one.
    pub fn during<T>(fault: Fault, at: usize, work: impl FnOnce() -> T) -> (T, bool) {
        let plan = Plan {
            fault,
            left: at,
            hit: false,
            unsynced: Vec::new(),
        };
        PLAN.set(Some(plan));
        let done = work();
        (done, PLAN.take().is_some_and(|plan| plan.hit))
    }

    /// Whether the power is off: what would be tidied up stays.
    pub fn is_off() -> bool {
        with(|plan| plan.hit && plan.fault == Fault::PowerCut).unwrap_or(false)
    }

    fn with<T>(look: impl FnOnce(&mut Plan) -> T) -> Option<T> {
        PLAN.with_borrow_mut(|plan| plan.as_mut().map(look))
    }

    pub(super) fn before() -> io::Result<()> {
        with(|plan| {
            if plan.hit && plan.fault == Fault::PowerCut {
                return Err(io::Error::other("the power is off"));
            }
            if plan.hit || plan.left > 0 {
                plan.left = plan.left.saturating_sub(1);
                return Ok(());
            }
            plan.hit = true;
            Err(match plan.fault {
                Fault::Full => io::ErrorKind::StorageFull.into(),
                Fault::Input => io::Error::other("input/output error"),
                Fault::Interrupted => io::ErrorKind::Interrupted.into(),
                Fault::PowerCut => {
                    plan.unsynced.iter().for_each(|path| halve(path));
                    io::Error::other("the power is off")
                }
            })
        })
        .unwrap_or(Ok(()))
    }

    fn halve(path: &Path) {
        if let Ok(file) = File::options().write(true).open(path)
            && let Ok(metadata) = file.metadata()
        {
            let _ = file.set_len(metadata.len() / 2);
        }
    }

    pub(super) fn wrote(path: &Path) {
        with(|plan| plan.unsynced.push(path.to_owned()));
    }

    pub(super) fn synced(path: &Path) {
        with(|plan| plan.unsynced.retain(|other| other != path));
    }

    pub(super) fn renamed(from: &Path, to: &Path) {
        with(|plan| {
            let was = plan.unsynced.iter().any(|path| path == from);
            plan.unsynced.retain(|path| path != from && path != to);
            if was {
                plan.unsynced.push(to.to_owned());
            }
        });
    }
}
