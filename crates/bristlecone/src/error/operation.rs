//! Errors of the operations above storage: opening, tables, transactions, commits, savepoints, maintenance, cursors.

use crate::table::ReadTransaction;
use std::error::Error as StdError;
use std::fmt::{self, Display};
use std::io;
use std::panic::Location;

use super::{BackendError, StorageError};
use crate::types::TypeName;

/// Error from opening, checking or closing a database.
#[derive(Debug)]
#[non_exhaustive]
pub enum DatabaseError {
    /// Another handle, in this process or another, has the database open.
    DatabaseAlreadyOpen,
    /// The repair callback stopped the repair, or a read-only open met a file that needs one.
    RepairAborted,
    /// The file has this format version, which this release does not read.
    UpgradeRequired(u8),
    /// A transaction or savepoint is still alive.
    TransactionInProgress,
    /// The file is not empty and holds no database header; it was left untouched.
    NotADatabase,
    /// Storage failed.
    Storage(StorageError),
}

/// Error from opening, renaming or deleting a table.
#[derive(Debug)]
#[non_exhaustive]
pub enum TableError {
    /// The stored table has other types than those asked for.
    TableTypeMismatch {
        /// Name of the table.
        table: String,
        /// Key type the table is stored with.
        key: TypeName,
        /// Value type the table is stored with.
        value: TypeName,
    },
    /// The named table is a multimap and was opened as a plain table.
    TableIsMultimap(String),
    /// The named table is a plain table and was opened as a multimap.
    TableIsNotMultimap(String),
    /// A type of this name had another layout when the table was made.
    TypeDefinitionChanged {
        /// Name of the type.
        name: TypeName,
        /// Stored alignment in bytes.
        alignment: usize,
        /// Stored width in bytes, if it was fixed.
        width: Option<usize>,
    },
    /// No table has this name.
    TableDoesNotExist(String),
    /// A table of this name exists already.
    TableExists(String),
    /// The transaction opened this table before, there, and still holds it.
    TableAlreadyOpen(String, &'static Location<'static>),
    /// Storage failed.
    Storage(StorageError),
}

/// Error from beginning or closing a transaction.
#[derive(Debug)]
#[non_exhaustive]
pub enum TransactionError {
    /// Storage failed.
    Storage(StorageError),
    /// Another write transaction is active and waiting was not asked for.
    WouldBlock,
    /// The read transaction, given back here, has tables that are still alive.
    ReadTransactionStillInUse(Box<ReadTransaction>),
}

/// Error from committing a transaction.
#[derive(Debug)]
#[non_exhaustive]
pub enum CommitError {
    /// A panic or a leaked table left the transaction half done; it was rolled back.
    TransactionPoisoned,
    /// Storage failed.
    Storage(StorageError),
}

/// Error from making, finding or restoring a savepoint.
#[derive(Debug)]
#[non_exhaustive]
pub enum SavepointError {
    /// The savepoint is gone or foreign, or the transaction has already touched a table.
    InvalidSavepoint,
    /// Persistent savepoints need `Durability::Immediate`.
    ImmediateDurabilityRequired,
    /// Ephemeral savepoints cannot be used in this concurrency mode.
    EphemeralSavepointUnsupported,
    /// Storage failed.
    Storage(StorageError),
}

/// Error from compacting a database.
#[derive(Debug)]
#[non_exhaustive]
pub enum CompactionError {
    /// A persistent savepoint holds pages in place.
    PersistentSavepointExists,
    /// An ephemeral savepoint holds pages in place.
    EphemeralSavepointExists,
    /// A transaction is still alive.
    TransactionInProgress,
    /// Storage failed.
    Storage(StorageError),
}

/// Error from choosing the durability of a transaction.
#[derive(Debug)]
#[non_exhaustive]
pub enum SetDurabilityError {
    /// The transaction made or deleted a persistent savepoint, which must be committed durably.
    PersistentSavepointModified,
    /// This concurrency mode has durable commits only.
    NonDurableCommitUnsupported,
}

/// Error from changing a table through a cursor.
#[derive(Debug)]
#[non_exhaustive]
pub enum CursorError {
    /// The key does not belong at the cursor's position.
    UnorderedKey,
    /// Storage failed.
    Storage(StorageError),
}

impl Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DatabaseAlreadyOpen => {
                f.write_str("database is open elsewhere; close it there first")
            }
            Self::RepairAborted => {
                f.write_str("database needs repair, which was aborted; open it for writing")
            }
            Self::UpgradeRequired(found) => write!(
                f,
                "file format version {found} is not readable by this release; migrate the file"
            ),
            Self::TransactionInProgress => {
                f.write_str("a transaction or savepoint is still alive; drop it first")
            }
            Self::NotADatabase => {
                f.write_str("file is not a bristlecone database; it was left untouched")
            }
            Self::Storage(error) => error.fmt(f),
        }
    }
}

impl Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TableTypeMismatch { table, key, value } => {
                let (key, value) = (key.name(), value.name());
                write!(
                    f,
                    "table '{table}' is stored as <{key}, {value}>; open it with those types"
                )
            }
            Self::TableIsMultimap(table) => {
                write!(f, "table '{table}' is a multimap; open it as one")
            }
            Self::TableIsNotMultimap(table) => {
                write!(
                    f,
                    "table '{table}' is not a multimap; open it as a plain table"
                )
            }
            Self::TypeDefinitionChanged {
                name,
                alignment,
                width,
            } => {
                write!(
                    f,
                    "type '{}' was stored with alignment {alignment} and ",
                    name.name()
                )?;
                match width {
                    Some(bytes) => write!(f, "a fixed width of {bytes} bytes"),
                    None => f.write_str("a variable width"),
                }
            }
            Self::TableDoesNotExist(table) => write!(f, "table '{table}' does not exist"),
            Self::TableExists(table) => write!(f, "table '{table}' exists already"),
            Self::TableAlreadyOpen(table, opened_at) => {
                write!(
                    f,
                    "table '{table}' is already open in this transaction, at {opened_at}"
                )
            }
            Self::Storage(error) => error.fmt(f),
        }
    }
}

impl Display for TransactionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Storage(error) => error.fmt(f),
            Self::WouldBlock => {
                f.write_str("another write transaction is active; try again when it has ended")
            }
            Self::ReadTransactionStillInUse(_) => {
                f.write_str("tables of the read transaction are still alive; drop them first")
            }
        }
    }
}

impl Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TransactionPoisoned => f.write_str(
                "transaction was left half done by a panic or a leaked table and was rolled back",
            ),
            Self::Storage(error) => error.fmt(f),
        }
    }
}

impl Display for SavepointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidSavepoint => f.write_str(
                "savepoint is not valid here: it is gone or foreign, or tables were touched before",
            ),
            Self::ImmediateDurabilityRequired => {
                f.write_str("persistent savepoints require immediate durability")
            }
            Self::EphemeralSavepointUnsupported => {
                f.write_str("ephemeral savepoints are not supported in this concurrency mode")
            }
            Self::Storage(error) => error.fmt(f),
        }
    }
}

impl Display for CompactionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PersistentSavepointExists => {
                f.write_str("cannot compact while a persistent savepoint exists; delete it first")
            }
            Self::EphemeralSavepointExists => {
                f.write_str("cannot compact while an ephemeral savepoint exists; drop it first")
            }
            Self::TransactionInProgress => {
                f.write_str("cannot compact while a transaction is alive; end it first")
            }
            Self::Storage(error) => error.fmt(f),
        }
    }
}

impl Display for SetDurabilityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PersistentSavepointModified => {
                "cannot lower durability: the transaction modified a persistent savepoint"
            }
            Self::NonDurableCommitUnsupported => {
                "non-durable commits are not supported in this concurrency mode"
            }
        })
    }
}

impl Display for CursorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnorderedKey => f.write_str("key does not belong at the cursor's position"),
            Self::Storage(error) => error.fmt(f),
        }
    }
}

impl StdError for SetDurabilityError {}

/// Makes storage errors convert into an operation's enum, and shows their source through it.
macro_rules! wraps_storage {
    ($($name:ident),+) => {$(
        impl StdError for $name {
            fn source(&self) -> Option<&(dyn StdError + 'static)> {
                match self {
                    // Shown unchanged (invariant 1), so the chain goes on below it.
                    Self::Storage(error) => error.source(),
                    _ => None,
                }
            }
        }

        impl From<StorageError> for $name {
            fn from(error: StorageError) -> Self {
                Self::Storage(error)
            }
        }
    )+};
}

wraps_storage!(
    DatabaseError,
    TableError,
    TransactionError,
    CommitError,
    SavepointError,
    CompactionError,
    CursorError
);

impl From<io::Error> for DatabaseError {
    fn from(source: io::Error) -> Self {
        Self::Storage(StorageError::Io(source))
    }
}

impl From<BackendError> for DatabaseError {
    fn from(error: BackendError) -> Self {
        Self::Storage(error.into())
    }
}
