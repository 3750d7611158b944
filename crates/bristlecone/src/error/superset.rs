//! The superset error, for programs that want one type for everything.

use crate::table::ReadTransaction;
use std::error::Error as StdError;
use std::fmt::{self, Display};
use std::io;
use std::panic::Location;
use std::sync::PoisonError;

use super::storage::{fmt_io, space_cause};
use super::{
    BackendError, CommitError, CompactionError, Corruption, CursorError, DatabaseError,
    SavepointError, SetDurabilityError, StorageError, TableError, TransactionError,
};
use crate::types::TypeName;

/// Every error of this crate in one enum; each operation's enum converts into it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// See [`StorageError::Corrupted`].
    Corrupted(Corruption),
    /// See [`StorageError::ValueTooLarge`].
    ValueTooLarge(usize),
    /// See [`StorageError::Io`].
    Io(io::Error),
    /// See [`StorageError::Backend`].
    Backend(Box<dyn StdError + Send + Sync>),
    /// See [`StorageError::Unsupported`].
    Unsupported,
    /// See [`StorageError::PreviousIo`].
    PreviousIo,
    /// See [`StorageError::DatabaseClosed`].
    DatabaseClosed,
    /// See [`StorageError::LockPoisoned`].
    LockPoisoned(&'static Location<'static>),
    /// See [`DatabaseError::DatabaseAlreadyOpen`].
    DatabaseAlreadyOpen,
    /// See [`DatabaseError::RepairAborted`].
    RepairAborted,
    /// See [`DatabaseError::UpgradeRequired`].
    UpgradeRequired(u8),
    /// See [`DatabaseError::TransactionInProgress`] and [`CompactionError::TransactionInProgress`].
    TransactionInProgress,
    /// See [`DatabaseError::NotADatabase`].
    NotADatabase,
    /// See [`TableError::TableTypeMismatch`].
    TableTypeMismatch {
        /// Name of the table.
        table: String,
        /// Key type the table is stored with.
        key: TypeName,
        /// Value type the table is stored with.
        value: TypeName,
    },
    /// See [`TableError::TableIsMultimap`].
    TableIsMultimap(String),
    /// See [`TableError::TableIsNotMultimap`].
    TableIsNotMultimap(String),
    /// See [`TableError::TypeDefinitionChanged`].
    TypeDefinitionChanged {
        /// Name of the type.
        name: TypeName,
        /// Stored alignment in bytes.
        alignment: usize,
        /// Stored width in bytes, if it was fixed.
        width: Option<usize>,
    },
    /// See [`TableError::TableDoesNotExist`].
    TableDoesNotExist(String),
    /// See [`TableError::TableExists`].
    TableExists(String),
    /// See [`TableError::TableAlreadyOpen`].
    TableAlreadyOpen(String, &'static Location<'static>),
    /// See [`TransactionError::WouldBlock`].
    WouldBlock,
    /// See [`TransactionError::ReadTransactionStillInUse`].
    ReadTransactionStillInUse(Box<ReadTransaction>),
    /// See [`CommitError::TransactionPoisoned`].
    TransactionPoisoned,
    /// See [`SavepointError::InvalidSavepoint`].
    InvalidSavepoint,
    /// See [`SavepointError::ImmediateDurabilityRequired`].
    ImmediateDurabilityRequired,
    /// See [`SavepointError::EphemeralSavepointUnsupported`].
    EphemeralSavepointUnsupported,
    /// See [`CompactionError::PersistentSavepointExists`].
    PersistentSavepointExists,
    /// See [`CompactionError::EphemeralSavepointExists`].
    EphemeralSavepointExists,
    /// See [`SetDurabilityError::PersistentSavepointModified`].
    PersistentSavepointModified,
    /// See [`SetDurabilityError::NonDurableCommitUnsupported`].
    NonDurableCommitUnsupported,
    /// See [`CursorError::UnorderedKey`].
    UnorderedKey,
}

impl Error {
    /// Whether the cause is lack of space; see [`StorageError::is_disk_full`].
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Io(source) if space_cause(source).is_some())
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Each message is written once, in the enum of its operation; payloads that cannot be shown by reference there
        // (boxes, i/o errors, findings) are the only texts repeated.
        match self {
            Self::Corrupted(finding) => write!(f, "database is corrupted: {finding}"),
            Self::ValueTooLarge(bytes) => StorageError::ValueTooLarge(*bytes).fmt(f),
            Self::Io(source) => fmt_io(source, f),
            Self::Backend(source) => write!(f, "storage backend failed: {source}"),
            Self::Unsupported => StorageError::Unsupported.fmt(f),
            Self::PreviousIo => StorageError::PreviousIo.fmt(f),
            Self::DatabaseClosed => StorageError::DatabaseClosed.fmt(f),
            Self::LockPoisoned(taken_at) => StorageError::LockPoisoned(taken_at).fmt(f),
            Self::DatabaseAlreadyOpen => DatabaseError::DatabaseAlreadyOpen.fmt(f),
            Self::RepairAborted => DatabaseError::RepairAborted.fmt(f),
            Self::UpgradeRequired(found) => DatabaseError::UpgradeRequired(*found).fmt(f),
            Self::TransactionInProgress => DatabaseError::TransactionInProgress.fmt(f),
            Self::NotADatabase => DatabaseError::NotADatabase.fmt(f),
            Self::WouldBlock => TransactionError::WouldBlock.fmt(f),
            Self::ReadTransactionStillInUse(_) => {
                f.write_str("tables of the read transaction are still alive; drop them first")
            }
            Self::TransactionPoisoned => CommitError::TransactionPoisoned.fmt(f),
            Self::UnorderedKey => CursorError::UnorderedKey.fmt(f),
            other => other.fmt_table_or_savepoint(f),
        }
    }
}

impl Error {
    fn fmt_table_or_savepoint(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = match self {
            Self::TableTypeMismatch { table, key, value } => TableError::TableTypeMismatch {
                table: table.clone(),
                key: key.clone(),
                value: value.clone(),
            },
            Self::TypeDefinitionChanged {
                name,
                alignment,
                width,
            } => {
                let (name, alignment, width) = (name.clone(), *alignment, *width);
                TableError::TypeDefinitionChanged {
                    name,
                    alignment,
                    width,
                }
            }
            Self::TableIsMultimap(table) => TableError::TableIsMultimap(table.clone()),
            Self::TableIsNotMultimap(table) => TableError::TableIsNotMultimap(table.clone()),
            Self::TableDoesNotExist(table) => TableError::TableDoesNotExist(table.clone()),
            Self::TableExists(table) => TableError::TableExists(table.clone()),
            Self::TableAlreadyOpen(table, at) => TableError::TableAlreadyOpen(table.clone(), at),
            Self::ImmediateDurabilityRequired => {
                return SavepointError::ImmediateDurabilityRequired.fmt(f);
            }
            Self::EphemeralSavepointUnsupported => {
                return SavepointError::EphemeralSavepointUnsupported.fmt(f);
            }
            Self::PersistentSavepointExists => {
                return CompactionError::PersistentSavepointExists.fmt(f);
            }
            Self::EphemeralSavepointExists => {
                return CompactionError::EphemeralSavepointExists.fmt(f);
            }
            Self::PersistentSavepointModified => {
                return SetDurabilityError::PersistentSavepointModified.fmt(f);
            }
            Self::NonDurableCommitUnsupported => {
                return SetDurabilityError::NonDurableCommitUnsupported.fmt(f);
            }
            _ => return SavepointError::InvalidSavepoint.fmt(f),
        };
        error.fmt(f)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Corrupted(finding) => Some(finding),
            Self::Io(source) => Some(source),
            Self::Backend(source) => Some(source.as_ref()),
            _ => None,
        }
    }
}

impl From<StorageError> for Error {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Corrupted(finding) => Self::Corrupted(finding),
            StorageError::ValueTooLarge(bytes) => Self::ValueTooLarge(bytes),
            StorageError::Io(source) => Self::Io(source),
            StorageError::Backend(source) => Self::Backend(source),
            StorageError::Unsupported => Self::Unsupported,
            StorageError::PreviousIo => Self::PreviousIo,
            StorageError::DatabaseClosed => Self::DatabaseClosed,
            StorageError::LockPoisoned(taken_at) => Self::LockPoisoned(taken_at),
        }
    }
}

impl From<BackendError> for Error {
    fn from(error: BackendError) -> Self {
        StorageError::from(error).into()
    }
}

impl From<io::Error> for Error {
    fn from(source: io::Error) -> Self {
        Self::Io(source)
    }
}

impl<T> From<PoisonError<T>> for Error {
    #[track_caller]
    fn from(_: PoisonError<T>) -> Self {
        Self::LockPoisoned(Location::caller())
    }
}

impl From<DatabaseError> for Error {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::DatabaseAlreadyOpen => Self::DatabaseAlreadyOpen,
            DatabaseError::RepairAborted => Self::RepairAborted,
            DatabaseError::UpgradeRequired(found) => Self::UpgradeRequired(found),
            DatabaseError::TransactionInProgress => Self::TransactionInProgress,
            DatabaseError::NotADatabase => Self::NotADatabase,
            DatabaseError::Storage(error) => error.into(),
        }
    }
}

impl From<TableError> for Error {
    fn from(error: TableError) -> Self {
        match error {
            TableError::TableTypeMismatch { table, key, value } => {
                Self::TableTypeMismatch { table, key, value }
            }
            TableError::TableIsMultimap(table) => Self::TableIsMultimap(table),
            TableError::TableIsNotMultimap(table) => Self::TableIsNotMultimap(table),
            TableError::TypeDefinitionChanged {
                name,
                alignment,
                width,
            } => Self::TypeDefinitionChanged {
                name,
                alignment,
                width,
            },
            TableError::TableDoesNotExist(table) => Self::TableDoesNotExist(table),
            TableError::TableExists(table) => Self::TableExists(table),
            TableError::TableAlreadyOpen(table, at) => Self::TableAlreadyOpen(table, at),
            TableError::Storage(error) => error.into(),
        }
    }
}

impl From<TransactionError> for Error {
    fn from(error: TransactionError) -> Self {
        match error {
            TransactionError::WouldBlock => Self::WouldBlock,
            TransactionError::ReadTransactionStillInUse(txn) => {
                Self::ReadTransactionStillInUse(txn)
            }
            TransactionError::Storage(error) => error.into(),
        }
    }
}

impl From<CommitError> for Error {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::TransactionPoisoned => Self::TransactionPoisoned,
            CommitError::Storage(error) => error.into(),
        }
    }
}

impl From<SavepointError> for Error {
    fn from(error: SavepointError) -> Self {
        match error {
            SavepointError::InvalidSavepoint => Self::InvalidSavepoint,
            SavepointError::ImmediateDurabilityRequired => Self::ImmediateDurabilityRequired,
            SavepointError::EphemeralSavepointUnsupported => Self::EphemeralSavepointUnsupported,
            SavepointError::Storage(error) => error.into(),
        }
    }
}

impl From<CompactionError> for Error {
    fn from(error: CompactionError) -> Self {
        match error {
            CompactionError::PersistentSavepointExists => Self::PersistentSavepointExists,
            CompactionError::EphemeralSavepointExists => Self::EphemeralSavepointExists,
            CompactionError::TransactionInProgress => Self::TransactionInProgress,
            CompactionError::Storage(error) => error.into(),
        }
    }
}

impl From<SetDurabilityError> for Error {
    fn from(error: SetDurabilityError) -> Self {
        match error {
            SetDurabilityError::PersistentSavepointModified => Self::PersistentSavepointModified,
            SetDurabilityError::NonDurableCommitUnsupported => Self::NonDurableCommitUnsupported,
        }
    }
}

impl From<CursorError> for Error {
    fn from(error: CursorError) -> Self {
        match error {
            CursorError::UnorderedKey => Self::UnorderedKey,
            CursorError::Storage(error) => error.into(),
        }
    }
}
