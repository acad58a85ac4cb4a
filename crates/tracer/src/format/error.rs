//! What can go wrong with a trace on disk.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a trace was not written, or not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file cannot be made.
    #[error("cannot make the trace {}: {error}{}", path.display(), cure(error))]
    Create {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// The file cannot be written any further. What is in it is readable, and says that it has no end.
    #[error("cannot write the trace {}: {error}; what is in it so far can be read", path.display())]
    Write {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// The file cannot be read.
    #[error("cannot read the trace {}: {error}", path.display())]
    Read {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// The file is not a trace, or is of a version that this crate does not read.
    #[error("not a trace: {0}")]
    NotATrace(String),
    /// The file is a trace that is not as it was written.
    #[error(transparent)]
    Tampered(#[from] TamperError),
}

fn cure(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AlreadyExists => "; a trace never replaces a file: remove it, or name another",
        io::ErrorKind::NotFound => "; make its folder first",
        _ => "",
    }
}

/// The first place at which a trace is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{how} at line {line}: {what}")]
#[non_exhaustive]
pub struct TamperError {
    /// In which way.
    pub how: TamperKind,
    /// The line of the file, from 1.
    pub line: u64,
    /// The event, where it is one.
    pub sequence: Option<u64>,
    /// In words.
    pub what: String,
}

impl TamperError {
    pub(crate) fn new(
        how: TamperKind,
        line: u64,
        sequence: impl Into<Option<u64>>,
        what: impl Into<String>,
    ) -> Self {
        Self { how, line, sequence: sequence.into(), what: what.into() }
    }
}

/// In which way a trace is not as it was written. As far as the file can tell: who changes much may choose how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TamperKind {
    /// Something was changed.
    Edited,
    /// Events are missing.
    Removed,
    /// Events stand in another order.
    Reordered,
    /// An event stands there twice.
    Duplicated,
    /// The end is missing: it was cut off, or the run that wrote it was.
    Truncated,
    /// Something was added behind the end.
    Appended,
    /// The hashes are right, and what the end says of the events is not: the end was written anew.
    Inconsistent,
}

impl TamperKind {
    /// In a word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Edited => "edited",
            Self::Removed => "removed",
            Self::Reordered => "reordered",
            Self::Duplicated => "duplicated",
            Self::Truncated => "truncated",
            Self::Appended => "appended",
            Self::Inconsistent => "inconsistent",
        }
    }
}

impl fmt::Display for TamperKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
