//! Bristlecone: an embedded, transactional, ordered key-value storage engine in one file.
#![deny(unsafe_code)]

pub mod error;
mod types;

pub use error::{
    BackendError, CommitError, CompactionError, Corruption, CursorError, DatabaseError, Error,
    Result, SavepointError, SetDurabilityError, StorageError, TableError, TransactionError,
};
pub use types::{
    IntegerKind, Key, KeyOrder, MutInPlaceValue, Shape, TableSchema, TypeName, TypeSchema, Value,
};
