//! Errors: the variants that the storage backends report.

use std::{fmt, io};

/// An error of the storage below the database.
#[derive(Debug)]
#[non_exhaustive]
pub enum StorageError {
    /// The backend reported an error.
    Io(io::Error),
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StorageError::Io(error) => write!(f, "i/o error: {error}"),
        }
    }
}

impl std::error::Error for StorageError {}

/// An error of opening or creating a database.
#[derive(Debug)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The file is open already.
    DatabaseAlreadyOpen,
    /// An error of the storage below.
    Storage(StorageError),
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DatabaseError::DatabaseAlreadyOpen => f.write_str("the database is open already"),
            DatabaseError::Storage(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for DatabaseError {}
