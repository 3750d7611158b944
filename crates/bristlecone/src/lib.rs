//! Bristlecone: an embedded, transactional, ordered key-value storage engine in one file.
#![deny(unsafe_code)]

pub mod error;
mod types;
mod vfs;

pub use error::{
    BackendError, CommitError, CompactionError, Corruption, CursorError, DatabaseError, Error,
    Result, SavepointError, SetDurabilityError, StorageError, TableError, TransactionError,
};
pub use types::{
    IntegerKind, Key, KeyOrder, MutInPlaceValue, Shape, TableSchema, TypeName, TypeSchema, Value,
};
pub use vfs::StorageBackend;

/// Places to keep a database.
pub mod backends {
    pub use crate::vfs::{FileBackend, InMemoryBackend};
}
