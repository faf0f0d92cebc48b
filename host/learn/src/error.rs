//! What went wrong, in the one line a person needs: the file, what is wrong with it, and what to do.

use crate::data::orbits::OrbitsError;
use crate::learn::LearnError;
use crate::limits::memory::readable;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// What functions of this crate return.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure that names its subject (mostly a file), what is wrong and the remedy.
///
/// ```
/// use bispectral_learn::Error;
/// use std::path::Path;
///
/// let error = bispectral_learn::model::file::ModelFile::read(Path::new("absent.bsn")).unwrap_err();
/// assert_eq!(error.to_string(), "absent.bsn: there is no such file: check the path");
/// assert!(matches!(error, Error::Read { kind: std::io::ErrorKind::NotFound, .. }));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read.
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        kind: io::ErrorKind,
        /// What the system says.
        message: String,
    },
    /// A file could not be written.
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        kind: io::ErrorKind,
        /// What the system says.
        message: String,
    },
    /// There is a file of this name, and it was not allowed to be replaced.
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The folder holds another run, and that was not allowed to be replaced.
    Occupied {
        /// The folder.
        path: PathBuf,
    },
    /// Another process writes the files of the folder.
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// Bytes are no model.
    Model {
        /// Where they are from.
        path: PathBuf,
        /// What the core has against them.
        error: bispectral_core::Error,
    },
    /// There is not enough memory.
    Memory {
        /// A file, or an option.
        subject: String,
        /// What would have been in it.
        what: String,
        /// How much would have been needed.
        bytes: u64,
        /// How much there is, where that is known.
        available: Option<u64>,
    },
    /// No orbits can be made of samples.
    Orbits {
        /// The samples or labels.
        subject: String,
        /// Why.
        error: OrbitsError,
    },
    /// Nothing could be learned.
    Learn(LearnError),
    /// Anything else that cannot be used as it is.
    Invalid {
        /// A file, a row, an option.
        subject: String,
        /// What is wrong.
        what: String,
        /// What to do.
        remedy: String,
    },
}

impl Error {
    /// `subject` cannot be used as it is.
    pub fn new(
        subject: impl Into<String>,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Error::Invalid {
            subject: subject.into(),
            what: what.into(),
            remedy: remedy.into(),
        }
    }

    /// The file at `path` cannot be used as it is.
    pub fn file(path: &Path, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Error::new(path.display().to_string(), what, remedy)
    }

    /// The file at `path` could not be read.
    pub fn reading(path: &Path, error: &io::Error) -> Self {
        Error::Read {
            path: path.to_owned(),
            kind: error.kind(),
            message: error.to_string(),
        }
    }

    /// The file at `path` could not be written.
    pub fn writing(path: &Path, error: &io::Error) -> Self {
        Error::Write {
            path: path.to_owned(),
            kind: error.kind(),
            message: error.to_string(),
        }
    }

    /// The bytes at `path` are not a model.
    pub fn model(path: &Path, error: bispectral_core::Error) -> Self {
        Error::Model {
            path: path.to_owned(),
            error,
        }
    }

    /// There is not enough memory for `bytes` bytes of `what`.
    pub fn memory(path: &Path, what: &str, bytes: u64) -> Self {
        Error::Memory {
            subject: path.display().to_string(),
            what: what.into(),
            bytes,
            available: None,
        }
    }

    /// No orbits can be made of the samples and labels that are called so.
    #[must_use]
    pub fn orbits(samples: &str, labels: &str, error: OrbitsError) -> Self {
        Error::Orbits {
            subject: error.subject(samples, labels).into(),
            error,
        }
    }

    /// What it is about: a file, a row, an option.
    #[must_use]
    pub fn subject(&self) -> String {
        match self {
            Error::Read { path, .. }
            | Error::Write { path, .. }
            | Error::Exists { path }
            | Error::Occupied { path }
            | Error::Busy { path }
            | Error::Model { path, .. } => path.display().to_string(),
            Error::Memory { subject, .. }
            | Error::Orbits { subject, .. }
            | Error::Invalid { subject, .. } => subject.clone(),
            Error::Learn(error) => error.subject(),
        }
    }

    /// What is wrong with it.
    #[must_use]
    pub fn what(&self) -> String {
        match self {
            Error::Read {
                path,
                kind,
                message,
            } => match kind {
                io::ErrorKind::NotFound => "there is no such file".into(),
                io::ErrorKind::PermissionDenied => "reading it is not permitted".into(),
                io::ErrorKind::IsADirectory => "is a directory".into(),
                io::ErrorKind::NotADirectory => match path.parent() {
                    Some(parent) => format!("{} is a file, and no folder", parent.display()),
                    None => "is in a file, and no folder".into(),
                },
                io::ErrorKind::UnexpectedEof => "it became shorter while it was read".into(),
                _ => format!("cannot be read ({message})"),
            },
            Error::Write { kind, message, .. } => match kind {
                io::ErrorKind::NotFound => "its folder does not exist".into(),
                io::ErrorKind::PermissionDenied => "writing it is not permitted".into(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "the disk is full".into()
                }
                _ => format!("cannot be written ({message})"),
            },
            Error::Exists { .. } => "exists already".into(),
            Error::Occupied { .. } => "the folder holds another run".into(),
            Error::Busy { .. } => "another command is writing in this folder".into(),
            Error::Model { error, .. } => error.to_string(),
            Error::Memory {
                what,
                bytes,
                available: Some(available),
                ..
            } => format!(
                "{} of memory for {what}, and there are {}",
                readable(*bytes),
                readable(*available)
            ),
            Error::Memory { what, bytes, .. } => {
                format!("there is no memory for {} of {what}", readable(*bytes))
            }
            Error::Orbits { error, .. } => error.what(),
            Error::Learn(error) => error.what(),
            Error::Invalid { what, .. } => what.clone(),
        }
    }

    /// What to do about it, where [`what`](Self::what) does not say that already.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        use bispectral_core::Error::{
            Checksum, Magic, Malformed, Unsupported, Version, WeightRange,
        };
        let remedy = match self {
            Error::Read { kind, .. } => match kind {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => "check the path",
                io::ErrorKind::PermissionDenied => "change its permissions",
                io::ErrorKind::IsADirectory => "name a file in it",
                io::ErrorKind::UnexpectedEof => "run again once it is complete",
                _ => "check the file and its disk",
            }
            .into(),
            Error::Write { kind, .. } => match kind {
                io::ErrorKind::NotFound => "create the folder",
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "make room or choose another folder"
                }
                _ => "choose another folder",
            }
            .into(),
            Error::Exists { .. } => "choose another name, or allow it to be replaced".into(),
            Error::Occupied { .. } => {
                "choose another one, go on with that run, or allow it to be replaced".into()
            }
            Error::Busy { .. } => "wait until it is done, or choose another folder".into(),
            Error::Model { error, .. } => match error {
                Magic => "name a .bsn file, or make one of a W".into(),
                Checksum { .. } | Malformed | Unsupported { .. } | Version { .. } | WeightRange => {
                    return None;
                }
                _ => "copy or export it again".into(),
            },
            Error::Memory { .. } => "ask for less, or use a machine with more memory".into(),
            Error::Orbits { error, .. } => error.remedy(),
            Error::Learn(error) => error.remedy(),
            Error::Invalid { remedy, .. } => remedy.clone(),
        };
        Some(remedy)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject(), self.what())?;
        match self.remedy() {
            Some(remedy) => write!(f, ": {remedy}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Model { error, .. } => Some(error),
            Error::Orbits { error, .. } => Some(error),
            Error::Learn(error) => Some(error),
            _ => None,
        }
    }
}

impl From<LearnError> for Error {
    fn from(error: LearnError) -> Self {
        match error {
            // What was wrong before anything was learned says so itself.
            LearnError::Data(error) => *error,
            error => Error::Learn(error),
        }
    }
}

impl From<OrbitsError> for Error {
    fn from(error: OrbitsError) -> Self {
        Error::orbits("samples", "labels", error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_of_a_model_names_the_file_and_ends_with_a_remedy() {
        use bispectral_core::Error as Refused;
        let (stored, computed, needed, found) = (1, 2, 44, 3);
        for (refused, remedy) in [
            (Refused::Magic, ": name a .bsn file, or make one of a W"),
            (
                Refused::Version { found: 9 },
                ": update it, or export again",
            ),
            (
                Refused::Checksum { stored, computed },
                ": the model is damaged, export it again",
            ),
            (Refused::Malformed, ": export it again"),
            (
                Refused::Truncated { needed, found },
                ": copy or export it again",
            ),
            (
                Refused::TrailingBytes { needed, found },
                ": copy or export it again",
            ),
            (
                Refused::WeightLength { needed, found },
                ": copy or export it again",
            ),
            (Refused::WeightRange, ": scale W by a constant"),
        ] {
            let line = Error::model(Path::new("m.bsn"), refused).to_string();
            assert!(line.starts_with("m.bsn: "), "{line}");
            assert!(line.ends_with(remedy), "{line}");
            assert!(!line.contains('\n'), "{line}");
        }
    }
}
