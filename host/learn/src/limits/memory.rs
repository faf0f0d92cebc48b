//! How much memory there is: the least of what the machine has free, what the control groups of this process leave, and
//! what its own limits leave. Where nobody says (only Linux does here), nothing is refused, and an allocation that fails
//! is the caller's to report.

use crate::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Needs below this are not compared: looking takes longer than having them.
const SMALL: u64 = 1 << 20;

/// Bytes that this process may still take; `None` where nobody says.
///
/// ```
/// use bispectral_learn::limits::memory;
///
/// assert!(memory::available().is_none_or(|bytes| bytes > 0));
/// ```
#[must_use]
pub fn available() -> Option<u64> {
    [machine(), control_groups(), own_limit()]
        .into_iter()
        .flatten()
        .min()
}

/// Refuses `bytes` bytes for `what` where there are not so many.
///
/// # Errors
/// How many are needed, and how many there are.
pub fn check(subject: &str, what: &str, bytes: u64) -> Result<()> {
    if bytes < SMALL {
        return Ok(());
    }
    match available() {
        Some(available) if bytes > available => Err(Error::Memory {
            subject: subject.into(),
            what: what.into(),
            bytes,
            available: Some(available),
        }),
        _ => Ok(()),
    }
}

/// [`check`] of something in the file at `path`.
///
/// # Errors
/// As those of `check`.
pub fn check_file(path: &Path, what: &str, bytes: u64) -> Result<()> {
    check(&path.display().to_string(), what, bytes)
}

/// An empty vector with room for `count` values of `what`, which is in the file at `path`.
///
/// # Errors
/// There is no memory for them.
pub fn vector<T>(path: &Path, what: &str, count: usize) -> Result<Vec<T>> {
    let bytes = (count as u64).saturating_mul(size_of::<T>() as u64);
    check_file(path, what, bytes)?;
    let mut values = Vec::new();
    match values.try_reserve_exact(count) {
        Ok(()) => Ok(values),
        Err(_) => Err(Error::memory(path, what, bytes)),
    }
}

/// What is free, what can be dropped, and what can be written to swap.
fn machine() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let free = kibibytes(&text, "MemAvailable:")?;
    Some(free.saturating_add(kibibytes(&text, "SwapFree:").unwrap_or(0)))
}

/// The number behind `name`, in bytes.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(number.saturating_mul(1024))
}

/// The least that a control group of this process leaves, of version 2 or 1.
fn control_groups() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/cgroup").ok()?;
    let left = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, group) = (fields.next()?, fields.next()?.trim_start_matches('/'));
        let root = Path::new("/sys/fs/cgroup");
        match controllers {
            "" => within(root, group, ["memory.max", "memory.current"]),
            _ if controllers.split(',').any(|name| name == "memory") => {
                let files = ["memory.limit_in_bytes", "memory.usage_in_bytes"];
                within(&root.join("memory"), group, files)
            }
            _ => None,
        }
    };
    text.lines().filter_map(left).min()
}

/// The least that `group` and the groups it is in leave.
fn within(root: &Path, group: &str, [limit, usage]: [&str; 2]) -> Option<u64> {
    let number = |path: PathBuf| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let left = |folder: &Path| {
        let free = number(folder.join(limit))?.saturating_sub(number(folder.join(usage))?);
        let statistics = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
        let cached = |line: &str| line.strip_prefix("inactive_file ")?.parse::<u64>().ok();
        let cache = statistics.lines().find_map(cached).unwrap_or(0);
        Some(free.saturating_add(cache))
    };
    let groups = Path::new(group).ancestors();
    groups.filter_map(|group| left(&root.join(group))).min()
}

/// What the address space that this process may have leaves.
fn own_limit() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let soft = |name: &str| {
        let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    let left = |limit: &str, used: &str| {
        Some(soft(limit)?.saturating_sub(kibibytes(&status, used).unwrap_or(0)))
    };
    let spaces = [
        left("Max address space", "VmSize:"),
        left("Max data size", "VmData:"),
    ];
    spaces.into_iter().flatten().min()
}

/// A number of bytes for people: 12.8 GB.
pub(crate) fn readable(bytes: u64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let unit = units.into_iter().find(|(size, _)| bytes as f64 >= *size);
    match unit {
        Some((size, name)) => format!("{:.1} {name}", bytes as f64 / size),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_any_machine_has_is_refused_where_that_is_known() {
        let refused = check("the test", "numbers", u64::MAX);
        match available() {
            Some(_) => {
                let line = refused.unwrap_err().to_string();
                assert!(
                    line.starts_with(
                        "the test: 18446744.1 TB of memory for numbers, and there are "
                    ),
                    "{line}"
                );
            }
            None => assert_eq!(refused, Ok(())),
        }
        assert_eq!(check("the test", "numbers", 1 << 21), Ok(()));
    }

    #[test]
    fn the_narrowest_group_counts() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("outer/inner");
        fs::create_dir_all(&inner).unwrap();
        let write = |at: &str, name: &str, text: &str| {
            fs::write(folder.path().join(at).join(name), text).unwrap();
        };
        write("outer", "memory.max", "1000\n");
        write("outer", "memory.current", "900\n");
        write("outer", "memory.stat", "anon 5\ninactive_file 50\n");
        write("outer/inner", "memory.max", "max\n");
        write("outer/inner", "memory.current", "10\n");
        let left = || {
            within(
                folder.path(),
                "outer/inner",
                ["memory.max", "memory.current"],
            )
        };
        assert_eq!(left(), Some(150));
        write("outer/inner", "memory.max", "40\n");
        assert_eq!(left(), Some(30));
    }

    #[test]
    fn bytes_are_told_in_units() {
        assert_eq!(readable(999), "999 bytes");
        assert_eq!(readable(12_800_000_000), "12.8 GB");
    }
}
