//! What went wrong, in the one line a person needs: the file, what is wrong with it, and what to do.

use std::fmt;
use std::io;
use std::path::Path;

/// What functions of this crate return.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure that names its subject (mostly a file), what is wrong and the remedy.
///
/// ```
/// use bispectral::Error;
///
/// let error = Error::new("W.npy", "the array has 3 dimensions", "save one of shape [rows, inputs]");
/// assert_eq!(
///     error.to_string(),
///     "W.npy: the array has 3 dimensions: save one of shape [rows, inputs]",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    subject: String,
    what: String,
    remedy: String,
}

impl Error {
    /// An error about `subject`.
    pub fn new(
        subject: impl Into<String>,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Error {
            subject: subject.into(),
            what: what.into(),
            remedy: remedy.into(),
        }
    }

    /// An error about the file at `path`.
    pub fn file(path: &Path, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Error::new(path.display().to_string(), what, remedy)
    }

    /// The file at `path` could not be read.
    pub fn reading(path: &Path, error: &io::Error) -> Self {
        let (what, remedy) = match error.kind() {
            io::ErrorKind::NotFound => ("there is no such file".into(), "check the path"),
            io::ErrorKind::PermissionDenied => (
                "reading it is not permitted".into(),
                "change its permissions",
            ),
            io::ErrorKind::IsADirectory => ("is a directory".into(), "name a file in it"),
            io::ErrorKind::UnexpectedEof => (
                "it became shorter while it was read".into(),
                "run again once it is complete",
            ),
            _ => (
                format!("cannot be read ({error})"),
                "check the file and its disk",
            ),
        };
        Error::file(path, what, remedy)
    }

    /// The file at `path` could not be written.
    pub fn writing(path: &Path, error: &io::Error) -> Self {
        let (what, remedy) = match error.kind() {
            io::ErrorKind::NotFound => ("its folder does not exist".into(), "create the folder"),
            io::ErrorKind::PermissionDenied => (
                "writing it is not permitted".into(),
                "choose another folder",
            ),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => (
                "the disk is full".into(),
                "make room or choose another folder",
            ),
            _ => (
                format!("cannot be written ({error})"),
                "choose another folder",
            ),
        };
        Error::file(path, what, remedy)
    }

    /// The bytes at `path` are not a model.
    pub fn model(path: &Path, error: bispectral_core::Error) -> Self {
        use bispectral_core::Error::{
            Checksum, Magic, Malformed, Unsupported, Version, WeightRange,
        };
        match error {
            Magic => Error::file(
                path,
                "not a bispectral model: the first bytes are not \"BSN\\0\"",
                "name a .bsn file, or make one with `bispectral import`",
            ),
            // These say themselves what to do.
            Checksum { .. } | Malformed | Unsupported { .. } | Version { .. } | WeightRange => {
                let line = error.to_string();
                let (what, remedy) = line.rsplit_once(": ").unwrap_or((&line, "export it again"));
                Error::file(path, what, remedy)
            }
            _ => Error::file(path, error.to_string(), "copy or export it again"),
        }
    }

    /// There is not enough memory for `bytes` bytes of `what`.
    pub fn memory(path: &Path, what: &str, bytes: u64) -> Self {
        Error::file(
            path,
            format!("no memory for {bytes} bytes of {what}"),
            "use a machine with more memory, or a smaller model or fewer --threads",
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.subject, self.what, self.remedy)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_of_a_model_names_the_file_and_ends_with_a_remedy() {
        use bispectral_core::Error as Refused;
        let (stored, computed, needed, found) = (1, 2, 44, 3);
        for (refused, remedy) in [
            (Refused::Magic, "import`"),
            (Refused::Version { found: 9 }, "export again"),
            (Refused::Checksum { stored, computed }, "export it again"),
            (Refused::Malformed, "export it again"),
            (Refused::Truncated { needed, found }, "export it again"),
            (Refused::TrailingBytes { needed, found }, "export it again"),
            (Refused::WeightLength { needed, found }, "export it again"),
            (Refused::WeightRange, "scale W by a constant"),
        ] {
            let line = Error::model(Path::new("m.bsn"), refused).to_string();
            assert!(line.starts_with("m.bsn: "), "{line}");
            assert!(line.ends_with(remedy), "{line}");
            assert!(!line.contains('\n'), "{line}");
        }
    }
}
