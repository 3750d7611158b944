//! Errors: one enum per kind of operation, and [`Error`], the superset they all convert into.
//!
//! Every enum is `#[non_exhaustive]`. Messages are lower case, carry no trailing dot, and say what was attempted or what
//! the caller can do. Absence of a key is never an error: it is an `Option`.
//!
//! # Invariants
//! 1. Every operation enum wraps [`StorageError`] as `Storage(..)` and shows it unchanged.
//! 2. Every variant of every enum has a variant of the same name in [`Error`] (`Storage` and `BackendError` dissolve into
//!    the storage variants), so conversion loses nothing.

mod backend;
mod corruption;
mod operation;
mod storage;
mod superset;
#[cfg(test)]
mod tests;

pub use backend::BackendError;
pub use corruption::Corruption;
pub use operation::{
    CommitError, CompactionError, CursorError, DatabaseError, SavepointError, SetDurabilityError,
    TableError, TransactionError,
};
pub use storage::StorageError;
pub use superset::Error;

/// Result of an operation that can only fail in storage.
pub type Result<T = (), E = StorageError> = std::result::Result<T, E>;
