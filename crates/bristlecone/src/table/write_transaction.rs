//! Write transactions.

use std::panic::Location;

use super::read_transaction::typed_compare;
use super::stats::{DatabaseStats, database_stats};
use super::{Table, TableDefinition, TableHandle, UntypedTable, UntypedTableHandle};
use crate::error::{CommitError, Result, SetDurabilityError, StorageError, TableError};
use crate::txn::schema_check::untyped_compare;
use crate::txn::write::WriteTxn;
use crate::types::{Key, TableSchema, Value};

/// When a commit counts as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// Lost by a crash until a later durable commit; refused for the time being.
    None,
    /// Durable when `commit` returns.
    Immediate,
}

/// A transaction that may change tables. Dropping it without a commit changes nothing.
#[derive(Debug)]
pub struct WriteTransaction {
    inner: WriteTxn,
}

impl WriteTransaction {
    pub(crate) fn new(inner: WriteTxn) -> Self {
        Self { inner }
    }

    pub(super) fn inner(&self) -> &WriteTxn {
        &self.inner
    }

    /// Sets when the commit counts as done; [`Durability::Immediate`] is the default.
    ///
    /// # Errors
    /// `NonDurableCommitUnsupported` for [`Durability::None`].
    pub fn set_durability(&mut self, durability: Durability) -> Result<(), SetDurabilityError> {
        match durability {
            Durability::Immediate => Ok(()),
            Durability::None => Err(SetDurabilityError::NonDurableCommitUnsupported),
        }
    }

    /// Opens a table, creating it if it does not exist. Different tables may be used from different threads.
    ///
    /// # Errors
    /// `TableAlreadyOpen` while another handle of it lives; a mismatch of types that names those it was made with.
    #[track_caller]
    pub fn open_table<'t, K: Key + 'static, V: Value + 'static>(
        &'t self,
        definition: TableDefinition<K, V>,
    ) -> Result<Table<'t, K, V>, TableError> {
        let schema = TableSchema::of::<K, V>();
        let compare = typed_compare::<K>();
        let name = definition.name();
        let state = self
            .inner
            .open_table(name, &schema, compare, Location::caller())?;
        Ok(Table::new(self, name, state))
    }

    /// Opens a table by its schema, creating it if it does not exist; rows are stored bytes.
    ///
    /// # Errors
    /// As [`WriteTransaction::open_table`], and `Unsupported` for a table that only its program can order.
    #[track_caller]
    pub fn open_untyped_table(
        &self,
        name: &str,
        schema: &TableSchema,
    ) -> Result<UntypedTable<'_>, TableError> {
        if name.is_empty() || schema.is_multimap() {
            return Err(TableError::Storage(StorageError::Unsupported));
        }
        let Some(compare) = untyped_compare(schema) else {
            return Err(TableError::Storage(StorageError::Unsupported));
        };
        let state = self
            .inner
            .open_table(name, schema, compare, Location::caller())?;
        Ok(UntypedTable::new(self, name, state))
    }

    /// Deletes a table with all its rows; returns whether it existed.
    ///
    /// # Errors
    /// `TableAlreadyOpen` while a handle of it lives.
    pub fn delete_table(&self, definition: impl TableHandle) -> Result<bool, TableError> {
        self.inner.delete_table(definition.name(), false)
    }

    /// The tables, this transaction's changes included, in the order of their names.
    pub fn list_tables(&self) -> Result<impl Iterator<Item = UntypedTableHandle> + '_> {
        let tables = self.inner.list()?;
        let plain = tables.into_iter().filter(|(_, multimap)| !multimap);
        Ok(plain.map(|(name, _)| UntypedTableHandle::new(name)))
    }

    /// Sizes of the database as this transaction found it, its own changes left out. Reads every page.
    pub fn stats(&self) -> Result<DatabaseStats> {
        database_stats(self.inner.snapshot())
    }

    /// Makes all changes visible and durable, or none.
    ///
    /// # Errors
    /// `TransactionPoisoned` if a table handle was leaked. After a storage error nothing is committed, except that a
    /// failed sync or header write leaves the outcome open until the file is opened again; writing stops then.
    ///
    /// # Durability
    /// On return the changes survive any crash.
    pub fn commit(self) -> Result<(), CommitError> {
        #[cfg(feature = "invariants")]
        crate::check::note_sound(self.inner.snapshot().checkpoint());
        self.inner.commit()?;
        // Before the transaction goes and lets the next writer in.
        #[cfg(feature = "invariants")]
        crate::check::assert_sound(self.inner.snapshot().checkpoint());
        Ok(())
    }

    /// Drops all changes.
    pub fn abort(self) -> Result {
        Ok(())
    }
}
