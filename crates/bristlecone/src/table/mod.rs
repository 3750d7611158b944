//! Typed tables: what users call. Names and semantics are redb's.
//!
//! This room converts between values and bytes: keys to and from their stored form, values checked before a guard lends
//! them. Below it everything is bytes.
//!
//! # Invariants
//! 1. A guard's bytes passed its type's check, so `value()` cannot panic for built-in types.
//! 2. A guard or range that needs pages on disk pins its version.

mod definition;
mod guard;
mod range;
mod read_only;
mod read_transaction;
mod readable;
mod stats;
mod typed;
mod untyped;
mod write_transaction;

pub use definition::{TableDefinition, TableHandle, UntypedTableHandle};
pub use guard::AccessGuard;
pub use range::Range;
pub use read_only::ReadOnlyTable;
pub use read_transaction::ReadTransaction;
pub use readable::{ReadableTable, ReadableTableMetadata};
pub use stats::{DatabaseStats, TableStats};
pub use typed::Table;
pub use untyped::{ReadOnlyUntypedTable, StoredBytes, UntypedRange, UntypedTable};
pub use write_transaction::{Durability, WriteTransaction};
