//! Bristlecone: an embedded, transactional, ordered key-value storage engine in one file.
//!
//! A [`Database`] holds named tables of typed keys and values. One [`WriteTransaction`] at a time changes any number of
//! them and commits atomically and durably; any number of [`ReadTransaction`]s read a snapshot each, without waiting
//! and without being waited for. Names, signatures and semantics follow the redb crate.
//!
//! The rooms, each depending only on those below it (`ARCHITECTURE.md` says more):
//!
//! ```text
//! table       typed tables, ranges, guards, transactions      db     open, close      check   walks everything
//! txn         snapshots, write buffers, commit
//! checkpoint  header flips
//! tree        cursor, builder, batch merge
//! cache       pages in memory                                 space  units of the file, sessions, dead lists
//! page        page kinds and codecs                           types  key and value types
//! vfs         the only door to disk and randomness
//! ```
#![deny(unsafe_code)]

mod builder;
mod cache;
mod check;
mod checkpoint;
mod counters;
mod db;
pub mod error;
mod int;
mod limits;
mod page;
mod probe;
mod space;
mod table;
mod tree;
mod txn;
mod types;
mod vfs;

pub use builder::Builder;
pub use check::{CheckProgress, CheckReport, Finding, check_backend, check_file};
pub use counters::EngineCounters;
pub use db::{CacheStats, Database, ReadOnlyDatabase, ReadableDatabase};
pub use error::{
    BackendError, CommitError, CompactionError, Corruption, CursorError, DatabaseError, Error,
    Result, SavepointError, SetDurabilityError, StorageError, TableError, TransactionError,
};
#[doc(hidden)]
pub use probe::{ProbeCounts, take_counts as take_probe_counts};
pub use table::{
    AccessGuard, DatabaseStats, Durability, Range, ReadOnlyTable, ReadOnlyUntypedTable,
    ReadTransaction, ReadableTable, ReadableTableMetadata, StoredBytes, Table, TableDefinition,
    TableHandle, TableStats, UntypedRange, UntypedTable, UntypedTableHandle, WriteTransaction,
};
pub use types::{
    IntegerKind, Key, KeyOrder, MutInPlaceValue, Shape, TableSchema, TypeName, TypeSchema, Value,
};
pub use vfs::StorageBackend;

/// Version of the file format that this build reads and writes.
pub const FILE_FORMAT: &str = "0.1";

/// Places to keep a database.
pub mod backends {
    pub use crate::vfs::{FileBackend, InMemoryBackend};
}

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
