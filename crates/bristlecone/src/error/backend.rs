//! What a storage backend reports beyond plain `io::Error`.

use std::error::Error as StdError;
use std::{fmt, io};

/// Error of a storage backend.
#[derive(Debug)]
#[non_exhaustive]
pub enum BackendError {
    /// The operating system refused the request.
    Io(io::Error),
    /// The backend failed for a reason of its own.
    Other(Box<dyn StdError + Send + Sync>),
    /// The backend cannot do what was asked.
    Unsupported,
}

impl fmt::Display for BackendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(source) => write!(f, "storage backend i/o failed: {source}"),
            Self::Other(source) => write!(f, "storage backend failed: {source}"),
            Self::Unsupported => f.write_str("operation is not supported by the storage backend"),
        }
    }
}

impl StdError for BackendError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Io(source) => Some(source),
            Self::Other(source) => Some(source.as_ref()),
            Self::Unsupported => None,
        }
    }
}

impl From<io::Error> for BackendError {
    fn from(source: io::Error) -> Self {
        Self::Io(source)
    }
}
