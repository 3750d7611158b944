//! Errors of the storage below every operation.

use std::error::Error as StdError;
use std::panic::Location;
use std::sync::PoisonError;
use std::{fmt, io};

use super::{BackendError, Corruption};

/// Error of the storage engine itself; every operation can end in one.
#[derive(Debug)]
#[non_exhaustive]
pub enum StorageError {
    /// Stored bytes contradict the format or their checksum.
    Corrupted(Corruption),
    /// A key, value or pair of this many bytes is more than the format holds.
    ValueTooLarge(usize),
    /// The operating system refused a request.
    Io(io::Error),
    /// The storage backend failed for a reason of its own.
    Backend(Box<dyn StdError + Send + Sync>),
    /// The storage backend cannot do what was asked.
    Unsupported,
    /// An earlier i/o error halted writes; only reopening the database ends that.
    PreviousIo,
    /// The database was closed while this handle was still in use.
    DatabaseClosed,
    /// A thread panicked while it held the lock taken here.
    LockPoisoned(&'static Location<'static>),
}

impl StorageError {
    /// Whether the cause is lack of space: disk full, quota used up, or the largest file size reached.
    ///
    /// Such a failure loses nothing; freeing space and trying again may succeed.
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Io(source) if space_cause(source).is_some())
    }
}

/// Names the shortage behind an i/o error, if it is one.
pub(super) fn space_cause(source: &io::Error) -> Option<&'static str> {
    // The standard library maps ENOSPC, EDQUOT and EFBIG to these kinds on every platform it supports.
    match source.kind() {
        io::ErrorKind::StorageFull => Some("disk full"),
        io::ErrorKind::QuotaExceeded => Some("disk quota exceeded"),
        io::ErrorKind::FileTooLarge => Some("file too large for its file system or limit"),
        _ => None,
    }
}

/// Shows an i/o error, the cause first where it is a shortage.
pub(super) fn fmt_io(source: &io::Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(
        f,
        "{}: {source}",
        space_cause(source).unwrap_or("i/o failed")
    )
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Corrupted(finding) => write!(f, "database is corrupted: {finding}"),
            Self::ValueTooLarge(bytes) => {
                write!(
                    f,
                    "{bytes} bytes are too many: a key or value takes at most 3 GiB, both together 3.75 GiB, a table's name 64 KiB"
                )
            }
            Self::Io(source) => fmt_io(source, f),
            Self::Backend(source) => write!(f, "storage backend failed: {source}"),
            Self::Unsupported => f.write_str("operation is not supported by the storage backend"),
            Self::PreviousIo => {
                f.write_str("an earlier i/o error halted writes; close and reopen the database")
            }
            Self::DatabaseClosed => f.write_str("database has been closed"),
            Self::LockPoisoned(taken_at) => {
                write!(
                    f,
                    "a thread panicked while holding the lock taken at {taken_at}"
                )
            }
        }
    }
}

impl StdError for StorageError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Corrupted(finding) => Some(finding),
            Self::Io(source) => Some(source),
            Self::Backend(source) => Some(source.as_ref()),
            _ => None,
        }
    }
}

impl From<io::Error> for StorageError {
    fn from(source: io::Error) -> Self {
        Self::Io(source)
    }
}

impl From<Corruption> for StorageError {
    fn from(finding: Corruption) -> Self {
        Self::Corrupted(finding)
    }
}

impl From<BackendError> for StorageError {
    fn from(error: BackendError) -> Self {
        match error {
            BackendError::Io(source) => Self::Io(source),
            BackendError::Other(source) => Self::Backend(source),
            BackendError::Unsupported => Self::Unsupported,
        }
    }
}

impl<T> From<PoisonError<T>> for StorageError {
    #[track_caller]
    fn from(_: PoisonError<T>) -> Self {
        Self::LockPoisoned(Location::caller())
    }
}
