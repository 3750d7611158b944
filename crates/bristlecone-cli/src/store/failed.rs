//! The library's errors as failures of the tool: which file, what is wrong, in one line.

use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use bristlecone::{DatabaseError, Error, StorageError};

use crate::failure::{Failure, Outcome, Reason};

/// The file at work, for messages.
#[derive(Clone)]
pub(crate) struct Place {
    path: Rc<Path>,
}

impl Place {
    /// The file `path`.
    pub(crate) fn new(path: &Path) -> Self {
        Place { path: path.into() }
    }

    /// Length of the file.
    pub(crate) fn file_bytes(&self) -> Outcome<u64> {
        let metadata = self.path.metadata();
        metadata
            .map(|metadata| metadata.len())
            .map_err(|error| Failure::Work(format!("{self}: {}", Reason(&error))))
    }

    /// The failure of an open.
    #[cold]
    pub(crate) fn open_failed(&self, error: DatabaseError) -> Failure {
        let reason = match error {
            DatabaseError::NotADatabase => {
                "not a Bristlecone database; it was left untouched".to_owned()
            }
            DatabaseError::DatabaseAlreadyOpen => {
                "open in another process, or being written by one".to_owned()
            }
            DatabaseError::Storage(StorageError::Io(error)) => match self.missing_folder(&error) {
                Some(folder) => format!("no such folder: {}", folder.display()),
                None => Reason(&error).to_string(),
            },
            other => other.to_string(),
        };
        Failure::Open(format!("cannot open {self}: {reason}"))
    }

    /// The failure of anything after the open.
    #[cold]
    pub(crate) fn failed(&self, error: impl Into<Error>) -> Failure {
        Failure::Work(match error.into() {
            Error::Io(error) => format!("{self}: {}", Reason(&error)),
            other => format!("{self}: {other}"),
        })
    }

    /// The folder whose absence explains `error`.
    fn missing_folder(&self, error: &std::io::Error) -> Option<PathBuf> {
        let folder = self
            .path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())?;
        (error.kind() == std::io::ErrorKind::NotFound && !folder.exists())
            .then(|| folder.to_owned())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)
    }
}

/// The failure of a table that is not there.
#[cold]
pub(crate) fn missing_table(name: &str, place: &Place) -> Failure {
    Failure::NotFound(format!("table {name} does not exist in {place}"))
}
